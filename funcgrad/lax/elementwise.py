"""Elementwise functions under the names of ``jax.lax``; shapes and dtypes combine as NumPy's do."""

from __future__ import annotations

import enum
import operator
from typing import Any

import numpy as np

from .. import numpy as fnp
from ..core import aval_of
from ..errors import ArgumentError, ShapeError, where
from ..numpy._arguments import array_of, arrays_of, concrete
from ..ops.bits import bit_count as population_count
from ..ops.bits import bitcast
from ..ops.logic import invert, left_shift, right_shift
from ..ops.select import stop_gradient
from ..scipy import special as _special
from ._arguments import integral


def div(x: Any, y: Any) -> Any:
    """``x / y``; of integers rounded towards 0, as C does it.

    Shapes: broadcast.   Dtypes: numbers; integers stay integers.
    Derivative: ``1 / y`` by `x`, ``-x / y^2`` by `y`; zero for integers.
    Raises: ShapeError: the shapes do not broadcast.
    Source: XLA's operation semantics, "Div".

    >>> div(np.array([-7, 7]), 2).tolist()
    [-3, 3]
    """
    x, y = arrays_of(x, y)
    if {aval_of(x).dtype.kind, aval_of(y).dtype.kind} <= {"i", "u"}:
        return fnp.floor_divide(x - fnp.fmod(x, y), y)
    return fnp.divide(x, y)


def integer_pow(x: Any, y: int) -> Any:
    """``x ** y`` for a whole number `y`.

    Shapes: ``x: (*a) -> (*a)``.   Dtypes: numbers; integers stay integers where y >= 0.
    Derivative: ``y x^(y - 1)``.
    Raises: ArgumentError: `y` is no integer, or negative for integers `x`.
    Source: JAX, ``jax.lax.integer_pow``.

    >>> integer_pow(np.array([2.0, -3.0]), -1).round(4).tolist()
    [0.5, -0.3333]
    """
    try:
        exponent = operator.index(y)
    except TypeError:
        raise ArgumentError(f"lax.integer_pow: y={y!r}; need an integer{where()}") from None
    x = array_of(x)
    if exponent < 0 and aval_of(x).dtype.kind in "iu":
        raise ArgumentError(f"lax.integer_pow: integers to the power {y}{where()}")
    return fnp.power(x, exponent)


def rsqrt(x: Any) -> Any:
    """``1 / sqrt(x)``.

    Shapes: ``x: (*a) -> (*a)``.   Dtypes: floating, complex; integers give floats.
    Derivative: ``-1 / (2 x^(3/2))``.
    Raises: ArgumentError: `x` holds no numbers.
    Source: XLA's operation semantics, "Rsqrt".

    >>> rsqrt(np.array([4.0, 0.25])).tolist()
    [0.5, 2.0]
    """
    return 1 / fnp.sqrt(array_of(x))


def polygamma(m: Any, x: Any) -> Any:
    """The derivative of order `m`, a whole number, of `digamma`.

    Shapes: ``m: (), x: (*a) -> (*a)``.   Dtypes: floating; integers give floats.
    Derivative: ``polygamma(m + 1, x)`` by `x`; none by `m`.
    Raises: ArgumentError: `m` is no whole number, or traced.
    Source: JAX, ``jax.lax.polygamma``.

    >>> float(polygamma(1.0, 1.0).round(4))
    1.6449
    """
    order = concrete("polygamma", "m", m)
    return _special.polygamma(int(order) if np.ndim(order) == 0 and order == int(order) else m, x)


class RoundingMethod(enum.IntEnum):
    """Where `round` takes halves."""

    AWAY_FROM_ZERO = 0
    TO_NEAREST_EVEN = 1


