// The functions of cotan::fft: checks, lengths, scales, and which axes in which order.
#include <algorithm>
#include <cmath>
#include <cotan/fft.hpp>
#include <cotan/numpy.hpp>

#include "fft/transform.hpp"
#include "ops/ops.hpp"
#include "ops/promote.hpp"

namespace cotan::fft {

namespace {

namespace np = numpy;

enum class Direction { forward, inverse };

// Operands ----------------------------------------------------------------------------------------

/// As f32 or f64: integers, bool and halves are computed in f32, as JAX does.
Array as_float(const Array& a) {
  const DType dtype = np::inexact_result_type({&a, 1}).dtype;
  return ops::cast(a, dtype == f64 ? f64 : f32);
}

void check_axes(std::string_view op, const Array& a) {
  if (!a.defined()) raise<ValueError>("[{}] an array is empty; give it elements first.", op);
  if (a.ndim() == 0) raise<ShapeError>("[{}] got a scalar, {}; give it an axis with reshape.", op, a.aval());
}
Complex complex_operand(std::string_view op, const Array& a) {
  check_axes(op, a);
  if (is_complex(a.dtype())) return {ops::real(a), ops::imag(a)};
  const Array re = as_float(a);
  return {re, ops::zeros_like(re)};
}
Array real_operand(std::string_view op, const Array& a) {
  check_axes(op, a);
  if (is_complex(a.dtype()))
    raise<TypeError>("[{}] is of real numbers, and got {}; use fft, or take np::real.", op, a.aval());
  return as_float(a);
}
Array joined(const Complex& a) { return ops::complex(a.re, a.im); }

// Lengths -------------------------------------------------------------------------------------------

std::int64_t checked_length(std::string_view op, std::int64_t n) {
  if (n < 1)
    raise<ShapeError>("[{}] cannot transform to length {}; give a length of at least 1, which pads with zeros.", op, n);
  return n;
}

/// Cropped, or padded with zeros.
Array with_length(const Array& a, int axis, std::int64_t n) {
  const std::int64_t have = a.shape(axis);
  if (have == n) return a;
  if (have > n) return ops::slice_axis(a, axis, 0, n);
  const Ints none(a.shape().size(), 0);
  Ints behind = none;
  behind[static_cast<std::size_t>(axis)] = n - have;
  return ops::pad(a, scalar(a.dtype(), 0), none, behind, none);
}
Complex with_length(const Complex& a, int axis, std::int64_t n) {
  return {with_length(a.re, axis, n), with_length(a.im, axis, n)};
}

// Scales ----------------------------------------------------------------------------------------------

double scale_of(std::string_view op, std::string_view norm, Direction direction, std::int64_t n) {
  if (norm == "ortho") return 1 / std::sqrt(static_cast<double>(n));
  if (norm != "backward" && norm != "forward")
    raise<ValueError>("[{}] norm is '{}'; it must be 'backward', 'ortho' or 'forward'.", op, norm);
  return (norm == "backward") == (direction == Direction::inverse) ? 1 / static_cast<double>(n) : 1;
}
/// What becomes of a norm where the other direction is used.
std::string_view swapped(std::string_view norm) {
  return norm == "backward" ? "forward" : norm == "forward" ? "backward" : norm;
}

Array scaled(const Array& a, double scale) { return scale == 1 ? a : a * scale; }
Complex scaled(const Complex& a, double scale) { return {scaled(a.re, scale), scaled(a.im, scale)}; }

// Along one axis, which is counted from the front -----------------------------------------------------------

Complex complex_along(std::string_view op, const Complex& a, int axis, std::optional<std::int64_t> length,
                      std::string_view norm, Direction direction) {
  const bool nothing = !length && a.re.shape(axis) == 0;  // as in JAX, the transform of nothing is nothing
  const std::int64_t n = nothing ? 1 : checked_length(op, length.value_or(a.re.shape(axis)));
  const double scale = scale_of(op, norm, direction, n);
  if (nothing) return a;
  const Complex x = scaled(with_length(a, axis, n), scale);
  return direction == Direction::forward ? transform(x, axis) : inverse_transform(x, axis);
}
Complex real_along(std::string_view op, const Array& a, int axis, std::optional<std::int64_t> length,
                   std::string_view norm) {
  const std::int64_t n = checked_length(op, length.value_or(a.shape(axis)));
  return real_transform(with_length(a, axis, n), axis, scale_of(op, norm, Direction::forward, n));
}
Array real_inverse_along(std::string_view op, const Complex& a, int axis, std::optional<std::int64_t> length,
                         std::string_view norm) {
  const std::int64_t n = checked_length(op, length.value_or(2 * (a.re.shape(axis) - 1)));
  const Complex x = scaled(with_length(a, axis, n / 2 + 1), scale_of(op, norm, Direction::inverse, n));
  return real_inverse_transform(x, n, axis);
}

// Along several ---------------------------------------------------------------------------------------------

struct Along {
  int axis;
  std::optional<std::int64_t> length;
};
/// The axes, in order, and the lengths along them.
std::vector<Along> axes_of(std::string_view op, int ndim, const AxesOptions& options, bool two) {
  std::vector<int> axes;
  if (options.axes.given())
    axes = options.axes.resolve(ndim, op);
  else if (two)
    axes = Axes{-2, -1}.resolve(ndim, op);
  else
    for (int k = options.s.empty() ? 0 : ndim - static_cast<int>(options.s.size()); k < ndim; ++k) axes.push_back(k);
  if (two && axes.size() != 2)
    raise<ShapeError>("[{}] got {} axes; give two, or use the function for any number of them.", op, axes.size());
  if (!options.s.empty() && (options.s.size() != axes.size() || axes.front() < 0))
    raise<ShapeError>("[{}] s has {} lengths for {} axes; give one for each.", op, options.s.size(),
                      std::min<std::size_t>(axes.size(), static_cast<std::size_t>(ndim)));
  std::vector<Along> out;
  for (std::size_t k = 0; k < axes.size(); ++k)
    out.push_back({axes[k], options.s.empty() ? std::nullopt : std::optional(options.s[k])});
  return out;
}

Complex complex_along_all(std::string_view op, const Array& a, const AxesOptions& options, bool two,
                          Direction direction) {
  Complex x = complex_operand(op, a);
  const auto axes = axes_of(op, x.re.ndim(), options, two);
  for (auto at = axes.rbegin(); at != axes.rend(); ++at)
    x = complex_along(op, x, at->axis, at->length, options.norm, direction);
  return x;
}
Complex real_along_all(std::string_view op, const Array& a, const AxesOptions& options, bool two) {
  const Array real = real_operand(op, a);
  auto axes = axes_of(op, real.ndim(), options, two);
  if (axes.empty()) raise<ShapeError>("[{}] got no axes; give at least one.", op);
  Complex x = real_along(op, real, axes.back().axis, axes.back().length, options.norm);
  axes.pop_back();
  for (auto at = axes.rbegin(); at != axes.rend(); ++at)
    x = complex_along(op, x, at->axis, at->length, options.norm, Direction::forward);
  return x;
}
Array real_inverse_along_all(std::string_view op, const Array& a, const AxesOptions& options, bool two) {
  Complex x = complex_operand(op, a);
  const auto axes = axes_of(op, x.re.ndim(), options, two);
  if (axes.empty()) raise<ShapeError>("[{}] got no axes; give at least one.", op);
  for (std::size_t k = 0; k + 1 < axes.size(); ++k)
    x = complex_along(op, x, axes[k].axis, axes[k].length, options.norm, Direction::inverse);
  return real_inverse_along(op, x, axes.back().axis, axes.back().length, options.norm);
}

Complex complex_1d(std::string_view op, const Array& a, const Options& options, Direction direction) {
  const Complex x = complex_operand(op, a);
  return complex_along(op, x, np::resolve_axis(options.axis, x.re.ndim(), op), options.n, options.norm, direction);
}
Complex real_1d(std::string_view op, const Array& a, const Options& options, std::string_view norm) {
  const Array x = real_operand(op, a);
  return real_along(op, x, np::resolve_axis(options.axis, x.ndim(), op), options.n, norm);
}
Array real_inverse_1d(std::string_view op, const Complex& a, const Options& options, std::string_view norm) {
  return real_inverse_along(op, a, np::resolve_axis(options.axis, a.re.ndim(), op), options.n, norm);
}

/// Through f32 where that is enough: not every device has f64.
Array from_doubles(const std::vector<double>& values, DType dtype) {
  if (dtype == f64) return Array::from_host(values);
  return ops::cast(Array::from_host(std::vector<float>(values.begin(), values.end())), dtype);
}

Array shifted(std::string_view op, Array a, const Axes& axes, bool back) {
  for (int axis : axes.resolve(a.ndim(), op)) {
    const std::int64_t n = a.shape(axis), half = n / 2;
    a = np::roll(a, back ? n - half : half, axis);
  }
  return a;
}

}  // namespace

Array fft(const ArrayLike& a, const Options& options) {
  return joined(complex_1d("fft", a, options, Direction::forward));
}
Array ifft(const ArrayLike& a, const Options& options) {
  return joined(complex_1d("ifft", a, options, Direction::inverse));
}
Array rfft(const ArrayLike& a, const Options& options) { return joined(real_1d("rfft", a, options, options.norm)); }
Array irfft(const ArrayLike& a, const Options& options) {
  return real_inverse_1d("irfft", complex_operand("irfft", a), options, options.norm);
}
Array hfft(const ArrayLike& a, const Options& options) {
  return real_inverse_1d("hfft", conj(complex_operand("hfft", a)), options, swapped(options.norm));
}
Array ihfft(const ArrayLike& a, const Options& options) {
  return joined(conj(real_1d("ihfft", a, options, swapped(options.norm))));
}

Array fft2(const ArrayLike& a, const AxesOptions& options) {
  return joined(complex_along_all("fft2", a, options, true, Direction::forward));
}
Array ifft2(const ArrayLike& a, const AxesOptions& options) {
  return joined(complex_along_all("ifft2", a, options, true, Direction::inverse));
}
Array rfft2(const ArrayLike& a, const AxesOptions& options) {
  return joined(real_along_all("rfft2", a, options, true));
}
Array irfft2(const ArrayLike& a, const AxesOptions& options) {
  return real_inverse_along_all("irfft2", a, options, true);
}
Array fftn(const ArrayLike& a, const AxesOptions& options) {
  return joined(complex_along_all("fftn", a, options, false, Direction::forward));
}
Array ifftn(const ArrayLike& a, const AxesOptions& options) {
  return joined(complex_along_all("ifftn", a, options, false, Direction::inverse));
}
Array rfftn(const ArrayLike& a, const AxesOptions& options) {
  return joined(real_along_all("rfftn", a, options, false));
}
Array irfftn(const ArrayLike& a, const AxesOptions& options) {
  return real_inverse_along_all("irfftn", a, options, false);
}

Array fftfreq(std::int64_t n, double d, DType dtype) {
  checked_length("fftfreq", n);
  std::vector<double> out;
  for (std::int64_t k = 0; k < n; ++k)
    out.push_back(static_cast<double>(2 * k < n ? k : k - n) / (static_cast<double>(n) * d));
  return from_doubles(out, dtype);
}
Array rfftfreq(std::int64_t n, double d, DType dtype) {
  checked_length("rfftfreq", n);
  std::vector<double> out;
  for (std::int64_t k = 0; k <= n / 2; ++k) out.push_back(static_cast<double>(k) / (static_cast<double>(n) * d));
  return from_doubles(out, dtype);
}

Array fftshift(const ArrayLike& a, const Axes& axes) { return shifted("fftshift", a, axes, false); }
Array ifftshift(const ArrayLike& a, const Axes& axes) { return shifted("ifftshift", a, axes, true); }

}  // namespace cotan::fft
