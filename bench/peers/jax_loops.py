"""JAX's side of the loops: filters by scan, affine maps by associative_scan, scans of products, an LSTM."""

import math

import jax
import jax.numpy as jnp
from jax import lax


def kalman_filter(theta, y, m):
    """-2 log likelihood (less a constant) and each step's prediction; theta scales the variances of the noise."""

    def eye(diagonal=0):
        return jnp.eye(m, k=diagonal, dtype=y.dtype)

    F, H = 0.9 * eye() + 0.1 * eye(1), jnp.eye(1, m, dtype=y.dtype)
    Q, R = 0.1 * eye() * jnp.exp(theta[0]), jnp.exp(theta[1])

    def step(carry, seen):
        x, P, likelihood = carry
        v = seen - (H @ x)[0]
        S = (H @ P @ H.T)[0, 0] + R
        FP = F @ P
        K = FP @ H.T / S
        next_x = F @ x + K[:, 0] * v
        next_P = FP @ (F - K @ H).T + Q
        return (next_x, next_P, likelihood + jnp.log(S) + v * v / S), (x, P, v, S)

    start = jnp.zeros(m, y.dtype), 10.0 * eye(), jnp.zeros((), y.dtype)
    (_, _, likelihood), predictions = lax.scan(step, start, y)
    return likelihood, predictions


def compose(first, second):
    A1, b1, S1 = first
    A2, b2, S2 = second
    return A2 @ A1, (A2 @ b1[..., None])[..., 0] + b2, A2 @ S1 @ jnp.swapaxes(A2, -1, -2) + S2


def compose_all(maps):
    return lax.associative_scan(compose, maps)


def matrix_scan(weights, start, steps):
    return lax.scan(lambda c, _: (jnp.tanh(weights @ c), None), start, None, length=steps)[0]


def lstm_loss(lstm, sequence):
    from_input, from_state, bias = lstm

    def step(carry, x):
        state, cell = carry
        gates = x @ from_input + state @ from_state + bias
        i, f, g, o = jnp.split(gates, 4, 1)
        cell = jax.nn.sigmoid(f) * cell + jax.nn.sigmoid(i) * jnp.tanh(g)
        state = jax.nn.sigmoid(o) * jnp.tanh(cell)
        return (state, cell), state

    zero = jnp.zeros((sequence.shape[1], from_state.shape[0]))
    return jnp.mean(lax.scan(step, (zero, zero), sequence)[1] ** 2)


def lstm_step(lstm, sequence):
    loss, gradient = jax.value_and_grad(lstm_loss)(lstm, sequence)
    return loss, jax.tree.map(lambda p, g: p - 0.1 * g, lstm, gradient)


def last_state(weights, feed, steps):
    """Checkpoints as one writes them in JAX: a scan of scans that are run again."""
    inner = next(k for k in range(math.isqrt(steps), 0, -1) if steps % k == 0)

    def step(c, _):
        return jnp.tanh(weights @ c + feed), None

    @jax.checkpoint
    def several(c, _):
        return lax.scan(step, c, None, length=inner)

    return jnp.sum(lax.scan(several, feed, None, length=steps // inner)[0])


# kind -> parameters -> function
KINDS = {
    "kalman": lambda p: lambda theta, y: kalman_filter(theta, y, p["m"]),
    "kalman_grad": lambda p: jax.value_and_grad(lambda theta, y: kalman_filter(theta, y, p["m"])[0]),
    "vmap_kalman": lambda p: jax.vmap(lambda theta, y: kalman_filter(theta, y, p["m"]), in_axes=(None, 0)),
    "associative": lambda p: compose_all,
    "associative_grad": lambda p: jax.value_and_grad(lambda maps: sum(map(jnp.sum, compose_all(maps)))),
    "matrix_scan": lambda p: lambda weights, start: matrix_scan(weights, start, p["steps"]),
    "short_matrix_scan": lambda p: lambda weights, start: matrix_scan(weights, start, p["steps"]),
    "lstm": lambda p: lstm_step,
    "checkpoint": lambda p: jax.value_and_grad(lambda weights, feed: last_state(weights, feed, p["steps"])),
}
