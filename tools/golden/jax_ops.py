"""What each op name of the case table means, as a JAX function of (arrays, params)."""
import functools

import jax
import jax.numpy as jnp
import jax.scipy.special
import jax.scipy.stats
import numpy as np
import optax
from jax import lax

import jax_linalg
import jax_random_ops
import jax_scipy
from cases import DTYPES



class _Optax:
    """Losses, which optax itself no longer has, and the rest."""

    def __getattr__(self, name):
        return getattr(optax.losses if hasattr(optax.losses, name) else optax, name)


NAMESPACES = {"lax": lax, "nn": jax.nn, "linalg": jnp.linalg, "fft": jnp.fft, "random": jax.random,
              "optax": _Optax(), "projections": optax.projections, "special": jax.scipy.special, "stats": jax.scipy.stats}


def _freeze(value):
    return tuple(map(_freeze, value)) if isinstance(value, list) else value


def _default(op):
    space, _, name = op.rpartition(".")
    parent = jnp
    if space:  # stats.norm.logpdf is in a module of stats
        space, *inner = space.split(".")
        parent = functools.reduce(getattr, inner, NAMESPACES[space])
    function = getattr(parent, name)
    return lambda args, params: function(*args, **params)


def lookup(case):
    """A function of the case's arrays that returns a tuple of arrays."""
    params = {k: _freeze(v) for k, v in case.params.items()}
    if any(a.kind == "key" for a in case.args):
        params.pop("seed")
    for k in ("dtype", "new_dtype", "index_dtype", "preferred_element_type"):
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
    return lax.gather(*args, numbers, p["slice_sizes"], mode=GATHER_MODES[p["mode"]], fill_value=p.get("fill_value"))


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
    """Signs, or phases, that make sum_i (i+1) v[i, j] positive. JAX says that a phase does not change, so it is not by sign."""
    total = jnp.einsum("i,...ij->...j", jnp.arange(1, v.shape[-2] + 1, dtype=v.dtype), v)
    return total / jnp.abs(total) if jnp.iscomplexobj(v) else jnp.sign(total)


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
    """After query, key, value: a bias, a mask and two lengths, where the params `bias`, `mask`, `lengths` say so."""
    p, rest = dict(p), list(args[3:])
    bias = rest.pop(0) if p.pop("bias", False) else None
    mask = rest.pop(0) if p.pop("mask", False) else None
    if p.pop("lengths", False):
        p["query_seq_lengths"], p["key_value_seq_lengths"] = rest
    return jax.nn.dot_product_attention(*args[:3], bias, mask, **p)


# ---- nn and optax: a mask is the last argument; initializers take a key

def _masked(function, before):
    return lambda args, p: function(*args[:before], **p, **({"where": args[before]} if len(args) > before else {}))


def _sum_of_exponentials(function):
    def call(args, p):
        p = dict(p)
        named = {k: args[1] for k in ("b", "where") if p.pop(k, False)}
        return function(args[0], **p, **named)

    return call


def _standardize(args, p):
    p = dict(p)
    where = args[1] if p.pop("where", False) else None
    return jax.nn.standardize(args[0], where=where, **p)


def _initializer(name):
    def call(args, p):
        p = dict(p)
        shape, dtype, make = p.pop("shape"), p.pop("dtype"), getattr(jax.nn.initializers, name)
        return (make if name in ("zeros", "ones") else make(**p))(args[0], shape, dtype)

    return call


INITIALIZERS = ["zeros", "ones", "constant", "uniform", "normal", "truncated_normal", "variance_scaling",
                "glorot_uniform", "glorot_normal", "xavier_uniform", "xavier_normal", "lecun_uniform", "lecun_normal",
                "he_uniform", "he_normal", "kaiming_uniform", "kaiming_normal", "orthogonal", "delta_orthogonal"]
