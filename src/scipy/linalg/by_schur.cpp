// What is computed on Schur's form: roots and functions of matrices, and Sylvester's equation. Each goes through an
// upper triangular matrix column by column, with a triangular solve for each.
#include <cotan/lax.hpp>
#include <cotan/numpy.hpp>
#include <cotan/scipy/linalg.hpp>

#include "linalg/loops.hpp"
#include "linalg/operands.hpp"
#include "ops/linalg/matrix.hpp"

namespace cotan::scipy::linalg {

namespace np = cotan::numpy;
using cotan::linalg::broadcast_batch;
using cotan::linalg::square_operand;
using ops::adjoint;
using ops::matrix_product;

namespace {

Array triangular_product(const Array& a, const Array& v) { return np::squeeze(np::matmul(a, ops::as_column(v)), -1); }
Array over_matrix(const Array& each) { return np::expand_dims(each, {-1, -2}); }
Array complex_of(const Array& a) { return ops::cast(a, complex_dtype(a.dtype())); }
Array real_where(bool wanted, const Array& a) { return wanted ? ops::real(a) : a; }

/// A column of a matrix by its number, and an element of a vector.
Array column_of(const Array& a, const Array& j) { return lax::dynamic_index_in_dim(a, j, -1, false); }
/// x with (upper triangle of a) x = b. A zero on the diagonal counts as `instead`.
Array solve_upper(const Array& a, const Array& b, double instead) {
  const Array at_diagonal = ops::identity_matrix(DType::bool_, a.shape(-1));
  const Array safe = np::where(at_diagonal & (a == 0), instead, a);
  return np::squeeze(ops::triangular_solve(safe, ops::as_column(b), {}), -1);
}
/// column(the columns so far, j) for each number of a column, from the first; in `start`.
template <class Column>
Array by_columns(const Array& start, const Column& column) {
  const std::int64_t n = start.shape(-1);
  const Array numbers = np::arange(n);
  const auto step = [&](std::span<const Array> in) {
    return Arrays{np::where(numbers == in[1], ops::as_column(column(in[0], in[1])), in[0])};
  };
  return cotan::linalg::scanned(step, {start}, {numbers})[0];
}
/// 1 before element j, 0 from there on.
Array before(const Array& j, std::int64_t n) { return np::arange(n) < j; }
Array diagonal_matrix(const Array& d) { return ops::as_column(d) * ops::identity_matrix(d.dtype(), d.shape(-1)); }

/// Of upper triangular t: with the columns before it known, a column of u u = t is a triangular system.
Array root_of_triangle(const Array& t) {
  const Array d = np::sqrt(ops::diagonal_of(t));
  const std::int64_t n = t.shape(-1);
  const Array eye = ops::identity_matrix(t.dtype(), n);
  return by_columns(diagonal_matrix(d), [&](const Array& u, const Array& j) {
    const Array dj = np::expand_dims(column_of(d, j), -1), known = before(j, n);
    const Array x = solve_upper(u + ops::as_column(dj) * eye, np::where(known, column_of(t, j), 0), 1);
    // Where both eigenvalues are zero there is a root only if the element is zero too.
    return np::where(known, np::where((d + dj == 0) & (x != 0), np::inf, x), np::where(np::arange(n) == j, dj, 0));
  });
}

/// r y + y s = f for upper triangular r and s, which is linear in f.
Array triangular_sylvester(const Array& r, const Array& s, const Array& f) {
  const Array eye = ops::identity_matrix(r.dtype(), r.shape(-1)), poles = ops::diagonal_of(s);
  return by_columns(ops::zeros_like(f), [&](const Array& y, const Array& j) {
    const Array system = r + over_matrix(column_of(poles, j)) * eye;
    return solve_upper(system, column_of(f, j) - triangular_product(y, column_of(s, j)), 1);
  });
}

/// A and B as u r u⁻¹ and v s v⁻¹ with triangular (or diagonal) r and s.
struct Forms {
  Array r, u, u_inverse, s, v, v_inverse;
  bool diagonal;
};
Forms forms_of(const Array& a, const Array& b, bool diagonal) {
  if (diagonal) {
    const auto [wa, va] = cotan::linalg::eig(a);
    const auto [wb, vb] = cotan::linalg::eig(b);
    return {wa, va, cotan::linalg::inv(va), wb, vb, cotan::linalg::inv(vb), true};
  }
  const auto [r, u] = cotan::linalg::schur(complex_of(a));
  const auto [s, v] = cotan::linalg::schur(complex_of(b));
  return {r, u, adjoint(u), s, v, adjoint(v), false};
}
Array solved(const Forms& f, const Array& c) {
  const Array inside = matrix_product(matrix_product(f.u_inverse, complex_of(c)), f.v);
  const Array y =
      f.diagonal ? inside / (ops::as_column(f.r) + ops::as_row(f.s)) : triangular_sylvester(f.r, f.s, inside);
  return real_where(!is_complex(c.dtype()), matrix_product(matrix_product(f.u, y), f.v_inverse));
}
/// Whether eigenvalues of A and -B are so near that there is no solution to speak of.
Array is_singular(const Forms& f, double tol) {
  const Array a = f.diagonal ? f.r : ops::diagonal_of(f.r), b = f.diagonal ? f.s : ops::diagonal_of(f.s);
  return over_matrix(np::any(np::abs(ops::as_column(a) + ops::as_row(b)) < tol, {-1, -2}));
}

}  // namespace

cotan::linalg::Schur schur(const ArrayLike& a, std::string_view output) {
  if (output != "real" && output != "complex")
    raise<ValueError>("[schur] there is no output '{}'; use \"real\" or \"complex\".", output);
  const Array x = square_operand("schur", a);
  return cotan::linalg::schur(output == "complex" ? complex_of(x) : x);
}

Array sqrtm(const ArrayLike& A) {
  const Array a = square_operand("sqrtm", A);
  if (a.size() == 0) return complex_of(a);
  const auto value = [](std::span<const Array> in) {
    const auto [t, z] = cotan::linalg::schur(complex_of(in[0]));
    return Arrays{matrix_product(matrix_product(z, root_of_triangle(t)), adjoint(z))};
  };
  // With x x = a: x dx + dx x = da, on the same triangular form.
  const auto rule = [](std::span<const Array> in) {
    const auto [t, z] = cotan::linalg::schur(complex_of(in[0]));
    const Array root = root_of_triangle(t), zh = adjoint(z);
    const Array d = triangular_sylvester(root, root, matrix_product(matrix_product(zh, complex_of(in[1])), z));
    return Arrays{matrix_product(matrix_product(z, root), zh), matrix_product(matrix_product(z, d), zh)};
  };
  return flat::custom_jvp(value, rule, Arrays{a}, "sqrtm")[0];
}

std::pair<Array, Array> funm_with_error(const ArrayLike& A, const std::function<Array(const Array&)>& func) {
  const Array a = square_operand("funm", A);
  const std::int64_t n = a.shape(-1);
  if (n == 0) raise<ShapeError>("[funm] {} has no elements, and so no function; give it rows and columns.", A->aval());
  const auto [t, z] = cotan::linalg::schur(complex_of(a));
  const Array d = ops::diagonal_of(t), eye = ops::identity_matrix(t.dtype(), n);
  const Array of_values = func(d);
  if (of_values.shape() != d.shape())
    raise<ShapeError>("[funm] func made {} of {}; it must map element by element.", of_values.aval(), d.aval());
  const Array values = ops::cast(of_values, t.dtype());
  // f t = t f: with the columns before it known, a column of f is a triangular system.
  const Array f = by_columns(diagonal_matrix(values), [&, &t = t](const Array& so_far, const Array& j) {
    const Array tj = np::expand_dims(column_of(d, j), {-1}), fj = np::expand_dims(column_of(values, j), -1);
    const Array known = before(j, n), column = np::where(known, column_of(t, j), 0);
    const Array rhs = triangular_product(so_far, column) - fj * column;
    const Array x = solve_upper(t - ops::as_column(tj) * eye, np::where(known, rhs, 0), -1);
    return np::where(known, x, np::where(np::arange(n) == j, fj, 0));
  });
  const double eps = cotan::linalg::epsilon(t.dtype());
  const Array gaps = np::abs(ops::as_column(d) - ops::as_row(d));
  const Array above = np::expand_dims(np::arange(n), -1) < np::arange(n);
  const Array first = np::abs(t(ellipsis, 0, 0));
  const Array least = np::minimum(first, np::min(np::where(above, gaps, np::inf), {-1, -2}));
  const Array size = cotan::linalg::norm(ops::upper_triangle(t, 1), 1, {-2, -1});
  const Array error = np::clip(eps / np::where(least == 0, eps, least) * size, eps, 1.0);
  const Array infinite = np::any(np::isinf(f), {-1, -2});
  return {matrix_product(matrix_product(z, f), adjoint(z)), np::where(infinite, np::inf, error)};
}
Array funm(const ArrayLike& A, const std::function<Array(const Array&)>& func) {
  return funm_with_error(A, func).first;
}

Array solve_sylvester(const ArrayLike& A, const ArrayLike& B, const ArrayLike& C, const SylvesterOptions& options) {
  constexpr std::string_view op = "solve_sylvester";
  if (options.method != "schur" && options.method != "eigen")
    raise<ValueError>("[{}] there is no method '{}'; use \"schur\" or \"eigen\".", op, options.method);
  const Array all[] = {A, B, C};
  const DType dtype = np::inexact_result_type(all).dtype;
  Arrays x{square_operand(op, ops::cast(A, dtype)), square_operand(op, ops::cast(B, dtype)),
           cotan::linalg::matrix_operand(op, ops::cast(C, dtype))};
  if (x[0].shape(-1) != x[2].shape(-2) || x[1].shape(-1) != x[2].shape(-1))
    raise<ShapeError>("[{}] {}, {} and {} do not fit; of C, [m, n], A is [m, m] and B [n, n].", op, A->aval(),
                      B->aval(), C->aval());
  std::vector<Shape> batches;
  for (const Array& each : x) batches.push_back(cotan::linalg::batch_shape(each));
  const Shape batch = np::broadcast_shapes(op, batches);
  for (Array& each : x) each = broadcast_batch(each, batch, 2);
  if (x[2].size() == 0) return x[2];
  const bool diagonal = options.method == "eigen";
  const double tol = options.tol;
  const auto value = [=](std::span<const Array> in) {
    const Forms f = forms_of(in[0], in[1], diagonal);
    return Arrays{np::where(is_singular(f, tol), np::nan, solved(f, in[2]))};
  };
  const auto rule = [=](std::span<const Array> in) {
    const Forms f = forms_of(in[0], in[1], diagonal);
    const Array y = np::where(is_singular(f, tol), np::nan, solved(f, in[2]));
    return Arrays{y, solved(f, in[5] - matrix_product(in[3], y) - matrix_product(y, in[4]))};
  };
  return flat::custom_jvp(value, rule, x, op)[0];
}

}  // namespace cotan::scipy::linalg
