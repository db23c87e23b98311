"""What describes a sample: moments, standard errors and scores along axes."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...errors import ArgumentError, where
from ...numpy._arguments import array_of, axes_of, converted
from ...numpy.joining import stack
from ...numpy.reductions import mean as mean_of
from ...numpy.reductions import std
from ...ops.arithmetic import absolute, power
from ...ops.logic import less_equal
from ...ops.select import where as choose
from ..probabilities import in_one_dtype


def sample_of(name: str, a: Any, nan_policy: str = "propagate") -> Any:
    """`a` as real floats.

    Raises: ArgumentError: it is complex, or nan is not to be passed on.
    """
    if nan_policy != "propagate":
        raise ArgumentError(
            f"stats.{name}: nan_policy={nan_policy!r}; need 'propagate': what is left out would "
            f"decide shapes{where()}"
        )
    a = array_of(a)
    if a.dtype.kind == "c":
        raise ArgumentError(f"stats.{name}: needs real numbers, found complex ones{where()}")
    return in_one_dtype(a)[0]


def count_of(name: str, a: Any, axis: Any) -> int:
    return math.prod(a.shape[i] for i in axes_of(name, axis, a.ndim))


def _central(a: Any, axis: Any) -> Any:
    return a - mean_of(a, axis=axis, keepdims=True)


# ---------------------------------------------------------------- moments


def moment(
    a: Any,
    order: Any = 1,
    axis: Any = 0,
    nan_policy: str = "propagate",
    *,
    center: Any = None,
    keepdims: bool = False,
) -> Any:
    """``mean((a - center)**order)`` along the axis, `center` being the mean if it is None.

    Several orders are along a new first axis.

    Shapes: ``a: (*a, n, *b) -> (*a, *b)``.   Dtypes: real; integers give float64.
    Derivative: smooth everywhere.
    Raises: ArgumentError: an order is no integer of at least 0. ShapeError: no such axis.
    Source: SciPy reference, ``scipy.stats.moment``.

    >>> float(moment([1.0, 2.0, 3.0], 2).round(4))
    0.6667
    """
    a = sample_of("moment", a, nan_policy)
    if isinstance(order, list | tuple | np.ndarray):
        each = [moment(a, k, axis, center=center, keepdims=keepdims) for k in order]
        return stack(each, axis=0)
    order = _order(order)
    if center is None and order == 1:
        return mean_of(a * 0.0, axis=axis, keepdims=keepdims)
    off = _central(a, axis) if center is None else a - converted(array_of(center), a.dtype)
    return mean_of(power(off, order), axis=axis, keepdims=keepdims)


def _order(order: Any) -> int:
    try:
        found = int(order)
    except TypeError:
        found = -1
    if found != order or found < 0:
        raise ArgumentError(f"stats.moment: order={order!r}; need an integer, 0 or more{where()}")
    return found


def _ratio(a: Any, axis: Any, keepdims: bool, order: int) -> Any:
    """``mean(z**order)`` for the standardised `a`; nan where all are the same."""
    off = _central(a, axis)
    square = mean_of(off * off, axis=axis, keepdims=keepdims)
    centre = mean_of(a, axis=axis, keepdims=keepdims)
    least = float(np.finfo(a.dtype).eps) * centre
    same = less_equal(square, least * least)
    high = mean_of(power(off, order), axis=axis, keepdims=keepdims)
    return high / power(choose(same, math.nan, square), 0.5 * order)


def skew(
    a: Any,
    axis: Any = 0,
    bias: bool = True,
    nan_policy: str = "propagate",
    *,
    keepdims: bool = False,
) -> Any:
    """``m3 / m2**(3/2)`` along the axis, for the central moments m; corrected if not `bias`.

    Shapes: ``a: (*a, n, *b) -> (*a, *b)``.   Dtypes: real; integers give float64.
    Derivative: smooth; nan, as the value, where all are the same.
    Raises: ShapeError: no such axis. ArgumentError: `nan_policy` is not 'propagate'.
    Source: SciPy reference, ``scipy.stats.skew``.

    >>> float(skew([1.0, 2.0, 6.0]).round(4))
    0.5952
    """
    a = sample_of("skew", a, nan_policy)
    n = count_of("skew", a, axis)
    y = _ratio(a, axis, keepdims, 3)
    return y if bias or n <= 2 else y * (math.sqrt((n - 1.0) * n) / (n - 2.0))


def kurtosis(
    a: Any,
    axis: Any = 0,
    fisher: bool = True,
    bias: bool = True,
    nan_policy: str = "propagate",
    *,
    keepdims: bool = False,
) -> Any:
    """``m4 / m2**2`` along the axis, less 3 if `fisher`, for the central moments m; corrected if not
    `bias`.

    Shapes: ``a: (*a, n, *b) -> (*a, *b)``.   Dtypes: real; integers give float64.
    Derivative: smooth; nan, as the value, where all are the same.
    Raises: ShapeError: no such axis. ArgumentError: `nan_policy` is not 'propagate'.
    Source: SciPy reference, ``scipy.stats.kurtosis``.

    >>> float(kurtosis([1.0, 2.0, 6.0]).round(4))
    -1.5
    """
    a = sample_of("kurtosis", a, nan_policy)
    n = count_of("kurtosis", a, axis)
    y = _ratio(a, axis, keepdims, 4)
    if not bias and n > 3:
        y = ((n * n - 1.0) * y - 3.0 * (n - 1.0) ** 2) / ((n - 2.0) * (n - 3.0)) + 3.0
    return y - 3.0 if fisher else y


# ---------------------------------------------------------------- errors and scores


def sem(
    a: Any,
    axis: Any = 0,
    ddof: int = 1,
    nan_policy: str = "propagate",
    *,
    keepdims: bool = False,
) -> Any:
    """The standard error of the mean: ``std(a, ddof) / sqrt(n)`` along the axis.

    Shapes: ``a: (*a, n, *b) -> (*a, *b)``.   Dtypes: real; integers give float64.
    Derivative: that of `std`, 0 where all are the same.
    Raises: ShapeError: no such axis. ArgumentError: `nan_policy` is not 'propagate'.
    Source: SciPy reference, ``scipy.stats.sem``.

    >>> float(sem([1.0, 2.0, 3.0]).round(4))
    0.5774
    """
    a = sample_of("sem", a, nan_policy)
    n = count_of("sem", a, axis)
    return std(a, axis=axis, ddof=ddof, keepdims=keepdims) * (n**-0.5 if n else math.nan)


def zscore(a: Any, axis: Any = 0, ddof: int = 0, nan_policy: str = "propagate") -> Any:
    """``(a - mean(a)) / std(a, ddof)`` along the axis.

    Shapes: ``a: (*a) -> (*a)``.   Dtypes: real; integers give float64.
    Derivative: smooth; nan, as the value, where all are the same.
    Raises: ShapeError: no such axis. ArgumentError: `nan_policy` is not 'propagate'.
    Source: SciPy reference, ``scipy.stats.zscore``.

    >>> zscore([1.0, 3.0]).tolist()
    [-1.0, 1.0]
    """
    a = sample_of("zscore", a, nan_policy)
    spread = std(a, axis=axis, ddof=ddof, keepdims=True)
    # The mean of equal numbers is rounded, and their spread is no more than that.
    rounding = np.finfo(a.dtype).eps * absolute(mean_of(a, axis=axis, keepdims=True))
    return _central(a, axis) / choose(less_equal(spread, rounding), math.nan, spread)


def variation(
    a: Any,
    axis: Any = 0,
    nan_policy: str = "propagate",
    ddof: int = 0,
    *,
    keepdims: bool = False,
) -> Any:
    """``std(a, ddof) / mean(a)`` along the axis.

    Shapes: ``a: (*a, n, *b) -> (*a, *b)``.   Dtypes: real; integers give float64.
    Derivative: that of `std` and the quotient.
    Raises: ShapeError: no such axis. ArgumentError: `nan_policy` is not 'propagate'.
    Source: SciPy reference, ``scipy.stats.variation``.

    >>> float(variation([1.0, 3.0]))
    0.5
    """
    a = sample_of("variation", a, nan_policy)
    spread = std(a, axis=axis, ddof=ddof, keepdims=keepdims)
    return spread / mean_of(a, axis=axis, keepdims=keepdims)
