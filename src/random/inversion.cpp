// Continuous distributions whose quantile function is elementary, of uniform numbers.
#include <cotan/lax.hpp>
#include <cotan/numpy.hpp>

#include "random/sampling.hpp"

namespace cotan::random {

namespace np = numpy;

Array exponential(const ArrayLike& key, const Shape& shape, DType dtype) {
  check_draw("exponential", key, shape, dtype);
  return -log1p(-unit_interval(key, shape, dtype));
}

namespace {

/// Two words as a number in (0, 1) with all the bits that f32 has near 0.
Array fine_unit(const Words& words) {
  const auto word = [](std::int64_t value) { return scalar(u32, value); };
  const Array zeros = lax::clz(words.high), low_zeros = lax::clz(words.low), none_high = zeros == word(32);
  // The first 32 bits from the first that is set on.
  const Array from_low = np::where(none_high, lax::shift_left(words.low, low_zeros),
                                   lax::shift_right_logical(words.low, word(32) - zeros));
  const Array leading = lax::shift_left(words.high, zeros) | from_low;
  const Array mantissa = lax::shift_right_logical(leading, word(8)) & word(0x007fffff);
  const Array exponent = word(126) - np::where(none_high, low_zeros + word(32), zeros);
  return lax::bitcast_convert_type((lax::shift_left(exponent, word(23)) & word(0x3fc00000)) | mantissa, f32);
}

/// A u of which the small half is as fine as f32 is near 0, and 1 - u instead of u where that is larger.
Array highest_gumbel(const Array& key, const Shape& shape) {
  Shape two = shape;
  two.insert(two.begin(), 2);
  const Array bits = random_bits(key, two, u32);
  const Words drawn{ops::reshape(ops::slice_axis(bits, 0, 0, 1), shape),
                    ops::reshape(ops::slice_axis(bits, 0, 1, 2), shape)};
  const Array one = scalar(u32, 1), carry = ops::cast(~drawn.low == scalar(u32, std::int64_t{0xffffffff}), u32);
  const Words negated{~drawn.high + carry, ~drawn.low + one};
  const Array small = drawn.high < scalar(u32, std::int64_t{1} << 31);
  const Array x = fine_unit({np::where(small, drawn.high, negated.high), np::where(small, drawn.low, negated.low)});
  return np::where(small, -log(-log1p(-x)), -log(-log(x)));
}

}  // namespace

Array gumbel(const ArrayLike& key, const Shape& shape, DType dtype, Mode mode) {
  check_draw("gumbel", key, shape, dtype);
  const FloatFormat format = format_of(dtype);
  if (mode == Mode::low) return -log(-log(positive_unit(key, shape, dtype)));
  if (mode == Mode::highest && dtype == f32) return highest_gumbel(key, shape);
  Shape two = shape;
  two.insert(two.begin(), 2);
  const Array u = unit_interval(key, two, dtype);
  const Array high = ops::reshape(ops::slice_axis(u, 0, 0, 1), shape),
              low = ops::reshape(ops::slice_axis(u, 0, 1, 2), shape);
  const Array fine = multiply_add(scalar(dtype, format.epsilon), low, high) + scalar(dtype, format.tiny);
  return -log(-log1p(-np::where(high >= scalar(dtype, 0.5), high, fine)));
}

Array laplace(const ArrayLike& key, const Shape& shape, DType dtype) {
  check_draw("laplace", key, shape, dtype);
  const Array u = symmetric_of(unit_interval(key, shape, dtype));
  return np::sign(u) * log1p(-np::abs(u));
}

Array logistic(const ArrayLike& key, const Shape& shape, DType dtype) {
  check_draw("logistic", key, shape, dtype);
  const Array u = positive_unit(key, shape, dtype);
  return log(u) - log1p(-u);
}

Array cauchy(const ArrayLike& key, const Shape& shape, DType dtype) {
  check_draw("cauchy", key, shape, dtype);
  const Array u = uniform_between(key, shape, dtype, format_of(dtype).epsilon, 1.0);
  return np::tan(scalar(dtype, np::pi) * (u - scalar(dtype, 0.5)));
}

Array pareto(const ArrayLike& key, const ArrayLike& b, const std::optional<Shape>& shape, DType dtype) {
  check_draw("pareto", key, {}, dtype);
  const Shape result = shape_of_draws("pareto", shape, {{"b", b}});
  return exp(quotient(exponential(key, result, dtype), float_parameter("pareto", {"b", b}, dtype, result)));
}

Array weibull_min(const ArrayLike& key, const ArrayLike& scale, const ArrayLike& concentration, const Shape& shape,
                  DType dtype) {
  constexpr std::string_view op = "weibull_min";
  check_draw(op, key, shape, dtype);
  const Shape shapes[] = {shape, scale->shape(), concentration->shape()};
  const Shape result = np::broadcast_shapes("random.weibull_min", shapes);
  const Array power = scalar(dtype, 1) / float_parameter(op, {"concentration", concentration}, dtype, result);
  return np::power(exponential(key, result, dtype), power) * float_parameter(op, {"scale", scale}, dtype, result);
}

Array triangular(const ArrayLike& key, const ArrayLike& left, const ArrayLike& mode, const ArrayLike& right,
                 const std::optional<Shape>& shape, DType dtype) {
  constexpr std::string_view op = "triangular";
  check_draw(op, key, {}, dtype);
  const Shape result = shape_of_draws(op, shape, {{"left", left}, {"mode", mode}, {"right", right}});
  const Array a = float_parameter(op, {"left", left}, dtype, result),
              b = float_parameter(op, {"mode", mode}, dtype, result),
              c = float_parameter(op, {"right", right}, dtype, result);
  const Array u = unit_interval(key, result, dtype);
  const Array rising = a + np::sqrt(u * (c - a) * (b - a));
  const Array falling = c - np::sqrt((scalar(dtype, 1) - u) * (c - a) * (c - b));
  return np::where(u < (b - a) / (c - a), rising, falling);
}

}  // namespace cotan::random
