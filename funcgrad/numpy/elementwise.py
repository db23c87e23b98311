"""Functions of every element by itself that are compositions of primitives.

The primitives themselves (`sin`, `add`, ...) are re-exported as they are.
"""

from __future__ import annotations

import math
import operator
from math import inf
from typing import Any

import numpy as np

from ..core import Tracer, aval_of
from ..errors import ArgumentError, where
from ..ops import arithmetic as _arithmetic
from ..ops import complex as _complex
from ..ops import rounding as _rounding
from ..ops import select as _select
from ..ops.bessel import i0 as _i0
from ..ops.logic import equal, isinf, isnan
from ..ops.trigonometric import sinc as _sinc
from ._arguments import converted, copied, is_array, module_of, operand, operands, written
from ._ufuncs import require_booleans, require_out, with_options

# ---------------------------------------------------------------- angles


def degrees(x: Any, /, *out: Any, **options: Any) -> Any:
    """``x * 180 / pi``: radians to degrees.

    Shapes: ``x: (*a) -> (*a)``.   Dtypes: real numbers; integers give floats.
    Derivative: linear; 180 / pi.
    Raises: ArgumentError: `x` is no array.
    Source: NumPy reference, ``numpy.degrees``.

    >>> float(degrees(math.pi))
    180.0
    """
    if out or options:
        return with_options("degrees", (x, *out), options)
    return _arithmetic.multiply(operand(x), 180.0 / math.pi)


def radians(x: Any, /, *out: Any, **options: Any) -> Any:
    """``x * pi / 180``: degrees to radians.

    Shapes: ``x: (*a) -> (*a)``.   Dtypes: real numbers; integers give floats.
    Derivative: linear; pi / 180.
    Raises: ArgumentError: `x` is no array.
    Source: NumPy reference, ``numpy.radians``.

    >>> float(radians(180.0)) == math.pi
    True
    """
    if out or options:
        return with_options("radians", (x, *out), options)
    return _arithmetic.multiply(operand(x), math.pi / 180.0)


# ---------------------------------------------------------------- functions that are no ufuncs


def sinc(x: Any) -> Any:
    """``sin(pi x) / (pi x)``, 1 at 0.

    Shapes: ``x: (*a) -> (*a)``.   Dtypes: floating; integers give floats.
    Derivative: smooth everywhere; 0 at 0.
    Raises: ArgumentError: `x` is no array.
    Source: NumPy reference, ``numpy.sinc``.

    >>> float(sinc(0.0))
    1.0
    """
    return _sinc(operand(x))


def i0(x: Any) -> Any:
    """The modified Bessel function of the first kind of order 0.

    Shapes: ``x: (*a) -> (*a)``.   Dtypes: floating; integers give floats.
    Derivative: ``i1(x)``; smooth everywhere.
    Raises: ImportError: SciPy is not installed.
    Source: NumPy reference, ``numpy.i0``.

    >>> float(i0(0.0))
    1.0
    """
    return _i0(operand(x))


# ---------------------------------------------------------------- rounding and signs


def sign(x: Any, /, *out: Any, **options: Any) -> Any:
    """-1, 0 or 1, the sign of `x`; ``x / |x|`` for complex `x`, 0 at 0.

    Shapes: ``x: (*a) -> (*a)``.   Dtypes: numbers.
    Derivative: zero for real `x`; that of ``x / |x|`` for complex `x`, 0 at 0.
    Raises: ArgumentError: `x` is no array.
    Source: NumPy reference, ``numpy.sign``.

    >>> sign(np.array([-2.0, 0.0])).tolist()
    [-1.0, 0.0]
    """
    if out or options:
        return with_options("sign", (x, *out), options)
    x = operand(x)
    return _complex.unit(x) if aval_of(x).dtype.kind == "c" else _rounding.sign(x)


def fabs(x: Any, /, *out: Any, **options: Any) -> Any:
    """``|x|`` of real numbers, as floats.

    Shapes: ``x: (*a) -> (*a)``.   Dtypes: real numbers; integers give floats.
    Derivative: ``sign(x)``; 0 at 0.
    Raises: ArgumentError: `x` is complex.
    Source: NumPy reference, ``numpy.fabs``.

    >>> float(fabs(-2))
    2.0
    """
    if out or options:
        return with_options("fabs", (x, *out), options)
    x = operand(x)
    kind = aval_of(x).dtype.kind
    if kind == "c":
        raise ArgumentError(f"fnp.fabs: x is complex; use fnp.abs{where()}")
    return _arithmetic.absolute(x if kind == "f" else converted(x, float))


