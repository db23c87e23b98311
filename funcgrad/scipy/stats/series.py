"""Distributions of whole numbers without end: geometric ones, logarithmic and zeta series."""

from __future__ import annotations

import math
from typing import Any

import numpy as np  # noqa: F401  (doctests)

from ...ops.arithmetic import absolute, divide
from ...ops.beta import betaln
from ...ops.exponential import exp, expm1, log, log1p, log_expit
from ...ops.gamma import zeta, zeta_of_logs
from ...ops.logic import greater, greater_equal, less
from ...ops.rounding import ceil
from ...ops.select import maximum
from ...ops.select import where as choose
from ...ops.trigonometric import sinh, tanh
from .discrete import DiscreteDistribution
from .logs import log1mexp
from .solved import SolvedCounts


class Planck(DiscreteDistribution):
    """Planck's distribution, `lambda_` > 0: ``f(k) = (1 - exp(-lambda_)) exp(-lambda_ k)`` for
    k = 0, 1, ..

    Source: SciPy reference, ``scipy.stats.planck``.

    >>> float(planck.pmf(0, 1.0).round(4))
    0.6321
    """

    shapes = ("lambda_",)
    exact_ends = False

    def _logpmf(self, k: Any, lambda_: Any) -> Any:
        return log1mexp(lambda_) - lambda_ * k

    def _cdf(self, k: Any, lambda_: Any) -> Any:
        return -expm1(-lambda_ * (k + 1.0))

    def _sf(self, k: Any, lambda_: Any) -> Any:
        return exp(-lambda_ * (k + 1.0))

    def _logcdf(self, k: Any, lambda_: Any) -> Any:
        return log1mexp(lambda_ * (k + 1.0))

    def _logsf(self, k: Any, lambda_: Any) -> Any:
        return -lambda_ * (k + 1.0)

    def _ppf(self, q: Any, lambda_: Any) -> Any:
        k = maximum(ceil(-log1p(-q) / lambda_ - 1.0), 0.0)
        less_will_do = greater_equal(self._cdf(k - 1.0, lambda_), q) & greater(k, 0.0)
        return choose(less_will_do, k - 1.0, k)

    def _mean(self, lambda_: Any) -> Any:
        return divide(1.0, expm1(lambda_))

    def _var(self, lambda_: Any) -> Any:
        half = sinh(0.5 * lambda_)
        return divide(0.25, half * half)

    def _entropy(self, lambda_: Any) -> Any:
        return lambda_ / expm1(lambda_) - log1mexp(lambda_)


class DLaplace(DiscreteDistribution):
    """Laplace's distribution on the whole numbers, `a` > 0: ``f(k) = tanh(a / 2) exp(-a |k|)``.

    Source: SciPy reference, ``scipy.stats.dlaplace``.

    >>> float(dlaplace.pmf(0, 1.0).round(4))
    0.4621
    """

    shapes = ("a",)
    low = -math.inf
    exact_ends = False

    def _somewhere(self, low: Any) -> Any:
        return 0.0

    def _logpmf(self, k: Any, a: Any) -> Any:
        return log(tanh(0.5 * a)) - a * absolute(k)

    def _cdf(self, k: Any, a: Any) -> Any:
        return self._sf(-1.0 - k, a)

    def _sf(self, k: Any, a: Any) -> Any:
        upper = greater_equal(k, 0.0)
        tail = exp(self._log_tail(choose(upper, k, -1.0 - k), a))
        return choose(upper, tail, 1.0 - tail)

    def _log_tail(self, k: Any, a: Any) -> Any:
        """Of a number above k >= 0."""
        return log_expit(-a) - a * k

    def _logcdf(self, k: Any, a: Any) -> Any:
        return self._logsf(-1.0 - k, a)

    def _logsf(self, k: Any, a: Any) -> Any:
        upper = greater_equal(k, 0.0)
        rest = log1p(-exp(self._log_tail(choose(upper, 0.0, -1.0 - k), a)))
        return choose(upper, self._log_tail(choose(upper, k, 0.0), a), rest)

    def _ppf(self, q: Any, a: Any) -> Any:
        lower = less(self._cdf(-1.0, a), q)
        size = (log(choose(lower, 1.0 - q, q)) - log_expit(-a)) / a
        k = ceil(choose(lower, -size, size - 1.0))
        return choose(greater_equal(self._cdf(k - 1.0, a), q), k - 1.0, k)

    def _mean(self, a: Any) -> Any:
        return 0.0 * a

    def _var(self, a: Any) -> Any:
        half = sinh(0.5 * a)
        return divide(0.5, half * half)

    def _entropy(self, a: Any) -> Any:
        return a / sinh(a) - log(tanh(0.5 * a))


