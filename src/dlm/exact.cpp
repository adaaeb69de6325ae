// Filter and smoother one step after the other, exact from a diffuse start on. The smoother is Durbin and Koopman's
// backward recursion, which inverts nothing but variances of innovations.
#include <algorithm>
#include <cmath>

#include "dlm/observe.hpp"

namespace cotan::dlm {

namespace np = numpy;

ScanCheckpoint kept_steps(const StateSpace& model, std::int64_t steps) {
  constexpr std::int64_t many = std::int64_t{1} << 22;  // numbers of one covariance of every step
  const std::int64_t m = model.x0.shape(0);
  return steps * m * m > many ? sqrt_n : ScanCheckpoint();
}

ExactPass filter_exact(const StateSpace& model, const Observations& o, const std::optional<Belief>& first) {
  const Transition transition(model);
  const StepInputs inputs(model, o);
  const auto step = [&](const Belief& now, const std::vector<Array>& in) {
    const Matrices m = inputs.matrices(in);
    const Observed seen = observe(m, now, in[0], in[1]);
    return std::pair{moved_on(transition, m, seen.after), std::pair{now, seen.minus2_log}};
  };
  const auto [end, each] = lax::scan(step, first ? *first : first_belief(model), inputs.all,
                                     {.checkpoint = kept_steps(model, o.y.shape(0))});
  return {each.first, end, np::sum(each.second)};
}

Filtered filtered_of(const StateSpace& model, const Observations& o, const Belief& each) {
  if (!each.D) return with_innovations(model, o, each.x, each.C);
  const auto infinite = vmap([](const Belief& b) { return with_infinite(b); })(each);
  Filtered f = with_innovations(model, o, each.x, each.C);
  f.C = infinite;
  const auto steps = StepInputs(model, o);
  const auto seen = vmap([&](const Belief& b, const std::vector<Array>& in) {
    const Matrices m = steps.matrices(in);
    return unknown_values(m.F, b);
  })(each, steps.all);
  f.S = np::where(identity_like(f.S) * np::expand_dims(seen, -1) > 0, INFINITY, f.S);
  return f;
}

ExactSmoothed smooth_exact(const StateSpace& model, const Observations& o, const Belief& each, const Adjoint& end) {
  const Transition transition(model);
  const StepInputs inputs(model, o);
  const auto step = [&](const Adjoint& after, const std::pair<Belief, std::vector<Array>>& in) {
    const auto& [belief, slices] = in;
    const Matrices m = inputs.matrices(slices);
    // The effect of observations is cheaper to compute again than to keep.
    const Observed seen = observe(m, belief, slices[0], slices[1]);
    const Adjoint now = observed_back(seen.looks, moved_back(transition, m, after));
    return std::pair{now, smoothed(belief, now)};
  };
  const auto [start, states] = lax::scan(step, end, std::pair{each, inputs.all}, {.reverse = true});
  return {states, start};
}

Split::Split(const StateSpace& model, const Observations& o) {
  const std::int64_t n = o.y.shape(0), k = model.diffuse_steps > 0 ? std::min(model.diffuse_steps, n) : n;
  const auto steps = [&](std::int64_t from, std::int64_t to) {
    return Observations{o.y(range(from, to)), o.seen(range(from, to))};
  };
  first = between(model, 0, k);
  first_o = steps(0, k);
  has_rest = k < n;
  if (!has_rest) return;
  rest = between(model, k, n);
  rest.D0 = std::nullopt;
  rest_o = steps(k, n);
}
void Split::go_on_from(const Belief& end) {
  const Array found = np::all(*end.D == 0);
  rest.x0 = np::where(found, end.x, NAN);
  rest.C0 = np::where(found, end.C, NAN);
}

Belief after_last(const StateSpace& model, const Observations& o) {
  if (!model.D0) return filter_exact(model, o).end;
  Split split(model, o);
  const Belief end = filter_exact(split.first, split.first_o).end;
  if (!split.has_rest) return end;
  split.go_on_from(end);
  return filter_exact(split.rest, split.rest_o).end;
}

}  // namespace cotan::dlm
