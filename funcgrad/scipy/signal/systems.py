"""Linear systems as quotients, as zeros, poles and a gain, and as matrices of states; sampled ones."""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import numpy as fnp
from ...core import aval_of
from ...errors import ArgumentError, ShapeError, where
from ...indexing import known
from .._arrays import floating, host_only
from ..linalg import block_diag, expm, solve
from .forms import normalized, tf2zpk, zpk2tf


def _table(name: str, what: str, x: Any) -> Any:
    x = fnp.atleast_2d(floating(x))
    if x.ndim != 2:
        raise ShapeError(f"{name}: {what} is {aval_of(x)}; need a matrix{where()}")
    return x


@host_only
def abcd_normalize(
    A: Any = None, B: Any = None, C: Any = None, D: Any = None
) -> tuple[Any, Any, Any, Any]:
    """The matrices of ``x' = A x + B u, y = C x + D u``; what is None or empty is zeros that fit.

    Shapes: ``A: (n, n), B: (n, p), C: (q, n), D: (q, p)``; vectors are rows.
    Dtypes: floating, complex; integers give float64.
    Derivative: what is given is returned.
    Raises: ShapeError: they do not fit. ArgumentError: too few are given to say n, p and q.
    Source: SciPy reference, ``scipy.signal.abcd_normalize``.

    >>> [x.tolist() for x in abcd_normalize([[2.0]], [[1.0]], [[3.0]])]
    [[[2.0]], [[1.0]], [[3.0]], [[0.0]]]
    """
    for one, size in (((A, B, C), "n"), ((B, D), "p"), ((C, D), "q")):
        if all(x is None for x in one):
            raise ArgumentError(f"abcd_normalize: nothing says the size {size}{where()}")
    parts = [
        np.zeros((0, 0)) if x is None else _table("abcd_normalize", what, x)
        for what, x in zip("ABCD", (A, B, C, D), strict=True)
    ]
    a, b, c, d = (x.shape for x in parts)
    n = a[0] or b[0] or c[1]
    p, q = b[1] or d[1], c[0] or d[0]
    for i, (what, shape) in enumerate(zip("ABCD", ((n, n), (n, p), (q, n), (q, p)), strict=True)):
        if not aval_of(parts[i]).size:
            parts[i] = np.zeros(shape)
        if parts[i].shape != shape:
            raise ShapeError(
                f"abcd_normalize: {what} is {aval_of(parts[i])}; need the shape {list(shape)}{where()}"
            )
    return parts[0], parts[1], parts[2], parts[3]


@host_only
def tf2ss(num: Any, den: Any) -> tuple[Any, Any, Any, Any]:
    """The matrices ``A, B, C, D`` of the system ``num / den``: the controller canonical form.

    Shapes: ``num: (m) or (q, m), den: (n + 1) -> (n, n), (n, 1), (q, n), (q, 1)``, less leading zeros;
    one state of zeros if n is 0.
    Dtypes: floating, complex; integers give float64.
    Derivative: by both.
    Raises: ShapeError: `num` is longer than `den`, or they have other shapes. ArgumentError: `den`
    is 0.
    Source: SciPy reference, ``scipy.signal.tf2ss``.

    >>> [x.tolist() for x in tf2ss([3.0], [1.0, 2.0])]
    [[[-2.0]], [[1.0]], [[3.0]], [[0.0]]]
    """
    num, den = normalized("tf2ss", num, den)
    num = fnp.atleast_2d(num)
    size, order = num.shape[1], den.shape[0] - 1
    if size > order + 1:
        raise ShapeError(
            f"tf2ss: num has {size} coefficients, den {order + 1}; need no more{where()}"
        )
    num = fnp.pad(num, ((0, 0), (order + 1 - size, 0)))
    d = num[:, :1]
    if not order:
        return np.zeros((1, 1)), np.zeros((1, 1)), np.zeros((num.shape[0], 1)), d
    a = fnp.concatenate([-den[None, 1:], np.eye(order - 1, order)])
    return a, np.eye(order, 1), num[:, 1:] - d * den[1:], d


