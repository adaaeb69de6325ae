// Shape and order of axes: views.
#include <algorithm>
#include <cotan/numpy.hpp>
#include <numeric>

#include "ops/ops.hpp"
#include "ops/promote.hpp"

namespace cotan::numpy {

namespace {

void check_order(std::string_view op, char order) {
  if (order != 'C' && order != 'F')
    raise<ValueError>("[{}] order '{}' is unknown; use C (row-major) or F (column-major).", op, order);
}

}  // namespace

Array reshape(const ArrayLike& a, const Shape& shape, char order) {
  check_order("reshape", order);
  // Column-major is row-major with all axes reversed, before and after.
  if (order == 'F') return transpose(reshape(transpose(a), Shape(shape.rbegin(), shape.rend())));
  Shape sizes = shape, given;
  std::int64_t* open = nullptr;
  for (auto& d : sizes) {
    if (d == -1 && open)
      raise<ShapeError>("[reshape] shape {} leaves two sizes open; only one may be -1.", describe(shape));
    if (d < -1) raise<ShapeError>("[reshape] shape {} has a negative size; only one size may be -1.", describe(shape));
    if (d == -1)
      open = &d;
    else
      given.push_back(d);
  }
  if (open) {
    const std::int64_t known = element_count(given);
    if (known == 0 || a->size() % known != 0)
      raise<ShapeError>("[reshape] {} has {} elements, which do not divide into shape {}; give every size.", a->aval(),
                        a->size(), describe(shape));
    *open = a->size() / known;
  }
  return ops::reshape(a, sizes);
}
Array ravel(const ArrayLike& a, char order) {
  check_order("ravel", order);
  return ops::reshape(order == 'F' ? transpose(a) : a.array(), {a->size()});
}

Array transpose(const ArrayLike& a, const std::vector<int>& axes) {
  const int n = a->ndim();
  Ints permutation;
  if (axes.empty()) {
    for (int i = n - 1; i >= 0; --i) permutation.push_back(i);
  } else {
    if (static_cast<int>(axes.size()) != n)
      raise<ShapeError>("[transpose] {} axes are given for {}, which has {}; name each axis once.", axes.size(),
                        a->aval(), n);
    for (int axis : Axes(axes).resolve(n, "transpose")) permutation.push_back(axis);
  }
  return ops::transpose(a, permutation);
}
Array permute_dims(const ArrayLike& a, const std::vector<int>& axes) {
  if (static_cast<int>(axes.size()) != a->ndim())
    raise<ShapeError>("[permute_dims] {} axes are given for {}, which has {}; name each axis once.", axes.size(),
                      a->aval(), a->ndim());
  return transpose(a, axes);
}
Array matrix_transpose(const ArrayLike& a) {
  if (a->ndim() < 2) raise<ShapeError>("[matrix_transpose] {} is not a matrix; it needs at least 2 axes.", a->aval());
  return swapaxes(a, -2, -1);
}
Array swapaxes(const ArrayLike& a, int axis1, int axis2) {
  Ints permutation(a->ndim());
  std::iota(permutation.begin(), permutation.end(), 0);
  std::swap(permutation[resolve_axis(axis1, a->ndim(), "swapaxes")],
            permutation[resolve_axis(axis2, a->ndim(), "swapaxes")]);
  return ops::transpose(a, permutation);
}
Array moveaxis(const ArrayLike& a, const Axes& source, const Axes& destination) {
  const int n = a->ndim();
  const std::vector<int> from = source.resolve(n, "moveaxis"), to = destination.resolve(n, "moveaxis");
  if (from.size() != to.size())
    raise<ValueError>("[moveaxis] {} source axes and {} destinations; give one destination per source.", from.size(),
                      to.size());
  Ints permutation(n, -1);
  for (std::size_t i = 0; i < from.size(); ++i) permutation[to[i]] = from[i];
  int next = 0;
  for (auto& p : permutation) {
    if (p != -1) continue;
    while (std::find(from.begin(), from.end(), next) != from.end()) ++next;
    p = next++;
  }
  return ops::transpose(a, permutation);
}

Array rollaxis(const ArrayLike& a, int axis, int start) {
  const int n = a->ndim(), from = resolve_axis(axis, n, "rollaxis");
  if (start < -n || start > n)
    raise<IndexError>("[rollaxis] start {} is out of range for {}; it may be {} to {}.", start, a->aval(), -n, n);
  const int before = start < 0 ? start + n : start;
  return moveaxis(a, from, before > from ? before - 1 : before);
}

Array expand_dims(const ArrayLike& a, const Axes& axis) {
  if (!axis.given()) raise<ValueError>("[expand_dims] needs an axis; give where the new axes go.");
  const int n = a->ndim() + static_cast<int>(axis.list().size());
  const std::vector<int> added = axis.resolve(n, "expand_dims");
  Shape shape;
  auto next = a->shape().begin();
  for (int i = 0; i < n; ++i) shape.push_back(std::find(added.begin(), added.end(), i) != added.end() ? 1 : *next++);
  return ops::reshape(a, shape);
}
Array squeeze(const ArrayLike& a, const Axes& axis) {
  const Shape& from = a->shape();
  Ints gone;
  if (axis.given()) {
    for (int i : axis.resolve(a->ndim(), "squeeze")) {
      if (from[i] != 1)
        raise<ShapeError>("[squeeze] axis {} of {} has size {}; only axes of size 1 can be taken away.", i, a->aval(),
                          from[i]);
      gone.push_back(i);
    }
  } else {
    for (int i = 0; i < a->ndim(); ++i)
      if (from[i] == 1) gone.push_back(i);
  }
  return ops::reshape(a, ops::erase_axes(from, gone));
}

Array broadcast_to(const ArrayLike& a, const Shape& shape) {
  checked_bytes({a->dtype(), shape, false}, "broadcast_to");
  return ops::broadcast_to(a, shape);
}
Shape broadcast_shapes(const std::vector<Shape>& shapes, const std::source_location& where) {
  const cotan::detail::CallSite site(where);
  return broadcast_shapes("broadcast_shapes", shapes);
}
std::vector<Array> broadcast_arrays(const ArrayList& list) {
  const std::vector<Array>& arrays = list;
  const Shape shape = broadcast_shapes("broadcast_arrays", arrays);
  std::vector<Array> out;
  for (const Array& a : arrays) out.push_back(ops::broadcast_to(a, shape));
  return out;
}

Array flip(const ArrayLike& a, const Axes& axis) {
  const std::vector<int> axes = axis.resolve(a->ndim(), "flip");
  return ops::rev(a, Ints(axes.begin(), axes.end()));
}
Array fliplr(const ArrayLike& a) {
  if (a->ndim() < 2) raise<ShapeError>("[fliplr] {} has no second axis; use flip.", a->aval());
  return flip(a, 1);
}
Array flipud(const ArrayLike& a) {
  if (a->ndim() < 1) raise<ShapeError>("[flipud] a 0-d array has no axis to flip; use np::atleast_1d.");
  return flip(a, 0);
}
Array rot90(const ArrayLike& a, int k, int axis1, int axis2) {
  const std::vector<int> plane = Axes{axis1, axis2}.resolve(a->ndim(), "rot90");
  switch (((k % 4) + 4) % 4) {
    case 0:
      return a;
    case 1:
      return swapaxes(flip(a, plane[1]), plane[0], plane[1]);
    case 2:
      return flip(a, plane);
    default:
      return flip(swapaxes(a, plane[0], plane[1]), plane[1]);
  }
}
Array atleast_1d(const ArrayLike& a) { return a->ndim() >= 1 ? a.array() : ops::reshape(a, {1}); }
Array atleast_3d(const ArrayLike& a) {
  if (a->ndim() >= 3) return a;
  return ops::reshape(a, a->ndim() == 2 ? Shape{a->shape()[0], a->shape()[1], 1} : Shape{1, a->size(), 1});
}
Array atleast_2d(const ArrayLike& a) { return a->ndim() >= 2 ? a.array() : ops::reshape(a, {1, a->size()}); }

}  // namespace cotan::numpy
