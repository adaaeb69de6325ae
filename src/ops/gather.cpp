// gather: reads windows of static sizes at dynamic positions. Params: those of JAX's GatherDimensionNumbers,
// slice_sizes, mode and, optionally, fill_value.
#include <set>

#include "core/rows.hpp"
#include "ops/gather_scatter.hpp"
#include "ops/parts.hpp"

namespace cotan::ops {

bool contains(const Ints& list, std::int64_t value) { return std::find(list.begin(), list.end(), value) != list.end(); }

Ints batch_axes(std::int64_t rank, const Ints& offset_dims) {
  Ints out;
  for (std::int64_t i = 0; i < rank; ++i)
    if (!contains(offset_dims, i)) out.push_back(i);
  return out;
}

Ints index_values(const Array& indices) {
  Ints out(static_cast<std::size_t>(indices.size()));
  dispatch(indices.dtype(), [&]<class T>() {
    const T* in = data<T>(indices);
    for (std::size_t i = 0; i < out.size(); ++i) {
      if constexpr (std::is_same_v<T, std::uint64_t>)
        out[i] = static_cast<std::int64_t>(std::min<std::uint64_t>(in[i], INT64_MAX));
      else
        out[i] = convert<std::int64_t>(in[i]);
    }
  });
  return out;
}

expr::Expr start_index(expr::Expr index) {
  if (index->dtype == DType::u64)
    index = min(index, expr::constant_bits(DType::u64, static_cast<std::uint64_t>(INT64_MAX)));
  return expr::cast(index, DType::i64);
}
expr::Expr clamped_start(expr::Expr start, std::int64_t extent, std::int64_t size) {
  return min(max(start, expr::integer(0)), expr::integer(std::max<std::int64_t>(extent - size, 0)));
}

std::string outside_window(const AbstractValue& operand, const Array& indices, const WindowDims& dims,
                           const Ints& slice_sizes) {
  const Ints starts = index_values(indices);
  const std::size_t components = dims.start_index_map.size();
  for (std::size_t at = 0; at < starts.size(); ++at) {
    const std::int64_t axis = dims.start_index_map[at % components], size = operand.shape[axis];
    if (starts[at] >= 0 && starts[at] <= size - slice_sizes[axis]) continue;
    return fmt::format("index {}{} is outside axis {} of {}", starts[at],
                       starts[at] < 0 ? " (negative ones were counted from the end before)" : "", axis, operand);
  }
  return {};
}

WindowLayout window_layout(const Shape& operand, const Shape& result, const WindowDims& dims, const Ints& slice_sizes) {
  const Ints from = strides_of(operand), to = strides_of(result);
  WindowLayout out;
  for (std::int64_t axis = 0, k = 0; axis < static_cast<std::int64_t>(operand.size()); ++axis) {
    if (contains(dims.collapsed_slice_dims, axis) || contains(dims.operand_batching_dims, axis)) continue;
    out.shape.push_back(slice_sizes[axis]);
    out.operand_strides.push_back(from[axis]);
    out.result_strides.push_back(to[dims.offset_dims[k++]]);
  }
  return out;
}

void check_mode(const Primitive& self, const Params& params) {
  const std::string& mode = params.text("mode");
  if (mode != mode_clip && mode != mode_fill_or_drop && mode != mode_promise_in_bounds)
    raise<ValueError>("[{}] mode '{}' is unknown; use {}, {} or {}.", self.name, mode, mode_clip, mode_fill_or_drop,
                      mode_promise_in_bounds);
}

void check_windows(const Primitive& self, const AbstractValue& operand, const AbstractValue& indices,
                   const WindowDims& dims, const std::array<const char*, 5>& names) {
  if (!is_integer(indices.dtype))
    raise<TypeError>("[{}] the indices are {}; they must be integers.", self.name, indices);
  if (indices.ndim() == 0)
    raise<ShapeError>(
        "[{}] the indices are a scalar; they need a last axis that holds index vectors, of shape [..., {}].", self.name,
        dims.start_index_map.size());
  const auto check_axes = [&](const Ints& axes, const char* name, std::int64_t rank, bool sorted) {
    for (std::size_t i = 0; i < axes.size(); ++i)
      if (axes[i] < 0 || axes[i] >= rank)
        raise<IndexError>("[{}] {} {} has an axis out of range; axes run from 0 to {}.", self.name, name,
                          describe(axes), rank - 1);
    if (std::set<std::int64_t>(axes.begin(), axes.end()).size() != axes.size())
      raise<ValueError>("[{}] {} {} has an axis twice; name each axis once.", self.name, name, describe(axes));
    if (sorted && !std::is_sorted(axes.begin(), axes.end()))
      raise<ValueError>("[{}] {} {} is not sorted; give the axes in ascending order.", self.name, name, describe(axes));
  };
  const auto check_disjoint = [&](const Ints& a, const Ints& b, const char* name_a, const char* name_b) {
    for (auto axis : a)
      if (contains(b, axis))
        raise<ValueError>("[{}] axis {} is in {} and in {}; it can only be in one of them.", self.name, axis, name_a,
                          name_b);
  };
  const std::int64_t rank = operand.ndim(), batch_rank = indices.ndim() - 1;
  check_axes(dims.offset_dims, names[0], static_cast<std::int64_t>(dims.offset_dims.size()) + batch_rank, true);
  check_axes(dims.collapsed_slice_dims, names[1], rank, true);
  check_axes(dims.start_index_map, names[2], rank, false);
  check_axes(dims.operand_batching_dims, names[3], rank, true);
  check_axes(dims.start_indices_batching_dims, names[4], batch_rank, false);
  check_disjoint(dims.collapsed_slice_dims, dims.operand_batching_dims, names[1], names[3]);
  check_disjoint(dims.start_index_map, dims.operand_batching_dims, names[2], names[3]);
  if (static_cast<std::int64_t>(dims.start_index_map.size()) != indices.shape.back())
    raise<ShapeError>("[{}] {} names {} axes but the index vectors of {} have {} components; they must be as many.",
                      self.name, names[2], dims.start_index_map.size(), indices, indices.shape.back());
  if (dims.operand_batching_dims.size() != dims.start_indices_batching_dims.size())
    raise<ShapeError>("[{}] {} has {} axes and {} has {}; they pair up, so give as many.", self.name, names[3],
                      dims.operand_batching_dims.size(), names[4], dims.start_indices_batching_dims.size());
  for (std::size_t k = 0; k < dims.operand_batching_dims.size(); ++k)
    if (operand.shape[dims.operand_batching_dims[k]] != indices.shape[dims.start_indices_batching_dims[k]])
      raise<ShapeError>(
          "[{}] batching axis {} of the operand {} and batching axis {} of the indices {} differ in size; "
          "those must be equal.",
          self.name, dims.operand_batching_dims[k], operand, dims.start_indices_batching_dims[k], indices);
  const std::size_t covered =
      dims.offset_dims.size() + dims.collapsed_slice_dims.size() + dims.operand_batching_dims.size();
  if (static_cast<std::int64_t>(covered) != rank)
    raise<ShapeError>(
        "[{}] {}, {} and {} name {} axes in all, but the operand {} has {}; every operand axis must be in "
        "one of them.",
        self.name, names[0], names[1], names[3], covered, operand, rank);
}

namespace {

WindowDims dims_of(const Params& params) {
  return {params.ints("offset_dims"), params.ints("collapsed_slice_dims"), params.ints("start_index_map"),
          params.ints("operand_batching_dims"), params.ints("start_indices_batching_dims")};
}
std::optional<double> fill_of(const Params& params) {
  return params.has("fill_value") ? std::optional(params.get<double>("fill_value")) : std::nullopt;
}

Types gather_type(const Primitive& self, std::span<const AbstractValue> x, const Params& params) {
  const WindowDims dims = dims_of(params);
  const Ints& sizes = params.ints("slice_sizes");
  const AbstractValue &operand = x[0], &indices = x[1];
  check_mode(self, params);
  check_windows(self, operand, indices, dims,
                {"offset_dims", "collapsed_slice_dims", "start_index_map", "operand_batching_dims",
                 "start_indices_batching_dims"});
  if (sizes.size() != operand.shape.size())
    raise<ShapeError>("[gather] slice_sizes {} has {} sizes but the operand {} has {} axes; give one per axis.",
                      describe(sizes), sizes.size(), operand, operand.ndim());
  const Shape batch(indices.shape.begin(), indices.shape.end() - 1);
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const auto axis = static_cast<std::int64_t>(i);
    // An empty axis may be indexed where there are no indices.
    if (sizes[i] < 0 || (sizes[i] > operand.shape[i] && product(batch) != 0))
      raise<ShapeError>("[gather] slice size {} does not fit axis {} of the operand {}; give 0 to the axis's size.",
                        sizes[i], i, operand);
    if (contains(dims.collapsed_slice_dims, axis) && sizes[i] != 1)
      raise<ShapeError>("[gather] axis {} is collapsed but has slice size {}; it must be 1.", i, sizes[i]);
    if (contains(dims.operand_batching_dims, axis) && sizes[i] > 1)
      raise<ShapeError>("[gather] axis {} is a batching axis but has slice size {}; it must be 1.", i, sizes[i]);
  }
  Shape shape(batch.size() + dims.offset_dims.size());
  std::size_t from_batch = 0, from_window = 0;
  Shape window;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const auto axis = static_cast<std::int64_t>(i);
    if (!contains(dims.collapsed_slice_dims, axis) && !contains(dims.operand_batching_dims, axis))
      window.push_back(sizes[i]);
  }
  for (std::size_t i = 0; i < shape.size(); ++i)
    shape[i] = contains(dims.offset_dims, static_cast<std::int64_t>(i)) ? window[from_window++] : batch[from_batch++];
  return {{operand.dtype, shape, operand.weak_type}};
}

