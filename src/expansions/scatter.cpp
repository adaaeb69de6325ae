// Scatters without scattered stores: every element of the operand looks for the updates that are meant for
// it, so that overlapping windows are applied in their order and results are always the same.
//   few windows   one after the other, each element asks whether it is inside
//   many windows  they are sorted by where they go; an element finds the end of its run by binary search, and the
//                 sum of the run by a segmented scan
#include <bit>
#include <limits>

#include "expansions/expansions.hpp"
#include "expansions/tools.hpp"
#include "ops/gather_scatter.hpp"
#include "ops/scalar_ops.hpp"

namespace cotan::expansions {

namespace {

constexpr std::int64_t few_windows = 16;
constexpr std::int64_t most_elements = std::numeric_limits<std::int32_t>::max() / 2;

/// An index as i32. Those that do not fit are outside any operand, and stay so.
Array as_i32(const Array& index) {
  const DType dtype = index.dtype();
  if (itemsize(dtype) < 4 || dtype == i32) return ops::cast(index, i32);
  Array x = bind1(ops::min_p, {index, scalar(dtype, std::int64_t{std::numeric_limits<std::int32_t>::max()})});
  if (dtype == i64) x = bind1(ops::max_p, {x, scalar(dtype, -1)});
  return ops::cast(x, i32);
}

/// How two elements combine; nothing for a scatter that replaces.
const Primitive* combination_of(const Primitive& p, DType dtype) {
  if (!p.combine || dtype != bool_) return p.combine;
  return p.combine == &ops::add_p || p.combine == &ops::max_p ? &ops::or_p : &ops::and_p;
}
Array combined(const Primitive* combine, const Array& a, const Array& b) {
  return combine ? bind1(*combine, {a, b}) : b;
}

/// The updates as windows in a row, in the order in which they are applied.
struct Windows {
  std::int64_t count = 0;
  Shape shape;    ///< of one, with all axes of the operand
  Arrays starts;  ///< per axis of the operand i32[count], or none where all begin at 0
  Array inside;   ///< bool[count]: whether a window counts at all
  Array values;   ///< [count, elements of a window]
  std::int64_t elements() const { return ops::product(shape); }
};

Windows windows_of(std::span<const Array> x, const Params& params) {
  const Ints &window_dims = params.ints("update_window_dims"), &inserted = params.ints("inserted_window_dims"),
             &index_to_axis = params.ints("scatter_dims_to_operand_dims"),
             &batching = params.ints("operand_batching_dims"),
             &indices_batching = params.ints("scatter_indices_batching_dims");
  const Array &operand = x[0], &indices = x[1], &updates = x[2];
  const Shape batch(indices.shape().begin(), indices.shape().end() - 1);
  Windows w;
  w.count = ops::product(batch);
  for (std::int64_t axis = 0, k = 0; axis < operand.ndim(); ++axis) {
    const bool one = ops::contains(inserted, axis) || ops::contains(batching, axis);
    w.shape.push_back(one ? 1 : updates.shape()[window_dims[k++]]);
  }
  w.starts.resize(operand.shape().size());
  for (std::size_t k = 0; k < batching.size(); ++k)
    w.starts[batching[k]] = ops::reshape(ops::iota(i32, batch, static_cast<int>(indices_batching[k])), {w.count});
  w.inside = ops::full({w.count}, scalar(bool_, 1));
  for (std::size_t k = 0; k < index_to_axis.size(); ++k) {
    const auto axis = static_cast<std::size_t>(index_to_axis[k]);
    const auto component = static_cast<std::int64_t>(k);
    const Array start =
        as_i32(ops::reshape(ops::slice_axis(indices, indices.ndim() - 1, component, component + 1), {w.count}));
    const Array last = scalar(i32, operand.shape()[axis] - w.shape[axis]);
    w.starts[axis] = bind1(ops::max_p, {bind1(ops::min_p, {start, last}), scalar(i32, 0)});
    if (params.text("mode") != ops::mode_clip) w.inside = w.inside & (w.starts[axis] == start);
  }
  Ints order = ops::batch_axes(updates.ndim(), window_dims);
  order.insert(order.end(), window_dims.begin(), window_dims.end());
  w.values = ops::reshape(ops::transpose(updates, order), {w.count, w.elements()});
  return w;
}

/// Where each element of an array lies in a window that begins at `starts` (none: at 0), over the axes that
/// `counts` has: its row-major position there, 0 if it is outside.
struct Place {
  Array position, inside;
};
Place place_in(const Shape& window, const Shape& shape, const Arrays& starts, const std::vector<bool>& counts) {
  const Ints strides = ops::strides_of(window);
  Place out{ops::zeros_of({i32, shape, false}), ops::full(shape, scalar(bool_, 1))};
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    if (!counts[axis]) continue;
    Array at = ops::iota(i32, shape, static_cast<int>(axis));
    if (starts[axis].defined()) at = at - starts[axis];
    out.inside = out.inside & (at >= 0) & (at < scalar(i32, window[axis]));
    out.position = out.position + at * scalar(i32, strides[axis]);
  }
  out.position = ops::select(out.inside, out.position, ops::zeros_like(out.position));
  return out;
}

/// The operand with one window applied after the other.
Array one_by_one(Array operand, const Windows& w, const Primitive* combine) {
  for (std::int64_t k = 0; k < w.count; ++k) {
    const auto own = [&](const Array& a) {
      return a.defined() ? ops::reshape(ops::slice_axis(a, 0, k, k + 1), Shape(a.shape().begin() + 1, a.shape().end()))
                         : a;
    };
    Arrays starts;
    for (const Array& s : w.starts) starts.push_back(own(s));
    const Place place = place_in(w.shape, operand.shape(), starts, std::vector<bool>(w.starts.size(), true));
    const Array value = take(own(w.values), place.position, 0);
    operand = ops::select(place.inside & own(w.inside), combined(combine, operand, value), operand);
  }
  return operand;
}

// Many windows ------------------------------------------------------------------------------------------

/// Updates by the place that they are meant for: entries with equal keys are meant for the same elements.
struct Entries {
  std::vector<bool> keyed;  ///< axes of the operand whose index is (part of) the key
  Shape key_shape;          ///< of those axes
  Array keys;               ///< i32[n]; product(key_shape): for nothing
  Array values;             ///< [n, elements of an entry]
};

/// Windows whose moving axes have size 1 are equal or apart, and stay whole. Others are cut into their
/// elements.
Entries entries_of(const Shape& operand, const Windows& w) {
  bool whole = true;
  for (std::size_t axis = 0; axis < operand.size(); ++axis)
    whole = whole && (!w.starts[axis].defined() || w.shape[axis] == 1);
  Entries e;
  for (std::size_t axis = 0; axis < operand.size(); ++axis) {
    e.keyed.push_back(!whole || w.starts[axis].defined());
    if (e.keyed[axis]) e.key_shape.push_back(operand[axis]);
  }
  // An axis for windows, and one for each of theirs.
  Shape each = whole ? Shape(operand.size(), 1) : w.shape;
  each.insert(each.begin(), w.count);
  const Ints strides = ops::strides_of(e.key_shape);
  Array keys = ops::zeros_of({i32, each, false});
  for (std::size_t axis = 0, k = 0; axis < operand.size(); ++axis) {
    if (!e.keyed[axis]) continue;
    Array at = ops::iota(i32, each, static_cast<int>(axis) + 1);
    if (w.starts[axis].defined()) at = at + ops::broadcast_in_dim(w.starts[axis], each, {0});
    keys = keys + at * scalar(i32, strides[k++]);
  }
  keys = ops::select(ops::broadcast_in_dim(w.inside, each, {0}), keys,
                     ops::full(each, scalar(i32, ops::product(e.key_shape))));
  e.keys = ops::reshape(keys, {keys.size()});
  e.values = ops::reshape(w.values, {keys.size(), w.values.size() / keys.size()});
  return e;
}

/// How many of the `sorted` are no larger, per element of `x`.
Array count_up_to(const Array& sorted, const Array& x) {
  const std::int64_t n = sorted.size();
  Array count = ops::zeros_like(x);
  for (auto step = static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(n))); step > 0; step /= 2) {
    const Array more = count + scalar(i32, step);
    const Array last = bind1(ops::min_p, {more, scalar(i32, n)}) - 1;
    count = ops::select((more <= scalar(i32, n)) & (take(sorted, last, 0) <= x), more, count);
  }
  return count;
}

