#!/usr/bin/env python3
"""Writes tests/golden/torch/programs.npz: random programs of views, writes and backward passes, and what PyTorch makes of them.

    torch_programs.py                        programs.npz
    torch_programs.py --nightly              programs_nightly.npz, of another seed
    torch_programs.py --seed 7 --count 5000 --out FILE   another one

A program is a list of instructions [name, results, operands, attributes]; tensors are numbers. What is left out, and why, is in
docs/torch_semantics.md. A program ends with the first backward pass that PyTorch refuses, since it may have collected some
gradients by then. The file has one entry, the bytes of a JSON text:

    [{"code": […], "raises": [instructions that raise], "reads": [sums], "end": {tensor: [version, strides, offset, requires_grad,
      is_leaf, is_contiguous, sum of the elements, sum of .grad or null]}}, …]

A sum is one of elements times 1 + (7 k mod 13) / 13.
"""
import argparse
import json
import random

import numpy as np
import torch

import cases
from torch_program_steps import Machine, Rejected, overlaps

INPLACE_BINARY = ["add_", "sub_", "mul_", "div_", "copy_"]
INPLACE_UNARY = ["exp_", "relu_", "zero_", "fill_"]


def sum_of(t):
    values = t.detach().reshape(-1).numpy()
    return float(sum(float(v) * (1 + (7 * k) % 13 / 13) for k, v in enumerate(values)))


def rounded(x):
    return float(f"{x:.14e}")


