"""Ops of tests/torch/cases that are not called as a function of PyTorch with arrays and params by name."""
import torch

SPECIAL = {
    "rsub": lambda x, other: other - x,
    "rdiv": lambda x, other: other / x,
    "rpow": lambda x, other: other ** x,
}
