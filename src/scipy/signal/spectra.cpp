// stft, welch and csd: transforms of windowed segments.
#include <cotan/fft.hpp>

#include "ops/ops.hpp"
#include "scipy/signal/segments.hpp"

namespace cotan::scipy::signal {

namespace {

/// At both ends, n samples more along the last axis.
Array extended(const Array& x, std::string_view boundary, std::int64_t n) {
  np::PadWidths widths(static_cast<std::size_t>(x.ndim()), {0, 0});
  widths.back() = {n, n};
  if (boundary == "zeros") return np::pad(x, widths);
  if (boundary == "constant") return np::pad(x, widths, "edge");
  if (boundary == "even") return np::pad(x, widths, "reflect");
  if (boundary != "odd")
    raise<ValueError>("[stft] there is no boundary '{}'; use even, odd, constant, zeros or none.", boundary);
  if (n > x.shape().back() - 1)
    raise<ShapeError>("[stft] {} cannot be extended by {} samples at both ends; give a smaller nperseg.", x.aval(), n);
  return np::pad(x, widths, np::PadOptions{.mode = "reflect", .reflect_type = "odd"});
}
/// With zeros behind the last axis.
Array longer(const Array& x, std::int64_t more) {
  if (more <= 0) return x;
  np::PadWidths widths(static_cast<std::size_t>(x.ndim()), {0, 0});
  widths.back().second = more;
  return np::pad(x, widths);
}

/// Transforms [..., segment, frequency].
Array transforms_of(const Array& x, const Segmentation& s, const Detrending& detrending, bool onesided) {
  const Array segments = detrending.apply(segments_of(x, s)) * s.window;
  if (!onesided) return cotan::fft::fft(segments, {.n = s.nfft});
  return cotan::fft::rfft(is_complex(segments.dtype()) ? ops::real(segments) : segments, {.n = s.nfft});
}
Array frequencies(const Segmentation& s, const Array& fs, bool onesided) {
  return (onesided ? cotan::fft::rfftfreq : cotan::fft::fftfreq)(s.nfft, 1, fs.dtype()) * fs;
}
/// The dtype of frequencies: that of the parts of what transforms give.
DType frequency_dtype(const Array& x) { return real_dtype(complex_dtype(x.dtype())); }

Array square(const Array& a) { return a * a; }

/// What results are multiplied with.
Array scale_of(std::string_view op, const Segmentation& s, const Array& fs, std::string_view scaling) {
  if (scaling == "density") return 1.0 / (fs * np::sum(square(s.window)));
  if (scaling == "spectrum") return 1.0 / square(np::sum(s.window));
  raise<ValueError>("[{}] there is no scaling '{}'; use density or spectrum.", op, scaling);
}

/// Frequencies that stand for their negatives too count twice.
Array doubled(const Array& power, const Segmentation& s) {
  std::vector<float> weights(static_cast<std::size_t>(power.shape().back()), 2.0F);
  weights.front() = 1;
  if (s.nfft % 2 == 0) weights.back() = 1;
  return power * ops::cast(Array::from_host(weights), real_dtype(power.dtype()));
}

/// The mean, or the median over what it is expected to be of noise, along the last axis.
Array averaged(std::string_view op, const Array& power, std::string_view average) {
  if (average == "mean") return np::mean(power, -1);
  if (average != "median") raise<ValueError>("[{}] there is no average '{}'; use mean or median.", op, average);
  double bias = 1;
  for (std::int64_t k = 2; k < power.shape().back(); k += 2)
    bias += 1 / static_cast<double>(k + 1) - 1 / static_cast<double>(k);
  if (!is_complex(power.dtype())) return np::median(power, -1) / bias;
  return ops::complex(np::median(ops::real(power), -1), np::median(ops::imag(power), -1)) / bias;
}

/// What results have where a signal has no samples: the shape of the signals, broadcast along other axes.
std::optional<Shape> shape_without_samples(std::string_view op, const Arrays& signals, int axis) {
  bool none = false;
  std::int64_t shortest = signals[0].shape(axis);
  std::vector<Shape> outer;
  for (const Array& x : signals) {
    none |= x.size() == 0;
    shortest = std::min(shortest, x.shape(axis));
    outer.push_back(x.shape());
    outer.back()[static_cast<std::size_t>(axis)] = 1;
  }
  if (!none) return std::nullopt;
  Shape shape = np::broadcast_shapes(op, outer);
  shape[static_cast<std::size_t>(axis)] = shortest;
  return shape;
}

/// Of one signal, or of two.
Spectrum spectrum(std::string_view op, const Array& given_x, const Array* given_y, const SpectrumOptions& o) {
  const Arrays both = given_y ? Arrays{given_x, *given_y} : Arrays{given_x};
  Arrays signals = np::cast_all(both, np::inexact_result_type(both));
  const int axis = np::resolve_axis(o.axis, signals[0].ndim(), op);
  if (given_y && signals[1].ndim() != signals[0].ndim())
    raise<ShapeError>("[{}] the signals are {} and {}; they must have as many axes.", op, given_x.aval(),
                      given_y->aval());
  if (const std::optional<Shape> shape = shape_without_samples(op, signals, axis)) {
    const DType real = frequency_dtype(signals[0]);
    return {np::zeros(*shape, real), np::zeros(*shape, given_y ? complex_dtype(real) : real)};
  }
  const Segmentation s =
      segmentation(op, o.window, o.nperseg, o.noverlap, o.nfft, signals[0].shape(axis), signals[0].dtype());
  std::int64_t length = 0;
  for (Array& x : signals) {
    x = np::moveaxis(x, axis, -1);
    length = std::max(length, x.shape().back());
  }
  for (Array& x : signals) x = longer(x, length - x.shape().back());
  const bool onesided = o.return_onesided && !is_complex(signals[0].dtype());
  const Array fs = rate_of(op, o.fs, frequency_dtype(signals[0]));
  const Array scale = scale_of(op, s, fs, o.scaling);

  const Array x = transforms_of(signals[0], s, o.detrend, onesided);
  Array power = given_y ? ops::conj(x) * transforms_of(signals[1], s, o.detrend, onesided)
                        : square(ops::real(x)) + square(ops::imag(x));
  power = power * scale;
  if (!given_y && is_complex(power.dtype())) power = ops::real(power);
  if (onesided) power = doubled(power, s);
  power = averaged(op, np::moveaxis(power, -1, axis), o.average);
  return {frequencies(s, fs, onesided), power};
}

}  // namespace

Stft stft(const ArrayLike& given, const StftOptions& o) {
  constexpr std::string_view op = "stft";
  Array x = np::to_inexact(given);
  const int axis = np::resolve_axis(o.axis, x.ndim(), op);
  if (x.size() == 0) {
    const Array zeros = np::zeros(x.shape(), frequency_dtype(x));
    return {zeros, zeros, np::zeros(x.shape(), complex_dtype(x.dtype()))};
  }
  const Segmentation s = segmentation(op, o.window, o.nperseg, o.noverlap, o.nfft, x.shape(axis), x.dtype());
  x = np::moveaxis(x, axis, -1);
  const double half = static_cast<double>(s.nperseg) / 2;
  if (o.boundary) x = extended(x, *o.boundary, s.nperseg / 2);
  if (o.padded) x = longer(x, (s.step() - (x.shape().back() - s.nperseg) % s.step()) % s.step());
  const bool onesided = o.return_onesided && !is_complex(x.dtype());
  const Array fs = rate_of(op, o.fs, frequency_dtype(x));
  const Array z = transforms_of(x, s, o.detrend, onesided) * np::sqrt(scale_of(op, s, fs, "spectrum"));
  const std::int64_t number = z.shape(-2);
  const Array starts = np::arange(number, fs.dtype()) * static_cast<double>(s.step());
  return {frequencies(s, fs, onesided), (o.boundary ? starts : starts + half) / fs, np::moveaxis(z, -1, axis)};
}

Spectrum welch(const ArrayLike& x, const SpectrumOptions& options) { return spectrum("welch", x, nullptr, options); }
Spectrum csd(const ArrayLike& x, None, const SpectrumOptions& options) { return spectrum("csd", x, nullptr, options); }
Spectrum csd(const ArrayLike& x, const ArrayLike& y, const SpectrumOptions& options) {
  return spectrum("csd", x, &y.array(), options);
}

}  // namespace cotan::scipy::signal