@host_only
def ss2tf(A: Any, B: Any, C: Any, D: Any, input: int = 0) -> tuple[Any, Any]:
    """The system as a quotient: ``C adj(s - A) B + det(s - A) D`` and ``det(s - A)`` as coefficients.

    By traces of products (Faddeev, Leverrier), not by eigenvalues, so it is smooth where these are
    equal; the matrices are to be of a size for which coefficients make sense.

    Shapes: as `abcd_normalize`; ``-> (q, n + 1), (n + 1)``, from one `input`.
    Dtypes: floating, complex; integers give float64.
    Derivative: by all matrices, everywhere.
    Raises: as `abcd_normalize`. ArgumentError: there is no such input.
    Source: Householder, "The Theory of Matrices in Numerical Analysis", section 6.7; SciPy reference,
    ``scipy.signal.ss2tf``.

    >>> [x.tolist() for x in ss2tf([[-2.0]], [[1.0]], [[3.0]], [[0.0]])]
    [[[0.0, 3.0]], [1.0, 2.0]]
    """
    A, B, C, D = abcd_normalize(A, B, C, D)
    if not 0 <= input < B.shape[1]:
        raise ArgumentError(f"ss2tf: input={input} of {B.shape[1]} inputs{where()}")
    b, d, unit = B[:, input], D[:, input], np.eye(A.shape[0])
    factor, top, bottom = unit, [d], [np.ones((), aval_of(A).dtype)]
    for k in range(1, A.shape[0] + 1):
        product = A @ factor
        bottom.append(fnp.trace(product) * (-1.0 / k))
        top.append(C @ (factor @ b) + bottom[k] * d)
        factor = product + bottom[k] * unit
    return fnp.stack(top, axis=1), fnp.stack(bottom)


@host_only
def zpk2ss(z: Any, p: Any, k: Any) -> tuple[Any, Any, Any, Any]:
    """The matrices ``A, B, C, D`` of a system given by zeros, poles and a gain.

    Shapes: ``z: (m), p: (n), k: () -> (n, n), (n, 1), (1, n), (1, 1)``.   Dtypes: as `zpk2tf`.
    Derivative: by all of them.
    Raises: as `zpk2tf` and `tf2ss`.
    Source: SciPy reference, ``scipy.signal.zpk2ss``.

    >>> [x.tolist() for x in zpk2ss([], [-2.0], 3.0)]
    [[[-2.0]], [[1.0]], [[3.0]], [[0.0]]]
    """
    return tf2ss(*zpk2tf(z, p, k))


@host_only
def ss2zpk(A: Any, B: Any, C: Any, D: Any, input: int = 0) -> tuple[Any, Any, Any]:
    """The zeros, poles and gain of a system with one output, from one `input`.

    Shapes: as `ss2tf` and `tf2zpk`.   Dtypes: gives complex ones.
    Derivative: smooth where zeros and poles are simple.
    Raises: as `ss2tf` and `tf2zpk`. ShapeError: there are several outputs.
    Source: SciPy reference, ``scipy.signal.ss2zpk``.

    >>> z, p, k = ss2zpk([[-2.0]], [[1.0]], [[3.0]], [[0.0]])
    >>> z.shape, p.real.tolist(), float(k)
    ((0,), [-2.0], 3.0)
    """
    num, den = ss2tf(A, B, C, D, input)
    if num.shape[0] != 1:
        raise ShapeError(f"ss2zpk: there are {num.shape[0]} outputs; need one{where()}")
    return tf2zpk(num[0], den)


# ---------------------------------------------------------------- what stands for a system


def parts_of(name: str, system: Any, *, discrete: bool = False) -> tuple[tuple[Any, ...], Any]:
    """A system as ``(num, den)``, ``(z, p, k)`` or ``(A, B, C, D)``, and the time of a sample or None.

    Raises: ArgumentError: it is none, or a continuous one where a discrete one is needed.
    """
    if hasattr(system, "to_ss"):  # an object of SciPy's
        names = ("A", "B", "C", "D"), ("zeros", "poles", "gain"), ("num", "den")
        found = next(each for each in names if all(hasattr(system, x) for x in each))
        parts, dt = tuple(getattr(system, each) for each in found), system.dt
    elif discrete:
        *rest, dt = system
        parts = tuple(rest)
    else:
        parts, dt = tuple(system), None
    if len(parts) not in (2, 3, 4) or discrete != (dt is not None):
        raise ArgumentError(
            f"{name}: the system has {len(parts)} parts; need (num, den), (z, p, k) or (A, B, C, D)"
            f"{', and the time of a sample' if discrete else ' without a time of samples'}{where()}"
        )
    return parts, dt


