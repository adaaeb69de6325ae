// cotan::lax: Fourier transforms along the last axes.
#pragma once
#include <cotan/array.hpp>
#include <string_view>
#include <vector>

namespace cotan::lax {

/// @name Fourier transforms
/// @{
/// Which transform: of complex numbers forwards and back; of real ones to the half of the results that are not
/// conjugates of others, and back.
enum class FftType { FFT, IFFT, RFFT, IRFFT };
/// The transform along the last axes, as many as there are lengths, which are their sizes; of IRFFT those of the
/// result. cotan::fft has functions that crop, pad and scale.
Array fft(const ArrayLike& a, FftType fft_type, const std::vector<std::int64_t>& fft_lengths);
/// The same by name: "fft", "ifft", "rfft" or "irfft", or in capitals.
Array fft(const ArrayLike& a, std::string_view fft_type, const std::vector<std::int64_t>& fft_lengths);
/// @}

}  // namespace cotan::lax
