// cotan::lax over the special functions.
#include "special/special.hpp"

#include <cotan/lax.hpp>

#include "core/error.hpp"
#include "ops/ops.hpp"
#include "ops/promote.hpp"

namespace cotan::lax {

namespace {

Array call(const Primitive& p, std::initializer_list<Array> x) { return bind1(p, numpy::promote_inexact(p.name, x)); }

}  // namespace

Array igamma(const ArrayLike& a, const ArrayLike& x) { return call(special::igamma_p, {a, x}); }
Array igammac(const ArrayLike& a, const ArrayLike& x) { return call(special::igammac_p, {a, x}); }
Array igamma_grad_a(const ArrayLike& a, const ArrayLike& x) { return call(special::igamma_grad_a_p, {a, x}); }
Array random_gamma_grad(const ArrayLike& a, const ArrayLike& x) { return call(special::random_gamma_grad_p, {a, x}); }
Array betainc(const ArrayLike& a, const ArrayLike& b, const ArrayLike& x) {
  return call(special::betainc_p, {a, b, x});
}
Array bessel_i0e(const ArrayLike& x) { return call(special::bessel_i0e_p, {x}); }
Array bessel_i1e(const ArrayLike& x) { return call(special::bessel_i1e_p, {x}); }
Array zeta(const ArrayLike& x, const ArrayLike& q) { return call(special::zeta_p, {x, q}); }
Array polygamma(const Array& m, const ArrayLike& a) {
  if (!is_floating(m.dtype()))
    raise<TypeError>("[polygamma] the order is {}; cast it to a float with astype.", m.dtype());
  return call(special::polygamma_of_p, {m, a});
}

}  // namespace cotan::lax