/// Per entry what it and those before it in its run of equal keys combine to.
Array totals_of_runs(const Array& sorted, const Array& values, const Primitive& combine) {
  const Array begins = sorted != ops::pad(sorted, scalar(i32, -1), {1}, {-1}, {0});
  const auto join = [&](std::span<const Array> e) {
    return Arrays{e[0] | e[2], ops::select(e[2], e[3], bind1(combine, {e[1], e[3]}))};
  };
  return scan_associatively({begins, values}, join)[1];
}

/// Where keys are, in ascending order; equal ones in the order they are in.
Array order_of_keys(const Array& keys) {
  return bind1(order_of_words_p, {bind1(ops::bitcast_convert_type_p, {keys}, {{"new_dtype", u32}})});
}

/// The operand with all that is added to it.
Array by_summing(const Array& operand, const Windows& w, bool into_zeros) {
  const Entries e = entries_of(operand.shape(), w);
  // What nothing is added to stays what it is: only -0 leaves all numbers as they are.
  const Array sums = bind1(sum_of_runs_p, {e.keys, order_of_keys(e.keys), e.values},
                           {{"count", ops::product(e.key_shape)}, {"start", into_zeros ? 0.0 : -0.0}});
  // Axes that make the key, then the others, as far as windows go; back to their order.
  Shape shape = e.key_shape;
  Ints low(operand.shape().size(), 0), high = low, from(operand.shape().size());
  std::int64_t at = 0;
  for (const bool keyed : {true, false})
    for (std::size_t axis = 0; axis < e.keyed.size(); ++axis) {
      if (e.keyed[axis] != keyed) continue;
      if (!keyed) {
        shape.push_back(w.shape[axis]);
        high[axis] = operand.shape()[axis] - w.shape[axis];
      }
      from[axis] = at++;
    }
  const Array total = ops::pad(ops::transpose(ops::reshape(sums, shape), from),
                               scalar(operand.dtype(), into_zeros ? 0.0 : -0.0), low, high, Ints(low.size(), 0));
  return into_zeros ? total : operand + total;
}

