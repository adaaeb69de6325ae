// cotan::scipy::stats: distributions, a namespace each, and statistics of samples.
#pragma once
#include <cotan/array.hpp>
#include <cotan/scipy/stats/gaussian_kde.hpp>
#include <optional>
#include <string_view>

/// `jax.scipy.stats`. Operands broadcast and promote, integers become floats; loc moves a distribution and scale
/// stretches it. Outside of what a distribution can give, densities are 0 and their logarithms -inf. NaN gives NaN,
/// also where JAX has 0 (`uniform::cdf`, `truncnorm::logcdf`).
///
///     namespace st = cotan::scipy::stats;
///     ct::Array loss = -np::sum(st::norm::logpdf(x, mu, sigma));
namespace cotan::scipy::stats {

/// The normal distribution, of mean loc and standard deviation scale.
namespace norm {
Array logpdf(const ArrayLike& x, const ArrayLike& loc = 0,
             const ArrayLike& scale = 1);                                             ///< the logarithm of the density
Array pdf(const ArrayLike& x, const ArrayLike& loc = 0, const ArrayLike& scale = 1);  ///< the density
Array cdf(const ArrayLike& x, const ArrayLike& loc = 0, const ArrayLike& scale = 1);  ///< the distribution function
Array logcdf(const ArrayLike& x, const ArrayLike& loc = 0, const ArrayLike& scale = 1);  ///< its logarithm
Array sf(const ArrayLike& x, const ArrayLike& loc = 0,
         const ArrayLike& scale = 1);  ///< 1 - cdf, exact where it is small
Array logsf(const ArrayLike& x, const ArrayLike& loc = 0, const ArrayLike& scale = 1);  ///< the logarithm of sf
Array ppf(const ArrayLike& q, const ArrayLike& loc = 0,
          const ArrayLike& scale = 1);  ///< the inverse of cdf; NaN outside [0, 1]
Array isf(const ArrayLike& q, const ArrayLike& loc = 0, const ArrayLike& scale = 1);  ///< the inverse of sf
}  // namespace norm

/// Cauchy's distribution.
namespace cauchy {
Array logpdf(const ArrayLike& x, const ArrayLike& loc = 0,
             const ArrayLike& scale = 1);                                             ///< the logarithm of the density
Array pdf(const ArrayLike& x, const ArrayLike& loc = 0, const ArrayLike& scale = 1);  ///< the density
Array cdf(const ArrayLike& x, const ArrayLike& loc = 0, const ArrayLike& scale = 1);  ///< the distribution function
Array logcdf(const ArrayLike& x, const ArrayLike& loc = 0, const ArrayLike& scale = 1);  ///< its logarithm
Array sf(const ArrayLike& x, const ArrayLike& loc = 0,
         const ArrayLike& scale = 1);  ///< 1 - cdf, exact where it is small
Array logsf(const ArrayLike& x, const ArrayLike& loc = 0, const ArrayLike& scale = 1);  ///< the logarithm of sf
Array ppf(const ArrayLike& q, const ArrayLike& loc = 0,
          const ArrayLike& scale = 1);  ///< the inverse of cdf; NaN outside [0, 1]
Array isf(const ArrayLike& q, const ArrayLike& loc = 0, const ArrayLike& scale = 1);  ///< the inverse of sf
}  // namespace cauchy

/// The exponential distribution, of mean scale, from loc on.
namespace expon {
Array logpdf(const ArrayLike& x, const ArrayLike& loc = 0,
             const ArrayLike& scale = 1);                                             ///< the logarithm of the density
Array pdf(const ArrayLike& x, const ArrayLike& loc = 0, const ArrayLike& scale = 1);  ///< the density
Array cdf(const ArrayLike& x, const ArrayLike& loc = 0, const ArrayLike& scale = 1);  ///< the distribution function
Array logcdf(const ArrayLike& x, const ArrayLike& loc = 0, const ArrayLike& scale = 1);  ///< its logarithm
Array sf(const ArrayLike& x, const ArrayLike& loc = 0,
         const ArrayLike& scale = 1);  ///< 1 - cdf, exact where it is small
Array logsf(const ArrayLike& x, const ArrayLike& loc = 0, const ArrayLike& scale = 1);  ///< the logarithm of sf
Array ppf(const ArrayLike& q, const ArrayLike& loc = 0,
          const ArrayLike& scale = 1);  ///< the inverse of cdf; NaN outside [0, 1]
}  // namespace expon

/// Gumbel's distribution of smallest values; NaN where scale is not positive.
namespace gumbel_l {
Array logpdf(const ArrayLike& x, const ArrayLike& loc = 0,
             const ArrayLike& scale = 1);                                             ///< the logarithm of the density
Array pdf(const ArrayLike& x, const ArrayLike& loc = 0, const ArrayLike& scale = 1);  ///< the density
Array cdf(const ArrayLike& x, const ArrayLike& loc = 0, const ArrayLike& scale = 1);  ///< the distribution function
Array logcdf(const ArrayLike& x, const ArrayLike& loc = 0, const ArrayLike& scale = 1);  ///< its logarithm
Array sf(const ArrayLike& x, const ArrayLike& loc = 0,
         const ArrayLike& scale = 1);  ///< 1 - cdf, exact where it is small
Array logsf(const ArrayLike& x, const ArrayLike& loc = 0, const ArrayLike& scale = 1);  ///< the logarithm of sf
Array ppf(const ArrayLike& q, const ArrayLike& loc = 0,
          const ArrayLike& scale = 1);  ///< the inverse of cdf; NaN outside [0, 1]
}  // namespace gumbel_l

/// Gumbel's distribution of largest values; NaN where scale is not positive.
namespace gumbel_r {
Array logpdf(const ArrayLike& x, const ArrayLike& loc = 0,
             const ArrayLike& scale = 1);                                             ///< the logarithm of the density
Array pdf(const ArrayLike& x, const ArrayLike& loc = 0, const ArrayLike& scale = 1);  ///< the density
Array cdf(const ArrayLike& x, const ArrayLike& loc = 0, const ArrayLike& scale = 1);  ///< the distribution function
Array logcdf(const ArrayLike& x, const ArrayLike& loc = 0, const ArrayLike& scale = 1);  ///< its logarithm
Array sf(const ArrayLike& x, const ArrayLike& loc = 0,
         const ArrayLike& scale = 1);  ///< 1 - cdf, exact where it is small
Array logsf(const ArrayLike& x, const ArrayLike& loc = 0, const ArrayLike& scale = 1);  ///< the logarithm of sf
Array ppf(const ArrayLike& q, const ArrayLike& loc = 0,
          const ArrayLike& scale = 1);  ///< the inverse of cdf; NaN outside [0, 1]
}  // namespace gumbel_r

/// Laplace's distribution.
namespace laplace {
Array logpdf(const ArrayLike& x, const ArrayLike& loc = 0,
             const ArrayLike& scale = 1);                                             ///< the logarithm of the density
Array pdf(const ArrayLike& x, const ArrayLike& loc = 0, const ArrayLike& scale = 1);  ///< the density
Array cdf(const ArrayLike& x, const ArrayLike& loc = 0, const ArrayLike& scale = 1);  ///< the distribution function
}  // namespace laplace

/// The logistic distribution.
namespace logistic {
Array logpdf(const ArrayLike& x, const ArrayLike& loc = 0,
             const ArrayLike& scale = 1);                                             ///< the logarithm of the density
Array pdf(const ArrayLike& x, const ArrayLike& loc = 0, const ArrayLike& scale = 1);  ///< the density
Array cdf(const ArrayLike& x, const ArrayLike& loc = 0, const ArrayLike& scale = 1);  ///< the distribution function
Array sf(const ArrayLike& x, const ArrayLike& loc = 0,
         const ArrayLike& scale = 1);  ///< 1 - cdf, exact where it is small
Array ppf(const ArrayLike& q, const ArrayLike& loc = 0,
          const ArrayLike& scale = 1);  ///< the inverse of cdf; NaN outside [0, 1]
Array isf(const ArrayLike& q, const ArrayLike& loc = 0, const ArrayLike& scale = 1);  ///< the inverse of sf
}  // namespace logistic

/// The uniform distribution on [loc, loc + scale].
namespace uniform {
Array logpdf(const ArrayLike& x, const ArrayLike& loc = 0,
             const ArrayLike& scale = 1);                                             ///< the logarithm of the density
Array pdf(const ArrayLike& x, const ArrayLike& loc = 0, const ArrayLike& scale = 1);  ///< the density
Array cdf(const ArrayLike& x, const ArrayLike& loc = 0, const ArrayLike& scale = 1);  ///< the distribution function
Array ppf(const ArrayLike& q, const ArrayLike& loc = 0,
          const ArrayLike& scale = 1);  ///< the inverse of cdf; NaN outside [0, 1]
}  // namespace uniform

/// The beta distribution on [loc, loc + scale]. As in JAX cdf and its kin have no derivative by a and b.
namespace beta {
Array logpdf(const ArrayLike& x, const ArrayLike& a, const ArrayLike& b, const ArrayLike& loc = 0,
             const ArrayLike& scale = 1);  ///< the logarithm of the density
Array pdf(const ArrayLike& x, const ArrayLike& a, const ArrayLike& b, const ArrayLike& loc = 0,
          const ArrayLike& scale = 1);  ///< the density
Array cdf(const ArrayLike& x, const ArrayLike& a, const ArrayLike& b, const ArrayLike& loc = 0,
          const ArrayLike& scale = 1);  ///< the distribution function
Array logcdf(const ArrayLike& x, const ArrayLike& a, const ArrayLike& b, const ArrayLike& loc = 0,
             const ArrayLike& scale = 1);  ///< its logarithm
Array sf(const ArrayLike& x, const ArrayLike& a, const ArrayLike& b, const ArrayLike& loc = 0,
         const ArrayLike& scale = 1);  ///< 1 - cdf, exact where it is small
Array logsf(const ArrayLike& x, const ArrayLike& a, const ArrayLike& b, const ArrayLike& loc = 0,
            const ArrayLike& scale = 1);  ///< the logarithm of sf
}  // namespace beta

/// The gamma distribution of shape a.
namespace gamma {
Array logpdf(const ArrayLike& x, const ArrayLike& a, const ArrayLike& loc = 0,
             const ArrayLike& scale = 1);  ///< the logarithm of the density
Array pdf(const ArrayLike& x, const ArrayLike& a, const ArrayLike& loc = 0,
          const ArrayLike& scale = 1);  ///< the density
Array cdf(const ArrayLike& x, const ArrayLike& a, const ArrayLike& loc = 0,
          const ArrayLike& scale = 1);  ///< the distribution function
Array logcdf(const ArrayLike& x, const ArrayLike& a, const ArrayLike& loc = 0,
             const ArrayLike& scale = 1);  ///< its logarithm
Array sf(const ArrayLike& x, const ArrayLike& a, const ArrayLike& loc = 0,
         const ArrayLike& scale = 1);  ///< 1 - cdf, exact where it is small
Array logsf(const ArrayLike& x, const ArrayLike& a, const ArrayLike& loc = 0,
            const ArrayLike& scale = 1);  ///< the logarithm of sf
}  // namespace gamma

/// The chi-squared distribution with df degrees of freedom.
namespace chi2 {
Array logpdf(const ArrayLike& x, const ArrayLike& df, const ArrayLike& loc = 0,
             const ArrayLike& scale = 1);  ///< the logarithm of the density
Array pdf(const ArrayLike& x, const ArrayLike& df, const ArrayLike& loc = 0,
          const ArrayLike& scale = 1);  ///< the density
Array cdf(const ArrayLike& x, const ArrayLike& df, const ArrayLike& loc = 0,
          const ArrayLike& scale = 1);  ///< the distribution function
Array logcdf(const ArrayLike& x, const ArrayLike& df, const ArrayLike& loc = 0,
             const ArrayLike& scale = 1);  ///< its logarithm
Array sf(const ArrayLike& x, const ArrayLike& df, const ArrayLike& loc = 0,
         const ArrayLike& scale = 1);  ///< 1 - cdf, exact where it is small
Array logsf(const ArrayLike& x, const ArrayLike& df, const ArrayLike& loc = 0,
            const ArrayLike& scale = 1);  ///< the logarithm of sf
}  // namespace chi2

/// Student's t distribution with df degrees of freedom.
namespace t {
Array logpdf(const ArrayLike& x, const ArrayLike& df, const ArrayLike& loc = 0,
             const ArrayLike& scale = 1);  ///< the logarithm of the density
Array pdf(const ArrayLike& x, const ArrayLike& df, const ArrayLike& loc = 0,
          const ArrayLike& scale = 1);  ///< the density
}  // namespace t

/// Pareto's distribution of exponent b, from loc + scale on.
namespace pareto {
Array logpdf(const ArrayLike& x, const ArrayLike& b, const ArrayLike& loc = 0,
             const ArrayLike& scale = 1);  ///< the logarithm of the density
Array pdf(const ArrayLike& x, const ArrayLike& b, const ArrayLike& loc = 0,
          const ArrayLike& scale = 1);  ///< the density
Array cdf(const ArrayLike& x, const ArrayLike& b, const ArrayLike& loc = 0,
          const ArrayLike& scale = 1);  ///< the distribution function
Array logcdf(const ArrayLike& x, const ArrayLike& b, const ArrayLike& loc = 0,
             const ArrayLike& scale = 1);  ///< its logarithm
Array sf(const ArrayLike& x, const ArrayLike& b, const ArrayLike& loc = 0,
         const ArrayLike& scale = 1);  ///< 1 - cdf, exact where it is small
Array logsf(const ArrayLike& x, const ArrayLike& b, const ArrayLike& loc = 0,
            const ArrayLike& scale = 1);  ///< the logarithm of sf
Array ppf(const ArrayLike& q, const ArrayLike& b, const ArrayLike& loc = 0,
          const ArrayLike& scale = 1);  ///< the inverse of cdf; NaN outside [0, 1]
}  // namespace pareto

/// The normal distribution between loc + a scale and loc + b scale; NaN where a >= b.
namespace truncnorm {
Array logpdf(const ArrayLike& x, const ArrayLike& a, const ArrayLike& b, const ArrayLike& loc = 0,
             const ArrayLike& scale = 1);  ///< the logarithm of the density
Array pdf(const ArrayLike& x, const ArrayLike& a, const ArrayLike& b, const ArrayLike& loc = 0,
          const ArrayLike& scale = 1);  ///< the density
Array cdf(const ArrayLike& x, const ArrayLike& a, const ArrayLike& b, const ArrayLike& loc = 0,
          const ArrayLike& scale = 1);  ///< the distribution function
Array logcdf(const ArrayLike& x, const ArrayLike& a, const ArrayLike& b, const ArrayLike& loc = 0,
             const ArrayLike& scale = 1);  ///< its logarithm
Array sf(const ArrayLike& x, const ArrayLike& a, const ArrayLike& b, const ArrayLike& loc = 0,
         const ArrayLike& scale = 1);  ///< 1 - cdf, exact where it is small
Array logsf(const ArrayLike& x, const ArrayLike& a, const ArrayLike& b, const ArrayLike& loc = 0,
            const ArrayLike& scale = 1);  ///< the logarithm of sf
}  // namespace truncnorm

/// The generalized normal distribution of exponent beta.
namespace gennorm {
Array logpdf(const ArrayLike& x, const ArrayLike& beta);  ///< the logarithm of the density
Array pdf(const ArrayLike& x, const ArrayLike& beta);     ///< the density
Array cdf(const ArrayLike& x, const ArrayLike& beta);     ///< the distribution function
}  // namespace gennorm

/// Von Mises' distribution on the circle; NaN where kappa is not positive.
namespace vonmises {
Array logpdf(const ArrayLike& x, const ArrayLike& kappa);  ///< the logarithm of the density
Array pdf(const ArrayLike& x, const ArrayLike& kappa);     ///< the density
}  // namespace vonmises

/// Cauchy's distribution wrapped around the circle, x from 0 to 2 pi; NaN unless c is between 0 and 1.
namespace wrapcauchy {
Array logpdf(const ArrayLike& x, const ArrayLike& c);  ///< the logarithm of the density
Array pdf(const ArrayLike& x, const ArrayLike& c);     ///< the density
}  // namespace wrapcauchy

/// One trial of probability p: 0 or 1.
namespace bernoulli {
Array logpmf(const ArrayLike& k, const ArrayLike& p,
             const ArrayLike& loc = 0);                                       ///< the logarithm of the probability of k
Array pmf(const ArrayLike& k, const ArrayLike& p, const ArrayLike& loc = 0);  ///< the probability of k
Array cdf(const ArrayLike& k, const ArrayLike& p);                            ///< the distribution function
Array ppf(const ArrayLike& q, const ArrayLike& p);                            ///< the least k with cdf(k) >= q
}  // namespace bernoulli

/// The number of successes in n trials of probability p.
namespace binom {
Array logpmf(const ArrayLike& k, const ArrayLike& n, const ArrayLike& p,
             const ArrayLike& loc = 0);  ///< the logarithm of the probability of k
Array pmf(const ArrayLike& k, const ArrayLike& n, const ArrayLike& p,
          const ArrayLike& loc = 0);  ///< the probability of k
}  // namespace binom

/// The same where p has the beta distribution.
namespace betabinom {
Array logpmf(const ArrayLike& k, const ArrayLike& n, const ArrayLike& a, const ArrayLike& b,
             const ArrayLike& loc = 0);  ///< the logarithm of the probability of k
Array pmf(const ArrayLike& k, const ArrayLike& n, const ArrayLike& a, const ArrayLike& b,
          const ArrayLike& loc = 0);  ///< the probability of k
}  // namespace betabinom

/// The number of trials up to the first success.
namespace geom {
Array logpmf(const ArrayLike& k, const ArrayLike& p,
             const ArrayLike& loc = 0);                                       ///< the logarithm of the probability of k
Array pmf(const ArrayLike& k, const ArrayLike& p, const ArrayLike& loc = 0);  ///< the probability of k
}  // namespace geom

/// The number of failures before n successes.
namespace nbinom {
Array logpmf(const ArrayLike& k, const ArrayLike& n, const ArrayLike& p,
             const ArrayLike& loc = 0);  ///< the logarithm of the probability of k
Array pmf(const ArrayLike& k, const ArrayLike& n, const ArrayLike& p,
          const ArrayLike& loc = 0);  ///< the probability of k
}  // namespace nbinom

/// Poisson's distribution of mean mu.
namespace poisson {
Array logpmf(const ArrayLike& k, const ArrayLike& mu,
             const ArrayLike& loc = 0);  ///< the logarithm of the probability of k
Array pmf(const ArrayLike& k, const ArrayLike& mu, const ArrayLike& loc = 0);  ///< the probability of k
Array cdf(const ArrayLike& k, const ArrayLike& mu, const ArrayLike& loc = 0);  ///< the distribution function
/// The entropy, by sums up to mu = 100 and a series above it.
Array entropy(const ArrayLike& mu, const ArrayLike& loc = 0);
}  // namespace poisson

/// The numbers of each outcome in n trials, along the last axis; p their probabilities.
namespace multinomial {
/// The logarithm of the probability of x; x and n hold integers, else ValueError.
Array logpmf(const ArrayLike& x, const ArrayLike& n, const ArrayLike& p);
Array pmf(const ArrayLike& x, const ArrayLike& n, const ArrayLike& p);  ///< the probability of x
}  // namespace multinomial

/// Dirichlet's distribution: x along the first axis, with or without the last component; alpha is a vector.
namespace dirichlet {
Array logpdf(const ArrayLike& x, const ArrayLike& alpha);  ///< the logarithm of the density; -inf outside the simplex
Array pdf(const ArrayLike& x, const ArrayLike& alpha);     ///< the density
}  // namespace dirichlet

/// The normal distribution of vectors, along the last axes of x and mean; cov is [..., n, n], or a number for all.
namespace multivariate_normal {
Array logpdf(const ArrayLike& x, const ArrayLike& mean, const ArrayLike& cov);  ///< the logarithm of the density
Array pdf(const ArrayLike& x, const ArrayLike& mean, const ArrayLike& cov);     ///< the density
}  // namespace multivariate_normal

/// The most frequent element and how often it is there.
struct ModeResult {
  Array mode, count;
};
/// The least of the most frequent elements along an axis, or of all with none; count is i32.
ModeResult mode(const ArrayLike& a, std::optional<int> axis = 0, bool keepdims = false);
/// The ranks, from 1, along an axis, or in the flattened array; f64 of 64-bit elements, else f32. Equal elements share
/// the "average", "min" or "max" of their ranks, "dense" counts different elements, "ordinal" goes on. Lines with a NaN
/// are NaN.
Array rankdata(const ArrayLike& a, std::string_view method = "average", std::optional<int> axis = std::nullopt);
/// The standard error of the mean along an axis, or of all with none. nan_policy "omit" leaves out NaN.
Array sem(const ArrayLike& a, std::optional<int> axis = 0, int ddof = 1, std::string_view nan_policy = "propagate",
          bool keepdims = false);

}  // namespace cotan::scipy::stats