def round(x: Any, rounding_method: int = RoundingMethod.AWAY_FROM_ZERO) -> Any:
    """The nearest whole number; halves away from 0, or to the even one with ``rounding_method=1``.

    Shapes: ``x: (*a) -> (*a)``.   Dtypes: floating.
    Derivative: zero.
    Raises: ArgumentError: there is no such method.
    Source: JAX, ``jax.lax.round``.

    >>> round(np.array([0.5, -2.5])).tolist(), round(np.array([0.5, -2.5]), 1).tolist()
    ([1.0, -3.0], [0.0, -2.0])
    """
    method = int(rounding_method)
    if method == RoundingMethod.TO_NEAREST_EVEN:
        return fnp.rint(x)
    if method != RoundingMethod.AWAY_FROM_ZERO:
        raise ArgumentError(
            f"lax.round: rounding_method={rounding_method!r}; need 0, away from zero, or 1, to even"
            f"{where()}"
        )
    x = array_of(x)
    whole = fnp.trunc(x)
    up = fnp.absolute(x - whole) >= 0.5
    return stop_gradient(fnp.where(up, whole + fnp.sign(x), whole))


def clamp(min: Any, x: Any, max: Any) -> Any:
    """`x`, but at least `min` and at most `max`; `max` where the bounds cross.

    Shapes: broadcast.   Dtypes: real numbers.
    Derivative: 1 by `x` between the bounds, which count as inside; outside by the bound.
    Raises: ShapeError: the shapes do not broadcast.
    Source: JAX, ``jax.lax.clamp``.

    >>> clamp(0.0, np.array([-1.0, 0.5, 2.0]), 1.0).tolist()
    [0.0, 0.5, 1.0]
    """
    return fnp.clip(x, min, max)


def _require_equal(name: str, *xs: Any) -> None:
    shapes = {aval_of(x).shape for x in xs}
    if len(shapes) > 1:
        found = " and ".join(str(aval_of(x)) for x in xs)
        raise ShapeError(f"lax.{name}: cases of different shapes, {found}{where()}")


def select(pred: Any, on_true: Any, on_false: Any) -> Any:
    """`on_true` where `pred` holds, `on_false` elsewhere.

    Shapes: ``pred: () or (*a), both: (*a) -> (*a)``.   Dtypes: all; `pred` is bool.
    Derivative: linear in the cases: each gets the cotangent where it was chosen.
    Raises: ShapeError: the cases differ in shape. ArgumentError: `pred` is not bool.
    Source: XLA's operation semantics, "Select".

    >>> select(np.array([True, False]), np.array([1.0, 2.0]), np.array([3.0, 4.0])).tolist()
    [1.0, 4.0]
    """
    pred, on_true, on_false = arrays_of(pred, on_true, on_false)
    if aval_of(pred).dtype.kind != "b":
        raise ArgumentError(f"lax.select: pred is {aval_of(pred)}; need booleans{where()}")
    return select_n(pred, on_false, on_true)


def select_n(which: Any, *cases: Any) -> Any:
    """Of several cases the one that `which` counts: 0 for the first; booleans for two.

    Shapes: ``which: () or (*a), cases: (*a) -> (*a)``.   Dtypes: all; `which` bool or integer.
    Derivative: linear in the cases: each gets the cotangent where it was chosen.
    Raises: ShapeError: the shapes differ. ArgumentError: `which` is not bool or integer, or there is
    no case.
    Source: JAX, ``jax.lax.select_n``; an integer beyond the cases counts as the nearest one.

    >>> select_n(np.array([0, 2]), np.zeros(2), np.ones(2), np.full(2, 9.0)).tolist()
    [0.0, 9.0]
    """
    which, *found = arrays_of(which, *cases)
    kind = aval_of(which).dtype.kind
    if kind not in "biu" or not found or (kind == "b" and len(found) > 2):
        raise ArgumentError(
            f"lax.select_n: which is {aval_of(which)} for {len(found)} cases; need integers, or "
            f"booleans for two{where()}"
        )
    _require_equal("select_n", *found, *([which] if aval_of(which).ndim else []))
    if kind == "b":
        return fnp.where(which, found[-1], found[0])
    out = found[0]
    for i, case in enumerate(found[1:], 1):
        out = fnp.where(which >= i, case, out)
    return out


