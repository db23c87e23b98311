"""Sets of numbers as sorted vectors without repetitions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..ops.index import take
from ..ops.join import concatenate
from ..ops.logic import logical_and, logical_not
from ..ops.select import where
from ._arguments import GIVE_SIZE, arrays_of, concrete, converted
from .filling import distinct, fill_of, filled, first_places, length_of, refuse_fill
from .indexing import extract
from .searching import isin
from .shaping import ravel
from .sorting import unique


def union1d(ar1: Any, ar2: Any, *, size: int | None = None, fill_value: Any = None) -> Any:
    """What is in one of two arrays or in both.

    Shapes: ``(*a), (*b) -> (count,)``.   Dtypes: numbers.
    Derivative: that of the first of equal elements.
    Raises: as `unique`, whose `size` and `fill_value` these are.
    Source: NumPy reference, ``numpy.union1d``.

    >>> union1d([3.0, 1.0], [1.0, 2.0]).tolist()
    [1.0, 2.0, 3.0]
    """
    both = concatenate(*map(ravel, arrays_of(ar1, ar2)), axis=0)
    return unique(both, size=size, fill_value=fill_value)


def intersect1d(
    ar1: Any,
    ar2: Any,
    assume_unique: bool = False,
    return_indices: bool = False,
    *,
    size: int | None = None,
    fill_value: Any = None,
) -> Any:
    """What is in both arrays; with `return_indices` also where it is first in each.

    With `size` there are so many: more are cut off, and missing ones are `fill_value`, the first one
    (0 of none) unless given; their places are the numbers of elements.

    Shapes: ``(*a), (*b) -> (count,)``.   Dtypes: numbers.
    Derivative: that of the element in `ar1`.
    Raises: ConcretizationError: the values are not known, and no `size` is given. ArgumentError:
    `size` or `fill_value` does not fit.
    Source: NumPy reference, ``numpy.intersect1d``; JAX's for `size`.

    >>> intersect1d([3.0, 1.0], [1.0, 2.0]).tolist()
    [1.0]
    >>> intersect1d([3.0, 1.0], [1.0, 2.0], size=2, fill_value=-1.0).tolist()
    [1.0, -1.0]
    """
    x, y = map(ravel, arrays_of(ar1, ar2))
    if size is not None:
        found = _chosen("intersect1d", x, lambda s: isin(s, y), size, fill_value)
        if not return_indices:
            return found[0]
        return *found, _chosen("intersect1d", y, lambda s: isin(s, x), size, fill_value)[1]
    _require_known("intersect1d", x, y, fill_value)
    found, first = unique(x, return_index=True)
    others, second = unique(y, return_index=True)
    common = isin(found, others)
    if not return_indices:
        return found[common]
    return found[common], first[common], second[isin(others, found)]


def setdiff1d(
    ar1: Any,
    ar2: Any,
    assume_unique: bool = False,
    *,
    size: int | None = None,
    fill_value: Any = None,
) -> Any:
    """What is in `ar1` and not in `ar2`; in its order there with `assume_unique`.

    With `size` there are so many: more are cut off, and missing ones are `fill_value`, 0 unless given.

    Shapes: ``(*a), (*b) -> (count,)``.   Dtypes: numbers.
    Derivative: that of the first of equal elements.
    Raises: as `intersect1d`.
    Source: NumPy reference, ``numpy.setdiff1d``; JAX's for `size`.

    >>> setdiff1d([3.0, 1.0], [1.0, 2.0]).tolist()
    [3.0]
    """
    x, y = map(ravel, arrays_of(ar1, ar2))
    if size is not None:
        value = 0 if fill_value is None else fill_value
        if assume_unique:
            return extract(isin(x, y, invert=True), x, size=size, fill_value=value)
        return _chosen("setdiff1d", x, lambda s: isin(s, y, invert=True), size, value)[0]
    _require_known("setdiff1d", x, y, fill_value)
    found = x if assume_unique else unique(x)
    return found[isin(found, y, invert=True)]


def setxor1d(
    ar1: Any,
    ar2: Any,
    assume_unique: bool = False,
    *,
    size: int | None = None,
    fill_value: Any = None,
) -> Any:
    """What is in one of two arrays and not in the other.

    With `size` there are so many: more are cut off, and missing ones are `fill_value`, the first one
    (0 of none) unless given.

    Shapes: ``(*a), (*b) -> (count,)``.   Dtypes: numbers.
    Derivative: that of the first of equal elements.
    Raises: as `intersect1d`.
    Source: NumPy reference, ``numpy.setxor1d``; JAX's for `size`.

    >>> setxor1d([3.0, 1.0], [1.0, 2.0]).tolist()
    [2.0, 3.0]
    """
    if size is not None:
        x, y = map(ravel, arrays_of(ar1, ar2))

        def in_one(s: Any) -> Any:
            return logical_not(logical_and(isin(s, x), isin(s, y)))

        return _chosen("setxor1d", concatenate(x, y, axis=0), in_one, size, fill_value)[0]
    refuse_fill("setxor1d", fill_value)
    return union1d(setdiff1d(ar1, ar2), setdiff1d(ar2, ar1))


def _chosen(
    name: str,
    x: Any,
    chosen: Callable[[Any], Any],
    size: Any,
    value: Any,
) -> tuple[Any, Any]:
    """The first `size` different elements of `x` that are chosen, in order, and where they are first.

    What is missing is `value`, or the first one; its place is the number of elements.
    """
    length, n = length_of(name, "size", size), x.shape[0]
    value = None if value is None else fill_of(name, value, x.dtype)
    order, new = distinct(x)
    ordered = take(x, order, axis=0, bounds="known")
    places, held = first_places(logical_and(new, chosen(ordered)), length)
    index = filled(order, places, held, 0, n)
    if value is None:
        value = where(held[0], ordered[places[0]], 0) if n and length else 0
    return filled(ordered, places, held, 0, converted(value, x.dtype)), index


def _require_known(name: str, x: Any, y: Any, fill_value: Any) -> None:
    """Complain about values that are traced, and about a fill that nothing needs.

    Raises: ConcretizationError, ArgumentError.
    """
    refuse_fill(name, fill_value)
    for which, values in (("ar1", x), ("ar2", y)):
        concrete(name, which, values, GIVE_SIZE)
