"""Splines near values: of least squares for given knots, and smoothing ones."""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import numpy as fnp
from ...core import Tracer, aval_of
from ...errors import ArgumentError, ShapeError, where
from ...indexing import known
from ...numpy._arguments import array_of, axis_of, beside, module_of
from ...ops.from_scipy import scipy_package
from .._arrays import floating, floating_each
from ..linalg import solve_banded
from .bsplines import BSpline, basis_rows, degree_of, gap_of, knots_of, make_interp_spline
from .piecewise import columns, require_rising


def _weights(name: str, w: Any, x: Any) -> Any:
    n = x.shape[0]
    w = beside(x, np.ones(n)) if w is None else floating(w, module_of(x))
    if w.shape != (n,):
        raise ShapeError(f"{name}: w has shape {list(w.shape)}; need {[n]}{where()}")
    value = known(w)
    if value is not None and not bool((value > 0).all()):
        raise ArgumentError(f"{name}: w must be positive{where()}")
    return w


def _pairs(name: str, x: Any, y: Any, axis: int) -> tuple[Any, Any, int]:
    """Points in order, the values with their axis in front, and where that was."""
    x, y = floating_each(x, y)
    axis = axis_of(name, axis, y.ndim)
    y = fnp.moveaxis(y, axis, 0)
    if x.ndim != 1 or x.shape[0] != y.shape[0]:
        raise ShapeError(
            f"{name}: x has shape {list(x.shape)}, y has {y.shape[0]} along its axis{where()}"
        )
    value = known(x)
    if value is not None and not bool((value[1:] >= value[:-1]).all()):
        raise ArgumentError(f"{name}: x must not fall{where()}")
    return x, y, axis


def make_lsq_spline(
    x: Any,
    y: Any,
    t: Any,
    k: int = 3,
    w: Any = None,
    axis: int = 0,
    check_finite: bool = True,
    *,
    method: str = "qr",
) -> BSpline:
    """The `BSpline` ``s`` of degree `k` over the knots `t` with the least ``sum((w (y - s(x)))**2)``.

    By a dense matrix with a row for each point, whatever `method` says.

    Shapes: ``x: (n), y: (*a, n, *b)`` with n at `axis`, ``t: (m + k + 1)``, m <= n.
    Dtypes: floating, complex `y`.
    Derivative: linear in `y`; by the points, knots and weights, too.
    Raises: ArgumentError: `x` or `t` falls, a point is beyond the knots, or the points do not
    determine the spline (Schoenberg and Whitney's conditions). ShapeError: the shapes do not fit.
    Source: de Boor, "A Practical Guide to Splines", Springer 2001; SciPy reference,
    ``scipy.interpolate.make_lsq_spline``.

    >>> t = [0.0, 0.0, 0.0, 2.0, 4.0, 4.0, 4.0]
    >>> float(make_lsq_spline(np.arange(5.0), np.arange(5.0) ** 2, t, 2)(1.5).round(6))
    2.25
    """
    k = degree_of("make_lsq_spline", k)
    x, y, axis = _pairs("make_lsq_spline", x, y, axis)
    if method not in ("qr", "norm-eq"):
        raise ArgumentError(f"make_lsq_spline: method={method!r}; need 'qr' or 'norm-eq'{where()}")
    t = knots_of("make_lsq_spline", t, k)
    w = _weights("make_lsq_spline", w, x)
    n = t.shape[0] - k - 1
    _require_determined("make_lsq_spline", x, t, k)
    gap = gap_of(t, x, k)
    rows, _ = basis_rows(t, x, gap, k)
    columns_of = fnp.expand_dims(gap - k, 1) + beside(x, np.arange(k + 1))
    hits = fnp.expand_dims(columns_of, 2) == beside(x, np.arange(n))
    matrix = fnp.sum(fnp.where(hits, fnp.expand_dims(rows, 2), 0.0), axis=1)
    q, r = fnp.linalg.qr(matrix * fnp.expand_dims(w, 1))
    right = fnp.reshape(columns(w, y) * y, (x.shape[0], -1))
    c = fnp.linalg.solve(r, fnp.transpose(q) @ right)
    c = fnp.reshape(c, (n, *y.shape[1:]))
    return BSpline(t, fnp.moveaxis(c, 0, axis), k, axis=axis)


