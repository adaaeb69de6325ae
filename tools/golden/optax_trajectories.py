#!/usr/bin/env python3
"""Writes tests/golden/optax.npz: what real optax does in 50 steps on a small problem, and its schedules.

Keys: <name>/<dtype>/<leaf>: the parameters after the steps STEPS, stacked; schedule/<name>: values of steps 0 to 59.
tests/optax/problem.hpp has the same problem, and the tables there the same optimizers.
usage: optax_trajectories.py [NAME…]: only these anew, the others stay.
"""
import os
import pathlib
import sys
import warnings

os.environ["JAX_PLATFORMS"] = "cpu"
warnings.simplefilter("ignore")
import jax
import jax.numpy as jnp
import numpy as np

jax.config.update("jax_enable_x64", True)
jax.config.update("jax_default_matmul_precision", "highest")
import optax
from optax import contrib

# Draws of signs in f32, as without 64 bits.
jax.random.rademacher = lambda key, shape=(), dtype=int: (
    2 * jax.random.bernoulli(key, jnp.float32(0.5), shape).astype(jnp.int32) - 1).astype(dtype)

STEPS = (1, 2, 5, 10, 25, 50)
SHAPES = {"bias": (3,), "conv": (2, 2, 3), "weight": (4, 3)}
GOLDEN = pathlib.Path(__file__).resolve().parents[2] / "tests" / "golden" / "optax.npz"


def numbers(f, dtype):
    out, at = {}, 0
    for name, shape in SHAPES.items():
        n = int(np.prod(shape))
        out[name] = jnp.asarray(np.array([f(i) for i in range(at, at + n)]).reshape(shape), dtype)
        at += n
    return out


def problem(dtype):
    target = numbers(lambda i: np.sin(1.3 * i + 0.5), dtype)
    weight = numbers(lambda i: 1 + 0.5 * np.cos(2.0 * i), dtype)

    def loss(p):
        each = jax.tree.map(
            lambda x, t, c: jnp.sum(0.5 * c * (x - t) ** 2 + 0.1 * jnp.cos(3 * x) + 0.1), p, target, weight)
        total = optax.tree_utils.tree_sum(p)
        return sum(each.values()) + 0.01 * total ** 2

    return loss, numbers(lambda i: np.cos(0.7 * i), dtype)


def run(make, dtype, needs=(), nan_steps=()):
    loss, params = problem(dtype)
    opt = make()
    look = isinstance(opt, tuple) and isinstance(opt[0], str)
    if look:
        opt, params = opt[1], optax.LookaheadParams.init_synced(params)
    state = opt.init(params)
    fast = lambda p: p.fast if look else p

    @jax.jit
    def step(params, state, factor):
        value, grads = jax.value_and_grad(loss)(fast(params))
        grads = jax.tree.map(lambda g: g * factor.astype(g.dtype), grads)
        extra = {}
        if "value" in needs:
            extra["value"] = value
        if "line" in needs:
            extra.update(value=value, grad=grads, value_fn=loss)
        if "obj" in needs:
            extra["obj_fn"] = loss
        if "grad_fn" in needs:
            extra["grad_fn"] = lambda p, i: jax.grad(loss)(p)
        if "examples" in needs:
            grads = jax.tree.map(lambda g: jnp.stack([g, 0.5 * g, -0.25 * g]), grads)
        updates, state = opt.update(grads, state, params, **extra)
        return optax.apply_updates(params, updates), state

    kept = {k: [] for k in SHAPES}
    for i in range(1, 51):
        params, state = step(params, state, jnp.asarray(np.nan if i in nan_steps else 1.0))
        if i in STEPS:
            for k in SHAPES:
                kept[k].append(np.asarray(fast(params)[k]))
    return {k: np.stack(v) for k, v in kept.items()}


o = optax
is_weight = lambda p: {"bias": False, "conv": False, "weight": True}
labels = lambda p: {"bias": "a", "conv": "b", "weight": "a"}
cosine = o.cosine_decay_schedule(0.2, 40, alpha=0.1)
linear = o.linear_schedule(0.1, 0.01, 30)

