"""Analytic signals of two axes, filters of least phase, how much events follow a period."""

from __future__ import annotations

import math
import operator
import warnings
from typing import Any

import numpy as np

from ... import numpy as fnp
from ...core import aval_of
from ...errors import ArgumentError, ShapeError, where
from ...indexing import known
from ...numpy import fft as _fft
from ...numpy._arguments import beside
from .._arrays import floating, floating_each


def hilbert2(x: Any, N: Any = None, axes: tuple[int, int] = (-2, -1)) -> Any:
    """The analytic signal along two axes: of both only the frequency 0 and the positive ones, doubled.

    `N`: the lengths along the axes, or one for both.

    Shapes: ``x: (*a, m, n) -> (*a, N, N)``, with the axes at `axes`.
    Dtypes: real; gives complex numbers.
    Derivative: linear.
    Raises: ArgumentError: `x` is complex, or the axes are one. ShapeError: a length is less than 1.
    Source: SciPy reference, ``scipy.signal.hilbert2``.

    >>> hilbert2(np.eye(2)).tolist()
    [[(0.5+0j), (0.5+0j)], [(0.5+0j), (0.5+0j)]]
    """
    x = fnp.atleast_2d(floating(x))
    if aval_of(x).dtype.kind == "c":
        raise ArgumentError(f"hilbert2: needs real numbers, found {x.dtype}{where()}")
    if len(axes) != 2 or axes[0] % x.ndim == axes[1] % x.ndim:
        raise ArgumentError(f"hilbert2: axes={axes}; need two that differ{where()}")
    if N is None:
        sizes = tuple(x.shape[i] for i in axes)
    else:
        sizes = tuple(map(operator.index, N)) if np.ndim(N) else (operator.index(N),) * 2
    if len(sizes) != 2 or min(sizes) < 1:
        raise ShapeError(f"hilbert2: N={N!r}; need one length or two, of 1 or more{where()}")
    found = _fft.fftn(x, sizes, axes)
    for axis, n in zip(axes, sizes, strict=True):
        weights = np.where(np.arange(n) < (n + 1) // 2, 2.0, 0.0)
        weights[0] = 1.0
        shape = [1] * x.ndim
        shape[axis] = n
        found = found * beside(x, weights.reshape(shape).astype(aval_of(x).dtype))
    return _fft.ifftn(found, axes=axes)


def minimum_phase(
    h: Any, method: str = "homomorphic", n_fft: int | None = None, *, half: bool = True
) -> Any:
    """The filter of least phase with the response ``|H|^(1/2)`` of the symmetric `h`, or ``|H|``.

    ``|H|`` without `half`. By folding the transform of ``log |H|`` to one side, with `n_fft` points;
    a ten millionth of the least ``|H|`` is added to it.

    Shapes: ``h: (n) -> (ceil(n / 2))``, or ``(n)``.   Dtypes: real; integers give float64.
    Derivative: smooth where ``|H|`` is nowhere 0.
    Raises: ArgumentError: `h` is complex, or `method` "hilbert", whose derivative is infinite where
    ``H`` is least. ShapeError: `h` is no vector of 3 or more, or `n_fft` less.
    Source: Damera-Venkata, Evans & McCaslin, IEEE Trans. Signal Process. 48 (2000) 1491; SciPy
    reference, ``scipy.signal.minimum_phase``.

    >>> minimum_phase([1.0, 4.0, 1.0]).round(3).tolist()
    [1.932, 0.518]
    """
    if method != "homomorphic":
        raise ArgumentError(f"minimum_phase: method={method!r}; need 'homomorphic'{where()}")
    h = floating(h)
    if aval_of(h).dtype.kind == "c":
        raise ArgumentError(f"minimum_phase: needs real numbers, found {h.dtype}{where()}")
    if h.ndim != 1 or h.shape[0] < 3:
        raise ShapeError(f"minimum_phase: h is {aval_of(h)}; need a vector of 3 or more{where()}")
    size = h.shape[0]
    n = 2 ** math.ceil(math.log2(200 * (size - 1))) if n_fft is None else operator.index(n_fft)
    if n < size:
        raise ShapeError(f"minimum_phase: n_fft={n}; need {size} or more{where()}")
    value = known(h)
    if value is not None and not bool((abs(value - value[::-1]) <= 1e-8 + 1e-6 * abs(value)).all()):
        warnings.warn("minimum_phase: h is not symmetric", RuntimeWarning, stacklevel=2)
    response = fnp.absolute(_fft.fft(h, n))
    least = fnp.min(fnp.where(response > 0, response, math.inf))
    cepstrum = _fft.ifft(fnp.log(response + 1e-7 * least)).real * (0.5 if half else 1.0)
    fold = np.where(np.arange(n) < (n + 1) // 2, 2.0, 0.0)
    fold[0] = 1.0
    if n % 2:
        fold[n // 2] = 1.0
    found = _fft.ifft(fnp.exp(_fft.fft(cepstrum * beside(h, fold.astype(aval_of(h).dtype))))).real
    return found[: (size + 1) // 2 if half else size]


def vectorstrength(events: Any, period: Any) -> tuple[Any, Any]:
    """How much times follow a period, 0 to 1, and their phase: of the mean of ``exp(2 pi i t / T)``.

    Shapes: ``events: (n), period: () or (k) -> () or (k), () or (k)``.   Dtypes: real; integers give
    float64.
    Derivative: by both, where the strength is not 0.
    Raises: ShapeError: other shapes. ArgumentError: a known period is not positive.
    Source: van Hemmen, Longtin & Vollmayr, Chaos 21 (2011) 047508; SciPy reference,
    ``scipy.signal.vectorstrength``.

    >>> [float(x.round(4)) for x in vectorstrength([0.25, 1.25, 2.25], 1.0)]
    [1.0, 1.5708]
    """
    events, period = floating_each(events, period)
    if events.ndim > 1 or period.ndim > 1:
        raise ShapeError(
            f"vectorstrength: events are {aval_of(events)}, period is {aval_of(period)}; need rows or "
            f"numbers{where()}"
        )
    value = known(period)
    if value is not None and bool((value <= 0).any()):
        raise ArgumentError(f"vectorstrength: periods must be positive{where()}")
    turns = 2.0 * math.pi * (fnp.ravel(events) / period[..., None])
    middle = fnp.mean(fnp.exp(1j * turns), axis=-1)
    return fnp.absolute(middle), fnp.angle(middle)
