// Polynomials by their coefficients.
#pragma once
#include <cotan/array.hpp>
#include <optional>
#include <utility>

namespace cotan::numpy {

/// @name Polynomials
/// Vectors of coefficients, the highest power first.
/// @{
/// The polynomial with coefficients `p`, the highest power first, at `x`. `p` may have further axes, which broadcast
/// with x.
Array polyval(const ArrayLike& p, const ArrayLike& x);
/// [len(x), n]: decreasing powers of `x` in columns, the last one 1, or increasing ones; `n` is len(x) unless given.
Array vander(const ArrayLike& x, std::optional<int> n = std::nullopt, bool increasing = false);
/// The coefficients of the polynomial with these roots, a vector; of a square matrix with its eigenvalues, which are
/// complex numbers. Integers become floats.
Array poly(const ArrayLike& roots);
Array polyadd(const ArrayLike& a, const ArrayLike& b);  ///< the sum
Array polysub(const ArrayLike& a, const ArrayLike& b);  ///< the difference
/// The product; integers become floats. `trim_leading_zeros` of the operands needs values.
Array polymul(const ArrayLike& a, const ArrayLike& b, bool trim_leading_zeros = false);
/// Quotient and remainder; integers become floats. The remainder is as long as `a`, unless its leading zeros are
/// trimmed, which needs values.
std::pair<Array, Array> polydiv(const ArrayLike& a, const ArrayLike& b, bool trim_leading_zeros = false);
/// The m-th derivative; integers become floats.
Array polyder(const ArrayLike& p, int m = 1);
/// The m-th integral; `k` are the constants of integration, one for all or one per integration.
Array polyint(const ArrayLike& p, int m = 1, const ArrayLike& k = 0);
/// Of polyfit.
struct PolyfitOptions {
  std::optional<double> rcond = {};  ///< singular values below rcond times the largest are 0; by default len(x) · eps
  std::optional<Array> w = {};       ///< weights of the residuals
};
/// What polyfit found, and how.
struct PolyfitResult {
  Array coefficients, residuals, rank, singular_values;
  double rcond = 0;
};
/// The polynomial of degree `deg` with the least squares of y - p(x); columns of `y` are fitted each by itself.
Array polyfit(const ArrayLike& x, const ArrayLike& y, int deg, const PolyfitOptions& options = {});
/// The same with all that was found: `jnp.polyfit(…, full=True)`.
PolyfitResult polyfit_full(const ArrayLike& x, const ArrayLike& y, int deg, const PolyfitOptions& options = {});
/// The same with the covariances of the coefficients: `cov=True`, or `"unscaled"`, which takes the weights as they are.
std::pair<Array, Array> polyfit_cov(const ArrayLike& x, const ArrayLike& y, int deg, const PolyfitOptions& options = {},
                                    bool scaled = true);
/// @}

}  // namespace cotan::numpy