def round(a: Any, decimals: int = 0, out: Any = None) -> Any:
    """`a` rounded to `decimals` places after the point; halves go to the even number.

    Shapes: ``a: (*a) -> (*a)``.   Dtypes: numbers.
    Derivative: zero; at halves too.
    Raises: ArgumentError: `out` does not fit, or booleans with `decimals`.
    Source: NumPy reference, ``numpy.round``.

    >>> round(np.array([1.25, -0.5])).tolist()
    [1.0, -0.0]
    """
    if out is not None:
        return written("fnp.round with out=", round(a, decimals, None), out)
    a, decimals = operand(a), operator.index(decimals)
    dtype = aval_of(a).dtype
    if dtype.kind == "b" and decimals:
        raise ArgumentError(f"fnp.round: booleans have no {decimals} decimals{where()}")
    if dtype.kind in "iu":
        if decimals >= 0:
            return copied(a)
        step = 10**-decimals
        return converted(_rounding.rint(_arithmetic.divide(a, step)) * step, dtype)
    if decimals == 0:
        return _rounding.rint(a)
    step = 10.0 ** abs(decimals)
    if decimals < 0:
        return _rounding.rint(_arithmetic.divide(a, step)) * step
    return _rounding.rint(_arithmetic.multiply(a, step)) / step


def around(a: Any, decimals: int = 0, out: Any = None) -> Any:
    """`round` under its other name.

    Shapes: ``a: (*a) -> (*a)``.   Dtypes: numbers.
    Derivative: zero; at halves too.
    Raises: ArgumentError: `out` does not fit.
    Source: NumPy reference, ``numpy.around``.

    >>> around(np.array([1.24]), 1).tolist()
    [1.2]
    """
    return round(a, decimals, out)


def fix(x: Any, out: Any = None) -> Any:
    """The integer part of `x`: rounded towards 0.

    Shapes: ``x: (*a) -> (*a)``.   Dtypes: real numbers.
    Derivative: zero; at integers too.
    Raises: ArgumentError: `out` does not fit.
    Source: NumPy reference, ``numpy.fix``.

    >>> fix(np.array([1.7, -1.7])).tolist()
    [1.0, -1.0]
    """
    if out is not None:
        return written("fnp.fix with out=", fix(x, None), out)
    return _rounding.trunc(operand(x))


def modf(x: Any, /, *out: Any, **options: Any) -> tuple[Any, Any]:
    """The fractional and the integral part of `x`, both with its sign.

    Shapes: ``x: (*a) -> (*a), (*a)``.   Dtypes: real numbers; integers give floats.
    Derivative: 1 and 0; at integers too. The fraction of an infinity is 0, a constant.
    Raises: ArgumentError: `x` is no array.
    Source: NumPy reference, ``numpy.modf``.

    >>> [float(part) for part in modf(1.5)]
    [0.5, 1.0]
    """
    if out or options:
        return with_options("modf", (x, *out), options)
    x = operand(x)
    if aval_of(x).dtype.kind != "f":
        x = converted(x, float)
    finite = _select.where(isinf(x), _arithmetic.copysign(0.0, x), x)
    return _arithmetic.fmod(finite, 1.0), _rounding.trunc(x)


def divmod(x1: Any, x2: Any, /, *out: Any, **options: Any) -> tuple[Any, Any]:
    """``floor(x1 / x2)`` and the remainder.

    Shapes: broadcast.   Dtypes: real numbers.
    Derivative: zero, and that of `remainder`: 1 and ``-floor(x1 / x2)``.
    Raises: ShapeError: the shapes do not broadcast.
    Source: NumPy reference, ``numpy.divmod``.

    >>> [float(part) for part in divmod(7.0, 2.0)]
    [3.0, 1.0]
    """
    if out or options:
        return with_options("divmod", (x1, x2, *out), options)
    x1, x2 = operands(x1, x2)
    return _arithmetic.floor_divide(x1, x2), _arithmetic.remainder(x1, x2)


# ---------------------------------------------------------------- replacing values


