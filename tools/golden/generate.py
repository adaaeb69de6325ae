#!/usr/bin/env python3
"""Writes tests/golden/cases/*.npz: what real JAX gives for every case of tests/cases, a file for each file there.

    generate.py            writes the files
    generate.py --missing  computes only cases that the files do not have, and drops those that are gone
    generate.py --check    computes again and compares with the committed files
    generate.py --list     prints the case ids
    … FAMILY…              only these files of tests/cases, by their names without .json

Keys: <id>/out<k>, and <id>/grad<i> for the cotangent of argument i. bf16 and f16 are stored
as float32 under <id>/out<k>.bf16 or .f16. tests/cases/README.md has the whole specification.
"""
import argparse
import os
import sys
import time

os.environ["JAX_PLATFORMS"] = "cpu"
# Half-precision intermediates must round after every op, as an eager program does.
os.environ["XLA_FLAGS"] = os.environ.get("XLA_FLAGS", "") + " --xla_allow_excess_precision=false"

import jax
import ml_dtypes
import numpy as np

jax.config.update("jax_enable_x64", True)
jax.config.update("jax_default_matmul_precision", "highest")
assert jax.config.jax_threefry_partitionable

import cases
import jax_ops

GOLDEN = cases.ROOT / "tests" / "golden" / "cases"
NAMES = {np.dtype(v): k for k, v in cases.DTYPES.items()}
HALF = {np.dtype(np.float16): ".f16", np.dtype(ml_dtypes.bfloat16): ".bf16"}


def evaluate(case):
    """(outputs, {argument index: gradient}) of one case, as numpy arrays."""
    function = jax_ops.lookup(case)
    inputs = cases.make_inputs(case)
    compiled = function if case.row.get("eager") else jax.jit(function)
    outputs = [np.asarray(o) for o in compiled(*inputs)]
    floats = [k for k, o in enumerate(outputs) if NAMES[o.dtype] in cases.FLOATS]
    if not case.grad:
        return outputs, {}
    assert floats, 'no float output to differentiate; the row needs "grad": []'
    weights = tuple(cases.weights(case, k, outputs[k].shape, NAMES[outputs[k].dtype]) for k in floats)

    def pull_back(*arrays):
        def of_differentiable(*chosen):
            full = list(arrays)
            for i, a in zip(case.grad, chosen):
                full[i] = a
            out = function(*full)
            return tuple(out[k] for k in floats)

        return jax.vjp(of_differentiable, *(arrays[i] for i in case.grad))[1](weights)

    gradients = jax.jit(pull_back)(*inputs)
    return outputs, {i: np.asarray(g) for i, g in zip(case.grad, gradients)}


def entries(case):
    outputs, gradients = evaluate(case)
    for kind, arrays in (("out", enumerate(outputs)), ("grad", gradients.items())):
        for k, a in arrays:
            half = HALF.get(a.dtype, "")
            yield f"{case.id}/{kind}{k}{half}", np.asarray(a, np.float32) if half else a


def compute(table):
    arrays, failures, start = {}, [], time.time()
    for n, case in enumerate(table, 1):
        try:
            arrays.update(entries(case))
        except Exception as error:  # report all broken rows at once
            failures.append(f"{case.id}: {type(error).__name__}: {str(error).splitlines()[0]}")
        if n % 100 == 0:
            jax.clear_caches()
        print(f"\r{n}/{len(table)} cases, {time.time() - start:.0f} s", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    if failures:
        sys.exit("\n".join(failures))
    return arrays


def same(case, key, old, new):
    """None if the arrays agree, else what differs. Another CPU may round differently: half the
    tolerance is allowed, but nothing for integers and exact cases."""
    if old.dtype != new.dtype or old.shape != new.shape:
        return f"{old.dtype}{old.shape} became {new.dtype}{new.shape}"
    if old.tobytes() == new.tobytes():
        return None
    half = key.rpartition(".")[2]
    dtype = half if half in ("f16", "bf16") else NAMES[old.dtype]
    rtol, atol = case.tolerance(dtype, "/grad" in key)
    exact = dtype not in cases.FLOATS or (case.exact and "/out" in key)
    if not exact and np.allclose(new, old, rtol / 2, atol / 2, equal_nan=True):
        return None
    return f"differs: {old.ravel()[:4]} became {new.ravel()[:4]}"


def load(families):
    """Key -> array of the committed files of these families."""
    arrays = {}
    for family in families:
        path = GOLDEN / f"{family}.npz"
        if path.exists():
            with np.load(path) as golden:
                arrays.update(golden)
    return arrays


def save(table, arrays):
    GOLDEN.mkdir(parents=True, exist_ok=True)
    for family in sorted({c.family for c in table}):
        ids = {c.id for c in table if c.family == family}
        path = GOLDEN / f"{family}.npz"
        own = {k: a for k, a in arrays.items() if k.rpartition("/")[0] in ids}
        old = load([family])
        if old.keys() == own.keys() and all(old[k].tobytes() == own[k].tobytes() for k in own):
            continue  # archives have dates: a file that says the same stays as it is
        np.savez_compressed(path, **own)
        print(f"{path.relative_to(cases.ROOT)}: {len(ids)} cases, {len(own)} arrays, {path.stat().st_size / 1e3:.0f} kB")


def check(table, arrays):
    by_id = {c.id: c for c in table}
    problems, rounded = [], 0
    golden = load({c.family for c in table})
    problems += [f"{k}: not in the golden file" for k in arrays.keys() - golden.keys()]
    problems += [f"{k}: no longer in the table" for k in golden.keys() - arrays.keys()]
    for key in sorted(arrays.keys() & golden.keys()):
        old = golden[key]
        rounded += old.tobytes() != arrays[key].tobytes()
        difference = same(by_id[key.rpartition("/")[0]], key, old, arrays[key])
        if difference:
            problems.append(f"{key}: {difference}")
    print(f"{len(arrays)} arrays, {rounded} not bit-identical, {len(problems)} problems")
    if problems:
        sys.exit("\n".join(problems))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--missing", action="store_true")
    parser.add_argument("families", nargs="*", metavar="FAMILY")
    options = parser.parse_args()
    table = cases.load()
    unknown = set(options.families) - {c.family for c in table}
    if unknown:
        sys.exit(f"no such file of tests/cases: {', '.join(sorted(unknown))}")
    if options.families:
        table = [c for c in table if c.family in options.families]
    if options.list:
        return print("\n".join(c.id for c in table))
    kept = {}
    if options.missing:
        ids = {c.id for c in table}
        golden = load({c.family for c in table})
        kept = {key: golden[key] for key in golden if key.rpartition("/")[0] in ids}
    have = {key.rpartition("/")[0] for key in kept}
    arrays = kept | compute([c for c in table if c.id not in have])
    if options.check:
        return check(table, arrays)
    save(table, arrays)


if __name__ == "__main__":
    main()
