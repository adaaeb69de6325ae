#!/usr/bin/env python3
"""Writes tests/golden/torch_amp.npz: PyTorch's autocast and GradScaler on the CPU.

Keys: scaler/<what>: a linear problem in f32 whose gradients are not finite at some steps: scale, steps taken, weights;
autocast/<dtype>/<what>: losses of 10 steps of two layers, and dtypes on the way. tests/torch/amp_test.cpp has the same.
"""
import math
import pathlib

import numpy as np
import torch

GOLDEN = pathlib.Path(__file__).resolve().parents[2] / "tests" / "golden" / "torch_amp.npz"


def grid(shape, f):
    return torch.tensor([f(i) for i in range(math.prod(shape))], dtype=torch.float64).reshape(shape).float()


def scaled():
    w = grid((4,), lambda i: math.cos(i)).requires_grad_()
    x = grid((4,), lambda i: math.sin(1 + i))
    opt = torch.optim.AdamW([w], lr=0.1)
    scaler = torch.amp.GradScaler("cpu", init_scale=1024.0, growth_interval=3)
    out = {"scale": [], "weights": [], "steps": []}
    for i in range(12):
        opt.zero_grad()
        loss = (w * w * x).sum() * (math.inf if i in (2, 3, 9) else 1.0)
        scaler.scale(loss).backward()
        if i % 2:
            scaler.unscale_(opt)
            torch.nn.utils.clip_grad_norm_([w], 0.5)
        scaler.step(opt)
        scaler.update()
        out["scale"].append(scaler.get_scale())
        out["weights"].append(w.detach().numpy().copy())
        out["steps"].append(float(opt.state[w]["step"]) if w in opt.state else 0.0)
    return {f"scaler/{k}": np.array(v) for k, v in out.items()}


def cast(dtype):
    a = grid((16, 32), lambda i: 0.3 * math.cos(0.7 * i)).requires_grad_()
    b = grid((32, 4), lambda i: 0.3 * math.sin(1.1 * i)).requires_grad_()
    x, y = grid((8, 16), lambda i: math.sin(0.3 * i)), grid((8, 4), lambda i: math.cos(0.9 * i))
    opt = torch.optim.AdamW([a, b], lr=0.01)
    losses = []
    for _ in range(10):
        opt.zero_grad()
        with torch.autocast("cpu", dtype=dtype):
            h = torch.relu(torch.matmul(x, a))
            out = torch.matmul(h, b)
            off = out - y
            loss = torch.mean(off * off)
        loss.backward()
        opt.step()
        losses.append(loss.item())
    types = " ".join(str(t.dtype)[6:] for t in (h, out, off, loss, a.grad))
    print(dtype, types, losses[-1])
    return np.array(losses)


def main():
    out = scaled()
    for name, dtype in (("bf16", torch.bfloat16), ("f16", torch.float16)):
        out[f"autocast/{name}/losses"] = cast(dtype)
    np.savez_compressed(GOLDEN, **out)
    print(out["scaler/scale"], out["scaler/steps"])


if __name__ == "__main__":
    main()
