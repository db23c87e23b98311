"""Trigonometric and hyperbolic functions, element by element."""

from __future__ import annotations

import math
from typing import Any

import numpy as np  # noqa: F401  (doctests)

from ..algebra import elementwise
from ..core import dtype_of
from ..half import in_single
from .arithmetic import divide, hypot
from .exponential import sqrt
from .logic import equal, less
from .select import where


@elementwise(lambda _y, x: cos(x))
def sin(xp, x, /):
    """``sin(x)``, `x` in radians.

    Shapes: ``x: (*a) -> (*a)``.   Dtypes: floating, complex; integers give floats.
    Derivative: ``cos(x)``; smooth everywhere.
    Raises: nothing of its own.
    Source: NumPy reference, ``numpy.sin``.

    >>> sin(np.array([0.0, np.pi / 2])).tolist()
    [0.0, 1.0]
    """
    return xp.sin(x)


@elementwise(lambda _y, x: -sin(x))
def cos(xp, x, /):
    """``cos(x)``, `x` in radians.

    Shapes: ``x: (*a) -> (*a)``.   Dtypes: floating, complex; integers give floats.
    Derivative: ``-sin(x)``; smooth everywhere.
    Raises: nothing of its own.
    Source: NumPy reference, ``numpy.cos``.

    >>> cos(np.array([0.0])).tolist()
    [1.0]
    """
    return xp.cos(x)


@elementwise(lambda y, _x: 1 + y * y)
def tan(xp, x, /):
    """``tan(x)``, `x` in radians.

    Shapes: ``x: (*a) -> (*a)``.   Dtypes: floating, complex; integers give floats.
    Derivative: ``1 + tan(x)**2``; smooth between its poles.
    Raises: nothing of its own.
    Source: NumPy reference, ``numpy.tan``.

    >>> tan(np.array([0.0, np.pi / 4])).round(4).tolist()
    [0.0, 1.0]
    """
    return xp.tan(x)


@elementwise(math.pi / 180.0)
def deg2rad(xp, x, /):
    """``x * pi / 180``: degrees in radians.

    Shapes: ``x: (*a) -> (*a)``.   Dtypes: real numbers; integers give floats.
    Derivative: ``pi / 180``; smooth everywhere.
    Raises: TypeError: complex operands.
    Source: NumPy reference, ``numpy.deg2rad``.

    >>> deg2rad(np.array([0.0, 180.0])).round(4).tolist()
    [0.0, 3.1416]
    """
    return xp.deg2rad(x)


@elementwise(180.0 / math.pi)
def rad2deg(xp, x, /):
    """``x * 180 / pi``: radians in degrees.

    Shapes: ``x: (*a) -> (*a)``.   Dtypes: real numbers; integers give floats.
    Derivative: ``180 / pi``; smooth everywhere.
    Raises: TypeError: complex operands.
    Source: NumPy reference, ``numpy.rad2deg``.

    >>> rad2deg(np.array([0.0, np.pi])).tolist()
    [0.0, 180.0]
    """
    return xp.rad2deg(x)


# ---------------------------------------------------------------- inverses


def _sided(root: Any, like: Any) -> Any:
    """`root` or its negative, whichever lies on the side of `like`.

    On the cut of a complex function the sign of a zero says which side is meant. ``1 - x`` loses it;
    the function itself does not.
    """
    return where(less((root * like.conj()).real, 0.0), -root, root)


@elementwise(lambda _y, x: -2.0 * x)
def one_less_square(xp, x, /):
    """``1 - x**2``, accurate near 1 and -1.

    Shapes: ``x: (*a) -> (*a)``.   Dtypes: all numbers.
    Derivative: ``-2 x``; that of a product would be infinity times 0 behind a root at 1; smooth
    everywhere.
    Raises: nothing of its own.
    Source: ``(1 - x) (1 + x)``.

    >>> one_less_square(np.array([0.5, 1.0])).tolist()
    [0.75, 0.0]
    """
    return (1 - x) * (1 + x)


def _circle(x: Any) -> Any:
    """``sqrt(1 - x**2)``, accurate near 1 and -1."""
    root = sqrt(one_less_square(x))
    return _sided(root, cos(arcsin(x))) if dtype_of(x).kind == "c" else root


@elementwise(lambda _y, x: 1.0 / _circle(x))
def arcsin(xp, x, /):
    """The angle in [-pi/2, pi/2] with sine `x`.

    Shapes: ``x: (*a) -> (*a)``.   Dtypes: floating, complex; integers give floats.
    Derivative: ``1 / sqrt(1 - x**2)``; infinite at 1 and -1.
    Raises: nothing of its own.
    Source: NumPy reference, ``numpy.arcsin``.

    >>> arcsin(np.array([0.0, 1.0])).round(4).tolist()
    [0.0, 1.5708]
    """
    return xp.arcsin(x)


