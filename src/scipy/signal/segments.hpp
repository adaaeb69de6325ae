// What stft, its inverse and spectra share: how a signal is cut into segments.
#pragma once
#include <cotan/lax.hpp>
#include <cotan/scipy/signal.hpp>

#include "ops/promote.hpp"

namespace cotan::scipy::signal {

namespace np = numpy;

/// How segments lie.
struct Segmentation {
  Array window;  ///< [nperseg]
  std::int64_t nperseg, noverlap, nfft;
  std::int64_t step() const { return nperseg - noverlap; }
};
/// Of `length` samples of a dtype. Without `nperseg` a segment is as long as the window, or as the signal.
Segmentation segmentation(std::string_view op, const Window& window, std::optional<std::int64_t> nperseg,
                          std::optional<std::int64_t> noverlap, std::optional<std::int64_t> nfft, std::int64_t length,
                          DType dtype);
/// A window of n samples by its weights or its name.
Array window_of(std::string_view op, const Window& window, std::int64_t n, DType dtype);
/// Segments [..., number, nperseg] of signals along the last axis.
Array segments_of(const Array& x, const Segmentation& s);
/// Signals [..., step (number - 1) + nperseg] as sums of segments [..., number, nperseg].
Array overlapped_sum(const Array& segments, std::int64_t step);
/// Samples per time, a scalar of the dtype of frequencies.
Array rate_of(std::string_view op, const Array& fs, DType dtype);

}  // namespace cotan::scipy::signal
