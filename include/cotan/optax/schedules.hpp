// Learning rates that change with the step.
#pragma once
#include <cotan/optax/hyperparameters.hpp>
#include <map>

namespace cotan::optax {

/// Always that value.
Schedule constant_schedule(const Hyperparameter& value);
/// Of linear_schedule.
struct LinearScheduleOptions {
  Hyperparameter init_value, end_value;
  std::int64_t transition_steps;      ///< none: the value stays init_value
  std::int64_t transition_begin = 0;  ///< the step before the first change
};
/// From init_value to end_value on a straight line.
Schedule linear_schedule(const LinearScheduleOptions& options);
/// Of polynomial_schedule.
struct PolynomialScheduleOptions {
  Hyperparameter init_value, end_value, power;
  std::int64_t transition_steps;      ///< none: the value stays init_value
  std::int64_t transition_begin = 0;  ///< the step before the first change
};
/// From init_value to end_value; what is left of the way goes down as a power of what is left of the steps.
Schedule polynomial_schedule(const PolynomialScheduleOptions& options);
/// Scales init_value at each of the steps in the map, by factors that are not negative.
Schedule piecewise_constant_schedule(const Hyperparameter& init_value,
                                     const std::map<std::int64_t, double>& boundaries_and_scales = {});
/// The same with "linear" or "cosine" ways between the steps.
Schedule piecewise_interpolate_schedule(const std::string& interpolate_type, double init_value,
                                        const std::map<std::int64_t, double>& boundaries_and_scales = {});
/// Of exponential_decay.
struct ExponentialDecayOptions {
  Hyperparameter init_value;
  std::int64_t transition_steps;                 ///< none: the value stays init_value
  double decay_rate;                             ///< 0: likewise
  std::int64_t transition_begin = 0;             ///< the step before the first change
  bool staircase = false;                        ///< only every transition_steps steps
  std::optional<Hyperparameter> end_value = {};  ///< where it stops
};
/// init_value decay_rate^(step / transition_steps).
Schedule exponential_decay(const ExponentialDecayOptions& options);
/// Of cosine_decay_schedule.
struct CosineDecayOptions {
  Hyperparameter init_value;
  std::int64_t decay_steps;       ///< positive
  Hyperparameter alpha = 0.0;     ///< the last value, as a share of the first
  Hyperparameter exponent = 1.0;  ///< of the cosine
};
/// From init_value down along half a cosine.
Schedule cosine_decay_schedule(const CosineDecayOptions& options);
/// Of linear_onecycle_schedule and cosine_onecycle_schedule.
struct OnecycleOptions {
  std::int64_t transition_steps;  ///< positive
  double peak_value;
  double pct_start = 0.3;         ///< the share of steps on the way up
  double pct_final = 0.85;        ///< of linear: the share until the last way down begins
  double div_factor = 25.0;       ///< the peak is so many times the first value
  double final_div_factor = 1e4;  ///< the first value is so many times the last
};
/// Up, down, and further down, on straight lines.
Schedule linear_onecycle_schedule(const OnecycleOptions& options);
/// Up and down along cosines.
Schedule cosine_onecycle_schedule(const OnecycleOptions& options);
/// Up on a straight line, and constant from then on.
Schedule warmup_constant_schedule(const Hyperparameter& init_value, const Hyperparameter& peak_value,
                                  std::int64_t warmup_steps);
/// Of warmup_cosine_decay_schedule.
struct WarmupCosineOptions {
  double init_value, peak_value;
  std::int64_t warmup_steps, decay_steps;  ///< decay_steps: all of them, those of the warmup too
  double end_value = 0.0, exponent = 1.0;
};
/// Up on a straight line, then down along a cosine.
Schedule warmup_cosine_decay_schedule(const WarmupCosineOptions& options);
/// Of warmup_exponential_decay_schedule.
struct WarmupExponentialOptions {
  double init_value, peak_value;
  std::int64_t warmup_steps, transition_steps;
  double decay_rate;
  std::int64_t transition_begin = 0;
  bool staircase = false;
  std::optional<double> end_value = {};
};
/// Up on a straight line, then exponential_decay.
Schedule warmup_exponential_decay_schedule(const WarmupExponentialOptions& options);
/// warmup_cosine_decay_schedule again and again.
Schedule sgdr_schedule(const std::vector<WarmupCosineOptions>& cosine_kwargs);
/// One schedule up to each boundary; each counts its steps from 0.
Schedule join_schedules(std::vector<Schedule> schedules, std::vector<std::int64_t> boundaries);

}  // namespace cotan::optax
