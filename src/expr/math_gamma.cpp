// log|Gamma(x)|, its derivative digamma and the derivatives of that. Polynomials as in math_exp_log.cpp, but that the
// coefficients were rounded all at once.
//
// They are functions that back ends compile once (`expansion`). Positive arguments are straight-line code; negative
// ones a second function, behind a branch, by the reflection formulas, whose terms cancel next to zeros: sums are
// carried to more bits, and the rest goes to the library.
#include <algorithm>
#include <cmath>
#include <iterator>
#include <vector>

#include "expr/math.hpp"
#include "expr/math_support.hpp"

namespace cotan::expr::math {

const Function lgamma_function{"cotan_lgamma", 1}, digamma_function{"cotan_digamma", 1},
    polygamma_function{"cotan_polygamma", 2};

namespace {

// The library's, and what is expanded for negative arguments.
const Function exact_lgamma{"cotan_lgamma", 1}, exact_digamma{"cotan_digamma", 1},
    exact_polygamma{"cotan_polygamma", 2};
const Function negative_lgamma{"cotan_negative_lgamma", 1}, negative_digamma{"cotan_negative_digamma", 1};

constexpr Tailed pi = tailed(0x1.921fb54442d18p+1, 0x1.1a62633145c07p-53);

Pair plus(const Pair& a, const Pair& b) {
  const Pair sum = two_sum(a.high, b.high);
  return {sum.high, sum.low + (a.low + b.low)};
}
Pair minus(const Pair& a, const Pair& b) { return plus(a, {-b.high, -b.low}); }

// lgamma ----------------------------------------------------------------------------------------------------

/// For x > 0.
Pair lgamma_of_positive(Expr x) {
  const Expr tiny = lt(x, 0.5), below = lt(x, 1.5), central = lt(x, 2.5), zero = like(x, 0);
  // lgamma(x) = lgamma(x + 1) - log(x), so that what is fitted is lgamma(2 + t), |t| <= 1/2.
  const Pair log = log_parts(select(tiny, x * (x + 1.0), x));
  const Expr t = select(tiny, x, select(below, x - 1.0, x - 2.0));
  // lgamma(2 + t)/t: f32 2^-25.9, f64 2^-55.2.
  const Expr p =
      horner(t,
             {0.422784328, 0.322467029, -0.06735228, 0.0205807351, -0.00738615915, 0.00289173261, -0.00118595536,
              0.000501520757, -0.000253626844, 0.000122353784},
             {0.42278433509846713,     0.3224670334241132,     -0.067352301053198144,   0.020580808427784925,
              -0.0073855510286683999,  0.0028905103307136533,  -0.0011927539119909571,  0.00050966952568800249,
              -0.00022315475095158527, 9.9457495185207597e-05, -4.4926348724548969e-05, 2.0507409088674423e-05,
              -9.4384748360526559e-06, 4.3735030358464271e-06, -2.0448564802527904e-06, 9.6105513819072778e-07,
              -4.3049149919851506e-07, 1.9667000382019231e-07, -1.3400780368810902e-07, 6.9161868375679168e-08});
  const Pair product = two_product(t, p);
  const Pair near = plus(product, {select(below, -log.high, zero), select(below, -log.low, zero)});
  // (x - 1/2)(log x - 1) + (log(2 pi) - 1)/2 + S(1/x)/x, where S for x >= 5/2 has f32 2^-30.6, f64 2^-57.7.
  constexpr Tailed constant = tailed(0x1.acfe390c97d69p-2, 0x1.3494bc9001442p-56);
  const Expr inverse = 1.0 / x, factor = x - 0.5;
  const Expr s = horner(inverse, {0.0833327845, 1.13936521e-05, -0.00286575453, 0.000313375989, 0.000324490364},
                        {0.083333333333736104, -4.3736338543086835e-11, -0.002777775832792896, -4.8117741021789758e-08,
                         0.00079440271093588735, -7.9324504829966558e-06, -0.00053668585471921659,
                         -0.00030667175727629067, 0.001971490472384626, -0.0027906265210154895, 0.0020047037380769702,
                         -0.000684267409590571, 5.5633656002687922e-05});
  const Pair less_1 = two_sum(log.high, like(x, -1));
  const Pair slope = fast_two_sum(less_1.high, less_1.low + log.low);
  const Pair leading = two_product(factor, slope.high);
  const Pair far =
      plus(leading, {like(x, constant.high), fma(inverse, s, fma(factor, slope.low, like(x, constant.low)))});
  // Where the product overflows, rounding errors are no numbers.
  return {select(central, near.high, far.high),
          select(central, near.low, select(lt(x, pick(x, {1e36, 1e305})), far.low, zero))};
}
Expr lgamma_expansion(Expr x) {
  const Pair value = lgamma_of_positive(x);
  const Expr sum = select(lt(0, x) & lt(x, infinity), value.high + value.low, select(eq(x, x), infinity, x));
  return patch(lt(x, 0), sum, negative_lgamma, {x});
}

// The reflection ------------------------------------------------------------------------------------------------

/// Of pi f, |f| <= 1/2; f64.
struct HalfTurn {
  Pair sine, cosine;  ///< both positive
};
HalfTurn half_turn(Expr f) {
  const Expr a = abs(f), steep = lt(0.25, a), near = select(steep, 0.5 - a, a);
  Pair r = two_product(near, like(f, pi.high));
  r.low = fma(near, pi.low.f64, r.low);
  const Expr z = r.high * r.high, z_low = fma(r.high + r.high, r.low, fma(r.high, r.high, -z));
  // As in math_trig.cpp.
  const Expr p = horner(z, {-0.16666666666666627, 0.0083333333333210687, -0.00019841269828698067,
                            2.7557313298466147e-06, -2.505069544675413e-08, 1.5893110965559913e-10});
  const Expr q = horner(z, {0.041666666666666581, -0.001388888888887097, 2.4801587287528079e-05,
                            -2.7557313791656416e-07, 2.0875647510414014e-09, -1.1355745422589312e-11});
  const Pair sine = fast_two_sum(r.high, fma(r.high * z, p, r.low));
  Pair cosine = fast_two_sum(like(f, 1), z * -0.5);
  cosine = fast_two_sum(cosine.high, cosine.low + fma(z * z, q, z_low * -0.5));
  const auto choose = [&](const Pair& a, const Pair& b) {
    return Pair{select(steep, a.high, b.high), select(steep, a.low, b.low)};
  };
  return {choose(cosine, sine), choose(sine, cosine)};
}

/// The sum, or the library's result where it lost too many bits: `kept` is the part of `scale` that must be left.
Expr unless_cancelled(Expr x, const Pair& sum, Expr scale, double kept, const Function& exact, Expr also) {
  // Positive lanes beside negative ones come here too, with any result.
  return patch(le(x, 0) & (lt(abs(sum.high), scale * kept) | also), sum.high + sum.low, exact, {x});
}

/// For x < 0 in f64: log(pi/|x sin(pi x)|) - lgamma(-x).
Expr reflected_lgamma(Expr x, double kept) {
  const Expr a = -x, f = x - round(x);
  const Pair sine = half_turn(f).sine, product = two_product(a, sine.high);
  Pair log = log_parts(product.high);
  log.low = log.low + fma(a, sine.low, product.low) / product.high;
  const Pair other = lgamma_of_positive(a);
  const Pair log_pi{like(x, 0x1.250d048e7a1bdp+0), like(x, 0x1.7abf2ad8d5088p-57)};
  const Pair value = minus(minus(log_pi, log), other);
  const Expr scale = abs(log.high) + abs(other.high) + 1.0;
  const Expr regular = lt(0, abs(f));
  const Expr sum = unless_cancelled(x, value, scale, kept, exact_lgamma, regular & lt(a, 0x1p-100));
  return select(regular, sum, infinity);
}

// digamma -----------------------------------------------------------------------------------------------------

/// For x >= 1; `central` where x is at most 2.
Pair digamma_above_1(Expr x, Expr inverse, Expr central) {
  constexpr Tailed root = tailed(0x1.762d86356be3fp+0, 0x1.b86a722197829p-54);
  // digamma(x)/(x - root) for x from 1 to 2, in x - 3/2: f32 2^-25.6, f64 2^-54.2.
  const Expr p =
      horner(x - 1.5,
             {0.951055884, -0.423627496, 0.24054262, -0.148398772, 0.0949820951, -0.0620572343, 0.0408792719,
              -0.0257801637, 0.0169805698, -0.016385613, 0.0111185629},
             {0.95105587603183284,    -0.42362742128146058,    0.24054248424078722,    -0.1484049230538802,
              0.094988724452850018,   -0.061922133275550455,   0.040760833943377747,   -0.026975796657315438,
              0.017907248235947651,   -0.011908220159964421,   0.0079270233214300285,  -0.0052799365465260005,
              0.0035180887647119131,  -0.0023455005719212056,  0.0015635030246950346,  -0.0010364281980067087,
              0.00069028362077158917, -0.00048604677877938447, 0.00032587719576008991, -0.00014463477455904108,
              9.3299794130913605e-05, -0.00017834985270857916, 0.00012117074950983246});
  const Expr near = ((x - pick(x, root.high)) - pick(x, root.low)) * p;
  // log x - 1/2x - Q(1/x)/x^2, where Q for x >= 2 has f32 2^-29.9, f64 2^-56.0.
  const Expr q =
      horner(inverse, {0.0833325908, 1.59526262e-05, -0.00845662039, 0.000395769282, 0.0037735044, -0.00193110225},
             {0.083333333335294552, -2.2484292413379347e-10, -0.0083333228418103998, -2.7130266521554668e-07,
              0.0039726751818551223, -4.8559276813341475e-05, -0.0037943916843391906, -0.0020132628693027531,
              0.015106800195361102, -0.017877377860395043, -0.0033485019442669622, 0.034406997280586459,
              -0.044510836756391413, 0.027171396023634605, -0.0068790033641269602});
  const Pair log = log_parts(x);
  const Expr residual = fma(-inverse, x, 1.0) * inverse;  // what 1/x lost
  const Pair first = two_sum(log.high, inverse * -0.5);
  const Expr rest = fma(residual, -0.5, fma(-(inverse * inverse), q, log.low)) + first.low;
  return {select(central, near, first.high), select(central, 0, rest)};
}
Expr digamma_expansion(Expr x) {
  const Expr inverse = 1.0 / x, small = lt(x, 1);
  // digamma(x) = digamma(x + 1) - 1/x
  const Pair value = digamma_above_1(select(small, x + 1.0, x), inverse, lt(x, 2));
  const Expr sum = (value.high + value.low) - select(small, inverse, 0);
  const Expr finite = select(lt(x, infinity) | ne(x, x), sum, x);
  return patch(le(x, 0), finite, negative_digamma, {x});
}

/// For x <= 0 in f64: digamma(1 - x) - pi cos(pi x)/sin(pi x).
Expr reflected_digamma(Expr x, double kept) {
  const Expr f = x - round(x), y = 1.0 - x, inverse = 1.0 / y;
  Pair other = digamma_above_1(y, inverse, lt(y, 2));
  other.low = fma((1.0 - y) - x, fma(inverse * 0.5, inverse, inverse), other.low);  // y's rounding times the slope
  const HalfTurn turn = half_turn(f);
  Pair top = two_product(turn.cosine.high, like(x, pi.high));
  top.low = fma(turn.cosine.high, pi.low.f64, fma(turn.cosine.low, pi.high.f64, top.low));
  const Expr quotient = top.high / turn.sine.high;
  const Expr rest = fma(-quotient, turn.sine.low, fma(-quotient, turn.sine.high, top.high) + top.low) / turn.sine.high;
  const Expr sign = sign_bit(f);
  const Pair value = minus(other, {flip_sign(quotient, sign), flip_sign(rest, sign)});
  const Expr scale = abs(other.high) + quotient, tiny = lt(-x, 0x1p-500) & lt(x, 0);
  const Expr sum = unless_cancelled(x, value, scale, kept, exact_digamma, tiny);
  return select(lt(0, abs(f)), sum, nan);
}

/// Halves of the work would be in f64 anyway, where nothing cancels that f32 would miss.
Expr for_negative(Expr (*reflected)(Expr, double), Expr x) {
  if (x->dtype == DType::f64) return reflected(x, 1.0 / 16);
  return cast(reflected(cast(x, DType::f64), 0x1p-26), DType::f32);
}

// polygamma ---------------------------------------------------------------------------------------------------

/// (-1)^(n+1) n! (the sum of 1/(x+k)^(n+1)), k < steps, and from there on by Euler and Maclaurin.
Expr polygamma_expansion(Expr order, Expr x) {
  const std::optional<double> value = as_real(order);
  if (!value || *value < 1 || *value > 20) return {};
  const double n = *value;
  const auto power = static_cast<std::int64_t>(n);
  const bool is_double = x->dtype == DType::f64;
  constexpr double bernoulli[] = {1.0 / 6,       -1.0 / 30, 1.0 / 42,      -1.0 / 30,     5.0 / 66,
                                  -691.0 / 2730, 7.0 / 6,   -3617.0 / 510, 43867.0 / 798, -174611.0 / 330};
  const int terms = is_double ? 10 : 4, steps = static_cast<int>(power) + terms;
  const Expr inverse = 1.0 / (x + steps), square = inverse * inverse;
  // (n-1)!/x^n (1 + n/2x + sum of B_2k (2k+n-1)!/((2k)! (n-1)!)/x^2k)
  Expr series = like(x, 0);
  double ratio = n * (n + 1) / 2;
  std::vector<double> coefficients;
  for (int k = 1; k <= terms; ++k) {
    coefficients.push_back(bernoulli[k - 1] * ratio);
    const double m = 2.0 * k;
    ratio *= (m + n) * (m + n + 1) / ((m + 1) * (m + 2));
  }
  for (int k = terms; k-- > 0;) series = fma(series, square, like(x, coefficients[static_cast<std::size_t>(k)]));
  series = fma(series, square, fma(inverse, n / 2, 1.0)) * (1 / n);
  // A power of two near the root of n! goes into the powers, which would be too small, or too large, long before n!
  // times them is.
  const double factorial = std::tgamma(n + 1), root = std::exp2(std::round(std::log2(factorial) / (n + 1)));
  Expr sum = integer_pow(inverse * root, power) * (series * root);
  for (int k = steps; k-- > 0;) sum = sum + integer_pow(root / (x + static_cast<double>(k)), power + 1);
  const double rest = factorial / std::pow(root, n + 1) * (power % 2 ? 1 : -1);
  return patch(le(x, 0), sum * rest, exact_polygamma, {order, x});
}

}  // namespace

Expr lgamma(Expr x) { return call(lgamma_function, {x}); }
Expr digamma(Expr x) { return call(digamma_function, {x}); }
Expr polygamma(std::int64_t n, Expr x) { return call(polygamma_function, {like(x, static_cast<double>(n)), x}); }

namespace {

using Xs = std::span<const Expr>;
struct Expansion {
  const Function* function;
  Expr (*expand)(Xs);
};
constexpr Expansion expansions[] = {
    {&lgamma_function, [](Xs x) { return lgamma_expansion(x[0]); }},
    {&negative_lgamma, [](Xs x) { return for_negative(reflected_lgamma, x[0]); }},
    {&digamma_function, [](Xs x) { return digamma_expansion(x[0]); }},
    {&negative_digamma, [](Xs x) { return for_negative(reflected_digamma, x[0]); }},
    {&polygamma_function, [](Xs x) { return polygamma_expansion(x[0], x[1]); }},
    {&sin_function, sin_of_large},
    {&cos_function, cos_of_large},
    {&tan_function, tan_of_large},
};

}  // namespace

Expr expansion(const Function& function, Xs x) {
  for (const Expansion& e : expansions)
    if (e.function == &function) return e.expand(x);
  return {};
}
bool has_expansion(const Function& function) {
  return std::any_of(std::begin(expansions), std::end(expansions),
                     [&](const Expansion& e) { return e.function == &function; });
}

}  // namespace cotan::expr::math
