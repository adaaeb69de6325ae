// scipy.stats: distributions by tables of their functions, and statistics.
#include <cotan/cotan.hpp>

#include "cases/case_ops.hpp"

namespace cases {

namespace st = cotan::scipy::stats;
using cotan::ArrayLike;

namespace {

using A = const ArrayLike&;
using Of1 = Array (*)(A);
using Of2 = Array (*)(A, A);
using Of3 = Array (*)(A, A, A);
using Of4 = Array (*)(A, A, A, A);
using Of5 = Array (*)(A, A, A, A, A);

/// A distribution's function; parameters that a case leaves out are at their defaults: loc 0, and scale 1 where the
/// function has one.
struct Entry {
  const char* name;
  std::variant<Of2, Of3, Of4, Of5> function;
  bool has_scale = true;
};

OpFunction adapted(const Entry& e) {
  return [e](Args x, const Params&) {
    return std::visit(
        [&]<class... P>(Array (*f)(P...)) {
          constexpr std::size_t n = sizeof...(P);
          std::vector<Array> all(x.begin(), x.end());
          while (all.size() < n) all.push_back(all.size() + 1 == n && e.has_scale ? Array(1) : Array(0));
          return [&]<std::size_t... i>(std::index_sequence<i...>) {
            return Arrays{f(all[i]...)};
          }(std::make_index_sequence<n>{});
        },
        e.function);
  };
}

#define COTAN_ENTRY(distribution, function) {"stats." #distribution "." #function, st::distribution::function}
#define COTAN_COUNTS(distribution, function) {"stats." #distribution "." #function, st::distribution::function, false}

const Entry entries[] = {COTAN_ENTRY(norm, logpdf),
                         COTAN_ENTRY(norm, pdf),
                         COTAN_ENTRY(norm, cdf),
                         COTAN_ENTRY(norm, logcdf),
                         COTAN_ENTRY(norm, sf),
                         COTAN_ENTRY(norm, logsf),
                         COTAN_ENTRY(norm, ppf),
                         COTAN_ENTRY(norm, isf),
                         COTAN_ENTRY(cauchy, logpdf),
                         COTAN_ENTRY(cauchy, pdf),
                         COTAN_ENTRY(cauchy, cdf),
                         COTAN_ENTRY(cauchy, logcdf),
                         COTAN_ENTRY(cauchy, sf),
                         COTAN_ENTRY(cauchy, logsf),
                         COTAN_ENTRY(cauchy, ppf),
                         COTAN_ENTRY(cauchy, isf),
                         COTAN_ENTRY(expon, logpdf),
                         COTAN_ENTRY(expon, pdf),
                         COTAN_ENTRY(expon, cdf),
                         COTAN_ENTRY(expon, logcdf),
                         COTAN_ENTRY(expon, sf),
                         COTAN_ENTRY(expon, logsf),
                         COTAN_ENTRY(expon, ppf),
                         COTAN_ENTRY(gumbel_l, logpdf),
                         COTAN_ENTRY(gumbel_l, pdf),
                         COTAN_ENTRY(gumbel_l, cdf),
                         COTAN_ENTRY(gumbel_l, logcdf),
                         COTAN_ENTRY(gumbel_l, sf),
                         COTAN_ENTRY(gumbel_l, logsf),
                         COTAN_ENTRY(gumbel_l, ppf),
                         COTAN_ENTRY(gumbel_r, logpdf),
                         COTAN_ENTRY(gumbel_r, pdf),
                         COTAN_ENTRY(gumbel_r, cdf),
                         COTAN_ENTRY(gumbel_r, logcdf),
                         COTAN_ENTRY(gumbel_r, sf),
                         COTAN_ENTRY(gumbel_r, logsf),
                         COTAN_ENTRY(gumbel_r, ppf),
                         COTAN_ENTRY(laplace, logpdf),
                         COTAN_ENTRY(laplace, pdf),
                         COTAN_ENTRY(laplace, cdf),
                         COTAN_ENTRY(logistic, logpdf),
                         COTAN_ENTRY(logistic, pdf),
                         COTAN_ENTRY(logistic, cdf),
                         COTAN_ENTRY(logistic, sf),
                         COTAN_ENTRY(logistic, ppf),
                         COTAN_ENTRY(logistic, isf),
                         COTAN_ENTRY(uniform, logpdf),
                         COTAN_ENTRY(uniform, pdf),
                         COTAN_ENTRY(uniform, cdf),
                         COTAN_ENTRY(uniform, ppf),
                         COTAN_ENTRY(beta, logpdf),
                         COTAN_ENTRY(beta, pdf),
                         COTAN_ENTRY(beta, cdf),
                         COTAN_ENTRY(beta, logcdf),
                         COTAN_ENTRY(beta, sf),
                         COTAN_ENTRY(beta, logsf),
                         COTAN_ENTRY(gamma, logpdf),
                         COTAN_ENTRY(gamma, pdf),
                         COTAN_ENTRY(gamma, cdf),
                         COTAN_ENTRY(gamma, logcdf),
                         COTAN_ENTRY(gamma, sf),
                         COTAN_ENTRY(gamma, logsf),
                         COTAN_ENTRY(chi2, logpdf),
                         COTAN_ENTRY(chi2, pdf),
                         COTAN_ENTRY(chi2, cdf),
                         COTAN_ENTRY(chi2, logcdf),
                         COTAN_ENTRY(chi2, sf),
                         COTAN_ENTRY(chi2, logsf),
                         COTAN_ENTRY(t, logpdf),
                         COTAN_ENTRY(t, pdf),
                         COTAN_ENTRY(pareto, logpdf),
                         COTAN_ENTRY(pareto, pdf),
                         COTAN_ENTRY(pareto, cdf),
                         COTAN_ENTRY(pareto, logcdf),
                         COTAN_ENTRY(pareto, sf),
                         COTAN_ENTRY(pareto, logsf),
                         COTAN_ENTRY(pareto, ppf),
                         COTAN_ENTRY(truncnorm, logpdf),
                         COTAN_ENTRY(truncnorm, pdf),
                         COTAN_ENTRY(truncnorm, cdf),
                         COTAN_ENTRY(truncnorm, logcdf),
                         COTAN_ENTRY(truncnorm, sf),
                         COTAN_ENTRY(truncnorm, logsf),
                         COTAN_ENTRY(gennorm, logpdf),
                         COTAN_ENTRY(gennorm, pdf),
                         COTAN_ENTRY(gennorm, cdf),
                         COTAN_ENTRY(vonmises, logpdf),
                         COTAN_ENTRY(vonmises, pdf),
                         COTAN_ENTRY(wrapcauchy, logpdf),
                         COTAN_ENTRY(wrapcauchy, pdf),
                         COTAN_ENTRY(dirichlet, logpdf),
                         COTAN_ENTRY(dirichlet, pdf),
                         COTAN_ENTRY(multivariate_normal, logpdf),
                         COTAN_ENTRY(multivariate_normal, pdf),
                         COTAN_ENTRY(bernoulli, cdf),
                         COTAN_ENTRY(bernoulli, ppf),
                         COTAN_COUNTS(bernoulli, logpmf),
                         COTAN_COUNTS(bernoulli, pmf),
                         COTAN_COUNTS(binom, logpmf),
                         COTAN_COUNTS(binom, pmf),
                         COTAN_COUNTS(betabinom, logpmf),
                         COTAN_COUNTS(betabinom, pmf),
                         COTAN_COUNTS(geom, logpmf),
                         COTAN_COUNTS(geom, pmf),
                         COTAN_COUNTS(nbinom, logpmf),
                         COTAN_COUNTS(nbinom, pmf),
                         COTAN_COUNTS(poisson, logpmf),
                         COTAN_COUNTS(poisson, pmf),
                         COTAN_COUNTS(poisson, cdf),
                         COTAN_COUNTS(poisson, entropy),
                         COTAN_COUNTS(multinomial, logpmf),
                         COTAN_COUNTS(multinomial, pmf)};

std::optional<int> axis_of(const Params& p, std::optional<int> otherwise) {
  return p.is_null("axis") ? std::nullopt : p.has("axis") ? std::optional(p.axis()) : otherwise;
}
st::gaussian_kde estimate(const Array& samples, const Params& p, const std::optional<Array>& weights = std::nullopt) {
  if (!p.has("bw_method")) return st::gaussian_kde(samples, {}, weights);
  if (p["bw_method"].is_number()) return st::gaussian_kde(samples, p.real("bw_method"), weights);
  return st::gaussian_kde(samples, p.text("bw_method"), weights);
}

}  // namespace

void add_stats_ops(OpTable& t) {
  for (const Entry& e : entries) t[e.name] = adapted(e);
  t["stats.mode"] = [](Args x, const Params& p) {
    const auto [mode, count] = st::mode(x[0], axis_of(p, 0), p.flag("keepdims"));
    return Arrays{mode, count};
  };
  t["stats.rankdata"] = one([](Args x, const Params& p) {
    return st::rankdata(x[0], p.text("method", "average"), axis_of(p, std::nullopt));
  });
  t["stats.sem"] = one([](Args x, const Params& p) {
    return st::sem(x[0], axis_of(p, 0), p.axis("ddof", 1), p.text("nan_policy", "propagate"), p.flag("keepdims"));
  });
  const std::string kde = "stats.gaussian_kde.";
  t[kde + "evaluate"] = one([](Args x, const Params& p) { return estimate(x[0], p)(x[1]); });
  t[kde + "evaluate_weighted"] = one([](Args x, const Params& p) { return estimate(x[0], p, x[1])(x[2]); });
  t[kde + "logpdf"] = one([](Args x, const Params& p) { return estimate(x[0], p).logpdf(x[1]); });
  t[kde + "integrate_gaussian"] =
      one([](Args x, const Params& p) { return estimate(x[0], p).integrate_gaussian(x[1], x[2]); });
  t[kde + "integrate_box_1d"] =
      one([](Args x, const Params& p) { return estimate(x[0], p).integrate_box_1d(x[1], x[2]); });
  t[kde + "integrate_kde"] =
      one([](Args x, const Params& p) { return estimate(x[0], p).integrate_kde(estimate(x[1], p)); });
  t[kde + "resample"] = one([](Args x, const Params& p) { return estimate(x[0], p).resample(x[1], p.shape()); });
}

}  // namespace cases
