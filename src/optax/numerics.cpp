// Small numerics beside optimizers.
#include <cmath>
#include <cotan/linalg.hpp>

#include "optax/core.hpp"

namespace cotan::optax {

Array safe_increment(const ArrayLike& count) {
  const Array& n = count.array();
  if (is_floating(n.dtype())) return n + 1;
  if (n.dtype() == bool_) throw_with_line<TypeError>("[safe_increment] the count is bool; make it an integer.");
  const int bits = static_cast<int>(itemsize(n.dtype())) * 8 - (is_signed_integer(n.dtype()) ? 1 : 0);
  const Array most = np::full({}, Array(bits == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1), n.dtype());
  return np::where(n < most, n + 1, most);
}
Array safe_int32_increment(const ArrayLike& count) { return safe_increment(count); }

Array safe_norm(const ArrayLike& value, const Hyperparameter& min_norm, const Axes& axis, bool keepdims) {
  const Array& x = value.array();
  const Array least = min_norm.like(x), kept = np::sqrt(np::sum(x * x, axis, true)), small = kept <= least;
  // Where the norm is 0 its gradient is none, so that there it is computed of something else.
  const Array safe = np::where(small, np::ones_like(x), x);
  const Array out = np::where(small, least, np::sqrt(np::sum(safe * safe, axis, true)));
  return keepdims ? out : np::squeeze(out, axis.given() ? axis : Axes(axis.resolve(x.ndim(), "safe_norm")));
}
Array safe_root_mean_squares(const ArrayLike& value, const Hyperparameter& min_rms) {
  const Array& x = value.array();
  const Array least = min_rms.like(x), small = np::sqrt(np::mean(x * x)) <= least;
  const Array safe = np::where(small, np::ones_like(x), x);
  return np::where(small, least, np::sqrt(np::mean(safe * safe)));
}

namespace detail {
Array scaled_gradient(const Array& x, const Hyperparameter& scale) {
  if (scale.is_number() && scale.number() == 1) return x;
  if (scale.is_number() && scale.number() == 0) return lax::stop_gradient(x);
  return custom_vjp([](const Array& a) { return a; }, [](const Array& a) { return std::pair{a, none}; },
                    [scale](None, const Array& g) { return scale * g; }, "scale_gradient")(x);
}
}  // namespace detail

std::pair<Array, Array> power_iteration(const ArrayLike& matrix, const PowerIterationOptions& o) {
  const Array& m = matrix.array();
  const auto normalized = [](const Array& v) { return v / np::sqrt(np::sum(v * v)); };
  const Array key = o.key.defined() ? o.key : random::key(0);
  const Array start = normalized(o.v0.defined() ? o.v0 : random::uniform(key, {m.shape(-1)}, m.dtype(), -1.0, 1.0));
  struct Loop {
    Array vector, product, value, count;
  };
  const Loop end = lax::while_loop(
      [&](const Loop& l) {
        const Array rest = l.product - l.value * l.vector;
        return ~(np::abs(np::sqrt(np::sum(rest * rest)) / l.value) < o.error_tolerance) & (l.count < o.num_iters);
      },
      [&](const Loop& l) {
        const Array vector = normalized(l.product), product = np::matmul(m, vector);
        return Loop{vector, product, np::sum(vector * product), l.count + 1};
      },
      Loop{start, np::matmul(m, start), np::zeros({}, m.dtype()), first_count()});
  return {end.value, normalized(end.product)};
}

std::pair<Array, Array> matrix_inverse_pth_root(const ArrayLike& matrix, int p, const PthRootOptions& o) {
  if (p != 1 && p != 2 && p != 4 && p != 8)
    throw_with_line<ValueError>(fmt::format("[matrix_inverse_pth_root] p is {}; it must be 1, 2, 4 or 8.", p));
  const Array m = matrix->astype(f32);
  const std::int64_t n = m.shape(0);
  const double alpha = -1.0 / p;
  const Array ridge = o.ridge_epsilon * np::maximum(power_iteration(m).first, 1e-16);
  if (n == 1) return {np::power(m + ridge, alpha).astype(matrix->dtype()), np::zeros({})};
  const Array identity = np::eye(n), damped = m + ridge * identity;
  const Array z = (1.0 + p) / (2.0 * np::sqrt(np::sum(damped * damped)));
  struct Loop {
    Array count, m, h, before, error, on;
  };
  const Array first = damped * z;
  const auto distance = [&](const Array& x) { return np::max(np::abs(x - identity)); };
  const Array root = identity * np::power(z, 1.0 / p);
  const Loop end =
      lax::while_loop([&](const Loop& l) { return (l.count < o.num_iters) & (l.error > o.error_tolerance) & l.on; },
                      [&](const Loop& l) {
                        const Array factor = (1.0 - alpha) * identity + alpha * l.m;
                        Array power = factor;
                        for (int k = 1; k < p; k *= 2) power = np::matmul(power, power);
                        const Array next = np::matmul(power, l.m), error = distance(next);
                        return Loop{l.count + 1, next, np::matmul(l.h, factor), l.h, error, error < l.error * 1.2};
                      },
                      Loop{first_count(), first, root, root, distance(first), np::ones({}, bool_)});
  return {np::where(end.on, end.h, end.before).astype(matrix->dtype()), distance(end.m)};
}

Array nnls(const ArrayLike& left, const ArrayLike& right, int iters, const std::optional<Hyperparameter>& given) {
  const Array &A = left.array(), &b = right.array();
  if (A.ndim() != 2 || (b.ndim() != 1 && b.ndim() != 2) || b.shape(0) != A.shape(0))
    throw_with_line<ShapeError>(
        fmt::format("[nnls] A is {} and b {}; give [m, n] and [m] or [m, k].", A.aval().str(), b.aval().str()));
  const Array Q = np::matmul(A.T(), A), q = np::matmul(A.T(), b);
  Array L = given ? np::asarray(given->like(Q), Q.dtype())
                  : np::minimum(linalg::norm(Q, "fro"), Q.size() ? linalg::norm(Q, 1) : np::zeros({}, Q.dtype()));
  L = np::where(L == 0, np::ones_like(L), L);
  struct Point {
    Array x, ahead, momentum;
  };
  const Array zeros = np::zeros_like(q);
  return lax::scan(
             [&](const Point& at) {
               const Array next_momentum = (1.0 + np::sqrt(1.0 + 4.0 * at.momentum * at.momentum)) / 2.0;
               const Array x = np::maximum(at.ahead - (np::matmul(Q, at.ahead) - q) / L, 0.0);
               return std::pair{Point{x, x + (at.momentum - 1.0) / next_momentum * (x - at.x), next_momentum}, none};
             },
             Point{zeros, zeros, np::zeros({}, Q.dtype())}, lax::length(iters))
      .first.x;
}

MultiNormalDiagFromLogScale::MultiNormalDiagFromLogScale(const ArrayLike& loc, const ArrayLike& log_scale)
    : mean_(loc), log_scale_(log_scale) {}
Array MultiNormalDiagFromLogScale::sample(const Shape& shape, const ArrayLike& key) const {
  const Array scale = np::exp(log_scale_), both = mean_ + scale;
  Shape full = shape;
  full.insert(full.end(), both.shape().begin(), both.shape().end());
  return random::normal(key, full, both.dtype()) * scale + mean_;
}
Array MultiNormalDiagFromLogScale::log_prob(const ArrayLike& x) const {
  const Array z = (x - mean_) / np::exp(log_scale_);
  const Array density = -0.5 * z * z - log_scale_ - 0.5 * std::log(2 * np::pi);
  std::vector<int> axes;
  for (int k = 1; k <= std::max(mean_.ndim(), log_scale_.ndim()); ++k) axes.push_back(-k);
  return axes.empty() ? density : np::sum(density, axes);
}
MultiNormalDiagFromLogScale multi_normal(const ArrayLike& loc, const ArrayLike& log_scale) { return {loc, log_scale}; }

}  // namespace cotan::optax