template <class T>
T default_fill() {
  if constexpr (is_real<T>)
    return static_cast<T>(std::numeric_limits<Compute<T>>::quiet_NaN());
  else if constexpr (std::is_signed_v<T>)
    return std::numeric_limits<T>::min();
  else
    return std::numeric_limits<T>::max();
}

Arrays gather_eval(const Primitive& self, std::span<const Array> x, const Params& params) {
  const Types avals{x[0].aval(), x[1].aval()};
  auto [out, buffer] = allocate_like(x, self.type(self, avals, params)[0]);
  const WindowDims dims = dims_of(params);
  const Ints& sizes = params.ints("slice_sizes");
  const auto window = window_layout(x[0].shape(), out.shape(), dims, sizes);
  const std::optional<double> fill_value = fill_of(params);
  const bool clip = params.text("mode") != mode_fill_or_drop;
  dispatch(out.dtype(), [&, &b = buffer, &result = out]<class T>() {
    const T fill = fill_value ? convert<T>(*fill_value) : default_fill<T>();
    const T* in = data<T>(x[0]);
    T* y = reinterpret_cast<T*>(b->data());
    for_each_window(x[0].shape(), result.shape(), x[1], dims, sizes, clip,
                    [&](std::int64_t r, std::int64_t o, bool inside) {
                      for_each_offset(window.shape, window.result_strides, window.operand_strides,
                                      [&](std::int64_t i, std::int64_t j) { y[r + i] = inside ? in[o + j] : fill; });
                    });
  });
  return {out};
}

