"""The Fourier transforms of ``jax.lax``, along the last axes of an array."""

from __future__ import annotations

import enum
from typing import Any

import numpy as np  # noqa: F401  (doctests)

from ..core import aval_of
from ..errors import ArgumentError, ShapeError, where
from ..numpy import fft as _fft
from ..numpy._arguments import array_of
from ._arguments import ints


class FftType(enum.IntEnum):
    """Which transform `fft` is: of complex numbers, back, or with one side real."""

    FFT = 0
    IFFT = 1
    RFFT = 2
    IRFFT = 3


_TRANSFORMS = {
    FftType.FFT: _fft.fftn,
    FftType.IFFT: _fft.ifftn,
    FftType.RFFT: _fft.rfftn,
    FftType.IRFFT: _fft.irfftn,
}


def fft(x: Any, fft_type: Any, fft_lengths: Any) -> Any:
    """The discrete Fourier transform of the last axes of `x`, whose lengths are `fft_lengths`.

    Shapes: ``(*a, *lengths) -> (*a, *lengths)``, but ``lengths[-1] // 2 + 1`` for the last length of
    what "RFFT" gives and "IRFFT" takes.
    Dtypes: real for "RFFT", else numbers; complex results but for "IRFFT".
    Derivative: linear.
    Raises: ArgumentError: there is no such transform, or "RFFT" of complex numbers.
    ShapeError: `x` has other lengths, or there are more than three.
    Source: XLA's operation semantics, "Fft".

    >>> fft(np.array([1.0, 2.0, 4.0]), "RFFT", (3,)).round(4).tolist()
    [(7+0j), (-2+1.7321j)]
    """
    try:
        kind = FftType[fft_type.upper()] if isinstance(fft_type, str) else FftType(fft_type)
    except (KeyError, ValueError):
        known = ", ".join(FftType.__members__)
        raise ArgumentError(
            f"lax.fft: fft_type={fft_type!r}; need one of {known}{where()}"
        ) from None
    x = array_of(x)
    lengths = ints("fft", "fft_lengths", fft_lengths)
    expected = lengths
    if lengths and kind is FftType.IRFFT:
        expected = (*lengths[:-1], lengths[-1] // 2 + 1)
    if not 1 <= len(lengths) <= 3 or x.shape[max(x.ndim - len(lengths), 0) :] != expected:
        raise ShapeError(
            f"lax.fft: {kind.name} with fft_lengths={lengths} of {aval_of(x)}; need one to three "
            f"lengths, here for last axes of {expected}{where()}"
        )
    return _TRANSFORMS[kind](x, lengths, tuple(range(-len(lengths), 0)))
