// Eigendecomposition of any square matrix, given as a complex one: eigenvalues, then eigenvectors of length 1 in
// columns unless only values are wanted.
#include "ops/linalg/lapack_complex.hpp"
#include "ops/linalg/matrix.hpp"
#include "ops/parts.hpp"

namespace cotan::ops {

namespace {

Types eig_type(const Primitive& self, std::span<const AbstractValue> x, const Params& params) {
  check_square_matrix(self, x[0]);
  if (!is_complex(x[0].dtype)) raise<TypeError>("[eig] needs a complex matrix, got {}; cast it with astype.", x[0]);
  Types out{{x[0].dtype, with_core(x[0].shape, {columns_of(x[0].shape)}), false}};
  if (params.flag("compute_vectors")) out.push_back({x[0].dtype, x[0].shape, false});
  return out;
}

template <class T>
void decompose(const T* matrix, std::int64_t n, T* w, T* vectors) {
  std::vector<T> a(static_cast<std::size_t>(n * n)), v(vectors ? a.size() : 1);
  transpose_copy(matrix, n, n, a.data());
  lapack::Workspace<T> memory;
  const bool ok = all_finite(a.data(), n * n) &&
                  lapack::geev(vectors != nullptr, static_cast<lapack::Int>(n), a.data(), w, v.data(), memory) == 0;
  if (!ok) {
    std::fill_n(w, n, quiet_nan<T>);
    std::fill(v.begin(), v.end(), quiet_nan<T>);
  }
  if (vectors) transpose_copy(v.data(), n, n, vectors);
}

Arrays eig_eval(const Primitive& self, std::span<const Array> x, const Params& params) {
  Results out(self, x, params);
  const bool vectors = params.flag("compute_vectors");
  dispatch_matrix(x, [&]<class T>(T, std::int64_t count) {
    if constexpr (HostComplex<T>) {
      const std::int64_t n = columns_of(x[0].shape());
      for (std::int64_t i = 0; n && i < count; ++i)
        decompose(data<T>(x[0]) + i * n * n, n, out.as<T>(0) + i * n, vectors ? out.as<T>(1) + i * n * n : nullptr);
    }
  });
  return out.arrays;
}

/// dw = diag(V⁻¹ dA V). Vectors have a derivative only up to their length and angle: there is none, as in JAX.
JvpResult eig_jvp(const Primitive& self, std::span<const Array> x, std::span<const Array> t, const Params& params) {
  if (params.flag("compute_vectors"))
    raise<TransformError>(
        "[eig] eigenvectors of a matrix that is not symmetric have no derivative; use eigvals, or eigh of a symmetric "
        "one.");
  const Arrays y = bind(self, x, params.with("compute_vectors", true));
  const Arrays lu = bind(lu_p, {y[1]});
  const Array d = lu_solve(lu[0], lu[2], matrix_product(t[0], y[1]));
  return {{y[0]}, {diagonal_of(d)}};
}

}  // namespace

const Primitive eig_p{.name = "eig",
                      .op_class = OpClass::routine,
                      .type = eig_type,
                      .eval = eig_eval,
                      .jvp = eig_jvp,
                      .batch = matrix_batch,
                      .on_parts = by_complex_routine};
const Listed eig_listed{&eig_p};

}  // namespace cotan::ops
