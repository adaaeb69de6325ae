#include "random/draws.hpp"

namespace draws {

namespace {

namespace r = cotan::random;
namespace np = cotan::numpy;
using namespace cotan;

Array as(double x, DType d) { return np::full({}, x, d); }
Array list(std::initializer_list<double> x, DType d) { return Array::from_host(std::vector<double>(x)).astype(d); }
Shape quarter(const Shape& s) { return {s[0] / 4}; }

std::map<std::string, Draw> by_inversion() {
  return {
      {"exponential", [](auto& k, auto& s, DType d) { return r::exponential(k, s, d); }},
      {"gumbel", [](auto& k, auto& s, DType d) { return r::gumbel(k, s, d); }},
      {"gumbel_high", [](auto& k, auto& s, DType d) { return r::gumbel(k, s, d, r::Mode::high); }},
      {"gumbel_highest", [](auto& k, auto& s, DType d) { return r::gumbel(k, s, d, r::Mode::highest); }},
      {"laplace", [](auto& k, auto& s, DType d) { return r::laplace(k, s, d); }},
      {"logistic", [](auto& k, auto& s, DType d) { return r::logistic(k, s, d); }},
      {"cauchy", [](auto& k, auto& s, DType d) { return r::cauchy(k, s, d); }},
      {"pareto", [](auto& k, auto& s, DType d) { return r::pareto(k, as(2.5, d), s, d); }},
      {"weibull_min", [](auto& k, auto& s, DType d) { return r::weibull_min(k, as(1.5, d), as(2.5, d), s, d); }},
      {"triangular", [](auto& k, auto& s, DType d) { return r::triangular(k, as(-1, d), as(0.5, d), as(2, d), s, d); }},
  };
}

std::map<std::string, Draw> of_normal_numbers() {
  return {
      {"uniform", [](auto& k, auto& s, DType d) { return r::uniform(k, s, d, -2, 5); }},
      {"normal", [](auto& k, auto& s, DType d) { return r::normal(k, s, d); }},
      {"truncated_normal", [](auto& k, auto& s, DType d) { return r::truncated_normal(k, -1, 2, s, d); }},
      {"lognormal", [](auto& k, auto& s, DType d) { return r::lognormal(k, as(0.75, d), s, d); }},
      {"maxwell", [](auto& k, auto& s, DType d) { return r::maxwell(k, s, d); }},
      {"double_sided_maxwell",
       [](auto& k, auto& s, DType d) { return r::double_sided_maxwell(k, as(0.5, d), as(1.7, d), s, d); }},
      {"rayleigh", [](auto& k, auto& s, DType d) { return r::rayleigh(k, as(1.7, d), s, d); }},
      {"wald", [](auto& k, auto& s, DType d) { return r::wald(k, as(1.7, d), s, d); }},
  };
}

std::map<std::string, Draw> of_gamma_variates() {
  return {
      {"gamma", [](auto& k, auto& s, DType d) { return r::gamma(k, as(2.5, d), s, d); }},
      {"gamma_small", [](auto& k, auto& s, DType d) { return r::gamma(k, as(0.3, d), s, d); }},
      {"loggamma", [](auto& k, auto& s, DType d) { return r::loggamma(k, as(0.3, d), s, d); }},
      {"beta", [](auto& k, auto& s, DType d) { return r::beta(k, as(0.5, d), as(2.5, d), s, d); }},
      {"dirichlet", [](auto& k, auto& s, DType d) { return r::dirichlet(k, list({0.5, 1, 2, 4}, d), quarter(s), d); }},
      {"chisquare", [](auto& k, auto& s, DType d) { return r::chisquare(k, as(3, d), s, d); }},
      {"f", [](auto& k, auto& s, DType d) { return r::f(k, as(3, d), as(7, d), s, d); }},
      {"t", [](auto& k, auto& s, DType d) { return r::t(k, as(3.5, d), s, d); }},
      {"generalized_normal", [](auto& k, auto& s, DType d) { return r::generalized_normal(k, as(1.5, d), s, d); }},
      {"ball", [](auto& k, auto& s, DType d) { return r::ball(k, 4, 2.0, quarter(s), d); }},
  };
}

std::map<std::string, Draw> of_integers() {
  return {
      {"bernoulli", [](auto& k, auto& s, DType d) { return r::bernoulli(k, as(0.3, d), s); }},
      {"bernoulli_high", [](auto& k, auto& s, DType d) { return r::bernoulli(k, as(0.3, d), s, r::Mode::high); }},
      {"rademacher", [](auto& k, auto& s, DType d) { return r::rademacher(k, s, d); }},
      {"randint", [](auto& k, auto& s, DType d) { return r::randint(k, s, 3, 100, d); }},
      {"bits", [](auto& k, auto& s, DType d) { return r::bits(k, s, d); }},
      {"geometric", [](auto& k, auto& s, DType d) { return r::geometric(k, 0.2, s, d); }},
      {"geometric_f64", [](auto& k, auto& s, DType d) { return r::geometric(k, as(0.2, f64), s, d); }},
      {"poisson_small", [](auto& k, auto& s, DType d) { return r::poisson(k, 3.5, s, d); }},
      {"poisson_large", [](auto& k, auto& s, DType d) { return r::poisson(k, 42.5, s, d); }},
      {"binomial_small", [](auto& k, auto& s, DType d) { return r::binomial(k, 12, as(0.3, d), s, d); }},
      {"binomial_large", [](auto& k, auto& s, DType d) { return r::binomial(k, 90, as(0.6, d), s, d); }},
      {"multinomial",
       [](auto& k, auto& s, DType d) {
         const Array p = list({0.125, 0.5, 0.25, 0.125}, d);
         return r::multinomial(k, as(40, d), p, {.shape = Shape{s[0] / 4, 4}, .dtype = d});
       }},
  };
}

std::map<std::string, Draw> of_what_is_given() {
  return {
      {"categorical", [](auto& k, auto& s, DType d) { return r::categorical(k, list({0.5, -1, 1, 0}, d), -1, s); }},
      {"categorical_high",
       [](auto& k, auto& s, DType d) {
         return r::categorical(k, list({0.5, -1, 1, 0}, d), -1, s, true, r::Mode::high);
       }},
      {"permutation", [](auto& k, auto& s, DType d) { return r::permutation(k, np::arange(s[0]).astype(d)); }},
      {"permutation_independent",
       [](auto& k, auto& s, DType d) {
         return r::permutation(k, np::reshape(np::arange(s[0]).astype(d), {-1, 100}), 1, true);
       }},
      {"choice", [](auto& k, auto& s, DType) { return r::choice(k, 1000, s); }},
      {"choice_p",
       [](auto& k, auto& s, DType d) { return r::choice(k, 4, s, {.p = list({0.125, 0.5, 0.25, 0.125}, d)}); }},
      {"choice_once", [](auto& k, auto& s, DType) { return r::choice(k, s[0], {s[0] / 2}, {.replace = false}); }},
  };
}

}  // namespace

const std::map<std::string, Draw>& all() {
  static const std::map<std::string, Draw> draws = [] {
    std::map<std::string, Draw> out;
    for (auto& part : {by_inversion(), of_normal_numbers(), of_gamma_variates(), of_integers(), of_what_is_given()})
      out.insert(part.begin(), part.end());
    return out;
  }();
  return draws;
}

}  // namespace draws
