"""Writes src/special/chebyshev_tables.cpp: Chebyshev series of the special functions, fitted with mpmath at 50 digits.

A series is of a smooth factor of its function, in a variable t from -1 to 1 (what the comments of the table say); the
functions in src/special/ put the factors together. Needs mpmath. Run: python tools/special/chebyshev.py
"""
from pathlib import Path

import mpmath as mp

mp.mp.dps = 50
ROOT = Path(__file__).resolve().parents[2]
NODES = 90
SMALLEST = mp.mpf(2) ** -57  # of the largest coefficient; what is smaller is left out


def series(function):
    """Coefficients of sum c_k T_k(t)."""
    angles = [mp.pi * (k + mp.mpf(1) / 2) / NODES for k in range(NODES)]
    values = [function(mp.cos(a)) for a in angles]
    out = []
    for j in range(NODES):
        total = mp.fsum(v * mp.cos(j * a) for v, a in zip(values, angles))
        out.append(total * (1 if j == 0 else 2) / NODES)
    largest = max(map(abs, out))
    last = max(k for k, c in enumerate(out) if abs(c) > SMALLEST * largest)
    return out[: last + 1]


def linear(low, high):
    """t -> x on [low, high]."""
    return lambda t: low + (mp.mpf(high) - low) * (t + 1) / 2


def dawson(x):
    return mp.sqrt(mp.pi) / 2 * mp.exp(-x * x) * mp.erfi(x)


def erfcx(x):
    return mp.exp(x * x) * mp.erfc(x)


def fresnel_far(t, which):
    """f pi x or g pi^2 x^3 of S = 1/2 - f cos - g sin, C = 1/2 + f sin - g cos (of pi x^2/2); t = 2 (2.2/x)^4 - 1."""
    x = mp.mpf("2.2") / ((t + 1) / 2) ** (mp.mpf(1) / 4)
    a, s, c = mp.pi * x * x / 2, mp.mpf(1) / 2 - mp.fresnels(x), mp.mpf(1) / 2 - mp.fresnelc(x)
    f, g = s * mp.cos(a) - c * mp.sin(a), s * mp.sin(a) + c * mp.cos(a)
    return f * mp.pi * x if which == "f" else g * mp.pi**2 * x**3


def sici_far(x, which):
    """x f(x) or x^2 g(x) of Si = pi/2 - f cos - g sin, Ci = f sin - g cos."""
    s, c = mp.pi / 2 - mp.si(x), mp.ci(x)
    f, g = s * mp.cos(x) + c * mp.sin(x), s * mp.sin(x) - c * mp.cos(x)
    return x * f if which == "f" else x * x * g


def normal_quantile(p):
    """|ndtri(p)| for p below 1/2, by Newton's method on log p."""
    x = mp.sqrt(-2 * mp.log(p))
    for _ in range(60):
        tail = mp.erfc(x / mp.sqrt(2)) / 2
        step = (mp.log(tail) - mp.log(p)) * tail / (mp.exp(-x * x / 2) / mp.sqrt(2 * mp.pi))
        x += step
        if abs(step) < mp.mpf(10) ** -45 * x:
            return x
    raise ArithmeticError(f"no quantile of {p}")


def tail_of(r):
    return normal_quantile(mp.exp(-r * r / 2)) / r


def central_quantile(t):
    """ndtri(1/2 + q)/q, t = 2 (q/q_most)^2 - 1."""
    q = mp.mpf("0.4") * mp.sqrt((t + 1) / 2)
    return mp.sqrt(2) * mp.erfinv(2 * q) / q if q > mp.mpf(10) ** -20 else mp.sqrt(2 * mp.pi)


def entire_integral(x):
    """The sum of x^k/(k k!), over x."""
    return mp.nsum(lambda k: x ** (k - 1) / (k * mp.factorial(k)), [1, mp.inf]) if x else mp.mpf(1)


def squared(low, high, function):
    """Of a function of x in x^2."""
    return lambda t: function(mp.sqrt(linear(low * low, high * high)(t)))


def inverse(least, function, power=1):
    """Of a function of x >= least in 2 (least/x)^power - 1."""
    return lambda t: function(least / ((t + 1) / 2) ** (mp.mpf(1) / power))


def ei_far(x):
    return x * mp.exp(-x) * mp.ei(x)


