// Distribution functions by series and continued fractions, accurate to about 1e-12.
#include "statistics.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <numbers>
#include <utility>

#include "nothing.hpp"

namespace apps {
namespace {

std::vector<double> finite(std::span<const double> values) {
  std::vector<double> out;
  std::copy_if(values.begin(), values.end(), std::back_inserter(out), [](double v) { return std::isfinite(v); });
  return out;
}

/// A continued fraction a1 / (b1 + a2 / (b2 + …)), by Lentz's method; next(i) gives a and b.
template <class Next>
double continued_fraction(Next next) {
  constexpr double tiny = 1e-300;
  double value = tiny, c = tiny, d = 0;
  for (int i = 1; i <= 10000; ++i) {
    const auto [a, b] = next(i);
    d = b + a * d;
    c = b + a / c;
    if (d == 0) d = tiny;
    if (c == 0) c = tiny;
    d = 1 / d;
    value *= c * d;
    if (std::abs(c * d - 1) < 1e-15) break;
  }
  return value;
}

/// The upper regularised incomplete gamma function.
double gamma_tail(double a, double x) {
  if (x <= 0) return 1;
  const double front = std::exp(a * std::log(x) - x - std::lgamma(a));
  if (x < a + 1) {
    double term = 1 / a, sum = term;
    for (int i = 1; i < 10000 && term > 1e-16 * sum; ++i) sum += term *= x / (a + i);
    return std::clamp(1 - front * sum, 0.0, 1.0);
  }
  const double fraction = continued_fraction(
      [&](int i) { return i == 1 ? std::pair(1.0, x + 1 - a) : std::pair(-(i - 1) * (i - 1 - a), x + 2 * i - 1 - a); });
  return std::clamp(front * fraction, 0.0, 1.0);
}

/// The regularised incomplete beta function.
double beta_below(double a, double b, double x) {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  if (x > (a + 1) / (a + b + 2)) return 1 - beta_below(b, a, 1 - x);
  const double front =
      std::exp(std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) + a * std::log(x) + b * std::log1p(-x));
  const double fraction = continued_fraction([&](int i) {
    if (i == 1) return std::pair(1.0, 1.0);
    const int m = (i - 1) / 2;
    const double numerator = i % 2 ? m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
                                   : -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    return std::pair(numerator, 1.0);
  });
  return front * fraction / a;
}

}  // namespace

TestResult ljung_box(std::span<const double> residuals, std::size_t lags, std::size_t estimated) {
  const auto n = static_cast<double>(finite(residuals).size());
  TestResult out{nothing, nothing, 0, lags};
  if (lags < 1 || n < static_cast<double>(lags) + 2) return out;
  const std::vector<double> r = autocorrelation(residuals, lags);
  double sum = 0;
  for (std::size_t k = 1; k <= lags; ++k) sum += r[k] * r[k] / (n - static_cast<double>(k));
  out.statistic = n * (n + 2) * sum;
  // One of the parameters is a scale, which autocorrelation does not depend on (Harvey 1989).
  out.degrees = std::max(1.0, static_cast<double>(lags) + 1 - static_cast<double>(std::max<std::size_t>(estimated, 1)));
  out.p_value = chi_square_tail(out.statistic, out.degrees);
  return out;
}

TestResult jarque_bera(std::span<const double> residuals) {
  const std::vector<double> values = finite(residuals);
  const auto n = static_cast<double>(values.size());
  if (n < 4) return {nothing, nothing, 2};
  double mean = 0, second = 0, third = 0, fourth = 0;
  for (const double v : values) mean += v / n;
  for (const double v : values) second += (v - mean) * (v - mean) / n;
  if (!(second > 1e-24 * mean * mean)) return {nothing, nothing, 2};  // constant, but for rounding
  for (const double v : values) {
    const double z = (v - mean) / std::sqrt(second);
    third += z * z * z / n;
    fourth += z * z * z * z / n;
  }
  const double statistic = n / 6 * (third * third + (fourth - 3) * (fourth - 3) / 4);
  return {statistic, chi_square_tail(statistic, 2), 2};
}

TestResult heteroscedasticity(std::span<const double> residuals) {
  const std::vector<double> values = finite(residuals);
  const std::size_t third = (values.size() + 1) / 3;
  if (third < 2) return {nothing, nothing};
  double early = 0, late = 0;
  for (std::size_t i = 0; i < third; ++i) {
    early += values[i] * values[i];
    late += values[values.size() - 1 - i] * values[values.size() - 1 - i];
  }
  const auto degrees = static_cast<double>(third);
  const double ratio = late / early, above = f_tail(ratio, degrees, degrees);
  if (std::isnan(above)) return {nothing, nothing, degrees};
  return {ratio, std::min(1.0, 2 * std::min(above, 1 - above)), degrees};
}

double chi_square_tail(double x, double degrees) {
  return std::isfinite(x) && degrees > 0 ? gamma_tail(degrees / 2, x / 2) : nothing;
}

double f_tail(double x, double degrees1, double degrees2) {
  if (!std::isfinite(x) || x < 0) return nothing;
  return beta_below(degrees2 / 2, degrees1 / 2, degrees2 / (degrees2 + degrees1 * x));
}

std::vector<double> autocorrelation(std::span<const double> values, std::size_t lags) {
  const std::size_t n = values.size();
  double largest = 0, mean = 0;
  std::size_t present = 0;
  for (const double value : values)
    if (std::isfinite(value)) largest = std::max(largest, std::abs(value)), ++present;
  const double scale = largest > 0 ? largest : 1;  // squares of the scaled values cannot overflow
  std::vector<double> centred(n, nothing);
  for (const double value : values)
    if (std::isfinite(value)) mean += value / scale / static_cast<double>(present);
  for (std::size_t i = 0; i < n; ++i)
    if (std::isfinite(values[i])) centred[i] = values[i] / scale - mean;

  std::vector<double> out(lags + 1, nothing);
  double variance = 0;
  for (std::size_t lag = 0; lag <= lags && lag < n; ++lag) {
    double sum = 0;
    std::size_t pairs = 0;
    for (std::size_t i = 0; i + lag < n; ++i) {
      const double product = centred[i] * centred[i + lag];
      if (!std::isnan(product)) sum += product, ++pairs;
    }
    if (pairs == 0) continue;
    // With nothing missing this divides by n at every lag, the usual estimate; missing pairs scale it down.
    const double covariance = sum / static_cast<double>(pairs + lag);
    if (lag == 0) {
      variance = covariance;
      out[0] = 1;
    } else if (variance > 1e-24) {  // less is rounding of a constant series
      out[lag] = covariance / variance;
    }
  }
  return out;
}

double normal_quantile(double p) {
  if (!(p >= 0 && p <= 1)) return nothing;
  if (p > 0.5) return -normal_quantile(1 - p);
  if (p == 0) return -std::numeric_limits<double>::infinity();
  // Newton on log Φ(z) = log p. The logarithm of Φ is concave and increasing, so the first step lands left of
  // the solution and the others climb to it, from any start.
  double z = -std::sqrt(-2 * std::log(p));
  for (int i = 0; i < 50; ++i) {
    const double below = std::erfc(-z / std::numbers::sqrt2) / 2;
    const double density = std::exp(-z * z / 2) / std::sqrt(2 * std::numbers::pi);
    if (below <= 0 || density <= 0) break;
    const double step = std::log(p / below) * (below / density);
    z += step;
    if (std::abs(step) <= 1e-15 * (1 + std::abs(z))) break;
  }
  return std::min(z, 0.0);
}

}  // namespace apps
