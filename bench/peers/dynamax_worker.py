"""dynamax: linear Gaussian state-space models on JAX, under jit."""

import importlib.metadata
import platform

import jax

jax.config.update("jax_enable_x64", True)
import jax.numpy as jnp
from dynamax.linear_gaussian_ssm import LinearGaussianSSM, lgssm_smoother

import dlm_inputs as d
from worker import Case, serve, summarize


def parameters():
    model = LinearGaussianSSM(2, 1)
    return model.initialize(
        jax.random.PRNGKey(0),
        initial_mean=jnp.array(d.X0),
        initial_covariance=jnp.array(d.C0),
        dynamics_weights=jnp.array(d.G),
        dynamics_covariance=jnp.array(d.W),
        emission_weights=jnp.array(d.F),
        emission_covariance=jnp.array(d.V),
    )[0]


def smoothed(params, y):
    r = lgssm_smoother(params, y[:, None])
    return r.smoothed_means, r.smoothed_covariances


def case(function, y):
    params, y = parameters(), jnp.array(y)
    compiled = jax.jit(function)

    def run(calls):
        for _ in range(calls):
            jax.block_until_ready(compiled(params, y))

    return Case(run, lambda: summarize(compiled(params, y)))


KINDS = {
    "dlm_smooth": lambda p: case(smoothed, d.series(p)),
    "dlm_batch": lambda p: case(jax.vmap(smoothed, (None, 0)), d.many(p)),
}

if __name__ == "__main__":
    serve(
        {
            "dynamax": importlib.metadata.version("dynamax"),
            "jax": jax.__version__,
            "python": platform.python_version(),
        },
        lambda p: KINDS[p["kind"]](p) if p["kind"] in KINDS else None,
    )
