// Cholesky factorisation of symmetric positive definite matrices. Only the lower triangle is read.
#include "ops/linalg/lapack_complex.hpp"
#include "ops/linalg/matrix.hpp"
#include "ops/parts.hpp"

namespace cotan::ops {

namespace {

Types cholesky_type(const Primitive& self, std::span<const AbstractValue> x, const Params&) {
  check_square_matrix(self, x[0]);
  return {{x[0].dtype, x[0].shape, false}};
}

template <class T>
void factor(T* a, std::int64_t n) {
  bool ok = true;
  for (std::int64_t i = 0; i < n; ++i) ok &= !any_nan(a + i * n, i + 1);
  // The lower triangle of a row-major matrix is the upper triangle of the same memory read by columns.
  ok = ok && lapack::potrf('U', static_cast<lapack::Int>(n), a) == 0;
  for (std::int64_t i = 0; i < n; ++i) {
    if (!ok) std::fill(a + i * n, a + i * n + i + 1, quiet_nan<T>);
    std::fill(a + i * n + i + 1, a + (i + 1) * n, T(0));
  }
}

Arrays cholesky_eval(const Primitive& self, std::span<const Array> x, const Params& params) {
  Results out(self, x, params);
  dispatch_matrix(x, [&]<class T>(T, std::int64_t count) {
    const std::int64_t n = columns_of(x[0].shape());
    std::copy_n(data<T>(x[0]), x[0].size(), out.as<T>(0));
    for (std::int64_t i = 0; i < count; ++i) factor(out.as<T>(0) + i * n * n, n);
  });
  return out.arrays;
}

/// dL = L phi(L⁻¹ dA L⁻ᴴ), where phi keeps the lower triangle and halves the diagonal.
Array cholesky_partial(const Partial& p) {
  const Array& l = p.y;
  const Array right = triangular_solve(conj(l), p.t, {.left_side = false, .lower = true, .transpose_a = true});
  const Array both = triangular_solve(l, right, {.lower = true});
  const std::int64_t n = columns_of(l.shape());
  const Array halves = full({n, n}, scalar(l.dtype(), 1)) - 0.5 * identity_matrix(l.dtype(), n);
  return matrix_product(l, lower_triangle(both) * halves);
}

}  // namespace

const Primitive cholesky_p{.name = "cholesky",
                           .op_class = OpClass::routine,
                           .type = cholesky_type,
                           .eval = cholesky_eval,
                           .partials = {cholesky_partial},
                           .batch = matrix_batch,
                           .on_parts = by_complex_routine};
const Listed cholesky_listed{&cholesky_p};

}  // namespace cotan::ops
