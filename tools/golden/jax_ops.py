"""What each op name of the case table means, as a JAX function of (arrays, params)."""
import jax
import jax.numpy as jnp
from jax import lax

from cases import DTYPES

NAMESPACES = {"lax": lax, "nn": jax.nn, "linalg": jnp.linalg, "fft": jnp.fft, "random": jax.random}


def _freeze(value):
    return tuple(map(_freeze, value)) if isinstance(value, list) else value


def _default(op):
    space, _, name = op.rpartition(".")
    function = getattr(NAMESPACES[space] if space else jnp, name)
    return lambda args, params: function(*args, **params)


def lookup(case):
    """A function of the case's arrays that returns a tuple of arrays."""
    params = {k: _freeze(v) for k, v in case.params.items()}
    if any(a.kind == "key" for a in case.args):
        params.pop("seed")
    for k in ("dtype", "new_dtype", "index_dtype"):
        if params.get(k):
            params[k] = DTYPES[params[k]]
    function = OPS.get(case.op) or _default(case.op)

    def call(*arrays):
        out = function(arrays, params)
        return tuple(out) if isinstance(out, (tuple, list)) else (out,)

    return call


# ---- indexing: items are integers, "a:b:c", "newaxis", "..." and "@k" (argument k)

def _index(items, args):
    def item(v):
        if not isinstance(v, str):
            return v
        if v in ("newaxis", "..."):
            return None if v == "newaxis" else Ellipsis
        if v[0] == "@":
            return args[int(v[1:])]
        return slice(*(int(p) if p else None for p in v.split(":")))

    return tuple(map(item, items))


def _update(method):
    def function(args, params):
        kw = {k: v for k, v in params.items() if k != "index"}
        return getattr(args[0].at[_index(params["index"], args)], method)(args[1], **kw)

    return function


GATHER_MODES = {"fill": "fill", "drop": "drop", "clip": "clip", "promise_in_bounds": "promise_in_bounds"}


def _gather(args, p):
    numbers = lax.GatherDimensionNumbers(
        p["offset_dims"], p["collapsed_slice_dims"], p["start_index_map"],
        p.get("operand_batching_dims", ()), p.get("start_indices_batching_dims", ()))
    return lax.gather(*args, numbers, p["slice_sizes"], mode=GATHER_MODES[p["mode"]])


def _scatter(name):
    function = getattr(lax, name)

    def call(args, p):
        numbers = lax.ScatterDimensionNumbers(
            p["update_window_dims"], p["inserted_window_dims"], p["scatter_dims_to_operand_dims"],
            p.get("operand_batching_dims", ()), p.get("scatter_indices_batching_dims", ()))
        return function(*args, numbers, mode=GATHER_MODES[p["mode"]])

    return call


# ---- decompositions: outputs made unique, so that values and gradients compare directly

def _qr_normalized(args, p):
    q, r = jnp.linalg.qr(args[0], mode="reduced")
    sign = jnp.sign(jnp.diagonal(r, axis1=-2, axis2=-1))
    return q * sign[..., None, :], r * sign[..., :, None]


def _column_sign(v):
    """Signs that make sum_i (i+1) v[i, j] positive."""
    return jnp.sign(jnp.einsum("i,...ij->...j", jnp.arange(1, v.shape[-2] + 1, dtype=v.dtype), v))


def _eigh_normalized(args, p):
    w, v = jnp.linalg.eigh(args[0])
    return w, v * jnp.conj(_column_sign(v))[..., None, :]


def _svd_normalized(args, p):
    u, s, vt = jnp.linalg.svd(args[0], full_matrices=False)
    sign = _column_sign(u)
    return u * jnp.conj(sign)[..., None, :], s, vt * sign[..., :, None]


def _svd_hermitian_normalized(args, p):
    symmetric = (args[0] + jnp.swapaxes(args[0], -1, -2)) / 2
    u, s, vt = jnp.linalg.svd(symmetric, hermitian=True)
    sign = _column_sign(u)
    return u * sign[..., None, :], s, vt * sign[..., :, None]


def _norm(args, p):
    p = dict(p)
    order = {"inf": jnp.inf, "-inf": -jnp.inf}.get(p.get("ord"), p.get("ord"))
    axis = p.get("axis")
    return jnp.linalg.norm(args[0], order, tuple(axis) if isinstance(axis, (list, tuple)) else axis, p.get("keepdims", False))


def _qr_complete(args, p):
    q, r = jnp.linalg.qr(args[0], mode="complete")
    return q @ r, jnp.swapaxes(q, -1, -2) @ q


