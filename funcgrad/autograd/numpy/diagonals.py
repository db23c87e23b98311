"""Matrices of their diagonals."""

from __future__ import annotations

from typing import Any

from ... import numpy as fnp
from ...ops.structural import diagonal_embed


def make_diagonal(D: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    """Square matrices with the last axis of D on a diagonal, in the axes `axis1` and `axis2`.

    Shapes: ``(..., k) -> (..., n, n)`` with ``n = k + abs(offset)``, the two axes moved.
    Derivative: linear.

    >>> import numpy as np
    >>> make_diagonal(np.array([1.0, 2.0]))
    array([[1., 0.],
           [0., 2.]])
    """
    *rows, k = fnp.shape(D)
    n = k + abs(offset)
    axes = {"axis1": len(rows), "axis2": len(rows) + 1}
    found = diagonal_embed(D, shape=(*rows, n, n), offset=offset, **axes)
    return fnp.moveaxis(found, (-2, -1), (axis1, axis2))
