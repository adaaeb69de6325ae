// cotan::fft: discrete Fourier transforms, with the names and the meaning of numpy.fft. Any length is transformed in
// O(n log n).
#pragma once
#include <cotan/array.hpp>
#include <optional>
#include <string_view>

/// `jax.numpy.fft`. Lengths may be any; real and complex numbers are taken alike where the name does not say real.
/// Results of f64 and c128 are c128, of all others c64; real ones f64 or f32.
///
///     ct::Array spectrum = ct::fft::rfft(x);     // along the last axis
///     ct::Array y = ct::fft::irfft(spectrum);
namespace cotan::fft {

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
Array fft(const ArrayLike& a, const Options& options = {});
/// The inverse: x[j] = 1/n sum_k X[k] exp(2 pi i j k / n).
Array ifft(const ArrayLike& a, const Options& options = {});
/// fft of real numbers: the n / 2 + 1 results that are not conjugates of others.
Array rfft(const ArrayLike& a, const Options& options = {});
/// Its inverse, real; of length 2 (m - 1) unless `n` is given, where m results are there.
Array irfft(const ArrayLike& a, const Options& options = {});
/// fft of numbers whose transform is real, given by their first half; of length 2 (m - 1) unless `n` is given.
Array hfft(const ArrayLike& a, const Options& options = {});
/// Its inverse.
Array ihfft(const ArrayLike& a, const Options& options = {});

/// fft along the last two axes, or two others.
Array fft2(const ArrayLike& a, const AxesOptions& options = {});
/// Its inverse.
Array ifft2(const ArrayLike& a, const AxesOptions& options = {});
/// rfft along the last of two axes, then fft along the other.
Array rfft2(const ArrayLike& a, const AxesOptions& options = {});
/// Its inverse.
Array irfft2(const ArrayLike& a, const AxesOptions& options = {});
/// fft along all axes, or those given.
Array fftn(const ArrayLike& a, const AxesOptions& options = {});
/// Its inverse.
Array ifftn(const ArrayLike& a, const AxesOptions& options = {});
/// fftn of real numbers; the last of the axes is the one that is halved.
Array rfftn(const ArrayLike& a, const AxesOptions& options = {});
/// Its inverse.
Array irfftn(const ArrayLike& a, const AxesOptions& options = {});

/// Frequencies of the results in cycles per unit, where samples are `d` apart: 0, 1, …, -1 over n d.
Array fftfreq(std::int64_t n, double d = 1, DType dtype = f32);
/// Frequencies of the results of rfft: 0, 1, … n / 2 over n d.
Array rfftfreq(std::int64_t n, double d = 1, DType dtype = f32);
/// Frequency 0 to the middle, along axes or all of them.
Array fftshift(const ArrayLike& a, const Axes& axes = {});
/// The inverse of fftshift.
Array ifftshift(const ArrayLike& a, const Axes& axes = {});

}  // namespace cotan::fft
