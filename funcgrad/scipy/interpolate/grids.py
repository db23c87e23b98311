"""Smooth functions through values on a grid: products of B-splines, and monotonic ones."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from ... import numpy as fnp
from ...core import aval_of
from ...errors import ArgumentError, ShapeError, where
from ...indexing import read
from ...transforms.vmap import vmap
from .._arrays import floating
from .bsplines import BSpline, basis_rows, degree_of, gap_of, knots_of, make_interp_spline
from .piecewise import require_rising
from .splines import PchipInterpolator

DEGREES = {"slinear": 1, "cubic": 3, "quintic": 5}


def spline_values(
    name: str, grid: Sequence[Any], values: Any, places: Sequence[Any], k: int, nu: Any
) -> Any:
    """The spline of degree k along every axis, or its derivative of the orders `nu`, at places."""
    orders = (0,) * len(grid) if nu is None else tuple(int(order) for order in nu)
    if len(orders) != len(grid) or not all(0 <= order <= k for order in orders):
        raise ArgumentError(
            f"{name}: nu={nu!r}; need an order from 0 to {k} for each axis of the grid{where()}"
        )
    knots, c = [], values
    for i, points in enumerate(grid):
        spline = make_interp_spline(require_rising(name, points, k + 1), c, k, axis=i)
        knots.append(spline.t)
        c = fnp.moveaxis(spline.c, 0, i)
    return product_values(knots, c, (k,) * len(grid), places, orders)


def product_values(
    knots: Sequence[Any],
    c: Any,
    degrees: Sequence[int],
    places: Sequence[Any],
    orders: Sequence[int],
) -> Any:
    """Sums of products of one B-spline along every axis, with coefficients `c`, at a row of places."""
    index, weights, count = [], [], len(knots)
    for i, (t, k, v, order) in enumerate(zip(knots, degrees, places, orders, strict=True)):
        spline = BSpline(t, c, k, axis=i)
        spline = spline.derivative(order) if order else spline
        at, row = _around(spline, v)
        shape = (v.shape[0], *(at.shape[1] if j == i else 1 for j in range(count)))
        index.append(fnp.reshape(at, shape))
        weights.append(row)
        c = fnp.moveaxis(spline.c, 0, i)
    found = read(c, tuple(index))
    for row in reversed(weights):
        found = fnp.moveaxis(found, count, 1)
        found = fnp.sum(fnp.reshape(row, row.shape + (1,) * (found.ndim - 2)) * found, axis=1)
        count -= 1
    return found


def _around(spline: BSpline, v: Any) -> tuple[Any, Any]:
    """The numbers of the B-splines that are not 0 at places, and their values there."""
    t, _, k = spline.tck
    gap = gap_of(t, v, k)
    at = fnp.stack([gap + (j - k) for j in range(k + 1)], axis=1)
    return at, basis_rows(t, v, gap, k)[0]


def pchip_values(grid: Sequence[Any], values: Any, places: Sequence[Any]) -> Any:
    """`PchipInterpolator` along the last axis of the grid, then along those before it."""
    last = len(grid) - 1
    found = PchipInterpolator(grid[last], values, axis=last)(places[last])
    found = fnp.moveaxis(found, last, 0)
    for i in range(last - 1, -1, -1):

        def at(table: Any, v: Any, i: int = i) -> Any:
            return fnp.moveaxis(PchipInterpolator(grid[i], table, axis=i)(v[None]), i, 0)[0]

        found = vmap(at)(found, places[i])
    return found


class NdBSpline:
    """``sum_ij.. c[i, j, ..] B_i(x) B_j(y) ..`` of B-splines over the knots ``t[0]``, ``t[1]``, ...

    `k`: the degree, or one for each axis. Without `extrapolate` it is nan outside. ``s(xi, nu=...)`` is
    the derivative of an order along each axis, ``s.derivative(nu)`` the spline that is that.

    Shapes: ``t: (n_1 + k_1 + 1), ...; c: (n_1, ..., n_d, *rest)``; ``s(xi): (*p, *rest)`` for
    ``xi: (*p, d)``.   Dtypes: floating, complex `c`; integers give float64.
    Derivative: linear in `c`; by places and knots, at a knot that of the polynomial beyond it.
    Raises: ArgumentError: knots that fall, a negative degree or order. ShapeError: the shapes do not
    fit.
    Source: SciPy reference, ``scipy.interpolate.NdBSpline``.

    >>> s = NdBSpline(([0.0, 0.0, 1.0, 1.0],) * 2, [[0.0, 0.0], [0.0, 1.0]], 1)
    >>> float(s([0.5, 0.5])), float(s([0.5, 0.25], nu=(1, 0)))
    (0.25, 0.25)
    """

    def __init__(self, t: Sequence[Any], c: Any, k: Any, *, extrapolate: Any = None) -> None:
        degrees = k if isinstance(k, Sequence) else [k] * len(t)
        if len(degrees) != len(t):
            raise ShapeError(
                f"NdBSpline: {len(t)} rows of knots and {len(degrees)} degrees{where()}"
            )
        self.k = tuple(degree_of("NdBSpline", degree) for degree in degrees)
        self.t = tuple(knots_of("NdBSpline", x, n) for x, n in zip(t, self.k, strict=True))
        self.c = floating(c)
        need = tuple(x.shape[0] - n - 1 for x, n in zip(self.t, self.k, strict=True))
        if self.c.shape[: len(need)] != need:
            raise ShapeError(
                f"NdBSpline: c has shape {list(self.c.shape)}; need {[*need, ...]} for these knots and "
                f"degrees{where()}"
            )
        self.extrapolate = True if extrapolate is None else bool(extrapolate)

    def _orders(self, nu: Any) -> tuple[int, ...]:
        orders = (0,) * len(self.t) if nu is None else tuple(map(operator.index, nu))
        if len(orders) != len(self.t) or min(orders) < 0:
            raise ArgumentError(
                f"NdBSpline: nu={nu!r}; need an order of 0 or more for each of {len(self.t)} axes"
                f"{where()}"
            )
        return orders

    def __call__(self, xi: Any, *, nu: Any = None, extrapolate: Any = None) -> Any:
        orders, xi = self._orders(nu), floating(xi)
        if not xi.ndim or xi.shape[-1] != len(self.t):
            raise ShapeError(f"NdBSpline: xi is {aval_of(xi)}; need [..., {len(self.t)}]{where()}")
        places = [fnp.ravel(v) for v in fnp.unstack(xi, axis=-1)]
        lost = sum(fnp.isnan(v) for v in places) > 0
        if not (self.extrapolate if extrapolate is None else extrapolate):
            for t, k, v in zip(self.t, self.k, places, strict=True):
                lost = lost | (v < t[k]) | (v > t[t.shape[0] - k - 1])
        places = [fnp.where(lost, t[k], v) for t, k, v in zip(self.t, self.k, places, strict=True)]
        out = product_values(self.t, self.c, self.k, places, orders)
        out = fnp.where(fnp.reshape(lost, lost.shape + (1,) * (out.ndim - 1)), np.nan, out)
        return fnp.reshape(out, xi.shape[:-1] + out.shape[1:])

    def derivative(self, nu: Any) -> NdBSpline:
        """The spline that is the derivative of an order along each axis."""
        knots, degrees, c = [], [], self.c
        for i, (t, k, order) in enumerate(zip(self.t, self.k, self._orders(nu), strict=True)):
            spline = BSpline(t, c, k, axis=i).derivative(order)
            knots.append(spline.t)
            degrees.append(spline.k)
            c = fnp.moveaxis(spline.c, 0, i)
        return NdBSpline(knots, c, degrees, extrapolate=self.extrapolate)
