"""NumPy: Fourier transforms by PocketFFT, statistics, LAPACK; one thread but for the products."""

import functools

import numpy as np

import inputs
from worker import Case, serve, summarize


def qr(a):
    q, r = np.linalg.qr(a)
    return abs(q), abs(r)


def eig(a):
    w, v = np.linalg.eig(a)
    return (abs(w) ** 2).sum(), (abs(v) ** 2).sum()


def eigh(a):
    w, v = np.linalg.eigh(a)
    return w, abs(v)


def svd_full(a):
    u, s, v = np.linalg.svd(a, full_matrices=False)
    return abs(u), s, abs(v)


KINDS = {
    "fft": lambda p: np.fft.fft,
    "rfft": lambda p: np.fft.rfft,
    "fft2": lambda p: np.fft.fft2,
    "complex_gemm": lambda p: np.matmul,
    "complex_arithmetic": lambda p: lambda x, y: x * y / (x + 2) - y.conj(),
    "complex_exp": lambda p: lambda x: np.exp(x) * abs(x),
    "segment_sum": lambda p: lambda x, ids: np.bincount(ids, x, p["segments"]).astype(np.float32),
    "histogram": lambda p: functools.partial(np.histogram, bins=p["bins"]),
    "quantile": lambda p: lambda x: np.quantile(x, np.array([0.1, 0.5, 0.9], np.float32)),
    "svd_full": lambda p: svd_full,
    "eigh": lambda p: eigh,
    "qr": lambda p: qr,
    "eig": lambda p: eig,
}


def leaves(result):
    return result if isinstance(result, tuple) else (result,)


def make(p):
    if p["kind"] not in KINDS:
        return None
    f = KINDS[p["kind"]](p)
    arguments = inputs.arguments(p)

    def run(calls):
        for _ in range(calls):
            f(*arguments)

    return Case(run, lambda: summarize(leaves(f(*arguments))))


if __name__ == "__main__":
    serve({"numpy": np.__version__}, make)
