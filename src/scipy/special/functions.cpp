// Special functions that are one primitive each, in a table.
#include <cotan/lax.hpp>
#include <cotan/numpy.hpp>
#include <cotan/scipy/special.hpp>

#include "core/error.hpp"
#include "ops/promote.hpp"
#include "special/special.hpp"

namespace cotan::scipy::special {

namespace own = cotan::special;

namespace {

Array call(const Primitive& p, std::initializer_list<Array> x) { return bind1(p, numpy::promote_inexact(p.name, x)); }
/// As JAX's, only for these two.
const Array& single_or_double(std::string_view name, const Array& x) {
  if (x.dtype() != f32 && x.dtype() != f64)
    raise<TypeError>("[{}] needs f32 or f64, got {}; cast with astype.", name, x.dtype());
  return x;
}

}  // namespace

#define COTAN_OF_1(name, primitive) \
  Array name(const ArrayLike& x) { return call(primitive, {x}); }
#define COTAN_OF_2(name, primitive) \
  Array name(const ArrayLike& x, const ArrayLike& y) { return call(primitive, {x, y}); }

COTAN_OF_1(erfcx, own::erfcx_p)
COTAN_OF_1(dawsn, own::dawsn_p)
COTAN_OF_1(i0e, own::bessel_i0e_p)
COTAN_OF_1(i1e, own::bessel_i1e_p)
COTAN_OF_1(expi, own::expi_p)
COTAN_OF_1(exp1, own::exp1_p)
COTAN_OF_1(entr, own::entr_p)
COTAN_OF_1(logit, own::logit_p)
COTAN_OF_2(zeta, own::zeta_p)
COTAN_OF_2(gammainc, own::igamma_p)
COTAN_OF_2(gammaincc, own::igammac_p)
COTAN_OF_2(owens_t, own::owens_t_p)
COTAN_OF_2(expn, own::expn_p)
COTAN_OF_2(xlogy, own::xlogy_p)
COTAN_OF_2(xlog1py, own::xlog1py_p)
COTAN_OF_2(poch, own::poch_p)

#undef COTAN_OF_1
#undef COTAN_OF_2

Array ndtri(const ArrayLike& p) { return call(own::ndtri_p, {single_or_double("ndtri", p)}); }
Array log_ndtr(const ArrayLike& x) { return call(own::log_ndtr_p, {single_or_double("log_ndtr", x)}); }
Array spence(const ArrayLike& x) { return call(own::spence_p, {single_or_double("spence", x)}); }
Array ndtr(const ArrayLike& x) { return 0.5 * lax::erfc(single_or_double("ndtr", x) * -std::numbers::sqrt2 * 0.5); }

Array betainc(const ArrayLike& a, const ArrayLike& b, const ArrayLike& x) { return call(own::betainc_p, {a, b, x}); }
Array hyp1f1(const ArrayLike& a, const ArrayLike& b, const ArrayLike& x) { return call(own::hyp1f1_p, {a, b, x}); }
Array hyp2f1(const ArrayLike& a, const ArrayLike& b, const ArrayLike& c, const ArrayLike& x) {
  return call(own::hyp2f1_p, {a, b, c, x});
}
std::pair<Array, Array> sici(const ArrayLike& x) { return {call(own::si_p, {x}), call(own::ci_p, {x})}; }
std::pair<Array, Array> fresnel(const ArrayLike& x) {
  return {call(own::fresnel_s_p, {x}), call(own::fresnel_c_p, {x})};
}

Array polygamma(int n, const ArrayLike& x) {
  // From there on n! is no number of any width, and a recurrence of n steps would find that out slowly.
  constexpr int overflows = 1700;
  return n < overflows ? lax::polygamma(n, x) : call(own::polygamma_of_p, {Array(n), x});
}
Array polygamma(const Array& n, const ArrayLike& x) {
  if (!is_integer(n.dtype()))
    raise<ValueError>("[polygamma] the order is {}; give integers, a derivative is taken so many times.", n.dtype());
  return call(own::polygamma_of_p, {n, x});
}

}  // namespace cotan::scipy::special
