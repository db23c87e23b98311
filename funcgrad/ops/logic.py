"""Comparisons, truth values and bits, element by element: piecewise constant, derivative zero."""

from __future__ import annotations

import numpy as np  # noqa: F401  (doctests)

from ..algebra import elementwise_constant
from ..core import dtype_of

# ---------------------------------------------------------------- comparisons


@elementwise_constant
def equal(xp, x, y, /):
    """``x == y``.

    Shapes: broadcast.   Dtypes: all; gives bool.
    Derivative: zero; at a jump too.
    Raises: ShapeError: the shapes do not broadcast.
    Source: NumPy reference, ``numpy.equal``.

    >>> equal(np.array([1.0, 2.0, 3.0]), 2.0).tolist()
    [False, True, False]
    """
    return x == y if dtype_of(x).names else xp.equal(x, y)  # keys have no ufunc


@elementwise_constant
def not_equal(xp, x, y, /):
    """``x != y``.

    Shapes: broadcast.   Dtypes: all; gives bool.
    Derivative: zero; at a jump too.
    Raises: ShapeError: the shapes do not broadcast.
    Source: NumPy reference, ``numpy.not_equal``.

    >>> not_equal(np.array([1.0, 2.0, 3.0]), 2.0).tolist()
    [True, False, True]
    """
    return x != y if dtype_of(x).names else xp.not_equal(x, y)


@elementwise_constant
def less(xp, x, y, /):
    """``x < y``.

    Shapes: broadcast.   Dtypes: all; gives bool.
    Derivative: zero; at a jump too.
    Raises: ShapeError: the shapes do not broadcast.
    Source: NumPy reference, ``numpy.less``.

    >>> less(np.array([1.0, 2.0, 3.0]), 2.0).tolist()
    [True, False, False]
    """
    return xp.less(x, y)


@elementwise_constant
def less_equal(xp, x, y, /):
    """``x <= y``.

    Shapes: broadcast.   Dtypes: all; gives bool.
    Derivative: zero; at a jump too.
    Raises: ShapeError: the shapes do not broadcast.
    Source: NumPy reference, ``numpy.less_equal``.

    >>> less_equal(np.array([1.0, 2.0, 3.0]), 2.0).tolist()
    [True, True, False]
    """
    return xp.less_equal(x, y)


@elementwise_constant
def greater(xp, x, y, /):
    """``x > y``.

    Shapes: broadcast.   Dtypes: all; gives bool.
    Derivative: zero; at a jump too.
    Raises: ShapeError: the shapes do not broadcast.
    Source: NumPy reference, ``numpy.greater``.

    >>> greater(np.array([1.0, 2.0, 3.0]), 2.0).tolist()
    [False, False, True]
    """
    return xp.greater(x, y)


@elementwise_constant
def greater_equal(xp, x, y, /):
    """``x >= y``.

    Shapes: broadcast.   Dtypes: all; gives bool.
    Derivative: zero; at a jump too.
    Raises: ShapeError: the shapes do not broadcast.
    Source: NumPy reference, ``numpy.greater_equal``.

    >>> greater_equal(np.array([1.0, 2.0, 3.0]), 2.0).tolist()
    [False, True, True]
    """
    return xp.greater_equal(x, y)


@elementwise_constant
def isnan(xp, x, /):
    """Whether `x` is not a number.

    Shapes: ``x: (*a) -> (*a)``.   Dtypes: numbers; gives bool.
    Derivative: zero; at a jump too.
    Raises: nothing of its own.
    Source: NumPy reference, ``numpy.isnan``.

    >>> isnan(np.array([1.0, np.inf, np.nan])).tolist()
    [False, False, True]
    """
    return xp.isnan(x)


@elementwise_constant
def isinf(xp, x, /):
    """Whether `x` is infinite.

    Shapes: ``x: (*a) -> (*a)``.   Dtypes: numbers; gives bool.
    Derivative: zero; at a jump too.
    Raises: nothing of its own.
    Source: NumPy reference, ``numpy.isinf``.

    >>> isinf(np.array([1.0, np.inf, np.nan])).tolist()
    [False, True, False]
    """
    return xp.isinf(x)


@elementwise_constant
def isfinite(xp, x, /):
    """Whether `x` is neither infinite nor not a number.

    Shapes: ``x: (*a) -> (*a)``.   Dtypes: numbers; gives bool.
    Derivative: zero; at a jump too.
    Raises: nothing of its own.
    Source: NumPy reference, ``numpy.isfinite``.

    >>> isfinite(np.array([1.0, np.inf, np.nan])).tolist()
    [True, False, False]
    """
    return xp.isfinite(x)


# ---------------------------------------------------------------- truth values


