// Functions of the normal distribution: its quantiles and the logarithm of its distribution function, scaled erfc,
// Dawson's integral, and Owen's T.
#include <cmath>
#include <cotan/lax.hpp>
#include <cotan/numpy.hpp>
#include <numbers>

#include "special/chebyshev.hpp"
#include "special/compose.hpp"
#include "special/special.hpp"

namespace cotan::special {

namespace np = numpy;
using std::numbers::inv_sqrtpi;
using std::numbers::sqrt2;

namespace {

const double root_of_2_pi = std::sqrt(2 * std::numbers::pi);

/// exp(x^2), where the rounding of x^2 does not count.
Array exp_of_square(const Array& x) {
  const double step = pick(x, 16, 1024);  // multiples of 1/step have exact squares
  const Array high = np::rint(x * step) * (1 / step);
  return np::exp(high * high) * np::exp((x - high) * (x + high));
}

Array erfcx(Operands in) {
  const Array &x = in[0], a = np::abs(x);
  const Array finite = a < 1e18, at = np::where(finite, a, 1e18);
  const Array positive =
      np::where(finite, chebyshev(tables::erfcx_positive, (at - 3.0) / (at + 3.0)) / (1.0 + 2.0 * at), inv_sqrtpi / a);
  // Below -27 it is infinite.
  return np::where(x < 0.0, 2.0 * exp_of_square(np::where(x < 0.0, np::maximum(x, -40.0), 0.0)) - positive, positive);
}

Array dawsn(Operands in) {
  const Array &x = in[0], a = np::abs(x);
  const Array near = a < 2.5, far = a > 6.0, square = np::where(near, a * a, 1.0), safe = np::where(near, 6.0, a);
  const Array small = a * chebyshev(tables::dawson_near, square * (2 / 6.25) - 1.0);
  const Array middle = chebyshev(tables::dawson_middle, (np::minimum(safe, 6.0) - 2.5) * (2 / 3.5) - 1.0);
  const Array ratio = 6.0 / np::maximum(safe, 6.0), large = chebyshev(tables::dawson_far, 2.0 * (ratio * ratio) - 1.0);
  return np::copysign(np::where(near, small, 0.5 * np::where(far, large, middle) / safe), x);
}

Array ndtri(Operands in) {
  const Array& p = in[0];
  const Array q = p - 0.5, central = np::abs(q) <= 0.4;
  const Array t = np::where(central, q, 0.0);
  const Array inside = t * chebyshev(tables::ndtri_central, t * t * (2 / 0.16) - 1.0);
  const Array tail = np::where(central, 0.1, np::minimum(p, 1.0 - p));
  const Array r = np::sqrt(-2.0 * np::log(np::where(tail > 0.0, tail, 0.1)));
  const Array near = r < 8.0;
  const Array factor =
      np::where(near, chebyshev(tables::ndtri_tail, (np::where(near, r, 8.0) - 2.1) * (2 / 5.9) - 1.0),
                chebyshev(tables::ndtri_far_tail, (1.0 / np::where(near, 8.0, r) - 0.025) * 20.0 - 1.0));
  const Array size = np::where(tail == 0.0, np::inf, np::where(tail > 0.0, r * factor, np::nan));
  return np::where(central, inside, np::where(np::isnan(p), np::nan, np::where(q < 0.0, -size, size)));
}

Array log_ndtr(Operands in) {
  const Array &x = in[0], below = x < -1.0;
  const Array upper = np::log1p(-0.5 * lax::erfc(np::where(below, 0.0, x) / sqrt2));
  const Array y = np::where(below, x, -1.0);
  return np::where(below, np::log(0.5 * bind1(erfcx_p, {-y / sqrt2})) - 0.5 * (y * y), upper);
}

/// atan(a)/(2 pi) - T(h, a) without the factor: the integral over [0, a] by Gauss and Legendre on both halves.
Array owens_integral(const Array& h, const Array& a) {
  constexpr double nodes[] = {0.0950125098376374402, 0.281603550779258913, 0.458016777657227386, 0.617876244402643748,
                              0.755404408355003034,  0.865631202387831744, 0.944575023073232576, 0.989400934991649933};
  constexpr double weights[] = {0.189450610455068496,  0.182603415044923589, 0.169156519395002538,
                                0.149595988816576732,  0.124628971255533872, 0.0951585116824927848,
                                0.0622535239386478929, 0.0271524594117540949};
  const Array half_square = -0.5 * (h * h), a2 = a * a;
  Array sum = 0.0;
  for (std::size_t k = 0; k < std::size(nodes); ++k)
    for (const double node : {(1 - nodes[k]) / 2, (1 + nodes[k]) / 2}) {
      const Array r = 1.0 + a2 * (node * node);
      sum = sum + (weights[k] / 2) * (np::exp(half_square * r) / r);
    }
  return a * sum / (2 * np::pi);
}

Array owens_t(Operands in) {
  const Array h = np::abs(in[0]), a = np::abs(in[1]);
  // T(h, a) + T(a h, 1/a) is elementary.
  const Array steep = a > 1.0, ah = np::where((a == np::inf) & (h == 0.0), 0.0, a * h);
  const Array integral =
      owens_integral(np::where(steep, np::minimum(ah, 1e9), np::minimum(h, 1e9)), np::where(steep, 1.0 / a, a));
  const Array erfc_h = lax::erfc(h / sqrt2), erfc_ah = lax::erfc(ah / sqrt2);
  const Array near = 0.25 - 0.25 * lax::erf(h / sqrt2) * lax::erf(ah / sqrt2),
              far = 0.25 * (erfc_h + erfc_ah - erfc_h * erfc_ah);
  const Array value = np::where(steep, np::where(ah <= 0.67, near, far) - integral, integral);
  return np::where(np::isnan(h) | np::isnan(a), np::nan, np::sign(in[1]) * value);
}

}  // namespace

const Primitive erfcx_p =
    composed<erfcx>("erfcx", {[](const Partial& p) { return p.t * (2.0 * p.x[0] * p.y - 2 * inv_sqrtpi); }});
const Primitive dawsn_p = composed<dawsn>("dawsn", {[](const Partial& p) { return p.t * (1.0 - 2.0 * p.x[0] * p.y); }});
const Primitive ndtri_p =
    composed<ndtri>("ndtri", {[](const Partial& p) { return p.t * (root_of_2_pi * np::exp(0.5 * np::square(p.y))); }});
const Primitive log_ndtr_p = composed<log_ndtr>("log_ndtr", {[](const Partial& p) {
                                                  const Array log_density =
                                                      -0.5 * np::square(p.x[0]) - std::log(root_of_2_pi);
                                                  return p.t * np::exp(log_density - p.y);
                                                }});
const Primitive owens_t_p = composed<owens_t>(
    "owens_t", {[](const Partial& p) {
                  const Array &h = p.x[0], &a = p.x[1];
                  return p.t * (np::exp(-0.5 * np::square(h)) * lax::erf(a * h / sqrt2) * (-0.5 / root_of_2_pi));
                },
                [](const Partial& p) {
                  const Array &h = p.x[0], &a = p.x[1], r = 1.0 + np::square(a);
                  return p.t * (np::exp(-0.5 * r * np::square(h)) / (2 * np::pi * r));
                }});

}  // namespace cotan::special
