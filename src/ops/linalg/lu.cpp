// LU factorisation with partial pivoting: the packed factors, LAPACK's pivots from 0, and the row
// permutation.
#include <numeric>

#include "ops/linalg/lapack_complex.hpp"
#include "ops/linalg/matrix.hpp"
#include "ops/parts.hpp"

namespace cotan::ops {

namespace {

Types lu_type(const Primitive& self, std::span<const AbstractValue> x, const Params&) {
  check_matrix(self, x[0]);
  const std::int64_t m = rows_of(x[0].shape), n = columns_of(x[0].shape);
  return {{x[0].dtype, x[0].shape, false},
          {DType::i32, with_core(x[0].shape, {std::min(m, n)}), false},
          {DType::i32, with_core(x[0].shape, {m}), false}};
}

Arrays lu_eval(const Primitive& self, std::span<const Array> x, const Params& params) {
  Results out(self, x, params);
  dispatch_matrix(x, [&]<class T>(T, std::int64_t count) {
    const std::int64_t m = rows_of(x[0].shape()), n = columns_of(x[0].shape()), k = std::min(m, n);
    std::vector<T> a(static_cast<std::size_t>(m * n));
    std::vector<lapack::Int> pivots(static_cast<std::size_t>(k));
    for (std::int64_t i = 0; i < count; ++i) {
      transpose_copy(data<T>(x[0]) + i * m * n, m, n, a.data());
      // A positive result only says that U is singular.
      const bool ok = !any_nan(a.data(), m * n) &&
                      (k == 0 || lapack::getrf(static_cast<lapack::Int>(m), static_cast<lapack::Int>(n), a.data(),
                                               pivots.data()) >= 0);
      if (!ok) {
        std::fill(a.begin(), a.end(), quiet_nan<T>);
        std::iota(pivots.begin(), pivots.end(), 1);
      }
      transpose_copy(a.data(), n, m, out.as<T>(0) + i * m * n);
      std::int32_t *pivot = out.as<std::int32_t>(1) + i * k, *permutation = out.as<std::int32_t>(2) + i * m;
      std::iota(permutation, permutation + m, 0);
      for (std::int64_t j = 0; j < k; ++j) {
        // An infinity can still make NaN on the way, and NaN has no largest element: the row must at least
        // exist.
        const bool exists = pivots[j] > j && pivots[j] <= m;
        pivot[j] = exists ? pivots[j] - 1 : static_cast<std::int32_t>(j);
        std::swap(permutation[j], permutation[pivot[j]]);
      }
    }
  });
  return out.arrays;
}

/// With P da = dL U + L dU and s = L⁻¹ P da U⁻¹: dL = L tril(s, -1), dU = triu(s) U. Rectangular factors are
/// completed by the identity.
JvpResult lu_jvp(const Primitive& self, std::span<const Array> x, std::span<const Array> t, const Params& params) {
  const Arrays y = bind(self, x, params);
  const Array &packed = y[0], &permutation = y[2];
  const DType dtype = packed.dtype();
  const Shape& shape = packed.shape();
  const std::int64_t m = rows_of(shape), n = columns_of(shape), k = std::min(m, n);
  const auto padded = [&](const Array& a, std::int64_t more_rows, std::int64_t more_columns) {
    Ints none(shape.size(), 0), high = none;
    high[shape.size() - 2] = more_rows;
    high[shape.size() - 1] = more_columns;
    return pad(a, scalar(dtype, 0), none, high, none);
  };
  const Array l = padded(lower_triangle(matrix_columns(packed, 0, k), -1), 0, m - k) + identity_matrix(dtype, m);
  Array u = padded(upper_triangle(matrix_rows(packed, 0, k)), n - k, 0);
  if (n > k) {
    const Array ones = identity_matrix(dtype, n - k);
    u = u + pad(ones, scalar(dtype, 0), {k, k}, {0, 0}, {0, 0});
  }
  const Array left = triangular_solve(l, permute_rows(t[0], permutation), {.lower = true, .unit_diagonal = true});
  const Array s = triangular_solve(u, left, {.left_side = false});
  const Array d = matrix_product(l, lower_triangle(s, -1)) + matrix_product(upper_triangle(s), u);
  return {y, {d, Array(), Array()}};
}

}  // namespace

const Primitive lu_p{.name = "lu",
                     .op_class = OpClass::routine,
                     .type = lu_type,
                     .eval = lu_eval,
                     .jvp = lu_jvp,
                     .batch = matrix_batch,
                     .on_parts = by_complex_routine};
const Listed lu_listed{&lu_p};

}  // namespace cotan::ops
