"""JAX's side of a step of Adam (cotan_optimizers.cpp), with optax: parameters and state given away at each call."""

import jax
import jax.numpy as jnp
import optax

import inputs
from worker import Case, summarize


def adam(p):
    optimizer = optax.adam(1e-3)
    params, gradients = ([jnp.asarray(a) for a in leaves] for leaves in inputs.arguments(p))

    def step(params, state, gradients):
        updates, state = optimizer.update(gradients, state, params)
        return optax.apply_updates(params, updates), state

    first = jax.jit(step)(params, optimizer.init(params), gradients)[0]
    numbers = summarize(first)
    donating = jax.jit(step, donate_argnums=(0, 1))
    state = [params, optimizer.init(params)]
    del first

    def run(calls):
        for _ in range(calls):
            state[:] = jax.block_until_ready(donating(*state, gradients))

    return Case(run, lambda: numbers)
