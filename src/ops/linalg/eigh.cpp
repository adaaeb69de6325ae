// Eigendecomposition of symmetric matrices: eigenvectors in columns, unless only values are wanted, then ascending
// eigenvalues.
#include <cmath>

#include "ops/linalg/lapack_complex.hpp"
#include "ops/linalg/matrix.hpp"
#include "ops/parts.hpp"

namespace cotan::ops {

bool eigh_gives_values_alone(const Params& params) {
  return params.has("compute_vectors") && !params.flag("compute_vectors");
}

namespace {

Types eigh_type(const Primitive& self, std::span<const AbstractValue> x, const Params& params) {
  check_square_matrix(self, x[0]);
  const AbstractValue values{real_dtype(x[0].dtype), with_core(x[0].shape, {columns_of(x[0].shape)}), false};
  if (eigh_gives_values_alone(params)) return {values};
  return {{x[0].dtype, x[0].shape, false}, values};
}

Arrays eigh_eval(const Primitive& self, std::span<const Array> x, const Params& params) {
  Results out(self, x, params);
  const bool lower = params.flag("lower"), values_alone = eigh_gives_values_alone(params);
  dispatch_matrix(x, [&]<class T>(T, std::int64_t count) {
    const std::int64_t n = columns_of(x[0].shape());
    std::vector<T> a(static_cast<std::size_t>(n * n));
    lapack::Workspace<T> memory;
    for (std::int64_t i = 0; n && i < count; ++i) {
      transpose_copy(data<T>(x[0]) + i * n * n, n, n, a.data());
      using Real = typename lapack::PartOf<T>::Type;
      Real* w = out.as<Real>(values_alone ? 0 : 1) + i * n;
      // LAPACK complains about infinities and NaN in the triangle that it reads, or may not end.
      bool ok = true;
      for (std::int64_t row = 0; row < n; ++row)
        for (std::int64_t column = 0; column <= row; ++column)
          ok &= all_finite(&a[static_cast<std::size_t>(lower ? column * n + row : row * n + column)], 1);
      ok = ok && lapack::syevd(values_alone ? 'N' : 'V', lower ? 'L' : 'U', static_cast<lapack::Int>(n), a.data(), w,
                               memory) == 0;
      if (!ok) {
        std::fill(a.begin(), a.end(), quiet_nan<T>);
        std::fill_n(w, n, quiet_nan<Real>);
      }
      if (!values_alone) transpose_copy(a.data(), n, n, out.as<T>(0) + i * n * n);
    }
  });
  return out.arrays;
}

/// Perturbation of distinct eigenvalues, for a symmetric tangent: dw = diag(Vᴴ dA V), and dV = V (F ∘ Vᴴ dA
/// V) with F_ij = 1 / (w_j - w_i) off the diagonal, so that equal eigenvalues have no finite dV.
JvpResult eigh_jvp(const Primitive& self, std::span<const Array> x, std::span<const Array> t, const Params& params) {
  const bool values_alone = eigh_gives_values_alone(params);
  const Arrays y = bind(self, x, params.with("compute_vectors", true));
  const Array &v = y[0], &w = y[1];
  const Array eye = identity_matrix(w.dtype(), columns_of(v.shape()));
  const Array f = 1 / (eye + as_row(w) - as_column(w)) - eye;
  const Array d = matrix_product(matrix_product(adjoint(v), t[0]), v);
  if (values_alone) return {{w}, {real(diagonal_of(d))}};
  return {y, {matrix_product(v, f * d), real(diagonal_of(d))}};
}

}  // namespace

const Primitive eigh_p{.name = "eigh",
                       .op_class = OpClass::routine,
                       .type = eigh_type,
                       .eval = eigh_eval,
                       .jvp = eigh_jvp,
                       .batch = matrix_batch,
                       .on_parts = by_complex_routine};
const Listed eigh_listed{&eigh_p};

}  // namespace cotan::ops
