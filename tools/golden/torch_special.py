"""Ops of tests/torch/cases that are not called as a function of PyTorch with arrays and params by name."""
import torch
import torch.nn.functional as F



def with_statistics(function):
    """The result of a norm, and the running statistics after it."""
    def call(x, mean, var, weight, bias, **params):
        mean, var = mean.clone(), var.clone()
        return function(x, mean, var, weight, bias, **params), mean, var
    return call


def filled(module, numbers):
    """The module with parameters that are views of one vector, in order of their names."""
    state, at = {}, 0
    for name, p in sorted(module.named_parameters()):
        state[name] = numbers[at:at + p.numel()].reshape(p.shape)
        at += p.numel()
    return lambda *args, **params: torch.func.functional_call(module, state, args, params)


def attention(x, weight, bias, out, heads, need_weights=False, batch_first=False, causal=False, padded=False):
    module = torch.nn.MultiheadAttention(x.shape[-1], heads, batch_first=batch_first).to(x.dtype)
    state = {"in_proj_weight": weight, "in_proj_bias": bias, "out_proj.weight": out}
    length, batch = (x.shape[1], x.shape[0]) if batch_first else (x.shape[0], x.shape[1])
    masks = {"attn_mask": torch.ones(length, length, dtype=torch.bool).triu(1)} if causal else {}
    if padded:  # the last key of the second sample
        masks["key_padding_mask"] = torch.zeros(batch, length, dtype=torch.bool)
        masks["key_padding_mask"][1, -1] = True
    y, weights = torch.func.functional_call(module, state, (x, x, x), {"need_weights": need_weights, **masks})
    return (y, weights) if need_weights else y


def encoder(x, numbers, causal=False, **params):
    layer = torch.nn.TransformerEncoderLayer(x.shape[-1], 2, 5, 0.0, **params).to(x.dtype)
    mask = {"src_mask": torch.ones(x.shape[1], x.shape[1], dtype=torch.bool).triu(1), "is_causal": True} if causal else {}
    return filled(layer, numbers)(x, **mask)


def decoder(x, numbers, causal=False, **params):
    layer = torch.nn.TransformerDecoderLayer(x.shape[-1], 2, 5, 0.0, **params).to(x.dtype)
    mask = {"tgt_mask": torch.ones(x.shape[1], x.shape[1], dtype=torch.bool).triu(1), "tgt_is_causal": True} if causal else {}
    return filled(layer, numbers)(x, x * 0.5, **mask)


def recurrent(make):
    def call(x, numbers, state=None, **params):
        module = make(x.shape[-1], 4, **params).to(x.dtype)
        first = () if state is None else ((state, state * 0.5),) if make is torch.nn.LSTM else (state,)
        return filled(module, numbers)(x, *first)
    return call


SPECIAL = {
    "layer_norm": lambda x, *weights, normalized_shape, **params: F.layer_norm(x, normalized_shape, *weights, **params),
    "rms_norm": lambda x, *weights, normalized_shape, **params: F.rms_norm(x, normalized_shape, *weights, **params),
    "group_norm": lambda x, *weights, num_groups, **params: F.group_norm(x, num_groups, *weights, **params),
    "batch_norm": with_statistics(F.batch_norm),
    "instance_norm": with_statistics(F.instance_norm),
    "bce_with_logits_weighted": lambda x, y, w, p: F.binary_cross_entropy_with_logits(x, y, weight=w, pos_weight=p),
    "nn.MultiheadAttention": attention,
    "nn.TransformerEncoderLayer": encoder,
    "nn.TransformerDecoderLayer": decoder,
    "nn.RNN": recurrent(torch.nn.RNN),
    "nn.GRU": recurrent(torch.nn.GRU),
    "nn.LSTM": recurrent(torch.nn.LSTM),
    "rsub": lambda x, other: other - x,
    "rdiv": lambda x, other: other / x,
    "rpow": lambda x, other: other ** x,
}
