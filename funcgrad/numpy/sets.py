"""Sets of numbers as sorted vectors without repetitions."""

from __future__ import annotations

from typing import Any

from ..ops.join import concatenate
from ._arguments import arrays_of
from .searching import isin
from .shaping import ravel
from .sorting import unique


def union1d(ar1: Any, ar2: Any) -> Any:
    """What is in one of two arrays or in both.

    Shapes: ``(*a), (*b) -> (count,)``.   Dtypes: numbers.
    Derivative: that of the first of equal elements.
    Raises: ConcretizationError: the values are not known.
    Source: NumPy reference, ``numpy.union1d``.

    >>> union1d([3.0, 1.0], [1.0, 2.0]).tolist()
    [1.0, 2.0, 3.0]
    """
    return unique(concatenate(*map(ravel, arrays_of(ar1, ar2)), axis=0))


def intersect1d(
    ar1: Any, ar2: Any, assume_unique: bool = False, return_indices: bool = False
) -> Any:
    """What is in both arrays; with `return_indices` also where it is first in each.

    Shapes: ``(*a), (*b) -> (count,)``.   Dtypes: numbers.
    Derivative: that of the element in `ar1`.
    Raises: ConcretizationError: the values are not known.
    Source: NumPy reference, ``numpy.intersect1d``.

    >>> intersect1d([3.0, 1.0], [1.0, 2.0]).tolist()
    [1.0]
    """
    x, y = map(ravel, arrays_of(ar1, ar2))
    found, first = unique(x, return_index=True)
    others, second = unique(y, return_index=True)
    common = isin(found, others)
    if not return_indices:
        return found[common]
    return found[common], first[common], second[isin(others, found)]


def setdiff1d(ar1: Any, ar2: Any, assume_unique: bool = False) -> Any:
    """What is in `ar1` and not in `ar2`; in its order there with `assume_unique`.

    Shapes: ``(*a), (*b) -> (count,)``.   Dtypes: numbers.
    Derivative: that of the first of equal elements.
    Raises: ConcretizationError: the values are not known.
    Source: NumPy reference, ``numpy.setdiff1d``.

    >>> setdiff1d([3.0, 1.0], [1.0, 2.0]).tolist()
    [3.0]
    """
    x, y = map(ravel, arrays_of(ar1, ar2))
    found = x if assume_unique else unique(x)
    return found[isin(found, y, invert=True)]


def setxor1d(ar1: Any, ar2: Any, assume_unique: bool = False) -> Any:
    """What is in one of two arrays and not in the other.

    Shapes: ``(*a), (*b) -> (count,)``.   Dtypes: numbers.
    Derivative: that of the first of equal elements.
    Raises: ConcretizationError: the values are not known.
    Source: NumPy reference, ``numpy.setxor1d``.

    >>> setxor1d([3.0, 1.0], [1.0, 2.0]).tolist()
    [2.0, 3.0]
    """
    return union1d(setdiff1d(ar1, ar2), setdiff1d(ar2, ar1))