class LogSeries(SolvedCounts):
    """The logarithmic distribution, 0 < `p` < 1: ``f(k) = -p**k / (k log(1 - p))`` for k = 1, 2, ..

    Source: SciPy reference, ``scipy.stats.logser``.

    >>> float(logser.pmf(1, 0.5).round(4))
    0.7213
    """

    shapes = ("p",)
    low = 1.0

    def _valid(self, p: Any) -> Any:
        return (p > 0) & (p < 1)

    def _logpmf(self, k: Any, p: Any) -> Any:
        return k * log(p) - log(k) - log(-log1p(-p))

    def _mean(self, p: Any) -> Any:
        return -p / ((1.0 - p) * log1p(-p))

    def _var(self, p: Any) -> Any:
        r = log1p(-p)
        return -p * (p + r) / ((1.0 - p) * (1.0 - p) * r * r)


class Zipf(SolvedCounts):
    """Zipf's or the zeta distribution, `a` > 1: ``f(k) = k**-a / zeta(a)`` for k = 1, 2, ..

    Source: SciPy reference, ``scipy.stats.zipf``.

    >>> float(zipf.pmf(1, 2.0).round(4))
    0.6079
    """

    shapes = ("a",)
    low = 1.0

    def _valid(self, a: Any) -> Any:
        return a > 1

    def _logpmf(self, k: Any, a: Any) -> Any:
        return -a * log(k) - log(zeta(a, 1.0))

    def _cdf(self, k: Any, a: Any) -> Any:
        return 1.0 - self._sf(k, a)

    def _sf(self, k: Any, a: Any) -> Any:
        return zeta(a, k + 1.0) / zeta(a, 1.0)

    def _moment(self, a: Any, m: float) -> Any:
        known = greater(a, m + 1.0)
        a = choose(known, a, m + 2.0)
        return choose(known, zeta(a - m, 1.0) / zeta(a, 1.0), math.inf)

    def _mean(self, a: Any) -> Any:
        return self._moment(a, 1.0)

    def _var(self, a: Any) -> Any:
        mean = self._moment(choose(greater(a, 3.0), a, 4.0), 1.0)
        return self._moment(a, 2.0) - mean * mean

    def _entropy(self, a: Any) -> Any:
        whole = zeta(a, 1.0)
        return log(whole) - a * zeta_of_logs(a, 1.0, n=1) / whole


class YuleSimon(SolvedCounts):
    """Yule and Simon's distribution, `alpha` > 0: ``f(k) = alpha beta(k, alpha + 1)`` for
    k = 1, 2, ..

    Source: SciPy reference, ``scipy.stats.yulesimon``.

    >>> float(yulesimon.pmf(1, 2.0).round(4))
    0.6667
    """

    shapes = ("alpha",)
    low = 1.0

    def _logpmf(self, k: Any, alpha: Any) -> Any:
        return log(alpha) + betaln(k, alpha + 1.0)

    def _cdf(self, k: Any, alpha: Any) -> Any:
        return 1.0 - self._sf(k, alpha)

    def _sf(self, k: Any, alpha: Any) -> Any:
        return exp(self._logsf(k, alpha))

    def _logsf(self, k: Any, alpha: Any) -> Any:
        return log(k) + betaln(k, alpha + 1.0)

    def _mean(self, alpha: Any) -> Any:
        known = greater(alpha, 1.0)
        alpha = choose(known, alpha, 2.0)
        return choose(known, alpha / (alpha - 1.0), math.inf)

    def _var(self, alpha: Any) -> Any:
        known = greater(alpha, 2.0)
        alpha = choose(known, alpha, 3.0)
        mean = alpha / (alpha - 1.0)
        return choose(known, mean * mean / (alpha - 2.0), math.inf)


planck = Planck("planck")
dlaplace = DLaplace("dlaplace")
logser = LogSeries("logser")
zipf = Zipf("zipf")
yulesimon = YuleSimon("yulesimon")
