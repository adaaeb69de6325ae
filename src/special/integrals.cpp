// Sine and cosine integrals, Fresnel's integrals and Spence's function. Far from 0 the oscillating ones are two smooth
// factors times sine and cosine.
#include <cotan/numpy.hpp>
#include <numbers>

#include "special/chebyshev.hpp"
#include "special/compose.hpp"
#include "special/special.hpp"

namespace cotan::special {

namespace np = numpy;

namespace {

constexpr double pi = std::numbers::pi, pi_squared_over_6 = pi * pi / 6;

/// f and g of Si = pi/2 - f cos - g sin, Ci = f sin - g cos; x >= 4.
std::pair<Array, Array> sici_factors(const Array& x) {
  const Array far = x > 10.0, inverse = 1.0 / x, t = (np::where(far, 0.1, inverse) - 0.1) * (2 / 0.15) - 1.0;
  const Array ratio = np::where(far, 10.0 * inverse, 1.0), u = 2.0 * (ratio * ratio) - 1.0;
  const auto factor = [&](const Series& middle, const Series& large) {
    return np::where(far, chebyshev(large, u), chebyshev(middle, t));
  };
  return {inverse * factor(tables::sici_f_middle, tables::sici_f_far),
          inverse * inverse * factor(tables::sici_g_middle, tables::sici_g_far)};
}
Array si(Operands in) {
  const Array a = np::abs(in[0]), near = a <= 4.0, s = np::where(near, a, 0.0),
              x = np::where(near, 4.0, np::where(a == np::inf, 1e300, a));
  const auto [f, g] = sici_factors(x);
  const Array far = np::where(a == np::inf, pi / 2, pi / 2 - f * np::cos(x) - g * np::sin(x));
  return np::copysign(np::where(near, a * chebyshev(tables::si_near, s * s * 0.125 - 1.0), far), in[0]);
}
Array ci(Operands in) {
  const Array a = np::abs(in[0]), near = a <= 4.0, s = np::where(near, a, 1.0), x = np::where(near, 4.0, a),
              square = s * s;
  const auto [f, g] = sici_factors(x);
  const Array far = np::where(a == np::inf, 0.0, f * np::sin(x) - g * np::cos(x));
  const Array value = np::where(
      near, std::numbers::egamma + np::log(s) + square * chebyshev(tables::ci_near, square * 0.125 - 1.0), far);
  return np::where(in[0] == -np::inf, np::nan, value);
}

/// S or C.
Array fresnel(const Array& x, bool sine) {
  constexpr double least = 2.2, fourth = least * least * least * least;
  const Array a = np::abs(x), near = a < least, s = np::where(near, a, 0.0), square = s * s,
              t = square * square * (2 / fourth) - 1.0;
  const Array small =
      sine ? s * square * chebyshev(tables::fresnel_s_near, t) : s * chebyshev(tables::fresnel_c_near, t);
  const Array finite = a < pick(x, 1e12, 1e100), y = np::where(near | ~finite, least, a);
  // The angle, in quarter turns; what rounding its square loses is added.
  const double step = pick(x, 64, 1 << 20);
  const Array high = np::rint(y * step) * (1 / step);
  const Array turns = np::where(y < 60.0, np::mod(high * high, 4.0) + (y - high) * (y + high), np::mod(y * y, 4.0)),
              angle = (pi / 2) * turns;
  const Array ratio = least / y, r2 = ratio * ratio, u = 2.0 * (r2 * r2) - 1.0;
  const Array inverse = 1.0 / (pi * y), f = inverse * chebyshev(tables::fresnel_f_far, u),
              g = inverse / (pi * y * y) * chebyshev(tables::fresnel_g_far, u);
  const Array sin = np::sin(angle), cos = np::cos(angle);
  const Array far = sine ? 0.5 - f * cos - g * sin : 0.5 + f * sin - g * cos;
  return np::where(np::isnan(x), np::nan, np::copysign(np::where(near, small, np::where(finite, far, 0.5)), x));
}
Array fresnel_s(Operands x) { return fresnel(x[0], true); }
Array fresnel_c(Operands x) { return fresnel(x[0], false); }

/// For x from 1/2 to 2: a series in the logarithm, with Bernoulli numbers.
Array spence_near(const Array& log) {
  constexpr double terms[] = {1.0 / 36,
                              -1.0 / 3600,
                              1.0 / 211680,
                              -1.0 / 10886400,
                              1.0 / 526901760,
                              -691.0 / 16999766784000.0,
                              1.0 / 1120863744000.0,
                              -3617.0 / 181400588328960000.0,
                              43867.0 / 97072790126247936000.0};
  const Array u = -log, square = u * u;
  Array sum = terms[std::size(terms) - 1];
  for (std::size_t k = std::size(terms) - 1; k-- > 0;) sum = sum * square + terms[k];
  return u - 0.25 * square + u * square * sum;
}
Array spence(Operands in) {
  const Array& x = in[0];
  const Array small = x < 0.5, large = x > 2.0, inside = np::where((x > 0.0) & (x < np::inf), x, 1.0);
  const Array log = np::log(inside), other = np::log1p(np::where(small, -inside, 0.0));
  const Array near = spence_near(np::where(small, other, log));
  // Of 1/x, which may itself be small.
  const Array inverse = np::where(large, 1.0 / inside, 0.5), log_inverse = np::log1p(-inverse);
  const Array of_inverse = pi_squared_over_6 + log * log_inverse - spence_near(log_inverse);
  const Array value =
      np::where(small, pi_squared_over_6 - log * other - near, np::where(large, -0.5 * log * log - of_inverse, near));
  const Array edges = np::where(x == 0.0, pi_squared_over_6, np::where(x == np::inf, -np::inf, value));
  return np::where((x < 0.0) | np::isnan(x), np::nan, edges);
}

}  // namespace

const Primitive si_p = composed<si>("si", {[](const Partial& p) { return p.t * np::sinc(p.x[0] / pi); }});
const Primitive ci_p = composed<ci>("ci", {[](const Partial& p) { return p.t * (np::cos(p.x[0]) / p.x[0]); }});
const Primitive fresnel_s_p =
    composed<fresnel_s>("fresnel_s", {[](const Partial& p) { return p.t * np::sin((pi / 2) * np::square(p.x[0])); }});
const Primitive fresnel_c_p =
    composed<fresnel_c>("fresnel_c", {[](const Partial& p) { return p.t * np::cos((pi / 2) * np::square(p.x[0])); }});
const Primitive spence_p = composed<spence>("spence", {[](const Partial& p) {
                                              const Array &x = p.x[0], at_1 = x == 1.0;
                                              const Array safe = np::where(at_1, 2.0, x);
                                              return p.t * np::where(at_1, -1.0, np::log(safe) / (1.0 - safe));
                                            }});

}  // namespace cotan::special
