"""Bits of integers: counted, packed into bytes and unpacked; parts of floating-point numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core import aval_of
from ..errors import ArgumentError, ShapeError, where
from ..ops import arithmetic as _arithmetic
from ..ops.bits import bit_count
from ..ops.join import pad
from ..ops.rounding import binary_exponent
from ._arguments import array_of, axis_of, beside, converted
from ._ufuncs import with_options
from .ordering import moveaxis
from .shaping import ravel


def frexp(x: Any, /, *out: Any, **options: Any) -> tuple[Any, Any]:
    """`m` in [1/2, 1) with the sign of `x`, and the integer `e`, for which ``x = m * 2**e``.

    Shapes: ``x: (*a) -> (*a), (*a)``.   Dtypes: real numbers; integers give floats.
    Derivative: ``2**-e`` and zero; at powers of two too.
    Raises: ArgumentError: `x` is no array.
    Source: NumPy reference, ``numpy.frexp``.

    >>> [part.tolist() for part in frexp(np.array([0.3, 6.0]))]
    [[0.6, 0.75], [-1, 3]]
    """
    if out or options:
        return with_options("frexp", (x, *out), options)
    x = array_of(x)
    e = binary_exponent(x)
    return _arithmetic.ldexp(x, -e), e


def bitwise_count(x: Any, /, *out: Any, **options: Any) -> Any:
    """How many bits of ``|x|`` are 1.

    Shapes: ``x: (*a) -> (*a)``.   Dtypes: integers, booleans; gives uint8.
    Derivative: zero.
    Raises: ArgumentError: `x` is not of integers.
    Source: NumPy reference, ``numpy.bitwise_count``.

    >>> bitwise_count(np.array([7, -2])).tolist()
    [3, 1]
    """
    if out or options:
        return with_options("bitwise_count", (x, *out), options)
    x = array_of(x)
    dtype = aval_of(x).dtype
    if dtype.kind not in "biu":
        raise ArgumentError(f"fnp.bitwise_count: needs integers, found {dtype}{where()}")
    x = converted(x, np.uint8) if dtype.kind == "b" else _arithmetic.absolute(x)
    return converted(bit_count(x), np.uint8)


def packbits(a: Any, /, axis: int | None = None, bitorder: str = "big") -> Any:
    """Eight truth values in a byte, zeros at the end where there are none left.

    Shapes: ``(*a, n, *b) -> (*a, ceil(n / 8), *b)``.   Dtypes: integers, booleans; gives uint8.
    Derivative: zero.
    Raises: ArgumentError: `a` is not of integers, or an unknown order. ShapeError: no such axis.
    Source: NumPy reference, ``numpy.packbits``.

    >>> packbits(np.array([True, False, True])).tolist()
    [160]
    """
    x, axis = _bits("packbits", a, axis, bitorder)
    x = moveaxis(x != 0, axis, -1)
    widths = ((0, 0),) * (x.ndim - 1) + ((0, -x.shape[-1] % 8),)
    x = pad(x, widths=widths)
    x = x.reshape((*x.shape[:-1], x.shape[-1] // 8, 8)) * beside(x, _weights(bitorder))
    return moveaxis(converted(x.sum(axis=-1), np.uint8), -1, axis)


def unpackbits(
    a: Any, /, axis: int | None = None, count: int | None = None, bitorder: str = "big"
) -> Any:
    """The bits of bytes, 0 or 1; of them `count`, or without the last ``-count``.

    Shapes: ``(*a, n, *b) -> (*a, 8 n, *b)``, or `count`.   Dtypes: uint8.
    Derivative: zero.
    Raises: ArgumentError: `a` is not of uint8, or an unknown order. ShapeError: no such axis.
    Source: NumPy reference, ``numpy.unpackbits``.

    >>> unpackbits(np.array([160], np.uint8), count=4).tolist()
    [1, 0, 1, 0]
    """
    x, axis = _bits("unpackbits", a, axis, bitorder)
    if aval_of(x).dtype != np.uint8:
        raise ArgumentError(f"fnp.unpackbits: needs uint8, found {aval_of(x).dtype}{where()}")
    x = moveaxis(x, axis, -1)
    x = (x.reshape((*x.shape, 1)) & beside(x, _weights(bitorder))) != 0
    x = x.reshape((*x.shape[:-2], 8 * x.shape[-2]))
    if count is not None:
        lack = max(count - x.shape[-1], 0)
        x = pad(x, widths=((0, 0),) * (x.ndim - 1) + ((0, lack),))[..., :count]
    return moveaxis(converted(x, np.uint8), -1, axis)


def _weights(bitorder: str) -> np.ndarray:
    powers = np.left_shift(np.uint8(1), np.arange(8, dtype=np.uint8))
    return powers if bitorder == "little" else powers[::-1].copy()


def _bits(name: str, a: Any, axis: int | None, bitorder: str) -> tuple[Any, int]:
    if bitorder not in ("big", "little"):
        raise ArgumentError(f"fnp.{name}: bitorder={bitorder!r}; need 'big' or 'little'{where()}")
    x = array_of(a)
    if aval_of(x).dtype.kind not in "biu":
        raise ArgumentError(f"fnp.{name}: needs integers, found {aval_of(x).dtype}{where()}")
    if axis is None:
        return ravel(x), 0
    if not x.ndim:
        raise ShapeError(f"fnp.{name}: axis {axis} does not exist in an array of no axes{where()}")
    return x, axis_of(name, axis, x.ndim)
