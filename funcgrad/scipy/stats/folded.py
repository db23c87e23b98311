"""Sizes of variables that may be negative: of a normal and of a Cauchy variable, and of others."""

from __future__ import annotations

import math
from typing import Any

import numpy as np  # noqa: F401  (doctests)

from ...ops.arithmetic import divide, hypot, power
from ...ops.exponential import exp, log, log1p
from ...ops.gamma import gammainc, gammaincc, gammainccinv, gammaincinv, gammaln
from ...ops.logic import equal, greater, less
from ...ops.select import where as choose
from ...ops.special import erfc, log_ndtr, ndtr
from ...ops.trigonometric import arctan2, tan
from .continuous import NORMAL_REACH, ContinuousDistribution
from .elementary import log1p_square
from .gammas import gennorm, root_of_quantile
from .logs import LOG_2, log_sum
from .normal import log_density
from .solved import SolvedDistribution
from .tails import log_gammainc, log_gammaincc
from .truncated import rate_and_width


class FoldNorm(SolvedDistribution):
    """The size of a normal variable of mean `c` >= 0: ``f(z) = phi(z - c) + phi(z + c)`` for z >= 0.

    Source: SciPy reference, ``scipy.stats.foldnorm``.

    >>> float(foldnorm.pdf(0.0, 1.0).round(4))
    0.4839
    """

    shapes = ("c",)
    low = 0.0

    def _valid(self, c: Any) -> Any:
        return (c >= 0) & (c < math.inf)

    def _reach(self, c: Any) -> tuple[Any, Any]:
        return -math.inf, c + NORMAL_REACH

    def _logpdf(self, z: Any, c: Any) -> Any:
        return log_density(z - c) + log1p(exp(-2.0 * c * z))

    def _rate(self, z: Any, c: Any) -> tuple[Any, Any]:
        return rate_and_width(-z - c, z - c, -c, 2.0 * z)

    def _cdf(self, z: Any, c: Any) -> Any:
        log_rate, width = self._rate(z, c)
        return exp(log_rate) * width

    def _sf(self, z: Any, c: Any) -> Any:
        return ndtr(c - z) + ndtr(-c - z)

    def _logcdf(self, z: Any, c: Any) -> Any:
        log_rate, width = self._rate(z, c)
        return log_rate + log(width)

    def _logsf(self, z: Any, c: Any) -> Any:
        far = greater(z, c + 0.5)
        outer = choose(far, z, c + 0.5)
        inner = log1p(-self._cdf(choose(far, 0.0, z), c))
        return choose(far, log_sum(log_ndtr(c - outer), log_ndtr(-c - outer)), inner)

    def _over(self, c: Any) -> Any:
        """The mean less `c`."""
        density = math.sqrt(2.0 / math.pi) * exp(-0.5 * c * c)
        return density - c * erfc(c * math.sqrt(0.5))

    def _mean(self, c: Any) -> Any:
        return c + self._over(c)

    def _var(self, c: Any) -> Any:
        over = self._over(c)
        return 1.0 - over * (2.0 * c + over)


class FoldCauchy(ContinuousDistribution):
    """The size of a Cauchy variable around `c` >= 0:
    ``f(z) = (1 / (1 + (z - c)**2) + 1 / (1 + (z + c)**2)) / pi`` for z >= 0.

    Source: SciPy reference, ``scipy.stats.foldcauchy``.

    >>> float(foldcauchy.cdf(1.0, 0.0).round(4))
    0.5
    """

    shapes = ("c",)
    low = 0.0
    exact_ends = False

    def _valid(self, c: Any) -> Any:
        return (c >= 0) & (c < math.inf)

    def _logpdf(self, z: Any, c: Any) -> Any:
        both = 2.0 * log(hypot(hypot(z, c), 1.0))
        return math.log(2.0 / math.pi) + both - log1p_square(z - c) - log1p_square(z + c)

    def _sides(self, z: Any, c: Any) -> tuple[Any, Any]:
        """Twice z and ``1 + c**2 - z**2``, both over z where that is large."""
        far = greater(z, 1.0)
        over, near = choose(far, z, 1.0), choose(far, 1.0, z)
        return 2.0 * near, (1.0 + c * c) / over - choose(far, z, z * z)

    def _cdf(self, z: Any, c: Any) -> Any:
        y, x = self._sides(z, c)
        return arctan2(y, x) / math.pi

    def _sf(self, z: Any, c: Any) -> Any:
        y, x = self._sides(z, c)
        return arctan2(y, -x) / math.pi

    def _ppf(self, q: Any, c: Any) -> Any:
        return self._place(_cot(q, 1.0 - q), c)

    def _isf(self, q: Any, c: Any) -> Any:
        return self._place(-_cot(q, 1.0 - q), c)

    def _place(self, k: Any, c: Any) -> Any:
        """The positive z with ``z**2 + 2 k z = 1 + c**2``."""
        low = greater(k, 0.0)
        size = choose(low, k, -k)
        far = hypot(hypot(size, c), 1.0) + size
        return choose(low, (1.0 + c * c) / far, far)

    def _mean(self, c: Any) -> Any:
        return math.inf + 0.0 * c

    def _var(self, c: Any) -> Any:
        return math.inf + 0.0 * c


