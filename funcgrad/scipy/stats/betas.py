"""The beta distribution and its relatives: beta prime, F and Student's t."""

from __future__ import annotations

import math
from typing import Any

import numpy as np  # noqa: F401  (doctests)

from ...ops.arithmetic import absolute, divide, power
from ...ops.beta import (
    beta_edge,
    beta_entropy,
    betainc,
    betaincc,
    betaincinv,
    betaln,
    digamma_gap,
    log_beta_density,
    log_beta_pdf,
)
from ...ops.exponential import exp, expm1, log, log1p, sqrt, xlogy
from ...ops.gamma import digamma
from ...ops.logic import greater, isinf, less, logical_not
from ...ops.select import stop_gradient
from ...ops.select import where as choose
from ...ops.special import log_ndtr, ndtri
from ..probabilities import stdtr, student_peak
from .continuous import ContinuousDistribution
from .elementary import log1p_square
from .logs import LOG_2, bounded_exp, log1mexp, log_of
from .normal import LOG_2PI, log_density
from .scaled import ScaledDistribution
from .tails import log_betainc, log_betaincc


def log_quantile(a: Any, b: Any, q: Any) -> Any:
    """``log(betaincinv(a, b, q))``, also where that underflows: by ``q = x**a / (a beta(a, b))``."""
    first = (log(q) + log(a) + betaln(a, b)) / a
    small = less(first, -50.0 - log(a + b))
    a, b = choose(small, 1.0, a), choose(small, 1.0, b)
    return choose(small, first, log(betaincinv(a, b, choose(small, 0.5, q))))


def log_odds(a: Any, b: Any, q: Any) -> Any:
    """The logarithm of ``x / (1 - x)`` for ``x = betaincinv(a, b, q)``, near x = 1 too."""
    u = log_quantile(stop_gradient(a), stop_gradient(b), stop_gradient(q))
    # 1 - q, for the complement, has lost more digits than 1 - x where q < 1 - x
    far = greater(u, -LOG_2) & greater(q, -expm1(u))
    # Each of the two where it is taken: where x is 1 but for its last digits its slope is infinite.
    near = logical_not(far)
    u = log_quantile(choose(near, a, 1.0), choose(near, b, 1.0), choose(near, q, 0.5))
    v = log_quantile(choose(far, b, 1.0), choose(far, a, 1.0), choose(far, 1.0 - q, 0.5))
    return choose(far, log1mexp(-v) - v, u - log1mexp(-u))


class Beta(ContinuousDistribution):
    """The beta distribution, `a` and `b` > 0: ``f(z) = z**(a-1) (1 - z)**(b-1) / beta(a, b)`` for
    0 <= z <= 1.

    Source: SciPy reference, ``scipy.stats.beta``.

    >>> float(beta.pdf(0.5, 2.0, 2.0).round(4))
    1.5
    """

    shapes = ("a", "b")
    exact_ends = False
    low, high = 0.0, 1.0

    def _powers(self, a: Any, _b: Any) -> tuple[Any, Any]:
        return a, 1.0

    def _logpdf(self, z: Any, a: Any, b: Any) -> Any:
        return log_beta_pdf(a, b, z)

    def _edge(self, z: Any, a: Any, b: Any) -> Any:
        return beta_edge(a, b, z)

    def _cdf(self, z: Any, a: Any, b: Any) -> Any:
        return betainc(a, b, z)

    def _sf(self, z: Any, a: Any, b: Any) -> Any:
        return betaincc(a, b, z)

    def _logcdf(self, z: Any, a: Any, b: Any) -> Any:
        return log_betainc(a, b, z)

    def _logsf(self, z: Any, a: Any, b: Any) -> Any:
        return log_betaincc(a, b, z)

    def _ppf(self, q: Any, a: Any, b: Any) -> Any:
        return exp(log_quantile(a, b, q))

    def _isf(self, q: Any, a: Any, b: Any) -> Any:
        low = greater(q, 0.5)  # where 1 - q is exact, and z may be small
        lower = self._ppf(1.0 - choose(low, q, 0.5), a, b)
        return choose(low, lower, 1.0 - self._ppf(choose(low, 0.5, q), b, a))

    def _mean(self, a: Any, b: Any) -> Any:
        return a / (a + b)

    def _var(self, a: Any, b: Any) -> Any:
        total = a + b
        return (a / total) * (b / total) / (total + 1.0)

    def _entropy(self, a: Any, b: Any) -> Any:
        return beta_entropy(a, b) + digamma_gap(a, b) + digamma_gap(b, a)


