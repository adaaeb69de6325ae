// cotan::lax over the elementwise, shape and reduction primitives.
#include <algorithm>
#include <cotan/lax.hpp>
#include <cotan/numpy.hpp>

#include "lax/options.hpp"
#include "ops/ops.hpp"
#include "ops/promote.hpp"

namespace cotan::lax {

using numpy::promote;

namespace {

Array on_pair(const Primitive& p, const Array& a, const Array& b) { return bind1(p, promote(p.name, {a, b})); }
Array reduce(const Primitive& p, const Array& a, const std::vector<std::int64_t>& axes) {
  Ints over = resolved(a, axes, p.name);
  std::sort(over.begin(), over.end());
  return over.empty() ? a : bind1(p, {a}, {{"axes", over}});
}

}  // namespace

// Elementwise -----------------------------------------------------------------------------------

Array integer_pow(const ArrayLike& a, int n) {
  return bind1(ops::integer_pow_p, {a.array()}, {{"y", std::int64_t{n}}});
}
Array div(const ArrayLike& a, const ArrayLike& b) { return on_pair(ops::div_p, a, b); }
Array rem(const ArrayLike& a, const ArrayLike& b) { return on_pair(ops::rem_p, a, b); }
Array clamp(const ArrayLike& lo, const ArrayLike& a, const ArrayLike& hi) {
  return bind1(ops::clamp_p, promote("clamp", {lo, a, hi}));
}
Array select(const ArrayLike& predicate, const ArrayLike& on_true, const ArrayLike& on_false) {
  if (predicate->dtype() != DType::bool_)
    raise<TypeError>("[select] the predicate is {}; it must be bool, use x != 0.", predicate->aval());
  return numpy::where(predicate, on_true, on_false);
}
Array shift_right_logical(const ArrayLike& a, const ArrayLike& b) { return on_pair(ops::shift_right_logical_p, a, b); }
Array shift_right_arithmetic(const ArrayLike& a, const ArrayLike& b) {
  return on_pair(ops::shift_right_arithmetic_p, a, b);
}
Array population_count(const ArrayLike& a) { return bind1(ops::population_count_p, {a.array()}); }
Array clz(const ArrayLike& a) { return bind1(ops::clz_p, {a.array()}); }
Array convert_element_type(const ArrayLike& a, DType dtype) { return a->astype(dtype); }
Array bitcast_convert_type(const ArrayLike& a, DType dtype) {
  return a->dtype() == dtype ? strong(a) : bind1(ops::bitcast_convert_type_p, {a.array()}, {{"new_dtype", dtype}});
}
Array stop_gradient(const ArrayLike& a) { return bind1(ops::stop_gradient_p, {a.array()}); }

// Shape -------------------------------------------------------------------------------------------

Array iota(DType dtype, const Shape& shape, int axis, const std::source_location& where) {
  const cotan::detail::CallSite site(where);
  return ops::iota(dtype, shape, numpy::resolve_axis(axis, static_cast<int>(shape.size()), "iota"));
}
Array broadcast_in_dim(const ArrayLike& a, const Shape& shape, const std::vector<std::int64_t>& dimensions) {
  checked_bytes({a->dtype(), shape, false}, "broadcast_in_dim");
  return bind1(ops::broadcast_in_dim_p, {a.array()}, {{"shape", shape}, {"broadcast_dimensions", dimensions}});
}
Array transpose(const ArrayLike& a, const std::vector<std::int64_t>& permutation) {
  if (static_cast<int>(permutation.size()) != a->ndim())
    raise<ShapeError>("[transpose] {} is not a permutation of the {} axes of {}; name each axis once.",
                      describe(permutation), a->ndim(), a->aval());
  return ops::transpose(a, resolved(a, permutation, "transpose"));
}
Array slice(const ArrayLike& a, const std::vector<std::int64_t>& start, const std::vector<std::int64_t>& limit,
            const std::vector<std::int64_t>& strides) {
  return ops::slice(a, start, limit, strides);
}
Array slice_in_dim(const ArrayLike& a, std::int64_t start, std::int64_t limit, std::int64_t stride, int axis) {
  const int at = numpy::resolve_axis(axis, a->ndim(), "slice_in_dim");
  const std::int64_t size = a->shape()[at];
  return ops::slice_axis(a, at, start < 0 ? start + size : start, limit < 0 ? limit + size : limit, stride);
}
Array pad(const ArrayLike& a, const ArrayLike& value, const std::vector<PaddingConfig>& config) {
  Ints low, high, interior;
  for (const auto& c : config) {
    low.push_back(c.low);
    high.push_back(c.high);
    interior.push_back(c.interior);
  }
  if (static_cast<int>(config.size()) != a->ndim())
    raise<ShapeError>("[pad] {} is to be padded by {} configurations; give one per axis.", a->aval(), config.size());
  return ops::pad(a, value->weak_type() ? ops::cast(value, a->dtype()) : value.array(), low, high, interior);
}
Array rev(const ArrayLike& a, const std::vector<std::int64_t>& dimensions) {
  return ops::rev(a, resolved(a, dimensions, "rev"));
}
Array concatenate(const ArrayList& list, int dimension) {
  const std::vector<Array>& arrays = list;
  return numpy::concatenate(arrays, dimension);
}

// Reduction -----------------------------------------------------------------------

Array reduce_sum(const ArrayLike& a, const std::vector<std::int64_t>& axes) {
  return reduce(ops::reduce_sum_p, a, axes);
}
Array reduce_prod(const ArrayLike& a, const std::vector<std::int64_t>& axes) {
  return reduce(ops::reduce_prod_p, a, axes);
}
Array reduce_max(const ArrayLike& a, const std::vector<std::int64_t>& axes) {
  return reduce(ops::reduce_max_p, a, axes);
}
Array reduce_min(const ArrayLike& a, const std::vector<std::int64_t>& axes) {
  return reduce(ops::reduce_min_p, a, axes);
}
Array reduce_and(const ArrayLike& a, const std::vector<std::int64_t>& axes) {
  return reduce(ops::reduce_and_p, a, axes);
}
Array reduce_or(const ArrayLike& a, const std::vector<std::int64_t>& axes) { return reduce(ops::reduce_or_p, a, axes); }
Array reduce_xor(const ArrayLike& a, const std::vector<std::int64_t>& axes) {
  return reduce(ops::reduce_xor_p, a, axes);
}

}  // namespace cotan::lax
