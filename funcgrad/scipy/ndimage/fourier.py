"""Filters of images that are given by their Fourier transforms."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from ... import numpy as fnp
from ...core import aval_of
from ...numpy._arguments import axis_of, beside
from .filters import image, per_axis


def _multiplied(
    name: str,
    x: Any,
    values: Any,
    n: int,
    axis: int,
    factor: Callable[[Any, Any], Any],
) -> Any:
    """`x` times ``factor(frequency, value)`` along every axis; `axis` is halved if `n`, its length."""
    n, axis = operator.index(n), axis_of(name, axis, x.ndim)
    for i, value in enumerate(per_axis(name, "values", values, x.ndim)):
        length = x.shape[i]
        halved = n >= 0 and i == axis
        turns = np.arange(length) / n if halved else np.fft.fftfreq(max(length, 1))[:length]
        shape = [-1 if j == i else 1 for j in range(x.ndim)]
        dtype = np.empty(0, aval_of(x).dtype).real.dtype
        x = x * factor(beside(x, turns.reshape(shape).astype(dtype)), value)
    return x


def fourier_gaussian(
    input: Any, sigma: Any, n: int = -1, axis: int = -1, output: Any = None
) -> Any:
    """The transform times that of a Gaussian: ``exp(-2 (pi f sigma)**2)`` along every axis.

    `n`: the length of `axis` before it was halved by `rfft`; -1 if it was not.

    Shapes: ``input: (*a) -> (*a)``.   Dtypes: floating, complex; integers give float64.
    Derivative: linear in `input`; by `sigma`, one or one for each axis, too.
    Raises: ArgumentError: an output. ShapeError: the axes do not fit.
    Source: SciPy reference, ``scipy.ndimage.fourier_gaussian``.

    >>> fourier_gaussian([1.0, 1.0, 1.0], 1.0).round(4).tolist()
    [1.0, 0.1116, 0.1116]
    """
    x = image("fourier_gaussian", input, output)

    def factor(f: Any, s: Any) -> Any:
        return fnp.exp(fnp.square(f * s) * (-2.0 * np.pi**2))

    return _multiplied("fourier_gaussian", x, sigma, n, axis, factor)


def fourier_uniform(input: Any, size: Any, n: int = -1, axis: int = -1, output: Any = None) -> Any:
    """The transform times that of a window of `size` elements: ``sinc(f size)`` along every axis.

    Shapes: ``input: (*a) -> (*a)``.   Dtypes: floating, complex; integers give float64.
    Derivative: linear in `input`; by `size`, too.
    Raises: as `fourier_gaussian`.
    Source: SciPy reference, ``scipy.ndimage.fourier_uniform``.

    >>> fourier_uniform([1.0, 1.0, 1.0], 2.0).round(4).tolist()
    [1.0, 0.4135, 0.4135]
    """
    x = image("fourier_uniform", input, output)
    return _multiplied("fourier_uniform", x, size, n, axis, lambda f, s: fnp.sinc(f * s))


def fourier_shift(input: Any, shift: Any, n: int = -1, axis: int = -1, output: Any = None) -> Any:
    """The transform of the image moved by `shift`: times ``exp(-2 pi i f shift)`` along every axis.

    Shapes: ``input: (*a) -> (*a)``.   Dtypes: floating, complex; gives complex numbers.
    Derivative: linear in `input`; by `shift`, too.
    Raises: as `fourier_gaussian`.
    Source: SciPy reference, ``scipy.ndimage.fourier_shift``.

    >>> fourier_shift([1.0, 1.0, 1.0, 1.0], 1.0).round(4).tolist()
    [(1+0j), -1j, (-1+0j), 1j]
    """
    x = image("fourier_shift", input, output)

    def factor(f: Any, s: Any) -> Any:
        return fnp.exp(f * s * (-2j * np.pi))

    return _multiplied("fourier_shift", x, shift, n, axis, factor)
