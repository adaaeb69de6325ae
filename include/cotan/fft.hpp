// cotan::fft: discrete Fourier transforms, with the names and the meaning of numpy.fft. There are no complex dtypes: a
// complex array is a pair of real ones. Any length is transformed in O(n log n).
#pragma once
#include <cotan/array.hpp>
#include <optional>
#include <string_view>

/// `jax.numpy.fft` on pairs of real arrays, since there are no complex dtypes. Lengths may be any; real numbers and
/// pairs of them are taken alike. f32 and f64; others become f32.
///
///     auto [re, im] = ct::fft::rfft(x);          // along the last axis
///     ct::Array y = ct::fft::irfft({re, im});
namespace cotan::fft {

/// A complex array: real and imaginary parts of one shape and dtype. A plain struct, so it is a pytree.
struct Complex {
  Array re, im;
};
/// re + 0 i; integers become floats.
Complex complex(const ArrayLike& re);
/// re + im i, of a common shape and dtype.
Complex complex(const ArrayLike& re, const ArrayLike& im);

Complex operator+(const Complex& a, const Complex& b);    ///< a + b
Complex operator-(const Complex& a, const Complex& b);    ///< a - b
Complex operator*(const Complex& a, const Complex& b);    ///< a b
Complex operator-(const Complex& a);                      ///< -a
Complex operator*(const Complex& a, const ArrayLike& b);  ///< a b, b real
Complex operator*(const ArrayLike& a, const Complex& b);  ///< a b, a real
Complex conj(const Complex& a);                           ///< re - im i
Array abs(const Complex& a);                              ///< √(re² + im²)
Array angle(const Complex& a);                            ///< the angle, in [-π, π]

/// What transforms take: a Complex, its parts {re, im}, or an Array of real numbers.
class ComplexLike {
 public:
  ComplexLike(const Complex& a, std::source_location where = COTAN_HERE) : value_(a), site_(where, &value_.re) {}
  ComplexLike(const Array& re, const Array& im, std::source_location where = COTAN_HERE)
      : value_{re, im}, site_(where, &value_.re) {}
  ComplexLike(const ArrayLike& re) : value_{re.array(), Array()}, site_({}) {}
  ComplexLike(const Array& re, std::source_location where = COTAN_HERE)
      : value_{re, Array()}, site_(where, &value_.re) {}
  /// `im` is undefined where all numbers are real.
  const Complex& value() const { return value_; }

 private:
  Complex value_;
  detail::CallSite site_;
};

/// Of a transform along one axis.
struct Options {
  std::optional<std::int64_t> n =
      std::nullopt;  ///< the length to crop or pad with zeros to; of real results: their length
  int axis = -1;
  std::string_view norm =
      "backward";  ///< what is divided by n: "backward" the inverse, "forward" the other, "ortho" both by sqrt(n)
};
/// Of a transform along several axes.
struct AxesOptions {
  Shape s = {};    ///< lengths along the axes, as `n`; empty: as they are
  Axes axes = {};  ///< by default all, or the last ones of which `s` has lengths; of fft2 and its kind the last two
  std::string_view norm = "backward";
};

/// X[k] = sum_j x[j] exp(-2 pi i j k / n) along an axis.
Complex fft(const ComplexLike& a, const Options& options = {});
/// The inverse: x[j] = 1/n sum_k X[k] exp(2 pi i j k / n).
Complex ifft(const ComplexLike& a, const Options& options = {});
/// fft of real numbers: the n / 2 + 1 results that are not conjugates of others.
Complex rfft(const ArrayLike& a, const Options& options = {});
/// Its inverse, real; of length 2 (m - 1) unless `n` is given, where m results are there.
Array irfft(const ComplexLike& a, const Options& options = {});
/// fft of numbers whose transform is real, given by their first half; of length 2 (m - 1) unless `n` is given.
Array hfft(const ComplexLike& a, const Options& options = {});
/// Its inverse.
Complex ihfft(const ArrayLike& a, const Options& options = {});

/// fft along the last two axes, or two others.
Complex fft2(const ComplexLike& a, const AxesOptions& options = {});
/// Its inverse.
Complex ifft2(const ComplexLike& a, const AxesOptions& options = {});
/// rfft along the last of two axes, then fft along the other.
Complex rfft2(const ArrayLike& a, const AxesOptions& options = {});
/// Its inverse.
Array irfft2(const ComplexLike& a, const AxesOptions& options = {});
/// fft along all axes, or those given.
Complex fftn(const ComplexLike& a, const AxesOptions& options = {});
/// Its inverse.
Complex ifftn(const ComplexLike& a, const AxesOptions& options = {});
/// fftn of real numbers; the last of the axes is the one that is halved.
Complex rfftn(const ArrayLike& a, const AxesOptions& options = {});
/// Its inverse.
Array irfftn(const ComplexLike& a, const AxesOptions& options = {});

/// Frequencies of the results in cycles per unit, where samples are `d` apart: 0, 1, …, -1 over n d.
Array fftfreq(std::int64_t n, double d = 1, DType dtype = f32);
/// Frequencies of the results of rfft: 0, 1, … n / 2 over n d.
Array rfftfreq(std::int64_t n, double d = 1, DType dtype = f32);
/// Frequency 0 to the middle, along axes or all of them.
Array fftshift(const ArrayLike& a, const Axes& axes = {});
/// The same of complex numbers.
Complex fftshift(const Complex& a, const Axes& axes = {});
/// The inverse of fftshift.
Array ifftshift(const ArrayLike& a, const Axes& axes = {});
/// The same of complex numbers.
Complex ifftshift(const Complex& a, const Axes& axes = {});

}  // namespace cotan::fft
