// Eigenvalues of tridiagonal matrices by bisection: how many are below a number is counted by the signs of pivots. With
// vectors, and for derivatives, the matrix is taken as a whole.
#include <cotan/control_flow.hpp>
#include <cotan/numpy.hpp>
#include <cotan/scipy/linalg.hpp>
#include <limits>

#include "linalg/loops.hpp"
#include "linalg/operands.hpp"
#include "ops/linalg/matrix.hpp"

namespace cotan::scipy::linalg {

namespace np = cotan::numpy;

namespace {

/// Which eigenvalues are wanted: from `first`, so many.
struct Wanted {
  std::int64_t first, count;
};

Wanted wanted_of(const EighTridiagonalOptions& options, std::int64_t n) {
  if (options.select == 'a') return {0, n};
  if (options.select != 'i')
    raise<ValueError>("[eigh_tridiagonal] there is no selection '{}'; use 'a', or 'i' with select_range.",
                      options.select);
  if (!options.select_range)
    raise<ValueError>("[eigh_tridiagonal] select 'i' needs a select_range; give {{0, 1}}, say.");
  const auto [first, last] = *options.select_range;
  if (first < 0 || last < first || last >= n)
    raise<ValueError>("[eigh_tridiagonal] the range {} to {} is not inside 0 to {}; give numbers of eigenvalues.",
                      first, last, n - 1);
  return {first, last - first + 1};
}

/// i32, like x: how many eigenvalues are below x.
Array count_below(const Array& d, const Array& squares, const Array& smallest, const Array& x) {
  const auto step = [&](std::span<const Array> in) {
    const Array q = in[2] - in[3] / in[0] - x, below = q <= smallest;
    return Arrays{np::where(below, np::minimum(q, -smallest), q), in[1] + below.astype(i32)};
  };
  const Array q = d[0] - x, below = q <= smallest;
  const Array first = np::where(below, np::minimum(q, -smallest), q);
  return cotan::linalg::scanned(step, {first, below.astype(i32)}, {ops::slice_axis(d, 0, 1, d.size()), squares})[1];
}

/// `d` real, `sizes` those of the elements beside it.
Array bisected(const Array& d, const Array& sizes, const Wanted& wanted, double tol) {
  const double eps = cotan::linalg::epsilon(d.dtype());
  const double tiny = d.dtype() == f64 ? std::numeric_limits<double>::min() : std::numeric_limits<float>::min();
  const Array zero = np::zeros({1}, d.dtype());
  const Array reach = np::concatenate({zero, sizes}, 0) + np::concatenate({sizes, zero}, 0);
  const Array highest = np::max(d + reach), lowest = np::min(d - reach), squares = np::square(sizes);
  const Array scale = np::maximum(np::abs(lowest), np::abs(highest));
  const Array smallest = tiny * np::maximum(1, np::max(squares));
  const Array near = np::maximum(eps * scale, tol),
              slack = 2.1 * eps * static_cast<double>(d.size()) * scale + 4.2 * smallest;
  const Array numbers = np::arange(wanted.count) + wanted.first;
  const auto everywhere = [&](const Array& x) { return ops::broadcast_to(x, {wanted.count}); };
  const int most = d.dtype() == f64 ? 70 : 40;  // halvings of the first interval
  const auto holds = [&](std::span<const Array> in) {
    return Arrays{(in[0] < most) & (np::max(in[2] - in[1]) > near)};
  };
  const auto halve = [&](std::span<const Array> in) {
    const Array middle = 0.5 * (in[1] + in[2]);
    const Array above = count_below(d, squares, smallest, middle) > numbers;
    return Arrays{in[0] + 1, np::where(above, in[1], middle), np::where(above, middle, in[2])};
  };
  const Arrays start{np::zeros({}, i32), everywhere(lowest - slack), everywhere(highest + slack)};
  const Arrays out = flat::while_loop(holds, halve, start, [](std::size_t i) { return "carry " + std::to_string(i); });
  return 0.5 * (out[1] + out[2]);
}

/// The whole matrix, and its eigenvectors that are wanted.
cotan::linalg::Eigh of_whole(const Array& d, const Array& e, const Wanted& wanted) {
  const Array matrix = np::diag(d) + np::diag(e, 1) + np::diag(ops::conj(e), -1);
  const auto [w, v] = cotan::linalg::eigh(matrix);
  const std::int64_t end = wanted.first + wanted.count;
  return {ops::slice_axis(w, 0, wanted.first, end), ops::slice_axis(v, 1, wanted.first, end)};
}

/// dw = vᴴ dT v.
Array values_tangent(const Array& v, const Array& dd, const Array& de) {
  const std::int64_t n = v.shape()[0];
  const Array upper = ops::slice_axis(v, 0, 0, n - 1), lower = ops::slice_axis(v, 0, 1, n);
  const Array squares = np::square(np::abs(v)), mixed = ops::conj(upper) * lower;
  return np::matmul(ops::real(dd), squares) + 2 * ops::real(np::matmul(de, mixed));
}

}  // namespace

cotan::linalg::Eigh eigh_tridiagonal(const ArrayLike& d, const ArrayLike& e, const EighTridiagonalOptions& options) {
  constexpr std::string_view op = "eigh_tridiagonal";
  const Array both[] = {d, e};
  const DType dtype = np::inexact_result_type(both).dtype;
  const Array on = ops::cast(d, dtype), beside = ops::cast(e, dtype);
  cotan::linalg::check_lapack_dtype(op, on);
  if (d->ndim() != 1 || e->ndim() != 1 || d->size() == 0 || e->size() != d->size() - 1)
    raise<ShapeError>("[{}] the diagonals are {} and {}; give vectors, the second one element shorter.", op, d->aval(),
                      e->aval());
  const Wanted wanted = wanted_of(options, d->size());
  if (!options.eigvals_only) return of_whole(on, beside, wanted);
  if (d->size() == 1) return {ops::real(on), {}};
  const double tol = options.tol.value_or(0);
  const auto values = [=](std::span<const Array> in) {
    return Arrays{bisected(ops::real(in[0]), np::abs(in[1]), wanted, tol)};
  };
  const auto rule = [=](std::span<const Array> in) {
    const Array v = of_whole(in[0], in[1], wanted).eigenvectors;
    return Arrays{values(in)[0], values_tangent(v, in[2], in[3])};
  };
  return {flat::custom_jvp(values, rule, Arrays{on, beside}, op)[0], {}};
}

}  // namespace cotan::scipy::linalg
