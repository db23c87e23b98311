"""Parts of arrays under the names of ``jax.lax``: at fixed places, and at places that are computed.

A start that is computed counts from the end if it is negative, and is then clamped so that the part
lies inside, as in JAX.
"""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import numpy as fnp
from ..core import aval_of
from ..errors import ShapeError, where
from ..indexing import known
from ..numpy._arguments import array_of, beside
from ..ops.cast import astype
from ..ops.index import getitem, scatter_set, take, view_update
from ..ops.index_layout import FULL, ArrayIndex, Slice
from ..ops.structural import squeeze
from ._arguments import Ints, axis_in, integral, ints, stored


def slice(operand: Any, start_indices: Any, limit_indices: Any, strides: Any = None) -> Any:
    """The part of `operand` from `start_indices` to before `limit_indices`, with steps.

    Shapes: ``n -> ceil((limit - start) / stride)``.   Dtypes: all.   Derivative: linear.
    Raises: ShapeError: there is not one number for each axis, or one is out of bounds.
    Source: XLA's operation semantics, "Slice".

    >>> slice(np.arange(6.0), (1,), (6,), (2,)).tolist()
    [1.0, 3.0, 5.0]
    """
    operand = array_of(operand)
    starts, limits, steps = (
        ints("slice", what, given, operand.ndim)
        for what, given in (
            ("start_indices", start_indices),
            ("limit_indices", limit_indices),
            ("strides", (1,) * operand.ndim if strides is None else strides),
        )
    )
    for n, start, limit, step in zip(operand.shape, starts, limits, steps, strict=True):
        if not 0 <= start <= limit <= n or step < 1:
            raise ShapeError(
                f"lax.slice: from {start} to {limit} by {step} of an axis of {n}{where()}"
            )
    return operand[tuple(map(builtins.slice, starts, limits, steps))]


def slice_in_dim(
    operand: Any, start_index: Any, limit_index: Any, stride: int = 1, axis: int = 0
) -> Any:
    """The part of `operand` along one axis; negative numbers count from the end.

    Shapes: ``(*a, n, *b) -> (*a, m, *b)``.   Dtypes: all.   Derivative: linear.
    Raises: ShapeError: an index is out of bounds.
    Source: JAX, ``jax.lax.slice_in_dim``.

    >>> slice_in_dim(np.arange(6.0), 1, -1, 2).tolist()
    [1.0, 3.0]
    """
    operand = array_of(operand)
    axis = axis_in("slice_in_dim", axis, operand.ndim)
    n = operand.shape[axis]
    ends = ints("slice_in_dim", "indices", (0 if start_index is None else start_index,))
    ends += ints("slice_in_dim", "indices", (n if limit_index is None else limit_index,))
    first, last = (i + n if i < 0 else i for i in ends)
    starts, limits, steps = [0] * operand.ndim, list(operand.shape), [1] * operand.ndim
    starts[axis], limits[axis], steps[axis] = first, last, stride
    return slice(operand, starts, limits, steps)


def index_in_dim(operand: Any, index: int, axis: int = 0, keepdims: bool = True) -> Any:
    """The part of `operand` at one place along an axis; a negative one counts from the end.

    Shapes: ``(*a, n, *b) -> (*a, 1, *b)``, or ``(*a, *b)`` without `keepdims`.   Dtypes: all.
    Derivative: linear.
    Raises: ShapeError: there is no such place.
    Source: JAX, ``jax.lax.index_in_dim``.

    >>> index_in_dim(np.array([1.0, 2.0]), -1, keepdims=False).tolist()
    2.0
    """
    operand = array_of(operand)
    axis = axis_in("index_in_dim", axis, operand.ndim)
    (place,) = ints("index_in_dim", "index", (index,))
    place += operand.shape[axis] if place < 0 else 0
    out = slice_in_dim(operand, place, place + 1, axis=axis)
    return out if keepdims else squeeze(out, axis=(axis,))


# ---------------------------------------------------------------- places that are computed


