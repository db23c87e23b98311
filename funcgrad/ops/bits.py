"""The bits of numbers: read as another dtype, and counted."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..algebra import batch_first, constant, elementwise_constant
from ..core import Aval, Primitive
from ..errors import ArgumentError, ShapeError, where


def _bitcast_aval(x: Aval, *, dtype: np.dtype) -> Aval:
    old, new = x.dtype.itemsize, dtype.itemsize
    if x.dtype != dtype and "b" in x.dtype.kind + dtype.kind:
        raise ArgumentError(f"bitcast: {x} as {dtype}; booleans have no bits to read{where()}")
    if new < old:
        return Aval((*x.shape, old // new), dtype)
    if new > old and x.shape[-1:] != (new // old,):
        raise ShapeError(
            f"bitcast: {x} as {dtype}; need a last axis of {new // old}, for the parts of a number"
            f"{where()}"
        )
    return Aval(x.shape[:-1] if new > old else x.shape, dtype)


def _batch_bitcast(prim: Primitive, size: int, xs: Any, bdims: Any, params: dict) -> Any:
    return prim(batch_first(xs[0], bdims[0]), **params), 0


@constant(aval=_bitcast_aval, batch=_batch_bitcast)
def bitcast(xp, x, /, *, dtype):
    """The bits of `x` read as numbers of another dtype; those of one number along a last axis.

    Shapes: ``x: (*a) -> (*a)``; a narrower dtype adds an axis, a wider one takes the last one.
    Dtypes: all ``-> dtype``; booleans stay booleans.
    Derivative: zero.
    Raises: ShapeError: the last axis is none of the parts of a wider number. ArgumentError: booleans as
    numbers, or numbers as booleans.
    Source: XLA's operation semantics, "BitcastConvertType"; NumPy reference, ``ndarray.view``.

    >>> bitcast(np.array([1.0], np.float32), dtype=np.dtype(np.uint32)).tolist()
    [1065353216]
    """
    x = xp.asarray(x)
    shape = _bitcast_aval(Aval(x.shape, x.dtype), dtype=dtype).shape
    return xp.ascontiguousarray(x).reshape(-1).view(dtype).reshape(shape).copy()


@elementwise_constant
def bit_count(xp, x, /):
    """How many bits of the integer `x` are 1; negative numbers by their complement of two.

    Shapes: ``x: (*a) -> (*a)``.   Dtypes: integers, kept.
    Derivative: zero.
    Raises: ArgumentError: `x` is no integer.
    Source: XLA's operation semantics, "PopulationCount".

    >>> bit_count(np.array([7, -1], np.int8)).tolist()
    [3, 8]
    """
    x = xp.asarray(x)
    if x.dtype.kind not in "iu":
        raise ArgumentError(f"bit_count: needs integers, found {x.dtype}{where()}")
    return xp.bitwise_count(x.astype(f"uint{8 * x.dtype.itemsize}")).astype(x.dtype)
