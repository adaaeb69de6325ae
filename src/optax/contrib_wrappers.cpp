// What wraps other optimizers: schedule_free, mechanize, sam, reduce_on_plateau; and privacy.
#include <cmath>
#include <cotan/optax/contrib.hpp>
#include <cotan/optax/schedules.hpp>

#include "optax/core.hpp"

namespace cotan::optax::contrib {

GradientTransformation schedule_free(const GradientTransformation& base, const ScheduleFreeOptions& o) {
  const std::string name = "schedule_free";
  return {name,
          [=](const Given& given) {
            const DType dtype = narrowest(*given.params);
            return State{.name = name,
                         .fields = {{"b1", {np::asarray(o.b1.like(dtype), dtype)}},
                                    {"weight_sum", {number(0, dtype)}},
                                    {"step_count", {np::ones({}, i32)}},
                                    {"max_lr", {number(0, dtype)}},
                                    {"z", tu::cast(*given.params, o.state_dtype)}},
                         .parts = {base.init_flat(given)}};
          },
          [=](const Arrays& g, const State& state, const Given& given) {
            check_state(state, name, 1);
            const Arrays& params = params_of(given, name);
            const Array count = state["step_count"];
            const DType dtype = state["max_lr"].dtype();
            const Array rate = max(state["max_lr"], o.learning_rate.at(count, dtype));
            const Array weight = np::power(rate, o.weight_lr_power.like(rate)), sum = state["weight_sum"] + weight;
            const Array not_a_number = np::isnan(weight) | np::isnan(sum);
            const Array share =
                np::where(not_a_number, np::full_like(sum, np::nan), np::nan_to_num(weight / sum, 0.0, np::inf));
            auto [updates, next] = base.update_flat(g, state.parts[0], given);
            const Arrays& before = state.fields.at("z");
            const Arrays z =
                each([](const Array& a, const Array& u) { return (a + u).astype(a.dtype()); }, before, updates);
            const Arrays out = each(
                [&](const Array& y, const Array& old_z, const Array& new_z) {
                  const Array last = (y - one_minus(o.b1) * old_z) / o.b1, c = share.astype(y.dtype());
                  const Array mean = (1.0 - c) * last + c * new_z;
                  return o.b1 * mean + one_minus(o.b1) * new_z - y;
                },
                params, before, z);
            State after = state;
            after.fields["weight_sum"] = {sum};
            after.fields["step_count"] = {safe_increment(count)};
            after.fields["max_lr"] = {rate};
            after.fields["z"] = z;
            after.parts[0] = std::move(next);
            return std::pair{out, std::move(after)};
          }};
}
namespace {
ScalarOrSchedule warmed(const Hyperparameter& rate, const std::optional<std::int64_t>& steps) {
  return steps ? ScalarOrSchedule(linear_schedule({0.0, rate, *steps})) : ScalarOrSchedule(rate);
}
}  // namespace
GradientTransformation schedule_free_sgd(const ScheduleFreeSgdOptions& o) {
  const ScalarOrSchedule rate = warmed(o.learning_rate, o.warmup_steps);
  const GradientTransformation steps = sgd({.learning_rate = rate});
  return schedule_free(o.weight_decay ? chain(add_decayed_weights(*o.weight_decay), steps) : steps,
                       {rate, o.b1, o.weight_lr_power, o.state_dtype});
}
GradientTransformation schedule_free_adamw(const ScheduleFreeAdamwOptions& o) {
  const ScalarOrSchedule rate = warmed(o.learning_rate, o.warmup_steps);
  return schedule_free(chain(scale_by_rms({.decay = o.b2, .eps = o.eps, .eps_in_sqrt = false, .bias_correction = true}),
                             add_decayed_weights(o.weight_decay), scale_by_learning_rate(rate)),
                       {rate, o.b1, o.weight_lr_power, o.state_dtype});
}
namespace detail {
Arrays schedule_free_eval_params(const State& state, const Arrays& params) {
  const auto b1 = tree_utils::tree_get_all_with_path(state, "b1"), z = tree_utils::tree_get_all_with_path(state, "z");
  if (b1.size() != 1 || z.size() != 1)
    throw_with_line<ValueError>("[schedule_free_eval_params] the state is not that of schedule_free; give that one.");
  const Array b = b1[0].second.at(0);
  return each(
      [&](const Array& y, const Array& x) {
        const Array by = b.astype(y.dtype());
        return (y - (1.0 - by) * x) / by;
      },
      params, z[0].second);
}
}  // namespace detail

GradientTransformation mechanize(const GradientTransformation& base, const MechanizeOptions& o) {
  const std::string name = "mechanize";
  const auto init = [=](const Given& given) {
    const DType dtype = narrowest(*given.params);
    const auto fill = [&](const Hyperparameter& h) { return np::full({o.num_betas}, h.like(dtype), dtype); };
    return State{.name = name,
                 .fields = {{"count", {first_count()}},
                            {"r", {fill(0)}},
                            {"m", {fill(0)}},
                            {"v", {fill(0)}},
                            {"s", {fill(o.s_init)}},
                            {"x0", *given.params}},
                 .parts = {base.init_flat(given)}};
  };
  const auto update = [=](const Arrays& g, const State& state, const Given& given) {
    check_state(state, name, 1);
    const Arrays& params = params_of(given, name);
    const Array count = state["count"], m0 = state["m"], s0 = state["s"], scale = np::sum(s0);
    const DType dtype = s0.dtype();
    auto [steps, next] = base.update_flat(g, state.parts[0], given);
    const Arrays x0 = tu::where(count == 0, params, state.fields.at("x0"));
    const Array decay =
        o.weight_decay * Array(scale * tu::norm(g).astype(dtype)) / (tu::norm(params).astype(dtype) + o.eps);
    const Arrays decayed = tu::add_scale(g, decay, params);
    const Arrays before =
        each([&](const Array& p, const Array& x) { return (x - p) / (scale + o.eps).astype(p.dtype()); }, params, x0);
    const Arrays way = tu::sub(before, steps);
    const Array h = tu::vdot(decayed, before).astype(dtype);
    std::vector<double> list;
    for (int i = 1; i <= o.num_betas; ++i) list.push_back(1 - std::pow(0.1, i));
    const Array betas = Array::from_host(list).astype(dtype);
    const Array m = np::maximum(betas * m0, np::abs(h) + o.eps), v = betas * betas * state["v"] + h * h;
    const Array r = betas * state["r"] + np::clip(np::ones_like(m0) * h, -m0, m0) * s0;
    const Array wealth = times(o.s_init, 1.0 / o.num_betas) * m + np::maximum(r, 0.0);
    const Array s = wealth / (np::sqrt(v) + o.eps), total = np::sum(s);
    State out = state;
    out.fields = {{"count", {safe_increment(count)}}, {"r", {r}}, {"m", {m}}, {"v", {v}}, {"s", {s}}, {"x0", x0}};
    out.parts[0] = std::move(next);
    const Arrays updates =
        each([&](const Array& x, const Array& d, const Array& p) { return x - total.astype(p.dtype()) * d - p; }, x0,
             way, params);
    return std::pair{updates, std::move(out)};
  };
  return {name, init, update};
}

GradientTransformation reduce_on_plateau(const ReduceOnPlateauOptions& o) {
  const std::string name = "reduce_on_plateau";
  if (!(o.factor > 0 && o.factor < 1))
    throw_with_line<ValueError>(fmt::format("[{}] the factor is {}; it must be between 0 and 1.", name, o.factor));
  if (o.rtol < 0 || o.atol < 0 || o.rtol > 1 || (o.rtol == 0 && o.atol == 0))
    throw_with_line<ValueError>(
        fmt::format("[{}] rtol is {} and atol {}; rtol must be in [0, 1], atol not negative, one of them positive.",
                    name, o.rtol, o.atol));
  return with_fields(
      name,
      [](const Arrays& p) {
        const DType wide = widest(p);
        return Fields{{"scale", {number(1, narrowest(p))}}, {"best_value", {number(np::inf, wide)}},
                      {"plateau_count", {first_count()}},   {"cooldown_count", {first_count()}},
                      {"count", {first_count()}},           {"avg_value", {number(0, wide)}}};
      },
      [=](const Arrays& g, Fields& s, const Given& given) {
        const Array best = s["best_value"][0], old_scale = s["scale"][0], cooldown = s["cooldown_count"][0];
        const DType dtype = best.dtype();
        const Array count = safe_increment(s["count"][0]), zero = first_count();
        const Array mean = (s["count"][0].astype(dtype) * s["avg_value"][0] + value_of(given, name).astype(dtype)) /
                           count.astype(dtype);
        const Array full = count == o.accumulation_size, better = mean < (1 - o.rtol) * best - o.atol;
        const Array waited = np::where(better, zero, safe_increment(s["plateau_count"][0]));
        const Array cooling = cooldown > 0, down = (waited == o.patience) & ~cooling;
        const auto where_full = [&](const char* field, const Array& value) {
          s[field] = {np::where(full, value, s[field][0]).astype(s[field][0].dtype())};
        };
        where_full("best_value", np::where(better, mean, best));
        where_full("scale", np::where(cooling, old_scale,
                                      np::maximum(np::where(down, old_scale * o.factor, old_scale), o.min_scale)));
        where_full("plateau_count", np::where(cooling | down, zero, waited));
        where_full("cooldown_count",
                   np::where(cooling, cooldown - 1, np::where(down, np::full_like(zero, o.cooldown), zero)));
        s["count"] = {np::where(full, zero, count)};
        s["avg_value"] = {np::where(full, np::zeros_like(mean), mean)};
        return tu::scale(s["scale"][0], g);
      });
}

GradientTransformation normalize() {
  return without_state("normalize", [](const Arrays& g, const Given&) {
    const Array norm = tu::norm(g);
    return each([&](const Array& u) { return u / norm.astype(u.dtype()); }, g);
  });
}

namespace {

Step sam_step(const GradientTransformation& optimizer, const GradientTransformation& uphill, const SamOptions& o,
              const Arrays& g, const State& state, const Given& given) {
  const Arrays &params = params_of(given, "sam"), &cache = state.fields.at("cache");
  const Array since = state["steps_since_sync"], first = since == 0, last = since == o.sync_period - 1;
  auto [up, adversary] = uphill.update_flat(g, state.parts[1], given);
  Given at_cache = given;
  at_cache.params = cache;
  auto [down, inner] = optimizer.update_flat(g, state.parts[0], at_cache);
  const Arrays updates = each(
      [&](const Array& c, const Array& p, const Array& d, const Array& u) { return np::where(last, c - p + d, -u); },
      cache, params, down, up);
  State out = state;
  out.fields["cache"] = tu::where(first, params, cache);
  out.fields["steps_since_sync"] = {(since + 1) % o.sync_period};
  out.parts[1] = select(last, o.reset_state ? uphill.init_flat(given) : state.parts[1], adversary);
  out.parts[0] = select(last, inner, state.parts[0]);
  return {updates, std::move(out)};
}
Step opaque_sam_step(const GradientTransformation& optimizer, const GradientTransformation& uphill, const SamOptions& o,
                     const Arrays& g, const State& state, const Given& given) {
  if (!given.grad_fn)
    throw_with_line<ValueError>("[sam] opaque_mode needs the gradient as a function; give it as Extra::grad_fn.");
  Given at = given;
  at.params = params_of(given, "sam");
  Arrays gradients = g;
  State adversary = state.parts[1];
  for (int i = 0; i + 1 < o.sync_period; ++i) {
    auto [up, next] = uphill.update_flat(gradients, adversary, at);
    adversary = std::move(next);
    at.params = optax::detail::apply_updates(*at.params, tu::scale(-1.0, up));
    gradients = given.grad_fn(*at.params, i);
  }
  auto [updates, inner] = optimizer.update_flat(gradients, state.parts[0], given);
  State out = state;
  out.parts = {std::move(inner), o.reset_state ? uphill.init_flat(given) : std::move(adversary)};
  return {updates, std::move(out)};
}

}  // namespace

GradientTransformation sam(const GradientTransformation& optimizer, const GradientTransformation& adv_optimizer,
                           const SamOptions& o) {
  if (o.sync_period < 1)
    throw_with_line<ValueError>(fmt::format("[sam] a period of {}; it must be at least 1.", o.sync_period));
  return {"sam",
          [=](const Given& given) {
            State out{.name = "sam",
                      .fields = {{"steps_since_sync", {first_count()}}},
                      .parts = {optimizer.init_flat(given), adv_optimizer.init_flat(given)}};
            if (!o.opaque_mode) out.fields["cache"] = *given.params;
            return out;
          },
          [=](const Arrays& g, const State& state, const Given& given) {
            check_state(state, "sam", 2);
            return (o.opaque_mode ? opaque_sam_step : sam_step)(optimizer, adv_optimizer, o, g, state, given);
          }};
}

GradientTransformation differentially_private_aggregate(const PrivateOptions& o) {
  return with_fields(
      "differentially_private_aggregate", [o](const Arrays&) { return Fields{{"rng_key", {o.key}}}; },
      [o](const Arrays& g, Fields& s, const Given&) {
        const auto [clipped, count] = per_example_global_norm_clip(g, o.l2_norm_clip);
        const Arrays keys = tu::split_key(s["rng_key"][0], g.size() + 1);
        s["rng_key"] = {keys[0]};
        const Hyperparameter deviation = times(o.l2_norm_clip, o.noise_multiplier);
        const auto examples = static_cast<double>(g[0].shape(0));
        return each(
            [&](const Array& u, const Array& key) {
              return (u + deviation * random::normal(key, u.shape(), u.dtype())) / examples;
            },
            clipped, Arrays(keys.begin() + 1, keys.end()));
      });
}
GradientTransformation dpsgd(const DpsgdOptions& o) {
  return chain(differentially_private_aggregate({o.l2_norm_clip, o.noise_multiplier, o.key}),
               o.momentum ? trace({.decay = *o.momentum, .nesterov = o.nesterov}) : identity(),
               scale_by_learning_rate(o.learning_rate));
}

}  // namespace cotan::optax::contrib
