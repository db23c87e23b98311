"""Arithmetic, element by element: add, multiply, divide, powers, remainders."""

from __future__ import annotations

import cmath
import math
import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..algebra import (
    Elementwise,
    bilinear,
    broadcast_shapes,
    elementwise,
    elementwise_constant,
    linear,
)
from ..choose import choose_in
from ..core import Aval, dtype_of
from ..faster import faster_in
from .exponential import log
from .logic import equal, greater, isfinite, logical_and, not_equal
from .rounding import rint, sign
from .select import where


@elementwise(1, 1)
def add(xp, x, y, /):
    """``x + y``.

    Shapes: broadcast.   Dtypes: all.
    Derivative: 1 and 1; smooth everywhere.
    Raises: ShapeError: the shapes do not broadcast.
    Source: NumPy reference, ``numpy.add``.

    >>> add(np.array([1.0, 2.0]), 1.0).tolist()
    [2.0, 3.0]
    """
    return xp.add(x, y)


@elementwise(1, -1)
def subtract(xp, x, y, /):
    """``x - y``.

    Shapes: broadcast.   Dtypes: numbers.
    Derivative: 1 and -1; smooth everywhere.
    Raises: ShapeError: the shapes do not broadcast.
    Source: NumPy reference, ``numpy.subtract``.

    >>> subtract(np.array([1.0, 2.0]), 1.0).tolist()
    [0.0, 1.0]
    """
    return xp.subtract(x, y)


@elementwise(lambda _z, _x, y: y, lambda _z, x, _y: x)
def multiply(xp, x, y, /):
    """``x * y``.

    Shapes: broadcast.   Dtypes: all.
    Derivative: ``y`` and ``x``; smooth everywhere.
    Raises: ShapeError: the shapes do not broadcast.
    Source: NumPy reference, ``numpy.multiply``.

    >>> multiply(np.array([1.0, 2.0]), 3.0).tolist()
    [3.0, 6.0]
    """
    return xp.multiply(x, y)


# The rule reads the operands and not the result, which users like to scale in place.
@elementwise(lambda _z, _x, y: divide(1.0, y), lambda _z, x, y: -divide(divide(x, y), y))
def divide(xp, x, y, /):
    """``x / y``.

    Shapes: broadcast.   Dtypes: numbers; integers give floats.
    Derivative: ``1 / y`` and ``-x / y**2``; at y = 0 as NumPy's division gives.
    Raises: ShapeError: the shapes do not broadcast.
    Source: NumPy reference, ``numpy.divide``.

    >>> divide(np.array([1.0, 2.0]), 2.0).tolist()
    [0.5, 1.0]
    """
    return xp.divide(x, y)


@elementwise(-1)
def negative(xp, x, /):
    """``-x``.

    Shapes: ``x: (*a) -> (*a)``.   Dtypes: numbers.
    Derivative: -1; smooth everywhere.
    Raises: TypeError: booleans.
    Source: NumPy reference, ``numpy.negative``.

    >>> negative(np.array([1.0, -2.0])).tolist()
    [-1.0, 2.0]
    """
    return xp.negative(x)


@elementwise(1)
def positive(xp, x, /):
    """``+x``.

    Shapes: ``x: (*a) -> (*a)``.   Dtypes: numbers.
    Derivative: 1; smooth everywhere.
    Raises: TypeError: booleans.
    Source: NumPy reference, ``numpy.positive``.

    >>> positive(np.array([1.0, -2.0])).tolist()
    [1.0, -2.0]
    """
    return xp.positive(x)


@elementwise(lambda y, _x: -(y * y))
def reciprocal(xp, x, /):
    """``1 / x``.

    Shapes: ``x: (*a) -> (*a)``.   Dtypes: numbers; integers give integers.
    Derivative: ``-1 / x**2``; at 0 minus infinity.
    Raises: nothing of its own.
    Source: NumPy reference, ``numpy.reciprocal``.

    >>> reciprocal(np.array([2.0, -4.0])).tolist()
    [0.5, -0.25]
    """
    return xp.reciprocal(x)


