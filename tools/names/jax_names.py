#!/usr/bin/env python3
"""Writes tools/names/jax.json: the public functions of JAX and optax, by namespace, as they are installed.

Counted is what `dir` shows of a module: functions, and classes that act as functions. Types, dtypes, modules and warnings are
not names of functions. Needs jax and optax (tools/golden/requirements.txt); make test reads the file alone.
    jax_names.py            writes the file
    jax_names.py --check    fails where the installed packages have other names
"""
import importlib
import inspect
import json
import pathlib
import sys
import types

FILE = pathlib.Path(__file__).with_name("jax.json")
# Namespace of the page: modules, whose names take the second word in front.
MODULES = {
    "numpy": [("jax.numpy", "")],
    "numpy.linalg": [("jax.numpy.linalg", "")],
    "lax.linalg": [("jax.lax.linalg", "")],
    "numpy.fft": [("jax.numpy.fft", "")],
    "lax": [("jax.lax", "")],
    "nn": [("jax.nn", "")],
    "nn.initializers": [("jax.nn.initializers", "")],
    "random": [("jax.random", "")],
    "scipy.special": [("jax.scipy.special", "")],
    "scipy.stats": [("jax.scipy.stats", "")],
    "scipy.linalg": [("jax.scipy.linalg", "")],
    "scipy, other": [(f"jax.scipy.{m}", m + ".") for m in (
        "signal", "ndimage", "interpolate", "cluster.vq", "fft", "integrate", "optimize", "sparse.linalg", "spatial.transform")],
    "ops, image, flatten_util": [("jax.ops", "ops."), ("jax.image", "image."), ("jax.flatten_util", "flatten_util.")],
    "tree": [("jax.tree", "")],
    "optax: losses": [("optax.losses", "")],
    "optax: schedules": [("optax.schedules", "")],
    "optax: tree_utils": [("optax.tree_utils", "")],
    "optax: projections": [("optax.projections", "")],
    "optax: contrib": [("optax.contrib", "")],
    "optax": [("optax", "")],
}
CLASSES = {"finfo", "iinfo", "gaussian_kde", "RegularGridInterpolator", "Rotation", "Slerp", "MultiSteps"}
DISTRIBUTIONS = "jax.scipy.stats"
# What of `jax` itself makes functions of functions, or looks into them; `dir(jax)` has much that is neither.
TRANSFORMS = """
    jax: checkpoint closure_convert custom_gradient custom_jvp custom_vjp disable_jit effects_barrier ensure_compile_time_eval
        eval_shape fwd_and_bwd grad hessian jacfwd jacobian jacrev jit jvp linear_transpose linearize make_jaxpr named_call
        named_scope pure_callback remat ShapeDtypeStruct typeof value_and_grad vjp vmap
    jax.ad_checkpoint: checkpoint_name print_saved_residuals
    jax.custom_batching: custom_vmap sequential_vmap
    jax.custom_derivatives: linear_call
    jax.debug: breakpoint callback log print
    jax.experimental: io_callback
    jax.experimental.buffer_callback: buffer_callback
    jax.experimental.checkify: check checkify
    jax.experimental.jet: jet
    jax.experimental.ode: odeint
    jax.test_util: check_grads check_jvp check_vjp
"""


def names(module, prefix):
    found = importlib.import_module(module)
    for name in dir(found):
        if name.startswith("_"):
            continue
        value = getattr(found, name, None)
        if not callable(value) or isinstance(value, types.ModuleType) or inspect.isclass(value) and name not in CLASSES:
            continue
        yield prefix + name


def distributions():
    stats = importlib.import_module(DISTRIBUTIONS)
    for name in dir(stats):
        if isinstance(getattr(stats, name), types.ModuleType) and not name.startswith("_"):
            yield from names(f"{DISTRIBUTIONS}.{name}", name + ".")


def transforms():
    for line in TRANSFORMS.replace("\n        ", " ").strip().splitlines():
        module, _, listed = line.strip().partition(": ")
        found = importlib.import_module(module)
        for name in listed.split():
            getattr(found, name)  # it is there
            yield (module.removeprefix("jax") + ".").lstrip(".") + name


table = {space: sorted({n for m in modules for n in names(*m)}) for space, modules in MODULES.items()}
table["scipy.stats"] = sorted(set(table["scipy.stats"]) | set(distributions()))
table["transforms"] = sorted(transforms())
inside = {n for space in table if space.startswith("optax: ") for n in table[space]}
table["optax"] = [n for n in table["optax"] if n not in inside]  # what optax shows at its top as well is counted once
table = {"versions": {p: importlib.import_module(p).__version__ for p in ("jax", "optax")}, **table}
text = json.dumps(table, indent=1) + "\n"
if "--check" in sys.argv:
    if text != FILE.read_text():
        sys.exit(f"{FILE.name} is not what is installed ({table['versions']}); run {sys.argv[0]}")
else:
    FILE.write_text(text)
print({space: len(listed) for space, listed in table.items()})