def _svd_full(args, p):
    u, s, vt = jnp.linalg.svd(args[0])
    k = s.shape[-1]
    return ((u[..., :, :k] * s[..., None, :]) @ vt[..., :k, :], s,
            jnp.swapaxes(u, -1, -2) @ u, jnp.swapaxes(vt, -1, -2) @ vt)


# ---- Fourier transforms

def _fft(name):
    """Integers and halves become f32, as everywhere in cotan."""
    function = getattr(jnp.fft, name)

    def call(args, params):
        wide = args[0] if args[0].dtype in (jnp.float32, jnp.float64) or jnp.iscomplexobj(args[0]) else args[0].astype(jnp.float32)
        return function(wide, **params)

    return call


FFT = ["fft", "ifft", "rfft", "irfft", "hfft", "ihfft", "fft2", "ifft2", "rfft2", "irfft2", "fftn", "ifftn", "rfftn", "irfftn"]


# ---- compositions

def _softmax(x, axis=-1):
    e = jnp.exp(x - lax.stop_gradient(jnp.max(x, axis=axis, keepdims=True)))
    return e / jnp.sum(e, axis=axis, keepdims=True)


def _layer_norm(args, p):
    x, scale, bias = args
    mean = jnp.mean(x, axis=-1, keepdims=True)
    var = jnp.mean(jnp.square(x - mean), axis=-1, keepdims=True)
    return (x - mean) * lax.rsqrt(var + 1e-5) * scale + bias


def _attention(args, p):
    q, k, v = args
    scores = jnp.einsum("hid,hjd->hij", q, k) / jnp.sqrt(jnp.array(q.shape[-1], q.dtype))
    mask = jnp.tril(jnp.ones(scores.shape[-2:], bool))
    return jnp.einsum("hij,hjd->hid", _softmax(jnp.where(mask, scores, -1e9)), v)


def _dot_product_attention(args, p):
    """After query, key, value: a bias and a mask, where the params `bias` and `mask` say so."""
    p, rest = dict(p), list(args[3:])
    bias = rest.pop(0) if p.pop("bias", False) else None
    mask = rest.pop(0) if p.pop("mask", False) else None
    return jax.nn.dot_product_attention(*args[:3], bias, mask, **p)


def _mlp_loss(args, p):
    x, w1, b1, w2, y = args
    return jnp.mean(jnp.square(jnp.tanh(x @ w1 + b1) @ w2 - y))


def _cross_entropy(args, p):
    logits, labels = args
    log_z = jax.scipy.special.logsumexp(logits, axis=-1)
    return jnp.mean(log_z - jnp.take_along_axis(logits, labels[:, None], axis=-1)[:, 0])


def _gaussian_logpdf(args, p):
    x, mean, cov = args
    chol = jnp.linalg.cholesky(cov)
    z = lax.linalg.triangular_solve(chol, (x - mean)[:, None], left_side=True, lower=True)
    return (-0.5 * jnp.sum(jnp.square(z)) - jnp.sum(jnp.log(jnp.diagonal(chol)))
            - 0.5 * x.shape[0] * jnp.log(2 * jnp.pi))


def _kalman_step(args, p):
    m, cov, a, q, h, r, y = args
    m, cov = a @ m, a @ cov @ a.T + q
    s = h @ cov @ h.T + r
    gain = jnp.linalg.solve(s, h @ cov).T
    innovation = y - h @ m
    return m + gain @ innovation, cov - gain @ s @ gain.T, jnp.linalg.slogdet(s)[1]


def _pairwise_distances(args, p):
    x, y = args
    return jnp.sqrt(jnp.sum(jnp.square(x[:, None, :] - y[None, :, :]), axis=-1))


def _segment_sum(args, p):
    data, ids = args
    return jnp.zeros((p["num_segments"],) + data.shape[1:], data.dtype).at[ids].add(data)


def _rotation_scan(args, p):
    factor, first, xs = args

    def step(state, x):
        after = state * factor + x
        return after, jnp.abs(after)

    return lax.scan(step, first, xs)


def _newton_while(args, p):
    return lax.while_loop(
        lambda s: (jnp.abs(s[0] * s[0] - 1) > 1e-3) & (s[1] < 20),
        lambda s: (s[0] - (s[0] * s[0] - 1) / (2 * s[0]), s[1] + 1), (args[0], jnp.int32(0)))


def _complex_recurrence(args, p):
    return lax.associative_scan(lambda l, r: (r[0] * l[0], r[0] * l[1] + r[1]), args)


def _eig_products(args, p):
    w, v = jnp.linalg.eig(args[0])
    return jnp.sort(w), (v * w[..., None, :]) @ jnp.linalg.inv(v)


def _list(name):
    return lambda args, params: getattr(jnp, name)(list(args), **params)


