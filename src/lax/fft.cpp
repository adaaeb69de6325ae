// lax::fft: the transforms of cotan::fft along the last axes, of lengths that are as they are.
#include <algorithm>
#include <cotan/fft.hpp>
#include <cotan/lax.hpp>

#include "ops/promote.hpp"

namespace cotan::lax {

namespace {

constexpr std::string_view fft_names[] = {"FFT", "IFFT", "RFFT", "IRFFT"};

FftType fft_type_of(std::string_view name) {
  std::string capitals(name);
  std::transform(capitals.begin(), capitals.end(), capitals.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  const auto* at = std::find(std::begin(fft_names), std::end(fft_names), capitals);
  if (at == std::end(fft_names))
    raise<ValueError>("[fft] there is no transform '{}'; use fft, ifft, rfft or irfft.", name);
  return static_cast<FftType>(at - std::begin(fft_names));
}

/// The sizes that the axes must have.
Shape sizes_for(FftType type, Shape lengths) {
  if (type == FftType::IRFFT) lengths.back() = lengths.back() / 2 + 1;
  return lengths;
}

}  // namespace

Array fft(const ArrayLike& given, FftType type, const std::vector<std::int64_t>& lengths) {
  const Array& a = given;
  const std::string_view name = fft_names[static_cast<int>(type)];
  if (type == FftType::RFFT && is_complex(a.dtype()))
    raise<TypeError>("[fft] {} is of real numbers, and got {}; use FFT, or take np::real.", name, a.aval());
  const std::size_t n = lengths.size(), all = a.shape().size();
  if (n == 0)
    return type == FftType::RFFT ? numpy::to_inexact(a) : a.astype(complex_dtype(numpy::to_inexact(a).dtype()), {});
  const bool fits = n <= all && std::equal(lengths.begin(), lengths.end() - 1, a.shape().end() - static_cast<int>(n)) &&
                    a.shape().back() == sizes_for(type, lengths).back();
  if (!fits)
    raise<ShapeError>("[fft] {} of {} with lengths {}; its last axes must have the sizes {}.", name, a.aval(),
                      describe(lengths), describe(sizes_for(type, lengths)));
  std::vector<int> axes;
  for (std::size_t i = all - n; i < all; ++i) axes.push_back(static_cast<int>(i));
  const cotan::fft::AxesOptions options{.s = lengths, .axes = axes};
  switch (type) {
    case FftType::FFT:
      return cotan::fft::fftn(a, options);
    case FftType::IFFT:
      return cotan::fft::ifftn(a, options);
    case FftType::RFFT:
      return cotan::fft::rfftn(a, options);
    case FftType::IRFFT:
      break;
  }
  return cotan::fft::irfftn(a, options);
}
Array fft(const ArrayLike& a, std::string_view type, const std::vector<std::int64_t>& lengths) {
  return fft(a, fft_type_of(type), lengths);
}

}  // namespace cotan::lax
