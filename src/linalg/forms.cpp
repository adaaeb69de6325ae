// Products of reflections, reductions in LAPACK's form, and updates of factors.
#include <cotan/lax.hpp>
#include <cotan/numpy.hpp>

#include "linalg/loops.hpp"
#include "linalg/operands.hpp"
#include "ops/linalg/matrix.hpp"

namespace cotan::linalg {

namespace np = cotan::numpy;
using ops::matrix_product;

namespace {

/// The product of reflections as I - v t vᴴ.
struct BlockReflection {
  Array v, t;
};
/// t is (I + diag(taus) s)⁻¹ diag(taus), where s is what vᴴ v has above its diagonal: one product and one triangular
/// solve in the place of a loop over reflections.
BlockReflection block_reflection(const Array& a, const Array& taus) {
  const std::int64_t k = taus.shape().back();
  const Array eye = ops::identity_matrix(a.dtype(), k);
  const Array v = ops::lower_triangle(ops::matrix_columns(a, 0, k), -1) +
                  ops::identity_matrix(a.dtype(), ops::rows_of(a.shape()), k);
  const Array above = ops::upper_triangle(matrix_product(ops::adjoint(v), v), 1);
  const Array scale = ops::as_column(taus);
  return {v, ops::triangular_solve(eye + scale * above, eye * scale, {.unit_diagonal = true})};
}

/// Operands of one dtype, with the same batch axes in front of `core` axes.
Arrays matched(std::string_view op, const Arrays& operands, const std::vector<int>& core) {
  const DType dtype = np::inexact_result_type(operands).dtype;
  std::vector<Shape> batches;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const Shape& shape = operands[i].shape();
    if (operands[i].ndim() < core[i])
      raise<ShapeError>("[{}] operand {} is {}; it needs at least {} axes.", op, i, operands[i].aval(), core[i]);
    batches.emplace_back(shape.begin(), shape.end() - core[i]);
  }
  const Shape batch = np::broadcast_shapes(op, batches);
  Arrays out;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    out.push_back(broadcast_batch(ops::cast(operands[i], dtype), batch, core[i]));
    check_lapack_dtype(op, out.back());
  }
  return out;
}

}  // namespace

Array householder_product(const ArrayLike& a, const ArrayLike& taus) {
  constexpr std::string_view op = "householder_product";
  const Arrays x = matched(op, {a, taus}, {2, 1});
  const std::int64_t m = ops::rows_of(x[0].shape()), n = ops::columns_of(x[0].shape()), k = x[1].shape().back();
  if (m < n || k > n)
    raise<ShapeError>("[{}] {} and {} do not fit; give at least as many rows as columns, and as many columns as taus.",
                      op, a->aval(), taus->aval());
  const Array eye = ops::broadcast_to(ops::identity_matrix(x[0].dtype(), m, n), x[0].shape());
  if (k == 0 || x[0].size() == 0) return eye;
  const BlockReflection r = block_reflection(x[0], x[1]);
  return eye - matrix_product(r.v, matrix_product(r.t, ops::adjoint(ops::matrix_rows(r.v, 0, n))));
}

Array ormqr(const ArrayLike& a, const ArrayLike& taus, const ArrayLike& c, const OrmqrOptions& options) {
  constexpr std::string_view op = "ormqr";
  const Arrays x = matched(op, {a, taus, c}, {2, 1, 2});
  const Array& target = x[2];
  const std::int64_t m = ops::rows_of(x[0].shape()), n = ops::columns_of(x[0].shape()), k = x[1].shape().back();
  if ((options.left ? ops::rows_of(target.shape()) : ops::columns_of(target.shape())) != m)
    raise<ShapeError>("[{}] {} and {} do not fit; with left={} c needs {} {}.", op, a->aval(), c->aval(), options.left,
                      m, options.left ? "rows" : "columns");
  if (k > std::min(m, n))
    raise<ShapeError>("[{}] {} has no {} reflections; give at most {} taus.", op, a->aval(), k, std::min(m, n));
  if (k == 0 || target.size() == 0) return target;
  const BlockReflection r = block_reflection(x[0], x[1]);
  const Array t = options.transpose ? ops::adjoint(r.t) : r.t, vh = ops::adjoint(r.v);
  if (options.left) return target - matrix_product(r.v, matrix_product(t, matrix_product(vh, target)));
  return target - matrix_product(matrix_product(matrix_product(target, r.v), t), vh);
}