def _require_determined(name: str, x: Any, t: Any, k: int) -> None:
    """Raises: ArgumentError: a point is beyond the knots, or a B-spline has no point of its own."""
    n = t.shape[0] - k - 1
    if x.shape[0] < n:
        raise ArgumentError(f"{name}: {x.shape[0]} points for {n} coefficients{where()}")
    points, knots = known(x), known(t)
    if points is None or knots is None:
        return
    if points[0] < knots[k] or points[-1] > knots[n]:
        raise ArgumentError(
            f"{name}: the points are in {points[0]}..{points[-1]}, the knots allow "
            f"{knots[k]}..{knots[n]}{where()}"
        )
    place = 0
    for j in range(n):  # the first point that is left inside of each one
        while place < len(points) and not _in_support(points[place], knots, j, k, n):
            place += 1
        place += 1
    if place > len(points):
        raise ArgumentError(
            f"{name}: the points do not determine the spline: between some knots there are too few "
            f"(Schoenberg and Whitney's conditions){where()}"
        )


def _in_support(x: Any, t: Any, j: int, k: int, n: int) -> bool:
    low, high = t[j], t[j + k + 1]
    at_end = (x == low == t[k] and j == 0) or (x == high == t[n] and j == n - 1)
    return bool(low < x < high or at_end or (k == 0 and x == low))


def make_smoothing_spline(
    x: Any, y: Any, w: Any = None, lam: Any = None, *, axis: int = 0
) -> BSpline:
    """The cubic ``s`` with the least ``sum(w (y - s(x))**2) + lam integral(s''**2)``.

    Without `lam`, SciPy chooses it by generalised cross-validation, for data that are constants.

    Shapes: ``x: (n), y: (*a, n, *b)`` with n at `axis`, n > 4.   Dtypes: floating, complex `y`.
    Derivative: linear in `y`; by the points, `w` and `lam`, too.
    Raises: ArgumentError: `x` does not rise, `w` is not positive, `lam` is negative, or is not given
    for traced data. ShapeError: the shapes do not fit.
    Source: Reinsch, Numer. Math. 10 (1967); SciPy reference,
    ``scipy.interpolate.make_smoothing_spline``.

    >>> s = make_smoothing_spline(np.arange(6.0), [0.0, 1.0, 0.0, 1.0, 0.0, 1.0], lam=1.0)
    >>> s([0.0, 2.5]).round(4).tolist()
    [0.243, 0.5]
    """
    x, y, axis = _pairs("make_smoothing_spline", require_rising("x", x, 5), y, axis)
    w = _weights("make_smoothing_spline", w, x)
    if lam is None:
        if any(isinstance(v, Tracer) for v in (x, y, w)):
            raise ArgumentError(
                f"make_smoothing_spline: lam is chosen by the data; give it for traced ones{where()}"
            )
        theirs = scipy_package("interpolate", "make_smoothing_spline without lam")
        s = theirs.make_smoothing_spline(x, y, w)
        return BSpline(s.t, fnp.moveaxis(s.c, 0, axis), 3, axis=axis)
    lam = array_of(lam, module_of(x))
    value = known(lam)
    if value is not None and not value >= 0:
        raise ArgumentError(f"make_smoothing_spline: lam={lam}; need 0 or more{where()}")
    gaps = fnp.diff(x)
    # (R + lam Q^T W^-1 Q) g = Q^T y for the second derivatives g: three diagonals of Q, five of the sum
    q = [1.0 / gaps[:-1], -1.0 / gaps[:-1] - 1.0 / gaps[1:], 1.0 / gaps[1:]]
    flat = fnp.reshape(y, (x.shape[0], -1))
    right = sum(columns(v, flat) * flat[i : i + v.shape[0]] for i, v in enumerate(q))
    bands = [
        (gaps[:-1] + gaps[1:]) / 3.0,
        gaps[1:-1] / 6.0,
        fnp.zeros_like(gaps[2:-1]),
    ]
    n, inverse = x.shape[0] - 2, 1.0 / w
    for off in range(3):
        for i in range(3 - off):
            part = q[i + off][: n - off] * q[i][off:] * inverse[i + off : i + n]
            bands[off] = bands[off] + lam * part
    zero = beside(bands[0], np.zeros(2, aval_of(bands[0]).dtype))
    rows = [fnp.concatenate([zero[:off], bands[off]]) for off in (2, 1, 0)] + [
        fnp.concatenate([bands[off], zero[:off]]) for off in (1, 2)
    ]
    bend = solve_banded((2, 2), fnp.stack(rows), right)
    moved: Any = 0.0
    for i, v in enumerate(q):
        part = columns(v, bend) * bend
        moved = moved + fnp.pad(part, ((i, 2 - i), (0, 0)))
    values = flat - lam * columns(inverse, moved) * moved
    values = fnp.moveaxis(fnp.reshape(values, y.shape), 0, axis)
    return make_interp_spline(x, values, bc_type="natural", axis=axis)
