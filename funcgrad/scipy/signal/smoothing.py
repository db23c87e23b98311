"""Trends, smoothing polynomials, analytic signals, other sampling rates."""

from __future__ import annotations

import functools
import itertools
import math
import operator
from typing import Any

import numpy as np

from ...algebra import concrete_namespace
from ...errors import ArgumentError, ShapeError, where
from ...numpy import fft as _fft
from ...numpy._arguments import array_of, converted
from ...numpy.repeating import pad as pad_by_mode
from ...ops.contract import matmul, tensordot
from ...ops.join import concatenate
from .._arrays import floating
from .._options import refuse_options
from ._vectors import axis_back, axis_last, padded, stretch
from .windows import get_window

# ---------------------------------------------------------------- trends


@functools.lru_cache(maxsize=64)
def _line(n: int) -> np.ndarray:
    """An orthonormal basis of the lines through `n` points."""
    line = np.linspace(-1.0, 1.0, n) if n > 1 else np.ones(1)
    rows = [np.full(n, 1 / math.sqrt(n))]
    if n > 1:
        rows.append(line / np.linalg.norm(line))
    return np.stack(rows)


def _without_line(x: Any) -> Any:
    basis = concrete_namespace(x).asarray(
        _line(x.shape[-1]).astype(np.empty(0, x.dtype).real.dtype)
    )
    return x - matmul(tensordot(x, basis, ((x.ndim - 1,), (1,))), basis)


def detrend(
    data: Any, axis: int = -1, type: str = "linear", bp: Any = 0, overwrite_data: bool = False
) -> Any:
    """`data` less the mean ("constant"), or less the line of least squares, along the axis.

    `bp`: places between which each piece has a line of its own.

    Shapes: ``data: (*a, n, *b) -> (*a, n, *b)``.   Dtypes: floating, complex; integers give float64.
    Derivative: linear.
    Raises: ArgumentError: an unknown `type`. ShapeError: a place beyond the end, or no such axis.
    Source: SciPy reference, ``scipy.signal.detrend``.

    >>> detrend([1.0, 3.0, 5.0], type="constant").tolist()
    [-2.0, 0.0, 2.0]
    """
    if type not in ("linear", "l", "constant", "c"):
        raise ArgumentError(f"detrend: type={type!r}; need 'linear' or 'constant'{where()}")
    x, place = axis_last("detrend", floating(data), axis)
    if not x.size:
        return axis_back(x, place)
    if type in ("constant", "c"):
        return axis_back(x - x.mean(axis=-1, keepdims=True), place)
    n = x.shape[-1]
    places = sorted({0, n, *(int(i) for i in np.atleast_1d(bp))})
    if places[0] < 0 or places[-1] > n:
        raise ShapeError(f"detrend: bp={bp} of {n} elements along the axis{where()}")
    pieces = [_without_line(stretch(x, start, stop)) for start, stop in itertools.pairwise(places)]
    out = pieces[0] if len(pieces) == 1 else concatenate(*pieces, axis=x.ndim - 1)
    return axis_back(out, place)


# ---------------------------------------------------------------- analytic signals


