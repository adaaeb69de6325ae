"""Matrices: numpy.linalg, lax.linalg and scipy.linalg. Where JAX has no derivative the same is written so that it has one."""
import jax
import jax.numpy as jnp
import jax.scipy.linalg as sl
import numpy as np
import scipy.linalg
from jax import lax


def _h(x):
    return jnp.conj(jnp.swapaxes(x, -1, -2))


def _order(p):
    p = dict(p)
    p["ord"] = {"inf": jnp.inf, "-inf": -jnp.inf}.get(p.get("ord"), p.get("ord"))
    return p


def _cond(a, p):
    return jnp.linalg.cond(a[0], {"inf": jnp.inf}.get(p["p"], p["p"]))


def _reflections(a, taus):
    """The whole product, one reflection after the other."""
    m, k = a.shape[-2], taus.shape[-1]
    q = jnp.broadcast_to(jnp.eye(m, dtype=a.dtype), a.shape[:-2] + (m, m))
    for i in range(k):
        v = jnp.where(jnp.arange(m) > i, a[..., :, i], 0).at[..., i].set(1)
        q = q - taus[..., i, None, None] * ((q @ v[..., None]) @ _h(v[..., None]))
    return q


def _ormqr(a, p):
    q = _reflections(a[0], a[1])
    q = _h(q) if p["transpose"] else q
    return q @ a[2] if p["left"] else a[2] @ q


def _cholesky_update(a, p):
    r, w = jnp.triu(a[0]), a[1]
    return _h(jnp.linalg.cholesky(_h(r) @ r + w[..., :, None] * w[..., None, :]))


def _symmetric_product(a, p):
    out = p["alpha"] * a[0] @ a[0].T + p["beta"] * a[1]
    return jnp.tril(out) + jnp.tril(out, -1).T if p["symmetrize_output"] else out


def _products(function):
    """t, z with z t zᴴ and zᴴ z, which are unique."""
    def call(a, p):
        t, z = function(a, p)
        return z @ t @ _h(z), _h(z) @ z

    return call


def _sylvester(a, p):
    """By the matrix of the whole system."""
    m, n = a[2].shape
    dtype = a[2].dtype
    system = jnp.kron(a[0], jnp.eye(n, dtype=dtype)) + jnp.kron(jnp.eye(m, dtype=dtype), a[1].T)
    return jnp.linalg.solve(system, a[2].ravel()).reshape(m, n)


@jax.custom_jvp
def _sqrtm(a):
    return sl.sqrtm(a)


@_sqrtm.defjvp
def _sqrtm_jvp(primals, tangents):
    x = sl.sqrtm(primals[0])
    return x, _sylvester((x, x, tangents[0].astype(x.dtype)), {})


def _sqrtm_batched(a, p):
    return jnp.vectorize(_sqrtm, signature="(n,n)->(n,n)")(a[0])


def _whole(d, e):
    return jnp.diag(d) + jnp.diag(e, 1) + jnp.diag(jnp.conj(e), -1)


def _eigh_tridiagonal(a, p):
    w = jnp.linalg.eigvalsh(_whole(*a))
    return w[p["select_range"][0]:p["select_range"][1] + 1] if p.get("select") == "i" else w


def _eigh_tridiagonal_products(a, p):
    w, v = jnp.linalg.eigh(_whole(*a))
    return w, (v * w) @ _h(v)


def _pivoted(a, p):
    q, r, order = sl.qr(a[0], mode="economic", pivoting=True)
    sign = jnp.sign(jnp.diagonal(r, axis1=-2, axis2=-1))
    return q * sign[..., None, :], r * sign[..., :, None], order


def _qr_multiply(a, p):
    q, r = sl.qr(a[0], mode="economic")
    sign = jnp.sign(jnp.diagonal(r))
    q = jnp.conj(q * sign) if p["conjugate"] else q * sign
    return q @ a[1] if p["mode"] == "left" else a[1] @ q


def _solve(a, p):
    """JAX's gradient of complex positive definite systems takes the matrix for symmetric, and it is Hermitian."""
    return jnp.linalg.solve(*a) if jnp.iscomplexobj(a[0]) else sl.solve(*a, **p)


def _eigh_pair(a, p):
    """By the same reduction; eigenvectors as products."""
    x, y = a
    lower = jnp.linalg.cholesky(y, symmetrize_input=False)
    whole = jnp.tril(x) + _h(jnp.tril(x, -1))
    inner = jnp.linalg.inv(lower) if p["type"] == 1 else _h(lower)
    w, v = jnp.linalg.eigh(inner @ whole @ _h(inner))
    v = lower @ v if p["type"] == 3 else jnp.linalg.solve(_h(lower), v)
    return w, (v * w) @ _h(v)


