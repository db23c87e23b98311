"""Distances of rows that broadcast, and of all pairs of rows, to any power."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...core import aval_of
from ...errors import ArgumentError, ShapeError, where
from ...numpy._arguments import arrays_of
from ...ops.arithmetic import absolute
from ...ops.linalg import p_norm
from ...ops.reduce import max as max_
from ...ops.structural import sum as sum_
from .._arrays import floating
from .distance import cdist


def _differences(name: str, x: Any, y: Any, p: Any) -> tuple[Any, tuple[int, ...]]:
    if not isinstance(p, int | float | np.integer | np.floating) or not p >= 1:
        raise ArgumentError(f"{name}: p={p!r}; need a number of 1 or more{where()}")
    x, y = (floating(v) for v in arrays_of(x, y))
    if "c" in (x.dtype.kind, y.dtype.kind):
        raise ArgumentError(f"{name}: needs real numbers, found complex ones{where()}")
    if not x.ndim or not y.ndim or x.shape[-1] != y.shape[-1]:
        raise ShapeError(
            f"{name}: x is {aval_of(x)} and y is {aval_of(y)}; need rows of one length{where()}"
        )
    d = x - y
    return d, (d.ndim - 1,)


def minkowski_distance(x: Any, y: Any, p: float = 2.0) -> Any:
    """``(sum_i |x_i - y_i|**p)**(1 / p)`` of rows, the largest difference for ``p = inf``.

    Shapes: ``x: (*a, k), y: (*b, k) -> (*broadcast(a, b))``.   Dtypes: real; integers give float64.
    Derivative: 0 for equal rows; equal maxima share evenly.
    Raises: ArgumentError: `p` is below 1, or complex numbers. ShapeError: the shapes do not fit.
    Source: SciPy reference, ``scipy.spatial.minkowski_distance``.

    >>> minkowski_distance([[0.0, 0.0], [1.0, 0.0]], [3.0, 4.0]).round(4).tolist()
    [5.0, 4.4721]
    """
    d, last = _differences("minkowski_distance", x, y, p)
    return p_norm(d, p=float(p), axis=last)


def minkowski_distance_p(x: Any, y: Any, p: float = 2.0) -> Any:
    """``sum_i |x_i - y_i|**p`` of rows, `minkowski_distance` without the root.

    Shapes: ``x: (*a, k), y: (*b, k) -> (*broadcast(a, b))``.   Dtypes: real; integers give float64.
    Derivative: ``p sign(x_i - y_i) |x_i - y_i|**(p - 1)``; 0 for equal elements.
    Raises: ArgumentError: `p` is below 1, or complex numbers. ShapeError: the shapes do not fit.
    Source: SciPy reference, ``scipy.spatial.minkowski_distance_p``.

    >>> minkowski_distance_p([[0.0, 0.0], [1.0, 0.0]], [3.0, 4.0]).tolist()
    [25.0, 20.0]
    """
    d, last = _differences("minkowski_distance_p", x, y, p)
    if p == math.inf:
        return max_(absolute(d), axis=last)
    return sum_(d * d if p == 2 else absolute(d) ** float(p), axis=last)


def distance_matrix(x: Any, y: Any, p: float = 2.0, threshold: int = 1000000) -> Any:
    """``d_ij = (sum_k |x_ik - y_jk|**p)**(1 / p)``: the distances of all pairs of rows.

    `threshold` changes nothing.

    Shapes: ``x: (m, k), y: (n, k) -> (m, n)``.   Dtypes: real; integers give float64.
    Derivative: 0 where rows are equal; equal maxima share evenly.
    Raises: ArgumentError: `p` is below 1, or complex numbers. ShapeError: the shapes do not fit.
    Source: SciPy reference, ``scipy.spatial.distance_matrix``.

    >>> distance_matrix([[0.0, 0.0]], [[3.0, 4.0], [0.0, 1.0]]).tolist()
    [[5.0, 1.0]]
    """
    x, y = arrays_of(x, y)
    _differences("distance_matrix", x[:1] if x.ndim else x, y[:1] if y.ndim else y, p)
    if p == math.inf:
        return cdist(x, y, "chebyshev")
    return cdist(x, y, "euclidean") if p == 2 else cdist(x, y, "minkowski", p=float(p))
