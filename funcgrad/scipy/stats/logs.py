"""Logarithms of probabilities and of their complements, without losing what is small."""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from ...core import aval_of
from ...ops.arithmetic import divide, hypot, polynomial, power
from ...ops.bessel import i0e, ive
from ...ops.exponential import bounded_exp, exp, log, log1p, sqrt
from ...ops.gamma import gammaln
from ...ops.logic import greater, less
from ...ops.select import where as choose
from ...ops.special import LOG_2, log1mexp
from ...ops.trigonometric import arcsinh

__all__ = [
    "LOG_2",
    "bounded_exp",
    "log1mexp",
    "log1mexpexp",
    "log_i0e",
    "log_ive",
    "log_of",
    "log_sum",
    "near_zero",
]


def near_zero(z: Any, c: Any, m: Any, second: Any) -> tuple[Any, Any]:
    """Where ``(1 + second) z**c`` < 1e-9, z >= 0 and c > 0, and there ``z**m - second z**(m + c)``.

    A probability with another power, or a logarithm, inside has at z = 0 no slope by the chain rule.

    >>> [float(v) for v in near_zero(np.array(1e-10), np.array(1.0), np.array(1.0), 0.1)[1:]]
    [9.9999999999e-11]
    """
    end = bounded_exp((-9.0 * math.log(10.0) - log1p(second)) / c)
    near = less(z, end) & greater(c, 0.0)
    z = choose(near, z, 1.0)
    return near, power(z, m) - second * power(z, m + c)


def log1mexpexp(u: Any) -> Any:
    """``log(1 - exp(-e**u))``, which is `u` where ``e**u`` vanishes.

    Below -8, where second derivatives are lost in rounding, by the series in ``e**u``.

    >>> [round(float(log1mexpexp(u)), 4) for u in (-800.0, 0.0)]
    [-800.0, -0.4587]
    """
    far = less(u, -8.0)
    v = exp(choose(far, u, -8.0))
    series = u - v * (0.5 - v * (1 / 24 - v * v / 2880))
    return choose(far, series, log1mexp(exp(choose(far, 0.0, u))))


def log_of(p: Any, rest: Any) -> Any:
    """``log(p)`` for a probability and ``rest = 1 - p``; from the one that has its digits.

    >>> float(log_of(1.0, 1e-30))
    -1e-30
    """
    small = less(p, 0.5)
    return choose(small, _log_of_small(choose(small, p, 0.5)), log1p(-choose(small, 0.5, rest)))


def _log_of_small(p: Any) -> Any:
    """``log(p)``, whose second derivative squares no `p` so small that the square vanishes."""
    bits = round(0.68 * np.finfo(aval_of(p).dtype).maxexp)
    tiny = less(p, 2.0 ** -(bits // 2))
    return log(choose(tiny, p * 2.0**bits, p)) - choose(tiny, bits * LOG_2, 0.0)


def log_sum(x: Any, y: Any) -> Any:
    """``log(exp(x) + exp(y))`` for finite numbers; unlike `logaddexp` it is silent about nan.

    >>> float(log_sum(0.0, -1000.0))
    0.0
    """
    first = greater(x, y)
    high, low = choose(first, x, y), choose(first, y, x)
    return high + log1p(exp(low - high))


def log_i0e(x: Any) -> Any:
    """``log(i0e(x))`` for x >= 0, with the derivatives from the right at 0, where `i0e` has a kink.

    >>> float(log_i0e(np.array(0.0))), float(log_i0e(np.array(1.0)).round(4))
    (0.0, -0.7641)
    """
    near = less(x, 1e-3)
    v = choose(near, x, 0.0)
    w = 0.25 * v * v
    return choose(near, w * (1.0 - w * (0.25 - w / 9.0)) - v, log(i0e(choose(near, 1.0, x))))


@functools.cache
def _uniform(count: int) -> tuple[tuple[float, ...], ...]:
    """Coefficients of the polynomials U_1, U_2, ... of DLMF 10.41.10, the lowest power first."""
    p = np.polynomial.Polynomial([0.0, 1.0])
    found = [np.polynomial.Polynomial([1.0])]
    for _ in range(count):
        u = found[-1]
        found.append(p * p * (1 - p * p) * u.deriv() / 2 + ((1 - 5 * p * p) * u).integ() / 8)
    return tuple(tuple(u.coef.tolist()) for u in found[1:])


def log_ive(v: Any, x: Any) -> Any:
    """``log(ive(v, x))`` for x > 0 and a constant v >= 0, also where `ive` underflows, or is nan for a
    large x.

    >>> float(log_ive(np.array(690.0), np.array(128.7)).round(4))
    -1073.8451
    """
    far = greater(x, 1e8)  # there two terms of the uniform expansion do, for any v
    large, x = choose(far, x, 1e8), choose(far, 1.0, x)
    long = hypot(v, large)
    share = v / long
    outer = v * (v / (long + large)) - v * arcsinh(v / large) - 0.5 * log(2.0 * math.pi * long)
    outer = outer + log1p((3.0 - 5.0 * share * share) / (24.0 * long))
    value = ive(v, x)
    # second derivatives divide by the square
    tiny = less(value, 1e3 * math.sqrt(np.finfo(aval_of(value).dtype).tiny))
    v, x = choose(tiny, v, 1.0), choose(tiny, x, 1.0)
    # The first term of the series at 0, times how the uniform expansion goes on from there.
    z = x / v
    root = sqrt(1.0 + z * z)
    p, half = divide(1.0, root), divide(z * z, 2.0 * (1.0 + root))
    here = polynomial(divide(1.0, v), [0.0, *[polynomial(p, u) for u in _uniform(4)]])
    start = polynomial(divide(1.0, v), [0.0, *[math.fsum(u) for u in _uniform(4)]])
    first = v * log(0.5 * x) - gammaln(v + 1.0)
    rest = v * (2.0 * half - log1p(half)) - 0.5 * log(root) + log1p(here) - log1p(start) - x
    return choose(far, outer, choose(tiny, first + rest, log(choose(tiny, 1.0, value))))
