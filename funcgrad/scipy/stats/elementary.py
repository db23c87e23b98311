"""Distributions whose tails are elementary: uniform, Laplace, logistic, Pareto and others."""

from __future__ import annotations

import math
from typing import Any

import numpy as np  # noqa: F401  (doctests)

from ...ops.arithmetic import absolute, divide, power
from ...ops.exponential import exp, expit, expm1, log, log1p, log_expit, sqrt, xlogy
from ...ops.gamma import gamma as gamma_function
from ...ops.logic import equal, greater, less
from ...ops.select import where as choose
from ...ops.special import logit
from ...ops.trigonometric import arctan2, arctanh, tan
from .continuous import NORMAL_REACH, ContinuousDistribution, reach
from .logs import LOG_2, log1mexp, log1mexpexp
from .scaled import MirroredDistribution

EULER = 0.5772156649015329


class Uniform(ContinuousDistribution):
    """The uniform distribution on ``[loc, loc + scale]``: ``f(z) = 1`` for 0 <= z <= 1.

    Source: SciPy reference, ``scipy.stats.uniform``.

    >>> uniform.pdf(np.array([1.0, 2.0, 6.0]), loc=1.0, scale=4.0).tolist()
    [0.25, 0.25, 0.0]
    """

    single = True
    low, high = 0.0, 1.0

    def _logpdf(self, z: Any) -> Any:
        return z * 0.0

    def _cdf(self, z: Any) -> Any:
        return z

    def _sf(self, z: Any) -> Any:
        return 1.0 - z

    def _ppf(self, q: Any) -> Any:
        return q

    def _mean(self) -> Any:
        return 0.5

    def _var(self) -> Any:
        return 1.0 / 12.0

    def _entropy(self) -> Any:
        return 0.0


class Laplace(ContinuousDistribution):
    """Laplace's distribution: ``f(z) = exp(-|z|) / 2``; at z = 0 the slope is 0.

    Source: SciPy reference, ``scipy.stats.laplace``.

    >>> float(laplace.pdf(0.0))
    0.5
    """

    single = True

    def _logpdf(self, z: Any) -> Any:
        return -absolute(z) - LOG_2

    def _cdf(self, z: Any) -> Any:
        return self._sf(-z)

    def _sf(self, z: Any) -> Any:
        upper = greater(z, 0.0)
        tail = 0.5 * exp(choose(upper, -z, z))
        return choose(upper, tail, 1.0 - tail)

    def _logcdf(self, z: Any) -> Any:
        return self._logsf(-z)

    def _logsf(self, z: Any) -> Any:
        upper = greater(z, 0.0)
        opposite = log1p(-0.5 * exp(choose(upper, 0.0, z)))
        return choose(upper, -z - LOG_2, opposite)

    def _ppf(self, q: Any) -> Any:
        return -self._isf(q)

    def _isf(self, q: Any) -> Any:
        upper = less(q, 0.5)
        size = -log(2.0 * choose(upper, q, 1.0 - q))
        return choose(upper, size, -size)

    def _mean(self) -> Any:
        return 0.0

    def _var(self) -> Any:
        return 2.0

    def _entropy(self) -> Any:
        return 1.0 + LOG_2


class Logistic(ContinuousDistribution):
    """The logistic distribution: ``f(z) = exp(-z) / (1 + exp(-z))**2``.

    Source: SciPy reference, ``scipy.stats.logistic``.

    >>> float(logistic.pdf(0.0))
    0.25
    """

    def _logpdf(self, z: Any) -> Any:
        return log_expit(z) + log_expit(-z)

    def _cdf(self, z: Any) -> Any:
        return expit(z)

    def _sf(self, z: Any) -> Any:
        return expit(-z)

    def _logcdf(self, z: Any) -> Any:
        return log_expit(z)

    def _logsf(self, z: Any) -> Any:
        return log_expit(-z)

    def _ppf(self, q: Any) -> Any:
        return logit(q)

    def _isf(self, q: Any) -> Any:
        return -logit(q)

    def _mean(self) -> Any:
        return 0.0

    def _var(self) -> Any:
        return math.pi * math.pi / 3.0

    def _entropy(self) -> Any:
        return 2.0


