// Normal numbers and distributions that are simple functions of them.
#include <cmath>
#include <cotan/lax.hpp>
#include <cotan/numpy.hpp>

#include "random/sampling.hpp"

namespace cotan::random {

namespace np = numpy;

namespace {

Array real_normal(const Array& key, const Shape& shape, DType dtype) {
  return normal_of(symmetric_of(unit_interval(key, shape, dtype)));
}

}  // namespace

Array normal(const ArrayLike& key, const Shape& shape, DType dtype) {
  check_key("normal", key);
  check_shape("normal", shape);
  check_inexact("normal", key, dtype);
  if (!is_complex(dtype)) return real_normal(key, shape, dtype);
  const DType part = dtype == c64 ? f32 : f64;
  const auto [re, im] = split_in_two(key);
  const Array share = scalar(part, 1) / scalar(part, std::sqrt(2.0));
  return ops::complex(real_normal(re, shape, part) * share, real_normal(im, shape, part) * share);
}

Array truncated_normal(const ArrayLike& key, const ArrayLike& lower, const ArrayLike& upper,
                       const std::optional<Shape>& shape, DType dtype) {
  check_draw("truncated_normal", key, {}, dtype);
  const Shape result = shape_of_draws("truncated_normal", shape, {{"lower", lower}, {"upper", upper}});
  const Array low = parameter("truncated_normal", "lower", ops::cast(lower, dtype), result);
  const Array high = parameter("truncated_normal", "upper", ops::cast(upper, dtype), result);
  const Array sqrt2 = scalar(dtype, std::sqrt(2.0));
  const Array u = scaled(unit_interval(key, result, dtype), lax::erf(low / sqrt2), lax::erf(high / sqrt2));
  // Rounding must not push a sample out of the open interval.
  return np::clip(normal_of(u), np::nextafter(lax::stop_gradient(low), scalar(dtype, np::inf)),
                  np::nextafter(lax::stop_gradient(high), scalar(dtype, -np::inf)));
}

Array lognormal(const ArrayLike& key, const ArrayLike& sigma, const std::optional<Shape>& shape, DType dtype) {
  check_key("lognormal", key);
  check_inexact("lognormal", key, dtype);
  const Shape result = shape_of_draws("lognormal", shape, {{"sigma", sigma}});
  const Array deviation = float_parameter("lognormal", {"sigma", sigma}, dtype, result);
  if (is_complex(dtype)) return np::exp(normal(key, result, dtype) * deviation);
  // XLA multiplies numbers that are one for all elements first.
  if (!is_one_number(deviation)) return exp(normal(key, result, dtype) * deviation);
  return exp(quantile_of(symmetric_of(unit_interval(key, result, dtype))) *
             (scalar(dtype, std::sqrt(2.0)) * deviation));
}

Array maxwell(const ArrayLike& key, const Shape& shape, DType dtype) {
  check_draw("maxwell", key, shape, dtype);
  Shape three = shape;
  three.push_back(3);
  const Array squares = np::square(normal(key, three, dtype));
  // In the order in which XLA sums three numbers; halves are summed in f32.
  const DType wide = itemsize(dtype) < 4 ? f32 : dtype;
  const auto part = [&](std::int64_t i) {
    return ops::cast(ops::reshape(ops::slice_axis(squares, -1 + static_cast<int>(three.size()), i, i + 1), shape),
                     wide);
  };
  return np::sqrt(ops::cast(part(0) + part(2) + part(1), dtype));
}

Array double_sided_maxwell(const ArrayLike& key, const ArrayLike& loc, const ArrayLike& scale, const Shape& shape,
                           DType dtype) {
  constexpr std::string_view op = "double_sided_maxwell";
  check_draw(op, key, shape, dtype);
  const Shape parameters = shape_of_draws(op, {}, {{"loc", loc}, {"scale", scale}});
  Shape result = shape;
  result.insert(result.end(), parameters.begin(), parameters.end());
  const auto [lengths, signs] = split_in_two(key);
  const Array draws = rademacher(signs, result, dtype) * maxwell(lengths, result, dtype);
  return draws * float_parameter(op, {"scale", scale}, dtype, result) +
         float_parameter(op, {"loc", loc}, dtype, result);
}

Array rayleigh(const ArrayLike& key, const ArrayLike& scale, const std::optional<Shape>& shape, DType dtype) {
  check_draw("rayleigh", key, {}, dtype);
  const Shape result = shape_of_draws("rayleigh", shape, {{"scale", scale}});
  const Array length = np::sqrt(log(unit_interval(key, result, dtype)) * scalar(dtype, -2));
  return float_parameter("rayleigh", {"scale", scale}, dtype, result) * length;
}

Array wald(const ArrayLike& key, const ArrayLike& mean, const std::optional<Shape>& shape, DType dtype) {
  check_draw("wald", key, {}, dtype);
  const Shape result = shape_of_draws("wald", shape, {{"mean", mean}});
  const Array mu = float_parameter("wald", {"mean", mean}, dtype, result), mu2 = mu * mu;
  const auto [first, second] = split_in_two(key);
  const Array v = normal(first, result, dtype), z = unit_interval(second, result, dtype), y = v * v;
  const Array root = np::sqrt(multiply_add(scalar(dtype, 4) * mu, y, mu2 * (y * y)));
  const Array half = scalar(dtype, 0.5);
  const Array x = multiply_add(-(mu * half), root, multiply_add(mu2 * y, half, mu));
  return np::where(z <= mu / (mu + x), x, mu2 / x);
}

}  // namespace cotan::random
