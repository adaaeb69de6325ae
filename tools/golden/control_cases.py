"""The control-flow cases: twins of the functions in tests/control/*_cases.cpp, by name and in their order.

A case takes options for its scan (reverse) and its inputs, and returns a list of arrays.
"""
from dataclasses import dataclass
from typing import Callable

import jax
import jax.numpy as jnp
from jax import lax
from jax.scipy.linalg import solve_triangular

CASES = []


@dataclass
class Case:
    name: str
    shapes: list
    function: Callable
    forward_only: bool
    variants: bool


def case(*shapes, forward_only=False, variants=False):
    def register(function):
        assert all(c.name != function.__name__ for c in CASES), function.__name__
        CASES.append(Case(function.__name__, list(shapes), function, forward_only, variants))
        return function
    return register


# scan_cases.cpp: what comes out, and the shapes of trees -----------------------------------------------------


@case((), (5,), variants=True)
def scan_sum(o, c, xs):
    return lax.scan(lambda c, x: (c + x, c * x), c, xs, **o)


@case((3, 3), (3,), (5, 3), variants=True)
def scan_rnn(o, w, c, xs):
    def step(c, x):
        n = jnp.tanh(w @ c + x)
        return n, jnp.sum(n)
    return lax.scan(step, c, xs, **o)


@case((2,), (), (5, 2), (5,), variants=True)
def scan_pytree(o, a, b, xs, ys):
    def step(carry, x):
        (a, b), n = carry
        x, y = x
        a = jnp.sin(a * y) + x
        b = b * 0.5 + jnp.sum(a) * n
        return ((a, b), n + 1), (a * b, n, (x + y,))
    ((a, b), n), (p, q, (r,)) = lax.scan(step, ((a, b), 0), (xs, ys), **o)
    return [a, b, n, p, q, r]


@case((2,), (5, 2), (3,), variants=True)
def scan_captured(o, c, xs, d):
    scale = jnp.sum(jnp.cos(d))

    def step(c, x):
        mixed = jnp.cos(jnp.sum(jnp.sin(x)) + jnp.sum(jnp.cos(c)) + jnp.sum(d * d))
        return jnp.sin(c * scale) + mixed, mixed * x
    return lax.scan(step, c, xs, **o)


@case((2, 2), (5, 2, 2), variants=True)
def scan_matrices(o, c, xs):
    def step(c, x):
        n = 0.5 * c @ x + jnp.tanh(c).T
        return n, (n[0], jnp.trace(n))
    c, (p, q) = lax.scan(step, c, xs, **o)
    return [c, p, q]


@case((3,), (4, 3))
def scan_no_ys(o, c, xs):
    c, _ = lax.scan(lambda c, x: (jnp.sin(c) + x, None), c, xs)
    return [c]


@case((4, 3))
def scan_no_carry(o, xs):
    _, ys = lax.scan(lambda c, x: ((), jnp.sin(x) * jnp.sum(x)), (), xs)
    return [ys]


@case((3,))
def scan_no_xs(o, c):
    return lax.scan(lambda c, _: (jnp.sin(c) * 1.5, jnp.sum(c)), c, length=4)


@case((3,))
def scan_no_xs_no_ys(o, c):
    return [lax.scan(lambda c, _: (c * c + 0.5, None), c, length=3)[0]]


@case((2,), (0, 2))
def scan_length_zero(o, c, xs):
    c, (p, q) = lax.scan(lambda c, x: (jnp.sin(c) + x, (c * x, jnp.sum(x))), c, xs)
    return [c, p, q]


@case((2,), (1, 2))
def scan_length_one(o, c, xs):
    return lax.scan(lambda c, x: (jnp.sin(c) * x, c * x), c, xs)


@case((2,), (4, 2))
def scan_x_passed_through(o, c, xs):
    c, (p, q) = lax.scan(lambda c, x: (c * 0.5 + jnp.cos(x), (x, c)), c, xs)
    return [c, p, q]


@case((2,), (4, 2))
def scan_duplicated_outputs(o, c, xs):
    def step(c, x):
        a, b = c
        n = jnp.sin(a) * x + b
        return (n, n), (n, n, x, x)
    (a, b), ys = lax.scan(step, (c, c * 2), xs)
    return [a, b, *ys]


@case((2,), (3,))
def scan_constant_outputs(o, c, xs):
    c, (p, q) = lax.scan(lambda c, x: (c * x, (2.0, jnp.ones(3))), c, xs)
    return [c, p, q]


@case((), (4,))
def scan_y_without_carry(o, c, xs):
    return lax.scan(lambda c, x: (c, jnp.exp(x) * 2), c, xs)


@case((), (4,), (4,), (2,))
def scan_unused_inputs(o, c, xs, ys, w):
    def step(c, x):
        a, b = x
        return c * 0.5, jnp.sin(a)
    return lax.scan(step, c, (xs, ys))


@case((2,), (4, 2))
def scan_integer_ys(o, c, xs):
    def step(c, x):
        n = c + x
        return n, (jnp.argmax(n), n > 0, jnp.floor(4 * n).astype(jnp.int32))
    c, (p, q, r) = lax.scan(step, c, xs)
    return [c, p, q, r]


@case((2,), (4, 2), (4,), (4, 1))
def scan_many_outputs(o, c, xs, ys, zs):
    def step(c, x):
        a, b, d = x
        n = jnp.cos(c) * b + a
        return n, (n, a * b, n * d, jnp.sum(n), b + d)
    c, ys = lax.scan(step, c, (xs, ys, zs))
    return [c, *ys]


@case((2,), (), (2,), (1,), (4, 2))
def scan_many_carries(o, a, b, d, e, xs):
    def step(c, x):
        a, b, d, e = c
        return (jnp.sin(a) + x * b, b * 0.9 + jnp.sum(d), a * d, e + b), a * e
    (a, b, d, e), ys = lax.scan(step, (a, b, d, e), xs)
    return [a, b, d, e, ys]


@case((3,), (4, 3))
def scan_reductions(o, c, xs):
    def step(c, x):
        m = jnp.max(c + x)
        return jnp.exp(x - m) * jnp.mean(c), (m, jax.nn.logsumexp(c * x), jnp.prod(x))
    c, ys = lax.scan(step, c, xs)
    return [c, *ys]


