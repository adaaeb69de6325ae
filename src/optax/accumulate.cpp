// Several steps as one: MultiSteps, lookahead; hyperparameters in the state.
#include "optax/core.hpp"

namespace cotan::optax {

namespace {

State skip_state(const MultiStepsOptions& o, const Arrays& g, const Array& step, const std::optional<Arrays>& params,
                 Array& should_skip) {
  State out{.name = "skip_state"};
  if (!o.should_skip_update_fn) return out;
  const Skip skip = o.should_skip_update_fn(g, step, params);
  should_skip = skip.should_skip;
  if (should_skip.dtype() != bool_ || should_skip.ndim() != 0)
    throw_with_line<TypeError>(fmt::format("[MultiSteps] should_skip_update_fn gave {}; it must give a bool scalar.",
                                           should_skip.aval().str()));
  for (const auto& [name, note] : skip.notes) out.fields[name] = {note};
  return out;
}

GradientTransformation accumulated(const GradientTransformation& optimizer,
                                   std::function<Array(const Array& step)> every_k, const MultiStepsOptions& o) {
  const auto init = [=](const Given& given) {
    Array unused;
    const Array zero = first_count();
    return State{
        .name = "MultiSteps",
        .fields = {{"mini_step", {zero}},
                   {"gradient_step", {zero}},
                   {"acc_grads", zeros_like(*given.params, o.accumulator_dtype)}},
        .parts = {optimizer.init_flat(given), skip_state(o, zeros_like(*given.params), zero, given.params, unused)}};
  };
  const auto update = [=](const Arrays& g, const State& state, const Given& given) {
    check_state(state, "MultiSteps", 2);
    const Array mini = state["mini_step"], step = state["gradient_step"], k = every_k(step);
    const auto taken = [&] {
      const Arrays sums = each(
          [&](const Array& u, const Array& sum) {
            const Array next = o.use_grad_mean ? sum + (u - sum) / (mini + 1).astype(sum.dtype()) : u + sum;
            return next.astype(sum.dtype());
          },
          g, state.fields.at("acc_grads"));
      auto [updates, inner] = optimizer.update_flat(tu::cast_like(sums, g), state.parts[0], given);
      const Array emit = mini == k - 1;
      State out = state;
      out.fields["mini_step"] = {safe_increment(mini) % k};
      out.fields["gradient_step"] = {np::where(emit, safe_increment(step), step)};
      out.fields["acc_grads"] = each([&](const Array& a) { return (~emit).astype(a.dtype()) * a; }, sums);
      out.parts[0] = select(emit, inner, state.parts[0]);
      return Step{
          each([&](const Array& u, const Array& like) { return (emit.astype(u.dtype()) * u).astype(like.dtype()); },
               updates, g),
          std::move(out)};
    };
    Array should_skip;
    const State notes = skip_state(o, g, step, given.params, should_skip);
    Step out = should_skip.defined() ? choose(should_skip, [&] { return Step{zeros_like(g), state}; }, taken) : taken();
    out.second.parts[1] = notes;
    return out;
  };
  return {"MultiSteps", init, update};
}

}  // namespace

MultiSteps::MultiSteps(const GradientTransformation& optimizer, std::int64_t every_k, const MultiStepsOptions& options)
    : GradientTransformation(
          accumulated(optimizer, [every_k](const Array&) { return np::full({}, every_k, i32); }, options)) {
  if (every_k < 1)
    throw_with_line<ValueError>(fmt::format("[MultiSteps] every {} steps; it must be at least 1.", every_k));
}
MultiSteps::MultiSteps(const GradientTransformation& optimizer, const Schedule& every_k,
                       const MultiStepsOptions& options)
    : GradientTransformation(
          accumulated(optimizer, [every_k](const Array& step) { return every_k(step).astype(i32); }, options)) {}
Array MultiSteps::has_updated(const State& state) const {
  return (state["mini_step"] == 0) & (state["gradient_step"] > 0);
}

GradientTransformation lookahead(const GradientTransformation& fast, const LookaheadOptions& o) {
  if (o.sync_period < 1)
    throw_with_line<ValueError>(fmt::format("[lookahead] a period of {}; it must be at least 1.", o.sync_period));
  const auto of_fast = [](const Given& given, const Arrays& params) {
    Given out = given;
    out.params = Arrays(params.begin(), params.begin() + static_cast<std::ptrdiff_t>(params.size() / 2));
    return out;
  };
  return {
      "lookahead",
      [=](const Given& given) {
        return State{.name = "lookahead",
                     .fields = {{"steps_since_sync", {first_count()}}},
                     .parts = {fast.init_flat(of_fast(given, *given.params))}};
      },
      [=](const Arrays& g, const State& state, const Given& given) {
        check_state(state, "lookahead", 1);
        const Arrays& both = params_of(given, "lookahead");
        if (both.size() != 2 * g.size())
          throw_with_line<TreeError>(
              "[lookahead] the parameters are not LookaheadParams; make them by LookaheadParams::init_synced(params).");
        const Given inside = of_fast(given, both);
        auto [updates, next] = fast.update_flat(g, state.parts[0], inside);
        const Array steps = state["steps_since_sync"], meet = steps == o.sync_period - 1;
        Arrays slow;
        for (std::size_t i = 0; i < g.size(); ++i) {
          const Array now = meet.astype(updates[i].dtype());
          const Array way = (*inside.params)[i] + updates[i] - both[i + g.size()];
          slow.push_back(o.slow_step_size * Array(now * way));
          updates[i] = updates[i] - one_minus(o.slow_step_size) * Array(now * way);
        }
        updates.insert(updates.end(), slow.begin(), slow.end());
        if (o.reset_state) next = select(meet, fast.init_flat(inside), next);
        State out = state;
        out.fields["steps_since_sync"] = {(steps + 1) % o.sync_period};
        out.parts[0] = std::move(next);
        return std::pair{std::move(updates), std::move(out)};
      }};
}

namespace detail {

GradientTransformation inject(std::function<GradientTransformation(const std::map<std::string, Array>&)> rebuild,
                              Injected hyperparams, std::optional<DType> dtype) {
  const auto values_at = [=](const Array& count, const State* before, DType type) {
    std::map<std::string, Array> out;
    for (const auto& [name, value] : hyperparams) {
      if (value.is_schedule() || !before)
        out[name] = np::asarray(value.at(count, type).like(type), type);
      else
        out[name] = (*before)[name];
    }
    return out;
  };
  const auto as_fields = [](const std::map<std::string, Array>& values) {
    State out{.name = "hyperparams"};
    for (const auto& [name, value] : values) out.fields[name] = {value};
    return out;
  };
  return {"inject_hyperparams",
          [=](const Given& given) {
            const Array count = first_count();
            const auto values = values_at(count, nullptr, dtype.value_or(widest(*given.params)));
            return State{.name = "inject_hyperparams",
                         .fields = {{"count", {count}}},
                         .parts = {as_fields(values), rebuild(values).init_flat(given)}};
          },
          [=](const Arrays& g, const State& state, const Given& given) {
            check_state(state, "inject_hyperparams", 2);
            const Array count = state["count"];
            const auto values =
                values_at(count, &state.parts[0], dtype.value_or(widest(given.params ? *given.params : g)));
            auto [updates, next] = rebuild(values).update_flat(g, state.parts[1], given);
            return std::pair{std::move(updates), State{.name = state.name,
                                                       .fields = {{"count", {safe_increment(count)}}},
                                                       .parts = {as_fields(values), std::move(next)}}};
          }};
}

}  // namespace detail

}  // namespace cotan::optax
