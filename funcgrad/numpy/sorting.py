"""Order and equality: sort, argsort, unique, bincount."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..errors import ArgumentError, ShapeError, where
from ..ops import sort as _sort
from ..ops.index import scatter_add, take, take_along_axis
from ..ops.index_layout import ArrayIndex
from ._arguments import array_of, arrays_of, axis_of, concrete, host, module_of, refuse
from .shaping import ravel

# ---------------------------------------------------------------- sort


def sort(
    a: Any,
    axis: int | None = -1,
    kind: str | None = None,
    order: Any = None,
    *,
    stable: bool | None = None,
) -> Any:
    """The elements along an axis in ascending order; of the flattened array if it is None.

    Always stable, whatever `kind` is.

    Shapes: ``a: (*a) -> (*a)``.   Dtypes: numbers; NaN comes last.
    Derivative: the tangents in the same order; those of equal elements keep their order.
    Raises: ShapeError: the axis does not exist. ArgumentError: order= is given.
    Source: NumPy reference, ``numpy.sort``.

    >>> sort([3.0, 1.0, 2.0]).tolist()
    [1.0, 2.0, 3.0]
    """
    return _ordered("sort", _sort.sort, a, axis, order)


def argsort(
    a: Any,
    axis: int | None = -1,
    kind: str | None = None,
    order: Any = None,
    *,
    stable: bool | None = None,
) -> Any:
    """The places of the elements along an axis in ascending order, always stable.

    Shapes: ``a: (*a) -> (*a)``.   Dtypes: numbers; gives integers.
    Derivative: zero.   Raises: ShapeError: the axis does not exist. ArgumentError: order= is given.
    Source: NumPy reference, ``numpy.argsort``.

    >>> argsort([3.0, 1.0, 2.0]).tolist()
    [1, 2, 0]
    """
    return _ordered("argsort", _sort.argsort, a, axis, order)


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
) -> Any:
    """The different elements in ascending order; along an axis the different slices.

    With the options also the first place of each, the places that rebuild `ar`, and how often.

    Shapes: ``(*a) -> (count,)``.   Dtypes: numbers.
    Derivative: that of the first of equal elements.
    Raises: ConcretizationError: the values are not known.
    Source: NumPy reference, ``numpy.unique``.

    >>> unique([3.0, 1.0, 3.0]).tolist()
    [1.0, 3.0]
    """
    ar = array_of(ar)
    known = concrete("unique", "the array", ar)
    _, index, inverse, counts = np.unique(known, True, True, True, axis, equal_nan=equal_nan)
    if axis is None:
        values = take(ravel(ar), index, axis=0)
    else:
        values = take(ar, index, axis=axis_of("unique", axis, ar.ndim))
    wanted = ((return_index, index), (return_inverse, inverse), (return_counts, counts))
    more = tuple(x for asked, x in wanted if asked)
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


def unique_all(x: Any) -> UniqueAll:
    """The different elements, the first place of each, the places that rebuild `x`, the counts.

    Shapes: ``(*a) -> (count,), (count,), (*a), (count,)``.   Dtypes: numbers.
    Derivative: that of the first of equal elements.
    Raises: ConcretizationError: the values are not known.
    Source: NumPy reference, ``numpy.unique_all``.

    >>> unique_all([3.0, 1.0, 3.0]).counts.tolist()
    [1, 2]
    """
    return UniqueAll(*unique(x, True, True, True, equal_nan=False))


def unique_counts(x: Any) -> UniqueCounts:
    """The different elements and how often each is there.

    Shapes: ``(*a) -> (count,), (count,)``.   Dtypes: numbers.
    Derivative: that of the first of equal elements.
    Raises: ConcretizationError: the values are not known.
    Source: NumPy reference, ``numpy.unique_counts``.

    >>> unique_counts([3.0, 1.0, 3.0]).values.tolist()
    [1.0, 3.0]
    """
    return UniqueCounts(*unique(x, return_counts=True, equal_nan=False))


def unique_inverse(x: Any) -> UniqueInverse:
    """The different elements and the places that rebuild `x` from them.

    Shapes: ``(*a) -> (count,), (*a)``.   Dtypes: numbers.
    Derivative: that of the first of equal elements.
    Raises: ConcretizationError: the values are not known.
    Source: NumPy reference, ``numpy.unique_inverse``.

    >>> unique_inverse([3.0, 1.0, 3.0]).inverse_indices.tolist()
    [1, 0, 1]
    """
    return UniqueInverse(*unique(x, return_inverse=True, equal_nan=False))


def unique_values(x: Any) -> Any:
    """The different elements.

    Shapes: ``(*a) -> (count,)``.   Dtypes: numbers.
    Derivative: that of the first of equal elements.
    Raises: ConcretizationError: the values are not known.
    Source: NumPy reference, ``numpy.unique_values``.

    >>> unique_values([3.0, 1.0, 3.0]).tolist()
    [1.0, 3.0]
    """
    return unique(x, equal_nan=False)


def bincount(x: Any, /, weights: Any = None, minlength: int = 0) -> Any:
    """How often each of the integers 0, 1, ... is in `x`; or the sum of its weights.

    Shapes: ``(n,) -> (max(x) + 1,)``, `minlength` at least.   Dtypes: integers; weights real.
    Derivative: linear in `weights`.
    Raises: ConcretizationError: `x` is not known. ShapeError: not a vector, or weights of another
    shape. ArgumentError: a negative integer.
    Source: NumPy reference, ``numpy.bincount``.

    >>> bincount(np.array([0, 2, 2]), [1.0, 2.0, 3.0]).tolist()
    [1.0, 0.0, 5.0]
    """
    places = concrete("bincount", "x", array_of(x))
    if weights is None:
        return module_of(places).bincount(places, minlength=minlength)
    weights = array_of(weights, module_of(places))
    if weights.shape != places.shape or places.ndim != 1:
        raise ShapeError(
            f"fnp.bincount: x of shape {list(places.shape)} and weights of shape "
            f"{list(weights.shape)}; need two vectors of one length{where()}"
        )
    if places.size and int(places.min()) < 0:
        raise ArgumentError(f"fnp.bincount: x has the negative entry {int(places.min())}{where()}")
    length = max(int(places.max()) + 1 if places.size else 0, minlength)
    if weights.dtype != np.float64:
        weights = weights.astype(np.float64)
    return scatter_add(weights, places, shape=(length,), index=(ArrayIndex(0),))