def hilbert(x: Any, N: Any = None, axis: int = -1) -> Any:
    """The analytic signal: `x` with its negative frequencies removed and the positive ones doubled.

    Shapes: ``x: (*a, m, *b) -> (*a, N, *b)``.   Dtypes: real; gives complex numbers.
    Derivative: linear.
    Raises: ArgumentError: `x` is complex. ShapeError: `N` is less than 1, or there is no such axis.
    Source: SciPy reference, ``scipy.signal.hilbert``.

    >>> hilbert([1.0, 0.0, -1.0, 0.0]).tolist()
    [(1+0j), 1j, (-1+0j), -1j]
    """
    x, place = axis_last("hilbert", floating(x), axis)
    if x.dtype.kind == "c":
        raise ArgumentError(f"hilbert: needs real numbers, found {x.dtype}{where()}")
    n = x.shape[-1] if N is None else operator.index(N)
    frequencies = _fft.fft(x, n)
    weights = np.zeros(n, x.dtype)
    weights[: n // 2 + 1] = 2.0
    weights[0] = 1.0
    if n % 2 == 0:
        weights[n // 2] = 1.0
    weights = concrete_namespace(frequencies).asarray(weights)
    return axis_back(_fft.ifft(frequencies * weights), place)


# ---------------------------------------------------------------- smoothing polynomials


@functools.lru_cache(maxsize=64)
def _fitting(window: int, degree: int, deriv: int, first: float, places: tuple[float, ...]) -> Any:
    """The matrix from `window` elements, at ``first, first + 1, ...``, to the derivatives of their
    polynomial at these places."""
    size = max(window / 2.0, 1.0)  # powers of numbers of about 1
    nodes = (np.arange(window) + first) / size
    at = np.array(places) / size
    fit = np.linalg.pinv(np.vander(nodes, degree + 1, increasing=True))
    powers = np.zeros((len(at), degree + 1))
    for k in range(deriv, degree + 1):
        factor = math.factorial(k) / math.factorial(k - deriv)
        powers[:, k] = factor * at ** (k - deriv) / size**deriv
    return powers @ fit


def _require_window(name: str, window_length: Any, polyorder: Any, deriv: Any) -> tuple[int, ...]:
    window, degree, deriv = map(operator.index, (window_length, polyorder, deriv))
    if window < 1 or not 0 <= degree < window or deriv < 0:
        raise ArgumentError(
            f"{name}: window_length={window}, polyorder={degree}, deriv={deriv}; need a degree below "
            f"the length of the window, and a derivative of 0 or more{where()}"
        )
    return window, degree, deriv


def savgol_coeffs(
    window_length: int,
    polyorder: int,
    deriv: int = 0,
    delta: Any = 1.0,
    pos: Any = None,
    use: str = "conv",
    *,
    xp: Any = None,
    device: Any = None,
) -> Any:
    """The weights with which a window gives the value (or a derivative) of its fitted polynomial.

    At `pos`, the middle by default; last first for `use` "conv", or in order for "dot".

    Shapes: ``-> (window_length,)``.   Dtypes: float64.
    Derivative: that of ``delta^-deriv``.
    Raises: ArgumentError: the degree is not below the length, or an unknown `use`.
    Source: SciPy reference, ``scipy.signal.savgol_coeffs``.

    >>> savgol_coeffs(3, 1).round(4).tolist()
    [0.3333, 0.3333, 0.3333]
    """
    refuse_options("savgol_coeffs", xp=xp, device=device)
    window, degree, deriv = _require_window("savgol_coeffs", window_length, polyorder, deriv)
    if use not in ("conv", "dot"):
        raise ArgumentError(f"savgol_coeffs: use={use!r}; need 'conv' or 'dot'{where()}")
    middle = (window - 1) / 2 if pos is None else float(pos)
    weights = _fitting(window, degree, deriv, -middle, (0.0,))[0]
    weights = weights[::-1].copy() if use == "conv" else weights.copy()
    return weights / delta**deriv if deriv else weights


_SAVGOL = {"mirror": "reflect", "nearest": "edge", "wrap": "wrap"}


def savgol_filter(
    x: Any,
    window_length: int,
    polyorder: int,
    deriv: int = 0,
    delta: Any = 1.0,
    axis: int = -1,
    mode: str = "interp",
    cval: Any = 0.0,
) -> Any:
    """The values (or a derivative) of the polynomials that are fitted to windows around each element.

    `mode`: at the ends the polynomial of the last window ("interp"), or `x` goes on there as `cval`
    ("constant"), "mirror", "nearest" or "wrap".

    Shapes: ``x: (*a, n, *b) -> (*a, n, *b)``.   Dtypes: real; integers give float64.
    Derivative: linear in `x`; that of ``delta^-deriv``.
    Raises: ArgumentError: complex numbers, an even window, a degree not below it, or an unknown mode.
    ShapeError: "interp" of fewer elements than the window.
    Source: SciPy reference, ``scipy.signal.savgol_filter``.

    >>> savgol_filter([1.0, 4.0, 9.0, 16.0], 3, 2).round(9).tolist()
    [1.0, 4.0, 9.0, 16.0]
    """
    window, degree, deriv = _require_window("savgol_filter", window_length, polyorder, deriv)
    if mode not in ("interp", "constant", *_SAVGOL) or window % 2 == 0:
        raise ArgumentError(
            f"savgol_filter: mode={mode!r}, window_length={window}; need 'interp', 'mirror', "
            f"'nearest', 'wrap' or 'constant', and an odd length{where()}"
        )
    x, place = axis_last("savgol_filter", floating(x), axis)
    if x.dtype.kind == "c":  # SciPy drops the imaginary parts
        raise ArgumentError(f"savgol_filter: needs real numbers, found {x.dtype}{where()}")
    n, half = x.shape[-1], window // 2
    if mode == "interp" and n < window:
        raise ShapeError(
            f"savgol_filter: mode='interp' of {n} elements along the axis; need {window}{where()}"
        )

    def fitted(part: Any, places: tuple[float, ...]) -> Any:
        """Of windows along the last axis."""
        matrix = _fitting(window, degree, deriv, 0.0, places)
        return tensordot(part, _like(matrix, x), ((part.ndim - 1,), (1,)))

    if mode == "interp":
        inside = x
    else:
        widths = [(0, 0)] * (x.ndim - 1) + [(half, half)]
        inside = (
            pad_by_mode(x, widths, constant_values=cval)
            if mode == "constant"
            else pad_by_mode(x, widths, _SAVGOL[mode])
        )
    weights = _like(_fitting(window, degree, deriv, 0.0, (float(half),))[0], x)
    count = inside.shape[-1] - window + 1
    out = sum(stretch(inside, k, k + count) * weights[k] for k in range(window))
    if mode == "interp":
        ends = [
            tuple(float(i) for i in places) for places in (range(half), range(half + 1, window))
        ]
        first, last = stretch(x, 0, window), stretch(x, n - window, n)
        out = concatenate(fitted(first, ends[0]), out, fitted(last, ends[1]), axis=x.ndim - 1)
    return axis_back(out / delta**deriv if deriv else out, place)


def _like(constant: np.ndarray, x: Any) -> Any:
    """A constant in the precision of `x`, on its device."""
    dtype = np.empty(0, x.dtype).real.dtype
    return concrete_namespace(x).asarray(constant.astype(dtype))


# ---------------------------------------------------------------- sampling rates


def resample(
    x: Any, num: int, t: Any = None, axis: int = 0, window: Any = None, domain: str = "time"
) -> Any:
    """`num` points of the periodic signal that has the frequencies of `x`.

    With the times `t`, equally spaced, also the new ones. `window` is what the frequencies are
    multiplied by: numbers in the order of `fftfreq`, a function of that, or one of `get_window`.

    Shapes: ``x: (*a, n, *b) -> (*a, num, *b), window: (n)``.
    Dtypes: floating, complex; integers give float64.
    Derivative: linear in `x` and in the window.
    Raises: ArgumentError: `domain` is not "time". ShapeError: `num` is less than 1, there is no such
    axis, or the window has not its length.
    Source: SciPy reference, ``scipy.signal.resample``.

    >>> resample([1.0, 0.0, -1.0, 0.0], 2).round(12).tolist()
    [1.0, -1.0]
    """
    if domain != "time":
        raise ArgumentError(f"resample: domain={domain!r}; only 'time' is supported{where()}")
    x, place = axis_last("resample", floating(x), axis)
    n, num = x.shape[-1], operator.index(num)
    if num < 1 or n < 1:
        raise ShapeError(f"resample: {n} points to {num}; need one or more of each{where()}")
    both = min(n, num)
    weight = None if window is None else _spectral_window(window, n, x.dtype)
    if x.dtype.kind == "c":
        y = _complex_resampled(x, weight, n, num, both)
    else:
        half = _fft.rfft(x)
        if weight is not None:  # a real signal has the frequencies of both signs alike
            mirrored = concatenate(weight[:1], weight[:0:-1], axis=0)
            half = half * (0.5 * (weight + mirrored))[: half.shape[-1]]
        half = stretch(half, 0, both // 2 + 1)
        if both % 2 == 0 and n != num:
            weights = np.ones(both // 2 + 1)
            weights[-1] = 2.0 if num < n else 0.5
            half = half * _like(weights, half)
        y = _fft.irfft(padded(half, 0, num // 2 - both // 2), num)
    y = axis_back(y * (num / n), place)
    if t is None:
        return y
    t = array_of(t)
    steps = concrete_namespace(t).asarray(np.arange(num))
    return y, steps * ((t[1] - t[0]) * n / num) + t[0]


def _spectral_window(window: Any, n: int, dtype: Any) -> Any:
    """What frequencies are multiplied by, in the order of `fftfreq`."""
    if callable(window):
        found = array_of(window(_fft.fftfreq(n)))
    elif isinstance(window, str | tuple | float | int):
        found = _fft.fftshift(get_window(window, n))
    else:
        found = array_of(window)
    if found.shape != (n,):
        raise ShapeError(
            f"resample: the window has shape {list(found.shape)}; need {n} numbers{where()}"
        )
    return found if found.dtype.kind == "c" else converted(found, np.empty(0, dtype).real.dtype)


def _complex_resampled(x: Any, weight: Any, n: int, num: int, both: int) -> Any:
    frequencies = _fft.fft(x) if weight is None else _fft.fft(x) * weight
    above = (both + 1) // 2  # 0 and the positive ones; of an even number, the middle is apart
    first = stretch(frequencies, 0, above)
    last = stretch(frequencies, n - (both - 1) // 2, n)
    parts = [first]
    rest = num - first.shape[-1] - last.shape[-1]
    if both % 2 == 0:
        half = both // 2
        middle = stretch(frequencies, half, half + 1)
        if num < n:
            parts.append(middle + stretch(frequencies, n - half, n - half + 1))
        elif n < num:
            parts += [middle * 0.5, _zeros(middle, rest - 2), middle * 0.5]
        else:
            parts.append(middle)
    else:
        parts.append(_zeros(first, rest))
    return _fft.ifft(concatenate(*parts, last, axis=x.ndim - 1))


def _zeros(like: Any, count: int) -> Any:
    return concrete_namespace(like).zeros((*like.shape[:-1], count), like.dtype)
