// Distributions of counts.
#include "core/error.hpp"
#include "scipy/stats/derived.hpp"

namespace cotan::scipy::stats {

namespace bernoulli {
Array logpmf(const ArrayLike& k, const ArrayLike& p, const ArrayLike& loc) {
  const auto [count, chance, first] = promoted(k, p, loc);
  const Array x = count - first, value = sp::xlogy(x, chance) + sp::xlog1py(1.0 - x, -chance);
  return np::where((x < 0.0) | (x > 1.0), -np::inf, value);
}
Array pmf(const ArrayLike& k, const ArrayLike& p, const ArrayLike& loc) { return np::exp(logpmf(k, p, loc)); }
Array cdf(const ArrayLike& k, const ArrayLike& p) {
  const auto [x, chance] = promoted(k, p);
  const Array value = np::where(x < 0.0, 0.0, np::where(x < 1.0, 1.0 - chance, 1.0));
  return np::where(np::isnan(x), np::nan, if_probability(chance, value));
}
Array ppf(const ArrayLike& q, const ArrayLike& p) {
  const auto [x, chance] = promoted(q, p);
  return if_probability(x, if_probability(chance, np::where(x <= 1.0 - chance, np::zeros_like(x), 1.0)));
}
}  // namespace bernoulli

namespace binom {
Array logpmf(const ArrayLike& k, const ArrayLike& n, const ArrayLike& p, const ArrayLike& loc) {
  const auto [count, trials, chance, first] = promoted(k, n, p, loc);
  const Array y = count - first;
  const Array ways = lax::lgamma(trials + 1.0) - (lax::lgamma(y + 1.0) + lax::lgamma(trials - y + 1.0));
  const Array logs = sp::xlogy(y, chance) + sp::xlog1py(trials - y, -chance);
  const Array value = np::where(((y == 0.0) & (trials == 0.0)) | (logs == 0.0), 0.0, ways + logs);
  return np::where((count >= first) & (count < first + trials + 1.0), value, -np::inf);
}
Array pmf(const ArrayLike& k, const ArrayLike& n, const ArrayLike& p, const ArrayLike& loc) {
  return np::exp(logpmf(k, n, p, loc));
}
}  // namespace binom

namespace betabinom {
Array logpmf(const ArrayLike& k, const ArrayLike& n, const ArrayLike& a, const ArrayLike& b, const ArrayLike& loc) {
  const auto [count, trials, p, q, first] = promoted(k, n, a, b, loc);
  const Array y = np::floor(count) - first;
  const Array ways = -(np::log1p(trials) + sp::betaln(trials - y + 1.0, y + 1.0));
  const Array some = ways + (sp::betaln(y + p, trials - y + q) - sp::betaln(p, q));
  const Array value = np::where((y == 0.0) & (trials == 0.0), 0.0, some);
  const Array inside = np::where((y < -first) | (y > trials) | (y + p <= 0.0), -np::inf, value);
  return np::where((trials < 0.0) | (p <= 0.0) | (q <= 0.0), np::nan, inside);
}
Array pmf(const ArrayLike& k, const ArrayLike& n, const ArrayLike& a, const ArrayLike& b, const ArrayLike& loc) {
  return np::exp(logpmf(k, n, a, b, loc));
}
}  // namespace betabinom

namespace geom {
Array logpmf(const ArrayLike& k, const ArrayLike& p, const ArrayLike& loc) {
  const auto [count, chance, first] = promoted(k, p, loc);
  const Array x = count - first;
  return np::where(x <= 0.0, -np::inf, sp::xlog1py(x - 1.0, -chance) + np::log(chance));
}
Array pmf(const ArrayLike& k, const ArrayLike& p, const ArrayLike& loc) { return np::exp(logpmf(k, p, loc)); }
}  // namespace geom

namespace nbinom {
Array logpmf(const ArrayLike& k, const ArrayLike& n, const ArrayLike& p, const ArrayLike& loc) {
  const auto [count, successes, chance, first] = promoted(k, n, p, loc);
  const Array y = count - first;
  const Array ways = lax::lgamma(y + successes) - lax::lgamma(successes) - lax::lgamma(y + 1.0);
  return np::where(count < first, -np::inf, ways + (sp::xlogy(successes, chance) + sp::xlogy(y, 1.0 - chance)));
}
Array pmf(const ArrayLike& k, const ArrayLike& n, const ArrayLike& p, const ArrayLike& loc) {
  return np::exp(logpmf(k, n, p, loc));
}
}  // namespace nbinom

namespace poisson {
Array logpmf(const ArrayLike& k, const ArrayLike& mu, const ArrayLike& loc) {
  const auto [count, mean, first] = promoted(k, mu, loc);
  const Array x = count - first, value = sp::xlogy(x, mean) - lax::lgamma(x + 1.0) - mean;
  return np::where((x < 0.0) | (np::rint(count) != count), -np::inf, value);
}
Array pmf(const ArrayLike& k, const ArrayLike& mu, const ArrayLike& loc) { return np::exp(logpmf(k, mu, loc)); }
Array cdf(const ArrayLike& k, const ArrayLike& mu, const ArrayLike& loc) {
  const auto [count, mean, first] = promoted(k, mu, loc);
  const Array x = count - first, none = x < 0.0;
  return np::where(none, 0.0, sp::gammaincc(np::floor(1.0 + np::where(none, 0.0, x)), mean));
}

namespace {

/// The sum over counts below `most` and the bound.
Array entropy_by_sum(const Array& mean, int most, const Array& bound) {
  Array k = np::arange(most, mean.dtype());
  for (int i = 0; i < mean.ndim(); ++i) k = np::expand_dims(k, -1);
  return np::sum(sp::entr(np::where(k < np::ceil(bound), pmf(k, mean, 0.0), 0.0)), 0);
}

}  // namespace

Array entropy(const ArrayLike& mu, const ArrayLike& loc) {
  const auto [mean, first] = promoted(mu, loc);
  const Array small = mean < 10.0, medium = mean < 100.0;
  const Array low = np::where(small, mean, 1.0), middle = np::where(medium, mean, 10.0),
              high = np::where(medium, 100.0, mean);
  const Array of_medium = entropy_by_sum(middle, 250, middle + 10.0 * np::sqrt(middle) + 20.0);
  const Array of_large = 0.5 * np::log(2 * np::pi * np::e * high) - 1.0 / (12.0 * high);
  const Array value = np::where(small, entropy_by_sum(low, 35, low + 20.0), np::where(medium, of_medium, of_large));
  return np::where(mean == 0.0, 0.0, value) + np::zeros_like(first);
}
}  // namespace poisson

namespace multinomial {
Array logpmf(const ArrayLike& x, const ArrayLike& n, const ArrayLike& p) {
  if (!is_integer(x->dtype()) || !is_integer(n->dtype()))
    raise<ValueError>("[multinomial.logpmf] counts are integers, got {} and {}; cast with astype.", x->aval(),
                      n->aval());
  const auto [chances] = promoted(p);
  const Array counts = x->astype(chances.dtype()), trials = n->astype(chances.dtype());
  const Array value = lax::lgamma(trials + 1.0) + np::sum(sp::xlogy(counts, chances) - lax::lgamma(counts + 1.0), -1);
  return np::where(np::sum(counts) == trials, value, -np::inf);
}
Array pmf(const ArrayLike& x, const ArrayLike& n, const ArrayLike& p) { return np::exp(logpmf(x, n, p)); }
}  // namespace multinomial

}  // namespace cotan::scipy::stats
