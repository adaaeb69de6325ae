// The gamma distribution and what is made of its variates.
#include <cotan/lax.hpp>
#include <cotan/nn.hpp>
#include <cotan/numpy.hpp>

#include "random/rejection.hpp"

namespace cotan::random {

namespace np = numpy;

namespace {

/// Variates of shape parameters that are in the result's shape, or 0-d.
Array variates(const Primitive& p, const Array& key, const Array& a, const Shape& shape) {
  // A key for each element, as split gives them.
  const Words keys = cipher(words_of_key(key), positions(shape));
  return bind1(p, {keys.high, keys.low, a});
}

/// gamma and loggamma: as in JAX parameters of any dtype are taken.
Array draw_variates(std::string_view op, const Primitive& p, const Array& key, const Array& a,
                    const std::optional<Shape>& shape, DType dtype) {
  check_draw(op, key, {}, dtype);
  np::check_real(fmt::format("random.{}", op), a);
  const Shape result = shape_of_draws(op, shape, {{"a", a}});
  return variates(p, key, parameter(op, "a", ops::cast(a, dtype), result), result);
}

Array of_chisquare(const Array& key, const Array& df, const Shape& shape) {
  const Array two = scalar(df.dtype(), 2);
  return exp(variates(random_loggamma_p, key, df / two, shape)) * two;
}

}  // namespace

Array gamma(const ArrayLike& key, const ArrayLike& a, const std::optional<Shape>& shape, DType dtype) {
  return draw_variates("gamma", random_gamma_p, key, a, shape, dtype);
}

Array loggamma(const ArrayLike& key, const ArrayLike& a, const std::optional<Shape>& shape, DType dtype) {
  return draw_variates("loggamma", random_loggamma_p, key, a, shape, dtype);
}

Array beta(const ArrayLike& key, const ArrayLike& a, const ArrayLike& b, const std::optional<Shape>& shape,
           DType dtype) {
  check_draw("beta", key, {}, dtype);
  const Shape result = shape_of_draws("beta", shape, {{"a", a}, {"b", b}});
  const auto [first, second] = split_in_two(key);
  const Array x = variates(random_loggamma_p, first, float_parameter("beta", {"a", a}, dtype, result), result),
              y = variates(random_loggamma_p, second, float_parameter("beta", {"b", b}, dtype, result), result);
  // The quotient of both over the larger one: small ones do not vanish.
  const Array larger = np::maximum(x, y), scaled_x = exp(x - larger);
  return scaled_x / (scaled_x + exp(y - larger));
}

Array dirichlet(const ArrayLike& key, const ArrayLike& alpha, const std::optional<Shape>& shape, DType dtype) {
  check_draw("dirichlet", key, {}, dtype);
  if (alpha->ndim() == 0)
    raise<ShapeError>("[random.dirichlet] alpha is {}; it must have an axis, of a number for each part.",
                      alpha->aval());
  Shape result = alpha->shape();
  if (shape) {
    check_shape("dirichlet", *shape);
    check_fits("dirichlet", "the batch of alpha", Shape(result.begin(), result.end() - 1), *shape);
    result.erase(result.begin(), result.end() - 1);
    result.insert(result.begin(), shape->begin(), shape->end());
  }
  const Array a = parameter("dirichlet", "alpha", ops::cast(alpha, dtype), result);
  return nn::softmax(variates(random_loggamma_p, key, a, result), -1);
}

Array chisquare(const ArrayLike& key, const ArrayLike& df, const std::optional<Shape>& shape, DType dtype) {
  check_draw("chisquare", key, {}, dtype);
  const Shape result = shape_of_draws("chisquare", shape, {{"df", df}});
  return of_chisquare(key, float_parameter("chisquare", {"df", df}, dtype, result), result);
}

Array f(const ArrayLike& key, const ArrayLike& dfnum, const ArrayLike& dfden, const std::optional<Shape>& shape,
        DType dtype) {
  check_draw("f", key, {}, dtype);
  const Shape result = shape_of_draws("f", shape, {{"dfnum", dfnum}, {"dfden", dfden}});
  const auto [of_denominator, of_numerator] = split_in_two(key);
  const Array m = float_parameter("f", {"dfnum", dfnum}, dtype, result),
              n = float_parameter("f", {"dfden", dfden}, dtype, result);
  // The quotient of means, by one division.
  return (of_chisquare(of_numerator, m, result) * n) / (m * of_chisquare(of_denominator, n, result));
}

Array t(const ArrayLike& key, const ArrayLike& df, const std::optional<Shape>& shape, DType dtype) {
  check_draw("t", key, {}, dtype);
  const Shape result = shape_of_draws("t", shape, {{"df", df}});
  const auto [of_normal, of_gamma] = split_in_two(key);
  const Array half = float_parameter("t", {"df", df}, dtype, result) / scalar(dtype, 2);
  return normal(of_normal, result, dtype) * np::sqrt(half / variates(random_gamma_p, of_gamma, half, result));
}

Array generalized_normal(const ArrayLike& key, const ArrayLike& p, const Shape& shape, DType dtype) {
  constexpr std::string_view op = "generalized_normal";
  check_draw(op, key, shape, dtype);
  const Array power = scalar(dtype, 1) / float_parameter(op, {"p", p}, dtype, shape);
  const auto [sizes, signs] = split_in_two(key);
  return rademacher(signs, shape, dtype) * np::power(variates(random_gamma_p, sizes, power, shape), power);
}

Array ball(const ArrayLike& key, std::int64_t d, const ArrayLike& p, const Shape& shape, DType dtype) {
  check_draw("ball", key, shape, dtype);
  if (d < 0) raise<ShapeError>("[random.ball] {} dimensions; give 0 or more.", d);
  if (p->ndim() != 0) raise<ShapeError>("[random.ball] p is {}; it must be one number. Many: use vmap.", p->aval());
  const Array norm = float_parameter("ball", {"p", p}, dtype, {});
  Shape points = shape;
  points.push_back(d);
  const auto [directions, depths] = split_in_two(key);
  const Array g = generalized_normal(directions, norm, points, dtype);
  const Array size = np::sum(np::power(np::abs(g), norm), -1) + exponential(depths, shape, dtype);
  return g / np::expand_dims(np::power(size, scalar(dtype, 1) / norm), -1);
}

}  // namespace cotan::random
