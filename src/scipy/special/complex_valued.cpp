// Functions with complex values: Faddeeva's function and spherical harmonics.
#include <algorithm>
#include <cmath>
#include <cotan/control_flow.hpp>
#include <cotan/lax.hpp>
#include <cotan/numpy.hpp>
#include <cotan/numpy/complex.hpp>
#include <cotan/scipy/special.hpp>
#include <numbers>

#include "core/error.hpp"
#include "core/trace.hpp"
#include "ops/ops.hpp"
#include "ops/promote.hpp"

namespace cotan::scipy::special {

namespace np = numpy;

namespace {

struct Parts {
  Array re, im;
};
Parts operator+(const Parts& a, const Parts& b) { return {a.re + b.re, a.im + b.im}; }
Parts times_i(const Parts& a) { return {-a.im, a.re}; }
Parts product(const Parts& a, const Parts& b) { return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re}; }
Parts choose(const Array& condition, const Parts& a, const Parts& b) {
  return {np::where(condition, a.re, b.re), np::where(condition, a.im, b.im)};
}

/// Integrals of e^(-t^2)/(z^2 - t^2) by the trapezoidal rule with steps h, from 0 or from half a step on (M. Al Azah,
/// S. N. Chandler-Wilde, Computation of the complex error function using modified trapezoidal rules, 2021), to 15
/// digits.
constexpr int nodes = 12;
const double step_size = std::sqrt(std::numbers::pi / nodes);

/// 2 i h z/pi times the sum over nodes, the first at `start` steps.
Parts rule(const Array& x, const Array& y, double start) {
  const Array difference = (x - y) * (x + y), twice = 2.0 * x * y;
  Array re = np::zeros_like(x), im = re;
  for (int k = 0; k < nodes; ++k) {
    const double t = (start + k) * step_size, weight = std::exp(-t * t);
    if (start == 1.0 && k == nodes - 1) break;
    const Array p = difference - t * t, share = weight / (p * p + twice * twice);
    re = re + p * share;
    im = im - twice * share;
  }
  const double factor = 2 * step_size / std::numbers::pi;
  return product(times_i({factor * x, factor * y}), {re, im});
}

/// w in the first quadrant.
Parts faddeeva_there(const Array& x, const Array& y) {
  const double pi = std::numbers::pi, h = step_size;
  const Array size = np::hypot(x, y), far = size > (x.dtype() == f64 ? 1e8 : 1e4);
  // Where it is asymptotic the rules would overflow.
  const Array a = np::where(far, 1.0, x), b = np::where(far, 1.0, y);
  const Array turns = a / h, part = turns - np::floor(turns);
  const Array no_poles = b >= np::maximum(a, pi / h), between = (b < a) & (part >= 0.25) & (part <= 0.75);
  const Array square = a * a + b * b;
  const Parts from_half = rule(a, b, 0.5), first{(h / pi) * b / square, (h / pi) * a / square};
  const Parts from_zero = rule(a, b, 1.0) + first;
  // What the poles of the integrand add: 2 e^(-z^2)/(1 +- q) = 2 e^(-z^2)/q/(1/q +- 1) where 1/q = e^(2 pi i z/h) is
  // small.
  const Array decay = (2 * pi / h) * b, angle = (2 * pi / h) * a, sign = np::where(between, -1.0, np::ones_like(a));
  const Array bottom_re = np::exp(-decay) * np::cos(angle) + sign, bottom_im = np::exp(-decay) * np::sin(angle);
  const Array height = 2.0 * np::exp((b - a) * (b + a) - decay) / (bottom_re * bottom_re + bottom_im * bottom_im);
  const Array phase = angle - 2.0 * a * b;
  const Parts poles = product({height * np::cos(phase), height * np::sin(phase)}, {bottom_re, -bottom_im});
  const Parts near = choose(no_poles, from_half, choose(between, from_zero, from_half) + poles);
  const double share = std::numbers::inv_sqrtpi;
  const Array one_over = np::where(np::isinf(size), 0.0, share / size);
  const Array scale = np::where(np::isinf(size), 1.0, size);
  return choose(
      far, {np::where(np::isinf(y), 0.0, y / scale) * one_over, np::where(np::isinf(x), 0.0, x / scale) * one_over},
      near);
}

Array faddeeva(const Array& z) {
  const Array x = np::real(z), y = np::imag(z), below = y < 0.0;
  const Parts w = faddeeva_there(np::abs(x), np::abs(y));
  // Reflected at the imaginary axis, and at the origin: w(z) = 2 e^(-z^2) - w(-z).
  const Array im = np::where((x < 0.0) != below, -w.im, w.im);
  const Array inside_x = np::where(below, x, 0.0), inside_y = np::where(below, y, 0.0);
  const Array height = 2.0 * np::exp((inside_y - inside_x) * (inside_y + inside_x)), phase = 2.0 * inside_x * inside_y;
  return lax::complex(np::where(below, height * np::cos(phase) - w.re, w.re),
                      np::where(below, -(height * np::sin(phase)) - im, im));
}

}  // namespace

