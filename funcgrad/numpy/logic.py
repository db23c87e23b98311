"""Truth values: comparisons up to a tolerance, of whole arrays, and signed infinities.

The results are constants to every derivative.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np  # noqa: F401  (doctests)

from ..algebra import broadcast_shapes
from ..core import Tracer, aval_of
from ..errors import ArgumentError, ShapeError, where
from ..ops import logic as _logic
from ..ops.arithmetic import absolute
from ..ops.select import where as _where
from ._arguments import arrays_of, converted, is_array, operand, operands, written
from .promotion import result_type
from .searching import all


def _bool(x: Any) -> Any:
    """A Python bool, or a traced one where the value is not known."""
    return x if isinstance(x, Tracer) else bool(x)


def isclose(a: Any, b: Any, rtol: Any = 1e-05, atol: Any = 1e-08, equal_nan: bool = False) -> Any:
    """``|a - b| <= atol + rtol * |b|`` for a finite `b`, or ``a == b``.

    Shapes: broadcast.   Dtypes: numbers; gives bool.
    Derivative: zero.
    Raises: ShapeError: the shapes do not broadcast.
    Source: NumPy reference, ``numpy.isclose``.

    >>> isclose([1.0, 1.1], 1.0).tolist()
    [True, False]
    """
    a, b, atol, rtol = operands(a, b, atol, rtol)
    if aval_of(b).dtype.kind in "biu":
        b = b * 1.0
    if isinstance(b, Tracer) and aval_of(b).weak:  # its type yields to that of `a`
        b = converted(b, result_type(a, b))
    finite = _logic.isfinite(b)
    is_number = not is_array(b) and bool(finite)
    shown = b if is_number else _where(finite, b, 0.0)
    near = _logic.less_equal(absolute(a - shown), atol + rtol * abs(shown))
    out = _logic.logical_or(_logic.logical_and(finite, near), _logic.equal(a, b))
    if equal_nan:
        out = _logic.logical_or(out, _logic.logical_and(_logic.isnan(a), _logic.isnan(b)))
    return out


def allclose(a: Any, b: Any, rtol: Any = 1e-05, atol: Any = 1e-08, equal_nan: bool = False) -> Any:
    """Whether `isclose` holds everywhere.

    Shapes: broadcast ``-> ()``.   Dtypes: numbers; gives bool.
    Derivative: zero.
    Raises: ShapeError: the shapes do not broadcast.
    Source: NumPy reference, ``numpy.allclose``.

    >>> allclose([1.0, 1.1], 1.0)
    False
    """
    return _bool(all(isclose(a, b, rtol, atol, equal_nan)))


def array_equal(a1: Any, a2: Any, equal_nan: bool = False) -> Any:
    """Whether the arrays have the same shape and the same elements.

    Shapes: ``-> ()``.   Dtypes: numbers; gives bool.
    Derivative: zero.   Raises: ArgumentError: an argument is no array.
    Source: NumPy reference, ``numpy.array_equal``.

    >>> array_equal([1.0, 2.0], [1.0, 2.0])
    True
    """
    a1, a2 = arrays_of(a1, a2)
    if a1.shape != a2.shape:
        return False
    same = _logic.equal(a1, a2)
    if equal_nan:
        same = _logic.logical_or(same, _logic.logical_and(_logic.isnan(a1), _logic.isnan(a2)))
    return _bool(all(same))


def array_equiv(a1: Any, a2: Any) -> Any:
    """Whether the arrays broadcast together and are equal then.

    Shapes: ``-> ()``.   Dtypes: numbers; gives bool.
    Derivative: zero.   Raises: ArgumentError: an argument is no array.
    Source: NumPy reference, ``numpy.array_equiv``.

    >>> array_equiv([1.0, 1.0], 1.0)
    True
    """
    a1, a2 = arrays_of(a1, a2)
    try:
        broadcast_shapes("fnp.array_equiv", [a1.shape, a2.shape])
    except ShapeError:
        return False
    return _bool(all(_logic.equal(a1, a2)))


def isposinf(x: Any, out: Any = None) -> Any:
    """Whether `x` is positive infinity.

    Shapes: ``x: (*a) -> (*a)``.   Dtypes: real numbers; gives bool.
    Derivative: zero.   Raises: ArgumentError: `x` is complex, or `out` does not fit.
    Source: NumPy reference, ``numpy.isposinf``.

    >>> isposinf(np.array([1.0, np.inf, -np.inf])).tolist()
    [False, True, False]
    """
    if out is not None:
        return written("fnp.isposinf with out=", isposinf(x, None), out)
    return _logic.equal(_ordered("isposinf", x), math.inf)


def _ordered(name: str, x: Any) -> Any:
    x = operand(x)
    if aval_of(x).dtype.kind == "c":
        raise ArgumentError(f"fnp.{name}: complex numbers have no sign; ask their parts{where()}")
    return x


def isneginf(x: Any, out: Any = None) -> Any:
    """Whether `x` is negative infinity.

    Shapes: ``x: (*a) -> (*a)``.   Dtypes: real numbers; gives bool.
    Derivative: zero.   Raises: ArgumentError: `x` is complex, or `out` does not fit.
    Source: NumPy reference, ``numpy.isneginf``.

    >>> isneginf(np.array([1.0, np.inf, -np.inf])).tolist()
    [False, False, True]
    """
    if out is not None:
        return written("fnp.isneginf with out=", isneginf(x, None), out)
    return _logic.equal(_ordered("isneginf", x), -math.inf)
