// SciPy's factors of matrices, by those of cotan::linalg.
#include <cotan/lax.hpp>
#include <cotan/numpy.hpp>
#include <cotan/scipy/linalg.hpp>

#include "linalg/operands.hpp"
#include "linalg/polar.hpp"
#include "ops/linalg/matrix.hpp"

namespace cotan::scipy::linalg {

namespace np = cotan::numpy;
using cotan::linalg::matrix_operand;
using cotan::linalg::square_operand;
using ops::adjoint;
using ops::matrix_product;

Array cholesky(const ArrayLike& a, const CholeskyOptions& options) {
  const Array x = square_operand("cholesky", a);
  if (options.lower) return cotan::linalg::cholesky(x, false);
  return adjoint(cotan::linalg::cholesky(adjoint(x), false));
}
CholeskyFactor cho_factor(const ArrayLike& a, const CholeskyOptions& options) {
  return {cholesky(a, options), options.lower};
}

LUFactor lu_factor(const ArrayLike& a) {
  const cotan::linalg::LU f = cotan::linalg::lu(a);
  return {f.lu, f.pivots};
}
PLU lu(const ArrayLike& a, const LUOptions& options) {
  const auto [packed, pivots, permutation] = cotan::linalg::lu(a);
  const std::int64_t m = packed.shape(-2), k = std::min(m, packed.shape(-1));
  const Array seats = np::expand_dims(np::arange(m), -1);
  const Array p = (np::expand_dims(permutation, -2) == seats).astype(real_dtype(packed.dtype()));
  const Array l =
      ops::lower_triangle(ops::matrix_columns(packed, 0, k), -1) + ops::identity_matrix(packed.dtype(), m, k);
  const Array u = ops::upper_triangle(ops::matrix_rows(packed, 0, k));
  if (options.permute_l) return {{}, np::matmul(p, l), u};
  return {p, l, u};
}

PivotedQR qr(const ArrayLike& a, const QROptions& options) {
  if (options.mode != "full" && options.mode != "economic" && options.mode != "r")
    raise<ValueError>("[qr] there is no mode '{}'; use \"full\", \"economic\" or \"r\".", options.mode);
  Array x = matrix_operand("qr", a), p;
  if (options.pivoting) {
    p = bind1(ops::column_pivots_p, {x});
    x = np::take_along_axis(x, np::expand_dims(p, -2), -1);
  }
  const auto [q, r] = cotan::linalg::qr(x, options.mode != "economic");
  return {options.mode == "r" ? Array() : q, r, p};
}

QRProduct qr_multiply(const ArrayLike& a, const ArrayLike& c, const QRMultiplyOptions& options) {
  constexpr std::string_view op = "qr_multiply";
  const bool left = options.mode == "left";
  if (!left && options.mode != "right")
    raise<ValueError>("[{}] there is no mode '{}'; use \"left\" or \"right\".", op, options.mode);
  const Array both[] = {a, c};
  const DType dtype = np::inexact_result_type(both).dtype;
  const Array x = matrix_operand(op, ops::cast(a, dtype)), vector_or_matrix = ops::cast(c, dtype);
  if (c->ndim() == 0) raise<ShapeError>("[{}] c is a scalar; give a vector or a matrix.", op);
  const Array factor = c->ndim() > 1 ? vector_or_matrix
                       : left        ? ops::as_column(vector_or_matrix)
                                     : ops::as_row(vector_or_matrix);
  const std::int64_t m = x.shape(-2), k = std::min(m, x.shape(-1));
  if (left && factor.shape(-2) != k)
    raise<ShapeError>("[{}] {} and {} do not fit; q has {} columns, so c needs as many rows.", op, a->aval(), c->aval(),
                      k);
  if (!left && factor.shape(-1) != m)
    raise<ShapeError>("[{}] {} and {} do not fit; q has {} rows, so c needs as many columns.", op, a->aval(), c->aval(),
                      m);
  const auto [found, r, p] = qr(x, {.mode = "economic", .pivoting = options.pivoting});
  const Array q = options.conjugate ? ops::conj(found) : found;
  const Array product = left ? np::matmul(q, factor) : np::matmul(factor, q);
  return {c->ndim() == 1 ? np::ravel(product) : product, r, p};
}

cotan::linalg::Eigh eigh(const ArrayLike& a, const EighOptions& options) {
  if (options.type != 1) raise<ValueError>("[eigh] type {} is one of pairs of matrices; give b too.", options.type);
  if (options.eigvals_only) return {cotan::linalg::eigvalsh(a, options.lower ? "L" : "U"), {}};
  return cotan::linalg::eigh(a, options.lower);
}
cotan::linalg::Eigh eigh(const ArrayLike& a, const Array& b, const EighOptions& options) {
  if (options.type < 1 || options.type > 3)
    raise<ValueError>("[eigh] there is no type {}; use 1, 2 or 3.", options.type);
  const Array both[] = {a, b};
  const DType dtype = np::inexact_result_type(both).dtype;
  const Array x = square_operand("eigh", ops::cast(a, dtype)), y = square_operand("eigh", ops::cast(b, dtype));
  if (x.shape() != y.shape()) raise<ShapeError>("[eigh] {} and {} differ; give them one shape.", a->aval(), b.aval());
  const Array given = options.lower ? ops::lower_triangle(x) : adjoint(ops::upper_triangle(x));
  const Array whole = given + adjoint(ops::lower_triangle(given, -1));
  const Array l = cholesky(options.lower ? y : adjoint(y), {.lower = true}), lh = adjoint(l);
  const auto inverse_times = [](const Array& factor, const Array& rhs, bool lower) {
    return ops::triangular_solve(factor, rhs, {.lower = lower});
  };
  const Array reduced = options.type == 1 ? inverse_times(l, adjoint(inverse_times(l, whole, true)), true)
                                          : matrix_product(lh, matrix_product(whole, l));
  const auto [w, v] = cotan::linalg::eigh(reduced);
  if (options.eigvals_only) return {w, {}};
  return {w, options.type == 3 ? matrix_product(l, v) : inverse_times(lh, v, false)};
}

HessenbergForm hessenberg(const ArrayLike& a, const HessenbergOptions& options) {
  const auto [packed, taus] = cotan::linalg::hessenberg(a);
  const Array h = ops::upper_triangle(packed, -1);
  if (!options.calc_q) return {h, {}};
  const std::int64_t n = packed.shape(-1);
  if (n == 0) return {h, h};
  // The first row and column of q are those of the identity.
  const Array below = ops::matrix_columns(ops::matrix_rows(packed, 1, n), 0, n - 1);
  const Array inner = cotan::linalg::householder_product(below, taus);
  Ints none(static_cast<std::size_t>(packed.ndim()), 0), before = none;
  before[before.size() - 1] = before[before.size() - 2] = 1;
  const Array moved = ops::pad(inner, np::zeros({}, packed.dtype()), before, none, none);
  const Array corner = np::zeros({n, n}, packed.dtype()).at(0, 0).set(1);
  return {h, moved + corner};
}

Polar polar(const ArrayLike& a, const PolarOptions& options) {
  const Array x = matrix_operand("polar", a);
  if (options.side != "right" && options.side != "left")
    raise<ValueError>("[polar] there is no side '{}'; use \"right\" or \"left\".", options.side);
  if (options.method != "qdwh" && options.method != "svd")
    raise<ValueError>("[polar] there is no method '{}'; use \"qdwh\" or \"svd\".", options.method);
  const bool wide = x.shape(-2) < x.shape(-1);
  const Array tall = wide ? adjoint(x) : x;
  Array u, h;
  if (options.method == "svd") {
    const auto [left, s, right] = cotan::linalg::svd(lax::stop_gradient(tall), false);
    const Array scaled = matrix_product(adjoint(right), ops::as_column(s).astype(right.dtype()) * right);
    const auto found = cotan::linalg::with_polar_derivative(tall, {matrix_product(left, right), scaled});
    u = found.u, h = found.h;
  } else {
    const auto found = cotan::linalg::qdwh(tall, {.max_iterations = options.max_iterations, .eps = options.eps});
    u = found.u, h = found.h;
  }
  // h is on the right of u, and of the adjoint on the left.
  if (wide) u = adjoint(u);
  if ((options.side == "right") != wide) return {u, h};
  const Array other = wide ? matrix_product(adjoint(u), x) : matrix_product(x, adjoint(u));
  return {u, 0.5 * (other + adjoint(other))};
}

}  // namespace cotan::scipy::linalg
