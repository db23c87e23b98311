"""Gaussian elimination of NumPy's arrays, with pivots: where rows go, and which pivots are zero."""

from __future__ import annotations

import math
from typing import Any

import numpy as np


def eliminate(a: Any) -> tuple[Any, Any, Any]:
    """``lu, rows, info`` of a stack of matrices: L and U in one, with ``a[rows] = L U``.

    `info` counts from 1 the first pivot that is zero; it is 0 if there is none.

    >>> lu, rows, info = eliminate(np.array([[0.0, 2.0], [4.0, 2.0]]))
    >>> lu.tolist(), rows.tolist(), int(info)
    ([[4.0, 2.0], [0.0, 2.0]], [1, 0], 0)
    """
    *lead, m, n = a.shape
    count = math.prod(lead)
    lu = np.array(a).reshape(count, m, n)
    rows = np.tile(np.arange(m), (count, 1))
    info = np.zeros(count, np.int32)
    each = np.arange(count)
    with np.errstate(all="ignore"):
        for k in range(min(m, n)):
            p = k + np.abs(lu[:, k:, k]).argmax(1)
            for array in (lu, rows):
                array[each, k], array[each, p] = array[each, p], array[each, k].copy()
            pivot = lu[:, k, k]
            zero = pivot == 0
            info = np.where(zero & (info == 0), k + 1, info)
            lu[:, k + 1 :, k] /= np.where(zero, 1, pivot)[:, None]
            lu[:, k + 1 :, k + 1 :] -= lu[:, k + 1 :, k, None] * lu[:, None, k, k + 1 :]
    return (
        lu.reshape(*lead, m, n),
        rows.reshape(*lead, m),
        info.astype(np.int32).reshape(tuple(lead)),
    )


def swaps(rows: Any, count: int) -> Any:
    """LAPACK's pivots for an order of rows: step k swaps row k with row ``pivots[k] - 1``.

    >>> swaps(np.array([2, 0, 1]), 3).tolist()
    [3, 3, 3]
    """
    *lead, m = rows.shape
    flat = rows.reshape(math.prod(lead), m)
    pivots = np.empty((len(flat), count), np.int32)
    for order, found in zip(flat, pivots, strict=True):
        now = list(range(m))
        for k in range(count):
            p = now.index(int(order[k]))
            now[k], now[p] = now[p], now[k]
            found[k] = p + 1
    return pivots.reshape(*lead, count)


def order_of(pivots: Any, m: int) -> Any:
    """The order of `m` rows that LAPACK's pivots make: the inverse of `swaps`.

    >>> order_of(np.array([3, 3, 3]), 3).tolist()
    [2, 0, 1]
    """
    *lead, count = pivots.shape
    flat = pivots.reshape(math.prod(lead), count)
    rows = np.tile(np.arange(m), (len(flat), 1))
    for found, steps in zip(rows, flat, strict=True):
        for k, p in enumerate(steps - 1):
            found[k], found[p] = found[p], found[k]
    return rows.reshape(*lead, m)
