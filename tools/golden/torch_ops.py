#!/usr/bin/env python3
"""Writes tests/golden/torch/*.npz: what real PyTorch gives for every case of tests/torch/cases, a file for each file there.

    torch_ops.py            writes the files
    torch_ops.py --check    computes again and compares with the committed files
    … FAMILY…               only these files of tests/torch/cases, by their names without .json

Rows, ids and inputs are those of tests/cases/README.md. An op is a name in `torch` ("linalg.solve"), in `torch.nn.functional`
("F.relu"), or of a method ("Tensor.view"), called with the arrays and the params by name; ops that end in _ are methods, which
write into a copy of the first array. SPECIAL has those that are called otherwise.

A file has all results one after the other, by dtype, and in `index` what they are: {id: [[name, dtype, shape], …]}. Outputs that
require a gradient are called out0+, out1+, …; gradients, of outputs with the weights of the table as seeds, grad0, ….
"""
import argparse
import json
import sys

import numpy as np
import torch

import cases
import torch_special_ops
from torch_special import SPECIAL

FOLDER = cases.ROOT / "tests" / "torch" / "cases"
GOLDEN = cases.ROOT / "tests" / "golden" / "torch"
DTYPES = {"f64": torch.float64, "f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16, "i8": torch.int8,
          "i16": torch.int16, "i32": torch.int32, "i64": torch.int64, "u8": torch.uint8, "bool": torch.bool,
          "c128": torch.complex128, "c64": torch.complex64}
NAMES = {v: k for k, v in DTYPES.items()}
STORED = {"f64": "f64", "f32": "f32", "f16": "f32", "bf16": "f32", "c128": "f64", "c64": "f32"}  # others as i64


def tensor(array, dtype):
    if dtype == "bf16":
        array = array.astype(np.float32)
    return torch.tensor(array).to(DTYPES[dtype])


def lookup(op):
    if special := SPECIAL.get(op) or torch_special_ops.OPS.get(op):
        return special
    if op.endswith("_"):
        return lambda x, *rest, **params: getattr(x.clone(), op)(*rest, **params)
    target = torch
    for name in op.split("."):
        target = {"F": torch.nn.functional, "Tensor": torch.Tensor}.get(name) or getattr(target, name)
    return target


def parameter(key, value):
    if key == "dtype" and isinstance(value, str):
        return DTYPES[value]
    return float(value) if isinstance(value, str) and value in ("inf", "-inf") else value


def flat(result):
    if isinstance(result, torch.Tensor):
        return [result]
    if isinstance(result, (list, tuple)):
        return [t for r in result for t in flat(r)]
    return [torch.tensor(result)]


def evaluate(case):
    """(name, tensor) of outputs and gradients."""
    inputs = [tensor(a, spec.dtype) for a, spec in zip(cases.make_inputs(case), case.args)]
    for i in case.grad:
        inputs[i].requires_grad_()
    params = {k: parameter(k, v) for k, v in case.params.items()}
    other = [params.pop("other")] if "other" in params else []  # a number in the place of the second tensor
    outputs = flat(lookup(case.op)(*inputs, *other, **params))
    tracked = [k for k, o in enumerate(outputs) if o.requires_grad]
    assert tracked or not case.grad, 'no output to differentiate; the row needs "grad": []'
    if tracked:
        seeds = [tensor(cases.weights(case, k, tuple(outputs[k].shape), NAMES[outputs[k].dtype]), NAMES[outputs[k].dtype])
                 for k in tracked]
        torch.autograd.backward([outputs[k] for k in tracked], seeds)
    for k, o in enumerate(outputs):
        yield f"out{k}" + ("+" if k in tracked else ""), o.detach()
    for i in case.grad:
        if inputs[i].grad is not None:
            yield f"grad{i}", inputs[i].grad


def numbers(t):
    dtype = STORED.get(NAMES[t.dtype], "i64")
    if t._is_zerotensor():
        t = torch.zeros(t.shape, dtype=t.dtype)
    if t.is_complex():
        t = torch.view_as_real(t.resolve_conj())
    return dtype, t.contiguous().to(DTYPES[dtype]).numpy().ravel()


def compute(table):
    """The arrays of one file, and how many results there are."""
    parts, index, failures = {"f64": [], "f32": [], "i64": []}, {}, []
    for case in table:
        try:
            index[case.id] = []
            for name, t in evaluate(case):
                index[case.id].append([name, NAMES[t.dtype], list(t.shape)])
                dtype, values = numbers(t)
                parts[dtype].append(values)
        except Exception as error:  # report all broken rows at once
            failures.append(f"{case.id}: {type(error).__name__}: {str(error).splitlines()[0]}")
    if failures:
        sys.exit("\n".join(failures))
    text = json.dumps(index, separators=(",", ":")).encode()
    arrays = {d: np.concatenate([np.zeros(0, cases.DTYPES[d]), *p]) for d, p in parts.items()}
    return {"index": np.frombuffer(text, np.uint8), **arrays}, sum(map(len, index.values()))


def same(old, new):
    """Another CPU may round differently: half of what the C++ side allows."""
    if old.keys() != new.keys() or old["index"].tobytes() != new["index"].tobytes():
        return False
    near = {"f64": (5e-13, 5e-14), "f32": (5e-6, 1e-6), "i64": (0, 0)}
    return all(old[d].shape == new[d].shape and np.allclose(old[d], new[d], *near[d], equal_nan=True) for d in near)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--check", action="store_true")
    parser.add_argument("families", nargs="*")
    options = parser.parse_args()
    torch.set_num_threads(1)
    table, total, stale = cases.load(FOLDER), 0, []
    GOLDEN.mkdir(parents=True, exist_ok=True)
    for family in options.families or sorted({c.family for c in table}):
        own = [c for c in table if c.family == family]
        arrays, count = compute(own)
        total += count
        path = GOLDEN / f"{family}.npz"
        old = dict(np.load(path)) if path.exists() else {}
        if options.check:
            stale += [] if same(old, arrays) else [path.name]
        elif old.keys() != arrays.keys() or any(old[k].tobytes() != arrays[k].tobytes() for k in arrays):
            np.savez_compressed(path, **arrays)
        size = f"{path.stat().st_size / 1e3:.0f} kB" if path.exists() else "no file"
        print(f"{family}: {len(own)} cases, {count} values and gradients, {size}")
    print(f"{total} values and gradients")
    if stale:
        sys.exit(f"{', '.join(stale)} no longer say what PyTorch gives")


main()