expr::Expr gather_element(const expr::Operands& x, std::span<const expr::Expr> i, const Params& params) {
  using expr::Expr;
  const WindowDims dims = dims_of(params);
  const Ints& sizes = params.ints("slice_sizes");
  const Shape& operand = x.type(0).shape;
  std::vector<Expr> which;  // the index vector
  for (auto axis : batch_axes(static_cast<std::int64_t>(i.size()), dims.offset_dims)) which.push_back(i[axis]);
  std::vector<Expr> at(operand.size(), expr::integer(0));
  for (std::size_t axis = 0, k = 0; axis < operand.size(); ++axis)
    if (!contains(dims.collapsed_slice_dims, static_cast<std::int64_t>(axis)) &&
        !contains(dims.operand_batching_dims, static_cast<std::int64_t>(axis)))
      at[axis] = i[dims.offset_dims[k++]];
  for (std::size_t k = 0; k < dims.operand_batching_dims.size(); ++k)
    at[dims.operand_batching_dims[k]] = which[dims.start_indices_batching_dims[k]];
  const bool clip = params.text("mode") != mode_fill_or_drop;
  Expr inside = expr::boolean(true);
  for (std::size_t k = 0; k < dims.start_index_map.size(); ++k) {
    const std::int64_t axis = dims.start_index_map[k];
    std::vector<Expr> component = which;
    component.push_back(expr::integer(static_cast<std::int64_t>(k)));
    Expr start = start_index(x.at(1, component));
    if (clip)
      start = clamped_start(start, operand[axis], sizes[axis]);
    else
      inside = inside & ge(start, expr::integer(0)) & le(start, expr::integer(operand[axis] - sizes[axis]));
    at[axis] = at[axis] + start;
  }
  if (clip) return x.at(0, at);
  const DType dtype = x.type(0).dtype;
  const std::optional<double> fill_value = fill_of(params);
  const Expr fill = dispatch(dtype, [&]<class T>() {
    const T value = fill_value ? convert<T>(*fill_value) : default_fill<T>();
    std::uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof value);
    return expr::constant_bits(dtype, bits);
  });
  return expr::select(inside, x.at(0, at, inside), fill);
}

