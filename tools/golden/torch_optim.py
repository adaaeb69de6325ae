#!/usr/bin/env python3
"""Writes tests/golden/torch_optim.npz: what PyTorch's optimizers and schedulers do.

Keys: <optimizer>/<case>/<parameter>: values in f64 after the steps STEPS, stacked; schedule/<name>: learning rates of 30
steps. tests/torch/optim_problem.hpp has the same problem; the tables of the tests have the same cases.
"""
import math
import pathlib

import numpy as np
import torch
from torch.optim import _muon, lr_scheduler

torch.set_default_dtype(torch.float64)
STEPS = (1, 2, 5, 10, 25, 50)
SHAPES = {"bias": (3,), "conv": (2, 2, 3), "weight": (4, 3)}
GOLDEN = pathlib.Path(__file__).resolve().parents[2] / "tests" / "golden" / "torch_optim.npz"


class Lion(torch.optim.Optimizer):
    """PyTorch has none; this is the paper's."""

    def __init__(self, params, lr=1e-4, betas=(0.9, 0.99), weight_decay=0.0):
        super().__init__(params, dict(lr=lr, betas=betas, weight_decay=weight_decay))

    @torch.no_grad()
    def step(self, closure):
        with torch.enable_grad():
            closure()
        for group in self.param_groups:
            b1, b2 = group["betas"]
            for p in group["params"]:
                mean = self.state[p].setdefault("exp_avg", torch.zeros_like(p))
                p.mul_(1 - group["lr"] * group["weight_decay"])
                p.sub_(group["lr"] * torch.sign(b1 * mean + (1 - b1) * p.grad))
                mean.mul_(b2).add_((1 - b2) * p.grad)


class InItsDtype:
    """torch for _muon, whose iteration is in bf16: here in the dtype of the gradient."""

    bfloat16 = None

    def __getattr__(self, name):
        return getattr(torch, name)


_muon.torch = InItsDtype()

CASES = {
    "sgd/plain": lambda p: torch.optim.SGD(p, lr=0.05),
    "sgd/momentum": lambda p: torch.optim.SGD(p, lr=0.02, momentum=0.9, weight_decay=0.1),
    "sgd/dampening": lambda p: torch.optim.SGD(p, lr=0.05, momentum=0.8, dampening=0.3),
    "sgd/nesterov": lambda p: torch.optim.SGD(p, lr=0.02, momentum=0.9, nesterov=True),
    "sgd/maximize": lambda p: torch.optim.SGD(p, lr=0.002, momentum=0.5, maximize=True),
    "adam/plain": lambda p: torch.optim.Adam(p, lr=0.05),
    "adam/decay": lambda p: torch.optim.Adam(p, lr=0.05, betas=(0.8, 0.95), eps=1e-3, weight_decay=0.1),
    "adam/amsgrad": lambda p: torch.optim.Adam(p, lr=0.05, betas=(0.8, 0.9), eps=1e-2, amsgrad=True),
    "adam/maximize": lambda p: torch.optim.Adam(p, lr=0.01, maximize=True),
    "adamw/plain": lambda p: torch.optim.AdamW(p, lr=0.05),
    "adamw/options": lambda p: torch.optim.AdamW(p, lr=0.05, betas=(0.7, 0.9), eps=1e-3, weight_decay=0.3, amsgrad=True),
    "nadam/plain": lambda p: torch.optim.NAdam(p, lr=0.05),
    "nadam/decoupled": lambda p: torch.optim.NAdam(p, lr=0.05, weight_decay=0.1, momentum_decay=0.01,
                                                   decoupled_weight_decay=True),
    "radam/plain": lambda p: torch.optim.RAdam(p, lr=0.05, eps=1e-3),
    "radam/decay": lambda p: torch.optim.RAdam(p, lr=0.05, betas=(0.8, 0.9), weight_decay=0.1),
    "adamax/plain": lambda p: torch.optim.Adamax(p, lr=0.05, weight_decay=0.1),
    "adagrad/plain": lambda p: torch.optim.Adagrad(p, lr=0.1),
    "adagrad/options": lambda p: torch.optim.Adagrad(p, lr=0.1, lr_decay=0.05, weight_decay=0.1,
                                                     initial_accumulator_value=0.2, eps=1e-3),
    "rmsprop/plain": lambda p: torch.optim.RMSprop(p, lr=0.01),
    "rmsprop/options": lambda p: torch.optim.RMSprop(p, lr=0.01, alpha=0.9, eps=1e-3, weight_decay=0.1, momentum=0.7,
                                                     centered=True),
    "lion/plain": lambda p: Lion(p, lr=0.01, weight_decay=0.1),
    "muon/plain": lambda p: torch.optim.Muon([p[2]], lr=0.02),
    "muon/options": lambda p: torch.optim.Muon([p[2]], lr=0.02, momentum=0.8, nesterov=False, weight_decay=0.0,
                                               ns_steps=4, adjust_lr_fn="match_rms_adamw"),
    "lbfgs/plain": lambda p: torch.optim.LBFGS(p, lr=0.1, max_iter=4, history_size=3),
    "lbfgs/wolfe": lambda p: torch.optim.LBFGS(p, lr=1, max_iter=5, history_size=5, line_search_fn="strong_wolfe"),
}


