"""Writes tests/golden/complex_edges.npz: elementary functions of complex numbers whose parts are zeros of both signs, ones,
numbers near the end of the range, infinities and NaN, as NumPy gives them, and where JAX gives the same (signs of zeros
included), in both widths. The twin is tests/unit/complex_edges_test.cpp."""
import os
import pathlib

os.environ["JAX_PLATFORMS"] = "cpu"

import jax
import numpy as np

jax.config.update("jax_enable_x64", True)
import jax.numpy as jnp  # noqa: E402

FUNCTIONS = ("exp exp2 expm1 log log2 log10 log1p sin cos tan arcsin arccos arctan sinh cosh tanh arcsinh arccosh arctanh sqrt "
             "square abs").split()
WIDTHS = {"c64": (np.complex64, 1e30, 1e-5), "c128": (np.complex128, 1e200, 1e-12)}


def parts(values):
    return np.stack([values.real, values.imag], -1)


def agree(a, b, tolerance):
    """Of which elements both parts are the same: NaN is NaN, and a zero has its sign."""
    a, b = parts(a), parts(b)
    size = np.where(np.isfinite(a), np.abs(a), 0).max(-1, keepdims=True)
    close = np.isfinite(a) & np.isfinite(b) & (a * b != 0) & (np.abs(a - b) <= tolerance * size)
    return ((np.isnan(a) & np.isnan(b)) | (((a == b) | close) & (np.signbit(a) == np.signbit(b)))).all(-1)


def main():
    np.seterr(all="ignore")
    out = {}
    for width, (dtype, large, tolerance) in WIDTHS.items():
        of_part = [0.0, -0.0, 1, -1, 2, -2, 0.5, large, -large, np.inf, -np.inf, np.nan]
        points = np.empty(len(of_part) ** 2, dtype)
        points.real, points.imag = np.repeat(of_part, len(of_part)), np.tile(of_part, len(of_part))
        out[f"{width}/points"] = points
        for name in FUNCTIONS:
            value = getattr(np, name)(points)
            out[f"{width}/{name}"] = value
            out[f"{width}/{name}/agreed"] = agree(value, np.asarray(getattr(jnp, name)(points)), tolerance)
    target = pathlib.Path(__file__).resolve().parents[2] / "tests/golden/complex_edges.npz"
    np.savez_compressed(target, **out)
    print(f"{target}: {len(out)} arrays, {target.stat().st_size / 1e3:.0f} kB")


if __name__ == "__main__":
    main()