/// Linear in the operand; fill values are constants. An index that is promised to be inside and is not may read any
/// element: as in JAX it gets no cotangent, and so it gives no tangent.
Array gather_operand(const Partial& p) {
  Params params = p.params.with("fill_value", 0.0);
  if (params.text("mode") == mode_promise_in_bounds) params = params.with("mode", std::string(mode_fill_or_drop));
  return bind1(gather_p, {p.t, p.x[1]}, params);
}

std::string gather_out_of_bounds(std::span<const Array> x, const Params& params) {
  if (params.text("mode") == mode_clip || params.has("fill_value")) return {};
  return outside_window(x[0].aval(), x[1], dims_of(params), params.ints("slice_sizes"));
}

std::optional<IndexedWindows> windows_by_gather(std::span<const Array> x, const Params& params) {
  return windows_by_index(x[0].shape(), x[1], windows_of_gather(params), params);
}

/// `a` without its axes outside `kept`, at position `at` of each; the kept ones spread over `shape` at the axes `to`.
Array spread(Array a, const Ints& kept, const Ints& to, const Ints& at, const Shape& shape) {
  std::vector<std::pair<std::int64_t, std::int64_t>> pairs;  // where to, where from
  for (std::size_t k = 0; k < kept.size(); ++k) pairs.emplace_back(to[k], kept[k]);
  std::sort(pairs.begin(), pairs.end());
  Ints order, axes;
  Shape left;
  for (const auto& [target, source] : pairs) {
    order.push_back(source);
    axes.push_back(target);
    left.push_back(a.shape()[source]);
  }
  for (std::int64_t axis = 0, k = 0; axis < a.ndim(); ++axis) {
    if (contains(kept, axis)) continue;
    a = slice_axis(a, static_cast<int>(axis), at[k], at[k] + 1);
    order.push_back(axis);
    ++k;
  }
  return broadcast_in_dim(reshape(transpose(a, order), left), shape, axes);
}

