"""PyTorch on the CPU, eager as people run it; with --compile under torch.compile."""

import functools
import os
import sys
import time

import torch
import torch.nn.functional as F

import inputs
import torch_training
from worker import Case, serve, summarize


def gradients(f):
    """Cotangents of f's arguments, of which the last is the cotangent of the result."""

    def pullback(*arguments):
        with torch.enable_grad():
            leaves = [a.detach().requires_grad_() for a in arguments[:-1]]
            return torch.autograd.grad(f(*leaves), leaves, arguments[-1])

    return pullback


def layer_norm(x, scale, offset):
    return F.layer_norm(x, scale.shape, scale, offset, 1e-5)


def convolution(x, kernel):
    return F.conv2d(x, kernel, padding=1)


def attention(x, project_qkv, project_out, heads):
    batch, tokens, width = x.shape
    q, k, v = (x @ project_qkv).view(batch, tokens, 3, heads, width // heads).permute(2, 0, 3, 1, 4)
    mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)
    return x + mixed.transpose(1, 2).reshape(batch, tokens, width) @ project_out


def training_step(network, x, labels):
    with torch.enable_grad():
        leaves = [p.detach().requires_grad_() for layer in network for p in layer]
        for i in range(0, len(leaves), 2):
            x = torch.addmm(leaves[i + 1], x, leaves[i])
            if i + 2 < len(leaves):
                x = F.relu(x)
        loss = F.cross_entropy(x, labels)
        gradient = torch.autograd.grad(loss, leaves)
    with torch.no_grad():
        return loss.detach(), *(p - 0.1 * g for p, g in zip(leaves, gradient))


def repeated_product(a, x, products):
    for _ in range(products):
        x = a @ x
    return x


def mean_var(x, axis=None):
    variance, mean = torch.var_mean(x, axis, correction=0)
    return mean, variance


softmax = functools.partial(torch.softmax, dim=-1)

def pool(p):
    function = F.avg_pool2d if p.get("mean") else F.max_pool2d
    return lambda x: function(x, p["window"], p["stride"])


def segment_sum(p):
    return lambda x, ids: torch.zeros(p["segments"]).index_add(0, ids, x)


def quantile(x):
    return torch.quantile(x, torch.tensor([0.1, 0.5, 0.9]))


def qr(a):
    q, r = torch.linalg.qr(a)
    return q.abs(), r.abs()


def eig(a):
    w, v = torch.linalg.eig(a)
    return (w.abs() ** 2).sum(), (v.abs() ** 2).sum()


def eigh(a):
    w, v = torch.linalg.eigh(a)
    return w, v.abs()


def svd_full(a):
    u, s, v = torch.linalg.svd(a, full_matrices=False)
    return u.abs(), s, v.abs()


def adam(p):
    """The fused optimizer, whose step changes parameters and state in place."""
    parameters, gradients = ([torch.from_numpy(a) for a in leaves] for leaves in inputs.arguments(p))
    parameters = [torch.nn.Parameter(a) for a in parameters]
    for parameter, gradient in zip(parameters, gradients):
        parameter.grad = gradient
    optimizer = torch.optim.Adam(parameters, lr=1e-3, fused=True)
    optimizer.step()
    numbers = summarize(a.detach().numpy() for a in parameters)

    def run(calls):
        for _ in range(calls):
            optimizer.step()

    return Case(run, lambda: numbers)