class HalfLogistic(ContinuousDistribution):
    """The size of a logistic variable: ``f(z) = 2 exp(-z) / (1 + exp(-z))**2`` for z >= 0.

    Source: SciPy reference, ``scipy.stats.halflogistic``.

    >>> float(halflogistic.pdf(0.0))
    0.5
    """

    low = 0.0

    def _logpdf(self, z: Any) -> Any:
        return LOG_2 + log_expit(z) + log_expit(-z)

    def _cdf(self, z: Any) -> Any:
        return divide(-expm1(-z), 1.0 + exp(-z))  # tanh(z / 2), with a slope that is there far out

    def _sf(self, z: Any) -> Any:
        return 2.0 * expit(-z)

    def _logsf(self, z: Any) -> Any:
        near = less(z, 1.0)
        inside, outside = choose(near, z, 0.0), choose(near, 1.0, z)
        return choose(near, log1p(-self._cdf(inside)), LOG_2 + log_expit(-outside))

    def _ppf(self, q: Any) -> Any:
        return 2.0 * arctanh(q)

    def _isf(self, q: Any) -> Any:
        return log1p(divide(2.0 * (1.0 - q), q))

    def _mean(self) -> Any:
        return 2.0 * LOG_2

    def _var(self) -> Any:
        return math.pi * math.pi / 3.0 - 4.0 * LOG_2 * LOG_2

    def _entropy(self) -> Any:
        return 2.0 - LOG_2


class Triang(ContinuousDistribution):
    """The triangular distribution with its peak at `c`, 0 <= c <= 1: ``f(z) = 2 z / c`` for
    0 <= z < c, ``2 (1 - z) / (1 - c)`` for c <= z <= 1; at the peak the slopes are those above it.

    Source: SciPy reference, ``scipy.stats.triang``.

    >>> float(triang.pdf(0.5, 0.25).round(4))
    1.3333
    """

    shapes = ("c",)
    low, high = 0.0, 1.0
    exact_ends = False

    def _valid(self, c: Any) -> Any:
        return (c >= 0) & (c <= 1)

    def _sides(self, z: Any, c: Any) -> tuple[Any, Any, Any]:
        """Where `z` is below the peak, and the shares of the sides that lie below and above it."""
        rises = less(z, c) | equal(c, 1.0)
        below, above = choose(rises, c, 1.0), choose(rises, 1.0, 1.0 - c)
        return rises, choose(rises, z, 0.0) / below, choose(rises, 0.0, 1.0 - z) / above

    def _pdf(self, z: Any, c: Any) -> Any:
        rises, below, above = self._sides(z, c)
        return 2.0 * choose(rises, below, above)

    def _logpdf(self, z: Any, c: Any) -> Any:
        return log(self._pdf(z, c))

    def _cdf(self, z: Any, c: Any) -> Any:
        rises, below, above = self._sides(z, c)
        return choose(rises, z * below, 1.0 - (1.0 - z) * above)

    def _sf(self, z: Any, c: Any) -> Any:
        return self._cdf(1.0 - z, 1.0 - c)

    def _ppf(self, q: Any, c: Any) -> Any:
        rises = less(q, c) | equal(c, 1.0)
        side = choose(rises, q * c, (1.0 - q) * (1.0 - c))
        return choose(rises, sqrt(side), 1.0 - sqrt(side))

    def _isf(self, q: Any, c: Any) -> Any:
        return 1.0 - self._ppf(q, 1.0 - c)

    def _mean(self, c: Any) -> Any:
        return (c + 1.0) / 3.0

    def _var(self, c: Any) -> Any:
        return (1.0 - c + c * c) / 18.0

    def _entropy(self, c: Any) -> Any:
        return 0.5 - LOG_2 + c * 0.0


def log1p_square(z: Any) -> Any:
    """``log(1 + z**2)`` without overflow.

    >>> float(log1p_square(1e200).round(4))
    921.034
    """
    far = greater(absolute(z), 1e15)
    near = choose(far, 1.0, z)
    return choose(far, 2.0 * log(absolute(choose(far, z, 1.0))), log1p(near * near))


class Cauchy(ContinuousDistribution):
    """Cauchy's distribution: ``f(z) = 1 / (pi (1 + z**2))``.

    Source: SciPy reference, ``scipy.stats.cauchy``.

    >>> float(cauchy.cdf(1.0))
    0.75
    """

    def _logpdf(self, z: Any) -> Any:
        return -math.log(math.pi) - log1p_square(z)

    def _cdf(self, z: Any) -> Any:
        return self._sf(-z)

    def _sf(self, z: Any) -> Any:
        return arctan2(1.0, z) * (1.0 / math.pi)

    def _ppf(self, q: Any) -> Any:
        return -self._isf(q)

    def _isf(self, q: Any) -> Any:
        upper, lower = less(q, 0.25), greater(q, 0.75)
        near = tan(math.pi * (0.5 - choose(upper | lower, 0.5, q)))
        tail = choose(upper, q, choose(lower, 1.0 - q, 0.25))
        size = divide(1.0, tan(math.pi * tail))
        return choose(upper, size, choose(lower, -size, near))

    def _mean(self) -> Any:
        return math.nan

    def _var(self) -> Any:
        return math.nan

    def _entropy(self) -> Any:
        return math.log(4.0 * math.pi)


