// Tries that succeed or fail: bernoulli, rademacher, geometric.
#include <cotan/lax.hpp>
#include <cotan/numpy.hpp>

#include "random/sampling.hpp"

namespace cotan::random {

namespace np = numpy;

Array bernoulli(const ArrayLike& key, const ArrayLike& p, std::optional<Shape> shape, Mode mode) {
  check_key("bernoulli", key);
  check_floating("bernoulli", key, p->dtype());
  if (mode == Mode::highest)
    raise<ValueError>("[random.bernoulli] there is no Mode::highest; use Mode::high or Mode::low.");
  const DType dtype = p->dtype();
  const Shape result = shape ? *shape : p->shape();
  check_shape("bernoulli", result);
  const Array probability = parameter("bernoulli", "p", ops::cast(p, dtype), result);
  if (mode == Mode::low) return unit_interval(key, result, dtype) < probability;
  Shape two = result;
  two.insert(two.begin(), 2);
  const Array u = unit_interval(key, two, dtype);
  const Array coarse = ops::reshape(ops::slice_axis(u, 0, 0, 1), result),
              fine = ops::reshape(ops::slice_axis(u, 0, 1, 2), result);
  return fine * scalar(dtype, format_of(dtype).epsilon) < probability - coarse;
}

Array rademacher(const ArrayLike& key, const Shape& shape, DType dtype) {
  check_key("rademacher", key);
  check_shape("rademacher", shape);
  if (!is_signed_integer(dtype) && !is_floating(dtype))
    raise<TypeError>("[random.rademacher] dtype {} does not hold -1; use a signed or floating-point one.", dtype);
  check_device("rademacher", key, dtype);
  // 64-bit dtypes are there only in JAX's 64-bit mode, in which 0.5 is an f64.
  const Array half = scalar(itemsize(dtype) == 8 ? f64 : f32, 0.5);
  const Array heads = ops::cast(bernoulli(key, half, shape), dtype);
  return heads + heads - scalar(dtype, 1);
}

Array geometric(const ArrayLike& key, const ArrayLike& p, const std::optional<Shape>& shape, DType dtype) {
  check_key("geometric", key);
  check_integer("geometric", key, dtype);
  const Shape result = shape_of_draws("geometric", shape, {{"p", p}});
  const Array probability = np::to_inexact(p);
  const DType drawn = probability.dtype();
  check_floating("geometric", key, drawn);
  const Array u = unit_interval(key, result, drawn), one = scalar(drawn, 1);
  const Array of_failure = log1p(-ops::cast(probability, drawn));
  const Array tries = log(np::where(u == scalar(drawn, 0), one, u)) / parameter("geometric", "p", of_failure, result);
  return ops::cast(np::floor(tries) + one, dtype);
}

}  // namespace cotan::random
