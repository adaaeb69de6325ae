"""PyTorch's side of whole training steps (cotan_training.cpp): a GPT-2, a ResNet-18, text from a GPT-2 with a cache."""

import torch
import torch.nn.functional as F

import inputs
from worker import Case


def dtype_of(p):
    return torch.bfloat16 if p.get("dtype") == "bf16" else None


class Gpt(torch.nn.Module):
    """Leaves in the order of inputs.gpt2_leaves."""

    def __init__(self, p):
        super().__init__()
        self.heads = p["heads"]
        leaves = [torch.nn.Parameter(torch.from_numpy(a)) for a in inputs.gpt2_leaves(p)]
        self.leaves = torch.nn.ParameterList(leaves)
        self.wte, self.wpe, self.last_scale, self.last_offset = leaves[:4]
        self.blocks = [leaves[i : i + 12] for i in range(4, len(leaves), 12)]

    def block(self, x, block, cache=None):
        scale1, offset1, qkv, qkv_bias, out, out_bias, scale2, offset2, widen, widen_bias, narrow, narrow_bias = block
        batch, tokens, width = x.shape
        y = F.layer_norm(x, (width,), scale1, offset1, 1e-5) @ qkv + qkv_bias
        q, k, v = (t.view(batch, tokens, self.heads, width // self.heads).transpose(1, 2) for t in y.split(width, 2))
        if cache is not None:
            cache[0].append(k), cache[1].append(v)
            k, v = torch.cat(cache[0], 2), torch.cat(cache[1], 2)
            cache[0][:], cache[1][:] = [k], [v]
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=cache is None or tokens > 1)
        x = x + mixed.transpose(1, 2).reshape(batch, tokens, width) @ out + out_bias
        y = F.layer_norm(x, (width,), scale2, offset2, 1e-5) @ widen + widen_bias
        return x + F.gelu(y, approximate="tanh") @ narrow + narrow_bias

    def forward(self, words, first=0, caches=None):
        x = self.wte[words] + self.wpe[first : first + words.shape[1]]
        for i, block in enumerate(self.blocks):
            x = self.block(x, block, None if caches is None else caches[i])
        return F.layer_norm(x, x.shape[-1:], self.last_scale, self.last_offset, 1e-5) @ self.wte.T


class Residual(torch.nn.Module):
    def __init__(self, channels, out, stride):
        super().__init__()
        conv, norm = torch.nn.Conv2d, torch.nn.BatchNorm2d
        self.conv1, self.bn1 = conv(channels, out, 3, stride, 1, bias=False), norm(out)
        self.conv2, self.bn2 = conv(out, out, 3, 1, 1, bias=False), norm(out)
        self.short = (
            torch.nn.Sequential(conv(channels, out, 1, stride, bias=False), norm(out))
            if stride != 1 or channels != out
            else torch.nn.Identity()
        )

    def forward(self, x):
        y = F.relu(self.bn1(self.conv1(x)))
        return F.relu(self.bn2(self.conv2(y)) + self.short(x))


def resnet18(classes):
    blocks, channels = [], 64
    for out, stride in ((64, 1), (128, 2), (256, 2), (512, 2)):
        blocks += [Residual(channels, out, stride), Residual(out, out, 1)]
        channels = out
    stem = [torch.nn.Conv2d(3, 64, 7, 2, 3, bias=False), torch.nn.BatchNorm2d(64), torch.nn.ReLU(), torch.nn.MaxPool2d(3, 2, 1)]
    return torch.nn.Sequential(*stem, *blocks, torch.nn.AdaptiveAvgPool2d(1), torch.nn.Flatten(), torch.nn.Linear(512, classes))


def with_hashed_weights(net):
    """Kernels from the shared generator, of the variance that keeps activations near their size."""
    with torch.no_grad():
        for seed, parameter in enumerate(q for q in net.parameters() if q.dim() > 1):
            spread = (6 / parameter[0].numel()) ** 0.5
            parameter.copy_(torch.from_numpy(inputs.uniform(tuple(parameter.shape), seed + 1)) * spread)
        net[-1].bias.zero_()
    return net


def steps_of(net, loss_of, optimizer, clip):
    """A step, and the losses of the first three."""

    def step():
        optimizer.zero_grad()
        loss = loss_of(net)
        loss.backward()
        if clip:
            torch.nn.utils.clip_grad_norm_(net.parameters(), clip)
        optimizer.step()
        return loss

    numbers = [step().item() for _ in range(3)]

    def run(calls):
        for _ in range(calls):
            step()

    return Case(run, lambda: numbers)


def gpt2_train(p):
    with torch.enable_grad():
        net = Gpt(p)
        words, following = (torch.from_numpy(inputs.indices((p["batch"], p["tokens"]), s, p["vocabulary"])).long() for s in (3, 4))

        def loss_of(model):
            with torch.autocast("cpu", dtype=torch.bfloat16, enabled=dtype_of(p) is not None):
                logits = model(words)
            return F.cross_entropy(logits.float().view(-1, p["vocabulary"]), following.view(-1))

        return steps_of(net, loss_of, torch.optim.AdamW(net.parameters(), lr=1e-3, weight_decay=0.01, fused=True), 1.0)


def resnet_train(p):
    with torch.enable_grad():
        net = with_hashed_weights(resnet18(p["classes"]))
        x = torch.from_numpy(inputs.uniform((p["batch"], 3, p["size"], p["size"]), 51))
        labels = torch.from_numpy(inputs.indices((p["batch"],), 52, p["classes"])).long()
        optimizer = torch.optim.SGD(net.parameters(), lr=0.01, momentum=0.9)
        return steps_of(net, lambda model: F.cross_entropy(model(x), labels), optimizer, None)


@torch.no_grad()
def gpt2_decode(p):
    net = Gpt(p)
    prompt = torch.from_numpy(inputs.indices((1, p["prompt"]), 3, p["vocabulary"])).long()

    def text():
        caches = [([], []) for _ in net.blocks]
        out, words, first = [], prompt, 0
        for _ in range(p["new_tokens"]):
            logits = net(words, first, caches)
            first += words.shape[1]
            words = logits[:, -1].argmax(-1, keepdim=True)
            out.append(words.item())
        return out

    numbers = [float(t) for t in text()]

    def run(calls):
        with torch.no_grad():
            for _ in range(calls):
                text()

    return Case(run, lambda: numbers)


KINDS = {"gpt2_train": gpt2_train, "resnet_train": resnet_train, "gpt2_decode": gpt2_decode}
