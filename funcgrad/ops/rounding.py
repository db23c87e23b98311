"""Rounding, signs and the spacing of floating-point numbers, element by element.

All but `nextafter` are piecewise constant: their derivative is zero, at the jumps too; that of
`heaviside` by what it is at the jump is 1 there.
"""

from __future__ import annotations

import numpy as np  # noqa: F401  (doctests)

from ..algebra import Selection, elementwise, elementwise_constant
from .logic import equal


@elementwise_constant
def sign(xp, x, /):
    """-1 where ``x < 0``, 1 where ``x > 0``, 0 at 0; real `x`.

    Shapes: ``x: (*a) -> (*a)``.   Dtypes: real numbers; for complex ones see `complex.unit`.
    Derivative: zero; at 0 too.
    Raises: nothing of its own.
    Source: NumPy reference, ``numpy.sign``.

    >>> sign(np.array([-3.0, 0.0, 2.0])).tolist()
    [-1.0, 0.0, 1.0]
    """
    return xp.sign(x)


@elementwise_constant
def floor(xp, x, /):
    """The largest integer that is not above `x`.

    Shapes: ``x: (*a) -> (*a)``.   Dtypes: real numbers.
    Derivative: zero; at integers too.
    Raises: nothing of its own.
    Source: NumPy reference, ``numpy.floor``.

    >>> floor(np.array([-1.5, 1.5])).tolist()
    [-2.0, 1.0]
    """
    return xp.floor(x)


@elementwise_constant
def ceil(xp, x, /):
    """The smallest integer that is not below `x`.

    Shapes: ``x: (*a) -> (*a)``.   Dtypes: real numbers.
    Derivative: zero; at integers too.
    Raises: nothing of its own.
    Source: NumPy reference, ``numpy.ceil``.

    >>> ceil(np.array([-1.5, 1.5])).tolist()
    [-1.0, 2.0]
    """
    return xp.ceil(x)


@elementwise_constant
def trunc(xp, x, /):
    """The integer part of `x`: rounded towards 0.

    Shapes: ``x: (*a) -> (*a)``.   Dtypes: real numbers.
    Derivative: zero; at integers too.
    Raises: nothing of its own.
    Source: NumPy reference, ``numpy.trunc``.

    >>> trunc(np.array([-1.5, 1.5])).tolist()
    [-1.0, 1.0]
    """
    return xp.trunc(x)


@elementwise_constant
def rint(xp, x, /):
    """The integer nearest to `x`; halves go to the even one.

    Shapes: ``x: (*a) -> (*a)``.   Dtypes: numbers; integers give floats.
    Derivative: zero; at halves too.
    Raises: nothing of its own.
    Source: NumPy reference, ``numpy.rint``.

    >>> rint(np.array([0.5, 1.5, 1.7])).tolist()
    [0.0, 2.0, 2.0]
    """
    return xp.rint(x)


@elementwise_constant
def signbit(xp, x, /):
    """Whether the sign bit of `x` is set: ``x < 0``, or ``x`` is -0.

    Shapes: ``x: (*a) -> (*a)``.   Dtypes: real numbers; gives bool.
    Derivative: zero; at 0 too.
    Raises: nothing of its own.
    Source: NumPy reference, ``numpy.signbit``.

    >>> signbit(np.array([-1.0, -0.0, 0.0])).tolist()
    [True, True, False]
    """
    return xp.signbit(x)


@elementwise(None, lambda _z, x, _y: Selection(equal(x, 0)))
def heaviside(xp, x, y, /):
    """0 where ``x < 0``, 1 where ``x > 0``, `y` where ``x == 0``.

    Shapes: broadcast.   Dtypes: real numbers; integers give floats.
    Derivative: by x zero, at 0 too; by y 1 where ``x == 0``, else 0.
    Raises: ShapeError: the shapes do not broadcast.
    Source: NumPy reference, ``numpy.heaviside``.

    >>> heaviside(np.array([-1.0, 0.0, 2.0]), 0.5).tolist()
    [0.0, 0.5, 1.0]
    """
    return xp.heaviside(x, y)


@elementwise_constant
def spacing(xp, x, /):
    """The distance from `x` to the next floating-point number away from 0.

    Shapes: ``x: (*a) -> (*a)``.   Dtypes: real numbers; integers give floats.
    Derivative: zero; at powers of 2 too.
    Raises: nothing of its own.
    Source: NumPy reference, ``numpy.spacing``; here infinite at the largest number.

    >>> bool(spacing(np.float64(1.0)) == np.finfo(np.float64).eps)
    True
    """
    return xp.nextafter(x, xp.copysign(xp.inf, x)) - x  # CuPy has no `spacing`


@elementwise(1, None)
def nextafter(xp, x, y, /):
    """The floating-point number that follows `x` in the direction of `y`.

    Shapes: broadcast.   Dtypes: real numbers; integers give floats.
    Derivative: 1 and none: it is `x` up to rounding.
    Raises: ShapeError: the shapes do not broadcast.
    Source: NumPy reference, ``numpy.nextafter``.

    >>> bool(nextafter(np.float64(1.0), 2.0) > 1.0)
    True
    """
    return xp.nextafter(x, y)


@elementwise_constant
def binary_exponent(xp, x, /):
    """The integer `e` for which ``x / 2**e`` lies in [1/2, 1); 0 for 0.

    Shapes: ``x: (*a) -> (*a)``.   Dtypes: real numbers; gives int32.
    Derivative: zero; at powers of two too.
    Raises: nothing of its own.
    Source: NumPy reference, ``numpy.frexp``.

    >>> binary_exponent(np.array([0.3, 1.0, 6.0])).tolist()
    [-1, 1, 3]
    """
    return xp.frexp(x)[1]
