"""Results whose lengths depend on values, made to a given `size`, so that they can be traced.

What is more than that is cut off, and what is missing is filled.
"""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np

from ..core import aval_of
from ..errors import ArgumentError, where
from ..ops import join as _join
from ..ops import sort as _sort
from ..ops.cumulative import cumsum, part
from ..ops.groups import group_sum
from ..ops.index import take, take_along_axis
from ..ops.logic import equal, isnan, logical_and, logical_not, not_equal
from ..ops.reduce import any as _any
from ..ops.select import maximum, minimum
from ..ops.select import where as choose
from ..ops.structural import broadcast_to, reshape
from ._arguments import beside, converted, operand

_KINDS = "buifc"  # from narrow to wide; "u" and "i" count as one


def missing(dtype: Any) -> Any:
    """What is read outside of an array unless told otherwise.

    NaN, the least of signed and the largest of unsigned integers, True.

    >>> missing(np.dtype(float)), missing(np.dtype("int8")), missing(np.dtype("uint8"))
    (nan, -128, 255)
    """
    if dtype.kind in "fc":
        return math.nan
    if dtype.kind == "b":
        return True
    limits = np.iinfo(dtype)
    return limits.min if dtype.kind == "i" else limits.max


def length_of(name: str, what: str, size: Any) -> int:
    """A length as a number.

    Raises: ArgumentError: it is none, negative, or traced.
    """
    try:
        found = operator.index(size)
    except TypeError:
        found = -1
    if found < 0:
        raise ArgumentError(
            f"fnp.{name}: {what}={size!r}; need a length that is known while tracing, 0 or "
            f"more{where()}"
        )
    return found


def fill_of(name: str, value: Any, dtype: Any) -> Any:
    """`value` in the dtype that it fills.

    Raises: ArgumentError: that cannot hold it.
    """
    value = operand(value)
    if _KINDS.index(aval_of(value).dtype.kind) > max(_KINDS.index(dtype.kind), 2):
        raise ArgumentError(
            f"fnp.{name}: fill_value is {aval_of(value)}, which {dtype} cannot hold{where()}"
        )
    return converted(value, dtype)


def refuse_fill(name: str, value: Any) -> None:
    """Complain about a value for what is missing where nothing is.

    Raises: ArgumentError: it is given.
    """
    if value is not None:
        raise ArgumentError(f"fnp.{name}: fill_value= without size={where()}")


def first_places(mask: Any, size: int) -> tuple[Any, Any]:
    """The first `size` places where the vector `mask` holds, and whether there are so many.

    Where there are not, the place is that of an element, if there is one.

    >>> [x.tolist() for x in first_places(np.array([False, True, False, True]), 3)]
    [[1, 3, 0], [True, True, False]]
    """
    n = mask.shape[0]
    order = part(_sort.argsort(logical_not(mask), axis=0), 0, 0, min(size, n))
    if size > n:
        order = _join.concatenate(order, beside(mask, np.zeros(size - n, np.intp)), axis=0)
    count = converted(mask, np.intp).sum(axis=0)
    return order, beside(mask, np.arange(size)) < count


def filled(x: Any, places: Any, held: Any, axis: int, value: Any) -> Any:
    """``x`` at the places along an axis where they are held, `value` elsewhere."""
    shape = x.shape
    if not shape[axis]:
        return broadcast_to(
            converted(value, x.dtype), shape=(*shape[:axis], places.shape[0], *shape[axis + 1 :])
        )
    column = reshape(held, shape=(held.shape[0], *(1,) * (len(shape) - 1 - axis)))
    return choose(column, take(x, places, axis=axis, bounds="known"), value)


def nonzero_of_size(a: Any, size: int, values: tuple[Any, ...]) -> tuple[Any, ...]:
    """The indices of the first `size` elements that are not 0, one array per axis, filled."""
    n = math.prod(a.shape)
    places, held = first_places(not_equal(reshape(a, shape=(n,)), 0), size)
    found = []
    for axis, value in enumerate(values):
        after = math.prod(a.shape[axis + 1 :])
        index = places // max(after, 1) % max(a.shape[axis], 1)
        found.append(choose(held, index, value))
    return tuple(found)


# ---------------------------------------------------------------- equal elements


