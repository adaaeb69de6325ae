// cotan::random: the gamma distribution and what is made of its variates.
#pragma once
#include <cotan/random/keys.hpp>

namespace cotan::random {

/// @name Gamma and relatives
/// Differentiable by their parameters, along samples: as in JAX the quantile stays. The shape is that of the parameters
/// unless one is given.
/// @{

/// Gamma of shape parameter `a` and scale 1, by Marsaglia and Tsang's method. NaN where a < 0 (in JAX any number).
Array gamma(const ArrayLike& key, const ArrayLike& a, const std::optional<Shape>& shape = {}, DType dtype = f32);
/// Logarithms of gamma variates, the same as gamma gives: for small `a`, where those underflow.
Array loggamma(const ArrayLike& key, const ArrayLike& a, const std::optional<Shape>& shape = {}, DType dtype = f32);
/// Beta of a and b.
Array beta(const ArrayLike& key, const ArrayLike& a, const ArrayLike& b, const std::optional<Shape>& shape = {},
           DType dtype = f32);
/// Dirichlet: points of the simplex along the last axis, [shape, n] for alpha [..., n].
Array dirichlet(const ArrayLike& key, const ArrayLike& alpha, const std::optional<Shape>& shape = {},
                DType dtype = f32);
/// Chi-square with `df` degrees of freedom.
Array chisquare(const ArrayLike& key, const ArrayLike& df, const std::optional<Shape>& shape = {}, DType dtype = f32);
/// F with `dfnum` and `dfden` degrees of freedom.
Array f(const ArrayLike& key, const ArrayLike& dfnum, const ArrayLike& dfden, const std::optional<Shape>& shape = {},
        DType dtype = f32);
/// Student's t with `df` degrees of freedom.
Array t(const ArrayLike& key, const ArrayLike& df, const std::optional<Shape>& shape = {}, DType dtype = f32);
/// Of density proportional to exp(-|x|^p). A `p` that is no scalar must broadcast to `shape`.
Array generalized_normal(const ArrayLike& key, const ArrayLike& p, const Shape& shape = {}, DType dtype = f32);
/// Uniform in the unit ball of the p-norm in `d` dimensions: [shape, d].
Array ball(const ArrayLike& key, std::int64_t d, const ArrayLike& p = 2.0, const Shape& shape = {}, DType dtype = f32);

/// @}

}  // namespace cotan::random
