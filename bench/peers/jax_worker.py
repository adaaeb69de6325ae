"""JAX on the CPU: every workload under jit, except the eager one."""

import platform
import time

import jax
import jax.numpy as jnp
from jax import lax

import inputs
import jax_loops
import jax_namespaces
import jax_optimizers
import jax_ports
import jax_training
from worker import Case, serve, summarize


def layer_norm(x, scale, offset):
    mean = jnp.mean(x, -1, keepdims=True)
    variance = jnp.var(x, -1, keepdims=True)
    return (x - mean) * lax.rsqrt(variance + 1e-5) * scale + offset


def convolution(x, kernel):
    return lax.conv_general_dilated(x, kernel, (1, 1), ((1, 1), (1, 1)))


def attention(x, project_qkv, project_out, heads):
    batch, tokens, width = x.shape
    q, k, v = (x @ project_qkv).reshape(batch, tokens, 3, heads, width // heads).transpose(2, 0, 3, 1, 4)
    scores = q @ k.swapaxes(-1, -2) / (width // heads) ** 0.5
    weights = jax.nn.softmax(jnp.where(jnp.tri(tokens, dtype=bool), scores, -1e9), -1)
    return x + (weights @ v).transpose(0, 2, 1, 3).reshape(batch, tokens, width) @ project_out


def cross_entropy(network, x, labels):
    for i, (weight, bias) in enumerate(network):
        x = x @ weight + bias
        if i + 1 < len(network):
            x = jnp.maximum(x, 0)
    return -jnp.mean(jnp.sum(jax.nn.one_hot(labels, x.shape[1]) * jax.nn.log_softmax(x), -1))


def training_step(network, x, labels):
    loss, gradient = jax.value_and_grad(cross_entropy)(network, x, labels)
    return loss, jax.tree.map(lambda p, g: p - 0.1 * g, network, gradient)


def repeated_product(a, x, products):
    for _ in range(products):
        x = a @ x
    return x


# kind -> parameters -> function
KINDS = {
    "jit_call": lambda p: lambda x: x + 1.0,
    "eager_op": lambda p: lambda x: x + 1.0,
    "elementwise_chain": lambda p: lambda x: jnp.tanh(x * 1.5 + 0.25) * x + jnp.exp(-x * x),
    "elementwise_cheap": lambda p: lambda x: jnp.maximum(x * 2.0 + 1.0, 0.5) - x,
    "axpy": lambda p: lambda x, y: 1.5 * x + y,
    "sum": lambda p: jnp.sum,
    "sum_axis": lambda p: lambda x: jnp.sum(x, p["axis"]),
    "mean_var": lambda p: lambda x: (jnp.mean(x), jnp.var(x)),
    "mean_var_rows": lambda p: lambda x: (jnp.mean(x, 1), jnp.var(x, 1)),
    "logsumexp": lambda p: lambda x: jax.nn.logsumexp(x, 1),
    "softmax": lambda p: jax.nn.softmax,
    "softmax_grad": lambda p: lambda x, cotangent: jax.vjp(jax.nn.softmax, x)[1](cotangent),
    "layer_norm": lambda p: layer_norm,
    "layer_norm_grad": lambda p: lambda x, scale, offset, cotangent: jax.vjp(layer_norm, x, scale, offset)[1](
        cotangent
    ),
    "transpose": lambda p: lambda x: x.T,
    "cumsum": lambda p: jnp.cumsum,
    "sort": lambda p: jnp.sort,
    "gather": lambda p: lambda table, rows: table[rows],
    "scatter_add": lambda p: lambda table, rows, updates: table.at[rows].add(updates),
    "gemm": lambda p: lambda a, b: a @ b,
    "gemv": lambda p: lambda a, x: a @ x,
    "small_gemm": lambda p: lambda a, x: repeated_product(a, x, p["products"]),
    "batched_gemm": lambda p: lambda a, b: a @ b,
    "conv2d": lambda p: convolution,
    "conv2d_grad": lambda p: lambda x, kernel, cotangent: jax.vjp(convolution, x, kernel)[1](cotangent),
    "attention": lambda p: lambda *a: attention(*a, p["heads"]),
    "mlp_step": lambda p: training_step,
    "cholesky": lambda p: jnp.linalg.cholesky,
    **jax_loops.KINDS,
    **jax_ports.KINDS,
    **jax_namespaces.KINDS,
}


def make(p):
    if p["kind"] == "adam":
        return jax_optimizers.adam(p)
    if p["kind"] in jax_training.KINDS:
        return jax_training.KINDS[p["kind"]](p)
    if p["kind"] not in KINDS:
        return None
    jax.clear_caches()
    jax.config.update("jax_enable_x64", p.get("dtype") == "f64")
    f = KINDS[p["kind"]](p)
    arguments = jax.block_until_ready(jax.tree.map(jnp.asarray, inputs.arguments(p)))
    if p.get("dtype") in ("f16", "bf16"):
        half = jnp.float16 if p["dtype"] == "f16" else jnp.bfloat16
        arguments = jax.tree.map(lambda a: a.astype(half), arguments)
    jitted = f if p["kind"] == "eager_op" else jax.jit(f)

    def run_waiting(calls):
        for _ in range(calls):
            jax.block_until_ready(jitted(*arguments))

    def run_back_to_back(calls):
        for _ in range(calls):
            result = jitted(*arguments)
        jax.block_until_ready(result)

    def compile():
        """A new function object and no cached traces: everything is traced, lowered and compiled again."""
        jax.clear_caches()
        start = time.perf_counter()
        jax.jit(lambda *a: f(*a)).lower(*arguments).compile()
        return time.perf_counter() - start

    def memory():
        analysis = jitted.lower(*arguments).compile().memory_analysis()
        parts = {
            name: getattr(analysis, f"{name}_size_in_bytes")
            for name in ("argument", "output", "temp", "alias")
        }
        return {
            "peak_bytes": parts["argument"] + parts["output"] + parts["temp"] - parts["alias"],
            "reported_peak_bytes": getattr(analysis, "peak_memory_in_bytes", None),
            **parts,
        }

    if p["kind"] == "eager_op":
        compile = memory = None
    return Case(
        run_back_to_back if p.get("overhead") else run_waiting,
        lambda: summarize(jax.tree.leaves(jitted(*arguments))),
        compile,
        memory,
    )


if __name__ == "__main__":
    serve({"jax": jax.__version__, "python": platform.python_version()}, make)