def matrices_of(parts: tuple[Any, ...]) -> tuple[Any, Any, Any, Any]:
    """The matrices of a system given by `parts_of`."""
    return {2: tf2ss, 3: zpk2ss, 4: abcd_normalize}[len(parts)](*parts)


# ---------------------------------------------------------------- sampled systems

_BILINEAR = {
    "bilinear": 0.5,
    "tustin": 0.5,
    "euler": 0.0,
    "forward_diff": 0.0,
    "backward_diff": 1.0,
}


@host_only
def cont2discrete(system: Any, dt: Any, method: str = "zoh", alpha: Any = None) -> tuple[Any, ...]:
    """The system for samples `dt` apart that does as a continuous one, as a tuple of its kind and `dt`.

    `system`: ``(num, den)``, ``(z, p, k)`` or ``(A, B, C, D)``. `method`: "zoh" (inputs that are
    constant between samples), "foh" (straight lines), "impulse" (the same response to one), "gbt" (a
    step of integration that takes the share `alpha` from its end), and its cases "euler",
    "bilinear", "backward_diff".

    Shapes: those of the system's.   Dtypes: floating, complex; integers give float64.
    Derivative: by the system, `dt` and `alpha`; zeros and poles are to be simple.
    Raises: ArgumentError: another method or kind of system, `alpha` not from 0 to 1, "impulse" of a
    system that passes on its input at once. ShapeError: the shapes do not fit.
    Source: SciPy reference, ``scipy.signal.cont2discrete``.

    >>> a, b, c, d, dt = cont2discrete(([[-1.0]], [[1.0]], [[1.0]], [[0.0]]), 0.5)
    >>> a.round(4).tolist(), b.round(4).tolist()
    ([[0.6065]], [[0.3935]])
    """
    parts, _ = parts_of("cont2discrete", system)
    a, b, c, d = matrices_of(parts)
    n, m = b.shape
    if method in _BILINEAR or method == "gbt":
        alpha = _BILINEAR.get(method, alpha)
        value = known(alpha) if alpha is not None else None
        if alpha is None or (value is not None and not 0 <= value <= 1):
            raise ArgumentError(
                f"cont2discrete: alpha={alpha}; 'gbt' needs one from 0 to 1{where()}"
            )
        end = np.eye(n) - alpha * dt * a
        ad, bd = solve(end, np.eye(n) + (1.0 - alpha) * dt * a), solve(end, dt * b)
        cd, dd = solve(end.T, c.T).T, d + alpha * (c @ bd)
    elif method == "zoh":
        grown = expm(dt * fnp.pad(fnp.concatenate([a, b], axis=1), ((0, m), (0, 0))))
        ad, bd, cd, dd = grown[:n, :n], grown[:n, n:], c, d
    elif method == "foh":
        top = block_diag(fnp.concatenate([a, b], axis=1) * dt, np.eye(m))
        grown = expm(fnp.pad(top, ((0, m), (0, 0))))
        ad, whole, part = grown[:n, :n], grown[:n, n : n + m], grown[:n, n + m :]
        bd, cd, dd = whole - part + ad @ part, c, d + c @ part
    elif method == "impulse":
        value = known(d)
        if value is not None and not np.allclose(np.asarray(value), 0):
            raise ArgumentError(f"cont2discrete: 'impulse' needs a D of zeros{where()}")
        ad = expm(a * dt)
        bd, cd, dd = ad @ b * dt, c, c @ b * dt
    else:
        words = ", ".join(map(repr, ("zoh", "foh", "impulse", "gbt", *_BILINEAR)))
        raise ArgumentError(f"cont2discrete: method={method!r}; need one of {words}{where()}")
    if len(parts) == 4:
        return ad, bd, cd, dd, dt
    return (*(ss2tf if len(parts) == 2 else ss2zpk)(ad, bd, cd, dd), dt)
