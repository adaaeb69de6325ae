// Distributions of a location and a scale alone.
#include "scipy/stats/derived.hpp"

namespace cotan::scipy::stats {

namespace {

/// (x - loc)/scale, and all three in one dtype.
struct Standard {
  Array x, loc, scale, z;
  Standard(const Array& x0, const Array& loc0, const Array& scale0) {
    const auto all = promoted(x0, loc0, scale0);
    x = all[0], loc = all[1], scale = all[2];
    z = (x - loc) / scale;
  }
};

}  // namespace

#define COTAN_OF_X(name, f, of) COTAN_DERIVED(name, f, of, (COTAN_X), (x, loc, scale))

namespace norm {
Array logpdf(COTAN_X) {
  const auto [y, mean, deviation] = promoted(x, loc, scale);
  const Array variance = np::square(deviation);
  return (np::log(2 * np::pi * variance) + np::square(y - mean) / variance) * -0.5;
}
COTAN_OF_X(pdf, density, logpdf)
Array cdf(COTAN_X) { return sp::ndtr(Standard(x, loc, scale).z); }
Array logcdf(COTAN_X) { return sp::log_ndtr(Standard(x, loc, scale).z); }
Array sf(COTAN_X) { return sp::ndtr(-Standard(x, loc, scale).z); }
Array logsf(COTAN_X) { return sp::log_ndtr(-Standard(x, loc, scale).z); }
Array ppf(const ArrayLike& q, const ArrayLike& loc, const ArrayLike& scale) {
  const auto [p, mean, deviation] = promoted(q, loc, scale);
  return sp::ndtri(p) * deviation + mean;
}
Array isf(const ArrayLike& q, const ArrayLike& loc, const ArrayLike& scale) {
  const auto [p, mean, deviation] = promoted(q, loc, scale);
  return mean - sp::ndtri(p) * deviation;
}
}  // namespace norm

namespace cauchy {
Array logpdf(COTAN_X) {
  const Standard s(x, loc, scale);
  return -(np::log(np::pi * s.scale) + np::log1p(s.z * s.z));
}
COTAN_OF_X(pdf, density, logpdf)
Array cdf(COTAN_X) { return 0.5 + np::arctan(Standard(x, loc, scale).z) * (1 / np::pi); }
Array sf(COTAN_X) { return 0.5 - np::arctan(Standard(x, loc, scale).z) * (1 / np::pi); }

namespace {

/// Far out, where 1/2 and the arc tangent cancel, there is the first term of the series in 1/z.
Array log_tail(const Array& z) {
  const Array far = z < -1e8, safe = np::where(far, 0.0, z);
  return np::where(far, -np::log(-np::pi * np::where(far, z, -1.0)), np::log(0.5 + np::arctan(safe) * (1 / np::pi)));
}

}  // namespace

Array logcdf(COTAN_X) { return log_tail(Standard(x, loc, scale).z); }
Array logsf(COTAN_X) { return log_tail(-Standard(x, loc, scale).z); }
Array ppf(const ArrayLike& q, const ArrayLike& loc, const ArrayLike& scale) {
  const auto [p, location, width] = promoted(q, loc, scale);
  return np::tan(np::pi * p - np::pi / 2) * width + location;
}
Array isf(const ArrayLike& q, const ArrayLike& loc, const ArrayLike& scale) {
  const auto [p, location, width] = promoted(q, loc, scale);
  return np::tan(np::pi / 2 - np::pi * p) * width + location;
}
}  // namespace cauchy

namespace expon {
Array logpdf(COTAN_X) {
  const Standard s(x, loc, scale);
  return np::where(s.x < s.loc, -np::inf, -(s.z + np::log(s.scale)));
}
COTAN_OF_X(pdf, density, logpdf)
Array cdf(COTAN_X) {
  const Standard s(x, loc, scale);
  return np::where(s.x < s.loc, 0.0, -np::expm1(-s.z));
}
Array logcdf(COTAN_X) { return np::log1p(-sf(x, loc, scale)); }
Array logsf(COTAN_X) {
  const Standard s(x, loc, scale);
  return np::where(s.x < s.loc, 0.0, -s.z);
}
COTAN_OF_X(sf, density, logsf)
Array ppf(const ArrayLike& q, const ArrayLike& loc, const ArrayLike& scale) {
  const auto [p, location, width] = promoted(q, loc, scale);
  return if_probability(p, location - width * np::log1p(-p));
}
}  // namespace expon

namespace {

/// NaN unless the scale is positive.
Array if_positive(const Array& scale, const Array& value) { return np::where(scale > 0.0, value, np::nan); }
/// log(1 - exp(-x)) for x > 0.
Array log_1_minus_exp(const Array& x) {
  const Array near = x < 0.6931471805599453;
  return np::where(near, np::log(-np::expm1(-np::where(near, x, 1.0))), np::log1p(-np::exp(-np::where(near, 1.0, x))));
}
/// Of both of Gumbel's distributions, which mirror each other: z as that of smallest values.
Array gumbel_logpdf(const Array& z, const Array& scale) { return if_positive(scale, z - np::exp(z) - np::log(scale)); }
/// log(1 - exp(-exp(z))), which is z where exp(z) is small.
Array gumbel_near(const Array& z, const Array& scale) {
  const Array far = z < -40.0;
  return if_positive(scale, np::where(far, z, log_1_minus_exp(np::exp(np::where(far, 0.0, z)))));
}
Array gumbel_far(const Array& z, const Array& scale) { return if_positive(scale, -np::exp(z)); }
Array if_inside(const Array& p, const Array& value) { return np::where((p > 0.0) & (p < 1.0), value, np::nan); }

}  // namespace

namespace gumbel_l {
Array logpdf(COTAN_X) {
  const Standard s(x, loc, scale);
  return gumbel_logpdf(s.z, s.scale);
}
Array logcdf(COTAN_X) {
  const Standard s(x, loc, scale);
  return gumbel_near(s.z, s.scale);
}
Array logsf(COTAN_X) {
  const Standard s(x, loc, scale);
  return gumbel_far(s.z, s.scale);
}
COTAN_OF_X(pdf, density, logpdf)
COTAN_OF_X(cdf, density, logcdf)
COTAN_OF_X(sf, density, logsf)
Array ppf(const ArrayLike& q, const ArrayLike& loc, const ArrayLike& scale) {
  const auto [p, location, width] = promoted(q, loc, scale);
  return if_inside(p, location + width * np::log(-np::log1p(-p)));
}
}  // namespace gumbel_l

namespace gumbel_r {
Array logpdf(COTAN_X) {
  const Standard s(x, loc, scale);
  return gumbel_logpdf(-s.z, s.scale);
}
Array logcdf(COTAN_X) {
  const Standard s(x, loc, scale);
  return gumbel_far(-s.z, s.scale);
}
Array logsf(COTAN_X) {
  const Standard s(x, loc, scale);
  return gumbel_near(-s.z, s.scale);
}
COTAN_OF_X(pdf, density, logpdf)
COTAN_OF_X(cdf, density, logcdf)
COTAN_OF_X(sf, density, logsf)
Array ppf(const ArrayLike& q, const ArrayLike& loc, const ArrayLike& scale) {
  const auto [p, location, width] = promoted(q, loc, scale);
  return if_inside(p, location - width * np::log(-np::log(p)));
}
}  // namespace gumbel_r

namespace laplace {
Array logpdf(COTAN_X) {
  const Standard s(x, loc, scale);
  return -(np::abs(s.x - s.loc) / s.scale + np::log(2.0 * s.scale));
}
COTAN_OF_X(pdf, density, logpdf)
Array cdf(COTAN_X) {
  // Each side by itself: |z| has no derivative at 0, the function has.
  const Array z = Standard(x, loc, scale).z, below = z <= 0.0, half = 0.5 * np::exp(np::where(below, z, -z));
  return np::where(below, half, 1.0 - half);
}
}  // namespace laplace

namespace logistic {
Array logpdf(COTAN_X) {
  const Standard s(x, loc, scale);
  const Array half = 0.5 * s.z;
  return -2.0 * np::logaddexp(half, -half) - np::log(s.scale);
}
COTAN_OF_X(pdf, density, logpdf)
Array cdf(COTAN_X) { return lax::logistic(Standard(x, loc, scale).z); }
Array sf(COTAN_X) { return lax::logistic(-Standard(x, loc, scale).z); }
Array ppf(const ArrayLike& q, const ArrayLike& loc, const ArrayLike& scale) {
  const auto [p, location, width] = promoted(q, loc, scale);
  return sp::logit(p) * width + location;
}
Array isf(const ArrayLike& q, const ArrayLike& loc, const ArrayLike& scale) {
  const auto [p, location, width] = promoted(q, loc, scale);
  return location - sp::logit(p) * width;
}
}  // namespace logistic

namespace uniform {
Array logpdf(COTAN_X) {
  const auto [y, low, width] = promoted(x, loc, scale);
  return np::where((y > low + width) | (y < low), -np::inf, -np::log(width));
}
COTAN_OF_X(pdf, density, logpdf)
Array cdf(COTAN_X) {
  const Standard s(x, loc, scale);
  return np::where(s.x < s.loc, 0.0, np::where(s.x > s.loc + s.scale, 1.0, s.z));
}
Array ppf(const ArrayLike& q, const ArrayLike& loc, const ArrayLike& scale) {
  const auto [p, low, width] = promoted(q, loc, scale);
  return if_probability(p, low + width * p);
}
}  // namespace uniform

}  // namespace cotan::scipy::stats
