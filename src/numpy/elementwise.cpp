// Elementwise functions: promotion and broadcasting in front of the primitives, and small compositions of
// them.
#include <cmath>
#include <cotan/numpy.hpp>
#include <numbers>

#include "ops/ops.hpp"
#include "ops/promote.hpp"

namespace cotan::numpy {

using ops::select;

namespace {

Array bind_promoted(const Primitive& p, std::string_view name, const Array& a, const Array& b) {
  return bind1(p, promote(name, {a, b}));
}
Array bind_inexact(const Primitive& p, std::string_view name, const Array& a, const Array& b) {
  return bind1(p, promote_inexact(name, {a, b}));
}
Array to_numeric(const Array& a) { return cast_to(a, numeric_result_type({&a, 1})); }
/// A constant that promotes with others as `a` does.
Array like(const Array& a, double value) {
  return a.weak_type() && a.dtype() == DType::f32 ? cotan::detail::weak_scalar(value) : scalar(a.dtype(), value);
}
Array like(const Array& a, int value) {
  const bool weak_integer = a.weak_type() && a.dtype() == DType::i32;
  return weak_integer ? cotan::detail::weak_scalar(std::int64_t{value}) : like(a, static_cast<double>(value));
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
  for (Array& each : x) each = strong(each);  // the next operation depends on the width, so it is decided here
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
Array clip(const ArrayLike& a, const ArrayLike& lo, None) {
  const Array operands[] = {a, lo};
  broadcast_shapes("clip", operands);
  return maximum(a, lo);
}
Array clip(const ArrayLike& a, None, const ArrayLike& hi) {
  const Array operands[] = {a, hi};
  broadcast_shapes("clip", operands);
  return minimum(a, hi);
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

}  // namespace cotan::numpy
