// Transformations that run on a condition, gather several steps, or look at what they are given.
#include "optax/core.hpp"

namespace cotan::optax {

namespace {

/// `inner` where the condition holds, else `otherwise`.
Step conditionally(const Array& condition, const GradientTransformation& inner, const Arrays& g, const State& state,
                   const Given& given, const Arrays& otherwise) {
  return choose(
      condition,
      [&] {
        auto [updates, next] = inner.update_flat(g, state, given);
        return Step{tu::cast_like(updates, g), std::move(next)};
      },
      [&] { return Step{otherwise, state}; });
}
GradientTransformation on_condition(const std::string& name, const GradientTransformation& inner, ConditionFn should,
                                    bool zeros) {
  return {name,
          [=](const Given& given) {
            return State{.name = name, .fields = {{"step", {first_count()}}}, .parts = {inner.init_flat(given)}};
          },
          [=](const Arrays& g, const State& state, const Given& given) {
            check_state(state, name, 1);
            const Array step = state["step"];
            auto [updates, next] =
                conditionally(should(step, given), inner, g, state.parts[0], given, zeros ? zeros_like(g) : g);
            State out = state;
            out.fields["step"] = {safe_increment(step)};
            out.parts[0] = std::move(next);
            return std::pair{std::move(updates), std::move(out)};
          }};
}
Array all_finite(const Arrays& g) {
  Array out = np::ones({}, bool_);
  for (const Array& u : g) out = out & np::all(np::isfinite(u));
  return out;
}

}  // namespace

GradientTransformation conditionally_transform(const GradientTransformation& inner, ConditionFn should_transform) {
  return on_condition("conditionally_transform", inner, std::move(should_transform), false);
}
GradientTransformation conditionally_mask(const GradientTransformation& inner, ConditionFn should_transform) {
  return on_condition("conditionally_mask", inner, std::move(should_transform), true);
}

GradientTransformation apply_if_finite(const GradientTransformation& inner, int max_consecutive_errors) {
  return {"apply_if_finite",
          [=](const Given& given) {
            return State{.name = "apply_if_finite",
                         .fields = {{"notfinite_count", {first_count()}},
                                    {"last_finite", {np::ones({}, bool_)}},
                                    {"total_notfinite", {first_count()}}},
                         .parts = {inner.init_flat(given)}};
          },
          [=](const Arrays& g, const State& state, const Given& given) {
            check_state(state, "apply_if_finite", 1);
            const Array finite = all_finite(g);
            const Array count = np::where(finite, first_count(), safe_increment(state["notfinite_count"]));
            auto [updates, next] = conditionally(finite | (count > max_consecutive_errors), inner, g, state.parts[0],
                                                 given, zeros_like(g));
            State out = state;
            out.fields = {{"notfinite_count", {count}},
                          {"last_finite", {finite}},
                          {"total_notfinite",
                           {np::where(finite, state["total_notfinite"], safe_increment(state["total_notfinite"]))}}};
            out.parts[0] = std::move(next);
            return std::pair{std::move(updates), std::move(out)};
          }};
}

Skip skip_not_finite(const Arrays& updates, const Array&, const std::optional<Arrays>&) {
  Array count = first_count();
  for (const Array& u : updates) count = count + np::sum((~np::isfinite(u)).astype(i32));
  const Array skip = count > 0;
  return {skip, {{"should_skip", skip}, {"num_not_finite", count}}};
}
ShouldSkipUpdateFunction skip_large_updates(double max_squared_norm) {
  return [=](const Arrays& updates, const Array&, const std::optional<Arrays>&) {
    const Array square = tu::norm(updates, 2, true), skip = ~(square < max_squared_norm);
    return Skip{skip, {{"should_skip", skip}, {"norm_squared", square}}};
  };
}

GradientTransformation snapshot(const std::string& measure_name, const Measure& measure) {
  return with_fields(
      "snapshot", [=](const Arrays& p) { return Fields{{measure_name, measure(p)}}; },
      [=](const Arrays& g, Fields& s, const Given&) {
        s[measure_name] = measure(g);
        return g;
      });
}
GradientTransformation measure_with_ema(const Measure& measure, const Hyperparameter& decay, bool debias,
                                        std::optional<DType> accumulator_dtype) {
  const auto mean = ema({.decay = decay, .debias = debias, .accumulator_dtype = accumulator_dtype});
  return {
      "measure_with_ema",
      [=](const Given& given) {
        Given measured = given;
        measured.params = measure(*given.params);
        return mean.init_flat(measured);
      },
      [=](const Arrays& g, const State& state, const Given&) { return mean.update_flat(measure(g), state, Given{}); }};
}
GradientTransformation monitor(const std::map<std::string, GradientTransformation>& measures) {
  // The measurements of the first state are those of zeros, so that it has the structure of all others.
  return {"monitor",
          [=](const Given& given) {
            State out{.name = "monitor", .parts = {State{.name = "measurements"}}};
            for (const auto& [name, measure] : measures) {
              const State first = measure.init_flat(given);
              out.parts.push_back(first);
              out.parts[0].fields[name] = measure.update_flat(zeros_like(*given.params), first, given).first;
            }
            return out;
          },
          [=](const Arrays& g, const State& state, const Given& given) {
            check_state(state, "monitor", measures.size() + 1);
            State out = state;
            std::size_t i = 1;
            for (const auto& [name, measure] : measures) {
              auto [measured, next] = measure.update_flat(g, state.parts[i], given);
              out.parts[0].fields[name] = std::move(measured);
              out.parts[i++] = std::move(next);
            }
            return std::pair{g, std::move(out)};
          }};
}

}  // namespace cotan::optax
