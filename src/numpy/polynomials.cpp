// Polynomials by their coefficients, the highest power first.
#include <algorithm>
#include <cmath>
#include <cotan/linalg.hpp>
#include <cotan/numpy.hpp>

#include "numpy/indexing.hpp"
#include "ops/ops.hpp"
#include "ops/promote.hpp"

namespace cotan::numpy {

namespace {

void check_vector(std::string_view op, const Array& p) {
  if (p.ndim() != 1) raise<ShapeError>("[{}] {} is not a vector of coefficients; flatten it first.", op, p.aval());
}
/// Zeros in front and behind.
Array padded(const Array& p, std::int64_t before, std::int64_t after) {
  return ops::pad(p, scalar(p.dtype(), 0), {before}, {after}, {0});
}
Arrays inexact_pair(std::string_view op, const Array& a, const Array& b) {
  check_vector(op, a);
  check_vector(op, b);
  const Array both[] = {a, b};
  return cast_all(both, {inexact_result_type(both).dtype, false});
}

/// Without leading coefficients of at most `tolerance`.
Array trimmed(std::string_view op, const Array& p, double tolerance) {
  if (!indexing::has_value(p))
    raise<ConcretizationError>(
        "[{}] {} has no value while the function is traced, so which leading zeros it has is not known; do not ask to "
        "trim them.",
        op, indexing::describe_value(p));
  const std::vector<double> values = abs(p).to_vector<double>();
  const auto first = std::find_if(values.begin(), values.end(), [&](double v) { return !(v <= tolerance); });
  return ops::slice_axis(p, 0, first - values.begin(), p.size());
}

}  // namespace

Array polyval(const ArrayLike& p, const ArrayLike& x) {
  if (p->ndim() < 1) raise<ShapeError>("[polyval] the coefficients are {}; give at least a vector.", p->aval());
  const Array operands[] = {p, x};
  const Arrays promoted = cast_all(operands, result_type(operands));
  const Shape rest(p->shape().begin() + 1, p->shape().end());
  const Shape shapes[] = {x->shape(), rest};
  Array y = zeros(broadcast_shapes("polyval", shapes), promoted[0].dtype());
  for (const Array& coefficient : unstack(promoted[0])) y = y * promoted[1] + coefficient;
  return y;
}
Array vander(const ArrayLike& x, std::optional<int> n, bool increasing) {
  if (x->ndim() != 1) raise<ShapeError>("[vander] {} is not a vector; flatten it first.", x->aval());
  const std::int64_t columns = n.value_or(static_cast<int>(x->size()));
  if (columns < 0) raise<ValueError>("[vander] cannot make {} columns; give 0 or more.", columns);
  const Array base = cast_to(x, numeric_result_type({&x.array(), 1}));
  const Array rising = ops::iota(base.dtype(), {1, columns}, 1);
  return power(ops::reshape(base, {x->size(), 1}), increasing ? rising : ops::rev(rising, {1}));
}

Array poly(const ArrayLike& roots) {
  const bool matrix = roots->ndim() == 2 && roots->shape()[0] == roots->shape()[1] && roots->size() != 0;
  if (roots->ndim() > 1 && !matrix)
    raise<ShapeError>("[poly] {} is neither a vector of roots nor a square matrix; flatten it first.", roots->aval());
  const Array r = matrix ? linalg::eigvals(to_inexact(roots)) : to_inexact(atleast_1d(roots));
  if (r.size() == 0) return ops::full({}, scalar(r.dtype(), 1));
  Array p = ops::full({1}, scalar(r.dtype(), 1));
  for (std::int64_t i = 0; i < r.size(); ++i) p = padded(p, 0, 1) - ops::slice_axis(r, 0, i, i + 1) * padded(p, 1, 0);
  return p;
}

namespace {

/// Both in one dtype and of one length.
Arrays aligned(std::string_view op, const Array& a, const Array& b) {
  check_vector(op, a);
  check_vector(op, b);
  const Array both[] = {a, b};
  Arrays x = cast_all(both, result_type(both));
  const std::int64_t n = std::max(a.size(), b.size());
  for (Array& each : x) each = padded(each, n - each.size(), 0);
  return x;
}

}  // namespace

Array polyadd(const ArrayLike& a, const ArrayLike& b) {
  const Arrays x = aligned("polyadd", a, b);
  return x[0] + x[1];
}
Array polysub(const ArrayLike& a, const ArrayLike& b) {
  const Arrays x = aligned("polysub", a, b);
  return x[0] - x[1];
}
Array polymul(const ArrayLike& a, const ArrayLike& b, bool trim_leading_zeros) {
  Arrays x = inexact_pair("polymul", a, b);
  for (Array& each : x) {
    if (trim_leading_zeros && (a->size() > 1 || b->size() > 1)) each = trimmed("polymul", each, 0);
    if (each.size() == 0) each = padded(each, 1, 0);
  }
  return convolve(x[0], x[1]);
}
std::pair<Array, Array> polydiv(const ArrayLike& a, const ArrayLike& b, bool trim_leading_zeros) {
  const Arrays x = inexact_pair("polydiv", a, b);
  const Array& divisor = x[1];
  if (divisor.size() == 0) raise<ShapeError>("[polydiv] the divisor has no coefficients; give at least one.");
  const std::int64_t degree = divisor.size() - 1, steps = x[0].size() - degree;
  const Array leading = ops::slice_axis(divisor, 0, 0, 1);
  Array rest = x[0];
  Arrays quotient;
  for (std::int64_t k = 0; k < steps; ++k) {
    const Array factor = ops::slice_axis(rest, 0, k, k + 1) / leading;
    quotient.push_back(factor);
    rest = rest - padded(factor * divisor, k, rest.size() - k - divisor.size());
  }
  const Array q = quotient.empty() ? ops::full({1}, scalar(rest.dtype(), 0)) : ops::concatenate(quotient, 0);
  if (trim_leading_zeros) rest = trimmed("polydiv", rest, std::sqrt(finfo(rest.dtype(), {}).eps));
  return {q, rest};
}

namespace {

void check_order(std::string_view op, int m) {
  if (m < 0) raise<ValueError>("[{}] the order {} is negative; it counts how often.", op, m);
}
/// n (n - 1) … of m factors for n from `first`, rising; factors below 1 count as `least`.
Array factors(std::int64_t first, std::int64_t count, int m, double least, DType dtype) {
  const Array n = expand_dims(ops::iota(dtype, {count}, 0) + scalar(dtype, first), 0);
  const Array k = expand_dims(ops::iota(dtype, {m}, 0), 1);
  return prod(maximum(n - k, least), 0);
}

}  // namespace

Array polyder(const ArrayLike& given, int m) {
  check_order("polyder", m);
  const Array p = to_inexact(given);
  check_vector("polyder", p);
  if (m == 0) return p;
  const std::int64_t n = std::max<std::int64_t>(p.size() - m, 0);
  return ops::slice_axis(p, 0, 0, n) * ops::rev(factors(m, n, m, 0, p.dtype()), {0});
}
Array polyint(const ArrayLike& given, int m, const ArrayLike& given_k) {
  check_order("polyint", m);
  check_vector("polyint", given);
  const Array both[] = {given, given_k};
  const Arrays x = cast_all(both, {inexact_result_type(both).dtype, false});
  if (m == 0) return x[0];
  if (given_k->ndim() > 1 || (given_k->size() != 1 && given_k->size() != m))
    raise<ShapeError>("[polyint] the constants are {} for {} integrations; give one for all, or one each.",
                      given_k->aval(), m);
  const Array k = ops::broadcast_to(ravel(x[1]), {m});
  const Array parts[] = {x[0], k};
  const Array all = ops::concatenate(parts, 0);
  return all / ops::rev(factors(0, all.size(), m, 1, all.dtype()), {0});
}

// Least squares -----------------------------------------------------------------------------------

namespace {

/// The scaled equations, and their solution.
struct Fit {
  PolyfitResult result;
  Array lhs, scale;
};
Fit fitted(const Array& given_x, const Array& given_y, int deg, const PolyfitOptions& o) {
  if (deg < 0) raise<ValueError>("[polyfit] the degree {} is negative; give 0 or more.", deg);
  if (given_x.ndim() != 1 || given_x.size() == 0)
    raise<ShapeError>("[polyfit] x is {}; give a vector that is not empty.", given_x.aval());
  if (given_y.ndim() < 1 || given_y.ndim() > 2 || given_y.shape()[0] != given_x.size())
    raise<ShapeError>("[polyfit] y is {} for x {}; it must be as long, with one or two axes.", given_y.aval(),
                      given_x.aval());
  Arrays operands{given_x, given_y};
  if (o.w) {
    if (o.w->shape() != given_x.shape())
      raise<ShapeError>("[polyfit] the weights are {} for x {}; give one per point.", o.w->aval(), given_x.aval());
    operands.push_back(*o.w);
  }
  operands = cast_all(operands, {inexact_result_type(operands).dtype, false});
  const std::int64_t n = given_x.size();
  Array lhs = vander(operands[0], deg + 1), rhs = given_y.ndim() == 2 ? operands[1] : expand_dims(operands[1], 1);
  if (o.w) {
    lhs = lhs * expand_dims(operands[2], 1);
    rhs = rhs * expand_dims(operands[2], 1);
  }
  Fit fit;
  // Columns of one length: the condition number is smaller.
  fit.scale = sqrt(sum(square(lhs), 0));
  fit.lhs = lhs / fit.scale;
  const double rcond = o.rcond.value_or(static_cast<double>(n) * finfo(lhs.dtype(), {}).eps);
  const auto [u, s, vh] = linalg::svd(fit.lhs, false);
  const Array kept = (s > 0) & (s >= rcond * ops::slice_axis(s, 0, 0, 1));
  const Array inverse = where(kept, 1 / where(kept, s, 1.0), 0.0);
  const Array solution =
      matmul(ops::conj(transpose(vh)), expand_dims(inverse, 1) * matmul(ops::conj(transpose(u)), rhs));
  Array c = solution / expand_dims(fit.scale, 1);
  if (given_y.ndim() == 1) c = ops::reshape(c, {deg + 1});
  fit.result = {c, sum(square(rhs - matmul(fit.lhs, solution)), 0), sum(kept), s, rcond};
  return fit;
}

}  // namespace

Array polyfit(const ArrayLike& x, const ArrayLike& y, int deg, const PolyfitOptions& options) {
  return fitted(x, y, deg, options).result.coefficients;
}
PolyfitResult polyfit_full(const ArrayLike& x, const ArrayLike& y, int deg, const PolyfitOptions& options) {
  return fitted(x, y, deg, options).result;
}
std::pair<Array, Array> polyfit_cov(const ArrayLike& x, const ArrayLike& y, int deg, const PolyfitOptions& options,
                                    bool scaled) {
  const Fit fit = fitted(x, y, deg, options);
  const std::int64_t more = x->size() - (deg + 1);
  if (scaled && more <= 0)
    raise<ValueError>("[polyfit] {} points leave nothing to scale the covariance of {} coefficients with; give more.",
                      x->size(), deg + 1);
  const Array base = linalg::inv(matmul(transpose(fit.lhs), fit.lhs)) / outer(fit.scale, fit.scale);
  const Array factor = scaled ? fit.result.residuals / more : ones({1}, base.dtype());
  if (y->ndim() == 1) return {fit.result.coefficients, base * factor};
  return {fit.result.coefficients, expand_dims(base, 2) * factor};
}

}  // namespace cotan::numpy
