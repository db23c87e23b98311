"""Distributions cut off at a bound: Pareto's and Weibull's, by exponential variables cut off."""

from __future__ import annotations

import math
from typing import Any

import numpy as np  # noqa: F401  (doctests)

from ...ops.arithmetic import absolute, divide, power
from ...ops.exponential import exp, log, xlogy
from ...ops.gamma import gamma as gamma_function
from ...ops.gamma import gammaincc
from ...ops.hypergeometric import exprel
from ...ops.logic import greater
from ...ops.select import where as choose
from .bounded import truncexpon
from .continuous import ContinuousDistribution
from .logs import log1mexp


def _by_direction(falling: Any, rising: Any, falls: Any, u: Any, end: Any) -> Any:
    """The one of two functions that counts; the other is taken inside, where no slope is infinite."""
    inside = 0.5 * end
    a = falling(choose(falls, u, inside), end)
    return choose(falls, a, rising(choose(falls, inside, u), end))


class TruncPareto(ContinuousDistribution):
    """Pareto's distribution cut off at `c` > 1, any `b` but 0:
    ``f(z) = b z**(-b - 1) / (1 - c**-b)`` for 1 <= z <= c.

    Source: SciPy reference, ``scipy.stats.truncpareto``.

    >>> float(truncpareto.cdf(2.0, 1.0, 4.0).round(4))
    0.6667
    """

    shapes = ("b", "c")
    low = 1.0
    exact_ends = False

    def _valid(self, b: Any, c: Any) -> Any:
        return (b != 0) & (b > -math.inf) & (b < math.inf) & (c > 1.0) & (c < math.inf)

    def _support(self, b: Any, c: Any) -> tuple[Any, Any]:
        return 1.0, c

    def _inside(self, b: Any, c: Any) -> Any:
        return 0.5 * (1.0 + c)

    def _turned(self, z: Any, b: Any, c: Any) -> tuple[Any, Any, Any]:
        """Whether the density falls, and how far `z` is from where it is greatest, as the exponential
        variable is, and that one's end.
        """
        falls, rate = greater(b, 0.0), absolute(b)
        t, end = rate * log(z), rate * log(c)
        return falls, choose(falls, t, end - t), end

    def _logpdf(self, z: Any, b: Any, c: Any) -> Any:
        _, u, end = self._turned(z, b, c)
        return truncexpon._logpdf(u, end) + log(absolute(b)) - log(z)

    def _cdf(self, z: Any, b: Any, c: Any) -> Any:
        return _by_direction(truncexpon._cdf, truncexpon._sf, *self._turned(z, b, c))

    def _sf(self, z: Any, b: Any, c: Any) -> Any:
        return _by_direction(truncexpon._sf, truncexpon._cdf, *self._turned(z, b, c))

    def _logcdf(self, z: Any, b: Any, c: Any) -> Any:
        return _by_direction(truncexpon._logcdf, truncexpon._logsf, *self._turned(z, b, c))

    def _logsf(self, z: Any, b: Any, c: Any) -> Any:
        return _by_direction(truncexpon._logsf, truncexpon._logcdf, *self._turned(z, b, c))

    def _place(self, falls: Any, u: Any, b: Any, c: Any) -> Any:
        return choose(falls, exp(u / absolute(b)), c * exp(-u / absolute(b)))

    def _ppf(self, q: Any, b: Any, c: Any) -> Any:
        falls, end = greater(b, 0.0), absolute(b) * log(c)
        u = choose(falls, truncexpon._ppf(q, end), truncexpon._isf(q, end))
        return self._place(falls, u, b, c)

    def _isf(self, q: Any, b: Any, c: Any) -> Any:
        falls, end = greater(b, 0.0), absolute(b) * log(c)
        u = choose(falls, truncexpon._isf(q, end), truncexpon._ppf(q, end))
        return self._place(falls, u, b, c)

    def _moment(self, m: float, b: Any, c: Any) -> Any:
        end = log(c)
        return exprel((m - b) * end) / exprel(-b * end)

    def _mean(self, b: Any, c: Any) -> Any:
        return self._moment(1.0, b, c)

    def _var(self, b: Any, c: Any) -> Any:
        mean = self._mean(b, c)
        return self._moment(2.0, b, c) - mean * mean

    def _entropy(self, b: Any, c: Any) -> Any:
        falls, u, end = self._turned(c, b, c)
        u = truncexpon._mean(end)
        log_place = choose(falls, u, end - u) / absolute(b)
        return u + log1mexp(end) + log_place - log(absolute(b))


