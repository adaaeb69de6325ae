#!/usr/bin/env python3
"""Writes tests/golden/control.npz: what real JAX gives for the control-flow cases of tests/control.

    control.py            writes the file
    control.py --check    computes again and compares with the committed file

The functions are in control_cases.py, each a twin of one in tests/control. An entry is one list of numbers: for each of
KINDS that applies its number and the number of leaves, and per leaf: kind of dtype (0 bool, 1 integer, 2 floating),
rank, shape, elements.
"""
import argparse
import os
import sys
from pathlib import Path

os.environ["JAX_PLATFORMS"] = "cpu"

import jax
import jax.numpy as jnp
import numpy as np

jax.config.update("jax_enable_x64", True)
assert jax.config.jax_threefry_partitionable

import control_cases

GOLDEN = Path(__file__).resolve().parents[2] / "tests" / "golden" / "control.npz"
KINDS = ["out", "jvp", "jvp0", "grad", "vmap", "vmap0", "vmap_grad", "jvp_grad"]
LANES = 3


def formula(shape, k, lane=0):
    i = np.arange(int(np.prod(shape)))
    return (((37 * i + 59 * k + 23 * lane + 11) % 101 - 50.5) / 40).reshape(shape)


def evaluate(case, reverse):
    """{kind: leaves} of one case."""
    f = lambda *x: tuple(case.function(dict(reverse=reverse), *x))
    inputs = [formula(s, k) for k, s in enumerate(case.shapes)]
    lanes = [np.stack([formula(s, k, l) for l in range(LANES)]) for k, s in enumerate(case.shapes)]
    tangents = [formula(s, 100 + k) for k, s in enumerate(case.shapes)]

    def floating(outputs):
        return [y for y in outputs if jnp.issubdtype(y.dtype, jnp.floating)]

    def loss(*x):
        return sum(jnp.sum(y * formula(y.shape, 200 + k)) for k, y in enumerate(f(*x))
                   if jnp.issubdtype(y.dtype, jnp.floating))

    grad = jax.grad(loss, argnums=tuple(range(len(inputs))))

    def everything(inputs, lanes, tangents):
        first_only = [tangents[0], *(jnp.zeros_like(t) for t in tangents[1:])]
        jvp = lambda t: [d for y, d in zip(*jax.jvp(f, inputs, t)) if jnp.issubdtype(y.dtype, jnp.floating)]
        out = {"out": f(*inputs), "jvp": jvp(tangents), "jvp0": jvp(first_only), "vmap": jax.vmap(f)(*lanes),
               "vmap0": jax.vmap(lambda first: f(first, *inputs[1:]))(lanes[0])}
        if not case.forward_only:
            out["grad"] = grad(*inputs)
            out["vmap_grad"] = jax.vmap(grad)(*lanes)
            out["jvp_grad"] = jax.jvp(grad, inputs, tangents)[1]
        return out

    return jax.jit(everything)([jnp.asarray(x) for x in inputs], lanes, tangents)


def encode(results):
    numbers = []
    for kind, name in enumerate(KINDS):
        if name not in results:
            continue
        numbers += [kind, len(results[name])]
        for leaf in results[name]:
            a = np.asarray(leaf)
            numbers += [{"b": 0, "i": 1, "u": 1, "f": 2}[a.dtype.kind], a.ndim, *a.shape]
            numbers += a.astype(np.float64).ravel().tolist()
    return np.array(numbers)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--only", help="part of the names to compute; the other entries of the file stay")
    options = parser.parse_args()
    entries = dict(np.load(GOLDEN)) if options.only and GOLDEN.exists() else {}
    for case in control_cases.CASES:
        for reverse in (False, True) if case.variants else (False,):
            name = case.name + ("_reverse" if reverse else "")
            if options.only and options.only not in name:
                continue
            print(name, file=sys.stderr, flush=True)
            entries[name] = encode(evaluate(case, reverse))
            jax.clear_caches()
    if options.check:
        with np.load(GOLDEN) as golden:
            wrong = [k for k in sorted(entries.keys() | set(golden.keys()))
                     if k not in entries or k not in golden or
                     not np.allclose(entries[k], golden[k], 1e-13, 1e-13, equal_nan=True)]
        return sys.exit("differ: " + ", ".join(wrong)) if wrong else print(f"{len(entries)} entries agree")
    np.savez_compressed(GOLDEN, **entries)
    print(f"{GOLDEN.name}: {len(entries)} entries, {GOLDEN.stat().st_size / 1e3:.0f} kB")


if __name__ == "__main__":
    main()
