"""Polynomials along spirals of the complex plane: the chirp z-transform, and ranges of frequencies."""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np

from ...algebra import concrete_namespace
from ...core import aval_of
from ...errors import ShapeError, where
from ...numpy import fft as _fft
from ...numpy._arguments import array_of, converted, module_of, operand
from ...ops.exponential import exp, log
from ...ops.join import concatenate
from ...ops.structural import flip
from .._arrays import floating
from ._vectors import axis_back, axis_last, padded, stretch


def _count(name: str, m: Any) -> int:
    found = operator.index(m)
    if found < 1:
        raise ShapeError(f"{name}: m={found}; need one point or more{where()}")
    return found


def _powers(z: Any, exponents: Any) -> Any:
    """``z^k`` on the principal branch, for a traced or plain complex number."""
    return exp(log(converted(array_of(z), complex)) * exponents)


def _chirp(m: int, w: Any, count: int) -> Any:
    """``w^(k^2 / 2)``; the m-th root of 1 if `w` is None, whose angles stay below a turn."""
    squares = np.arange(count, dtype=float) ** 2
    if w is None:
        return np.exp(-1j * math.pi / m * (squares % (2 * m)))
    return _powers(w, squares / 2)


def czt_points(m: int, w: Any = None, a: Any = 1 + 0j) -> Any:
    """``a w^-k``, where `czt` takes its polynomial; all of the unit circle by default.

    Shapes: ``-> (m,)``.   Dtypes: complex.
    Derivative: smooth in `w` and `a`, where they are not 0.
    Raises: ShapeError: `m` is less than 1.
    Source: SciPy reference, ``scipy.signal.czt_points``.

    >>> czt_points(2).round(4).tolist()
    [(1+0j), (-1+0j)]
    """
    m = _count("czt_points", m)
    k = np.arange(m)
    if w is None:
        return operand(a) * np.exp(2j * math.pi / m * k)
    return operand(a) * _powers(w, -k)


def czt(x: Any, m: Any = None, w: Any = None, a: Any = 1 + 0j, *, axis: Any = -1) -> Any:
    """``y_k = sum_n x_n z_k^-n`` for ``z_k = a w^-k``, `m` of them, by three Fourier transforms.

    By default `m` is the number of elements and `w` is ``exp(-2 pi i / m)``, which makes it the
    Fourier transform.

    Shapes: ``x: (*a, n, *b) -> (*a, m, *b)``; `w` and `a` are numbers.   Dtypes: gives complex.
    Derivative: linear in `x`; smooth in `w` and `a`, where they are not 0.
    Raises: ShapeError: there is no such axis, or no points.
    Source: Rabiner, Schafer & Rader, "The chirp z-transform algorithm", IEEE Trans. 17 (1969).

    >>> bool(np.allclose(czt([1.0, 2.0, 3.0]), np.fft.fft([1.0, 2.0, 3.0])))
    True
    """
    n = np.shape(x)[operator.index(axis)] if -np.ndim(x) <= operator.index(axis) < np.ndim(x) else 0
    m = _count("czt", n if m is None else m)
    return _along("czt", x, m, _chirp(m, w, max(m, n)), a, axis)


def zoom_fft(
    x: Any, fn: Any, m: Any = None, *, fs: Any = 2, endpoint: bool = False, axis: Any = -1
) -> Any:
    """The Fourier transform at `m` frequencies from ``fn[0]`` to ``fn[1]``, or from 0 to `fn`.

    `fs` is the sampling frequency.

    Shapes: ``x: (*a, n, *b) -> (*a, m, *b)``.   Dtypes: gives complex.
    Derivative: linear in `x`; smooth in the frequencies.
    Raises: ShapeError: there is no such axis, no points, or no two ends of the range.
    Source: SciPy reference, ``scipy.signal.zoom_fft``.

    >>> zoom_fft([1.0, 2.0, 3.0], [0.0, 1.0], 2).round(4).tolist()
    [(6+0j), (-2-2j)]
    """
    n = np.shape(x)[operator.index(axis)] if -np.ndim(x) <= operator.index(axis) < np.ndim(x) else 0
    m = _count("zoom_fft", n if m is None else m)
    ends = fn if isinstance(fn, tuple | list) or np.ndim(fn) else (0.0, fn)
    if len(ends) != 2:
        raise ShapeError(f"zoom_fft: fn has {len(ends)} elements; need 1 or 2{where()}")
    low, high = ends[0], ends[1]
    step = (high - low) / fs * (m / (m - 1) if endpoint and m > 1 else 1.0)
    squares = np.arange(max(m, n), dtype=float) ** 2
    step = array_of(step)
    chirp = exp(step * module_of(x).asarray(-1j * math.pi / m * squares))
    return _along("zoom_fft", x, m, chirp, exp(array_of(low / fs) * 2j * math.pi), axis)


def _along(name: str, x: Any, m: int, chirp: Any, a: Any, axis: Any) -> Any:
    """Bluestein's way: ``n k = (n^2 + k^2 - (k - n)^2) / 2`` makes a convolution of the sum."""
    x, place = axis_last(name, floating(x), axis)
    n = x.shape[-1]
    if not n:
        raise ShapeError(f"{name}: x is {aval_of(x)}; need an element along the axis{where()}")
    xp = concrete_namespace(x)
    chirp = converted(xp.asarray(chirp) if isinstance(chirp, np.ndarray) else chirp, complex)
    before = chirp[:n] * _powers(a, xp.asarray(-np.arange(n)))
    kernel = 1.0 / concatenate(flip(stretch(chirp, 1, n), axis=(0,)), stretch(chirp, 0, m), axis=0)
    size = 1 << (n + m - 2).bit_length()
    spectrum = _fft.fft(padded(x * before, 0, size - n)) * _fft.fft(
        padded(kernel, 0, size - n - m + 1)
    )
    y = stretch(_fft.ifft(spectrum), n - 1, n + m - 1) * chirp[:m]
    return axis_back(y, place)
