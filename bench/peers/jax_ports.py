"""JAX's side of what ports of its programs showed to be slow in cotan (cotan_ports.cpp)."""

import jax
import jax.numpy as jnp
from jax import lax
from jax.scipy.special import polygamma

SPECIAL = {
    "lgamma": lambda x: lax.lgamma(x * 5 + 5.01),
    "digamma": lambda x: lax.digamma(x * 5 + 5.01),
    "trigamma": lambda x: polygamma(1, x * 5 + 5.01),
    "lgamma_negative": lambda x: lax.lgamma(x * 10 + 0.01),
    "digamma_negative": lambda x: lax.digamma(x * 10 + 0.01),
    "lgamma_grad": jax.grad(lambda x: lax.lgamma(x * 5 + 5.01).sum()),
    "digamma_grad": jax.grad(lambda x: lax.digamma(x * 5 + 5.01).sum()),
    "sin_large": lambda x: jnp.sin(x * 1e15),
    "cos_large": lambda x: jnp.cos(x * 1e15),
    "tan_large": lambda x: jnp.tan(x * 1e15),
}
INTEGERS = {
    "divide": lambda x: x / (jnp.abs(x % 1000) + 1),
    "floor_divide": lambda x: x // (jnp.abs(x % 1000) + 1),
    "clz": lax.clz,
    "population_count": lax.population_count,
    "to_i8": lambda x: x.astype(jnp.int8),
    "to_i16": lambda x: x.astype(jnp.int16),
    "to_f16": lambda x: (x.astype(jnp.float32) * 1e-6).astype(jnp.float16),
}


def gamma_variate(key, alpha):
    """Marsaglia and Tsang: two loops that end when a draw is accepted."""
    d = alpha - 1 / 3
    c = (1 / 3) / jnp.sqrt(d)

    def draw(state):
        key, _, _ = state
        key, used = jax.random.split(key)
        x = jax.random.normal(used)
        return key, x, 1 + x * c

    def step(state):
        key, inner, last = jax.random.split(state[0], 3)
        _, x, v = lax.while_loop(lambda s: s[2] <= 0, draw, (inner, jnp.float32(0), jnp.float32(-1)))
        return key, x * x, v * v * v, jax.random.uniform(last)

    def rejected(state):
        _, square, v, u = state
        unlikely = u >= 1 - 0.0331 * square * square
        return unlikely & (jnp.log(u) >= square * 0.5 + d * (1 - v + jnp.log(v)))

    start = (key, jnp.float32(0), jnp.float32(1), jnp.float32(2))
    return d * lax.while_loop(rejected, step, start)[2]


def gamma_variates(alpha):
    return jax.vmap(gamma_variate)(jax.random.split(jax.random.PRNGKey(0), alpha.size), alpha * 0.5 + 2.5)


def scatter_into(p):
    return lambda into, at, updates: into.at[at].set(updates) if p.get("set") else into.at[at].add(updates)


def index_grad(x, at, weights):
    return jax.grad(lambda a: jnp.sum(a[at] * weights))(x)


def at_set_grad(x, at, updates):
    return jax.grad(lambda a, u: jnp.sum(a.at[at].set(u) ** 2), (0, 1))(x, updates)


def typed_gemm(p):
    return lambda a, b: (a.T if p.get("transpose_left") else a) @ (b.T if p.get("transpose_right") else b)


def svd_full(a):
    u, s, v = jnp.linalg.svd(a, full_matrices=False)
    return abs(u), s, abs(v)


def eigh(a):
    w, v = jnp.linalg.eigh(a)
    return w, abs(v)


def conv2d_transpose(x, kernel):
    return lax.conv_general_dilated(x, kernel, (1, 1), ((1, 2), (1, 2)), lhs_dilation=(2, 2))


KINDS = {
    "special": lambda p: SPECIAL[p["function"]],
    "integers": lambda p: INTEGERS[p["function"]],
    "gamma_variates": lambda p: gamma_variates,
    "scatter_into": scatter_into,
    "index_grad": lambda p: index_grad,
    "at_set_grad": lambda p: at_set_grad,
    "searchsorted": lambda p: jnp.searchsorted,
    "typed_gemm": typed_gemm,
    "svd": lambda p: lambda a: jnp.linalg.svd(a, compute_uv=False),
    "svd_full": lambda p: svd_full,
    "eigh": lambda p: eigh,
    "conv2d_transpose": lambda p: conv2d_transpose,
}
