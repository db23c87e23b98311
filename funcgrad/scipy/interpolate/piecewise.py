"""Piecewise polynomials: `PPoly`, and the cubic one through values and slopes."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ... import numpy as fnp
from ...core import aval_of
from ...errors import ArgumentError, ShapeError, where
from ...indexing import known, read
from ...numpy._arguments import axis_of, beside, module_of
from .._arrays import floating


def require_rising(name: str, x: Any, least: int = 2) -> Any:
    """The points of a table: a row in strictly rising order, as far as it is known."""
    x = floating(x)
    if aval_of(x).dtype.kind == "c" or x.ndim != 1:
        raise ShapeError(f"{name}: x is {aval_of(x)}; need a row of real numbers{where()}")
    if x.shape[0] < least:
        raise ShapeError(f"{name}: x has {x.shape[0]} points; need at least {least}{where()}")
    value = known(x)
    if value is not None and not bool((value[1:] > value[:-1]).all()):
        raise ArgumentError(f"{name}: x must rise strictly{where()}")
    return x


def columns(x: Any, y: Any) -> Any:
    """A row with as many axes as `y`, along its first one."""
    return fnp.reshape(x, (x.shape[0],) + (1,) * (y.ndim - 1))


class PPoly:
    """Polynomials between points: ``sum_k c[k, i] (v - x[i])**(K - 1 - k)`` from x[i] to x[i + 1].

    `extrapolate`: True (the first and last polynomial go on), False (nan outside), "periodic".
    ``p(x, nu)`` is the value or a derivative; ``p.derivative(nu)`` and ``p.antiderivative(nu)`` are of
    the same kind, ``p.integrate(a, b)`` is a value.

    Shapes: ``c: (k, m, *rest), x: (m + 1)``; ``p(v): (*v, *rest)``, with the axes of v at `axis`.
    Dtypes: floating, complex.
    Derivative: linear in `c`; by places and points that of the polynomial to the right of a point.
    Raises: ArgumentError: `x` does not rise. ShapeError: the shapes do not fit.
    Source: de Boor, "A Practical Guide to Splines", Springer 2001; SciPy reference,
    ``scipy.interpolate.PPoly``.

    >>> p = PPoly([[1.0, 2.0], [0.0, 1.0]], [0.0, 1.0, 2.0])
    >>> p([0.5, 1.5]).tolist(), p.derivative()([0.5, 1.5]).tolist()
    ([0.5, 2.0], [1.0, 2.0])
    >>> float(p.integrate(0.0, 2.0))
    2.5
    """

    def __init__(self, c: Any, x: Any, extrapolate: Any = None, axis: int = 0) -> None:
        self.x = require_rising(type(self).__name__, x)
        self.c = floating(c, module_of(self.x))
        if self.c.ndim < 2 or self.c.shape[1] != self.x.shape[0] - 1 or not self.c.shape[0]:
            raise ShapeError(
                f"{type(self).__name__}: c has shape {list(self.c.shape)}; need "
                f"[k, {self.x.shape[0] - 1}, ...]{where()}"
            )
        self.extrapolate = True if extrapolate is None else extrapolate
        self.axis = axis_of("PPoly", axis, self.c.ndim - 1)

    def __call__(self, x: Any, nu: int = 0, extrapolate: Any = None) -> Any:
        if nu < 0:
            return self.antiderivative(-nu)(x, 0, extrapolate)
        return self._at(self._slopes(nu), x, extrapolate)

    def _at(self, c: Any, x: Any, extrapolate: Any) -> Any:
        """The values of the polynomials `c` at `x`."""
        extrapolate = self.extrapolate if extrapolate is None else extrapolate
        x = floating(x, module_of(self.x))
        if extrapolate == "periodic":
            x = self.x[0] + fnp.mod(x - self.x[0], self.x[-1] - self.x[0])
        outside = None
        if extrapolate is False:
            outside = fnp.logical_or(x < self.x[0], x > self.x[-1])
            x = fnp.where(outside, self.x[0], x)
        place = fnp.searchsorted(self.x, x, side="right") - 1
        place = fnp.clip(place, 0, self.x.shape[0] - 2)
        gap = x - read(self.x, place)
        gap = fnp.reshape(gap, gap.shape + (1,) * (c.ndim - 2))
        value = read(c[0], place)
        for k in range(1, c.shape[0]):
            value = value * gap + read(c[k], place)
        lost = fnp.isnan(x) if outside is None else fnp.logical_or(outside, fnp.isnan(x))
        value = fnp.where(fnp.reshape(lost, gap.shape), np.nan, value)
        if not self.axis:
            return value
        new = range(x.ndim)
        return fnp.moveaxis(value, tuple(new), tuple(self.axis + i for i in new))

    def _slopes(self, nu: int) -> Any:
        """The coefficients of a derivative."""
        order = self.c.shape[0] - 1
        if nu > order:
            return fnp.zeros_like(self.c[:1])
        numbers = [math.perm(order - k, nu) for k in range(order + 1 - nu)]
        factors = beside(self.c, np.array(numbers, aval_of(self.c).dtype))
        return self.c[: order + 1 - nu] * columns(factors, self.c)

    def derivative(self, nu: int = 1) -> PPoly:
        """The piecewise polynomial that is the derivative."""
        if nu < 0:
            return self.antiderivative(-nu)
        return PPoly(self._slopes(nu), self.x, self.extrapolate, self.axis)

    def antiderivative(self, nu: int = 1) -> PPoly:
        """The continuous piecewise polynomial whose derivative this is, 0 at the first point."""
        if nu <= 0:
            return self.derivative(-nu)
        p = self
        for _ in range(nu):
            powers = beside(p.c, np.arange(p.c.shape[0], 0.0, -1.0).astype(aval_of(p.c).dtype))
            c = p.c / columns(powers, p.c)
            gaps = columns(fnp.diff(p.x), c[0])
            total = c[0]
            for row in c[1:]:
                total = total * gaps + row
            sums = fnp.cumsum(total * gaps, axis=0)
            starts = fnp.concatenate([fnp.zeros_like(sums[:1]), sums[:-1]], axis=0)
            way = False if self.extrapolate == "periodic" else self.extrapolate
            p = PPoly(fnp.concatenate([c, fnp.expand_dims(starts, 0)]), p.x, way, self.axis)
        return p

    def integrate(self, a: Any, b: Any, extrapolate: Any = None) -> Any:
        """The integral from `a` to `b`; its derivative by them is the value there."""
        extrapolate = self.extrapolate if extrapolate is None else extrapolate
        p = self.antiderivative()
        if extrapolate != "periodic":
            return p(b, 0, extrapolate) - p(a, 0, extrapolate)
        first, last = self.x[0], self.x[-1]
        whole = p(last, 0, True)

        def up_to(x: Any) -> Any:
            turns = fnp.floor((floating(x) - first) / (last - first))
            return p(x - turns * (last - first), 0, True) + turns * whole

        return up_to(b) - up_to(a)


class CubicHermiteSpline(PPoly):
    """The piecewise cubic polynomial through values `y` with slopes `dydx` at the points `x`.

    Calls, derivatives and integrals are those of `PPoly`.

    Shapes: ``x: (n), y: (*a, n, *b)`` with n at `axis`, dydx as `y`; n > 1.
    Dtypes: floating, complex.
    Derivative: linear in `y` and `dydx`; by the points and places, too.
    Raises: ArgumentError: `x` does not rise. ShapeError: the shapes do not fit.
    Source: de Boor, "A Practical Guide to Splines", Springer 2001; SciPy reference,
    ``scipy.interpolate.CubicHermiteSpline``.

    >>> float(CubicHermiteSpline([0.0, 1.0], [0.0, 1.0], [0.0, 0.0])(0.25))
    0.15625
    """

    def __init__(self, x: Any, y: Any, dydx: Any, axis: int = 0, extrapolate: Any = None) -> None:
        x, y, axis = self._table(x, y, axis)
        dydx = floating(dydx, module_of(x))
        if dydx.ndim != y.ndim:
            raise ShapeError(
                f"{type(self).__name__}: dydx has {dydx.ndim} axes, y has {y.ndim}{where()}"
            )
        self._make(x, y, fnp.moveaxis(dydx, axis, 0), axis, extrapolate)

    def _table(self, x: Any, y: Any, axis: int, least: int = 2) -> tuple[Any, Any, int]:
        """The points and the values, whose axis comes first, and where it was."""
        name = type(self).__name__
        x = require_rising(name, x, least)
        y = floating(y, module_of(x))
        axis = axis_of(name, axis, y.ndim)
        y = fnp.moveaxis(y, axis, 0)
        if y.shape[0] != x.shape[0]:
            raise ShapeError(
                f"{name}: x has {x.shape[0]} points, y has {y.shape[0]} along its axis{where()}"
            )
        return x, y, axis

    def _make(self, x: Any, y: Any, slopes: Any, axis: int, extrapolate: Any) -> None:
        """The coefficients from values and slopes whose axis comes first."""
        if slopes.shape != y.shape:
            raise ShapeError(
                f"{type(self).__name__}: dydx has shape {list(slopes.shape)}; need {list(y.shape)}"
                f"{where()}"
            )
        gaps = columns(fnp.diff(x), y)
        mean = fnp.diff(y, axis=0) / gaps
        bend = (slopes[:-1] + slopes[1:] - 2 * mean) / gaps
        rows = [bend / gaps, (mean - slopes[:-1]) / gaps - bend, slopes[:-1], y[:-1]]
        super().__init__(fnp.stack(rows), x, extrapolate, axis)