# ---------------------------------------------------------------- bits


def _unsigned(name: str, x: Any) -> Any:
    x = integral(name, x)
    return fnp.astype(x, f"uint{8 * aval_of(x).dtype.itemsize}")


def bitcast_convert_type(operand: Any, new_dtype: Any) -> Any:
    """The bits of `operand` read as numbers of another dtype.

    Shapes: ``(*a) -> (*a)``; a narrower dtype adds a last axis, a wider one takes it.
    Dtypes: all ``-> new_dtype``; booleans stay booleans.
    Derivative: zero.
    Raises: ShapeError: the last axis is none of the parts of a wider number. ArgumentError: booleans as
    numbers, or numbers as booleans.
    Source: XLA's operation semantics, "BitcastConvertType".

    >>> bitcast_convert_type(np.float32(1.0), np.uint32).tolist()
    1065353216
    """
    return bitcast(array_of(operand), dtype=np.dtype(new_dtype))


def _within(x: Any, y: Any) -> tuple[Any, Any, Any]:
    """A shift by less than all the bits, and whether `y` was one."""
    x, y = integral("shift", x), integral("shift", y)
    width = 8 * np.result_type(aval_of(x).dtype, aval_of(y).promoting()).itemsize
    inside = (y >= 0) & (y < width)
    return x, fnp.where(inside, y, 0), inside


def shift_left(x: Any, y: Any) -> Any:
    """The bits of `x` moved left by `y` places; 0 if that is beyond all of them.

    Shapes: broadcast.   Dtypes: integers.   Derivative: zero.
    Raises: ArgumentError: `x` or `y` is no integer.
    Source: XLA's operation semantics, "ShiftLeft".

    >>> shift_left(np.array([1, 3]), 2).tolist()
    [4, 12]
    """
    x, count, inside = _within(x, y)
    return fnp.where(inside, left_shift(x, count), 0)


def shift_right_arithmetic(x: Any, y: Any) -> Any:
    """The bits of `x` moved right by `y` places, copies of the sign moving in.

    Shapes: broadcast.   Dtypes: integers.   Derivative: zero.
    Raises: ArgumentError: `x` or `y` is no integer.
    Source: XLA's operation semantics, "ShiftRightArithmetic".

    >>> shift_right_arithmetic(np.array([-8, 8]), 2).tolist()
    [-2, 2]
    """
    x, count, inside = _within(x, y)
    return fnp.where(inside, right_shift(x, count), fnp.where(x < 0, invert(x * 0), x * 0))


def shift_right_logical(x: Any, y: Any) -> Any:
    """The bits of `x` moved right by `y` places, zeros moving in.

    Shapes: broadcast.   Dtypes: integers.   Derivative: zero.
    Raises: ArgumentError: `x` or `y` is no integer.
    Source: XLA's operation semantics, "ShiftRightLogical".

    >>> shift_right_logical(np.array([-1, 8], np.int8), np.int8(6)).tolist()
    [3, 0]
    """
    x, count, inside = _within(x, y)
    moved = right_shift(_unsigned("shift_right_logical", x), fnp.astype(count, np.uint8))
    return fnp.astype(fnp.where(inside, moved, 0), aval_of(x).dtype)


def clz(x: Any) -> Any:
    """How many bits of `x` are 0 before the first 1.

    Shapes: ``x: (*a) -> (*a)``.   Dtypes: integers, kept.   Derivative: zero.
    Raises: ArgumentError: `x` is no integer.
    Source: XLA's operation semantics, "Clz".

    >>> clz(np.array([0, 1, -1], np.int8)).tolist()
    [8, 7, 0]
    """
    dtype = aval_of(integral("clz", x)).dtype
    filled, step = _unsigned("clz", x), 1
    while step < 8 * dtype.itemsize:
        filled = filled | right_shift(filled, step)
        step *= 2
    return fnp.astype(population_count(invert(filled)), dtype)
