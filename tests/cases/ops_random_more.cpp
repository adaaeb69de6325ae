// jax.random beyond the basic samplers.
#include <cotan/cotan.hpp>

#include "cases/case_ops.hpp"

namespace cases {

namespace r = cotan::random;
using cotan::ArrayLike;
using MaybeShape = std::optional<cotan::Shape>;

namespace {

r::Mode mode_of(const Params& p) {
  const std::string mode = p.text("mode", "low");
  return mode == "low" ? r::Mode::low : mode == "high" ? r::Mode::high : r::Mode::highest;
}
r::CovarianceRoot root_of(const Params& p) {
  const std::string method = p.text("method", "cholesky");
  return method == "cholesky" ? r::CovarianceRoot::cholesky
         : method == "eigh"   ? r::CovarianceRoot::eigh
                              : r::CovarianceRoot::svd;
}

void add_of_shape(OpTable& t) {
  using Sampler = Array (*)(const ArrayLike&, const cotan::Shape&, DType);
  const std::pair<const char*, Sampler> samplers[] = {
      {"maxwell", r::maxwell}, {"logistic", r::logistic}, {"cauchy", r::cauchy}, {"rademacher", r::rademacher}};
  for (const auto& [name, f] : samplers)
    t[std::string("random.") + name] = one([f = f](Args x, const Params& p) { return f(x[0], p.shape(), p.dtype()); });
}

void add_of_parameters(OpTable& t) {
  using One = Array (*)(const ArrayLike&, const ArrayLike&, const MaybeShape&, DType);
  const std::pair<const char*, One> one_parameter[] = {
      {"lognormal", r::lognormal}, {"rayleigh", r::rayleigh},   {"wald", r::wald},
      {"pareto", r::pareto},       {"gamma", r::gamma},         {"loggamma", r::loggamma},
      {"dirichlet", r::dirichlet}, {"chisquare", r::chisquare}, {"t", r::t},
      {"geometric", r::geometric}, {"poisson", r::poisson}};
  for (const auto& [name, f] : one_parameter)
    t[std::string("random.") + name] =
        one([f = f](Args x, const Params& p) { return f(x[0], x[1], p.maybe_shape(), p.dtype()); });
  using Two = Array (*)(const ArrayLike&, const ArrayLike&, const ArrayLike&, const MaybeShape&, DType);
  const std::pair<const char*, Two> two_parameters[] = {{"beta", r::beta}, {"f", r::f}, {"binomial", r::binomial}};
  for (const auto& [name, f] : two_parameters)
    t[std::string("random.") + name] =
        one([f = f](Args x, const Params& p) { return f(x[0], x[1], x[2], p.maybe_shape(), p.dtype()); });
  using Scaled = Array (*)(const ArrayLike&, const ArrayLike&, const ArrayLike&, const cotan::Shape&, DType);
  const std::pair<const char*, Scaled> scaled[] = {{"double_sided_maxwell", r::double_sided_maxwell},
                                                   {"weibull_min", r::weibull_min}};
  for (const auto& [name, f] : scaled)
    t[std::string("random.") + name] =
        one([f = f](Args x, const Params& p) { return f(x[0], x[1], x[2], p.shape(), p.dtype()); });
}

void add_rest(OpTable& t) {
  t["random.PRNGKey"] = one([](Args x, const Params&) { return r::PRNGKey(x[0]); });
  t["random.split_shape"] = one([](Args x, const Params& p) { return r::split(x[0], p.shape("num")); });
  t["random.triangular"] =
      one([](Args x, const Params& p) { return r::triangular(x[0], x[1], x[2], x[3], p.maybe_shape(), p.dtype()); });
  t["random.generalized_normal"] =
      one([](Args x, const Params& p) { return r::generalized_normal(x[0], x[1], p.shape(), p.dtype()); });
  t["random.ball"] =
      one([](Args x, const Params& p) { return r::ball(x[0], p.integer("d"), x[1], p.shape(), p.dtype()); });
  t["random.multinomial"] = one([](Args x, const Params& p) {
    return r::multinomial(x[0], x[1], x[2], {.shape = p.maybe_shape(), .dtype = p.dtype()});
  });
  t["random.multivariate_normal"] = one([](Args x, const Params& p) {
    return r::multivariate_normal(x[0], x[1], x[2], p.maybe_shape(), p.dtype(), root_of(p));
  });
  t["random.orthogonal"] = one([](Args x, const Params& p) {
    const auto m = p.has("m") ? std::optional(p.integer("m")) : std::nullopt;
    return r::orthogonal(x[0], p.integer("n"), p.shape(), p.dtype(), m);
  });
  t["random.choice"] = one([](Args x, const Params& p) {
    r::ChoiceOptions options{.replace = p.flag("replace", true), .axis = p.axis("axis", 0), .mode = mode_of(p)};
    if (p.flag("probabilities")) options.p = x.back();
    return p.has("n") ? r::choice(x[0], p.integer("n"), p.shape(), options) : r::choice(x[0], x[1], p.shape(), options);
  });
  t["random.categorical_once"] = one([](Args x, const Params& p) {
    return r::categorical(x[0], x[1], p.axis("axis", -1), p.maybe_shape(), false, mode_of(p));
  });
  t["random.categorical_mode"] =
      one([](Args x, const Params& p) { return r::categorical(x[0], x[1], -1, p.maybe_shape(), true, mode_of(p)); });
  t["random.permutation_independent"] =
      one([](Args x, const Params& p) { return r::permutation(x[0], x[1], p.axis(), true); });
  t["random.gumbel_mode"] =
      one([](Args x, const Params& p) { return r::gumbel(x[0], p.shape(), p.dtype(), mode_of(p)); });
  t["random.bernoulli_mode"] =
      one([](Args x, const Params& p) { return r::bernoulli(x[0], x[1], p.maybe_shape(), mode_of(p)); });
}

}  // namespace

void add_more_random_ops(OpTable& t) {
  add_of_shape(t);
  add_of_parameters(t);
  add_rest(t);
}

}  // namespace cases
