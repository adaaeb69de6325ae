// Optimizers: chains of transformations under the names of their papers.
#pragma once
#include <cotan/optax/transforms.hpp>

namespace cotan::optax {

/// Of sgd.
struct SgdOptions {
  ScalarOrSchedule learning_rate;
  std::optional<Hyperparameter> momentum = {};
  bool nesterov = false;
  std::optional<DType> accumulator_dtype = {};
  COTAN_TREE(learning_rate, momentum, nesterov, accumulator_dtype)
};
/// Gradient steps, with momentum where it is given.
GradientTransformation sgd(const SgdOptions& options);

/// Of adam and nadam.
struct AdamOptions {
  ScalarOrSchedule learning_rate;
  Hyperparameter b1 = 0.9, b2 = 0.999, eps = 1e-8, eps_root = 0.0;
  std::optional<DType> mu_dtype = {};
  bool nesterov = false;
  COTAN_TREE(learning_rate, b1, b2, eps, eps_root, mu_dtype, nesterov)
};
/// Adam.
GradientTransformation adam(const AdamOptions& options);
/// Adam with Nesterov's momentum.
GradientTransformation nadam(const AdamOptions& options);
/// Of adamw and nadamw.
struct AdamwOptions {
  ScalarOrSchedule learning_rate;
  Hyperparameter b1 = 0.9, b2 = 0.999, eps = 1e-8, eps_root = 0.0;
  std::optional<DType> mu_dtype = {};
  ScalarOrSchedule weight_decay = 1e-4;
  Mask mask = {};
  bool nesterov = false;
  COTAN_TREE(learning_rate, b1, b2, eps, eps_root, mu_dtype, weight_decay, mask, nesterov)
};
/// Adam with weights that decay by themselves.
GradientTransformation adamw(const AdamwOptions& options);
/// The same with Nesterov's momentum.
GradientTransformation nadamw(const AdamwOptions& options);
/// Of amsgrad.
struct AmsgradOptions {
  ScalarOrSchedule learning_rate;
  Hyperparameter b1 = 0.9, b2 = 0.999, eps = 1e-8, eps_root = 0.0;
  std::optional<DType> mu_dtype = {};
  bool bias_correction_mu = true, bias_correction_nu = true;
  COTAN_TREE(learning_rate, b1, b2, eps, eps_root, mu_dtype, bias_correction_mu, bias_correction_nu)
};
/// Adam with the largest mean of squares so far.
GradientTransformation amsgrad(const AmsgradOptions& options);
/// Of adamax.
struct AdamaxOptions {
  ScalarOrSchedule learning_rate;
  Hyperparameter b1 = 0.9, b2 = 0.999, eps = 1e-8;
  COTAN_TREE(learning_rate, b1, b2, eps)
};
/// Adam by the infinity norm.
GradientTransformation adamax(const AdamaxOptions& options);
/// Of adamaxw.
struct AdamaxwOptions {
  ScalarOrSchedule learning_rate;
  Hyperparameter b1 = 0.9, b2 = 0.999, eps = 1e-8;
  ScalarOrSchedule weight_decay = 1e-4;
  Mask mask = {};
  COTAN_TREE(learning_rate, b1, b2, eps, weight_decay, mask)
};
/// adamax with weights that decay.
GradientTransformation adamaxw(const AdamaxwOptions& options);
/// Of adan.
struct AdanOptions {
  ScalarOrSchedule learning_rate;
  Hyperparameter b1 = 0.98, b2 = 0.92, b3 = 0.99, eps = 1e-8, eps_root = 1e-8;
  ScalarOrSchedule weight_decay = 0.0;
  Mask mask = {};
  COTAN_TREE(learning_rate, b1, b2, b3, eps, eps_root, weight_decay, mask)
};
/// Adan.
GradientTransformation adan(const AdanOptions& options);
/// Of adabelief.
struct AdabeliefOptions {
  ScalarOrSchedule learning_rate;
  Hyperparameter b1 = 0.9, b2 = 0.999, eps = 1e-16, eps_root = 1e-16;
  bool nesterov = false;
  COTAN_TREE(learning_rate, b1, b2, eps, eps_root, nesterov)
};
/// AdaBelief.
GradientTransformation adabelief(const AdabeliefOptions& options);
/// Of yogi.
struct YogiOptions {
  ScalarOrSchedule learning_rate;
  Hyperparameter b1 = 0.9, b2 = 0.999, eps = 1e-3;
  COTAN_TREE(learning_rate, b1, b2, eps)
};
/// Yogi.
GradientTransformation yogi(const YogiOptions& options);
/// Of radam.
struct RadamOptions {
  ScalarOrSchedule learning_rate;
  Hyperparameter b1 = 0.9, b2 = 0.999, eps = 1e-8, eps_root = 0.0, threshold = 5.0;
  bool nesterov = false;
  COTAN_TREE(learning_rate, b1, b2, eps, eps_root, threshold, nesterov)
};
/// Rectified Adam.
GradientTransformation radam(const RadamOptions& options);
/// Of lion.
struct LionOptions {
  ScalarOrSchedule learning_rate;
  Hyperparameter b1 = 0.9, b2 = 0.99;
  std::optional<DType> mu_dtype = {};
  ScalarOrSchedule weight_decay = 1e-3;
  Mask mask = {};
  COTAN_TREE(learning_rate, b1, b2, mu_dtype, weight_decay, mask)
};
/// Lion.
GradientTransformation lion(const LionOptions& options);
/// Of lamb.
struct LambOptions {
  ScalarOrSchedule learning_rate;
  Hyperparameter b1 = 0.9, b2 = 0.999, eps = 1e-6, eps_root = 0.0;
  ScalarOrSchedule weight_decay = 0.0;
  Mask mask = {};
  COTAN_TREE(learning_rate, b1, b2, eps, eps_root, weight_decay, mask)
};
/// Adam with steps of the size of the parameters, for large batches.
GradientTransformation lamb(const LambOptions& options);
/// Of lars.
struct LarsOptions {
  ScalarOrSchedule learning_rate;
  ScalarOrSchedule weight_decay = 0.0;
  Mask weight_decay_mask = {};
  Hyperparameter trust_coefficient = 1e-3, eps = 0.0;
  Mask trust_ratio_mask = {};
  Hyperparameter momentum = 0.9;
  bool nesterov = false;
  COTAN_TREE(learning_rate, weight_decay, weight_decay_mask, trust_coefficient, eps, trust_ratio_mask, momentum,
             nesterov)
};
/// Momentum with steps of the size of the parameters, for large batches.
GradientTransformation lars(const LarsOptions& options);
/// Of novograd.
struct NovogradOptions {
  ScalarOrSchedule learning_rate;
  Hyperparameter b1 = 0.9, b2 = 0.25, eps = 1e-6, eps_root = 0.0, weight_decay = 0.0;
  COTAN_TREE(learning_rate, b1, b2, eps, eps_root, weight_decay)
};
/// NovoGrad.
GradientTransformation novograd(const NovogradOptions& options);
/// Of rmsprop.
struct RmspropOptions {
  ScalarOrSchedule learning_rate;
  Hyperparameter decay = 0.9, eps = 1e-8, initial_scale = 0.0;
  bool eps_in_sqrt = true, centered = false;
  std::optional<Hyperparameter> momentum = {};
  bool nesterov = false, bias_correction = false;
  COTAN_TREE(learning_rate, decay, eps, initial_scale, eps_in_sqrt, centered, momentum, nesterov, bias_correction)
};
/// RMSProp.
GradientTransformation rmsprop(const RmspropOptions& options);
/// Of rprop.
struct RpropOptions {
  Hyperparameter learning_rate;
  Hyperparameter eta_minus = 0.5, eta_plus = 1.2, min_step_size = 1e-6, max_step_size = 50.0;
  COTAN_TREE(learning_rate, eta_minus, eta_plus, min_step_size, max_step_size)
};
/// Rprop.
GradientTransformation rprop(const RpropOptions& options);
/// Of adagrad.
struct AdagradOptions {
  ScalarOrSchedule learning_rate;
  Hyperparameter initial_accumulator_value = 0.1, eps = 1e-7;
  COTAN_TREE(learning_rate, initial_accumulator_value, eps)
};
/// AdaGrad.
GradientTransformation adagrad(const AdagradOptions& options);
/// Of adadelta.
struct AdadeltaOptions {
  std::optional<ScalarOrSchedule> learning_rate = {};
  Hyperparameter rho = 0.9, eps = 1e-6;
  ScalarOrSchedule weight_decay = 0.0;
  Mask weight_decay_mask = {};
  COTAN_TREE(learning_rate, rho, eps, weight_decay, weight_decay_mask)
};
/// AdaDelta. As in optax, without a learning rate the updates keep the sign of the gradients.
GradientTransformation adadelta(const AdadeltaOptions& options = {});
/// Of adafactor.
struct AdafactorOptions {
  std::optional<ScalarOrSchedule> learning_rate = {};
  std::int64_t min_dim_size_to_factor = 128;
  double decay_rate = 0.8;
  std::int64_t decay_offset = 0;
  bool multiply_by_parameter_scale = true;
  std::optional<Hyperparameter> clipping_threshold = 1.0;
  std::optional<Hyperparameter> momentum = {};
  DType dtype_momentum = f32;
  std::optional<ScalarOrSchedule> weight_decay_rate = {};
  Hyperparameter eps = 1e-30;
  bool factored = true;
  Mask weight_decay_mask = {};
  COTAN_TREE(learning_rate, min_dim_size_to_factor, decay_rate, decay_offset, multiply_by_parameter_scale,
             clipping_threshold, momentum, dtype_momentum, weight_decay_rate, eps, factored, weight_decay_mask)
};
/// Adafactor: little memory.
GradientTransformation adafactor(const AdafactorOptions& options = {});
/// Of sm3.
struct Sm3Options {
  Hyperparameter learning_rate;
  Hyperparameter momentum = 0.9;
  COTAN_TREE(learning_rate, momentum)
};
/// SM3: little memory.
GradientTransformation sm3(const Sm3Options& options);
/// Of fromage.
struct FromageOptions {
  ScalarOrSchedule learning_rate;
  Hyperparameter min_norm = 1e-6;
  COTAN_TREE(learning_rate, min_norm)
};
/// Fromage.
GradientTransformation fromage(const FromageOptions& options);
/// Of noisy_sgd.
struct NoisySgdOptions {
  ScalarOrSchedule learning_rate;
  Array key;  ///< u32[2]
  Hyperparameter eta = 0.01, gamma = 0.55;
  COTAN_TREE(learning_rate, key, eta, gamma)
};
/// Gradient steps with noise that gets less.
GradientTransformation noisy_sgd(const NoisySgdOptions& options);
/// Of sign_sgd.
struct SignSgdOptions {
  ScalarOrSchedule learning_rate;
  COTAN_TREE(learning_rate)
};
/// Steps by the sign of the gradient.
GradientTransformation sign_sgd(const SignSgdOptions& options);
/// Of signum.
struct SignumOptions {
  ScalarOrSchedule learning_rate;
  Hyperparameter beta = 0.9;
  std::optional<DType> accumulator_dtype = {};
  COTAN_TREE(learning_rate, beta, accumulator_dtype)
};
/// Steps by the sign of a mean of gradients.
GradientTransformation signum(const SignumOptions& options);
/// Of optimistic_gradient_descent.
struct OptimisticOptions {
  ScalarOrSchedule learning_rate;
  Hyperparameter alpha = 1.0, beta = 1.0;
  COTAN_TREE(learning_rate, alpha, beta)
};
/// Gradient steps that take the last change of the gradient for the next one.
GradientTransformation optimistic_gradient_descent(const OptimisticOptions& options);
/// Of optimistic_adam.
struct OptimisticAdamOptions {
  Hyperparameter learning_rate;
  std::optional<Hyperparameter> optimism = {};  ///< by default the learning rate
  Hyperparameter b1 = 0.9, b2 = 0.999, eps = 1e-8, eps_root = 0.0;
  std::optional<DType> mu_dtype = {};
  bool nesterov = true;
  COTAN_TREE(learning_rate, optimism, b1, b2, eps, eps_root, mu_dtype, nesterov)
};
/// optimistic_adam_v2 takes schedules too.
GradientTransformation optimistic_adam(const OptimisticAdamOptions& options);
/// Of optimistic_adam_v2.
struct OptimisticAdamV2Options {
  ScalarOrSchedule learning_rate;
  Hyperparameter alpha = 1.0, beta = 1.0, b1 = 0.9, b2 = 0.999, eps = 1e-8, eps_root = 0.0;
  std::optional<DType> mu_dtype = {};
  bool nesterov = true;
  COTAN_TREE(learning_rate, alpha, beta, b1, b2, eps, eps_root, mu_dtype, nesterov)
};
/// Adam that takes the last change of its step for the next one.
GradientTransformation optimistic_adam_v2(const OptimisticAdamV2Options& options);
/// Of polyak_sgd.
struct PolyakSgdOptions {
  Hyperparameter max_learning_rate = 1.0;
  ScalarOrSchedule scaling = 1.0;
  Hyperparameter f_min = 0.0, eps = 0.0;
  std::string variant = "sps";
  COTAN_TREE(max_learning_rate, scaling, f_min, eps, variant)
};
/// Gradient steps as long as the loss is above its minimum. Needs Extra::value.
GradientTransformation polyak_sgd(const PolyakSgdOptions& options = {});
/// Of lbfgs.
struct LbfgsOptions {
  std::optional<ScalarOrSchedule> learning_rate = {};
  int memory_size = 10;
  bool scale_init_precond = true;
  /// None: steps as they come. By default the zoom search of at most 20 evaluations that starts at 1.
  std::optional<GradientTransformation> linesearch =
      scale_by_zoom_linesearch({.max_linesearch_steps = 20, .initial_guess_strategy = "one"});
};
/// L-BFGS with a line search. Needs Extra::value and value_fn: value_and_grad_from_state has the rest. Whole searches
/// in one program: scipy::optimize and optim.
GradientTransformation lbfgs(const LbfgsOptions& options = {});

}  // namespace cotan::optax