Array by_sorting(const Array& operand, const Windows& w, const Primitive* combine, bool unique) {
  const Entries e = entries_of(operand.shape(), w);
  const std::int64_t width = e.values.shape()[1];
  const Array order = order_of_keys(e.keys);
  const Arrays sorted{take(e.keys, order, 0), order};
  // Per key the last entry of its run.
  const Array key = numbers(ops::product(e.key_shape));
  const Array count = count_up_to(sorted[0], key);
  const Array last = bind1(ops::max_p, {count - 1, scalar(i32, 0)});
  const Array hit = (count > 0) & (take(sorted[0], last, 0) == key);
  const bool adds_up = combine && !unique;
  const Array entry = adds_up ? last : take(sorted[1], last, 0);
  const Array values = adds_up ? totals_of_runs(sorted[0], take(e.values, sorted[1], 0), *combine) : e.values;
  // The same for every element, from the axes that make its key.
  Ints axes;
  std::vector<bool> rest;
  for (std::size_t axis = 0; axis < e.keyed.size(); ++axis) {
    if (e.keyed[axis]) axes.push_back(static_cast<std::int64_t>(axis));
    rest.push_back(!e.keyed[axis]);
  }
  const auto spread = [&](const Array& a) {
    return ops::broadcast_in_dim(ops::reshape(a, e.key_shape), operand.shape(), axes);
  };
  const Place place = place_in(w.shape, operand.shape(), Arrays(rest.size()), rest);
  const Array position = spread(entry) * scalar(i32, width) + place.position;
  const Array value = take(ops::reshape(values, {values.size()}), position, 0);
  return ops::select(place.inside & spread(hit), combined(combine, operand, value), operand);
}