class Generator:
    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.machine = Machine()
        self.code, self.raises, self.reads = [], [], []
        self.next = 0
        self.hooks = 0
        self.hooked, self.plain = set(), set()
        # Backward passes that are recorded, and where derivatives are looked at: docs/torch_semantics.md says why.
        self.records, self.keeps_results, self.looks_inside = self.rng.choice(
            [(False, True, True), (True, False, True), (True, True, False)])

    def fresh(self):
        self.next += 1
        return self.next - 1

    def defined(self):
        return [i for i, t in self.machine.tensors.items() if t is not None]

    def pick(self, test=lambda t: True):
        found = [i for i in self.defined() if test(self.machine.tensors[i])]
        if not found:
            return None
        return found[-1] if self.rng.random() < 0.4 else self.rng.choice(found)

    def view(self, i):
        """A view of tensor i: name and attributes, seldom impossible ones."""
        r, t = self.rng, self.machine.tensors[i]
        n, dim = t.numel(), t.dim()
        any_dim = r.randrange(-dim, dim) if dim else 0
        size = t.shape[any_dim] if dim else 1
        kind = r.choice(["view", "reshape", "permute", "transpose", "select", "slice", "narrow", "expand", "unsqueeze", "squeeze",
                         "flatten", "unflatten", "t", "mT", "movedim", "diagonal", "unfold", "as_strided", "split", "chunk",
                         "unbind", "tensor_split", "detach"])
        if kind in ("view", "reshape"):
            shapes = [[n], [1, n], [-1], [n, 1]] + [[a, n // a] for a in (2, 3, 4) if n % a == 0] + [[2, -1]]
            return kind, [r.choice(shapes)]
        if kind == "permute":
            return kind, [r.sample(range(dim), dim)]
        if kind == "transpose":
            return kind, [any_dim, r.randrange(-dim, dim) if dim else 0]
        if kind == "select":
            return kind, [any_dim, r.randrange(-size, size + (r.random() < 0.05)) if size else 0]
        if kind == "slice":
            return kind, [any_dim, r.randrange(-size - 1, size + 1), r.randrange(0, size + 2), r.choice([1, 1, 2])]
        if kind == "narrow":
            start = r.randrange(0, size + 1)
            return kind, [any_dim, start, max(size - start - r.randrange(2), 0) + (r.random() < 0.03)]
        if kind == "expand":
            return kind, [[r.choice([1, 2])] * r.choice([0, 1]) + [3 if s == 1 and r.random() < 0.6 else r.choice([s, -1]) for s in t.shape]]
        if kind == "unsqueeze":
            return kind, [r.randrange(-dim - 1, dim + 1)]
        if kind == "squeeze":
            return kind, [[any_dim] if r.random() < 0.5 and dim else list(range(dim))]
        if kind == "flatten":
            return kind, [r.choice([0, any_dim]), -1]
        if kind == "unflatten":
            return kind, [any_dim, r.choice([[1, -1], [2, -1], [-1, 1]])]
        if kind == "movedim":
            return kind, [any_dim, r.randrange(-dim, dim) if dim else 0]
        if kind == "diagonal":
            if dim < 2:
                return kind, [0, 0, 1]
            a, b = r.sample(range(dim), 2)
            return kind, [r.choice([-1, 0, 0, 1]), a, b]
        if kind == "unfold":
            return kind, [any_dim, r.randrange(1, max(size, 1) + 1), r.choice([1, 2])]
        if kind == "as_strided":
            if t._base is not None or n < 2 or t.storage_offset() or not t.is_contiguous():
                return None
            sizes = [r.choice([1, 2])] * r.choice([1, 2])
            return kind, [sizes, [r.choice([1, 2, 3]) for _ in sizes], r.randrange(2)]
        if kind in ("split", "chunk", "tensor_split"):
            return kind, [r.choice([1, 2]), any_dim]
        if kind == "unbind":
            return kind, [any_dim]
        return kind, []

    def instruction(self):
        r = self.rng
        choice = r.choices(["leaf", "unary", "number", "binary", "matmul", "reduce", "view", "inplace", "inplace_number",
                            "inplace_unary", "nograd", "grad_on", "requires_grad_", "retain_grad", "hook", "unhook", "backward",
                            "grad", "zero", "read", "detach_"],
                           [3, 5, 5, 9, 2, 6, 22, 9, 5, 4, 3, 6, 2, 4, 4, 1, 9, 5, 2, 4, 1])[0]
        if choice == "leaf" or len(self.defined()) < 2:
            shape = r.choice([[], [1], [3], [4], [2, 2], [2, 3], [3, 1], [1, 4], [2, 3, 2], [0], [6]])
            return ["leaf", [self.fresh()], [], [shape, r.random() < 0.6, r.randrange(100)]]
        if choice == "nograd":
            return ["nograd", [], [], []] if torch.is_grad_enabled() else None
        if choice == "grad_on":
            return None if torch.is_grad_enabled() else ["grad_on", [], [], []]
        a = self.pick()
        if choice == "unary":
            return [r.choice(["exp", "relu", "neg"]), [self.fresh()], [a], []]
        if choice == "number":
            return [r.choice(["add", "sub", "mul", "div"]) + "_number", [self.fresh()], [a], [r.choice([-2.0, 0.5, 1.5, 2.0])]]
        if choice == "binary":
            return [r.choice(["add", "sub", "mul", "div"]), [self.fresh()], [a, self.pick()], []]
        if choice == "matmul":
            a = self.pick(lambda t: t.dim() == 2)
            b = self.pick(lambda t: t.dim() == 2)
            return None if a is None or b is None else ["matmul", [self.fresh()], [a, b], []]
        if choice == "reduce":
            return [r.choice(["sum", "sum", "mean"]), [self.fresh()], [a], []]
        if choice == "view":
            made = self.view(a)
            if made is None:
                return None
            name, attributes = made
            if name in ("split", "chunk", "unbind", "tensor_split"):
                return [name, [self.fresh(), self.fresh()], [a], attributes]
            return [name, [self.fresh()], [a], attributes]
        if choice == "inplace":
            return [r.choice(INPLACE_BINARY), [], [a, self.pick()], []]
        if choice == "inplace_number":
            return [r.choice(["add", "sub", "mul", "div"]) + "_number_", [], [a], [r.choice([-1.0, 0.5, 1.25])]]
        if choice == "inplace_unary":
            return [r.choice(INPLACE_UNARY), [], [a], [0.75]]
        if choice in ("retain_grad", "requires_grad_", "detach_", "zero"):
            return [choice, [], [a], []]
        if choice == "read":
            return ["read", [], [a], []]
        if choice == "hook":
            self.hooks += 1
            return ["hook", [], [a], [r.choice([2.0, -1.0, 0.5]), self.hooks - 1]]
        if choice == "unhook":
            return ["unhook", [], [], [r.randrange(self.hooks)]] if self.hooks else None
        wants = lambda t: t.requires_grad
        if choice == "backward":
            a = self.pick((lambda t: t.requires_grad and t.grad_fn is not None) if r.random() < 0.95 else (lambda t: True))
            if a is None:
                return None
            with_seed = self.machine.tensors[a].numel() != 1 and r.random() < 0.98
            inputs = [self.pick(wants)] if r.random() < 0.15 else []
            if None in inputs:
                return None
            return ["backward", [], [a] + inputs, [with_seed, r.random() < 0.5, r.random() < 0.1]]
        a = self.pick((lambda t: t.requires_grad and t.grad_fn is not None))
        b = self.pick(wants)
        if a is None or b is None:
            return None
        inputs = [b] + ([self.pick(wants)] if r.random() < 0.3 else [])
        create = r.random() < 0.6
        return ["grad", [self.fresh() for _ in inputs], [a] + inputs,
                [self.machine.tensors[a].numel() != 1, r.choice([None, True]), create, r.random() < 0.8]]

    def allowed(self, ins):
        """Whether both should do the same: see docs/torch_semantics.md."""
        name, _, operands, attributes = ins
        tensors = [self.machine.tensors[i] for i in operands]
        if name in ("backward", "grad") and attributes[2] and not self.records:
            return False
        if name in ("exp", "exp_") and not self.keeps_results:
            return False
        if name == "grad" and any(i in self.hooked and not t.is_leaf for i, t in zip(operands[1:], tensors[1:])):
            return False
        looked_at = tensors[1:] if name in ("backward", "grad") else tensors if name in ("hook", "retain_grad") else []
        if not self.looks_inside and not all(t.is_leaf for t in looked_at):
            return False
        if name in ("fill_", "zero_") and overlaps(tensors[0]):
            return False
        if operands and operands[0] in self.plain and tensors[0].requires_grad and (
                name in ("hook", "retain_grad") or name.endswith("_")):
            return False
        if name.endswith("_") and name not in ("requires_grad_", "detach_"):
            if overlaps(tensors[0]) and not any(s == 0 and n > 1 for s, n in zip(tensors[0].stride(), tensors[0].shape)):
                return False
        if name == "detach_":
            return not any(t is not None and t._base is tensors[0] for t in self.machine.tensors.values())
        if name == "requires_grad_":
            return tensors[0].is_leaf and not any(t is not None and t is not tensors[0] and t.untyped_storage().data_ptr() ==
                                                  tensors[0].untyped_storage().data_ptr() for t in self.machine.tensors.values())
        return True

    def step(self):
        ins = self.instruction()
        if ins is None or not self.allowed(ins):
            return True
        try:
            result = self.machine.execute(ins)
        except Rejected:
            return True
        except (RuntimeError, IndexError, ValueError, TypeError) as error:
            if "its base or another view" in str(error) or "detached in-place" in str(error) or "on purpose" in str(error):
                raise Rejected from error
            if self.records and "have been used in the graph" in str(error):
                raise Rejected from error
            for i in ins[1]:
                self.machine.tensors[i] = None
            self.raises.append(len(self.code))
            self.code.append(ins)
            return ins[0] not in ("backward", "grad")
        if ins[0] == "read":
            self.reads.append(rounded(sum_of(result)))
        for i in ins[1]:
            t = self.machine.tensors.get(i)
            if t is not None and t._base is not None and not t.requires_grad:
                self.plain.add(i)  # made before what it is a view of required a gradient
        if ins[0] == "hook":
            self.hooked.add(ins[2][0])
        self.code.append(ins)
        for t in self.machine.tensors.values():
            if t is not None and t.numel() and not (t.detach().abs().max() < 1e4):
                raise Rejected
        return True

    def program(self):
        try:
            return self.generated()
        except RuntimeError as error:  # of a view from no_grad() whose base was written, PyTorch says nothing any more
            raise Rejected from error
        finally:
            torch.set_grad_enabled(True)

    def generated(self):
        for _ in range(self.rng.randrange(12, 34)):
            if not self.step():
                break
        end = {}
        stopped = self.code and self.code[-1][0] in ("backward", "grad") and len(self.code) - 1 in self.raises
        for i in self.defined():
            t = self.machine.tensors[i]
            try:
                grad = t.grad if t.is_leaf or t.retains_grad else None
            except RuntimeError as error:
                raise Rejected from error
            if grad is not None and not (grad.numel() == 0 or grad.detach().abs().max() < 1e5):
                raise Rejected
            end[i] = [t._version, list(t.stride()), t.storage_offset(), t.requires_grad, t.is_leaf, t.is_contiguous(),
                      rounded(sum_of(t)), None if grad is None or stopped else rounded(sum_of(grad))]
        if not any(ins[0] in ("backward", "grad") for ins in self.code) and self.rng.random() < 0.8:
            raise Rejected
        return {"code": self.code, "raises": self.raises, "reads": self.reads, "end": end, "stopped": bool(stopped),
                "records": self.records}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=1050)
    parser.add_argument("--out", default=cases.ROOT / "tests" / "golden" / "torch" / "programs.npz")
    parser.add_argument("--nightly", action="store_true")
    args = parser.parse_args()
    if args.nightly:
        args.seed, args.count, args.out = 2, 1500, args.out.with_name("programs_nightly.npz")
    torch.set_num_threads(1)
    programs, seed = [], args.seed * 1_000_000
    while len(programs) < args.count:
        seed += 1
        try:
            programs.append(Generator(seed).program())
        except Rejected:
            continue
    text = json.dumps(programs, separators=(",", ":")).encode()
    np.savez_compressed(args.out, json=np.frombuffer(text, np.uint8))


if __name__ == "__main__":
    main()
