// Parts of optimizers and combinations, as in tools/golden/optax_trajectories.py.
#include "optax/problem.hpp"

namespace problem {

using namespace optax;

namespace {

Table transformations() {
  const Schedule linear = linear_schedule({0.1, 0.01, 30});
  const auto by_sgd = [](const GradientTransformation& t) { return Run{chain(t, sgd({.learning_rate = 0.1}))}; };
  return {
      {"clip", by_sgd(clip(0.3))},
      {"clip_by_block_rms", by_sgd(clip_by_block_rms(0.3))},
      {"clip_by_global_norm", {chain(clip_by_global_norm(1.0), adamw({.learning_rate = 0.05}))}},
      {"adaptive_grad_clip", by_sgd(adaptive_grad_clip(0.1))},
      {"centralize", by_sgd(centralize())},
      {"apply_every", {chain(sgd({.learning_rate = 0.05}), apply_every(3))}},
      {"scale_by_param_block_norm", {chain(scale_by_param_block_norm(), scale(-0.02))}},
      {"scale_by_param_block_rms", {chain(scale_by_param_block_rms(0.5), scale(-0.1))}},
      {"scale_by_trust_ratio", {chain(scale_by_trust_ratio(0.1, 0.5, 1e-3), scale(-0.1))}},
      {"scale_by_distance_over_gradients", {chain(scale_by_distance_over_gradients(1e-2, 1e-8, 1.5), scale(-1.0))}},
      {"normalize_by_update_norm", {chain(normalize_by_update_norm(0.5), scale(-0.1))}},
      {"keep_params_nonnegative", {chain(sgd({.learning_rate = 0.1}), keep_params_nonnegative())}},
      {"zero_nans", {.optimizer = chain(zero_nans(), adam({.learning_rate = 0.05})), .nan_steps = {4, 5, 20}}},
      {"ema", by_sgd(ema({.decay = 0.8}))},
      {"ema_biased", by_sgd(ema({.decay = 0.8, .debias = false}))},
      {"add_noise",
       {chain(add_noise({.eta = 0.1, .gamma = 0.5, .key = ct::random::key(7)}), sgd({.learning_rate = 0.05}))}},
      {"add_decayed_weights",
       {.optimizer = chain(add_decayed_weights(linear), sgd({.learning_rate = 0.1})), .six_digits = true}},
      {"scale_by_lion_smooth", {chain(scale_by_lion({.mode = LionMode::smooth, .smooth_beta = 2.0}), scale(-0.05))}},
      {"scale_by_lion_refined", {chain(scale_by_lion({.mode = LionMode::refined}), scale(-0.05))}},
      {"scale_by_schedule", {chain(trace({.decay = 0.5}), scale_by_schedule(Schedule::of_real([](const Array& n) {
                                     return -0.1 / (1.0 + n);
                                   })))}},
      {"backtracking",
       {.optimizer =
            chain(sgd({.learning_rate = 1.0}), scale_by_backtracking_linesearch({.max_backtracking_steps = 15})),
        .line = true,
        .f64_only = true}},
      {"backtracking_options",
       {.optimizer = chain(sgd({.learning_rate = 1.0}), scale_by_backtracking_linesearch({.max_backtracking_steps = 15,
                                                                                          .slope_rtol = 0.3,
                                                                                          .decrease_factor = 0.6,
                                                                                          .increase_factor = 1.2,
                                                                                          .max_learning_rate = 2.0,
                                                                                          .store_grad = true})),
        .line = true,
        .f64_only = true,
        .six_digits = true}},
      {"zoom",
       {.optimizer = chain(sgd({.learning_rate = 1.0}), scale_by_zoom_linesearch({.max_linesearch_steps = 15})),
        .line = true,
        .f64_only = true}},
      {"zoom_options",
       {.optimizer = chain(sgd({.learning_rate = 0.05}), scale_by_zoom_linesearch({.max_linesearch_steps = 10,
                                                                                   .max_learning_rate = 8.0,
                                                                                   .curv_rtol = 0.3,
                                                                                   .approx_dec_rtol = std::nullopt,
                                                                                   .initial_guess_strategy = "one"})),
        .line = true,
        .f64_only = true}},
  };
}

Table combinations() {
  const Mask weight(only_weight);
  const Schedule linear = linear_schedule({0.1, 0.01, 30});
  const auto adam5 = adam({.learning_rate = 0.05});
  const auto at_least_10 = [](const Array& step, const Given&) { return step >= 10; };
  const auto every_third = [](const Array& step, const Given&) { return step % 3 == 0; };
  return {
      {"named_chain", {named_chain({{"clip", clip(0.5)}, {"adam", adam5}})}},
      {"partition",
       {partition({{"a", adam5}, {"b", sgd({.learning_rate = 0.1, .momentum = 0.5})}},
                  Labels(std::map<std::string, std::string>{{"", "a"}, {".conv", "b"}}))}},
      {"masked", {chain(masked(scale_by_adam(), weight), scale(-0.05))}},
      {"freeze", {chain(sgd({.learning_rate = 0.1}), freeze({".weight"}))}},
      {"selective_transform", {selective_transform(adam5, weight)}},
      {"flatten", {flatten(chain(clip_by_block_rms(0.3), adam5))}},
      {"multi_steps", {MultiSteps(adam({.learning_rate = 0.1}), 4)}},
      {"multi_steps_schedule",
       {MultiSteps(sgd({.learning_rate = 0.1}), Schedule([](const Array& n) { return np::where(n < 5, 2, 5); }),
                   {.use_grad_mean = false})}},
      {"multi_steps_skip",
       {.optimizer = MultiSteps(adam({.learning_rate = 0.1}), 3, {.should_skip_update_fn = skip_not_finite}),
        .nan_steps = {2, 6, 7, 30}}},
      {"apply_if_finite", {.optimizer = apply_if_finite(adam5, 3), .nan_steps = {3, 4, 20}}},
      {"conditionally_transform", {chain(conditionally_transform(scale_by_adam(), at_least_10), scale(-0.05))}},
      {"conditionally_mask", {conditionally_mask(sgd({.learning_rate = 0.1}), every_third)}},
      {"inject_hyperparams",
       {.optimizer = inject_hyperparams(adamw, AdamwOptions{.learning_rate = linear, .b1 = 0.8, .weight_decay = 0.01}),
        .six_digits = true}},
      {"lookahead", {.optimizer = lookahead(adam5, {.sync_period = 6, .slow_step_size = 0.4}), .looks_ahead = true}},
      {"lookahead_reset",
       {.optimizer = lookahead(sgd({.learning_rate = 0.05, .momentum = 0.9}),
                               {.sync_period = 4, .slow_step_size = 0.6, .reset_state = true}),
        .looks_ahead = true}},
  };
}

}  // namespace

Table parts() {
  Table out = transformations();
  out.merge(combinations());
  return out;
}

}  // namespace problem
