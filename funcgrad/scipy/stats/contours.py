"""Probabilities as integrals of generating functions along a path around a point of the complex plane.

NOTE [Paths] Where ``M(t)`` is the mean of ``exp(t x)``, the probability above x is the integral of
``exp(-t x) M(t) / t`` over ``2 pi i`` along a path that crosses the real axis at a positive t, and that
below x, but for its sign, along one with a negative t. Through a saddle point of what is integrated
nothing cancels, so all digits are there however small the probability is, and equal steps converge
geometrically. The integral does not depend on the path, which is a constant in derivatives: they are
integrals along the same one.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...numpy._arguments import beside
from ...ops.arithmetic import divide, hypot
from ...ops.exponential import exp, expm1, log, sqrt
from ...ops.logic import equal, greater, less
from ...ops.quadrature import as_column
from ...ops.select import maximum, minimum, stop_gradient
from ...ops.select import where as choose
from ...ops.structural import sum
from ...ops.trigonometric import arccos, cos, sin
from .logs import LOG_2

_NODES = 96  # on one half of a path, the other one being its mirror image
_STEPS = 12
_FADED = 45.0  # beyond a fall by e**-40 an integrand is left out


def log_skellam_above(m: Any, mu1: Any, mu2: Any) -> Any:
    """The logarithm of the probability that the difference of Poisson variables is `m` or more.

    >>> float(log_skellam_above(np.array(0.0), np.array(1.0), np.array(1e-300)).round(6))
    -0.0
    """
    c = _skellam_saddle(*(stop_gradient(x) for x in (m, log(mu1), log(mu2))))
    a, b = mu1 * exp(c), mu2 * exp(-c)
    angle, weight = _angles(stop_gradient(a + b))
    fallen, turn = 2.0 * sin(0.5 * angle) ** 2, sin(angle)
    size = exp(-as_column(a + b) * fallen)
    phase = as_column(a - b) * turn - as_column(stop_gradient(m)) * angle
    # over 1 - exp(-c - i angle)
    q = as_column(exp(-c))
    x, y = q * fallen - as_column(expm1(-c)), q * turn
    share = size * (cos(phase) * x + sin(phase) * y) / (x * x + y * y)
    far = greater(c, 1.0)
    rise = choose(far, a - mu1, mu1 * expm1(choose(far, 0.0, c)))
    return rise + mu2 * expm1(-c) - m * c + log(weighed(share, weight))


def _skellam_saddle(m: Any, log1: Any, log2: Any) -> Any:
    """Where ``mu1 e**c + mu2 e**-c - m c - log(1 - e**-c)`` is least, c > 0: by Newton's method in the
    logarithm of c.
    """
    root = hypot(m, 2.0 * exp(0.5 * (log1 + log2)))
    up = greater(m, 0.0)
    half = 0.5 * (
        root + choose(up, m, -m)
    )  # the larger of mu1 e**c and mu2 e**-c without the last part
    level = maximum(choose(up, log(half) - log1, log2 - log(half)), 0.0)
    c = minimum(0.5 * (level + hypot(level, 2.0 / sqrt(maximum(root, 1.0)))), 700.0)
    for _ in range(_STEPS):
        a, b, r = exp(log1 + c), exp(log2 - c), divide(1.0, expm1(c))
        step = (a - b - m - r) / ((a + b + r * (1.0 + r)) * c)
        c = minimum(c * exp(-minimum(maximum(step, -1.0), 1.0)), 700.0)
    return c


def _angles(sharpness: Any) -> tuple[Any, Any]:
    """Angles from 0 to where ``exp(-sharpness (1 - cos(angle)))`` has faded, and the weight of each."""
    end = arccos(maximum(1.0 - _FADED / maximum(sharpness, 1e-3), -1.0))
    return as_column(end) * beside(end, np.arange(_NODES + 1.0) / _NODES), end / (_NODES * math.pi)


def weighed(y: Any, weight: Any) -> Any:
    """The integral of what has the values `y`, at equal steps from the middle to the end."""
    halved = np.ones(_NODES + 1)
    halved[[0, -1]] = 0.5
    return sum(y * beside(weight, halved), axis=(y.ndim - 1,)) * weight


def log_noncentral(z: Any, df: Any, nc: Any, side: Any) -> Any:
    """The logarithm of a noncentral chi-squared variable's density at `z` > 0, for the side 0; of the
    probability above for 1 and below for -1.

    The integral of ``exp((z (w - 1) + nc (1 / w - 1)) / 2) w**(-df / 2)``, over ``1 - w`` for a
    probability, where w is ``1 - 2 t``: along ``w = c (a cot(a) + i a)``, the angle a from -pi to pi.

    >>> float(log_noncentral(np.array(2.0), np.array(2.0), np.array(0.0), np.array(1.0)).round(6))
    -1.0
    """
    density = equal(side, 0.0)
    still = (stop_gradient(x) for x in (z, df, nc, side))
    c = stop_gradient(_noncentral_saddle(*still))
    held = stop_gradient(0.5 * (z * c + nc / c))
    end = minimum(sqrt(156.0 / held), 3.1)  # at 3.1 it has faded whatever the exponent is
    angle = maximum(as_column(end) * beside(end, np.arange(_NODES + 1.0) / _NODES), 1e-30)
    thin = less(angle, 0.03)
    wide, square = choose(thin, 1.0, angle), angle * angle
    bend = choose(
        thin,
        -angle * (2 / 3 + square * (4 / 45 + square * (12 / 945))),
        (sin(wide) * cos(wide) - wide) / (sin(wide) * sin(wide)),
    )
    c = as_column(c)
    x, y = c * angle * cos(angle) / sin(angle), c * angle
    size = hypot(x, y)
    p, q = x / size / size, -y / size / size  # of 1 / w
    z, df, nc = as_column(z), as_column(df), as_column(nc)
    grown = 0.5 * (z * (x - 1.0) + nc * (p - 1.0) - df * log(size))
    turned = 0.5 * (z * y + nc * q - df * angle)
    height = stop_gradient(0.5 * (z * (c - 1.0) + nc * (1.0 / c - 1.0) - df * log(c)))
    far = hypot(1.0 - x, y)
    up, over = (1.0 - x) / far, y / far
    # dw / i, or that over 1 - w, with the sign of the side
    side = as_column(side)
    plain = equal(side, 0.0)
    first = choose(plain, c, side * c * (up + bend * over) / far)
    second = choose(plain, -c * bend, side * c * (over - bend * up) / far)
    share = exp(grown - height) * (cos(turned) * first - sin(turned) * second)
    total = log(weighed(share, end / (_NODES * math.pi)))
    height = height if height.ndim == 0 else height[..., 0]
    return total + height - choose(density, LOG_2, 0.0)


def _noncentral_saddle(z: Any, df: Any, nc: Any, side: Any) -> Any:
    """Where the path crosses the real axis."""
    level = (df + sqrt(df * df + 4.0 * z * nc)) / (2.0 * z)  # where the numerator is level
    away = maximum(-side * log(level), 0.0)
    spread = sqrt(0.5 * (z * level + nc / level) + 1.0)
    # a path that has the pole at 1 on the other side, by Newton's method in the logarithm
    v, sign = 0.5 * (away + hypot(away, 2.0 / spread)), choose(equal(side, 1.0), -1.0, 1.0)
    for _ in range(_STEPS):
        u = sign * v
        w, r = exp(u), divide(1.0, expm1(u))
        slope = 0.5 * (z * w - nc / w - df) - r
        step = -sign * slope / ((0.5 * (z * w + nc / w) + r * (1.0 + r)) * v)
        v = minimum(v * exp(minimum(maximum(step, -1.0), 1.0)), 700.0)
    c = choose(equal(side, 0.0), level, exp(sign * v))
    return choose(equal(side, 1.0), c, maximum(c, 2.0 / z))
