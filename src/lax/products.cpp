// lax: products by name: of matrices, of ragged groups of rows, with scales.
#include <algorithm>
#include <cotan/lax.hpp>

#include "lax/options.hpp"
#include "ops/ops.hpp"
#include "ops/promote.hpp"

namespace cotan::lax {

namespace {

bool contains(const Ints& list, std::int64_t n) { return std::find(list.begin(), list.end(), n) != list.end(); }

/// dot_general of operands of one dtype, with axes counted from 0.
Array product_of(const Array& a, const Array& b, const DotDimensionNumbers& d) {
  return ops::dot_general(a, b, d.contract_lhs, d.contract_rhs, d.batch_lhs, d.batch_rhs);
}
Array as(std::optional<DType> dtype, const Array& a) { return dtype ? ops::cast(a, *dtype) : a; }

/// Those of a product of matrices in the last two axes.
DotDimensionNumbers of_matrices(int ndim) {
  DotDimensionNumbers d{{ndim - 1}, {ndim - 2}, {}, {}};
  for (int i = 0; i + 2 < ndim; ++i) {
    d.batch_lhs.push_back(i);
    d.batch_rhs.push_back(i);
  }
  return d;
}

/// bool[groups, n]: which of n neighbours belong to which group, where groups of these sizes follow one another.
Array members(const Array& sizes, std::int64_t n) {
  const Array ends = ops::cast(cumsum(sizes, 0), i32), starts = ends - ops::cast(sizes, i32);
  const Array at = ops::iota(i32, {1, n}, 1);
  const Shape column{sizes.shape()[0], 1};
  return (at >= ops::reshape(starts, column)) & (at < ops::reshape(ends, column));
}

/// Where the ragged axis of lhs[…] is in each group: zeros elsewhere, along a new first axis of groups.
Array by_group(const Array& lhs, std::int64_t axis, const Array& sizes) {
  Shape shape = lhs.shape();
  shape.insert(shape.begin(), sizes.shape()[0]);
  const Array mask = ops::broadcast_in_dim(members(sizes, lhs.shape()[axis]), shape, {0, axis + 1});
  return ops::select(mask, ops::broadcast_to(lhs, shape), ops::full(shape, scalar(lhs.dtype(), 0)));
}

DotDimensionNumbers checked(const Array& lhs, const Array& rhs, const Array& sizes,
                            const RaggedDotDimensionNumbers& d) {
  constexpr std::string_view op = "ragged_dot_general";
  if (sizes.ndim() != 1 || !is_integer(sizes.dtype()))
    raise<TypeError>("[{}] group sizes are {}; they must be integers along one axis.", op, sizes.aval());
  if (d.lhs_ragged_dimensions.size() != 1)
    raise<ValueError>("[{}] {} ragged axes; give one.", op, d.lhs_ragged_dimensions.size());
  return {resolved(lhs, d.dot.contract_lhs, op), resolved(rhs, d.dot.contract_rhs, op),
          resolved(lhs, d.dot.batch_lhs, op), resolved(rhs, d.dot.batch_rhs, op)};
}

Array scaled(const Array& a, const std::optional<Array>& scale, DType dtype) {
  const Array x = ops::cast(a, dtype);
  if (!scale) return x;
  Array s = ops::cast(*scale, dtype);
  if (s.ndim() != a.ndim())
    raise<ShapeError>("[scaled_dot] the scale of {} is {}; it must have as many axes.", a.aval(), scale->aval());
  for (int axis = 0; axis < a.ndim(); ++axis) {
    const std::int64_t size = a.shape()[axis], parts = s.shape()[axis];
    if (parts == size) continue;
    if (parts == 0 || size % parts != 0)
      raise<ShapeError>("[scaled_dot] the scale of {} is {}; axis {} of the scale must divide the operand's.", a.aval(),
                        scale->aval(), axis);
    s = numpy::repeat(s, size / parts, axis);
  }
  return x * s;
}

}  // namespace

Array dot_general(const ArrayLike& a, const ArrayLike& b, const DotDimensionNumbers& d,
                  std::optional<DType> preferred_element_type) {
  const Array operands[] = {a, b};
  const Arrays x = in_preferred_type(operands, preferred_element_type);
  return as(preferred_element_type,
            product_of(x[0], x[1],
                       {resolved(a, d.contract_lhs, "dot_general"), resolved(b, d.contract_rhs, "dot_general"),
                        resolved(a, d.batch_lhs, "dot_general"), resolved(b, d.batch_rhs, "dot_general")}));
}

Array dot(const ArrayLike& a, const ArrayLike& b, const DotOptions& options) {
  if (options.dimension_numbers) return dot_general(a, b, *options.dimension_numbers, options.preferred_element_type);
  const auto fits = [](const Array& x) { return x.ndim() == 1 || x.ndim() == 2; };
  if (!fits(a) || !fits(b))
    raise<ShapeError>("[dot] operands are {} and {}; give dimension numbers where they are not vectors or matrices.",
                      a->aval(), b->aval());
  return dot_general(a, b, {{a->ndim() - 1}, {0}, {}, {}}, options.preferred_element_type);
}

Array batch_matmul(const ArrayLike& a, const ArrayLike& b) {
  if (a->ndim() < 2 || a->ndim() != b->ndim())
    raise<ShapeError>("[batch_matmul] operands are {} and {}; they must have as many axes, two or more.", a->aval(),
                      b->aval());
  return dot_general(a, b, of_matrices(a->ndim()));
}

Array ragged_dot(const ArrayLike& lhs, const ArrayLike& rhs, const ArrayLike& group_sizes,
                 std::optional<DType> preferred_element_type) {
  if (lhs->ndim() != 2 || rhs->ndim() != 3)
    raise<ShapeError>("[ragged_dot] operands are {} and {}; they must be rows [m, k] and matrices [groups, k, n].",
                      lhs->aval(), rhs->aval());
  return ragged_dot_general(lhs, rhs, group_sizes, {{{1}, {1}, {}, {}}, {0}, {0}}, preferred_element_type);
}

Array ragged_dot_general(const ArrayLike& lhs, const ArrayLike& rhs, const ArrayLike& group_sizes,
                         const RaggedDotDimensionNumbers& dimensions, std::optional<DType> preferred_element_type) {
  constexpr std::string_view op = "ragged_dot_general";
  DotDimensionNumbers d = checked(lhs, rhs, group_sizes, dimensions);
  const std::int64_t ragged = resolved(lhs, dimensions.lhs_ragged_dimensions, op)[0];
  const Ints group = resolved(rhs, dimensions.rhs_group_dimensions, op);
  const Array operands[] = {lhs, rhs};
  const Arrays x = in_preferred_type(operands, preferred_element_type);
  const bool contracted = contains(d.contract_lhs, ragged), batched = contains(d.batch_lhs, ragged);
  if ((contracted || batched) != group.empty() || group.size() > 1)
    raise<ValueError>("[{}] {} group axes of rhs; give one where the ragged axis of lhs is free, else none.", op,
                      group.size());
  if (batched) {
    const Array any = numpy::any(members(group_sizes, lhs->shape()[ragged]), 0);
    const Array kept = ops::select(ops::broadcast_in_dim(any, x[0].shape(), {ragged}), x[0], ops::zeros_like(x[0]));
    return as(preferred_element_type, product_of(kept, x[1], d));
  }
  const Array parts = by_group(x[0], ragged, group_sizes);
  for (Ints* list : {&d.contract_lhs, &d.batch_lhs})
    for (auto& axis : *list) ++axis;
  if (!contracted) {
    // Groups are summed over: but one of the terms is 0 for each row.
    d.contract_lhs.push_back(0);
    d.contract_rhs.push_back(group[0]);
    return as(preferred_element_type, product_of(parts, x[1], d));
  }
  // Groups are a free axis of the left side, behind the batch; they go to the front.
  const Array y = product_of(parts, x[1], d);
  return as(preferred_element_type, ops::move_axis(y, static_cast<int>(d.batch_lhs.size()), 0));
}

Array scaled_dot(const ArrayLike& lhs, const ArrayLike& rhs, const ScaledDotOptions& options) {
  if (!options.dimension_numbers && (lhs->ndim() < 2 || lhs->ndim() != rhs->ndim()))
    raise<ShapeError>("[scaled_dot] operands are {} and {}; give dimension numbers, or matrices with as many axes.",
                      lhs->aval(), rhs->aval());
  const DotDimensionNumbers d = options.dimension_numbers ? *options.dimension_numbers : of_matrices(lhs->ndim());
  const DType out = options.preferred_element_type, wide = out == f64 ? f64 : f32;
  return dot_general(scaled(lhs, options.lhs_scale, wide), scaled(rhs, options.rhs_scale, wide), d).astype(out);
}

}  // namespace cotan::lax
