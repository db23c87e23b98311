"""Order and equality: sort, argsort, unique, bincount."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..errors import ArgumentError, ShapeError, where
from ..indexing import known
from ..ops import select as _select
from ..ops import sort as _sort
from ..ops.cast import astype
from ..ops.groups import group_sum
from ..ops.index import take, take_along_axis
from ..ops.structural import flip
from ._arguments import (
    GIVE_SIZE,
    array_of,
    arrays_of,
    axis_of,
    beside,
    concrete,
    converted,
    host,
    known_lengths,
    module_of,
    refuse,
)
from .filling import fill_of, length_of, refuse_fill, unique_of_size
from .ordering import moveaxis
from .shaping import ravel, reshape

# ---------------------------------------------------------------- sort


def sort(
    a: Any,
    axis: int | None = -1,
    kind: str | None = None,
    order: Any = None,
    *,
    stable: bool | None = None,
    descending: bool = False,
) -> Any:
    """The elements along an axis in ascending order; of the flattened array if it is None.

    Always stable, whatever `kind` is; also if they are to be `descending`.

    Shapes: ``a: (*a) -> (*a)``.   Dtypes: numbers; NaN comes last, of descending ones first.
    Derivative: the tangents in the same order; those of equal elements keep their order.
    Raises: ShapeError: the axis does not exist. ArgumentError: order= is given.
    Source: NumPy reference, ``numpy.sort``.

    >>> sort([3.0, 1.0, 2.0]).tolist()
    [1.0, 2.0, 3.0]
    """
    return _ordered("sort", _falling if descending else _sort.sort, a, axis, order)


def argsort(
    a: Any,
    axis: int | None = -1,
    kind: str | None = None,
    order: Any = None,
    *,
    stable: bool | None = None,
    descending: bool = False,
    dtype: Any = None,
) -> Any:
    """The places of the elements along an axis in ascending, or `descending` order, always stable.

    Shapes: ``a: (*a) -> (*a)``.   Dtypes: numbers; gives integers, of `dtype` if one is given.
    Derivative: zero.   Raises: ShapeError: the axis does not exist. ArgumentError: order= is given.
    Source: NumPy reference, ``numpy.argsort``.

    >>> argsort([3.0, 1.0, 2.0]).tolist()
    [1, 2, 0]
    """
    found = _falling_order if descending else _sort.argsort
    return converted(_ordered("argsort", found, a, axis, order), dtype)


def _falling_order(a: Any, *, axis: int) -> Any:
    """Of equal elements the first comes first: those that rise from behind, from behind."""
    rising = _sort.argsort(flip(a, axis=(axis,)), axis=axis)
    return a.shape[axis] - 1 - flip(rising, axis=(axis,))


def _falling(a: Any, *, axis: int) -> Any:
    return take_along_axis(a, _falling_order(a, axis=axis), axis=axis, bounds="known")


def partition(
    a: Any, kth: Any, axis: int | None = -1, kind: str = "introselect", order: Any = None
) -> Any:
    """An array whose `kth` elements are where sorting puts them, smaller ones before: sorted here.

    Shapes: ``a: (*a) -> (*a)``.   Dtypes: numbers; NaN comes last.
    Derivative: the tangents in the same order.
    Raises: ShapeError: the axis or the element does not exist. ArgumentError: order= is given.
    Source: NumPy reference, ``numpy.partition``.

    >>> partition([3.0, 1.0, 2.0], 1).tolist()
    [1.0, 2.0, 3.0]
    """
    _require_kth("partition", a, kth, axis)
    return _ordered("partition", _sort.sort, a, axis, order)


def argpartition(
    a: Any, kth: Any, axis: int | None = -1, kind: str = "introselect", order: Any = None
) -> Any:
    """The places of the elements in the order of `partition`.

    Shapes: ``a: (*a) -> (*a)``.   Dtypes: numbers; gives integers.
    Derivative: zero.   Raises: ShapeError: the axis or the element does not exist.
    Source: NumPy reference, ``numpy.argpartition``.

    >>> argpartition([3.0, 1.0, 2.0], 1).tolist()
    [1, 2, 0]
    """
    _require_kth("argpartition", a, kth, axis)
    return _ordered("argpartition", _sort.argsort, a, axis, order)


def _ordered(name: str, f: Any, a: Any, axis: Any, order: Any) -> Any:
    if order is not None:
        refuse(name, order=order)
    a = array_of(a)
    if axis is None:
        a, axis = ravel(a), 0
    return f(a, axis=axis_of(name, axis, a.ndim))


def _require_kth(name: str, a: Any, kth: Any, axis: Any) -> None:
    a = array_of(a)
    if not a.size:
        return
    n = a.size if axis is None else a.shape[axis_of(name, axis, a.ndim)]
    for k in np.atleast_1d(host(name, "kth", kth)):
        if not -n <= k < n:
            raise ShapeError(f"fnp.{name}: kth={k}, but there are {n} elements{where()}")


def lexsort(keys: Any, axis: int = -1) -> Any:
    """The places that sort by the last of the keys, then by the one before it, and so on.

    Shapes: ``(k, *a)``, or `k` arrays ``(*a) -> (*a)``.   Dtypes: numbers; gives integers.
    Derivative: zero.   Raises: ShapeError: the axis does not exist. ArgumentError: no keys.
    Source: NumPy reference, ``numpy.lexsort``.

    >>> lexsort(([1, 2, 0], [5, 4, 5])).tolist()
    [1, 2, 0]
    """
    arrays = arrays_of(*keys)
    if not arrays:
        raise ArgumentError(f"fnp.lexsort: needs at least one key{where()}")
    axis = axis_of("lexsort", axis, arrays[0].ndim)
    order = _sort.argsort(arrays[0], axis=axis)
    for k in arrays[1:]:
        step = _sort.argsort(take_along_axis(k, order, axis=axis), axis=axis)
        order = take_along_axis(order, step, axis=axis)
    return order


# ---------------------------------------------------------------- equal elements


def unique(
    ar: Any,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: int | None = None,
    *,
    equal_nan: bool = True,
    sorted: bool = True,
    size: int | None = None,
    fill_value: Any = None,
) -> Any:
    """The different elements in ascending order; along an axis the different slices.

    With the options also the first place of each, the places that rebuild `ar`, and how often. With
    `size` there are so many: more are cut off, and missing ones are `fill_value`, the first one
    unless given, with a count of 0.

    Shapes: ``(*a) -> (count,)``.   Dtypes: numbers.
    Derivative: that of the first of equal elements.
    Raises: ConcretizationError: the values are not known, and no `size` is given. ArgumentError:
    `size` or `fill_value` does not fit.
    Source: NumPy reference, ``numpy.unique``; JAX's for `size`.

    >>> unique([3.0, 1.0, 3.0]).tolist()
    [1.0, 3.0]
    """
    ar = array_of(ar)
    if size is not None:
        asked = return_index, return_inverse, return_counts
        return _unique_of_size(ar, axis, size, fill_value, equal_nan, asked)
    refuse_fill("unique", fill_value)
    values = concrete("unique", "the array", ar, GIVE_SIZE)
    _, index, inverse, counts = np.unique(values, True, True, True, axis, equal_nan=equal_nan)
    if axis is None:
        values = take(ravel(ar), index, axis=0)
    else:
        values = take(ar, index, axis=axis_of("unique", axis, ar.ndim))
    wanted = ((return_index, index), (return_inverse, inverse), (return_counts, counts))
    more = tuple(x for asked, x in wanted if asked)
    return (values, *more) if more else values


def _unique_of_size(
    ar: Any, axis: Any, size: Any, value: Any, equal_nan: bool, asked: tuple[bool, bool, bool]
) -> Any:
    length = length_of("unique", "size", size)
    value = None if value is None else fill_of("unique", value, ar.dtype)
    rows = ravel(ar) if axis is None else moveaxis(ar, axis_of("unique", axis, ar.ndim), 0)
    if length and not rows.shape[0] and value is None:
        raise ArgumentError(f"fnp.unique: size={size} of no elements needs fill_value={where()}")
    values, index, inverse, counts = unique_of_size(rows, length, value, equal_nan)
    if axis is None:
        inverse = reshape(inverse, ar.shape)
    else:
        values = moveaxis(values, 0, axis)
    more = tuple(x for x, one in zip((index, inverse, counts), asked, strict=True) if one)
    return (values, *more) if more else values


class UniqueAll(NamedTuple):
    """What `unique_all` returns."""

    values: Any
    indices: Any
    inverse_indices: Any
    counts: Any


class UniqueCounts(NamedTuple):
    """What `unique_counts` returns."""

    values: Any
    counts: Any


class UniqueInverse(NamedTuple):
    """What `unique_inverse` returns."""

    values: Any
    inverse_indices: Any


def unique_all(x: Any, *, size: int | None = None, fill_value: Any = None) -> UniqueAll:
    """The different elements, the first place of each, the places that rebuild `x`, the counts.

    Shapes: ``(*a) -> (count,), (count,), (*a), (count,)``.   Dtypes: numbers.
    Derivative: that of the first of equal elements.
    Raises: as `unique`, whose `size` and `fill_value` these are.
    Source: NumPy reference, ``numpy.unique_all``.

    >>> unique_all([3.0, 1.0, 3.0]).counts.tolist()
    [1, 2]
    """
    return UniqueAll(
        *unique(x, True, True, True, equal_nan=False, size=size, fill_value=fill_value)
    )


def unique_counts(x: Any, *, size: int | None = None, fill_value: Any = None) -> UniqueCounts:
    """The different elements and how often each is there.

    Shapes: ``(*a) -> (count,), (count,)``.   Dtypes: numbers.
    Derivative: that of the first of equal elements.
    Raises: as `unique`, whose `size` and `fill_value` these are.
    Source: NumPy reference, ``numpy.unique_counts``.

    >>> unique_counts([3.0, 1.0, 3.0]).values.tolist()
    [1.0, 3.0]
    """
    return UniqueCounts(
        *unique(x, return_counts=True, equal_nan=False, size=size, fill_value=fill_value)
    )


def unique_inverse(x: Any, *, size: int | None = None, fill_value: Any = None) -> UniqueInverse:
    """The different elements and the places that rebuild `x` from them.

    Shapes: ``(*a) -> (count,), (*a)``.   Dtypes: numbers.
    Derivative: that of the first of equal elements.
    Raises: as `unique`, whose `size` and `fill_value` these are.
    Source: NumPy reference, ``numpy.unique_inverse``.

    >>> unique_inverse([3.0, 1.0, 3.0]).inverse_indices.tolist()
    [1, 0, 1]
    """
    return UniqueInverse(
        *unique(x, return_inverse=True, equal_nan=False, size=size, fill_value=fill_value)
    )


def unique_values(x: Any, *, size: int | None = None, fill_value: Any = None) -> Any:
    """The different elements.

    Shapes: ``(*a) -> (count,)``.   Dtypes: numbers.
    Derivative: that of the first of equal elements.
    Raises: as `unique`, whose `size` and `fill_value` these are.
    Source: NumPy reference, ``numpy.unique_values``.

    >>> unique_values([3.0, 1.0, 3.0]).tolist()
    [1.0, 3.0]
    """
    return unique(x, equal_nan=False, size=size, fill_value=fill_value)


def bincount(
    x: Any, /, weights: Any = None, minlength: int = 0, *, length: int | None = None
) -> Any:
    """How often each of the integers 0, 1, ... is in `x`; or the sum of its weights.

    With `length` there are so many; larger integers do not count, and negative ones that are not
    known while tracing count as 0.

    Shapes: ``(n,) -> (max(x) + 1,)``, `minlength` at least.   Dtypes: integers; weights real.
    Derivative: linear in `weights`.
    Raises: ConcretizationError: `x` is not known, and no `length` is given. ShapeError: not a vector,
    or weights of another shape. ArgumentError: a negative integer, or `length` is none.
    Source: NumPy reference, ``numpy.bincount``; JAX's for `length`.

    >>> bincount(np.array([0, 2, 2]), [1.0, 2.0, 3.0]).tolist()
    [1.0, 0.0, 5.0]
    """
    places, minlength = array_of(x), known_lengths("fnp.bincount: minlength", minlength)
    hint = "; or give the length of the result, length="
    values = concrete("bincount", "x", places, hint) if length is None else known(places)
    if weights is None and length is None:
        return module_of(values).bincount(values, minlength=minlength)
    if weights is None:
        weights = beside(places, np.ones(places.shape, np.intp))
    else:
        weights = astype(array_of(weights, module_of(places)), np.float64)
    if weights.shape != places.shape or places.ndim != 1:
        raise ShapeError(
            f"fnp.bincount: x of shape {list(places.shape)} and weights of shape "
            f"{list(weights.shape)}; need two vectors of one length{where()}"
        )
    if values is not None and values.size and int(values.min()) < 0:
        raise ArgumentError(f"fnp.bincount: x has the negative entry {int(values.min())}{where()}")
    if length is None:
        count = max(int(values.max()) + 1 if values.size else 0, minlength)
        return group_sum(weights, values, count=count)
    if places.dtype.kind not in "biu":
        raise ArgumentError(f"fnp.bincount: x is {places.dtype}; need integers{where()}")
    count = length_of("bincount", "length", length)
    places = _select.minimum(_select.maximum(converted(places, np.intp), 0), count)
    return group_sum(weights, places, count=count + 1)[:count]