def numbers(f):
    out, at = [], 0
    for shape in SHAPES.values():
        n = math.prod(shape)
        out.append(torch.tensor([f(i) for i in range(at, at + n)]).reshape(shape))
        at += n
    return out


def loss_of(params):
    target, weight = numbers(lambda i: math.sin(1.3 * i + 0.5)), numbers(lambda i: 1 + 0.5 * math.cos(2.0 * i))
    total = sum(torch.sum(p) for p in params)
    return sum(torch.sum(0.5 * c * (p - t) * (p - t) + 0.1 * torch.exp(-1.0 * p * p))
               for p, t, c in zip(params, target, weight)) + 0.01 * total * total


def trajectory(make):
    params = [p.requires_grad_() for p in numbers(lambda i: math.cos(0.7 * i))]
    opt = make(params)

    def closure():
        opt.zero_grad()
        loss = loss_of(params)
        loss.backward()
        return loss

    seen = []
    for step in range(1, max(STEPS) + 1):
        opt.step(closure)
        if step in STEPS:
            seen.append([p.detach().numpy().copy() for p in params])
    return {name: np.stack([s[i] for s in seen]) for i, name in enumerate(SHAPES)}


SCHEDULES = {
    "step": lambda o: lr_scheduler.StepLR(o, step_size=7, gamma=0.5),
    "multistep": lambda o: lr_scheduler.MultiStepLR(o, milestones=[3, 10, 10, 20], gamma=0.3),
    "exponential": lambda o: lr_scheduler.ExponentialLR(o, gamma=0.9),
    "cosine": lambda o: lr_scheduler.CosineAnnealingLR(o, T_max=12, eta_min=0.01),
    "restarts": lambda o: lr_scheduler.CosineAnnealingWarmRestarts(o, T_0=5, T_mult=2, eta_min=0.01),
    "linear": lambda o: lr_scheduler.LinearLR(o, start_factor=0.25, total_iters=8),
    "constant": lambda o: lr_scheduler.ConstantLR(o, factor=0.5, total_iters=6),
    "polynomial": lambda o: lr_scheduler.PolynomialLR(o, total_iters=20, power=2.0),
    "onecycle": lambda o: lr_scheduler.OneCycleLR(o, max_lr=0.8, total_steps=30),
    "onecycle_linear": lambda o: lr_scheduler.OneCycleLR(o, max_lr=0.8, total_steps=30, anneal_strategy="linear",
                                                         three_phase=True, pct_start=0.4),
    "lambda": lambda o: lr_scheduler.LambdaLR(o, lambda n: 1 / (1 + n)),
    "sequential": lambda o: lr_scheduler.SequentialLR(
        o, [lr_scheduler.LinearLR(o, start_factor=0.1, total_iters=5), lr_scheduler.ExponentialLR(o, gamma=0.9)],
        milestones=[5]),
}


def schedule(make):
    opt = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=0.4, momentum=0.9)
    scheduler, seen = make(opt), []
    for _ in range(30):
        seen.append([opt.param_groups[0]["lr"], opt.param_groups[0]["momentum"]])
        if len(seen) == 30:
            break
        opt.step()
        scheduler.step()
    return np.array(seen)


def plateau():
    opt = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=0.4)
    scheduler = lr_scheduler.ReduceLROnPlateau(opt, factor=0.5, patience=2, threshold=1e-2, cooldown=1, min_lr=0.03)
    seen = []
    for i in range(30):
        seen.append(opt.param_groups[0]["lr"])
        scheduler.step(math.exp(-0.5 * i) + 0.02 * math.sin(i))
    return np.array(seen)


def main():
    out = {}
    for name, make in CASES.items():
        for leaf, values in trajectory(make).items():
            if not name.startswith("muon") or leaf == "weight":
                out[f"{name}/{leaf}"] = values
    for name, make in SCHEDULES.items():
        out[f"schedule/{name}"] = schedule(make)
    out["schedule/plateau"] = plateau()
    np.savez_compressed(GOLDEN, **out)
    print(f"{len(out)} arrays, {GOLDEN.stat().st_size} bytes")


if __name__ == "__main__":
    main()