/// For a gather that reads `windows` elements of every lane, whole along all axes that do not move: which axes those
/// are, and which axes of the indices number the elements of a lane. Nothing for other gathers.
struct FewReads {
  Ints whole;
  Shape free;
};
std::optional<FewReads> few_reads(const AbstractValue& operand, const AbstractValue& indices, const Params& params,
                                  std::int64_t most_windows) {
  const WindowDims dims = dims_of(params);
  const Ints& sizes = params.ints("slice_sizes");
  if (dims.operand_batching_dims.empty() || dims.collapsed_slice_dims.size() != dims.start_index_map.size())
    return std::nullopt;
  FewReads out;
  for (std::int64_t axis = 0; axis < operand.ndim(); ++axis) {
    if (contains(dims.operand_batching_dims, axis)) continue;
    const bool moves = contains(dims.start_index_map, axis);
    if (moves != contains(dims.collapsed_slice_dims, axis) || (!moves && sizes[axis] != operand.shape[axis]))
      return std::nullopt;
    if (!moves) out.whole.push_back(axis);
  }
  for (std::int64_t axis = 0; axis + 1 < indices.ndim(); ++axis)
    if (!contains(dims.start_indices_batching_dims, axis)) out.free.push_back(indices.shape[axis]);
  if (product(out.free) > most_windows || product(out.free) < 1 || operand.size() == 0) return std::nullopt;
  return out;
}

/// The position of window `at` in each lane, in the shape of the operand.
Array is_read(const AbstractValue& operand, const Array& indices, const Ints& at, const Params& params) {
  const WindowDims dims = dims_of(params);
  const Array starts = itemsize(indices.dtype()) < 4 ? cast(indices, i32) : indices;
  Array here;
  for (std::size_t k = 0; k < dims.start_index_map.size(); ++k) {
    const std::int64_t axis = dims.start_index_map[k];
    Ints place = at;
    place.push_back(static_cast<std::int64_t>(k));
    Array start = spread(starts, dims.start_indices_batching_dims, dims.operand_batching_dims, place, operand.shape);
    if (params.text("mode") == mode_clip)
      start = bind1(clamp_p, {scalar(starts.dtype(), 0), start, scalar(starts.dtype(), operand.shape[axis] - 1)});
    const Array equal = bind1(eq_p, {iota(starts.dtype(), operand.shape, static_cast<int>(axis)), start});
    here = here.defined() ? bind1(and_p, {here, equal}) : equal;
  }
  return here;
}

/// The gradient of a gather that reads few elements of every lane (take_along_axis of one label per row): each element
/// of the operand compares its own index with the indices that were read. No array of zeros is made, nothing is
/// scattered, and it fuses with its neighbours. Nothing for other gathers.
Array gradient_by_comparing(const Array& ct, const AbstractValue& operand, const Array& indices, const Params& params) {
  constexpr std::int64_t most_windows = 4;
  const auto few = few_reads(operand, indices.aval(), params, most_windows);
  if (!few) return {};
  const WindowDims dims = dims_of(params);
  const Ints batch = batch_axes(ct.ndim(), dims.offset_dims), strides = strides_of(few->free);
  Ints ct_axes = dims.offset_dims, ct_to = few->whole;
  for (std::size_t k = 0; k < dims.operand_batching_dims.size(); ++k) {
    ct_axes.push_back(batch[dims.start_indices_batching_dims[k]]);
    ct_to.push_back(dims.operand_batching_dims[k]);
  }
  Array sum;
  for (std::int64_t window = 0; window < product(few->free); ++window) {
    Ints at;
    for (std::size_t k = 0; k < few->free.size(); ++k) at.push_back(window / strides[k] % few->free[k]);
    const Array part = select(is_read(operand, indices, at, params), spread(ct, ct_axes, ct_to, at, operand.shape),
                              full(operand.shape, scalar(ct.dtype(), 0)));
    sum = sum.defined() ? bind1(add_p, {sum, part}) : part;
  }
  return sum;
}

