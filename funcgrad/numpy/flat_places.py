"""Places in an array as single numbers and as one number along each axis, traced or not."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from ..core import Tracer
from ..errors import ArgumentError, ConcretizationError, where
from ..ops.arithmetic import floor_divide, remainder
from ..ops.select import clip
from ._arguments import integers, shape_of

_WRITTEN: dict[str, Any] = {"wrap": remainder, "clip": lambda x, n: clip(x, 0, n - 1)}


def unravel_index(indices: Any, shape: Any, order: Any = "C") -> tuple[Any, ...]:
    """The place along each axis of an array of `shape`, for places in the flattened array.

    Places that are traced are not checked: those that do not exist are the nearest that do.

    Shapes: ``indices: (*a) -> len(shape) times (*a)``.   Dtypes: integers.
    Derivative: none; places are integers.
    Raises: ValueError: a place does not exist. ArgumentError: another order.
    Source: NumPy reference, ``numpy.unravel_index``.

    >>> unravel_index(np.array([5, 2]), (2, 3))
    (array([1, 0]), array([2, 2]))
    """
    x: Any = integers("unravel_index", "indices", indices)
    shape = shape_of(shape, "fnp.unravel_index: shape")
    _require_order("unravel_index", order)
    if not isinstance(x, Tracer):
        return np.unravel_index(x, shape, order)
    x = clip(x, 0, math.prod(shape) - 1)
    found: list[Any] = [None] * len(shape)
    for axis in _fastest_first(len(shape), order):
        found[axis], x = remainder(x, shape[axis]), floor_divide(x, shape[axis])
    return tuple(found)


def ravel_multi_index(multi_index: Any, dims: Any, mode: Any = "raise", order: Any = "C") -> Any:
    """The places in the flattened array of shape `dims`, for a place along each axis.

    `mode` says what is done with one that does not exist, for each axis or for all: "raise", "wrap",
    "clip".

    Shapes: ``len(dims) times (*a) -> (*a)``.   Dtypes: integers.
    Derivative: none; places are integers.
    Raises: ValueError: a place does not exist. ConcretizationError: nobody knows, for "raise".
    ArgumentError: another order or mode.
    Source: NumPy reference, ``numpy.ravel_multi_index``.

    >>> ravel_multi_index((np.array([1, 0]), np.array([2, 2])), (2, 3)).tolist()
    [5, 2]
    """
    places: list[Any] = [integers("ravel_multi_index", "multi_index", x) for x in multi_index]
    dims = shape_of(dims, "fnp.ravel_multi_index: dims")
    _require_order("ravel_multi_index", order)
    modes: Any = (mode,) * len(dims) if isinstance(mode, str) else tuple(mode)
    if not any(isinstance(x, Tracer) for x in places):
        return np.ravel_multi_index(tuple(places), dims, modes, order)
    if not len(places) == len(modes) == len(dims):
        raise ArgumentError(
            f"fnp.ravel_multi_index: {len(places)} places and {len(modes)} modes for {len(dims)} "
            f"axes; need one for each{where()}"
        )
    total: Any = 0
    for axis in reversed(list(_fastest_first(len(dims), order))):
        total = total * dims[axis] + _existing(places[axis], dims[axis], modes[axis])
    return total


def _existing(x: Any, n: int, mode: str) -> Any:
    if mode in _WRITTEN:
        return _WRITTEN[mode](x, n)
    if mode != "raise":
        raise ArgumentError(
            f"fnp.ravel_multi_index: mode={mode!r}; need 'raise', 'wrap' or 'clip'{where()}"
        )
    if isinstance(x, Tracer):
        raise ConcretizationError(
            f"fnp.ravel_multi_index: whether a traced place exists is not known while tracing, so "
            f"mode='raise' cannot be kept; give mode='clip' or 'wrap'{where()}"
        )
    return np.ravel_multi_index((x,), (n,))


def _fastest_first(ndim: int, order: str) -> Iterator[int]:
    return iter(range(ndim)) if order == "F" else reversed(range(ndim))


def _require_order(name: str, order: str) -> None:
    if order not in ("C", "F"):
        raise ArgumentError(f"fnp.{name}: order={order!r}; need 'C' or 'F'{where()}")
