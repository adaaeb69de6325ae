// Norms of vectors and matrices, by NumPy's orders.
#include <cmath>
#include <cotan/linalg.hpp>
#include <cotan/numpy.hpp>
#include <cotan/numpy/complex.hpp>

#include "core/error.hpp"
#include "linalg/operands.hpp"
#include "ops/ops.hpp"

namespace cotan::linalg {

namespace np = cotan::numpy;

namespace {

constexpr double inf = np::inf;

Array root_of_squares(const Array& x, const Axes& axes, bool keepdims) {
  const Array squares = is_complex(x.dtype()) ? np::real(x * np::conj(x)) : np::square(x);
  return np::sqrt(np::sum(squares, axes, keepdims));
}

/// The largest element, none of which is negative; of nothing 0.
Array largest(const Array& x, const Axes& axes, bool keepdims) {
  return x.size() == 0 ? np::sum(x, axes, keepdims) : np::max(x, axes, keepdims);
}

Array norm_of_vectors(const Array& x, const NormOrder& ord, const Axes& axis, bool keepdims) {
  if (!ord.name().empty())
    raise<ValueError>("[norm] the order '{}' is one of matrices; give two axes, or a number.", ord.name());
  const double p = ord.p().value_or(2);
  if (p == 2) return root_of_squares(x, axis, keepdims);
  if (p == inf) return largest(np::abs(x), axis, keepdims);
  if (p == -inf) return np::min(np::abs(x), axis, keepdims);
  if (p == 0) return np::sum((x != 0).astype(real_dtype(x.dtype())), axis, keepdims);
  if (p == 1) return np::sum(np::abs(x), axis, keepdims);
  return np::power(np::sum(np::power(np::abs(x), p), axis, keepdims), 1 / p);
}

/// The largest or smallest sum of absolute values along `summed`.
Array extreme_sum(const Array& x, int summed, int other, bool of_largest, bool keepdims) {
  const Array sums = np::sum(np::abs(x), summed, true);
  const Array out = of_largest ? largest(sums, other, true) : np::min(sums, other, true);
  return keepdims ? out : np::squeeze(out, {summed, other});
}

Array of_singular_values(const Array& x, int row, int column, bool keepdims,
                         Array (*reduce)(const Array&, const Axes&, bool)) {
  const Array s = svdvals(np::moveaxis(x, {row, column}, {-2, -1}));
  const Array out = reduce(s, -1, false);
  return keepdims ? np::expand_dims(out, {row, column}) : out;
}

Array norm_of_matrices(const Array& x, const NormOrder& ord, int row, int column, bool keepdims) {
  if (ord.name() == "fro" || ord.name() == "f" || (ord.name().empty() && !ord.p()))
    return root_of_squares(x, {row, column}, keepdims);
  const auto sum = [](const Array& s, const Axes& axis, bool keep) { return np::sum(s, axis, keep); };
  const auto smallest = [](const Array& s, const Axes& axis, bool keep) { return np::min(s, axis, keep); };
  if (ord.name() == "nuc") return of_singular_values(x, row, column, keepdims, sum);
  if (ord.name().empty()) {
    const double p = *ord.p();
    if (std::abs(p) == 1) return extreme_sum(x, row, column, p > 0, keepdims);
    if (std::abs(p) == inf) return extreme_sum(x, column, row, p > 0, keepdims);
    if (p == 2) return of_singular_values(x, row, column, keepdims, largest);
    if (p == -2) return of_singular_values(x, row, column, keepdims, smallest);
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
  if (axes.size() == 1) return norm_of_vectors(x, ord, axes[0], keepdims);
  if (axes.size() == 2) return norm_of_matrices(x, ord, axes[0], axes[1], keepdims);
  raise<ValueError>(
      "[norm] got {} axes{}; give one for vectors, two for matrices, or neither axes nor an order for the whole array.",
      axes.size(), axis.given() ? "" : " (all of " + x.aval().str() + ")");
}

Array vector_norm(const ArrayLike& x, const VectorNormOptions& options) {
  return norm_of_vectors(as_inexact(x), options.ord, options.axis, options.keepdims);
}
Array matrix_norm(const ArrayLike& x, const MatrixNormOptions& options) {
  const Array a = matrix_operand("matrix_norm", x, true);
  return norm_of_matrices(a, options.ord, a.ndim() - 2, a.ndim() - 1, options.keepdims);
}

Array cond(const ArrayLike& x, const NormOrder& p) {
  const bool by_values = p.name().empty() && std::abs(p.p().value_or(2)) == 2;
  const Array a = by_values ? matrix_operand("cond", x) : square_operand("cond", x);
  if (a.shape(-1) == 0 || a.shape(-2) == 0)
    raise<ShapeError>("[cond] {} has no elements, and so no condition; give it rows and columns.", x->aval());
  Array r;
  if (by_values) {
    const Array s = svdvals(a);
    const Array first = s(ellipsis, 0), last = s(ellipsis, -1);
    r = p.p().value_or(2) > 0 ? first / last : last / first;
  } else {
    r = norm(a, p, {-2, -1}) * norm(inv(a), p, {-2, -1});
  }
  // 0/0, and the inverse of what has none, unless they came from NaN.
  return np::where(np::isnan(r) & ~np::any(np::isnan(a), {-2, -1}), inf, r);
}

Array matrix_rank(const ArrayLike& M, const MatrixRankOptions& options) {
  if (options.rtol && options.tol)
    raise<ValueError>("[matrix_rank] rtol and tol are both given; give the share or the number.");
  if (M->ndim() < 2) return np::any(M != 0).astype(DType::i32);
  const Array a = options.hermitian ? square_operand("matrix_rank", M) : matrix_operand("matrix_rank", M);
  if (std::min(a.shape(-1), a.shape(-2)) == 0) return np::zeros(batch_shape(a), DType::i32);
  const Array s = svd(a, false, false, options.hermitian).s;
  const auto per_value = [&](const Array& each) { return np::expand_dims(each, -1).astype(s.dtype()); };
  if (options.tol) return np::sum((s > per_value(*options.tol)).astype(DType::i32), -1);
  const double share = epsilon(a.dtype()) * static_cast<double>(std::max(a.shape(-1), a.shape(-2)));
  const Array most = np::max(s, -1, true);
  const Array least = options.rtol ? per_value(*options.rtol) * most : share * most;
  return np::sum((s > least).astype(DType::i32), -1);
}

}  // namespace cotan::linalg
