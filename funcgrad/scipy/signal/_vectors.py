"""What the functions of ``scipy.signal`` make of their arguments: the axis goes last."""

from __future__ import annotations

import operator
from typing import Any

from ...core import aval_of
from ...errors import ArgumentError, ShapeError, where
from ...indexing import known
from ...numpy._arguments import array_of
from ...ops.contract import normal_axis
from ...ops.index import FULL, Slice, getitem
from ...ops.join import pad
from ...ops.structural import transpose
from .._arrays import floating


def axis_last(name: str, x: Any, axis: Any) -> tuple[Any, int]:
    """`x` with the axis behind the others, and where it was.

    Raises: ShapeError: there is no such axis.
    """
    x = array_of(x)
    axis = normal_axis(name, operator.index(axis), x.ndim)
    if axis == x.ndim - 1:
        return x, axis
    return transpose(x, axes=(*(i for i in range(x.ndim) if i != axis), axis)), axis


def axis_back(x: Any, axis: int) -> Any:
    """The last axis moved to its place."""
    if axis == x.ndim - 1:
        return x
    order = list(range(x.ndim - 1))
    return transpose(x, axes=(*order[:axis], x.ndim - 1, *order[axis:]))


def stretch(x: Any, start: int, stop: int, step: int = 1) -> Any:
    """``x[..., start:stop:step]``, for places that exist."""
    return getitem(x, index=(*[FULL] * (x.ndim - 1), Slice(start, stop, step)))


def padded(x: Any, low: int, high: int) -> Any:
    """Zeros before and after, along the last axis; negative numbers cut off."""
    return pad(x, widths=(*[(0, 0)] * (x.ndim - 1), (low, high))) if low or high else x


def coefficients(name: str, what: str, x: Any) -> Any:
    """A vector that is not empty; a number is one of one element.

    Raises: ShapeError: it is no vector, or empty.
    """
    x = floating(x)
    x = x.reshape((1,)) if not x.ndim else x
    if x.ndim != 1 or not x.shape[0]:
        raise ShapeError(
            f"{name}: {what} is {aval_of(x)}; need a vector that is not empty{where()}"
        )
    return x


def require_leading(name: str, a: Any) -> None:
    """Raises: ArgumentError: the first coefficient is known to be 0."""
    first = known(stretch(a, 0, 1))
    if first is not None and not bool((first != 0).all()):
        raise ArgumentError(f"{name}: the first coefficient of a is 0{where()}")
