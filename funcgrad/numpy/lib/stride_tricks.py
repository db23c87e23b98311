"""Windows that slide over axes: ``numpy.lib.stride_tricks``."""

from __future__ import annotations

from typing import Any

import numpy as np  # noqa: F401  (doctests)

from ...core import aval_of
from ...errors import ArgumentError, MutationError, ShapeError, where
from ...ops.strided import strided
from .._arguments import axis_of, operand, shape_of
from ..ordering import moveaxis

__all__ = ["sliding_window_view"]


def sliding_window_view(
    x: Any, window_shape: Any, axis: Any = None, *, subok: bool = False, writeable: bool = False
) -> Any:
    """``y[i, j] = x[i + j]`` for a window's place `i` and the place `j` in it, axis by axis.

    Shapes: ``x: (n) -> (n - w + 1, w)``; the windows' axes come last, in the order of `axis`, which
    may name one several times.   Dtypes: all.
    Derivative: linear; elements add up what comes from all of their windows.
    Raises: ShapeError: a window is larger than its axis. ArgumentError: a negative length, or not
    one per axis. MutationError: `writeable`, as elements are there several times.
    Source: NumPy reference, ``numpy.lib.stride_tricks.sliding_window_view``.

    >>> sliding_window_view(np.arange(4.0), 3).tolist()
    [[0.0, 1.0, 2.0], [1.0, 2.0, 3.0]]
    """
    x, lengths = operand(x), shape_of(window_shape)
    ndim = len(aval_of(x).shape)
    axes = tuple(range(ndim)) if axis is None else shape_of(axis)
    if writeable:
        raise MutationError(
            f"fnp.sliding_window_view: writeable=True: an element is there several times; write into "
            f"the array itself{where()}"
        )
    if len(axes) != len(lengths) or min(lengths, default=0) < 0:
        raise ArgumentError(
            f"fnp.sliding_window_view: window_shape must have one length, not negative, for each of "
            f"the axes {axes}, found {window_shape}{where()}"
        )
    for one, length in zip(axes, lengths, strict=True):
        at = axis_of("sliding_window_view", one, ndim)
        size = aval_of(x).shape[at]
        if length > size:
            raise ShapeError(
                f"fnp.sliding_window_view: a window of {length} does not fit into axis {at}, which "
                f"has {size} elements left{where()}"
            )
        windows = strided(
            moveaxis(x, at, -1), shape=(size - length + 1, length), strides=(1, 1), offset=0
        )
        x = moveaxis(windows, -2, at)
    return x
