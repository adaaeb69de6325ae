// Eigendecomposition of any square matrix: complex eigenvalues, then eigenvectors of length 1 in columns unless only
// values are wanted.
#include <complex>

#include "ops/linalg/lapack_complex.hpp"
#include "ops/linalg/lapack_reductions.hpp"
#include "ops/linalg/matrix.hpp"
#include "ops/parts.hpp"

namespace cotan::ops {

namespace {

Types eig_type(const Primitive& self, std::span<const AbstractValue> x, const Params& params) {
  check_square_matrix(self, x[0]);
  const DType complex = complex_dtype(x[0].dtype);
  Types out{{complex, with_core(x[0].shape, {columns_of(x[0].shape)}), false}};
  if (params.flag("compute_vectors")) out.push_back({complex, x[0].shape, false});
  return out;
}

template <class T>
bool decompose(T* a, std::int64_t n, T* w, T* vectors, bool wanted, lapack::Workspace<T>& memory) {
  return lapack::geev(wanted, static_cast<lapack::Int>(n), a, w, vectors, memory) == 0;
}
/// Of a real matrix: pairs are conjugate exactly, since LAPACK gives the two parts of one of them.
template <class T>
bool decompose(T* a, std::int64_t n, std::complex<T>* w, std::complex<T>* vectors, bool wanted,
               lapack::Workspace<T>& memory) {
  const auto size = static_cast<std::size_t>(n);
  std::vector<T> re(size), im(size), v(wanted ? size * size : 1);
  if (lapack::geev(wanted, static_cast<lapack::Int>(n), a, re.data(), im.data(), v.data(), memory) != 0) return false;
  for (std::size_t j = 0; j < size; ++j) w[j] = {re[j], im[j]};
  for (std::size_t j = 0; wanted && j < size; ++j) {
    const T* const first = v.data() + j * size;
    const bool pair = im[j] != 0 && j + 1 < size;
    for (std::size_t i = 0; i < size; ++i) {
      vectors[j * size + i] = pair ? std::complex<T>(first[i], first[size + i]) : std::complex<T>(first[i], 0);
      if (pair) vectors[(j + 1) * size + i] = std::conj(vectors[j * size + i]);
    }
    if (pair) ++j;
  }
  return true;
}

Arrays eig_eval(const Primitive& self, std::span<const Array> x, const Params& params) {
  Results out(self, x, params);
  const bool wanted = params.flag("compute_vectors");
  dispatch_matrix(x, [&]<class T>(T, std::int64_t count) {
    using Complex = std::complex<lapack::Part<T>>;
    const std::int64_t n = columns_of(x[0].shape());
    std::vector<T> a(static_cast<std::size_t>(n * n));
    std::vector<Complex> v(wanted ? a.size() : 1);
    lapack::Workspace<T> memory;
    for (std::int64_t i = 0; n && i < count; ++i) {
      Complex* const w = out.as<Complex>(0) + i * n;
      transpose_copy(data<T>(x[0]) + i * n * n, n, n, a.data());
      if (!all_finite(a.data(), n * n) || !decompose(a.data(), n, w, v.data(), wanted, memory)) {
        std::fill_n(w, n, quiet_nan<Complex>);
        std::fill(v.begin(), v.end(), quiet_nan<Complex>);
      }
      if (wanted) transpose_copy(v.data(), n, n, out.as<Complex>(1) + i * n * n);
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
  const Array d = lu_solve(lu[0], lu[2], matrix_product(cast(t[0], y[1].dtype()), y[1]));
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
