// Bluestein's algorithm: with j k = (j^2 + k^2 - (k - j)^2) / 2 a transform is a convolution with a chirp, for which
// any length will do that is long enough. It is how lengths with large prime factors are transformed.
#include <complex>

#include "fft/transform.hpp"
#include "ops/fft.hpp"
#include "ops/ops.hpp"

namespace cotan::fft {

namespace {

/// The least length of at least n that takes few stages.
std::int64_t good_length(std::int64_t n) {
  std::int64_t best = 0;
  for (std::int64_t odd : {1, 3, 5, 9, 15}) {
    std::int64_t length = odd;
    while (length < n) length *= 2;
    if (best == 0 || length < best) best = length;
  }
  return best;
}

/// exp(-pi i j^2 / n); the square is reduced in integers.
std::complex<double> chirp_at(std::int64_t j, std::int64_t n) { return ops::root_of_unity(j * j % (2 * n), 2 * n); }

std::vector<double> parts_of(const std::vector<std::complex<double>>& values) {
  std::vector<double> out;
  for (const auto& v : values) out.push_back(v.real());
  for (const auto& v : values) out.push_back(v.imag());
  return out;
}
std::vector<double> make_chirp(std::int64_t n) {
  std::vector<std::complex<double>> chirp;
  for (std::int64_t j = 0; j < n; ++j) chirp.push_back(chirp_at(j, n));
  return parts_of(chirp);
}
/// The transform of the conjugate chirp, from -n to n around 0, over the length: the inverse's scale is in it.
std::vector<double> make_filter(std::int64_t n, std::int64_t length) {
  std::vector<std::complex<double>> filter(static_cast<std::size_t>(length));
  for (std::int64_t j = 0; j < n; ++j)
    filter[static_cast<std::size_t>(j)] = filter[static_cast<std::size_t>((length - j) % length)] =
        std::conj(chirp_at(j, n));
  filter = ops::fft_on_host(filter, ops::roots_of_unity(length));
  for (auto& v : filter) v /= static_cast<double>(length);
  return parts_of(filter);
}

Complex constants(const HostTable& table, const Shape& shape, int axis, DType dtype) {
  const auto n = static_cast<std::int64_t>(table->size()) / 2;
  const Array both = constant(table, {2, n}, dtype);
  const auto row = [&](std::int64_t k) {
    return ops::broadcast_in_dim(ops::reshape(ops::slice_axis(both, 0, k, k + 1), {n}), shape, {axis});
  };
  return {row(0), row(1)};
}

}  // namespace

Complex chirp_transform(const Complex& a, int axis) {
  const Shape& shape = a.re.shape();
  const DType dtype = a.re.dtype();
  const std::int64_t n = a.re.shape(axis), length = good_length(2 * n - 1);
  const Complex chirp = constants(cached_table(TableKind::chirp, n, [&] { return make_chirp(n); }), shape, axis, dtype);
  Shape long_shape = shape;
  long_shape[static_cast<std::size_t>(axis)] = length;
  const Complex filter = constants(cached_table(TableKind::chirp_filter, n, [&] { return make_filter(n, length); }),
                                   long_shape, axis, dtype);
  Ints none(shape.size(), 0), behind = none;
  behind[static_cast<std::size_t>(axis)] = length - n;
  const auto padded = [&](const Array& x) { return ops::pad(x, scalar(dtype, 0), none, behind, none); };
  const auto cropped = [&](const Array& x) { return ops::slice_axis(x, axis, 0, n); };
  const Complex x = a * chirp;
  const Complex y = inverse_transform(transform({padded(x.re), padded(x.im)}, axis) * filter, axis);
  return Complex{cropped(y.re), cropped(y.im)} * chirp;
}

}  // namespace cotan::fft
