"""The inputs of every workload as NumPy arrays, for the Python peers; the other peers make the same numbers."""

import math

import numpy as np


def hashed(size, seed):
    """A hash of the position: the generator that all peers share."""
    h = np.arange(size, dtype=np.uint32) * np.uint32(0x9E3779B1) + np.uint32(seed * 0x85EBCA77 & 0xFFFFFFFF)
    h = (h ^ (h >> np.uint32(16))) * np.uint32(0x7FEB352D)
    h = (h ^ (h >> np.uint32(15))) * np.uint32(0x846CA68B)
    return h ^ (h >> np.uint32(16))


def uniform(shape, seed, dtype="f32"):
    """Uniform in [-1, 1), exact in f32."""
    kind = {"f64": np.float64}.get(dtype, np.float32)  # halves are cast from f32
    values = (hashed(math.prod(shape), seed) >> np.uint32(8)).astype(kind)
    return (values * kind(2.0**-23) - kind(1)).reshape(shape)


def complex_uniform(shape, seed, dtype="f32"):
    """Both parts of a number lie next to each other."""
    return uniform((*shape, 2), seed, dtype).view(np.complex128 if dtype == "f64" else np.complex64)[..., 0]


def indices(shape, seed, bound):
    return (hashed(math.prod(shape), seed) % np.uint32(bound)).astype(np.int32).reshape(shape)


def vector(p, seed=1):
    return uniform((p["n"],), seed)


def matrix(p, seed=1):
    return uniform((p["rows"], p["columns"]), seed)


def row(p, seed):
    return uniform((p["columns"],), seed)


def square(p, seed, *leading):
    return uniform((*leading, p["n"], p["n"]), seed, p.get("dtype", "f32"))


def contraction(p, seed):
    """Entries of variance 1/n keep a chain of products near its size."""
    values = square(p, seed)
    return values * values.dtype.type((3 / p["n"]) ** 0.5)


def positive_definite(p):
    factor = square(p, 1, p["batch"])
    return factor @ factor.swapaxes(1, 2) + 4 * np.eye(p["n"], dtype=np.float32)


def image(p, seed=1):
    return uniform((p["batch"], p["channels"], p["size"], p["size"]), seed)


def kernel(p):
    return uniform((p["channels"], p["channels"], 3, 3), 2) * np.float32(0.125)


def attention(p):
    width, scale = p["width"], np.float32(p["width"] ** -0.5)
    return [
        uniform((p["batch"], p["tokens"], width), 1),
        uniform((width, 3 * width), 2) * scale,
        uniform((width, width), 3) * scale,
    ]


def network(widths):
    return [
        (uniform(pair, 10 + i) * np.float32(pair[0] ** -0.5), np.zeros(pair[1], np.float32))
        for i, pair in enumerate(zip(widths, widths[1:]))
    ]


def observations(p, *leading):
    """Parameters and series of a Kalman filter."""
    y = uniform((*leading, p["n"]), 1, p.get("dtype", "f32"))
    return [np.zeros(2, y.dtype), y]


def affine_maps(p):
    n, m = p["n"], p["m"]
    return [(uniform((n, m, m), 1) * np.float32(0.5), uniform((n, m), 2), uniform((n, m, m), 3))]


def scan_weights(p):
    return contraction({"n": p["k"]}, 1)


def lstm(p):
    hidden, scale = p["hidden"], np.float32(0.1)
    weights = [uniform((hidden, 4 * hidden), seed) * scale for seed in (1, 2)]
    return [(*weights, np.zeros(4 * hidden, np.float32)), uniform((p["length"], p["batch"], hidden), 3)]


def gpt2_leaves(p):
    """Weights of a GPT-2 (cotan_training.cpp): embeddings, the last norm, then twelve of each block."""
    width = p["width"]

    def weight(rows, columns, seed, spread=None):
        return uniform((rows, columns), seed) * np.float32(spread or rows**-0.5)

    def ones():
        return np.ones(width, np.float32)

    def zeros(size=width):
        return np.zeros(size, np.float32)

    leaves = [weight(p["vocabulary"], width, 1, 0.035), weight(p["positions"], width, 2, 0.017), ones(), zeros()]
    for k in range(p["layers"]):
        seed = 10 * (k + 1)
        leaves += [ones(), zeros(), weight(width, 3 * width, seed), zeros(3 * width)]
        leaves += [weight(width, width, seed + 1), zeros(), ones(), zeros()]
        leaves += [weight(width, 4 * width, seed + 2), zeros(4 * width), weight(4 * width, width, seed + 3), zeros()]
    return leaves


# kind -> parameters -> list of arguments
def updates(p):
    """A vector, where to change it, and by what."""
    return [
        uniform((p["n"],), 1),
        indices((p["indices"],), 2, p["n"]),
        uniform((p["indices"],), 3),
    ]


def symmetric(p):
    values = square(p, 1, p["batch"])
    return values + values.swapaxes(1, 2)


