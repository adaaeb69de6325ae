#!/usr/bin/env python3
"""Writes tests/golden/random_bits.json: what jax.random draws, for tests/random/bits_test.cpp.

Of each draw there is a digest of the bytes of all numbers (FNV-1a, 64 bits), and the first 32 as bits in hexadecimal.
    random_bits.py             writes the file
    random_bits.py --arrays D  writes each draw to D/<name>.npy too, to see where a draw differs
"""
import argparse
import json
import os
import pathlib

os.environ["JAX_PLATFORMS"] = "cpu"
os.environ["XLA_FLAGS"] = os.environ.get("XLA_FLAGS", "") + " --xla_allow_excess_precision=false"

import jax
import ml_dtypes
import numpy as np

jax.config.update("jax_enable_x64", True)

import jax_random_ops  # 32-bit draws as without x64

GOLDEN = pathlib.Path(__file__).resolve().parents[2] / "tests" / "golden" / "random_bits.json"
N, FIRST = 100_000, 32
DTYPES = {"f32": np.float32, "f64": np.float64, "f16": np.float16, "bf16": ml_dtypes.bfloat16, "i32": np.int32, "i64": np.int64,
          "i8": np.int8, "i16": np.int16, "u8": np.uint8, "u16": np.uint16, "u32": np.uint32, "u64": np.uint64,
          "c64": np.complex64, "c128": np.complex128}
FLOATS, ALL_FLOATS = ("f32", "f64"), ("f32", "f64", "f16", "bf16")
r = jax.random


def typed(x, dtype):
    return np.asarray(x, dtype)