@elementwise(lambda _y, x: 2 * x)
def square(xp, x, /):
    """``x * x``.

    Shapes: ``x: (*a) -> (*a)``.   Dtypes: numbers.
    Derivative: ``2 * x``; smooth everywhere.
    Raises: nothing of its own.
    Source: NumPy reference, ``numpy.square``.

    >>> square(np.array([3.0, -2.0])).tolist()
    [9.0, 4.0]
    """
    return xp.square(x)


# ---------------------------------------------------------------- powers

# Exactly these, no subclasses: a Python number widens no array that it meets.
_NUMBERS: tuple[Any, ...] = (int, float, complex)


# The binary digits of whole and half exponents, the lowest first. NumPy takes 30 ns for any power of
# a number but -1, 1/2 and 2, and less than 1 for a product.
_DIGITS = {
    n / 2: [digit == "1" for digit in f"{abs(n) // 2:b}"[::-1]]
    for n in range(-32, 33)
    if n not in (0, 2)
}
_SHORT_IN_NUMPY = (2, -1, 0.5)  # as operators


def power_as_products(xp: Any, x: Any, y: float, multiply: Any = operator.mul) -> Any:
    """``x ** y`` for whole and half numbers up to 16 as products, roots and an inverse.

    In floats of 4 bytes or more, within ``abs(y)`` units of the last place; None for other
    exponents. `xp` has `reciprocal`, `sqrt` and `absolute`.
    """
    digits = _DIGITS.get(y)
    if digits is None:
        return None
    result = None
    if y % 1:
        result = xp.sqrt(x)
        if y != 0.5 and not digits[0]:  # the root of -0.0 is -0.0
            result = xp.absolute(result)
    factor = None
    for digit in digits:
        factor = x if factor is None else multiply(factor, factor)
        if digit:
            result = factor if result is None else multiply(result, factor)
    return xp.reciprocal(result) if y < 0 else result


def _slope_in_base(power: Callable[..., Any], x: Any, y: Any) -> Any:
    """``y * x**(y - 1)``, and 0 at ``0**0``; shorter where the exponent is a small number."""
    if y.__class__ in _NUMBERS:
        if y in (0, 1):
            return int(y.real)
        return 2 * x if y == 2 else y * power(x, y - 1)
    both = logical_and(equal(x, 0), equal(y, 0))
    return y * power(x, where(both, 1, y) - 1.0)  # 1.0, as unsigned integers cannot go below 0


def _slope_in_exponent(z: Any, x: Any) -> Any:
    """``z * log(x)``, with 1 in place of a base that has no logarithm: z is 0, NaN or a sign.

    Where z is infinite, at 0 to a negative power, the logarithm is.
    """
    is_complex = dtype_of(z).kind == "c"
    if x.__class__ in _NUMBERS:
        if is_complex:
            return z * (cmath.log(x) if x else 0.0)
        if x == 0:
            return z * where(isfinite(z), 0.0, -math.inf)
        return z * (math.log(x) if x > 0 else 0.0)
    if is_complex:
        return z * log(where(not_equal(x, 0), x, 1.0) + 0j)
    return z * log(where(greater(x, 0), x, isfinite(z)))


@elementwise(
    lambda _z, x, y: _slope_in_base(power, x, y),
    lambda z, x, _y: _slope_in_exponent(z, x),
)
def power(xp, x, y, /):
    """``x ** y``.

    Shapes: broadcast.   Dtypes: numbers.
    Derivative: ``y * x**(y - 1)`` and ``z * log(x)``. ``x**0`` by x is 0 at 0; by y it is 0 at
    x = 0 for y >= 0, minus infinity there for y < 0, and 0 for a negative base with an integer
    exponent, where x**y is real only at integers.
    Raises: ShapeError: the shapes do not broadcast. ValueError: integers to a negative power.
    Source: NumPy reference, ``numpy.power``; whole and half exponents up to 16 as products, as in
    JAX's and PyTorch's.

    >>> power(np.array([2.0, -3.0]), 2).tolist()
    [4.0, 9.0]
    """
    if not hasattr(x, "dtype") or x.dtype.kind == "b":  # the operator squares booleans to int8
        return xp.power(x, y)
    is_number = y.__class__ is int or y.__class__ is float
    if not is_number or y in _SHORT_IN_NUMPY or x.dtype.char not in "fdg":
        return x**y
    short = power_as_products(xp, x, y)
    return x**y if short is None else short


