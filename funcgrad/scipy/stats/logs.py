"""Logarithms of probabilities and of their complements, without losing what is small."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...core import aval_of
from ...ops.arithmetic import power
from ...ops.bessel import i0e
from ...ops.exponential import exp, log, log1p
from ...ops.logic import greater, less
from ...ops.select import minimum
from ...ops.select import where as choose
from ...ops.special import LOG_2, log1mexp

__all__ = [
    "LOG_2",
    "bounded_exp",
    "log1mexp",
    "log1mexpexp",
    "log_i0e",
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

    >>> [round(float(log1mexpexp(u)), 4) for u in (-800.0, 0.0)]
    [-800.0, -0.4587]
    """
    far = less(u, -100.0)
    return choose(far, u, log1mexp(exp(choose(far, 0.0, u))))


def log_of(p: Any, rest: Any) -> Any:
    """``log(p)`` for a probability and ``rest = 1 - p``; from the one that has its digits.

    >>> float(log_of(1.0, 1e-30))
    -1e-30
    """
    small = less(p, 0.5)
    return choose(small, log(choose(small, p, 0.5)), log1p(-choose(small, 0.5, rest)))


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


def bounded_exp(x: Any) -> Any:
    """``exp(x)``, never infinite: a factor of what is 0.

    >>> float(0.0 * bounded_exp(1e3))
    0.0
    """
    return exp(minimum(x, 0.9 * float(np.log(np.finfo(aval_of(x).dtype).max))))
