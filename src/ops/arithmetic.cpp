// Arithmetic: exact on integers (two's complement), correctly rounded on floats.
#include <cmath>
#include <cotan/lax.hpp>
#include <cotan/numpy.hpp>

#include "expr/math.hpp"
#include "ops/elementwise.hpp"
#include "ops/parts.hpp"
#include "ops/promote.hpp"
#include "ops/scalar_math.hpp"
#include "ops/scalar_ops.hpp"

namespace cotan::ops {

namespace {

namespace np = numpy;
using namespace scalar_ops;

// Integer division truncates; division by zero gives -1 (all ones) and the overflow INT_MIN / -1 wraps, as
// XLA does.
constexpr auto div = [](auto a, auto b) {
  using T = decltype(a);
  if constexpr (std::is_same_v<T, bool>)
    return static_cast<bool>(a && b);
  else if constexpr (is_plain_integer<T>) {
    if (b == T(0)) return static_cast<T>(-1);
    if constexpr (std::is_signed_v<T>)
      if (b == T(-1)) return wrapping(T(0), a, [](auto x, auto y) { return x - y; });
    return static_cast<T>(a / b);
  } else
    return a / b;
};
constexpr auto rem = [](auto a, auto b) {
  using T = decltype(a);
  if constexpr (std::is_same_v<T, bool>)
    return false;
  else if constexpr (is_plain_integer<T>) {
    if (b == T(0)) return a;
    if constexpr (std::is_signed_v<T>)
      if (b == T(-1)) return T(0);
    return static_cast<T>(a % b);
  } else
    return std::fmod(a, b);
};
constexpr auto neg = [](auto a) {
  using T = decltype(a);
  if constexpr (std::is_same_v<T, bool>)
    return a;
  else if constexpr (is_plain_integer<T>)
    return wrapping(T(0), a, [](auto x, auto y) { return x - y; });
  else
    return -a;
};
constexpr auto absolute = [](auto a) {
  using T = decltype(a);
  if constexpr (std::is_floating_point_v<T>)
    return std::fabs(a);
  else if constexpr (std::is_signed_v<T>)
    return a < T(0) ? neg(a) : a;
  else
    return a;
};
constexpr auto sign = [](auto a) {
  using T = decltype(a);
  if constexpr (std::is_floating_point_v<T>)
    return a > T(0) ? T(1) : a < T(0) ? T(-1) : a;  // keeps ±0 and NaN
  else if constexpr (std::is_signed_v<T>)
    return static_cast<T>((a > T(0)) - (a < T(0)));
  else
    return static_cast<T>(a != T(0));
};
constexpr auto power = [](auto a, auto b) {
  using T = decltype(a);
  if constexpr (std::is_same_v<T, bool>)
    return static_cast<bool>(a || !b);
  else if constexpr (is_plain_integer<T>) {
    if constexpr (std::is_signed_v<T>)
      if (b < T(0)) return a == T(1) ? T(1) : a == T(-1) ? (b % 2 ? T(-1) : T(1)) : T(0);
    T result = 1, base = a;
    for (auto e = static_cast<std::make_unsigned_t<T>>(b); e; e >>= 1) {
      if (e & 1u) result = mul(result, base);
      base = mul(base, base);
    }
    return result;
  } else
    return scalar_math::pow(a, b);
};
constexpr auto square = [](auto a) { return mul(a, a); };

// The same as expressions: what compiled programs evaluate.
using expr::Expr;
using Xs = std::span<const Expr>;

bool is_bool(Expr e) { return e->dtype == DType::bool_; }
Expr add_scalar(Xs x, const Params&) { return is_bool(x[0]) ? x[0] | x[1] : x[0] + x[1]; }
Expr sub_scalar(Xs x, const Params&) { return is_bool(x[0]) ? x[0] ^ x[1] : x[0] - x[1]; }
Expr mul_scalar(Xs x, const Params&) { return is_bool(x[0]) ? x[0] & x[1] : x[0] * x[1]; }
Expr neg_scalar(Xs x, const Params&) { return is_bool(x[0]) ? x[0] : -x[0]; }
Expr div_scalar(Xs x, const Params&) {
  if (is_floating(x[0]->dtype)) return x[0] / x[1];
  if (is_bool(x[0])) return x[0] & x[1];
  const Expr zero = like(x[0], 0), none = eq(x[1], zero);
  if (!is_signed_integer(x[0]->dtype)) return select(none, ~zero, x[0] / select(none, like(x[0], 1), x[1]));
  const Expr minus_one = eq(x[1], like(x[1], -1));
  const Expr quotient = x[0] / select(none | minus_one, like(x[0], 1), x[1]);
  return select(none, like(x[0], -1), select(minus_one, -x[0], quotient));
}
Expr rem_scalar(Xs x, const Params&) {
  if (is_floating(x[0]->dtype)) return expr::math::fmod(x[0], x[1]);
  if (is_bool(x[0])) return expr::boolean(false);
  const Expr none = eq(x[1], like(x[1], 0));
  Expr trivial = none;
  if (is_signed_integer(x[0]->dtype)) trivial = none | eq(x[1], like(x[1], -1));
  return select(none, x[0], expr::rem(x[0], select(trivial, like(x[1], 1), x[1])));
}
Expr abs_scalar(Xs x, const Params&) {
  return is_floating(x[0]->dtype) || is_signed_integer(x[0]->dtype) ? abs(x[0]) : x[0];
}
Expr sign_scalar(Xs x, const Params&) {
  const Expr zero = like(x[0], 0), one = like(x[0], 1);
  if (!is_floating(x[0]->dtype) && !is_signed_integer(x[0]->dtype)) return cast(ne(x[0], zero), x[0]->dtype);
  return select(gt(x[0], zero), one, select(lt(x[0], zero), like(x[0], -1), is_floating(x[0]->dtype) ? x[0] : zero));
}
/// By repeated squaring over all bits of the exponent; integers wrap.
Expr integer_power(Expr base, Expr exponent) {
  const int bits = static_cast<int>(8 * itemsize(base->dtype));
  const Expr zero = like(base, 0), one = like(base, 1);
  Expr result = one, square = base;
  for (int k = 0; k < bits; ++k) {
    const Expr bit = shift_right(exponent, k) & one;
    result = select(ne(bit, zero), result * square, result);
    square = square * square;
  }
  if (!is_signed_integer(base->dtype)) return result;
  const Expr odd = ne(exponent & one, zero), minus_one = like(base, -1);
  const Expr inverse = select(eq(base, one), one, select(eq(base, minus_one), select(odd, minus_one, one), zero));
  return select(lt(exponent, zero), inverse, result);
}
Expr pow_scalar(Xs x, const Params&) {
  if (is_floating(x[0]->dtype)) return expr::math::pow(x[0], x[1]);
  if (is_bool(x[0])) return x[0] | ~x[1];
  return integer_power(x[0], x[1]);
}
Expr integer_pow_scalar(Xs x, const Params& params) {
  const std::int64_t n = params.integer("y");
  if (is_floating(x[0]->dtype)) return expr::math::integer_pow(x[0], n);
  Expr result = like(x[0], 1), square = x[0];
  for (auto e = static_cast<std::uint64_t>(n); e; e >>= 1) {
    if (e & 1u) result = result * square;
    square = square * square;
  }
  return result;
}

/// d max(a, b): the larger operand's tangent, half of each where they are equal.
template <bool first, bool larger>
Array extremum_partial(const Partial& p) {
  const Array &mine = p.x[first ? 0 : 1], &other = p.x[first ? 1 : 0];
  const Array wins = larger ? mine > other : mine < other;
  const Array weight = np::where(wins, 1.0, np::where(mine == other, 0.5, 0.0)).astype(p.y.dtype());
  return p.t * weight;
}

// Complex operands.
PartsList abs_parts(const Primitive&, PartsOf x, const Params&) {
  return real_result(bind1(hypot_p, {x[0].re, x[0].im}));
}
/// By real part, then by imaginary part.
template <bool larger>
PartsList extremum_parts(const Primitive&, PartsOf x, const Params&) {
  return {parts::where(larger ? parts::less(x[1], x[0]) : parts::less(x[0], x[1]), x[0], x[1])};
}
PartsList integer_pow_parts(const Primitive&, PartsOf x, const Params& params) {
  return {parts::integer_pow(x[0], params.integer("y"))};
}
/// The size of a complex number is real.
Types abs_type(const Primitive& self, std::span<const AbstractValue> x, const Params& params) {
  Types out = elementwise_type<Accepts::numeric>(self, x, params);
  out[0].dtype = real_dtype(out[0].dtype);
  return out;
}
/// Of complex numbers the change along their own direction.
Array abs_partial(const Partial& p) {
  if (!is_complex(p.t.dtype())) return p.t * bind1(sign_p, {p.x[0]});
  // Not by sign: that has no derivative here, and second derivatives need one.
  return real(p.t * conj(p.x[0])) / np::where(p.y == 0, 1.0, p.y);
}
Primitive of_type(Primitive p, decltype(Primitive::type) type) {
  p.type = type;
  return p;
}

Array hypot_share(const Array& x, const Array& y) { return bind1(hypot_share_p, {x, y}); }

/// 1 / hypot(x, y); at the origin, a kink, zero as for abs.
Array inverse_hypot(const Array& x, const Array& y) {
  const Array h = bind1(hypot_p, {x, y}), origin = h == 0;
  return np::where(origin, 0.0, 1.0 / np::where(origin, 1.0, h));
}

Array unary_linear(const Partial& p) { return -p.t; }

// Additive operations transpose by passing the cotangent on.
template <bool negate_second>
Arrays additive_transpose(const Primitive&, std::span<const Array> ct, std::span<const LinearInput> in, const Params&) {
  Arrays out(2);
  if (in[0].linear) out[0] = unbroadcast(ct[0], in[0].aval);
  if (in[1].linear) out[1] = unbroadcast(negate_second ? -ct[0] : ct[0], in[1].aval);
  return out;
}
Arrays mul_transpose(const Primitive& self, std::span<const Array> ct, std::span<const LinearInput> in, const Params&) {
  if (in[0].linear && in[1].linear)
    raise<TransformError>("[transpose] {} of two linear values is not linear; give linear_transpose a linear function.",
                          self.name);
  Arrays out(2);
  if (in[0].linear) out[0] = unbroadcast(bind1(mul_p, {ct[0], in[1].value}), in[0].aval);
  if (in[1].linear) out[1] = unbroadcast(bind1(mul_p, {in[0].value, ct[0]}), in[1].aval);
  return out;
}
Arrays div_transpose(const Primitive&, std::span<const Array> ct, std::span<const LinearInput> in, const Params&) {
  Arrays out(2);
  if (in[1].linear)
    raise<TransformError>("[transpose] div is not linear in its divisor; give linear_transpose a linear function.");
  out[0] = unbroadcast(bind1(div_p, {ct[0], in[1].value}), in[0].aval);
  return out;
}
Arrays neg_transpose(const Primitive&, std::span<const Array> ct, std::span<const LinearInput>, const Params&) {
  return {-ct[0]};
}

// Identities. Only those that keep every bit: x + 0 is none, since -0 + 0 is +0; x - 0 is one.
using Same = std::optional<std::size_t>;

bool is_negative_zero(double v) { return v == 0.0 && std::signbit(v); }
Same add_same_as(const OperandFacts& x) {
  for (std::size_t i : {0, 1})
    if (x.numbers[i] == 0.0 && (!is_floating(x.dtype) || is_negative_zero(*x.numbers[i]))) return 1 - i;
  return {};
}
Same sub_same_as(const OperandFacts& x) {
  return x.numbers[1] == 0.0 && !is_negative_zero(*x.numbers[1]) ? Same(0) : Same();
}
Same mul_same_as(const OperandFacts& x) {
  return x.numbers[1] == 1.0 ? Same(0) : x.numbers[0] == 1.0 ? Same(1) : Same();
}
/// x / 1, x ** 1
Same first_beside_one(const OperandFacts& x) { return x.numbers[1] == 1.0 ? Same(0) : Same(); }
Same integer_pow_same_as(const OperandFacts& x) { return x.params.integer("y") == 1 ? Same(0) : Same(); }

Primitive linear_in_operands(Primitive p, decltype(Primitive::transpose) transpose) {
  p.transpose = transpose;
  return p;
}

// integer_pow: x ** n for a static n, by repeated squaring in the compute type.
Arrays integer_pow_eval(const Primitive&, std::span<const Array> x, const Params& params) {
  const std::int64_t n = params.integer("y");
  auto [out, buffer] = allocate_like(x, x[0].aval());
  dispatch(x[0].dtype(), [&, &b = buffer, count = out.size()]<class T>() {
    using C = Compute<T>;
    const T* in = data<T>(x[0]);
    T* y = reinterpret_cast<T*>(b->data());
    for (std::int64_t i = 0; i < count; ++i) {
      if constexpr (std::is_floating_point_v<C>) {
        y[i] = static_cast<T>(scalar_math::pow(static_cast<C>(in[i]), static_cast<C>(n)));
      } else {
        C result = 1, base = static_cast<C>(in[i]);
        for (auto e = static_cast<std::uint64_t>(n); e; e >>= 1) {
          if (e & 1u) result = mul(result, base);
          base = mul(base, base);
        }
        y[i] = static_cast<T>(result);
      }
    }
  });
  return {out};
}
Types integer_pow_type(const Primitive& self, std::span<const AbstractValue> x, const Params& params) {
  if (params.integer("y") < 0 && !is_inexact(x[0].dtype))
    raise<TypeError>("[integer_pow] {} to the negative power {} is not an integer; cast the base with astype(f32).",
                     x[0], params.integer("y"));
  return elementwise_type<Accepts::numeric>(self, x, params);
}
Array integer_pow_partial(const Partial& p) {
  const std::int64_t n = p.params.integer("y");
  if (n == 0) return {};
  if (n == 1) return p.t;
  const Array lower = bind1(integer_pow_p, {p.x[0]}, {{"y", n - 1}});
  return p.t * (scalar(p.y.dtype(), n) * lower);
}

// nextafter works in the dtype itself, not in the type that halves are computed in.
template <class T>
T half_nextafter(T x, T y) {
  const float a = x, b = y;
  if (std::isnan(a) || std::isnan(b)) return T(std::numeric_limits<float>::quiet_NaN());
  if (a == b) return y;
  T out = x;
  if (a == 0.0f)
    out.bits = static_cast<std::uint16_t>((std::signbit(b) ? 0x8000u : 0u) | 1u);
  else
    out.bits = static_cast<std::uint16_t>((a < b) == (a > 0.0f) ? x.bits + 1 : x.bits - 1);
  return out;
}
Arrays nextafter_eval(const Primitive& self, std::span<const Array> x, const Params& params) {
  auto [out, buffer] = allocate_like(x, result_type(self, x, params));
  dispatch_floating(out.dtype(), self.name, [&, &b = buffer, n = out.size()]<class T>() {
    const T *from = data<T>(x[0]), *to = data<T>(x[1]);
    const auto df = step(x[0], n), dt = step(x[1], n);
    T* y = reinterpret_cast<T*>(b->data());
    for (std::int64_t i = 0; i < n; ++i) {
      if constexpr (is_half<T>)
        y[i] = half_nextafter(from[i * df], to[i * dt]);
      else
        y[i] = scalar_math::nextafter(from[i * df], to[i * dt]);
    }
  });
  return {out};
}

// clamp(lo, x, hi)
Arrays clamp_eval(const Primitive& self, std::span<const Array> a, const Params& params) {
  auto [out, buffer] = allocate_like(a, result_type(self, a, params));
  dispatch(out.dtype(), [&, &b = buffer, n = out.size()]<class T>() {
    using C = Compute<T>;
    const T *lo = data<T>(a[0]), *x = data<T>(a[1]), *hi = data<T>(a[2]);
    const auto dl = step(a[0], n), dx = step(a[1], n), dh = step(a[2], n);
    T* y = reinterpret_cast<T*>(b->data());
    for (std::int64_t i = 0; i < n; ++i)
      y[i] = static_cast<T>(
          minimum(maximum(static_cast<C>(x[i * dx]), static_cast<C>(lo[i * dl])), static_cast<C>(hi[i * dh])));
  });
  return {out};
}

}  // namespace

const Primitive neg_p =
    complex_by(lowered(linear_in_operands(unary<neg, Accepts::numeric>("neg", unary_linear), neg_transpose), neg_scalar,
                       Rewrites{.undoes_itself = true, .is_cheap = true}),
               on_each_part);
const Primitive abs_p = complex_by(
    lowered(of_type(unary<absolute, Accepts::numeric>("abs", abs_partial), abs_type), abs_scalar), abs_parts);
const Primitive sign_p =
    complex_by(lowered(unary<sign, Accepts::numeric>("sign", nullptr), sign_scalar), unary_on_parts<parts::sign>);
const Primitive square_p =
    complex_by(lowered(unary<square, Accepts::numeric>("square", [](const Partial& p) { return p.t * (2.0 * p.x[0]); }),
                       [](Xs x, const Params&) { return x[0] * x[0]; }),
               unary_on_parts<parts::square>);
const Primitive add_p = complex_by(
    lowered(linear_in_operands(binary<add, Accepts::any>(
                                   "add", {[](const Partial& p) { return p.t; }, [](const Partial& p) { return p.t; }}),
                               additive_transpose<false>),
            add_scalar, Rewrites{.same_as = add_same_as, .is_cheap = true}),
    on_each_part);
const Primitive sub_p =
    complex_by(lowered(linear_in_operands(binary<sub, Accepts::numeric>("sub", {[](const Partial& p) { return p.t; },
                                                                                [](const Partial& p) { return -p.t; }}),
                                          additive_transpose<true>),
                       sub_scalar, Rewrites{.same_as = sub_same_as, .is_cheap = true}),
               on_each_part);
const Primitive mul_p = complex_by(
    lowered(linear_in_operands(
                binary<mul, Accepts::any>("mul", {[](const Partial& p) { return bind1(mul_p, {p.t, p.x[1]}); },
                                                  [](const Partial& p) { return bind1(mul_p, {p.x[0], p.t}); }}),
                mul_transpose),
            mul_scalar, Rewrites{.same_as = mul_same_as, .is_cheap = true}),
    binary_on_parts<parts::mul>);
const Primitive div_p = complex_by(
    lowered(linear_in_operands(binary<div, Accepts::numeric>(
                                   "div", {[](const Partial& p) { return bind1(div_p, {p.t, p.x[1]}); },
                                           [](const Partial& p) { return bind1(mul_p, {-p.t, p.y / p.x[1]}); }}),
                               div_transpose),
            div_scalar, Rewrites{.same_as = first_beside_one}),
    binary_on_parts<parts::div>);
const Primitive rem_p = lowered(
    binary<rem, Accepts::numeric>("rem", {[](const Partial& p) { return p.t; },
                                          [](const Partial& p) { return p.t * -bind1(trunc_p, {p.x[0] / p.x[1]}); }}),
    rem_scalar);
const Primitive max_p =
    complex_by(lowered(
                   binary<maximum, Accepts::any>("max", {extremum_partial<true, true>, extremum_partial<false, true>}),
                   [](Xs x, const Params&) { return max(x[0], x[1]); }, Rewrites{.same_as = same_as_equal}),
               extremum_parts<true>);
const Primitive min_p = complex_by(
    lowered(
        binary<minimum, Accepts::any>("min", {extremum_partial<true, false>, extremum_partial<false, false>}),
        [](Xs x, const Params&) { return min(x[0], x[1]); }, Rewrites{.same_as = same_as_equal}),
    extremum_parts<false>);
const Primitive pow_p = complex_by(
    lowered(binary<power, Accepts::numeric>(
                "pow", {[](const Partial& p) {
                          // y x^(y-1); zero where both are zero
                          const Array both = (p.x[0] == 0) & (p.x[1] == 0), base = np::where(both, 1.0, p.x[0]);
                          return p.t * np::where(both, 0.0, p.x[1] * bind1(pow_p, {base, p.x[1] - 1.0}));
                        },
                        [](const Partial& p) {
                          // x^y log x; zero at x = 0, where x^y does not depend on y > 0
                          const Array log_x = np::log(np::where(p.x[0] == 0, 1.0, p.x[0]));
                          return p.t * (log_x * p.y);
                        }}),
            pow_scalar, Rewrites{.same_as = first_beside_one}),
    binary_on_parts<parts::pow>);
const Primitive integer_pow_p{.name = "integer_pow",
                              .op_class = OpClass::elementwise,
                              .type = integer_pow_type,
                              .eval = integer_pow_eval,
                              .partials = {integer_pow_partial},
                              .batch = elementwise_batch,
                              .scalar = integer_pow_scalar,
                              .rewrites = {.same_as = integer_pow_same_as},
                              .on_parts = integer_pow_parts};
const Primitive sqrt_p = complex_by(lowered(unary<[](auto x) { return scalar_math::sqrt(x); }>(
                                                "sqrt", [](const Partial& p) { return p.t * (0.5 / p.y); }),
                                            [](Xs x, const Params&) { return sqrt(x[0]); }),
                                    unary_on_parts<parts::sqrt>);
const Primitive rsqrt_p =
    complex_by(lowered(unary<[](auto x) { return scalar_math::rsqrt(x); }>(
                           "rsqrt", [](const Partial& p) { return p.t * (-0.5 * (p.y / p.x[0])); }),
                       [](Xs x, const Params&) { return expr::math::rsqrt(x[0]); }),
               unary_on_parts<parts::rsqrt>);
const Primitive cbrt_p = lowered(
    unary<[](auto x) { return scalar_math::cbrt(x); }>(
        "cbrt",
        [](const Partial& p) { return p.t * (bind1(integer_pow_p, {p.y}, {{"y", std::int64_t{-2}}}) * (1.0 / 3.0)); }),
    [](Xs x, const Params&) { return expr::math::cbrt(x[0]); });
const Primitive atan2_p = lowered(
    binary<[](auto y, auto x) { return scalar_math::atan2(y, x); }>(
        "atan2", {[](const Partial& p) { return p.t * (p.x[1] / (np::square(p.x[0]) + np::square(p.x[1]))); },
                  [](const Partial& p) { return p.t * (-p.x[0] / (np::square(p.x[0]) + np::square(p.x[1]))); }}),
    [](Xs x, const Params&) { return expr::math::atan2(x[0], x[1]); });
const Primitive hypot_p = lowered(binary<[](auto x, auto y) { return scalar_math::hypot(x, y); }>(
                                      "hypot", {[](const Partial& p) { return p.t * hypot_share(p.x[0], p.x[1]); },
                                                [](const Partial& p) { return p.t * hypot_share(p.x[1], p.x[0]); }}),
                                  [](Xs x, const Params&) { return expr::math::hypot(x[0], x[1]); });
// x / hypot(x, y): 0 at the origin, and the limit where one of them is infinite. An operation of its own, since the
// derivative of the quotient cancels where |x| >> |y|.
const Primitive hypot_share_p = lowered(
    binary<[](auto x, auto y) {
      using T = decltype(x);
      const auto h = scalar_math::hypot(x, y);
      if (h == 0) return T(0);
      return std::isinf(x) && !std::isinf(y) && !std::isnan(y) ? T(std::copysign(T(1), x)) : T(x / h);
    }>("hypot_share",
       {[](const Partial& p) {
          return p.t * (np::square(hypot_share(p.x[1], p.x[0])) * inverse_hypot(p.x[0], p.x[1]));
        },
        [](const Partial& p) { return p.t * (-p.y * hypot_share(p.x[1], p.x[0]) * inverse_hypot(p.x[0], p.x[1])); }}),
    [](Xs x, const Params&) {
      const auto h = expr::math::hypot(x[0], x[1]);
      const auto zero = expr::constant(h->dtype, 0.0), infinity = expr::constant(h->dtype, np::inf);
      const auto one =
          expr::select(expr::lt(x[0], zero), expr::constant(h->dtype, -1.0), expr::constant(h->dtype, 1.0));
      const auto far = expr::eq(expr::abs(x[0]), infinity) & expr::lt(expr::abs(x[1]), infinity);
      return expr::select(expr::eq(h, zero), zero, expr::select(far, one, x[0] / h));
    });
const Primitive nextafter_p{.name = "nextafter",
                            .op_class = OpClass::elementwise,
                            .type = elementwise_type<Accepts::floating>,
                            .eval = nextafter_eval,
                            .batch = elementwise_batch,
                            .not_differentiable = true,
                            .scalar = [](Xs x, const Params&) { return expr::math::nextafter(x[0], x[1]); },
                            .keeps_halves = true};
const Primitive clamp_p{
    .name = "clamp",
    .op_class = OpClass::elementwise,
    .type = elementwise_type<Accepts::any>,
    .eval = clamp_eval,
    .partials = {[](const Partial& p) { return np::where(bind1(lt_p, {p.x[1], p.x[0]}), p.t, 0.0); },
                 [](const Partial& p) { return np::where((p.x[1] > p.x[0]) & (p.x[1] < p.x[2]), p.t, 0.0); },
                 [](const Partial& p) { return np::where(bind1(gt_p, {p.x[1], p.x[2]}), p.t, 0.0); }},
    .batch = elementwise_batch,
    .scalar = [](Xs x, const Params&) { return min(max(x[1], x[0]), x[2]); }};
const Listed arithmetic_listed{&neg_p,   &abs_p,  &sign_p,  &square_p, &add_p,         &sub_p,         &mul_p,
                               &div_p,   &rem_p,  &max_p,   &min_p,    &pow_p,         &integer_pow_p, &sqrt_p,
                               &rsqrt_p, &cbrt_p, &atan2_p, &hypot_p,  &hypot_share_p, &nextafter_p,   &clamp_p};

}  // namespace cotan::ops

namespace cotan::numpy {

Array sqrt(const ArrayLike& a) { return on_float(ops::sqrt_p, a); }
Array cbrt(const ArrayLike& a) { return on_float(ops::cbrt_p, a); }

}  // namespace cotan::numpy

namespace cotan::lax {

Array rsqrt(const ArrayLike& a) { return numpy::on_float(ops::rsqrt_p, a); }

}  // namespace cotan::lax
