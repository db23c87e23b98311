"""Distributions on an interval: cut off exponentials, Bradford's, a cosine."""

from __future__ import annotations

import math
from typing import Any

import numpy as np  # noqa: F401  (doctests)

from ...ops.arithmetic import divide
from ...ops.exponential import exp, expm1, log, log1p, sqrt
from ...ops.logic import greater, less
from ...ops.select import where as choose
from ...ops.trigonometric import arcsin, cos, sin
from .continuous import ContinuousDistribution
from .extremes import expm1_over, log1p_over
from .logs import LOG_2, log1mexp


class TruncExpon(ContinuousDistribution):
    """The exponential distribution cut off at `b` > 0: ``f(z) = exp(-z) / (1 - exp(-b))`` for
    0 <= z <= b.

    Source: SciPy reference, ``scipy.stats.truncexpon``.

    >>> float(truncexpon.pdf(0.0, 1.0).round(4))
    1.582
    """

    shapes = ("b",)
    low = 0.0
    exact_ends = False

    def _support(self, b: Any) -> tuple[Any, Any]:
        return 0.0, b

    def _inside(self, b: Any) -> Any:
        return 0.5 * b

    def _logpdf(self, z: Any, b: Any) -> Any:
        return -z - log1mexp(b)

    def _cdf(self, z: Any, b: Any) -> Any:
        return expm1(-z) / expm1(-b)

    def _sf(self, z: Any, b: Any) -> Any:
        return exp(-z) * expm1(z - b) / expm1(-b)

    def _logcdf(self, z: Any, b: Any) -> Any:
        return log1mexp(z) - log1mexp(b)

    def _logsf(self, z: Any, b: Any) -> Any:
        return log1mexp(b - z) - z - log1mexp(b)

    def _ppf(self, q: Any, b: Any) -> Any:
        return -log1p(q * expm1(-b))

    def _isf(self, q: Any, b: Any) -> Any:
        return -log(exp(-b) - q * expm1(-b))

    def _mean(self, b: Any) -> Any:
        return _above_power(b) / expm1(b)

    def _var(self, b: Any) -> Any:
        small = less(b, 0.5)
        inner = 1.0 + b * b * exp(-b) / (expm1(-b) * expm1(-b)) * -1.0
        v = choose(small, b, 0.0)
        v = v * v  # of 1 - (b / 2 / sinh(b / 2))**2
        series = v * (1 / 12 - v * (1 / 240 - v * (1 / 6048 - v * (1 / 172800 - v / 5322240))))
        return choose(small, series, inner)

    def _entropy(self, b: Any) -> Any:
        return log1mexp(b) + self._mean(b)


def _above_power(b: Any) -> Any:
    """``exp(b) - 1 - b`` for b > 0."""
    small = less(b, 0.5)
    v = choose(small, b, 0.0)
    term, total = v * v * 0.5, v * 0.0
    for k in range(3, 15):
        total = total + term
        term = term * v * (1.0 / k)
    return choose(small, total, expm1(b) - b)


class Bradford(ContinuousDistribution):
    """Bradford's distribution, `c` > 0: ``f(z) = c / (log(1 + c) (1 + c z))`` for 0 <= z <= 1.

    Source: SciPy reference, ``scipy.stats.bradford``.

    >>> float(bradford.cdf(0.5, 8.0).round(4))
    0.7325
    """

    shapes = ("c",)
    low, high = 0.0, 1.0
    exact_ends = False

    def _logpdf(self, z: Any, c: Any) -> Any:
        return -log(log1p_over(c, 1.0)) - log1p(c * z)

    def _cdf(self, z: Any, c: Any) -> Any:
        return log1p_over(c, z) / log1p_over(c, 1.0)

    def _sf(self, z: Any, c: Any) -> Any:
        return log1p_over(c, (1.0 - z) / (1.0 + c * z)) / log1p_over(c, 1.0)

    def _ppf(self, q: Any, c: Any) -> Any:
        return expm1_over(c, q * log1p_over(c, 1.0))

    def _isf(self, q: Any, c: Any) -> Any:
        # from 1 down: (1 + c) ** -q of the way up is what is left
        return 1.0 + (1.0 + c) * expm1_over(c, -q * log1p_over(c, 1.0))

    def _mean(self, c: Any) -> Any:
        return divide(1.0, log1p(c)) - divide(1.0, c)

    def _var(self, c: Any) -> Any:
        k = log1p(c)
        return ((c + 2.0) * k - 2.0 * c) / (2.0 * c * k * k)

    def _entropy(self, c: Any) -> Any:
        return 0.5 * log1p(c) + log(log1p_over(c, 1.0))


class Anglit(ContinuousDistribution):
    """The cosine on a quarter of a turn: ``f(z) = cos(2 z)`` for -pi / 4 <= z <= pi / 4.

    Source: SciPy reference, ``scipy.stats.anglit``.

    >>> float(anglit.pdf(0.0))
    1.0
    """

    low, high = -0.25 * math.pi, 0.25 * math.pi
    inside = 0.0
    exact_ends = False

    def _logpdf(self, z: Any) -> Any:
        return log(cos(2.0 * z))

    def _cdf(self, z: Any) -> Any:
        root = sin(z + 0.25 * math.pi)
        return root * root

    def _sf(self, z: Any) -> Any:
        return self._cdf(-z)

    def _ppf(self, q: Any) -> Any:
        high = greater(q, 0.5)
        size = arcsin(sqrt(choose(high, 1.0 - q, q))) - 0.25 * math.pi
        return choose(high, -size, size)

    def _isf(self, q: Any) -> Any:
        return -self._ppf(q)

    def _mean(self) -> Any:
        return 0.0

    def _var(self) -> Any:
        return math.pi * math.pi / 16.0 - 0.5

    def _entropy(self) -> Any:
        return 1.0 - LOG_2


truncexpon = TruncExpon("truncexpon")
bradford = Bradford("bradford")
anglit = Anglit("anglit")