class HalfCauchy(ContinuousDistribution):
    """The size of a Cauchy variable: ``f(z) = 2 / (pi (1 + z**2))`` for z >= 0.

    Source: SciPy reference, ``scipy.stats.halfcauchy``.

    >>> float(halfcauchy.cdf(1.0))
    0.5
    """

    low = 0.0

    def _logpdf(self, z: Any) -> Any:
        return math.log(2.0 / math.pi) - log1p_square(z)

    def _cdf(self, z: Any) -> Any:
        return arctan2(z, 1.0) * (2.0 / math.pi)

    def _sf(self, z: Any) -> Any:
        return arctan2(1.0, z) * (2.0 / math.pi)

    def _ppf(self, q: Any) -> Any:
        return self._isf(1.0 - q, q)

    def _isf(self, q: Any, rest: Any = None) -> Any:
        """`rest` is ``1 - q``, if that is better known."""
        rest = 1.0 - q if rest is None else rest
        low = less(rest, 0.5)
        small = tan(0.5 * math.pi * choose(low, rest, 0.5))
        return choose(low, small, divide(1.0, tan(0.5 * math.pi * choose(low, 0.5, q))))

    def _mean(self) -> Any:
        return math.inf

    def _var(self) -> Any:
        return math.inf

    def _entropy(self) -> Any:
        return math.log(2.0 * math.pi)


class Pareto(ContinuousDistribution):
    """Pareto's distribution, `b` > 0: ``f(z) = b / z**(b + 1)`` for z >= 1.

    Source: SciPy reference, ``scipy.stats.pareto``.

    >>> float(pareto.pdf(1.0, 3.0))
    3.0
    """

    shapes = ("b",)
    low = 1.0
    inside = 2.0

    def _logpdf(self, z: Any, b: Any) -> Any:
        return log(b) - (b + 1.0) * log(z)

    def _cdf(self, z: Any, b: Any) -> Any:
        return -expm1(-b * log(z))

    def _sf(self, z: Any, b: Any) -> Any:
        return power(z, -b)

    def _logcdf(self, z: Any, b: Any) -> Any:
        return log1mexp(b * log(z))

    def _logsf(self, z: Any, b: Any) -> Any:
        return -b * log(z)

    def _ppf(self, q: Any, b: Any) -> Any:
        return exp(-log1p(-q) / b)

    def _isf(self, q: Any, b: Any) -> Any:
        return exp(-log(q) / b)

    def _mean(self, b: Any) -> Any:
        known = greater(b, 1.0)
        b = choose(known, b, 2.0)
        return choose(known, b / (b - 1.0), math.inf)

    def _var(self, b: Any) -> Any:
        known = greater(b, 2.0)
        b = choose(known, b, 3.0)
        return choose(known, b / ((b - 2.0) * (b - 1.0) * (b - 1.0)), math.inf)

    def _entropy(self, b: Any) -> Any:
        return 1.0 + divide(1.0, b) - log(b)


