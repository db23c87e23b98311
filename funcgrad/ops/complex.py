"""Complex numbers: their parts, conjugation, modulus and angle.

Linear over the reals, not over the complex numbers. Cotangents pair as ``Re(sum(ct * t))``, which
fixes the transposes: that of `real` is the embedding, that of `imag` multiplies by -i. The parts are
views: writing into them writes into the complex array.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..algebra import Elementwise, broadcast_shapes, linear, view
from ..core import Aval, aval_of
from ..errors import ShapeError
from ..errors import where as at
from .arithmetic import absolute, divide
from .logic import isfinite, isinf, isnan, logical_and, not_equal
from .rounding import sign
from .select import where
from .trigonometric import arctan2


def _part_dtype(dtype: Any) -> Any:
    return np.empty(0, dtype).real.dtype


def _part_aval(z: Aval) -> Aval:
    return Aval(z.shape, _part_dtype(z.dtype))


def _same(size: int, ndim: int, params: dict[str, Any]) -> dict[str, Any]:
    """The parameters of a view that a batch axis in front changes nothing of."""
    return params


@view(
    lambda ct, _z: ct,  # the kind makes the cotangent of a complex operand complex
    aval=_part_aval,
    lift=_same,
)
def real(xp, z, /):
    """The real part of `z`.

    Shapes: ``z: (*a) -> (*a)``.   Dtypes: complex ``->`` floating.
    Derivative: linear over the reals; the transpose embeds the reals.
    Raises: nothing of its own.
    Source: NumPy reference, ``numpy.real``.

    >>> real(np.array([1 + 2j])).tolist()
    [1.0]
    """
    return z.real


@view(lambda ct, _z: ct * -1j, aval=_part_aval, lift=_same)
def imag(xp, z, /):
    """The imaginary part of `z`.

    Shapes: ``z: (*a) -> (*a)``.   Dtypes: complex ``->`` floating.
    Derivative: linear over the reals; the transpose multiplies by -i, as ``Im(z) = Re(-i z)``.
    Raises: nothing of its own.
    Source: NumPy reference, ``numpy.imag``.

    >>> imag(np.array([1 + 2j])).tolist()
    [2.0]
    """
    return z.imag


@view(
    lambda ct, _z: conjugate(as_complex(ct)),
    aval=lambda z: Aval((*z.shape, 2), _part_dtype(z.dtype)),
    lift=_same,
)
def as_real(xp, z, /):
    """The real and the imaginary part of `z` along a new last axis.

    Shapes: ``z: (*a) -> (*a, 2)``.   Dtypes: complex ``->`` floating.
    Derivative: linear over the reals; its transpose is `as_complex`, conjugated.
    Raises: nothing of its own.
    Source: the layout of complex numbers in C; PyTorch's ``torch.view_as_real``.

    >>> as_real(np.array([1 + 2j])).tolist()
    [[1.0, 2.0]]
    """
    z = xp.asarray(z)
    steps = (*z.strides, z.dtype.itemsize // 2)
    return xp.lib.stride_tricks.as_strided(z.real, (*z.shape, 2), steps)


def _as_complex_aval(x: Aval) -> Aval:
    if x.shape[-1:] != (2,):
        raise ShapeError(f"as_complex: need two parts along the last axis, found {x}{at()}")
    return Aval(x.shape[:-1], np.promote_types(x.dtype, np.complex64))


@view(
    lambda ct, _x: as_real(conjugate(ct)),
    aval=_as_complex_aval,
    lift=_same,
    may_copy=True,
)
def as_complex(xp, x, /):
    """``x[..., 0] + i x[..., 1]``.

    Shapes: ``x: (*a, 2) -> (*a)``.   Dtypes: float32, float64 ``->`` complex.
    Derivative: linear; its transpose is `as_real`, conjugated.
    Raises: ShapeError: the last axis has not 2 elements.
    Source: the layout of complex numbers in C; PyTorch's ``torch.view_as_complex``.

    >>> as_complex(np.array([[1.0, 2.0]])).tolist()
    [(1+2j)]
    """
    aval = _as_complex_aval(aval_of(x))
    if x.strides[-1] != x.dtype.itemsize:
        x = xp.ascontiguousarray(x)
    return x.view(aval.dtype)[..., 0]


@linear(
    lambda ct, _z: conjugate(ct),
    aval=lambda z: Aval(z.shape, z.dtype),
    batch=Elementwise.batch,
    own_inverse=True,
)
def conjugate(xp, z, /):
    """``x - i y`` for ``z = x + i y``.

    Shapes: ``z: (*a) -> (*a)``.   Dtypes: numbers.
    Derivative: linear over the reals; its own transpose.
    Raises: nothing of its own.
    Source: NumPy reference, ``numpy.conjugate``.

    >>> conjugate(np.array([1 + 2j])).tolist()
    [(1-2j)]
    """
    return xp.conjugate(z)


def _complex_aval(x: Aval, y: Aval) -> Aval:
    shape = broadcast_shapes("complex_from", [x.shape, y.shape])
    parts = np.result_type(x.promoting(), y.promoting())
    return Aval(shape, np.promote_types(parts, np.complex64))


@linear(
    lambda ct, _x, _y: ct,  # the kind takes the real part for a real operand
    lambda ct, _x, _y: ct * 1j,
    aval=_complex_aval,
    batch=Elementwise.batch,
)
def complex_from(xp, x, y, /):
    """``x + i y``, for real `x` and `y`; exact for infinities too.

    Shapes: broadcast.   Dtypes: real numbers; gives complex64 for float32, else complex128.
    Derivative: linear; the transposes are the real part and minus the imaginary part.
    Raises: ShapeError: the shapes do not broadcast.
    Source: the definition of the complex numbers.

    >>> complex_from(np.array([1.0, 2.0]), 3.0).tolist()
    [(1+3j), (2+3j)]
    """
    aval = _complex_aval(aval_of(x), aval_of(y))
    out = xp.empty(aval.shape, aval.dtype)
    out.real[...] = x
    out.imag[...] = y
    return out


# ---------------------------------------------------------------- functions of them

modulus = absolute  # its rule covers complex numbers


def angle(z: Any) -> Any:
    """The angle of complex `z` from the real axis, in [-pi, pi]; its derivative at 0 is 0.

    >>> float(angle(np.array(-1.0 + 0.0j)))
    3.141592653589793
    """
    return arctan2(imag(z), real(z))


def unit(z: Any) -> Any:
    """``z / |z|``, 0 at 0: what `sign` means for complex numbers; its derivative at 0 is 0.

    With one infinite part, the direction of that; NaN with two.

    >>> unit(np.array([3 + 4j, 0j, complex(2.0, np.inf)])).tolist()
    [(0.6+0.8j), 0j, 1j]
    """
    size = absolute(z)
    ordinary = logical_and(isfinite(size), not_equal(size, 0))
    finite = divide(where(ordinary, z, 0.0), where(ordinary, size, 1.0))
    a, b = real(z), imag(z)
    far = isinf(a)
    one = where(logical_and(far, isinf(b)), math.nan, where(far, sign(a), sign(b) * 1j))
    return where(isinf(size), one, where(isnan(size), math.nan, finite))
