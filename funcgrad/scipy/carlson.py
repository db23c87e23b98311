"""Carlson's symmetric elliptic integrals of real numbers, by his duplication theorem.

NOTE [Duplication] Each step makes the arguments more alike and leaves the integral what it is; what is
left is a short series. All of it is smooth, so derivatives have their digits where arguments are equal,
too. Twenty steps reach from any numbers of double precision to where the series is exact.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from .. import numpy as fnp
from ..numpy._arguments import arrays_of
from .probabilities import in_double

_STEPS = 20


def _broadcast(*xs: Any) -> list[Any]:
    return list(fnp.broadcast_arrays(*arrays_of(*xs)))


def _inside(value: Any, xs: Sequence[Any], poles: Any) -> Any:
    """`value` where no number is negative, two are not 0 together, and all are finite."""
    low, high = xs[0], xs[0]
    for x in xs[1:]:
        low, high = fnp.minimum(low, x), fnp.maximum(high, x)
    value = fnp.where(high == math.inf, 0.0, fnp.where(poles, math.inf, value))
    return fnp.where(fnp.logical_or(low < 0, fnp.isnan(low)), math.nan, value)


def _two_zeros(x: Any, y: Any, z: Any) -> Any:
    return (x == 0) & (y == 0) | (x == 0) & (z == 0) | (y == 0) & (z == 0)


def _safe(xs: Sequence[Any], *, at: Any) -> list[Any]:
    """The numbers, and 1 where the integral is not to be had by steps."""
    for x in xs:
        at = at | (x < 0) | fnp.isnan(x) | (x == math.inf)
    return [fnp.where(at, 1.0, x) for x in xs]


def _stepped(xs: Sequence[Any]) -> tuple[list[Any], list[Any], Any]:
    """The roots of the arguments and the arguments after a step, with what was added to these."""
    roots = [fnp.sqrt(x) for x in xs]
    added = roots[0] * roots[1] + roots[1] * roots[2] + roots[2] * roots[0]
    return roots, [0.25 * (x + added) for x in xs], added


def _first(x: Any, y: Any, z: Any) -> Any:
    xs = [x, y, z]
    for _ in range(_STEPS):
        xs = _stepped(xs)[1]
    mean = (xs[0] + xs[1] + xs[2]) / 3.0
    u, v = 1.0 - xs[0] / mean, 1.0 - xs[1] / mean
    w = -u - v
    e2, e3 = u * v - w * w, u * v * w
    return (1.0 - e2 / 10.0 + e3 / 14.0 + e2 * e2 / 24.0) / fnp.sqrt(mean)


@in_double
def elliprf(x: Any, y: Any, z: Any) -> Any:
    """``1/2 int_0^inf dt / sqrt((t + x) (t + y) (t + z))``.

    Shapes: they broadcast.   Dtypes: floating; integers give floats.
    Derivative: by all of them; infinite at 0. It is infinite where two are 0, nan for negative ones.
    Raises: ArgumentError: complex numbers.
    Source: Carlson, "Numerical computation of real or complex elliptic integrals" (1995); DLMF 19.36.

    >>> float(elliprf(1.0, 2.0, 0.0).round(9))
    1.311028777
    """
    xs = _broadcast(x, y, z)
    poles = _two_zeros(*xs)
    return _inside(_first(*_safe(xs, at=poles)), xs, poles)


@in_double
def elliprc(x: Any, y: Any) -> Any:
    """``1/2 int_0^inf dt / ((t + y) sqrt(t + x))``; for a negative `y` its principal value.

    Shapes, Dtypes, Derivative, Raises: as `elliprf`; nan where `y` is 0.
    Source: DLMF 19.2.17, 19.2.20, 19.36.

    >>> float(elliprc(0.0, 1.0).round(9)), float(elliprc(1.0, -1.0).round(9))
    (1.570796327, 0.623225240)
    """
    x, y = _broadcast(x, y)
    below = (y < 0) & (y > -math.inf)
    first = fnp.where(below, x - y, x)
    second = fnp.where(below, -y, y)
    start, end = _safe([first, second], at=(second == 0) | (x < 0))
    value = _first(start, end, end)
    usual = below & (x >= 0) & (x < math.inf)
    share = fnp.where(usual, x, 1.0) / fnp.where(usual, start, 1.0)
    value = fnp.where(usual, fnp.sqrt(share) * value, value)
    value = _inside(value, [first, second], False)
    return fnp.where((x < 0) | (y == 0), math.nan, fnp.where(y == -math.inf, 0.0, value))


def _third(x: Any, y: Any, z: Any, p: Any) -> Any:
    product = (p - x) * (p - y) * (p - z)
    xs, total, scale = [x, y, z], fnp.zeros_like(x), 1.0
    for _ in range(_STEPS):
        roots, following, added = _stepped(xs)
        root = fnp.sqrt(p)
        d = (root + roots[0]) * (root + roots[1]) * (root + roots[2])
        # 1 and what is added to it, also where little is left of both together.
        whole = 2.0 * root * (p + added) / d
        total = total + scale / d * _near_one(scale**3 * product / (d * d), whole)
        xs, p, scale = following, 0.25 * (p + added), 0.25 * scale
    mean = (xs[0] + xs[1] + xs[2] + 2.0 * p) / 5.0
    u, v, w = (1.0 - x / mean for x in xs)
    q = -0.5 * (u + v + w)
    e2 = u * v + v * w + w * u - 3.0 * q * q
    e3 = u * v * w + 2.0 * e2 * q + 4.0 * q * q * q
    series = 1.0 - 3.0 / 14.0 * e2 + e3 / 6.0 + 9.0 / 88.0 * e2 * e2
    return 6.0 * total + scale * series / (mean * fnp.sqrt(mean))


def _near_one(e: Any, whole: Any) -> Any:
    """``elliprc(1, whole)`` for ``whole = 1 + e``, a smooth function of e beyond -1."""
    small = fnp.absolute(e) <= 0.05
    near = fnp.where(small, e, 0.0)
    series = fnp.zeros_like(e)
    for k in range(14, -1, -1):
        series = 1.0 / (2 * k + 1) - near * series
    above = e > 0
    up = fnp.sqrt(fnp.where(~small & above, e, 1.0))
    down = fnp.sqrt(fnp.where(small | above, 0.25, -e))
    log = fnp.log1p(down) - 0.5 * fnp.log(fnp.where(small | above, 0.75, whole))
    far = fnp.where(above, fnp.arctan(up) / up, log / down)
    return fnp.where(small, series, far)


@in_double
def elliprj(x: Any, y: Any, z: Any, p: Any) -> Any:
    """``3/2 int_0^inf dt / ((t + p) sqrt((t + x) (t + y) (t + z)))``; for p < 0 its principal value.

    Shapes, Dtypes, Derivative, Raises: as `elliprf`; nan where `p` is 0.
    Source: Carlson, "Numerical computation of real or complex elliptic integrals" (1995); DLMF 19.20,
    19.21.

    >>> float(elliprj(2.0, 3.0, 4.0, 5.0).round(9))
    0.142975797
    """
    x, y, z, p = _broadcast(x, y, z, p)
    poles = _two_zeros(x, y, z) | (p == 0)
    a, b, c, size = _safe([x, y, z, fnp.absolute(p)], at=poles)
    below = p < 0
    low, middle, high = _in_order(a, b, c)
    other = fnp.where(below, (high * (low + middle + size) - low * middle) / (high + size), size)
    # Of a `p` far above the others there is the one of a number close to them.
    far = ~below & (size > 100.0 * high)
    gap = fnp.where(far, size - high, 1.0)
    off = (high - low) * (high - middle) / gap
    value = _third(a, b, c, fnp.where(far, high + off, other))
    first = _first(a, b, c)
    end = fnp.where(far, size * (1.0 + off / high), 1.0)
    away = 3.0 * (first - _first(low * middle / high, end, end)) - off * value
    cross = low * middle + other * size
    corner = fnp.sqrt(low * middle * high / cross) * _first(cross, other * size, other * size)
    turned = (other - high) * value + 3.0 * (corner - first)
    value = fnp.where(below, turned / (high + size), fnp.where(far, away / gap, value))
    value = _inside(value, [x, y, z, fnp.absolute(p)], poles)
    return fnp.where(p == 0, math.nan, value)


def _in_order(x: Any, y: Any, z: Any) -> tuple[Any, Any, Any]:
    """A permutation also where numbers are equal, so that derivatives are whose they are."""
    rows = fnp.sort(fnp.stack([x, y, z]), axis=0)
    return rows[0], rows[1], rows[2]


@in_double
def elliprd(x: Any, y: Any, z: Any) -> Any:
    """``3/2 int_0^inf dt / ((t + z) sqrt((t + x) (t + y) (t + z)))``: `elliprj` with ``p = z``.

    Shapes, Dtypes, Derivative, Raises: as `elliprf`; infinite where `z` is 0.
    Source: DLMF 19.16.5.

    >>> float(elliprd(0.0, 2.0, 1.0).round(9))
    1.797210352
    """
    xs = _broadcast(x, y, z)
    poles = (xs[0] == 0) & (xs[1] == 0) | (xs[2] == 0)
    a, b, c = _safe(xs, at=poles)
    return _inside(_third(a, b, c, c), xs, poles)


@in_double
def elliprg(x: Any, y: Any, z: Any) -> Any:
    """``1/4 int_0^inf t (x/(t + x) + y/(t + y) + z/(t + z)) dt / sqrt((t + x) (t + y) (t + z))``.

    Shapes, Dtypes, Raises: as `elliprf`.
    Derivative: by all of them; infinite or nan at 0. It is nan for negative numbers.
    Source: DLMF 19.21.10.

    >>> float(elliprg(0.0, 16.0, 16.0).round(9)), float(elliprg(0.0, 0.0, 4.0))
    (3.141592654, 1.0)
    """
    xs = _broadcast(x, y, z)
    poles = _two_zeros(*xs)
    a, b, c = _in_order(*_safe(xs, at=poles))
    # With the middle one as the third argument nothing cancels.
    bend = (b - a) * (c - b) * _third(a, c, b, b) / 3.0
    value = 0.5 * (b * _first(a, b, c) + bend + fnp.sqrt(a * c / b))
    high = fnp.maximum(fnp.maximum(xs[0], xs[1]), xs[2])
    low = fnp.minimum(fnp.minimum(xs[0], xs[1]), xs[2])
    value = fnp.where(poles, 0.5 * fnp.sqrt(fnp.where(poles & (high > 0), high, 1.0)), value)
    value = fnp.where(poles & (high == 0), 0.0, value)
    value = fnp.where(high == math.inf, math.inf, value)
    return fnp.where((low < 0) | fnp.isnan(low), math.nan, value)
