// QR factorisation by Householder reflections, with LAPACK's signs: the diagonal of R may be negative.
#include "ops/linalg/lapack_complex.hpp"
#include "ops/linalg/matrix.hpp"
#include "ops/parts.hpp"

namespace cotan::ops {

namespace {

Types qr_type(const Primitive& self, std::span<const AbstractValue> x, const Params& params) {
  check_matrix(self, x[0]);
  const std::int64_t m = rows_of(x[0].shape), n = columns_of(x[0].shape);
  const std::int64_t k = params.flag("full_matrices") ? m : std::min(m, n);
  return {{x[0].dtype, with_core(x[0].shape, {m, k}), false}, {x[0].dtype, with_core(x[0].shape, {k, n}), false}};
}

Arrays qr_eval(const Primitive& self, std::span<const Array> x, const Params& params) {
  Results out(self, x, params);
  dispatch_matrix(x, [&]<class T>(T, std::int64_t count) {
    const std::int64_t m = rows_of(x[0].shape()), n = columns_of(x[0].shape()), reflections = std::min(m, n);
    const std::int64_t k = columns_of(out.arrays[0].shape());
    std::vector<T> a(static_cast<std::size_t>(m * n)), q(static_cast<std::size_t>(m * k)), tau(reflections);
    using lapack::Int;
    lapack::Workspace<T> reflecting, forming;
    for (std::int64_t i = 0; i < count; ++i) {
      transpose_copy(data<T>(x[0]) + i * m * n, m, n, a.data());
      std::fill(q.begin(), q.end(), T(0));
      bool ok = all_finite(a.data(), m * n);
      if (reflections) {
        ok = ok && lapack::geqrf(static_cast<Int>(m), static_cast<Int>(n), a.data(), tau.data(), reflecting) == 0;
        std::copy_n(a.data(), m * std::min(k, n), q.data());
        ok = ok && lapack::orgqr(static_cast<Int>(m), static_cast<Int>(k), static_cast<Int>(reflections), q.data(),
                                 tau.data(), forming) == 0;
      } else {
        for (std::int64_t j = 0; j < k; ++j) q[j * m + j] = 1;
      }
      if (!ok) std::fill(q.begin(), q.end(), quiet_nan<T>);
      transpose_copy(q.data(), k, m, out.as<T>(0) + i * m * k);
      T* r = out.as<T>(1) + i * k * n;
      for (std::int64_t row = 0; row < k; ++row)
        for (std::int64_t column = 0; column < n; ++column)
          r[row * n + column] = column < row ? T(0) : ok ? a[column * m + row] : quiet_nan<T>;
    }
  });
  return out.arrays;
}

struct Factors {
  Array q, r;
};

/// For m >= n. With s = Qᴴ dX R⁻¹ and the skew-symmetric o that has s's lower triangle:
/// dQ = Q (o - s) + dX R⁻¹, dR = (s - o) R.
Factors thin_tangents(const Array& q, const Array& r, const Array& dx) {
  const Array dx_rinv = triangular_solve(r, dx, {.left_side = false});
  const Array s = matrix_product(adjoint(q), dx_rinv);
  const Array below = lower_triangle(s, -1);
  Array rest = s - (below - adjoint(below));
  // The diagonal of R stays real.
  if (is_complex(s.dtype())) rest = rest - identity_matrix(s.dtype(), columns_of(s.shape())) * (s - real(s));
  return {dx_rinv - matrix_product(q, rest), matrix_product(rest, r)};
}

/// The last m - n columns of a full Q move with the others as the product of reflections dictates
/// (arXiv:2409.13374, eq. 32 and 33). q1, q2: the first n and the other columns.
Array complement_tangent(const Array& q1, const Array& q2, const Array& dq1) {
  const std::int64_t m = rows_of(q1.shape()), n = columns_of(q1.shape());
  const Array top = matrix_rows(q1, 0, n), bottom = matrix_rows(q1, n, m);
  const Arrays lu = bind(lu_p, {top - identity_matrix(q1.dtype(), n)});
  const Array z_adjoint = conj(lu_solve(lu[0], lu[2], matrix_transpose(bottom), true));
  const Array z = adjoint(z_adjoint);
  const Array across = matrix_rows(dq1, n, m) - matrix_product(z, matrix_rows(dq1, 0, n));
  return matrix_product(dq1, z_adjoint) - matrix_product(q1 + matrix_product(q2, z), adjoint(across));
}

JvpResult qr_jvp(const Primitive& self, std::span<const Array> x, std::span<const Array> t, const Params& params) {
  const Arrays y = bind(self, x, params);
  const Array &q = y[0], &r = y[1], &dx = t[0];
  const std::int64_t m = rows_of(dx.shape()), n = columns_of(dx.shape());
  const int last = dx.ndim() - 1;
  if (m < n) {
    // X = [X1, X2] with X1 square: X1 = Q R1 and R2 = Qᵀ X2.
    const Factors d = thin_tangents(q, matrix_columns(r, 0, m), matrix_columns(dx, 0, m));
    const Array r_parts[] = {d.r, matrix_product(adjoint(d.q), matrix_columns(x[0], m, n)) +
                                      matrix_product(adjoint(q), matrix_columns(dx, m, n))};
    return {y, {d.q, concatenate(r_parts, last)}};
  }
  const bool full = params.flag("full_matrices") && m > n;
  if (!full) {
    const Factors d = thin_tangents(q, r, dx);
    return {y, {d.q, d.r}};
  }
  const Array q1 = matrix_columns(q, 0, n), q2 = matrix_columns(q, n, m);
  const Factors d = thin_tangents(q1, matrix_rows(r, 0, n), dx);
  const Array q_parts[] = {d.q, complement_tangent(q1, q2, d.q)};
  Ints none(dx.ndim(), 0), below = none;
  below[last - 1] = m - n;
  return {y, {concatenate(q_parts, last), pad(d.r, scalar(dx.dtype(), 0), none, below, none)}};
}

}  // namespace

const Primitive qr_p{.name = "qr",
                     .op_class = OpClass::routine,
                     .type = qr_type,
                     .eval = qr_eval,
                     .jvp = qr_jvp,
                     .batch = matrix_batch,
                     .on_parts = by_complex_routine};
const Listed qr_listed{&qr_p};

}  // namespace cotan::ops
