"""Functions applied along axes, and counts of values between edges."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..errors import ArgumentError, ShapeError, where
from ..ops.join import stack
from ..ops.structural import reshape
from ._arguments import array_of, axis_of
from .ordering import moveaxis
from .shaping import expand_dims


def apply_along_axis(
    func1d: Callable[..., Any], axis: int, arr: Any, *args: Any, **kwargs: Any
) -> Any:
    """``func1d(slice, ...)`` of every slice along an axis, one after another.

    `vmap` does the same for all slices at once.

    Shapes: ``arr: (*a, n, *b) -> (*a, *found, *b)`` for results of shape `found`.
    Dtypes: the function's.   Derivative: the function's.
    Raises: ShapeError: the axis does not exist. ArgumentError: there is no slice.
    Source: NumPy reference, ``numpy.apply_along_axis``.

    >>> apply_along_axis(np.sum, 1, np.array([[1.0, 2.0], [3.0, 4.0]])).tolist()
    [3.0, 7.0]
    """
    arr = array_of(arr)
    axis = axis_of("apply_along_axis", axis, arr.ndim)
    slices = moveaxis(arr, axis, -1)
    lead = slices.shape[:-1]
    found = [array_of(func1d(slices[place], *args, **kwargs)) for place in np.ndindex(*lead)]
    if not found:
        raise ArgumentError(
            f"fnp.apply_along_axis: an array of shape {list(arr.shape)} has no slice to apply a "
            f"function to{where()}"
        )
    out = reshape(stack(found, axis=0), shape=lead + found[0].shape)
    own = tuple(range(len(lead), out.ndim))
    return moveaxis(out, own, tuple(range(axis, axis + len(own))))


def apply_over_axes(func: Callable[[Any, int], Any], a: Any, axes: Any) -> Any:
    """``func(x, axis)`` for one axis after another, each kept with length 1 if `func` drops it.

    Shapes: as described.   Dtypes: the function's.   Derivative: the function's.
    Raises: ShapeError: an axis does not exist, or `func` gives another number of axes.
    Source: NumPy reference, ``numpy.apply_over_axes``.

    >>> apply_over_axes(np.sum, np.ones((2, 3)), (0, 1)).tolist()
    [[6.0]]
    """
    a = array_of(a)
    for axis in axes if isinstance(axes, tuple | list) else (axes,):
        axis = axis_of("apply_over_axes", axis, a.ndim)
        found = array_of(func(a, axis))
        a, ndim = expand_dims(found, axis) if found.ndim == a.ndim - 1 else found, a.ndim
        if a.ndim != ndim:
            raise ShapeError(
                f"fnp.apply_over_axes: the function gave {found.ndim} axes for {ndim}; need as many "
                f"or one less{where()}"
            )
    return a
