"""Cubic interpolation: `CubicSpline`, `PchipInterpolator`, `Akima1DInterpolator`."""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import numpy as fnp
from ...core import aval_of
from ...errors import ArgumentError, ShapeError, where
from ...indexing import known
from ...numpy._arguments import array_of, beside, module_of
from ..linalg import solve_banded
from .piecewise import CubicHermiteSpline, columns

_NAMES = {
    "clamped": (1, 0.0),
    "natural": (2, 0.0),
    "not-a-knot": "not-a-knot",
    "periodic": "periodic",
}


class CubicSpline(CubicHermiteSpline):
    """The piecewise cubic polynomial through `y` at the points `x` with two continuous derivatives.

    `bc_type`: "not-a-knot" (the first two and the last two polynomials are one), "natural" (second
    derivative 0), "clamped" (first derivative 0), "periodic", or for each end one of these or a pair of
    the order of a derivative and its value. Calls, derivatives and integrals are those of `PPoly`.

    Shapes: ``x: (n), y: (*a, n, *b)`` with n at `axis`, n > 1.   Dtypes: floating, complex.
    Derivative: linear in `y` and the values in `bc_type`; by the points and places, too.
    Raises: ArgumentError: `x` does not rise, `bc_type` is not known, periodic values do not meet.
    ShapeError: the shapes do not fit.
    Source: de Boor, "A Practical Guide to Splines", Springer 2001; SciPy reference,
    ``scipy.interpolate.CubicSpline``.

    >>> import funcgrad
    >>> s = CubicSpline(np.arange(4.0), np.arange(4.0) ** 3)
    >>> float(s(1.5)), float(funcgrad.grad(s)(1.5)), float(s.integrate(0.0, 2.0))
    (3.375, 6.75, 4.0)
    """

    def __init__(
        self, x: Any, y: Any, axis: int = 0, bc_type: Any = "not-a-knot", extrapolate: Any = None
    ) -> None:
        x, y, axis = self._table(x, y, axis)
        ends = _ends(bc_type)
        if extrapolate is None:
            extrapolate = "periodic" if ends[0] == "periodic" else True
        if ends[0] == "periodic":
            _require_meeting(y)
            slopes = _periodic_slopes(x, y)
        else:
            slopes = _slopes(x, y, *ends)
        self._make(x, y, slopes, axis, extrapolate)


def _ends(bc_type: Any) -> tuple[Any, Any]:
    """What is asked of each end: "not-a-knot", "periodic", or an order and a value."""
    pair = (bc_type, bc_type) if isinstance(bc_type, str) else tuple(bc_type)
    names = [end for end in pair if isinstance(end, str)]
    if len(pair) != 2 or names.count("periodic") == 1:
        raise ArgumentError(
            f"CubicSpline: bc_type={bc_type!r}; need one for each end, periodic for both{where()}"
        )
    found = []
    for end in pair:
        if isinstance(end, str) and end not in _NAMES:
            raise ArgumentError(
                f"CubicSpline: bc_type={end!r}; need one of {', '.join(map(repr, _NAMES))}{where()}"
            )
        end = _NAMES[end] if isinstance(end, str) else tuple(end)
        if not isinstance(end, str) and (len(end) != 2 or end[0] not in (1, 2)):
            raise ArgumentError(
                f"CubicSpline: bc_type={end!r}; need the order 1 or 2 and a value{where()}"
            )
        found.append(end)
    return found[0], found[1]


def _require_meeting(y: Any) -> None:
    first, last = known(y[0]), known(y[-1])
    if first is not None and not np.allclose(first, last, rtol=1e-15, atol=1e-15):
        raise ArgumentError(
            f"CubicSpline: the first and last values of a periodic spline must be equal{where()}"
        )


def _value(end: Any, y: Any) -> Any:
    """The value of a derivative at an end, with the axes that the values have there."""
    value = array_of(end[1], module_of(y))
    if value.shape not in ((), y.shape[1:]):
        raise ShapeError(
            f"CubicSpline: the value in bc_type has shape {list(value.shape)}; need "
            f"{list(y.shape[1:])}{where()}"
        )
    return fnp.broadcast_to(value, y.shape[1:])


