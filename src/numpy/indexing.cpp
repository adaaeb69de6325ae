// a(…) and a.at(…): reads become slices, reverses and reshapes where the index is static and a gather where
// it holds arrays; writes become one dynamic_update_slice or one scatter.
#include "numpy/indexing.hpp"

#include <cotan/control_flow.hpp>
#include <cotan/numpy.hpp>

#include "ops/gather_scatter.hpp"
#include "ops/promote.hpp"

namespace cotan {

namespace {

using indexing::Item;
using indexing::Layout;
using Kind = Item::Kind;

const char* read_mode(IndexMode mode) {
  switch (mode) {
    case IndexMode::clip:
      return ops::mode_clip;
    case IndexMode::drop:
    case IndexMode::fill:
      return ops::mode_fill_or_drop;
    case IndexMode::standard:
    case IndexMode::promise_in_bounds:
      break;
  }
  return ops::mode_promise_in_bounds;
}
const char* write_mode(IndexMode mode) {
  return mode == IndexMode::standard ? ops::mode_fill_or_drop : read_mode(mode);
}

/// A scalar bool selects along a new axis of length 1: gives `a` that axis and the index a mask for it.
Array with_scalar_mask_axes(const Array& a, std::vector<Index>& indices) {
  int covered = 0;
  bool any = false;
  const auto width = [](const Index& index) {
    if (const auto* array = std::get_if<Array>(&index.spec()))
      return array->dtype() == DType::bool_ ? array->ndim() : 1;
    return std::holds_alternative<Ellipsis>(index.spec()) || std::holds_alternative<NewAxis>(index.spec()) ? 0 : 1;
  };
  const auto is_scalar_mask = [](const Index& index) {
    const auto* array = std::get_if<Array>(&index.spec());
    return array && array->dtype() == DType::bool_ && array->ndim() == 0;
  };
  for (const Index& index : indices) {
    covered += width(index);
    any |= is_scalar_mask(index);
  }
  if (!any || covered > a.ndim()) return a;
  Shape shape = a.shape();
  int axis = 0;
  const int rest = a.ndim() - covered;
  for (Index& index : indices) {
    if (std::holds_alternative<Ellipsis>(index.spec())) axis += rest;
    axis += width(index);
    if (!is_scalar_mask(index)) continue;
    shape.insert(shape.begin() + axis++, 1);
    index = Index(ops::reshape(std::get<Array>(index.spec()), {1}));
  }
  return ops::reshape(a, shape);
}

Arrays arrays_in(const std::vector<Item>& items) {
  Arrays out;
  for (const Item& item : items)
    if (item.kind == Kind::array) out.push_back(item.array);
  return out;
}
bool all_scalars(const Arrays& arrays) {
  return std::all_of(arrays.begin(), arrays.end(), [](const Array& a) { return a.ndim() == 0; });
}

// Reading -----------------------------------------------------------------------------------------

/// Everything but the index arrays: ranges are taken, integers and new axes are resolved, and each item that
/// is left is one axis.
Array static_part(const Array& a, const std::vector<Item>& items) {
  Ints start(a.ndim(), 0), limit = a.shape(), stride(a.ndim(), 1), reversed;
  Shape shape;
  for (const Item& item : items) {
    switch (item.kind) {
      case Kind::range:
        start[item.axis] = item.start;
        limit[item.axis] = item.count == 0 ? item.start : item.start + (item.count - 1) * item.stride + 1;
        stride[item.axis] = item.stride;
        if (item.reversed) reversed.push_back(item.axis);
        shape.push_back(item.count);
        break;
      case Kind::integer:
        start[item.axis] = item.start;
        limit[item.axis] = item.start + 1;
        break;
      case Kind::newaxis:
        shape.push_back(1);
        break;
      case Kind::array:
      case Kind::mask:
        shape.push_back(a.shape()[item.axis]);
        break;
    }
  }
  return ops::reshape(ops::rev(ops::slice(a, start, limit, stride), reversed), shape);
}

Array read(const Array& a, const std::vector<Item>& items, const IndexOptions& options, std::string_view op) {
  const Layout layout = indexing::layout(items, op);
  const Array view = static_part(a, items);
  if (!layout.has_arrays) return view;

  const Arrays arrays = arrays_in(items);
  const DType dtype = indexing::index_dtype(arrays, a.shape());
  Ints sizes = view.shape(), indexed;
  Arrays columns;
  int axis = 0;
  for (const Item& item : items) {
    if (item.kind == Kind::array) {
      if (view.shape()[axis] == 0 && ops::product(layout.index_shape) != 0)
        raise<IndexError>(
            "[{}] axis {} of {} is empty: indices {} have nothing to select; index an axis that has "
            "elements.",
            op, item.axis, a.aval(), item.array.aval());
      columns.push_back(indexing::wrap_negative(item.array, view.shape()[axis], dtype));
      indexed.push_back(axis);
      sizes[axis] = 1;
    }
    axis += item.kind != Kind::integer;
  }
  const std::string mode = read_mode(options.mode);
  if (all_scalars(arrays) && mode != ops::mode_fill_or_drop) {
    Arrays operands{view};
    for (int i = 0, k = 0; i < view.ndim(); ++i)
      operands.push_back(ops::contains(indexed, i) ? columns[k++] : scalar(dtype, 0));
    return ops::reshape(bind1(ops::dynamic_slice_p, operands, {{"slice_sizes", sizes}}), layout.result);
  }
  ops::WindowDims dims{.offset_dims = {}, .collapsed_slice_dims = indexed, .start_index_map = indexed};
  for (std::size_t i = 0; i < layout.result.size(); ++i)
    if (i < layout.position || i >= layout.position + layout.index_shape.size())
      dims.offset_dims.push_back(static_cast<std::int64_t>(i));
  return ops::gather(view, indexing::index_vectors(columns, layout.index_shape), dims, sizes, mode, options.fill_value);
}

// Writing -----------------------------------------------------------------------------------------

/// An operation on the elements that an index names.
struct Update {
  std::string_view op;
  const Primitive& scatter;
  const Primitive* combine;  ///< the same as an elementwise operation; nullptr for set
};

/// Puts `value`, of the indexed result's shape, where the index says.
Array write(const Primitive& scatter, const Array& a, const std::vector<Item>& items, const Layout& layout,
            const Array& value, const std::string& mode, bool unique) {
  // New axes of the result are no axes of `a`; what runs downwards is turned around.
  Shape shape;
  Ints reversed, starts;
  // Axes of the updates: windows for neighbouring elements, batch axes for index arrays and for strides.
  ops::WindowDims dims;
  Shape batch;
  std::vector<std::size_t> batch_of_stride;
  std::size_t kept = 0, arrays_at = 0;
  const auto place_arrays = [&] {
    if (!layout.has_arrays || kept != layout.position) return;
    arrays_at = batch.size();
    shape.insert(shape.end(), layout.index_shape.begin(), layout.index_shape.end());
    batch.insert(batch.end(), layout.index_shape.begin(), layout.index_shape.end());
  };
  bool plain = !layout.has_arrays;
  place_arrays();
  for (const Item& item : items) {
    if (!item.keeps_axis()) continue;
    if (item.kind == Kind::range) {
      if (item.reversed) reversed.push_back(static_cast<std::int64_t>(shape.size()));
      if (item.stride == 1) {
        dims.offset_dims.push_back(static_cast<std::int64_t>(shape.size()));
      } else {
        batch_of_stride.push_back(batch.size());
        batch.push_back(item.count);
        plain = false;
      }
      shape.push_back(item.count);
    }
    ++kept;
    place_arrays();
  }
  const Array updates = ops::rev(ops::reshape(value, shape), reversed);

  const DType dtype = indexing::index_dtype(arrays_in(items), a.shape());
  if (plain && &scatter == &ops::scatter_p) {
    Shape window;
    Arrays operands{a, Array()};
    for (const Item& item : items) {
      if (item.kind == Kind::newaxis) continue;
      window.push_back(item.kind == Kind::range ? item.count : 1);
      operands.push_back(scalar(dtype, item.start));
    }
    operands[1] = ops::reshape(updates, window);
    return operands[1].shape() == a.shape() ? operands[1] : bind1(ops::dynamic_update_slice_p, operands);
  }

  Arrays columns;
  std::size_t strides_seen = 0;
  for (const Item& item : items) {
    if (item.kind == Kind::newaxis) continue;
    Array column;
    if (item.kind == Kind::array) {
      const Array wrapped = indexing::wrap_negative(item.array, a.shape()[item.axis], dtype);
      Ints to;
      for (int i = 0; i < wrapped.ndim(); ++i)
        to.push_back(static_cast<std::int64_t>(arrays_at + layout.index_shape.size()) - wrapped.ndim() + i);
      column = ops::broadcast_in_dim(wrapped, batch, to);
    } else if (item.kind == Kind::range && item.stride != 1) {
      const auto along = static_cast<int>(batch_of_stride[strides_seen++]);
      column = ops::iota(dtype, batch, along) * scalar(dtype, item.stride) + scalar(dtype, item.start);
    } else if (item.kind == Kind::integer || item.count != a.shape()[item.axis]) {
      column = scalar(dtype, item.start);
    }
    if (item.kind != Kind::range || item.stride != 1) dims.collapsed_slice_dims.push_back(item.axis);
    if (!column.defined()) continue;
    columns.push_back(column);
    dims.start_index_map.push_back(item.axis);
  }
  return ops::scatter(scatter, a, indexing::index_vectors(columns, batch), updates, dims, mode, unique);
}

/// `x` as a value to put into `a`.
Array fitting_value(const Array& a, const Array& x, std::string_view op) {
  if (is_complex(x.dtype()) && !is_complex(a.dtype()))
    raise<TypeError>("[{}] {} would lose its imaginary part in {}; take np::real, or cast the array with astype({}).",
                     op, x.aval(), a.aval(), x.dtype());
  if (is_inexact(x.dtype()) && !is_inexact(a.dtype()))
    raise<TypeError>(
        "[{}] {} would lose its fraction in {}; cast it with astype({}), or the array to a floating dtype.", op,
        x.aval(), a.aval(), a.dtype());
  return ops::cast(x, a.dtype());
}

Array broadcast_value(const Array& x, const Shape& shape, std::string_view op) {
  Shape mine = x.shape();
  while (mine.size() > shape.size() && mine[0] == 1) mine.erase(mine.begin());
  const Array value = ops::reshape(x, mine);
  bool fits = mine.size() <= shape.size();
  for (std::size_t i = 0; fits && i < mine.size(); ++i)
    fits = mine[i] == 1 || mine[i] == shape[shape.size() - mine.size() + i];
  if (!fits)
    raise<ShapeError>(
        "[{}] a value {} does not broadcast to the indexed shape {}; aligned from the end, each axis must be "
        "equal or 1.",
        op, x.aval(), describe(shape));
  return ops::broadcast_to(value, shape);
}

bool whole_axis(const Array& a, const Item& item) {
  return item.kind == Kind::range && item.count == a.shape()[item.axis] && !item.reversed;
}

/// A mask and nothing else, and one value for all it selects: a `where`, which works under tracing too.
std::optional<Array> write_by_mask(const Array& a, const std::vector<Item>& items, const Array& value,
                                   const Update& update) {
  const Item* mask = nullptr;
  for (const Item& item : items) {
    if (item.kind == Kind::mask && !mask)
      mask = &item;
    else if (!whole_axis(a, item))
      return std::nullopt;
  }
  if (!mask || value.ndim() != 0) return std::nullopt;
  Ints axes;
  for (int k = 0; k < mask->array.ndim(); ++k) axes.push_back(mask->axis + k);
  const Array changed = update.combine ? bind1(*update.combine, {a, value}) : value;
  return ops::select(ops::broadcast_in_dim(mask->array, a.shape(), axes), changed, a);
}

Array updated(const Array& given, std::vector<Index> indices, const Array& x, const IndexOptions& options,
              const Update& update) {
  const Array target = given.weak_type() ? ops::cast(given, given.dtype()) : given;
  const Array value = fitting_value(target, x, update.op);
  const Array a = with_scalar_mask_axes(target, indices);
  const std::vector<Item> parsed = indexing::parse(a, indices, update.op);
  if (const auto done = write_by_mask(a, parsed, value, update)) return ops::reshape(*done, given.shape());

  const std::vector<Item> items = indexing::without_masks(a, parsed, update.op);
  const Layout layout = indexing::layout(items, update.op);
  const Array values = broadcast_value(value, layout.result, update.op);
  if (values.size() == 0 || a.size() == 0) return target;

  // A mask selects every element once, and so does one index per array.
  const auto count = [&](Kind kind) {
    return std::count_if(parsed.begin(), parsed.end(), [&](const Item& item) { return item.kind == kind; });
  };
  const bool unique = ops::product(layout.index_shape) == 1 || (count(Kind::mask) == 1 && count(Kind::array) == 0);
  const std::string mode = write_mode(options.mode);
  if (!unique || !update.combine)
    return ops::reshape(write(update.scatter, a, items, layout, values, mode, unique), given.shape());
  // What no other update touches is read, changed and set: plain elementwise work.
  const Array changed = bind1(*update.combine, {read(a, items, {.mode = IndexMode::clip}, update.op), values});
  return ops::reshape(write(ops::scatter_p, a, items, layout, changed, mode, true), given.shape());
}

}  // namespace

namespace detail {

Array get_index(const Array& a, std::vector<Index> indices) {
  const std::source_location where = indices[0].where();
  return IndexUpdate(a, std::move(indices)).get({}, where);
}

}  // namespace detail

Array IndexUpdate::get(IndexOptions options, std::source_location where) const {
  const detail::CallSite site(where, &array_);
  std::vector<Index> indices = indices_;
  const Array a = with_scalar_mask_axes(array_, indices);
  return read(a, indexing::without_masks(a, indexing::parse(a, indices, "index"), "index"), options, "index");
}
Array IndexUpdate::set(const ArrayLike& x, IndexOptions options) const {
  return updated(array_, indices_, x, options, {"at.set", ops::scatter_p, nullptr});
}
Array IndexUpdate::add(const ArrayLike& x, IndexOptions options) const {
  return updated(array_, indices_, x, options, {"at.add", ops::scatter_add_p, &ops::add_p});
}
Array IndexUpdate::subtract(const ArrayLike& x, IndexOptions options) const {
  const Array value = fitting_value(array_, x, "at.subtract");
  return updated(array_, indices_, bind1(ops::neg_p, {value}), options,
                 {"at.subtract", ops::scatter_add_p, &ops::add_p});
}
Array IndexUpdate::multiply(const ArrayLike& x, IndexOptions options) const {
  return updated(array_, indices_, x, options, {"at.multiply", ops::scatter_mul_p, &ops::mul_p});
}
Array IndexUpdate::divide(const ArrayLike& x, IndexOptions options) const {
  if (!is_inexact(array_.dtype()))
    raise<TypeError>("[at.divide] {} holds no fractions; cast it with astype(f32) first.", array_.aval());
  // Divisors that meet on one element are multiplied first.
  const Array divisors = updated(ops::full(array_.shape(), scalar(array_.dtype(), 1)), indices_, x, options,
                                 {"at.divide", ops::scatter_mul_p, &ops::mul_p});
  return bind1(ops::div_p, {array_, divisors});
}
Array IndexUpdate::min(const ArrayLike& x, IndexOptions options) const {
  return updated(array_, indices_, x, options, {"at.min", ops::scatter_min_p, &ops::min_p});
}
Array IndexUpdate::max(const ArrayLike& x, IndexOptions options) const {
  return updated(array_, indices_, x, options, {"at.max", ops::scatter_max_p, &ops::max_p});
}

Array IndexUpdate::power(const ArrayLike& x, IndexOptions options) const {
  // Exponents that meet on one element are multiplied first.
  const Array exponents = updated(ops::full(array_.shape(), scalar(array_.dtype(), 1)), indices_, x, options,
                                  {"at.power", ops::scatter_mul_p, &ops::mul_p});
  return numpy::power(array_, exponents);
}
Array IndexUpdate::apply(const std::function<Array(const Array&)>& f, IndexOptions options,
                         std::source_location where) const {
  const detail::CallSite site(where, &array_);
  const Array target = strong(array_);
  // How often each element is selected.
  const Array times = IndexUpdate(ops::full(target.shape(), scalar(i32, 0)), indices_).add(1, options);
  const auto once = [&](const Array& x) {
    const Array y = f(x);
    if (y.shape() != x.shape())
      raise<ShapeError>("[at.apply] the function makes {} of {}; it must keep the shape.", y.aval(), x.aval());
    return ops::cast(y, x.dtype());
  };
  const bool may_repeat = std::any_of(indices_.begin(), indices_.end(), [](const Index& index) {
    const auto* array = std::get_if<Array>(&index.spec());
    return array && array->dtype() != DType::bool_ && array->size() > 1;
  });
  const Array first = ops::select(times > 0, once(target), target);
  if (!may_repeat) return first;
  const Array most = numpy::maximum(numpy::max(times), 1);
  const auto more = [&](const std::pair<Array, Array>& state) { return state.first < most; };
  const auto again = [&](const std::pair<Array, Array>& state) {
    return std::pair{state.first + 1, ops::select(times > state.first, once(state.second), state.second)};
  };
  return lax::while_loop(more, again, std::pair{scalar(i32, 1), first}).second;
}

}  // namespace cotan
