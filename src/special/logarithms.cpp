// Logarithms times what may be zero, and quotients of gamma functions, with derivatives that are finite where they are.
#include <cotan/lax.hpp>
#include <cotan/numpy.hpp>
#include <cotan/scipy/special.hpp>

#include "special/compose.hpp"
#include "special/special.hpp"

namespace cotan::special {

namespace np = numpy;

namespace {

Array unless_zero(const Array& x, const Array& y, const Array& product) {
  return np::where((x != 0.0) | np::isnan(y), product, 0.0);
}
Array xlogy(Operands x) { return unless_zero(x[0], x[1], x[0] * np::log(x[1])); }
Array xlog1py(Operands x) { return unless_zero(x[0], x[1], x[0] * np::log1p(x[1])); }
Array entr(Operands x) { return np::where(x[0] < 0.0, -np::inf, -unless_zero(x[0], x[0], x[0] * np::log(x[0]))); }
Array logit(Operands x) { return np::log(x[0] / (1.0 - x[0])); }
Array poch(Operands x) {
  namespace sp = scipy::special;
  return np::where(x[1] == 0.0, 1.0, sp::gamma(x[0] + x[1]) / sp::gamma(x[0]));
}

}  // namespace

const Primitive xlogy_p = composed<xlogy>("xlogy", {[](const Partial& p) { return p.t * np::log(p.x[1]); },
                                                    [](const Partial& p) { return p.t * p.x[0] / p.x[1]; }});
const Primitive xlog1py_p =
    composed<xlog1py>("xlog1py", {[](const Partial& p) { return p.t * np::log1p(p.x[1]); },
                                  [](const Partial& p) { return p.t * p.x[0] / (p.x[1] + 1.0); }});
const Primitive entr_p = composed<entr>("entr", {[](const Partial& p) {
                                          const Array slope = -(np::log(p.x[0]) + 1.0);
                                          return p.t * np::where(p.x[0] < 0.0, 0.0, slope);
                                        }});
const Primitive logit_p = composed<logit>("logit", {[](const Partial& p) { return p.t / (p.x[0] * (1.0 - p.x[0])); }});
const Primitive poch_p = composed<poch>(
    "poch", {[](const Partial& p) { return p.t * (p.y * (lax::digamma(p.x[0] + p.x[1]) - lax::digamma(p.x[0]))); },
             [](const Partial& p) { return p.t * (p.y * lax::digamma(p.x[0] + p.x[1])); }});

}  // namespace cotan::special
