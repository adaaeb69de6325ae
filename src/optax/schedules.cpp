// Learning rates that change with the step.
#include <cmath>
#include <cotan/optax/schedules.hpp>

#include "optax/core.hpp"

namespace cotan::optax {

namespace {

void check_scales(const std::map<std::int64_t, double>& scales, const char* name) {
  for (const auto& [step, scale] : scales)
    if (!(scale >= 0))
      throw_with_line<ValueError>(
          fmt::format("[{}] the scale at step {} is {}; it must not be negative.", name, step, scale));
}
void check_steps(std::int64_t steps, const char* name) {
  if (steps <= 0) throw_with_line<ValueError>(fmt::format("[{}] {} steps; there must be one at least.", name, steps));
}
/// A number in the dtype of the steps.
Array in(const Array& step, double value) { return np::full_like(step, value); }

}  // namespace

Schedule constant_schedule(const Hyperparameter& value) {
  return Schedule::of_real([=](const Array& step) { return np::full_like(step, value.like(step)); });
}

Schedule polynomial_schedule(const PolynomialScheduleOptions& o) {
  if (o.transition_steps <= 0) return constant_schedule(o.init_value);
  const auto begin = static_cast<double>(std::max<std::int64_t>(0, o.transition_begin));
  const auto steps = static_cast<double>(o.transition_steps);
  return Schedule::of_real([=](const Array& step) {
    const Array left = 1.0 - np::clip(step - begin, 0.0, steps) / steps;
    const bool straight = o.power.is_number() && o.power.number() == 1;
    const Array share = straight ? left : np::power(left, o.power.like(left));
    return combined(o.init_value, o.end_value, [](const auto& a, const auto& b) { return a - b; }) * share +
           o.end_value;
  });
}
Schedule linear_schedule(const LinearScheduleOptions& o) {
  return polynomial_schedule({o.init_value, o.end_value, 1.0, o.transition_steps, o.transition_begin});
}

Schedule piecewise_constant_schedule(const Hyperparameter& init_value,
                                     const std::map<std::int64_t, double>& boundaries_and_scales) {
  check_scales(boundaries_and_scales, "piecewise_constant_schedule");
  return Schedule::of_real([=](const Array& step) {
    Array value = np::full_like(step, init_value.like(step));
    for (const auto& [boundary, scale] : boundaries_and_scales)
      value = np::where(step < static_cast<double>(boundary), value, scale * value);
    return value;
  });
}

Schedule piecewise_interpolate_schedule(const std::string& interpolate_type, double init_value,
                                        const std::map<std::int64_t, double>& boundaries_and_scales) {
  const bool linear = interpolate_type == "linear";
  if (!linear && interpolate_type != "cosine")
    throw_with_line<ValueError>(fmt::format(
        "[piecewise_interpolate_schedule] the type \"{}\"; it must be \"linear\" or \"cosine\".", interpolate_type));
  check_scales(boundaries_and_scales, "piecewise_interpolate_schedule");
  return Schedule::of_real([=](const Array& step) {
    Array out = np::zeros_like(step);
    double start = 0, value = init_value;
    for (const auto& [boundary, scale] : boundaries_and_scales) {
      const double stop = static_cast<double>(boundary), next = value * scale;
      const Array share = (step - start) / std::max(stop - start, 1.0);
      const Array between =
          linear ? (next - value) * share + value : next + (value - next) / 2.0 * (np::cos(np::pi * share) + 1.0);
      out = np::where((step >= start) & (step < stop), between, out);
      start = stop;
      value = next;
    }
    return np::where(step >= start, in(step, value), out);
  });
}

Schedule exponential_decay(const ExponentialDecayOptions& o) {
  if (o.transition_steps <= 0 || o.decay_rate == 0) return constant_schedule(o.init_value);
  const auto begin = static_cast<double>(std::max<std::int64_t>(0, o.transition_begin));
  return Schedule::of_real([=](const Array& step) {
    const Array gone = step - begin;
    Array share = gone / static_cast<double>(o.transition_steps);
    if (o.staircase) share = np::floor(share);
    const Array first = np::full_like(step, o.init_value.like(step));
    const Array value = np::where(gone <= 0.0, first, first * np::power(in(step, o.decay_rate), share));
    if (!o.end_value) return value;
    return o.decay_rate < 1 ? max(value, *o.end_value) : min(value, *o.end_value);
  });
}

Schedule cosine_decay_schedule(const CosineDecayOptions& o) {
  check_steps(o.decay_steps, "cosine_decay_schedule");
  const auto steps = static_cast<double>(o.decay_steps);
  return Schedule::of_real([=](const Array& step) {
    const Array wave = 0.5 * (1.0 + np::cos(np::pi * np::minimum(step, steps) / steps));
    const bool plain = o.exponent.is_number() && o.exponent.number() == 1;
    const Array share = plain ? wave : np::power(wave, o.exponent.like(wave));
    return o.init_value * Array(one_minus(o.alpha) * share + o.alpha);
  });
}

Schedule linear_onecycle_schedule(const OnecycleOptions& o) {
  check_steps(o.transition_steps, "linear_onecycle_schedule");
  const auto at = [&](double share) {
    return static_cast<std::int64_t>(share * static_cast<double>(o.transition_steps));
  };
  return piecewise_interpolate_schedule("linear", o.peak_value / o.div_factor,
                                        {{at(o.pct_start), o.div_factor},
                                         {at(o.pct_final), 1 / o.div_factor},
                                         {o.transition_steps, 1 / o.final_div_factor}});
}
Schedule cosine_onecycle_schedule(const OnecycleOptions& o) {
  check_steps(o.transition_steps, "cosine_onecycle_schedule");
  const auto start = static_cast<std::int64_t>(o.pct_start * static_cast<double>(o.transition_steps));
  return piecewise_interpolate_schedule(
      "cosine", o.peak_value / o.div_factor,
      {{start, o.div_factor}, {o.transition_steps, 1 / (o.div_factor * o.final_div_factor)}});
}

Schedule join_schedules(std::vector<Schedule> schedules, std::vector<std::int64_t> boundaries) {
  if (schedules.empty() || boundaries.size() + 1 != schedules.size())
    throw_with_line<ValueError>(fmt::format("[join_schedules] {} schedules and {} boundaries; there must be one less.",
                                            schedules.size(), boundaries.size()));
  return Schedule::of_real([=](const Array& step) {
    Array out = schedules[0](step);
    for (std::size_t i = 0; i < boundaries.size(); ++i) {
      const auto boundary = static_cast<double>(boundaries[i]);
      out = np::where(step < boundary, out, schedules[i + 1](step - boundary));
    }
    return out;
  });
}
Schedule warmup_constant_schedule(const Hyperparameter& init_value, const Hyperparameter& peak_value,
                                  std::int64_t warmup_steps) {
  return linear_schedule({init_value, peak_value, warmup_steps});
}
Schedule warmup_cosine_decay_schedule(const WarmupCosineOptions& o) {
  const double alpha = o.peak_value == 0 ? 0 : o.end_value / o.peak_value;
  return join_schedules({linear_schedule({o.init_value, o.peak_value, o.warmup_steps}),
                         cosine_decay_schedule({o.peak_value, o.decay_steps - o.warmup_steps, alpha, o.exponent})},
                        {o.warmup_steps});
}
Schedule warmup_exponential_decay_schedule(const WarmupExponentialOptions& o) {
  ExponentialDecayOptions decay{o.peak_value, o.transition_steps, o.decay_rate, o.transition_begin, o.staircase};
  if (o.end_value) decay.end_value = *o.end_value;
  return join_schedules({linear_schedule({o.init_value, o.peak_value, o.warmup_steps}), exponential_decay(decay)},
                        {o.warmup_steps});
}
Schedule sgdr_schedule(const std::vector<WarmupCosineOptions>& cosine_kwargs) {
  std::vector<Schedule> schedules;
  std::vector<std::int64_t> boundaries;
  std::int64_t step = 0;
  for (const WarmupCosineOptions& o : cosine_kwargs) {
    schedules.push_back(warmup_cosine_decay_schedule(o));
    boundaries.push_back(step += o.decay_steps);
  }
  if (!boundaries.empty()) boundaries.pop_back();
  return join_schedules(schedules, boundaries);
}

}  // namespace cotan::optax
