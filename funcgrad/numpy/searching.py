"""Counting and finding: all, any, argmax, nonzero, searchsorted. Constants to every derivative."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..algebra import concrete_namespace
from ..errors import ArgumentError, ShapeError, where
from ..indexing import known
from ..ops import reduce as _reduce
from ..ops import select as _select
from ..ops import sort as _sort
from ..ops.index import take as _take
from ..ops.join import stack
from ..ops.logic import logical_not
from ._arguments import (
    GIVE_SIZE,
    array_of,
    arrays_of,
    concrete,
    module_of,
    operand,
    operands,
    reduced_axes,
    takes_all,
    with_axes,
    written,
)
from .filling import among, fill_of, length_of, nonzero_of_size, refuse_fill
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
    axes = reduced_axes(name, axis, a.ndim)
    if not takes_all(mask):
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
    axes = reduced_axes("count_nonzero", axis, a.ndim)
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
    axes = tuple(range(a.ndim)) if axis is None else reduced_axes(name, axis, a.ndim)
    y = search(ravel(a), axis=0) if axis is None or not axes else search(a, axis=axes[0])
    return with_axes(y, a.shape, axes, keepdims)


# ---------------------------------------------------------------- where something holds


def nonzero(a: Any, *, size: int | None = None, fill_value: Any = None) -> tuple[Any, ...]:
    """The indices of the elements that are not 0, one array per axis.

    With `size` there are so many: more are cut off, and missing ones are filled with `fill_value`,
    0 unless given; a tuple has one for each axis.

    Shapes: ``(*a) -> (count,)``, one per axis.   Dtypes: all; gives integers.
    Derivative: none.   Raises: ConcretizationError: the values are not known, and no `size` is given.
    ShapeError: a 0-d array. ArgumentError: `size` or `fill_value` does not fit.
    Source: NumPy reference, ``numpy.nonzero``; JAX's for `size`.

    >>> [i.tolist() for i in nonzero([0.0, 2.0, 3.0])]
    [[1, 2]]
    >>> nonzero([0.0, 2.0, 3.0], size=3, fill_value=-1)[0].tolist()
    [1, 2, -1]
    """
    return _nonzero("nonzero", array_of(a), size, fill_value)


def _nonzero(name: str, a: Any, size: Any, fill_value: Any) -> tuple[Any, ...]:
    if a.ndim == 0:
        raise ShapeError(f"fnp.{name}: needs an axis, found a 0-d array{where()}")
    if size is None:
        refuse_fill(name, fill_value)
        return tuple(concrete(name, "the array", a, GIVE_SIZE).nonzero())
    values = fill_value if isinstance(fill_value, tuple) else (fill_value,) * a.ndim
    if len(values) != a.ndim:
        raise ArgumentError(f"fnp.{name}: fill_value={values} for {a.ndim} axes{where()}")
    fills = tuple(fill_of(name, 0 if v is None else v, np.dtype(np.intp)) for v in values)
    return nonzero_of_size(a, length_of(name, "size", size), fills)


def flatnonzero(a: Any, *, size: int | None = None, fill_value: Any = None) -> Any:
    """The places in the flattened array of the elements that are not 0.

    Shapes: ``(*a) -> (count,)``.   Dtypes: all; gives integers.
    Derivative: none.   Raises: as `nonzero`, whose options these are.
    Source: NumPy reference, ``numpy.flatnonzero``.

    >>> flatnonzero([[0.0, 2.0], [3.0, 0.0]]).tolist()
    [1, 2]
    """
    return _nonzero("flatnonzero", ravel(array_of(a)), size, fill_value)[0]


def argwhere(a: Any, *, size: int | None = None, fill_value: Any = None) -> Any:
    """The indices of the elements that are not 0, one row per element.

    Shapes: ``(*a) -> (count, len(a))``.   Dtypes: all; gives integers.
    Derivative: none.   Raises: as `nonzero`, whose options these are.
    Source: NumPy reference, ``numpy.argwhere``.

    >>> argwhere([[0.0, 2.0], [3.0, 0.0]]).tolist()
    [[0, 1], [1, 0]]
    """
    a = array_of(a)
    if size is not None and a.ndim:
        return stack(_nonzero("argwhere", a, size, fill_value), axis=1)
    refuse_fill("argwhere", fill_value)
    a = concrete("argwhere", "the array", a, GIVE_SIZE)
    return concrete_namespace(a).argwhere(a)


def mask_indices(
    n: int, mask_func: Callable[[Any, int], Any], k: int = 0, *, size: int | None = None
) -> tuple[Any, ...]:
    """The indices of the elements that `mask_func`, `triu` say, leaves of a matrix of n by n.

    Shapes: ``(count,), (count,)``.   Dtypes: gives integers.
    Derivative: none.   Raises: as `nonzero`, whose `size` this is.
    Source: NumPy reference, ``numpy.mask_indices``.

    >>> [i.tolist() for i in mask_indices(2, np.triu)]
    [[0, 0, 1], [0, 1, 1]]
    """
    return nonzero(mask_func(np.ones((n, n), int), k), size=size)


# ---------------------------------------------------------------- in a sorted array


_METHODS = (None, "default", "scan", "scan_unrolled", "sort", "compare_all")


def _require_method(name: str, method: Any) -> None:
    if method not in _METHODS:
        raise ArgumentError(f"fnp.{name}: method={method!r}; need one of {_METHODS}{where()}")


def searchsorted(
    a: Any, v: Any, side: str = "left", sorter: Any = None, *, method: str | None = None
) -> Any:
    """Where to insert `v` into the ascending vector `a`: how many elements are ``< v``.

    With side="right", how many are ``<= v``; `sorter` are the places that sort `a`. JAX's `method`
    changes nothing.

    Shapes: ``a: (n,), v: (*b) -> (*b)``.   Dtypes: real numbers; gives integers.
    Derivative: zero.   Raises: ShapeError: `a` has not one axis. ArgumentError: an unknown `method`.
    Source: NumPy reference, ``numpy.searchsorted``.

    >>> searchsorted([1.0, 2.0, 3.0], [2.0, 9.0]).tolist()
    [1, 3]
    """
    _require_method("searchsorted", method)
    a, v = operands(a, v)
    if a.ndim != 1:
        raise ShapeError(f"fnp.searchsorted: a must have one axis, found {a.ndim}{where()}")
    if sorter is not None:
        a = _take(a, array_of(sorter, module_of(a)), axis=0)
    return _sort.searchsorted(a, v, side=side)


def digitize(x: Any, bins: Any, right: bool = False, *, method: str | None = None) -> Any:
    """In which of the intervals between ascending or descending `bins` every `x` lies.

    ``bins[i - 1] <= x < bins[i]``, or ``bins[i - 1] < x <= bins[i]`` with `right`. JAX's `method`
    changes nothing.

    Shapes: ``x: (*a), bins: (n,) -> (*a)``.   Dtypes: real numbers; gives integers.
    Derivative: zero.   Raises: ShapeError: `bins` has not one axis. ArgumentError: an unknown `method`,
    complex numbers.
    Source: NumPy reference, ``numpy.digitize``.

    >>> digitize([0.5, 1.5], [0.0, 1.0, 2.0]).tolist()
    [1, 2]
    """
    _require_method("digitize", method)
    x, bins = operands(x, bins)
    if bins.ndim != 1:
        raise ShapeError(f"fnp.digitize: bins must have one axis, found {bins.ndim}{where()}")
    if "c" in (x.dtype.kind, bins.dtype.kind):
        raise ArgumentError(f"fnp.digitize: complex numbers have no order{where()}")
    side, n = ("left" if right else "right"), bins.shape[0]
    up = _sort.searchsorted(bins, x, side=side)
    if not n:
        return up
    falls = bins[0] > bins[n - 1]
    falling = known(falls)
    if falling is not None and not falling:
        return up
    down = n - _sort.searchsorted(bins[::-1], x, side=side)
    return down if falling is not None else _select.where(falls, down, up)


def isin(
    element: Any,
    test_elements: Any,
    assume_unique: bool = False,
    invert: bool = False,
    *,
    kind: str | None = None,
    method: str = "auto",
) -> Any:
    """Whether each element is among the test elements; how that is found out changes nothing.

    Shapes: ``element: (*a) -> (*a)``.   Dtypes: all; gives bool.
    Derivative: zero.   Raises: nothing of its own.
    Source: NumPy reference, ``numpy.isin``.

    >>> isin([1, 2], [2, 3]).tolist()
    [False, True]
    """
    element, tested = arrays_of(element, test_elements)
    values = known(element), known(tested)
    if values[0] is not None and values[1] is not None:
        return module_of(element).isin(*values, assume_unique, invert, kind=kind)
    found = among(element, ravel(tested))
    return logical_not(found) if invert else found
