"""Counting and finding: all, any, argmax, nonzero, searchsorted. Constants to every derivative."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..algebra import concrete_namespace
from ..errors import ShapeError, where
from ..ops import reduce as _reduce
from ..ops import select as _select
from ..ops import sort as _sort
from ..ops.index import take as _take
from ._arguments import (
    array_of,
    arrays_of,
    axes_of,
    axis_of,
    concrete,
    module_of,
    operand,
    operands,
    with_axes,
    written,
)
from .shaping import ravel

# ---------------------------------------------------------------- truth


def all(
    a: Any, axis: Any = None, out: Any = None, keepdims: bool = False, *, where: Any = True
) -> Any:
    """Whether every element along the axes is not 0, of those that `where` holds for.

    Shapes: ``a: (*a, n, *b) -> (*a, *b)``.   Dtypes: all; gives bool.
    Derivative: zero.   Raises: ShapeError: an axis does not exist. ArgumentError: `out` does not fit.
    Source: NumPy reference, ``numpy.all``.

    >>> bool(all([True, False]))
    False
    """
    return _truth("all", _reduce.all, True, a, axis, out, keepdims, where)


def any(
    a: Any, axis: Any = None, out: Any = None, keepdims: bool = False, *, where: Any = True
) -> Any:
    """Whether some element along the axes is not 0, of those that `where` holds for.

    Shapes: ``a: (*a, n, *b) -> (*a, *b)``.   Dtypes: all; gives bool.
    Derivative: zero.   Raises: ShapeError: an axis does not exist. ArgumentError: `out` does not fit.
    Source: NumPy reference, ``numpy.any``.

    >>> bool(any([True, False]))
    True
    """
    return _truth("any", _reduce.any, False, a, axis, out, keepdims, where)


def _truth(
    name: str, reduction: Any, neutral: bool, a: Any, axis: Any, out: Any, keepdims: bool, mask: Any
) -> Any:
    if out is not None:
        return written(
            f"fnp.{name} with out=",
            _truth(name, reduction, neutral, a, axis, None, keepdims, mask),
            out,
        )
    a = array_of(a)
    axes = axes_of(name, axis, a.ndim)
    if mask is not True:
        a = _select.where(operand(mask, module_of(a)), a, neutral)
    return with_axes(reduction(a, axis=axes), a.shape, axes, keepdims)


def count_nonzero(a: Any, axis: Any = None, *, keepdims: bool = False) -> Any:
    """How many elements along the axes are not 0.

    Shapes: ``a: (*a, n, *b) -> (*a, *b)``.   Dtypes: all; gives integers.
    Derivative: zero.   Raises: ShapeError: an axis does not exist.
    Source: NumPy reference, ``numpy.count_nonzero``.

    >>> int(count_nonzero([0.0, 2.0]))
    1
    """
    a = array_of(a)
    axes = axes_of("count_nonzero", axis, a.ndim)
    y = with_axes(_reduce.count_nonzero(a, axis=axes), a.shape, axes, keepdims)
    return y[()] if y.__class__ is np.ndarray else y  # a number if it is 0-d


# ---------------------------------------------------------------- the place of an extreme


def argmax(a: Any, axis: int | None = None, out: Any = None, *, keepdims: bool = False) -> Any:
    """The first place of the largest element along an axis; in the flattened array if it is None.

    Shapes: ``a: (*a, n, *b) -> (*a, *b)``, n > 0.   Dtypes: all; gives integers.
    Derivative: zero.   Raises: ShapeError: the axis does not exist. ArgumentError: `out` does not fit.
    Source: NumPy reference, ``numpy.argmax``.

    >>> int(argmax([1.0, 3.0, 2.0]))
    1
    """
    return _place("argmax", _reduce.argmax, a, axis, out, keepdims)


def argmin(a: Any, axis: int | None = None, out: Any = None, *, keepdims: bool = False) -> Any:
    """The first place of the smallest element along an axis; in the flattened array if it is None.

    Shapes: ``a: (*a, n, *b) -> (*a, *b)``, n > 0.   Dtypes: all; gives integers.
    Derivative: zero.   Raises: ShapeError: the axis does not exist. ArgumentError: `out` does not fit.
    Source: NumPy reference, ``numpy.argmin``.

    >>> int(argmin([3.0, 1.0, 2.0]))
    1
    """
    return _place("argmin", _reduce.argmin, a, axis, out, keepdims)


def _place(name: str, search: Any, a: Any, axis: Any, out: Any, keepdims: bool) -> Any:
    if out is not None:
        return written(f"fnp.{name} with out=", _place(name, search, a, axis, None, keepdims), out)
    a = array_of(a)
    if axis is None:
        y = search(ravel(a), axis=0)
        axes = tuple(range(a.ndim))
    else:
        axes = (axis_of(name, axis, a.ndim),)
        y = search(a, axis=axes[0])
    return with_axes(y, a.shape, axes, keepdims)


# ---------------------------------------------------------------- where something holds


def nonzero(a: Any) -> tuple[Any, ...]:
    """The indices of the elements that are not 0, one array per axis.

    Shapes: ``(*a) -> (count,)``, one per axis.   Dtypes: all; gives integers.
    Derivative: none.   Raises: ConcretizationError: the values are not known.
    Source: NumPy reference, ``numpy.nonzero``.

    >>> [i.tolist() for i in nonzero([0.0, 2.0, 3.0])]
    [[1, 2]]
    """
    a = concrete("nonzero", "the array", array_of(a))
    if a.ndim == 0:
        raise ShapeError(f"fnp.nonzero: needs an axis, found a 0-d array{where()}")
    return tuple(a.nonzero())


def flatnonzero(a: Any) -> Any:
    """The places in the flattened array of the elements that are not 0.

    Shapes: ``(*a) -> (count,)``.   Dtypes: all; gives integers.
    Derivative: none.   Raises: ConcretizationError: the values are not known.
    Source: NumPy reference, ``numpy.flatnonzero``.

    >>> flatnonzero([[0.0, 2.0], [3.0, 0.0]]).tolist()
    [1, 2]
    """
    return concrete("flatnonzero", "the array", array_of(a)).ravel().nonzero()[0]


def argwhere(a: Any) -> Any:
    """The indices of the elements that are not 0, one row per element.

    Shapes: ``(*a) -> (count, len(a))``.   Dtypes: all; gives integers.
    Derivative: none.   Raises: ConcretizationError: the values are not known.
    Source: NumPy reference, ``numpy.argwhere``.

    >>> argwhere([[0.0, 2.0], [3.0, 0.0]]).tolist()
    [[0, 1], [1, 0]]
    """
    a = concrete("argwhere", "the array", array_of(a))
    return concrete_namespace(a).argwhere(a)


# ---------------------------------------------------------------- in a sorted array


def searchsorted(a: Any, v: Any, side: str = "left", sorter: Any = None) -> Any:
    """Where to insert `v` into the ascending vector `a`: how many elements are ``< v``.

    With side="right", how many are ``<= v``; `sorter` are the places that sort `a`.

    Shapes: ``a: (n,), v: (*b) -> (*b)``.   Dtypes: real numbers; gives integers.
    Derivative: zero.   Raises: ShapeError: `a` has not one axis.
    Source: NumPy reference, ``numpy.searchsorted``.

    >>> searchsorted([1.0, 2.0, 3.0], [2.0, 9.0]).tolist()
    [1, 3]
    """
    a, v = operands(a, v)
    if a.ndim != 1:
        raise ShapeError(f"fnp.searchsorted: a must have one axis, found {a.ndim}{where()}")
    if sorter is not None:
        a = _take(a, array_of(sorter, module_of(a)), axis=0)
    return _sort.searchsorted(a, v, side=side)


def digitize(x: Any, bins: Any, right: bool = False) -> Any:
    """In which of the intervals between ascending or descending `bins` every `x` lies.

    ``bins[i - 1] <= x < bins[i]``, or ``bins[i - 1] < x <= bins[i]`` with `right`.

    Shapes: ``x: (*a), bins: (n,) -> (*a)``.   Dtypes: real numbers; gives integers.
    Derivative: zero.   Raises: ConcretizationError: the bins are not known.
    Source: NumPy reference, ``numpy.digitize``.

    >>> digitize([0.5, 1.5], [0.0, 1.0, 2.0]).tolist()
    [1, 2]
    """
    x, bins = operands(x, bins)
    bins = concrete("digitize", "bins", bins)
    side = "left" if right else "right"
    if bins.size and bins[0] > bins[-1]:
        return bins.size - _sort.searchsorted(bins[::-1], x, side=side)
    return _sort.searchsorted(bins, x, side=side)


def isin(
    element: Any,
    test_elements: Any,
    assume_unique: bool = False,
    invert: bool = False,
    *,
    kind: str | None = None,
) -> Any:
    """Whether each element is among the test elements.

    Shapes: ``element: (*a) -> (*a)``.   Dtypes: all; gives bool.
    Derivative: zero.   Raises: ConcretizationError: the values are not known.
    Source: NumPy reference, ``numpy.isin``.

    >>> isin([1, 2], [2, 3]).tolist()
    [False, True]
    """
    given = arrays_of(element, test_elements)
    element, tested = (
        concrete("isin", name, x)
        for name, x in zip(("element", "test_elements"), given, strict=True)
    )
    return module_of(element).isin(element, tested, assume_unique, invert, kind=kind)
