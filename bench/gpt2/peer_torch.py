"""The model of model.cpp in PyTorch with the same weights: what a training step takes, and the losses.

peer_torch.py [--size=distil|124m|tiny] [--batch=N] [--tokens=N] [--steps=N] [--device=cpu|cuda] [--tf32]
              [--generate=N]
"""

import argparse
import pathlib
import sys
import time

import numpy as np
import torch
from torch.nn import functional as F

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "peers"))
import inputs  # noqa: E402

SIZES = {"distil": (6, 768, 12, 50257, 1024), "124m": (12, 768, 12, 50257, 1024), "tiny": (2, 64, 2, 499, 64)}


def first_params(layers, width, vocabulary, context):
    seeds = iter(range(1, 1000))

    def weight(rows, columns, scale):
        return inputs.uniform((rows, columns), next(seeds)) * np.float32(scale)

    def affine(rows, columns):
        return [weight(rows, columns, rows**-0.5), np.zeros(columns, np.float32)]

    def norm():
        return [np.ones(width, np.float32), np.zeros(width, np.float32)]

    words, positions = weight(vocabulary, width, 0.02), weight(context, width, 0.02)
    blocks = []
    for _ in range(layers):
        parts = [affine(width, 3 * width), affine(width, width), affine(width, 4 * width), affine(4 * width, width)]
        blocks.append(norm() + parts[0] + parts[1] + norm() + parts[2] + parts[3])
    return words, positions, blocks, norm()


class Model:
    def __init__(self, size, device):
        self.layers, self.width, self.heads, vocabulary, context = SIZES[size]
        words, positions, blocks, norm = first_params(self.layers, self.width, vocabulary, context)

        def parameter(a):
            return torch.tensor(a, device=device, requires_grad=True)

        self.words, self.positions = parameter(words), parameter(positions)
        self.blocks = [[parameter(a) for a in block] for block in blocks]
        self.norm = [parameter(a) for a in norm]

    def parameters(self):
        return [self.words, self.positions, *(p for block in self.blocks for p in block), *self.norm]

    def head(self, x):
        return x.view(*x.shape[:-1], self.heads, -1).transpose(-3, -2)

    def normalized(self, x, scale, offset):
        return F.layer_norm(x, (self.width,), scale, offset)

    def loss(self, tokens, following):
        x = self.words[tokens] + self.positions[: tokens.shape[1]]
        for n1, o1, qkv, qkv_b, out, out_b, n2, o2, widen, widen_b, narrow, narrow_b in self.blocks:
            q, k, v = (torch.addmm(qkv_b, self.normalized(x, n1, o1).flatten(0, 1), qkv)).view(*x.shape[:2], -1).chunk(3, -1)
            mixed = F.scaled_dot_product_attention(self.head(q), self.head(k), self.head(v), is_causal=True)
            x = x + torch.addmm(out_b, mixed.transpose(-3, -2).reshape(-1, self.width), out).view(x.shape)
            wide = torch.addmm(widen_b, self.normalized(x, n2, o2).flatten(0, 1), widen)
            x = x + torch.addmm(narrow_b, F.gelu(wide, approximate="tanh"), narrow).view(x.shape)
        scores = self.normalized(x, *self.norm).flatten(0, 1) @ self.words.T
        return F.cross_entropy(scores, following.flatten())

    def generate(self, prompt, count):
        length = len(prompt) + count
        text = torch.cat([prompt, prompt.new_zeros(count)])
        caches = [self.words.new_zeros(2, self.heads, length, self.width // self.heads) for _ in self.blocks]
        for place in range(length - 1):
            x = self.words[text[place]] + self.positions[place]
            for block, cache in zip(self.blocks, caches):
                n1, o1, qkv, qkv_b, out, out_b, n2, o2, widen, widen_b, narrow, narrow_b = block
                q, k, v = (self.normalized(x, n1, o1) @ qkv + qkv_b).view(3, self.heads, 1, -1)
                cache[0, :, place], cache[1, :, place] = k[:, 0], v[:, 0]
                seen = cache[:, :, : place + 1]
                mixed = F.scaled_dot_product_attention(q[None], seen[0][None], seen[1][None])
                x = x + mixed.reshape(-1) @ out + out_b
                wide = F.gelu(self.normalized(x, n2, o2) @ widen + widen_b, approximate="tanh")
                x = x + wide @ narrow + narrow_b
            if place + 1 >= len(prompt):
                text[place + 1] = (self.words @ self.normalized(x, *self.norm)).argmax()
        return text


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--size", default="distil")
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--tf32", action="store_true")
    for name, value in (("batch", 1), ("tokens", 512), ("steps", 10), ("generate", 0)):
        parser.add_argument(f"--{name}", type=int, default=value)
    o = parser.parse_args()
    torch.backends.cuda.matmul.allow_tf32 = o.tf32
    wait = torch.cuda.synchronize if o.device == "cuda" else lambda: None
    model = Model(o.size, o.device)
    vocabulary = SIZES[o.size][3]
    title = f"torch {o.size} {o.batch} x {o.tokens} {'tf32' if o.tf32 else 'f32'}"
    if o.generate:
        prompt = torch.tensor(inputs.indices((o.tokens,), 3, vocabulary), device=o.device).long()
        with torch.no_grad():
            for _ in range(2):
                wait()
                start = time.perf_counter()
                text = model.generate(prompt, o.generate)
                wait()
                seconds = time.perf_counter() - start
        print(f"{title}: {(len(text) - 1) / seconds:.1f} tokens/s, text {text[-12:].tolist()}")
        return
    tokens, following = (
        torch.tensor(inputs.indices((o.batch, o.tokens), seed, vocabulary), device=o.device).long() for seed in (3, 4)
    )
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4, weight_decay=0.01, fused=o.device == "cuda")
    losses = []

    def step():
        optimizer.zero_grad()
        loss = model.loss(tokens, following)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        losses.append(loss.detach())

    for _ in range(3):
        step()
    each = []
    for _ in range(o.steps):
        wait()
        start = time.perf_counter()
        step()
        wait()
        each.append(time.perf_counter() - start)
    start = time.perf_counter()
    for _ in range(o.steps):
        step()
    wait()
    mean = (time.perf_counter() - start) / o.steps
    peak = torch.cuda.max_memory_allocated() / 1e6 if o.device == "cuda" else 0
    print(f"{title}: {mean * 1e3:.3f} ms per step in a row, {sorted(each)[len(each) // 2] * 1e3:.3f} waited for; {peak:.0f} MB")
    print("loss:", *(f"{float(x):.6f}" for x in losses))


main()
