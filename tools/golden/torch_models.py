#!/usr/bin/env python3
"""Writes tests/golden/torch/models.npz: four models that real PyTorch trains for 30 steps, from their first weights.

The regions of this file stand in docs/from_pytorch.md beside their C++ text, which is tests/torch/models_*_test.cpp. First
weights are numbers of f16, so that the file is small. A model has <name>/init/<parameter>, <name>/losses, its data, and
<name>/last/<buffer or parameter>, some of what it ends with.

usage: torch_models.py [--check]
"""
import pathlib
import sys
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

OUT = pathlib.Path(__file__).resolve().parents[2] / "tests" / "golden" / "torch" / "models.npz"
STEPS = 30


# [gpt]
@dataclass
class Config:
    vocab: int = 48
    context: int = 16
    width: int = 32
    heads: int = 2
    layers: int = 2


class Attention(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.heads = c.heads
        self.qkv = nn.Linear(c.width, 3 * c.width)
        self.proj = nn.Linear(c.width, c.width)

    def forward(self, x):
        b, t, e = x.shape
        q, k, v = (h.view(b, t, self.heads, e // self.heads).transpose(1, 2) for h in self.qkv(x).split(e, 2))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.proj(y.transpose(1, 2).reshape(b, t, e))


class Mlp(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.up = nn.Linear(c.width, 4 * c.width)
        self.down = nn.Linear(4 * c.width, c.width)

    def forward(self, x):
        return self.down(F.gelu(self.up(x), approximate="tanh"))


class Block(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.norm1 = nn.LayerNorm(c.width)
        self.attn = Attention(c)
        self.norm2 = nn.LayerNorm(c.width)
        self.mlp = Mlp(c)

    def forward(self, x):
        x = x + self.attn(self.norm1(x))
        return x + self.mlp(self.norm2(x))


class Gpt(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.wte = nn.Embedding(c.vocab, c.width)
        self.wpe = nn.Embedding(c.context, c.width)
        self.blocks = nn.ModuleList(Block(c) for _ in range(c.layers))
        self.norm = nn.LayerNorm(c.width)
        self.head = nn.Linear(c.width, c.vocab, bias=False)
        self.head.weight = self.wte.weight

    def forward(self, tokens):
        x = self.wte(tokens) + self.wpe.weight[:tokens.shape[1]]
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))
# [/gpt]


def train_gpt(batches, load):
    losses = []
    # [gpt_loop]
    net = Gpt(Config())
    load(net)
    decay = [p for p in net.parameters() if p.dim() >= 2]
    others = [p for p in net.parameters() if p.dim() < 2]
    optimizer = torch.optim.AdamW([{"params": decay, "weight_decay": 0.1}, {"params": others, "weight_decay": 0.0}], lr=1e-3)
    for tokens in batches:
        optimizer.zero_grad()
        logits = net(tokens[:, :-1])
        loss = F.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten())
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        optimizer.step()
        losses.append(loss.item())
    # [/gpt_loop]
    return net, losses


# [resnet]
class BasicBlock(nn.Module):
    def __init__(self, channels, out, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(channels, out, 3, stride=stride, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(out)
        self.conv2 = nn.Conv2d(out, out, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(out)
        self.shortcut = nn.Sequential()
        if stride != 1 or channels != out:
            self.shortcut = nn.Sequential(nn.Conv2d(channels, out, 1, stride=stride, bias=False), nn.BatchNorm2d(out))

    def forward(self, x):
        y = F.relu(self.bn1(self.conv1(x)))
        return F.relu(self.bn2(self.conv2(y)) + self.shortcut(x))


class ResNet18(nn.Module):
    def __init__(self, channels=(4, 6, 8, 12), classes=5):
        super().__init__()
        self.conv1 = nn.Conv2d(3, channels[0], 3, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(channels[0])
        self.stages = nn.ModuleList()
        before = channels[0]
        for i, out in enumerate(channels):
            self.stages.append(nn.Sequential(BasicBlock(before, out, 1 if i == 0 else 2), BasicBlock(out, out, 1)))
            before = out
        self.fc = nn.Linear(before, classes)

    def forward(self, x):
        x = F.relu(self.bn1(self.conv1(x)))
        for stage in self.stages:
            x = stage(x)
        return self.fc(F.adaptive_avg_pool2d(x, 1).flatten(1))
# [/resnet]


def train_resnet(batches, load):
    losses = []
    # [resnet_loop]
    net = ResNet18()
    load(net)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.02, momentum=0.9, weight_decay=5e-4)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=30)
    net.train()
    for images, labels in batches:
        optimizer.zero_grad()
        loss = F.cross_entropy(net(images), labels, label_smoothing=0.1)
        loss.backward()
        optimizer.step()
        scheduler.step()
        losses.append(loss.item())
    # [/resnet_loop]
    return net, losses


# [lstm]
class LanguageModel(nn.Module):
    def __init__(self, vocab=40, width=16, hidden=24):
        super().__init__()
        self.embedding = nn.Embedding(vocab, width)
        self.lstm = nn.LSTM(width, hidden, num_layers=2, batch_first=True)
        self.head = nn.Linear(hidden, vocab)

    def forward(self, tokens, state=None):
        y, state = self.lstm(self.embedding(tokens), state)
        return self.head(y), state
# [/lstm]


def train_lstm(batches, load):
    losses = []
    # [lstm_loop]
    net = LanguageModel()
    load(net)
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
    state = None
    for tokens in batches:
        optimizer.zero_grad()
        logits, (h, c) = net(tokens[:, :-1], state)
        state = (h.detach(), c.detach())  # truncated back-propagation through time
        loss = F.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten())
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), 0.5)
        optimizer.step()
        losses.append(loss.item())
    # [/lstm_loop]
    return net, losses


# [vae]
class Vae(nn.Module):
    def __init__(self, pixels=64, hidden=32, latent=4):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(pixels, hidden), nn.Tanh())
        self.mean = nn.Linear(hidden, latent)
        self.log_variance = nn.Linear(hidden, latent)
        self.decoder = nn.Sequential(nn.Linear(latent, hidden), nn.ReLU(), nn.Linear(hidden, pixels))

    def forward(self, x, noise):
        h = self.encoder(x)
        mean, log_variance = self.mean(h), self.log_variance(h)
        z = mean + noise * torch.exp(0.5 * log_variance)
        return self.decoder(z), mean, log_variance
# [/vae]


def train_vae(batches, load):
    losses = []
    # [vae_loop]
    net = Vae()
    load(net)
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
    for x, noise in batches:
        optimizer.zero_grad()
        logits, mean, log_variance = net(x, noise)
        reconstruction = F.binary_cross_entropy_with_logits(logits, x, reduction="sum")
        divergence = -0.5 * torch.sum(1 + log_variance - mean * mean - torch.exp(log_variance))
        loss = (reconstruction + divergence) / x.shape[0]
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    # [/vae_loop]
    return net, losses


def data():
    """By model: arrays with an axis of steps, the batches of which are repeated."""
    r = np.random.default_rng(7)
    chain = r.permutation(48)  # what follows a token, mostly
    def text(vocab, steps, batch, length):
        out = np.zeros((steps, batch, length), np.int64)
        out[..., 0] = r.integers(0, vocab, (steps, batch))
        for i in range(1, length):
            out[..., i] = np.where(r.random((steps, batch)) < 0.8, chain[out[..., i - 1]] % vocab, r.integers(0, vocab, (steps, batch)))
        return out
    labels = r.integers(0, 5, (5, 8))
    patterns = r.normal(size=(5, 3, 16, 16))
    images = 0.5 * patterns[labels] + r.normal(size=(5, 8, 3, 16, 16)) * 0.5
    strokes = np.repeat(np.repeat(r.random((3, 16, 4, 4)) < 0.4, 2, 2), 2, 3).reshape(3, 16, 64)
    return {"gpt": [text(48, 5, 4, 17)], "lstm": [text(40, 5, 4, 13)], "resnet": [images.astype(np.float16), labels],
            "vae": [strokes.astype(np.float16), r.normal(size=(30, 16, 4)).astype(np.float16)]}


def main():
    torch.set_num_threads(1)
    arrays = {}
    for name, train in (("gpt", train_gpt), ("resnet", train_resnet), ("lstm", train_lstm), ("vae", train_vae)):
        torch.manual_seed(3)
        parts = data()[name]
        tensors = [torch.tensor(p.astype(np.float32) if p.dtype == np.float16 else p) for p in parts]
        batches = [[t[i % len(t)] for t in tensors] for i in range(STEPS)]

        def load(net):
            with torch.no_grad():
                for key, p in net.named_parameters():
                    p.mul_(0.2 if key in ("wte.weight", "wpe.weight") else 1)
                    p.copy_(p.half())
                    arrays[f"{name}/init/{key}"] = p.half().numpy()

        net, losses = train([b[0] if len(b) == 1 else b for b in batches], load)
        arrays[f"{name}/losses"] = np.array(losses)
        arrays |= {f"{name}/data{i}": p for i, p in enumerate(parts)}
        last = list(net.named_buffers()) or list(net.named_parameters())[:1]
        arrays |= {f"{name}/last/{key}": t.detach().numpy() for key, t in last}
        print(f"{name}: {sum(p.numel() for p in net.parameters())} parameters, loss {losses[0]:.4f} to {losses[-1]:.4f}")
    if "--check" in sys.argv:
        old = np.load(OUT)
        for key, a in arrays.items():
            assert np.allclose(old[key], a, 2e-5, 1e-6), f"{key} is not what PyTorch gives"
    else:
        np.savez_compressed(OUT, **arrays)
    print(f"{OUT.name}: {OUT.stat().st_size / 1e3:.0f} kB")


main()