OPS = {
    "concatenate": _list("concatenate"), "stack": _list("stack"), "vstack": _list("vstack"),
    "hstack": _list("hstack"), "column_stack": _list("column_stack"), "lexsort": _list("lexsort"),
    "broadcast_arrays": lambda a, p: jnp.broadcast_arrays(*a),
    "choose": lambda a, p: jnp.choose(a[0], list(a[1:]), mode="clip"),
    "average": lambda a, p: jnp.average(a[0], weights=a[1] if len(a) > 1 else None, **p),
    "logsumexp": lambda a, p: jax.scipy.special.logsumexp(*a, **p),
    "lax.polygamma": lambda a, p: jax.scipy.special.polygamma(p["n"], a[0]),
    "lax.iota": lambda a, p: lax.broadcasted_iota(p["dtype"], p["shape"], p["dimension"]),
    "linalg.cho_solve": lambda a, p: jax.scipy.linalg.cho_solve((a[0], p["lower"]), a[1]),
    "linalg.lstsq": lambda a, p: jnp.linalg.lstsq(*a)[0],
    "nonzero": lambda a, p: jnp.nonzero(*a),
    "einsum": lambda a, p: jnp.einsum(p["subscripts"], *a),
    "astype": lambda a, p: a[0].astype(p["dtype"]),
    "lax.concatenate": lambda a, p: lax.concatenate(a, **p),
    "lax.pad": lambda a, p: lax.pad(a[0], a[1], p["padding_config"]),
    "lax.dynamic_slice": lambda a, p: lax.dynamic_slice(a[0], a[1:], **p),
    "lax.dynamic_update_slice": lambda a, p: lax.dynamic_update_slice(a[0], a[1], a[2:]),
    "lax.sort": lambda a, p: lax.sort(a, **p),
    "lax.gather": _gather,
    "lax.scatter": _scatter("scatter"), "lax.scatter_add": _scatter("scatter_add"),
    "lax.scatter_mul": _scatter("scatter_mul"), "lax.scatter_min": _scatter("scatter_min"),
    "lax.scatter_max": _scatter("scatter_max"),
    "lax.stop_gradient": lambda a, p: (lax.stop_gradient(a[0]) * a[0],),
    "array.getitem": lambda a, p: a[0][_index(p["index"], a)],
    "array.at_set": _update("set"), "array.at_add": _update("add"), "array.at_multiply": _update("multiply"),
    "array.at_min": _update("min"), "array.at_max": _update("max"),
    "scalar.add": lambda a, p: a[0] + p["scalar"], "scalar.subtract": lambda a, p: p["scalar"] - a[0],
    "scalar.multiply": lambda a, p: a[0] * p["scalar"], "scalar.divide": lambda a, p: a[0] / p["scalar"],
    "scalar.less": lambda a, p: a[0] < p["scalar"], "scalar.maximum": lambda a, p: jnp.maximum(a[0], p["scalar"]),
    "linalg.eigvals_sorted": lambda a, p: jnp.sort(jnp.linalg.eigvals(a[0])), "linalg.eig_products": _eig_products,
    "roots_sorted": lambda a, p: jnp.sort(jnp.roots(a[0], strip_zeros=False)),
    "linalg.lu": lambda a, p: lax.linalg.lu(a[0]),
    "linalg.triangular_solve": lambda a, p: lax.linalg.triangular_solve(*a, **p),
    "linalg.qr_normalized": _qr_normalized, "linalg.qr_complete_products": _qr_complete,
    "linalg.eigh_normalized": _eigh_normalized,
    "linalg.svd_hermitian_normalized": _svd_hermitian_normalized, "linalg.norm": _norm,
    "linalg.svd_normalized": _svd_normalized, "linalg.svd_full_products": _svd_full,
    **{f"fft.{name}": _fft(name) for name in FFT},
    "composite.rotation_scan": _rotation_scan, "composite.newton_while": _newton_while,
    "composite.complex_cond": lambda a, p: lax.cond(a[0].real > 0, lambda z: z * z, jnp.conj, a[0]),
    "composite.complex_recurrence": _complex_recurrence,
    "random.key": lambda a, p: jax.random.PRNGKey(p["seed"]),
    "nn.dot_product_attention": _dot_product_attention,
    "composite.softmax": lambda a, p: _softmax(*a, **p), "composite.layer_norm": _layer_norm,
    "composite.attention": _attention, "composite.mlp_loss": _mlp_loss,
    "composite.cross_entropy": _cross_entropy, "composite.gaussian_logpdf": _gaussian_logpdf,
    "composite.kalman_step": _kalman_step, "composite.pairwise_distances": _pairwise_distances,
    "composite.segment_sum": _segment_sum,
}
