"""Exponentials, logarithms, roots and the logistic function, element by element."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..algebra import elementwise
from ..choose import choose_in
from ..core import aval_of
from ..faster import faster_in
from .from_scipy import real_floating
from .logic import equal, isinf, less, logical_and
from .select import minimum, where

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


def bounded_exp(x: Any) -> Any:
    """``exp(x)``, never infinite: a factor of what is 0.

    >>> float(0.0 * bounded_exp(1e3))
    0.0
    """
    return exp(minimum(x, 0.9 * float(np.log(np.finfo(aval_of(x).dtype).max))))


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


def _log1p(xp: Any, x: Any) -> Any:
    """``log(1 + x)``; NumPy takes the real part of a complex one from ``|1 + x|``, where it is lost."""
    y = xp.log1p(x)
    if not isinstance(x, complex) and (not hasattr(x, "dtype") or x.dtype.kind != "c"):
        return y
    near = xp.maximum(xp.abs(x.real), xp.abs(x.imag)) < 0.5
    a, b = xp.where(near, x.real, 0.0), xp.where(near, x.imag, 0.0)
    true = 0.5 * xp.log1p(a * (2.0 + a) + b * b)
    return (y - xp.where(near, y.real, 0.0)) - xp.where(near, -true, 0.0)  # -0 stays -0


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
    return _log1p(xp, x)


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


# ---------------------------------------------------------------- the logistic function


def _logistic_bend(y: Any, x: Any) -> Any:
    """``-y tanh(x / 2)``, of which neither a small nor a large `x` loses digits."""
    below = less(x, 0)
    size = where(below, -x, x)
    bend = y * (expm1(-size) * expit(size))
    return where(below, -bend, bend)


@elementwise(_logistic_bend)
def expit_slope(xp, x, /):
    """``expit(x) expit(-x)``, the derivative of `expit`.

    Shapes: ``x: (*a) -> (*a)``.   Dtypes: floating; integers give floats.
    Derivative: ``-y tanh(x / 2)``, which has its digits near 0 and far out; smooth everywhere.
    Raises: ArgumentError: complex numbers.
    Source: DLMF 4.35.

    >>> expit_slope(np.array([0.0, -1000.0])).tolist()
    [0.25, 0.0]
    """
    small = xp.exp(-xp.abs(real_floating(xp, "expit_slope", x)))
    whole = 1.0 + small
    return small / (whole * whole)


@elementwise(lambda _y, x: expit_slope(x))
def expit(xp, x, /):
    """``1 / (1 + e**-x)``, the logistic sigmoid, without overflow.

    Shapes: ``x: (*a) -> (*a)``.   Dtypes: floating; integers give floats.
    Derivative: ``expit(x) expit(-x)``, which has its digits however far out; smooth everywhere.
    Raises: ArgumentError: complex numbers.
    Source: SciPy reference, ``scipy.special.expit``.

    >>> expit(np.array([0.0, -1000.0])).tolist()
    [0.5, 0.0]
    """
    x = real_floating(xp, "expit", x)
    small = xp.exp(-xp.abs(x))
    return choose_in(xp, xp.less(x, 0), small, 1.0) / (1.0 + small)


@elementwise(lambda y, _x: y * (1 - y))
def sigmoid(xp, x, /):
    """`expit` for networks: its derivative keeps and reads the result alone.

    Shapes: ``x: (*a) -> (*a)``.   Dtypes: floating; integers give floats.
    Derivative: ``y * (1 - y)``, within rounding of 1, so 0 beyond x = 37; smooth everywhere.
    Raises: ArgumentError: complex numbers.
    Source: SciPy reference, ``scipy.special.expit``.

    >>> sigmoid(np.array([0.0, -1000.0])).tolist()
    [0.5, 0.0]
    """
    return expit.impl(xp, x)


@elementwise(lambda _y, x: expit(-x))
def log_expit(xp, x, /):
    """``log(expit(x))`` without overflow.

    Shapes: ``x: (*a) -> (*a)``.   Dtypes: floating; integers give floats.
    Derivative: ``expit(-x)``; smooth everywhere.
    Raises: ArgumentError: complex numbers.
    Source: SciPy reference, ``scipy.special.log_expit``.

    >>> log_expit(np.array([0.0, -1000.0])).round(4).tolist()
    [-0.6931, -1000.0]
    """
    x = real_floating(xp, "log_expit", x)
    return xp.minimum(x, 0.0) - xp.log1p(xp.exp(-xp.abs(x)))


# ---------------------------------------------------------------- logarithms of sums


def _share(x: Any, other: Any, unit: float) -> Any:
    """The share of `x` in the sum with `other`, for a difference that counts in `unit` of base e.

    Of two infinities each has half, of two minus infinities neither has a share.
    """
    if other.__class__ is float and math.isfinite(other):
        return expit((x - other) * unit)
    endless = logical_and(equal(x, other), isinf(x))
    share = expit((where(endless, 0.0, x) - where(endless, 0.0, other)) * unit)
    return where(logical_and(endless, less(x, 0)), 0.0, share)


@elementwise(lambda _z, x, y: _share(x, y, 1.0), lambda _z, x, y: _share(y, x, 1.0))
def logaddexp(xp, x, y, /):
    """``log(e**x + e**y)`` without overflow.

    Shapes: broadcast.   Dtypes: real numbers; integers give floats.
    Derivative: ``expit(x - y)`` and ``expit(y - x)``; where both operands are infinite 1/2 and 1/2, and
    0 and 0 where both are minus infinity.
    Raises: ShapeError: the shapes do not broadcast.
    Source: NumPy reference, ``numpy.logaddexp``.

    >>> logaddexp(np.array([0.0, 1000.0]), 0.0).round(4).tolist()
    [0.6931, 1000.0]
    """
    return faster_in(xp, "logaddexp", x, y)


@elementwise(lambda _z, x, y: _share(x, y, LN2), lambda _z, x, y: _share(y, x, LN2))
def logaddexp2(xp, x, y, /):
    """``log2(2**x + 2**y)`` without overflow.

    Shapes: broadcast.   Dtypes: real numbers; integers give floats.
    Derivative: ``2**(x - z)`` and ``2**(y - z)`` of the result `z`; where both operands are infinite
    1/2 and 1/2, and 0 and 0 where both are minus infinity.
    Raises: ShapeError: the shapes do not broadcast.
    Source: NumPy reference, ``numpy.logaddexp2``.

    >>> logaddexp2(np.array([0.0, 3000.0]), 0.0).tolist()
    [1.0, 3000.0]
    """
    return xp.logaddexp2(x, y)


# ---------------------------------------------------------------- x log y


def unless_both(x: Any, y: Any, singular: float, harmless: float) -> Any:
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
    lambda _z, x, y: log(unless_both(x, y, 0, 1.0)),
    lambda _z, x, y: x / unless_both(x, y, 0, 1.0),
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
    lambda _z, x, y: log1p(unless_both(x, y, -1, 0.0)),
    lambda _z, x, y: x / (1.0 + unless_both(x, y, -1, 0.0)),
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
    return _product_with_log(xp, lambda t: _log1p(xp, t), x, y, 0)
