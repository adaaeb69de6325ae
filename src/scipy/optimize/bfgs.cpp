// minimize: Broyden, Fletcher, Goldfarb and Shanno's method, as a loop of the program.
#include <cotan/scipy/optimize.hpp>

#include "core/error.hpp"
#include "ops/promote.hpp"
#include "scipy/optimize/line_search.hpp"

namespace cotan::scipy::optimize {

namespace {

namespace np = numpy;

struct Bfgs {
  Array x, value, gradient, inverse_hessian, last_value;
  Array converged, failed, line_search_status, iterations, evaluations;
};

Bfgs next_of(const ValueAndGradient& f, const Bfgs& s, const BfgsOptions& o) {
  const Array direction = -np::matmul(s.inverse_hessian, s.gradient);
  const LineSearchResult line =
      line_search(f, s.x, direction, s.value, s.last_value, s.gradient, o.line_search_maxiter);
  const Array step = line.found.step * direction, change = line.found.gradient - s.gradient;
  const Array rho = 1.0 / np::sum(change * step), finite = np::isfinite(rho);
  const Array w = np::eye(s.x.size(), {}, 0, s.x.dtype()) - rho * np::outer(step, change);
  const Array updated = np::matmul(np::matmul(w, s.inverse_hessian), np::transpose(w)) + rho * np::outer(step, step);
  Bfgs next;
  next.x = s.x + step;
  next.value = line.found.value;
  next.gradient = line.found.gradient;
  next.inverse_hessian = np::where(finite, updated, s.inverse_hessian);
  next.last_value = s.value;
  next.converged = cotan::linalg::norm(next.gradient, o.norm) < o.gtol;
  next.failed = line.failed;
  next.line_search_status = line.status;
  next.iterations = s.iterations + 1;
  next.evaluations = s.evaluations + line.evaluations;
  return next;
}

void check_search(const Array& x0, const MinimizeOptions& o) {
  const auto is = [&](std::string_view name) {
    return std::equal(o.method.begin(), o.method.end(), name.begin(), name.end(),
                      [](char a, char b) { return std::tolower(static_cast<unsigned char>(a)) == b; });
  };
  if (!is("bfgs"))
    raise<ValueError>("[minimize] there is no method '{}'; use BFGS. cotan::optim::minimize has others, L-BFGS say.",
                      o.method);
  if (x0.ndim() != 1 || x0.size() == 0 || !is_floating(x0.dtype()))
    raise<ShapeError>("[minimize] the start is {}; give a vector of floats with at least one element.", x0.aval());
  if ((o.options.maxiter && *o.options.maxiter < 0) || o.options.line_search_maxiter < 1)
    raise<ValueError>("[minimize] maxiter is {} and line_search_maxiter {}; give at least 0 and 1.",
                      o.options.maxiter.value_or(0), o.options.line_search_maxiter);
}

}  // namespace

OptimizeResults detail::minimize(const std::function<Array(const Array&)>& fun, const Array& x0,
                                 const MinimizeOptions& options) {
  check_search(x0, options);
  BfgsOptions o = options.options;
  if (options.tol) o.gtol = *options.tol;
  const std::int64_t most = o.maxiter.value_or(200 * x0.size());
  const auto with_gradient = value_and_grad(fun);
  const ValueAndGradient f = [&](const Array& x) {
    const std::pair<Array, Array> both = with_gradient(x);
    return std::pair{both.first.astype(x.dtype(), {}), both.second};
  };
  const auto [value, gradient] = f(x0);
  const Array zero = np::zeros({}, i32);
  const Bfgs start{.x = x0,
                   .value = value,
                   .gradient = gradient,
                   .inverse_hessian = np::eye(x0.size(), {}, 0, x0.dtype()),
                   .last_value = value + cotan::linalg::norm(gradient) / 2.0,
                   .converged = cotan::linalg::norm(gradient, o.norm) < o.gtol,
                   .failed = np::zeros({}, bool_),
                   .line_search_status = zero,
                   .iterations = zero,
                   .evaluations = np::ones({}, i32)};
  const Bfgs end = lax::while_loop([&](const Bfgs& s) { return ~s.converged & ~s.failed & (s.iterations < most); },
                                   [&](const Bfgs& s) { return next_of(f, s, o); }, start);
  const Array status = np::where(
      end.converged, 0, np::where(end.iterations == most, 1, np::where(end.failed, 2 + end.line_search_status, -1)));
  return {end.x,         end.converged & ~end.failed, status,          end.value,
          end.gradient,  end.inverse_hessian,         end.evaluations, end.evaluations,
          end.iterations};
}

}  // namespace cotan::scipy::optimize
