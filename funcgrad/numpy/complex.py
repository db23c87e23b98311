"""Complex numbers: parts, angle, and which arrays are complex."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..core import Tracer, aval_of
from ..ops import complex as _complex
from ..ops.logic import equal, not_equal
from ._arguments import concrete, operand
from .creation import zeros_like


def real(val: Any) -> Any:
    """The real part, a view; `val` itself if it is real.

    Shapes: ``val: (*a) -> (*a)``.   Dtypes: numbers.
    Derivative: linear over the reals.
    Raises: ArgumentError: `val` is no array.
    Source: NumPy reference, ``numpy.real``.

    >>> float(real(1 + 2j))
    1.0
    """
    val = operand(val)
    return _complex.real(val) if aval_of(val).dtype.kind == "c" else val


def imag(val: Any) -> Any:
    """The imaginary part, a view; zeros if `val` is real.

    Shapes: ``val: (*a) -> (*a)``.   Dtypes: numbers.
    Derivative: linear over the reals.
    Raises: ArgumentError: `val` is no array.
    Source: NumPy reference, ``numpy.imag``.

    >>> float(imag(1 + 2j))
    2.0
    """
    val = operand(val)
    if aval_of(val).dtype.kind == "c":
        return _complex.imag(val)
    return zeros_like(val) if hasattr(val, "shape") else 0 * val


def angle(z: Any, deg: bool = False) -> Any:
    """The angle of `z` from the positive real axis, in [-pi, pi]; in degrees if `deg`.

    Shapes: ``z: (*a) -> (*a)``.   Dtypes: numbers; gives floats.
    Derivative: that of ``arctan2(Im z, Re z)``; 0 at 0, and for real `z` 0.
    Raises: ArgumentError: `z` is no array.
    Source: NumPy reference, ``numpy.angle``.

    >>> float(angle(1j, deg=True))
    90.0
    """
    out = _complex.angle(operand(z))
    return out * (180.0 / math.pi) if deg else out


def real_if_close(a: Any, tol: float = 100) -> Any:
    """The real part if all imaginary parts are nearly 0, `a` itself otherwise.

    Shapes: ``a: (*a) -> (*a)``.   Dtypes: numbers; the result's depends on the values.
    Derivative: that of the real part, or 1.
    Raises: ConcretizationError: the values are not known.
    Source: NumPy reference, ``numpy.real_if_close``.

    >>> real_if_close(np.array([2.0 + 0j])).tolist()
    [2.0]
    """
    a = operand(a)
    if aval_of(a).dtype.kind != "c":
        return a
    close = np.isrealobj(np.real_if_close(concrete("real_if_close", "a", a), tol))
    return _complex.real(a) if close else a


def iscomplex(x: Any) -> Any:
    """Whether the imaginary part is not 0, element by element.

    Shapes: ``x: (*a) -> (*a)``.   Dtypes: numbers; gives bool.
    Derivative: zero.   Source: NumPy reference, ``numpy.iscomplex``.

    >>> iscomplex([1 + 1j, 1 + 0j]).tolist()
    [True, False]
    """
    return not_equal(imag(x), 0)


def isreal(x: Any) -> Any:
    """Whether the imaginary part is 0, element by element.

    Shapes: ``x: (*a) -> (*a)``.   Dtypes: numbers; gives bool.
    Derivative: zero.   Source: NumPy reference, ``numpy.isreal``.

    >>> isreal([1 + 1j, 1 + 0j]).tolist()
    [False, True]
    """
    return equal(imag(x), 0)


def iscomplexobj(x: Any) -> bool:
    """Whether the dtype is complex, also of what only has one, as ``jax.ShapeDtypeStruct``.

    Derivative: none.   Source: NumPy reference, ``numpy.iscomplexobj``.

    >>> iscomplexobj([1.0, 1j])
    True
    """
    dtype = getattr(x, "dtype", None)
    return (dtype if isinstance(dtype, np.dtype) else aval_of(operand(x)).dtype).kind == "c"


def isrealobj(x: Any) -> bool:
    """Whether the dtype is not complex.

    Derivative: none.   Source: NumPy reference, ``numpy.isrealobj``.

    >>> isrealobj([1.0, 1j])
    False
    """
    return not iscomplexobj(x)


def isscalar(element: Any) -> bool:
    """Whether `element` is a number, not an array: never for a traced value.

    Derivative: none.   Source: NumPy reference, ``numpy.isscalar``.

    >>> isscalar(3.1)
    True
    """
    return not isinstance(element, Tracer) and np.isscalar(element)