class BetaPrime(ContinuousDistribution):
    """The odds of a beta variable, `a` and `b` > 0: ``f(z) = z**(a-1) (1 + z)**(-a-b) / beta(a, b)``
    for z >= 0.

    Source: SciPy reference, ``scipy.stats.betaprime``.

    >>> float(betaprime.pdf(1.0, 1.0, 1.0).round(4))
    0.25
    """

    shapes = ("a", "b")
    exact_ends = False
    low = 0.0
    open = True  # as in SciPy

    def _powers(self, a: Any, _b: Any) -> tuple[Any, Any]:
        return a, 1.0

    def _logpdf(self, z: Any, a: Any, b: Any) -> Any:
        inner = xlogy(a - 1.0, z) - (a + b) * log1p(z) - betaln(a, b)
        large = greater(a + b, 60.0) & greater(z, 0.0)  # NOTE [Large shapes] in ops/gamma.py
        log_z = log(choose(large, z, 1.0))
        return choose(large, log_beta_density(a, b, log_z) - log_z, inner)

    def _edge(self, z: Any, a: Any, b: Any) -> Any:
        return power(z, a - 1.0) * bounded_exp(-(a + b) * log1p(z) - betaln(a, b))

    def _cdf(self, z: Any, a: Any, b: Any) -> Any:
        return self._of_beta(z, a, b, betainc, betaincc)

    def _sf(self, z: Any, a: Any, b: Any) -> Any:
        return self._of_beta(z, a, b, betaincc, betainc)

    def _logcdf(self, z: Any, a: Any, b: Any) -> Any:
        return self._of_beta(z, a, b, log_betainc, log_betaincc)

    def _logsf(self, z: Any, a: Any, b: Any) -> Any:
        return self._of_beta(z, a, b, log_betaincc, log_betainc)

    def _of_beta(self, z: Any, a: Any, b: Any, lower: Any, upper: Any) -> Any:
        """``lower(a, b, w)`` of the beta variable; beyond w = 1/2 the same by `upper` from 1 - w."""
        far, near = greater(z, 1.0), less(z, 1.0)
        share = -expm1(-log1p(choose(far, 1.0, z)))  # z / (1 + z) with no 0 in its slope at 0
        rest = divide(1.0, 1.0 + choose(near, 1.0, z))
        return choose(far, upper(b, a, rest), lower(a, b, share))

    def _ppf(self, q: Any, a: Any, b: Any) -> Any:
        return exp(log_odds(a, b, q))

    def _isf(self, q: Any, a: Any, b: Any) -> Any:
        return exp(-log_odds(b, a, q))

    def _mean(self, a: Any, b: Any) -> Any:
        known = greater(b, 1.0)
        return choose(known, a / (choose(known, b, 2.0) - 1.0), math.inf)

    def _var(self, a: Any, b: Any) -> Any:
        known = greater(b, 2.0)
        b = choose(known, b, 3.0)
        return choose(known, a * (a + b - 1.0) / ((b - 2.0) * (b - 1.0) * (b - 1.0)), math.inf)

    def _entropy(self, a: Any, b: Any) -> Any:
        return beta_entropy(a, b) + digamma(a) - digamma(b)


class F(ScaledDistribution):
    """The ratio of the means of `dfn` and `dfd` squares of normal variables, both > 0:
    ``r`` times the density of `betaprime` at ``r z`` for ``r = dfn / dfd``, ``a = dfn / 2`` and
    ``b = dfd / 2``.

    Source: SciPy reference, ``scipy.stats.f``.

    >>> float(f.pdf(1.0, 2.0, 2.0).round(4))
    0.25
    """

    shapes = ("dfn", "dfd")
    low = 0.0

    def _base(self, dfn: Any, dfd: Any) -> Any:
        return betaprime, (dfn * 0.5, dfd * 0.5), dfd / dfn


