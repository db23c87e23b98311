"""The normal distribution and those made of it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np  # noqa: F401  (doctests)

from ...ops.exponential import exp, expm1, log, log1p
from ...ops.logic import less
from ...ops.select import where as choose
from ...ops.special import erf, erfc, erfinv, log_ndtr, ndtr, ndtri
from .continuous import ContinuousDistribution
from .logs import LOG_2

LOG_2PI = math.log(2.0 * math.pi)


def log_density(z: Any) -> Any:
    """Of the standard normal distribution."""
    return z * z * -0.5 - 0.5 * LOG_2PI


class Norm(ContinuousDistribution):
    """The normal distribution: ``f(z) = exp(-z**2 / 2) / sqrt(2 pi)``.

    Source: SciPy reference, ``scipy.stats.norm``.

    >>> float(norm.logpdf(1.0, loc=1.0, scale=2.0).round(4))
    -1.6121
    """

    single = True

    def _logpdf(self, z: Any) -> Any:
        return log_density(z)

    def _cdf(self, z: Any) -> Any:
        return ndtr(z)

    def _sf(self, z: Any) -> Any:
        return ndtr(-z)

    def _logcdf(self, z: Any) -> Any:
        return log_ndtr(z)

    def _logsf(self, z: Any) -> Any:
        return log_ndtr(-z)

    def _ppf(self, q: Any) -> Any:
        return ndtri(q)

    def _isf(self, q: Any) -> Any:
        return -ndtri(q)

    def _mean(self) -> Any:
        return 0.0

    def _var(self) -> Any:
        return 1.0

    def _entropy(self) -> Any:
        return 0.5 * (LOG_2PI + 1.0)


class HalfNorm(ContinuousDistribution):
    """The size of a normal variable: ``f(z) = sqrt(2 / pi) exp(-z**2 / 2)`` for z >= 0.

    Source: SciPy reference, ``scipy.stats.halfnorm``.

    >>> float(halfnorm.pdf(0.0).round(4))
    0.7979
    """

    low = 0.0

    def _logpdf(self, z: Any) -> Any:
        return log_density(z) + LOG_2

    def _cdf(self, z: Any) -> Any:
        return erf(z * math.sqrt(0.5))

    def _sf(self, z: Any) -> Any:
        return erfc(z * math.sqrt(0.5))

    def _logsf(self, z: Any) -> Any:
        near = less(z, 0.5)
        inside, outside = choose(near, z, 0.0), choose(near, 0.5, z)
        return choose(near, log1p(-self._cdf(inside)), log_ndtr(-outside) + LOG_2)

    def _ppf(self, q: Any) -> Any:
        return erfinv(q) * math.sqrt(2.0)

    def _isf(self, q: Any) -> Any:
        return -ndtri(q * 0.5)

    def _mean(self) -> Any:
        return math.sqrt(2.0 / math.pi)

    def _var(self) -> Any:
        return 1.0 - 2.0 / math.pi

    def _entropy(self) -> Any:
        return 0.5 * (LOG_2PI + 1.0) - LOG_2


class LogNorm(ContinuousDistribution):
    """The exponential of a normal variable of deviation `s` > 0:
    ``f(z) = exp(-log(z)**2 / (2 s**2)) / (s z sqrt(2 pi))`` for z > 0.

    Source: SciPy reference, ``scipy.stats.lognorm``.

    >>> float(lognorm.pdf(1.0, 1.0).round(4))
    0.3989
    """

    shapes = ("s",)
    low = 0.0
    inside = 1.0
    open = True
    formulas_at_ends = False

    def _logpdf(self, z: Any, s: Any) -> Any:
        u = log(z)
        return log_density(u / s) - u - log(s)

    def _cdf(self, z: Any, s: Any) -> Any:
        return ndtr(log(z) / s)

    def _sf(self, z: Any, s: Any) -> Any:
        return ndtr(-log(z) / s)

    def _logcdf(self, z: Any, s: Any) -> Any:
        return log_ndtr(log(z) / s)

    def _logsf(self, z: Any, s: Any) -> Any:
        return log_ndtr(-log(z) / s)

    def _ppf(self, q: Any, s: Any) -> Any:
        return exp(s * ndtri(q))

    def _isf(self, q: Any, s: Any) -> Any:
        return exp(-s * ndtri(q))

    def _mean(self, s: Any) -> Any:
        return exp(s * s * 0.5)

    def _var(self, s: Any) -> Any:
        return expm1(s * s) * exp(s * s)

    def _entropy(self, s: Any) -> Any:
        return 0.5 * (LOG_2PI + 1.0) + log(s)


norm = Norm("norm")
halfnorm = HalfNorm("halfnorm")
lognorm = LogNorm("lognorm")