@case((2,), (2, 3, 2))
def scan_slices_of_higher_rank(o, c, xs):
    return lax.scan(lambda c, x: (c + jnp.sum(x, axis=0), x * c), c, xs)


@case((2,), (4, 2))
def scan_then_scan(o, c, xs):
    c, ys = lax.scan(lambda c, x: (jnp.sin(c + x), c * x), c, xs)
    d, zs = lax.scan(lambda d, y: (d * y + 1, jnp.cos(d)), c, ys, reverse=True)
    return [d, zs]


# carry_cases.cpp: how carries come to be what they are -------------------------------------------------------


@case((2,), (), (4, 2))
def carry_unchanged(o, c, k, xs):
    def step(carry, x):
        c, k, m = carry
        return (jnp.sin(c) * k + x * m, k, m), (c, k * x)
    (c, k, m), (p, q) = lax.scan(step, (c, k, k * 2), xs)
    return [c, k, m, p, q]


@case((2,), (2,), (4, 2))
def carry_swapped(o, a, b, xs):
    (a, b), ys = lax.scan(lambda c, x: ((c[1], c[0] * x), c[0] + c[1]), (a, b), xs)
    return [a, b, ys]


@case((), (4,))
def carry_counter(o, c, xs):
    def step(carry, x):
        c, i = carry
        return (c * 0.5 + x * i, i + 1), (c * i, i)
    (c, i), (p, q) = lax.scan(step, (c, 0), xs)
    return [c, i, p, q]


@case((4, 2))
def carry_flag(o, xs):
    def step(carry, x):
        c, flag = carry
        return (jnp.where(flag, c + x, c * x), ~flag), flag
    (c, flag), ys = lax.scan(step, (jnp.ones(2), True), xs)
    return [c, flag, ys]


@case((2,), (4, 2))
def carry_set_to_constant(o, c, xs):
    (a, b), ys = lax.scan(lambda c, x: ((jnp.ones(2), c[0] * x), c[0] + c[1]), (c, c), xs)
    return [a, b, ys]


@case((2,), (2,), (4, 2))
def carry_shift_register(o, a, b, xs):
    (a, b), ys = lax.scan(lambda c, x: ((x, c[0]), x * c[0] * c[1]), (a, b), xs)
    return [a, b, ys]


@case((3,), (5,))
def carry_window(o, w, xs):
    def step(window, x):
        window = jnp.concatenate([window[1:], x[None]])
        return window, jnp.dot(window, w)
    return lax.scan(step, jnp.zeros(3), xs)


@case((5,), ())
def carry_filled_by_index(o, xs, a):
    def step(carry, x):
        filled, i = carry
        return (filled.at[i].set(jnp.sin(x) * a + filled[i - 1]), i + 1), None
    (filled, i), _ = lax.scan(step, (jnp.zeros(5), 0), xs)
    return [filled, i]


@case((6,), (3,))
def carry_read_by_dynamic_slice(o, table, xs):
    def step(carry, x):
        s, i = carry
        part = lax.dynamic_slice(table, (i,), (3,))
        return (s + jnp.sum(part * part) * x, i + 1), part
    (s, i), ys = lax.scan(step, (0.0, 0), xs)
    return [s, i, ys]


@case((2,), (4, 2))
def carry_written_by_dynamic_update(o, c, xs):
    def step(carry, x):
        grid, i = carry
        return (lax.dynamic_update_slice(grid, (x * c)[None], (i, 0)), i + 1), jnp.sum(grid)
    (grid, i), ys = lax.scan(step, (jnp.zeros((4, 2)), 0), xs)
    return [grid, ys]


@case((4,))
def carry_weak_scalar(o, xs):
    (a, b), ys = lax.scan(lambda c, x: ((c[0] + x, c[1] * 2), c[0] * x), (0, 1.0), xs.astype(xs.dtype))
    return [a, b, ys]


@case((2,), (4, 2))
def carry_vector(o, c, xs):
    cs, ys = lax.scan(lambda cs, x: ([cs[1] * x, cs[2], jnp.sin(cs[0])], cs[2]), [c, c * 2, c * 3], xs)
    return [*cs, ys]


@case((2,), (4, 2))
def carry_struct(o, c, xs):
    def step(state, x):
        p, v, t = state
        v = v - 0.1 * jnp.sin(p) + x
        return (p + 0.1 * v, v, t + 1), p * v
    (p, v, t), ys = lax.scan(step, (c, c * 0.5, 0), xs)
    return [p, v, t, ys]


@case((2,), (4, 2))
def carry_fibonacci(o, c, xs):
    (a, b), ys = lax.scan(lambda c, _: ((c[1], c[0] + c[1]), c[0]), (0, 1), length=10)
    return [a, b, ys, c * a]


# Fixpoints: from input 0 the derivative, or the batch, reaches the last carry after 1, 2, 3 rounds.


@case((), (4,))
def carry_chain_of_two(o, s, xs):
    (a, b), ys = lax.scan(lambda c, x: ((c[0] * x + s, jnp.sin(c[0]) + c[1] * 0.5), c[1]), (jnp.ones(()), jnp.ones(())), xs)
    return [a, b, ys]


@case((), (5,))
def carry_chain_of_three(o, s, xs):
    one = jnp.ones(())
    def step(c, x):
        a, b, d = c
        return (a * s, b + jnp.sin(a), d * x + b), d
    (a, b, d), ys = lax.scan(step, (one, one, one), xs)
    return [a, b, d, ys]


@case((), (5,))
def carry_chain_of_four(o, s, xs):
    one = jnp.ones(2)
    def step(c, x):
        a, b, d, e = c
        return (a * 0.5 + b, b * x + d * d, jnp.cos(d) * e, e * s), (a, x)
    (a, b, d, e), (p, q) = lax.scan(step, (one, one, one, one), xs)
    return [a, b, d, e, p, q]


@case((2,), (4, 2))
def carry_stopped_gradient(o, c, xs):
    def step(c, x):
        n = jnp.sin(c) * x + lax.stop_gradient(c * c)
        return n, lax.stop_gradient(n)
    return lax.scan(step, c, xs)


# view_cases.cpp: scans over views, and views of what scans give ----------------------------------------------


def _mix(c, x):
    n = jnp.sin(c) * x + 0.5 * c
    return n, n * x