Arrays sum_of_runs(const Primitive&, std::span<const Array> x, const Params& params) {
  const Array sorted = take(x[0], x[1], 0), key = numbers(params.integer("count"));
  const Array count = count_up_to(sorted, key);
  const Array last = bind1(ops::max_p, {count - 1, scalar(i32, 0)});
  const Array hit = (count > 0) & (take(sorted, last, 0) == key);
  const Array totals = take(totals_of_runs(sorted, take(x[2], x[1], 0), ops::add_p), last, 0);
  return {ops::select(ops::broadcast_in_dim(hit, totals.shape(), {0}), totals,
                      ops::full(totals.shape(), scalar(totals.dtype(), params.get<double>("start"))))};
}

Arrays scatter(const Primitive& p, std::span<const Array> x, const Params& params) {
  const Array& operand = x[0];
  if (operand.size() == 0 || x[2].size() == 0) return {operand};
  if (operand.size() > most_elements || x[2].size() > most_elements) return {};
  const Windows w = windows_of(x, params);
  const DType dtype = operand.dtype();
  const Primitive* const combine = combination_of(p, dtype);
  if (w.count <= few_windows) return {one_by_one(operand, w, combine)};
  if (!combine) return {by_sorting(operand, w, combine, false)};
  Windows wider = w;
  wider.values = ops::cast(w.values, wide(dtype));
  const bool sums = combine == &ops::add_p && itemsize(wide(dtype)) == 4 && !params.flag("unique_indices");
  if (sums) return {ops::cast(by_summing(ops::cast(operand, wide(dtype)), wider, params.has("into_zeros")), dtype)};
  const Array sum = by_sorting(ops::cast(operand, wide(dtype)), wider, combine, params.flag("unique_indices"));
  return {ops::cast(sum, dtype)};
}

}  // namespace

const RuleFor<Expansion> expands_sum_of_runs{{&sum_of_runs_p}, {sum_of_runs}};
const RuleFor<Expansion> expands_scatter{
    {&ops::scatter_p, &ops::scatter_add_p, &ops::scatter_mul_p, &ops::scatter_min_p, &ops::scatter_max_p}, {scatter}};

}  // namespace cotan::expansions

namespace cotan {

namespace {
Types runs_type(const Primitive&, std::span<const AbstractValue> types, const Params& params) {
  return {{types[2].dtype, {params.integer("count"), types[2].shape[1]}, false}};
}
Arrays runs_eval(const Primitive& self, std::span<const Array> x, const Params& params) {
  const Types types{x[0].aval(), x[1].aval(), x[2].aval()};
  auto [out, buffer] = ops::allocate_like(x, self.type(self, types, params)[0]);
  const std::int64_t count = params.integer("count"), width = x[2].shape()[1];
  dispatch(out.dtype(), [&, &b = buffer]<class T>() {
    const auto *keys = data<std::int32_t>(x[0]), *order = data<std::int32_t>(x[1]);
    const T* values = data<T>(x[2]);
    T* sums = reinterpret_cast<T*>(b->data());
    std::fill_n(sums, count * width, convert<T>(params.get<double>("start")));
    for (std::int64_t i = 0; i < x[0].size(); ++i) {
      const std::int64_t key = keys[order[i]];
      for (std::int64_t c = 0; key < count && c < width; ++c)
        sums[key * width + c] = ops::scalar_ops::add(sums[key * width + c], values[order[i] * width + c]);
    }
  });
  return {out};
}
}  // namespace

const Primitive sum_of_runs_p{.name = "sum_of_runs",
                              .op_class = OpClass::routine,
                              .type = runs_type,
                              .eval = runs_eval,
                              .not_differentiable = true};

}  // namespace cotan
