"""Splines as sums of B-splines: `BSpline`, and the one through values, `make_interp_spline`."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from ... import numpy as fnp
from ...core import aval_of
from ...errors import ArgumentError, ShapeError, where
from ...indexing import known, read
from ...numpy._arguments import array_of, axis_of, beside, module_of
from .._arrays import floating
from ..linalg import solve_banded
from .piecewise import columns, require_rising


def knots_of(name: str, t: Any, k: int) -> Any:
    """Knots that do not fall, as far as they are known, with a gap in the part that counts."""
    t = floating(t)
    if aval_of(t).dtype.kind == "c" or t.ndim != 1 or t.shape[0] < 2 * k + 2:
        raise ShapeError(
            f"{name}: t is {aval_of(t)}; need a row of {2 * k + 2} real numbers at least{where()}"
        )
    value = known(t)
    if value is not None:
        n = value.shape[0] - k - 1
        if not bool((value[1:] >= value[:-1]).all()) or not value[n] > value[k]:
            raise ArgumentError(
                f"{name}: t must not fall, and must rise between t[{k}] and t[{n}]{where()}"
            )
    return t


def degree_of(name: str, k: Any) -> int:
    k = operator.index(k)
    if k < 0:
        raise ArgumentError(f"{name}: k={k}; a degree is not negative{where()}")
    return k


def gap_of(t: Any, x: Any, k: int) -> Any:
    """The number of the gap between knots in which `x` is, or of the one that is nearest."""
    n = t.shape[0] - k - 1
    first, last = 0, n - 1
    if k:  # not in a gap of no length: there are quotients by it
        first = fnp.searchsorted(t, t[k], side="right") - 1
        last = fnp.searchsorted(t, t[n], side="left") - 1
    return fnp.clip(fnp.searchsorted(t, x, side="right") - 1, first, last)


def de_boor(t: Any, rows: Sequence[Any], x: Any, gap: Any, k: int) -> Any:
    """The sum of the B-splines that are not 0 in a gap; `rows` are their k + 1 coefficients there."""
    rows = list(rows)
    rest = (1,) * (rows[0].ndim - x.ndim)
    for r in range(1, k + 1):
        for j in range(k, r - 1, -1):
            low = read(t, gap + (j - k))
            share = (x - low) / (read(t, gap + (j + 1 - r)) - low)
            share = fnp.reshape(share, share.shape + rest)
            rows[j] = (1.0 - share) * rows[j - 1] + share * rows[j]
    return rows[k]


class BSpline:
    """``sum_i c[i] B_i(x)``, where ``B_i`` is the B-spline of degree `k` over the knots from ``t[i]``.

    `extrapolate`: True (the first and last polynomial go on beyond ``t[k]`` and ``t[n]``), False (nan
    there), "periodic". ``s(x, nu)`` is the value or a derivative; ``s.derivative(nu)`` and
    ``s.antiderivative(nu)`` are of the same kind, ``s.integrate(a, b)`` is a value.

    Shapes: ``t: (n + k + 1), c: (*a, n, *b)`` with n at `axis`, which may be longer; ``s(v): (*a, *v,
    *b)``.   Dtypes: floating, complex `c`.
    Derivative: linear in `c`; by places and knots that of the polynomial to the right of a knot.
    Raises: ArgumentError: `t` falls, or `k` is negative. ShapeError: the shapes do not fit.
    Source: de Boor, "A Practical Guide to Splines", Springer 2001; SciPy reference,
    ``scipy.interpolate.BSpline``.

    >>> import funcgrad
    >>> s = BSpline([0.0, 0.0, 0.0, 1.0, 2.0, 2.0, 2.0], [0.0, 1.0, 3.0, 1.0], 2)
    >>> float(s(0.5)), float(funcgrad.grad(s)(0.5)), float(s.integrate(0.0, 2.0).round(6))
    (1.0, 2.0, 3.0)
    """

    def __init__(self, t: Any, c: Any, k: int, extrapolate: Any = True, axis: int = 0) -> None:
        self.k = degree_of("BSpline", k)
        self.t = knots_of("BSpline", t, self.k)
        c = floating(c)
        self.axis = axis_of("BSpline", axis, c.ndim)
        c = fnp.moveaxis(c, self.axis, 0)
        n = self.t.shape[0] - self.k - 1
        if c.shape[0] < n:
            raise ShapeError(
                f"BSpline: c has {c.shape[0]} coefficients; need {n} for {self.t.shape[0]} knots of "
                f"degree {self.k}{where()}"
            )
        self.c = c[:n]
        self.extrapolate = extrapolate if extrapolate == "periodic" else bool(extrapolate)

    @property
    def tck(self) -> tuple[Any, Any, int]:
        """The knots, the coefficients (with their axis in front) and the degree."""
        return self.t, self.c, self.k

    @classmethod
    def basis_element(cls, t: Any, extrapolate: Any = True) -> BSpline:
        """The one B-spline with the knots `t`."""
        t = floating(t)
        k = t.shape[0] - 2
        ends = [fnp.broadcast_to(t[i], (k,)) + sign for i, sign in ((0, -1.0), (-1, 1.0))]
        unit = np.zeros(2 * k + 1, aval_of(t).dtype)
        unit[k] = 1.0
        return cls(fnp.concatenate([ends[0], t, ends[1]]), beside(t, unit), k, extrapolate)

    def _ends(self) -> tuple[Any, Any]:
        return self.t[self.k], self.t[self.t.shape[0] - self.k - 1]

    def __call__(self, x: Any, nu: int = 0, extrapolate: Any = None) -> Any:
        if nu:
            return self.derivative(nu)(x, 0, extrapolate)
        extrapolate = self.extrapolate if extrapolate is None else extrapolate
        x = floating(x, module_of(self.t))
        low, high = self._ends()
        lost = fnp.isnan(x)
        if extrapolate == "periodic":
            x = low + fnp.mod(x - low, high - low)
        elif not extrapolate:
            lost = fnp.logical_or(lost, fnp.logical_or(x < low, x > high))
        x = fnp.where(lost, low, x)
        gap = gap_of(self.t, x, self.k)
        rows = [read(self.c, gap + (j - self.k)) for j in range(self.k + 1)]
        value = de_boor(self.t, rows, x, gap, self.k)
        value = fnp.where(fnp.reshape(lost, x.shape + (1,) * (self.c.ndim - 1)), np.nan, value)
        if not self.axis:
            return value
        new = range(x.ndim)
        return fnp.moveaxis(value, tuple(new), tuple(self.axis + i for i in new))

    def _made(self, t: Any, c: Any, k: int, extrapolate: Any) -> BSpline:
        return BSpline(t, fnp.moveaxis(c, 0, self.axis), k, extrapolate, self.axis)

    def derivative(self, nu: int = 1) -> BSpline:
        """The spline that is the derivative; of more than `k`, zeros."""
        if nu < 0:
            return self.antiderivative(-nu)
        t, c, k = self.t, self.c, self.k
        for _ in range(nu):
            n = c.shape[0]
            if not k:
                c = fnp.zeros_like(c)
                continue
            gaps = t[k + 1 : n + k] - t[1:n]
            empty = gaps == 0  # of a B-spline that is nowhere
            factor = fnp.where(empty, 0.0, k / fnp.where(empty, 1.0, gaps))
            c = (c[1:] - c[:-1]) * columns(factor, c)
            t, k = t[1:-1], k - 1
        return self._made(t, c, k, self.extrapolate)

    def antiderivative(self, nu: int = 1) -> BSpline:
        """The spline whose derivative this is, 0 at the first knot."""
        if nu <= 0:
            return self.derivative(-nu)
        t, c, k = self.t, self.c, self.k
        for _ in range(nu):
            n = c.shape[0]
            sums = fnp.cumsum(c * columns((t[k + 1 :] - t[:n]) * (1.0 / (k + 1)), c), axis=0)
            c = fnp.concatenate([fnp.zeros_like(sums[:1]), sums])
            t, k = fnp.concatenate([t[:1], t, t[-1:]]), k + 1
        way = False if self.extrapolate == "periodic" else self.extrapolate
        return self._made(t, c, k, way)

    def insert_knot(self, x: Any, m: int = 1) -> BSpline:
        """The same function with `m` more knots at `x`, a number between the ends.

        Raises: ArgumentError: `m` is not positive, or `x` is not between the ends, as far as known.
        """
        if operator.index(m) < 1:
            raise ArgumentError(f"BSpline.insert_knot: m={m}; need 1 or more{where()}")
        x, (low, high) = floating(x), self._ends()
        apart = known(fnp.logical_or(x < low, x > high))
        if x.shape or (apart is not None and apart):
            raise ArgumentError(
                f"BSpline.insert_knot: x={x}; need a number from {low} to {high}{where()}"
            )
        if self.extrapolate == "periodic":
            raise ArgumentError(f"BSpline.insert_knot: the spline is periodic{where()}")
        t, c, k = self.t, self.c, self.k
        for _ in range(m):
            n = c.shape[0]
            gap, i = gap_of(t, x, k), beside(t, np.arange(n + 1))
            inside = fnp.logical_and(i > gap - k, i <= gap)
            left, right = t[: n + 1], t[k : n + 1 + k]
            width = fnp.where(inside, right - left, 1.0)
            share = fnp.where(inside, (x - left) / width, fnp.where(i <= gap - k, 1.0, 0.0))
            share = columns(share, c)
            c = share * fnp.concatenate([c, c[-1:]]) + (1.0 - share) * fnp.concatenate([c[:1], c])
            place = beside(t, np.arange(n + k + 2))
            later = read(t, fnp.maximum(place - 1, 0))
            earlier = read(t, fnp.minimum(place, n + k))
            t = fnp.where(place <= gap, earlier, fnp.where(place == gap + 1, x, later))
        return self._made(t, c, k, self.extrapolate)

    def integrate(self, a: Any, b: Any, extrapolate: Any = None) -> Any:
        """The integral from `a` to `b`; its derivative by them is the value there.

        Without extrapolation the spline counts as 0 beyond its ends.
        """
        extrapolate = self.extrapolate if extrapolate is None else extrapolate
        p, (low, high) = self.antiderivative(), self._ends()
        a, b = floating(a), floating(b)
        if extrapolate != "periodic":
            if not extrapolate:
                a, b = fnp.clip(a, low, high), fnp.clip(b, low, high)
            return p(b, 0, True) - p(a, 0, True)
        start = p(low, 0, True)
        whole = p(high, 0, True) - start

        def up_to(x: Any) -> Any:
            turns = fnp.floor((x - low) / (high - low))
            return p(x - turns * (high - low), 0, True) - start + turns * whole

        return up_to(b) - up_to(a)


# ---------------------------------------------------------------- through values

_NAMES: dict[str, list[tuple[int, float]] | None] = {
    "not-a-knot": None,
    "natural": [(2, 0.0)],
    "clamped": [(1, 0.0)],
}


def make_interp_spline(
    x: Any,
    y: Any,
    k: int = 3,
    t: Any = None,
    bc_type: Any = None,
    axis: int = 0,
    check_finite: bool = True,
) -> BSpline:
    """The `BSpline` of degree `k` through `y` at the points `x`.

    `bc_type`: None or "not-a-knot" (the knots leave nothing to choose), "natural" (second derivative
    0), "clamped" (first derivative 0), or for each end one of these or a list of pairs: the order of a
    derivative and its value; or "periodic", for which the last `y` is that of the first, and not read:
    one dense system. `t`: the knots, as many as there are points and values, and k + 1.

    Shapes: ``x: (n), y: (*a, n, *b)`` with n at `axis`, n > k.   Dtypes: floating, complex `y`.
    Derivative: linear in `y` and the values in `bc_type`; by the points and knots, too.
    Raises: LinAlgError: the points do not determine the spline. ArgumentError: `x` does not rise,
    `bc_type` is not known. ShapeError: the shapes do not fit, or there are too many conditions.
    Source: de Boor, "A Practical Guide to Splines", Springer 2001; SciPy reference,
    ``scipy.interpolate.make_interp_spline``.

    >>> s = make_interp_spline(np.arange(5.0), np.arange(5.0) ** 2)
    >>> float(s(1.5).round(6)), float(s(1.5, 1).round(6))
    (2.25, 3.0)
    """
    k = degree_of("make_interp_spline", k)
    x = require_rising("make_interp_spline", x)
    y = floating(y, module_of(x))
    axis = axis_of("make_interp_spline", axis, y.ndim)
    y = fnp.moveaxis(y, axis, 0)
    if y.shape[0] != x.shape[0]:
        raise ShapeError(
            f"make_interp_spline: x has {x.shape[0]} points, y has {y.shape[0]} along its axis{where()}"
        )
    if isinstance(bc_type, str) and bc_type == "periodic":
        return _periodic(x, y, k, t, axis)
    left, right = _conditions(bc_type)
    if t is None:
        t = default_knots(x, k, bool(left or right))
    t = knots_of("make_interp_spline", t, k)
    n = t.shape[0] - k - 1
    if n != x.shape[0] + len(left) + len(right):
        raise ShapeError(
            f"make_interp_spline: {t.shape[0]} knots of degree {k} need {n} conditions; there are "
            f"{x.shape[0]} points and {len(left) + len(right)} derivatives{where()}"
        )
    gap = gap_of(t, x, k)
    rows, units = basis_rows(t, x, gap, k)
    ends = [
        [BSpline(t[part], units, k)(at, order) for order, _ in conditions]
        for part, at, conditions in (
            (slice(0, 2 * k + 2), x[0], left), (slice(n - k - 1, n + k + 1), x[-1], right)
        )
    ]  # fmt: skip
    firsts = [beside(x, np.full(len(c), i)) for c, i in ((left, 0), (right, n - k - 1))]
    first = fnp.concatenate([firsts[0], gap - k, firsts[1]])
    above, below = ([fnp.stack(end)] if end else [] for end in ends)
    rows = fnp.concatenate([*above, rows, *below])
    values = [_values(conditions, y) for conditions in (left, right)]
    right_side = fnp.concatenate([values[0], y, values[1]])
    flat = fnp.reshape(right_side, (n, -1))
    c = fnp.reshape(solve_banded((k, k), _bands(rows, first, k), flat), right_side.shape)
    return BSpline(t, fnp.moveaxis(c, 0, axis), k, axis=axis)


def basis_rows(t: Any, x: Any, gap: Any, k: int) -> tuple[Any, Any]:
    """The k + 1 B-splines that are not 0 at every point, and the unit matrix."""
    units = beside(t, np.eye(k + 1, dtype=aval_of(t).dtype))
    rows = de_boor(t, [units[None, j] for j in range(k + 1)], x, gap, k)
    return fnp.broadcast_to(rows, (x.shape[0], k + 1)), units


def _periodic(x: Any, y: Any, k: int, t: Any, axis: int) -> BSpline:
    """The spline that repeats from the last point on, through all points but the last."""
    value, n = known(y), x.shape[0] - 1
    if value is not None and not np.allclose(value[0], value[-1], atol=1e-15):
        raise ArgumentError(
            f"make_interp_spline: the first and the last y must be the same for 'periodic'{where()}"
        )
    if t is not None:
        raise ArgumentError(
            f"make_interp_spline: 'periodic' chooses the knots; t= is given{where()}"
        )
    if k < 2:
        ends = ([x[:1]] if k else []), [x[-1:]]
        return BSpline(
            fnp.concatenate([*ends[0], x, *ends[1]]), fnp.moveaxis(y, 0, axis), k, axis=axis
        )
    knots = x if k % 2 else fnp.concatenate([x[:1], 0.5 * (x[:-2] + x[1:-1]), x[-1:]])
    gaps = knots[1:] - knots[:-1]
    around = read(gaps, beside(gaps, np.arange(-k, n + k) % n))
    before = x[0] - fnp.flip(fnp.cumsum(fnp.flip(around[:k])))
    t = fnp.concatenate([before, knots, x[-1] + fnp.cumsum(around[n + k :])])
    at = x[:-1]
    gap = gap_of(t, at, k)
    rows, _ = basis_rows(t, at, gap, k)
    places = fnp.expand_dims(gap - k, 1) + beside(x, np.arange(k + 1))
    hits = fnp.expand_dims(fnp.mod(places, n), 2) == beside(x, np.arange(n))
    matrix = fnp.sum(fnp.where(hits, fnp.expand_dims(rows, 2), 0.0), axis=1)
    c = fnp.linalg.solve(matrix, fnp.reshape(y[:-1], (n, -1)))
    c = fnp.reshape(read(c, beside(c, np.arange(n + k) % n)), (n + k, *y.shape[1:]))
    return BSpline(t, fnp.moveaxis(c, 0, axis), k, "periodic", axis)


def _conditions(bc_type: Any) -> list[list[tuple[int, Any]]]:
    """The derivatives that are asked for at each end."""
    pair = (bc_type, bc_type) if bc_type is None or isinstance(bc_type, str) else tuple(bc_type)
    found: list[list[tuple[int, Any]]] = []
    for end in pair:
        if isinstance(end, str) and end not in _NAMES:
            raise ArgumentError(
                f"make_interp_spline: bc_type={end!r}; need one of {', '.join(map(repr, _NAMES))}, or "
                f"pairs of orders and values, or 'periodic' for both{where()}"
            )
        end = _NAMES[end] if isinstance(end, str) else end
        found.append([(operator.index(order), value) for order, value in end or []])
    if len(found) != 2:
        raise ArgumentError(
            f"make_interp_spline: bc_type={bc_type!r}; need one for each end{where()}"
        )
    return found


def default_knots(x: Any, k: int, has_conditions: bool) -> Any:
    """Knots at the points, or between them for even degrees, that leave nothing to choose."""
    if has_conditions:
        inner = x[1:-1]
    elif not k:
        return fnp.concatenate([x, x[-1:]])
    else:
        cut = (k + 1) // 2 if k % 2 else k // 2
        inner = x if k % 2 else (x[1:] + x[:-1]) * 0.5
        inner = inner[cut : inner.shape[0] - cut]
    ends = [fnp.broadcast_to(x[i], (k + 1,)) for i in (0, -1)]
    return fnp.concatenate([ends[0], inner, ends[1]])


def _values(conditions: Sequence[tuple[int, Any]], y: Any) -> Any:
    """The values of derivatives, each with the axes that `y` has at a point."""
    if not conditions:
        return y[:0]
    found = []
    for order, value in conditions:
        value = array_of(value, module_of(y))
        if value.shape not in ((), y.shape[1:]):
            raise ShapeError(
                f"make_interp_spline: the derivative of order {order} has shape "
                f"{list(value.shape)}; need {list(y.shape[1:])}{where()}"
            )
        found.append(fnp.broadcast_to(value, y.shape[1:]))
    return fnp.stack(found)


def _bands(rows: Any, first: Any, k: int) -> Any:
    """The diagonals of the matrix whose row i has ``rows[i]`` from column ``first[i]`` on."""
    n = rows.shape[0]
    bands = []
    for below in range(-k, k + 1):  # i - j
        j = beside(rows, np.arange(n))
        i = fnp.clip(j + below, 0, n - 1)
        place = j - read(first, i)
        inside = fnp.logical_and(place >= 0, place <= k)
        inside = fnp.logical_and(inside, i == j + below)
        bands.append(fnp.where(inside, read(rows, (i, fnp.clip(place, 0, k))), 0.0))
    return fnp.stack(bands)
