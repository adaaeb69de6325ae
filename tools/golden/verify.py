#!/usr/bin/env python3
"""Checks the case table itself, so that a red C++ test is cotan's fault and not the table's.

For every case: f32 results and gradients against the same program in f64 on the same inputs
(is the tolerance wide enough for an honest f32 evaluation?), and f64 gradients against finite
differences (does the sample sit on a kink? then the row must say "fd": false).
"""
import dataclasses
import sys

import generate  # first: it configures JAX
import jax
import numpy as np

import cases
import jax_ops


def single_precision(case, problems):
    if {a.dtype for a in case.args} & {"f64", "bf16", "f16"} or not any(a.dtype == "f32" for a in case.args):
        return
    if case.params.keys() & {"dtype", "new_dtype", "seed"} or case.exact or case.op == "nan_to_num":
        return
    inputs = cases.make_inputs(case)
    wide = [x.astype(np.float64) if x.dtype == np.float32 else x for x in inputs]
    double = dataclasses.replace(case, args=[
        dataclasses.replace(a, dtype="f64") if a.dtype == "f32" else a for a in case.args])
    function = jax_ops.lookup(case)
    narrow_out, narrow_grad = generate.evaluate(case)
    keep = cases.make_inputs, cases.weights
    cases.make_inputs = lambda _: wide
    rounded = lambda wide: ("c64", np.complex128) if wide == "c128" else ("f32", np.float64)
    cases.weights = lambda c, k, shape, wide: keep[1](c, k, shape, rounded(wide)[0]).astype(rounded(wide)[1])
    try:
        wide_out, wide_grad = generate.evaluate(double)
    finally:
        cases.make_inputs, cases.weights = keep
    pairs = [(f"out{k}", n, w, False) for k, (n, w) in enumerate(zip(narrow_out, wide_out))]
    pairs += [(f"grad{i}", narrow_grad[i], wide_grad[i], True) for i in narrow_grad]
    for name, n, w, gradient in pairs:
        if n.dtype not in (np.float32, np.complex64):
            if not np.array_equal(n, w):
                problems.append(f"{case.id}/{name}: f32 and f64 choose differently")
            continue
        rtol, atol = case.tolerance("f32", gradient)
        with np.errstate(all="ignore"):
            used = np.abs(n - w) / (atol + rtol * np.abs(w))
        used = np.nanmax(used, initial=0)
        if used > 0.5 or not np.array_equal(np.isnan(n), np.isnan(w)):
            problems.append(f"{case.id}/{name}: f32 uses {used:.2f} of its tolerance")


def finite_differences(case, problems):
    if not case.grad or any(case.args[i].dtype != "f64" for i in case.grad) or not case.finite_differences:
        return
    if "f64" not in {a.dtype for a in case.args}:
        return
    _, gradients = generate.evaluate(case)
    function = jax.jit(jax_ops.lookup(case))
    inputs = cases.make_inputs(case)
    out = [np.asarray(o) for o in function(*inputs)]
    floats = {k: cases.weights(case, k, o.shape, generate.NAMES[o.dtype]) for k, o in enumerate(out)
              if generate.NAMES[o.dtype] in cases.FLOATS}
    if any(o.dtype != np.float64 for k, o in enumerate(out) if k in floats):
        return
    value = lambda xs: sum(np.sum(np.asarray(o) * floats[k]) for k, o in enumerate(function(*xs)) if k in floats)
    for i, gradient in gradients.items():
        direction = cases.weights(case, 50 + i, inputs[i].shape, "f64")
        at = lambda h: value([x + h * direction if j == i else x for j, x in enumerate(inputs)])
        h = 1e-5 * max(1e-4, np.max(np.abs(inputs[i]), initial=0)) if inputs[i].size else 0
        if not h:
            continue
        expected = (8 * (at(h) - at(-h)) - (at(2 * h) - at(-2 * h))) / (12 * h)
        found = np.sum(gradient * direction)
        scale = np.sum(np.abs(gradient * direction)) + 1e-3
        if not abs(found - expected) < 2e-6 * scale + 1e-9:
            problems.append(f"{case.id}/grad{i}: {found} but finite differences give {expected}")


def main():
    table, problems = cases.load(), []
    for n, case in enumerate(table, 1):
        single_precision(case, problems)
        finite_differences(case, problems)
        if n % 50 == 0:
            jax.clear_caches()
            print(f"\r{n}/{len(table)}", end="", file=sys.stderr, flush=True)
    print(f"\n{len(problems)} problems", *problems, sep="\n")
    sys.exit(bool(problems))


if __name__ == "__main__":
    main()