def _view_case(name, shape, view, carry=2):
    def function(o, c, xs):
        return lax.scan(_mix, c, view(xs), **o)
    function.__name__ = name
    case((carry,), shape, variants=True)(function)


_view_case("view_sliced", (7, 2), lambda x: x[1:6])
_view_case("view_strided", (9, 2), lambda x: x[::2])
_view_case("view_reversed", (5, 2), lambda x: x[::-1])
_view_case("view_sliced_columns", (5, 4), lambda x: x[:, 1:3])
_view_case("view_transposed", (2, 5), lambda x: x.T)
_view_case("view_reshaped", (10,), lambda x: x.reshape(5, 2))
_view_case("view_broadcast", (2,), lambda x: jnp.broadcast_to(x, (5, 2)))
_view_case("view_axes_moved", (2, 3, 5), lambda x: jnp.moveaxis(x, 2, 0)[:, :, 0])
_view_case("view_concatenated", (3, 2), lambda x: jnp.concatenate([x, x[:2] * 2]))
_view_case("view_padded", (3, 2), lambda x: jnp.pad(x, ((1, 1), (0, 0))))
_view_case("view_row_repeated", (5, 1), lambda x: jnp.broadcast_to(x, (5, 2)))
_view_case("view_reversed_transposed_slice", (4, 6), lambda x: x[1:3, :5][:, ::-1].T)


@case((2, 3), (3, 4, 2))
def view_of_the_carry(o, c, xs):
    def step(c, x):
        n = jnp.sin(c).T.reshape(2, 3) + x[:, :1].reshape(1, 4)[:, :3]
        return n, n[::-1, 1:]
    return lax.scan(step, c, xs)


@case((2,), (4, 2))
def view_of_the_ys(o, c, xs):
    c, ys = lax.scan(_mix, c, xs)
    return [ys.T[::-1], ys[1::2].reshape(-1), c[::-1]]


@case((2, 2), (4, 3, 2))
def view_one_x_twice(o, c, xs):
    c, ys = lax.scan(lambda c, x: (c * x[0][1:] + x[1], x[2] * 2), c, (xs, xs[:, :2], xs[::-1, 0]))
    return [c, ys]


# nested_cases.cpp: loops in loops, and other transforms in bodies --------------------------------------------


@case((2,), (3, 4, 2), variants=False)
def nested_scan_over_rows(o, c, xs):
    def outer(c, row):
        d, ys = lax.scan(lambda d, x: (jnp.sin(d) + x, d * x), c, row)
        return d * 0.5, (ys, jnp.sum(d))
    c, (p, q) = lax.scan(outer, c, xs)
    return [c, p, q]


@case((2,), (3, 2), (4,))
def nested_scan_captures_the_outer_carry(o, c, xs, ys):
    def outer(c, x):
        d, zs = lax.scan(lambda d, y: (d * y + c, jnp.sum(d * x)), x, ys)
        return jnp.cos(d), zs
    return lax.scan(outer, c, xs)


@case((2,), (2, 3, 2, 2))
def nested_three_deep(o, c, xs):
    def inner(c, x):
        return jnp.sin(c) * x + c, jnp.sum(c * x)

    def middle(c, x):
        return lax.scan(inner, c * 0.5, x)

    def outer(c, x):
        return lax.scan(middle, c + 0.1, x, reverse=True)
    return lax.scan(outer, c, xs)


@case((2,), (3, 2))
def nested_scan_in_fori(o, c, xs):
    def body(i, c):
        return lax.scan(lambda c, x: (jnp.sin(c) * x + i * 0.1, None), c, xs)[0]
    return [lax.fori_loop(0, 3, body, c)]


@case((2,), (3, 2))
def nested_fori_in_scan(o, c, xs):
    return lax.scan(lambda c, x: (lax.fori_loop(0, 3, lambda i, d: jnp.sin(d) * x + i, c), c * x), c, xs)


@case((2,), (3, 2), forward_only=True)
def nested_scan_in_while(o, c, xs):
    def body(carry):
        c, i = carry
        return lax.scan(lambda c, x: (jnp.tanh(c) + x, None), c, xs)[0], i + 1
    c, i = lax.while_loop(lambda carry: carry[1] < 3, body, (c, 0))
    return [c, i]


@case((2,), (3, 2), forward_only=True)
def nested_while_in_scan(o, c, xs):
    def step(c, x):
        d, n = lax.while_loop(lambda s: jnp.sum(s[0] * s[0]) < 9, lambda s: (s[0] * 1.5 + x * 0.1, s[1] + 1), (c, 0))
        return d * 0.25, n
    return lax.scan(step, c + 2, xs)


@case((2,), (4, 2))
def nested_cond_in_scan(o, c, xs):
    def step(c, x):
        n = lax.cond(jnp.sum(x) > 0, lambda c: jnp.sin(c) * x, lambda c: c * c + x, c)
        return n, c
    return lax.scan(step, c, xs)


@case((2,), (4, 2), ())
def nested_scan_in_cond(o, c, xs, p):
    def yes(c, xs):
        return lax.scan(lambda c, x: (jnp.sin(c) * x, c + x), c, xs)

    def no(c, xs):
        return lax.scan(lambda c, x: (c + x * p, c * x), c, xs, reverse=True)
    return lax.cond(p > 0, yes, no, c, xs)


@case((2,), (6, 2))
def nested_switch_in_scan(o, c, xs):
    def step(carry, x):
        c, i = carry
        n = lax.switch(i % 3, [lambda c: jnp.sin(c), lambda c: c * x, lambda c: c * c * 0.5 + x], c)
        return (n, i + 1), i
    (c, i), ys = lax.scan(step, (c, 0), xs)
    return [c, ys]


@case((2,), (3, 4))
def nested_map_in_scan(o, c, xs):
    def step(c, x):
        m = lax.map(lambda a: jnp.sin(a) * c, x)
        return jnp.sum(m, 0), m
    return lax.scan(step, c, xs)


@case((2,), (3, 4, 2))
def nested_scan_in_map(o, c, xs):
    return [lax.map(lambda x: lax.scan(_mix, c, x)[1], xs)]