@elementwise(lambda _y, x: -1.0 / _circle(x))
def arccos(xp, x, /):
    """The angle in [0, pi] with cosine `x`.

    Shapes: ``x: (*a) -> (*a)``.   Dtypes: floating, complex; integers give floats.
    Derivative: ``-1 / sqrt(1 - x**2)``; minus infinity at 1 and -1.
    Raises: nothing of its own.
    Source: NumPy reference, ``numpy.arccos``.

    >>> arccos(np.array([0.0, 1.0])).round(4).tolist()
    [1.5708, 0.0]
    """
    return xp.arccos(x)


@elementwise(lambda _y, x: 1.0 / (1 + x * x))
def arctan(xp, x, /):
    """The angle in [-pi/2, pi/2] with tangent `x`.

    Shapes: ``x: (*a) -> (*a)``.   Dtypes: floating, complex; integers give floats.
    Derivative: ``1 / (1 + x**2)``; smooth everywhere on the real line.
    Raises: nothing of its own.
    Source: NumPy reference, ``numpy.arctan``.

    >>> arctan(np.array([0.0, 1.0])).round(4).tolist()
    [0.0, 0.7854]
    """
    return xp.arctan(x)


def _over_square(x: Any, y: Any, other: Any) -> Any:
    """``x / (x**2 + y**2)`` without overflow, 0 at the origin; `other` is `x` or `y`."""
    r = hypot(x, y)
    r = where(equal(r, 0), 1.0, r)
    return divide(divide(other, r), r)


@elementwise(lambda _z, y, x: _over_square(y, x, x), lambda _z, y, x: -_over_square(y, x, y))
def arctan2(xp, y, x, /):
    """The angle of the point (x, y) from the x-axis, in [-pi, pi].

    Shapes: broadcast.   Dtypes: real numbers; integers give floats.
    Derivative: ``x / (x**2 + y**2)`` and ``-y / (x**2 + y**2)``; 0 and 0 at the origin.
    Raises: ShapeError: the shapes do not broadcast.
    Source: NumPy reference, ``numpy.arctan2``.

    >>> arctan2(np.array([0.0, 1.0]), 1.0).round(4).tolist()
    [0.0, 0.7854]
    """
    return xp.arctan2(y, x)


# ---------------------------------------------------------------- hyperbolic functions


@elementwise(lambda _y, x: cosh(x))
def sinh(xp, x, /):
    """``(e**x - e**-x) / 2``.

    Shapes: ``x: (*a) -> (*a)``.   Dtypes: floating, complex; integers give floats.
    Derivative: ``cosh(x)``; smooth everywhere.
    Raises: nothing of its own.
    Source: NumPy reference, ``numpy.sinh``.

    >>> sinh(np.array([0.0, 1.0])).round(4).tolist()
    [0.0, 1.1752]
    """
    return xp.sinh(x)


@elementwise(lambda _y, x: sinh(x))
def cosh(xp, x, /):
    """``(e**x + e**-x) / 2``.

    Shapes: ``x: (*a) -> (*a)``.   Dtypes: floating, complex; integers give floats.
    Derivative: ``sinh(x)``; smooth everywhere.
    Raises: nothing of its own.
    Source: NumPy reference, ``numpy.cosh``.

    >>> cosh(np.array([0.0, 1.0])).round(4).tolist()
    [1.0, 1.5431]
    """
    return xp.cosh(x)


@elementwise(lambda y, _x: 1 - y * y)
def tanh(xp, x, /):
    """``tanh(x)``.

    Shapes: ``x: (*a) -> (*a)``.   Dtypes: floating, complex; integers give floats.
    Derivative: ``1 - tanh(x)**2``, within rounding of 1, so 0 beyond x = 19, where that of the same
    function ``2 expit(2 x) - 1`` has its digits; smooth everywhere.
    Raises: nothing of its own.
    Source: NumPy reference, ``numpy.tanh``.

    >>> tanh(np.array([0.0])).tolist()
    [0.0]
    """
    return xp.tanh(x)


def _hyperbola(x: Any) -> Any:
    """``sqrt(1 + x**2)``, for real `x` without overflow."""
    if dtype_of(x).kind != "c":
        return hypot(x, 1.0)
    return _sided(sqrt(1 + x * x), cosh(arcsinh(x)))


def _over_upper_hyperbola(x: Any) -> Any:
    """``1 / sqrt(x**2 - 1)``, without overflow; of real numbers with slopes that are infinite at 1."""
    left, right = sqrt(x - 1), sqrt(x + 1)
    if dtype_of(x).kind != "c":
        return (1.0 / left) * (1.0 / right)
    return 1.0 / _sided(left * right, sinh(arccosh(x)))


