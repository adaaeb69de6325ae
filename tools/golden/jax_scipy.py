"""jax.scipy but its special functions and statistics, jax.ops, jax.image, jax.flatten_util and odeint, by the names of the case
table."""
import jax
import jax.image
import jax.numpy as jnp
import jax.ops
import jax.scipy.cluster.vq
import jax.scipy.fft
import jax.scipy.integrate
import jax.scipy.interpolate
import jax.scipy.ndimage
import jax.scipy.optimize
import jax.scipy.signal
import numpy as np
import scipy.optimize
from jax import lax
from jax.experimental.ode import odeint
from jax.flatten_util import ravel_pytree
from jax.scipy.spatial.transform import Rotation, Slerp

SEGMENTS = ("segment_sum", "segment_prod", "segment_max", "segment_min")
SIGNAL = ("convolve", "correlate", "convolve2d", "correlate2d", "fftconvolve", "detrend", "stft", "istft", "csd", "welch")


def _segments(name):
    return lambda a, p: getattr(jax.ops, name)(*a, **p)


def _signal(name):
    return lambda a, p: getattr(jax.scipy.signal, name)(*a, **p)


def _weighted_welch(args, p):
    return jax.scipy.signal.welch(args[0], window=args[1], **p)


def _grid(args, p):
    """The vectors of points, the values, where."""
    p = dict(p)
    way = p.pop("call_method", None)
    if p.pop("extrapolate", False):
        p["fill_value"] = None
    interpolator = jax.scipy.interpolate.RegularGridInterpolator(args[:-2], args[-2], **p)
    return interpolator(args[-1], way)


def _raveled(args, p):
    tree = {"a": args[0], "b": (args[1], args[2])}
    vector, unravel = ravel_pytree(tree)
    back = unravel(vector * 2)
    return vector, back["a"], *back["b"]


# ---- rotations

def _rotation(f):
    return lambda a, p: f(Rotation.from_quat(a[0]), *a[1:], **p)


def _mean(r, *weights):
    return r.mean(*weights).as_matrix()


def _slerp(args, p):
    return Slerp.init(args[0], Rotation.from_quat(args[1]))(args[2]).as_matrix()


SPATIAL = {
    **{f"spatial.{name}": _rotation(lambda r, *a, name=name, **p: getattr(r, name)(*a, **p))
       for name in ("as_quat", "as_matrix", "as_rotvec", "as_mrp", "as_euler", "apply", "magnitude")},
    "spatial.inv": _rotation(lambda r: r.inv().quat),
    "spatial.compose": _rotation(lambda r, q: (r * Rotation.from_quat(q)).quat),
    "spatial.mean": _rotation(_mean), "spatial.slerp": _slerp,
    "spatial.concatenate": _rotation(lambda r, q: Rotation.concatenate([r, Rotation.from_quat(q)])[1:3].quat),
    "spatial.from_matrix": _rotation(lambda r: Rotation.from_matrix(r.as_matrix()).quat),
    **{f"spatial.{name}": (lambda name: lambda a, p: getattr(Rotation, name)(*((p.pop("seq"),) if "seq" in (p := dict(p)) else ()),
                                                                            *a, **p).quat)(name)
       for name in ("from_rotvec", "from_mrp", "from_euler")},
}


# ---- searches and differential equations, of functions by name

OBJECTIVES = {
    "quadratic": lambda x: jnp.sum(jnp.square(x - jnp.arange(1, x.size + 1, dtype=x.dtype)) * (1 + jnp.arange(x.size, dtype=x.dtype))),
    "rosenbrock": lambda x: jnp.sum(100 * jnp.square(x[1:] - x[:-1] ** 2) + jnp.square(1 - x[:-1])),
    "himmelblau": lambda x: jnp.square(x[0] ** 2 + x[1] - 11) + jnp.square(x[0] + x[1] ** 2 - 7),
    "log_cosh": lambda x: jnp.sum(jnp.log(jnp.cosh(x - 1))),
}


def _scipy_minimum(objective, x0):
    """By SciPy: JAX's line search gives up where it has to go back from a step that was too long."""
    def search(x):
        r = scipy.optimize.minimize(jax.value_and_grad(objective), x, jac=True, method="BFGS", options={"gtol": 1e-9})
        return r.x.astype(x.dtype), np.asarray(r.fun, x.dtype)

    x, value = jax.pure_callback(search, (x0, jnp.zeros((), x0.dtype)), x0)
    return {"x": x, "fun": value, "success": jnp.asarray(True), "status": jnp.asarray(0)}


def _minimize(args, p):
    objective = OBJECTIVES[p["objective"]]
    if p.get("golden") == "scipy":
        found = _scipy_minimum(objective, args[0])
    else:
        found = jax.scipy.optimize.minimize(objective, args[0], method="BFGS", options=dict(p.get("options", ())))._asdict()
    return tuple(found[k] for k in p["results"])


def _decay(y, t, k):
    return -k * y * (1 + 0.5 * jnp.sin(t))


def _pendulum(y, t, damping, forcing):
    angle, speed = y["angle"], y["speed"]
    return {"angle": speed, "speed": -damping * speed - jnp.sin(angle) + forcing * jnp.cos(t)}


OPTIONS = ("rtol", "atol", "mxstep", "hmax")


def _solution(args, p):
    options = {k: p[k] for k in OPTIONS if k in p}
    if p["equation"] == "decay":
        return (odeint(_decay, *args, **options),)
    y = odeint(_pendulum, {"angle": args[0], "speed": args[1]}, *args[2:], **options)
    return y["angle"], y["speed"]


def _solution_gradients(args, p):
    def loss(*x):
        return sum(jnp.sum(y * jnp.cos(jnp.arange(y.size, dtype=y.dtype).reshape(y.shape))) for y in _solution(x, p))

    return jax.grad(loss, argnums=tuple(range(len(args))))(*args)


OPS = {
    **{f"ops.{name}": _segments(name) for name in SEGMENTS},
    **{f"signal.{name}": _signal(name) for name in SIGNAL}, "signal.weighted_welch": _weighted_welch,
    **{f"scipy.fft.{name}": (lambda f: lambda a, p: f(a[0], **p))(getattr(jax.scipy.fft, name))
       for name in ("dct", "idct", "dctn", "idctn")},
    "lax.fft": lambda a, p: lax.fft(a[0], **p),
    "integrate.trapezoid": lambda a, p: jax.scipy.integrate.trapezoid(a[0], *a[1:], **p),
    "ndimage.map_coordinates": lambda a, p: jax.scipy.ndimage.map_coordinates(a[0], a[1:], **p),
    "interpolate.grid": _grid, "cluster.vq": lambda a, p: jax.scipy.cluster.vq.vq(*a),
    "image.resize": lambda a, p: jax.image.resize(a[0], **p),
    "image.scale_and_translate": lambda a, p: jax.image.scale_and_translate(a[0], p["shape"], p["spatial_dims"], a[1], a[2],
                                                                            p["method"], p.get("antialias", True)),
    "flatten_util.ravel_pytree": _raveled, **SPATIAL,
    "optimize.minimize": _minimize, "ode.odeint": _solution, "ode.odeint_gradients": _solution_gradients,
}
