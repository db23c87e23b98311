"""Distributions that go on to both sides: of variables with a random sign, of unequal halves."""

from __future__ import annotations

import math
from typing import Any

import numpy as np  # noqa: F401  (doctests)

from ...ops.arithmetic import absolute, divide, power
from ...ops.exponential import exp, log, log1p, xlogy
from ...ops.logic import equal, greater, less
from ...ops.select import where as choose
from ...ops.trigonometric import arctan2, tan
from .continuous import ContinuousDistribution
from .elementary import log1p_square, weibull_min
from .gammas import gamma
from .logs import LOG_2


class DoubledDistribution(ContinuousDistribution):
    """A variable z >= 0 of another distribution, which has the same shapes, with a random sign."""

    exact_ends = False

    def __init__(self, name: str, base: ContinuousDistribution) -> None:
        super().__init__(name)
        self.base = base
        self.shapes = base.shapes

    def _reach(self, *shapes: Any) -> tuple[Any, Any]:
        _, high = self.base._reach(*shapes)
        return -high, high

    def _pdf(self, z: Any, *shapes: Any) -> Any:
        middle = equal(z, 0.0)
        edge = self.base._edge
        assert edge is not None
        inner = exp(self._logpdf(choose(middle, 1.0, z), *shapes))
        return choose(middle, 0.5 * edge(choose(middle, absolute(z), 1.0), *shapes), inner)

    def _logpdf(self, z: Any, *shapes: Any) -> Any:
        return self.base._logpdf(absolute(z), *shapes) - LOG_2

    def _cdf(self, z: Any, *shapes: Any) -> Any:
        return self._sf(-z, *shapes)

    def _sf(self, z: Any, *shapes: Any) -> Any:
        upper = greater(z, 0.0)
        tail = 0.5 * self.base._sf(choose(upper, z, -z), *shapes)  # at 0, |z| has no slope
        return choose(upper, tail, 1.0 - tail)

    def _logcdf(self, z: Any, *shapes: Any) -> Any:
        return self._logsf(-z, *shapes)

    def _logsf(self, z: Any, *shapes: Any) -> Any:
        upper = greater(z, 0.0)
        inside = choose(upper, z, 1.0), choose(upper, 1.0, -z)
        below = log1p(-0.5 * self.base._sf(inside[1], *shapes))
        return choose(upper, self.base._logsf(inside[0], *shapes) - LOG_2, below)

    def _ppf(self, q: Any, *shapes: Any) -> Any:
        return -self._isf(q, *shapes)

    def _isf(self, q: Any, *shapes: Any) -> Any:
        upper = less(q, 0.5)
        size = self.base._isf(2.0 * choose(upper, q, 1.0 - q), *shapes)
        return choose(upper, size, -size)

    def _mean(self, *shapes: Any) -> Any:
        return 0.0 * shapes[0]

    def _var(self, *shapes: Any) -> Any:
        mean = self.base._mean(*shapes)
        return self.base._var(*shapes) + mean * mean

    def _entropy(self, *shapes: Any) -> Any:
        return self.base._entropy(*shapes) + LOG_2


class DoubleGamma(DoubledDistribution):
    """The gamma distribution with a random sign, `a` > 0:
    ``f(z) = |z|**(a - 1) exp(-|z|) / (2 gamma(a))``.

    Source: SciPy reference, ``scipy.stats.dgamma``.

    >>> float(dgamma.pdf(-1.0, 2.0).round(4))
    0.1839
    """


class DoubleWeibull(DoubledDistribution):
    """Weibull's distribution with a random sign, `c` > 0: ``f(z) = c / 2 |z|**(c - 1) exp(-|z|**c)``.

    Source: SciPy reference, ``scipy.stats.dweibull``.

    >>> float(dweibull.pdf(-1.0, 2.0).round(4))
    0.3679
    """


