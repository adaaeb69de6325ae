#include "dlm/roots.hpp"

namespace cotan::dlm {

namespace np = numpy;

namespace {

/// By Householder reflections from the right, one for each row, written out: small matrices stay in registers, and in
/// lanes. A row that is zero already needs none.
Array reflected(Array A) {
  const std::int64_t rows = A.shape(-2), columns = A.shape(-1);
  const Array numbers = np::arange(columns);
  for (std::int64_t k = 0; k < rows && k + 1 < columns; ++k) {
    const Array whole = np::where(numbers >= k, A(ellipsis, k, all), 0.0), largest = np::max(np::abs(whole), -1, true);
    const Array row = whole / np::where(largest > 0, largest, 1.0);  // only its direction matters
    const Array first = row(ellipsis, range(k, k + 1)), norm = np::sqrt(np::sum(row * row, -1, true));
    const Array to = np::where(first > 0, -norm, norm);
    const Array v = row - to * (numbers == k).astype(A.dtype());
    const Array length = norm * (norm + np::abs(first));  // half of v'v
    const Array factor = np::where(length > 0, 1.0 / np::where(length > 0, length, 1.0), 0.0);
    A = A - times(A, v)(ellipsis, newaxis) * np::expand_dims(factor * v, -2);
  }
  return np::tril(A(ellipsis, all, range(0, rows)));
}
Array triangle_of(const Array& A) {
  constexpr std::int64_t small = 8;
  return A.shape(-2) <= small ? reflected(A) : transposed(linalg::qr(transposed(A)).r);
}
/// The derivative of the factor follows from that of the product, also where the factor is singular in rows that stay
/// zero: dL = L Φ(L⁻¹ d(A Aᵀ) L⁻ᵀ), with Φ the lower triangle and half the diagonal.
std::pair<Array, Array> triangle_rule(const std::tuple<Array>& primals, const std::tuple<Array>& tangents) {
  const auto& [A] = primals;
  const auto& [dA] = tangents;
  const Array L = triangle(A), mixed = np::matmul(dA, transposed(A)), dC = mixed + transposed(mixed);
  const Array eye = identity_like(L), on_diagonal = eye > 0;
  const Array size = np::sqrt(np::sum(L * L, {-2, -1}, true));
  const double tiny = L.dtype() == f32 ? 1e-6 : 1e-14;
  const Array pivots = np::sum(np::where(on_diagonal, L, 0.0), -1, true);  // a column
  const Array none = np::abs(pivots) <= tiny * size;
  const Array safe = np::where(on_diagonal & none, 1.0, L);
  const Array half = linalg::triangular_solve(safe, dC, {.lower = true});
  const Array inner = transposed(linalg::triangular_solve(safe, transposed(half), {.lower = true}));
  Array phi = np::where(on_diagonal, 0.5 * inner, np::tril(inner));
  phi = np::where(none & transposed(none), 0.0, phi);  // a state without variance keeps none
  return {L, np::matmul(safe, phi)};
}

}  // namespace

Array root_of(const Array& C) {
  const std::int64_t m = C.shape().back();
  const Array rows = np::arange(m);
  Array rest = C, root = np::zeros_like(C);
  const Array size = np::max(np::abs(C), {-2, -1}, true);
  const double tiny = C.dtype() == f32 ? 1e-7 : 1e-15;
  for (std::int64_t k = 0; k < m; ++k) {
    const Array pivot = rest(ellipsis, range(k, k + 1), range(k, k + 1));
    const Array positive = pivot > tiny * size;
    const Array divisor = np::sqrt(np::where(positive, pivot, 1.0));
    const Array below = np::expand_dims(rows >= k, -1);
    const Array column = np::where(positive & below, rest(ellipsis, all, range(k, k + 1)) / divisor, 0.0);
    root = root + column * np::expand_dims(rows == k, 0).astype(C.dtype());
    rest = rest - np::matmul(column, transposed(column));
  }
  return root;
}

Array triangle(const Array& A) { return custom_jvp(triangle_of, triangle_rule, "triangle")(A); }

Array corner(const Array& a, const Array& b, const Array& c) {
  Shape zeros = c.shape();
  zeros.back() = b.shape().back();
  return np::concatenate({beside({a, b}), beside({c, np::zeros(zeros, c.dtype())})}, -2);
}
Array solve_left(const Array& L, const Array& b) { return linalg::triangular_solve(L, b, {.lower = true}); }
Array solve_right(const Array& L, const Array& b) {
  return linalg::triangular_solve(L, b, {.left_side = false, .lower = true});
}
Blocks triangle_blocks(const Array& A, std::int64_t k) {
  const Array T = triangle(A);
  const auto rest = range(k, none);
  return {T(ellipsis, range(0, k), range(0, k)), T(ellipsis, rest, range(0, k)), T(ellipsis, rest, rest)};
}

}  // namespace cotan::dlm
