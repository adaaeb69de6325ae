// Transforms along one axis, after all checks, without scale. For all files of cotan::fft.
#pragma once
#include <complex>
#include <cotan/fft.hpp>
#include <functional>
#include <memory>
#include <vector>

namespace cotan::fft {

/// Real and imaginary parts, of one shape and dtype: what transforms are computed on.
struct Complex {
  Array re, im;
};
inline Complex operator+(const Complex& a, const Complex& b) { return {a.re + b.re, a.im + b.im}; }
inline Complex operator-(const Complex& a, const Complex& b) { return {a.re - b.re, a.im - b.im}; }
inline Complex operator-(const Complex& a) { return {-a.re, -a.im}; }
inline Complex operator*(const Complex& a, const Complex& b) {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}
inline Complex conj(const Complex& a) { return {a.re, -a.im}; }

/// X[k] = sum_j x[j] exp(-2 pi i j k / n) along an axis.
Complex transform(const Complex& a, int axis);
/// The same with exp(+2 pi i j k / n).
inline Complex inverse_transform(const Complex& a, int axis) {
  const Complex y = transform({a.im, a.re}, axis);
  return {y.im, y.re};
}
/// By a convolution with a chirp (Bluestein), which is transforms of a length with small factors.
Complex chirp_transform(const Complex& a, int axis);
/// The first n / 2 + 1 results for real numbers, times a scale.
Complex real_transform(const Array& a, int axis, double scale);
/// n real results from the first n / 2 + 1 numbers, with exp(+2 pi i j k / n).
Array real_inverse_transform(const Complex& a, std::int64_t n, int axis);

/// Tables in double, kept on the host: an array on a device is made of them when a program is traced.
using HostTable = std::shared_ptr<const std::vector<double>>;
enum class TableKind { stages, chirp, chirp_filter, coarse_roots, fine_roots };
HostTable cached_table(TableKind kind, std::int64_t n, const std::function<std::vector<double>()>& make);
Array constant(const HostTable& table, const Shape& shape, DType dtype);
/// exp(-2 pi i k / n) along an axis of the shape, which has at most n / 2 + 1 elements.
Complex roots(std::int64_t n, const Shape& shape, int axis, DType dtype);

}  // namespace cotan::fft