@case((2,), (3, 4, 2))
def nested_associative_scan_in_scan(o, c, xs):
    def step(c, x):
        p = lax.associative_scan(lambda a, b: a * b, x * 0.5 + 1)
        return jnp.sin(c) + p[-1], p * c
    return lax.scan(step, c, xs)


@case((2,), (3, 2))
def nested_jit_in_scan(o, c, xs):
    step = jax.jit(lambda c, x: (jnp.sin(c) * x, jnp.sum(c)))
    return lax.scan(step, c, xs)


@case((2,), (3, 2))
def nested_checkpoint_in_scan(o, c, xs):
    step = jax.checkpoint(lambda c, x: (jnp.sin(jnp.sin(c) * x) + c, jnp.exp(c * x)))
    return lax.scan(step, c, xs)


@case((3, 2), (4, 2))
def nested_vmap_in_scan(o, c, xs):
    def step(c, x):
        return jax.vmap(lambda a: jnp.sin(a) * x + jnp.sum(a))(c), jnp.sum(c)
    return lax.scan(step, c, xs)


@case((2,), (3, 2))
def nested_grad_in_scan(o, c, xs):
    def step(c, x):
        g = jax.grad(lambda c: jnp.sum(jnp.sin(c * x) * c))(c)
        return c - 0.1 * g, g
    return lax.scan(step, c, xs)


@case((2,), (3, 2))
def nested_jvp_in_scan(o, c, xs):
    def step(c, x):
        y, t = jax.jvp(lambda c: jnp.sin(c) * c, (c,), (x,))
        return y * 0.5, t
    return lax.scan(step, c, xs)


@case((2,), (3, 2))
def nested_grad_of_scan_in_scan(o, c, xs):
    def step(c, x):
        def inner(d):
            e, ys = lax.scan(lambda e, y: (jnp.sin(e * y), e), d, xs)
            return jnp.sum(e) + jnp.sum(ys * x)
        return c - 0.1 * jax.grad(inner)(c), None
    return [lax.scan(step, c, xs)[0]]


@jax.custom_jvp
def _guarded(x):
    return jnp.sin(x) * x


@_guarded.defjvp
def _guarded_jvp(primals, tangents):
    (x,), (t,) = primals, tangents
    return _guarded(x), (jnp.sin(x) + x * jnp.cos(x)) * t


@case((2,), (3, 2))
def nested_custom_jvp_in_scan(o, c, xs):
    return lax.scan(lambda c, x: (_guarded(c) + x, c), c, xs)


@case((2,), (4, 3))
def nested_cumsum_in_scan(o, c, xs):
    def step(c, x):
        s = jnp.cumsum(x * c[0])
        return jnp.sin(c) + s[1:], s
    return lax.scan(step, c, xs)


@case((3,), (2, 3))
def nested_scan_of_scanned_ys(o, c, xs):
    def step(c, x):
        _, ys = lax.scan(lambda a, b: (a + b, a * b), c[0], x)
        return ys + c, ys
    return lax.scan(step, c, xs)


@case((2,), (3, 2))
def nested_scan_with_no_carry_reading_outer_carry(o, c, xs):
    def step(c, x):
        _, ys = lax.scan(lambda _, a: ((), jnp.sin(a * c)), (), x)
        return jnp.sum(ys, 0) + 0.1, ys
    return lax.scan(step, c, xs)


@case((2, 2), (2,), (6, 2))
def nested_kalman_filter(o, a, m, ys):
    h = jnp.array([1.0, 0.5])

    def step(carry, y):
        m, p, loglik = carry
        m, p = a @ m, a @ p @ a.T + 0.3 * jnp.eye(2)
        s = h @ p @ h + 0.2
        gain = p @ h / s
        v = y[0] - h @ m
        return (m + gain * v, p - jnp.outer(gain, gain) * s, loglik - 0.5 * (v * v / s + jnp.log(s))), m
    (m, p, loglik), ms = lax.scan(step, (m, jnp.eye(2), 0.0), ys)
    return [m, p, loglik, ms]


# routine_cases.cpp: operations on whole arrays in bodies -----------------------------------------------------


def _positive(a):
    return a @ jnp.swapaxes(a, -1, -2) + 2 * jnp.eye(a.shape[-1])


@case((3,), (3, 3, 3))
def routine_cholesky(o, c, xs):
    def step(c, x):
        l = jnp.linalg.cholesky(_positive(x) + jnp.diag(c * c))
        return jnp.sin(l @ c), l
    return lax.scan(step, c, xs)


@case((3,), (3, 3, 3))
def routine_cholesky_reverse(o, c, xs):
    def step(c, x):
        l = jnp.linalg.cholesky(_positive(x))
        return jnp.tanh(l @ c) + 0.1, jnp.sum(jnp.log(jnp.diag(l)))
    return lax.scan(step, c, xs, reverse=True)


@case((3,), (3, 3), (4, 3))
def routine_triangular_solve(o, c, a, xs):
    low = jnp.tril(a) + 2 * jnp.eye(3)

    def step(c, x):
        y = solve_triangular(low, jnp.sin(c) + x, lower=True)
        z = solve_triangular(low, y, lower=True, trans=1)
        return z, y
    return lax.scan(step, c, xs)


@case((3,), (3, 3, 3))
def routine_solve(o, c, xs):
    def step(c, x):
        y = jnp.linalg.solve(x + 3 * jnp.eye(3), c + 1)
        return jnp.sin(y), y
    return lax.scan(step, c, xs)


@case((), (3, 3, 3))
def routine_determinant(o, c, xs):
    def step(c, x):
        a = x + (2 + c) * jnp.eye(3)
        return jnp.sin(c) + 0.1 * jnp.linalg.det(a), jnp.linalg.slogdet(a)[1]
    return lax.scan(step, c, xs)


@case((2, 2), (3, 2, 2))
def routine_inverse(o, c, xs):
    def step(c, x):
        i = jnp.linalg.inv(x + 2.5 * jnp.eye(2))
        return jnp.sin(c @ i), i
    return lax.scan(step, c, xs)


@case((3, 2), (3, 3, 2))
def routine_qr(o, c, xs):
    def step(c, x):
        q, r = jnp.linalg.qr(c + x + 2 * jnp.eye(3, 2))
        return c * 0.5 + q * q, jnp.abs(r)
    return lax.scan(step, c, xs)