Hessenberg hessenberg(const ArrayLike& a) {
  const Arrays r = bind(ops::hessenberg_p, {square_operand("hessenberg", a)});
  return {r[0], r[1]};
}
Tridiagonal tridiagonal(const ArrayLike& a, const TridiagonalOptions& options) {
  const Arrays r = bind(ops::tridiagonal_p, {square_operand("tridiagonal", a)}, {{"lower", options.lower}});
  return {r[0], r[1], r[2], r[3]};
}
Schur schur(const ArrayLike& a, const SchurOptions& options) {
  const bool vectors = options.compute_schur_vectors;
  const Arrays r = bind(ops::schur_p, {square_operand("schur", a)}, {{"compute_vectors", vectors}});
  return {r[0], vectors ? r[1] : Array()};
}

Array symmetric_product(const ArrayLike& a_matrix, const ArrayLike& c_matrix, const SymmetricProductOptions& options) {
  constexpr std::string_view op = "symmetric_product";
  const Arrays x = matched(op, {a_matrix, c_matrix}, {2, 2});
  for (const Array& operand : x) np::check_real(op, operand);
  const std::int64_t n = ops::rows_of(x[0].shape());
  if (ops::rows_of(x[1].shape()) != n || ops::columns_of(x[1].shape()) != n)
    raise<ShapeError>("[{}] {} and {} do not fit; c needs {} rows and columns.", op, a_matrix->aval(), c_matrix->aval(),
                      n);
  const Array sum = options.alpha * matrix_product(x[0], ops::matrix_transpose(x[0])) + options.beta * x[1];
  if (!options.symmetrize_output) return sum;
  return ops::lower_triangle(sum) + ops::matrix_transpose(ops::lower_triangle(sum, -1));
}

Array cholesky_update(const ArrayLike& r_matrix, const ArrayLike& w_vector) {
  constexpr std::string_view op = "cholesky_update";
  const Arrays x = matched(op, {r_matrix, w_vector}, {2, 1});
  for (const Array& operand : x) np::check_real(op, operand);
  const Array r = ops::upper_triangle(square_operand(op, x[0]));
  const std::int64_t n = ops::columns_of(r.shape());
  if (x[1].shape().back() != n)
    raise<ShapeError>("[{}] {} and {} do not fit; w needs {} elements.", op, r_matrix->aval(), w_vector->aval(), n);
  if (n == 0) return r;
  // A rotation of each row with what is left of w takes the element of w there to zero.
  const auto step = [](std::span<const Array> in) {
    const Array &w = in[0], &row = in[1], &k = in[2];
    const Array head = lax::dynamic_index_in_dim(row, k, -1), below = lax::dynamic_index_in_dim(w, k, -1);
    const Array nothing = (head == 0) & (below == 0);
    const Array size = np::hypot(np::where(nothing, 1, head), below);
    const Array signed_size = np::where((below == 0) & (head < 0), -size, size);
    const Array c = np::where(nothing, 1, head / signed_size), s = below / signed_size;
    return Arrays{c * w - s * row, c * row + s * w};
  };
  const Array rows = scanned(step, {x[1]}, {np::moveaxis(r, -2, 0), np::arange(n)})[1];
  return np::moveaxis(rows, 0, -2);
}

Array lu_pivots_to_permutation(const ArrayLike& pivots, std::int64_t permutation_size) {
  constexpr std::string_view op = "lu_pivots_to_permutation";
  if (!is_integer(pivots->dtype())) raise<TypeError>("[{}] pivots are {}; they must be integers.", op, pivots->aval());
  if (pivots->ndim() < 1 || pivots->shape().back() > permutation_size)
    raise<ShapeError>("[{}] {} are no pivots of {} rows; give at most one per row.", op, pivots->aval(),
                      permutation_size);
  Shape shape = pivots->shape();
  const std::int64_t count = shape.back();
  shape.back() = permutation_size;
  const Array start = ops::iota(DType::i32, shape, pivots->ndim() - 1);
  if (count == 0 || start.size() == 0) return start;
  const Array seat = np::arange(permutation_size);
  const auto step = [&](std::span<const Array> in) {
    const Array &order = in[0], &i = in[2], other = np::expand_dims(in[1], -1);
    const Array here = lax::dynamic_index_in_dim(order, i, -1), there = np::take_along_axis(order, other, -1);
    return Arrays{np::where(seat == i, there, np::where(seat == other, here, order))};
  };
  return scanned(step, {start}, {np::moveaxis(pivots->astype(DType::i32), -1, 0), np::arange(count)})[0];
}

}  // namespace cotan::linalg
