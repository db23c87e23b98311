"""Pooling over windows whose distances are random: 1.5 on the average, say."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..algebra import concrete_namespace
from ..core import Tracer, aval_of
from ..errors import ArgumentError, ShapeError, where
from ..ops.index import take_along_axis
from ..ops.reduce import argmax
from ..ops.structural import reshape
from .pooling import _pooled_axes


def fractional_max_pool(
    x: Any, window: tuple[int, ...], output_size: tuple[int, ...], samples: Any
) -> tuple[Any, Any]:
    """Maxima of windows at uneven distances, and their places in the flattened spatial axes.

    Along an axis, window `i` begins at ``int((i + u) * a) - int(u * a)``, the last one at the end, with
    ``a = (size - window) / (output_size - 1)``. `samples` has a ``u`` between 0 and 1 for every plane
    of `x` and every pooled axis, the last axis first if there are two.

    Shapes: ``x: (*a, *spatial), samples: (*a, len(window)) -> (*a, *output_size)``, twice.
    Dtypes: floating; indices are int64.
    Derivative: that of the largest element; the first of equal ones takes all. Indices have none.
    Raises: ShapeError: windows do not fit. ArgumentError: `samples` is traced.
    Source: Graham, "Fractional max-pooling", arXiv:1412.6071 (2014).

    >>> y, indices = fractional_max_pool(np.arange(5.0), (2,), (2,), np.array([0.5]))
    >>> y.tolist(), indices.tolist()
    ([1.0, 4.0], [1, 4])
    """
    name = "fractional_max_pool"
    x, axes = _pooled_axes(name, x, window, None)
    lead = aval_of(x).shape[: -len(axes)]
    if isinstance(samples, Tracer):
        raise ArgumentError(f"{name}: samples is traced; need known numbers{where()}")
    for n, k, m in zip(axes, window, output_size, strict=True):
        if m + k - 1 > n:
            raise ShapeError(f"{name}: {m} windows of {k} do not fit an axis of {n}{where()}")
    drawn = np.asarray(samples).reshape(math.prod(lead), len(axes))
    if len(axes) == 2:
        drawn = drawn[:, ::-1]
    table = _table(axes, window, output_size, drawn)  # planes, windows, elements
    flat = reshape(x, shape=(*lead, math.prod(axes)))
    xp = concrete_namespace(x)
    places = table.reshape(*lead, math.prod(table.shape[1:]))
    values = take_along_axis(flat, xp.asarray(places), axis=len(lead), bounds="known")
    values = reshape(values, shape=(*lead, *table.shape[1:]))
    first = argmax(values, axis=len(lead) + 1)
    # The rows of the table, one for each window, lie one after another.
    starts = np.arange(table.shape[1]) * table.shape[2]
    indices = take_along_axis(
        xp.asarray(places), first + xp.asarray(starts), axis=len(lead), bounds="known"
    )
    y = take_along_axis(flat, indices, axis=len(lead), bounds="known")
    shape = (*lead, *output_size)
    return reshape(y, shape=shape), reshape(indices, shape=shape)


def _table(axes: Any, window: Any, counts: Any, drawn: np.ndarray) -> np.ndarray:
    """The flat places of all elements of all windows, for each plane."""
    table = np.zeros((len(drawn), 1, 1), np.int64)
    for i, (n, k, m) in enumerate(zip(axes, window, counts, strict=True)):
        rows = _starts(drawn[:, i], n, k, m)[:, :, None] + np.arange(k)
        table = table[:, :, None, :, None] * n + rows[:, None, :, None, :]
        table = table.reshape(len(drawn), table.shape[1] * m, table.shape[3] * k)
    return table


def _starts(drawn: np.ndarray, size: int, window: int, count: int) -> np.ndarray:
    """Where the windows along one axis begin, for each plane; in the precision of `drawn`."""
    starts = np.full((len(drawn), count), size - window, np.int64)
    if count > 1:
        step = drawn.dtype.type((size - window) / (count - 1))
        i = np.arange(count - 1, dtype=drawn.dtype)
        u = drawn[:, None]
        starts[:, :-1] = ((i + u) * step).astype(np.int64) - (u * step).astype(np.int64)
    return starts


__all__ = ["fractional_max_pool"]
