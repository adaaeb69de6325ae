// Distributions with parameters of shape.
#include "scipy/stats/derived.hpp"

namespace cotan::scipy::stats {

namespace {

/// lax::clamp and not np::clip: beyond the ends, and at them, no derivative comes through, however infinite it is.
Array in_unit_interval(const Array& z) { return lax::clamp(0.0, z, 1.0); }
Array not_negative(const Array& z) { return lax::clamp(0.0, z, np::inf); }

}  // namespace

#define COTAN_OF_X2(name, f, of) COTAN_DERIVED(name, f, of, (COTAN_X2(a, b)), (x, a, b, loc, scale))

namespace beta {
Array logpdf(COTAN_X2(a, b)) {
  const auto [y, p, q, low, width] = promoted(x, a, b, loc, scale);
  const Array z = (y - low) / width;
  const Array value = sp::xlogy(p - 1.0, z) + sp::xlog1py(q - 1.0, -z) - sp::betaln(p, q) - np::log(width);
  const Array inside = np::where((y > low + width) | (y < low), -np::inf, value);
  return np::where((p <= 0.0) | (q <= 0.0) | (width <= 0.0), np::nan, inside);
}
Array cdf(COTAN_X2(a, b)) {
  const auto [y, p, q, low, width] = promoted(x, a, b, loc, scale);
  return sp::betainc(p, q, in_unit_interval((y - low) / width));
}
Array sf(COTAN_X2(a, b)) {
  const auto [y, p, q, low, width] = promoted(x, a, b, loc, scale);
  return sp::betainc(q, p, 1.0 - in_unit_interval((y - low) / width));
}
COTAN_OF_X2(pdf, density, logpdf)
Array logcdf(COTAN_X2(a, b)) { return log_inside(x.array() <= loc, cdf(x, a, b, loc, scale)); }
Array logsf(COTAN_X2(a, b)) { return log_inside(x.array() >= loc.array() + scale, sf(x, a, b, loc, scale)); }
}  // namespace beta

#define COTAN_OF_X1(name, f, of, a) COTAN_DERIVED(name, f, of, (COTAN_X1(a)), (x, a, loc, scale))

namespace gamma {
Array logpdf(COTAN_X1(a)) {
  const auto [y, p, low, width] = promoted(x, a, loc, scale);
  const Array inside = y >= low, z = np::where(inside, (y - low) / width, 1.0);
  return np::where(inside, sp::xlogy(p - 1.0, z) - z - (lax::lgamma(p) + np::log(width)), -np::inf);
}
Array cdf(COTAN_X1(a)) {
  const auto [y, p, low, width] = promoted(x, a, loc, scale);
  return sp::gammainc(p, not_negative((y - low) / width));
}
Array sf(COTAN_X1(a)) {
  const auto [y, p, low, width] = promoted(x, a, loc, scale);
  return sp::gammaincc(p, not_negative((y - low) / width));
}
COTAN_OF_X1(pdf, density, logpdf, a)
Array logcdf(COTAN_X1(a)) { return log_inside(x.array() <= loc, cdf(x, a, loc, scale)); }
Array logsf(COTAN_X1(a)) { return log_inside(x.array() == np::inf, sf(x, a, loc, scale)); }
}  // namespace gamma

namespace chi2 {
Array logpdf(COTAN_X1(df)) {
  const auto [y, freedom, low, width] = promoted(x, df, loc, scale);
  const Array z = (y - low) / width, half = 0.5 * freedom;
  const Array constant = lax::lgamma(half) + half * std::numbers::ln2 + np::log(width);
  return np::where(y < low, -np::inf, (half - 1.0) * np::log(z) - 0.5 * z - constant);
}
Array cdf(COTAN_X1(df)) {
  const auto [y, freedom, low, width] = promoted(x, df, loc, scale);
  return sp::gammainc(0.5 * freedom, not_negative((y - low) / (2.0 * width)));
}
Array sf(COTAN_X1(df)) {
  const auto [y, freedom, low, width] = promoted(x, df, loc, scale);
  return sp::gammaincc(0.5 * freedom, not_negative((y - low) / (2.0 * width)));
}
COTAN_OF_X1(pdf, density, logpdf, df)
Array logcdf(COTAN_X1(df)) { return log_inside(x.array() <= loc, cdf(x, df, loc, scale)); }
Array logsf(COTAN_X1(df)) { return log_inside(x.array() == np::inf, sf(x, df, loc, scale)); }
}  // namespace chi2

namespace t {
Array logpdf(COTAN_X1(df)) {
  const auto [y, freedom, location, width] = promoted(x, df, loc, scale);
  const Array z = (y - location) / width, half = 0.5 * freedom, more = half + 0.5;
  const Array constant = lax::lgamma(half) + 0.5 * np::log(width * width * np::pi * freedom) - lax::lgamma(more);
  return -(constant + more * np::log1p(z * z / freedom));
}
COTAN_OF_X1(pdf, density, logpdf, df)
}  // namespace t

namespace pareto {
Array logpdf(COTAN_X1(b)) {
  const auto [y, exponent, low, width] = promoted(x, b, loc, scale);
  const Array value = -(np::log(width / exponent) + (exponent + 1.0) * np::log((y - low) / width));
  return np::where(y < low + width, -np::inf, value);
}
Array cdf(COTAN_X1(b)) {
  const auto [y, exponent, low, width] = promoted(x, b, loc, scale);
  return np::where(y < low + width, 0.0, 1.0 - np::power((y - low) / width, -exponent));
}
Array logcdf(COTAN_X1(b)) {
  const auto [y, exponent, low, width] = promoted(x, b, loc, scale);
  return np::where(y < low + width, -np::inf, np::log1p(-np::power((y - low) / width, -exponent)));
}
Array logsf(COTAN_X1(b)) {
  const auto [y, exponent, low, width] = promoted(x, b, loc, scale);
  return np::where(y < low + width, 0.0, -(exponent * np::log((y - low) / width)));
}
Array ppf(const ArrayLike& q, const ArrayLike& b, const ArrayLike& loc, const ArrayLike& scale) {
  const auto [p, exponent, low, width] = promoted(q, b, loc, scale);
  return if_probability(p, low + width * np::power(1.0 - p, -1.0 / exponent));
}
COTAN_OF_X1(pdf, density, logpdf, b)
COTAN_OF_X1(sf, density, logsf, b)
}  // namespace pareto

namespace gennorm {
Array logpdf(const ArrayLike& x, const ArrayLike& beta) {
  const auto [y, exponent] = promoted(x, beta);
  return np::log(0.5 * exponent) - lax::lgamma(1.0 / exponent) - np::power(np::abs(y), exponent);
}
Array cdf(const ArrayLike& x, const ArrayLike& beta) {
  const auto [y, exponent] = promoted(x, beta);
  // Both factors have a kink at 0, where their product is a straight line as steep as the density is high.
  const Array middle = y == 0.0, safe = np::where(middle | np::isinf(y), 1.0, y);
  const Array share = np::where(np::isinf(y), 1.0, sp::gammainc(1.0 / exponent, np::power(np::abs(safe), exponent)));
  const Array height = np::exp(np::log(0.5 * exponent) - lax::lgamma(1.0 / exponent));
  return np::where(middle, 0.5 + y * height, 0.5 * (1.0 + np::sign(y) * share));
}
Array pdf(const ArrayLike& x, const ArrayLike& beta) { return np::exp(logpdf(x, beta)); }
}  // namespace gennorm

namespace vonmises {
Array logpdf(const ArrayLike& x, const ArrayLike& kappa) {
  const auto [angle, k] = promoted(x, kappa);
  return np::where(k > 0.0, k * (np::cos(angle) - 1.0) - np::log(2 * np::pi * sp::i0e(k)), np::nan);
}
Array pdf(const ArrayLike& x, const ArrayLike& kappa) { return np::exp(logpdf(x, kappa)); }
}  // namespace vonmises

namespace wrapcauchy {
Array logpdf(const ArrayLike& x, const ArrayLike& c) {
  const auto [angle, p] = promoted(x, c);
  const Array value = np::log(1.0 - p * p) - std::log(2 * np::pi) - np::log(1.0 + p * p - 2.0 * p * np::cos(angle));
  const Array inside = np::where((angle >= 0.0) & (angle <= 2 * np::pi), value, -np::inf);
  return np::where((p > 0.0) & (p < 1.0), inside, np::nan);
}
Array pdf(const ArrayLike& x, const ArrayLike& c) { return np::exp(logpdf(x, c)); }
}  // namespace wrapcauchy

namespace {

/// log(e^x - e^y), x >= y.
Array log_difference(const Array& x, const Array& y) {
  const Array empty = x <= y, gap = np::where(empty, 1.0, x - y);
  return np::where(
      empty, -np::inf,
      np::where(empty, 0.0, x) + np::where(gap < 0.7, np::log(-np::expm1(-gap)), np::log1p(-np::exp(-gap))));
}
/// The logarithm of the probability of [a, b]: of two tails on one side, or without two on both sides.
Array log_normal_mass(const Array& a, const Array& b) {
  const Array left = b <= 0.0, right = a > 0.0, both = ~(left | right);
  const Array from = np::where(right, -b, a), to = np::where(right, -a, b);
  const Array tail = log_difference(sp::log_ndtr(np::where(both, -1.0, to)), sp::log_ndtr(np::where(both, -2.0, from)));
  return np::where(both, np::log1p(-sp::ndtr(a) - sp::ndtr(-b)), tail);
}

/// A number from one end to the other, which may be infinite.
Array between(const Array& low, const Array& high) {
  const Array open_below = low == -np::inf, open_above = high == np::inf;
  const Array from = np::where(open_below, np::where(open_above, -1.0, high - 1.0), low);
  return 0.5 * (from + np::where(open_above, from + 1.0, high));
}

}  // namespace

namespace truncnorm {
Array logpdf(COTAN_X2(a, b)) {
  const auto [y, low, high, location, width] = promoted(x, a, b, loc, scale);
  const Array z = (y - location) / width, outside = (z < low) | (z > high);
  const Array value = norm::logpdf(np::where(outside, location, y), location, width) - log_normal_mass(low, high);
  return np::where(low >= high, np::nan, np::where(outside, -np::inf, value));
}
Array logcdf(COTAN_X2(a, b)) {
  const auto [y, low, high, location, width] = promoted(x, a, b, loc, scale);
  const Array z = (y - location) / width, all = log_normal_mass(low, high);
  // A point between the ends stands for what is not: there everything is finite, derivatives too.
  const Array inside = np::where((z <= low) | (z >= high), between(low, high), z);
  const Array below = log_normal_mass(low, inside) - all, above = log_normal_mass(inside, high) - all;
  // Of what is nearly 1 the rest says more.
  const Array value = np::where(below > -0.1, np::log1p(-np::exp(above)), below);
  const Array cut = np::where(z >= high, 0.0, np::where(z <= low, -np::inf, value));
  return np::where(low >= high, np::nan, cut);
}
Array logsf(COTAN_X2(a, b)) {
  const auto [y, low, high, location, width] = promoted(x, a, b, loc, scale);
  return logcdf(-y, -high, -low, -location, width);
}
COTAN_OF_X2(pdf, density, logpdf)
COTAN_OF_X2(cdf, density, logcdf)
COTAN_OF_X2(sf, density, logsf)
}  // namespace truncnorm

}  // namespace cotan::scipy::stats
