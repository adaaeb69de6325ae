"""JAX's side of: Fourier transforms, complex numbers, statistics, pooling, decompositions (cotan_fourier.cpp, cotan_statistics.cpp)."""

import jax
import jax.numpy as jnp
from jax import lax


def pool(p):
    window, stride = (1, 1, p["window"], p["window"]), (1, 1, p["stride"], p["stride"])
    if p.get("mean"):
        return lambda x: lax.reduce_window(x, 0.0, lax.add, window, stride, "VALID") / p["window"] ** 2
    return lambda x: lax.reduce_window(x, -jnp.inf, lax.max, window, stride, "VALID")


def pool_grad(p):
    return lambda x, cotangent: jax.vjp(pool(p), x)[1](cotangent)[0]


def qr(a):
    q, r = jnp.linalg.qr(a)
    return abs(q), abs(r)


def eig(a):
    w, v = jnp.linalg.eig(a)
    return (abs(w) ** 2).sum(), (abs(v) ** 2).sum()


KINDS = {
    "fft": lambda p: jnp.fft.fft,
    "rfft": lambda p: jnp.fft.rfft,
    "fft2": lambda p: jnp.fft.fft2,
    "complex_gemm": lambda p: lambda a, b: a @ b,
    "complex_arithmetic": lambda p: lambda x, y: x * y / (x + 2) - y.conj(),
    "complex_exp": lambda p: lambda x: jnp.exp(x) * abs(x),
    "segment_sum": lambda p: lambda x, ids: jax.ops.segment_sum(
        x, ids, p["segments"], indices_are_sorted=p.get("sorted", False)
    ),
    "histogram": lambda p: lambda x: jnp.histogram(x, p["bins"]),
    "quantile": lambda p: lambda x: jnp.quantile(x, jnp.array([0.1, 0.5, 0.9], x.dtype)),
    "pool": pool,
    "pool_grad": pool_grad,
    "qr": lambda p: qr,
    "eig": lambda p: eig,
}