OPTIMIZERS = {
    "sgd": lambda: o.sgd(0.1),
    "sgd_nesterov": lambda: o.sgd(0.05, momentum=0.9, nesterov=True),
    "sgd_schedule": lambda: o.sgd(cosine, momentum=0.5),
    "adam": lambda: o.adam(0.05),
    "adam_options": lambda: o.adam(0.05, b1=0.8, b2=0.9, eps=1e-4, eps_root=1e-6, nesterov=True),
    "nadam": lambda: o.nadam(0.05),
    "adamw": lambda: o.adamw(0.05),
    "adamw_mask": lambda: o.adamw(linear, weight_decay=0.1, mask=is_weight),
    "nadamw": lambda: o.nadamw(0.05, weight_decay=0.01),
    "amsgrad": lambda: o.amsgrad(0.05),
    "amsgrad_options": lambda: o.amsgrad(0.05, b1=0.7, bias_correction_mu=False, bias_correction_nu=False),
    "adamax": lambda: o.adamax(0.05),
    "adamaxw": lambda: o.adamaxw(0.05, b2=0.9, weight_decay=0.05),
    "adan": lambda: o.adan(0.05),
    "adan_options": lambda: o.adan(0.05, b1=0.9, b2=0.8, b3=0.95, weight_decay=0.02),
    "adabelief": lambda: o.adabelief(0.05),
    "adabelief_options": lambda: o.adabelief(0.05, b1=0.8, eps=1e-8, eps_root=1e-8, nesterov=True),
    "yogi": lambda: o.yogi(0.05),
    "yogi_options": lambda: o.yogi(0.05, b1=0.8, b2=0.95, eps=1e-2),
    "radam": lambda: o.radam(0.05),
    "radam_options": lambda: o.radam(0.05, b1=0.8, b2=0.9, threshold=4.5, nesterov=True),
    "lion": lambda: o.lion(0.01),
    "lion_options": lambda: o.lion(0.01, b1=0.8, b2=0.9, weight_decay=0.1),
    "lamb": lambda: o.lamb(0.02),
    "lamb_options": lambda: o.lamb(0.02, b1=0.8, b2=0.9, weight_decay=0.1, mask=is_weight),
    "lars": lambda: o.lars(0.5),
    "lars_options": lambda: o.lars(0.05, weight_decay=0.1, trust_coefficient=0.1, eps=1e-3, momentum=0.8, nesterov=True,
                                   trust_ratio_mask=is_weight, weight_decay_mask=is_weight),
    "novograd": lambda: o.novograd(0.02),
    "novograd_options": lambda: o.novograd(0.02, b1=0.8, b2=0.5, weight_decay=0.1),
    "rmsprop": lambda: o.rmsprop(0.02),
    "rmsprop_centered": lambda: o.rmsprop(0.01, centered=True, momentum=0.5, nesterov=True, initial_scale=0.1),
    "rmsprop_options": lambda: o.rmsprop(0.02, decay=0.8, eps=1e-4, eps_in_sqrt=False, bias_correction=True),
    "rmsprop_centered_bias": lambda: o.rmsprop(0.01, centered=True, eps=1e-3, bias_correction=True),
    "rprop": lambda: o.rprop(0.05),
    "rprop_options": lambda: o.rprop(0.05, eta_minus=0.4, eta_plus=1.1, min_step_size=1e-3, max_step_size=0.2),
    "adagrad": lambda: o.adagrad(0.2),
    "adagrad_options": lambda: o.adagrad(0.2, initial_accumulator_value=0.5, eps=1e-3),
    "adadelta": lambda: o.adadelta(1.0),
    "adadelta_options": lambda: o.adadelta(1.0, rho=0.8, eps=1e-3, weight_decay=0.1),
    "adafactor": lambda: o.adafactor(0.1),
    "adafactor_options": lambda: o.adafactor(0.1, min_dim_size_to_factor=2, decay_rate=0.7, clipping_threshold=0.5,
                                             momentum=0.9, dtype_momentum=jnp.float64, weight_decay_rate=0.01),
    "adafactor_plain": lambda: o.adafactor(linear, factored=False, clipping_threshold=None,
                                           multiply_by_parameter_scale=False),
    "sm3": lambda: o.sm3(0.1),
    "fromage": lambda: o.fromage(0.05),
    "fromage_schedule": lambda: o.fromage(linear),
    "noisy_sgd": lambda: o.noisy_sgd(0.1, key=jax.random.key(3)),
    "sign_sgd": lambda: o.sign_sgd(0.013),
    "signum": lambda: o.signum(0.013, beta=0.8),
    "optimistic_gradient_descent": lambda: o.optimistic_gradient_descent(0.1, alpha=0.9, beta=0.7),
    "optimistic_adam": lambda: o.optimistic_adam(0.05),
    "optimistic_adam_v2": lambda: o.optimistic_adam_v2(linear, alpha=0.8, beta=0.5, nesterov=False),
    "polyak_sgd": (lambda: o.polyak_sgd(max_learning_rate=0.5, f_min=-3.0), ["value"]),
    "polyak_sgd_options": (lambda: o.polyak_sgd(max_learning_rate=0.3, scaling=linear, f_min=10.0, variant="sps+"),
                           ["value"]),
    "lbfgs": (lambda: o.lbfgs(), ["line"]),
    "lbfgs_options": (lambda: o.lbfgs(0.2, memory_size=3, scale_init_precond=False, linesearch=None), ["line"]),
    # ---- parts
    "clip": lambda: o.chain(o.clip(0.3), o.sgd(0.1)),
    "clip_by_block_rms": lambda: o.chain(o.clip_by_block_rms(0.3), o.sgd(0.1)),
    "clip_by_global_norm": lambda: o.chain(o.clip_by_global_norm(1.0), o.adamw(0.05)),
    "adaptive_grad_clip": lambda: o.chain(o.adaptive_grad_clip(0.1), o.sgd(0.1)),
    "centralize": lambda: o.chain(o.centralize(), o.sgd(0.1)),
    "apply_every": lambda: o.chain(o.sgd(0.05), o.apply_every(3)),
    "scale_by_param_block_norm": lambda: o.chain(o.scale_by_param_block_norm(), o.scale(-0.02)),
    "scale_by_param_block_rms": lambda: o.chain(o.scale_by_param_block_rms(0.5), o.scale(-0.1)),
    "scale_by_trust_ratio": lambda: o.chain(o.scale_by_trust_ratio(0.1, 0.5, 1e-3), o.scale(-0.1)),
    "scale_by_distance_over_gradients": lambda: o.chain(
        o.scale_by_distance_over_gradients(reps_rel=1e-2, global_scale=1.5, param_dtype=None), o.scale(-1.0)),
    "normalize_by_update_norm": lambda: o.chain(o.normalize_by_update_norm(0.5), o.scale(-0.1)),
    "keep_params_nonnegative": lambda: o.chain(o.sgd(0.1), o.keep_params_nonnegative()),
    "zero_nans": (lambda: o.chain(o.zero_nans(), o.adam(0.05)), [], [4, 5, 20]),
    "ema": lambda: o.chain(o.ema(0.8), o.sgd(0.1)),
    "ema_biased": lambda: o.chain(o.ema(0.8, debias=False), o.sgd(0.1)),
    "add_noise": lambda: o.chain(o.add_noise(0.1, 0.5, jax.random.key(7)), o.sgd(0.05)),
    "add_decayed_weights": lambda: o.chain(o.add_decayed_weights(linear), o.sgd(0.1)),
    "scale_by_lion_smooth": lambda: o.chain(o.scale_by_lion(mode="smooth", smooth_beta=2.0), o.scale(-0.05)),
    "scale_by_lion_refined": lambda: o.chain(o.scale_by_lion(mode="refined"), o.scale(-0.05)),
    "scale_by_schedule": lambda: o.chain(o.trace(0.5), o.scale_by_schedule(lambda n: -0.1 / (1.0 + n))),
    "backtracking": (lambda: o.chain(o.sgd(1.0), o.scale_by_backtracking_linesearch(15)), ["line"]),
    "backtracking_options": (lambda: o.chain(o.sgd(1.0), o.scale_by_backtracking_linesearch(
        15, slope_rtol=0.3, decrease_factor=0.6, increase_factor=1.2, max_learning_rate=2.0, store_grad=True)), ["line"]),
    "zoom": (lambda: o.chain(o.sgd(1.0), o.scale_by_zoom_linesearch(15)), ["line"]),
    "zoom_options": (lambda: o.chain(o.sgd(0.05), o.scale_by_zoom_linesearch(
        10, max_learning_rate=8.0, curv_rtol=0.3, approx_dec_rtol=None, initial_guess_strategy="one")), ["line"]),
    # ---- combinations
    "named_chain": lambda: o.named_chain(("clip", o.clip(0.5)), ("adam", o.adam(0.05))),
    "partition": lambda: o.partition({"a": o.adam(0.05), "b": o.sgd(0.1, momentum=0.5)}, labels),
    "masked": lambda: o.chain(o.masked(o.scale_by_adam(), is_weight), o.scale(-0.05)),
    "freeze": lambda: o.chain(o.sgd(0.1), o.freeze(is_weight)),
    "selective_transform": lambda: o.selective_transform(o.adam(0.05), freeze_mask=is_weight(None)),
    "flatten": lambda: o.flatten(o.chain(o.clip_by_block_rms(0.3), o.adam(0.05))),
    "multi_steps": lambda: o.MultiSteps(o.adam(0.1), 4, accumulator_dtype=jnp.float64).gradient_transformation(),
    "multi_steps_schedule": lambda: o.MultiSteps(
        o.sgd(0.1), lambda n: jnp.where(n < 5, 2, 5), use_grad_mean=False,
        accumulator_dtype=jnp.float64).gradient_transformation(),
    "multi_steps_skip": (lambda: o.MultiSteps(o.adam(0.1), 3, should_skip_update_fn=o.skip_not_finite,
                                               accumulator_dtype=jnp.float64).gradient_transformation(), [], [2, 6, 7, 30]),
    "apply_if_finite": (lambda: o.apply_if_finite(o.adam(0.05), 3), [], [3, 4, 20]),
    "conditionally_transform": lambda: o.chain(
        o.conditionally_transform(o.scale_by_adam(), lambda n: n >= 10), o.scale(-0.05)),
    "conditionally_mask": lambda: o.conditionally_mask(o.sgd(0.1), lambda n: n % 3 == 0),
    "inject_hyperparams": lambda: o.inject_hyperparams(o.adamw)(learning_rate=linear, b1=0.8, weight_decay=0.01),
    "lookahead": lambda: ("look", o.lookahead(o.adam(0.05), 6, 0.4)),
    "lookahead_reset": lambda: ("look", o.lookahead(o.sgd(0.05, momentum=0.9), 4, 0.6, reset_state=True)),
    # ---- contrib
    "acprop": lambda: contrib.acprop(0.05, weight_decay=0.01),
    "ademamix": lambda: contrib.ademamix(0.02),
    "ademamix_options": lambda: contrib.ademamix(0.02, b3=o.linear_schedule(0.9, 0.99, 30), alpha=linear,
                                                 weight_decay=0.01),
    "simplified_ademamix": lambda: contrib.simplified_ademamix(0.002, alpha=0.5),
    "adopt": lambda: contrib.adopt(0.05),
    "adopt_options": lambda: contrib.adopt(0.05, b2=0.99, nesterov=True, use_clipping=False),
    "cocob": lambda: contrib.cocob(),
    "dadapt_adamw": lambda: contrib.dadapt_adamw(estim_lr0=1e-3, weight_decay=0.01),
    "prodigy": lambda: contrib.prodigy(estim_lr0=1e-3),
    "prodigy_options": lambda: contrib.prodigy(0.5, beta3=0.95, estim_lr0=1e-3, estim_lr_coef=2.0, weight_decay=0.01,
                                               safeguard_warmup=True),
    "dog": lambda: contrib.dog(init_step=("heuristic", 1e-2)),
    "dog_rate": lambda: contrib.dog(0.8, init_step=("learning_rate", 0.05), weight_decay=0.01),
    "dog_distance": lambda: contrib.dog(init_step=("distance", 0.1)),
    "dowg": lambda: contrib.dowg(),
    "dowg_options": lambda: contrib.dowg(init_estim_sq_dist=0.1, weight_decay=0.01),
    "madgrad": lambda: contrib.madgrad(0.05),
    "madgrad_options": lambda: contrib.madgrad(linear, momentum=0.5, weight_decay=0.01),
    "mechanize": lambda: contrib.mechanize(o.sgd(0.1), s_init=1e-2),
    "momo": (lambda: contrib.momo(0.5, lower_bound=-5.0), ["value"]),
    "momo_options": (lambda: contrib.momo(linear, adapt_lower_bound=True, weight_decay=0.01), ["value"]),
    "momo_adam": (lambda: contrib.momo_adam(0.1, lower_bound=-5.0), ["value"]),
    "momo_adam_options": (lambda: contrib.momo_adam(0.1, b2=0.9, adapt_lower_bound=True, weight_decay=0.01), ["value"]),
    "muon": lambda: contrib.muon(0.05),
    "muon_options": lambda: contrib.muon(0.05, ns_coeffs="dion", nesterov=False, adaptive=True, weight_decay=0.01,
                                         consistent_rms=0.2, adam_learning_rate=0.02),
    "muon_aol": lambda: contrib.muon(0.05, preconditioning="aol"),
    "muon_schatten": lambda: contrib.muon(0.05, preconditioning="schatten"),
    "muon_spectral": lambda: contrib.muon(0.05, preconditioning="spectral"),
    "reduce_on_plateau": (lambda: o.chain(o.adam(0.3), contrib.reduce_on_plateau(
        factor=0.5, patience=2, cooldown=1, accumulation_size=2, rtol=1e-2)), ["value"]),
    "normalize": lambda: o.chain(contrib.normalize(), o.scale(-0.1)),
    "sam": lambda: contrib.sam(o.sgd(0.1), o.chain(contrib.normalize(), o.sgd(0.05))),
    "sam_opaque": (lambda: contrib.sam(o.adam(0.05), o.chain(contrib.normalize(), o.sgd(0.05)), sync_period=3,
                                       opaque_mode=True, reset_state=False), ["grad_fn"]),
    "schedule_free": lambda: contrib.schedule_free(o.adam(0.05, b1=0.0), 0.05, b1=0.8),
    "schedule_free_sgd": lambda: contrib.schedule_free_sgd(0.2, warmup_steps=5, weight_decay=0.01),
    "schedule_free_adamw": lambda: contrib.schedule_free_adamw(0.05, weight_decay=0.01),
    "sophia": (lambda: contrib.sophia(0.05, update_interval=5), ["obj"]),
    "galore": lambda: contrib.galore(0.05, rank=2, update_proj_gap=10, scale=0.5, weight_decay=0.01),
    "dpsgd": (lambda: contrib.dpsgd(0.1, 1.0, 0.1, seed=5, momentum=0.5), ["examples"]),
}

