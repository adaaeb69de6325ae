// cotan::scipy::signal: convolutions, spectra and short-time Fourier transforms.
#pragma once
#include <cotan/array.hpp>
#include <cotan/lax/products.hpp>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

/// `jax.scipy.signal`.
///
///     auto [freqs, power] = ct::scipy::signal::welch(x, {.fs = 100.0, .nperseg = 256});
namespace cotan::scipy::signal {

/// @name Convolutions
/// Integers become floats; arrays may not be empty. In mode "full" the result has all places where the two overlap, in
/// "same" those in the middle, as many as `in1` has, in "valid" those where one lies inside the other. Products are as
/// exact as their dtype, so `precision` changes nothing.
/// @{
/// sum_j in1[k - j] in2[j], of arrays with as many axes. `method`: "direct" (or "auto") multiplies, "fft" transforms.
Array convolve(const ArrayLike& in1, const ArrayLike& in2, std::string_view mode = "full",
               std::string_view method = "auto", lax::Precision precision = lax::Precision::default_);
/// sum_j in1[k + j] conj(in2[j]), otherwise as convolve.
Array correlate(const ArrayLike& in1, const ArrayLike& in2, std::string_view mode = "full",
                std::string_view method = "auto", lax::Precision precision = lax::Precision::default_);
/// convolve of matrices. What is outside is 0, as in JAX, which has no other `boundary` nor `fillvalue` either.
Array convolve2d(const ArrayLike& in1, const ArrayLike& in2, std::string_view mode = "full",
                 std::string_view boundary = "fill", double fillvalue = 0,
                 lax::Precision precision = lax::Precision::default_);
/// correlate of matrices; in mode "same" the middle is half an element further on where `in2` has an even size. (Of
/// complex numbers in mode "valid" with `in1` inside `in2` JAX gives the conjugate.)
Array correlate2d(const ArrayLike& in1, const ArrayLike& in2, std::string_view mode = "full",
                  std::string_view boundary = "fill", double fillvalue = 0,
                  lax::Precision precision = lax::Precision::default_);
/// convolve by Fourier transforms, along some axes or all; along others sizes are equal, and elements go in pairs.
Array fftconvolve(const ArrayLike& in1, const ArrayLike& in2, std::string_view mode = "full", const Axes& axes = {});
/// @}

/// @name Spectra
/// @{
/// Without its mean along an axis ("constant"), or without the line that fits it best ("linear"), one between each two
/// of the breakpoints `bp`.
Array detrend(const ArrayLike& data, int axis = -1, std::string_view type = "linear",
              const std::vector<std::int64_t>& bp = {0});

/// Weights of the samples in a segment: by name, with a parameter where it takes one, or a vector. Names are those of
/// scipy.signal.get_window (periodic ones): boxcar, triang, bartlett, parzen, bohman, cosine, barthann, hann, hamming,
/// blackman, nuttall, blackmanharris, flattop; with a parameter {"kaiser", beta}, {"gaussian", std}, {"tukey", alpha},
/// {"general_hamming", alpha}.
class Window {
 public:
  Window(const char* name) : name_(name) {}
  Window(std::string name, std::optional<double> parameter = std::nullopt)
      : name_(std::move(name)), parameter_(parameter) {}
  Window(const Array& weights) : weights_(weights) {}
  /// The vector, where one was given.
  const std::optional<Array>& weights() const { return weights_; }
  /// n weights of the window of that name.
  std::vector<double> values(std::int64_t n) const;

 private:
  std::string name_;
  std::optional<double> parameter_;
  std::optional<Array> weights_;
};
/// What is taken off segments before they are transformed: nothing, "constant" or "linear" trends, or what a function
/// of segments along the last axis takes off.
class Detrending {
 public:
  Detrending(None = {}) {}
  Detrending(const char* type) : type_(type) {}
  Detrending(std::string type) : type_(std::move(type)) {}
  template <class F>
    requires std::is_invocable_r_v<Array, const F&, const Array&>
  Detrending(F function) : function_(std::move(function)) {}
  /// Segments without it.
  Array apply(const Array& segments) const;

 private:
  std::string type_;
  std::function<Array(const Array&)> function_;
};

/// Of stft.
struct StftOptions {
  Array fs = 1.0;  ///< samples per unit of time
  Window window = "hann";
  std::optional<std::int64_t> nperseg = 256;  ///< samples per segment, at most all; none: those of the window, or all
  std::optional<std::int64_t> noverlap = {};  ///< samples that neighbours share; by default half of them
  std::optional<std::int64_t> nfft = {};      ///< to which segments are padded with zeros
  Detrending detrend = {};
  bool return_onesided = true;                         ///< of real signals: only frequencies that are not negative
  std::optional<std::string_view> boundary = "zeros";  ///< what is put at both ends: also "even", "odd", "constant"
  bool padded = true;                                  ///< zeros at the end, so that segments use all samples
  int axis = -1;
};
/// Frequencies, the times of segments, and what stft found there.
struct Stft {
  Array freqs, times, Zxx;
};
/// Fourier transforms of segments of a signal along an axis, whose place the frequencies take; times are last.
Stft stft(const ArrayLike& x, const StftOptions& options = {});

/// Of istft.
struct IstftOptions {
  Array fs = 1.0;
  Window window = "hann";
  std::optional<std::int64_t> nperseg = {};   ///< by default as many as frequencies say, an even number
  std::optional<std::int64_t> noverlap = {};  ///< by default half of them; 0 is none (in JAX half too)
  std::optional<std::int64_t> nfft = {};
  bool input_onesided = true;
  bool boundary = true;  ///< the ends that stft put on are taken off
  int time_axis = -1, freq_axis = -2;
};
/// Times, and the signal.
struct Istft {
  Array times, x;
};
/// The signal whose stft this is, or is nearest to. (JAX counts the times of several signals along the first axis, and
/// raises where nperseg is odd.)
Istft istft(const ArrayLike& Zxx, const IstftOptions& options = {});

/// Of csd and welch.
struct SpectrumOptions {
  Array fs = 1.0;  ///< samples per unit of time
  Window window = "hann";
  std::optional<std::int64_t> nperseg = {};   ///< samples per segment; by default those of the window, or all
  std::optional<std::int64_t> noverlap = {};  ///< samples that neighbours share; by default half of them
  std::optional<std::int64_t> nfft = {};      ///< to which segments are padded with zeros
  Detrending detrend = "constant";
  bool return_onesided = true;
  std::string_view scaling = "density";  ///< power per unit of frequency, or "spectrum": power
  int axis = -1;
  std::string_view average = "mean";  ///< of segments; or "median"
};
/// Frequencies, and the power there.
struct Spectrum {
  Array freqs, power;
};
/// The power of a signal along an axis by frequency: the mean of that of segments which overlap (Welch).
Spectrum welch(const ArrayLike& x, const SpectrumOptions& options = {});
/// The same of conj(X) Y, complex; other axes broadcast, and the shorter signal is padded with zeros.
Spectrum csd(const ArrayLike& x, const ArrayLike& y, const SpectrumOptions& options = {});
/// That of one signal, as welch.
Spectrum csd(const ArrayLike& x, None y, const SpectrumOptions& options = {});
/// @}

}  // namespace cotan::scipy::signal
