// Norms of vectors and matrices, by NumPy's orders.
#include <cmath>
#include <cotan/linalg.hpp>
#include <cotan/numpy.hpp>
#include <cotan/numpy/complex.hpp>

#include "core/error.hpp"
#include "linalg/operands.hpp"

namespace cotan::linalg {

namespace np = cotan::numpy;

namespace {

constexpr double inf = np::inf;

Array root_of_squares(const Array& x, const Axes& axes, bool keepdims) {
  const Array squares = is_complex(x.dtype()) ? np::real(x * np::conj(x)) : np::square(x);
  return np::sqrt(np::sum(squares, axes, keepdims));
}

Array vector_norm(const Array& x, const NormOrder& ord, int axis, bool keepdims) {
  if (!ord.name().empty())
    raise<ValueError>("[norm] the order '{}' is one of matrices; give two axes, or a number.", ord.name());
  const double p = ord.p().value_or(2);
  if (p == 2) return root_of_squares(x, axis, keepdims);
  if (p == inf) return np::max(np::abs(x), axis, keepdims);
  if (p == -inf) return np::min(np::abs(x), axis, keepdims);
  if (p == 0) return np::sum((x != 0).astype(x.dtype()), axis, keepdims);
  if (p == 1) return np::sum(np::abs(x), axis, keepdims);
  return np::power(np::sum(np::power(np::abs(x), p), axis, keepdims), 1 / p);
}

/// The largest or smallest sum of absolute values along `summed`.
Array extreme_sum(const Array& x, int summed, int other, bool largest, bool keepdims) {
  const Array sums = np::sum(np::abs(x), summed, true);
  const Array out = largest ? np::max(sums, other, true) : np::min(sums, other, true);
  return keepdims ? out : np::squeeze(out, {summed, other});
}

Array of_singular_values(const Array& x, int row, int column, bool keepdims,
                         Array (*reduce)(const ArrayLike&, const Axes&, bool)) {
  const Array s = svdvals(np::moveaxis(x, {row, column}, {-2, -1}));
  const Array out = reduce(s, -1, false);
  return keepdims ? np::expand_dims(out, {row, column}) : out;
}

Array matrix_norm(const Array& x, const NormOrder& ord, int row, int column, bool keepdims) {
  if (ord.name() == "fro" || (ord.name().empty() && !ord.p())) return root_of_squares(x, {row, column}, keepdims);
  if (ord.name() == "nuc") return of_singular_values(x, row, column, keepdims, np::sum);
  if (ord.name().empty()) {
    const double p = *ord.p();
    if (std::abs(p) == 1) return extreme_sum(x, row, column, p > 0, keepdims);
    if (std::abs(p) == inf) return extreme_sum(x, column, row, p > 0, keepdims);
    if (p == 2) return of_singular_values(x, row, column, keepdims, np::max);
    if (p == -2) return of_singular_values(x, row, column, keepdims, np::min);
  }
  const std::string given = ord.name().empty() ? fmt::format("{}", *ord.p()) : "'" + ord.name() + "'";
  raise<ValueError>(
      "[norm] there is no norm of matrices of order {}; use none, \"fro\", \"nuc\", 1, -1, 2, -2, inf or -inf.", given);
}

}  // namespace

Array norm(const ArrayLike& a, const NormOrder& ord, const Axes& axis, bool keepdims) {
  const Array x = as_inexact(a);
  const bool plain = ord.name().empty() && !ord.p();
  if (!axis.given() && plain) return root_of_squares(x, {}, keepdims);
  const std::vector<int> axes = axis.resolve(x.ndim(), "norm");
  if (axes.size() == 1) return vector_norm(x, ord, axes[0], keepdims);
  if (axes.size() == 2) return matrix_norm(x, ord, axes[0], axes[1], keepdims);
  raise<ValueError>(
      "[norm] got {} axes{}; give one for vectors, two for matrices, or neither axes nor an order for the whole array.",
      axes.size(), axis.given() ? "" : " (all of " + x.aval().str() + ")");
}

}  // namespace cotan::linalg