class LogLaplace(ContinuousDistribution):
    """The exponential of a Laplace variable, `c` > 0: ``f(z) = c / 2 z**(c - 1)`` for 0 <= z < 1,
    ``c / 2 z**(-c - 1)`` from 1 on.

    Source: SciPy reference, ``scipy.stats.loglaplace``.

    >>> float(loglaplace.cdf(1.0, 2.0))
    0.5
    """

    shapes = ("c",)
    low = 0.0
    exact_ends = False

    def _powers(self, c: Any) -> tuple[Any, Any]:
        return c, 1.0

    def _sides(self, z: Any) -> tuple[Any, Any, Any]:
        """Where `z` is in the upper half, and places in the lower one and in the upper one."""
        upper = greater(z, 1.0)
        return upper, choose(upper, 0.5, z), choose(upper, z, 2.0)

    def _logpdf(self, z: Any, c: Any) -> Any:
        upper, below, above = self._sides(z)
        return log(0.5 * c) + choose(upper, -(c + 1.0) * log(above), xlogy(c - 1.0, below))

    def _edge(self, z: Any, c: Any) -> Any:
        return 0.5 * c * power(z, c - 1.0)

    def _tails(self, z: Any, c: Any) -> tuple[Any, Any, Any]:
        upper, below, above = self._sides(z)
        return upper, 0.5 * power(below, c), 0.5 * power(above, -c)

    def _cdf(self, z: Any, c: Any) -> Any:
        upper, below, above = self._tails(z, c)
        return choose(upper, 1.0 - above, below)

    def _sf(self, z: Any, c: Any) -> Any:
        upper, below, above = self._tails(z, c)
        return choose(upper, above, 1.0 - below)

    def _logcdf(self, z: Any, c: Any) -> Any:
        upper, below, _ = self._sides(z)
        return choose(upper, log1p(-self._tails(z, c)[2]), c * log(below) - LOG_2)

    def _logsf(self, z: Any, c: Any) -> Any:
        upper, _, above = self._sides(z)
        return choose(upper, -c * log(above) - LOG_2, log1p(-self._tails(z, c)[1]))

    def _ppf(self, q: Any, c: Any) -> Any:
        return divide(1.0, self._isf(q, c))

    def _isf(self, q: Any, c: Any) -> Any:
        upper = less(q, 0.5)
        size = power(2.0 * choose(upper, q, 1.0 - q), divide(-1.0, c))
        return choose(upper, size, divide(1.0, size))

    def _moment(self, c: Any, m: float) -> Any:
        known = greater(c, m)
        c = choose(known, c, 2.0 * m)
        return choose(known, c * c / ((c - m) * (c + m)), math.inf)

    def _mean(self, c: Any) -> Any:
        return self._moment(c, 1.0)

    def _var(self, c: Any) -> Any:
        mean = self._moment(choose(greater(c, 2.0), c, 3.0), 1.0)
        return self._moment(c, 2.0) - mean * mean

    def _entropy(self, c: Any) -> Any:
        return 1.0 - log(0.5 * c)


class SkewCauchy(ContinuousDistribution):
    """Cauchy's distribution with halves of the widths 1 - a and 1 + a, -1 < a < 1:
    ``f(z) = 1 / (pi (1 + (z / (1 + a sign(z)))**2))``.

    Source: SciPy reference, ``scipy.stats.skewcauchy``.

    >>> float(skewcauchy.cdf(0.0, 0.5))
    0.25
    """

    shapes = ("a",)
    exact_ends = False

    def _valid(self, a: Any) -> Any:
        return absolute(a) < 1

    def _logpdf(self, z: Any, a: Any) -> Any:
        return -math.log(math.pi) - log1p_square(z / choose(greater(z, 0.0), 1.0 + a, 1.0 - a))

    def _cdf(self, z: Any, a: Any) -> Any:
        return self._sf(-z, -a)

    def _sf(self, z: Any, a: Any) -> Any:
        upper = greater(z, 0.0)
        width = choose(upper, 1.0 + a, 1.0 - a)
        # not `absolute`, whose slope at 0 is 0
        tail = width * (1.0 / math.pi) * arctan2(width, choose(upper, z, -z))
        return choose(upper, tail, 1.0 - tail)

    def _ppf(self, q: Any, a: Any) -> Any:
        return -self._isf(q, -a)

    def _isf(self, q: Any, a: Any) -> Any:
        upper = less(q, 0.5 * (1.0 + a))
        width = choose(upper, 1.0 + a, 1.0 - a)
        size = width / tan(math.pi * choose(upper, q, 1.0 - q) / width)
        return choose(upper, size, -size)

    def _mean(self, a: Any) -> Any:
        return math.nan * a

    def _var(self, a: Any) -> Any:
        return math.nan * a

    def _entropy(self, a: Any) -> Any:
        return math.log(4.0 * math.pi) + 0.0 * a


dgamma = DoubleGamma("dgamma", gamma)
dweibull = DoubleWeibull("dweibull", weibull_min)
loglaplace = LogLaplace("loglaplace")
skewcauchy = SkewCauchy("skewcauchy")
