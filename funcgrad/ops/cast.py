"""Changing the dtype: `cast` between inexact types, `cast_constant` to and from the others."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..algebra import Elementwise, elementwise_constant, linear
from ..core import Aval, Tracer, aval_of, moves
from ..errors import HandoverError, where


def _converted(xp: Any, x: Any, dtype: np.dtype) -> Any:
    """`x` in another dtype; the imaginary part is dropped on purpose, so without a warning."""
    if dtype.kind in "iuf" and xp.result_type(x).kind == "c":
        x = x.real
    return x.astype(dtype) if hasattr(x, "astype") else dtype.type(x)


@linear(
    lambda ct, _x, *, dtype: ct,  # the kind gives a cotangent its operand's dtype
    aval=lambda x, *, dtype: Aval(x.shape, dtype),
    batch=Elementwise.batch,
)
def cast(xp, x, /, *, dtype):
    """`x` in another floating or complex dtype; a complex `x` made real keeps its real part.

    Shapes: ``x: (*a) -> (*a)``.   Dtypes: floating, complex ``-> dtype``, a hashable `np.dtype`.
    Derivative: linear over the reals; its transpose casts back.
    Raises: nothing of its own.
    Source: NumPy reference, ``ndarray.astype``.

    >>> cast(np.array([1 + 2j]), dtype=np.dtype("float32")).tolist()
    [1.0]
    """
    return _converted(xp, x, dtype)


@elementwise_constant
def cast_constant(xp, x, /, *, dtype):
    """`x` converted to integers or booleans, or from them to numbers.

    Shapes: ``x: (*a) -> (*a)``.   Dtypes: all ``-> dtype``, a hashable `np.dtype`.
    Derivative: zero.
    Raises: nothing of its own; numbers out of range are NumPy's RuntimeWarning.
    Source: NumPy reference, ``ndarray.astype``.

    >>> cast_constant(np.array([1.7, -1.7]), dtype=np.dtype("int64")).tolist()
    [1, -1]
    """
    return _converted(xp, x, dtype)


class _AsNumber(Elementwise):
    def aval(self, *avals: Aval, **params: Any) -> Aval:
        (x,) = avals
        return Aval(x.shape, x.dtype, weak=not x.shape)


@lambda impl: _AsNumber(impl, (1,))
def as_number(xp, x, /):
    """`x` as a Python number, which widens no array that it meets; of a batch, the numbers as they are.

    Shapes: ``x: () -> ()``.   Dtypes: numbers.
    Derivative: 1.
    Raises: nothing of its own.
    Source: Python reference, "Numeric types".

    >>> (as_number(np.int64(3)) * np.ones(1, np.float32)).dtype
    dtype('float32')
    """
    if not getattr(x, "shape", ()):
        return x.item() if hasattr(x, "item") else x
    return xp.positive(x)


def astype(x: Any, dtype: Any) -> Any:
    """`x` in the dtype `dtype`, always a new array: `cast` or `cast_constant`.

    Raises: HandoverError: traced floating or complex numbers would be Python's, which nobody follows.

    >>> astype(np.array([1.0, 2.5]), int).tolist()
    [1, 2]
    """
    dtype = np.dtype(dtype)
    if dtype.kind == "O" and isinstance(x, Tracer) and moves(x.aval.dtype):
        raise HandoverError(
            f"dtype=object would cut the derivative of {x.aval}: it holds Python's numbers; "
            f"leave it out, or keep traced values in a list{where()}"
        )
    inexact = moves(dtype) and moves(aval_of(x).dtype)
    return (cast if inexact else cast_constant)(x, dtype=dtype)
