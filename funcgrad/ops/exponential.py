"""Exponentials, logarithms and roots, element by element."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..algebra import elementwise
from ..core import dtype_of
from .logic import equal, greater, logical_and, logical_or
from .select import clip, maximum, minimum, where

LN2 = math.log(2.0)
LN10 = math.log(10.0)


@elementwise(lambda y, _x: y)
def exp(xp, x, /):
    """``e**x``.

    Shapes: ``x: (*a) -> (*a)``.   Dtypes: floating, complex; integers give floats.
    Derivative: ``exp(x)``; smooth everywhere.
    Raises: nothing of its own.
    Source: NumPy reference, ``numpy.exp``.

    >>> exp(np.array([0.0, 1.0])).round(4).tolist()
    [1.0, 2.7183]
    """
    return xp.exp(x)


@elementwise(lambda y, _x: y * LN2)
def exp2(xp, x, /):
    """``2**x``.

    Shapes: ``x: (*a) -> (*a)``.   Dtypes: floating, complex; integers give floats.
    Derivative: ``2**x * log(2)``; smooth everywhere.
    Raises: nothing of its own.
    Source: NumPy reference, ``numpy.exp2``.

    >>> exp2(np.array([0.0, 3.0])).tolist()
    [1.0, 8.0]
    """
    return xp.exp2(x)


@elementwise(lambda _y, x: exp(x))  # of expm1(x) + 1 nothing is left far below 0
def expm1(xp, x, /):
    """``e**x - 1``, accurate near 0.

    Shapes: ``x: (*a) -> (*a)``.   Dtypes: floating, complex; integers give floats.
    Derivative: ``exp(x)``; smooth everywhere.
    Raises: nothing of its own.
    Source: NumPy reference, ``numpy.expm1``.

    >>> expm1(np.array([0.0, 1.0])).round(4).tolist()
    [0.0, 1.7183]
    """
    return xp.expm1(x)


# ---------------------------------------------------------------- logarithms


@elementwise(lambda _y, x: 1.0 / x)
def log(xp, x, /):
    """``log(x)``, to base e.

    Shapes: ``x: (*a) -> (*a)``.   Dtypes: floating, complex; integers give floats.
    Derivative: ``1 / x``; infinite at 0.
    Raises: nothing of its own.
    Source: NumPy reference, ``numpy.log``.

    >>> log(np.array([1.0, 10.0])).round(4).tolist()
    [0.0, 2.3026]
    """
    return xp.log(x)


@elementwise(lambda _y, x: (1.0 / LN2) / x)
def log2(xp, x, /):
    """``log(x) / log(2)``.

    Shapes: ``x: (*a) -> (*a)``.   Dtypes: floating, complex; integers give floats.
    Derivative: ``1 / (x * log(2))``; infinite at 0.
    Raises: nothing of its own.
    Source: NumPy reference, ``numpy.log2``.

    >>> log2(np.array([1.0, 8.0])).tolist()
    [0.0, 3.0]
    """
    return xp.log2(x)


@elementwise(lambda _y, x: (1.0 / LN10) / x)
def log10(xp, x, /):
    """``log(x) / log(10)``.

    Shapes: ``x: (*a) -> (*a)``.   Dtypes: floating, complex; integers give floats.
    Derivative: ``1 / (x * log(10))``; infinite at 0.
    Raises: nothing of its own.
    Source: NumPy reference, ``numpy.log10``.

    >>> log10(np.array([1.0, 1000.0])).round(4).tolist()
    [0.0, 3.0]
    """
    return xp.log10(x)


@elementwise(lambda _y, x: 1.0 / (1.0 + x))
def log1p(xp, x, /):
    """``log(1 + x)``, accurate near 0.

    Shapes: ``x: (*a) -> (*a)``.   Dtypes: floating, complex; integers give floats.
    Derivative: ``1 / (1 + x)``; infinite at -1.
    Raises: nothing of its own.
    Source: NumPy reference, ``numpy.log1p``.

    >>> log1p(np.array([0.0, 1.0])).round(4).tolist()
    [0.0, 0.6931]
    """
    return xp.log1p(x)


# ---------------------------------------------------------------- roots


@elementwise(lambda y, _x: 0.5 / y)
def sqrt(xp, x, /):
    """``x**(1/2)``, the root with the non-negative real part.

    Shapes: ``x: (*a) -> (*a)``.   Dtypes: floating, complex; integers give floats.
    Derivative: ``1 / (2 sqrt(x))``; infinite at 0.
    Raises: nothing of its own.
    Source: NumPy reference, ``numpy.sqrt``.

    >>> sqrt(np.array([4.0, 9.0])).tolist()
    [2.0, 3.0]
    """
    return xp.sqrt(x)


@elementwise(lambda y, _x: (1.0 / 3.0) / (y * y))
def cbrt(xp, x, /):
    """``x**(1/3)``, the real root.

    Shapes: ``x: (*a) -> (*a)``.   Dtypes: real numbers; integers give floats.
    Derivative: ``1 / (3 cbrt(x)**2)``; infinite at 0.
    Raises: TypeError: complex operands.
    Source: NumPy reference, ``numpy.cbrt``.

    >>> cbrt(np.array([8.0, -27.0])).tolist()
    [2.0, -3.0]
    """
    return xp.cbrt(x)


# ---------------------------------------------------------------- logarithms of sums

_LOGARITHMS: dict[Callable[..., Any], Callable[[float], float]] = {exp: math.log, exp2: math.log2}


def _weight(power: Callable[..., Any], z: Any, x: Any, other: Any) -> Any:
    """``power(x - z)``, the share of `x` in the sum with `other`, finite for infinite operands.

    For two arrays ``1 / (1 + power(other - x))``: the digits that large operands have in common are
    not lost. Of two infinities each has half, of two minus infinities neither has a share.
    """
    largest = float(np.finfo(dtype_of(z)).max)
    if isinstance(other, int | float):  # z >= x: where x is infinite this is never inf - inf
        z = clip(z, -largest, largest)
        return where(equal(minimum(x, other), math.inf), 0.5, power(minimum(x, z) - z))
    half, most = largest / 2, 0.99 * _LOGARITHMS[power](largest)
    gap = clip(other, -half, half) - clip(x, -half, half)
    share = 1.0 / (1.0 + power(minimum(gap, most)))
    has_none = logical_or(greater(gap, most), equal(maximum(x, other), -math.inf))
    return where(has_none, 0.0, share)


@elementwise(lambda z, x, y: _weight(exp, z, x, y), lambda z, x, y: _weight(exp, z, y, x))
def logaddexp(xp, x, y, /):
    """``log(e**x + e**y)`` without overflow.

    Shapes: broadcast.   Dtypes: real numbers; integers give floats.
    Derivative: ``exp(x - z)`` and ``exp(y - z)``; where both operands are infinite 1/2 and 1/2, and
    0 and 0 where both are minus infinity.
    Raises: ShapeError: the shapes do not broadcast.
    Source: NumPy reference, ``numpy.logaddexp``.

    >>> logaddexp(np.array([0.0, 1000.0]), 0.0).round(4).tolist()
    [0.6931, 1000.0]
    """
    return xp.logaddexp(x, y)


@elementwise(lambda z, x, y: _weight(exp2, z, x, y), lambda z, x, y: _weight(exp2, z, y, x))
def logaddexp2(xp, x, y, /):
    """``log2(2**x + 2**y)`` without overflow.

    Shapes: broadcast.   Dtypes: real numbers; integers give floats.
    Derivative: ``2**(x - z)`` and ``2**(y - z)``; where both operands are infinite 1/2 and 1/2, and
    0 and 0 where both are minus infinity.
    Raises: ShapeError: the shapes do not broadcast.
    Source: NumPy reference, ``numpy.logaddexp2``.

    >>> logaddexp2(np.array([0.0, 3000.0]), 0.0).tolist()
    [1.0, 3000.0]
    """
    return xp.logaddexp2(x, y)


# ---------------------------------------------------------------- x log y


def _unless_both(x: Any, y: Any, singular: float, harmless: float) -> Any:
    """`y`, but `harmless` where `x` is 0 and `y` is `singular`: the product is taken as 0 there.

    `harmless` is a floating number, so that small integers are none before a logarithm.
    """
    return where(logical_and(equal(x, 0), equal(y, singular)), harmless, y)


def _product_with_log(xp: Any, log: Callable[..., Any], x: Any, y: Any, harmless: float) -> Any:
    """``x * log(y)``, 0 where `x` is 0 and `y` is any number."""
    dtype = xp.result_type(x, y)  # before `where`, to which a Python number alone is a float64
    zero = xp.logical_and(xp.equal(x, 0), xp.equal(y, y))
    return x * log(xp.where(zero, harmless, y).astype(dtype, copy=False))


@elementwise(
    lambda _z, x, y: log(_unless_both(x, y, 0, 1.0)),
    lambda _z, x, y: x / _unless_both(x, y, 0, 1.0),
)
def xlogy(xp, x, y, /):
    """``x * log(y)``, 0 where x = 0.

    Shapes: broadcast.   Dtypes: floating, complex; integers give floats.
    Derivative: ``log(y)`` and ``x / y``; 0 and 0 at (0, 0).
    Raises: ShapeError: the shapes do not broadcast.
    Source: SciPy reference, ``scipy.special.xlogy``.

    >>> xlogy(np.array([0.0, 2.0]), np.array([0.0, 1.0])).tolist()
    [0.0, 0.0]
    """
    return _product_with_log(xp, xp.log, x, y, 1)


@elementwise(
    lambda _z, x, y: log1p(_unless_both(x, y, -1, 0.0)),
    lambda _z, x, y: x / (1.0 + _unless_both(x, y, -1, 0.0)),
)
def xlog1py(xp, x, y, /):
    """``x * log(1 + y)``, 0 where x = 0.

    Shapes: broadcast.   Dtypes: floating, complex; integers give floats.
    Derivative: ``log(1 + y)`` and ``x / (1 + y)``; 0 and 0 at (0, -1).
    Raises: ShapeError: the shapes do not broadcast.
    Source: SciPy reference, ``scipy.special.xlog1py``.

    >>> xlog1py(np.array([0.0, 2.0]), np.array([-1.0, 0.0])).tolist()
    [0.0, 0.0]
    """
    return _product_with_log(xp, xp.log1p, x, y, 0)