@elementwise(
    lambda _z, x, y: _slope_in_base(float_power, x, y),
    lambda z, x, _y: _slope_in_exponent(z, x),
)
def float_power(xp, x, y, /):
    """``x ** y`` computed in float64 or complex128 at least.

    Shapes: broadcast.   Dtypes: numbers; gives float64 or complex128.
    Derivative: as `power`.
    Raises: ShapeError: the shapes do not broadcast.
    Source: NumPy reference, ``numpy.float_power``.

    >>> float_power(np.array([2, 4]), -1).tolist()
    [0.5, 0.25]
    """
    return xp.float_power(x, y)


# ---------------------------------------------------------------- quotients of integers


@elementwise_constant
def floor_divide(xp, x, y, /):
    """``floor(x / y)``.

    Shapes: broadcast.   Dtypes: real numbers.
    Derivative: zero; at the jumps too.
    Raises: ShapeError: the shapes do not broadcast.
    Source: NumPy reference, ``numpy.floor_divide``.

    >>> floor_divide(np.array([7.0, -7.0]), 2.0).tolist()
    [3.0, -4.0]
    """
    return faster_in(xp, "floor_divide", x, y)


@elementwise(1, lambda _z, x, y: -floor_divide(x, y))
def remainder(xp, x, y, /):
    """``x - floor(x / y) * y``, with the sign of `y`.

    Shapes: broadcast.   Dtypes: real numbers.
    Derivative: 1 and ``-floor(x / y)``; at the jumps too.
    Raises: ShapeError: the shapes do not broadcast.
    Source: NumPy reference, ``numpy.remainder``.

    >>> remainder(np.array([7.0, -7.0]), 2.5).tolist()
    [2.0, 0.5]
    """
    return faster_in(xp, "remainder", x, y)


@elementwise(1, lambda _z, x, y: rint(divide(fmod(x, y) - x, y)))
def fmod(xp, x, y, /):
    """``x - trunc(x / y) * y``, with the sign of `x`.

    Shapes: broadcast.   Dtypes: real numbers.
    Derivative: 1 and ``-trunc(x / y)``; at the jumps too.
    Raises: ShapeError: the shapes do not broadcast.
    Source: NumPy reference, ``numpy.fmod``.

    >>> fmod(np.array([7.0, -7.0]), 2.5).tolist()
    [2.0, -2.0]
    """
    return xp.fmod(x, y)


@elementwise_constant
def gcd(xp, x, y, /):
    """The greatest common divisor of ``|x|`` and ``|y|``.

    Shapes: broadcast.   Dtypes: integers.
    Derivative: none: the operands are integers.
    Raises: ShapeError: the shapes do not broadcast. TypeError: floating operands.
    Source: NumPy reference, ``numpy.gcd``.

    >>> gcd(np.array([12, 7]), 8).tolist()
    [4, 1]
    """
    return xp.gcd(x, y)


@elementwise_constant
def lcm(xp, x, y, /):
    """The least common multiple of ``|x|`` and ``|y|``.

    Shapes: broadcast.   Dtypes: integers.
    Derivative: none: the operands are integers.
    Raises: ShapeError: the shapes do not broadcast. TypeError: floating operands.
    Source: NumPy reference, ``numpy.lcm``.

    >>> lcm(np.array([4, 7]), 6).tolist()
    [12, 42]
    """
    return xp.lcm(x, y)


# ---------------------------------------------------------------- sizes and signs


def _absolute_slope(_y: Any, x: Any) -> Any:
    if dtype_of(x).kind != "c":
        return sign(x)
    # conj(x) / |x|, of which the kind takes the real part.
    return divide(absolute(x), where(equal(x, 0), 1.0, x))


@elementwise(_absolute_slope)
def absolute(xp, x, /):
    """``|x|``, the modulus of a complex number.

    Shapes: ``x: (*a) -> (*a)``.   Dtypes: numbers; complex give floats.
    Derivative: ``sign(x)``; ``Re(conj(x) dx) / |x|`` for a complex `x`; 0 at 0.
    Raises: nothing of its own.
    Source: NumPy reference, ``numpy.absolute``.

    >>> absolute(np.array([-3.0, 0.0, 3 + 4j])).tolist()
    [3.0, 0.0, 5.0]
    """
    return xp.absolute(x)


