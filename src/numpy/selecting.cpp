// Elements by condition: nonzero and its kin, compress, select, piecewise.
#include <cotan/numpy.hpp>

#include "numpy/indexing.hpp"
#include "ops/ops.hpp"
#include "ops/promote.hpp"

namespace cotan::numpy {

namespace {

Array truth(const Array& a) { return a.dtype() == DType::bool_ ? a : not_equal(a, 0); }

void need_values(std::string_view op, const Array& a) {
  if (!indexing::has_value(a))
    raise<ConcretizationError>(
        "[{}] {} has no value while the function is traced, so the number of nonzero elements is not known; say with "
        "`size` how many places the result has, or use np::where(condition, x, y), which keeps the shape.",
        op, indexing::describe_value(a));
}
void check_size(std::string_view op, std::int64_t size) {
  if (size < 0) raise<ValueError>("[{}] size {} is negative; give 0 or more.", op, size);
}

/// Positions in the flattened mask where it holds, the first `size` of them; 0 in places that are left.
Array flat_positions(const Array& mask, std::int64_t size) {
  const Array flat = ravel(mask);
  const Array place = cumsum(flat) - 1;
  // What has no place goes to one that does not exist.
  const Array target = where(flat, place, scalar(i32, size));
  const Array none = ops::full({size}, scalar(i32, 0));
  return none.at(target).set(ops::iota(i32, flat.shape(), 0), {.mode = IndexMode::drop});
}

Array fill_of_axis(std::string_view op, const Array& fill, int axis, int ndim) {
  if (fill.ndim() == 0) return fill;
  if (fill.shape() != Shape{ndim})
    raise<ShapeError>("[{}] the fill value is {}; give a scalar, or one per axis ({}).", op, fill.aval(), ndim);
  return ops::reshape(ops::slice_axis(fill, 0, axis, axis + 1), {});
}

std::vector<Array> positions(std::string_view op, const Array& a, const NonzeroOptions& options) {
  if (a.ndim() == 0) raise<ShapeError>("[{}] a scalar has no axes to index; use np::atleast_1d.", op);
  if (!options.size) {
    need_values(op, a);
    return indexing::nonzero_positions(a, op);
  }
  check_size(op, *options.size);
  const Array mask = truth(a);
  const Array flat = a.size() == 0 ? ops::full({*options.size}, scalar(i32, 0)) : flat_positions(mask, *options.size);
  const Array left = ops::iota(i32, {*options.size}, 0) >= sum(mask);
  const Ints strides = ops::strides_of(a.shape());
  std::vector<Array> out;
  for (int axis = 0; axis < a.ndim(); ++axis) {
    const std::int64_t size = std::max<std::int64_t>(a.shape()[axis], 1),
                       stride = std::max<std::int64_t>(strides[axis], 1);
    Array index = flat;
    if (stride > 1) index = floor_divide(index, stride);
    if (axis > 0) index = mod(index, size);
    if (options.fill_value)
      index = where(left, fill_of_axis(op, *options.fill_value, axis, a.ndim()).astype(i32), index);
    out.push_back(index);
  }
  return out;
}

}  // namespace

std::vector<Array> nonzero(const ArrayLike& a, const NonzeroOptions& options) {
  return positions("nonzero", a, options);
}
std::vector<Array> where(const ArrayLike& condition, const NonzeroOptions& options) {
  return positions("where", condition, options);
}
Array argwhere(const ArrayLike& a, const NonzeroOptions& options) {
  if (a->ndim() > 0) return stack(positions("argwhere", a, options), 1);
  const Array found = positions("argwhere", atleast_1d(a), options)[0];
  return ops::full({found.size(), 0}, scalar(i32, 0));
}
Array flatnonzero(const ArrayLike& a, const NonzeroOptions& options) {
  return positions("flatnonzero", ravel(a), options)[0];
}

namespace {

Array compressed(std::string_view op, const Array& condition, const Array& a, const CompressOptions& o) {
  if (condition.ndim() != 1) raise<ShapeError>("[{}] the condition is {}; it must be a vector.", op, condition.aval());
  const int at = o.axis ? resolve_axis(*o.axis, a.ndim(), op) : 0;
  Array x = o.axis ? a : ravel(a), mask = truth(condition);
  const std::int64_t n = std::min(x.shape()[at], mask.size());
  if (!o.size) {
    need_values(op, condition);
    if (mask.size() > n && any(ops::slice_axis(mask, 0, n, mask.size())).item<bool>())
      raise<IndexError>("[{}] the condition {} holds outside of axis {} of {}; it must be as long.", op,
                        condition.aval(), at, x.aval());
    return take(x, indexing::nonzero_positions(ops::slice_axis(mask, 0, 0, n), op)[0], at);
  }
  if (*o.size < 0 || *o.size > n)
    raise<ValueError>("[{}] size {} does not fit axis {} of {} and the condition; give 0 to {}.", op, *o.size, at,
                      x.aval(), n);
  x = ops::slice_axis(x, at, 0, n);
  mask = ops::slice_axis(mask, 0, 0, n);
  const Array filled = ops::select(ops::broadcast_in_dim(mask, x.shape(), {at}), x,
                                   ops::broadcast_to(ops::cast(o.fill_value, x.dtype()), x.shape()));
  // What is chosen first, both parts in their order.
  const Array order = argsort(logical_not(mask));
  return take(filled, ops::slice_axis(order, 0, 0, *o.size), at);
}

}  // namespace

Array compress(const ArrayLike& condition, const ArrayLike& a, const CompressOptions& options) {
  return compressed("compress", condition, a, options);
}
Array extract(const ArrayLike& condition, const ArrayLike& a, const CompressOptions& options) {
  if (options.axis) raise<ValueError>("[extract] there is no axis in flattened arrays; use compress.");
  return compressed("extract", ravel(condition), ravel(a), options);
}

Array select(const ArrayList& condition_list, const ArrayList& choice_list, const ArrayLike& default_value) {
  const std::vector<Array>&conditions = condition_list, &choices = choice_list;
  if (conditions.empty() || conditions.size() != choices.size())
    raise<ValueError>("[select] {} conditions and {} choices are given; give as many of both, at least one.",
                      conditions.size(), choices.size());
  Arrays values = choices;
  values.push_back(default_value);
  values = cast_all(values, {result_type(values).dtype, false});
  std::vector<Shape> shapes;
  for (const auto* list : {&conditions, &choices})
    for (const Array& each : *list) shapes.push_back(each.shape());
  shapes.push_back(default_value->shape());
  Array out = ops::broadcast_to(values.back(), broadcast_shapes("select", shapes));
  for (std::size_t i = conditions.size(); i-- > 0;) out = where(conditions[i], values[i], out);
  return out;
}

Array piecewise(const ArrayLike& x, const ArrayList& condition_list, const std::vector<Piece>& pieces) {
  const std::vector<Array>& conditions = condition_list;
  if (pieces.size() != conditions.size() && pieces.size() != conditions.size() + 1)
    raise<ValueError>("[piecewise] {} pieces for {} conditions; give one for each, and one more for the others.",
                      pieces.size(), conditions.size());
  const Array zero(0);
  const auto value_of = [&](const Piece* piece) {
    if (!piece || !piece->function())
      return ops::broadcast_to(ops::cast(piece ? piece->value() : zero, x->dtype()), x->shape());
    // As JAX calls it: with a scalar that stands for each element.
    const auto of_element = [&](std::span<const Array> in) { return Arrays{piece->function()(in[0])}; };
    const Array flat[] = {ravel(x)};
    const int axes[] = {0};
    const Arrays out = flat::vmap(
        of_element, flat, axes, [](std::size_t n) { return std::vector<int>(n, 0); },
        [](std::size_t) { return std::string("the element"); });
    if (out[0].shape() != flat[0].shape())
      raise<ShapeError>("[piecewise] a function of one element gives more than one; the pieces must be elementwise.");
    return ops::reshape(ops::cast(out[0], x->dtype()), x->shape());
  };
  Array out = value_of(pieces.size() > conditions.size() ? &pieces.back() : nullptr);
  for (std::size_t i = 0; i < conditions.size(); ++i) out = where(conditions[i], value_of(&pieces[i]), out);
  return out;
}

}  // namespace cotan::numpy
