// What comes after a series: forecasts, and filtering as observations arrive.
#include "dlm/errors.hpp"
#include "dlm/observe.hpp"

namespace cotan::dlm {

namespace np = numpy;

Forecast forecast(const StateSpace& model, const Array& y, std::int64_t steps) {
  if (steps < 1) raise<ValueError>("[dlm] a forecast of {} steps; it needs at least one.", steps);
  // The future is a series whose values are missing.
  Shape future = y.shape();
  future[0] = steps;
  const Array missing = np::full(future, NAN, y.dtype()), longer = np::concatenate({y, missing}, 0);
  const StateSpace s = checked(model, longer);
  const std::int64_t n = y.shape()[0];
  if (s.G.dtype() == f32 && !s.D0) {  // on roots of covariances, which are wide at first
    const Filtered f = filter(s, longer);
    const Array x = f.x(range(n, none));
    return {x, f.C(range(n, none)), times(of_steps(s.F, n, n + steps), x),
            np::sqrt(np::diagonal(f.S(range(n, none)), 0, -2, -1))};
  }
  const StateSpace past = between(s, 0, n), next = between(s, n, n + steps);
  const Observations nothing = observations(next, missing);
  const Belief each = filter_exact(next, nothing, after_last(past, observations(past, y))).each;
  const Filtered f = filtered_of(next, nothing, each);
  return {f.x, f.C, times(next.F, f.x), np::sqrt(np::diagonal(f.S, 0, -2, -1))};
}

State first_state(const StateSpace& model) {
  const Belief first = first_belief(model);
  return {first.x, first.C, np::zeros({}, model.x0.dtype()), first.D, first.size};
}

State update(const StateSpace& model, const State& state, const Array& y) {
  const Array row = np::reshape(y, {1, -1});
  const StateSpace s = checked({model.G, model.F, model.W, model.V, state.x, state.C, state.D, 0, model.bands}, row);
  const Observations o = observations(s, row);
  const auto of_this = [](const Array& a) { return a.ndim() == 3 ? a[0] : a; };
  const Matrices m{of_this(s.G), of_this(s.F), of_this(s.W), of_this(s.V)};
  const Observed seen = observe(m, {state.x, state.C, state.D, state.D_size}, o.y[0], o.seen[0]);
  const Belief next = moved_on(Transition(s), m, seen.after);
  return {next.x, next.C, state.minus2_log + seen.minus2_log, next.D, next.size};
}

}  // namespace cotan::dlm