@elementwise(lambda _y, x: 1.0 / _hyperbola(x))
def arcsinh(xp, x, /):
    """The number with hyperbolic sine `x`.

    Shapes: ``x: (*a) -> (*a)``.   Dtypes: floating, complex; integers give floats.
    Derivative: ``1 / sqrt(1 + x**2)``; smooth everywhere on the real line.
    Raises: nothing of its own.
    Source: NumPy reference, ``numpy.arcsinh``.

    >>> arcsinh(np.array([0.0, 1.0])).round(4).tolist()
    [0.0, 0.8814]
    """
    return xp.arcsinh(x)


@elementwise(lambda _y, x: _over_upper_hyperbola(x))
def arccosh(xp, x, /):
    """The number >= 0 with hyperbolic cosine `x`.

    Shapes: ``x: (*a) -> (*a)``.   Dtypes: floating, complex; integers give floats.
    Derivative: ``1 / (sqrt(x - 1) sqrt(x + 1))``, which is right on the whole complex plane;
    infinite at 1.
    Raises: nothing of its own.
    Source: NumPy reference, ``numpy.arccosh``.

    >>> arccosh(np.array([1.0, 2.0])).round(4).tolist()
    [0.0, 1.317]
    """
    return xp.arccosh(x)


@elementwise(lambda _y, x: 1.0 / one_less_square(x))
def arctanh(xp, x, /):
    """The number with hyperbolic tangent `x`.

    Shapes: ``x: (*a) -> (*a)``.   Dtypes: floating, complex; integers give floats.
    Derivative: ``1 / (1 - x**2)``; infinite at 1 and -1.
    Raises: nothing of its own.
    Source: NumPy reference, ``numpy.arctanh``.

    >>> arctanh(np.array([0.0, 0.5])).round(4).tolist()
    [0.0, 0.5493]
    """
    return xp.arctanh(x)


# ---------------------------------------------------------------- sinc


@elementwise(lambda _y, x: sinc_derivative(x, order=1))
@in_single
def sinc(xp, x, /):
    """``sin(pi x) / (pi x)``, 1 at 0.

    Shapes: ``x: (*a) -> (*a)``.   Dtypes: floating, complex; integers give floats; halves are computed
    in single precision, as ``pi x`` rounded to a half has lost its place in the period.
    Derivative: `sinc_derivative`, 0 at 0; smooth everywhere.
    Raises: nothing of its own.
    Source: NumPy reference, ``numpy.sinc``.

    >>> sinc(np.array([0.0, 0.5])).round(4).tolist()
    [1.0, 0.6366]
    """
    return xp.sinc(x)


def _sinc_series(x: Any, order: int) -> Any:
    """The derivative by its power series, to rounding error for ``|x| <= 1``."""
    odd = order % 2
    square = x * x
    total: Any = 0.0
    for p in range(28 + odd, -1, -2):
        sign = -1 if (order + p) % 4 else 1
        total = total * square + sign * math.pi ** (order + p) / (
            (order + p + 1) * math.factorial(p)
        )
    return total * x if odd else total


def _sinc_recurrence(xp: Any, x: Any, order: int) -> Any:
    """The derivative for ``|x| >= 1``, from those of lower order.

    ``x sinc(x) = sin(pi x) / pi``, differentiated `order` times.
    """
    waves = (xp.sin(math.pi * x), xp.cos(math.pi * x))
    y = waves[0] / (math.pi * x)
    for m in range(1, order + 1):
        sign = -1 if m % 4 in (2, 3) else 1
        y = (sign * math.pi ** (m - 1) * waves[m % 2] - m * y) / x
    return y


@elementwise(lambda _y, x, *, order: sinc_derivative(x, order=order + 1))
def sinc_derivative(xp, x, /, *, order):
    """The derivative of `sinc` of the given order: ``d^n/dx^n sin(pi x) / (pi x)``.

    Shapes: ``x: (*a) -> (*a)``.   Dtypes: floating, complex.
    Derivative: that of the next order; smooth everywhere.
    Raises: nothing of its own.
    Source: the power series of sin, and Leibniz' rule applied to ``x sinc(x)``.

    >>> sinc_derivative(np.array([0.0, 1.0]), order=1).round(4).tolist()
    [0.0, -1.0]
    """
    near = xp.abs(x) < 1.0
    inside = _sinc_series(xp.where(near, x, 0.0), order)
    outside = _sinc_recurrence(xp, xp.where(near, 1.0, x), order)
    return xp.where(near, inside, outside)