def _starts(name: str, given: Any, shape: Ints, sizes: Ints, negative: Any) -> list[Any]:
    """One start for each axis, inside; a number where it is known."""
    if isinstance(given, list | tuple):
        found = [integral(name, i) for i in given]
    else:
        given = integral(name, given)
        found = [given[i] for i in range(given.shape[0])] if given.ndim else [given]
    allowed = [negative] * len(shape) if isinstance(negative, bool) else list(negative)
    for what, count in (("start indices", len(found)), ("sizes", len(sizes))):
        if count != len(shape):
            raise ShapeError(f"lax.{name}: {count} {what} for {len(shape)} axes{where()}")
    for n, size in zip(shape, sizes, strict=True):
        if not 0 <= size <= n:
            raise ShapeError(f"lax.{name}: a part of {size} of an axis of {n}{where()}")
    rows = zip(found, shape, sizes, allowed, strict=True)
    return [_inside(name, *row) for row in rows]


def _inside(name: str, start: Any, n: int, size: int, negative: bool) -> Any:
    if aval_of(start).ndim:
        raise ShapeError(f"lax.{name}: a start is {aval_of(start)}; need numbers{where()}")
    if n == size:
        return 0
    value = known(start)
    if value is not None:
        i = int(value)
        return min(max(i + n if negative and i < 0 else i, 0), n - size)
    start = astype(start, np.intp)
    start = fnp.where(start < 0, start + n, start) if negative else start
    return fnp.clip(start, 0, n - size)


def dynamic_slice(
    operand: Any, start_indices: Any, slice_sizes: Any, *, allow_negative_indices: Any = True
) -> Any:
    """The part of `operand` of the given sizes that begins at computed places, kept inside.

    Shapes: ``(*a) -> slice_sizes``.   Dtypes: all; starts are integers.
    Derivative: linear in `operand`.
    Raises: ShapeError: there is not one start and one size for each axis, or a part is larger than
    its axis. ArgumentError: a start is no integer, or a size is traced.
    Source: XLA's operation semantics, "DynamicSlice".

    >>> dynamic_slice(np.arange(5.0), (4,), (2,)).tolist()
    [3.0, 4.0]
    """
    name, operand = "dynamic_slice", array_of(operand)
    sizes = ints(name, "slice_sizes", slice_sizes)
    starts = _starts(name, start_indices, operand.shape, sizes, allow_negative_indices)
    fixed = tuple(
        Slice(i, i + size, 1) if isinstance(i, int) and size != n else FULL
        for i, size, n in zip(starts, sizes, operand.shape, strict=True)
    )
    if any(part != FULL for part in fixed):
        operand = getitem(operand, index=fixed)
    for axis, (start, size) in enumerate(zip(starts, sizes, strict=True)):
        if not isinstance(start, int):
            places = start + beside(operand, np.arange(size))
            operand = take(operand, places, axis=axis, bounds="known")
    return operand


def dynamic_slice_in_dim(
    operand: Any,
    start_index: Any,
    slice_size: int,
    axis: int = 0,
    *,
    allow_negative_indices: bool = True,
) -> Any:
    """`dynamic_slice` along one axis.

    Shapes: ``(*a, n, *b) -> (*a, slice_size, *b)``.   Dtypes: all; the start is an integer.
    Derivative: linear in `operand`.
    Raises: as `dynamic_slice`.
    Source: JAX, ``jax.lax.dynamic_slice_in_dim``.

    >>> dynamic_slice_in_dim(np.arange(5.0), -2, 2).tolist()
    [3.0, 4.0]
    """
    operand = array_of(operand)
    axis = axis_in("dynamic_slice_in_dim", axis, operand.ndim)
    starts, sizes = [0] * operand.ndim, list(operand.shape)
    starts[axis], sizes[axis] = start_index, slice_size
    return dynamic_slice(operand, starts, sizes, allow_negative_indices=allow_negative_indices)


def dynamic_index_in_dim(
    operand: Any,
    index: Any,
    axis: int = 0,
    keepdims: bool = True,
    *,
    allow_negative_indices: bool = True,
) -> Any:
    """The part of `operand` at one computed place along an axis, kept inside.

    Shapes: ``(*a, n, *b) -> (*a, 1, *b)``, or ``(*a, *b)`` without `keepdims`.
    Dtypes: all; the index is an integer.
    Derivative: linear in `operand`.
    Raises: as `dynamic_slice`.
    Source: JAX, ``jax.lax.dynamic_index_in_dim``.

    >>> dynamic_index_in_dim(np.arange(5.0), 9, keepdims=False).tolist()
    4.0
    """
    axis = axis_in("dynamic_index_in_dim", axis, array_of(operand).ndim)
    negative = allow_negative_indices
    out = dynamic_slice_in_dim(operand, index, 1, axis, allow_negative_indices=negative)
    return out if keepdims else squeeze(out, axis=(axis,))


