"""Reads the case table (tests/cases/*.json), expands its rows, and makes their inputs.

The C++ runner has a twin of this file; tests/cases/README.md specifies both. No JAX in here.
"""
import itertools
import json
import math
from dataclasses import dataclass, field
from pathlib import Path

import ml_dtypes
import numpy as np

ROOT = Path(__file__).resolve().parents[2]
CASES = ROOT / "tests" / "cases"
MASK = (1 << 64) - 1
GAMMA = 0x9E3779B97F4A7C15
WEIGHT_ARG = 100  # argument index of the cotangent weights of output 0

DTYPES = {
    "f64": np.float64, "f32": np.float32, "f16": np.float16, "bf16": ml_dtypes.bfloat16,
    "i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64,
    "u8": np.uint8, "u16": np.uint16, "u32": np.uint32, "u64": np.uint64, "bool": np.bool_,
    "c128": np.complex128, "c64": np.complex64,
}
PARTS = {"c128": "f64", "c64": "f32"}  # complex dtypes, and what they are pairs of
FLOATS = ("f64", "f32", "f16", "bf16", "c128", "c64")
# (rtol, atol) by the dtype of the golden; integers and bool are always exact.
TOLERANCE = {"f64": (1e-12, 1e-13), "f32": (1e-5, 2e-6), "f16": (4e-3, 1e-3), "bf16": (3e-2, 8e-3)}
MATRIX_KINDS = ("spd", "symmetric", "lower", "upper", "well_conditioned", "matrix")
ROW_FIELDS = {"op", "args", "shapes", "dtypes", "params", "grad", "tag", "exact", "tol", "grad_tol", "fd", "any_dtype", "eager", "note"}
ARG_FIELDS = {"shape", "dtype", "kind", "domain", "values"}


@dataclass
class Arg:
    shape: tuple
    dtype: str
    kind: str
    domain: tuple
    values: list


@dataclass
class Case:
    id: str
    op: str
    args: list
    params: dict
    grad: list  # indices of the arguments to differentiate; empty: no gradient golden
    row: dict = field(repr=False)
    family: str = ""  # the name of its file

    @property
    def exact(self):
        return self.row.get("exact", False)

    @property
    def finite_differences(self):
        return self.row.get("fd", True)

    def tolerance(self, dtype, gradient=False):
        dtype = PARTS.get(dtype, dtype)
        own = self.row.get("tol", {})
        if gradient:
            own = {**own, **self.row.get("grad_tol", {})}
        return tuple(own.get(dtype, TOLERANCE.get(dtype, (0, 0))))


# ---- expansion

def _params_alternatives(params):
    if isinstance(params, list):
        return params
    keys = sorted(params)
    return [dict(zip(keys, values)) for values in itertools.product(*(params[k] for k in keys))]


def _shape_text(shape):
    return "x".join(map(str, shape)) if len(shape) else "scalar"


def case_id(op, args, params, tag):
    names = [a.dtype for a in args]
    dtype = names[0] if names and len(set(names)) == 1 else ",".join(names) or "-"
    shapes = ",".join(_shape_text(a.shape) for a in args) or "-"
    text = ",".join(k + "=" + json.dumps(params[k], separators=(",", ":")).replace('"', "") for k in sorted(params))
    return f"{op}:{dtype}:{shapes}" + (f":{text}" if params else "") + (f"#{tag}" if tag else "")


def _make_args(specs, shape_alternative, dtypes):
    shapes = iter(shape_alternative)
    args = []
    for i, spec in enumerate(specs):
        assert set(spec) <= ARG_FIELDS, f"unknown argument field in {spec}"
        kind = spec.get("kind", "uniform")
        if kind == "key":
            args.append(Arg((2,), "u32", kind, (), []))
            continue
        dtype = spec.get("dtype") or (dtypes if isinstance(dtypes, str) else dtypes[i])
        if dtype == "bool":
            default = [0, 1]
        elif dtype in FLOATS:
            default = [-1, 1] if kind in MATRIX_KINDS else [-2, 2]
        else:
            default = [-10, 10]
        shape = spec["shape"] if "shape" in spec else next(shapes)
        args.append(Arg(tuple(shape), dtype, kind, tuple(spec.get("domain", default)), spec.get("values", [])))
    assert next(shapes, None) is None, "more shapes than arguments"
    return args


def expand(row):
    assert set(row) <= ROW_FIELDS, f"unknown row field in {row}"
    specs = row.get("args", [{}])
    free = any("dtype" not in a and a.get("kind") != "key" for a in specs)
    ops = [row["op"]] if isinstance(row["op"], str) else row["op"]
    for op in ops:
        for dtypes in row.get("dtypes", ["f64", "f32"]) if free else ["-"]:
            for shapes in row.get("shapes", [[]]):
                for params in _params_alternatives(row.get("params", [{}])):
                    args = _make_args(specs, shapes, dtypes)
                    floats = [i for i, a in enumerate(args) if a.dtype in FLOATS]
                    grad = row.get("grad", floats)
                    if any(PARTS.get(args[i].dtype, args[i].dtype) not in ("f64", "f32") for i in grad):
                        grad = []
                    yield Case(case_id(op, args, params, row.get("tag")), op, args, params, grad, row)


