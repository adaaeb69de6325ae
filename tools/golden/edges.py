"""Writes tests/golden/edges.npz: values, first and second derivatives of elementwise functions, as JAX gives them, at points
where something happens: zeros of both signs, infinities, NaN, ties, the ends of domains and of the range. The twin is
tests/unit/edges_test.cpp, which also lists where cotan differs on purpose. Run it with the environment of generate.py."""
import pathlib

import jax
import numpy as np

jax.config.update("jax_enable_x64", True)
jax.config.update("jax_platforms", "cpu")
import jax.numpy as jnp  # noqa: E402
from jax import lax  # noqa: E402
from jax.scipy import special  # noqa: E402

INF, NAN = float("inf"), float("nan")
POINTS = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.0, -2.0, 3.7, -3.7, INF, -INF, NAN, 1e200, -1e200, 1e-200, -1e-200, 700.0, -700.0]
PAIR_POINTS = [0.0, -0.0, 1.0, -1.0, 2.0, 0.5, -2.5, INF, -INF, NAN, 1e200]


def pair(x, other):
    return jnp.stack([x, jnp.full_like(x, other)], -1)


UNARY = {name: getattr(jnp, name) for name in (
    "exp exp2 expm1 log log2 log10 log1p sin cos tan arcsin arccos arctan sinh cosh tanh arcsinh arccosh arctanh sinc "
    "deg2rad rad2deg floor ceil trunc rint abs sign square sqrt cbrt reciprocal negative nan_to_num").split()}
UNARY |= {f"lax.{name}": getattr(lax, name) for name in "rsqrt logistic erf erfc erf_inv lgamma digamma".split()}
UNARY |= {
    "integer_pow_3": lambda x: lax.integer_pow(x, 3),
    "integer_pow_-2": lambda x: lax.integer_pow(x, -2),
    "integer_pow_1": lambda x: lax.integer_pow(x, 1),
    "integer_pow_0": lambda x: x ** 0,
    "power_2": lambda x: jnp.power(x, jnp.float64(2)),
    "power_0": lambda x: jnp.power(x, jnp.zeros_like(x)),
    "power_half": lambda x: jnp.power(x, jnp.full_like(x, 0.5)),
    "power_of_0": lambda x: jnp.power(jnp.zeros_like(x), x),
    "power_of_2": lambda x: jnp.power(jnp.full_like(x, 2.0), x),
    "ldexp_3": lambda x: jnp.ldexp(x, 3),
    "softplus": jax.nn.softplus,
    "log_sigmoid": jax.nn.log_sigmoid,
    "relu": lambda x: jnp.maximum(x, 0.0),
    "clip": lambda x: jnp.clip(x, -1.0, 1.0),
    "clamp": lambda x: lax.clamp(-1.0, x, 1.0),
    "where_sqrt": lambda x: jnp.where(x > 0, jnp.sqrt(jnp.where(x > 0, x, 1.0)), 0.0),
    "norm": lambda x: jnp.linalg.norm(pair(x, 0.0), axis=-1),
    "norm_with_1": lambda x: jnp.linalg.norm(pair(x, 1.0), axis=-1),
    "norm_ord_1": lambda x: jnp.linalg.norm(pair(x, 1.0), 1, axis=-1),
    "norm_ord_inf": lambda x: jnp.linalg.norm(pair(x, 1.0), INF, axis=-1),
    "logsumexp": lambda x: special.logsumexp(pair(x, 0.0), axis=-1),
    "logsumexp_with_inf": lambda x: special.logsumexp(pair(x, -INF), axis=-1),
    "max": lambda x: jnp.max(pair(x, 1.0), -1),
    "min": lambda x: jnp.min(pair(x, 1.0), -1),
    "prod": lambda x: jnp.prod(pair(x, 0.0), -1),
    "var": lambda x: jnp.var(pair(x, 1.0), -1),
    "std": lambda x: jnp.std(pair(x, 1.0), -1),
    "nansum": lambda x: jnp.nansum(pair(x, 1.0), -1),
}
BINARY = {name: getattr(jnp, name) for name in (
    "add subtract multiply divide power floor_divide remainder fmod maximum minimum fmax fmin hypot copysign heaviside "
    "arctan2 logaddexp logaddexp2").split()}


def total(f):
    return lambda *x: jnp.sum(f(*x))


def main():
    out = {"points": np.array(POINTS), "left": np.repeat(PAIR_POINTS, len(PAIR_POINTS)),
           "right": np.tile(PAIR_POINTS, len(PAIR_POINTS))}
    x, left, right = (jnp.asarray(out[k]) for k in ("points", "left", "right"))
    for name, f in UNARY.items():
        first = jax.grad(total(f))
        out[f"{name}/value"], out[f"{name}/d0"] = f(x), first(x)
        out[f"{name}/d00"] = jax.grad(total(first))(x)
    for name, f in BINARY.items():
        out[f"{name}/value"] = f(left, right)
        for i in range(2):
            first = jax.grad(total(f), i)
            out[f"{name}/d{i}"] = first(left, right)
            for k in range(2):
                out[f"{name}/d{i}{k}"] = jax.grad(total(first), k)(left, right)
    target = pathlib.Path(__file__).resolve().parents[2] / "tests/golden/edges.npz"
    np.savez_compressed(target, **{k: np.asarray(v, np.float64) for k, v in out.items()})
    print(f"{target}: {len(out)} arrays")


if __name__ == "__main__":
    main()
