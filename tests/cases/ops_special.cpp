// scipy.special, and lax's special functions.
#include <cotan/cotan.hpp>

#include "cases/case_ops.hpp"

namespace cases {

namespace sp = cotan::scipy::special;
namespace lax = cotan::lax;
using cotan::ArrayLike;

namespace {

template <class... A>
OpFunction of(Array (*f)(const A&...)) {
  return [f](Args x, const Params&) {
    return [&]<std::size_t... i>(std::index_sequence<i...>) {
      return Arrays{f(x[i]...)};
    }(std::index_sequence_for<A...>{});
  };
}
OpFunction of(std::pair<Array, Array> (*f)(const ArrayLike&)) {
  return [f](Args x, const Params&) {
    const auto [a, b] = f(x[0]);
    return Arrays{a, b};
  };
}
using Of1 = Array (*)(const ArrayLike&);
using Of2 = Array (*)(const ArrayLike&, const ArrayLike&);
using Of3 = Array (*)(const ArrayLike&, const ArrayLike&, const ArrayLike&);

}  // namespace

void add_special_ops(OpTable& t) {
  const std::pair<const char*, Of1> unaries[] = {{"gamma", sp::gamma},
                                                 {"gammaln", sp::gammaln},
                                                 {"loggamma", sp::loggamma},
                                                 {"gammasgn", sp::gammasgn},
                                                 {"digamma", sp::digamma},
                                                 {"factorial", sp::factorial},
                                                 {"erf", sp::erf},
                                                 {"erfc", sp::erfc},
                                                 {"erfinv", sp::erfinv},
                                                 {"erfcx", sp::erfcx},
                                                 {"dawsn", sp::dawsn},
                                                 {"ndtr", sp::ndtr},
                                                 {"ndtri", sp::ndtri},
                                                 {"log_ndtr", sp::log_ndtr},
                                                 {"i0", sp::i0},
                                                 {"i0e", sp::i0e},
                                                 {"i1", sp::i1},
                                                 {"i1e", sp::i1e},
                                                 {"expi", sp::expi},
                                                 {"exp1", sp::exp1},
                                                 {"spence", sp::spence},
                                                 {"entr", sp::entr},
                                                 {"logit", sp::logit},
                                                 {"expit", sp::expit}};
  for (const auto& [name, f] : unaries) t[std::string("special.") + name] = of(f);
  const std::pair<const char*, Of2> binaries[] = {
      {"zeta", sp::zeta},        {"gammainc", sp::gammainc}, {"gammaincc", sp::gammaincc}, {"poch", sp::poch},
      {"beta", sp::beta},        {"betaln", sp::betaln},     {"owens_t", sp::owens_t},     {"xlogy", sp::xlogy},
      {"xlog1py", sp::xlog1py},  {"rel_entr", sp::rel_entr}, {"kl_div", sp::kl_div},       {"boxcox", sp::boxcox},
      {"boxcox1p", sp::boxcox1p}};
  for (const auto& [name, f] : binaries) t[std::string("special.") + name] = of(f);
  t["special.betainc"] = of(Of3(sp::betainc));
  t["special.hyp1f1"] = of(Of3(sp::hyp1f1));
  t["special.hyp2f1"] = of(sp::hyp2f1);
  t["special.sici"] = of(sp::sici);
  t["special.fresnel"] = of(sp::fresnel);
  t["special.polygamma"] = one([](Args x, const Params& p) {
    return p.has("n") ? sp::polygamma(p.axis("n"), x[0]) : sp::polygamma(x[0], x[1]);
  });
  t["special.multigammaln"] = one([](Args x, const Params& p) { return sp::multigammaln(x[0], p.axis("d")); });
  t["special.comb"] = one([](Args x, const Params& p) { return sp::comb(x[0], x[1], p.flag("repetition")); });
  t["special.bernoulli"] = one([](Args, const Params& p) { return sp::bernoulli(p.axis("n"), cotan::f64); });
  t["special.bessel_jn"] =
      one([](Args x, const Params& p) { return sp::bessel_jn(x[0], p.axis("v"), p.axis("n_iter", 50)); });
  t["special.expn"] = one([](Args x, const Params& p) { return sp::expn(p.axis("n"), x[0]); });
  t["special.softmax"] = one([](Args x, const Params& p) { return sp::softmax(x[0], p.axes()); });
  t["special.log_softmax"] = one([](Args x, const Params& p) { return sp::log_softmax(x[0], p.axes()); });
  t["special.logsumexp"] =
      one([](Args x, const Params& p) { return sp::logsumexp(x[0], p.axes(), p.flag("keepdims")); });

  const std::pair<const char*, Of2> of_lax[] = {{"lax.igamma", lax::igamma},
                                                {"lax.igammac", lax::igammac},
                                                {"lax.igamma_grad_a", lax::igamma_grad_a},
                                                {"lax.random_gamma_grad", lax::random_gamma_grad},
                                                {"lax.zeta", lax::zeta}};
  for (const auto& [name, f] : of_lax) t[name] = of(f);
  t["lax.betainc"] = of(Of3(lax::betainc));
  t["lax.bessel_i0e"] = of(lax::bessel_i0e);
  t["lax.bessel_i1e"] = of(lax::bessel_i1e);
  t["lax.polygamma_of"] = one([](Args x, const Params&) { return lax::polygamma(x[0], x[1]); });
}

}  // namespace cases
