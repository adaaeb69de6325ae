// Elementwise functions: promotion and broadcasting in front of the primitives, and small compositions of
// them.
#include <cmath>
#include <cotan/numpy.hpp>
#include <numbers>

#include "numpy/promote.hpp"
#include "ops/ops.hpp"

namespace cotan::numpy {

using ops::select;

namespace {

Array bind_promoted(const Primitive& p, std::string_view name, const Array& a, const Array& b) {
  return bind1(p, promote(name, {a, b}));
}
Array bind_inexact(const Primitive& p, std::string_view name, const Array& a, const Array& b) {
  return bind1(p, promote_inexact(name, {a, b}));
}
Array to_inexact(const Array& a) { return cast_to(a, inexact_result_type({&a, 1})); }
Array to_numeric(const Array& a) { return cast_to(a, numeric_result_type({&a, 1})); }
/// A constant that takes part in `a`'s promotion as `a` does.
Array like(const Array& a, double value) {
  return a.weak_type() && a.dtype() == DType::f32 ? cotan::detail::weak_scalar(value) : scalar(a.dtype(), value);
}
Array like(const Array& a, int value) {
  const bool weak_integer = a.weak_type() && a.dtype() == DType::i32;
  return weak_integer ? cotan::detail::weak_scalar(std::int64_t{value}) : like(a, static_cast<double>(value));
}

void check_real(std::string_view op, const Array& a) {
  if (is_complex(a.dtype()))
    raise<TypeError>("[{}] is not defined for complex numbers, and got {}; take np::real, np::imag or np::abs first.", op,
                     a.aval());
}

}  // namespace

// Arithmetic ------------------------------------------------------------------------------------

Array add(const ArrayLike& a, const ArrayLike& b) { return bind_promoted(ops::add_p, "add", a, b); }
Array subtract(const ArrayLike& a, const ArrayLike& b) { return bind_promoted(ops::sub_p, "subtract", a, b); }
Array multiply(const ArrayLike& a, const ArrayLike& b) { return bind_promoted(ops::mul_p, "multiply", a, b); }
Array divide(const ArrayLike& a, const ArrayLike& b) { return bind_inexact(ops::div_p, "divide", a, b); }
Array true_divide(const ArrayLike& a, const ArrayLike& b) { return divide(a, b); }
Array maximum(const ArrayLike& a, const ArrayLike& b) { return bind_promoted(ops::max_p, "maximum", a, b); }
Array minimum(const ArrayLike& a, const ArrayLike& b) { return bind_promoted(ops::min_p, "minimum", a, b); }
Array hypot(const ArrayLike& a, const ArrayLike& b) { return bind_inexact(ops::hypot_p, "hypot", a, b); }
Array nextafter(const ArrayLike& a, const ArrayLike& b) {
  Arrays x = promote_inexact("nextafter", {a, b});
  for (Array& each : x) each = strong(each);  // what comes next depends on the width: it is settled here
  return bind1(ops::nextafter_p, x);
}
Array arctan2(const ArrayLike& y, const ArrayLike& x) { return bind_inexact(ops::atan2_p, "arctan2", y, x); }

Array negative(const ArrayLike& a) { return bind1(ops::neg_p, {a.array()}); }
Array positive(const ArrayLike& a) {
  a->aval();
  return a;
}
Array reciprocal(const ArrayLike& a) {
  const Array x = to_inexact(a);
  return bind1(ops::div_p, {like(x, 1), x});
}
Array abs(const ArrayLike& a) {
  const bool never_negative = a->dtype() == DType::bool_ || is_unsigned_integer(a->dtype());
  return never_negative ? a.array() : bind1(ops::abs_p, {a.array()});
}
Array absolute(const ArrayLike& a) { return abs(a); }
Array fabs(const ArrayLike& a) {
  check_real("fabs", a);
  return bind1(ops::abs_p, {to_inexact(a)});
}
Array sign(const ArrayLike& a) { return bind1(ops::sign_p, {a.array()}); }
Array square(const ArrayLike& a) { return bind1(ops::square_p, {to_numeric(a)}); }

namespace {

/// Truncated remainder; integers are never divided by zero.
Arrays remainder_operands(std::string_view op, const Array& a, const Array& b) {
  Arrays x = promote_numeric(op, {a, b});
  if (is_integer(x[1].dtype())) x[1] = select(bind1(ops::eq_p, {x[1], like(x[1], 0)}), like(x[1], 1), x[1]);
  return x;
}

}  // namespace

Array floor_divide(const ArrayLike& a, const ArrayLike& b) {
  const Arrays x = promote_numeric("floor_divide", {a, b});
  const DType dtype = x[0].dtype();
  if (is_unsigned_integer(dtype)) return bind1(ops::div_p, x);
  const Array one = like(x[0], 1), zero = like(x[0], 0);
  const Array rest = bind1(ops::rem_p, x);
  const Array inexact = bind1(ops::ne_p, {rest, zero});
  if (is_integer(dtype)) {
    const Array quotient = bind1(ops::div_p, x);
    const Array signs_differ = bind1(ops::ne_p, {sign(x[0]), sign(x[1])});
    return select(bind1(ops::and_p, {signs_differ, inexact}), bind1(ops::sub_p, {quotient, one}), quotient);
  }
  // Dividing what is divisible, and rounding what is left of the error, as CPython does.
  const Array quotient = bind1(ops::div_p, {bind1(ops::sub_p, {x[0], rest}), x[1]});
  const Array below = bind1(ops::and_p, {inexact, bind1(ops::ne_p, {sign(x[1]), sign(rest)})});
  const Array whole = bind1(ops::round_p, {select(below, bind1(ops::sub_p, {quotient, one}), quotient)});
  // By zero it is an infinity, as the quotient is.
  return select(bind1(ops::eq_p, {x[1], zero}), bind1(ops::stop_gradient_p, {bind1(ops::div_p, x)}), whole);
}
Array fmod(const ArrayLike& a, const ArrayLike& b) { return bind1(ops::rem_p, remainder_operands("fmod", a, b)); }
Array remainder(const ArrayLike& a, const ArrayLike& b) {
  const Arrays x = remainder_operands("remainder", a, b);
  const Array rest = bind1(ops::rem_p, x);
  if (is_unsigned_integer(rest.dtype())) return rest;
  const Array zero = like(rest, 0);
  const Array signs_differ = bind1(ops::ne_p, {bind1(ops::lt_p, {rest, zero}), bind1(ops::lt_p, {x[1], zero})});
  const Array shift = bind1(ops::and_p, {signs_differ, bind1(ops::ne_p, {rest, zero})});
  return select(shift, bind1(ops::add_p, {rest, x[1]}), rest);
}
Array mod(const ArrayLike& a, const ArrayLike& b) { return remainder(a, b); }

Array power(const ArrayLike& a, const ArrayLike& b) {
  // A C++ integer is a static exponent: exact products, and a derivative that is right at zero.
  const auto* exponent = concrete(b);
  if (exponent && exponent->exact && exponent->exact->kind == ExactScalar::Kind::integer)
    return bind1(ops::integer_pow_p, {to_numeric(a)}, {{"y", exponent->exact->i}});
  return bind1(ops::pow_p, promote_numeric("power", {a, b}));
}

Array fmax(const ArrayLike& a, const ArrayLike& b) {
  const Arrays x = promote("fmax", {a, b});
  return select((x[0] > x[1]) | isnan(x[1]), x[0], x[1]);
}
Array fmin(const ArrayLike& a, const ArrayLike& b) {
  const Arrays x = promote("fmin", {a, b});
  return select((x[0] < x[1]) | isnan(x[1]), x[0], x[1]);
}
Array clip(const ArrayLike& a, const ArrayLike& lo, const ArrayLike& hi) {
  check_real("clip", a);
  const Array operands[] = {a, lo, hi};
  broadcast_shapes("clip", operands);
  return minimum(maximum(a, lo), hi);
}
Array copysign(const ArrayLike& a, const ArrayLike& b) {
  const Arrays x = promote_inexact("copysign", {a, b});
  const Array magnitude = abs(x[0]);
  return select(signbit(x[1]), -magnitude, magnitude);
}
Array heaviside(const ArrayLike& a, const ArrayLike& b) {
  check_real("heaviside", a);
  const Arrays x = promote_inexact("heaviside", {a, b});
  const Array step = select(x[0] < 0, like(x[0], 0), select(x[0] > 0, like(x[0], 1), x[1]));
  return select(isnan(x[0]), x[0], step);
}

namespace {

/// 2**n as a float of `dtype` (f32 or f64), from the bits of its exponent; n within the normal range.
Array two_to(const Array& n, DType dtype) {
  const bool wide = dtype == DType::f64;
  const DType bits = wide ? DType::i64 : DType::i32;
  const Array biased = ops::cast(n, bits) + scalar(bits, wide ? 1023 : 127);
  const Array shifted = bind1(ops::shift_left_p, {biased, scalar(bits, wide ? 52 : 23)});
  return bind1(ops::bitcast_convert_type_p, {shifted}, {{"new_dtype", dtype}});
}

}  // namespace

Array ldexp(const ArrayLike& a, const ArrayLike& b) {
  if (is_floating(b->dtype()))
    raise<TypeError>("[ldexp] the exponent is {}; it must be an integer, cast it with astype(i32).", b->aval());
  Array x = to_inexact(a);
  const ResultType result = result_type(x);
  const bool half = itemsize(x.dtype()) == 2;
  if (half) x = ops::cast(x, DType::f32);
  // Four factors, since the exponent may span twice the range of normal numbers.
  const int limit = x.dtype() == DType::f64 ? 2100 : 300;
  // In no wider type than needed: not every device has 64 bits.
  const bool unsigned_exponent = !is_signed_integer(b->dtype());
  const Array wide = itemsize(b->dtype()) < 4 ? ops::cast(b, DType::i32) : Array(b);
  const Array below = minimum(wide, limit);
  const Array n =
      ops::cast(unsigned_exponent && itemsize(b->dtype()) >= 4 ? below : maximum(below, -limit), DType::i32);
  const Array quarter = bind1(ops::shift_right_arithmetic_p, {n, scalar(DType::i32, 2)});
  const Array factor = two_to(quarter, x.dtype()), rest = two_to(n - 3 * quarter, x.dtype());
  return cast_to(x * factor * factor * factor * rest, result);
}

Array logaddexp(const ArrayLike& a, const ArrayLike& b) { return bind_inexact(ops::logaddexp_p, "logaddexp", a, b); }
Array logaddexp2(const ArrayLike& a, const ArrayLike& b) { return bind_inexact(ops::logaddexp2_p, "logaddexp2", a, b); }

Array gcd(const ArrayLike& a, const ArrayLike& b) {
  Arrays x = promote("gcd", {a, b});
  if (!is_integer(x[0].dtype()))
    raise<TypeError>("[gcd] needs integer operands, got {} and {}; cast with astype.", a->aval(), b->aval());
  x = {abs(x[0]), abs(x[1])};
  // Euclid's algorithm takes the most steps for neighbouring Fibonacci numbers: 1.44 per bit.
  const int steps = static_cast<int>(itemsize(x[0].dtype())) * 12;
  const Array zero = like(x[0], 0);
  for (int i = 0; i < steps; ++i) {
    const Array more = bind1(ops::ne_p, {x[1], zero});
    const Array rest = bind1(ops::rem_p, x);
    x = {select(more, x[1], x[0]), select(more, rest, zero)};
  }
  return x[0];
}
Array lcm(const ArrayLike& a, const ArrayLike& b) {
  const Arrays x = promote("lcm", {a, b});
  const Array divisor = gcd(x[0], x[1]);
  const Array zero = like(divisor, 0), is_zero = bind1(ops::eq_p, {divisor, zero});
  const Array quotient = bind1(ops::div_p, {abs(x[1]), select(is_zero, like(divisor, 1), divisor)});
  return select(is_zero, zero, abs(x[0]) * quotient);
}

Array nan_to_num(const ArrayLike& a, double nan, std::optional<double> posinf, std::optional<double> neginf) {
  if (is_complex(a->dtype()))
    return ops::complex(nan_to_num(ops::real(a), nan, posinf, neginf), nan_to_num(ops::imag(a), nan, posinf, neginf));
  if (!is_floating(a->dtype())) return a;
  const Array x = a;
  double largest = std::numeric_limits<double>::max();
  if (x.dtype() == DType::f32)
    largest = std::numeric_limits<float>::max();
  else if (x.dtype() == DType::f16)
    largest = 65504.0;
  else if (x.dtype() == DType::bf16)
    largest = 0x1.fep127;
  const Array finite =
      select(x == inf, like(x, posinf.value_or(largest)), select(x == -inf, like(x, neginf.value_or(-largest)), x));
  return select(isnan(x), like(x, nan), finite);
}

// Functions of floats ---------------------------------------------------------------------------

#define COTAN_FLOAT_FUNCTION(name, primitive) \
  Array name(const ArrayLike& a) { return bind1(ops::primitive, {to_inexact(a)}); }

COTAN_FLOAT_FUNCTION(sqrt, sqrt_p)
COTAN_FLOAT_FUNCTION(cbrt, cbrt_p)
COTAN_FLOAT_FUNCTION(exp, exp_p)
COTAN_FLOAT_FUNCTION(exp2, exp2_p)
COTAN_FLOAT_FUNCTION(expm1, expm1_p)
COTAN_FLOAT_FUNCTION(log, log_p)
COTAN_FLOAT_FUNCTION(log2, log2_p)
COTAN_FLOAT_FUNCTION(log10, log10_p)
COTAN_FLOAT_FUNCTION(log1p, log1p_p)
COTAN_FLOAT_FUNCTION(sin, sin_p)
COTAN_FLOAT_FUNCTION(cos, cos_p)
COTAN_FLOAT_FUNCTION(tan, tan_p)
COTAN_FLOAT_FUNCTION(arcsin, asin_p)
COTAN_FLOAT_FUNCTION(arccos, acos_p)
COTAN_FLOAT_FUNCTION(arctan, atan_p)
COTAN_FLOAT_FUNCTION(sinh, sinh_p)
COTAN_FLOAT_FUNCTION(cosh, cosh_p)
COTAN_FLOAT_FUNCTION(tanh, tanh_p)
COTAN_FLOAT_FUNCTION(arcsinh, asinh_p)
COTAN_FLOAT_FUNCTION(arccosh, acosh_p)
COTAN_FLOAT_FUNCTION(arctanh, atanh_p)
COTAN_FLOAT_FUNCTION(rint, round_p)

#undef COTAN_FLOAT_FUNCTION

Array sinc(const ArrayLike& a) {
  const Array x = to_inexact(a) * pi;
  // Near zero the power series, so that derivatives of every order are right there too.
  const Array small = abs(x) < 0.3;
  const Array near = select(small, x, like(x, 0)), t = square(near);
  Array series = like(x, 1.0 / 6227020800.0);
  for (double c : {-1.0 / 39916800.0, 1.0 / 362880.0, -1.0 / 5040.0, 1.0 / 120.0, -1.0 / 6.0, 1.0})
    series = series * t + c;
  const Array far = select(small, like(x, 1), x);
  return select(small, series, sin(far) / far);
}
Array deg2rad(const ArrayLike& a) { return to_inexact(a) * (pi / 180.0); }
Array rad2deg(const ArrayLike& a) { return to_inexact(a) * (180.0 / pi); }

namespace {

/// Integers and bool are whole already.
Array round_with(const Primitive& p, const Array& a) { return is_inexact(a.dtype()) ? bind1(p, {a}) : a; }

}  // namespace

namespace {

/// Integers of up to 32 bits to the nearest multiple of 10^digits, ties to an even one; what does not fit saturates.
Array round_narrow(const Array& a, int digits) {
  const DType dtype = a.dtype(), wide = dtype == DType::u32 ? DType::u32 : DType::i32;
  constexpr int most_digits = 9;  // of a power of ten that fits
  if (digits > most_digits || dtype == DType::bool_) return ops::full(a.shape(), scalar(dtype, 0));
  const auto size = static_cast<std::int64_t>(std::llround(std::pow(10.0, digits)));
  const bool is_signed = is_signed_integer(dtype);
  const int bits = static_cast<int>(8 * itemsize(dtype)) - (is_signed ? 1 : 0);
  const std::int64_t largest = (std::int64_t{1} << bits) - 1, least = is_signed ? -largest - 1 : 0;
  const auto number = [&](std::int64_t v) { return scalar(wide, v); };
  const Array x = ops::cast(a, wide), unit = number(size);
  const Array rest = bind1(ops::rem_p, {x, unit}), even = x - rest;
  const Array off = is_signed ? abs(rest) : rest, twice = off + off;
  const Array odd = bind1(ops::rem_p, {bind1(ops::div_p, {even, unit}), number(2)}) != number(0);
  const Array away = (twice > unit) | ((twice == unit) & odd);
  const Array up = ops::select(even > number(std::max(largest - size, least)), number(largest), even + unit);
  Array next = up;
  if (is_signed) {
    const Array down = ops::select(even < number(std::min(least + size, largest)), number(least), even - unit);
    next = ops::select(x < number(0), down, up);
  }
  return ops::cast(ops::select(away, next, even), dtype);
}

}  // namespace

Array floor(const ArrayLike& a) { return round_with(ops::floor_p, a); }
Array ceil(const ArrayLike& a) { return round_with(ops::ceil_p, a); }
Array trunc(const ArrayLike& a) { return round_with(ops::trunc_p, a); }
Array round(const ArrayLike& a, int decimals) {
  const ResultType type = result_type(a);
  if (decimals == 0 || (!is_inexact(type.dtype) && decimals > 0)) return round_with(ops::round_p, a);
  const double factor = std::pow(10.0, decimals);
  if (!is_inexact(type.dtype)) {
    if (itemsize(type.dtype) <= 4) return round_narrow(a, -decimals);
    const double unit = std::pow(10.0, -decimals);
    return ops::cast(bind1(ops::round_p, {ops::cast(a, DType::f64) / unit}) * unit, type.dtype);
  }
  const Array x = type.dtype == DType::f16 ? ops::cast(a, DType::f32) : a.array();
  return cast_to(bind1(ops::round_p, {x * factor}) / factor, type);
}

// Comparison, logic, bits -------------------------------------------------------------------------

Array equal(const ArrayLike& a, const ArrayLike& b) { return bind_promoted(ops::eq_p, "equal", a, b); }
Array not_equal(const ArrayLike& a, const ArrayLike& b) { return bind_promoted(ops::ne_p, "not_equal", a, b); }
Array less(const ArrayLike& a, const ArrayLike& b) { return bind_promoted(ops::lt_p, "less", a, b); }
Array less_equal(const ArrayLike& a, const ArrayLike& b) { return bind_promoted(ops::le_p, "less_equal", a, b); }
Array greater(const ArrayLike& a, const ArrayLike& b) { return bind_promoted(ops::gt_p, "greater", a, b); }
Array greater_equal(const ArrayLike& a, const ArrayLike& b) { return bind_promoted(ops::ge_p, "greater_equal", a, b); }

namespace {

Array truth(const Array& a) { return a.dtype() == DType::bool_ ? a : bind1(ops::ne_p, {a, like(a, 0)}); }
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
Array array_equal(const ArrayLike& a, const ArrayLike& b) {
  if (a->shape() != b->shape()) return scalar(DType::bool_, 0);
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