@case((3,), (3, 3, 3))
def routine_eigh(o, c, xs):
    def step(c, x):
        w = jnp.linalg.eigvalsh(x + x.T + jnp.diag(jnp.array([0.0, 2.0, 5.0])))
        return jnp.sin(c) + w * 0.3, w
    return lax.scan(step, c, xs)


@case((4,), (3, 4))
def routine_sort(o, c, xs):
    def step(c, x):
        s = jnp.sort(c + x)
        return s * 0.5 + x, s
    return lax.scan(step, c, xs)


@case((4,), (3, 4))
def routine_sort_passed_through(o, c, xs):
    c, ys = lax.scan(lambda c, x: (c, jnp.sort(x * c)), c, xs)
    return [c, ys]


@case((4,), (3, 4))
def routine_argsort(o, c, xs):
    def step(c, x):
        i = jnp.argsort(x)
        return jnp.sin(c)[i] + x, i
    return lax.scan(step, c, xs)


@case((4,), (3, 4))
def routine_top_k(o, c, xs):
    def step(c, x):
        v, i = lax.top_k(c * x, 2)
        return c.at[i].add(v), (v, i)
    c, (v, i) = lax.scan(step, c, xs)
    return [c, v, i]


@case((5, 2), (4, 3))
def routine_gather(o, table, xs):
    def step(c, x):
        i = jnp.floor(x * 1.9 + 2.5).astype(jnp.int32)
        rows = table[jnp.clip(i, 0, 4)]
        return jnp.sin(c) + jnp.sum(rows * x[:, None], 0), rows
    return lax.scan(step, jnp.zeros(2), xs)


@case((5,), (4, 3))
def routine_scatter_add(o, c, xs):
    def step(c, x):
        i = jnp.clip(jnp.floor(x * 1.9 + 2.5).astype(jnp.int32), 0, 4)
        return (c * 0.5).at[i].add(jnp.sin(x)), c
    return lax.scan(step, c, xs)


@case((5, 2), (4, 2))
def routine_scatter_set(o, c, xs):
    def step(carry, x):
        c, i = carry
        return (c.at[i].set(x * c[4 - i]).at[:, 0].multiply(0.5), i + 1), c[i]
    (c, i), ys = lax.scan(step, (c, 0), xs)
    return [c, ys]


@case((2,), (3, 2))
def routine_random_normal(o, c, xs):
    def step(carry, x):
        c, key = carry
        key, sub = jax.random.split(key)
        return (c * 0.5 + x * jax.random.normal(sub, (2,), c.dtype), key), jax.random.bits(sub, (2,), jnp.uint32)
    (c, key), ys = lax.scan(step, (c, jax.random.PRNGKey(3)), xs)
    return [c, key, ys]


@case((2,), (3, 2))
def routine_random_fold_in(o, c, xs):
    key = jax.random.PRNGKey(7)

    def step(carry, x):
        c, i = carry
        u = jax.random.uniform(jax.random.fold_in(key, i), (2,), c.dtype)
        return (jnp.sin(c) + u * x, i + 1), u
    (c, i), ys = lax.scan(step, (c, 0), xs)
    return [c, ys]


@case((3,), (3, 3))
def routine_cumulative(o, c, xs):
    def step(c, x):
        p = jnp.cumprod(x * 0.5 + 1)
        return jnp.cumsum(jnp.sin(c) * p), (p, lax.cummax(c))
    c, (p, q) = lax.scan(step, c, xs)
    return [c, p, q]


@case((2, 3), (3, 3, 2))
def routine_einsum(o, c, xs):
    def step(c, x):
        return jnp.tanh(jnp.einsum("ij,jk,kl->il", c, x, c)), jnp.einsum("ij,ji->", c, x)
    return lax.scan(step, c, xs)


@case((6,), (3, 3))
def routine_convolution(o, c, xs):
    def step(c, x):
        n = jnp.convolve(c, x, mode="same")
        return jnp.tanh(n), n
    return lax.scan(step, c, xs)


@case((3,), (3, 3, 3))
def routine_mixed_with_kernels(o, c, xs):
    def step(c, x):
        a = _positive(x * 0.5) * jnp.exp(0.1 * jnp.sum(c))
        l = jnp.linalg.cholesky(a)
        y = solve_triangular(l, c + 1, lower=True)
        s = jnp.sort(y * y)
        return jnp.sin(s) + c * 0.1, (jnp.sum(jnp.log(jnp.diag(l))), s[::-1])
    c, (p, q) = lax.scan(step, c, xs)
    return [c, p, q]


@case((2, 3), (2, 2, 3, 3))
def routine_batched_cholesky(o, c, xs):
    def step(c, x):
        l = jnp.linalg.cholesky(_positive(x))
        return jnp.einsum("bij,bj->bi", l, jnp.sin(c)), l[:, 2]
    return lax.scan(step, c, xs)


# branch_cases.cpp: cond and switch ----------------------------------------------------------------------------


def _cond_case(name, predicate):
    def function(o, p, x):
        return [lax.cond(predicate(p), lambda x: jnp.sin(x) * p, lambda x: x * x + p, x)]
    function.__name__ = name
    case((), (3,))(function)


_cond_case("cond_on_input", lambda p: p > 0)
_cond_case("cond_on_negated_input", lambda p: p < 0)
_cond_case("cond_always", lambda p: True)
_cond_case("cond_never", lambda p: False)
_cond_case("cond_on_integer", lambda p: jnp.floor(p).astype(jnp.int32))
_cond_case("cond_on_float", lambda p: jnp.maximum(p, 0))


@case((), (3,), (3,))
def cond_of_trees(o, p, x, y):
    (a, b), d = lax.cond(p > -0.5, lambda t, z: ((t[0] * t[1], jnp.sum(z)), z), lambda t, z: ((t[1], jnp.max(z) * p), t[0]),
                         (x, y), jnp.cos(x))
    return [a, b, d]


@case((), (3,))
def cond_without_arguments(o, p, x):
    return [lax.cond(p > 0, lambda: x * p, lambda: jnp.cos(x))]


@case((), (3,))
def cond_constant_branch(o, p, x):
    return [lax.cond(p > 0, lambda x: jnp.ones(3), lambda x: x * x, x), lax.cond(p > 0, lambda x: x * x, lambda x: jnp.zeros(3), x)]


