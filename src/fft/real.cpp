// Transforms of real numbers. An even number of them is half as many complex ones, whose transform is then taken apart
// into those of the even and the odd elements.
#include "fft/transform.hpp"
#include "ops/ops.hpp"

namespace cotan::fft {

namespace {

/// All elements, and the first one once more: frequencies repeat.
Array closed(const Array& a, int axis) { return ops::concatenate(Arrays{a, ops::slice_axis(a, axis, 0, 1)}, axis); }
Complex map(const Complex& a, const std::function<Array(const Array&)>& f) { return {f(a.re), f(a.im)}; }
Complex times_i(const Complex& a) { return {-a.im, a.re}; }

/// Every other element, from `first` on.
Array every_other(const Array& a, int axis, std::int64_t first) {
  return ops::slice_axis(a, axis, first, a.shape(axis), 2);
}

}  // namespace

Complex real_transform(const Array& a, int axis, double scale) {
  const std::int64_t n = a.shape(axis), half = n / 2;
  const auto scaled = [](const Complex& x, double by) {
    return by == 1 ? x : map(x, [&](const Array& part) { return part * by; });
  };
  if (n % 2 == 1) {
    const Complex y = transform({a, ops::zeros_like(a)}, axis);
    return scaled(map(y, [&](const Array& x) { return ops::slice_axis(x, axis, 0, half + 1); }), scale);
  }
  const Complex z = map(transform({every_other(a, axis, 0), every_other(a, axis, 1)}, axis),
                        [&](const Array& x) { return closed(x, axis); });
  const Complex other = conj(map(z, [&](const Array& x) { return ops::rev(x, {axis}); }));
  const Complex even = z + other, odd = -times_i(z - other);
  return scaled(even + odd * roots(n, z.re.shape(), axis, a.dtype()), scale / 2);
}

Array real_inverse_transform(const Complex& a, std::int64_t n, int axis) {
  const std::int64_t half = n / 2;
  const auto part = [&](const Array& x, std::int64_t from, std::int64_t to) {
    return ops::slice_axis(x, axis, from, to);
  };
  if (n % 2 == 1) {
    if (n == 1) return a.re;
    const auto reversed = [&](const Array& x) { return ops::rev(part(x, 1, half + 1), {axis}); };
    const Complex whole{ops::concatenate(Arrays{a.re, reversed(a.re)}, axis),
                        ops::concatenate(Arrays{a.im, -reversed(a.im)}, axis)};
    return inverse_transform(whole, axis).re;
  }
  // Frequency 0 and the highest are real whatever is given.
  const Ints none(a.im.shape().size(), 0);
  Ints one = none;
  one[static_cast<std::size_t>(axis)] = 1;
  const Complex x{a.re, ops::pad(part(a.im, 1, half), scalar(a.im.dtype(), 0), one, one, none)};
  const Complex first = map(x, [&](const Array& y) { return part(y, 0, half); });
  const Complex other = conj(map(x, [&](const Array& y) { return ops::rev(part(y, 1, half + 1), {axis}); }));
  const Complex odd = (first - other) * conj(roots(n, first.re.shape(), axis, a.re.dtype()));
  const Complex z = inverse_transform(first + other + times_i(odd), axis);
  // Real and imaginary parts are the even and the odd elements.
  Shape pairs = z.re.shape(), shape = pairs;
  pairs.insert(pairs.begin() + axis + 1, 1);
  shape[static_cast<std::size_t>(axis)] = n;
  return ops::reshape(ops::concatenate(Arrays{ops::reshape(z.re, pairs), ops::reshape(z.im, pairs)}, axis + 1), shape);
}

}  // namespace cotan::fft
