"""Spectra: of windows along a signal, one by one or averaged, and back to the signal."""

from __future__ import annotations

import operator
import warnings
from typing import Any, NamedTuple

import numpy as np

from ...algebra import broadcast_shapes, concrete_namespace
from ...core import aval_of
from ...errors import ArgumentError, ShapeError, where
from ...indexing import known
from ...numpy import fft as _fft
from ...numpy._arguments import beside, converted, fresh
from ...numpy.accumulating import unwrap
from ...numpy.complex import angle
from ...numpy.statistics import median
from ...ops.arithmetic import absolute
from ...ops.complex import imag, real
from ...ops.contract import conjugated, normal_axis
from ...ops.exponential import sqrt
from ...ops.select import where as choose
from ...ops.strided import add_strided, strided
from ...ops.structural import transpose
from .._arrays import floating
from ._vectors import axis_back, axis_last, padded, stretch
from .filtering import extended
from .smoothing import detrend as _detrend
from .windows import get_window


class Plan(NamedTuple):
    """How a signal is cut into pieces and transformed."""

    window: Any
    length: int
    overlap: int
    points: int
    one_sided: bool

    @property
    def step(self) -> int:
        return self.length - self.overlap


def _segments(name: str, window: Any, nperseg: Any, n: int) -> tuple[Any, int]:
    """The window and its length, which is at most `n`.

    Raises: ShapeError: the signal or the window is empty, or they do not fit.
    """
    if not n:
        raise ShapeError(f"{name}: the signal has no elements along the axis{where()}")
    if not isinstance(window, str | tuple):
        window = floating(window)
        if window.ndim != 1 or (nperseg is not None and nperseg != window.shape[0]):
            raise ShapeError(
                f"{name}: the window is {aval_of(window)}; need a vector of nperseg={nperseg}{where()}"
            )
        length = window.shape[0]
        if length > n:
            raise ShapeError(f"{name}: a window of {length} elements, a signal of {n}{where()}")
        return window, length
    length = 256 if nperseg is None else operator.index(nperseg)
    if length < 1:
        raise ShapeError(f"{name}: nperseg={length}; need 1 or more{where()}")
    if length > n:
        warnings.warn(
            f"{name}: nperseg={length} is more than the {n} elements of the signal, which are taken "
            f"instead{where()}",
            stacklevel=2,
        )
        length = n
    return get_window(window, length), length


def _overlap(name: str, noverlap: Any, default: int, length: int) -> int:
    found = default if noverlap is None else operator.index(noverlap)
    if not 0 <= found < length:
        raise ShapeError(f"{name}: noverlap={found}; need 0 or more, below {length}{where()}")
    return found


def _points(name: str, nfft: Any, length: int) -> int:
    found = length if nfft is None else operator.index(nfft)
    if found < length:
        raise ShapeError(
            f"{name}: nfft={found}; need {length}, the window's length, or more{where()}"
        )
    return found


def _scale(name: str, plan: Plan, fs: Any, scaling: Any) -> Any:
    """What squares of the transform are multiplied by."""
    if scaling in ("density", "psd"):
        return 1.0 / (fs * (plan.window * plan.window).sum())
    if scaling == "spectrum":
        return 1.0 / plan.window.sum() ** 2
    raise ArgumentError(f"{name}: scaling={scaling!r} is unknown{where()}")


def _frequencies(plan: Plan, fs: Any) -> Any:
    function = np.fft.rfftfreq if plan.one_sided else np.fft.fftfreq
    return fresh(beside(plan.window, function(plan.points))) * fs


def _pieces(name: str, x: Any, plan: Plan, detrend: Any) -> Any:
    """The transforms of the windows along the last axis: ``(*a, windows, frequencies)``."""
    count = (x.shape[-1] - plan.overlap) // plan.step
    cut = strided(x, shape=(count, plan.length), strides=(plan.step, 1), offset=0)
    if callable(detrend):
        cut = detrend(cut)
    elif detrend:
        cut = _detrend(cut, type=detrend)
    cut = cut * plan.window
    function = _fft.rfft if plan.one_sided else _fft.fft
    return function(cut, plan.points)


