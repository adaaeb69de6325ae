// What comes after a series: forecasts, and filtering as observations arrive.
#include "core/error.hpp"
#include "dlm/observe.hpp"

namespace cotan::dlm {

namespace np = numpy;

Forecast forecast(const StateSpace& model, const Array& y, std::int64_t steps) {
  if (steps < 1) raise<ValueError>("[dlm] a forecast of {} steps; it needs at least one.", steps);
  // The future is a series whose values are missing.
  Shape future = y.shape();
  future[0] = steps;
  const Array longer = np::concatenate({y, np::full(future, NAN, y.dtype())}, 0);
  const StateSpace s = checked(model, longer);
  const std::int64_t n = y.shape()[0];
  const Filtered f = filter(s, longer);
  const Array x = f.x(range(n, none)), C = f.C(range(n, none));
  return {x, C, times(of_steps(s.F, n, n + steps), x), np::sqrt(np::diagonal(f.S(range(n, none)), 0, -2, -1))};
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
