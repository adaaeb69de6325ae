// NumPy's functions of complex numbers.
#include <cotan/lax.hpp>
#include <cotan/linalg.hpp>
#include <cotan/numpy.hpp>
#include <cotan/numpy/complex.hpp>

#include "ops/ops.hpp"
#include "ops/promote.hpp"

namespace cotan {

namespace numpy {

Array real(const ArrayLike& a) { return ops::real(a); }
Array imag(const ArrayLike& a) { return ops::imag(a); }
Array conj(const ArrayLike& a) { return ops::conj(a); }
Array conjugate(const ArrayLike& a) { return ops::conj(a); }
Array angle(const ArrayLike& a, bool deg) {
  const Array x = cast_to(a, inexact_result_type({&a.array(), 1}));
  const Array turned = arctan2(ops::imag(x), ops::real(x));
  return deg ? rad2deg(turned) : turned;
}
Array iscomplex(const ArrayLike& a) { return ops::imag(a) != 0; }
Array isreal(const ArrayLike& a) { return ops::imag(a) == 0; }
bool iscomplexobj(const ArrayLike& a) { return is_complex(a->dtype()); }
bool isrealobj(const ArrayLike& a) { return !is_complex(a->dtype()); }
Array sort_complex(const ArrayLike& a) {
  const Array sorted = sort(a, -1);
  return is_complex(sorted.dtype()) ? sorted : ops::cast(sorted, complex_dtype(sorted.dtype()));
}

Array roots(const ArrayLike& p) {
  const Array x = cast_to(p, inexact_result_type({&p.array(), 1}));
  if (x.ndim() != 1 || x.size() == 0)
    raise<ShapeError>("[roots] the coefficients are {}; give a vector of at least one.", x.aval());
  const std::int64_t n = x.size() - 1;
  if (n == 0) return zeros({0}, complex_dtype(x.dtype()));
  const Array top = ops::slice_axis(x, 0, 1, n + 1) / -ops::slice_axis(x, 0, 0, 1);
  const Array below = eye(n - 1, n, 0, x.dtype());
  return linalg::eigvals(n == 1 ? ops::reshape(top, {1, 1}) : concatenate({ops::reshape(top, {1, n}), below}, 0));
}

}  // namespace numpy

namespace lax {

Array complex(const ArrayLike& re, const ArrayLike& im) {
  Arrays x = numpy::promote("complex", {re, im});
  return ops::complex(x[0], x[1]);
}
Array real(const ArrayLike& a) { return bind1(ops::real_p, {a.array()}); }
Array imag(const ArrayLike& a) { return bind1(ops::imag_p, {a.array()}); }
Array conj(const ArrayLike& a) {
  return is_complex(a->dtype()) ? ops::conj(a) : ops::conj(ops::cast(a, complex_dtype(a->dtype())));
}

}  // namespace lax

}  // namespace cotan