def _plan(
    name: str,
    x: Any,
    window: Any,
    nperseg: Any,
    noverlap: Any,
    nfft: Any,
    one_sided: Any,
    share: int,
) -> Plan:
    found, length = _segments(name, window, nperseg, x.shape[-1])
    found = beside(x, found) if isinstance(window, str | tuple) else found
    if found.dtype.kind != "c":
        found = converted(found, np.empty(0, x.dtype).real.dtype)
    overlap = _overlap(name, noverlap, length // share, length)
    points = _points(name, nfft, length)
    return Plan(found, length, overlap, points, bool(one_sided) and x.dtype.kind != "c")


def _doubled(y: Any, plan: Plan) -> Any:
    """Squares with those of the negative frequencies, which are as large."""
    if not plan.one_sided:
        return y
    weights = np.full(y.shape[-1], 2.0, np.empty(0, y.dtype).real.dtype)
    weights[0] = 1.0
    if plan.points % 2 == 0:
        weights[-1] = 1.0
    return y * concrete_namespace(y).asarray(weights)


def _cross(x: Any, y: Any) -> Any:
    """``conj(x) y``, real if they are the same."""
    if x is y:
        return real(x) ** 2 + imag(x) ** 2
    return conjugated(x) * y


# ---------------------------------------------------------------- averaged


def _averaged(name: str, y: Any, average: Any) -> Any:
    """Over the windows, the last axis but one."""
    if average not in ("mean", "median"):
        raise ArgumentError(f"{name}: average={average!r}; need 'mean' or 'median'{where()}")
    count = y.shape[-2]
    if average == "mean" or count == 1:
        return y.mean(axis=-2)
    bias = 1.0 + sum(1.0 / (k + 1) - 1.0 / k for k in range(2, count, 2))
    if y.dtype.kind == "c":
        return (median(real(y), -2) + median(imag(y), -2) * 1j) / bias
    return median(y, -2) / bias


def csd(
    x: Any,
    y: Any,
    fs: Any = 1.0,
    window: Any = "hann_periodic",
    nperseg: Any = None,
    noverlap: Any = None,
    nfft: Any = None,
    detrend: Any = "constant",
    return_onesided: bool = True,
    scaling: str = "density",
    axis: int = -1,
    average: str = "mean",
) -> tuple[Any, Any]:
    """Frequencies, and there the mean of ``conj(X) Y`` of windows along two signals.

    Shapes: ``x: (*a, n, *b), y: (*a, n, *b) -> (k,), (*a, k, *b)``; the shorter one is filled with 0.
    Dtypes: floating, complex; integers give float64; gives complex numbers, of one signal real ones.
    Derivative: by both signals, the window and `fs`.
    Raises: ShapeError: the shapes or lengths do not fit. ArgumentError: an unknown option.
    Source: SciPy reference, ``scipy.signal.csd``.

    >>> csd(np.arange(4.0), np.ones(4), nperseg=4, detrend=False, window="boxcar")[1].tolist()
    [(6+0j), 0j, 0j]
    """
    return _csd("csd", x, y, fs, window, nperseg, noverlap, nfft, detrend, return_onesided, scaling,
                axis, average)  # fmt: skip


def _csd(
    name: str, x: Any, y: Any, fs: Any, window: Any, nperseg: Any, noverlap: Any, nfft: Any,
    detrend: Any, one_sided: Any, scaling: Any, axis: Any, average: Any,
) -> tuple[Any, Any]:  # fmt: skip
    same = x is y
    x, place = axis_last(name, floating(x), axis)
    y = x if same else axis_last(name, floating(y), axis)[0]
    broadcast_shapes(name, [x.shape[:-1], y.shape[:-1]])
    n = max(x.shape[-1], y.shape[-1])
    if not same:
        x, y = (padded(z, 0, n - z.shape[-1]) for z in (x, y))
    complex_one = y if y.dtype.kind == "c" else x
    plan = _plan(name, complex_one, window, nperseg, noverlap, nfft, one_sided, 2)
    first = _pieces(name, x, plan, detrend)
    second = first if same else _pieces(name, y, plan, detrend)
    power = _cross(first, second) * _scale(name, plan, fs, scaling)
    power = _averaged(name, _doubled(power, plan), average)
    return _frequencies(plan, fs), axis_back(power, place % power.ndim)


def welch(
    x: Any,
    fs: Any = 1.0,
    window: Any = "hann_periodic",
    nperseg: Any = None,
    noverlap: Any = None,
    nfft: Any = None,
    detrend: Any = "constant",
    return_onesided: bool = True,
    scaling: str = "density",
    axis: int = -1,
    average: str = "mean",
) -> tuple[Any, Any]:
    """Frequencies, and there the mean of ``|X|^2`` of windows along a signal: its power spectrum.

    Shapes: ``x: (*a, n, *b) -> (k,), (*a, k, *b)``.
    Dtypes: floating, complex; integers give float64; gives reals.
    Derivative: by the signal, the window and `fs`.
    Raises: ShapeError: the lengths do not fit. ArgumentError: an unknown option.
    Source: Welch, IEEE Trans. Audio Electroacoust. 15 (1967); SciPy reference, ``scipy.signal.welch``.

    >>> welch(np.ones(4), nperseg=4, detrend=False, window="boxcar")[1].tolist()
    [4.0, 0.0, 0.0]
    """
    return _csd("welch", x, x, fs, window, nperseg, noverlap, nfft, detrend, return_onesided,
                scaling, axis, average)  # fmt: skip


def periodogram(
    x: Any,
    fs: Any = 1.0,
    window: Any = "boxcar",
    nfft: Any = None,
    detrend: Any = "constant",
    return_onesided: bool = True,
    scaling: str = "density",
    axis: int = -1,
) -> tuple[Any, Any]:
    """`welch` with one window over all of the signal, or over its first `nfft` elements.

    Shapes: ``x: (*a, n, *b) -> (k,), (*a, k, *b)``.
    Dtypes: floating, complex; integers give float64; gives reals.
    Derivative: by the signal, the window and `fs`.
    Raises: ShapeError: the lengths do not fit. ArgumentError: an unknown option.
    Source: SciPy reference, ``scipy.signal.periodogram``.

    >>> periodogram(np.ones(4), detrend=False)[1].tolist()
    [4.0, 0.0, 0.0]
    """
    x, place = axis_last("periodogram", floating(x), axis)
    n = x.shape[-1]
    if nfft is not None and nfft < n:
        n, x = nfft, stretch(x, 0, nfft)
    window = "boxcar" if window is None else window
    frequencies, power = _csd("periodogram", x, x, fs, window, n, 0, nfft, detrend, return_onesided,
                              scaling, -1, "mean")  # fmt: skip
    return frequencies, axis_back(power, place)


def coherence(
    x: Any,
    y: Any,
    fs: Any = 1.0,
    window: Any = "hann_periodic",
    nperseg: Any = None,
    noverlap: Any = None,
    nfft: Any = None,
    detrend: Any = "constant",
    axis: int = -1,
) -> tuple[Any, Any]:
    """Frequencies, and there ``|csd(x, y)|^2 / (welch(x) welch(y))``.

    Shapes: ``x: (*a, n, *b), y: (*a, n, *b) -> (k,), (*a, k, *b)``.
    Dtypes: floating, complex; integers give float64; gives reals.
    Derivative: by both signals and the window; infinite or NaN where a spectrum is 0.
    Raises: ShapeError: the shapes or lengths do not fit. ArgumentError: an unknown option.
    Source: SciPy reference, ``scipy.signal.coherence``.

    >>> x = np.array([1.0, 2.0, -1.0, 1.0])
    >>> coherence(x, 2.0 * x, nperseg=4, detrend=False)[1].round(12).tolist()
    [1.0, 1.0, 1.0]
    """
    x, y = floating(x), floating(y)
    options = (fs, window, nperseg, noverlap, nfft, detrend, True, "density", axis, "mean")
    frequencies, both = _csd("coherence", x, y, *options)
    first, second = (_csd("coherence", z, z, *options)[1] for z in (x, y))
    return frequencies, (real(both) ** 2 + imag(both) ** 2) / (first * second)


# ---------------------------------------------------------------- window by window


def _times(plan: Plan, n: int, fs: Any, shifted: Any) -> Any:
    """The middles of the windows."""
    first = 0.0 if shifted else plan.length / 2
    count = (n - plan.overlap) // plan.step
    return beside(plan.window, first + plan.step * np.arange(count)) / fs


def _frequency_axis(y: Any, place: int) -> Any:
    """``(*a, windows, frequencies)`` with the frequencies where the signal was, windows last."""
    ndim = y.ndim
    order = [*range(ndim - 2), ndim - 2]
    return transpose(y, axes=(*order[:place], ndim - 1, *order[place:]))


def stft(
    x: Any,
    fs: Any = 1.0,
    window: Any = "hann_periodic",
    nperseg: Any = 256,
    noverlap: Any = None,
    nfft: Any = None,
    detrend: Any = False,
    return_onesided: bool = True,
    boundary: Any = "zeros",
    padded: bool = True,
    axis: int = -1,
    scaling: str = "spectrum",
) -> tuple[Any, Any, Any]:
    """Frequencies, times, and the Fourier transforms of windows along a signal.

    `boundary`: how the signal goes on at its ends, by half a window: "zeros", "odd", "even",
    "constant" or None, not at all. `padded`: zeros at the end so that the last window is full.

    Shapes: ``x: (*a, n, *b) -> (k,), (t,), (*a, k, *b, t)``.
    Dtypes: floating, complex; integers give float64; gives complex numbers.
    Derivative: linear in the signal; by the window and `fs` too.
    Raises: ShapeError: the lengths do not fit. ArgumentError: an unknown option.
    Source: SciPy reference, ``scipy.signal.stft``.

    >>> stft(np.ones(4), nperseg=2, boundary=None)[2].real.round(12).tolist()
    [[1.0, 1.0, 1.0], [-1.0, -1.0, -1.0]]
    """
    if scaling not in ("spectrum", "psd"):
        raise ArgumentError(f"stft: scaling={scaling!r}; need 'spectrum' or 'psd'{where()}")
    return _stft("stft", x, fs, window, nperseg, noverlap, nfft, detrend, return_onesided, boundary,
                 padded, axis, scaling, 2)  # fmt: skip


def _stft(
    name: str, x: Any, fs: Any, window: Any, nperseg: Any, noverlap: Any, nfft: Any, detrend: Any,
    one_sided: Any, boundary: Any, filled: Any, axis: Any, scaling: Any, share: int,
) -> tuple[Any, Any, Any]:  # fmt: skip
    x, place = axis_last(name, floating(x), axis)
    plan = _plan(name, x, window, nperseg, noverlap, nfft, one_sided, share)
    half = plan.length // 2
    if boundary == "zeros":
        x = padded(x, half, half)
    elif boundary in ("even", "odd", "constant"):
        x = extended(name, x, boundary, half)
    elif boundary is not None:
        raise ArgumentError(
            f"{name}: boundary={boundary!r}; need 'zeros', 'even', 'odd', 'constant' or None{where()}"
        )
    if filled:
        x = padded(x, 0, (-(x.shape[-1] - plan.length) % plan.step) % plan.length)
    y = _pieces(name, x, plan, detrend) * sqrt(_scale(name, plan, fs, scaling))
    times = _times(plan, x.shape[-1], fs, boundary is not None)
    return _frequencies(plan, fs), times, _frequency_axis(y, place)


def spectrogram(
    x: Any,
    fs: Any = 1.0,
    window: Any = ("tukey_periodic", 0.25),
    nperseg: Any = None,
    noverlap: Any = None,
    nfft: Any = None,
    detrend: Any = "constant",
    return_onesided: bool = True,
    scaling: str = "density",
    axis: int = -1,
    mode: str = "psd",
) -> tuple[Any, Any, Any]:
    """Frequencies, times, and the power spectra of windows along a signal.

    `mode`: "psd", or of the transforms themselves "complex", "magnitude", "angle" or "phase", which
    is the angle without jumps.

    Shapes: ``x: (*a, n, *b) -> (k,), (t,), (*a, k, *b, t)``.
    Dtypes: floating, complex; integers give float64; reals, but for "complex".
    Derivative: by the signal, the window and `fs`; that of `absolute` and `angle` where they are.
    Raises: ShapeError: the lengths do not fit. ArgumentError: an unknown option.
    Source: SciPy reference, ``scipy.signal.spectrogram``.

    >>> spectrogram(np.ones(4), window="boxcar", nperseg=2, noverlap=0, detrend=False)[2].tolist()
    [[2.0, 2.0], [0.0, 0.0]]
    """
    if mode not in ("psd", "complex", "magnitude", "angle", "phase"):
        raise ArgumentError(
            f"spectrogram: mode={mode!r}; need 'psd', 'complex', 'magnitude', 'angle' or "
            f"'phase'{where()}"
        )
    x, place = axis_last("spectrogram", floating(x), axis)
    if mode == "psd":
        plan = _plan("spectrogram", x, window, nperseg, noverlap, nfft, return_onesided, 8)
        y = _pieces("spectrogram", x, plan, detrend)
        y = _doubled(_cross(y, y) * _scale("spectrogram", plan, fs, scaling), plan)
        times = _times(plan, x.shape[-1], fs, False)
        return _frequencies(plan, fs), times, _frequency_axis(y, place)
    frequencies, times, y = _stft("spectrogram", x, fs, window, nperseg, noverlap, nfft, detrend,
                                  return_onesided, None, False, -1, scaling, 8)  # fmt: skip
    if mode == "magnitude":
        y = absolute(y)
    elif mode != "complex":
        y = angle(y)
        y = unwrap(y, axis=-2) if mode == "phase" else y
    order = [i for i in range(y.ndim) if i != y.ndim - 2]
    return frequencies, times, transpose(y, axes=(*order[:place], y.ndim - 2, *order[place:]))


def istft(
    Zxx: Any,
    fs: Any = 1.0,
    window: Any = "hann_periodic",
    nperseg: Any = None,
    noverlap: Any = None,
    nfft: Any = None,
    input_onesided: bool = True,
    boundary: Any = True,
    time_axis: int = -1,
    freq_axis: int = -2,
    scaling: str = "spectrum",
) -> tuple[Any, Any]:
    """Times, and the signal whose `stft` is nearest to `Zxx`.

    Shapes: ``Zxx: (*a, k, *b, t) -> (n,), (*a, *b, n)``.
    Dtypes: numbers; gives reals if `input_onesided`.
    Derivative: linear in `Zxx`; by the window too.
    Raises: ShapeError: the lengths do not fit, or one axis is given twice. ArgumentError: an unknown
    `scaling`.
    Source: Griffin & Lim, IEEE Trans. Acoust. 32 (1984); SciPy reference, ``scipy.signal.istft``.

    >>> x = np.array([1.0, 2.0, 4.0, 3.0])
    >>> istft(stft(x, nperseg=2)[2], nperseg=2)[1].round(12).tolist()
    [1.0, 2.0, 4.0, 3.0]
    """
    Z = floating(Zxx)
    f, t = (normal_axis("istft", operator.index(a), Z.ndim) for a in (freq_axis, time_axis))
    if f == t:
        raise ShapeError(f"istft: time_axis and freq_axis are both {t}{where()}")
    rest = tuple(i for i in range(Z.ndim) if i not in (f, t))
    Z = transpose(Z, axes=(*rest, t, f))
    default = 2 * (Z.shape[-1] - 1) if input_onesided else Z.shape[-1]
    length = default if nperseg is None else operator.index(nperseg)
    if nfft is None:
        nfft = length if input_onesided and length == default + 1 else default
    nfft = _points("istft", nfft, length)
    overlap = _overlap("istft", noverlap, length // 2, length)
    found, _ = _segments("istft", window, length, length)
    found = beside(Z, found) if isinstance(window, str | tuple) else found
    plan = Plan(found, length, overlap, nfft, bool(input_onesided))
    pieces = (_fft.irfft if input_onesided else _fft.ifft)(Z, nfft)
    if scaling not in ("spectrum", "psd"):
        raise ArgumentError(f"istft: scaling={scaling!r}; need 'spectrum' or 'psd'{where()}")
    win = converted(found, np.empty(0, pieces.dtype).real.dtype)
    plan = plan._replace(window=win)
    pieces = stretch(pieces, 0, length) * (win / sqrt(_scale("istft", plan, fs, scaling)))
    x = _overlapped(pieces, plan, boundary)
    times = beside(x, np.arange(x.shape[-1])) / fs
    place = t - (f < t)
    return times, axis_back(x, place)


def _overlapped(pieces: Any, plan: Plan, boundary: Any) -> Any:
    """The windows added at their places, divided by the sum of the squared windows there."""
    count, length, step = pieces.shape[-2], plan.length, plan.step
    total = length + (count - 1) * step
    layout: Any = {"shape": (count, length), "strides": (step, 1), "offset": 0}
    squares = plan.window * plan.window + concrete_namespace(pieces).zeros(
        (count, 1), plan.window.dtype
    )
    x = add_strided(pieces, length=total, **layout)
    weight = add_strided(squares, length=total, **layout)
    if boundary:
        half = length // 2
        x, weight = stretch(x, half, total - half), stretch(weight, half, total - half)
    value = known(weight)
    if value is not None and not bool((value > 1e-10).all()):
        warnings.warn(
            f"istft: the windows leave places without weight, where the signal is not found{where()}",
            stacklevel=2,
        )
    return x / choose(weight > 1e-10, weight, 1.0)