# name -> (dtypes, function of key, shape and dtype)
DRAWS = {
    "uniform": (ALL_FLOATS, lambda k, s, d: r.uniform(k, s, d, typed(-2, d), typed(5, d))),
    "normal": (ALL_FLOATS + ("c64", "c128"), r.normal),
    "truncated_normal": (FLOATS, lambda k, s, d: r.truncated_normal(k, typed(-1, d), typed(2, d), s, d)),
    "lognormal": (ALL_FLOATS, lambda k, s, d: r.lognormal(k, typed(0.75, d), s, d)),
    "maxwell": (ALL_FLOATS, r.maxwell),
    "double_sided_maxwell": (FLOATS, lambda k, s, d: r.double_sided_maxwell(k, typed(0.5, d), typed(1.7, d), s, d)),
    "rayleigh": (ALL_FLOATS, lambda k, s, d: r.rayleigh(k, typed(1.7, d), s, d)),
    "wald": (ALL_FLOATS, lambda k, s, d: r.wald(k, typed(1.7, d), s, d)),
    "exponential": (ALL_FLOATS, r.exponential),
    "gumbel": (ALL_FLOATS, r.gumbel),
    "gumbel_high": (ALL_FLOATS, lambda k, s, d: r.gumbel(k, s, d, mode="high")),
    "gumbel_highest": (("f32",), lambda k, s, d: r.gumbel(k, s, d, mode="highest")),
    "laplace": (ALL_FLOATS, r.laplace),
    "logistic": (ALL_FLOATS, r.logistic),
    "cauchy": (ALL_FLOATS, r.cauchy),
    "pareto": (ALL_FLOATS, lambda k, s, d: r.pareto(k, typed(2.5, d), s, d)),
    "weibull_min": (ALL_FLOATS, lambda k, s, d: r.weibull_min(k, typed(1.5, d), typed(2.5, d), s, d)),
    "triangular": (ALL_FLOATS, lambda k, s, d: r.triangular(k, typed(-1, d), typed(0.5, d), typed(2, d), s, d)),
    "gamma": (ALL_FLOATS, lambda k, s, d: r.gamma(k, typed(2.5, d), s, d)),
    "gamma_small": (ALL_FLOATS, lambda k, s, d: r.gamma(k, typed(0.3, d), s, d)),
    "loggamma": (ALL_FLOATS, lambda k, s, d: r.loggamma(k, typed(0.3, d), s, d)),
    "beta": (ALL_FLOATS, lambda k, s, d: r.beta(k, typed(0.5, d), typed(2.5, d), s, d)),
    "dirichlet": (ALL_FLOATS, lambda k, s, d: r.dirichlet(k, typed([0.5, 1, 2, 4], d), (s[0] // 4,), d)),
    "chisquare": (FLOATS, lambda k, s, d: r.chisquare(k, typed(3, d), s, d)),
    "f": (FLOATS, lambda k, s, d: r.f(k, typed(3, d), typed(7, d), s, d)),
    "t": (ALL_FLOATS, lambda k, s, d: r.t(k, typed(3.5, d), s, d)),
    "generalized_normal": (FLOATS, lambda k, s, d: r.generalized_normal(k, typed(1.5, d), s, d)),
    "ball": (FLOATS, lambda k, s, d: r.ball(k, 4, typed(2, d), (s[0] // 4,), d)),
    "bernoulli": (ALL_FLOATS, lambda k, s, d: r.bernoulli(k, typed(0.3, d), s)),
    "bernoulli_high": (ALL_FLOATS, lambda k, s, d: r.bernoulli(k, typed(0.3, d), s, mode="high")),
    "rademacher": (("i32", "i64", "i8", "i16", "f32", "f64", "f16"), r.rademacher),
    "randint": (("i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64"), lambda k, s, d: r.randint(k, s, 3, 100, d)),
    "bits": (("u8", "u16", "u32", "u64"), r.bits),
    "geometric": (("i32", "i64", "i16"), lambda k, s, d: r.geometric(k, np.float32(0.2), s, d)),
    "geometric_f64": (("i32",), lambda k, s, d: r.geometric(k, np.float64(0.2), s, d)),
    "poisson_small": (("i32", "i64", "i8"), lambda k, s, d: r.poisson(k, np.float32(3.5), s, d)),
    "poisson_large": (("i32",), lambda k, s, d: r.poisson(k, np.float32(42.5), s, d)),
    "binomial_small": (FLOATS, lambda k, s, d: r.binomial(k, typed(12, d), typed(0.3, d), s, d)),
    "binomial_large": (FLOATS, lambda k, s, d: r.binomial(k, typed(90, d), typed(0.6, d), s, d)),
    "multinomial": (FLOATS, lambda k, s, d: r.multinomial(k, typed(40, d), typed([0.125, 0.5, 0.25, 0.125], d),
                                                          shape=(s[0] // 4, 4), dtype=d)),
    "categorical": (FLOATS, lambda k, s, d: r.categorical(k, typed([0.5, -1, 1, 0], d), shape=s).astype(np.int32)),
    "categorical_high": (FLOATS, lambda k, s, d: r.categorical(k, typed([0.5, -1, 1, 0], d), shape=s, mode="high").astype(np.int32)),
    "permutation": (("i32",), lambda k, s, d: r.permutation(k, np.arange(s[0], dtype=d))),
    "permutation_independent": (("i32",), lambda k, s, d: r.permutation(
        k, np.arange(s[0], dtype=d).reshape(-1, 100), axis=1, independent=True)),
    "choice": (("i32",), lambda k, s, d: r.choice(k, 1000, s)),
    "choice_p": (FLOATS, lambda k, s, d: r.choice(k, 4, s, p=typed([0.125, 0.5, 0.25, 0.125], d)).astype(np.int32)),
    "choice_once": (("i32",), lambda k, s, d: r.choice(k, s[0], (s[0] // 2,), replace=False).astype(np.int32)),
}


def digest(array):
    """FNV-1a over 64-bit words of the bytes, zeros behind."""
    data = np.ascontiguousarray(array).tobytes()
    words = np.frombuffer(data + bytes(-len(data) % 8), "<u8")
    h = 0xCBF29CE484222325
    for w in words.tolist():
        h = ((h ^ w) * 0x100000001B3) & 0xFFFFFFFFFFFFFFFF
    return f"{h:016x}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--arrays", type=pathlib.Path)
    arguments = parser.parse_args()
    out = {}
    for name, (dtypes, draw) in DRAWS.items():
        for dtype in dtypes:
            a = np.asarray(draw(jax.random.key(7), (N,), DTYPES[dtype]))
            if a.dtype == np.int64 and dtype != "i64":
                a = a.astype(np.int32)
            if arguments.arrays:
                np.save(arguments.arrays / f"{name}.{dtype}.npy", a.view(np.uint16) if dtype == "bf16" and a.itemsize == 2 else a)
            flat = a.reshape(-1)
            first = [flat[i:i + 1].tobytes()[::-1].hex() for i in range(FIRST)]
            out[f"{name}.{dtype}"] = {"digest": digest(a), "shape": list(a.shape), "first": " ".join(first)}
            print(name, dtype, flush=True)
    lines = ",\n".join(f" {json.dumps(k)}: {json.dumps(v)}" for k, v in out.items())
    GOLDEN.write_text("{\n" + lines + "\n}\n")


if __name__ == "__main__":
    main()
