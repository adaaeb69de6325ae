// optax.contrib: optimizers that are younger, and what wraps others.
#pragma once
#include <cotan/optax/optimizers.hpp>

/// `optax.contrib`.
namespace cotan::optax::contrib {

/// Of acprop.
struct AcpropOptions {
  ScalarOrSchedule learning_rate;
  Hyperparameter b1 = 0.9, b2 = 0.999, eps = 1e-16, eps_root = 1e-16;
  ScalarOrSchedule weight_decay = 0.0;
  Mask mask = {};
  COTAN_TREE(learning_rate, b1, b2, eps, eps_root, weight_decay, mask)
};
/// AdaBelief with the scale of the step before.
GradientTransformation acprop(const AcpropOptions& options);
/// Its scaling.
GradientTransformation scale_by_acprop(const ScaleByBeliefOptions& options = {});

/// Of scale_by_ademamix.
struct ScaleByAdemamixOptions {
  Hyperparameter b1 = 0.9, b2 = 0.999;
  ScalarOrSchedule b3 = 0.9999, alpha = 6.0;
  Hyperparameter eps = 1e-8, eps_root = 0.0;
  std::optional<DType> mu_dtype = {};
};
/// The scaling of ademamix.
GradientTransformation scale_by_ademamix(const ScaleByAdemamixOptions& options = {});
/// Of ademamix.
struct AdemamixOptions {
  ScalarOrSchedule learning_rate;
  Hyperparameter b1 = 0.9, b2 = 0.999;
  ScalarOrSchedule b3 = 0.9999, alpha = 5.0;
  Hyperparameter eps = 1e-8, eps_root = 0.0;
  std::optional<DType> mu_dtype = {};
  ScalarOrSchedule weight_decay = 0.0;
  Mask mask = {};
  COTAN_TREE(learning_rate, b1, b2, b3, alpha, eps, eps_root, mu_dtype, weight_decay, mask)
};
/// Adam with a fast and a slow mean of gradients.
GradientTransformation ademamix(const AdemamixOptions& options);
/// Of scale_by_simplified_ademamix.
struct ScaleBySimplifiedAdemamixOptions {
  Hyperparameter b1 = 0.99, b2 = 0.95;
  ScalarOrSchedule alpha = 0.0;
  Hyperparameter eps = 1e-8, eps_root = 0.0;
};
/// The scaling of simplified_ademamix.
GradientTransformation scale_by_simplified_ademamix(const ScaleBySimplifiedAdemamixOptions& options = {});
/// Of simplified_ademamix.
struct SimplifiedAdemamixOptions {
  ScalarOrSchedule learning_rate;
  Hyperparameter b1 = 0.99, b2 = 0.95;
  ScalarOrSchedule alpha = 0.0;
  Hyperparameter eps = 1e-8, eps_root = 0.0;
  ScalarOrSchedule weight_decay = 0.0;
  Mask mask = {};
  COTAN_TREE(learning_rate, b1, b2, alpha, eps, eps_root, weight_decay, mask)
};
/// ademamix with one mean.
GradientTransformation simplified_ademamix(const SimplifiedAdemamixOptions& options);

/// Of adopt and scale_by_adopt.
struct AdoptOptions {
  ScalarOrSchedule learning_rate = 1.0;  ///< not of scale_by_adopt
  Hyperparameter b1 = 0.9, b2 = 0.9999, eps = 1e-6;
  std::optional<DType> mu_dtype = {};
  bool nesterov = false, use_clipping = true;
  std::optional<Schedule> clip_value_fn = {};  ///< by default the fourth root of the step
  COTAN_TREE(learning_rate, b1, b2, eps, mu_dtype, nesterov, use_clipping, clip_value_fn)
};
/// Adam by the mean of squares of the step before.
GradientTransformation adopt(const AdoptOptions& options);
/// Its scaling.
GradientTransformation scale_by_adopt(const AdoptOptions& options = {});

/// Of cocob.
struct CocobOptions {
  ScalarOrSchedule learning_rate = 1.0;
  Hyperparameter alpha = 100.0, eps = 1e-8;
  ScalarOrSchedule weight_decay = 0.0;
  Mask mask = {};
  COTAN_TREE(learning_rate, alpha, eps, weight_decay, mask)
};
/// Steps by betting on coins: no learning rate.
GradientTransformation cocob(const CocobOptions& options = {});
/// Its scaling.
GradientTransformation scale_by_cocob(const Hyperparameter& alpha = 100.0, const Hyperparameter& eps = 1e-8);

/// Of dadapt_adamw.
struct DadaptAdamwOptions {
  ScalarOrSchedule learning_rate = 1.0;
  std::array<double, 2> betas = {0.9, 0.999};
  Hyperparameter eps = 1e-8, estim_lr0 = 1e-6, weight_decay = 0.0;
  COTAN_TREE(learning_rate, betas, eps, estim_lr0, weight_decay)
};
/// AdamW that finds its learning rate.
GradientTransformation dadapt_adamw(const DadaptAdamwOptions& options = {});
/// Of prodigy.
struct ProdigyOptions {
  ScalarOrSchedule learning_rate = 1.0;
  std::array<double, 2> betas = {0.9, 0.999};
  std::optional<double> beta3 = {};  ///< by default the root of betas[1]
  Hyperparameter eps = 1e-8;
  double estim_lr0 = 1e-6;
  Hyperparameter estim_lr_coef = 1.0, weight_decay = 0.0;
  bool safeguard_warmup = false;
  COTAN_TREE(learning_rate, betas, beta3, eps, estim_lr0, estim_lr_coef, weight_decay, safeguard_warmup)
};
/// AdamW that finds its learning rate by the distance gone.
GradientTransformation prodigy(const ProdigyOptions& options = {});

/// How scale_by_dog begins.
enum class DogStart : std::uint8_t { distance, learning_rate, heuristic };
/// Of dog and scale_by_dog.
struct DogOptions {
  ScalarOrSchedule learning_rate = 1.0;  ///< not of scale_by_dog
  DogStart init_step_type = DogStart::heuristic;
  Hyperparameter init_step = 1e-6, eps = 1e-8;
  std::optional<ScalarOrSchedule> weight_decay = {};
  Mask mask = {};
  COTAN_TREE(learning_rate, init_step_type, init_step, eps, weight_decay, mask)
};
/// Distance over gradients: no learning rate.
GradientTransformation dog(const DogOptions& options = {});
/// Its scaling.
GradientTransformation scale_by_dog(const DogOptions& options = {});
/// Of dowg and scale_by_dowg.
struct DowgOptions {
  ScalarOrSchedule learning_rate = 1.0;  ///< not of scale_by_dowg
  std::optional<Hyperparameter> init_estim_sq_dist = {};
  Hyperparameter eps = 1e-4;
  std::optional<ScalarOrSchedule> weight_decay = {};
  Mask mask = {};
  COTAN_TREE(learning_rate, init_estim_sq_dist, eps, weight_decay, mask)
};
/// Distance over weighted gradients: no learning rate.
GradientTransformation dowg(const DowgOptions& options = {});
/// Its scaling.
GradientTransformation scale_by_dowg(const DowgOptions& options = {});

/// Of madgrad and scale_by_madgrad.
struct MadgradOptions {
  ScalarOrSchedule learning_rate;
  Hyperparameter momentum = 0.9;
  ScalarOrSchedule weight_decay = 0.0;  ///< not of scale_by_madgrad
  Hyperparameter eps = 1e-6;
  COTAN_TREE(learning_rate, momentum, weight_decay, eps)
};
/// Dual averaging with momentum.
GradientTransformation madgrad(const MadgradOptions& options);
/// Its scaling.
GradientTransformation scale_by_madgrad(const MadgradOptions& options);

/// Of mechanize.
struct MechanizeOptions {
  Hyperparameter weight_decay = 0.01, eps = 1e-8, s_init = 1e-6;
  int num_betas = 6;
};
/// Finds the scale of another optimizer's steps.
GradientTransformation mechanize(const GradientTransformation& base_optimizer, const MechanizeOptions& options = {});

/// Of momo.
struct MomoOptions {
  ScalarOrSchedule learning_rate = 1.0;
  Hyperparameter beta = 0.9, lower_bound = 0.0, weight_decay = 0.0;
  bool adapt_lower_bound = false;
  COTAN_TREE(learning_rate, beta, lower_bound, weight_decay, adapt_lower_bound)
};
/// Momentum with a learning rate by the loss. Needs Extra::value.
GradientTransformation momo(const MomoOptions& options = {});
/// Of momo_adam.
struct MomoAdamOptions {
  ScalarOrSchedule learning_rate = 1e-2;
  Hyperparameter b1 = 0.9, b2 = 0.999, eps = 1e-8, lower_bound = 0.0, weight_decay = 0.0;
  bool adapt_lower_bound = false;
  COTAN_TREE(learning_rate, b1, b2, eps, lower_bound, weight_decay, adapt_lower_bound)
};
/// Adam with a learning rate by the loss. Needs Extra::value.
GradientTransformation momo_adam(const MomoAdamOptions& options = {});

/// The axes of a parameter that a product sums over, and those of its result; others are batches.
struct MuonDimensionNumbers {
  std::vector<int> reduction_axis = {0}, output_axis = {1};
};
/// Which parameters are matrices for muon, and how; none: not one.
using WeightDimensions =
    std::function<std::optional<MuonDimensionNumbers>(const std::string& path, const Array& param)>;
/// How muon scales a matrix before its iteration.
enum class Preconditioning : std::uint8_t { frobenius, spectral, aol, schatten };
/// Rows of three coefficients: one for all steps, or one for each.
using NewtonSchulzCoefficients = std::vector<std::array<double, 3>>;
/// "standard" or "dion".
NewtonSchulzCoefficients newton_schulz_preset(const std::string& name);
/// Of scale_by_muon.
struct ScaleByMuonOptions {
  NewtonSchulzCoefficients ns_coeffs = newton_schulz_preset("standard");
  int ns_steps = 5;
  Hyperparameter beta = 0.95, eps = 1e-8;
  std::optional<DType> mu_dtype = {};
  bool nesterov = true, adaptive = false;
  Preconditioning preconditioning = Preconditioning::frobenius;
  WeightDimensions weight_dimension_numbers = {};  ///< by default matrices as they are
};
/// A matrix with singular values near 1: what scale_by_muon makes of momentum.
Array newton_schulz(const Array& x, const ScaleByMuonOptions& options = {});
/// Momentum with matrices made orthogonal; all leaves must be matrices.
GradientTransformation scale_by_muon(const ScaleByMuonOptions& options = {});
/// Of muon.
struct MuonOptions {
  ScalarOrSchedule learning_rate;
  NewtonSchulzCoefficients ns_coeffs = newton_schulz_preset("standard");
  int ns_steps = 5;
  Hyperparameter beta = 0.95, eps = 1e-8;
  ScalarOrSchedule weight_decay = 0.0;
  Mask weight_decay_mask = {};
  std::optional<DType> mu_dtype = {};
  bool nesterov = true, adaptive = false;
  Preconditioning preconditioning = Preconditioning::frobenius;
  Hyperparameter adam_b1 = 0.9, adam_b2 = 0.999, adam_eps_root = 0.0;
  ScalarOrSchedule adam_weight_decay = 0.0;
  std::optional<ScalarOrSchedule> adam_learning_rate = {};  ///< by default learning_rate
  WeightDimensions muon_weight_dimension_numbers = {};      ///< by default leaves of two axes
  std::optional<Hyperparameter> consistent_rms = {};
  COTAN_TREE(learning_rate, ns_coeffs, ns_steps, beta, eps, weight_decay, weight_decay_mask, mu_dtype, nesterov,
             adaptive, preconditioning, adam_b1, adam_b2, adam_eps_root, adam_weight_decay, adam_learning_rate,
             muon_weight_dimension_numbers, consistent_rms)
};
/// Muon for matrices, Adam for the rest.
GradientTransformation muon(const MuonOptions& options);

/// Of reduce_on_plateau.
struct ReduceOnPlateauOptions {
  double factor = 0.1;
  int patience = 10;
  double rtol = 1e-4, atol = 0.0;
  int cooldown = 0, accumulation_size = 1;
  double min_scale = 0.0;
};
/// Smaller steps once the loss no longer decreases. Needs Extra::value.
GradientTransformation reduce_on_plateau(const ReduceOnPlateauOptions& options = {});

/// Updates by their norm.
GradientTransformation normalize();
/// Of sam.
struct SamOptions {
  int sync_period = 2;
  bool reset_state = true;
  bool opaque_mode = false;  ///< all steps in one update, by Extra::grad_fn
};
/// Sharpness-aware: steps uphill by one optimizer, then one down by another.
GradientTransformation sam(const GradientTransformation& optimizer, const GradientTransformation& adv_optimizer,
                           const SamOptions& options = {});

/// Of schedule_free.
struct ScheduleFreeOptions {
  ScalarOrSchedule learning_rate;
  Hyperparameter b1 = 0.9, weight_lr_power = 2.0;
  std::optional<DType> state_dtype = {};
};
/// Averages in the place of a schedule. Evaluate at schedule_free_eval_params.
GradientTransformation schedule_free(const GradientTransformation& base_optimizer, const ScheduleFreeOptions& options);
/// Of schedule_free_sgd.
struct ScheduleFreeSgdOptions {
  Hyperparameter learning_rate = 1.0;
  std::optional<std::int64_t> warmup_steps = {};
  Hyperparameter b1 = 0.9;
  std::optional<ScalarOrSchedule> weight_decay = {};
  Hyperparameter weight_lr_power = 2.0;
  std::optional<DType> state_dtype = {};
  COTAN_TREE(learning_rate, warmup_steps, b1, weight_decay, weight_lr_power, state_dtype)
};
/// schedule_free of gradient steps.
GradientTransformation schedule_free_sgd(const ScheduleFreeSgdOptions& options = {});
/// Of schedule_free_adamw.
struct ScheduleFreeAdamwOptions {
  Hyperparameter learning_rate = 0.0025;
  std::optional<std::int64_t> warmup_steps = {};
  Hyperparameter b1 = 0.9, b2 = 0.999, eps = 1e-8;
  ScalarOrSchedule weight_decay = 0.0;
  Hyperparameter weight_lr_power = 2.0;
  std::optional<DType> state_dtype = {};
  COTAN_TREE(learning_rate, warmup_steps, b1, b2, eps, weight_decay, weight_lr_power, state_dtype)
};
/// schedule_free of AdamW.
GradientTransformation schedule_free_adamw(const ScheduleFreeAdamwOptions& options = {});
/// The averages, which are what the training found.
template <tree::Tree P>
P schedule_free_eval_params(const State& state, const P& params);

/// Of hutchinson_estimator_diag_hessian: the key, by default that of 0.
GradientTransformation hutchinson_estimator_diag_hessian(const Array& random_seed = {});
/// Of sophia and scale_by_sophia.
struct SophiaOptions {
  ScalarOrSchedule learning_rate = 1.0;  ///< not of scale_by_sophia
  Hyperparameter b1 = 0.965, b2 = 0.99, eps = 1e-8;
  ScalarOrSchedule weight_decay = 1e-4;  ///< not of scale_by_sophia
  Mask weight_decay_mask = {};
  Hyperparameter gamma = 0.01;
  std::optional<Hyperparameter> clip_threshold = 1.0;
  std::int64_t update_interval = 10;
  GradientTransformation hessian_diagonal_fn = hutchinson_estimator_diag_hessian();
  std::optional<DType> mu_dtype = {};
};
/// Momentum by an estimate of the Hessian's diagonal. Needs Extra::value_fn.
GradientTransformation sophia(const SophiaOptions& options);
/// Its scaling.
GradientTransformation scale_by_sophia(const SophiaOptions& options = {});

/// Of galore and scale_by_galore.
struct GaloreOptions {
  ScalarOrSchedule learning_rate = 1.0;  ///< not of scale_by_galore
  std::int64_t rank = 128, update_proj_gap = 200;
  double scale = 1.0;
  std::optional<GradientTransformation> base_optimizer = {};  ///< by default scale_by_adam
  ScalarOrSchedule weight_decay = 0.0;
  Mask mask = {};
};
/// Another optimizer in the leading singular directions of matrices.
GradientTransformation galore(const GaloreOptions& options);
/// Its scaling.
GradientTransformation scale_by_galore(const GaloreOptions& options = {});

/// Another transformation on complex leaves as two real ones each, ".real" and ".imaginary". Gradients of ct::grad are
/// the conjugates of the direction in which the function grows: conj them first (tree_utils::tree_conj).
GradientTransformation split_real_and_imaginary(const GradientTransformation& inner);

/// Of differentially_private_aggregate.
struct PrivateOptions {
  Hyperparameter l2_norm_clip, noise_multiplier;
  Array key;  ///< u32[2]
};
/// Means over examples, the first axis of gradients, clipped and with noise.
GradientTransformation differentially_private_aggregate(const PrivateOptions& options);
/// Of dpsgd.
struct DpsgdOptions {
  ScalarOrSchedule learning_rate;
  Hyperparameter l2_norm_clip, noise_multiplier;
  Array key;  ///< u32[2]
  std::optional<Hyperparameter> momentum = {};
  bool nesterov = false;
};
/// Gradient steps with those.
GradientTransformation dpsgd(const DpsgdOptions& options);

namespace detail {
Arrays schedule_free_eval_params(const State& state, const Arrays& params);
}
template <tree::Tree P>
P schedule_free_eval_params(const State& state, const P& params) {
  return tree::unflatten(params, detail::schedule_free_eval_params(state, tree::leaves(params)));
}

}  // namespace cotan::optax::contrib
