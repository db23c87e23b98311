"""Distributions of functions of normal variables: fatigue, a bounded one, least ones of many."""

from __future__ import annotations

from typing import Any

import numpy as np  # noqa: F401  (doctests)

from ...ops.arithmetic import divide
from ...ops.exponential import exp, expit, expm1, log, log1p, sqrt
from ...ops.logic import greater, less
from ...ops.select import minimum
from ...ops.select import where as choose
from ...ops.special import log_ndtr, logit, ndtr, ndtri, ndtri_exp
from .continuous import NORMAL_REACH, ContinuousDistribution
from .logs import LOG_2, log1mexpexp
from .monotone import OfNormal
from .normal import log_density


class FatigueLife(ContinuousDistribution):
    """Birnbaum and Saunders' distribution, `c` > 0: ``(sqrt(z) - 1 / sqrt(z)) / c`` is normal, z > 0.

    Source: SciPy reference, ``scipy.stats.fatiguelife``.

    >>> float(fatiguelife.cdf(1.0, 2.0))
    0.5
    """

    shapes = ("c",)
    low = 0.0
    inside = 1.0
    open = True
    formulas_at_ends = False
    exact_ends = False

    def _of_normal(self, z: Any, c: Any) -> Any:
        root = sqrt(z)
        return (root - divide(1.0, root)) / c

    def _logpdf(self, z: Any, c: Any) -> Any:
        slope = log1p(z) - 1.5 * log(z) - LOG_2 - log(c)
        return log_density(self._of_normal(z, c)) + slope

    def _cdf(self, z: Any, c: Any) -> Any:
        return ndtr(self._of_normal(z, c))

    def _sf(self, z: Any, c: Any) -> Any:
        return ndtr(-self._of_normal(z, c))

    def _logcdf(self, z: Any, c: Any) -> Any:
        return log_ndtr(self._of_normal(z, c))

    def _logsf(self, z: Any, c: Any) -> Any:
        return log_ndtr(-self._of_normal(z, c))

    def _ppf(self, q: Any, c: Any) -> Any:
        return self._place(c * ndtri(q))

    def _isf(self, q: Any, c: Any) -> Any:
        return self._place(-c * ndtri(q))

    def _place(self, t: Any) -> Any:
        """The z with ``sqrt(z) - 1 / sqrt(z) = t``."""
        high = greater(t, 0.0)
        size = choose(high, t, -t)
        root = 0.5 * (size + sqrt(size * size + 4.0))
        return choose(high, root * root, divide(1.0, root * root))

    def _mean(self, c: Any) -> Any:
        return 1.0 + 0.5 * c * c

    def _var(self, c: Any) -> Any:
        return c * c * (1.0 + 1.25 * c * c)


class JohnsonSB(OfNormal):
    """Johnson's bounded distribution: ``a + b log(z / (1 - z))`` is normal, `b` > 0, 0 < z < 1.

    Source: SciPy reference, ``scipy.stats.johnsonsb``.

    >>> float(johnsonsb.cdf(0.5, 0.0, 2.0))
    0.5
    """

    low, high = 0.0, 1.0
    open = True
    formulas_at_ends = False
    exact_ends = False

    def _logpdf(self, z: Any, a: Any, b: Any) -> Any:
        return log_density(a + b * logit(z)) + log(b) - log(z) - log1p(-z)

    def _inner(self, z: Any) -> Any:
        return logit(z)

    def _outer(self, y: Any) -> Any:
        return expit(y)


class PowerNorm(ContinuousDistribution):
    """The least of `c` > 0 normal variables: ``sf(z) = ndtr(-z)**c``.

    Source: SciPy reference, ``scipy.stats.powernorm``.

    >>> float(powernorm.sf(0.0, 2.0))
    0.25
    """

    shapes = ("c",)
    exact_ends = False

    def _reach(self, c: Any) -> tuple[Any, Any]:
        return -NORMAL_REACH, divide(NORMAL_REACH, sqrt(minimum(c, 1.0)))

    def _logpdf(self, z: Any, c: Any) -> Any:
        return log(c) + log_density(z) + (c - 1.0) * log_ndtr(-z)

    def _cdf(self, z: Any, c: Any) -> Any:
        return -expm1(c * log_ndtr(-z))

    def _sf(self, z: Any, c: Any) -> Any:
        return exp(c * log_ndtr(-z))

    def _logcdf(self, z: Any, c: Any) -> Any:
        far = less(z, -6.0)
        low = choose(far, z, -6.0)
        first = log_ndtr(low) + 0.5 * ndtr(low)  # log(-log(1 - p)) is log(p) + p / 2 + ..
        return log1mexpexp(log(c) + choose(far, first, log(-log_ndtr(-choose(far, -6.0, z)))))

    def _logsf(self, z: Any, c: Any) -> Any:
        return c * log_ndtr(-z)

    def _ppf(self, q: Any, c: Any) -> Any:
        return -ndtri_exp(log1p(-q) / c)

    def _isf(self, q: Any, c: Any) -> Any:
        return -ndtri_exp(log(q) / c)


class PowerLogNorm(ContinuousDistribution):
    """The least of `c` > 0 exponentials of normal variables of deviation `s` > 0:
    ``sf(z) = ndtr(-log(z) / s)**c`` for z > 0.

    Source: SciPy reference, ``scipy.stats.powerlognorm``.

    >>> float(powerlognorm.sf(1.0, 2.0, 0.5))
    0.25
    """

    shapes = ("c", "s")
    low = 0.0
    inside = 1.0
    open = True
    formulas_at_ends = False
    exact_ends = False

    def _logpdf(self, z: Any, c: Any, s: Any) -> Any:
        return powernorm._logpdf(log(z) / s, c) - log(z) - log(s)

    def _cdf(self, z: Any, c: Any, s: Any) -> Any:
        return powernorm._cdf(log(z) / s, c)

    def _sf(self, z: Any, c: Any, s: Any) -> Any:
        return powernorm._sf(log(z) / s, c)

    def _logcdf(self, z: Any, c: Any, s: Any) -> Any:
        return powernorm._logcdf(log(z) / s, c)

    def _logsf(self, z: Any, c: Any, s: Any) -> Any:
        return powernorm._logsf(log(z) / s, c)

    def _ppf(self, q: Any, c: Any, s: Any) -> Any:
        return exp(s * powernorm._ppf(q, c))

    def _isf(self, q: Any, c: Any, s: Any) -> Any:
        return exp(s * powernorm._isf(q, c))


fatiguelife = FatigueLife("fatiguelife")
johnsonsb = JohnsonSB("johnsonsb")
powernorm = PowerNorm("powernorm")
powerlognorm = PowerLogNorm("powerlognorm")
