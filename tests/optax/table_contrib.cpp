// Of optax.contrib, as in tools/golden/optax_trajectories.py.
#include "optax/problem.hpp"

namespace problem {

using namespace optax;
using namespace optax::contrib;

namespace {

Table without_rates() {
  const Schedule linear = linear_schedule({0.1, 0.01, 30});
  return {
      {"cocob", {cocob()}},
      {"dadapt_adamw", {.optimizer = dadapt_adamw({.estim_lr0 = 1e-3, .weight_decay = 0.01}), .f64_only = true}},
      {"prodigy", {prodigy({.estim_lr0 = 1e-3})}},
      {"prodigy_options",
       {prodigy({.learning_rate = 0.5,
                 .beta3 = 0.95,
                 .estim_lr0 = 1e-3,
                 .estim_lr_coef = 2.0,
                 .weight_decay = 0.01,
                 .safeguard_warmup = true})}},
      {"dog", {dog({.init_step = 1e-2})}},
      {"dog_rate",
       {dog({.learning_rate = 0.8,
             .init_step_type = DogStart::learning_rate,
             .init_step = 0.05,
             .weight_decay = 0.01})}},
      {"dog_distance", {dog({.init_step_type = DogStart::distance, .init_step = 0.1})}},
      {"dowg", {dowg()}},
      {"dowg_options", {dowg({.init_estim_sq_dist = 0.1, .weight_decay = 0.01})}},
      {"mechanize", {.optimizer = mechanize(sgd({.learning_rate = 0.1}), {.s_init = 1e-2}), .f64_only = true}},
      {"momo", {.optimizer = momo({.learning_rate = 0.5, .lower_bound = -5.0}), .value = true}},
      {"momo_options",
       {.optimizer = momo({.learning_rate = linear, .weight_decay = 0.01, .adapt_lower_bound = true}),
        .value = true,
        .six_digits = true}},
      {"momo_adam", {.optimizer = momo_adam({.learning_rate = 0.1, .lower_bound = -5.0}), .value = true}},
      {"momo_adam_options",
       {.optimizer = momo_adam({.learning_rate = 0.1, .b2 = 0.9, .weight_decay = 0.01, .adapt_lower_bound = true}),
        .value = true}},
  };
}

Table kin_of_adam() {
  const Schedule linear = linear_schedule({0.1, 0.01, 30});
  return {
      {"acprop", {acprop({.learning_rate = 0.05, .weight_decay = 0.01})}},
      {"ademamix", {ademamix({.learning_rate = 0.02})}},
      {"ademamix_options",
       {.optimizer = ademamix(
            {.learning_rate = 0.02, .b3 = linear_schedule({0.9, 0.99, 30}), .alpha = linear, .weight_decay = 0.01}),
        .six_digits = true}},
      {"simplified_ademamix", {simplified_ademamix({.learning_rate = 0.002, .alpha = 0.5})}},
      {"adopt", {adopt({.learning_rate = 0.05})}},
      {"adopt_options", {adopt({.learning_rate = 0.05, .b2 = 0.99, .nesterov = true, .use_clipping = false})}},
      {"madgrad", {.optimizer = madgrad({.learning_rate = 0.05}), .six_digits = true}},
      {"madgrad_options",
       {.optimizer = madgrad({.learning_rate = linear, .momentum = 0.5, .weight_decay = 0.01}), .six_digits = true}},
      {"sophia",
       {.optimizer = sophia({.learning_rate = 0.05, .update_interval = 5}),
        .line = true,
        .f64_only = true,
        .six_digits = true}},
      {"muon", {muon({.learning_rate = 0.05})}},
      {"muon_options",
       {muon({.learning_rate = 0.05,
              .ns_coeffs = newton_schulz_preset("dion"),
              .weight_decay = 0.01,
              .nesterov = false,
              .adaptive = true,
              .adam_learning_rate = 0.02,
              .consistent_rms = 0.2})}},
      {"muon_aol", {muon({.learning_rate = 0.05, .preconditioning = Preconditioning::aol})}},
      {"muon_schatten", {muon({.learning_rate = 0.05, .preconditioning = Preconditioning::schatten})}},
      {"muon_spectral", {muon({.learning_rate = 0.05, .preconditioning = Preconditioning::spectral})}},
      {"galore",
       {galore({.learning_rate = 0.05, .rank = 2, .update_proj_gap = 10, .scale = 0.5, .weight_decay = 0.01})}},
  };
}

Table wrappers() {
  const auto uphill = chain(normalize(), sgd({.learning_rate = 0.05}));
  return {
      {"reduce_on_plateau",
       {.optimizer = chain(
            adam({.learning_rate = 0.3}),
            reduce_on_plateau({.factor = 0.5, .patience = 2, .rtol = 1e-2, .cooldown = 1, .accumulation_size = 2})),
        .value = true}},
      {"normalize", {chain(normalize(), scale(-0.1))}},
      {"sam", {sam(sgd({.learning_rate = 0.1}), uphill)}},
      {"sam_opaque",
       {.optimizer =
            sam(adam({.learning_rate = 0.05}), uphill, {.sync_period = 3, .reset_state = false, .opaque_mode = true}),
        .grad_fn = true}},
      {"schedule_free", {schedule_free(adam({.learning_rate = 0.05, .b1 = 0.0}), {.learning_rate = 0.05, .b1 = 0.8})}},
      {"schedule_free_sgd",
       {.optimizer = schedule_free_sgd({.learning_rate = 0.2, .warmup_steps = 5, .weight_decay = 0.01}),
        .six_digits = true}},
      {"schedule_free_adamw", {schedule_free_adamw({.learning_rate = 0.05, .weight_decay = 0.01})}},
      {"dpsgd",
       {.optimizer = dpsgd({.learning_rate = 0.1,
                            .l2_norm_clip = 1.0,
                            .noise_multiplier = 0.1,
                            .key = ct::random::key(5),
                            .momentum = 0.5}),
        .examples = true}},
  };
}

}  // namespace

Table contributed() {
  Table out = without_rates();
  out.merge(kin_of_adam());
  out.merge(wrappers());
  return out;
}

}  // namespace problem
