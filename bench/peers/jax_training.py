"""JAX's side of whole training steps (cotan_training.cpp): a GPT-2 with optax, parameters and state given away at each call."""

import jax
import jax.numpy as jnp
import optax

import inputs
from worker import Case


def layer_norm(x, scale, offset):
    x32 = x.astype(jnp.float32)
    mean, variance = x32.mean(-1, keepdims=True), x32.var(-1, keepdims=True)
    return ((x32 - mean) * jax.lax.rsqrt(variance + 1e-5) * scale + offset).astype(x.dtype)


def logits_of(leaves, words, heads, dtype):
    leaves = [a if a.ndim == 1 else a.astype(dtype) for a in leaves]
    wte, wpe, last_scale, last_offset = leaves[:4]
    x = wte[words] + wpe[: words.shape[1]]
    batch, tokens, width = x.shape
    for i in range(4, len(leaves), 12):
        scale1, offset1, qkv, qkv_bias, out, out_bias, scale2, offset2, widen, widen_bias, narrow, narrow_bias = leaves[i : i + 12]
        y = layer_norm(x, scale1, offset1) @ qkv + qkv_bias.astype(dtype)
        q, k, v = (t.reshape(batch, tokens, heads, width // heads) for t in jnp.split(y, 3, -1))
        mixed = jax.nn.dot_product_attention(q, k, v, is_causal=True)
        x = x + mixed.reshape(batch, tokens, width) @ out + out_bias.astype(dtype)
        y = layer_norm(x, scale2, offset2) @ widen + widen_bias.astype(dtype)
        x = x + jax.nn.gelu(y, approximate=True) @ narrow + narrow_bias.astype(dtype)
    return (layer_norm(x, last_scale, last_offset) @ wte.T).astype(jnp.float32)


def gpt2_train(p):
    dtype = jnp.bfloat16 if p.get("dtype") == "bf16" else jnp.float32
    words, following = (jnp.asarray(inputs.indices((p["batch"], p["tokens"]), s, p["vocabulary"])) for s in (3, 4))
    optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(1e-3, weight_decay=0.01))

    def loss_of(leaves):
        logits = logits_of(leaves, words, p["heads"], dtype)
        return optax.softmax_cross_entropy_with_integer_labels(logits, following).mean()

    def step(leaves, state):
        loss, gradients = jax.value_and_grad(loss_of)(leaves)
        updates, state = optimizer.update(gradients, state, leaves)
        return optax.apply_updates(leaves, updates), state, loss

    leaves = [jnp.asarray(a) for a in inputs.gpt2_leaves(p)]
    jitted = jax.jit(step, donate_argnums=(0, 1))
    state, numbers = [leaves, optimizer.init(leaves)], []

    def run(calls):
        for _ in range(calls):
            *state[:], loss = jax.block_until_ready(jitted(*state))
            if len(numbers) < 3:
                numbers.append(float(loss))

    run(3)

    def memory():
        analysis = jitted.lower(*state).compile().memory_analysis()
        parts = {name: getattr(analysis, f"{name}_size_in_bytes") for name in ("argument", "output", "temp", "alias")}
        return {"peak_bytes": parts["argument"] + parts["output"] + parts["temp"] - parts["alias"], **parts}

    return Case(run, lambda: numbers, None, memory)


KINDS = {"gpt2_train": gpt2_train}
