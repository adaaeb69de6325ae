"""What the instructions of torch_programs.py mean in PyTorch."""
import itertools
import warnings

import torch

warnings.simplefilter("ignore")


class Rejected(Exception):
    """An instruction or a program that both sides do not do alike on purpose."""


def contiguous_strides(shape):
    out, stride = [], 1
    for size in reversed(shape):
        out.append(stride)
        stride *= max(size, 1)
    return tuple(reversed(out))


def overlaps(t):
    places = [sum(i * s for i, s in zip(index, t.stride())) for index in itertools.product(*map(range, t.shape))]
    return len(set(places)) != len(places)


def leaf(shape, requires_grad, seed):
    count = 1
    for size in shape:
        count *= size
    values = [((seed * 31 + k * 17) % 23 - 11) / 8 for k in range(count)]
    return torch.tensor(values, dtype=torch.float64).reshape(shape).clone().requires_grad_(requires_grad)


def weights(t):
    return torch.tensor([(k % 3 + 1) / 2 for k in range(t.numel())], dtype=torch.float64).reshape(t.shape)


VALUES = {
    "exp": torch.exp, "relu": torch.relu, "neg": lambda x: 0.0 - x, "add": torch.add, "sub": torch.sub, "mul": torch.mul,
    "div": torch.div, "matmul": torch.matmul, "sum": torch.sum, "mean": torch.mean,
    "add_number": torch.add, "sub_number": torch.sub, "mul_number": torch.mul, "div_number": torch.div,
}
VIEWS = {
    "view": lambda x, s: x.view(s), "reshape": lambda x, s: x.reshape(s), "permute": lambda x, d: x.permute(d),
    "transpose": torch.transpose, "select": torch.select, "narrow": torch.narrow, "expand": lambda x, s: x.expand(s),
    "slice": lambda x, d, a, b, s: torch.ops.aten.slice(x, d, a, b, s), "unsqueeze": torch.unsqueeze,
    "squeeze": lambda x, d: torch.squeeze(x, d), "flatten": torch.flatten, "unflatten": lambda x, d, s: x.unflatten(d, s),
    "t": torch.t, "mT": lambda x: x.mT, "movedim": torch.movedim, "diagonal": lambda x, o, a, b: torch.diagonal(x, o, a, b),
    "unfold": lambda x, *a: x.unfold(*a), "as_strided": torch.as_strided, "detach": lambda x: x.detach(),
}
PARTS = {"split": torch.split, "chunk": torch.chunk, "unbind": torch.unbind, "tensor_split": torch.tensor_split}
WRITES = {
    "add_": torch.Tensor.add_, "sub_": torch.Tensor.sub_, "mul_": torch.Tensor.mul_, "div_": torch.Tensor.div_,
    "copy_": torch.Tensor.copy_, "exp_": torch.exp_, "relu_": torch.relu_, "zero_": torch.zero_,
    "add_number_": torch.Tensor.add_, "sub_number_": torch.Tensor.sub_, "mul_number_": torch.Tensor.mul_,
    "div_number_": torch.Tensor.div_, "fill_": torch.Tensor.fill_,
}


class Machine:
    def __init__(self):
        self.tensors = {}
        self.hooks = {}

    def execute(self, ins):
        name, results, operands, attributes = ins
        x = [self.tensors[i] for i in operands]
        if any(t is None for t in x):
            raise Rejected
        if (name in VIEWS or name in PARTS) and name != "detach" and not torch.is_grad_enabled() and x[0].requires_grad:
            raise Rejected  # such a view says there that it requires a gradient, and never gets one
        if name in VALUES:
            y = VALUES[name](*x, *attributes)
            if y.stride() != contiguous_strides(y.shape) or (y.numel() and not y.isfinite().all()):
                raise Rejected  # results keep strides there, and are contiguous here
            self.tensors[results[0]] = y
        elif name in VIEWS:
            y = VIEWS[name](*x, *attributes)
            if y is x[0]:
                raise Rejected  # the same tensor
            self.tensors[results[0]] = y
        elif name in PARTS:
            parts = PARTS[name](x[0], *attributes)
            for i, result in enumerate(results):
                self.tensors[result] = parts[i] if i < len(parts) else None
        elif name in WRITES:
            if name.startswith("div") and len(x) > 1 and (x[1] == 0).any():
                raise Rejected
            if name in ("exp_", "relu_", "zero_"):
                attributes = []
            WRITES[name](*x, *attributes)
            if len(x) > 1 and x[0].untyped_storage().data_ptr() == x[1].untyped_storage().data_ptr() and (
                    overlaps(x[0]) or (x[0].shape, x[0].stride(), x[0].storage_offset()) !=
                    (x[1].shape, x[1].stride(), x[1].storage_offset())):
                raise RuntimeError("on purpose: the result depends on the order of elements")
        else:
            return getattr(self, name)(results, x, *attributes)

    def leaf(self, results, x, *attributes):
        self.tensors[results[0]] = leaf(*attributes)

    def nograd(self, results, x):
        torch.set_grad_enabled(False)

    def grad_on(self, results, x):
        torch.set_grad_enabled(True)

    def requires_grad_(self, results, x):
        x[0].requires_grad_()

    def retain_grad(self, results, x):
        x[0].retain_grad()

    def detach_(self, results, x):
        x[0].detach_()

    def zero(self, results, x):
        x[0].grad = None

    def read(self, results, x):
        return x[0]

    def hook(self, results, x, scale, number):
        self.hooks[number] = x[0].register_hook(lambda g: None if g is None else g * scale)

    def unhook(self, results, x, number):
        if number in self.hooks:
            self.hooks[number].remove()

    def backward(self, results, x, with_seed, retain, create):
        x[0].backward(weights(x[0]) if with_seed else None, retain, create, inputs=x[1:] or None)

    def grad(self, results, x, with_seed, retain, create, allow_unused):
        seeds = [weights(x[0])] if with_seed else None
        gradients = torch.autograd.grad(x[0], x[1:], seeds, retain, create, allow_unused=allow_unused)
        if create and any(g is not None and not g.requires_grad for g in gradients):
            raise RuntimeError("on purpose: a recorded gradient always requires one here")
        with torch.enable_grad():  # they may be the same tensor there
            gradients = [None if g is None else g.clone(memory_format=torch.contiguous_format) for g in gradients]
        for result, g in zip(results, gradients):
            self.tensors[result] = g