Array wofz(const ArrayLike& z) {
  const DType dtype = z->dtype() == f64 || z->dtype() == i64 || z->dtype() == u64 || z->dtype() == c128 ? c128 : c64;
  const Array argument = z->dtype() == dtype ? z.array() : ops::cast(z, dtype);
  const auto function = custom_jvp(
      [](const Array& at) { return faddeeva(at); },
      [](const std::tuple<Array>& primals, const std::tuple<Array>& tangents) {
        const Array& at = std::get<0>(primals);
        const Array value = wofz(at), zero = np::zeros_like(np::real(at));
        const Array slope = lax::complex(zero, np::full_like(zero, 2 * std::numbers::inv_sqrtpi)) - at * value * 2.0;
        return std::pair<Array, Array>{value, std::get<0>(tangents) * slope};
      },
      "wofz");
  return function(argument);
}

namespace {

/// Associated Legendre functions of degree n and order m >= 0, normalized so that harmonics are: degree by degree, from
/// the one whose degree is the order on.
Array normalized_legendre(const Array& n, const Array& m, const Array& theta, std::int64_t n_max) {
  const Array x = np::cos(theta), s = np::sin(theta), zero = np::zeros_like(theta);
  const double first = 0.5 * std::numbers::inv_sqrtpi;
  const Array order = m.astype(theta.dtype()), squared = order * order;
  // Of degree k: equal degree and order, the last two of order m, and what was asked for.
  struct Degrees {
    Array equal, last, before, wanted;
  };
  const Array begin = np::where(m == 0, np::full_like(theta, first), zero);
  const auto step = [&](const Array& degree, const Degrees& d) {
    const Array k = degree.astype(theta.dtype()), below = k - 1.0, above = k > order;
    const Array equal = d.equal * (-s * np::sqrt((2.0 * k + 1.0) / (2.0 * k)));
    const Array a = np::sqrt((4.0 * k * k - 1.0) / np::where(above, k * k - squared, 1.0));
    const Array b =
        np::sqrt(np::maximum(below * below - squared, 0.0) / (4.0 * below * below - 1.0 + (below == 0.0) * 2.0));
    const Array next = np::where(degree == m, equal, np::where(above, a * (x * d.last - b * d.before), zero));
    return Degrees{equal, next, d.last, np::where(degree == n, next, d.wanted)};
  };
  const Degrees start{np::full_like(theta, first), begin, zero, np::where(n == 0, begin, zero)};
  return lax::fori_loop(1, n_max + 1, step, start).wanted;
}

}  // namespace

Array sph_harm_y(const ArrayLike& n, const ArrayLike& m, const ArrayLike& theta, const ArrayLike& phi,
                 std::optional<std::int64_t> n_max) {
  if (!is_integer(n->dtype()) || !is_integer(m->dtype()))
    raise<TypeError>("[sph_harm_y] n is {} and m {}; degree and order must be integers.", n->aval(), m->aval());
  const Array angles_given[] = {theta, phi};
  const np::ResultType type{np::inexact_result_type(angles_given).dtype, false};
  const DType dtype = itemsize(type.dtype) < 4 ? f32 : type.dtype;
  np::check_real("sph_harm_y", theta);
  np::check_real("sph_harm_y", phi);
  if (!n_max && !concrete(n.array()))
    raise<ValueError>("[sph_harm_y] n is not known while this is traced; give n_max, the largest degree.");
  const std::int64_t most = n_max ? *n_max : n->size() == 0 ? 0 : np::max(n).item<std::int64_t>();
  const Arrays all = np::broadcast_arrays({n, m, ops::cast(theta, dtype), ops::cast(phi, dtype)});
  const Array degree = np::minimum(all[0], most).astype(i32), order = all[1].astype(i32), size = np::abs(order);
  const Array height = normalized_legendre(degree, size, all[2], std::max<std::int64_t>(most, 0));
  // Of negative orders conjugated, with the sign of odd ones.
  const Array sign = np::where((order < 0) & (size % 2 == 1), -1.0, np::ones_like(height));
  const Array angle = order.astype(dtype) * all[3];
  return lax::complex(sign * height * np::cos(angle), sign * height * np::sin(angle));
}

}  // namespace cotan::scipy::special