MASKED_LOSSES = {"cosine_similarity": 2, "softmax_cross_entropy": 2, "poly_loss_cross_entropy": 2, "kl_divergence": 2,
                 "softmax_cross_entropy_with_integer_labels": 2, "ranking_softmax_loss": 2}




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


# ---- numpy: what is an option in Python is an argument behind the others here

def _where(name):
    """Of (x, mask): the mask is the option `where`."""
    return lambda a, p: getattr(jnp, name)(a[0], **({"where": a[1]} if len(a) > 1 else {}), **p)


def _quantile(name):
    return lambda a, p: getattr(jnp, name)(a[0], a[1], **({"weights": a[2]} if len(a) > 2 else {}), **p)


def _cov(a, p):
    p = dict(p)
    names = {"y": "y", "f": "fweights", "a": "aweights"}
    options = {names[c]: x for c, x in zip(p.pop("arguments", ""), a[1:])}
    return jnp.cov(a[0], **options, **p)


def _histogram(name):
    def call(a, p):
        p, rest = dict(p), list(a[1:])
        if p.pop("edges", False):
            p["bins"] = rest.pop(0)
        return getattr(jnp, name)(a[0], weights=rest[0] if rest else None, **p)

    return call


def _histogramdd(a, p):
    counts, edges = jnp.histogramdd(a[0], weights=a[1] if len(a) > 1 else None, **p)
    return (counts, *edges)


def _places(p):
    """The param `obj` as an index or a slice."""
    p = dict(p)
    if isinstance(p.get("obj"), tuple):
        p["obj"] = slice(*p["obj"])
    return p


def _piecewise(a, p):
    x = a[0]
    return jnp.piecewise(x, [x < -0.5, x >= 0.5], [lambda v: -v, lambda v: v * v, 0.25])


def _polyfit(a, p):
    out = jnp.polyfit(a[0], a[1], w=a[2] if len(a) > 2 else None, **p)
    return out[:4] if p.get("full") else out


def _einsum(a, p):
    if "subscripts" in p:
        p = {"precision": "highest", **p}
        return jnp.einsum(p.pop("subscripts"), *a, **p)
    operands = [each for pair in zip(a, map(list, p["axes"])) for each in pair]
    return jnp.einsum(*operands, *([list(p["out"])] if "out" in p else []))


def _window(name):
    return lambda a, p: getattr(jnp, name)(p["M"]).astype(p["dtype"])


def _linspace(a, p):
    return jnp.linspace(*a, **p, **({"dtype": a[0].dtype} if a else {}))


def _windowed_cumsum(v):
    return jnp.cumsum(v)[1:]


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


# ---- lax: functions by name, and dtypes among the options

COMBINE = {"logaddexp": jnp.logaddexp, "second": lambda a, b: b}


def _reducer(args, p):
    """(operand, first value, function) and what is left of the params."""
    p, dtype, name = dict(p), args[0].dtype, p["computation"]
    del p["computation"]
    floating = jnp.issubdtype(dtype, jnp.inexact)
    bound = jnp.finfo(dtype) if floating else None if dtype == bool else jnp.iinfo(dtype)
    lowest = -np.inf if floating else False if dtype == bool else bound.min
    highest = np.inf if floating else True if dtype == bool else bound.max
    neutral = {"mul": 1, "max": lowest, "min": highest, "logaddexp": -np.inf,
               "bitwise_and": True if dtype == bool else -1 if not floating and bound.min else highest}
    init = np.array(p.pop("init", neutral.get(name, 0)), dtype)
    return (args[0], init, COMBINE.get(name) or getattr(lax, name)), p


def _reduce_window(args, p):
    reducer, p = _reducer(args, p)
    return lax.reduce_window(*reducer, **p)


def _reduce(args, p):
    reducer, p = _reducer(args, p)
    return lax.reduce(*reducer, **p)


def _preferred(function):
    def call(args, p):
        p = dict(p)
        if "preferred_element_type" in p:
            p["preferred_element_type"] = DTYPES[p["preferred_element_type"]]
        return function(*args, **p)
