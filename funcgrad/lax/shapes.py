"""Making arrays and changing their shapes, under the names of ``jax.lax``."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import numpy as fnp
from ..core import aval_of
from ..errors import ArgumentError, ShapeError, where
from ..numpy._arguments import array_of, beside
from ..ops import join as _join
from ..ops import structural as _structural
from ._arguments import Ints, axes_in, axis_in, ints, stored


def iota(dtype: Any, size: int) -> Any:
    """``0, 1, ..., size - 1`` in a dtype.

    Shapes: ``(size)``.   Dtypes: `dtype`.   Derivative: none.
    Raises: ArgumentError: `size` is no integer.
    Source: JAX, ``jax.lax.iota``.

    >>> iota(np.float32, 3).tolist()
    [0.0, 1.0, 2.0]
    """
    (length,) = ints("iota", "size", (size,))
    return fnp.arange(length, dtype=dtype)


def broadcasted_iota(dtype: Any, shape: Any, dimension: int) -> Any:
    """An array whose elements are their places along the axis `dimension`.

    Shapes: `shape`.   Dtypes: `dtype`.   Derivative: none.
    Raises: ShapeError: there is no such axis.
    Source: JAX, ``jax.lax.broadcasted_iota``.

    >>> broadcasted_iota(int, (2, 3), 1).tolist()
    [[0, 1, 2], [0, 1, 2]]
    """
    shape = ints("broadcasted_iota", "shape", shape)
    axis = axis_in("broadcasted_iota", dimension, len(shape))
    return broadcast_in_dim(iota(dtype, shape[axis]), shape, (axis,))


def full(shape: Any, fill_value: Any, dtype: Any = None, *, sharding: Any = None) -> Any:
    """An array of one value. `sharding` changes nothing.

    Shapes: ``fill_value: () -> shape``.   Dtypes: `dtype`, or that of the value.
    Derivative: linear in the value.
    Raises: ShapeError: `fill_value` is no number.
    Source: JAX, ``jax.lax.full``.

    >>> full((2,), 3.0).tolist()
    [3.0, 3.0]
    """
    value = array_of(fill_value)
    if value.ndim:
        raise ShapeError(f"lax.full: fill_value is {aval_of(value)}; need one number{where()}")
    value = value if dtype is None else fnp.astype(value, dtype)
    return fnp.broadcast_to(value, ints("full", "shape", shape)) + fnp.zeros_like(value)


def full_like(
    x: Any, fill_value: Any, dtype: Any = None, shape: Any = None, sharding: Any = None
) -> Any:
    """An array of one value with the shape and the dtype of `x`, unless others are given.

    `sharding` changes nothing.

    Shapes: ``x: (*a), fill_value: () -> (*a)``.   Dtypes: `dtype`, or that of `x`.
    Derivative: linear in the value.
    Raises: ShapeError: `fill_value` is no number.
    Source: JAX, ``jax.lax.full_like``.

    >>> full_like(np.ones(2), 3).tolist()
    [3.0, 3.0]
    """
    aval = aval_of(array_of(x))
    value = beside(x, fill_value) if isinstance(fill_value, int | float) else fill_value
    return full(aval.shape if shape is None else shape, value, dtype or aval.dtype)


def reshape(operand: Any, new_sizes: Any, dimensions: Sequence[int] | None = None) -> Any:
    """The elements of `operand`, its axes first put in the order `dimensions`, in another shape.

    Shapes: ``(*a) -> new_sizes``; one size may be -1.   Dtypes: all.
    Derivative: linear.
    Raises: ShapeError: the numbers of elements differ.
    Source: JAX, ``jax.lax.reshape``.

    >>> reshape(np.array([[1, 2], [3, 4]]), (4,), (1, 0)).tolist()
    [1, 3, 2, 4]
    """
    operand = array_of(operand)
    if dimensions is not None:
        operand = transpose(operand, dimensions)
    return fnp.reshape(operand, ints("reshape", "new_sizes", new_sizes))


def transpose(operand: Any, permutation: Any) -> Any:
    """The axes of `operand` in another order.

    Shapes: axis i of the result is axis ``permutation[i]``.   Dtypes: all.
    Derivative: linear.
    Raises: ShapeError: `permutation` does not name every axis once.
    Source: XLA's operation semantics, "Transpose".

    >>> transpose(np.ones((2, 3, 4)), (2, 0, 1)).shape
    (4, 2, 3)
    """
    operand = array_of(operand)
    found = ints("transpose", "permutation", permutation)
    if sorted(found) != list(range(operand.ndim)):
        raise ShapeError(
            f"lax.transpose: permutation={permutation} for {aval_of(operand)}; need every axis "
            f"once{where()}"
        )
    return _structural.transpose(operand, axes=found)


def rev(operand: Any, dimensions: Any) -> Any:
    """`operand` backwards along the axes `dimensions`.

    Shapes: ``(*a) -> (*a)``.   Dtypes: all.   Derivative: linear.
    Raises: ShapeError: an axis does not exist or is given twice.
    Source: XLA's operation semantics, "Rev".

    >>> rev(np.array([1, 2, 3]), (0,)).tolist()
    [3, 2, 1]
    """
    operand = array_of(operand)
    return _structural.flip(operand, axis=axes_in("rev", dimensions, operand.ndim))


def squeeze(array: Any, dimensions: Any) -> Any:
    """`array` without the axes `dimensions`, which have length 1.

    Shapes: ``(*a, 1, *b) -> (*a, *b)``.   Dtypes: all.   Derivative: linear.
    Raises: ShapeError: an axis does not exist, or is longer.
    Source: JAX, ``jax.lax.squeeze``.

    >>> squeeze(np.ones((1, 3, 1)), (0,)).shape
    (3, 1)
    """
    array = array_of(array)
    return fnp.squeeze(array, axes_in("squeeze", dimensions, array.ndim))


def expand_dims(array: Any, dimensions: Any) -> Any:
    """`array` with new axes of length 1, which are `dimensions` in the result.

    Shapes: ``(*a, *b) -> (*a, 1, *b)``.   Dtypes: all.   Derivative: linear.
    Raises: ShapeError: an axis does not exist or is given twice.
    Source: JAX, ``jax.lax.expand_dims``.

    >>> expand_dims(np.ones(3), (0, 2)).shape
    (1, 3, 1)
    """
    array = array_of(array)
    axes = axes_in("expand_dims", dimensions, array.ndim + len(dimensions))
    return _structural.expand_dims(array, axis=axes)


def concatenate(operands: Any, dimension: int) -> Any:
    """Arrays one after the other along an axis.

    Shapes: equal but along that axis.   Dtypes: the common one.   Derivative: linear.
    Raises: ShapeError: the shapes do not fit.
    Source: XLA's operation semantics, "Concatenate".

    >>> concatenate([np.array([1.0]), np.array([2.0, 3.0])], 0).tolist()
    [1.0, 2.0, 3.0]
    """
    return fnp.concatenate(operands, axis=dimension)


def pad(operand: Any, padding_value: Any, padding_config: Any) -> Any:
    """`padding_value` before, after and between the elements of every axis: ``(low, high, interior)``.

    Negative numbers at the ends cut off.

    Shapes: ``n -> low + n + (n - 1) interior + high``.   Dtypes: that of `operand`.
    Derivative: linear in `operand` and in the value.
    Raises: ShapeError: there is not one triple for each axis, the value is no number, or more is cut
    off than there is. ArgumentError: a negative `interior`, or a value that `operand` cannot hold.
    Source: XLA's operation semantics, "Pad".

    >>> pad(np.array([1, 2, 3]), 0, [(-1, 2, 1)]).tolist()
    [0, 2, 0, 3, 0, 0]
    """
    operand, value = array_of(operand), array_of(padding_value)
    config = list(padding_config)
    widths = tuple(ints("pad", "padding_config", width, 3) for width in config)
    ints("pad", "padding_config", [0 for _ in config], operand.ndim)
    if value.ndim:
        raise ShapeError(f"lax.pad: padding_value is {aval_of(value)}; need one number{where()}")
    for n, (low, high, interior) in zip(operand.shape, widths, strict=True):
        if interior < 0:
            raise ArgumentError(f"lax.pad: an interior of {interior}; need 0 or more{where()}")
        if low + n + max(n - 1, 0) * interior + high < 0:
            raise ShapeError(
                f"lax.pad: {(low, high, interior)} cuts off more than an axis of {n} has{where()}"
            )
    return _join.pad_constant(operand, stored("pad", operand, value), widths=widths)


def broadcast(operand: Any, sizes: Any) -> Any:
    """`operand` again and again along new axes in front.

    Shapes: ``(*a) -> (*sizes, *a)``.   Dtypes: all.   Derivative: linear.
    Raises: ArgumentError: `sizes` are no integers.
    Source: XLA's operation semantics, "Broadcast".

    >>> broadcast(np.ones(2), (3,)).shape
    (3, 2)
    """
    operand = array_of(operand)
    return fnp.broadcast_to(operand, (*ints("broadcast", "sizes", sizes), *operand.shape))


def broadcast_in_dim(operand: Any, shape: Any, broadcast_dimensions: Any) -> Any:
    """`operand` in a larger shape: its axis i becomes axis ``broadcast_dimensions[i]``.

    Shapes: ``(*a) -> shape``; an axis of length 1 is stretched.   Dtypes: all.   Derivative: linear.
    Raises: ShapeError: an axis is named twice, or lengths do not fit.
    Source: XLA's operation semantics, "BroadcastInDim".

    >>> broadcast_in_dim(np.array([1, 2]), (2, 3), (0,)).tolist()
    [[1, 1, 1], [2, 2, 2]]
    """
    operand, shape = array_of(operand), ints("broadcast_in_dim", "shape", shape)
    places = ints("broadcast_in_dim", "broadcast_dimensions", broadcast_dimensions, operand.ndim)
    inside = all(0 <= p < len(shape) for p in places) and len(set(places)) == len(places)
    if not inside or any(
        n not in (1, shape[p]) for n, p in zip(operand.shape, places, strict=True)
    ):
        raise ShapeError(
            f"lax.broadcast_in_dim: {aval_of(operand)} to {list(shape)} by {places}; need different "
            f"axes of the same length, or of length 1{where()}"
        )
    lengths = dict(zip(places, operand.shape, strict=True))
    apart = tuple(lengths.get(i, 1) for i in range(len(shape)))
    in_order = fnp.transpose(operand, sorted(range(operand.ndim), key=places.__getitem__))
    return fnp.broadcast_to(fnp.reshape(in_order, apart), shape)


def collapse(operand: Any, start_dimension: int, stop_dimension: int | None = None) -> Any:
    """The axes from `start_dimension` to before `stop_dimension`, or to the end, as one.

    Shapes: ``(*a, *b, *c) -> (*a, prod(b), *c)``.   Dtypes: all.   Derivative: linear.
    Raises: ArgumentError: an axis is no integer.
    Source: JAX, ``jax.lax.collapse``.

    >>> collapse(np.ones((2, 3, 4)), 1).shape
    (2, 12)
    """
    operand = array_of(operand)
    start, stop, _ = slice(start_dimension, stop_dimension).indices(operand.ndim)
    sizes: Ints = operand.shape
    return fnp.reshape(operand, (*sizes[:start], math.prod(sizes[start:stop]), *sizes[stop:]))


def tile(operand: Any, reps: Any) -> Any:
    """`operand` side by side `reps` times along each of the last axes.

    Shapes: ``(*a) -> a * reps``, the shorter of the two filled up with 1s in front.   Dtypes: all.
    Derivative: linear; the cotangents of the tiles are summed.
    Raises: ArgumentError: `reps` are no integers.
    Source: JAX, ``jax.lax.tile``.

    >>> tile(np.array([1, 2]), (2,)).tolist()
    [1, 2, 1, 2]
    """
    return fnp.tile(operand, ints("tile", "reps", reps))


def split(operand: Any, sizes: Any, axis: int = 0) -> list[Any]:
    """Parts of the given sizes along an axis.

    Shapes: ``(*a, sum(sizes), *b) -> (*a, size, *b)`` each.   Dtypes: all.   Derivative: linear.
    Raises: ShapeError: the sizes do not add up to the axis.
    Source: JAX, ``jax.lax.split``.

    >>> [x.tolist() for x in split(np.array([1, 2, 3]), (1, 2))]
    [[1], [2, 3]]
    """
    operand, found = array_of(operand), ints("split", "sizes", sizes)
    axis = axis_in("split", axis, operand.ndim)
    if sum(found) != operand.shape[axis] or min(found, default=0) < 0:
        raise ShapeError(f"lax.split: sizes={found} for an axis of {operand.shape[axis]}{where()}")
    return fnp.split(operand, np.cumsum(found)[:-1].tolist(), axis)


def optimization_barrier(operand: Any, /) -> Any:
    """The tree `operand`; XLA may not move operations past it, and nothing here does.

    Shapes, Dtypes: those of the leaves.   Derivative: linear.   Raises: nothing.
    Source: JAX, ``jax.lax.optimization_barrier``.

    >>> optimization_barrier((1.0, np.ones(1)))
    (1.0, array([1.]))
    """
    return operand


def with_sharding_constraint(x: Any, shardings: Any) -> Any:
    """The tree `x`, which lies on one device, however several would share it.

    Shapes, Dtypes: those of the leaves.   Derivative: linear.   Raises: nothing.
    Source: JAX, ``jax.lax.with_sharding_constraint``.

    >>> with_sharding_constraint(np.ones(1), None).tolist()
    [1.0]
    """
    return x
