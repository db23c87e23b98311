"""Reductions along axes: sums, means, extremes, counts.

`where=` and `initial=` are compositions: what is masked out is replaced by the neutral element.
``where=None`` leaves nothing out.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..core import Tracer
from ..errors import ArgumentError
from ..errors import where as _line
from ..ops import reduce as _reduce
from ..ops import select as _select
from ..ops import structural as _structural
from ..ops.exponential import sqrt as _sqrt
from ..ops.logic import greater, logical_not, logical_or
from ..ops.structural import kept
from ._arguments import (
    array_of,
    axes_of,
    converted,
    module_of,
    operand,
    reduced_axes,
    takes_all,
    with_axes,
    written,
)

Axes = tuple[int, ...]


def _masked(a: Any, mask: Any, neutral: Any) -> Any:
    """`a` with `neutral` where `mask` does not hold."""
    return a if takes_all(mask) else _select.where(operand(mask, module_of(a)), a, neutral)


def sum(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = True,
    promote_integers: bool = True,
) -> Any:
    """``sum_i a_i`` along the axes, of the elements that `where` holds for, plus `initial`.

    Shapes: ``a: (*a, n, *b) -> (*a, *b)``.   Dtypes: all; bool and small integers widen, unless
    `promote_integers` is False, which leaves integers as they are.
    Derivative: linear; the cotangent is broadcast back.
    Raises: ShapeError: an axis does not exist. ArgumentError: `out` does not fit.
    Source: NumPy reference, ``numpy.sum``.

    >>> sum([[1.0, 2.0], [3.0, 4.0]], axis=0).tolist()
    [4.0, 6.0]
    """
    if out is not None:
        y = sum(a, axis, dtype, None, keepdims, initial, where, promote_integers)
        return written("fnp.sum with out=", y, out)
    a = array_of(a)
    dtype = _kept(a, dtype, promote_integers)
    a = converted(_masked(a, where, 0), dtype)
    axes = reduced_axes("sum", axis, a.ndim)
    y = _structural.sum(a, axis=axes)
    if dtype is not None:
        y = converted(y, dtype)  # NumPy's sum of a small integer dtype would widen again
    if initial is not None:
        y = y + operand(initial)
    return with_axes(y, a.shape, axes, keepdims)


def _kept(a: Any, dtype: Any, promote_integers: bool) -> Any:
    """The dtype to compute in: that of integers if it is not to widen."""
    stays = dtype is None and not promote_integers and a.dtype.kind in "iu"
    return a.dtype if stays else dtype


def prod(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = True,
    promote_integers: bool = True,
) -> Any:
    """``prod_i a_i`` along the axes, of the elements that `where` holds for, times `initial`.

    Shapes: ``a: (*a, n, *b) -> (*a, *b)``.   Dtypes: all; bool and small integers widen, unless
    `promote_integers` is False, which leaves integers as they are.
    Derivative: the product of the others, without a division: zeros are nothing special.
    Raises: ShapeError: an axis does not exist. ArgumentError: `out` does not fit.
    Source: NumPy reference, ``numpy.prod``.

    >>> float(prod([2.0, 3.0]))
    6.0
    """
    if out is not None:
        y = prod(a, axis, dtype, None, keepdims, initial, where, promote_integers)
        return written("fnp.prod with out=", y, out)
    a = array_of(a)
    dtype = _kept(a, dtype, promote_integers)
    a = converted(_masked(a, where, 1), dtype)
    axes = reduced_axes("prod", axis, a.ndim)
    y = _reduce.prod(a, axis=axes)
    if dtype is not None:
        y = converted(y, dtype)
    if initial is not None:
        y = y * operand(initial)
    return with_axes(y, a.shape, axes, keepdims)


# ---------------------------------------------------------------- means


def mean(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: bool = False,
    *,
    where: Any = True,
) -> Any:
    """``sum_i a_i / n`` along the axes, over the elements that `where` holds for.

    Shapes: ``a: (*a, n, *b) -> (*a, *b)``.   Dtypes: all; bool and integers give float64.
    Derivative: linear; the cotangent is spread evenly.
    Raises: ShapeError: an axis does not exist. ArgumentError: `out` does not fit.
    Source: NumPy reference, ``numpy.mean``.

    >>> float(mean([1.0, 2.0]))
    1.5
    """
    if out is not None:
        return written("fnp.mean with out=", mean(a, axis, dtype, None, keepdims, where=where), out)
    a = converted(array_of(a), dtype)
    axes = axes_of("mean", axis, a.ndim)
    if takes_all(where):
        y = _reduce.mean(a, axis=axes)
    else:
        y = sum(a, axis=axes, where=where)
        y = y / _in_dtype_of(y, _count(where, a, axes))
    return with_axes(converted(y, dtype), a.shape, axes, keepdims)


def _count(mask: Any, a: Any, axes: Axes) -> Any:
    """How many elements of `a` the mask lets through, for every result."""
    if takes_all(mask):
        return math.prod(a.shape[i] for i in axes)
    mask = _structural.broadcast_to(operand(mask, module_of(a)), shape=a.shape)
    return _reduce.count_nonzero(mask, axis=axes)


def _in_dtype_of(y: Any, count: Any) -> Any:
    """A number or an array of counts that divides `y` without widening it."""
    if not hasattr(count, "dtype") or y.dtype.kind not in "fc":
        return count
    return converted(count, np.empty(0, y.dtype).real.dtype)


def var(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    ddof: float = 0,
    keepdims: bool = False,
    *,
    where: Any = True,
    mean: Any = None,
    correction: float | None = None,
) -> Any:
    """``sum_i |a_i - mean(a)|^2 / (n - ddof)`` along the axes.

    Shapes: ``a: (*a, n, *b) -> (*a, *b)``.   Dtypes: all; complex give reals, integers float64.
    Derivative: ``2 Re(conj(a_i - mean(a)) da_i) / (n - ddof)``; smooth everywhere.
    Raises: ShapeError: an axis does not exist. ArgumentError: out=, or both ddof= and correction=.
    Source: NumPy reference, ``numpy.var``.

    >>> float(var([1.0, 3.0]))
    1.0
    """
    if out is not None:
        return written(
            "fnp.var with out=",
            var(
                a, axis, dtype, None, ddof, keepdims, where=where, mean=mean, correction=correction
            ),
            out,
        )
    a = converted(array_of(a), dtype)
    axes = axes_of("var", axis, a.ndim)
    ddof = _correction("var", ddof, correction)
    if mean is None and takes_all(where) and not isinstance(ddof, Tracer):
        y = _reduce.var(a, axis=axes, correction=ddof)
    else:
        freedom, where = _freedom(where, a, axes, ddof)
        deviation = _deviation(a, axes, where, mean)
        square = deviation * deviation.conj() if deviation.dtype.kind == "c" else deviation**2
        y = _structural.sum(square.real, axis=axes)
        y = y / _in_dtype_of(y, freedom)
    return with_axes(y, a.shape, axes, keepdims)


def std(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    ddof: float = 0,
    keepdims: bool = False,
    *,
    where: Any = True,
    mean: Any = None,
    correction: float | None = None,
) -> Any:
    """``sqrt(sum_i |a_i - mean(a)|^2 / (n - ddof))`` along the axes.

    Shapes: ``a: (*a, n, *b) -> (*a, *b)``.   Dtypes: all; complex give reals, integers float64.
    Derivative: ``Re(conj(a_i - mean(a)) da_i) / ((n - ddof) std(a))``; 0 where all are equal.
    Raises: ShapeError: an axis does not exist. ArgumentError: out=, or both ddof= and correction=.
    Source: NumPy reference, ``numpy.std``.

    >>> float(std([1.0, 3.0]))
    1.0
    """
    if out is not None:
        return written(
            "fnp.std with out=",
            std(
                a, axis, dtype, None, ddof, keepdims, where=where, mean=mean, correction=correction
            ),
            out,
        )
    a = converted(array_of(a), dtype)
    axes = axes_of("std", axis, a.ndim)
    ddof = _correction("std", ddof, correction)
    if mean is None and takes_all(where) and not isinstance(ddof, Tracer):
        y = _reduce.std(a, axis=axes, correction=ddof)
    else:
        freedom, where = _freedom(where, a, axes, ddof)
        y = _reduce.norm2(_deviation(a, axes, where, mean), axis=axes)
        y = y / _sqrt(_in_dtype_of(y, freedom))
    return with_axes(y, a.shape, axes, keepdims)


def _correction(name: str, ddof: float, correction: float | None) -> float:
    if correction is None:
        return ddof
    if isinstance(ddof, Tracer) or ddof:
        raise ArgumentError(f"fnp.{name}: ddof= and correction= are the same; give one{_line()}")
    return correction


def _deviation(a: Any, axes: Axes, mask: Any, center: Any) -> Any:
    """``a - mean(a)``, 0 where the mask does not hold."""
    if center is None:
        center = mean(a, axis=axes, keepdims=True, where=mask)
    return _masked(a - operand(center, module_of(a)), mask, 0)


def _freedom(mask: Any, a: Any, axes: Axes, ddof: float) -> tuple[Any, Any]:
    """``n - ddof``, NaN where that is not positive, and the mask, which lets all through there.

    So NaN results have NaN derivatives by every element, whatever the mask says.
    """
    freedom = _count(mask, a, axes) - ddof
    if takes_all(mask) and not isinstance(freedom, Tracer):
        return (freedom if freedom > 0 else math.nan), True
    fine = greater(freedom, 0)
    if takes_all(mask):
        return _select.where(fine, freedom, math.nan), True
    hopeless = _structural.reshape(logical_not(fine), shape=kept(a.shape, axes))
    mask = logical_or(operand(mask, module_of(a)), hopeless)
    return _select.where(fine, freedom, math.nan), mask


# ---------------------------------------------------------------- extremes


def max(
    a: Any,
    axis: Any = None,
    out: Any = None,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = True,
) -> Any:
    """``max_i a_i`` along the axes, of the elements that `where` holds for and of `initial`.

    Shapes: ``a: (*a, n, *b) -> (*a, *b)``, n > 0 or with `initial`.   Dtypes: all.
    Derivative: that of the largest element; equal ones share evenly.
    Raises: ShapeError: an axis does not exist. ArgumentError: out=, or where= without initial=.
    Source: NumPy reference, ``numpy.max``.

    >>> float(max([1.0, 2.0]))
    2.0
    """
    return _extreme("max", _reduce.max, _select.maximum, a, axis, out, keepdims, initial, where)


def min(
    a: Any,
    axis: Any = None,
    out: Any = None,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = True,
) -> Any:
    """``min_i a_i`` along the axes, of the elements that `where` holds for and of `initial`.

    Shapes: ``a: (*a, n, *b) -> (*a, *b)``, n > 0 or with `initial`.   Dtypes: all.
    Derivative: that of the smallest element; equal ones share evenly.
    Raises: ShapeError: an axis does not exist. ArgumentError: out=, or where= without initial=.
    Source: NumPy reference, ``numpy.min``.

    >>> float(min([1.0, 2.0]))
    1.0
    """
    return _extreme("min", _reduce.min, _select.minimum, a, axis, out, keepdims, initial, where)


def amax(
    a: Any,
    axis: Any = None,
    out: Any = None,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = True,
) -> Any:
    """`max` under its other name.

    Shapes: ``a: (*a, n, *b) -> (*a, *b)``, n > 0 or with `initial`.   Dtypes: all.
    Derivative: that of the largest element; equal ones share evenly.
    Raises: ShapeError: an axis does not exist. ArgumentError: out=, or where= without initial=.
    Source: NumPy reference, ``numpy.amax``.

    >>> float(amax([1.0, 2.0]))
    2.0
    """
    return _extreme("amax", _reduce.max, _select.maximum, a, axis, out, keepdims, initial, where)


def amin(
    a: Any,
    axis: Any = None,
    out: Any = None,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = True,
) -> Any:
    """`min` under its other name.

    Shapes: ``a: (*a, n, *b) -> (*a, *b)``, n > 0 or with `initial`.   Dtypes: all.
    Derivative: that of the smallest element; equal ones share evenly.
    Raises: ShapeError: an axis does not exist. ArgumentError: out=, or where= without initial=.
    Source: NumPy reference, ``numpy.amin``.

    >>> float(amin([1.0, 2.0]))
    1.0
    """
    return _extreme("amin", _reduce.min, _select.minimum, a, axis, out, keepdims, initial, where)


def _extreme(
    name: str,
    reduction: Any,
    of_two: Any,
    a: Any,
    axis: Any,
    out: Any,
    keepdims: bool,
    initial: Any,
    mask: Any,
) -> Any:
    if out is not None:
        return written(
            f"fnp.{name} with out=",
            _extreme(name, reduction, of_two, a, axis, None, keepdims, initial, mask),
            out,
        )
    a = array_of(a)
    axes = reduced_axes(name, axis, a.ndim)
    if not takes_all(mask):
        if initial is None:
            raise ArgumentError(f"fnp.{name}: where= needs initial=, for what is left out{_line()}")
        a = _masked(a, mask, operand(initial))
    if initial is None:
        y = reduction(a, axis=axes)
    elif math.prod(a.shape[i] for i in axes) == 0:
        rest = tuple(n for i, n in enumerate(a.shape) if i not in axes)
        y = converted(_structural.broadcast_to(operand(initial), shape=rest), a.dtype)
    else:
        y = of_two(reduction(a, axis=axes), operand(initial))
    return with_axes(y, a.shape, axes, keepdims)


def ptp(a: Any, axis: Any = None, out: Any = None, keepdims: bool = False) -> Any:
    """``max(a) - min(a)`` along the axes.

    Shapes: ``a: (*a, n, *b) -> (*a, *b)``, n > 0.   Dtypes: real numbers.
    Derivative: that of the largest minus that of the smallest; equal ones share evenly.
    Raises: ShapeError: an axis does not exist. ArgumentError: `out` does not fit.
    Source: NumPy reference, ``numpy.ptp``.

    >>> float(ptp([1.0, 3.0]))
    2.0
    """
    if out is not None:
        return written("fnp.ptp with out=", ptp(a, axis, None, keepdims), out)
    a = array_of(a)
    axes = reduced_axes("ptp", axis, a.ndim)
    y = _reduce.max(a, axis=axes) - _reduce.min(a, axis=axes)
    return with_axes(y, a.shape, axes, keepdims)
