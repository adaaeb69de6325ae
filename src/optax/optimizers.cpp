// Optimizers as chains.
#include <cmath>
#include <cotan/optax/optimizers.hpp>

#include "optax/core.hpp"

namespace cotan::optax {

namespace {

GradientTransformation by_rate(const GradientTransformation& scaled, const ScalarOrSchedule& learning_rate) {
  return chain(scaled, scale_by_learning_rate(learning_rate));
}
GradientTransformation by_rate(const GradientTransformation& scaled, const ScalarOrSchedule& weight_decay,
                               const Mask& mask, const ScalarOrSchedule& learning_rate) {
  return chain(scaled, add_decayed_weights(weight_decay, mask), scale_by_learning_rate(learning_rate));
}
/// The part of Adam in the options of one of its kin.
template <class Options>
GradientTransformation adam_part(const Options& o, bool nesterov) {
  return scale_by_adam(
      {.b1 = o.b1, .b2 = o.b2, .eps = o.eps, .eps_root = o.eps_root, .mu_dtype = o.mu_dtype, .nesterov = nesterov});
}
GradientTransformation momentum_part(const std::optional<Hyperparameter>& momentum, bool nesterov,
                                     std::optional<DType> dtype = std::nullopt) {
  return momentum ? trace({.decay = *momentum, .nesterov = nesterov, .accumulator_dtype = dtype}) : identity();
}

}  // namespace

GradientTransformation sgd(const SgdOptions& o) {
  return by_rate(momentum_part(o.momentum, o.nesterov, o.accumulator_dtype), o.learning_rate);
}
GradientTransformation adam(const AdamOptions& o) { return by_rate(adam_part(o, o.nesterov), o.learning_rate); }
GradientTransformation nadam(const AdamOptions& o) { return by_rate(adam_part(o, true), o.learning_rate); }
GradientTransformation adamw(const AdamwOptions& o) {
  return by_rate(adam_part(o, o.nesterov), o.weight_decay, o.mask, o.learning_rate);
}
GradientTransformation nadamw(const AdamwOptions& o) {
  return by_rate(adam_part(o, true), o.weight_decay, o.mask, o.learning_rate);
}
GradientTransformation amsgrad(const AmsgradOptions& o) {
  return by_rate(
      scale_by_amsgrad({o.b1, o.b2, o.eps, o.eps_root, o.mu_dtype, o.bias_correction_mu, o.bias_correction_nu}),
      o.learning_rate);
}
GradientTransformation adamax(const AdamaxOptions& o) {
  return by_rate(scale_by_adamax({o.b1, o.b2, o.eps}), o.learning_rate);
}
GradientTransformation adamaxw(const AdamaxwOptions& o) {
  return by_rate(scale_by_adamax({o.b1, o.b2, o.eps}), o.weight_decay, o.mask, o.learning_rate);
}
GradientTransformation adan(const AdanOptions& o) {
  return by_rate(scale_by_adan({o.b1, o.b2, o.b3, o.eps, o.eps_root}), o.weight_decay, o.mask, o.learning_rate);
}
GradientTransformation adabelief(const AdabeliefOptions& o) {
  return by_rate(scale_by_belief({o.b1, o.b2, o.eps, o.eps_root, o.nesterov}), o.learning_rate);
}
GradientTransformation yogi(const YogiOptions& o) {
  return by_rate(scale_by_yogi({.b1 = o.b1, .b2 = o.b2, .eps = o.eps}), o.learning_rate);
}
GradientTransformation radam(const RadamOptions& o) {
  return by_rate(scale_by_radam({o.b1, o.b2, o.eps, o.eps_root, o.threshold, o.nesterov}), o.learning_rate);
}
GradientTransformation lion(const LionOptions& o) {
  return by_rate(scale_by_lion({.b1 = o.b1, .b2 = o.b2, .mu_dtype = o.mu_dtype}), o.weight_decay, o.mask,
                 o.learning_rate);
}
GradientTransformation lamb(const LambOptions& o) {
  return chain(scale_by_adam({.b1 = o.b1, .b2 = o.b2, .eps = o.eps, .eps_root = o.eps_root}),
               add_decayed_weights(o.weight_decay, o.mask), scale_by_trust_ratio(),
               scale_by_learning_rate(o.learning_rate));
}
GradientTransformation lars(const LarsOptions& o) {
  return chain(add_decayed_weights(o.weight_decay, o.weight_decay_mask),
               masked(scale_by_trust_ratio(0.0, o.trust_coefficient, o.eps), o.trust_ratio_mask),
               scale_by_learning_rate(o.learning_rate), trace({.decay = o.momentum, .nesterov = o.nesterov}));
}
GradientTransformation novograd(const NovogradOptions& o) {
  return by_rate(
      scale_by_novograd({.b1 = o.b1, .b2 = o.b2, .eps = o.eps, .eps_root = o.eps_root, .weight_decay = o.weight_decay}),
      o.learning_rate);
}
GradientTransformation rmsprop(const RmspropOptions& o) {
  const ScaleByRmsOptions scaling{o.decay, o.eps, o.initial_scale, o.eps_in_sqrt, o.bias_correction};
  return chain(o.centered ? scale_by_stddev(scaling) : scale_by_rms(scaling), scale_by_learning_rate(o.learning_rate),
               momentum_part(o.momentum, o.nesterov));
}
GradientTransformation rprop(const RpropOptions& o) {
  return chain(scale_by_rprop({o.learning_rate, o.eta_minus, o.eta_plus, o.min_step_size, o.max_step_size}),
               scale(-1.0));
}
GradientTransformation adagrad(const AdagradOptions& o) {
  return by_rate(scale_by_rss(o.initial_accumulator_value, o.eps), o.learning_rate);
}
GradientTransformation adadelta(const AdadeltaOptions& o) {
  return chain(add_decayed_weights(o.weight_decay, o.weight_decay_mask), scale_by_adadelta(o.rho, o.eps),
               scale_by_learning_rate(o.learning_rate));
}
GradientTransformation adafactor(const AdafactorOptions& o) {
  std::vector<GradientTransformation> links{
      scale_by_factored_rms({o.factored, o.decay_rate, o.decay_offset, o.min_dim_size_to_factor, o.eps})};
  if (o.clipping_threshold) links.push_back(clip_by_block_rms(*o.clipping_threshold));
  if (o.learning_rate) links.push_back(scale_by_learning_rate(o.learning_rate, false));
  if (o.multiply_by_parameter_scale) links.push_back(scale_by_param_block_rms());
  if (o.momentum) links.push_back(ema({.decay = *o.momentum, .debias = false, .accumulator_dtype = o.dtype_momentum}));
  if (o.weight_decay_rate) links.push_back(add_decayed_weights(*o.weight_decay_rate, o.weight_decay_mask));
  links.push_back(scale(-1.0));
  return chain(links);
}
GradientTransformation sm3(const Sm3Options& o) {
  return chain(scale_by_sm3(o.momentum), scale(minus(o.learning_rate)));
}
GradientTransformation fromage(const FromageOptions& o) {
  // The factor 1 / sqrt(1 + rate²), of a number or of each step.
  if (o.learning_rate.is_schedule()) {
    const Schedule rate = o.learning_rate.schedule();
    const auto factor = [](const Array& r) { return 1.0 / np::sqrt(1.0 + r * r); };
    const auto at = [rate](const Array& step) { return rate(step); };
    return chain(scale_by_trust_ratio(o.min_norm),
                 scale_by_learning_rate(Schedule::of_real([=](const Array& s) { return factor(at(s)) * at(s); })),
                 add_decayed_weights(Schedule::of_real([=](const Array& s) { return factor(at(s)) - 1.0; })));
  }
  const Hyperparameter& rate = o.learning_rate.scalar();
  const Hyperparameter factor = rate.is_number()
                                    ? Hyperparameter(1 / std::sqrt(1 + rate.number() * rate.number()))
                                    : Hyperparameter(Array(1.0 / np::sqrt(1.0 + rate.array() * rate.array())));
  return chain(scale_by_trust_ratio(o.min_norm), scale_by_learning_rate(times(rate, factor)),
               add_decayed_weights(plus(factor, -1.0)));
}
GradientTransformation noisy_sgd(const NoisySgdOptions& o) {
  return by_rate(add_noise({.eta = o.eta, .gamma = o.gamma, .key = o.key}), o.learning_rate);
}
GradientTransformation sign_sgd(const SignSgdOptions& o) { return by_rate(scale_by_sign(), o.learning_rate); }
GradientTransformation signum(const SignumOptions& o) {
  return chain(ema({.decay = o.beta, .debias = false, .accumulator_dtype = o.accumulator_dtype}), scale_by_sign(),
               scale_by_learning_rate(o.learning_rate));
}
GradientTransformation optimistic_gradient_descent(const OptimisticOptions& o) {
  return by_rate(scale_by_optimistic_gradient(o.alpha, o.beta), o.learning_rate);
}
GradientTransformation optimistic_adam(const OptimisticAdamOptions& o) {
  return chain(adam_part(o, o.nesterov),
               scale_by_optimistic_gradient(o.learning_rate, o.optimism.value_or(o.learning_rate)),
               scale_by_learning_rate(1.0));
}
GradientTransformation optimistic_adam_v2(const OptimisticAdamV2Options& o) {
  return chain(adam_part(o, o.nesterov), scale_by_optimistic_gradient(o.alpha, o.beta),
               scale_by_learning_rate(o.learning_rate));
}
GradientTransformation polyak_sgd(const PolyakSgdOptions& o) {
  return chain(sgd({.learning_rate = o.scaling}),
               scale_by_polyak(
                   {.f_min = o.f_min, .max_learning_rate = o.max_learning_rate, .eps = o.eps, .variant = o.variant}));
}
GradientTransformation lbfgs(const LbfgsOptions& o) {
  return chain(scale_by_lbfgs({.memory_size = o.memory_size, .scale_init_precond = o.scale_init_precond}),
               o.learning_rate ? scale_by_learning_rate(o.learning_rate) : scale(-1.0),
               o.linesearch ? *o.linesearch : identity());
}

}  // namespace cotan::optax
