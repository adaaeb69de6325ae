// Singular value decomposition: singular values in descending order, then U and Vᵀ unless only values are
// wanted.
#include "ops/linalg/lapack_complex.hpp"
#include "ops/linalg/matrix.hpp"
#include "ops/parts.hpp"

namespace cotan::ops {

namespace {

Types svd_type(const Primitive& self, std::span<const AbstractValue> x, const Params& params) {
  check_matrix(self, x[0]);
  const std::int64_t m = rows_of(x[0].shape), n = columns_of(x[0].shape), k = std::min(m, n);
  const bool full = params.flag("full_matrices");
  Types out = {{real_dtype(x[0].dtype), with_core(x[0].shape, {k}), false}};
  if (params.flag("compute_uv")) {
    out.push_back({x[0].dtype, with_core(x[0].shape, {m, full ? m : k}), false});
    out.push_back({x[0].dtype, with_core(x[0].shape, {full ? n : k, n}), false});
  }
  return out;
}

template <class T>
void fill_identity(std::vector<T>& a, std::int64_t rows, std::int64_t columns) {
  std::fill(a.begin(), a.end(), T(0));
  for (std::int64_t i = 0; i < std::min(rows, columns); ++i) a[i * rows + i] = 1;
}

Arrays svd_eval(const Primitive& self, std::span<const Array> x, const Params& params) {
  Results out(self, x, params);
  const bool uv = params.flag("compute_uv");
  dispatch_matrix(x, [&]<class T>(T, std::int64_t count) {
    const std::int64_t m = rows_of(x[0].shape()), n = columns_of(x[0].shape()), k = std::min(m, n);
    const std::int64_t u_columns = uv ? columns_of(out.arrays[1].shape()) : 0;
    const std::int64_t vt_rows = uv ? rows_of(out.arrays[2].shape()) : 0;
    std::vector<T> a(static_cast<std::size_t>(m * n)), u(static_cast<std::size_t>(m * u_columns)),
        vt(static_cast<std::size_t>(vt_rows * n));
    lapack::Workspace<T> memory;
    for (std::int64_t i = 0; i < count; ++i) {
      const T* matrix = data<T>(x[0]) + i * m * n;
      using Real = typename lapack::PartOf<T>::Type;
      Real* s = out.as<Real>(0) + i * k;
      if (k == 0) {
        fill_identity(u, m, u_columns);
        fill_identity(vt, vt_rows, n);
      } else {
        transpose_copy(matrix, m, n, a.data());
        // LAPACK complains about infinities and NaN, or may not end.
        bool ok = all_finite(a.data(), m * n);
        const char job = !uv ? 'N' : params.flag("full_matrices") ? 'A' : 'S';
        ok = ok && lapack::gesdd(job, static_cast<lapack::Int>(m), static_cast<lapack::Int>(n), a.data(), s, u.data(),
                                 vt.data(), lapack::leading(vt_rows), memory) == 0;
        if (!ok) {
          std::fill_n(s, k, quiet_nan<Real>);
          std::fill(u.begin(), u.end(), quiet_nan<T>);
          std::fill(vt.begin(), vt.end(), quiet_nan<T>);
        }
      }
      if (!uv) continue;
      transpose_copy(u.data(), u_columns, m, out.as<T>(1) + i * m * u_columns);
      transpose_copy(vt.data(), n, vt_rows, out.as<T>(2) + i * vt_rows * n);
    }
  });
  return out.arrays;
}

/// Distinct singular values, thin factors. With dP = Uᵀ dA V: ds = diag(dP); dU and dV rotate inside the
/// spaces of U and V by the skew parts, and move out of them where the matrix is not square.
JvpResult svd_jvp(const Primitive& self, std::span<const Array> x, std::span<const Array> t, const Params& params) {
  const Array& da = t[0];
  const std::int64_t m = rows_of(da.shape()), n = columns_of(da.shape());
  const bool uv = params.flag("compute_uv");
  if (uv && params.flag("full_matrices") && m != n)
    raise<TransformError>(
        "[svd] the full factors of {} have no derivative, only their first {} columns do; use "
        "full_matrices=false.",
        da.aval(), std::min(m, n));
  const Arrays thin = bind(self, x, params.with("full_matrices", false).with("compute_uv", true));
  const Array &s = thin[0], &u = thin[1], &vt = thin[2];
  const Array ut = adjoint(u), v = adjoint(vt);
  const Array dp = matrix_product(matrix_product(ut, da), v);
  const Array ds = real(diagonal_of(dp));
  if (!uv) return {{s}, {ds}};

  const Array row = as_row(s), column = as_column(s), eye = identity_matrix(s.dtype(), s.shape().back());
  const Array f = 1 / ((row + column) * (row - column) + eye) - eye;
  const Array dp_s = row * dp, s_dp = column * dp;
  Array inside = f * (dp_s + adjoint(dp_s));
  // A common angle of the vectors of a complex matrix goes to u.
  if (is_complex(dp.dtype())) inside = inside + eye * (0.5 * (dp - adjoint(dp)) / row);
  Array du = matrix_product(u, inside);
  Array dv = matrix_product(v, f * (s_dp + adjoint(s_dp)));
  if (m > n) {
    const Array da_v = matrix_product(da, v);
    du = du + (da_v - matrix_product(u, matrix_product(ut, da_v))) / row;
  }
  if (n > m) {
    const Array dat_u = matrix_product(adjoint(da), u);
    dv = dv + (dat_u - matrix_product(v, matrix_product(vt, dat_u))) / row;
  }
  return {thin, {ds, du, adjoint(dv)}};
}

}  // namespace

const Primitive svd_p{.name = "svd",
                      .op_class = OpClass::routine,
                      .type = svd_type,
                      .eval = svd_eval,
                      .jvp = svd_jvp,
                      .batch = matrix_batch,
                      .on_parts = by_complex_routine};
const Listed svd_listed{&svd_p};

}  // namespace cotan::ops
