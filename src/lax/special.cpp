// cotan::lax over the special functions; products' upper halves, fewer bits, rounding.
#include "special/special.hpp"

#include <cotan/lax.hpp>
#include <cotan/numpy.hpp>

#include "core/error.hpp"
#include "numpy/promote.hpp"
#include "ops/ops.hpp"

namespace cotan::lax {

namespace np = numpy;

namespace {

Array call(const Primitive& p, std::initializer_list<Array> x) { return bind1(p, numpy::promote_inexact(p.name, x)); }

}  // namespace

Array igamma(const ArrayLike& a, const ArrayLike& x) { return call(special::igamma_p, {a, x}); }
Array igammac(const ArrayLike& a, const ArrayLike& x) { return call(special::igammac_p, {a, x}); }
Array igamma_grad_a(const ArrayLike& a, const ArrayLike& x) { return call(special::igamma_grad_a_p, {a, x}); }
Array random_gamma_grad(const ArrayLike& a, const ArrayLike& x) { return call(special::random_gamma_grad_p, {a, x}); }
Array betainc(const ArrayLike& a, const ArrayLike& b, const ArrayLike& x) {
  return call(special::betainc_p, {a, b, x});
}
Array bessel_i0e(const ArrayLike& x) { return call(special::bessel_i0e_p, {x}); }
Array bessel_i1e(const ArrayLike& x) { return call(special::bessel_i1e_p, {x}); }
Array zeta(const ArrayLike& x, const ArrayLike& q) { return call(special::zeta_p, {x, q}); }
Array polygamma(const Array& m, const ArrayLike& a) {
  if (!is_floating(m.dtype()))
    raise<TypeError>("[polygamma] the order is {}; cast it to a float with astype.", m.dtype());
  return call(special::polygamma_of_p, {m, a});
}

Array mulhi(const ArrayLike& a, const ArrayLike& b) {
  const Arrays x = numpy::promote("mulhi", {a, b});
  const DType dtype = x[0].dtype();
  if (!is_integer(dtype)) raise<TypeError>("[mulhi] needs integers, got {}; cast with astype.", dtype);
  const int bits = 8 * static_cast<int>(itemsize(dtype)), half = bits / 2;
  if (bits < 32) {
    const Array product = x[0].astype(i32) * x[1].astype(i32);
    return shift_right_arithmetic(product, bits).astype(dtype);
  }
  const DType as_unsigned = bits == 32 ? u32 : u64;
  const Array u = ops::cast(x[0], as_unsigned), v = ops::cast(x[1], as_unsigned);
  const Array mask = ops::cast(Array((std::int64_t{1} << half) - 1), as_unsigned),
              shift = ops::cast(Array(half), as_unsigned);
  const auto low = [&](const Array& w) { return w & mask; };
  const auto high = [&](const Array& w) { return shift_right_logical(w, shift); };
  const Array middle = high(u) * low(v) + high(low(u) * low(v)), other = low(u) * high(v) + low(middle);
  const Array product = high(u) * high(v) + high(middle) + high(other);
  if (dtype == as_unsigned) return product;
  const Array zero = np::zeros_like(u);
  const Array correction = np::where(x[0] < 0, v, zero) + np::where(x[1] < 0, u, zero);
  return ops::cast(product - correction, dtype);
}

Array reduce_precision(const ArrayLike& a, int exponent_bits, int mantissa_bits) {
  if (exponent_bits < 1 || mantissa_bits < 0)
    raise<ValueError>("[reduce_precision] {} bits of exponent and {} of mantissa are no format; give at least 1 and 0.",
                      exponent_bits, mantissa_bits);
  return bind1(special::reduce_precision_p, {numpy::cast_to(a, numpy::inexact_result_type({&a.array(), 1}))},
               {{"exponent_bits", std::int64_t{exponent_bits}}, {"mantissa_bits", std::int64_t{mantissa_bits}}});
}

Array round(const ArrayLike& a, RoundingMethod method) {
  if (!is_floating(a->dtype())) raise<TypeError>("[round] needs floats, got {}; integers are round.", a->dtype());
  if (method == RoundingMethod::to_nearest_even) return np::rint(a);
  const Array whole = np::trunc(a);
  return np::where(np::abs(a - whole) >= 0.5, whole + np::sign(a), whole);
}

}  // namespace cotan::lax