SCHEDULES = {
    "constant": o.constant_schedule(0.3),
    "linear": o.linear_schedule(1.0, 0.1, 20, transition_begin=5),
    "polynomial": o.polynomial_schedule(1.0, 0.1, 2.5, 30, transition_begin=3),
    "exponential": o.exponential_decay(1.0, 7, 0.8),
    "exponential_options": o.exponential_decay(1.0, 7, 0.8, transition_begin=4, staircase=True, end_value=0.4),
    "exponential_up": o.exponential_decay(0.1, 7, 1.3, end_value=0.4),
    "cosine_decay": o.cosine_decay_schedule(0.5, 40, alpha=0.1, exponent=1.5),
    "piecewise_constant": o.piecewise_constant_schedule(1.0, {10: 0.5, 20: 2.0, 30: 0.1}),
    "piecewise_linear": o.piecewise_interpolate_schedule("linear", 1.0, {10: 0.5, 20: 2.0, 30: 0.1}),
    "piecewise_cosine": o.piecewise_interpolate_schedule("cosine", 1.0, {10: 0.5, 20: 2.0, 30: 0.1}),
    "linear_onecycle": o.linear_onecycle_schedule(50, 0.7),
    "cosine_onecycle": o.cosine_onecycle_schedule(50, 0.7, pct_start=0.2),
    "warmup_constant": o.warmup_constant_schedule(0.1, 1.0, 15),
    "warmup_cosine_decay": o.warmup_cosine_decay_schedule(0.1, 1.0, 10, 50, end_value=0.05, exponent=1.2),
    "warmup_exponential_decay": o.warmup_exponential_decay_schedule(0.1, 1.0, 10, 5, 0.9, end_value=0.3),
    "sgdr": o.sgdr_schedule([dict(init_value=0.0, peak_value=1.0, warmup_steps=5, decay_steps=20, end_value=0.1),
                             dict(init_value=0.1, peak_value=0.5, warmup_steps=5, decay_steps=30, end_value=0.01)]),
    "join": o.join_schedules([o.constant_schedule(0.2), o.linear_schedule(1.0, 0.0, 10)], [8]),
}


def main():
    chosen = sys.argv[1:]
    kept = dict(np.load(GOLDEN)) if chosen and GOLDEN.exists() else {}
    for name, entry in OPTIMIZERS.items():
        if chosen and name not in chosen:
            continue
        make, needs, nans = (*entry, [], [])[:3] if isinstance(entry, tuple) else (entry, [], [])
        for dtype in ("f64", "f32"):
            try:
                for leaf, a in run(make, {"f64": jnp.float64, "f32": jnp.float32}[dtype], needs, nans).items():
                    kept[f"{name}/{dtype}/{leaf}"] = a
            except Exception as error:
                print(f"{name} {dtype}: {type(error).__name__}: {str(error).splitlines()[0][:150]}")
        jax.clear_caches()
    for name, schedule in SCHEDULES.items():
        kept[f"schedule/{name}"] = np.array([float(schedule(jnp.asarray(i))) for i in range(60)])
    np.savez_compressed(GOLDEN, **kept)
    print(len(kept), "arrays,", GOLDEN.stat().st_size, "bytes")


main()
