"""What the op names of tests/cases/random_more.json mean in JAX. Goldens are made with x64 on; where JAX draws in the default
float or integer dtype, 32-bit results are drawn in 32 bits here, as without x64, which is what cotan does."""
import functools

import jax
import jax.numpy as jnp
import numpy as np
from jax._src.random import core

_randint = core.randint


def _rademacher(key, shape, dtype, out_sharding):
    half = (np.float64 if np.dtype(dtype).itemsize == 8 else np.float32)(0.5)
    return (2 * core.bernoulli(key, half, shape).astype(dtype) - 1).astype(dtype)


@functools.wraps(_randint)
def _narrow_randint(key, shape, minval, maxval, dtype=np.int32, **options):
    return _randint(key, shape, minval, maxval, dtype, **options)


def _stirling_rest(k):
    """JAX 0.10.2 takes no more than 9 for k in the series, where it is for all that are larger."""
    exact = jnp.array([0.0810614667953272, 0.0413406959554092, 0.0276779256849983, 0.02079067210376509, 0.0166446911898211,
                       0.0138761288230707, 0.0118967099458917, 0.0104112652619720, 0.00925546218271273, 0.00833056343336287],
                      dtype=k.dtype)
    square = (k + 1) * (k + 1)
    series = (1.0 / 12 - (1.0 / 360 - 1.0 / 1260 / square) / square) / (k + 1)
    return jnp.where(k <= 9, exact[jnp.clip(jnp.floor(k), 0, 9).astype(np.int32)], series)


core._rademacher = _rademacher
core._stirling_approx_tail = _stirling_rest
core.randint = _narrow_randint  # for choice; jax.random.randint is the old one


def _sampler(name):
    """Arrays are the key and the first parameters, params the rest by name."""
    f = getattr(jax.random, name)
    return lambda a, p: f(*a, **p)


def _choice(a, p):
    p = dict(p)
    if p.pop("probabilities", False):
        *a, p["p"] = a
    n = p.pop("n", None)
    return jax.random.choice(a[0], *([n] if n is not None else a[1:]), **p)


NAMES = ["lognormal", "maxwell", "double_sided_maxwell", "rayleigh", "wald", "logistic", "cauchy", "pareto", "weibull_min",
         "triangular", "gamma", "loggamma", "beta", "dirichlet", "chisquare", "f", "t", "generalized_normal", "rademacher",
         "geometric", "poisson", "binomial", "multinomial", "multivariate_normal", "orthogonal"]

OPS = {
    **{f"random.{name}": _sampler(name) for name in NAMES},
    "random.ball": lambda a, p: jax.random.ball(a[0], p["d"], *a[1:], **{k: v for k, v in p.items() if k != "d"}),
    "random.choice": _choice,
    "random.categorical_once": lambda a, p: jax.random.categorical(*a, replace=False, **p),
    "random.categorical_mode": _sampler("categorical"), "random.gumbel_mode": _sampler("gumbel"),
    "random.bernoulli_mode": _sampler("bernoulli"),
    "random.permutation_independent": lambda a, p: jax.random.permutation(*a, independent=True, **p),
    "random.PRNGKey": lambda a, p: jax.random.PRNGKey(a[0]),
    "random.split_shape": lambda a, p: jax.random.split(a[0], tuple(p["num"])),
}