@elementwise_constant
def logical_and(xp, x, y, /):
    """``x and y``; a number counts as true where it is not 0.

    Shapes: broadcast.   Dtypes: all; gives bool.
    Derivative: zero; at a jump too.
    Raises: ShapeError: the shapes do not broadcast.
    Source: NumPy reference, ``numpy.logical_and``.

    >>> logical_and(np.array([0, 0, 2]), np.array([False, True, True])).tolist()
    [False, False, True]
    """
    return xp.logical_and(x, y)


@elementwise_constant
def logical_or(xp, x, y, /):
    """``x or y``; a number counts as true where it is not 0.

    Shapes: broadcast.   Dtypes: all; gives bool.
    Derivative: zero; at a jump too.
    Raises: ShapeError: the shapes do not broadcast.
    Source: NumPy reference, ``numpy.logical_or``.

    >>> logical_or(np.array([0, 0, 2]), np.array([False, True, True])).tolist()
    [False, True, True]
    """
    return xp.logical_or(x, y)


@elementwise_constant
def logical_xor(xp, x, y, /):
    """``x xor y``; a number counts as true where it is not 0.

    Shapes: broadcast.   Dtypes: all; gives bool.
    Derivative: zero; at a jump too.
    Raises: ShapeError: the shapes do not broadcast.
    Source: NumPy reference, ``numpy.logical_xor``.

    >>> logical_xor(np.array([0, 0, 2]), np.array([False, True, True])).tolist()
    [False, True, False]
    """
    return xp.logical_xor(x, y)


@elementwise_constant
def logical_not(xp, x, /):
    """``not x``; a number counts as true where it is not 0.

    Shapes: ``x: (*a) -> (*a)``.   Dtypes: all; gives bool.
    Derivative: zero; at a jump too.
    Raises: nothing of its own.
    Source: NumPy reference, ``numpy.logical_not``.

    >>> logical_not(np.array([0.0, 0.5])).tolist()
    [True, False]
    """
    return xp.logical_not(x)


# ---------------------------------------------------------------- bits


@elementwise_constant
def bitwise_and(xp, x, y, /):
    """``x & y``, bit by bit.

    Shapes: broadcast.   Dtypes: integers, bool.
    Derivative: none: the operands are integers.
    Raises: ShapeError: the shapes do not broadcast.
    Source: NumPy reference, ``numpy.bitwise_and``.

    >>> bitwise_and(np.array([1, 3]), 2).tolist()
    [0, 2]
    """
    return xp.bitwise_and(x, y)


@elementwise_constant
def bitwise_or(xp, x, y, /):
    """``x | y``, bit by bit.

    Shapes: broadcast.   Dtypes: integers, bool.
    Derivative: none: the operands are integers.
    Raises: ShapeError: the shapes do not broadcast.
    Source: NumPy reference, ``numpy.bitwise_or``.

    >>> bitwise_or(np.array([1, 3]), 2).tolist()
    [3, 3]
    """
    return xp.bitwise_or(x, y)


@elementwise_constant
def bitwise_xor(xp, x, y, /):
    """``x ^ y``, bit by bit.

    Shapes: broadcast.   Dtypes: integers, bool.
    Derivative: none: the operands are integers.
    Raises: ShapeError: the shapes do not broadcast.
    Source: NumPy reference, ``numpy.bitwise_xor``.

    >>> bitwise_xor(np.array([1, 3]), 2).tolist()
    [3, 1]
    """
    return xp.bitwise_xor(x, y)


@elementwise_constant
def invert(xp, x, /):
    """``~x``, bit by bit.

    Shapes: ``x: (*a) -> (*a)``.   Dtypes: integers, bool.
    Derivative: none: the operands are integers.
    Raises: TypeError: floating operands.
    Source: NumPy reference, ``numpy.invert``.

    >>> invert(np.array([0, 5])).tolist()
    [-1, -6]
    """
    return xp.invert(x)


@elementwise_constant
def left_shift(xp, x, y, /):
    """``x << y``: ``x * 2**y``.

    Shapes: broadcast.   Dtypes: integers.
    Derivative: none: the operands are integers.
    Raises: ShapeError: the shapes do not broadcast.
    Source: NumPy reference, ``numpy.left_shift``.

    >>> left_shift(np.array([1, 3]), 2).tolist()
    [4, 12]
    """
    return xp.left_shift(x, y)


@elementwise_constant
def right_shift(xp, x, y, /):
    """``x >> y``: ``floor(x / 2**y)``.

    Shapes: broadcast.   Dtypes: integers.
    Derivative: none: the operands are integers.
    Raises: ShapeError: the shapes do not broadcast.
    Source: NumPy reference, ``numpy.right_shift``.

    >>> right_shift(np.array([4, 13]), 2).tolist()
    [1, 3]
    """
    return xp.right_shift(x, y)