SQUARE = "t is linear in x^2"
TABLES = [
    ("i0e_near", "exp(-x) I0(x) for x from 0 to 8", lambda t: (lambda x: mp.exp(-x) * mp.besseli(0, x))(linear(0, 8)(t))),
    ("i0e_far", "sqrt(x) exp(-x) I0(x) for x from 8, t = 16/x - 1", inverse(8, lambda x: mp.sqrt(x) * mp.exp(-x) * mp.besseli(0, x))),
    ("i1e_near", "exp(-x) I1(x)/x for x from 0 to 8", lambda t: (lambda x: mp.exp(-x) * mp.besseli(1, x) / x)(linear(0, 8)(t))),
    ("i1e_far", "sqrt(x) exp(-x) I1(x) for x from 8, t = 16/x - 1", inverse(8, lambda x: mp.sqrt(x) * mp.exp(-x) * mp.besseli(1, x))),
    ("dawson_near", f"D(x)/x for x to 2.5; {SQUARE}", squared(0, mp.mpf("2.5"), lambda x: dawson(x) / x)),
    ("dawson_middle", "2 x D(x) for x from 2.5 to 6", lambda t: (lambda x: 2 * x * dawson(x))(linear(mp.mpf("2.5"), 6)(t))),
    ("dawson_far", "2 x D(x) for x from 6, t = 2 (6/x)^2 - 1", inverse(6, lambda x: 2 * x * dawson(x), 2)),
    ("erfcx_positive", "(1 + 2 x) erfcx(x) for x >= 0, t = (x - 3)/(x + 3)", lambda t: (lambda x: (1 + 2 * x) * erfcx(x))(3 * (1 + t) / (1 - t))),
    ("ndtri_central", "ndtri(1/2 + q)/q for |q| <= 0.4; t is linear in q^2", central_quantile),
    ("ndtri_tail", "-ndtri(p)/r, r = sqrt(-2 log p) from 2.1 to 8", lambda t: tail_of(linear(mp.mpf("2.1"), 8)(t))),
    ("ndtri_far_tail", "-ndtri(p)/r, r = sqrt(-2 log p) from 8 to 40, t linear in 1/r", lambda t: tail_of(1 / linear(mp.mpf(1) / 40, mp.mpf(1) / 8)(t))),
    ("si_near", f"Si(x)/x for x to 4; {SQUARE}", squared(0, 4, lambda x: mp.si(x) / x)),
    ("ci_near", f"(Ci(x) - log x - gamma)/x^2 for x to 4; {SQUARE}", squared(0, 4, lambda x: (mp.ci(x) - mp.log(x) - mp.euler) / x**2)),
    ("sici_f_middle", "x f(x) for x from 4 to 10, t linear in 1/x", lambda t: sici_far(1 / linear(mp.mpf(1) / 10, mp.mpf(1) / 4)(t), "f")),
    ("sici_g_middle", "x^2 g(x) for x from 4 to 10, t linear in 1/x", lambda t: sici_far(1 / linear(mp.mpf(1) / 10, mp.mpf(1) / 4)(t), "g")),
    ("sici_f_far", "x f(x) for x from 10, t = 2 (10/x)^2 - 1", inverse(10, lambda x: sici_far(x, "f"), 2)),
    ("sici_g_far", "x^2 g(x) for x from 10, t = 2 (10/x)^2 - 1", inverse(10, lambda x: sici_far(x, "g"), 2)),
    ("fresnel_s_near", "S(x)/x^3 for x to 2.2; t linear in x^4", lambda t: (lambda x: mp.fresnels(x) / x**3)((linear(0, mp.mpf("2.2") ** 4)(t)) ** mp.mpf("0.25"))),
    ("fresnel_c_near", "C(x)/x for x to 2.2; t linear in x^4", lambda t: (lambda x: mp.fresnelc(x) / x)((linear(0, mp.mpf("2.2") ** 4)(t)) ** mp.mpf("0.25"))),
    ("fresnel_f_far", "pi x f(x) for x from 2.2, t = 2 (2.2/x)^4 - 1", lambda t: fresnel_far(t, "f")),
    ("fresnel_g_far", "pi^2 x^3 g(x) for x from 2.2, t = 2 (2.2/x)^4 - 1", lambda t: fresnel_far(t, "g")),
    ("expint_near", "the sum of x^(k-1)/(k k!) for x from -1 to 6", lambda t: entire_integral(linear(-1, 6)(t))),
    ("e1_far", "x exp(x) E1(x) for x from 1, t = (x - 3)/(x + 1)", lambda t: (lambda x: x * mp.exp(x) * mp.e1(x))((3 + t) / (1 - t))),
    ("ei_middle", "x exp(-x) Ei(x) for x from 6 to 14", lambda t: ei_far(linear(6, 14)(t))),
    ("ei_large", "x exp(-x) Ei(x) for x from 14 to 42", lambda t: ei_far(1 / linear(mp.mpf(1) / 42, mp.mpf(1) / 14)(t))),
    ("ei_far", "x exp(-x) Ei(x) for x from 42, t = 84/x - 1", inverse(42, ei_far)),
]

HEAD = """// Chebyshev series of smooth factors of special functions. Made by tools/special/chebyshev.py; do not edit.
#include "special/chebyshev.hpp"

namespace cotan::special::tables {

"""


def main():
    out = [HEAD]
    for name, what, function in TABLES:
        numbers = [mp.nstr(c, 19, min_fixed=0, max_fixed=0) for c in series(function)]
        print(name, len(numbers), flush=True)
        lines, line = [], "   "
        for n in numbers:
            if len(line) + len(n) + 2 > 118:
                lines.append(line)
                line = "   "
            line += f" {n},"
        lines.append(line)
        body = "\n".join(lines).rstrip(",")
        out.append(f"// {what}\nconstexpr double {name}_terms[] = {{\n{body}}};\nconst Series {name}{{{name}_terms}};\n\n")
    out.append("}  // namespace cotan::special::tables\n")
    (ROOT / "src" / "special").mkdir(exist_ok=True)
    (ROOT / "src" / "special" / "chebyshev_tables.cpp").write_text("".join(out))


if __name__ == "__main__":
    main()
