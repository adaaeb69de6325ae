// Comparisons, logic and bits of each element: promotion and broadcasting in front of the primitives.
#include <algorithm>
#include <cotan/numpy.hpp>

#include "ops/ops.hpp"
#include "ops/promote.hpp"

namespace cotan::numpy {

namespace {

Array bind_promoted(const Primitive& p, std::string_view name, const Array& a, const Array& b) {
  return bind1(p, promote(name, {a, b}));
}

}  // namespace

Array equal(const ArrayLike& a, const ArrayLike& b) { return bind_promoted(ops::eq_p, "equal", a, b); }
Array not_equal(const ArrayLike& a, const ArrayLike& b) { return bind_promoted(ops::ne_p, "not_equal", a, b); }
Array less(const ArrayLike& a, const ArrayLike& b) { return bind_promoted(ops::lt_p, "less", a, b); }
Array less_equal(const ArrayLike& a, const ArrayLike& b) { return bind_promoted(ops::le_p, "less_equal", a, b); }
Array greater(const ArrayLike& a, const ArrayLike& b) { return bind_promoted(ops::gt_p, "greater", a, b); }
Array greater_equal(const ArrayLike& a, const ArrayLike& b) { return bind_promoted(ops::ge_p, "greater_equal", a, b); }

namespace {

Array truth(const Array& a) { return a.dtype() == DType::bool_ ? a : not_equal(a, 0); }
Array bind_truth(const Primitive& p, std::string_view name, const Array& a, const Array& b) {
  const Array operands[] = {a, b};
  broadcast_shapes(name, operands);
  return bind1(p, broadcast_operands(name, {truth(a), truth(b)}));
}

}  // namespace

Array logical_and(const ArrayLike& a, const ArrayLike& b) { return bind_truth(ops::and_p, "logical_and", a, b); }
Array logical_or(const ArrayLike& a, const ArrayLike& b) { return bind_truth(ops::or_p, "logical_or", a, b); }
Array logical_xor(const ArrayLike& a, const ArrayLike& b) { return bind_truth(ops::xor_p, "logical_xor", a, b); }
Array logical_not(const ArrayLike& a) { return bind1(ops::not_p, {truth(a)}); }
Array bitwise_and(const ArrayLike& a, const ArrayLike& b) { return bind_promoted(ops::and_p, "bitwise_and", a, b); }
Array bitwise_or(const ArrayLike& a, const ArrayLike& b) { return bind_promoted(ops::or_p, "bitwise_or", a, b); }
Array bitwise_xor(const ArrayLike& a, const ArrayLike& b) { return bind_promoted(ops::xor_p, "bitwise_xor", a, b); }
Array bitwise_not(const ArrayLike& a) { return bind1(ops::not_p, {a.array()}); }
Array bitwise_count(const ArrayLike& a) { return ops::cast(bind1(ops::population_count_p, {abs(a)}), DType::u8); }
Array left_shift(const ArrayLike& a, const ArrayLike& b) {
  return bind1(ops::shift_left_p, promote_numeric("left_shift", {a, b}));
}
Array right_shift(const ArrayLike& a, const ArrayLike& b) {
  const Arrays x = promote_numeric("right_shift", {a, b});
  return bind1(is_unsigned_integer(x[0].dtype()) ? ops::shift_right_logical_p : ops::shift_right_arithmetic_p, x);
}

namespace {

Array all_false(const Array& a) { return ops::full(a.shape(), scalar(DType::bool_, 0)); }

}  // namespace

Array isnan(const ArrayLike& a) {
  return is_inexact(a->dtype()) ? bind1(ops::ne_p, {a.array(), a.array()}) : all_false(a);
}
Array isinf(const ArrayLike& a) {
  if (is_complex(a->dtype())) return isinf(ops::real(a)) | isinf(ops::imag(a));
  return is_floating(a->dtype()) ? abs(a) == inf : all_false(a);
}
Array isposinf(const ArrayLike& a) {
  check_real("isposinf", a);
  return is_floating(a->dtype()) ? a.array() == inf : all_false(a);
}
Array isneginf(const ArrayLike& a) {
  check_real("isneginf", a);
  return is_floating(a->dtype()) ? a.array() == -inf : all_false(a);
}
Array isfinite(const ArrayLike& a) {
  if (is_complex(a->dtype())) return isfinite(ops::real(a)) & isfinite(ops::imag(a));
  return is_floating(a->dtype()) ? bind1(ops::is_finite_p, {a.array()})
                                 : ops::full(a->shape(), scalar(DType::bool_, 1));
}
Array signbit(const ArrayLike& a) {
  check_real("signbit", a);
  const DType dtype = a->dtype();
  if (!is_floating(dtype)) return dtype == DType::bool_ || is_unsigned_integer(dtype) ? all_false(a) : a.array() < 0;
  const DType bits = itemsize(dtype) == 8 ? DType::i64 : itemsize(dtype) == 4 ? DType::i32 : DType::i16;
  return bind1(ops::bitcast_convert_type_p, {a.array()}, {{"new_dtype", bits}}) < 0;
}

Array isclose(const ArrayLike& a, const ArrayLike& b, double rtol, double atol, bool equal_nan) {
  const Arrays x = promote_inexact("isclose", {a, b});
  const Array near = abs(x[0] - x[1]) <= atol + rtol * abs(x[1]);
  Array close = (isfinite(x[0]) & isfinite(x[1]) & near) | (x[0] == x[1]);
  if (equal_nan) close = close | (isnan(x[0]) & isnan(x[1]));
  return close;
}
Array allclose(const ArrayLike& a, const ArrayLike& b, double rtol, double atol, bool equal_nan) {
  return all(isclose(a, b, rtol, atol, equal_nan));
}
Array array_equal(const ArrayLike& a, const ArrayLike& b, bool equal_nan) {
  if (a->shape() != b->shape()) return scalar(DType::bool_, 0);
  return all(equal_nan ? equal(a, b) | (isnan(a) & isnan(b)) : equal(a, b));
}
Array array_equiv(const ArrayLike& a, const ArrayLike& b) {
  const Shape &x = a->shape(), &y = b->shape();
  for (std::size_t i = 1; i <= std::min(x.size(), y.size()); ++i)
    if (const auto m = x[x.size() - i], n = y[y.size() - i]; m != n && m != 1 && n != 1) return scalar(DType::bool_, 0);
  return all(equal(a, b));
}

Array where(const ArrayLike& condition, const ArrayLike& a, const ArrayLike& b) {
  const Array operands[] = {condition, a, b}, branches[] = {a, b};
  broadcast_shapes("where", operands);
  Arrays x = cast_all(branches, result_type(branches));
  x.insert(x.begin(), truth(condition));
  return bind1(ops::select_p, broadcast_operands("where", std::move(x)));
}

}  // namespace cotan::numpy