@case((), (3,))
def cond_passes_through(o, p, x):
    return list(lax.cond(p > 0, lambda x, y: (x, y, x), lambda x, y: (y, x, y), x, x * p))


@case((), (3,))
def cond_nested(o, p, x):
    def yes(x):
        return lax.cond(jnp.sum(x) > 0, lambda x: jnp.sin(x) * p, lambda x: jnp.exp(x), x)
    return [lax.cond(p > -0.8, yes, lambda x: -x * p, x)]


@case((), (3,))
def cond_weak_result(o, p, x):
    return [lax.cond(p > 0, lambda s: s * 2, lambda s: jnp.float64(1.0), jnp.sum(x))]


@case((), (2, 3), (3, 2))
def cond_other_residuals(o, p, a, b):
    def yes(a, b):
        return jnp.tanh(a @ b) * p

    def no(a, b):
        return jnp.sin(a[:, :2]) * jnp.exp(b[:2] * p) + jnp.prod(a)
    return [lax.cond(p > 0, yes, no, a, b)]


@case((), (3,))
def cond_linear(o, p, x):
    return [lax.cond(p > 0, lambda x: 2 * x, lambda x: jnp.flip(x) - x, x)]


@case((4,), (4,))
def cond_nan_safe(o, ps, xs):
    def one(p, x):
        return lax.cond(p > 0.3, lambda x: jnp.sqrt(x), lambda x: x * 3, x)
    # Zeros where the predicate is false: the square root has no derivative there.
    xs = jnp.where(ps > 0.3, xs * xs, 0.0 * xs)
    return [jax.vmap(one)(ps, xs)]


@case((4,), (4,))
def cond_log_of_negative_lanes(o, ps, xs):
    def one(x):
        return lax.cond(x > 0, lambda x: jnp.log(x), lambda x: jnp.exp(x) - 1, x)
    return [jax.vmap(one)(xs + 0.1 * ps)]


@case((3,), (3,))
def cond_shared_operand_under_batched_predicate(o, ps, x):
    return [jax.vmap(lambda p: lax.cond(p > 0, lambda x: x * jnp.sum(x), lambda x: jnp.sin(x), x))(ps)]


@case((), (3,))
def cond_computes_integers(o, p, x):
    i, y = lax.cond(p > 0, lambda x: (jnp.argmax(x), x), lambda x: (jnp.argmin(x), x * 2), x)
    return [i, y * i]


@case((), (3,))
def cond_in_sequence(o, p, x):
    for k in range(3):
        x = lax.cond(x[k] > p, lambda x: jnp.sin(x) + p, lambda x: x * x, x)
    return [x]


def _switch_case(name, index):
    def function(o, p, x):
        branches = [lambda x: jnp.sin(x), lambda x: x * p, lambda x: jnp.exp(x) * p * p, lambda x: x]
        return [lax.switch(index(p), branches, x)]
    function.__name__ = name
    case((), (3,))(function)


_switch_case("switch_first", lambda p: 0)
_switch_case("switch_third", lambda p: 2)
_switch_case("switch_below", lambda p: -5)
_switch_case("switch_above", lambda p: 17)
_switch_case("switch_on_input", lambda p: jnp.floor(p * 2 + 2).astype(jnp.int32))


@case((), (3,))
def switch_of_trees(o, p, x):
    i = jnp.floor(p + 1.5).astype(jnp.int32)
    a, (b,) = lax.switch(i, [lambda x, y: (x, (y,)), lambda x, y: (x * y, (jnp.sum(x),)), lambda x, y: (x + y, (y * y,))],
                         x, jnp.sum(x) * p)
    return [a, b]


@case((5,), (5, 2))
def switch_under_vmap(o, ps, xs):
    def one(p, x):
        i = jnp.floor(p * 2).astype(jnp.int32)
        return lax.switch(i, [lambda x: jnp.sin(x) * p, lambda x: x * x, lambda x: jnp.sqrt(jnp.abs(x)) + p], x)
    return [jax.vmap(one)(ps, xs)]


@case((), (3,))
def switch_of_one(o, p, x):
    return [lax.switch(3, [lambda x: x * p], x)]


# while_cases.cpp: while_loop and fori_loop --------------------------------------------------------------------


@case((), forward_only=True)
def while_doubles(o, x):
    return [lax.while_loop(lambda c: c < 10, lambda c: c * 2, jnp.abs(x) + 0.1)]


@case((), forward_only=True)
def while_newton(o, x):
    a = x * x + 1
    def body(s):
        y, _ = s
        n = 0.5 * (y + a / y)
        return n, jnp.abs(n - y)
    y, _ = lax.while_loop(lambda s: s[1] > 1e-3, body, (a, a))
    return [y]


@case((2,), (2,), forward_only=True)
def while_tree(o, x, y):
    def body(s):
        x, y, i = s
        return jnp.sin(x) + y, y * 0.9, i + 1
    x, y, i = lax.while_loop(lambda s: s[2] < 4, body, (x, y, 0))
    return [x, y, i]


@case((), (), forward_only=True)
def while_captures(o, x, limit):
    top, step = jnp.abs(limit) + 3, x * x + 0.5
    return [lax.while_loop(lambda c: c < top, lambda c: c + step, x)]


@case((), forward_only=True)
def while_never_runs(o, x):
    return [lax.while_loop(lambda c: c > 100, lambda c: c * 2, x)]


