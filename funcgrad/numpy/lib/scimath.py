"""Functions that give complex numbers where real ones have no value: ``numpy.emath``.

Whether the result is complex depends on the values, as in NumPy, so these must be known.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...core import aval_of
from ...ops import exponential as _exponential
from ...ops import trigonometric as _trigonometric
from ...ops.arithmetic import divide
from ...ops.arithmetic import power as _power
from .._arguments import array_of, concrete, converted

__all__ = ["arccos", "arcsin", "arctanh", "log", "log2", "log10", "logn", "power", "sqrt"]

_SHORT = ("float32", "int8", "int16", "uint8", "uint16")


def _negative(values: Any) -> Any:
    return values < 0


def _beyond_one(values: Any) -> Any:
    return abs(values) > 1


def _wide(name: str, outside: Callable[[Any], Any], x: Any) -> Any:
    """`x` as complex numbers if one of its elements is `outside` of where the result is real."""
    x = array_of(x)
    dtype = aval_of(x).dtype
    if dtype.kind == "c":
        return x
    values = concrete(name, "x", x, f"; write x + 0j if np.emath.{name} may be complex")
    if not outside(values).any():
        return x
    return converted(x, np.complex64 if dtype.name in _SHORT else np.complex128)


def sqrt(x: Any) -> Any:
    """The square root; complex if an element is negative.

    Shapes: ``x: (*a) -> (*a)``.   Dtypes: numbers; the result's depends on the values.
    Derivative: ``1 / (2 sqrt(x))``, infinite at 0.
    Raises: ConcretizationError: the values are not known.
    Source: NumPy reference, ``numpy.emath.sqrt``.

    >>> sqrt([-1.0, 4.0]).tolist()
    [1j, (2+0j)]
    """
    return _exponential.sqrt(_wide("sqrt", _negative, x))


def log(x: Any) -> Any:
    """The natural logarithm; complex if an element is negative.

    Shapes: ``x: (*a) -> (*a)``.   Dtypes: numbers; the result's depends on the values.
    Derivative: ``1 / x``.   Raises: ConcretizationError: the values are not known.
    Source: NumPy reference, ``numpy.emath.log``.

    >>> log(-1.0) == np.pi * 1j
    np.True_
    """
    return _exponential.log(_wide("log", _negative, x))


def log2(x: Any) -> Any:
    """The logarithm to base 2; complex if an element is negative.

    Shapes: ``x: (*a) -> (*a)``.   Dtypes: numbers; the result's depends on the values.
    Derivative: ``1 / (x log 2)``.   Raises: ConcretizationError: the values are not known.
    Source: NumPy reference, ``numpy.emath.log2``.

    >>> log2([-4.0]).real.tolist()
    [2.0]
    """
    return _exponential.log2(_wide("log2", _negative, x))


def log10(x: Any) -> Any:
    """The logarithm to base 10; complex if an element is negative.

    Shapes: ``x: (*a) -> (*a)``.   Dtypes: numbers; the result's depends on the values.
    Derivative: ``1 / (x log 10)``.   Raises: ConcretizationError: the values are not known.
    Source: NumPy reference, ``numpy.emath.log10``.

    >>> log10([-100.0]).real.tolist()
    [2.0]
    """
    return _exponential.log10(_wide("log10", _negative, x))


def logn(n: Any, x: Any) -> Any:
    """``log(x) / log(n)``; complex if an element of either is negative.

    Shapes: broadcast.   Dtypes: numbers; the result's depends on the values.
    Derivative: that of the quotient.   Raises: ConcretizationError: the values are not known.
    Source: NumPy reference, ``numpy.emath.logn``.

    >>> logn(2.0, [8.0]).round(12).tolist()
    [3.0]
    """
    x, n = _wide("logn", _negative, x), _wide("logn", _negative, n)
    return divide(_exponential.log(x), _exponential.log(n))


def power(x: Any, p: Any) -> Any:
    """``x ** p``; complex if an element of `x` is negative.

    Shapes: broadcast.   Dtypes: numbers; the result's depends on the values.
    Derivative: that of `fnp.power`.   Raises: ConcretizationError: the values are not known.
    Source: NumPy reference, ``numpy.emath.power``.

    >>> power([2, 4], -1).tolist()
    [0.5, 0.25]
    """
    x, p = _wide("power", _negative, x), array_of(p)
    if aval_of(p).dtype.kind in "iu" and (concrete("power", "p", p) < 0).any():
        p = p * 1.0
    return _power(x, p)


def arccos(x: Any) -> Any:
    """The inverse cosine; complex if an element is beyond -1 to 1.

    Shapes: ``x: (*a) -> (*a)``.   Dtypes: numbers; the result's depends on the values.
    Derivative: ``-1 / sqrt(1 - x**2)``, infinite at -1 and 1.
    Raises: ConcretizationError: the values are not known.
    Source: NumPy reference, ``numpy.emath.arccos``.

    >>> arccos(1.0)
    np.float64(0.0)
    """
    return _trigonometric.arccos(_wide("arccos", _beyond_one, x))


def arcsin(x: Any) -> Any:
    """The inverse sine; complex if an element is beyond -1 to 1.

    Shapes: ``x: (*a) -> (*a)``.   Dtypes: numbers; the result's depends on the values.
    Derivative: ``1 / sqrt(1 - x**2)``, infinite at -1 and 1.
    Raises: ConcretizationError: the values are not known.
    Source: NumPy reference, ``numpy.emath.arcsin``.

    >>> arcsin(0.0)
    np.float64(0.0)
    """
    return _trigonometric.arcsin(_wide("arcsin", _beyond_one, x))


def arctanh(x: Any) -> Any:
    """The inverse hyperbolic tangent; complex if an element is beyond -1 to 1.

    Shapes: ``x: (*a) -> (*a)``.   Dtypes: numbers; the result's depends on the values.
    Derivative: ``1 / (1 - x**2)``, infinite at -1 and 1.
    Raises: ConcretizationError: the values are not known.
    Source: NumPy reference, ``numpy.emath.arctanh``.

    >>> arctanh(0.0)
    np.float64(0.0)
    """
    return _trigonometric.arctanh(_wide("arctanh", _beyond_one, x))
