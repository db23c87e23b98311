"""The gamma distribution and its relatives."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np  # noqa: F401  (doctests)

from ...ops.arithmetic import absolute, divide, power
from ...ops.exponential import exp, expm1, log, log1p
from ...ops.gamma import (
    digamma,
    gamma_edge,
    gammainc,
    gammaincc,
    gammainccinv,
    gammaincinv,
    gammaln,
    log_gamma_density,
    log_gamma_pdf,
    polygamma,
)
from ...ops.logic import equal, greater, less, less_equal
from ...ops.select import maximum, minimum
from ...ops.select import where as choose
from .continuous import FADED, ContinuousDistribution, reach
from .logs import LOG_2, log1mexp
from .normal import LOG_2PI
from .scaled import ScaledDistribution
from .tails import log_gammainc, log_gammaincc


class Gamma(ContinuousDistribution):
    """The gamma distribution, `a` > 0: ``f(z) = z**(a - 1) exp(-z) / gamma(a)`` for z >= 0.

    Source: SciPy reference, ``scipy.stats.gamma``.

    >>> float(gamma.pdf(1.0, 2.0).round(4))
    0.3679
    """

    shapes = ("a",)
    exact_ends = False
    low = 0.0

    def _powers(self, a: Any) -> tuple[Any, Any]:
        return a, 1.0

    def _logpdf(self, z: Any, a: Any) -> Any:
        return log_gamma_pdf(a, z)

    def _edge(self, z: Any, a: Any) -> Any:
        return gamma_edge(a, z)

    def _cdf(self, z: Any, a: Any) -> Any:
        return gammainc(a, z)

    def _sf(self, z: Any, a: Any) -> Any:
        return gammaincc(a, z)

    def _logcdf(self, z: Any, a: Any) -> Any:
        return log_gammainc(a, z)

    def _logsf(self, z: Any, a: Any) -> Any:
        return log_gammaincc(a, z)

    def _ppf(self, q: Any, a: Any) -> Any:
        return gammaincinv(a, q)

    def _isf(self, q: Any, a: Any) -> Any:
        return gammainccinv(a, q)

    def _mean(self, a: Any) -> Any:
        return a

    def _var(self, a: Any) -> Any:
        return a

    def _entropy(self, a: Any) -> Any:
        large = greater(a, 100.0)
        near, r = choose(large, 1.0, a), divide(1.0, choose(large, a, 100.0))
        inner = near + gammaln(near) + (1.0 - near) * digamma(near)
        tail = r * (-1 / 3 + r * (-1 / 12 + r * (-1 / 90 + r * (1 / 120 + r * (1 / 210)))))
        return choose(large, 0.5 * (LOG_2PI + 1.0 - log(r)) + tail, inner)


class Expon(ContinuousDistribution):
    """The exponential distribution: ``f(z) = exp(-z)`` for z >= 0.

    Source: SciPy reference, ``scipy.stats.expon``.

    >>> float(expon.logsf(4.0, scale=2.0))
    -2.0
    """

    single = True
    low = 0.0

    def _logpdf(self, z: Any) -> Any:
        return -z

    def _cdf(self, z: Any) -> Any:
        return -expm1(-z)

    def _sf(self, z: Any) -> Any:
        return exp(-z)

    def _logcdf(self, z: Any) -> Any:
        return log1mexp(z)

    def _logsf(self, z: Any) -> Any:
        return -z

    def _ppf(self, q: Any) -> Any:
        return -log1p(-q)

    def _isf(self, q: Any) -> Any:
        return -log(q)

    def _mean(self) -> Any:
        return 1.0

    def _var(self) -> Any:
        return 1.0

    def _entropy(self) -> Any:
        return 1.0


class Chi2(ScaledDistribution):
    """The sum of `df` squares of normal variables, `df` > 0:
    ``f(z) = z**(df/2 - 1) exp(-z/2) / (2**(df/2) gamma(df/2))`` for z >= 0.

    Source: SciPy reference, ``scipy.stats.chi2``.

    >>> float(chi2.pdf(2.0, 2.0).round(4))
    0.1839
    """

    shapes = ("df",)
    low = 0.0

    def _base(self, df: Any) -> Any:
        return gamma, (df * 0.5,), 2.0


class InvGamma(ContinuousDistribution):
    """The reciprocal of a gamma variable, `a` > 0: ``f(z) = z**(-a - 1) exp(-1 / z) / gamma(a)``
    for z > 0.

    Source: SciPy reference, ``scipy.stats.invgamma``.

    >>> float(invgamma.pdf(1.0, 2.0).round(4))
    0.3679
    """

    shapes = ("a",)
    exact_ends = False
    low = 0.0
    inside = 1.0
    open = True

    def _reach(self, a: Any) -> tuple[Any, Any]:
        return divide(1.0 / FADED, maximum(a, 1.0)), math.inf

    def _logpdf(self, z: Any, a: Any) -> Any:
        return log_gamma_pdf(a, divide(1.0, z)) - 2.0 * log(z)

    def _cdf(self, z: Any, a: Any) -> Any:
        return gammaincc(a, self._turned(z))

    def _sf(self, z: Any, a: Any) -> Any:
        return gammainc(a, self._turned(z))

    def _logcdf(self, z: Any, a: Any) -> Any:
        return log_gammaincc(a, self._turned(z))

    def _logsf(self, z: Any, a: Any) -> Any:
        return log_gammainc(a, self._turned(z))

    def _turned(self, z: Any) -> Any:
        """``1 / z``; at 0, where every derivative vanishes, a large number."""
        return divide(1.0, choose(equal(z, 0.0), 1e-30, z))

    def _ppf(self, q: Any, a: Any) -> Any:
        return divide(1.0, gammainccinv(a, q))

    def _isf(self, q: Any, a: Any) -> Any:
        return divide(1.0, gammaincinv(a, q))

    def _mean(self, a: Any) -> Any:
        known = greater(a, 1.0)
        return choose(known, divide(1.0, choose(known, a, 2.0) - 1.0), math.inf)

    def _var(self, a: Any) -> Any:
        known = greater(a, 2.0)
        a = choose(known, a, 3.0)
        return choose(known, divide(1.0, (a - 1.0) * (a - 1.0) * (a - 2.0)), math.inf)

    def _entropy(self, a: Any) -> Any:
        return gamma._entropy(a) - 2.0 * digamma(a)


def _underflowing(z: Any, c: Any) -> tuple[Any, Any, Any]:
    """Where ``x = exp(z)`` may underflow, so that `gammainc` is ``x**c / gamma(c + 1)``.

    And `x` elsewhere, and the logarithm of that.
    """
    small = less(z, -100.0)
    first = c * choose(small, z, -100.0) - gammaln(c + 1.0)
    return small, exp(choose(small, 0.0, z)), choose(small, first, -1.0)


class LogGamma(ContinuousDistribution):
    """The logarithm of a gamma variable, `c` > 0: ``f(z) = exp(c z - exp(z)) / gamma(c)``.

    Source: SciPy reference, ``scipy.stats.loggamma``.

    >>> float(loggamma.logpdf(0.0, 2.0))
    -1.0
    """

    shapes = ("c",)
    exact_ends = False

    def _reach(self, c: Any) -> tuple[Any, Any]:
        return -math.inf, 10.0 + log(maximum(c, 1.0))

    def _logpdf(self, z: Any, c: Any) -> Any:
        return log_gamma_density(c, z - log(c))

    def _cdf(self, z: Any, c: Any) -> Any:
        small, x, first = _underflowing(z, c)
        return choose(small, exp(first), gammainc(c, x))

    def _sf(self, z: Any, c: Any) -> Any:
        small, x, first = _underflowing(z, c)
        return choose(small, -expm1(first), gammaincc(c, x))

    def _logcdf(self, z: Any, c: Any) -> Any:
        small, x, first = _underflowing(z, c)
        return choose(small, first, log_gammainc(c, x))

    def _logsf(self, z: Any, c: Any) -> Any:
        small, x, first = _underflowing(z, c)
        return choose(small, log1mexp(-first), log_gammaincc(c, x))

    def _ppf(self, q: Any, c: Any) -> Any:
        return self._quantile(gammaincinv, log(q), q, c)

    def _isf(self, q: Any, c: Any) -> Any:
        return self._quantile(gammainccinv, log1p(-q), q, c)

    def _quantile(self, inverse: Any, log_below: Any, q: Any, c: Any) -> Any:
        first = (log_below + gammaln(c + 1.0)) / c  # where x may underflow, as in `cdf`
        small = less(first, -100.0)
        x = inverse(choose(small, 1.0, c), choose(small, 0.5, q))
        return choose(small, first, log(x))

    def _mean(self, c: Any) -> Any:
        return digamma(c)

    def _var(self, c: Any) -> Any:
        return polygamma(c, n=1)

    def _entropy(self, c: Any) -> Any:
        return gamma._entropy(c) - digamma(c)


def _size_power(z: Any, beta: Any) -> Any:
    """``|z|**beta``, with slope 0 at z = 0."""
    none = equal(z, 0.0)
    return choose(none, 0.0, power(absolute(choose(none, 1.0, z)), beta))


def root_of_quantile(inverse: Callable[[Any, Any], Any], q: Any, below: Any, r: Any) -> Any:
    """``x**r`` for ``x = inverse(r, q)``, where ``gammainc(r, x) = below``: x itself may underflow."""
    start = below * exp(gammaln(r + 1.0))  # the power for small x
    near = less_equal(start, exp(-46.0 * r))
    r, q = choose(near, 1.0, r), choose(near, 0.5, q)
    return choose(near, start, power(inverse(r, q), r))


_NEAR = 0.01  # a power up to which eight terms of a series are all


class GenNorm(ContinuousDistribution):
    """The generalised normal distribution, `beta` > 0:
    ``f(z) = beta exp(-|z|**beta) / (2 gamma(1 / beta))``; at z = 0 the slope is 0.

    Source: SciPy reference, ``scipy.stats.gennorm``.

    >>> float(gennorm.pdf(0.0, 1.0))
    0.5
    """

    shapes = ("beta",)
    exact_ends = False

    def _reach(self, beta: Any) -> tuple[Any, Any]:
        high = reach((10.0 - log(minimum(beta, 1.0))) / beta)
        return -high, high

    def _logpdf(self, z: Any, beta: Any) -> Any:
        return log(beta) - LOG_2 - gammaln(divide(1.0, beta)) - _size_power(z, beta)

    def _cdf(self, z: Any, beta: Any) -> Any:
        return self._sf(-z, beta)

    def _sf(self, z: Any, beta: Any) -> Any:
        x, near, middle = self._power(z, beta)
        side = 0.5 * gammaincc(divide(1.0, beta), x)
        return choose(near, 0.5 - middle, choose(less(z, 0.0), 1.0 - side, side))

    def _power(self, z: Any, beta: Any) -> tuple[Any, Any, Any]:
        """``|z|**beta``, but 1 where that is small; where it is, and there the probability between 0
        and `z`: ``z`` times a series, for the slope of an incomplete gamma function is infinite at 0.
        """
        r, small = divide(1.0, beta), less(absolute(z), reach(math.log(_NEAR) / beta))
        x = _size_power(choose(small, 1.0, z), beta)
        inner = choose(small, z, 0.0)
        v = _size_power(inner, beta)
        total, term = r * 0.0, 1.0
        for k in range(8):
            total = total + term / (1.0 + k * beta)
            term = term * v * (-1.0 / (k + 1))
        return x, small, inner * total * (0.5 * beta) * exp(-gammaln(r))

    def _logcdf(self, z: Any, beta: Any) -> Any:
        return self._logsf(-z, beta)

    def _logsf(self, z: Any, beta: Any) -> Any:
        a, (x, near, middle) = divide(1.0, beta), self._power(z, beta)
        below = less(z, 0.0)
        opposite = log1p(-0.5 * gammaincc(a, x))
        outer = choose(below, opposite, log_gammaincc(a, choose(below, 1.0, x)) - LOG_2)
        return choose(near, log1p(-2.0 * middle) - LOG_2, outer)

    def _ppf(self, q: Any, beta: Any) -> Any:
        return -self._isf(q, beta)

    def _isf(self, q: Any, beta: Any) -> Any:
        upper = less(q, 0.5)
        side = 2.0 * choose(upper, q, 1.0 - q)
        size = root_of_quantile(gammainccinv, side, 1.0 - side, divide(1.0, beta))
        return choose(upper, size, -size)

    def _mean(self, beta: Any) -> Any:
        return 0.0

    def _var(self, beta: Any) -> Any:
        r = divide(1.0, beta)
        return exp(gammaln(3.0 * r) - gammaln(r))

    def _entropy(self, beta: Any) -> Any:
        r = divide(1.0, beta)
        return r - log(beta) + LOG_2 + gammaln(r)


gamma = Gamma("gamma")
expon = Expon("expon")
chi2 = Chi2("chi2")
invgamma = InvGamma("invgamma")
loggamma = LogGamma("loggamma")
gennorm = GenNorm("gennorm")
