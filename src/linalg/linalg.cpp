// cotan::linalg: checked and promoted entry points to the decompositions.
#include <cotan/linalg.hpp>
#include <cotan/numpy.hpp>
#include <limits>

#include "linalg/operands.hpp"
#include "ops/linalg/matrix.hpp"
#include "ops/parts.hpp"

namespace cotan::linalg {

namespace np = cotan::numpy;

Array as_inexact(const Array& a) { return ops::cast(a, np::inexact_result_type({&a, 1}).dtype); }

void check_lapack_dtype(std::string_view op, const Array& a) {
  if (const DType part = real_dtype(a.dtype()); part != DType::f32 && part != DType::f64)
    raise<TypeError>("[{}] needs f32, f64 or complex numbers, got {}; cast with astype.", op, a.dtype());
}
Array matrix_operand(std::string_view op, const Array& a, bool any_dtype) {
  const Array x = as_inexact(a);
  if (!any_dtype) check_lapack_dtype(op, x);
  if (x.ndim() < 2)
    raise<ShapeError>("[{}] needs matrices, got {}; give it at least two axes with reshape.", op, x.aval());
  return x;
}
Array square_operand(std::string_view op, const Array& a, bool any_dtype) {
  const Array x = matrix_operand(op, a, any_dtype);
  if (ops::rows_of(x.shape()) != ops::columns_of(x.shape()))
    raise<ShapeError>("[{}] needs square matrices, got {}; the last two axes must be equal.", op, x.aval());
  return x;
}

Shape batch_shape(const Array& a) { return ops::with_core(a.shape(), {}); }

Array broadcast_batch(const Array& a, const Shape& batch, int core_axes) {
  Shape shape = batch;
  shape.insert(shape.end(), a.shape().end() - core_axes, a.shape().end());
  return ops::broadcast_to(a, shape);
}

namespace {

bool broadcastable(const Shape& a, const Shape& b) {
  for (std::size_t i = 1; i <= std::min(a.size(), b.size()); ++i) {
    const std::int64_t x = a[a.size() - i], y = b[b.size() - i];
    if (x != y && x != 1 && y != 1) return false;
  }
  return true;
}

}  // namespace

double epsilon(DType dtype) {
  return real_dtype(dtype) == DType::f64 ? std::numeric_limits<double>::epsilon()
                                         : std::numeric_limits<float>::epsilon();
}

Array from_numbers(const std::vector<double>& values, const Shape& shape, DType dtype) {
  const auto as = [&]<class T>(T) {
    std::vector<T> out;
    for (const double v : values) out.push_back(static_cast<T>(v));
    return Array::from_host(out, shape);
  };
  if (dtype == DType::f64) return as(double());
  if (dtype == DType::i64 || dtype == DType::u64) return as(std::int64_t()).astype(dtype);
  if (is_integer(dtype)) return as(std::int32_t()).astype(dtype);
  return as(float()).astype(dtype);
}

System system_operands(std::string_view op, const Array& a, const Array& b) {
  const Array both[] = {a, b};
  const DType dtype = np::inexact_result_type(both).dtype;
  if (b.ndim() == 0) raise<ShapeError>("[{}] the right-hand side is a scalar; give it at least one axis.", op);
  System s{ops::cast(a, dtype), ops::cast(b, dtype), b.ndim() == 1};
  if (s.vector) s.b = ops::as_column(s.b);
  const std::int64_t rows = ops::rows_of(a.shape());
  if (ops::rows_of(s.b.shape()) != rows && b.ndim() + 1 == a.ndim() && b.shape().back() == rows)
    raise<ShapeError>(
        "[{}] {} and {} do not fit: with more than one axis b is a batch of matrices; for a batch of "
        "vectors use expand_dims(b, -1) and squeeze the result.",
        op, a.aval(), b.aval());
  if (ops::rows_of(s.b.shape()) != rows)
    raise<ShapeError>("[{}] {} and {} do not fit; b needs {} rows.", op, a.aval(), b.aval(), rows);
  if (!broadcastable(batch_shape(s.a), batch_shape(s.b)))
    raise<ShapeError>(
        "[{}] the batch axes of {} and {} do not broadcast; aligned from the end, each must be equal or 1.", op,
        a.aval(), b.aval());
  return s;
}
Array System::result(const Array& x) const {
  if (!vector) return x;
  const Shape& shape = x.shape();
  return ops::reshape(x, Shape(shape.begin(), shape.end() - 1));
}

namespace {

Array symmetrized(const Array& a) { return (a + ops::adjoint(a)) * 0.5; }
bool is_lower(std::string_view op, std::string_view UPLO) {
  if (UPLO != "L" && UPLO != "U") raise<ValueError>("[{}] there is no triangle '{}'; use \"L\" or \"U\".", op, UPLO);
  return UPLO == "L";
}

}  // namespace

Array cholesky(const ArrayLike& a) { return cholesky(a, true); }
Array cholesky(const ArrayLike& a, const CholeskyOptions& options) {
  const Array l = cholesky(a, options.symmetrize_input);
  return options.upper ? ops::adjoint(l) : l;
}
Array cholesky(const ArrayLike& a, bool symmetrize_input) {
  const Array x = square_operand("cholesky", a);
  return bind1(ops::cholesky_p, {symmetrize_input ? symmetrized(x) : x});
}

Array triangular_solve(const ArrayLike& a, const ArrayLike& b, TriangularOptions options) {
  constexpr std::string_view op = "triangular_solve";
  const Array both[] = {a, b};
  const DType dtype = np::inexact_result_type(both).dtype;
  const Array given = square_operand(op, ops::cast(a, dtype));
  const Array matrix = options.conjugate_a ? ops::conj(given) : given;
  Array rhs = ops::cast(b, dtype);
  // A right-hand side with one axis less is one vector per matrix.
  const bool vector = rhs.ndim() == matrix.ndim() - 1;
  if (vector) rhs = options.left_side ? ops::as_column(rhs) : ops::as_row(rhs);
  if (rhs.ndim() < 2)
    raise<ShapeError>("[{}] b is {}, which fits no system of {}; give it {} axes.", op, rhs.aval(), matrix.aval(),
                      matrix.ndim());
  const Shape batches[] = {batch_shape(matrix), batch_shape(rhs)};
  const Shape batch = np::broadcast_shapes(op, batches);
  const Array x = ops::triangular_solve(broadcast_batch(matrix, batch, 2), broadcast_batch(rhs, batch, 2),
                                        {options.left_side, options.lower, options.transpose_a, options.unit_diagonal});
  if (!vector) return x;
  Shape shape = x.shape();
  shape.erase(options.left_side ? shape.end() - 1 : shape.end() - 2);
  return ops::reshape(x, shape);
}

LU lu(const ArrayLike& a) {
  Arrays r = bind(ops::lu_p, {matrix_operand("lu", a)});
  return {r[0], r[1], r[2]};
}

QR qr(const ArrayLike& a, bool full_matrices) {
  Arrays r = bind(ops::qr_p, {matrix_operand("qr", a)}, {{"full_matrices", full_matrices}});
  return {r[0], r[1]};
}

QR qr(const ArrayLike& a, const char* mode) {
  const std::string_view name = mode;
  if (name == "reduced" || name == "full") return qr(a);
  if (name == "complete") return qr(a, true);
  if (name == "r") return {{}, qr(a).r};
  if (name != "raw")
    raise<ValueError>("[qr] there is no mode '{}'; use \"reduced\", \"complete\", \"r\" or \"raw\".", name);
  const Arrays r = bind(ops::geqrf_p, {matrix_operand("qr", a)});
  return {ops::matrix_transpose(r[0]), r[1]};
}

Eigh eigh(const ArrayLike& a, bool lower, bool symmetrize_input) {
  const Array x = square_operand("eigh", a);
  Arrays r = bind(ops::eigh_p, {symmetrize_input ? symmetrized(x) : x}, {{"lower", lower}});
  return {r[1], r[0]};
}
Eigh eigh(const ArrayLike& a, const char* UPLO, bool symmetrize_input) {
  return eigh(a, is_lower("eigh", UPLO), symmetrize_input);
}
namespace {

Array symmetric_values(const Array& a, bool lower, bool symmetrize_input) {
  return bind1(ops::eigh_p, {symmetrize_input ? symmetrized(a) : a}, {{"lower", lower}, {"compute_vectors", false}});
}

}  // namespace

Array eigvalsh(const ArrayLike& a, const char* UPLO, bool symmetrize_input) {
  return symmetric_values(square_operand("eigvalsh", a), is_lower("eigvalsh", UPLO), symmetrize_input);
}

namespace {

/// Singular values of a symmetric matrix are its eigenvalues without their signs, which go to vh.
SVD symmetric_svd(const Array& a, bool compute_uv) {
  if (!compute_uv) return {{}, np::sort(np::abs(symmetric_values(a, true, true)), -1, true), {}};
  const Eigh e = eigh(a);
  const Array order = np::argsort(np::abs(e.eigenvalues), -1, true);
  const Array w = np::take_along_axis(e.eigenvalues, order, -1);
  const Array u = np::take_along_axis(e.eigenvectors, ops::as_row(order), -1);
  return {u, np::abs(w), ops::adjoint(u * ops::as_row(np::sign(w)))};
}

}  // namespace

SVD svd(const ArrayLike& a, bool full_matrices, bool compute_uv, bool hermitian) {
  if (hermitian) return symmetric_svd(square_operand("svd", a), compute_uv);
  const Array x = matrix_operand("svd", a);
  // The factors of square matrices are full as they are.
  const bool full = compute_uv && full_matrices && ops::rows_of(x.shape()) != ops::columns_of(x.shape());
  Arrays r = bind(ops::svd_p, {x}, {{"compute_uv", compute_uv}, {"full_matrices", full}});
  return compute_uv ? SVD{r[1], r[0], r[2]} : SVD{{}, r[0], {}};
}
Array svdvals(const ArrayLike& a) {
  return bind1(ops::svd_p, {matrix_operand("svdvals", a)}, {{"compute_uv", false}, {"full_matrices", false}});
}

Eig eig(const ArrayLike& a) {
  const Array x = square_operand("eig", a);
  const Arrays r = bind(ops::eig_p, {x}, {{"compute_vectors", true}});
  return {r[0], r[1]};
}
Array eigvals(const ArrayLike& a) {
  const Array x = square_operand("eigvals", a);
  return bind1(ops::eig_p, {x}, {{"compute_vectors", false}});
}

Array cho_solve(const ArrayLike& factor, const ArrayLike& b, bool lower) {
  const System s = system_operands("cho_solve", square_operand("cho_solve", factor), b);
  const Array adjoint = ops::conj(s.a);  // once it is transposed
  const Array y = triangular_solve(lower ? s.a : adjoint, s.b, {.lower = lower, .transpose_a = !lower});
  return s.result(triangular_solve(lower ? adjoint : s.a, y, {.lower = lower, .transpose_a = lower}));
}

Array matrix_power(const ArrayLike& a, int n) {
  if (a->ndim() < 2 || ops::rows_of(a->shape()) != ops::columns_of(a->shape())) square_operand("matrix_power", a, true);
  if (n == 0) return broadcast_batch(ops::identity_matrix(a->dtype(), a->shape().back()), batch_shape(a), 2);
  Array square = n < 0 ? inv(a) : a.array(), result;
  for (unsigned left = n < 0 ? 0u - static_cast<unsigned>(n) : static_cast<unsigned>(n);;) {
    if (left & 1u) result = result.defined() ? ops::matrix_product(result, square) : square;
    left >>= 1;
    if (left == 0) return result;
    square = ops::matrix_product(square, square);
  }
}

}  // namespace cotan::linalg
