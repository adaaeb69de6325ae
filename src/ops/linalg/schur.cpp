// Schur's form t of square matrices, then its vectors z unless only the form is wanted: z t zᴴ = a. There is no
// derivative, as in JAX.
#include "ops/linalg/lapack_complex.hpp"
#include "ops/linalg/lapack_reductions.hpp"
#include "ops/linalg/matrix.hpp"
#include "ops/parts.hpp"

namespace cotan::ops {

namespace {

Types schur_type(const Primitive& self, std::span<const AbstractValue> x, const Params& params) {
  check_square_matrix(self, x[0]);
  return Types(params.flag("compute_vectors") ? 2 : 1, {x[0].dtype, x[0].shape, false});
}

Arrays schur_eval(const Primitive& self, std::span<const Array> x, const Params& params) {
  Results out(self, x, params);
  const bool vectors = params.flag("compute_vectors");
  dispatch_matrix(x, [&]<class T>(T, std::int64_t count) {
    const std::int64_t n = columns_of(x[0].shape());
    std::vector<T> a(static_cast<std::size_t>(n * n)), z(vectors ? a.size() : 1);
    lapack::Workspace<T> memory;
    for (std::int64_t i = 0; n && i < count; ++i) {
      transpose_copy(data<T>(x[0]) + i * n * n, n, n, a.data());
      // LAPACK may not end with NaN.
      const bool ok = all_finite(a.data(), n * n) &&
                      lapack::gees(vectors, static_cast<lapack::Int>(n), a.data(), z.data(), memory) == 0;
      if (!ok) {
        std::fill(a.begin(), a.end(), quiet_nan<T>);
        std::fill(z.begin(), z.end(), quiet_nan<T>);
      }
      transpose_copy(a.data(), n, n, out.as<T>(0) + i * n * n);
      if (vectors) transpose_copy(z.data(), n, n, out.as<T>(1) + i * n * n);
    }
  });
  return out.arrays;
}

}  // namespace

const Primitive schur_p{.name = "schur",
                        .op_class = OpClass::routine,
                        .type = schur_type,
                        .eval = schur_eval,
                        .batch = matrix_batch,
                        .on_parts = by_complex_routine};
const Listed schur_listed{&schur_p};

}  // namespace cotan::ops