# ---- gaussian_kde: the samples, then what its method takes


def _kde(method):
    def call(args, p):
        weighted = method == "evaluate_weighted"
        kde = jax.scipy.stats.gaussian_kde(args[0], p.get("bw_method"), args[1] if weighted else None)
        if method == "integrate_kde":
            return kde.integrate_kde(jax.scipy.stats.gaussian_kde(args[1]))
        if method == "resample":
            return kde.resample(args[1], p["shape"])
        return kde.evaluate(args[2]) if weighted else getattr(kde, method)(*args[1:])

    return call


def _ragged_dot_general(args, p):
    numbers = lax.RaggedDotDimensionNumbers(p["dimension_numbers"], p["lhs_ragged_dimensions"], p["rhs_group_dimensions"])
    return lax.ragged_dot_general(*args, numbers)


def _scatter_apply(args, p):
    numbers = lax.ScatterDimensionNumbers(p["update_window_dims"], p["inserted_window_dims"], p["scatter_dims_to_operand_dims"])
    return lax.scatter_apply(*args, lambda x: x * 2 + 1, numbers, update_shape=args[1].shape[:1], mode=p["mode"])


def _scaled_dot(args, p):
    """Compiled, JAX loses the scales of some shapes; what it documents is this."""
    def wide(x, scale):
        for axis in range(x.ndim):
            scale = jnp.repeat(scale, x.shape[axis] // scale.shape[axis], axis)
        return x * scale

    return (wide(args[0], args[2]) @ wide(args[1], args[3])).astype(DTYPES[p["preferred_element_type"]])


ROUNDING = {"away": lax.RoundingMethod.AWAY_FROM_ZERO, "even": lax.RoundingMethod.TO_NEAREST_EVEN}
RANDOM = {"philox": lax.RandomAlgorithm.RNG_PHILOX, "three_fry": lax.RandomAlgorithm.RNG_THREE_FRY,
          "default": lax.RandomAlgorithm.RNG_DEFAULT}

KDE = ("evaluate", "evaluate_weighted", "logpdf", "integrate_gaussian", "integrate_box_1d", "integrate_kde", "resample")


OPS = {
    **jax_linalg.OPS,
    "lax.reduce_window": _reduce_window, "lax.reduce": _reduce,
    "lax.dot": _preferred(lax.dot), "lax.dot_general": _preferred(lax.dot_general),
    "lax.conv_general_dilated": _preferred(lax.conv_general_dilated),
    "lax.ragged_dot_general": _ragged_dot_general, "lax.scaled_dot": _scaled_dot,
    "lax.scatter_sub": _scatter("scatter_sub"), "lax.scatter_apply": _scatter_apply,
    "lax.round": lambda a, p: lax.round(a[0], ROUNDING[p["method"]]),
    "lax.reciprocal": lambda a, p: lax.reciprocal(a[0]),
    "lax.rng_bit_generator": lambda a, p: lax.rng_bit_generator(a[0], p["shape"], p["dtype"], RANDOM[p["algorithm"]]),
    "lax.optimization_barrier": lambda a, p: lax.optimization_barrier(a[0]),
    **{name: _where(name) for name in ("sum", "prod", "nansum", "nanprod", "max", "min", "nanmax", "nanmin", "mean",
                                       "nanmean", "var", "std", "nanvar", "nanstd", "all", "any")},
    **{name: _quantile(name) for name in ("quantile", "nanquantile", "percentile", "nanpercentile")},
    **{name: _histogram(name) for name in ("histogram", "histogram_bin_edges")},
    "histogram2d": lambda a, p: jnp.histogram2d(a[0], a[1], weights=a[2] if len(a) > 2 else None, **p),
    "histogramdd": _histogramdd, "cov": _cov,
    "corrcoef": lambda a, p: jnp.corrcoef(a[0], a[1] if len(a) > 1 else None, **p),
    "diff": lambda a, p: jnp.diff(a[0], **({"prepend": a[1]} if len(a) > 1 else {}), **p),
    "trapezoid": lambda a, p: jnp.trapezoid(a[0], x=a[1] if len(a) > 1 else None, **p),
    "where_indices": lambda a, p: jnp.where(a[0], **p),
    "compress": lambda a, p: jnp.compress(a[1], a[0], **p), "extract": lambda a, p: jnp.extract(a[1], a[0], **p),
    "select": lambda a, p: jnp.select([a[2], a[3]], [a[0], a[1]], -1.5), "piecewise": _piecewise,
    "indices_sparse": lambda a, p: jnp.indices(**p, sparse=True),
    "mask_indices": lambda a, p: jnp.mask_indices(p["n"], jnp.triu, p["k"], size=p["size"]),
    "ravel_multi_index": lambda a, p: jnp.ravel_multi_index(a, **p),
    "delete": lambda a, p: jnp.delete(a[0], **_places(p)) if "obj" in p else jnp.delete(a[0], a[1], **p),
    "insert": lambda a, p: (jnp.insert(a[0], values=a[1], **_places(p)) if "obj" in p
                            else jnp.insert(a[0], a[2], a[1], **p)),
    "put": lambda a, p: jnp.put(a[0], a[2], a[1], **p, inplace=False),
    "put_along_axis": lambda a, p: jnp.put_along_axis(a[0], a[2], a[1], **p, inplace=False),
    "place": lambda a, p: jnp.place(a[0], a[2], a[1], inplace=False),
    "fill_diagonal": lambda a, p: jnp.fill_diagonal(*a, inplace=False),
    "array.at_power": lambda a, p: a[0].at[a[2]].power(a[1]),
    "array.at_apply": lambda a, p: a[0].at[a[1]].apply(jnp.sin),
    "bincount": lambda a, p: jnp.bincount(a[0], a[1] if len(a) > 1 else None, **p),
    "searchsorted": lambda a, p: jnp.searchsorted(a[0], a[1], sorter=a[2] if len(a) > 2 else None, **p),
    "polyint": lambda a, p: jnp.polyint(a[0], k=a[1] if len(a) > 1 else None, **p), "polyfit": _polyfit,
    "clip_below": lambda a, p: jnp.clip(a[0], min=a[1]), "clip_above": lambda a, p: jnp.clip(a[0], max=a[1]),
    "array.view": lambda a, p: a[0].view(p["dtype"]), "array.byteswap": lambda a, p: a[0].byteswap(),
    **{name: _window(name) for name in ("bartlett", "blackman", "hamming", "hanning")},
    "kaiser": lambda a, p: jnp.kaiser(p["M"], a[0]).astype(a[0].dtype),
    "dstack": _list("dstack"), "block": lambda a, p: jnp.block([[a[0], a[1]], [a[2], a[3]]]),
    "roll": lambda a, p: jnp.roll(*a, **p), "repeat": lambda a, p: jnp.repeat(*a, **p), "linspace": _linspace,
    "apply_along_axis": lambda a, p: jnp.apply_along_axis(_windowed_cumsum, p["axis"], a[0]),
    "apply_along_axis_scalar": lambda a, p: jnp.apply_along_axis(lambda v: jnp.sum(v * v), p["axis"], a[0]),
    "apply_over_axes": lambda a, p: jnp.apply_over_axes(lambda x, axis: jnp.sum(x, axis), a[0], p["axes"]),
    "vectorize": lambda a, p: jnp.vectorize(lambda x, y: jnp.sin(x) * y)(*a),
    "vectorize_matvec": lambda a, p: jnp.vectorize(jnp.matmul, signature="(m,n),(n)->(m)")(*a),
    "fromfunction": lambda a, p: jnp.fromfunction(lambda i, j: jnp.sin(i) + 2 * j, (2, 3), dtype=jnp.float32),
    "concatenate": _list("concatenate"), "stack": _list("stack"), "vstack": _list("vstack"),
    "hstack": _list("hstack"), "column_stack": _list("column_stack"), "lexsort": _list("lexsort"),
    "broadcast_arrays": lambda a, p: jnp.broadcast_arrays(*a),
    "choose": lambda a, p: jnp.choose(a[0], list(a[1:]), mode=p.get("mode", "clip")),
    "average": lambda a, p: jnp.average(a[0], weights=a[1] if len(a) > 1 else None, **p),
    "logsumexp": lambda a, p: jax.scipy.special.logsumexp(*a, **p),
    "lax.polygamma": lambda a, p: jax.scipy.special.polygamma(p["n"], a[0]),
    "lax.polygamma_of": lambda a, p: lax.polygamma(*a),
    "lax.round": lambda a, p: lax.round(a[0], lax.RoundingMethod(p["rounding_method"])),
    "special.polygamma": lambda a, p: jax.scipy.special.polygamma(*((p["n"], *a) if "n" in p else a)),
    "special.expn": lambda a, p: jax.scipy.special.expn(p["n"], *a),
    "lax.iota": lambda a, p: lax.broadcasted_iota(p["dtype"], p["shape"], p["dimension"]),
    "linalg.cho_solve": lambda a, p: jax.scipy.linalg.cho_solve((a[0], p["lower"]), a[1]),
    "linalg.lstsq": lambda a, p: jnp.linalg.lstsq(*a)[0],
    "einsum": _einsum,
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
    **{f"stats.gaussian_kde.{name}": _kde(name) for name in KDE},
    **{f"fft.{name}": _fft(name) for name in FFT},
    "composite.rotation_scan": _rotation_scan, "composite.newton_while": _newton_while,
    "composite.complex_cond": lambda a, p: lax.cond(a[0].real > 0, lambda z: z * z, jnp.conj, a[0]),
    "composite.complex_recurrence": _complex_recurrence,
    **jax_random_ops.OPS,
    "random.key": lambda a, p: jax.random.PRNGKey(p["seed"]),
    "nn.dot_product_attention": _dot_product_attention,
    "nn.dot_product_attention_with_residual": lambda a, p: _dot_product_attention(a, {**p, "return_residual": True}),
    "nn.softmax": _masked(jax.nn.softmax, 1), "nn.log_softmax": _masked(jax.nn.log_softmax, 1),
    "nn.logsumexp": _sum_of_exponentials(jax.nn.logsumexp), "nn.logmeanexp": _sum_of_exponentials(jax.nn.logmeanexp),
    "nn.standardize": _standardize,
    "nn.scaled_dot_general": lambda a, p: jax.nn.scaled_dot_general(*a, (((1,), (0,)), ((), ()))),
    **{f"initializers.{name}": _initializer(name) for name in INITIALIZERS},
    **{f"optax.{name}": _masked(getattr(optax.losses, name), n) for name, n in MASKED_LOSSES.items()},
    "optax.unitwise_norm": lambda a, p: optax.transforms.unitwise_norm(a[0]),
    "optax.multiclass_sparsemax_loss": lambda a, p: optax.losses.multiclass_sparsemax_loss(*a),
    "optax.matrix_inverse_pth_root": lambda a, p: optax.matrix_inverse_pth_root(a[0], **p)[0],
    "composite.softmax": lambda a, p: _softmax(*a, **p), "composite.layer_norm": _layer_norm,
    "composite.attention": _attention, "composite.mlp_loss": _mlp_loss,
    "composite.cross_entropy": _cross_entropy, "composite.gaussian_logpdf": _gaussian_logpdf,
    "composite.kalman_step": _kalman_step, "composite.pairwise_distances": _pairwise_distances,
    "composite.segment_sum": _segment_sum,
    **jax_scipy.OPS,
}