def distinct(x: Any, equal_nan: bool = True) -> tuple[Any, Any]:
    """The order of a vector's elements, or of an array's rows, and which are new in that order.

    >>> [y.tolist() for y in distinct(np.array([3.0, 1.0, 3.0]))]
    [[1, 0, 2], [True, True, False]]
    """
    n = x.shape[0]
    table = reshape(x, shape=(n, math.prod(x.shape[1:])))
    order = beside(x, np.arange(n))
    for k in reversed(range(table.shape[1])):
        column = take(table[:, k], order, axis=0, bounds="known")
        order = take(order, _sort.argsort(column, axis=0), axis=0, bounds="known")
    ordered = take(table, order, axis=0, bounds="known")
    before, after = part(ordered, 0, 0, max(n - 1, 0)), part(ordered, 0, min(n, 1))
    differ = not_equal(before, after)
    if equal_nan and x.dtype.kind in "fc":
        differ = logical_and(differ, logical_not(logical_and(isnan(before), isnan(after))))
    first = beside(x, np.ones(min(n, 1), bool))
    return order, _join.concatenate(first, _any(differ, axis=(1,)), axis=0)


def among(x: Any, tested: Any) -> Any:
    """Whether each element of `x` is one of the vector `tested`.

    >>> among(np.array([1.0, 2.0]), np.array([3.0, 2.0])).tolist()
    [False, True]
    """
    n = tested.shape[0]
    if not n:
        return beside(x, np.zeros(x.shape, bool))
    tested = _sort.sort(tested, axis=0)
    place = minimum(_sort.searchsorted(tested, x, side="left"), n - 1)
    return equal(take(tested, place, axis=0, bounds="known"), x)


def unique_of_size(x: Any, size: int, value: Any, equal_nan: bool) -> tuple[Any, Any, Any, Any]:
    """The first `size` different elements or rows of `x`, where they are first, the place of every
    one among them, and how often each is there. What is missing is `value`, or the least one.
    """
    n = x.shape[0]
    order, new = distinct(x, equal_nan)
    group = cumsum(converted(new, np.intp), axis=0, reverse=False) - 1
    places, held = first_places(new, size)
    index = filled(order, places, held, 0, order[0] if n else 0)
    values = filled(x, index, held, 0, 0 if value is None else value)
    if value is None and n:
        values = take(x, index, axis=0, bounds="known")
    inverse = take(group, _sort.argsort(order, axis=0), axis=0, bounds="known")
    ones = beside(x, np.ones(n, np.intp))
    counts = part(group_sum(ones, minimum(group, size), count=size + 1), 0, 0, size)
    return values, index, inverse, counts


# ---------------------------------------------------------------- reading outside


def inside(indices: Any, length: int, negative: bool) -> tuple[Any, Any]:
    """The indices brought inside, and whether they were; negative ones may count from the end."""
    indices = converted(indices, np.intp)
    if negative:
        indices = choose(indices < 0, indices + length, indices)
    held = logical_and(indices >= 0, indices < length)
    return maximum(minimum(indices, length - 1), 0), held


def take_or_fill(x: Any, indices: Any, axis: int, value: Any) -> Any:
    """`take` along an axis, `value` where an index is out of bounds; None for what `missing` says."""
    value = converted(missing(x.dtype) if value is None else value, x.dtype)
    shape = (*x.shape[:axis], *indices.shape, *x.shape[axis + 1 :])
    if not x.shape[axis]:
        return broadcast_to(value, shape=shape)
    places, held = inside(indices, x.shape[axis], True)
    held = reshape(held, shape=(*indices.shape, *(1,) * (x.ndim - axis - 1)))
    return choose(held, take(x, places, axis=axis, bounds="known"), value)


def take_along_or_fill(x: Any, indices: Any, axis: int, value: Any, negative: bool) -> Any:
    """`take_along_axis`, `value` where an index is out of bounds; None for what `missing` says."""
    value = converted(missing(x.dtype) if value is None else value, x.dtype)
    if not x.shape[axis]:
        others = (*x.shape[:axis], 1, *x.shape[axis + 1 :])
        return broadcast_to(value, shape=np.broadcast_shapes(indices.shape, others))
    places, held = inside(indices, x.shape[axis], negative)
    return choose(held, take_along_axis(x, places, axis=axis, bounds="known"), value)
