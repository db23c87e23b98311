"""Waves: saw teeth, squares, pulses; and how much of which wave is in samples at uneven times."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ... import numpy as fnp
from ...core import aval_of
from ...errors import ArgumentError, ShapeError, where
from ...indexing import known
from .._arrays import floating
from ..probabilities import in_one_dtype


def sawtooth(t: Any, width: Any = 1) -> Any:
    """A wave of period ``2 pi`` that rises from -1 to 1 in the part `width`, and falls in the rest.

    Shapes: broadcast.   Dtypes: real; integers give float64.
    Derivative: by `t` that of the line to the right; by `width`, too.
    Raises: ShapeError: the shapes do not broadcast. ArgumentError: complex numbers.
    Source: SciPy reference, ``scipy.signal.sawtooth``.

    >>> sawtooth(np.pi * np.array([0.0, 0.5, 1.0, 2.0])).round(6).tolist()
    [-1.0, -0.5, 0.0, -1.0]
    """
    t, width = in_one_dtype(t, width)
    turn = fnp.mod(t, 2.0 * math.pi)
    rises = turn < width * 2.0 * math.pi
    up = turn / (math.pi * fnp.where(rises, width, 1.0)) - 1.0
    rest = fnp.where(rises, 1.0, 1.0 - width)
    down = (math.pi * (width + 1.0) - turn) / (math.pi * fnp.where(rest == 0, 1.0, rest))
    inside = fnp.logical_and(width >= 0, width <= 1)
    return fnp.where(inside, fnp.where(rises, up, down), np.nan)


def square(t: Any, duty: Any = 0.5) -> Any:
    """A wave of period ``2 pi`` that is 1 in the part `duty`, and -1 in the rest.

    Shapes: broadcast.   Dtypes: real; integers give float64.
    Derivative: zero.
    Raises: ShapeError: the shapes do not broadcast. ArgumentError: complex numbers.
    Source: SciPy reference, ``scipy.signal.square``.

    >>> square(np.pi * np.array([0.0, 0.5, 1.0, 1.5])).tolist()
    [1.0, 1.0, -1.0, -1.0]
    """
    t, duty = in_one_dtype(t, duty)
    high = fnp.mod(t, 2.0 * math.pi) < duty * 2.0 * math.pi
    inside = fnp.logical_and(duty >= 0, duty <= 1)
    flat = 0.0 * t
    return fnp.where(inside, fnp.where(high, flat + 1.0, flat - 1.0), np.nan)


def gausspulse(
    t: Any,
    fc: Any = 1000,
    bw: Any = 0.5,
    bwr: Any = -6,
    tpr: Any = -60,
    retquad: bool = False,
    retenv: bool = False,
) -> Any:
    """``exp(-a t**2) cos(2 pi fc t)``, whose spectrum has the width ``fc bw`` at `bwr` decibels.

    `retquad`: also the sine; `retenv`: also the envelope. ``t="cutoff"`` gives the time at which the
    envelope is at `tpr` decibels.

    Shapes: broadcast.   Dtypes: real; integers give float64.
    Derivative: by `t`, `fc`, `bw`, `bwr` and `tpr`.
    Raises: ArgumentError: a frequency is negative, a width not positive, a level not negative, as far
    as known, or `t` is another word.
    Source: SciPy reference, ``scipy.signal.gausspulse``.

    >>> float(gausspulse(1e-4).round(4)), float(gausspulse("cutoff").round(6))
    (0.8018, 0.002781)
    """
    times: list[Any] = [] if isinstance(t, str) else [t]
    fc, bw, bwr, tpr, *times = in_one_dtype(fc, bw, bwr, tpr, *times)
    for name, x, good in (
        ("fc", fc, fc >= 0), ("bw", bw, bw > 0), ("bwr", bwr, bwr < 0), ("tpr", tpr, tpr < 0)
    ):  # fmt: skip
        value = known(good)
        if value is not None and not bool(np.all(value)):
            raise ArgumentError(f"gausspulse: {name}={x} is out of its range{where()}")
    decibel = math.log(10.0) / 20.0
    rate = fnp.square(math.pi * fc * bw) / (-4.0 * decibel * bwr)
    if isinstance(t, str):
        if t != "cutoff":
            raise ArgumentError(f"gausspulse: t={t!r}; need numbers or 'cutoff'{where()}")
        return fnp.sqrt(-decibel * tpr / rate)
    (t,) = times
    envelope = fnp.exp(-rate * t * t)
    turn = 2.0 * math.pi * fc * t
    found = [envelope * fnp.cos(turn)]
    found += [envelope * fnp.sin(turn)] if retquad else []
    found += [envelope] if retenv else []
    return found[0] if len(found) == 1 else tuple(found)


def lombscargle(
    x: Any,
    y: Any,
    freqs: Any,
    *,
    normalize: Any = False,
    weights: Any = None,
    floating_mean: bool = False,
) -> Any:
    """How much of the waves of angular frequencies `freqs` is in the samples `y` at the times `x`, by
    weighted least squares.

    `normalize`: "power" (False), the share of all power, "normalize" (True), or "amplitude", complex.
    `floating_mean`: with a constant beside the wave.

    Shapes: ``x, y, weights: (n), freqs: (m) -> (m)``.   Dtypes: real; integers give float64.
    Derivative: by all four; nan where a sine or a cosine of the wave is nowhere in the samples.
    Raises: ShapeError: the shapes do not fit. ArgumentError: another `normalize`, known weights that
    are negative or all 0.
    Source: Zechmeister & Kürster, Astron. Astrophys. 496 (2009); SciPy reference,
    ``scipy.signal.lombscargle``.

    >>> t = np.array([0.0, 0.7, 1.1, 2.9, 3.3, 4.8])
    >>> lombscargle(t, np.sin(2.0 * t), [1.0, 2.0, 3.0], normalize=True).round(4).tolist()
    [0.5124, 1.0, 0.1959]
    """
    x, y, w, freqs = in_one_dtype(
        x, y, fnp.ones_like(floating(y)) if weights is None else weights, freqs
    )
    if x.ndim != 1 or not x.shape[0] or not x.shape == y.shape == w.shape:
        raise ShapeError(
            f"lombscargle: x is {aval_of(x)}, y is {aval_of(y)}, weights are {aval_of(w)}; need rows "
            f"of one length, not empty{where()}"
        )
    if freqs.ndim != 1 or not freqs.shape[0]:
        raise ShapeError(f"lombscargle: freqs is {aval_of(freqs)}; need a row{where()}")
    way = {False: "power", True: "normalize"}.get(normalize, normalize)
    if way not in ("power", "normalize", "amplitude"):
        raise ArgumentError(
            f"lombscargle: normalize={normalize!r}; need 'power', 'normalize' or 'amplitude'{where()}"
        )
    value = known(w)
    if value is not None and not (bool((value >= 0).all()) and bool(value.sum() > 0)):
        raise ArgumentError(f"lombscargle: weights must not be negative, nor all be 0{where()}")
    w = w / fnp.sum(w)
    turn = fnp.expand_dims(freqs, 1) * x
    middle = fnp.sum(w * y) if floating_mean else 0.0

    def moments(turn: Any) -> tuple[Any, ...]:
        c, s = fnp.cos(turn), fnp.sin(turn)
        wc, ws = (fnp.sum(w * v, axis=1) if floating_mean else 0.0 for v in (c, s))
        found = [fnp.sum(w * v, axis=1) for v in (c * c, s * s, c * s, y * c, y * s)]
        less = (wc * wc, ws * ws, wc * ws, middle * wc, middle * ws)
        return tuple(a - b for a, b in zip(found, less, strict=True))

    cc, ss, cs, _, _ = moments(turn)
    phase = 0.5 * fnp.arctan2(2.0 * cs, cc - ss)  # with which sine and cosine are orthogonal
    cc, ss, _, yc, ys = moments(turn - fnp.expand_dims(phase, 1))
    least = float(np.finfo(aval_of(y).dtype).epsneg)
    a, b = (p / fnp.maximum(q, least) for p, q in ((yc, cc), (ys, ss)))
    if way == "amplitude":
        return (a + 1j * b) * fnp.exp(1j * phase)
    power = a * yc + b * ys
    if way == "power":
        return power * (0.5 * x.shape[0])
    return power / (fnp.sum(w * y * y) - middle * middle)