Arrays gather_transpose(const Primitive&, std::span<const Array> ct, std::span<const LinearInput> in,
                        const Params& params) {
  if (const Array sum = gradient_by_comparing(ct[0], in[0].aval, in[1].value, params); sum.defined())
    return {sum, Array()};
  const Array zeros = full(in[0].aval.shape, scalar(ct[0].dtype(), 0));
  return {scatter(scatter_add_p, zeros, in[1].value, ct[0], dims_of(params), params.text("mode")), Array()};
}

BatchResult gather_batch(const Primitive&, std::span<const Array> x, std::span<const int> dims, std::int64_t size,
                         const Params& params) {
  const bool operand_batched = dims[0] != not_batched, indices_batched = dims[1] != not_batched;
  const Array operand = operand_batched ? move_axis(x[0], dims[0], 0) : x[0];
  const Array indices = indices_batched ? move_axis(x[1], dims[1], 0) : x[1];
  WindowDims d = dims_of(params);
  Ints sizes = params.ints("slice_sizes");
  d.offset_dims = shifted(d.offset_dims);
  if (operand_batched) {
    d.collapsed_slice_dims = shifted(d.collapsed_slice_dims);
    d.start_index_map = shifted(d.start_index_map);
    d.operand_batching_dims = shifted(d.operand_batching_dims);
  }
  if (indices_batched) d.start_indices_batching_dims = shifted(d.start_indices_batching_dims);
  if (operand_batched && indices_batched) {
    // Lane b of the indices reads lane b of the operand.
    d.operand_batching_dims = behind(0, d.operand_batching_dims);
    d.start_indices_batching_dims = behind(0, d.start_indices_batching_dims);
    sizes = behind(std::min<std::int64_t>(size, 1), sizes);
  } else if (operand_batched) {
    // The same windows of every lane: the lanes are part of the window.
    d.offset_dims = behind(0, d.offset_dims);
    sizes = behind(size, sizes);
  }
  return {{gather(operand, indices, d, sizes, params.text("mode"), fill_of(params))}, {0}};
}

/// With an index for each row, into its own row or into what all share.
rows::Answer gather_on_rows(const rows::Question& q) {
  const int indices = q.axes[1];
  if (indices == rows::whole || indices == q.in[1].ndim() - 1) return {};
  const WindowDims d = dims_of(q.e.params);
  int out = -1;  // the results' axes that are no offsets are those of the indices
  for (int left = indices; left >= 0; --left) do
      ++out;
    while (contains(d.offset_dims, out));
  rows::OnRows on{{rows::whole, indices}, out, q.e.params.with("offset_dims", rows::renumbered(d.offset_dims, out))};
  const int batch = rows::place_in(d.start_indices_batching_dims, indices);
  if (batch == static_cast<int>(d.start_indices_batching_dims.size())) {
    on.params = on.params.with("start_indices_batching_dims", rows::renumbered(d.start_indices_batching_dims, indices));
    return on;
  }
  const int axis = static_cast<int>(d.operand_batching_dims[static_cast<std::size_t>(batch)]);
  on.in[0] = axis;
  on.params = on.params
                  .with("start_indices_batching_dims",
                        rows::renumbered(rows::without(d.start_indices_batching_dims, batch), indices))
                  .with("operand_batching_dims", rows::renumbered(rows::without(d.operand_batching_dims, batch), axis))
                  .with("collapsed_slice_dims", rows::renumbered(d.collapsed_slice_dims, axis))
                  .with("start_index_map", rows::renumbered(d.start_index_map, axis))
                  .with("slice_sizes", rows::without(q.ints("slice_sizes"), axis));
  return on;
}

