// The parts that optimizers are made of: scalings by moments, momentum, clipping, decay, noise.
#pragma once
#include <cotan/optax/combine.hpp>

namespace cotan::optax {

/// Updates times a number.
GradientTransformation scale(const Hyperparameter& step_size);
/// Updates times the schedule's value at the step.
GradientTransformation scale_by_schedule(const Schedule& step_size_fn);
/// Updates times minus the learning rate, or with its sign; as they are where there is none.
GradientTransformation scale_by_learning_rate(const std::optional<ScalarOrSchedule>& learning_rate,
                                              bool flip_sign = true);

/// Of scale_by_adam.
struct ScaleByAdamOptions {
  Hyperparameter b1 = 0.9, b2 = 0.999, eps = 1e-8, eps_root = 0.0;
  std::optional<DType> mu_dtype = {};
  bool nesterov = false;
  COTAN_TREE(b1, b2, eps, eps_root, mu_dtype, nesterov)
};
/// The mean of gradients by the root of the mean of their squares.
GradientTransformation scale_by_adam(const ScaleByAdamOptions& options = {});
/// Of scale_by_amsgrad.
struct ScaleByAmsgradOptions {
  Hyperparameter b1 = 0.9, b2 = 0.999, eps = 1e-8, eps_root = 0.0;
  std::optional<DType> mu_dtype = {};
  bool bias_correction_mu = true, bias_correction_nu = true;
  COTAN_TREE(b1, b2, eps, eps_root, mu_dtype, bias_correction_mu, bias_correction_nu)
};
/// As scale_by_adam, with the largest mean of squares so far.
GradientTransformation scale_by_amsgrad(const ScaleByAmsgradOptions& options = {});
/// Of scale_by_adamax.
struct ScaleByAdamaxOptions {
  Hyperparameter b1 = 0.9, b2 = 0.999, eps = 1e-8;
  COTAN_TREE(b1, b2, eps)
};
/// As scale_by_adam, with the largest of decaying |gradients|.
GradientTransformation scale_by_adamax(const ScaleByAdamaxOptions& options = {});
/// Of scale_by_adan.
struct ScaleByAdanOptions {
  Hyperparameter b1 = 0.98, b2 = 0.92, b3 = 0.99, eps = 1e-8, eps_root = 0.0;
  COTAN_TREE(b1, b2, b3, eps, eps_root)
};
/// Means of gradients and of their differences.
GradientTransformation scale_by_adan(const ScaleByAdanOptions& options = {});
/// Of scale_by_belief.
struct ScaleByBeliefOptions {
  Hyperparameter b1 = 0.9, b2 = 0.999, eps = 1e-16, eps_root = 1e-16;
  bool nesterov = false;
  COTAN_TREE(b1, b2, eps, eps_root, nesterov)
};
/// As scale_by_adam, with squares of what the mean did not foresee.
GradientTransformation scale_by_belief(const ScaleByBeliefOptions& options = {});
/// Of scale_by_yogi.
struct ScaleByYogiOptions {
  Hyperparameter b1 = 0.9, b2 = 0.999, eps = 1e-3, eps_root = 0.0, initial_accumulator_value = 1e-6;
  COTAN_TREE(b1, b2, eps, eps_root, initial_accumulator_value)
};
/// As scale_by_adam, with squares that come in by the sign of their difference.
GradientTransformation scale_by_yogi(const ScaleByYogiOptions& options = {});
/// Of scale_by_radam.
struct ScaleByRadamOptions {
  Hyperparameter b1 = 0.9, b2 = 0.999, eps = 1e-8, eps_root = 0.0, threshold = 5.0;
  bool nesterov = false;
  COTAN_TREE(b1, b2, eps, eps_root, threshold, nesterov)
};
/// As scale_by_adam once the mean of squares has enough in it, before that the mean of gradients.
GradientTransformation scale_by_radam(const ScaleByRadamOptions& options = {});
/// How scale_by_lion makes signs.
enum class LionMode : std::uint8_t { hard, smooth, refined };
/// Of scale_by_lion.
struct ScaleByLionOptions {
  Hyperparameter b1 = 0.9, b2 = 0.99;
  std::optional<DType> mu_dtype = {};
  LionMode mode = LionMode::hard;
  Hyperparameter smooth_beta = 1.0;
  COTAN_TREE(b1, b2, mu_dtype, mode, smooth_beta)
};
/// The sign of a mean of gradients.
GradientTransformation scale_by_lion(const ScaleByLionOptions& options = {});
/// Of scale_by_novograd.
struct ScaleByNovogradOptions {
  Hyperparameter b1 = 0.9, b2 = 0.25, eps = 1e-8, eps_root = 0.0, weight_decay = 0.0;
  std::optional<DType> mu_dtype = {};
  COTAN_TREE(b1, b2, eps, eps_root, weight_decay, mu_dtype)
};
/// The mean of gradients by the norm of their leaf.
GradientTransformation scale_by_novograd(const ScaleByNovogradOptions& options = {});

/// Of scale_by_rms and scale_by_stddev.
struct ScaleByRmsOptions {
  Hyperparameter decay = 0.9, eps = 1e-8, initial_scale = 0.0;
  bool eps_in_sqrt = true, bias_correction = false;
  COTAN_TREE(decay, eps, initial_scale, eps_in_sqrt, bias_correction)
};
/// By the root of the mean of squares.
GradientTransformation scale_by_rms(const ScaleByRmsOptions& options = {});
/// By the standard deviation.
GradientTransformation scale_by_stddev(const ScaleByRmsOptions& options = {});
/// By the root of the sum of squares so far.
GradientTransformation scale_by_rss(const Hyperparameter& initial_accumulator_value = 0.1,
                                    const Hyperparameter& eps = 1e-7);
/// By the root of the mean of squares, times that of the updates before.
GradientTransformation scale_by_adadelta(const Hyperparameter& rho = 0.9, const Hyperparameter& eps = 1e-6);
/// Of scale_by_factored_rms.
struct FactoredRmsOptions {
  bool factored = true;
  double decay_rate = 0.8;
  std::int64_t step_offset = 0, min_dim_size_to_factor = 128;
  Hyperparameter epsilon = 1e-30;
};
/// By the root of a mean of squares, of matrices kept as one of rows and one of columns.
GradientTransformation scale_by_factored_rms(const FactoredRmsOptions& options = {});
/// By the root of the smallest, over axes, of the largest squares so far.
GradientTransformation scale_by_sm3(const Hyperparameter& b1 = 0.9, const Hyperparameter& b2 = 1.0,
                                    const Hyperparameter& eps = 1e-8);
/// Of scale_by_rprop.
struct ScaleByRpropOptions {
  Hyperparameter learning_rate;
  Hyperparameter eta_minus = 0.5, eta_plus = 1.2, min_step_size = 1e-6, max_step_size = 50.0;
  COTAN_TREE(learning_rate, eta_minus, eta_plus, min_step_size, max_step_size)
};
/// Steps by the sign of the gradient, longer where it stays.
GradientTransformation scale_by_rprop(const ScaleByRpropOptions& options);
/// The sign of updates.
GradientTransformation scale_by_sign();
/// (alpha + beta) gradient - beta the one before.
GradientTransformation scale_by_optimistic_gradient(const Hyperparameter& alpha = 1.0,
                                                    const Hyperparameter& beta = 1.0);
/// Times the norm of the parameter's leaf, at least min_scale.
GradientTransformation scale_by_param_block_norm(const Hyperparameter& min_scale = 1e-3);
/// Times the root mean square of the parameter's leaf, at least min_scale.
GradientTransformation scale_by_param_block_rms(const Hyperparameter& min_scale = 1e-3);
/// Times the norm of the parameter's leaf by that of the update's.
GradientTransformation scale_by_trust_ratio(const Hyperparameter& min_norm = 0.0,
                                            const Hyperparameter& trust_coefficient = 1.0,
                                            const Hyperparameter& eps = 0.0);
/// Times the largest distance so far by the root of the sum of squared gradients, for each leaf.
GradientTransformation scale_by_distance_over_gradients(const Hyperparameter& reps_rel = 1e-6,
                                                        const Hyperparameter& eps = 1e-8,
                                                        const Hyperparameter& global_scale = 1.0);
/// Of scale_by_polyak.
struct ScaleByPolyakOptions {
  Hyperparameter f_min = 0.0, max_learning_rate = 1.0, eps = 0.0;
  std::string variant = "sps";  ///< "sps+": no step where the loss is below f_min
};
/// Times the distance of the loss from its minimum by the squared norm of gradients. Needs Extra::value.
GradientTransformation scale_by_polyak(const ScaleByPolyakOptions& options = {});
/// By the norm of all updates.
GradientTransformation normalize_by_update_norm(const Hyperparameter& scale_factor = 1.0,
                                                const Hyperparameter& eps = 1e-6);

/// Of trace.
struct TraceOptions {
  Hyperparameter decay;
  bool nesterov = false;
  std::optional<DType> accumulator_dtype = {};
};
/// Momentum: a decaying sum of updates.
GradientTransformation trace(const TraceOptions& options);
/// Of ema.
struct EmaOptions {
  Hyperparameter decay;
  bool debias = true;
  std::optional<DType> accumulator_dtype = {};
};
/// A decaying mean of updates.
GradientTransformation ema(const EmaOptions& options);
/// Updates + weight_decay parameters.
GradientTransformation add_decayed_weights(const ScalarOrSchedule& weight_decay = 0.0, const Mask& mask = true);
/// Of add_noise.
struct AddNoiseOptions {
  Hyperparameter eta, gamma;  ///< the variance is eta / step^gamma
  Array key;                  ///< u32[2]
};
/// Normal noise that gets less.
GradientTransformation add_noise(const AddNoiseOptions& options);
/// Leaves of more than one axis without their mean over all axes but the first.
GradientTransformation centralize();
/// The sum of k updates at every k-th step, zeros in between.
GradientTransformation apply_every(std::int64_t k = 1);

/// Elements in [-max_delta, max_delta].
GradientTransformation clip(const Hyperparameter& max_delta);
/// The root mean square of a leaf at most `threshold`.
GradientTransformation clip_by_block_rms(const Hyperparameter& threshold);
/// The norm of all updates at most `max_norm`.
GradientTransformation clip_by_global_norm(const Hyperparameter& max_norm);
/// The norm of a unit at most `clipping` times that of its parameters; `axis`: what a unit is summed over.
GradientTransformation adaptive_grad_clip(const Hyperparameter& clipping, const Hyperparameter& eps = 1e-3,
                                          const Axes& axis = {});
/// The norm of units of a leaf, broadcast to its shape: of vectors all, of 2 and 3 axes along the first, of 4 and 5
/// along all but the last.
Array unitwise_norm(const ArrayLike& x, const Axes& axis = {});
/// `grad`, made as short as `max_norm` where `g_norm` is longer; all of one shape.
Array unitwise_clip(const ArrayLike& g_norm, const ArrayLike& max_norm, const ArrayLike& grad,
                    const Hyperparameter& div_eps = 1e-6);
/// Sums over the first axis, of examples whose norm over all leaves is clipped, and how many were: i32.
std::pair<Arrays, Array> per_example_global_norm_clip(const Arrays& grads, const Hyperparameter& l2_norm_clip);
/// The same for each leaf by itself, whose bounds share `global_l2_norm_clip` evenly or by size.
std::pair<Arrays, Arrays> per_example_layer_norm_clip(const Arrays& grads, const Hyperparameter& global_l2_norm_clip,
                                                      bool uniform = true);

/// Updates that leave parameters at 0 or above.
GradientTransformation keep_params_nonnegative();
/// NaN becomes 0; the state says where there was one.
GradientTransformation zero_nans();

/// A measure of the leaves of updates.
using Measure = std::function<Arrays(const Arrays& updates)>;
/// Updates as they come; the state has the measure of the last ones under its name.
GradientTransformation snapshot(const std::string& measure_name, const Measure& measure);
/// A decaying mean of a measure: for monitor.
GradientTransformation measure_with_ema(const Measure& measure, const Hyperparameter& decay, bool debias = true,
                                        std::optional<DType> accumulator_dtype = std::nullopt);
/// Updates as they come; the part "measurements" of the state has what the measures give.
GradientTransformation monitor(const std::map<std::string, GradientTransformation>& measures);

/// Of scale_by_backtracking_linesearch.
struct BacktrackingOptions {
  int max_backtracking_steps;
  Hyperparameter slope_rtol = 1e-4, decrease_factor = 0.8, increase_factor = 1.5, max_learning_rate = 1.0, atol = 0.0,
                 rtol = 0.0;
  bool store_grad = false;  ///< keeps the gradient at the new point (value_and_grad_from_state)
};
/// Shorter steps until the loss decreases (Armijo). Needs Extra::value and value_fn.
GradientTransformation scale_by_backtracking_linesearch(const BacktrackingOptions& options);
/// Of scale_by_zoom_linesearch.
struct ZoomOptions {
  int max_linesearch_steps;
  std::optional<Hyperparameter> max_learning_rate = {};
  Hyperparameter tol = 0.0, increase_factor = 2.0, slope_rtol = 1e-4, curv_rtol = 0.9;
  std::optional<Hyperparameter> approx_dec_rtol = 1e-6;
  Hyperparameter stepsize_precision = 1e-5;
  std::string initial_guess_strategy = "keep";  ///< or "one"
};
/// A step that meets the strong Wolfe conditions. Needs Extra::value and value_fn.
GradientTransformation scale_by_zoom_linesearch(const ZoomOptions& options);
/// Of scale_by_lbfgs.
struct ScaleByLbfgsOptions {
  int memory_size = 10;
  bool scale_init_precond = true;
};
/// By an approximate inverse Hessian, from the last steps.
GradientTransformation scale_by_lbfgs(const ScaleByLbfgsOptions& options = {});

namespace detail {
std::pair<Array, Arrays> value_and_grad_from_state(const std::function<Array(std::span<const Array>)>& value_fn,
                                                   const Arrays& params, const State& state);
}
/// value_and_grad of a loss that takes both from the state of a line search where they are there: call it with
/// parameters and state.
template <class F>
auto value_and_grad_from_state(F value_fn) {
  return [value_fn]<tree::Tree P>(const P& params, const State& state) {
    auto [value, grad] = detail::value_and_grad_from_state(
        [&](std::span<const Array> at) -> Array { return value_fn(tree::unflatten(params, at)); }, tree::leaves(params),
        state);
    return std::pair<Array, P>{value, tree::unflatten(params, grad)};
  };
}

}  // namespace cotan::optax