def _cot(q: Any, rest: Any) -> Any:
    """``cot(pi q)`` for q in 0 .. 1 and ``rest = 1 - q``."""
    low, high = less(q, 0.25), less(rest, 0.25)
    small = choose(low, q, choose(high, rest, 0.25))
    outer = choose(high, -1.0, 1.0) / tan(math.pi * small)
    return choose(low | high, outer, tan(math.pi * (0.5 - choose(low | high, 0.5, q))))


class HalfGenNorm(ContinuousDistribution):
    """The size of a generalised normal variable, `beta` > 0:
    ``f(z) = beta exp(-z**beta) / gamma(1 / beta)`` for z >= 0.

    Source: SciPy reference, ``scipy.stats.halfgennorm``.

    >>> float(halfgennorm.pdf(1.0, 1.0).round(4))
    0.3679
    """

    shapes = ("beta",)
    low = 0.0
    exact_ends = False

    def _reach(self, beta: Any) -> tuple[Any, Any]:
        return -math.inf, gennorm._reach(beta)[1]

    def _logpdf(self, z: Any, beta: Any) -> Any:
        steep = equal(z, 0.0) & less(beta, 1.0)  # there 0 takes the place of an infinite slope
        fallen = choose(steep, 0.0, power(choose(steep, 1.0, z), beta))
        return log(beta) - gammaln(divide(1.0, beta)) - fallen

    def _cdf(self, z: Any, beta: Any) -> Any:
        x, near, middle = gennorm._power(z, beta)
        return choose(near, 2.0 * middle, gammainc(divide(1.0, beta), x))

    def _sf(self, z: Any, beta: Any) -> Any:
        x, near, middle = gennorm._power(z, beta)
        return choose(near, 1.0 - 2.0 * middle, gammaincc(divide(1.0, beta), x))

    def _logcdf(self, z: Any, beta: Any) -> Any:
        x, near, middle = gennorm._power(z, beta)
        inner = LOG_2 + log(choose(near, middle, 0.5))
        return choose(near, inner, log_gammainc(divide(1.0, beta), x))

    def _logsf(self, z: Any, beta: Any) -> Any:
        x, near, middle = gennorm._power(z, beta)
        return choose(near, log1p(-2.0 * middle), log_gammaincc(divide(1.0, beta), x))

    def _ppf(self, q: Any, beta: Any) -> Any:
        return root_of_quantile(gammaincinv, q, q, divide(1.0, beta))

    def _isf(self, q: Any, beta: Any) -> Any:
        return root_of_quantile(gammainccinv, q, 1.0 - q, divide(1.0, beta))

    def _mean(self, beta: Any) -> Any:
        r = divide(1.0, beta)
        return exp(gammaln(2.0 * r) - gammaln(r))

    def _var(self, beta: Any) -> Any:
        mean = self._mean(beta)
        return gennorm._var(beta) - mean * mean

    def _entropy(self, beta: Any) -> Any:
        return gennorm._entropy(beta) - LOG_2


foldnorm = FoldNorm("foldnorm")
foldcauchy = FoldCauchy("foldcauchy")
halfgennorm = HalfGenNorm("halfgennorm")
