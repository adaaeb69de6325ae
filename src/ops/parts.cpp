// Rules for complex operands that many operations share.
#include "ops/parts.hpp"

#include <cotan/numpy.hpp>

namespace cotan::ops {

PartsList on_each_part(const Primitive& self, PartsOf x, const Params& params) {
  Arrays re, im;
  for (const ComplexParts& operand : x) {
    re.push_back(operand.re);
    im.push_back(operand.complex() ? operand.im : operand.re);
  }
  return {{bind1(self, re, params), bind1(self, im, params)}};
}

PartsList bilinear_on_parts(const Primitive& self, PartsOf x, const Params& params) {
  const auto product = [&](const Array& a, const Array& b) { return bind1(self, {a, b}, params); };
  const ComplexParts &a = x[0], &b = x[1];
  return {{product(a.re, b.re) - product(a.im, b.im), product(a.re, b.im) + product(a.im, b.re)}};
}

Array interleaved(const ComplexParts& x) {
  if (!x.complex()) return x.re;
  Shape shape = x.re.shape();
  shape.push_back(1);
  const Array both[] = {reshape(x.re, shape), reshape(x.im, shape)};
  return concatenate(both, static_cast<int>(shape.size()) - 1);
}
ComplexParts parts_of_memory(const Array& both) {
  const int last = both.ndim() - 1;
  const auto part = [&](std::int64_t k) {
    return reshape(slice_axis(both, last, k, k + 1), Shape(both.shape().begin(), both.shape().end() - 1));
  };
  return {part(0), part(1)};
}

namespace parts {

namespace {

/// Every element moved up by `by` along an axis; `first` comes in.
Array moved(const Array& x, int axis, std::int64_t by, double first) {
  Ints none(x.shape().size(), 0), low = none, high = none;
  low[static_cast<std::size_t>(axis)] = by;
  high[static_cast<std::size_t>(axis)] = -by;
  return pad(x, scalar(x.dtype(), first), low, high, none);
}
ComplexParts reversed(const ComplexParts& x, int axis) { return {rev(x.re, {axis}), rev(x.im, {axis})}; }

}  // namespace

ComplexParts recurrence(ComplexParts a, ComplexParts b, int axis, bool reverse) {
  if (reverse) a = reversed(a, axis), b = reversed(b, axis);
  const std::int64_t n = b.re.shape()[static_cast<std::size_t>(axis)];
  for (std::int64_t by = 1; by < n; by *= 2) {
    const ComplexParts before_a{moved(a.re, axis, by, 1), moved(a.im, axis, by, 0)};
    const ComplexParts before_b{moved(b.re, axis, by, 0), moved(b.im, axis, by, 0)};
    b = add(mul(a, before_b), b);
    a = mul(a, before_a);
  }
  return reverse ? reversed(b, axis) : b;
}

ComplexParts running_product(ComplexParts a, int axis, bool reverse) {
  if (reverse) a = reversed(a, axis);
  const std::int64_t n = a.re.shape()[static_cast<std::size_t>(axis)];
  for (std::int64_t by = 1; by < n; by *= 2) a = mul(a, {moved(a.re, axis, by, 1), moved(a.im, axis, by, 0)});
  return reverse ? reversed(a, axis) : a;
}

}  // namespace parts

}  // namespace cotan::ops