class TruncWeibullMin(ContinuousDistribution):
    """Weibull's distribution cut off at `a` and `b`, 0 <= a < b, `c` > 0:
    ``f(z) = c z**(c - 1) exp(-z**c) / (exp(-a**c) - exp(-b**c))`` for a <= z <= b.

    Source: SciPy reference, ``scipy.stats.truncweibull_min``.

    >>> float(truncweibull_min.cdf(1.0, 1.0, 0.0, 2.0).round(4))
    0.7311
    """

    shapes = ("c", "a", "b")
    exact_ends = False

    def _valid(self, c: Any, a: Any, b: Any) -> Any:
        return (c > 0) & (a >= 0) & (b > a) & (b < math.inf)

    def _support(self, c: Any, a: Any, b: Any) -> tuple[Any, Any]:
        return a, b

    def _inside(self, c: Any, a: Any, b: Any) -> Any:
        return 0.5 * (a + b)

    def _powers(self, c: Any, _a: Any, _b: Any) -> tuple[Any, Any]:
        return c, c

    def _ends(self, c: Any, a: Any, b: Any) -> tuple[Any, Any]:
        """``a**c``, and how far ``b**c`` is from there."""
        start = power(a, c)
        return start, power(b, c) - start

    def _at_base(self, method: str, z: Any, c: Any, a: Any, b: Any) -> Any:
        start, end = self._ends(c, a, b)
        return getattr(truncexpon, method)(power(z, c) - start, end)

    def _logpdf(self, z: Any, c: Any, a: Any, b: Any) -> Any:
        return self._at_base("_logpdf", z, c, a, b) + log(c) + xlogy(c - 1.0, z)

    def _pdf(self, z: Any, c: Any, a: Any, b: Any) -> Any:
        # by powers, since at 0 the logarithm may have no slope
        return c * power(z, c - 1.0) * exp(self._at_base("_logpdf", z, c, a, b))

    def _cdf(self, z: Any, c: Any, a: Any, b: Any) -> Any:
        return self._at_base("_cdf", z, c, a, b)

    def _sf(self, z: Any, c: Any, a: Any, b: Any) -> Any:
        return self._at_base("_sf", z, c, a, b)

    def _logcdf(self, z: Any, c: Any, a: Any, b: Any) -> Any:
        return self._at_base("_logcdf", z, c, a, b)

    def _logsf(self, z: Any, c: Any, a: Any, b: Any) -> Any:
        return self._at_base("_logsf", z, c, a, b)

    def _ppf(self, q: Any, c: Any, a: Any, b: Any) -> Any:
        start, end = self._ends(c, a, b)
        return power(start + truncexpon._ppf(q, end), divide(1.0, c))

    def _isf(self, q: Any, c: Any, a: Any, b: Any) -> Any:
        start, end = self._ends(c, a, b)
        return power(start + truncexpon._isf(q, end), divide(1.0, c))

    def _moment(self, m: float, c: Any, a: Any, b: Any) -> Any:
        start, end = self._ends(c, a, b)
        order = 1.0 + m / c
        inside = gammaincc(order, start) - gammaincc(order, start + end)
        return gamma_function(order) * inside * exp(start - log1mexp(end))

    def _mean(self, c: Any, a: Any, b: Any) -> Any:
        return self._moment(1.0, c, a, b)

    def _var(self, c: Any, a: Any, b: Any) -> Any:
        mean = self._mean(c, a, b)
        return self._moment(2.0, c, a, b) - mean * mean


truncpareto = TruncPareto("truncpareto")
truncweibull_min = TruncWeibullMin("truncweibull_min")