def _end_row(end: Any, h: Any, m: Any, y: Any, sign: float) -> tuple[Any, Any, Any]:
    """The equation at the first point (or the last one, seen from there): the coefficients of the
    slopes there and next to it, and the other side. `h` and `m` are the first gaps and mean slopes.
    """
    one = h[0] * 0.0 + 1.0
    if end == "not-a-knot":
        if h.shape[0] == 1:
            return one, one * 0.0, m[0]
        both = h[0] + h[1]
        mixed = (h[0] + 2 * both) * h[1] * m[0] + h[0] * h[0] * m[1]
        return h[1], both, mixed / both
    if end[0] == 1:
        return one, one * 0.0, _value(end, y)
    return 2 * one, one, 3 * m[0] - 0.5 * sign * h[0] * _value(end, y)


def _slopes(x: Any, y: Any, first: Any, last: Any) -> Any:
    """The slopes at the points, from the equations that the second derivatives agree."""
    gaps = fnp.diff(x)
    h = columns(gaps, y)
    m = fnp.diff(y, axis=0) / h
    if y.shape[0] == 3 and first == last == "not-a-knot":
        bend = (m[1] - m[0]) / (gaps[0] + gaps[1])
        return fnp.stack([m[0] - bend * gaps[0], m[0] + bend * gaps[0], m[1] + bend * gaps[1]])
    d0, u0, r0 = _end_row(first, gaps, m, y, 1.0)
    d1, l1, r1 = _end_row(last, fnp.flip(gaps), fnp.flip(m, 0), y, -1.0)
    here = fnp.concatenate([d0[None], 2 * (gaps[:-1] + gaps[1:]), d1[None]])
    above = fnp.concatenate([(u0 * 0.0)[None], u0[None], gaps[:-1]])
    below = fnp.concatenate([gaps[1:], l1[None], (l1 * 0.0)[None]])
    inner = 3 * (h[1:] * m[:-1] + h[:-1] * m[1:])
    right = fnp.concatenate([r0[None], inner, r1[None]])
    flat = fnp.reshape(right, (right.shape[0], -1))
    found = solve_banded((1, 1), fnp.stack([above, here, below]), flat)
    return fnp.reshape(found, y.shape)


def _periodic_slopes(x: Any, y: Any) -> Any:
    """The slopes at the points of a closed curve."""
    n = x.shape[0] - 1
    gaps = fnp.diff(x)
    h = columns(gaps, y)
    m = fnp.diff(y, axis=0) / h
    before, m_before = fnp.roll(gaps, 1), fnp.roll(m, 1, 0)
    eye = np.eye(n, dtype=aval_of(x).dtype)
    after, behind = beside(x, np.roll(eye, -1, 1)), beside(x, np.roll(eye, 1, 1))
    matrix = (
        fnp.diag(2 * (gaps + before)) + columns(gaps, eye) * after + columns(before, eye) * behind
    )
    right = 3 * (h * m_before + columns(before, y) * m)
    found = fnp.linalg.solve(matrix, fnp.reshape(right, (n, -1)))
    found = fnp.reshape(found, (n, *y.shape[1:]))
    return fnp.concatenate([found, found[:1]])


class PchipInterpolator(CubicHermiteSpline):
    """The piecewise cubic polynomial through `y` that is monotonic where `y` is.

    Slopes are weighted harmonic means of those of the gaps beside a point, and 0 where they differ in
    sign. Calls, derivatives and integrals are those of `PPoly`.

    Shapes: ``x: (n), y: (*a, n, *b)`` with n at `axis`, n > 1.   Dtypes: real floating.
    Derivative: by `y`, the points and places; at a gap without slope that of the slope 0.
    Raises: as `CubicHermiteSpline`; ArgumentError: complex `y`.
    Source: Fritsch & Butland, SIAM J. Sci. Stat. Comput. 5 (1984); SciPy reference,
    ``scipy.interpolate.PchipInterpolator``.

    >>> float(PchipInterpolator([0.0, 1.0, 2.0], [0.0, 0.0, 1.0])(0.5))
    0.0
    """

    def __init__(self, x: Any, y: Any, axis: int = 0, extrapolate: Any = None) -> None:
        x, y, axis = self._table(x, y, axis)
        _require_real("PchipInterpolator", y)
        h = columns(fnp.diff(x), y)
        m = fnp.diff(y, axis=0) / h
        if y.shape[0] == 2:
            slopes = fnp.concatenate([m, m])
        else:
            first = _pchip_end(h[0], h[1], m[0], m[1])
            last = _pchip_end(h[-1], h[-2], m[-1], m[-2])
            slopes = fnp.concatenate([first[None], _pchip_inner(h, m), last[None]])
        self._make(x, y, slopes, axis, extrapolate)


