// Searches as while_loops. A step evaluates the objective once, at a trial point; whether the point is taken or the
// line search goes on is decided by selects, so that the objective is in the program once.
#include <fmt/format.h>

#include <cotan/optax/transforms.hpp>
#include <cotan/optim.hpp>
#include <limits>

namespace cotan::optim {

namespace np = numpy;

namespace {

constexpr int longest_line_search = 40;
const double infinity = std::numeric_limits<double>::infinity();

Array dot(const Array& a, const Array& b) { return np::sum(a * b); }
Array choose(const Array& condition, const Array& a, const Array& b) { return np::where(condition, a, b); }

/// The search after a point was taken, as far as all methods agree.
Search taken(const Search& s, const Array& x, const Array& value, const Array& gradient, const MinimizeOptions& o) {
  Search next = s;
  const Array first = s.iterations == 0;
  const Array scale = np::maximum(np::abs(value), 1.0);
  const Array small_step = ~first & (s.value - value <= o.value_tolerance * scale);
  const Array flat = np::max(np::abs(gradient)) <= o.gradient_tolerance * scale;
  next.x = x;
  next.value = value;
  next.gradient = gradient;
  next.iterations = s.iterations + 1;
  next.converged = flat | small_step;
  next.finished = next.converged | (next.iterations > o.max_iterations);
  return next;
}

Search select(const Array& condition, const Search& a, const Search& b) {
  return tree::map([&](const Array& x, const Array& y) { return choose(condition, x, y); }, a, b);
}

// L-BFGS ----------------------------------------------------------------------------------------------

/// A⁻¹ q of a matrix that may be singular, damped (Levenberg) by a share of its size: little where little is left to
/// gain, and steps go far.
Array damped_solve(const Array& A, const Array& q) {
  const Array size = np::maximum(np::max(np::diagonal(A)), 1e-300) * np::eye(q.shape()[0], {}, 0, A.dtype());
  const auto solved = [&](const Array& share) {
    const Array root = linalg::cholesky(A + share * size, false);
    return np::squeeze(linalg::cho_solve(root, np::expand_dims(q, -1)), -1);
  };
  const Array most = np::full({}, 1e-2, A.dtype()), gain = dot(q, solved(most));
  return solved(most * np::clip(gain, 1e-3, 1.0));
}

/// -H g by the two loops over the steps that are remembered, the newest last; unused rows are zero. `curvature`: where
/// they begin, if there is one.
Array quasi_newton_direction(const Array& steps, const Array& changes, const Array& gradient, const Array& curvature) {
  const Array products = np::sum(steps * changes, 1), used = products > 0;
  const Array rho = np::where(used, 1.0 / np::where(used, products, 1.0), 0.0);
  struct Row {
    Array s, y, rho;
  };
  const Row rows{steps, changes, rho};
  const auto [q, alphas] = lax::scan(
      [](const Array& q, const Row& r) {
        const Array alpha = r.rho * dot(r.s, q);
        return std::pair{q - alpha * r.y, alpha};
      },
      gradient, rows, {.reverse = true});
  const Array newest_change = changes[-1], newest = products[-1], length = dot(newest_change, newest_change);
  const Array scale = np::where(newest > 0, newest / np::where(length > 0, length, 1.0), 1.0);
  const Array first = curvature.defined() ? damped_solve(curvature, q) : scale * q;
  const auto [direction, unused] = lax::scan(
      [](const Array& r, const std::pair<Row, Array>& in) {
        const auto& [row, alpha] = in;
        return std::pair{r + (alpha - row.rho * dot(row.y, r)) * row.s, none};
      },
      first, std::pair{rows, alphas});
  return -direction;
}

Search lbfgs_step(const std::function<std::pair<Array, Array>(const Array&)>& evaluate, const Search& s,
                  const MinimizeOptions& o) {
  const Array trial = s.x + s.step * s.direction;
  const auto [value, gradient] = evaluate(trial);
  const Array first = s.iterations == 0, slope = dot(s.gradient, s.direction);
  const Array finite = np::isfinite(value) & np::all(np::isfinite(gradient));
  const Array decreases = finite & (first | (value <= s.value + 1e-4 * s.step * slope));
  const Array far_enough = first | (dot(gradient, s.direction) >= 0.9 * slope);

  // The line search goes on: between points that are too near and too far.
  Search searching = s;
  searching.high = choose(decreases, s.high, s.step);
  searching.low = choose(decreases, s.step, s.low);
  const Array bounded = np::isfinite(searching.high);
  searching.step = choose(bounded, 0.5 * (searching.low + choose(bounded, searching.high, 0.0)), 2.0 * s.step);
  const Array tries = s.lambda + 1.0;
  searching.lambda = tries;
  // Out of tries: values can no longer be told apart, so this is the best there is.
  const Array stuck = (tries >= static_cast<double>(longest_line_search)) | (first & ~finite);
  searching.finished = stuck;
  searching.converged =
      stuck & finite & ~first & (np::abs(value - s.value) <= 1e-9 * np::maximum(np::abs(s.value), 1.0));

  Search next = taken(s, trial, value, gradient, o);
  const Array step = trial - s.x, change = gradient - s.gradient;
  const Array keep = ~first & (dot(step, change) > 1e-300);
  const auto pushed = [&](const Array& rows, const Array& row) {
    return choose(keep, np::concatenate({rows(range(1, none)), np::expand_dims(row, 0)}, 0), rows);
  };
  next.steps = pushed(s.steps, step);
  next.changes = pushed(s.changes, change);
  const Array accepted = decreases & far_enough;
  // Expensive values are not computed for points that are not taken.
  const auto turned = [&] {
    return quasi_newton_direction(next.steps, next.changes, gradient, o.curvature ? o.curvature(trial) : Array());
  };
  const Array direction = o.curvature ? lax::cond(accepted, turned, [&] { return s.direction; }) : turned();
  const Array down = dot(direction, gradient) < 0;
  next.direction = choose(down, direction, -gradient);
  next.step =
      choose((o.curvature ? ~down : first | ~down), 1.0 / np::maximum(np::sqrt(dot(gradient, gradient)), 1.0), 1.0);
  next.low = np::zeros_like(s.low);
  next.high = np::full_like(s.high, infinity);
  next.lambda = np::zeros_like(s.lambda);
  Search out = select(accepted, next, searching);
  out.evaluations = s.evaluations + 1;
  return out;
}

// Adam ------------------------------------------------------------------------------------------------

Search adam_step(const std::function<std::pair<Array, Array>(const Array&)>& evaluate, const Search& s,
                 const MinimizeOptions& o) {
  const Array trial = s.x + s.direction;
  const auto [value, gradient] = evaluate(trial);
  const Array finite = np::isfinite(value) & np::all(np::isfinite(gradient));
  MinimizeOptions endless = o;
  endless.value_tolerance = -infinity;  // it may go up on the way
  Search next = taken(s, trial, value, gradient, endless);
  const optax::State before{"scale_by_adam",
                            {{"count", {s.iterations}}, {"mu", {s.moments[0]}}, {"nu", {s.moments[1]}}}};
  const auto [updates, after] = optax::scale_by_adam().update_flat({gradient}, before, {});
  next.moments = np::stack({after.fields.at("mu")[0], after.fields.at("nu")[0]});
  next.direction = -o.learning_rate * updates[0];
  Search failed = s;
  failed.finished = np::ones_like(s.finished);
  Search out = select(finite, next, failed);
  out.evaluations = s.evaluations + 1;
  return out;
}

// Newton ------------------------------------------------------------------------------------------------

Search newton_step(const Objective& f, const std::function<std::pair<Array, Array>(const Array&)>& evaluate,
                   const Search& s, const MinimizeOptions& o) {
  const Array trial = s.x + s.direction;
  const auto [value, gradient] = evaluate(trial);
  const Array first = s.iterations == 0;
  const Array finite = np::isfinite(value) & np::all(np::isfinite(gradient));
  const Array better = finite & (first | (value < s.value));
  Search next = taken(s, trial, value, gradient, o);
  next.steps = hessian_of(f, trial);
  next.lambda = np::maximum(s.lambda / 5.0, 1e-12);
  // Too far: tries again with more damping. Where no step helps, the search ends.
  Search again = s;
  again.lambda = s.lambda * 4.0;
  const Array stuck = (again.lambda > 1e12) | (first & ~finite);
  again.finished = stuck;
  again.converged = stuck & ~first & finite;
  Search out = select(better, next, again);
  // Where the curvature is negative, as far away from the saddle as it would go towards a minimum.
  const auto [values, vectors] = linalg::eigh(out.steps);
  const Array curvatures = np::abs(values), size = np::maximum(np::max(curvatures), 1e-300);
  const Array along = np::matmul(out.gradient, vectors) / (curvatures + out.lambda * size);
  out.direction = -np::matmul(vectors, along);
  out.evaluations = s.evaluations + 1;
  return out;
}

}  // namespace

Array hessian_of(const Objective& f, const Array& x) {
  const auto row = [&](const Array& direction) { return jvp(grad(f), std::tuple{x}, std::tuple{direction}).second; };
  return lax::map(row, np::eye(x.shape()[0], {}, 0, x.dtype()));
}

Search start(const Array& x0, const MinimizeOptions& o) {
  if (x0.ndim() != 1 || x0.shape()[0] == 0 || (x0.dtype() != f32 && x0.dtype() != f64))
    throw_with_line<ShapeError>(fmt::format(
        "[minimize] the start is {}; it must be a vector of f32 or f64 with at least one element.", x0.aval().str()));
  if (o.memory < 1)
    throw_with_line<ValueError>(fmt::format("[minimize] a memory of {} steps; it must be at least 1.", o.memory));
  const DType dtype = x0.dtype();
  const std::int64_t d = x0.shape()[0];
  const bool newton = o.method == Method::newton;
  const auto number = [&](double v) { return np::full({}, v, dtype); };
  const Array zero = np::zeros({}, i32), no = np::zeros({}, bool_);
  const std::int64_t rows = newton ? d : o.method == Method::lbfgs ? o.memory : 1;
  return {.x = x0,
          .value = number(infinity),
          .gradient = np::zeros_like(x0),
          .iterations = zero,
          .evaluations = zero,
          .finished = no,
          .converged = no,
          .direction = np::zeros_like(x0),
          .step = number(1),
          .low = number(0),
          .high = number(infinity),
          .steps = np::zeros({rows, d}, dtype),
          .changes = np::zeros({rows, d}, dtype),
          .lambda = number(newton ? 1e-3 : 0),
          .moments = np::zeros({2, d}, dtype)};
}

Search advance(const Objective& f, const Search& search, const MinimizeOptions& o, const Array& evaluations) {
  const auto value_and_gradient = value_and_grad(f);
  const auto evaluate = [&](const Array& x) { return std::pair<Array, Array>(value_and_gradient(x)); };
  const bool bounded = evaluations.defined();
  const Array last = bounded ? np::where(evaluations > 0, search.evaluations + evaluations.astype(i32),
                                         std::numeric_limits<int>::max())
                             : Array();
  return lax::while_loop(
      [&](const Search& s) {
        const Array more = ~s.finished;
        return bounded ? more & (s.evaluations < last) : more;
      },
      [&](const Search& s) {
        switch (o.method) {
          case Method::adam:
            return adam_step(evaluate, s, o);
          case Method::newton:
            return newton_step(f, evaluate, s, o);
          default:
            return lbfgs_step(evaluate, s, o);
        }
      },
      search);
}

Search minimize(const Objective& f, const Array& x0, const MinimizeOptions& options) {
  return advance(f, start(x0, options), options);
}

}  // namespace cotan::optim