def dynamic_update_slice(
    operand: Any, update: Any, start_indices: Any, *, allow_negative_indices: Any = True
) -> Any:
    """`operand` with `update` in place of the part that begins at computed places, kept inside.

    Shapes: ``operand: (*a), update: (*b) -> (*a)``, b not larger than a.
    Dtypes: that of `operand`; starts are integers.
    Derivative: linear in both; what is replaced gets none.
    Raises: ShapeError: there is not one start for each axis, or the update is larger than an axis.
    ArgumentError: a start is no integer, or the dtype of `operand` cannot hold the update.
    Source: XLA's operation semantics, "DynamicUpdateSlice".

    >>> dynamic_update_slice(np.zeros(4), np.ones(2), (9,)).tolist()
    [0.0, 0.0, 1.0, 1.0]
    """
    name, operand = "dynamic_update_slice", array_of(operand)
    update = stored(name, operand, update)
    sizes = update.shape
    starts = _starts(name, start_indices, operand.shape, sizes, allow_negative_indices)
    if all(isinstance(i, int) for i in starts):
        index = tuple(Slice(i, i + size, 1) for i, size in zip(starts, sizes, strict=True))
        return view_update(operand, update, chain=((getitem, (("index", index),)),))
    last = len(sizes) - 1
    places = [
        start + beside(operand, np.arange(size).reshape((size,) + (1,) * (last - i)))
        for i, (start, size) in enumerate(zip(starts, sizes, strict=True))
    ]
    everywhere = tuple(ArrayIndex(i, "known") for i in range(len(sizes)))
    return scatter_set(operand, update, *places, index=everywhere)


def dynamic_update_slice_in_dim(
    operand: Any, update: Any, start_index: Any, axis: int, *, allow_negative_indices: bool = True
) -> Any:
    """`dynamic_update_slice` along one axis.

    Shapes: ``operand: (*a, n, *b), update: (*a, m, *b) -> (*a, n, *b)``.
    Dtypes: that of `operand`; the start is an integer.
    Derivative: linear in both; what is replaced gets none.
    Raises: as `dynamic_update_slice`.
    Source: JAX, ``jax.lax.dynamic_update_slice_in_dim``.

    >>> dynamic_update_slice_in_dim(np.zeros(4), np.ones(2), 1, 0).tolist()
    [0.0, 1.0, 1.0, 0.0]
    """
    operand = array_of(operand)
    starts: Sequence[Any] = [0] * operand.ndim
    axis = axis_in("dynamic_update_slice_in_dim", axis, operand.ndim)
    starts = [start_index if i == axis else s for i, s in enumerate(starts)]
    negative = allow_negative_indices
    return dynamic_update_slice(operand, update, starts, allow_negative_indices=negative)


def dynamic_update_index_in_dim(
    operand: Any, update: Any, index: Any, axis: int, *, allow_negative_indices: bool = True
) -> Any:
    """`operand` with `update` at one computed place along an axis, kept inside.

    Shapes: ``operand: (*a, n, *b), update: (*a, 1, *b) or (*a, *b) -> (*a, n, *b)``.
    Dtypes: that of `operand`; the index is an integer.
    Derivative: linear in both; what is replaced gets none.
    Raises: as `dynamic_update_slice`.
    Source: JAX, ``jax.lax.dynamic_update_index_in_dim``.

    >>> dynamic_update_index_in_dim(np.zeros(3), 1.0, -1, 0).tolist()
    [0.0, 0.0, 1.0]
    """
    operand, update = array_of(operand), array_of(update)
    axis = axis_in("dynamic_update_index_in_dim", axis, operand.ndim)
    if update.ndim != operand.ndim:
        update = fnp.expand_dims(update, axis)
    negative = allow_negative_indices
    return dynamic_update_slice_in_dim(
        operand, update, index, axis, allow_negative_indices=negative
    )