/// What is outside is a number without an imaginary part.
PartsList gather_parts(const Primitive& self, PartsOf x, const Params& params) {
  const bool fills = params.text("mode") == mode_fill_or_drop;
  return {{bind1(self, {x[0].re, x[1].re}, params),
           bind1(self, {x[0].im, x[1].re}, fills ? params.with("fill_value", 0.0) : params)}};
}

}  // namespace

WindowsRead windows_of_gather(const Params& params) { return {dims_of(params), params.ints("slice_sizes")}; }

const Primitive gather_p{.name = "gather",
                         .op_class = OpClass::data,
                         .type = gather_type,
                         .eval = gather_eval,
                         .partials = {gather_operand, nullptr},
                         .transpose = gather_transpose,
                         .batch = gather_batch,
                         .out_of_bounds = gather_out_of_bounds,
                         .windows_by_index = windows_by_gather,
                         .element = gather_element,
                         .on_rows = gather_on_rows,
                         .on_parts = gather_parts};
const Listed gather_listed{&gather_p};

bool reads_one_of_each_lane(const AbstractValue& operand, const AbstractValue& indices, const Params& params) {
  const auto few = few_reads(operand, indices, params, 1);
  return few && few->whole.empty() && is_floating(operand.dtype) && params.text("mode") != mode_promise_in_bounds;
}

Array gather_by_comparing(const Array& operand, const Array& indices, const Params& params) {
  const Ints none(static_cast<std::size_t>(indices.ndim() - 1) - dims_of(params).start_indices_batching_dims.size(), 0);
  const Array here = is_read(operand.aval(), indices, none, params),
              zero = full(operand.shape(), scalar(operand.dtype(), 0));
  const WindowDims dims = dims_of(params);
  const Types types{operand.aval(), indices.aval()};
  const Shape shape = gather_p.type(gather_p, types, params)[0].shape;
  Ints moving = dims.start_index_map;
  std::sort(moving.begin(), moving.end());
  // The axes that are left are the lanes, in the order of the operand's axes; they go to the order of the indices'
  // axes.
  Array sum = bind1(reduce_sum_p, {select(here, operand, zero)}, {{"axes", moving}});
  Ints order(dims.operand_batching_dims.size());
  std::vector<std::pair<std::int64_t, std::int64_t>> pairs;  // axis of the indices, axis of the sum
  for (std::size_t k = 0; k < order.size(); ++k) {
    const auto before = std::count_if(dims.operand_batching_dims.begin(), dims.operand_batching_dims.end(),
                                      [&](std::int64_t axis) { return axis < dims.operand_batching_dims[k]; });
    pairs.emplace_back(dims.start_indices_batching_dims[k], before);
  }
  std::sort(pairs.begin(), pairs.end());
  for (std::size_t k = 0; k < order.size(); ++k) order[k] = pairs[k].second;
  const auto arranged = [&](const Array& lanes) { return reshape(transpose(lanes, order), shape); };
  sum = arranged(sum);
  if (params.text("mode") == mode_clip) return sum;
  // Computed together with the sum: an index that is outside meets no element.
  const Array inside = arranged(bind1(reduce_or_p, {here}, {{"axes", moving}}));
  const std::optional<double> fill = fill_of(params);
  return select(inside, sum,
                full(shape, scalar(operand.dtype(), fill ? *fill : std::numeric_limits<double>::quiet_NaN())));
}

Array gather(const Array& operand, const Array& indices, const WindowDims& dims, const Ints& slice_sizes,
             const std::string& mode, std::optional<double> fill_value) {
  Params params{{"offset_dims", dims.offset_dims},
                {"collapsed_slice_dims", dims.collapsed_slice_dims},
                {"start_index_map", dims.start_index_map},
                {"operand_batching_dims", dims.operand_batching_dims},
                {"start_indices_batching_dims", dims.start_indices_batching_dims},
                {"slice_sizes", slice_sizes},
                {"mode", mode}};
  if (fill_value) params = params.with("fill_value", *fill_value);
  return bind1(gather_p, {operand, indices}, params);
}

}  // namespace cotan::ops
