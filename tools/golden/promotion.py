#!/usr/bin/env python3
"""Writes tests/golden/promotion.json: the dtype of a + b for all pairs of dtypes and of C++ scalars, from real JAX.

A row is [a, b, result, weak]. "int", "float" and "complex" are weak scalars. JAX runs with 64-bit types on, as cotan always has
them; a result that is weak gets cotan's default dtype, i32, f32 or c64.
"""
import json
import pathlib

import jax
import jax.numpy as jnp

jax.config.update("jax_enable_x64", True)
DTYPES = {"bool": "bool", "i8": "int8", "i16": "int16", "i32": "int32", "i64": "int64", "u8": "uint8", "u16": "uint16",
          "u32": "uint32", "u64": "uint64", "f16": "float16", "bf16": "bfloat16", "f32": "float32", "f64": "float64", "c64": "complex64",
          "c128": "complex128"}
NAMES = {jnp.dtype(v): k for k, v in DTYPES.items()}
OPERANDS = {**{k: jnp.zeros((), v) for k, v in DTYPES.items()}, "int": 0, "float": 0.0, "complex": 0j}


def row(a, b):
    if {a, b} <= {"int", "float", "complex"}:
        return [a, b, "c64" if "complex" in (a, b) else "f32" if "float" in (a, b) else "i32", True]
    out = jnp.maximum(OPERANDS[a], OPERANDS[b])
    weak = bool(out.aval.weak_type)
    name = NAMES[out.dtype]
    if weak:
        complex_ = jnp.issubdtype(out.dtype, jnp.complexfloating)
        name = "c64" if complex_ else "f32" if jnp.issubdtype(out.dtype, jnp.floating) else "i32"
    return [a, b, name, weak]


rows = [row(a, b) for a in OPERANDS for b in OPERANDS]
path = pathlib.Path(__file__).parents[2] / "tests/golden/promotion.json"
path.write_text("[\n" + ",\n".join(json.dumps(r) for r in rows) + "\n]\n")