class T(ContinuousDistribution):
    """Student's t distribution, `df` > 0, infinity included:
    ``f(z) = (1 + z**2 / df)**(-(df+1)/2) / (sqrt(df) beta(1/2, df/2))``.

    Source: SciPy reference, ``scipy.stats.t``; Shaw, "Sampling Student's T distribution", 2006.

    >>> float(t.pdf(0.0, 1.0).round(4))
    0.3183
    """

    shapes = ("df",)
    exact_ends = False

    def _logpdf(self, z: Any, df: Any) -> Any:
        normal = isinf(df)
        df = choose(normal, 1.0, df)
        inner = log(student_peak(df)) - 0.5 * (df + 1.0) * log1p_square(z / sqrt(df))
        return choose(normal, log_density(z), inner)

    def _cdf(self, z: Any, df: Any) -> Any:
        return stdtr(df, z)

    def _sf(self, z: Any, df: Any) -> Any:
        return stdtr(df, -z)

    def _logcdf(self, z: Any, df: Any) -> Any:
        normal = isinf(df)
        df = choose(normal, 1.0, df)
        near = greater(z, -sqrt(2.0 * df))
        far = less(z, -1e15 * sqrt(df))
        outer = choose(near, -2.0, z) / choose(near, 1.0, sqrt(df))
        inner_z = choose(near, z, 0.0)
        inner = log_of(stdtr(df, inner_z), stdtr(df, -inner_z))
        y = choose(near, inner, _log_tail(outer, far, 0.5 * df) - LOG_2)
        return choose(normal, log_ndtr(z), y)

    def _logsf(self, z: Any, df: Any) -> Any:
        return self._logcdf(-z, df)

    def _ppf(self, q: Any, df: Any) -> Any:
        normal = isinf(df)
        df = choose(normal, 1.0, df)
        half, peak = q - 0.5, student_peak(df)
        near = less(half * half, 9e-4 * peak * peak)
        upper = greater(half, 0.0)
        tail = choose(near, 0.25, choose(upper, 1.0 - q, q))
        size = self._from_tail(tail, df)
        outer = choose(upper, size, -size)
        y = choose(near, _around_median(choose(near, half, 0.0) / peak, df), outer)
        return choose(normal, ndtri(q), y)

    def _from_tail(self, tail: Any, df: Any) -> Any:
        """The number beyond which the probability is `tail` < 1/2."""
        return exp(-0.5 * log_odds(0.5 * df, 0.5, 2.0 * tail)) * sqrt(df)

    def _isf(self, q: Any, df: Any) -> Any:
        return -self._ppf(q, df)

    def _mean(self, df: Any) -> Any:
        return choose(greater(df, 1.0), 0.0, math.inf)

    def _var(self, df: Any) -> Any:
        known = greater(df, 2.0)
        inner = 1.0 + divide(2.0, choose(known, df, 3.0) - 2.0)
        return choose(known, inner, choose(greater(df, 1.0), math.inf, math.nan))

    def _entropy(self, df: Any) -> Any:
        normal = isinf(df)
        df = choose(normal, 1.0, df)
        large = greater(df, 200.0)
        near, r = choose(large, 1.0, df), divide(1.0, choose(large, df, 200.0))
        half = 0.5 * (near + 1.0)
        inner = half * (digamma(half) - digamma(0.5 * near)) - log(student_peak(near))
        tail = r * (1.0 + r * (1 / 4 + r * (-1 / 6 + r * (-1 / 8 + r * (3 / 10)))))
        outer = 0.5 * (LOG_2PI + 1.0) + choose(normal, 0.0, tail)
        return choose(large | normal, outer, inner)


def _log_tail(r: Any, far: Any, a: Any) -> Any:
    """``log(betainc(a, 1/2, 1 / (1 + r**2)))``; where `far` holds that is ``r**(-2 a)`` times a
    constant, and r**2 may overflow.
    """
    constant = log(a) + betaln(a, 0.5)
    outer = -2.0 * a * log(absolute(choose(far, r, 1.0))) - constant
    r = choose(far, 1.0, r)
    return choose(far, outer, log_betainc(a, 0.5, divide(1.0, 1.0 + r * r)))


def _around_median(v: Any, df: Any) -> Any:
    """The quantile of Student's t in powers of ``v = (q - 1/2) / density at 0``."""
    r, s = divide(1.0, df), v * v
    c3 = (1.0 + r) / 6.0
    c5 = 7 / 120 + r * (1 / 15 + r / 120.0)
    c7 = 127 / 5040 + r * (3 / 112 + r * (1 / 560 + r / 5040.0))
    return v * (1.0 + s * (c3 + s * (c5 + s * c7)))


beta = Beta("beta")
betaprime = BetaPrime("betaprime")
f = F("f")
t = T("t")
