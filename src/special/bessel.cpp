// Modified Bessel functions I0 and I1, exponentially scaled.
#include <cotan/numpy.hpp>

#include "special/chebyshev.hpp"
#include "special/compose.hpp"
#include "special/special.hpp"

namespace cotan::special {

namespace np = numpy;

namespace {

Array scaled(const Array& a, const Series& near, const Series& far, bool odd) {
  const Array large = a > 8.0, safe = np::where(large, a, 8.0);
  const Array inside = chebyshev(near, np::where(large, 8.0, a) * 0.25 - 1.0);
  return np::where(large, chebyshev(far, 16.0 / safe - 1.0) / np::sqrt(safe), odd ? a * inside : inside);
}
Array bessel_i0e(Operands x) { return scaled(np::abs(x[0]), tables::i0e_near, tables::i0e_far, false); }
Array bessel_i1e(Operands x) {
  const Array value = scaled(np::abs(x[0]), tables::i1e_near, tables::i1e_far, true);
  return np::copysign(value, x[0]);
}

}  // namespace

const Primitive bessel_i0e_p = composed<bessel_i0e>(
    "bessel_i0e", {[](const Partial& p) { return p.t * (bind1(bessel_i1e_p, p.x) - np::sign(p.x[0]) * p.y); }});
const Primitive bessel_i1e_p =
    composed<bessel_i1e>("bessel_i1e", {[](const Partial& p) {
                           const Array& x = p.x[0];
                           const Array tiny = np::abs(x) < 1e-7, safe = np::where(tiny, 1.0, x);
                           const Array ratio = np::where(tiny, 0.5 - 0.5 * np::abs(x), p.y / safe);
                           return p.t * (bind1(bessel_i0e_p, p.x) - np::sign(x) * p.y - ratio);
                         }});

}  // namespace cotan::special