class WeibullMin(ContinuousDistribution):
    """Weibull's distribution, `c` > 0: ``f(z) = c z**(c - 1) exp(-z**c)`` for z >= 0.

    Source: SciPy reference, ``scipy.stats.weibull_min``.

    >>> float(weibull_min.logsf(2.0, 3.0))
    -8.0
    """

    shapes = ("c",)
    low = 0.0
    inside = 1.0

    def _reach(self, c: Any) -> tuple[Any, Any]:
        return -math.inf, reach(divide(10.0, c))

    def _powers(self, c: Any) -> tuple[Any, Any]:
        return c, c

    def _logpdf(self, z: Any, c: Any) -> Any:
        return log(c) + xlogy(c - 1.0, z) - power(z, c)

    def _edge(self, z: Any, c: Any) -> Any:
        return c * power(z, c - 1.0) * exp(-power(z, c))

    def _cdf(self, z: Any, c: Any) -> Any:
        return -expm1(-power(z, c))

    def _sf(self, z: Any, c: Any) -> Any:
        return exp(-power(z, c))

    def _logcdf(self, z: Any, c: Any) -> Any:
        return log1mexpexp(c * log(z))

    def _logsf(self, z: Any, c: Any) -> Any:
        return -power(z, c)

    def _ppf(self, q: Any, c: Any) -> Any:
        return power(-log1p(-q), divide(1.0, c))

    def _isf(self, q: Any, c: Any) -> Any:
        return power(-log(q), divide(1.0, c))

    def _mean(self, c: Any) -> Any:
        return gamma_function(1.0 + divide(1.0, c))

    def _var(self, c: Any) -> Any:
        mean = self._mean(c)
        return gamma_function(1.0 + divide(2.0, c)) - mean * mean

    def _entropy(self, c: Any) -> Any:
        return EULER * (1.0 - divide(1.0, c)) - log(c) + 1.0


class Rayleigh(ContinuousDistribution):
    """Rayleigh's distribution: ``f(z) = z exp(-z**2 / 2)`` for z >= 0.

    Source: SciPy reference, ``scipy.stats.rayleigh``.

    >>> float(rayleigh.logsf(2.0))
    -2.0
    """

    low = 0.0

    def _reach(self) -> tuple[Any, Any]:
        return -math.inf, NORMAL_REACH

    def _logpdf(self, z: Any) -> Any:
        return log(z) - 0.5 * z * z

    def _pdf(self, z: Any) -> Any:
        return z * exp(-0.5 * z * z)

    def _cdf(self, z: Any) -> Any:
        return -expm1(-0.5 * z * z)

    def _sf(self, z: Any) -> Any:
        return exp(-0.5 * z * z)

    def _logcdf(self, z: Any) -> Any:
        return log1mexpexp(2.0 * log(z) - LOG_2)

    def _logsf(self, z: Any) -> Any:
        return -0.5 * z * z

    def _ppf(self, q: Any) -> Any:
        return sqrt(-2.0 * log1p(-q))

    def _isf(self, q: Any) -> Any:
        return sqrt(-2.0 * log(q))

    def _mean(self) -> Any:
        return math.sqrt(0.5 * math.pi)

    def _var(self) -> Any:
        return 2.0 - 0.5 * math.pi

    def _entropy(self) -> Any:
        return 0.5 * EULER + 1.0 - 0.5 * LOG_2


class GumbelR(ContinuousDistribution):
    """Gumbel's distribution of maxima: ``f(z) = exp(-z - exp(-z))``.

    Source: SciPy reference, ``scipy.stats.gumbel_r``.

    >>> float(gumbel_r.logcdf(0.0))
    -1.0
    """

    def _reach(self) -> tuple[Any, Any]:
        return -10.0, math.inf

    def _logpdf(self, z: Any) -> Any:
        return -z - exp(-z)

    def _cdf(self, z: Any) -> Any:
        return exp(-exp(-z))

    def _sf(self, z: Any) -> Any:
        return -expm1(-exp(-z))

    def _logcdf(self, z: Any) -> Any:
        return -exp(-z)

    def _logsf(self, z: Any) -> Any:
        return log1mexpexp(-z)

    def _ppf(self, q: Any) -> Any:
        return -log(-log(q))

    def _isf(self, q: Any) -> Any:
        return -log(-log1p(-q))

    def _mean(self) -> Any:
        return EULER

    def _var(self) -> Any:
        return math.pi * math.pi / 6.0

    def _entropy(self) -> Any:
        return 1.0 + EULER


class GumbelL(MirroredDistribution):
    """Gumbel's distribution of minima: ``f(z) = exp(z - exp(z))``.

    Source: SciPy reference, ``scipy.stats.gumbel_l``.

    >>> float(gumbel_l.logsf(0.0))
    -1.0
    """


uniform = Uniform("uniform")
triang = Triang("triang")
laplace = Laplace("laplace")
logistic = Logistic("logistic")
halflogistic = HalfLogistic("halflogistic")
cauchy = Cauchy("cauchy")
halfcauchy = HalfCauchy("halfcauchy")
pareto = Pareto("pareto")
weibull_min = WeibullMin("weibull_min")
rayleigh = Rayleigh("rayleigh")
gumbel_r = GumbelR("gumbel_r")
gumbel_l = GumbelL("gumbel_l", gumbel_r)
