"""Reductions that leave NaN out. Slices of nothing but NaN give NaN, without a warning."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..core import Tracer
from ..errors import ArgumentError
from ..errors import where as _line
from ..ops.logic import isnan, logical_and, logical_not
from ..ops.select import where as _where
from . import accumulating as _accumulating
from . import reductions as _reductions
from . import searching as _searching
from ._arguments import array_of, module_of, operand, takes_all


def _inexact(a: Any) -> bool:
    return a.dtype.kind in "fc"


def _replaced(a: Any, value: Any) -> Any:
    """`a` with `value` in place of NaN; only floating and complex arrays have any."""
    a = array_of(a)
    return _where(isnan(a), value, a) if _inexact(a) else a


def _numbers(a: Any, where: Any) -> Any:
    """Which elements count: those that are numbers and that `where` holds for."""
    if not _inexact(a):
        return where
    here = logical_not(isnan(a))
    return here if takes_all(where) else logical_and(here, operand(where, module_of(a)))


# ---------------------------------------------------------------- sums and products


def nansum(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = True,
) -> Any:
    """`sum` with NaN counting as 0.

    Shapes: ``a: (*a, n, *b) -> (*a, *b)``.   Dtypes: all; bool and small integers widen.
    Derivative: that of `sum`; 0 by what is NaN.
    Raises: ShapeError: an axis does not exist. ArgumentError: `out` does not fit.
    Source: NumPy reference, ``numpy.nansum``.

    >>> float(nansum([1.0, np.nan]))
    1.0
    """
    return _reductions.sum(_replaced(a, 0), axis, dtype, out, keepdims, initial, where)


def nanprod(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = True,
) -> Any:
    """`prod` with NaN counting as 1.

    Shapes: ``a: (*a, n, *b) -> (*a, *b)``.   Dtypes: all; bool and small integers widen.
    Derivative: that of `prod`; 0 by what is NaN.
    Raises: ShapeError: an axis does not exist. ArgumentError: `out` does not fit.
    Source: NumPy reference, ``numpy.nanprod``.

    >>> float(nanprod([2.0, np.nan]))
    2.0
    """
    return _reductions.prod(_replaced(a, 1), axis, dtype, out, keepdims, initial, where)


def nancumsum(a: Any, axis: int | None = None, dtype: Any = None, out: Any = None) -> Any:
    """`cumsum` with NaN counting as 0.

    Shapes: ``a: (*a) -> (*a)``.   Dtypes: all; bool and small integers widen.
    Derivative: that of `cumsum`; 0 by what is NaN.
    Raises: ShapeError: the axis does not exist. ArgumentError: `out` does not fit.
    Source: NumPy reference, ``numpy.nancumsum``.

    >>> nancumsum([1.0, np.nan, 2.0]).tolist()
    [1.0, 1.0, 3.0]
    """
    return _accumulating.cumsum(_replaced(a, 0), axis, dtype, out)


def nancumprod(a: Any, axis: int | None = None, dtype: Any = None, out: Any = None) -> Any:
    """`cumprod` with NaN counting as 1.

    Shapes: ``a: (*a) -> (*a)``.   Dtypes: all; bool and small integers widen.
    Derivative: that of `cumprod`; 0 by what is NaN.
    Raises: ShapeError: the axis does not exist. ArgumentError: `out` does not fit.
    Source: NumPy reference, ``numpy.nancumprod``.

    >>> nancumprod([2.0, np.nan, 2.0]).tolist()
    [2.0, 2.0, 4.0]
    """
    return _accumulating.cumprod(_replaced(a, 1), axis, dtype, out)


# ---------------------------------------------------------------- means


def nanmean(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: bool = False,
    *,
    where: Any = True,
) -> Any:
    """`mean` of the elements that are not NaN.

    Shapes: ``a: (*a, n, *b) -> (*a, *b)``.   Dtypes: all; bool and integers give float64.
    Derivative: that of `mean`; 0 by what is NaN.
    Raises: ShapeError: an axis does not exist. ArgumentError: `out` does not fit.
    Source: NumPy reference, ``numpy.nanmean``.

    >>> float(nanmean([1.0, np.nan, 2.0]))
    1.5
    """
    a = array_of(a)
    return _reductions.mean(a, axis, dtype, out, keepdims, where=_numbers(a, where))


def nanvar(
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
    """`var` of the elements that are not NaN.

    Shapes: ``a: (*a, n, *b) -> (*a, *b)``.   Dtypes: all; complex give reals, integers float64.
    Derivative: that of `var`; 0 by what is NaN.
    Raises: ShapeError: an axis does not exist. ArgumentError: out=, or both ddof= and correction=.
    Source: NumPy reference, ``numpy.nanvar``.

    >>> float(nanvar([1.0, np.nan, 3.0]))
    1.0
    """
    return _spread(
        _reductions.var, "nanvar", a, axis, dtype, out, ddof, keepdims, where, mean, correction
    )


def nanstd(
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
    """`std` of the elements that are not NaN.

    Shapes: ``a: (*a, n, *b) -> (*a, *b)``.   Dtypes: all; complex give reals, integers float64.
    Derivative: that of `std`; 0 by what is NaN, and where all numbers are equal.
    Raises: ShapeError: an axis does not exist. ArgumentError: out=, or both ddof= and correction=.
    Source: NumPy reference, ``numpy.nanstd``.

    >>> float(nanstd([1.0, np.nan, 3.0]))
    1.0
    """
    return _spread(
        _reductions.std, "nanstd", a, axis, dtype, out, ddof, keepdims, where, mean, correction
    )


def _spread(
    f: Any,
    name: str,
    a: Any,
    axis: Any,
    dtype: Any,
    out: Any,
    ddof: float,
    keepdims: bool,
    where: Any,
    mean: Any,
    correction: float | None,
) -> Any:
    a = array_of(a)
    mask = _numbers(a, where)
    # NumPy's wrappers of these two pass this on for what was not given.
    mean, correction = (None if v is np._NoValue else v for v in (mean, correction))
    return f(a, axis, dtype, out, ddof, keepdims, where=mask, mean=mean, correction=correction)


# ---------------------------------------------------------------- extremes


def nanmax(
    a: Any,
    axis: Any = None,
    out: Any = None,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = True,
) -> Any:
    """`max` of the elements that are not NaN.

    Shapes: ``a: (*a, n, *b) -> (*a, *b)``, n > 0 or with `initial`.   Dtypes: real numbers.
    Derivative: that of `max`; 0 by what is NaN.
    Raises: ShapeError: an axis does not exist. ArgumentError: out=, or where= without initial=.
    Source: NumPy reference, ``numpy.nanmax``.

    >>> float(nanmax([1.0, np.nan]))
    1.0
    """
    return _nan_extreme(_reductions.max, -math.inf, a, axis, out, keepdims, initial, where)


def nanmin(
    a: Any,
    axis: Any = None,
    out: Any = None,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = True,
) -> Any:
    """`min` of the elements that are not NaN.

    Shapes: ``a: (*a, n, *b) -> (*a, *b)``, n > 0 or with `initial`.   Dtypes: real numbers.
    Derivative: that of `min`; 0 by what is NaN.
    Raises: ShapeError: an axis does not exist. ArgumentError: out=, or where= without initial=.
    Source: NumPy reference, ``numpy.nanmin``.

    >>> float(nanmin([1.0, np.nan]))
    1.0
    """
    return _nan_extreme(_reductions.min, math.inf, a, axis, out, keepdims, initial, where)


def _nan_extreme(
    f: Any,
    worst: float,
    a: Any,
    axis: Any,
    out: Any,
    keepdims: bool,
    initial: Any,
    where: Any,
) -> Any:
    a = array_of(a)
    y = f(_replaced(a, worst), axis, out, keepdims, initial, where)
    if initial is not None or not _inexact(a):
        return y
    return _where(_searching.all(isnan(a), axis, keepdims=keepdims), math.nan, y)


def nanargmax(a: Any, axis: int | None = None, out: Any = None, *, keepdims: bool = False) -> Any:
    """`argmax` of the elements that are not NaN.

    Shapes: ``a: (*a, n, *b) -> (*a, *b)``, n > 0.   Dtypes: real numbers; gives integers.
    Derivative: zero.   Raises: ArgumentError: there is nothing but NaN.
    Source: NumPy reference, ``numpy.nanargmax``.

    >>> int(nanargmax([np.nan, 1.0, 2.0]))
    2
    """
    _require_numbers("nanargmax", a, axis)
    return _searching.argmax(_replaced(a, -math.inf), axis, out, keepdims=keepdims)


def nanargmin(a: Any, axis: int | None = None, out: Any = None, *, keepdims: bool = False) -> Any:
    """`argmin` of the elements that are not NaN.

    Shapes: ``a: (*a, n, *b) -> (*a, *b)``, n > 0.   Dtypes: real numbers; gives integers.
    Derivative: zero.   Raises: ArgumentError: there is nothing but NaN.
    Source: NumPy reference, ``numpy.nanargmin``.

    >>> int(nanargmin([np.nan, 1.0, 2.0]))
    1
    """
    _require_numbers("nanargmin", a, axis)
    return _searching.argmin(_replaced(a, math.inf), axis, out, keepdims=keepdims)


def _require_numbers(name: str, a: Any, axis: Any) -> None:
    a = array_of(a)
    if _inexact(a):
        nothing = _searching.any(_searching.all(isnan(a), axis))
        if not isinstance(nothing, Tracer) and nothing:
            raise ArgumentError(f"fnp.{name}: a slice has nothing but NaN{_line()}")
