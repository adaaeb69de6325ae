// Cosine transforms by Fourier transforms of real numbers of the same length: elements are taken in another order, even
// ones, then odd ones backwards (Makhoul), and every result gives two.
#include <cotan/fft.hpp>
#include <cotan/lax.hpp>
#include <cotan/scipy/fft.hpp>

#include "ops/ops.hpp"
#include "ops/promote.hpp"

namespace cotan::scipy::fft {

namespace {

namespace np = numpy;

/// As f32 or f64, and complex numbers as they are: transforms have no other dtypes.
Array operand(std::string_view op, const Array& x, int type, std::string_view norm) {
  if (type != 2) raise<ValueError>("[{}] the type is {}; only type 2 is there, as in JAX.", op, type);
  if (norm != "backward" && norm != "ortho")
    raise<ValueError>("[{}] norm is '{}'; it must be 'backward' or 'ortho'.", op, norm);
  const Array y = np::to_inexact(x);
  return is_complex(y.dtype()) || y.dtype() == f64 ? y : y.astype(f32, {});
}

Array with_length(std::string_view op, const Array& x, int axis, std::int64_t n) {
  if (n < 1) raise<ShapeError>("[{}] cannot transform {} to length {}; give a length of at least 1.", op, x.aval(), n);
  const std::int64_t have = x.shape(axis);
  if (have == n) return x;
  if (have > n) return ops::slice_axis(x, axis, 0, n);
  const Ints none(x.shape().size(), 0);
  Ints behind = none;
  behind[static_cast<std::size_t>(axis)] = n - have;
  return ops::pad(x, scalar(x.dtype(), 0), none, behind, none);
}

/// A vector of the host along an axis, to be multiplied with `like`.
Array along(const std::vector<double>& values, const Array& like, int axis) {
  Shape shape(like.shape().size(), 1);
  shape[static_cast<std::size_t>(axis)] = static_cast<std::int64_t>(values.size());
  if (like.dtype() == f64) return Array::from_host(values, shape);
  return Array::from_host(std::vector<float>(values.begin(), values.end()), shape);
}

/// cos and sin of pi k / (2 n) for k <= n / 2, times what a norm says, which is another number for k = 0.
struct Turns {
  Array cosine, sine;
};
Turns turns(std::int64_t n, const Array& like, int axis, double scale) {
  std::vector<double> c, s;
  for (std::int64_t k = 0; k <= n / 2; ++k) {
    const double angle = np::pi * static_cast<double>(k) / (2 * static_cast<double>(n));
    c.push_back(scale * std::cos(angle));
    s.push_back(scale * std::sin(angle));
  }
  return {along(c, like, axis), along(s, like, axis)};
}
/// The factor of "ortho" for k = 0 in the place of that for all others, as a vector.
Array first_factor(std::int64_t n, const Array& like, int axis, double factor) {
  std::vector<double> out(static_cast<std::size_t>(n), 1.0);
  out[0] = factor;
  return along(out, like, axis);
}

Array part(const Array& a, int axis, std::int64_t from, std::int64_t to, std::int64_t step = 1) {
  return ops::slice_axis(a, axis, from, to, step);
}

Array dct_along(const Array& x, int axis, bool ortho) {
  const std::int64_t n = x.shape(axis);
  const Array order = ops::concatenate(
      Arrays{part(x, axis, 0, n, 2), ops::rev(part(x, axis, 1, std::max<std::int64_t>(n, 1), 2), {axis})}, axis);
  const Array v = cotan::fft::rfft(order, {.axis = axis});
  const Turns w = turns(n, x, axis, ortho ? std::sqrt(2 / static_cast<double>(n)) : 2.0);
  const Array re = lax::real(v), im = lax::imag(v);
  const Array first = re * w.cosine + im * w.sine, second = re * w.sine - im * w.cosine;
  // Result k is the real part, and n - k the imaginary one.
  const Array rest = ops::rev(part(second, axis, 1, (n - 1) / 2 + 1), {axis});
  const Array y = ops::concatenate(Arrays{first, rest}, axis);
  return ortho ? y * first_factor(n, x, axis, std::sqrt(0.5)) : y;
}

Array idct_along(const Array& given, int axis, bool ortho) {
  const std::int64_t n = given.shape(axis), half = n / 2;
  const Array x = ortho ? given * first_factor(n, given, axis, std::sqrt(2.0)) : given;
  const Turns w = turns(n, x, axis, ortho ? std::sqrt(static_cast<double>(n) / 2) : 0.5);
  const Array re = part(x, axis, 0, half + 1);
  const Array zero = ops::zeros_like(part(x, axis, 0, 1));
  const Array im =
      half == 0 ? zero : ops::concatenate(Arrays{zero, ops::rev(part(x, axis, n - half, n), {axis})}, axis);
  const Array v = ops::complex(re * w.cosine + im * w.sine, re * w.sine - im * w.cosine);
  const Array order = cotan::fft::irfft(v, {.n = n, .axis = axis});
  // Even elements are in front, odd ones behind them, backwards.
  const std::int64_t evens = (n + 1) / 2;
  Array odd = ops::rev(part(order, axis, evens, n), {axis});
  if (n % 2 == 1) odd = ops::concatenate(Arrays{odd, zero}, axis);
  Shape pairs = order.shape(), shape = order.shape();
  pairs[static_cast<std::size_t>(axis)] = evens;
  pairs.insert(pairs.begin() + axis + 1, 1);
  shape[static_cast<std::size_t>(axis)] = 2 * evens;
  const Array both =
      ops::concatenate(Arrays{ops::reshape(part(order, axis, 0, evens), pairs), ops::reshape(odd, pairs)}, axis + 1);
  return part(ops::reshape(both, shape), axis, 0, n);
}

using Along = Array (*)(const Array&, int, bool);

/// Of complex numbers both parts.
Array transformed(std::string_view op, Along f, const Array& x, int axis, std::optional<std::int64_t> n,
                  std::string_view norm) {
  const Array y = with_length(op, x, axis, n.value_or(x.shape(axis)));
  const bool ortho = norm == "ortho";
  if (!is_complex(y.dtype())) return f(y, axis, ortho);
  return ops::complex(f(ops::real(y), axis, ortho), f(ops::imag(y), axis, ortho));
}

Array along_one(std::string_view op, Along f, const Array& given, const CosineOptions& o) {
  const Array x = operand(op, given, o.type, o.norm);
  return transformed(op, f, x, np::resolve_axis(o.axis, x.ndim(), op), o.n, o.norm);
}

Array along_all(std::string_view op, Along f, const Array& given, const CosineAxesOptions& o) {
  Array x = operand(op, given, o.type, o.norm);
  std::vector<int> axes;
  if (o.axes.given())
    axes = o.axes.resolve(x.ndim(), op);
  else
    for (int k = o.s.empty() ? 0 : x.ndim() - static_cast<int>(o.s.size()); k < x.ndim(); ++k) axes.push_back(k);
  if (!o.s.empty() && (o.s.size() != axes.size() || axes.front() < 0))
    raise<ShapeError>("[{}] s has {} lengths for {} axes of {}; give one for each.", op, o.s.size(), axes.size(),
                      x.aval());
  for (std::size_t k = 0; k < axes.size(); ++k)
    x = transformed(op, f, x, axes[k], o.s.empty() ? std::nullopt : std::optional(o.s[k]), o.norm);
  return x;
}

}  // namespace

Array dct(const ArrayLike& x, const CosineOptions& options) { return along_one("dct", dct_along, x, options); }
Array idct(const ArrayLike& x, const CosineOptions& options) { return along_one("idct", idct_along, x, options); }
Array dctn(const ArrayLike& x, const CosineAxesOptions& options) { return along_all("dctn", dct_along, x, options); }
Array idctn(const ArrayLike& x, const CosineAxesOptions& options) { return along_all("idctn", idct_along, x, options); }

}  // namespace cotan::scipy::fft