def _require_real(name: str, y: Any) -> None:
    if aval_of(y).dtype.kind == "c":
        raise ArgumentError(f"{name}: y is {aval_of(y)}; need real numbers{where()}")


def _pchip_inner(h: Any, m: Any) -> Any:
    flat = fnp.logical_or(fnp.sign(m[:-1]) != fnp.sign(m[1:]), m[:-1] * m[1:] == 0)
    before, after = (fnp.where(flat, 1.0, part) for part in (m[:-1], m[1:]))
    w1, w2 = 2 * h[1:] + h[:-1], h[1:] + 2 * h[:-1]
    return fnp.where(flat, 0.0, (w1 + w2) / (w1 / before + w2 / after))


def _pchip_end(h0: Any, h1: Any, m0: Any, m1: Any) -> Any:
    """The slope at the first point: of the parabola through three, as far as it keeps the shape."""
    slope = ((2 * h0 + h1) * m0 - h0 * m1) / (h0 + h1)
    wrong = fnp.sign(slope) != fnp.sign(m0)
    turns = fnp.sign(m0) != fnp.sign(m1)
    steep = fnp.logical_and(turns, fnp.absolute(slope) > 3 * fnp.absolute(m0))
    return fnp.where(wrong, 0.0, fnp.where(steep, 3 * m0, slope))


class Akima1DInterpolator(CubicHermiteSpline):
    """The piecewise cubic polynomial through `y` whose slopes depend on the nearest points only.

    A slope is the mean of those of the gaps beside a point, each weighted by how much the slope changes
    on the other side; `method` "makima" also counts how steep it is there. Calls, derivatives and
    integrals are those of `PPoly`; outside of the points it is nan unless `extrapolate` is set.

    Shapes: ``x: (n), y: (*a, n, *b)`` with n at `axis`, n > 1.   Dtypes: real floating.
    Derivative: by `y`, the points and places; where slopes do not change that of their mean.
    Raises: as `CubicHermiteSpline`; ArgumentError: complex `y`, another method.
    Source: Akima, J. ACM 17 (1970); SciPy reference, ``scipy.interpolate.Akima1DInterpolator``.

    >>> float(Akima1DInterpolator(np.arange(4.0), [0.0, 1.0, 4.0, 9.0])(1.5).round(6))
    2.25
    """

    def __init__(
        self, x: Any, y: Any, axis: int = 0, *, method: str = "akima", extrapolate: Any = None
    ) -> None:
        if method not in ("akima", "makima"):
            raise ArgumentError(
                f"Akima1DInterpolator: method={method!r}; need 'akima' or 'makima'{where()}"
            )
        x, y, axis = self._table(x, y, axis)
        _require_real("Akima1DInterpolator", y)
        m = fnp.diff(y, axis=0) / columns(fnp.diff(x), y)
        slopes = fnp.concatenate([m, m]) if y.shape[0] == 2 else _akima(m, method)
        self._make(x, y, slopes, axis, False if extrapolate is None else extrapolate)


def _akima(m: Any, method: str) -> Any:
    first = [2 * m[0] - m[1], 3 * m[0] - 2 * m[1]]
    last = [2 * m[-1] - m[-2], 3 * m[-1] - 2 * m[-2]]
    rows = [first[1][None], first[0][None], m, last[0][None], last[1][None]]
    m = fnp.concatenate(rows)
    weights = fnp.absolute(fnp.diff(m, axis=0))
    if method == "makima":
        weights = weights + 0.5 * fnp.absolute(m[1:] + m[:-1])
    after, before = weights[2:], weights[:-2]
    total = after + before
    weighed = total > 1e-9 * fnp.max(total)
    share = before / fnp.where(weighed, total, 1.0)
    inner = m[1:-2] + share * (m[2:-1] - m[1:-2])
    return fnp.where(weighed, inner, 0.5 * (m[3:] + m[:-3]))
