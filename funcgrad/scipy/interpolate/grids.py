"""Smooth functions through values on a grid: products of B-splines, and monotonic ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ... import numpy as fnp
from ...errors import ArgumentError, where
from ...indexing import read
from ...transforms.vmap import vmap
from .bsplines import BSpline, basis_rows, gap_of, make_interp_spline
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
    index, weights, c, count = [], [], values, len(grid)
    for i, (points, v, order) in enumerate(zip(grid, places, orders, strict=True)):
        spline = make_interp_spline(require_rising(name, points, k + 1), c, k, axis=i)
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