def clip(
    a: Any,
    a_min: Any = None,
    a_max: Any = None,
    out: Any = None,
    *,
    min: Any = None,
    max: Any = None,
    **kwargs: Any,
) -> Any:
    """``min(max(a, a_min), a_max)``; a bound that is None is left out.

    Others are ``dtype=``, ``casting=``, and ``where=`` with `out`, as a ufunc takes them.

    Shapes: broadcast.   Dtypes: real numbers, booleans.
    Derivative: 1 between the bounds and at them; by a bound, 1 where it was taken.
    Raises: ShapeError: the shapes do not broadcast. ArgumentError: a bound is given twice, or no such
    option. HandoverError: ``where=`` without `out`.
    Source: NumPy reference, ``numpy.clip``.

    >>> clip(np.array([-1.0, 0.5, 2.0]), 0.0, None).tolist()
    [0.0, 0.5, 2.0]
    """
    if (min is not None and a_min is not None) or (max is not None and a_max is not None):
        raise ArgumentError(f"fnp.clip: a bound is given under two names{where()}")
    low, high = (a_min if min is None else min), (a_max if max is None else max)
    if out is None and not kwargs:
        return _clipped(operand(a), low, high)
    mask, casting = kwargs.pop("where", True), kwargs.pop("casting", "same_kind")
    dtype = kwargs.pop("dtype", None)
    if kwargs:
        raise ArgumentError(f"fnp.clip: {next(iter(kwargs))}= is not supported{where()}")
    if mask is not True:
        require_out("clip", out)
        require_booleans("clip", mask)
    if dtype is not None:
        a, low, high = (_cast(x, dtype, casting) for x in (a, low, high))
    y = _clipped(operand(a), low, high)
    return y if out is None else written("fnp.clip with out=", y, out, casting, mask)


def _cast(x: Any, dtype: Any, casting: Any) -> Any:
    if x is None:
        return None
    x = operand(x)
    if not aval_of(x).weak and not np.can_cast(aval_of(x).dtype, dtype, casting):
        raise ArgumentError(
            f"fnp.clip: {aval_of(x)} is not cast to {np.dtype(dtype).name} by the rule "
            f"{casting!r}{where()}"
        )
    return converted(x, np.dtype(dtype))


def _clipped(a: Any, low: Any, high: Any) -> Any:
    if low is None and high is None:
        return _arithmetic.positive(a)
    dtype = aval_of(a).dtype
    # A Python number does not widen the array; at a bound `clip` gives all to `a`, `maximum` half.
    ends: Any = (-math.inf, math.inf) if dtype.kind == "f" else _exact_ends(dtype)
    if dtype.kind in "iu":
        least, most = ends
        low = least if low.__class__ is int and low < least else low
        high = most if high.__class__ is int and high > most else high
    low, high = (
        end if bound is None else operand(bound, module_of(a))
        for bound, end in zip((low, high), ends, strict=True)
    )
    return _select.clip(a, low, high)


def _exact_ends(dtype: Any) -> tuple[int, int]:
    if dtype.kind == "b":
        return False, True
    if dtype.kind not in "iu":
        raise ArgumentError(f"fnp.clip: needs real numbers, found {dtype.name}{where()}")
    return int(np.iinfo(dtype).min), int(np.iinfo(dtype).max)


def nan_to_num(
    x: Any, copy: bool = True, nan: Any = 0.0, posinf: Any = None, neginf: Any = None
) -> Any:
    """`x` with numbers in place of NaN and the infinities; None is the dtype's largest number.

    Shapes: ``x: (*a) -> (*a)``.   Dtypes: all.
    Derivative: 1 where `x` is finite, zero where it was replaced; there 1 by the number put in.
    Raises: ArgumentError: `x` is no array.
    Source: NumPy reference, ``numpy.nan_to_num``.

    >>> nan_to_num(np.array([1.0, np.nan])).tolist()
    [1.0, 0.0]
    """
    x = operand(x)
    if any(isinstance(v, Tracer) for v in (nan, posinf, neginf)):
        y = _select.nan_to_num(x, nan=0.0, posinf=_plain(posinf), neginf=_plain(neginf))
        for value, place in ((posinf, inf), (neginf, -inf)):
            y = _select.where(equal(x, place), value, y) if isinstance(value, Tracer) else y
        y = _select.where(isnan(x), nan, y)
    else:
        y = _select.nan_to_num(x, nan=nan, posinf=posinf, neginf=neginf)
    if copy or not is_array(x):
        return y
    x[...] = y
    return x


def _plain(x: Any) -> Any:
    return None if isinstance(x, Tracer) else x