def pooled(p):
    """The shape of an image after pooling."""
    size = (p["size"] - p["window"]) // p["stride"] + 1
    return (p["batch"], p["channels"], size, size)


def segments(p):
    ids = indices((p["n"],), 2, p["segments"])
    return [vector(p), np.sort(ids) if p.get("sorted") else ids]


def complex_matrix(p, seed):
    return complex_uniform((p["n"], p["n"]), seed, p.get("dtype", "f32"))


def complex_vector(p, seed):
    return complex_uniform((p["n"],), seed, p.get("dtype", "f32"))


def model(p, seed):
    """Leaves that repeat matrices and vectors of a transformer (cotan_optimizers.cpp)."""
    w = p["width"]
    block = [(w,), (w, 4 * w), (4 * w,), (4 * w, w), (w, w)]
    return [uniform(block[i % len(block)], seed + i) for i in range(p["leaves"])]


ARGUMENTS = {
    "fft": lambda p: [complex_uniform(p["shape"], 1, p.get("dtype", "f32"))],
    "rfft": lambda p: [uniform(p["shape"], 1, p.get("dtype", "f32"))],
    "fft2": lambda p: [complex_uniform(p["shape"], 1, p.get("dtype", "f32"))],
    "complex_gemm": lambda p: [complex_matrix(p, 1), complex_matrix(p, 2)],
    "complex_arithmetic": lambda p: [complex_vector(p, 1), complex_vector(p, 2)],
    "complex_exp": lambda p: [complex_vector(p, 1)],
    "segment_sum": segments,
    "pool": lambda p: [image(p)],
    "pool_grad": lambda p: [image(p), uniform(pooled(p), 2)],
    "qr": lambda p: [square(p, 1)],
    "eig": lambda p: [square(p, 1)],
    "adam": lambda p: [model(p, 1), model(p, 1001)],
    "special": lambda p: [uniform((p["n"],), 1, p.get("dtype", "f32"))],
    "integers": lambda p: [indices((p["n"],), 1, 2000000000) - np.int32(1000000000)],
    "scatter_into": updates,
    "index_grad": updates,
    "at_set_grad": updates,
    "searchsorted": lambda p: [np.sort(vector(p)), uniform((p["queries"],), 2)],
    "typed_gemm": lambda p: [square(p, 1), square(p, 2)],
    "svd": lambda p: [square(p, 1, p["batch"])],
    "svd_full": lambda p: [square(p, 1, p["batch"])],
    "eigh": lambda p: [symmetric(p)],
    "conv2d_transpose": lambda p: [image(p), kernel(p)],
    "axpy": lambda p: [vector(p), vector(p, 2)],
    "sum_axis": lambda p: [matrix(p)],
    "mean_var_rows": lambda p: [matrix(p)],
    "logsumexp": lambda p: [matrix(p)],
    "softmax": lambda p: [matrix(p)],
    "softmax_grad": lambda p: [matrix(p), matrix(p, 2)],
    "layer_norm": lambda p: [matrix(p), row(p, 2), row(p, 3)],
    "layer_norm_grad": lambda p: [matrix(p), row(p, 2), row(p, 3), matrix(p, 4)],
    "transpose": lambda p: [matrix(p)],
    "gather": lambda p: [matrix(p), indices((p["indices"],), 2, p["rows"])],
    "scatter_add": lambda p: [
        matrix(p),
        indices((p["indices"],), 2, p["rows"]),
        uniform((p["indices"], p["columns"]), 3),
    ],
    "gemm": lambda p: [square(p, 1), square(p, 2)],
    "gemv": lambda p: [square(p, 1), vector(p, 2)],
    "small_gemm": lambda p: [contraction(p, 1), contraction(p, 2)],
    "batched_gemm": lambda p: [square(p, 1, p["batch"]), square(p, 2, p["batch"])],
    "conv2d": lambda p: [image(p), kernel(p)],
    "conv2d_grad": lambda p: [image(p), kernel(p), image(p, 3)],
    "attention": attention,
    "mlp_step": lambda p: [
        network(p["layers"]),
        uniform((p["batch"], p["layers"][0]), 1),
        indices((p["batch"],), 2, p["layers"][-1]),
    ],
    "cholesky": lambda p: [positive_definite(p)],
    "kalman": observations,
    "kalman_grad": observations,
    "vmap_kalman": lambda p: observations(p, p["filters"]),
    "associative": affine_maps,
    "associative_grad": affine_maps,
    "matrix_scan": lambda p: [scan_weights(p), uniform((p["k"], p["k"]), 2)],
    "short_matrix_scan": lambda p: [scan_weights(p), uniform((p["k"], p["k"]), 2)],
    "lstm": lstm,
    "checkpoint": lambda p: [scan_weights(p) * np.float32(0.6), uniform((p["k"],), 2)],
}


def arguments(p):
    """Kinds that are not listed take one vector of n elements."""
    return ARGUMENTS.get(p["kind"], lambda p: [vector(p)])(p)
