#!/usr/bin/env python3
"""Writes tests/golden/collectives.npz: collectives over named axes of vmap, by JAX, with their derivatives.

Of each case `f` there are: value, vmap(loss(f)); each, vmap(grad(loss(f))); all, grad(sum(vmap(loss(f)))); and the tangent
of vmap(f). Twins of the functions are in tests/control/collectives_golden_test.cpp, by name.
"""
import pathlib

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

jax.config.update("jax_enable_x64", True)
OUT = pathlib.Path(__file__).resolve().parents[2] / "tests" / "golden" / "collectives.npz"


def scan_mean_field(x):
    return lax.scan(lambda c, a: (jnp.tanh(c + lax.pmean(c * a, "i")), lax.psum(c, "i") * a), x,
                    jnp.array([0.5, -1.0, 2.0]))


def cond_on_sum(x):
    return lax.cond(lax.psum(x[0, 0], "i") > 0, lambda v: v * lax.psum(v, "i"), lambda v: -v, x)


@jax.custom_vjp
def scaled_back(x):
    return lax.pmean(x, "i") * x


scaled_back.defvjp(lambda x: (scaled_back(x), (x, lax.pmean(x, "i"))),
                   lambda r, g: (3.0 * g * r[1] + lax.psum(g * r[0], "i"),))

def by_definition(x, source):
    """What the page of pbroadcast says that it is; under vmap it raises in this version."""
    return lax.psum(jnp.where(lax.axis_index("i") == source, x, jnp.zeros_like(x)), "i")


CASES = {
    "psum": lambda x: lax.psum(x, "i"),
    "pmean": lambda x: x - lax.pmean(x, "i"),
    "pmax": lambda x: lax.pmax(x, "i"),
    "pmin": lambda x: lax.pmin(x, "i"),
    "softmax": lambda x: jnp.exp(x) / lax.psum(jnp.exp(x), "i"),
    "all_gather": lambda x: lax.all_gather(x, "i", axis=1),
    "all_gather_tiled": lambda x: lax.all_gather(x, "i", axis=1, tiled=True),
    "psum_scatter": lambda x: lax.psum_scatter(x, "i", scatter_dimension=1),
    "psum_scatter_tiled": lambda x: lax.psum_scatter(x, "i", scatter_dimension=1, tiled=True),
    "all_to_all": lambda x: lax.all_to_all(x, "i", 1, 0),
    "all_to_all_same": lambda x: lax.all_to_all(x, "i", 1, 1),
    "all_to_all_tiled": lambda x: lax.all_to_all(x, "i", 1, 0, tiled=True),
    "ppermute": lambda x: x * lax.ppermute(x, "i", [(0, 2), (1, 0), (2, 3), (3, 1)]),
    "pshuffle": lambda x: x * lax.pshuffle(x, "i", [3, 1, 0, 2]),
    "pswapaxes": lambda x: lax.pswapaxes(x, "i", 1),
    "pbroadcast": lambda x: x * by_definition(x, 2),
    "axis_index": lambda x: x * (lax.axis_index("i") + lax.axis_size("i")),
    "scan": lambda x: scan_mean_field(x)[0] + jnp.sum(scan_mean_field(x)[1], 0),
    "cond": cond_on_sum,
    "jit_inside": jax.jit(lambda x: x * lax.psum(jnp.sin(x), "i")),
    "nested": lambda x: jax.vmap(lambda r: r * lax.psum(r, ("i", "j")) + lax.axis_index(("i", "j")), axis_name="j")(x),
    "custom_vjp": scaled_back,
    "checkpoint": jax.checkpoint(lambda x: jnp.sin(x * lax.psum(jnp.sin(x), "i"))),
}
NO_DERIVATIVE = {"pmax", "pmin"}  # JAX has no rule
NO_EACH = {"all_to_all"}  # its transposition rule raises on its own shapes


def loss(f):
    def of(x):
        y = f(x)
        return jnp.sum(jnp.sin(y) * jnp.cos(jnp.arange(y.size, dtype=y.dtype)).reshape(y.shape))
    return of


def main():
    xs = np.sin(np.arange(32.0) * 1.7).reshape(4, 2, 4)
    out = {"xs": xs}
    for name, f in CASES.items():
        out[f"{name}/out"] = jax.vmap(f, axis_name="i")(xs)
        out[f"{name}/value"] = jax.vmap(loss(f), axis_name="i")(xs)
        if name in NO_DERIVATIVE:
            continue
        if name not in NO_EACH:
            out[f"{name}/each"] = jax.vmap(jax.grad(loss(f)), axis_name="i")(xs)
        out[f"{name}/all"] = jax.grad(lambda x: jnp.sum(jax.vmap(loss(f), axis_name="i")(x)))(xs)
        if name != "custom_vjp":
            out[f"{name}/tangent"] = jax.jvp(jax.vmap(f, axis_name="i"), (xs,), (np.cos(xs),))[1]
    np.savez_compressed(OUT, **{k: np.asarray(v) for k, v in out.items()})
    print(OUT, OUT.stat().st_size)


if __name__ == "__main__":
    main()
