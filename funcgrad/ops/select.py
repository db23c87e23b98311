"""Choosing between values, element by element: where, maximum, minimum, clip.

NOTE [Selections] What is not taken passes nothing on, an infinite cotangent neither: the gradient of
``sqrt(maximum(x, 0))`` at -1 is 0, not ``inf * 0``. So the coefficients here are `Selection`s.
"""

from __future__ import annotations

import numpy as np

from ..algebra import (
    Elementwise,
    Selection,
    broadcast_shapes,
    elementwise,
    elementwise_constant,
    linear,
)
from ..choose import choose_in
from ..core import Aval
from .logic import (
    equal,
    greater,
    greater_equal,
    isfinite,
    isnan,
    less,
    less_equal,
    logical_and,
    logical_or,
)


def _where_aval(c: Aval, x: Aval, y: Aval) -> Aval:
    shape = broadcast_shapes("where", [c.shape, x.shape, y.shape])
    return Aval(shape, np.result_type(x.promoting(), y.promoting()))


@linear(
    None,
    lambda ct, c, _x, _y: where(c, ct, 0.0),
    lambda ct, c, _x, _y: where(c, 0.0, ct),
    aval=_where_aval,
    batch=Elementwise.batch,
)
def where(xp, condition, x, y, /):
    """`x` where `condition` holds, `y` elsewhere.

    Shapes: broadcast.   Dtypes: all; `condition` is bool, or true where it is not 0.
    Derivative: linear in `x` and `y`: each gets the cotangent where it was chosen, exact zeros
    elsewhere; none by `condition`.
    Raises: ShapeError: the shapes do not broadcast.
    Source: NumPy reference, ``numpy.where``.

    >>> where(np.array([True, False]), np.array([1.0, 2.0]), 0.0).tolist()
    [1.0, 0.0]
    """
    return choose_in(xp, condition, x, y)


# ---------------------------------------------------------------- maximum, minimum, clip


@elementwise(
    lambda _z, x, y: Selection(greater_equal(x, y), halved=equal(x, y)),
    lambda _z, x, y: Selection(less_equal(x, y), halved=equal(x, y)),
)
def maximum(xp, x, y, /):
    """``max(x, y)``; NaN where either is.

    Shapes: broadcast.   Dtypes: real numbers.
    Derivative: that of the larger operand; ties are split, 1/2 each; zero at NaN.
    Raises: ShapeError: the shapes do not broadcast.
    Source: NumPy reference, ``numpy.maximum``.

    >>> maximum(np.array([1.0, 5.0]), 3.0).tolist()
    [3.0, 5.0]
    """
    return xp.maximum(x, y)


@elementwise(
    lambda _z, x, y: Selection(less_equal(x, y), halved=equal(x, y)),
    lambda _z, x, y: Selection(greater_equal(x, y), halved=equal(x, y)),
)
def minimum(xp, x, y, /):
    """``min(x, y)``; NaN where either is.

    Shapes: broadcast.   Dtypes: real numbers.
    Derivative: that of the smaller operand; ties are split, 1/2 each; zero at NaN.
    Raises: ShapeError: the shapes do not broadcast.
    Source: NumPy reference, ``numpy.minimum``.

    >>> minimum(np.array([1.0, 5.0]), 3.0).tolist()
    [1.0, 3.0]
    """
    return xp.minimum(x, y)


@elementwise(
    lambda _z, x, y: Selection(logical_or(isnan(y), greater_equal(x, y)), halved=equal(x, y)),
    lambda _z, x, y: Selection(logical_or(isnan(x), less_equal(x, y)), halved=equal(x, y)),
)
def fmax(xp, x, y, /):
    """``max(x, y)``; the other operand where one is NaN.

    Shapes: broadcast.   Dtypes: real numbers.
    Derivative: that of the operand taken; ties are split, 1/2 each.
    Raises: ShapeError: the shapes do not broadcast.
    Source: NumPy reference, ``numpy.fmax``.

    >>> fmax(np.array([1.0, np.nan]), 0.0).tolist()
    [1.0, 0.0]
    """
    return xp.fmax(x, y)


@elementwise(
    lambda _z, x, y: Selection(logical_or(isnan(y), less_equal(x, y)), halved=equal(x, y)),
    lambda _z, x, y: Selection(logical_or(isnan(x), greater_equal(x, y)), halved=equal(x, y)),
)
def fmin(xp, x, y, /):
    """``min(x, y)``; the other operand where one is NaN.

    Shapes: broadcast.   Dtypes: real numbers.
    Derivative: that of the operand taken; ties are split, 1/2 each.
    Raises: ShapeError: the shapes do not broadcast.
    Source: NumPy reference, ``numpy.fmin``.

    >>> fmin(np.array([1.0, np.nan]), 0.0).tolist()
    [0.0, 0.0]
    """
    return xp.fmin(x, y)


@elementwise(
    lambda _z, x, low, high: Selection(logical_and(greater_equal(x, low), less_equal(x, high))),
    lambda _z, x, low, high: Selection(logical_and(less(x, low), less_equal(low, high))),
    lambda _z, x, low, high: Selection(logical_or(greater(x, high), greater(low, high))),
)
def clip(xp, x, low, high, /):
    """``min(max(x, low), high)``.

    Shapes: broadcast.   Dtypes: real numbers.
    Derivative: 1 by `x` between the bounds and at them; by `low` 1 where ``x < low``, by `high`
    where ``x > high``.
    Raises: ShapeError: the shapes do not broadcast.
    Source: NumPy reference, ``numpy.clip``.

    >>> clip(np.array([-1.0, 0.5, 2.0]), 0.0, 1.0).tolist()
    [0.0, 0.5, 1.0]
    """
    return xp.clip(x, low, high)


# ---------------------------------------------------------------- nan_to_num, stop_gradient


@elementwise(lambda _y, x, *, nan, posinf, neginf: Selection(isfinite(x)))
def nan_to_num(xp, x, /, *, nan, posinf, neginf):
    """`x` with numbers in place of NaN and infinities; None is the dtype's largest number.

    Shapes: ``x: (*a) -> (*a)``.   Dtypes: all.
    Derivative: 1 where `x` is finite, zero where it was replaced (in either part, if complex).
    Raises: nothing of its own.
    Source: NumPy reference, ``numpy.nan_to_num``.

    >>> nan_to_num(np.array([1.0, np.nan, np.inf]), nan=0.0, posinf=9.0, neginf=None).tolist()
    [1.0, 0.0, 9.0]
    """
    return xp.nan_to_num(x, nan=nan, posinf=posinf, neginf=neginf)


@elementwise_constant
def stop_gradient(xp, x, /):
    """`x`, a constant to every derivative.

    Shapes: ``x: (*a) -> (*a)``.   Dtypes: all.
    Derivative: zero by declaration.
    Raises: nothing of its own.
    Source: JAX reference, ``jax.lax.stop_gradient``.

    >>> stop_gradient(np.array([1.0, 2.0])).tolist()
    [1.0, 2.0]
    """
    return xp.array(x)  # a copy: what is written into it must not reach `x`
