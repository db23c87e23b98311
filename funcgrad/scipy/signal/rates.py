"""Sampling rates changed by filters, filters that are made of windows, chirps, and division."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from ...core import aval_of
from ...errors import ArgumentError, ShapeError, where
from ...indexing import known
from ...numpy._arguments import array_of, beside, converted
from ...numpy.accumulating import interp
from ...numpy.fft import irfft
from ...numpy.joining import concatenate
from ...numpy.reductions import max as max_of
from ...numpy.reductions import mean as mean_of
from ...numpy.reductions import min as min_of
from ...numpy.shaping import atleast_1d
from ...numpy.statistics import median
from ...ops.arithmetic import absolute, power
from ...ops.conv import conv
from ...ops.exponential import exp, log
from ...ops.structural import flip, reshape
from ...ops.structural import sum as sum_of
from ...ops.trigonometric import cos, deg2rad, sinc
from .._arrays import floating, host_only
from .._options import refuse_options
from ._vectors import axis_back, axis_last, coefficients, padded, stretch
from .convolving import convolve
from .designs import cheby1
from .filtering import lfilter, sosfilt, sosfiltfilt
from .windows import get_window

_BACKGROUNDS: dict[str, Callable[..., Any]] = {
    "mean": mean_of,
    "median": median,
    "minimum": min_of,
    "maximum": max_of,
}


def _rates(name: str, up: Any, down: Any) -> tuple[int, int]:
    found = operator.index(up), operator.index(down)
    if min(found) < 1:
        raise ArgumentError(f"{name}: up={up} and down={down}; need 1 or more{where()}")
    return found


def upfirdn(
    h: Any,
    x: Any,
    up: int = 1,
    down: int = 1,
    axis: int = -1,
    mode: str = "constant",
    cval: Any = 0,
) -> Any:
    """`x` with ``up - 1`` zeros between its elements, convolved with `h`; every `down`-th element.

    Shapes: ``h: (k,), x: (*a, n, *b) -> (*a, ((n - 1) up + k - 1) // down + 1, *b)``.
    Dtypes: floating, complex; integers give float64.
    Derivative: bilinear in `h` and `x`.
    Raises: ArgumentError: `up` or `down` is below 1, or another continuation than zeros is asked for.
    ShapeError: `h` is no vector, or there is no such axis.
    Source: SciPy reference, ``scipy.signal.upfirdn``.

    >>> upfirdn([1.0, 1.0], [1.0, 2.0, 4.0], up=2).tolist()
    [1.0, 1.0, 2.0, 2.0, 4.0, 4.0]
    """
    up, down = _rates("upfirdn", up, down)
    if mode != "constant" or known(cval) is None or known(cval) != 0:
        raise ArgumentError(
            f"upfirdn: mode={mode!r}, cval={cval!r}; need 'constant' and 0; pad x for others{where()}"
        )
    h, x = coefficients("upfirdn", "h", h), floating(x)
    x, place = axis_last("upfirdn", x, axis)
    dtype = np.result_type(aval_of(x).dtype, aval_of(h).dtype)
    h, x = converted(h, dtype), converted(x, dtype)
    k, lead = h.shape[0], x.shape[:-1]
    if not x.shape[-1]:
        raise ShapeError(f"upfirdn: x has shape {list(x.shape)}; need an element{where()}")
    y = conv(
        reshape(x, shape=(math.prod(lead), 1, x.shape[-1])),
        reshape(flip(h, axis=(0,)), shape=(1, 1, k)),
        strides=(down,),
        padding=((k - 1, k - 1),),
        lhs_dilation=(up,),
        rhs_dilation=(1,),
        groups=1,
    )
    return axis_back(reshape(y, shape=(*lead, y.shape[-1])), place)


@host_only
def firwin(
    numtaps: int,
    cutoff: Any,
    *,
    width: Any = None,
    window: Any = "hamming",
    pass_zero: Any = True,
    scale: bool = True,
    fs: Any = None,
) -> Any:
    """The symmetric filter of `numtaps` coefficients that lets bands of frequencies pass, by a window.

    `cutoff`: the edges of the bands, as parts of ``fs / 2``; `pass_zero`: whether 0 passes, or
    "lowpass", "highpass", "bandpass", "bandstop". `scale`: the middle of the first band keeps its size.

    Shapes: ``cutoff: () or (k,) -> (numtaps,)``.   Dtypes: real; integers give float64.
    Derivative: by `cutoff`, `fs` and the parameters of the window.
    Raises: ArgumentError: edges do not rise inside of ``0..fs/2``, `width` is given, `pass_zero` does
    not fit the edges, or `numtaps` is even where half of the rate has to pass.
    Source: SciPy reference, ``scipy.signal.firwin``.

    >>> firwin(3, 0.5).round(4).tolist()
    [0.0462, 0.9076, 0.0462]
    """
    refuse_options("firwin", width=width)
    numtaps = operator.index(numtaps)
    edges = atleast_1d(floating(cutoff))
    edges = edges if fs is None else edges / (0.5 * fs)
    value, count = known(edges), edges.shape[0]
    if edges.ndim != 1 or not count:
        raise ShapeError(f"firwin: cutoff has shape {list(edges.shape)}; need a vector{where()}")
    if value is not None and (value[0] <= 0 or value[-1] >= 1 or (value[1:] <= value[:-1]).any()):
        raise ArgumentError(
            f"firwin: cutoff={cutoff}; need frequencies that rise, above 0 and below fs/2{where()}"
        )
    if isinstance(pass_zero, str):
        fits = {"lowpass": count == 1, "highpass": count == 1, "bandpass": count > 1,
                "bandstop": count > 1}  # fmt: skip
        if not fits.get(pass_zero, False):
            raise ArgumentError(
                f"firwin: pass_zero={pass_zero!r} with {count} edges; need one for 'lowpass' and "
                f"'highpass', two or more for 'bandpass' and 'bandstop'{where()}"
            )
        pass_zero = pass_zero in ("lowpass", "bandstop")
    pass_zero = bool(pass_zero)
    pass_half = (count % 2 == 0) == pass_zero
    if pass_half and numtaps % 2 == 0:
        raise ArgumentError(
            f"firwin: numtaps={numtaps}; need an odd number where fs/2 passes{where()}"
        )
    ones = np.ones(1, aval_of(edges).dtype)
    parts = [*([0.0 * ones] if pass_zero else []), edges, *([ones] if pass_half else [])]
    bands = concatenate(parts)
    m = (np.arange(numtaps) - 0.5 * (numtaps - 1)).astype(aval_of(edges).dtype)
    h: Any = 0.0
    for j in range(0, bands.shape[0], 2):
        for edge, sign in ((bands[j], -1.0), (bands[j + 1], 1.0)):
            h = h + sign * edge * sinc(edge * m)
    h = h * converted(get_window(window, numtaps, fftbins=False), aval_of(edges).dtype)
    if not scale:
        return h
    middle = 0.5 * (bands[0] + bands[1])
    if pass_zero or (pass_half and bands.shape[0] == 2):
        middle = 0.0 if pass_zero else 1.0
    return h / sum_of(h * cos(math.pi * m * middle), axis=(0,))


@host_only
def firwin2(
    numtaps: int,
    freq: Any,
    gain: Any,
    *,
    nfreqs: int | None = None,
    window: Any = "hamming",
    antisymmetric: bool = False,
    fs: Any = None,
) -> Any:
    """The filter of `numtaps` coefficients with gains at the frequencies `freq`, by a window.

    `freq` rises from 0 to ``fs / 2``, which is 1 without `fs`; a frequency that is there twice is a
    jump. Between them gains are straight, on `nfreqs` frequencies.

    Shapes: ``freq, gain: (k) -> (numtaps)``.   Dtypes: real; integers give float64.
    Derivative: by gains, frequencies and `fs`; a jump that moves is not seen by the frequencies beside.
    Raises: ArgumentError: `freq` falls, does not begin and end there, or has a frequency three times,
    or an end twice; too few `nfreqs`; a gain that has to be 0 is not. ShapeError: other shapes.
    Source: SciPy reference, ``scipy.signal.firwin2``.

    >>> firwin2(3, [0.0, 0.5, 1.0], [1.0, 1.0, 0.0]).round(4).tolist()
    [0.0171, 0.75, 0.0171]
    """
    numtaps = operator.index(numtaps)
    freq, gain = floating(freq), floating(gain)
    if freq.ndim != 1 or freq.shape != gain.shape or freq.shape[0] < 2:
        raise ShapeError(
            f"firwin2: freq is {aval_of(freq)} and gain is {aval_of(gain)}; need vectors of one "
            f"length{where()}"
        )
    freq = freq if fs is None else freq / (0.5 * fs)
    nfreqs = 1 + 2 ** math.ceil(math.log2(numtaps)) if nfreqs is None else operator.index(nfreqs)
    if numtaps >= nfreqs:
        raise ArgumentError(f"firwin2: numtaps={numtaps} and nfreqs={nfreqs}; need more{where()}")
    _require_gains(known(freq), known(gain), antisymmetric, numtaps % 2 == 0)
    same = (freq[1:] == freq[:-1]).astype(freq.dtype) * np.finfo(float).eps
    freq = freq + concatenate([0.0 * same[:1], same]) - concatenate([same, 0.0 * same[:1]])
    places = np.linspace(0.0, 1.0, nfreqs)
    turn = np.exp(-0.5j * math.pi * (numtaps - 1) * places) * (1j if antisymmetric else 1.0)
    found = irfft(interp(places, freq, gain) * turn)[:numtaps]
    if window is not None:
        found = found * get_window(window, numtaps, fftbins=False)
    return found * (np.arange(numtaps) != numtaps // 2) if antisymmetric and numtaps % 2 else found


def _require_gains(freq: Any, gain: Any, antisymmetric: bool, even: bool) -> None:
    """Raises: ArgumentError: what is known of frequencies and gains is not as it has to be."""
    if freq is not None:
        gaps = np.diff(np.asarray(freq))
        whole = freq[0] == 0 and freq[-1] == 1 and gaps[0] > 0 and gaps[-1] > 0
        if not whole or (gaps < 0).any() or (gaps[1:] + gaps[:-1] == 0).any():
            raise ArgumentError(
                f"firwin2: freq must rise from 0 to fs/2, which are there once, and none three times"
                f"{where()}"
            )
    if gain is not None:
        ends = [
            *([gain[0]] if antisymmetric else []),
            *([gain[-1]] if even != antisymmetric else []),
        ]
        if any(end != 0 for end in ends):
            raise ArgumentError(
                f"firwin2: gain must be 0 at {'0' if antisymmetric else 'fs/2'} for this numtaps and "
                f"antisymmetric={antisymmetric}{where()}"
            )


def resample_poly(
    x: Any,
    up: int,
    down: int,
    axis: int = 0,
    window: Any = ("kaiser", 5.0),
    padtype: str = "constant",
    cval: Any = None,
) -> Any:
    """`x` at ``up / down`` times its rate, by a symmetric filter: `window` by name, or the filter.

    `padtype`: what is taken away first and put back: "constant" (nothing), "mean", "median",
    "minimum", "maximum".

    Shapes: ``x: (*a, n, *b) -> (*a, ceil(n up / down), *b)``.
    Dtypes: floating, complex; integers give float64.
    Derivative: linear in `x` but for the median and the ends; bilinear in `x` and the filter.
    Raises: ArgumentError: `up` or `down` is below 1, another `padtype`, or a `cval` that is not 0.
    Source: SciPy reference, ``scipy.signal.resample_poly``.

    >>> resample_poly(np.ones(4), 1, 2).round(4).tolist()
    [0.716, 1.1337]
    """
    up, down = _rates("resample_poly", up, down)
    if (padtype != "constant" and padtype not in _BACKGROUNDS) or not (cval is None or cval == 0):
        raise ArgumentError(
            f"resample_poly: padtype={padtype!r}, cval={cval!r}; need 'constant' with 0 or one of "
            f"{', '.join(map(repr, _BACKGROUNDS))}{where()}"
        )
    x, place = axis_last("resample_poly", floating(x), axis)
    common = math.gcd(up, down)
    up, down = up // common, down // common
    n = x.shape[-1]
    if up == down:
        return axis_back(x * 1, place)
    if isinstance(window, str | tuple):
        half = 10 * max(up, down)
        h: Any = firwin(2 * half + 1, 1.0 / max(up, down), window=window)
        h = beside(x, converted(h, np.finfo(aval_of(x).dtype).dtype))
    else:
        h = coefficients("resample_poly", "window", window)
        half = (h.shape[0] - 1) // 2
    count = -(-n * up // down)
    before = down - half % down
    skipped = (half + before) // down
    after = max(0, (count + skipped - 1) * down - ((n - 1) * up + h.shape[0] + before - 1))
    h = padded(h * up, before, after)
    level: Any = 0.0
    if padtype != "constant":
        level = _BACKGROUNDS[padtype](x, axis=-1, keepdims=True)
        x = x - level
    y = stretch(upfirdn(h, x, up, down), skipped, skipped + count)
    return axis_back(y if padtype == "constant" else y + level, place)


@host_only
def decimate(
    x: Any, q: int, n: Any = None, ftype: str = "iir", axis: int = -1, zero_phase: bool = True
) -> Any:
    """Every `q`-th element of `x`, after a filter that takes away what is too fast for that.

    `ftype`: "iir" (Chebyshev's of order `n`, 8; its coefficients are SciPy's) or "fir" (`firwin` with
    ``n + 1`` taps, ``20 q + 1``). `zero_phase`: forth and back, without a delay.

    Shapes: ``x: (*a, n, *b) -> (*a, ceil(n / q), *b)``.
    Dtypes: floating, complex; integers give float64.
    Derivative: linear.
    Raises: ArgumentError: `q` is not positive, another `ftype`. ShapeError: the axis is too short.
    Source: SciPy reference, ``scipy.signal.decimate``.

    >>> decimate(np.ones(8), 2, 4, "fir").round(4).tolist()
    [0.7963, 1.0, 1.0, 1.0]
    """
    _, q = _rates("decimate", 1, q)
    x, place = axis_last("decimate", floating(x), axis)
    length = x.shape[-1]
    if ftype == "fir":
        b = firwin((20 * q if n is None else operator.index(n)) + 1, 1.0 / q, window="hamming")
        b = converted(b, np.empty(0, aval_of(x).dtype).real.dtype)
        y = resample_poly(x, 1, q, -1, b) if zero_phase else upfirdn(b, x, 1, q)
        return axis_back(stretch(y, 0, -(-length // q)), place)
    if ftype != "iir":
        raise ArgumentError(f"decimate: ftype={ftype!r}; need 'iir' or 'fir'{where()}")
    order = 8 if n is None else operator.index(n)
    sos = cheby1(order, 0.05, 0.8 / q, output="sos")
    sos = sos.astype(np.empty(0, aval_of(x).dtype).real.dtype)
    y = sosfiltfilt(sos, x) if zero_phase else sosfilt(sos, x)
    return axis_back(stretch(y, 0, length, q), place)


def deconvolve(signal: Any, divisor: Any) -> tuple[Any, Any]:
    """The quotient and the remainder with ``signal = convolve(divisor, quotient) + remainder``.

    Shapes: ``signal: (n,), divisor: (k,) -> (n - k + 1,), (n,)``.
    Dtypes: floating, complex; integers give float64.
    Derivative: that of `lfilter`.
    Raises: ShapeError: no vectors. ArgumentError: the first number of `divisor` is 0.
    Source: SciPy reference, ``scipy.signal.deconvolve``.

    >>> quotient, remainder = deconvolve([2.0, 5.0, 3.0], [1.0, 1.0])
    >>> quotient.tolist(), remainder.tolist()
    ([2.0, 3.0], [0.0, 0.0, 0.0])
    """
    num = coefficients("deconvolve", "signal", signal)
    den = coefficients("deconvolve", "divisor", divisor)
    count = num.shape[0] - den.shape[0] + 1
    if count < 1:
        return num[:0], num
    impulse = np.zeros(count, np.finfo(aval_of(num).dtype).dtype)
    impulse[0] = 1.0
    quotient = lfilter(num, den, beside(num, impulse))
    return quotient, num - convolve(den, quotient, mode="full")


def chirp(
    t: Any,
    f0: Any,
    t1: Any,
    f1: Any,
    method: str = "linear",
    phi: Any = 0,
    vertex_zero: bool = True,
    *,
    complex: bool = False,
) -> Any:
    """The cosine whose frequency goes from `f0` at time 0 to `f1` at `t1`; `phi` in degrees.

    `method`: "linear", "quadratic" (with the vertex at 0 if `vertex_zero`, else at `t1`),
    "logarithmic" or "hyperbolic"; for the last two `f0` and `f1` differ. `complex`: ``exp(i phase)``.

    Shapes: broadcast.   Dtypes: real; integers give float64.
    Derivative: by `t`, `f0`, `t1`, `f1` and `phi`.
    Raises: ArgumentError: no such method, or known frequencies that it does not have.
    Source: SciPy reference, ``scipy.signal.chirp``.

    >>> chirp([0.0, 0.5, 1.0], 1.0, 1.0, 3.0).round(6).tolist()
    [1.0, 0.0, 1.0]
    """
    t = floating(t)
    name = next((m for m in _CHIRPS if method in _CHIRPS[m]), None)
    if name is None:
        raise ArgumentError(
            f"chirp: method={method!r}; need one of {', '.join(map(repr, _CHIRPS))}{where()}"
        )
    a, b = known(f0), known(f1)
    if name in ("logarithmic", "hyperbolic") and a is not None and b is not None:
        if np.any(a * b == 0) or (name == "logarithmic" and np.any(a * b < 0)):
            raise ArgumentError(
                f"chirp: f0={a} and f1={b}; a {name} one needs frequencies that are not 0"
                f"{', of one sign' if name == 'logarithmic' else ''}{where()}"
            )
        if np.all(a == b):
            name, f1 = "linear", f0
    if name == "linear":
        turns = f0 * t + 0.5 * ((f1 - f0) / t1) * t * t
    elif name == "quadratic":
        bend = (f1 - f0) / (t1 * t1) / 3.0
        turns = f0 * t + bend * t**3 if vertex_zero else f1 * t + bend * ((t1 - t) ** 3 - t1**3)
    elif name == "logarithmic":
        ratio = array_of(f1 / f0)
        turns = t1 / log(ratio) * f0 * (power(ratio, t / t1) - 1.0)
    else:
        pole = f1 * t1 / (f1 - f0)
        turns = -pole * f0 * log(absolute(1.0 - t / pole))
    phase = 2.0 * math.pi * turns + deg2rad(phi)
    return exp(1j * phase) if complex else cos(phase)


_CHIRPS = {
    "linear": ("linear", "lin", "li"),
    "quadratic": ("quadratic", "quad", "q"),
    "logarithmic": ("logarithmic", "log", "lo"),
    "hyperbolic": ("hyperbolic", "hyp"),
}
