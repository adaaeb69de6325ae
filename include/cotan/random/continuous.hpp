// cotan::random: continuous distributions of one number, by functions of uniform and normal ones.
#pragma once
#include <cotan/random/keys.hpp>

namespace cotan::random {

/// @name Uniform and normal numbers
/// @{

/// Uniform in [minval, maxval); bounds broadcast to `shape`.
Array uniform(const ArrayLike& key, const Shape& shape = {}, DType dtype = f32, const ArrayLike& minval = 0.0,
              const ArrayLike& maxval = 1.0);
/// Of mean 0 and standard deviation 1. Of a complex dtype both parts have variance 1/2.
Array normal(const ArrayLike& key, const Shape& shape = {}, DType dtype = f32);
/// Normal numbers between `lower` and `upper`, neither included; the shape is that of the bounds unless one is given.
Array truncated_normal(const ArrayLike& key, const ArrayLike& lower, const ArrayLike& upper,
                       const std::optional<Shape>& shape = {}, DType dtype = f32);
/// exp(sigma n) of normal numbers n; the shape is that of `sigma` unless one is given. Complex dtypes too.
Array lognormal(const ArrayLike& key, const ArrayLike& sigma = 1.0, const std::optional<Shape>& shape = {},
                DType dtype = f32);
/// The length of three normal numbers.
Array maxwell(const ArrayLike& key, const Shape& shape = {}, DType dtype = f32);
/// loc + scale m, where m is a Maxwell variate with a random sign; of shape `shape` + that of loc and scale. (JAX
/// repeats the shape of the parameters where `shape` is empty; here it is there once.)
Array double_sided_maxwell(const ArrayLike& key, const ArrayLike& loc, const ArrayLike& scale, const Shape& shape = {},
                           DType dtype = f32);
/// The length of two normal numbers of standard deviation `scale`.
Array rayleigh(const ArrayLike& key, const ArrayLike& scale, const std::optional<Shape>& shape = {}, DType dtype = f32);
/// Wald (inverse Gaussian) of the given mean and scale 1.
Array wald(const ArrayLike& key, const ArrayLike& mean, const std::optional<Shape>& shape = {}, DType dtype = f32);

/// @}
/// @name By inversion
/// @{

/// Of rate 1.
Array exponential(const ArrayLike& key, const Shape& shape = {}, DType dtype = f32);
/// Gumbel: -log(-log(u)). With Mode::low the largest in f32 is about 16, with the others about 32.
Array gumbel(const ArrayLike& key, const Shape& shape = {}, DType dtype = f32, Mode mode = Mode::low);
/// Laplace: of mean 0 and scale 1.
Array laplace(const ArrayLike& key, const Shape& shape = {}, DType dtype = f32);
/// Logistic: log(u / (1 - u)).
Array logistic(const ArrayLike& key, const Shape& shape = {}, DType dtype = f32);
/// Cauchy: tan(pi (u - 1/2)).
Array cauchy(const ArrayLike& key, const Shape& shape = {}, DType dtype = f32);
/// Pareto with minimum 1 and density b / x^(b + 1).
Array pareto(const ArrayLike& key, const ArrayLike& b, const std::optional<Shape>& shape = {}, DType dtype = f32);
/// Weibull: scale e^(1 / concentration) of exponential e. The shape is `shape` broadcast with those of the parameters.
/// (In JAX elements that only the parameters have share one draw; here each has its own.)
Array weibull_min(const ArrayLike& key, const ArrayLike& scale, const ArrayLike& concentration, const Shape& shape = {},
                  DType dtype = f32);
/// Triangular: density rises from `left` to `mode` and falls to `right`.
Array triangular(const ArrayLike& key, const ArrayLike& left, const ArrayLike& mode, const ArrayLike& right,
                 const std::optional<Shape>& shape = {}, DType dtype = f32);

/// @}

}  // namespace cotan::random