def load(folder=CASES):
    cases, seen = [], set()
    for path in sorted(folder.glob("*.json")):
        for row in json.loads(path.read_text()):
            for case in expand(row):
                assert case.id not in seen, f"{path.name}: two rows give {case.id}; add a tag"
                seen.add(case.id)
                case.family = path.stem
                cases.append(case)
    return cases


# ---- inputs

def fnv1a(text):
    h = 0xCBF29CE484222325
    for byte in text.encode():
        h = ((h ^ byte) * 0x100000001B3) & MASK
    return h


def mix(z):
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return z ^ (z >> 31)


def bits(case_id, arg, count):
    stream = mix((fnv1a(case_id) + (arg + 1) * GAMMA) & MASK)
    return [mix((stream + (i + 1) * GAMMA) & MASK) for i in range(count)]


def _uniform(words, lo, hi):
    return [lo + (hi - lo) * ((w >> 11) * 2.0**-53) for w in words]


def _ranks(words):
    order = sorted(range(len(words)), key=lambda i: (words[i], i))
    ranks = [0] * len(words)
    for rank, i in enumerate(order):
        ranks[i] = rank
    return ranks


def _integer_domain(dtype, domain):
    info = np.iinfo(DTYPES[dtype])
    lo, hi = math.ceil(domain[0]), math.floor(domain[1])
    return max(lo, int(info.min)), min(hi, int(info.max))


def _matrices(words, arg):
    *batch, m, n = arg.shape
    base = np.array(_uniform(words, *map(float, arg.domain)), np.float64)
    if arg.dtype in PARTS:
        base = base[::2] + 1j * base[1::2]
    base = base.reshape(-1, m, n)
    out = np.zeros_like(base)
    for b, a in zip(base, out):
        for i in range(m):
            for j in range(n):
                if arg.kind == "spd":
                    total = 0.0
                    for k in range(n):
                        total += b[i, k] * b[j, k].conjugate()
                    a[i, j] = total / n + (i == j)
                elif arg.kind == "symmetric":
                    a[i, j] = (b[i, j] + b[j, i].conjugate()) / 2 + (2 * i if i == j else 0)
                elif arg.kind in ("lower", "upper"):
                    inside = i > j if arg.kind == "lower" else i < j
                    a[i, j] = 1 + abs(b[i, i]) if i == j else b[i, j] if inside else 0
                elif arg.kind == "well_conditioned":
                    a[i, j] = b[i, j] + (n + 1 if j == (i + 1) % n else 0)
                elif arg.kind == "matrix":
                    a[i, j] = b[i, j] + (i + 2 if i == j else 0)
    return out.reshape(arg.shape)


def round_to(values, dtype):
    """Rounds doubles to a float dtype; half types go through f32. Of complex ones there are two per element."""
    if dtype in PARTS:
        parts = np.asarray(values, np.float64)
        out = np.empty(parts.size // 2, np.complex128)
        out.real, out.imag = parts[::2], parts[1::2]
        return out.astype(DTYPES[dtype])
    out = np.asarray(values, np.float64)
    if dtype == "f64":
        return out
    with np.errstate(over="ignore"):
        return out.astype(np.float32).astype(DTYPES[dtype])


def _numbers(shape, dtype):
    """A complex element is two numbers, as the elements along an axis of size 2 at the end."""
    return math.prod(shape) * (2 if dtype in PARTS else 1)


def make_input(case, index):
    arg = case.args[index]
    if arg.kind == "key":
        seed = case.params["seed"] & MASK
        return np.array([seed >> 32, seed & 0xFFFFFFFF], np.uint32)
    count = _numbers(arg.shape, arg.dtype)
    if arg.kind == "values":
        values = [arg.values[i % len(arg.values)] for i in range(count)]
        if arg.dtype in FLOATS:
            return round_to([float(v) for v in values], arg.dtype).reshape(arg.shape)
        return np.array(values, DTYPES[arg.dtype]).reshape(arg.shape)
    words = bits(case.id, index, count)
    if arg.kind in MATRIX_KINDS:
        matrices = _matrices(words, arg)
        return matrices.astype(DTYPES[arg.dtype]) if arg.dtype in PARTS else round_to(matrices, arg.dtype)
    if arg.dtype == "bool":
        return np.array([w >> 63 for w in words], np.bool_).reshape(arg.shape)
    ranks = {"distinct": _ranks(words), "sorted": range(count)}.get(arg.kind)
    if arg.dtype in FLOATS:
        lo, hi = map(float, arg.domain)
        if ranks is None:
            values = _uniform(words, lo, hi)
        else:
            values = [lo + (hi - lo) * ((r + 0.5) / count) for r in ranks]
        return round_to(values, arg.dtype).reshape(arg.shape)
    lo, hi = _integer_domain(arg.dtype, arg.domain)
    offsets = words if ranks is None else ranks
    return np.array([lo + r % (hi - lo + 1) for r in offsets], DTYPES[arg.dtype]).reshape(arg.shape)


def make_inputs(case):
    return [make_input(case, i) for i in range(len(case.args))]


def weights(case, output, shape, dtype):
    """The cotangent of one output: uniform in [-1, 1)."""
    words = bits(case.id, WEIGHT_ARG + output, _numbers(shape, dtype))
    return round_to(_uniform(words, -1.0, 1.0), dtype).reshape(shape)
