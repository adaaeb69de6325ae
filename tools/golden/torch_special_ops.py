"""Of those ops what is in `torch` itself: elementwise, moving, indexing, linear algebra."""
import torch

JOINED = ("cat", "concat", "stack", "hstack", "vstack", "dstack", "meshgrid", "chain_matmul")


def of_list(op):
    return lambda *x, **params: getattr(torch, op)(list(x), **params) if op not in ("meshgrid", "chain_matmul") else getattr(torch, op)(*x, **params)


def signs_fixed(q, *rest):
    """Columns of q so that the weighted sum of each is positive, and the rows of what they are multiplied with."""
    weights = torch.arange(1, q.shape[-2] + 1, dtype=q.dtype)
    sign = torch.sign((weights[:, None] * q).sum(-2, keepdim=True)).detach()
    return (q * sign, *(r * sign.mT for r in rest))


def svd(a, full_matrices=False):
    u, s, vh = torch.linalg.svd(a, full_matrices=full_matrices)
    u, vh = signs_fixed(u, vh)
    return u, s, vh


def eigh(a):
    w, v = torch.linalg.eigh(a)
    return w, signs_fixed(v)[0]


def written(method):
    """A method that writes, on a copy of the first array."""
    return lambda x, *rest, **params: getattr(x.clone(), method)(*rest, **params)


def by_index(method):
    return lambda x, *rest, dim, **params: getattr(x, method)(dim, *rest, **params)


def indices(spec, tensors):
    """Of the param `index`: integers, "a:b:c", "None", "..." and "@k" for array k."""
    def one(i):
        if isinstance(i, int):
            return i
        if i[0] == "@":
            return tensors[int(i[1:])]
        if i in ("None", "..."):
            return None if i == "None" else Ellipsis
        return slice(*(int(part) if part else None for part in i.split(":")))
    return tuple(one(i) for i in spec)


def put(*x, index, value=None, accumulate=False):
    """x[0] with x[-1], or a number, at the places that x[1:-1] and the index say."""
    out = x[0].clone()
    source = x[-1] if value is None else value
    if accumulate:
        out[indices(index, x)] += source
    else:
        out[indices(index, x)] = source
    return out


OPS = {
    "index": lambda *x, index: x[0][indices(index, x)],
    "index_set": put,
    "index_put": lambda *x, index, accumulate: x[0].index_put(indices(index, x), x[-1], accumulate),
    "arange_of": lambda start, end, step, dtype=None: torch.arange(start, end, step, dtype=dtype),
    **{op: of_list(op) for op in JOINED},
    **{op: by_index(op) for op in ("gather", "index_select", "scatter", "scatter_add", "scatter_reduce", "index_add", "index_copy", "index_fill")},
    "einsum": lambda *x, equation: torch.einsum(equation, *x),
    "polygamma": lambda x, n: torch.polygamma(n, x),
    "max_of": torch.max,
    "clamp": lambda x, *ends, **params: torch.clamp(x, *ends, **params),
    "clamp_low": lambda x, low: torch.clamp(x, min=low),
    "clamp_high": lambda x, high: torch.clamp(x, max=high),
    "where_left": lambda c, x, other: torch.where(c, other, x),
    "masked_fill": lambda x, mask, value: x.masked_fill(mask, value),
    "masked_scatter": lambda x, mask, source: x.masked_scatter(mask, source),
    "topk_values": lambda x, **params: torch.topk(x, **params),
    "to": lambda x, dtype: x.to(dtype),
    "svd_fixed": svd,
    "eigh_fixed": eigh,
    "repeat": lambda x, repeats: x.repeat(repeats),
    "tile": lambda x, repeats: torch.tile(x, repeats),
    "unique_all": lambda x: torch.unique(x, return_inverse=True, return_counts=True),
    "searchsorted_number": lambda x, value: torch.searchsorted(x, value),
    "norm_linalg": lambda x, **params: torch.linalg.vector_norm(x, **params),
    "addcmul_": lambda x, a, b, **params: x.clone().addcmul_(a, b, **params),
}
