// Polar decompositions by Halley's iteration with weights that are known before (QDWH; Nakatsukasa, Bai, Gygi 2010).
#include "linalg/polar.hpp"

#include <cmath>
#include <cotan/lax.hpp>
#include <cotan/numpy.hpp>

#include "linalg/loops.hpp"
#include "linalg/operands.hpp"
#include "ops/linalg/matrix.hpp"

namespace cotan::linalg {

namespace np = cotan::numpy;
using ops::adjoint;
using ops::matrix_product;

namespace {

/// With dx = du h + u dh and w = uᴴ du, which is skew: w h + h w is known, and h by its eigenvectors.
Arrays polar_rule(std::span<const Array> in) {
  const Array &x = in[0], &u = in[1], &h = in[2], &dx = in[3];
  const auto [values, v] = eigh(h);
  const Array vh = adjoint(v), inside = matrix_product(adjoint(u), dx);
  const Array turned = matrix_product(vh, matrix_product(inside - adjoint(inside), v));
  const Array w = matrix_product(v, matrix_product(turned / (ops::as_column(values) + ops::as_row(values)), vh));
  Array du = matrix_product(u, w);
  if (ops::rows_of(x.shape()) > ops::columns_of(x.shape())) {
    const Array outside = dx - matrix_product(u, inside);
    du = du + matrix_product(matrix_product(outside, v) / ops::as_row(values), vh);
  }
  return {u, h, du, inside - matrix_product(w, h)};
}

/// Weights of the steps that take all singular values from [l, 1] to 1.
struct Weights {
  std::vector<double> scale, weight, share;  ///< a - b/c (over √c), c (or √c), b/c
  void add(double a, double b, double c, bool by_qr) {
    scale.push_back(by_qr ? (a - b / c) / std::sqrt(c) : a - b / c);
    weight.push_back(by_qr ? std::sqrt(c) : c);
    share.push_back(b / c);
  }
  Arrays arrays(DType dtype) const {
    Arrays out;
    for (const std::vector<double>* each : {&scale, &weight, &share})
      out.push_back(from_numbers(*each, {static_cast<std::int64_t>(each->size())}, dtype));
    return out;
  }
};
struct Schedule {
  Weights by_qr, by_cholesky;
  int steps = 0;
};
Schedule schedule_of(double eps, int most) {
  constexpr double by_cholesky_from = 100;  // larger weights make a system that is too ill for a Cholesky factor
  Schedule out;
  for (double l = eps; l + 5 * eps < 1 && out.steps < most; ++out.steps) {
    const double l2 = l * l, dd = std::cbrt(4 * (1 / l2 - 1) / l2), root = std::sqrt(1 + dd);
    const double a = root + std::sqrt(2 - dd + 2 * (2 - l2) / (l2 * root)), b = (a - 1) * (a - 1) / 4, c = a + b - 1;
    l = l * (a + b * l2) / (1 + c * l2);
    (c > by_cholesky_from ? out.by_qr : out.by_cholesky).add(a, b, c, c > by_cholesky_from);
  }
  return out;
}

Array step_by_qr(const Array& u, const Array& scale, const Array& weight, const Array& share) {
  const std::int64_t m = ops::rows_of(u.shape()), n = ops::columns_of(u.shape());
  const Array stacked = np::concatenate({weight * u, ops::identity_matrix(u.dtype(), n)}, 0);
  const Array q = qr(stacked).q;
  return share * u + scale * matrix_product(ops::matrix_rows(q, 0, m), adjoint(ops::matrix_rows(q, m, m + n)));
}
Array step_by_cholesky(const Array& u, const Array& scale, const Array& weight, const Array& share) {
  const Array uh = adjoint(u);
  const Array system = weight * matrix_product(uh, u) + ops::identity_matrix(u.dtype(), ops::columns_of(u.shape()));
  return share * u + scale * adjoint(linalg::cho_solve(linalg::cholesky(system, false), uh));
}

/// step(number, u, whether u is not there yet), as long as it is not.
Arrays until_done(const FlatFn& step, const Arrays& start, int most) {
  const auto holds = [=](std::span<const Array> in) { return Arrays{in[2] & (in[0] < most)}; };
  return flat::while_loop(holds, step, start, [](std::size_t i) { return "carry " + std::to_string(i); });
}
/// The same without a branch: devices without complex routines leave those to the host, which knows no branches.
Arrays a_few(const FlatFn& step, Arrays state, int steps) {
  for (int i = 0; i < steps; ++i) {
    const Arrays next = step(state);
    const Array left = state[2];
    for (std::size_t k = 0; k < state.size(); ++k) state[k] = np::where(left, next[k], state[k]);
  }
  return state;
}

/// u, h, the number of steps, and whether there were enough, of one matrix.
Arrays qdwh_of_one(const Array& x, int most, double eps) {
  const DType real = real_dtype(x.dtype());
  const Array one_norm = norm(x, 1), inf_norm = norm(x, np::inf);
  const Array size =
      np::where(one_norm == 0, 1,
                lax::rsqrt(np::where(one_norm == 0, 1, one_norm)) * lax::rsqrt(np::where(inf_norm == 0, 1, inf_norm)));
  const Schedule schedule = schedule_of(eps, most);
  const double close = std::cbrt(5 * eps);
  const auto far = [=](const Array& u, const Array& before) { return norm(u - before) > close; };
  Array u = x * size, left = Array(true).astype(DType::bool_);
  if (!schedule.by_qr.scale.empty()) {
    const auto step = [](std::span<const Array> in) { return Arrays{step_by_qr(in[0], in[1], in[2], in[3])}; };
    u = scanned(step, {u}, schedule.by_qr.arrays(real))[0];
  }
  if (!schedule.by_cholesky.scale.empty()) {
    const auto step = [&](std::span<const Array> in) {
      const Array next = step_by_cholesky(in[0], in[2], in[3], in[4]);
      return Arrays{next, far(next, in[0])};
    };
    const Arrays out = scanned(step, {u, left}, schedule.by_cholesky.arrays(real));
    u = out[0], left = out[1];
  }
  const auto halley = [&](std::span<const Array> in) {
    const Array third = np::full({}, 1.0 / 3, real);
    const Array next = step_by_cholesky(in[1], 3 - third, np::full({}, 3, real), third);
    return Arrays{in[0] + 1, next, far(next, in[1])};
  };
  const Arrays start{ops::cast(np::full({}, schedule.steps), DType::i32), u, left};
  const Arrays out =
      is_complex(x.dtype()) ? a_few(halley, start, most - schedule.steps) : until_done(halley, start, most);
  u = out[1];
  // A step of Newton and Schulz takes the last rounding errors away.
  u = 1.5 * u - 0.5 * matrix_product(u, matrix_product(adjoint(u), u));
  const Array h = matrix_product(adjoint(u), x);
  return {u, 0.5 * (h + adjoint(h)), out[0], ~out[2]};
}

}  // namespace

PolarFactors with_polar_derivative(const Array& x, const PolarFactors& found) {
  const auto value = [](std::span<const Array> in) { return Arrays{in[1], in[2]}; };
  const Arrays out = flat::custom_jvp(value, polar_rule, Arrays{x, found.u, found.h}, "polar");
  return {out[0], out[1]};
}

Qdwh qdwh(const ArrayLike& x, const QdwhOptions& options) {
  const Array a = matrix_operand("qdwh", x);
  const std::int64_t m = ops::rows_of(a.shape()), n = ops::columns_of(a.shape());
  if (m < n) raise<ShapeError>("[qdwh] {} has more columns than rows; give its transpose, and transpose u.", x->aval());
  const int most = options.max_iterations.value_or(10);
  const double eps = options.eps.value_or(epsilon(a.dtype()));
  if (n == 0) {
    const Shape batch = batch_shape(a);
    return {a, ops::zeros_of({a.dtype(), ops::with_core(a.shape(), {0, 0}), false}), np::zeros(batch, DType::i32),
            np::ones(batch, DType::bool_)};
  }
  const auto each = np::vectorize([=](const Array& one) { return qdwh_of_one(one, most, eps); },
                                  {.signature = "(m,n)->(m,n),(n,n),(),()"});
  const Arrays out = each(lax::stop_gradient(a));
  const auto [u, h] = with_polar_derivative(a, {out[0], out[1]});
  return {u, h, out[2], out[3]};
}

}  // namespace cotan::linalg