def _over(x: Any, size: Any) -> Any:
    """``x / size``, 0 where both are."""
    return divide(x, where(equal(size, 0), 1.0, size))


@elementwise(lambda z, x, _y: _over(x, z), lambda z, _x, y: _over(y, z))
def hypot(xp, x, y, /):
    """``sqrt(x**2 + y**2)`` without overflow, within two units of the last place.

    Shapes: broadcast.   Dtypes: real numbers; integers give floats.
    Derivative: ``x / z`` and ``y / z``; 0 and 0 at (0, 0).
    Raises: ShapeError: the shapes do not broadcast.
    Source: NumPy reference, ``numpy.hypot``.

    >>> hypot(np.array([3.0, 0.0]), 4.0).tolist()
    [5.0, 4.0]
    """
    return faster_in(xp, "hypot", x, y)


@elementwise(lambda z, x, _y: sign(x) * copysign(1.0, z), None)
def copysign(xp, x, y, /):
    """``|x|`` with the sign of `y`.

    Shapes: broadcast.   Dtypes: real numbers; integers give floats.
    Derivative: ``sign(x) * sign(y)`` and none; 0 at x = 0.
    Raises: ShapeError: the shapes do not broadcast.
    Source: NumPy reference, ``numpy.copysign``.

    >>> copysign(np.array([2.0, -2.0]), -1.0).tolist()
    [-2.0, -2.0]
    """
    return xp.copysign(x, y)


def _ldexp_aval(x: Aval, i: Aval) -> Aval:
    numbers = [np.asarray(a.promoting()) if a.weak else np.empty(0, a.dtype) for a in (x, i)]
    return Aval(broadcast_shapes("ldexp", [x.shape, i.shape]), np.ldexp(*numbers).dtype)


@linear(lambda ct, _x, i: ldexp(ct, i), None, aval=_ldexp_aval, batch=Elementwise.batch)
def ldexp(xp, x, i, /):
    """``x * 2**i`` for an integer `i`.

    Shapes: broadcast.   Dtypes: real numbers, integers; gives floats.
    Derivative: linear in `x`; none by `i`.
    Raises: ShapeError: the shapes do not broadcast.
    Source: NumPy reference, ``numpy.ldexp``.

    >>> ldexp(np.array([1.0, 3.0]), 2).tolist()
    [4.0, 12.0]
    """
    return xp.ldexp(x, i)


# ---------------------------------------------------------------- strong zeros


def _multiply_aval(t: Aval, c: Aval) -> Aval:
    shape = broadcast_shapes("zero_preserving_multiply", [t.shape, c.shape])
    return Aval(shape, np.result_type(t.promoting(), c.promoting()))


@bilinear(
    lambda ct, _t, c: zero_preserving_multiply(ct, c),
    lambda ct, t, _c: zero_preserving_multiply(t, ct),
    aval=_multiply_aval,
    batch=Elementwise.batch,
)
def zero_preserving_multiply(xp, t, c, /):
    """``t * c``, and exactly 0 where `t` is, whatever `c` is: infinite or NaN.

    Shapes: broadcast.   Dtypes: numbers.
    Derivative: ``zero_preserving_multiply(dt, c) + zero_preserving_multiply(t, dc)``, as if it were
    bilinear; so what is zero stays zero in every order.
    Raises: ShapeError: the shapes do not broadcast.
    Source: the "very strong" zero of Knuth, "Two notes on notation", Amer. Math. Monthly 99, 1992.

    >>> zero_preserving_multiply(np.array([0.0, 2.0]), np.array([np.inf, 3.0])).tolist()
    [0.0, 6.0]
    """
    dtype = xp.result_type(t, c)  # where() alone would make float64 of a Python number
    return t * choose_in(xp, xp.equal(t, 0), 0, xp.asarray(c, dtype))


# ---------------------------------------------------------------- polynomials


def polynomial(x: Any, coefficients: Sequence[Any]) -> Any:
    """``c_0 + c_1 x + c_2 x^2 + ...`` by Horner's rule.

    >>> polynomial(np.array([1.0, 2.0]), [1.0, 0.0, 3.0]).tolist()
    [4.0, 13.0]
    """
    total = coefficients[-1]
    for c in coefficients[-2::-1]:
        total = total * x + c
    return total