# kind -> parameters -> function
KINDS = {
    "fft": lambda p: torch.fft.fft,
    "rfft": lambda p: torch.fft.rfft,
    "fft2": lambda p: torch.fft.fft2,
    "complex_gemm": lambda p: torch.matmul,
    "complex_arithmetic": lambda p: lambda x, y: x * y / (x + 2) - y.conj(),
    "complex_exp": lambda p: lambda x: torch.exp(x) * x.abs(),
    "segment_sum": segment_sum,
    "quantile": lambda p: quantile,
    "pool": pool,
    "pool_grad": lambda p: gradients(pool(p)),
    "qr": lambda p: qr,
    "eig": lambda p: eig,
    "eigh": lambda p: eigh,
    "svd_full": lambda p: svd_full,
    "jit_call": lambda p: lambda x: x + 1.0,
    "eager_op": lambda p: lambda x: x + 1.0,
    "elementwise_chain": lambda p: lambda x: torch.tanh(x * 1.5 + 0.25) * x + torch.exp(-x * x),
    "elementwise_cheap": lambda p: lambda x: torch.clamp_min(x * 2.0 + 1.0, 0.5) - x,
    "axpy": lambda p: lambda x, y: torch.add(y, x, alpha=1.5),
    "sum": lambda p: torch.sum,
    "sum_axis": lambda p: lambda x: torch.sum(x, p["axis"]),
    "mean_var": lambda p: mean_var,
    "mean_var_rows": lambda p: functools.partial(mean_var, axis=1),
    "logsumexp": lambda p: functools.partial(torch.logsumexp, dim=1),
    "softmax": lambda p: softmax,
    "softmax_grad": lambda p: gradients(softmax),
    "layer_norm": lambda p: layer_norm,
    "layer_norm_grad": lambda p: gradients(layer_norm),
    "transpose": lambda p: lambda x: x.T.contiguous(),
    "cumsum": lambda p: functools.partial(torch.cumsum, dim=0),
    "sort": lambda p: lambda x: torch.sort(x).values,
    "gather": lambda p: lambda table, rows: table.index_select(0, rows),
    "scatter_add": lambda p: lambda table, rows, updates: table.index_add(0, rows, updates),
    "gemm": lambda p: torch.matmul,
    "gemv": lambda p: torch.matmul,
    "small_gemm": lambda p: functools.partial(repeated_product, products=p["products"]),
    "batched_gemm": lambda p: torch.matmul,
    "conv2d": lambda p: convolution,
    "conv2d_grad": lambda p: gradients(convolution),
    "attention": lambda p: functools.partial(attention, heads=p["heads"]),
    "mlp_step": lambda p: training_step,
    "cholesky": lambda p: torch.linalg.cholesky,
}


def as_tensors(p):
    arguments = inputs.arguments(p)
    if p["kind"] == "mlp_step":
        network, x, labels = arguments
        return [
            [tuple(map(torch.from_numpy, layer)) for layer in network],
            torch.from_numpy(x),
            torch.from_numpy(labels).long(),
        ]  # F.cross_entropy takes no i32
    return [torch.from_numpy(a) for a in arguments]


def leaves(result):
    return [result] if isinstance(result, torch.Tensor) else list(result)


def make(p, use_compile):
    if p["kind"] in torch_training.KINDS:
        return None if use_compile else torch_training.KINDS[p["kind"]](p)
    if p["kind"] == "adam" and not use_compile:
        return adam(p)
    if p["kind"] not in KINDS:
        return None
    if p["kind"] == "jit_call" and not use_compile:
        return None  # eager_op is that measurement
    f = KINDS[p["kind"]](p)
    arguments = as_tensors(p)
    under_compile = use_compile and p["kind"] != "eager_op"

    def fresh():
        torch.compiler.reset()
        return torch.compile(f)

    function = fresh() if under_compile else f

    @torch.no_grad()
    def run(calls):
        for _ in range(calls):
            function(*arguments)

    def compile():
        """The first call of a fresh compilation less a warm call."""
        again = fresh()
        taken = []
        for _ in range(2):
            start = time.perf_counter()
            with torch.no_grad():
                again(*arguments)
            taken.append(time.perf_counter() - start)
        return taken[0] - taken[1]

    @torch.no_grad()
    def check():
        return summarize(leaf.resolve_conj().numpy() for leaf in leaves(function(*arguments)))

    return Case(run, check, compile if under_compile else None)


if __name__ == "__main__":
    torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", "2")))
    serve({"torch": torch.__version__}, functools.partial(make, use_compile="--compile" in sys.argv))
