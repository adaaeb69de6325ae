// cotan::fft: discrete Fourier transforms, with the names and the meaning of numpy.fft. There are no complex dtypes: a
// complex array is a pair of real ones. Any length is transformed in O(n log n).
#pragma once
#include <cotan/array.hpp>
#include <optional>
#include <string_view>

namespace cotan::fft {

/// A complex array: real and imaginary parts of one shape and dtype. A plain struct, so it is a pytree.
struct Complex {
  Array re, im;
};
/// re + 0i, or re + im i, of a common shape and dtype; integers become f32.
Complex complex(const ArrayLike& re);
Complex complex(const ArrayLike& re, const ArrayLike& im);

Complex operator+(const Complex& a, const Complex& b);
Complex operator-(const Complex& a, const Complex& b);
Complex operator*(const Complex& a, const Complex& b);
Complex operator-(const Complex& a);
/// With real numbers.
Complex operator*(const Complex& a, const ArrayLike& b);
Complex operator*(const ArrayLike& a, const Complex& b);
Complex conj(const Complex& a);
/// Absolute values, and angles in (-pi, pi].
Array abs(const Complex& a);
Array angle(const Complex& a);

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

/// X[k] = sum_j x[j] exp(-2 pi i j k / n), and its inverse.
Complex fft(const ComplexLike& a, const Options& options = {});
Complex ifft(const ComplexLike& a, const Options& options = {});
/// Of real numbers: the n / 2 + 1 results that are not conjugates of others; and its inverse, of length 2 (m - 1) by
/// default.
Complex rfft(const ArrayLike& a, const Options& options = {});
Array irfft(const ComplexLike& a, const Options& options = {});
/// Of numbers whose transform is real, given by the first half; and its inverse.
Array hfft(const ComplexLike& a, const Options& options = {});
Complex ihfft(const ArrayLike& a, const Options& options = {});

Complex fft2(const ComplexLike& a, const AxesOptions& options = {});
Complex ifft2(const ComplexLike& a, const AxesOptions& options = {});
Complex rfft2(const ArrayLike& a, const AxesOptions& options = {});
Array irfft2(const ComplexLike& a, const AxesOptions& options = {});
Complex fftn(const ComplexLike& a, const AxesOptions& options = {});
Complex ifftn(const ComplexLike& a, const AxesOptions& options = {});
/// The last of the axes is the one that is halved.
Complex rfftn(const ArrayLike& a, const AxesOptions& options = {});
Array irfftn(const ComplexLike& a, const AxesOptions& options = {});

/// Frequencies of the results in cycles per unit, where samples are `d` apart: 0, 1, …, -1 over n d.
Array fftfreq(std::int64_t n, double d = 1, DType dtype = f32);
Array rfftfreq(std::int64_t n, double d = 1, DType dtype = f32);
/// Frequency 0 to the middle, and back.
Array fftshift(const ArrayLike& a, const Axes& axes = {});
Complex fftshift(const Complex& a, const Axes& axes = {});
Array ifftshift(const ArrayLike& a, const Axes& axes = {});
Complex ifftshift(const Complex& a, const Axes& axes = {});

}  // namespace cotan::fft
