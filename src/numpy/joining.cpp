// Joining arrays, and splitting them.
#include <algorithm>
#include <cotan/numpy.hpp>

#include "ops/ops.hpp"
#include "ops/promote.hpp"

namespace cotan::numpy {

namespace {

void check_not_empty(std::string_view op, const std::vector<Array>& arrays) {
  if (arrays.empty()) raise<ValueError>("[{}] got no arrays; give at least one.", op);
}
Array joined(std::string_view op, const Arrays& arrays, int axis, std::optional<DType> dtype) {
  check_not_empty(op, arrays);
  for (const Array& a : arrays) {
    if (a.ndim() == 0) raise<ShapeError>("[{}] 0-d arrays have no axis to join along; use np::stack.", op);
    if (a.ndim() != arrays[0].ndim())
      raise<ShapeError>("[{}] {} and {} have different numbers of axes; reshape one with expand_dims.", op,
                        arrays[0].aval(), a.aval());
  }
  const int at = resolve_axis(axis, arrays[0].ndim(), op);
  for (const Array& a : arrays)
    for (int i = 0; i < a.ndim(); ++i)
      if (i != at && a.shape()[i] != arrays[0].shape()[i])
        raise<ShapeError>("[{}] shapes {} and {} differ in axis {}; only axis {} may differ.", op,
                          describe(arrays[0].shape()), describe(a.shape()), i, at);
  return ops::concatenate(cast_all(arrays, dtype ? ResultType{*dtype, false} : result_type(arrays)), at);
}

}  // namespace

Array concatenate(const ArrayList& arrays, int axis, std::optional<DType> dtype) {
  return joined("concatenate", arrays, axis, dtype);
}
Array concatenate(const ArrayList& list, None, std::optional<DType> dtype) {
  Arrays flat;
  for (const Array& a : list.list()) flat.push_back(ravel(a));
  return joined("concatenate", flat, 0, dtype);
}
Array stack(const ArrayList& list, int axis, std::optional<DType> dtype) {
  const std::vector<Array>& arrays = list;
  check_not_empty("stack", arrays);
  const int at = resolve_axis(axis, arrays[0].ndim() + 1, "stack");
  Arrays rows;
  for (const Array& a : arrays) {
    if (a.shape() != arrays[0].shape())
      raise<ShapeError>("[stack] shapes {} and {} differ; all arrays must have one shape.", describe(arrays[0].shape()),
                        describe(a.shape()));
    rows.push_back(expand_dims(a, at));
  }
  return joined("stack", rows, at, dtype);
}
Array hstack(const ArrayList& list, std::optional<DType> dtype) {
  const std::vector<Array>& arrays = list;
  check_not_empty("hstack", arrays);
  Arrays parts;
  for (const Array& a : arrays) parts.push_back(atleast_1d(a));
  return joined("hstack", parts, parts[0].ndim() == 1 ? 0 : 1, dtype);
}
Array vstack(const ArrayList& list, std::optional<DType> dtype) {
  const std::vector<Array>& arrays = list;
  Arrays parts;
  for (const Array& a : arrays) parts.push_back(atleast_2d(a));
  return joined("vstack", parts, 0, dtype);
}
Array dstack(const ArrayList& list, std::optional<DType> dtype) {
  Arrays parts;
  for (const Array& a : list.list()) parts.push_back(atleast_3d(a));
  return joined("dstack", parts, 2, dtype);
}
Array column_stack(const ArrayList& list) {
  const std::vector<Array>& arrays = list;
  Arrays parts;
  for (const Array& a : arrays) parts.push_back(a.ndim() < 2 ? ops::reshape(a, {a.size(), 1}) : a);
  return joined("column_stack", parts, 1, std::nullopt);
}

// Splitting ---------------------------------------------------------------------------------------

std::vector<Array> split(const ArrayLike& a, int sections, int axis) {
  const int at = resolve_axis(axis, a->ndim(), "split");
  const std::int64_t size = a->shape()[at];
  if (sections < 1 || size % sections != 0)
    raise<ShapeError>("[split] axis {} of {} does not divide into {} equal parts; give the indices to split at.", at,
                      a->aval(), sections);
  std::vector<Array> out;
  const std::int64_t each = size / sections;
  for (std::int64_t i = 0; i < sections; ++i) out.push_back(ops::slice_axis(a, at, i * each, (i + 1) * each));
  return out;
}
std::vector<Array> split(const ArrayLike& a, const std::vector<std::int64_t>& indices, int axis) {
  const int at = resolve_axis(axis, a->ndim(), "split");
  const std::int64_t size = a->shape()[at];
  // Bounds as in Python slices: negative ones count from the end, those outside are clipped.
  const auto bound = [&](std::int64_t i) { return std::clamp<std::int64_t>(i < 0 ? i + size : i, 0, size); };
  std::vector<Array> out;
  std::int64_t start = 0;
  for (std::size_t i = 0; i <= indices.size(); ++i) {
    const std::int64_t stop = i < indices.size() ? bound(indices[i]) : size;
    out.push_back(ops::slice_axis(a, at, start, std::max(start, stop)));
    start = stop;
  }
  return out;
}
std::vector<Array> split(const ArrayLike& a, std::initializer_list<std::int64_t> indices, int axis) {
  return split(a, std::vector<std::int64_t>(indices), axis);
}
std::vector<Array> array_split(const ArrayLike& a, const Sections& sections, int axis) {
  if (!sections.parts()) return split(a, sections.indices(), axis);
  const int at = resolve_axis(axis, a->ndim(), "array_split"), parts = *sections.parts();
  if (parts < 1) raise<ValueError>("[array_split] cannot make {} parts; give 1 or more.", parts);
  const std::int64_t each = a->shape()[at] / parts, longer = a->shape()[at] % parts;
  std::vector<std::int64_t> starts;
  for (std::int64_t i = 1; i < parts; ++i) starts.push_back(i * each + std::min(i, longer));
  return split(a, starts, at);
}

namespace {

std::vector<Array> split_at(std::string_view op, const Array& a, const Sections& sections, int axis) {
  if (axis >= a.ndim()) raise<ShapeError>("[{}] {} has no axis {} to split; use split.", op, a.aval(), axis);
  return sections.parts() ? split(a, *sections.parts(), axis) : split(a, sections.indices(), axis);
}

}  // namespace

std::vector<Array> vsplit(const ArrayLike& a, const Sections& sections) { return split_at("vsplit", a, sections, 0); }
std::vector<Array> hsplit(const ArrayLike& a, const Sections& sections) {
  return split_at("hsplit", a, sections, a->ndim() == 1 ? 0 : 1);
}
std::vector<Array> dsplit(const ArrayLike& a, const Sections& sections) { return split_at("dsplit", a, sections, 2); }
std::vector<Array> unstack(const ArrayLike& a, int axis) {
  if (a->ndim() == 0) raise<ShapeError>("[unstack] a 0-d array has no axis to take apart; use np::atleast_1d.");
  const int at = resolve_axis(axis, a->ndim(), "unstack");
  const Shape row = ops::erase_axes(a->shape(), {at});
  std::vector<Array> out;
  for (std::int64_t i = 0; i < a->shape()[at]; ++i) out.push_back(ops::reshape(ops::slice_axis(a, at, i, i + 1), row));
  return out;
}

}  // namespace cotan::numpy
