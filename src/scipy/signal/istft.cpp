// istft: segments that were transformed are put together again, divided by how much windows overlap.
#include <cotan/fft.hpp>

#include "ops/ops.hpp"
#include "scipy/signal/segments.hpp"

namespace cotan::scipy::signal {

namespace {

/// The numbers that are not given follow from how many frequencies there are.
Segmentation inverse_segmentation(const IstftOptions& o, std::int64_t frequencies, DType dtype) {
  const std::int64_t usual = o.input_onesided ? 2 * (frequencies - 1) : frequencies;
  const std::int64_t nperseg = o.nperseg.value_or(usual);
  if (nperseg < 1)
    raise<ValueError>(
        "[istft] nperseg is {}; give at least 1, and at least two frequencies where it follows from them.", nperseg);
  const std::int64_t odd = o.input_onesided && nperseg == usual + 1 ? 1 : 0;
  return segmentation("istft", o.window, nperseg, o.noverlap, o.nfft.value_or(usual + odd), nperseg, dtype);
}

}  // namespace

Istft istft(const ArrayLike& given, const IstftOptions& o) {
  Array z = np::to_inexact(given);
  const int axes = z.ndim();
  if (axes < 2) raise<ShapeError>("[istft] got {}; it needs axes of frequencies and of times.", z.aval());
  const int frequency = np::resolve_axis(o.freq_axis, axes, "istft"),
            time = np::resolve_axis(o.time_axis, axes, "istft");
  if (frequency == time) raise<ValueError>("[istft] frequencies and times are both axis {}; give two axes.", time);
  if (z.size() == 0) raise<ShapeError>("[istft] got {}, which has no elements; give at least one.", z.aval());
  z = np::moveaxis(z.astype(complex_dtype(z.dtype()), {}), {time, frequency}, {-2, -1});
  const DType real = real_dtype(z.dtype());
  const Segmentation s = inverse_segmentation(o, z.shape().back(), o.input_onesided ? real : z.dtype());
  const cotan::fft::Options along{.n = s.nfft};
  Array segments = o.input_onesided ? cotan::fft::irfft(z, along) : cotan::fft::ifft(z, along);
  segments = ops::slice_axis(segments, segments.ndim() - 1, 0, s.nperseg) * (s.window * np::sum(s.window));
  Array x = overlapped_sum(segments, s.step());
  const std::int64_t number = segments.shape(-2);
  Array weight = overlapped_sum(np::broadcast_to(s.window * s.window, {number, s.nperseg}), s.step());
  if (o.boundary) {
    const std::int64_t half = s.nperseg / 2, end = x.shape().back() - half;
    if (end < half)
      raise<ShapeError>("[istft] {} segments of {} samples are no longer than the boundaries; give more of them.",
                        number, s.nperseg);
    x = ops::slice_axis(x, x.ndim() - 1, half, end);
    weight = ops::slice_axis(weight, 0, half, end);
  }
  const Array size = is_complex(weight.dtype()) ? ops::real(weight) : weight;
  x = x / np::where(size > 1e-10, weight, 1.0);
  const Array fs = rate_of("istft", o.fs, real);
  const Array times = np::arange(x.shape().back(), real) / fs;
  return {times, np::moveaxis(x, -1, time > frequency ? time - 1 : time)};
}

}  // namespace cotan::scipy::signal
