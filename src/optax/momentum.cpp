// Learning rates, momentum, decay of weights, noise.
#include "optax/core.hpp"

namespace cotan::optax {

GradientTransformation scale(const Hyperparameter& step_size) {
  return without_state("scale", [step_size](const Arrays& g, const Given&) { return tu::scale(step_size, g); })
      .of_complex_too();
}

GradientTransformation scale_by_schedule(const Schedule& step_size_fn) {
  return with_fields(
      "scale_by_schedule", [](const Arrays&) { return Fields{{"count", {first_count()}}}; },
      [step_size_fn](const Arrays& g, Fields& s, const Given&) {
        const Array count = s["count"][0];
        s["count"][0] = safe_increment(count);
        return each([&](const Array& u) { return step_size_fn.at(count, u.dtype()) * u; }, g);
      });
}

GradientTransformation scale_by_learning_rate(const std::optional<ScalarOrSchedule>& learning_rate, bool flip_sign) {
  if (!learning_rate) return identity();
  const double sign = flip_sign ? -1.0 : 1.0;
  if (!learning_rate->is_schedule()) return scale(times(sign, learning_rate->scalar()));
  // The schedule says itself whether it takes real steps.
  return with_fields(
      "scale_by_schedule", [](const Arrays&) { return Fields{{"count", {first_count()}}}; },
      [sign, schedule = learning_rate->schedule()](const Arrays& g, Fields& s, const Given&) {
        const Array count = s["count"][0];
        s["count"][0] = safe_increment(count);
        return each([&](const Array& u) { return sign * schedule.at(count, u.dtype()) * u; }, g);
      });
}

GradientTransformation trace(const TraceOptions& o) {
  const auto with_trace = with_fields(
      "trace", [o](const Arrays& p) { return Fields{{"trace", zeros_like(p, o.accumulator_dtype)}}; },
      [o](const Arrays& g, Fields& s, const Given&) {
        const auto f = [&](const Array& u, const Array& t) { return u + o.decay * t; };
        const Arrays next = each(f, g, s["trace"]);
        s["trace"] = tu::cast(next, o.accumulator_dtype);
        return o.nesterov ? each(f, g, next) : next;
      });
  return with_trace.of_complex_too();
}

GradientTransformation ema(const EmaOptions& o) {
  return with_fields(
      "ema",
      [o](const Arrays& p) { return Fields{{"count", {first_count()}}, {"ema", zeros_like(p, o.accumulator_dtype)}}; },
      [o](const Arrays& g, Fields& s, const Given&) {
        const Arrays next = tu::update_moment(g, s["ema"], o.decay, 1);
        const Array count = s["count"][0] = safe_increment(s["count"][0]);
        s["ema"] = tu::cast(next, o.accumulator_dtype);
        return o.debias ? tu::bias_correction(next, o.decay, count) : next;
      });
}

GradientTransformation add_decayed_weights(const ScalarOrSchedule& weight_decay, const Mask& mask) {
  const auto decayed = [](const Arrays& g, const Arrays& p, const auto& rate) {
    return each([&](const Array& u, const Array& x) { return u + Hyperparameter(rate(x)) * x; }, g, p);
  };
  const std::string name = "add_decayed_weights";
  if (weight_decay.is_schedule()) {
    const auto scheduled = with_fields(
        name, [](const Arrays&) { return Fields{{"count", {first_count()}}}; },
        [=](const Arrays& g, Fields& s, const Given& given) {
          const Array count = s["count"][0];
          s["count"][0] = safe_increment(count);
          return decayed(g, params_of(given, name),
                         [&](const Array& x) { return weight_decay.schedule().at(count, x.dtype()); });
        });
    return mask.is_all() ? scheduled : masked(scheduled, mask);
  }
  const auto constant = without_state(name, [=](const Arrays& g, const Given& given) {
    const Arrays& p = params_of(given, name);
    if (is_zero(weight_decay)) return g;
    return decayed(g, p, [&](const Array&) { return weight_decay.scalar(); });
  });
  return mask.is_all() ? constant : masked(constant, mask);
}

GradientTransformation add_noise(const AddNoiseOptions& o) {
  return with_fields(
      "add_noise", [o](const Arrays&) { return Fields{{"count", {first_count()}}, {"rng_key", {o.key}}}; },
      [o](const Arrays& g, Fields& s, const Given&) {
        const Array count = s["count"][0] = safe_increment(s["count"][0]);
        const Array keys = random::split(s["rng_key"][0]);
        s["rng_key"] = {keys[0]};
        const Arrays sample_keys = tu::split_key(keys[1], g.size());
        return each(
            [&](const Array& u, const Array& key) {
              const Array n = count.astype(u.dtype());
              const Array deviation = np::sqrt(o.eta.like(u) / np::power(n, o.gamma.like(u)));
              return u + deviation * random::normal(key, u.shape(), u.dtype());
            },
            g, sample_keys);
      });
}

GradientTransformation centralize() {
  return without_state("centralize", [](const Arrays& g, const Given&) {
    return each(
        [](const Array& u) {
          if (u.ndim() < 2) return u;
          std::vector<int> axes;
          for (int k = 1; k < u.ndim(); ++k) axes.push_back(k);
          return u - np::mean(u, axes, true);
        },
        g);
  });
}

GradientTransformation apply_every(std::int64_t k) {
  if (k < 1) throw_with_line<ValueError>(fmt::format("[apply_every] every {} steps; it must be at least 1.", k));
  return with_fields(
      "apply_every", [](const Arrays& p) { return Fields{{"count", {first_count()}}, {"grad_acc", zeros_like(p)}}; },
      [k](const Arrays& g, Fields& s, const Given&) {
        const Array count = s["count"][0] % k, go_on = count != 0, emit = count == k - 1;
        s["grad_acc"] = each([&](const Array& u, const Array& sum) { return go_on.astype(sum.dtype()) * sum + u; }, g,
                             s["grad_acc"]);
        s["count"][0] = safe_increment(s["count"][0]) % k;
        return each([&](const Array& sum) { return emit.astype(sum.dtype()) * sum; }, s["grad_acc"]);
      });
}

}  // namespace cotan::optax
