// Pseudoinverses and least squares.
#include <cotan/lax.hpp>
#include <cotan/numpy.hpp>

#include "linalg/operands.hpp"
#include "ops/linalg/matrix.hpp"

namespace cotan::linalg {

namespace np = cotan::numpy;
using ops::matrix_product;

namespace {

/// A number, or one per matrix, next to a batch of vectors or matrices.
Array beside(const Array& each, int axes, DType dtype) {
  const Array x = each.astype(dtype);
  if (each.ndim() == 0) return x;
  return axes == 1 ? np::expand_dims(x, -1) : np::expand_dims(x, {-1, -2});
}

Array pinv_value(const Array& a, const Array& rtol, bool hermitian) {
  const SVD r = svd(a, false, true, hermitian);
  const Array largest = ops::slice_axis(r.s, r.s.ndim() - 1, 0, 1);
  const Array s = np::where(r.s > largest * beside(rtol, 1, r.s.dtype()), r.s, np::inf);
  return matrix_product(ops::adjoint(r.vh), ops::adjoint(r.u) / ops::as_column(s));
}
/// Golub and Pereyra (1973): the derivative of a pseudoinverse of constant rank.
Array pinv_tangent(const Array& a, const Array& p, const Array& da) {
  const Array pt = ops::adjoint(p), dat = ops::adjoint(da);
  if (ops::rows_of(a.shape()) >= ops::columns_of(a.shape())) {
    const Array s = matrix_product(matrix_product(p, pt), dat), t = matrix_product(matrix_product(dat, pt), p);
    return s - matrix_product(matrix_product(p, da), p) - matrix_product(matrix_product(s, a), p) + t -
           matrix_product(matrix_product(p, a), t);
  }
  const Array s = matrix_product(p, matrix_product(pt, dat)), t = matrix_product(dat, matrix_product(pt, p));
  return s - matrix_product(p, matrix_product(da, p)) - matrix_product(s, matrix_product(a, p)) + t -
         matrix_product(p, matrix_product(a, t));
}
Array hermitian_part(const Array& a) { return 0.5 * (a + ops::adjoint(a)); }

}  // namespace

Array pseudoinverse(const Array& a, const Array& rtol, bool hermitian) {
  if (a.size() == 0) return ops::zeros_like(ops::matrix_transpose(a));
  const auto value = [hermitian](std::span<const Array> in) { return Arrays{pinv_value(in[0], in[1], hermitian)}; };
  const auto rule = [hermitian](std::span<const Array> in) {
    // pseudoinverse and not pinv_value: higher derivatives must not go through the singular vectors either.
    const Array p = pseudoinverse(in[0], in[1], hermitian);
    if (hermitian) return Arrays{p, pinv_tangent(hermitian_part(in[0]), p, hermitian_part(in[2]))};
    return Arrays{p, pinv_tangent(in[0], p, in[2])};
  };
  return flat::custom_jvp(value, rule, Arrays{a, lax::stop_gradient(rtol)}, "pinv")[0];
}

Array pinv(const ArrayLike& a, const std::optional<Array>& rtol, bool hermitian) {
  const Array x = hermitian ? square_operand("pinv", a) : matrix_operand("pinv", a);
  const double larger = static_cast<double>(std::max(x.shape(-1), x.shape(-2)));
  const Array share = rtol ? *rtol : np::full({}, 10 * larger * epsilon(x.dtype()), real_dtype(x.dtype()));
  return pseudoinverse(x, share.astype(real_dtype(x.dtype())), hermitian);
}

LeastSquares lstsq(const ArrayLike& a, const ArrayLike& b, const LstsqOptions& options) {
  const System s = system_operands("lstsq", matrix_operand("lstsq", a), b);
  const std::int64_t m = s.a.shape(-2), n = s.a.shape(-1);
  const DType real = real_dtype(s.a.dtype());
  const double eps = epsilon(real), given = options.rcond.value_or(eps * static_cast<double>(std::max(m, n)));
  const double share = given < 0 ? eps : given;
  const Array x = np::matmul(pseudoinverse(s.a, np::full({}, share, real)), s.b);
  const Array values = svdvals(s.a);
  const Array largest = std::min(m, n) == 0 ? values : ops::slice_axis(values, values.ndim() - 1, 0, 1);
  const Array rank = np::sum((values > share * largest).astype(DType::i32), -1);
  const Array left = np::abs(s.b - np::matmul(s.a, x));
  Array residuals = np::sum(np::square(left), -2);
  if (options.numpy_resid && (m <= n || np::any(rank < n))) residuals = np::zeros({0}, real);
  return {s.result(x), residuals, rank, values};
}

}  // namespace cotan::linalg
