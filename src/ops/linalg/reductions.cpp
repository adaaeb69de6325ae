// Matrices reduced to simpler ones by reflections, in LAPACK's form: vectors under (or above) what is left, and
// factors. geqrf: a triangle, by reflections from the left. hessenberg and tridiagonal: from both sides. There are no
// derivatives, as in JAX.
#include "ops/linalg/lapack_complex.hpp"
#include "ops/linalg/lapack_reductions.hpp"
#include "ops/linalg/matrix.hpp"
#include "ops/parts.hpp"

namespace cotan::ops {

namespace {

using lapack::Int;

Types geqrf_type(const Primitive& self, std::span<const AbstractValue> x, const Params&) {
  check_matrix(self, x[0]);
  const std::int64_t k = std::min(rows_of(x[0].shape), columns_of(x[0].shape));
  return {{x[0].dtype, x[0].shape, false}, {x[0].dtype, with_core(x[0].shape, {k}), false}};
}
Types hessenberg_type(const Primitive& self, std::span<const AbstractValue> x, const Params&) {
  check_square_matrix(self, x[0]);
  const std::int64_t n = std::max<std::int64_t>(columns_of(x[0].shape), 1);
  return {{x[0].dtype, x[0].shape, false}, {x[0].dtype, with_core(x[0].shape, {n - 1}), false}};
}
Types tridiagonal_type(const Primitive& self, std::span<const AbstractValue> x, const Params&) {
  check_square_matrix(self, x[0]);
  const std::int64_t n = columns_of(x[0].shape);
  if (n == 0) raise<ShapeError>("[tridiagonal] got {}; there is no tridiagonal matrix of nothing.", x[0]);
  const DType real = real_dtype(x[0].dtype);
  return {{x[0].dtype, x[0].shape, false},
          {real, with_core(x[0].shape, {n}), false},
          {real, with_core(x[0].shape, {n - 1}), false},
          {x[0].dtype, with_core(x[0].shape, {n - 1}), false}};
}

/// reduce(a in columns, number of the matrix) -> whether it could; results that are not there become NaN.
template <class T, class Reduce>
void reduce_each(std::span<const Array> x, Results& out, std::int64_t count, Reduce&& reduce) {
  const std::int64_t m = rows_of(x[0].shape()), n = columns_of(x[0].shape());
  std::vector<T> a(static_cast<std::size_t>(m * n));
  for (std::int64_t i = 0; i < count; ++i) {
    transpose_copy(data<T>(x[0]) + i * m * n, m, n, a.data());
    const bool ok = all_finite(a.data(), m * n) && reduce(a.data(), i);
    if (!ok) std::fill(a.begin(), a.end(), quiet_nan<T>);
    transpose_copy(a.data(), n, m, out.as<T>(0) + i * m * n);
    if (ok) continue;
    for (std::size_t k = 1; k < out.arrays.size(); ++k) {
      const std::int64_t size = out.arrays[k].shape().back();
      if (out.arrays[k].dtype() == x[0].dtype())
        std::fill_n(out.as<T>(k) + i * size, size, quiet_nan<T>);
      else
        std::fill_n(out.as<lapack::Part<T>>(k) + i * size, size, quiet_nan<lapack::Part<T>>);
    }
  }
}

Arrays geqrf_eval(const Primitive& self, std::span<const Array> x, const Params& params) {
  Results out(self, x, params);
  dispatch_matrix(x, [&]<class T>(T, std::int64_t count) {
    const std::int64_t m = rows_of(x[0].shape()), n = columns_of(x[0].shape()), k = std::min(m, n);
    lapack::Workspace<T> memory;
    reduce_each<T>(x, out, count, [&](T* a, std::int64_t i) {
      return k == 0 || lapack::geqrf(static_cast<Int>(m), static_cast<Int>(n), a, out.as<T>(1) + i * k, memory) == 0;
    });
  });
  return out.arrays;
}
Arrays hessenberg_eval(const Primitive& self, std::span<const Array> x, const Params& params) {
  Results out(self, x, params);
  dispatch_matrix(x, [&]<class T>(T, std::int64_t count) {
    const std::int64_t n = columns_of(x[0].shape());
    lapack::Workspace<T> memory;
    reduce_each<T>(x, out, count, [&](T* a, std::int64_t i) {
      return n < 2 || lapack::gehrd(static_cast<Int>(n), a, out.as<T>(1) + i * (n - 1), memory) == 0;
    });
  });
  return out.arrays;
}
Arrays tridiagonal_eval(const Primitive& self, std::span<const Array> x, const Params& params) {
  Results out(self, x, params);
  const char triangle = params.flag("lower") ? 'L' : 'U';
  dispatch_matrix(x, [&]<class T>(T, std::int64_t count) {
    const std::int64_t n = columns_of(x[0].shape());
    lapack::Workspace<T> memory;
    using Real = lapack::Part<T>;
    reduce_each<T>(x, out, count, [&](T* a, std::int64_t i) {
      return lapack::sytrd(triangle, static_cast<Int>(n), a, out.as<Real>(1) + i * n, out.as<Real>(2) + i * (n - 1),
                           out.as<T>(3) + i * (n - 1), memory) == 0;
    });
  });
  return out.arrays;
}

Types pivots_type(const Primitive& self, std::span<const AbstractValue> x, const Params&) {
  check_matrix(self, x[0]);
  return {{DType::i32, with_core(x[0].shape, {columns_of(x[0].shape)}), false}};
}
Arrays pivots_eval(const Primitive& self, std::span<const Array> x, const Params& params) {
  Results out(self, x, params);
  dispatch_matrix(x, [&]<class T>(T, std::int64_t count) {
    const std::int64_t m = rows_of(x[0].shape()), n = columns_of(x[0].shape());
    std::vector<T> a(static_cast<std::size_t>(m * n)), tau(static_cast<std::size_t>(std::min(m, n)));
    std::vector<Int> pivots(static_cast<std::size_t>(n));
    lapack::Workspace<T> memory;
    for (std::int64_t i = 0; i < count; ++i) {
      transpose_copy(data<T>(x[0]) + i * m * n, m, n, a.data());
      std::fill(pivots.begin(), pivots.end(), 0);
      const bool ok =
          m > 0 && n > 0 && all_finite(a.data(), m * n) &&
          lapack::geqp3(static_cast<Int>(m), static_cast<Int>(n), a.data(), pivots.data(), tau.data(), memory) == 0;
      for (std::int64_t j = 0; j < n; ++j)
        out.as<std::int32_t>(0)[i * n + j] =
            static_cast<std::int32_t>(ok ? pivots[static_cast<std::size_t>(j)] - 1 : j);
    }
  });
  return out.arrays;
}

}  // namespace

const Primitive geqrf_p{.name = "geqrf",
                        .op_class = OpClass::routine,
                        .type = geqrf_type,
                        .eval = geqrf_eval,
                        .batch = matrix_batch,
                        .on_parts = by_complex_routine};
const Primitive hessenberg_p{.name = "hessenberg",
                             .op_class = OpClass::routine,
                             .type = hessenberg_type,
                             .eval = hessenberg_eval,
                             .batch = matrix_batch,
                             .on_parts = by_complex_routine};
const Primitive tridiagonal_p{.name = "tridiagonal",
                              .op_class = OpClass::routine,
                              .type = tridiagonal_type,
                              .eval = tridiagonal_eval,
                              .batch = matrix_batch,
                              .on_parts = by_complex_routine};
/// The order of columns in which each is the one with most that is new, as QR factorisation with pivoting takes them.
const Primitive column_pivots_p{.name = "column_pivots",
                                .op_class = OpClass::routine,
                                .type = pivots_type,
                                .eval = pivots_eval,
                                .batch = matrix_batch,
                                .not_differentiable = true,
                                .on_parts = by_complex_routine};
const Listed reductions_listed{&geqrf_p, &hessenberg_p, &tridiagonal_p, &column_pivots_p};

}  // namespace cotan::ops
