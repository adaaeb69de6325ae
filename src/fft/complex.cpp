// Complex arithmetic on pairs of arrays: real and imaginary parts.
#include <cotan/fft.hpp>
#include <cotan/numpy.hpp>

#include "ops/ops.hpp"
#include "ops/promote.hpp"

namespace cotan::fft {

namespace np = numpy;

Complex complex(const ArrayLike& re) {
  const Array x = np::cast_to(re, np::inexact_result_type({&re.array(), 1}));
  return {x, ops::zeros_like(x)};
}
Complex complex(const ArrayLike& re, const ArrayLike& im) {
  const Arrays x = np::promote_inexact("complex", {re, im});
  const Shape shape = np::broadcast_shapes("complex", x);
  return {ops::broadcast_to(x[0], shape), ops::broadcast_to(x[1], shape)};
}

Complex operator+(const Complex& a, const Complex& b) { return {a.re + b.re, a.im + b.im}; }
Complex operator-(const Complex& a, const Complex& b) { return {a.re - b.re, a.im - b.im}; }
Complex operator*(const Complex& a, const Complex& b) { return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re}; }
Complex operator-(const Complex& a) { return {-a.re, -a.im}; }
Complex operator*(const Complex& a, const ArrayLike& b) { return {a.re * b, a.im * b}; }
Complex operator*(const ArrayLike& a, const Complex& b) { return b * a; }
Complex conj(const Complex& a) { return {a.re, -a.im}; }
Array abs(const Complex& a) { return np::hypot(a.re, a.im); }
Array angle(const Complex& a) { return np::arctan2(a.im, a.re); }

}  // namespace cotan::fft