def _polar(a, p):
    """By singular values, which has a derivative, for every side and shape."""
    u, s, vh = jnp.linalg.svd(a[0], full_matrices=False)
    p = (_h(vh) * s[..., None, :]) @ vh if p.get("side", "right") == "right" else (u * s[..., None, :]) @ _h(u)
    return u @ vh, p


def _hessenberg(a, p):
    h, q = sl.hessenberg(a[0], calc_q=True)
    return h, q


def _numbered(function, **fixed):
    return lambda a, p: jnp.asarray(function(**{k: v for k, v in p.items() if k != "dtype"}, **fixed)).astype(p["dtype"])


OPS = {
    "linalg.vector_norm": lambda a, p: jnp.linalg.vector_norm(a[0], **_order(p)),
    "linalg.matrix_norm": lambda a, p: jnp.linalg.matrix_norm(a[0], **_order(p)),
    "linalg.cond": _cond,
    "linalg.multi_dot": lambda a, p: jnp.linalg.multi_dot(a),
    "linalg.qr_complete": lambda a, p: jnp.linalg.qr(a[0], mode="complete"),
    "linalg.qr_raw": lambda a, p: jnp.linalg.qr(a[0], mode="raw"),
    "linalg.qr_r": lambda a, p: jnp.abs(jnp.linalg.qr(a[0], mode="r")),
    "linalg.cholesky_upper": lambda a, p: jnp.linalg.cholesky(a[0], upper=True),
    "linalg.lstsq_all": lambda a, p: jnp.linalg.lstsq(*a),
    "linalg.householder_product": lambda a, p: _reflections(*a)[..., : a[0].shape[-1]],
    "linalg.ormqr": _ormqr, "linalg.cholesky_update": _cholesky_update,
    "linalg.hessenberg": lambda a, p: lax.linalg.hessenberg(a[0]),
    "linalg.tridiagonal": lambda a, p: lax.linalg.tridiagonal(a[0], **p),
    "linalg.tridiagonal_solve": lambda a, p: lax.linalg.tridiagonal_solve(*a, **p),
    "linalg.lu_pivots_to_permutation": lambda a, p: lax.linalg.lu_pivots_to_permutation(*a, **p),
    "linalg.symmetric_product": _symmetric_product,
    "linalg.schur_products": _products(lambda a, p: lax.linalg.schur(a[0])),
    "linalg.qdwh": _polar,
    "scipy_linalg.schur_products": _products(lambda a, p: sl.schur(a[0], **p)),
    "scipy_linalg.rsf2csf_products": _products(lambda a, p: sl.rsf2csf(*sl.schur(a[0]))),
    "scipy_linalg.solve_sylvester": _sylvester, "scipy_linalg.sqrtm": _sqrtm_batched,
    "scipy_linalg.eigh_tridiagonal": _eigh_tridiagonal,
    "scipy_linalg.eigh_tridiagonal_products": _eigh_tridiagonal_products,
    "scipy_linalg.solve": _solve, "scipy_linalg.eigh_pair": _eigh_pair, "scipy_linalg.eigh_values": lambda a, p: sl.eigh(a[0], eigvals_only=True),
    "scipy_linalg.qr_pivoted": _pivoted, "scipy_linalg.qr_multiply": _qr_multiply,
    "scipy_linalg.polar": _polar, "scipy_linalg.hessenberg": _hessenberg,
    "scipy_linalg.funm": lambda a, p: sl.funm(a[0], jnp.sin),
    "scipy_linalg.lu_solve": lambda a, p: sl.lu_solve(sl.lu_factor(a[0]), a[1], **p),
    "scipy_linalg.cho_solve": lambda a, p: sl.cho_solve(sl.cho_factor(a[0], **p), a[1]),
    "scipy_linalg.block_diag": lambda a, p: sl.block_diag(*a),
    "scipy_linalg.expm_frechet": lambda a, p: sl.expm_frechet(*a),
    "scipy_linalg.convolution_matrix": lambda a, p: sl.convolution_matrix(a[0], **p),
    **{f"scipy_linalg.{name}": (lambda f: lambda a, p: f(*a, **p))(getattr(sl, name))
       for name in ("cholesky", "lu", "solve_triangular", "expm", "toeplitz", "hankel", "circulant", "leslie",
                    "companion", "fiedler", "fiedler_companion")},
    # JAX's integers are rounded, and of its default dtype; SciPy's are exact.
    **{f"scipy_linalg.{name}": _numbered(getattr(scipy.linalg, name))
       for name in ("hilbert", "invhilbert", "invpascal", "helmert", "hadamard", "dft")},
    "scipy_linalg.pascal": _numbered(scipy.linalg.pascal, exact=True),
}
