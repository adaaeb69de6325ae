// NumPy's rules for index expressions: which elements they name and in which order the result has its axes.
#include "core/trace.hpp"
#include "numpy/indexing.hpp"
#include "ops/gather_scatter.hpp"
#include "ops/promote.hpp"

namespace cotan::indexing {

namespace {

/// start:stop:step on an axis of `size`, as Python's slice.indices.
Item range_item(const Range& r, int axis, std::int64_t size, std::string_view op) {
  if (r.step == 0) raise<ValueError>("[{}] the step of a range is 0; use a positive or a negative one.", op);
  const bool down = r.step < 0;
  const std::int64_t lowest = down ? -1 : 0, highest = down ? size - 1 : size;
  const auto bound = [&](const std::optional<std::int64_t>& given, std::int64_t open) {
    if (!given) return open;
    return std::clamp(*given < 0 ? *given + size : *given, lowest, highest);
  };
  const std::int64_t start = bound(r.start, down ? highest : lowest), stop = bound(r.stop, down ? lowest : highest);
  // Steps beyond the axis name one element at most; this also keeps -step from overflowing.
  const std::int64_t step = std::clamp<std::int64_t>(r.step, -size - 1, size + 1);
  const std::int64_t span = down ? start - stop : stop - start, distance = down ? -step : step;
  const std::int64_t count = span <= 0 ? 0 : (span + distance - 1) / distance;
  Item item{.kind = Item::Kind::range,
            .axis = axis,
            .count = count,
            .stride = count > 1 ? distance : 1,
            .reversed = down && count > 1};
  item.start = count == 0 ? 0 : down ? start - (count - 1) * distance : start;
  return item;
}

Item integer_item(std::int64_t i, const Array& a, int axis, std::string_view op) {
  const std::int64_t size = a.shape()[axis];
  if (i < -size || i >= size) {
    if (size == 0)
      raise<IndexError>("[{}] index {} is out of range: axis {} of {} is empty; use a range there.", op, i, axis,
                        a.aval());
    raise<IndexError>("[{}] index {} is out of range for axis {} of {}; it may be {} to {}.", op, i, axis, a.aval(),
                      -size, size - 1);
  }
  return {.kind = Item::Kind::integer, .axis = axis, .start = i < 0 ? i + size : i};
}

Item array_item(const Array& index, const Array& a, int axis, std::string_view op) {
  if (index.dtype() == DType::bool_) {
    for (int k = 0; k < index.ndim(); ++k)
      if (index.shape()[k] != a.shape()[axis + k])
        raise<IndexError>(
            "[{}] the mask {} does not match {} from axis {} on; each axis of a mask must be as long as the "
            "axis it covers.",
            op, index.aval(), a.aval(), axis);
    return {.kind = Item::Kind::mask, .axis = axis, .array = index};
  }
  if (!is_integer(index.dtype()))
    raise<TypeError>("[{}] an index array is {}; index arrays hold integers or bools, cast with astype(i32).", op,
                     index.aval());
  return {.kind = Item::Kind::array, .axis = axis, .array = index};
}

}  // namespace

std::vector<Item> parse(const Array& a, const std::vector<Index>& indices, std::string_view op) {
  int covered = 0, ellipses = 0;
  for (const Index& index : indices) {
    if (const auto* array = std::get_if<Array>(&index.spec()))
      covered += array->dtype() == DType::bool_ ? array->ndim() : 1;
    else if (std::holds_alternative<Ellipsis>(index.spec()))
      ++ellipses;
    else if (!std::holds_alternative<NewAxis>(index.spec()))
      ++covered;
  }
  if (ellipses > 1)
    raise<IndexError>("[{}] an index has {} ellipses; one at most says which axes it stands for.", op, ellipses);
  if (covered > a.ndim())
    raise<IndexError>("[{}] {} indices are too many for {}, which has {} axes; give one per axis at most.", op, covered,
                      a.aval(), a.ndim());

  std::vector<Item> items;
  int axis = 0;
  bool after_ellipsis = false;
  const auto take_whole = [&](int count) {
    for (; count > 0; --count, ++axis) items.push_back(range_item({}, axis, a.shape()[axis], op));
  };
  for (const Index& index : indices) {
    const auto& spec = index.spec();
    if (std::holds_alternative<Ellipsis>(spec)) {
      take_whole(a.ndim() - covered);
      after_ellipsis = true;
      continue;
    }
    if (std::holds_alternative<NewAxis>(spec)) {
      items.push_back({.kind = Item::Kind::newaxis, .axis = axis});
    } else if (const auto* i = std::get_if<std::int64_t>(&spec)) {
      items.push_back(integer_item(*i, a, axis, op));
      ++axis;
    } else if (const auto* r = std::get_if<Range>(&spec)) {
      items.push_back(range_item(*r, axis, a.shape()[axis], op));
      ++axis;
    } else {
      items.push_back(array_item(std::get<Array>(spec), a, axis, op));
      axis += items.back().kind == Item::Kind::mask ? items.back().array.ndim() : 1;
    }
    items.back().after_ellipsis = std::exchange(after_ellipsis, false);
  }
  take_whole(a.ndim() - axis);
  return items;
}

std::vector<Item> without_masks(const Array& a, const std::vector<Item>& items, std::string_view op) {
  std::vector<Item> out;
  for (const Item& item : items) {
    if (item.kind != Item::Kind::mask) {
      out.push_back(item);
      continue;
    }
    if (!has_value(item.array))
      raise<ConcretizationError>(
          "[{}] the mask {} into {} has no value while the function is traced, so the number of elements it "
          "selects is not "
          "known; use np::where(mask, x, y), which keeps the shape.",
          op, describe_value(item.array), a.aval());
    internal_check(item.array.ndim() > 0, "a scalar mask was not turned into an axis");
    const Arrays positions = nonzero_positions(item.array, op);
    for (std::size_t k = 0; k < positions.size(); ++k)
      out.push_back({.kind = Item::Kind::array,
                     .axis = item.axis + static_cast<int>(k),
                     .array = positions[k],
                     .after_ellipsis = k == 0 && item.after_ellipsis});
  }
  return out;
}

Layout layout(const std::vector<Item>& items, std::string_view op) {
  Layout out{.index_shape = {}, .position = 0, .has_arrays = false, .result = {}};
  std::vector<Shape> shapes;
  for (const Item& item : items)
    if (item.kind == Item::Kind::array) shapes.push_back(item.array.shape());
  out.has_arrays = !shapes.empty();
  if (out.has_arrays) out.index_shape = numpy::broadcast_shapes(op, shapes);

  // Integers beside arrays count as arrays. If all of them stand side by side, their axes take their place in
  // the result; else they come first.
  std::size_t kept = 0, first = 0, last = 0;
  bool seen = false, together = true;
  for (const Item& item : items) {
    if (item.keeps_axis()) {
      out.result.push_back(item.kind == Item::Kind::range ? item.count : 1);
      ++kept;
    } else {
      if (!seen)
        first = kept;
      else
        together &= kept == last && !item.after_ellipsis;
      last = kept;
      seen = true;
    }
  }
  out.position = together ? first : 0;
  out.result.insert(out.result.begin() + static_cast<std::ptrdiff_t>(out.position), out.index_shape.begin(),
                    out.index_shape.end());
  return out;
}

DType index_dtype(std::span<const Array> indices, const Shape& shape) {
  bool wide = false;
  for (const Array& a : indices) wide |= itemsize(a.dtype()) == 8 || a.dtype() == u32;
  for (auto d : shape) wide |= d > INT32_MAX;
  return wide ? i64 : i32;
}

Array wrap_negative(const Array& indices, std::int64_t size, DType dtype) {
  if (indices.ndim() == 0 && concrete(indices)) {
    const std::int64_t i = ops::index_values(indices)[0];
    return scalar(dtype, i < 0 ? i + size : i);
  }
  const Array wide = ops::cast(indices, dtype);
  if (is_unsigned_integer(indices.dtype())) return wide;
  return ops::select(bind1(ops::lt_p, {wide, scalar(dtype, 0)}), bind1(ops::add_p, {wide, scalar(dtype, size)}), wide);
}

Array index_vectors(const Arrays& columns, const Shape& shape) {
  Shape with_component = shape;
  with_component.push_back(1);
  Arrays parts;
  for (const Array& column : columns) parts.push_back(ops::reshape(ops::broadcast_to(column, shape), with_component));
  return ops::concatenate(parts, static_cast<int>(shape.size()));
}

std::string describe_value(const Array& a) {
  const auto* t = tracer(a);
  return t ? t->describe() : a.aval().str();
}
bool has_value(const Array& a) {
  Array at = a;
  while (const auto* t = tracer(at)) {
    at = t->known_value();
    if (!at.defined()) return false;
  }
  return concrete(at) != nullptr;
}

Arrays nonzero_positions(const Array& a, std::string_view op) {
  if (!has_value(a))
    raise<ConcretizationError>(
        "[{}] {} has no value while the function is traced, so the number of nonzero elements is not "
        "known; use np::where(condition, x, y), which keeps the shape.",
        op, describe_value(a));
  const std::vector<bool> set = a.to_vector<bool>();
  const Ints strides = ops::strides_of(a.shape());
  const DType dtype = index_dtype({}, a.shape());
  Arrays out;
  for (int axis = 0; axis < a.ndim(); ++axis) {
    Ints positions;
    for (std::size_t i = 0; i < set.size(); ++i)
      if (set[i]) positions.push_back(static_cast<std::int64_t>(i) / strides[axis] % a.shape()[axis]);
    const Array wide = Array::from_host(positions);
    out.push_back(dtype == i64 ? wide
                               : Array::from_host(std::vector<std::int32_t>(positions.begin(), positions.end())));
  }
  return out;
}

}  // namespace cotan::indexing
