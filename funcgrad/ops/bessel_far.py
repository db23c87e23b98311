"""Bessel functions at arguments so large that SciPy's know nothing: it gives 0 there, or nan."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

HUGE = 1e9  # from here on two terms of an expansion are exact
TERMS = 16


def wave_or_far(xp: Any, known: Any, v: Any, z: Any, *, second: bool) -> Any:
    """`known`, and where z > 1e4 and z > v**2, by its asymptotic series, `jv`, or `yv` (`second`).

    For orders above 85 SciPy's `yv` loses digits with z there, and is 0 from 1e8 on; its `jv` of a
    negative order has a part of that.

    Source: DLMF 10.17.3, 10.17.4.

    >>> wave_or_far(np, np.array(0.0), np.array(100.0), np.array(1e9), second=True).item()
    -5.21029921...e-06
    """
    far = (xp.abs(v) > 80.0) & (z > xp.maximum(1e4, v * v)) & xp.isfinite(z)
    if not xp.any(far):
        return known
    dtype, order = known.dtype, xp.asarray(v, xp.float64)
    outside = xp.where(far, z, math.inf).astype(xp.float64)
    term, parts = 1.0, [1.0, 0.0]
    for k in range(1, TERMS):
        ratio = (4.0 * order * order - (2 * k - 1.0) ** 2) / (8.0 * k * outside)
        term = term * ratio * (1.0 if k % 2 else -1.0)
        parts[k % 2] = parts[k % 2] + term
    # The phase is ``z - turn``; their difference itself would lose the digits of `turn`.
    turn, inside = (0.5 * math.pi) * xp.fmod(order + 0.5, 4.0), xp.where(far, z, 1.0)
    s, c = xp.sin(inside.astype(xp.float64)), xp.cos(inside.astype(xp.float64))
    sine, cosine = s * xp.cos(turn) - c * xp.sin(turn), c * xp.cos(turn) + s * xp.sin(turn)
    wave = sine * parts[0] + cosine * parts[1] if second else cosine * parts[0] - sine * parts[1]
    found = xp.sqrt(2.0 / (math.pi * inside)) * wave
    return xp.where(far, found, known).astype(dtype)


def scaled_or_far(xp: Any, known: Any, v: Any, z: Any, *, side: int) -> Any:
    """`known`, and where it is nan and z > 1e9, ``ive(v, z)`` (`side` is 1) or ``kve(v, z)`` (-1).

    Source: DLMF 10.41.3, 10.41.4, which hold for all orders, as they need only ``v**2 + z**2`` large.

    >>> scaled_or_far(np, np.array(np.nan), np.array(0.5), np.array(1e12), side=1).item()
    3.98942280...e-07
    """
    far = xp.isnan(known) & (z > HUGE) & xp.isfinite(z) & xp.isfinite(v)
    if not xp.any(far):
        return known
    z, order = (xp.where(far, x, 1.0).astype(xp.float64) for x in (z, xp.abs(v)))
    w = xp.hypot(z, order)
    slant = order / w
    size = order * (order / (w + z)) - order * xp.arcsinh(order / z)
    first = (3.0 - 5.0 * slant * slant) / (24.0 * w)
    leading = 1.0 / xp.sqrt(2.0 * math.pi * w) if side > 0 else xp.sqrt(0.5 * math.pi / w)
    half = xp.exp(
        xp.minimum(0.5 * side * size, 700.0)
    )  # its square may overflow, and is an infinity
    with np.errstate(over="ignore", under="ignore"):
        found = leading * half * half * (1.0 + side * first)
    return xp.where(far, found, known).astype(known.dtype)
