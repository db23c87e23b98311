"""Derivatives of modified Bessel functions by their order, for real z > 0."""

from __future__ import annotations

import math
from typing import Any

import numpy as np  # noqa: F401  (doctests)

from ..algebra import elementwise
from .arithmetic import divide
from .exponential import exp, log, sqrt
from .from_scipy import together
from .gamma import digamma, gammaln
from .hypergeometric_parameters import hyp0f1_by_v
from .logic import greater, less
from .select import maximum, where
from .trigonometric import cos, sin

# ---------------------------------------------------------------- of the first kind

FAR = 30.0  # from here, and an eighth of the order's square, the asymptotic series is exact
TERMS = 40


def i_by_order(v: Any, z: Any, *, scaled: bool) -> Any:
    """The derivative of ``iv(v, z)`` by `v`, `scaled` of ``ive``; nan where the order is large and
    ``iv(v, z)`` about to overflow.

    Source: DLMF 10.25.2, 10.27.2, 10.40.1.

    >>> float(i_by_order(np.array(0.0), np.array(1.0), scaled=False).round(4))
    -0.421
    """
    mirrored = less(v, 0.0)
    order = where(mirrored, -v, v)
    far = greater(z, maximum(order * order * 0.125, FAR))
    near, outside = where(far, 1.0, z), where(far, z, FAR)
    part, moved, total = where(far, 1.0, 0.0), 0.0 * order, 0.0
    for k in range(1, TERMS):
        ratio = divide((2.0 * k - 1.0) ** 2 - 4.0 * order * order, 8.0 * k * outside)
        moved = moved * ratio - part * divide(order, k * outside)
        part, total = part * ratio, total + moved
    total = total / sqrt(2.0 * math.pi * outside)
    total = total if scaled else total * exp(outside)
    log_half = log(0.5 * near)
    series = hyp0f1_by_v(order + 1.0, 0.25 * near * near, j=1) + (
        log_half - digamma(order + 1.0)
    ) * hyp0f1_by_v(order + 1.0, 0.25 * near * near, j=0)
    size = order * log_half - gammaln(order + 1.0) - (near if scaled else 0.0)
    found = where(far, total, exp(size) * series)
    return where(mirrored, -found - _reflected(where(mirrored, order, 0.5), z, scaled), found)


def _reflected(order: Any, z: Any, scaled: bool) -> Any:
    """The derivative by `order` of ``2 / pi sin(pi order) kv(order, z)``, which turns `iv` around."""
    turn = math.pi * order
    fall = exp(-2.0 * z if scaled else -z)
    return (
        2.0 * cos(turn) * kve_moment(order, z, n=0, m=0)
        + (2.0 / math.pi) * sin(turn) * kve_moment(order, z, n=1, m=0)
    ) * fall


# ---------------------------------------------------------------- of the second kind

FADED = 45.0  # what is left out lies below e**-45 of the largest
MOST_NODES = 400


@elementwise(
    lambda _y, v, z, *, n, m: kve_moment(v, z, n=n + 1, m=m),
    lambda _y, v, z, *, n, m: -kve_moment(v, z, n=n, m=m + 1),
)
def kve_moment(xp, v, z, /, *, n, m):
    """The integral of ``t**n c**m e**(-z c) cosh(v t)`` from 0 to infinity, ``c = cosh(t) - 1``.

    Of ``sinh(v t)`` for odd n. It is `kve`, differentiated n times by `v`, and m times by `z` but for
    the sign. nan where z <= 0 or is so small, below 1e-50, that the nodes are too few.

    Shapes: broadcast.   Dtypes: real; integers give floats.
    Derivative: that with n + 1 by `v`, minus that with m + 1 by `z`; smooth inside its domain.
    Raises: ArgumentError: complex numbers.
    Source: DLMF 10.32.9; the trapezoidal rule, which converges exponentially.

    >>> kve_moment(np.array([0.0, 1.0]), 1.0, n=1, m=0).round(4).tolist()
    [0.0, 1.1445]
    """
    given = together(xp, "kve_moment", v, z)
    v, z = (xp.asarray(x, xp.float64) for x in given)
    known = (z > 0) & xp.isfinite(v)
    z, order = xp.where(known, z, 1.0), xp.abs(xp.where(known, v, 0.0))
    # The exponent is largest at `peak`, and from there falls by ``c (cosh(d) - 1)`` at least to the
    # right, to the left by ``c d**2 / (2 + d)``.
    c, peak = xp.hypot(order, z), xp.arcsinh(order / z)
    reach = (FADED + 5.0 * m) / c
    low = xp.maximum(peak - reach - xp.sqrt(2.0 * reach), 0.0)
    width = peak + 2.0 * xp.arcsinh(xp.sqrt(0.5 * reach)) - low  # cosh of it: 1 + reach
    finest = xp.minimum(0.25, 0.6 / xp.sqrt(c))
    nodes = min(8 + int(xp.max(width / finest)), MOST_NODES) if width.size else 1
    step = width / nodes
    largest = order * peak - order * (order / (c + z))
    total = 0.0 * step
    for k in range(nodes + 1):
        t = low + k * step
        half = xp.sinh(0.5 * t)
        flat = 2.0 * half * half
        mirrored = xp.expm1(-2.0 * order * t)
        even = -0.5 * mirrored if n % 2 else 1.0 + 0.5 * mirrored
        value = t**n * flat**m * even * xp.exp(order * t - z * flat - largest)
        total = total + (value if 0 < k < nodes else 0.5 * value)
    total = xp.exp(largest) * step * total * (xp.sign(v) if n % 2 else 1.0)
    good = known & (step < 1.6 * finest)  # beyond that the rule loses digits
    return xp.where(good, total, math.nan).astype(xp.result_type(*given))
