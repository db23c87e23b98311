"""Discrete Fourier transforms along axes: complex, of real numbers, and back to real numbers.

The matrix of the transform is symmetric, so that without conjugates `fft` is its own transpose.
Those of the real transforms, which keep half of the frequencies, are each other's but for the
conjugate and the weights of the half: every frequency counts twice but the first and, of an even
number, the last. They are primitives because the way through `fft` takes three to five times as
long (rows of 1024 numbers or more; 1.2 to 1.8 times for one row).

NOTE [Norm] ``norm`` says which direction divides by the number n of points: "backward" the inverse,
"forward" the other one, and "ortho" divides either by sqrt(n).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..algebra import concrete_namespace, linear
from ..core import Aval
from .complex import conjugate
from .structural import batch_axis_first

# The norm with which the transform of the other direction is scaled as this one is with the norm.
OTHER_WAY = {"backward": "forward", "ortho": "ortho", "forward": "backward"}


def _complex_dtype(dtype: Any) -> Any:
    """The dtype of the transform of numbers of `dtype`, which is that of NumPy's functions."""
    return np.result_type(dtype, 1.0, 1j) if dtype.kind in "biu" else np.result_type(dtype, 1j)


def _resized(x: Aval, axis: int, length: int, dtype: Any) -> Aval:
    return Aval((*x.shape[:axis], length, *x.shape[axis + 1 :]), dtype)


# ---------------------------------------------------------------- complex


@linear(
    lambda ct, _x, *, axis, inverse, norm: fft(ct, axis=axis, inverse=inverse, norm=norm),
    aval=lambda x, *, axis, inverse, norm: Aval(x.shape, _complex_dtype(x.dtype)),
    batch=batch_axis_first,
)
def fft(xp, x, /, *, axis, inverse, norm):
    """``y_k = sum_j x_j exp(-2 pi i j k / n)`` along each of the axes `axis` (a tuple, not empty).

    If `inverse`, with the other sign in the exponent; scaled by `norm`, see NOTE [Norm].

    Shapes: ``x: (*a) -> (*a)``.   Dtypes: numbers; gives complex ones of the same precision.
    Derivative: linear; its own transpose.
    Raises: ValueError: an axis has length 0.
    Source: NumPy reference, ``numpy.fft.fft``.

    >>> fft(np.array([1.0, 2.0, 4.0, 3.0]), axis=(0,), inverse=False, norm="backward").tolist()
    [(10+0j), (-3+1j), 0j, (-3-1j)]
    """
    x = xp.asarray(x, dtype=_complex_dtype(x.dtype))  # once, not piece by piece
    if len(axis) > 1:
        return (xp.fft.ifftn if inverse else xp.fft.fftn)(x, axes=axis, norm=norm)
    return (xp.fft.ifft if inverse else xp.fft.fft)(x, axis=axis[0], norm=norm)


# ---------------------------------------------------------------- real


def _weighted(x: Any, axis: int, n: int, weight: float) -> Any:
    """Half of n frequencies: those whose mirror image is in the other half, times the weight."""
    xp = concrete_namespace(x)
    dtype = np.empty(0, x.dtype).real.dtype
    weights = xp.ones((n // 2 + 1,) + (1,) * (x.ndim - 1 - axis), dtype=dtype)
    weights[1 : (n + 1) // 2] = weight
    return x * weights


def _rfft_transpose(ct: Any, _x: Any, *, axis: int, norm: str) -> Any:
    n = _x.shape[axis]
    half = _weighted(conjugate(ct), axis, n, 0.5)
    return irfft(half, axis=axis, n=n, norm=OTHER_WAY[norm])


@linear(
    _rfft_transpose,
    aval=lambda x, *, axis, norm: _resized(
        x, axis, x.shape[axis] // 2 + 1, _complex_dtype(x.dtype)
    ),
    batch=batch_axis_first,
)
def rfft(xp, x, /, *, axis, norm):
    """``y_k = sum_j x_j exp(-2 pi i j k / n)`` along the axis, for real `x` and ``k <= n / 2``.

    The other frequencies are the conjugates of these. Scaled by `norm`, see NOTE [Norm].

    Shapes: ``x: (*a, n, *b) -> (*a, n // 2 + 1, *b)``.
    Dtypes: real; gives complex numbers of the same precision.
    Derivative: linear; its transpose is `irfft` of the conjugate with halved middle frequencies.
    Raises: ValueError: the axis has length 0. TypeError: complex numbers.
    Source: NumPy reference, ``numpy.fft.rfft``.

    >>> rfft(np.array([1.0, 2.0, 4.0, 3.0]), axis=0, norm="backward").tolist()
    [(10+0j), (-3+1j), 0j]
    """
    return xp.fft.rfft(x, axis=axis, norm=norm)


def _irfft_transpose(ct: Any, _x: Any, *, axis: int, n: int, norm: str) -> Any:
    return _weighted(conjugate(rfft(ct, axis=axis, norm=OTHER_WAY[norm])), axis, n, 2.0)


@linear(
    _irfft_transpose,
    aval=lambda x, *, axis, n, norm: _resized(x, axis, n, np.fft.irfft(np.ones(2, x.dtype)).dtype),
    batch=batch_axis_first,
)
def irfft(xp, x, /, *, axis, n, norm):
    """``y_j = Re(sum_k w_k x_k exp(2 pi i j k / n))`` along the axis, over ``k <= n / 2``.

    The weights are 1 for the first frequency and, of an even `n`, for the last, and 2 for the
    others: the inverse transform of these and their conjugates. Scaled by `norm`, see NOTE [Norm].

    Shapes: ``x: (*a, n // 2 + 1, *b) -> (*a, n, *b)``.
    Dtypes: numbers; gives real ones of the same precision.
    Derivative: linear; its transpose is the conjugate of `rfft` with doubled middle frequencies.
    Raises: ValueError: `n` is less than 1.
    Source: NumPy reference, ``numpy.fft.irfft``.

    >>> irfft(np.array([10, -3 + 1j, 0]), axis=0, n=4, norm="backward").tolist()
    [1.0, 2.0, 4.0, 3.0]
    """
    return xp.fft.irfft(x, n, axis=axis, norm=norm)