@case((3,), forward_only=True)
def while_collatz(o, x):
    def one(n):
        def body(s):
            n, k = s
            return jnp.where(n % 2 == 0, n // 2, 3 * n + 1), k + 1
        return lax.while_loop(lambda s: s[0] != 1, body, (n, 0))[1]
    return [jax.vmap(one)(jnp.abs(jnp.floor(x * 20)).astype(jnp.int32) + 1)]


@case((3,), (3,), forward_only=True)
def while_lanes_finish_apart(o, x, y):
    def one(x, y):
        return lax.while_loop(lambda s: s[0] < 5, lambda s: (s[0] + 1 + y * y, s[1] * 0.5 + jnp.sin(s[0]), s[2] + 1), (x, y, 0))
    return list(jax.vmap(one)(x, y))


@case((3,), forward_only=True)
def while_lanes_share_the_count(o, x):
    def one(x):
        return lax.while_loop(lambda s: s[1] < 4, lambda s: (jnp.sin(s[0]) * 2, s[1] + 1), (x, 0))
    return list(jax.vmap(one)(x))


@case((), forward_only=True)
def while_nested(o, x):
    def outer(s):
        c, i = s
        d, _ = lax.while_loop(lambda t: t[1] < i, lambda t: (jnp.sin(t[0]) + x, t[1] + 1), (c, 0))
        return d, i + 1
    c, i = lax.while_loop(lambda s: s[1] < 4, outer, (x, 0))
    return [c, i]


@case((), (2,), forward_only=True)
def while_tangent_after_three_rounds(o, x, y):
    one = jnp.ones(2)
    def body(s):
        a, b, c, i = s
        return a * x, b + jnp.sin(a), c * y + b, i + 1
    a, b, c, i = lax.while_loop(lambda s: s[3] < 5, body, (one, one, one, 0))
    return [a, b, c]


@case((2,), (2,), forward_only=True)
def while_predicate_turns_batched(o, x, y):
    def body(s):
        a, b, i = s
        return a + 0.5 * b, b * 0.9 + x, i + 1
    a, b, i = lax.while_loop(lambda s: (jnp.sum(s[0]) < 6) & (s[2] < 9), body, (jnp.zeros(2), jnp.ones(2), 0))
    return [a, b, i]


@case((3,), forward_only=True)
def while_with_a_constant_carry(o, x):
    a, b, i = lax.while_loop(lambda s: s[2] < 3, lambda s: (s[0] * s[1], s[1], s[2] + 1), (x, x + 1, 0))
    return [a, b]


@case((3,), (5,), forward_only=True)
def while_with_gather_and_cond(o, x, table):
    def body(s):
        x, i = s
        y = lax.cond(table[i] > 0, lambda x: jnp.sin(x) * table[i], lambda x: x - table[i], x)
        return y, i + 1
    x, i = lax.while_loop(lambda s: s[1] < 5, body, (x, 0))
    return [x]


@case((3,))
def fori_static(o, x):
    return [lax.fori_loop(0, 4, lambda i, c: jnp.sin(c) * (i + 1), x)]


@case((3,))
def fori_from_negative(o, x):
    return [lax.fori_loop(-2, 3, lambda i, c: c * 0.5 + i * x, x)]


@case((3,))
def fori_no_steps(o, x):
    return [lax.fori_loop(3, 1, lambda i, c: c * 100, x)]


@case((3,), (5,))
def fori_tree_and_gather(o, x, table):
    a, b = lax.fori_loop(0, 5, lambda i, c: (jnp.sin(c[0]) + table[i], c[1].at[i].set(jnp.sum(c[0]))), (x, jnp.zeros(5)))
    return [a, b]


@case((2, 3))
def fori_nested(o, x):
    return [lax.fori_loop(0, 2, lambda i, c: lax.fori_loop(0, 3, lambda j, d: d.at[i, j].multiply(i + j + 0.5), c), x)]


@case((3,), (3,))
def fori_integers(o, x, y):
    n = lax.fori_loop(0, 6, lambda i, n: n * 3 + i, 1)
    return [n, x * n]


@case((), forward_only=True)
def fori_traced_bounds(o, x):
    n = jnp.floor(jnp.abs(x) * 5).astype(jnp.int32)
    return [lax.fori_loop(0, n, lambda i, c: c * 0.5 + i, x), n]


# map_cases.cpp ------------------------------------------------------------------------------------------------


@case((5, 2), (2,))
def map_plain(o, xs, w):
    return [lax.map(lambda x: jnp.sin(x) * w + jnp.sum(x), xs)]


@case((5, 2), (5,))
def map_trees(o, xs, ys):
    (a, b), c = lax.map(lambda t: ((t[0] * t[1], t[1]), jnp.sum(t[0])), (xs, ys))
    return [a, b, c]


def _map_batched(size, n):
    def function(o, xs, w):
        return [lax.map(lambda x: jnp.sin(x) * w + jnp.sum(x), xs, batch_size=size)]
    function.__name__ = f"map_batches_of_{size}"
    case((n, 2), (2,))(function)


_map_batched(1, 3)
_map_batched(2, 6)
_map_batched(3, 7)
_map_batched(8, 5)


@case((1, 3))
def map_length_one(o, xs):
    return [lax.map(jnp.sin, xs)]


@case((0, 3))
def map_length_zero(o, xs):
    return [lax.map(lambda x: jnp.sum(x * x), xs)]


@case((3, 2, 2))
def map_nested(o, xs):
    return [lax.map(lambda x: lax.map(lambda y: jnp.sin(y) * jnp.sum(x), x), xs)]


@case((3, 2), (2,))
def map_of_grad(o, xs, w):
    return [lax.map(jax.grad(lambda x: jnp.sum(jnp.sin(x * w) * x)), xs)]


@case((4, 3), (4, 3))
def map_of_sort(o, xs, ys):
    return [lax.map(lambda t: jnp.sort(t[0]) * t[1], (xs, ys))]


# associative_cases.cpp ----------------------------------------------------------------------------------------


def _associative_case(name, shapes, combine, pack=lambda *xs: xs[0], options={}, ways=(False, True)):
    for reverse in ways:
        def function(o, *xs, reverse=reverse):
            return jax.tree.leaves(lax.associative_scan(combine, pack(*xs), reverse=reverse, **options))
        function.__name__ = name + ("_backwards" if reverse else "")
        case(*shapes)(function)


def _affine(l, r):
    return r[0] * l[0], r[0] * l[1] + r[1]


def _affine_matrices(l, r):
    (a, b, s), (d, e, t) = l, r
    return d @ a, (d @ b[..., None])[..., 0] + e, d @ s @ jnp.swapaxes(d, -1, -2) + t


for _n in (1, 2, 3, 7, 8):
    _associative_case(f"associative_add_{_n}", [(_n, 2)], lambda a, b: a + b)
_associative_case("associative_multiply", [(6,)], lambda a, b: a * b)
_associative_case("associative_maximum", [(6, 2)], jnp.maximum)
_associative_case("associative_logaddexp", [(5,)], jnp.logaddexp)
_associative_case("associative_affine", [(5,), (5,)], _affine, lambda a, b: (a, b))
_associative_case("associative_affine_rows", [(5, 2), (5, 2)], _affine, lambda a, b: (a, b))
_associative_case("associative_affine_long", [(19,), (19,)], _affine, lambda a, b: (a, b))
_associative_case("associative_matrices", [(5, 2, 2)], lambda a, b: b @ a)
_associative_case("associative_affine_matrices", [(4, 2, 2), (4, 2), (4, 2, 2)], _affine_matrices, lambda a, b, s: (a, b, s))
_associative_case("associative_three_leaves", [(4,), (4,), (4,)],
                  lambda l, r: (r[0] * l[0], r[0] * l[1] + r[1], r[0] * l[2] + r[2]), lambda a, b, c: (a, b, c))
_associative_case("associative_axis_1", [(2, 5), (2, 5)], _affine, lambda a, b: (a, b), dict(axis=1))
_associative_case("associative_last_axis", [(2, 5)], lambda a, b: a * b, options=dict(axis=-1),
                  ways=(False,))  # JAX raises for the other way
_associative_case("associative_axis_of_three", [(2, 4, 2)], lambda a, b: a * b + a + b, options=dict(axis=1))


@case((4,), (4,), (4,), (4,), (4,))
def associative_five_leaves(o, *xs):
    def combine(l, r):
        return [r[0] * l[0]] + [r[0] * l[k] + r[k] for k in range(1, 5)]
    return lax.associative_scan(combine, list(xs))


@case((20, 4))
def associative_twenty_leaves(o, xs):
    def combine(l, r):
        return [r[0] * l[0]] + [r[0] * l[k] + r[k] for k in range(1, 20)]
    return lax.associative_scan(combine, [xs[k] for k in range(20)])


@case((5,), (5,), ())
def associative_captures(o, a, b, w):
    x, y = lax.associative_scan(lambda l, r: (r[0] * l[0], r[0] * l[1] + r[1]), (a * w, b))
    z = lax.associative_scan(lambda l, r: l + r + w * l * r, b)
    return [x, y, z]


@case((5,))
def associative_integers(o, x):
    i = jnp.floor(x * 4).astype(jnp.int32)
    s, t = lax.associative_scan(lambda l, r: (l[0] + r[0], l[1] + r[1]), (i, x))
    return [s, t]


@case((4, 2, 2), (4, 2))
def associative_small_solves(o, a, b):
    # x -> (1 - c)^-1 of products, kept associative by conjugating with fixed matrices.
    m = jnp.array([[2.0, 0.5], [0.3, 1.5]])

    def combine(l, r):
        (a, b), (d, e) = l, r
        inner = jnp.linalg.solve(jnp.broadcast_to(m, d.shape), a)
        return d @ inner, (d @ jnp.linalg.solve(jnp.broadcast_to(m, d.shape), b[..., None]))[..., 0] + e
    x, y = lax.associative_scan(combine, (a, b))
    return [x, y]


@case((6, 2), (2,))
def associative_of_views(o, xs, w):
    return [lax.associative_scan(lambda a, b: a * b, xs[::-1].T * w[:, None], axis=1)[:, 1::2]]


@case((3, 4), (3, 4))
def associative_under_vmap(o, a, b):
    return list(jax.vmap(lambda a, b: lax.associative_scan(_affine, (a, b)))(a, b))


@case((4, 2))
def associative_of_a_struct(o, xs):
    s = lax.associative_scan(lambda l, r: dict(total=l["total"] + r["total"], weighted=l["weighted"] * r["weighted"]),
                             dict(total=xs, weighted=jnp.cos(xs)))
    return [s["total"], s["weighted"]]


# solver_cases.cpp: solvers with derivatives of their own ---------------------------------------------------------


def _direct(f, y):
    return jnp.linalg.solve(jax.vmap(f, out_axes=1)(jnp.eye(y.size)), y)


def _dominant(a):
    return 0.3 * a + 3.0 * jnp.eye(a.shape[0])


@case(())
def root_of_square(o, a):
    c = a * a + 1.0

    def newton(f, x0):
        return lax.fori_loop(0, 12, lambda i, x: x - f(x) / (f(x + 1e-4) - f(x)) * 1e-4, x0)
    return [lax.custom_root(lambda x: x * x - c, 1.5, newton, lambda g, y: y / g(1.0))]


@case((3, 3), (3,))
def root_of_system(o, a, b):
    def steps(f, x0):
        return lax.fori_loop(0, 60, lambda i, x: x - f(x), x0)
    return [lax.custom_root(lambda x: x - 0.2 * jnp.tanh(a @ x) - b, jnp.zeros_like(b), steps, _direct)]


@case((3, 3), (3,))
def solve_symmetric(o, a, b):
    a = _positive(a)
    return [lax.custom_linear_solve(lambda x: a @ x, b, _direct, symmetric=True)]


@case((3, 3), (3,), ())
def solve_transposed(o, a, b, c):
    a = _dominant(a)
    diagonal = jnp.diagonal(a)

    def apply(x):
        return a @ x[0] + x[1] * 0.1, x[1] * 2.0 + jnp.sum(x[0]) * 0.1

    def jacobi(f, b):
        def step(i, x):
            y = f(x)
            return x[0] + (b[0] - y[0]) / diagonal, x[1] + (b[1] - y[1]) / 2.0
        return lax.fori_loop(0, 60, step, (jnp.zeros_like(b[0]), jnp.zeros_like(b[1])))
    return list(lax.custom_linear_solve(apply, (b, c), jacobi, jacobi))


@case((3, 3), (3,))
def solve_cg(o, a, b):
    return [jax.scipy.sparse.linalg.cg(_positive(a), b)[0]]


@case((3, 3), (3,))
def solve_cg_preconditioned(o, a, b):
    a = _positive(a)
    return [jax.scipy.sparse.linalg.cg(lambda x: a @ x, b, x0=0.5 * b, M=lambda x: x / jnp.diagonal(a))[0]]


@case((3, 3), (3,))
def solve_bicgstab(o, a, b):
    return [jax.scipy.sparse.linalg.bicgstab(_dominant(a), b, tol=1e-12)[0]]


@case((3, 3), (3,))
def solve_gmres(o, a, b):
    return [jax.scipy.sparse.linalg.gmres(_dominant(a), b)[0]]
