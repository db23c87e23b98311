"""Splines of two variables through the values on a grid: `RectBivariateSpline`."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from ... import numpy as fnp
from ...core import Tracer
from ...errors import ArgumentError, ShapeError, where
from ...indexing import known, read
from ...numpy._arguments import array_of, beside
from ...ops.from_scipy import scipy_package
from .._arrays import floating, floating_each
from .bsplines import BSpline, de_boor, default_knots, gap_of, make_interp_spline
from .piecewise import require_rising

_NAME = "RectBivariateSpline"


class RectBivariateSpline:
    """The spline of degrees `kx` and `ky` through the values `z` on the grid of `x` and `y`.

    ``f(x, y)`` is a table of the values on a grid, ``f(x, y, grid=False)`` and ``f.ev(x, y)`` are those
    at pairs of places; beyond the ends (`bbox`: xb, xe, yb, ye) it has its last values. `dx`, `dy`:
    orders of derivatives. ``f.integral(xa, xb, ya, yb)``, ``f.partial_derivative(dx, dy)``,
    ``get_knots`` and ``get_coeffs``. With `s` > 0 SciPy chooses knots, for data that are constants.

    Shapes: ``x: (n), y: (m), z: (n, m)``; ``f(u: (i), v: (j)): (i, j)``, ``f.ev``: broadcast.
    Dtypes: real floating; integers give float64.
    Derivative: by places; linear in `z` and by the points if `s` is 0.
    Raises: ArgumentError: `x` or `y` does not rise, there are no degrees from 1 to 5, places of a grid
    fall, `s` > 0 with traced data. ShapeError: the shapes do not fit.
    Source: Dierckx, "Curve and Surface Fitting with Splines", Oxford 1993; SciPy reference,
    ``scipy.interpolate.RectBivariateSpline``.

    >>> import funcgrad
    >>> x = np.arange(5.0)
    >>> f = RectBivariateSpline(x, x, np.outer(x**2, x))
    >>> float(f.ev(1.5, 2.5).round(6)), float(funcgrad.grad(f.ev)(1.5, 2.5).round(6))
    (5.625, 7.5)
    """

    def __init__(
        self,
        x: Any,
        y: Any,
        z: Any,
        bbox: Any = (None, None, None, None),
        kx: int = 3,
        ky: int = 3,
        s: Any = 0,
        maxit: int = 20,
    ) -> None:
        self.degrees = kx, ky = operator.index(kx), operator.index(ky)
        x, y, z = require_rising(_NAME, x), require_rising(_NAME, y), floating(z)
        if z.shape != (x.shape[0], y.shape[0]) or len(bbox) != 4:
            raise ShapeError(
                f"{_NAME}: z has shape {list(z.shape)} for {x.shape[0]} and {y.shape[0]} points, bbox "
                f"{len(bbox)} numbers; need 4{where()}"
            )
        for k, points in ((kx, x), (ky, y)):
            if not 1 <= k <= 5 or points.shape[0] <= k:
                raise ArgumentError(
                    f"{_NAME}: degree {k} for {points.shape[0]} points; need 1 to 5, and more "
                    f"points{where()}"
                )
        smoothing = None if isinstance(s, Tracer) else known(array_of(s))
        if smoothing is None or smoothing < 0:
            raise ArgumentError(f"{_NAME}: s={s}; need a constant, 0 or more{where()}")
        if smoothing:
            self.tx, self.ty, self.c = _smoothed(x, y, z, bbox, kx, ky, float(smoothing), maxit)
            return
        self.tx, self.ty = _knots(x, kx, bbox[:2]), _knots(y, ky, bbox[2:])
        rows = make_interp_spline(x, z, kx, self.tx).c
        self.c = make_interp_spline(y, rows.T, ky, self.ty).c.T

    def get_knots(self) -> tuple[Any, Any]:
        return self.tx, self.ty

    def get_coeffs(self) -> Any:
        return fnp.ravel(self.c)

    def __call__(self, x: Any, y: Any, dx: int = 0, dy: int = 0, grid: bool = True) -> Any:
        if not grid:
            return self.ev(x, y, dx, dy)
        x, y = (fnp.ravel(floating(v)) for v in (x, y))
        for v in (x, y):
            value = known(v)
            if value is not None and not bool((value[1:] >= value[:-1]).all()):
                raise ArgumentError(f"{_NAME}: the places of a grid fall; see grid=False{where()}")
        first, second = self._along(dx, dy)
        rows = first(self._inside(x, 0))
        t, _, k = second.tck
        return BSpline(t, rows, k, axis=1)(self._inside(y, 1))

    def ev(self, xi: Any, yi: Any, dx: int = 0, dy: int = 0) -> Any:
        """The values at pairs of places."""
        x, y = fnp.broadcast_arrays(*floating_each(xi, yi))
        first, second = self._along(dx, dy)
        shape = x.shape
        x, y = fnp.ravel(self._inside(x, 0)), fnp.ravel(self._inside(y, 1))
        t, _, k = second.tck
        rows = first(x)
        gap = gap_of(t, y, k)
        places = beside(x, np.arange(x.shape[0]))
        near = [read(rows, (places, gap + (j - k))) for j in range(k + 1)]
        return fnp.reshape(de_boor(t, near, y, gap, k), shape)

    def _inside(self, v: Any, axis: int) -> Any:
        t, k = (self.tx, self.ty)[axis], self.degrees[axis]
        return fnp.clip(v, t[k], t[t.shape[0] - k - 1])

    def _along(self, dx: int, dy: int) -> tuple[BSpline, BSpline]:
        """The splines along the first axis, with the coefficients of both, and along the second."""
        for d, k in zip((dx, dy), self.degrees, strict=True):
            if not 0 <= operator.index(d) <= k - (d > 0):
                raise ArgumentError(
                    f"{_NAME}: dx={dx}, dy={dy}; need less than the degrees{where()}"
                )
        kx, ky = self.degrees
        second = BSpline(self.ty, self.c.T, ky).derivative(dy)
        first = BSpline(self.tx, second.c.T, kx).derivative(dx)
        return first, second

    def partial_derivative(self, dx: int, dy: int) -> RectBivariateSpline:
        """The spline that is the derivative of orders `dx` and `dy`, of lower degrees."""
        first, second = self._along(dx, dy)
        made = type(self).__new__(type(self))
        made.tx, made.ty, made.c = first.t, second.t, first.c
        made.degrees = first.k, second.k
        return made

    def integral(self, xa: Any, xb: Any, ya: Any, yb: Any) -> Any:
        """The integral over a rectangle; the spline is 0 beyond its ends."""
        kx, ky = self.degrees
        rows = BSpline(self.tx, self.c, kx).integrate(xa, xb, False)
        return BSpline(self.ty, rows, ky).integrate(ya, yb, False)


def _knots(x: Any, k: int, ends: Any) -> Any:
    low, high = (x[i] if e is None else floating(e) for i, e in zip((0, -1), ends, strict=True))
    inner = default_knots(x, k, False)[k + 1 : -k - 1]
    sides = [fnp.broadcast_to(e, (k + 1,)) for e in (low, high)]
    return fnp.concatenate([sides[0], inner, sides[1]])


def _smoothed(
    x: Any, y: Any, z: Any, bbox: Any, kx: int, ky: int, s: float, maxit: int
) -> tuple[Any, Any, Any]:
    """SciPy's knots and coefficients.

    Raises: ArgumentError: the data are traced.
    """
    if any(isinstance(v, Tracer) for v in (x, y, z)):
        raise ArgumentError(
            f"{_NAME}: s={s} chooses knots by the values, so traced ones would get wrong "
            f"derivatives; need s=0{where()}"
        )
    theirs = scipy_package("interpolate", f"{_NAME} with s > 0")
    f = theirs.RectBivariateSpline(x, y, z, list(bbox), kx, ky, s, maxit)
    (tx, ty), c = f.get_knots(), f.get_coeffs()
    return tx, ty, c.reshape(len(tx) - kx - 1, len(ty) - ky - 1)
