#!/usr/bin/env python3
"""Writes tests/golden/io/*.safetensors with the PyPI package safetensors: every dtype that it has, empty and 0-d tensors.

usage: safetensors_files.py (in an environment with tools/golden/requirements.txt)
"""
import json
import pathlib

import ml_dtypes
import numpy as np
from safetensors.numpy import save_file

OUT = pathlib.Path(__file__).resolve().parents[2] / "tests" / "golden" / "io"
DTYPES = ["bool", "int8", "uint8", "int16", "uint16", "float16", "int32", "uint32", "float32", "float64", "int64", "uint64",
          "complex64", "bfloat16"]


def values(dtype, shape):
    """0, 1, 2 …; what tests/io/safetensors_test.cpp expects, too."""
    return np.arange(int(np.prod(shape))).reshape(shape).astype(ml_dtypes.bfloat16 if dtype == "bfloat16" else dtype)


def main():
    OUT.mkdir(parents=True, exist_ok=True)
    tensors = {f"{dtype}.weight": values(dtype, (2, 3)) for dtype in DTYPES}
    tensors |= {"scalar": np.full((), 7, np.float32), "empty": np.zeros((0, 3), np.float32), "größe/名": values("int32", (1,))}
    save_file(tensors, OUT / "all_dtypes.safetensors", {"format": "np"})
    eighths = np.arange(4, dtype=np.uint8)
    # What cotan has no dtype for.
    header = {"w": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]},
              "scale": {"dtype": "F8_E4M3", "shape": [4], "data_offsets": [8, 12]}}
    text = json.dumps(header, separators=(",", ":")).encode()
    content = len(text).to_bytes(8, "little") + text + np.array([1, 2], np.float32).tobytes() + eighths.tobytes()
    (OUT / "eight_bits.safetensors").write_bytes(content)


if __name__ == "__main__":
    main()
