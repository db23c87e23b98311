"""Burr's distributions, the exponentiated Weibull one, a crooked Laplace one; Skellam's."""

from __future__ import annotations

import math
from typing import Any

import numpy as np  # noqa: F401  (doctests)

from ...ops.arithmetic import absolute, divide, power
from ...ops.beta import betaln
from ...ops.exponential import exp, expm1, log, log1p, sqrt, xlogy
from ...ops.gamma import digamma
from ...ops.hypergeometric import exprel
from ...ops.logic import greater, less, less_equal
from ...ops.select import stop_gradient
from ...ops.select import where as choose
from .continuous import ContinuousDistribution, reach
from .contours import log_skellam_above
from .elementary import EULER
from .logs import log1mexp, log1mexpexp, log_ive, near_zero
from .solved import TwoSidedCounts
from .sums import entropy_of_bell


def _log_of_sums(z: Any, c: Any) -> tuple[Any, Any]:
    """``log(1 + z**c)`` and ``log(1 + z**-c)`` for z >= 0."""
    far = greater(z, 1.0)
    inner, outer = choose(far, 1.0, z), choose(far, z, 1.0)
    rest = log1p(power(choose(far, divide(1.0, outer), z), c))
    return c * log(outer) + rest, rest - c * log(inner)


def log_of_sum(z: Any, c: Any) -> Any:
    return _log_of_sums(z, c)[0]


def _logarithm(total: Any, u: Any) -> Any:
    """``log(total)`` for ``total = log(1 + exp(u))``, which is `u` where `total` vanishes."""
    small = less(u, -100.0)
    return choose(small, u, log(choose(small, 1.0, total)))


def _log_expm1(u: Any) -> Any:
    """``log(exp(u) - 1)`` for u > 0."""
    return u + log1mexp(u)


class Burr12(ContinuousDistribution):
    """Burr's distribution of type XII, `c` > 0 and `d` > 0:
    ``f(z) = c d z**(c - 1) (1 + z**c)**(-d - 1)`` for z >= 0.

    Moments that are infinite are so, where SciPy has nan.

    Source: SciPy reference, ``scipy.stats.burr12``.

    >>> float(burr12.sf(1.0, 2.0, 3.0).round(6))
    0.125
    """

    shapes = ("c", "d")
    low = 0.0
    inside = 1.0
    exact_ends = False

    def _powers(self, c: Any, _d: Any) -> tuple[Any, Any]:
        return c, c

    def _logpdf(self, z: Any, c: Any, d: Any) -> Any:
        return log(c) + log(d) + xlogy(c - 1.0, z) - (d + 1.0) * log_of_sum(z, c)

    def _edge(self, z: Any, c: Any, d: Any) -> Any:
        return c * d * power(z, c - 1.0) * power(1.0 + power(z, c), -d - 1.0)

    def _cdf(self, z: Any, c: Any, d: Any) -> Any:
        return -expm1(self._logsf(z, c, d))

    def _sf(self, z: Any, c: Any, d: Any) -> Any:
        return exp(self._logsf(z, c, d))

    def _logcdf(self, z: Any, c: Any, d: Any) -> Any:
        return log1mexpexp(log(d) + _logarithm(log_of_sum(z, c), c * log(z)))

    def _logsf(self, z: Any, c: Any, d: Any) -> Any:
        return -d * log_of_sum(z, c)

    def _ppf(self, q: Any, c: Any, d: Any) -> Any:
        return exp(_log_expm1(-log1p(-q) / d) / c)

    def _isf(self, q: Any, c: Any, d: Any) -> Any:
        return exp(_log_expm1(-log(q) / d) / c)

    def _moment(self, c: Any, d: Any, m: float) -> Any:
        known = greater(c * d, m)
        c = choose(known, c, 2.0 * m / d)
        return choose(known, d * exp(betaln(1.0 + m / c, d - m / c)), math.inf)

    def _mean(self, c: Any, d: Any) -> Any:
        return self._moment(c, d, 1.0)

    def _var(self, c: Any, d: Any) -> Any:
        mean = self._moment(choose(greater(c * d, 2.0), c, 3.0 / d), d, 1.0)
        return self._moment(c, d, 2.0) - mean * mean

    def _entropy(self, c: Any, d: Any) -> Any:
        rise = (c - 1.0) / c * (digamma(d) + EULER)
        return rise + 1.0 + divide(1.0, d) - log(c) - log(d)


class Burr(ContinuousDistribution):
    """Burr's distribution of type III, or Dagum's, `c` > 0 and `d` > 0:
    ``f(z) = c d z**(c d - 1) (1 + z**c)**(-d - 1)`` for z >= 0.

    Moments that are infinite are so, where SciPy has nan.

    Source: SciPy reference, ``scipy.stats.burr``.

    >>> float(burr.cdf(1.0, 2.0, 3.0).round(6))
    0.125
    """

    shapes = ("c", "d")
    low = 0.0
    inside = 1.0
    exact_ends = False

    def _powers(self, c: Any, d: Any) -> tuple[Any, Any]:
        return c * d, c

    def _logpdf(self, z: Any, c: Any, d: Any) -> Any:
        return log(c) + log(d) + xlogy(c * d - 1.0, z) - (d + 1.0) * log_of_sum(z, c)

    def _edge(self, z: Any, c: Any, d: Any) -> Any:
        return c * d * power(z, c * d - 1.0) * power(1.0 + power(z, c), -d - 1.0)

    def _near(self, z: Any, c: Any, d: Any) -> tuple[Any, Any, Any]:
        """Where `z` is close to 0, a `z` that is not, and the probability below one that is."""
        near, p = near_zero(z, c, c * d, d)
        return near, choose(near, 1.0, z), p

    def _cdf(self, z: Any, c: Any, d: Any) -> Any:
        near, z, p = self._near(z, c, d)
        return choose(near, p, exp(self._logcdf(z, c, d)))

    def _sf(self, z: Any, c: Any, d: Any) -> Any:
        near, z, p = self._near(z, c, d)
        return choose(near, 1.0 - p, -expm1(self._logcdf(z, c, d)))

    def _logcdf(self, z: Any, c: Any, d: Any) -> Any:
        return -d * self._log_of_inverse(z, c)

    def _logsf(self, z: Any, c: Any, d: Any) -> Any:
        near, z, p = self._near(z, c, d)
        far = log1mexpexp(log(d) + _logarithm(self._log_of_inverse(z, c), -c * log(z)))
        return choose(near, log1p(-p), far)

    def _log_of_inverse(self, z: Any, c: Any) -> Any:
        return _log_of_sums(z, c)[1]

    def _ppf(self, q: Any, c: Any, d: Any) -> Any:
        return exp(-_log_expm1(-log(q) / d) / c)

    def _isf(self, q: Any, c: Any, d: Any) -> Any:
        return exp(-_log_expm1(-log1p(-q) / d) / c)

    def _moment(self, c: Any, d: Any, m: float) -> Any:
        known = greater(c, m)
        c = choose(known, c, 2.0 * m)
        return choose(known, d * exp(betaln(d + m / c, 1.0 - m / c)), math.inf)

    def _mean(self, c: Any, d: Any) -> Any:
        return self._moment(c, d, 1.0)

    def _var(self, c: Any, d: Any) -> Any:
        mean = self._moment(choose(greater(c, 2.0), c, 3.0), d, 1.0)
        return self._moment(c, d, 2.0) - mean * mean

    def _entropy(self, c: Any, d: Any) -> Any:
        middle = digamma(d) + EULER
        rise = (divide(1.0, c) - d) * middle + (d + 1.0) * (middle + divide(1.0, d))
        return rise - log(c) - log(d)


class ExponWeib(ContinuousDistribution):
    """The exponentiated Weibull distribution, `a` > 0 and `c` > 0: ``F(z) = (1 - exp(-z**c))**a`` for
    z >= 0.

    Source: SciPy reference, ``scipy.stats.exponweib``.

    >>> float(exponweib.cdf(1.0, 1.0, 2.0).round(4))
    0.6321
    """

    shapes = ("a", "c")
    low = 0.0
    inside = 1.0
    exact_ends = False

    def _reach(self, _a: Any, c: Any) -> tuple[Any, Any]:
        return -math.inf, reach(divide(10.0, c))

    def _powers(self, a: Any, c: Any) -> tuple[Any, Any]:
        return a * c, c

    def _logpdf(self, z: Any, a: Any, c: Any) -> Any:
        u = power(z, c)
        return log(a) + log(c) + xlogy(a * c - 1.0, z) + (a - 1.0) * log(exprel(-u)) - u

    def _edge(self, z: Any, a: Any, c: Any) -> Any:
        u = power(z, c)
        return a * c * power(z, a * c - 1.0) * power(exprel(-u), a - 1.0) * exp(-u)

    def _near(self, z: Any, a: Any, c: Any) -> tuple[Any, Any, Any]:
        """Where `z` is close to 0, a `z` that is not, and the probability below one that is."""
        near, p = near_zero(z, c, a * c, 0.5 * a)
        return near, choose(near, 1.0, z), p

    def _cdf(self, z: Any, a: Any, c: Any) -> Any:
        near, z, p = self._near(z, a, c)
        return choose(near, p, exp(self._logcdf(z, a, c)))

    def _sf(self, z: Any, a: Any, c: Any) -> Any:
        near, z, p = self._near(z, a, c)
        return choose(near, 1.0 - p, -expm1(self._logcdf(z, a, c)))

    def _logcdf(self, z: Any, a: Any, c: Any) -> Any:
        return a * log1mexpexp(c * log(z))

    def _logsf(self, z: Any, a: Any, c: Any) -> Any:
        at_end, z, p = self._near(z, a, c)
        u = power(z, c)
        far = greater(u, 50.0)  # where all but the first term of the series are lost
        inner = log1mexp(-self._logcdf(choose(far, 1.0, z), a, c))
        return choose(at_end, log1p(-p), choose(far, log(a) - u, inner))

    def _ppf(self, q: Any, a: Any, c: Any) -> Any:
        return power(-log1mexp(-log(q) / a), divide(1.0, c))

    def _isf(self, q: Any, a: Any, c: Any) -> Any:
        return power(-log1mexp(-log1p(-q) / a), divide(1.0, c))


class LaplaceAsymmetric(ContinuousDistribution):
    """The asymmetric Laplace distribution, `kappa` > 0: ``f(z) = exp(-kappa z) / (kappa + 1 / kappa)``
    for z >= 0, and ``exp(z / kappa) / (kappa + 1 / kappa)`` below.

    Source: SciPy reference, ``scipy.stats.laplace_asymmetric``.

    >>> float(laplace_asymmetric.cdf(0.0, 2.0))
    0.8
    """

    shapes = ("kappa",)

    def _parts(self, z: Any, kappa: Any) -> tuple[Any, Any, Any]:
        """Where z < 0, and the exponents there and elsewhere, 0 on the other side."""
        low = less(z, 0.0)
        return low, choose(low, z, 0.0) / kappa, -kappa * choose(low, 0.0, z)

    def _logpdf(self, z: Any, kappa: Any) -> Any:
        _, below, above = self._parts(z, kappa)
        return below + above - log(kappa + divide(1.0, kappa))

    def _shares(self, kappa: Any) -> tuple[Any, Any]:
        """The probabilities below and above 0."""
        square = kappa * kappa
        return square / (1.0 + square), divide(1.0, 1.0 + square)

    def _cdf(self, z: Any, kappa: Any) -> Any:
        (low, below, above), (left, right) = self._parts(z, kappa), self._shares(kappa)
        return choose(low, left * exp(below), 1.0 - right * exp(above))

    def _sf(self, z: Any, kappa: Any) -> Any:
        (low, below, above), (left, right) = self._parts(z, kappa), self._shares(kappa)
        return choose(low, 1.0 - left * exp(below), right * exp(above))

    def _logcdf(self, z: Any, kappa: Any) -> Any:
        (low, below, above), (left, right) = self._parts(z, kappa), self._shares(kappa)
        return choose(low, log(left) + below, log1p(-right * exp(above)))

    def _logsf(self, z: Any, kappa: Any) -> Any:
        (low, below, above), (left, right) = self._parts(z, kappa), self._shares(kappa)
        return choose(low, log1p(-left * exp(below)), log(right) + above)

    def _ppf(self, q: Any, kappa: Any) -> Any:
        left, right = self._shares(kappa)
        low = less(q, left)
        below = kappa * log(choose(low, q, left) / left)
        return choose(low, below, -log((1.0 - choose(low, left, q)) / right) / kappa)

    def _isf(self, q: Any, kappa: Any) -> Any:
        left, right = self._shares(kappa)
        high = less(q, right)
        above = -log(choose(high, q, right) / right) / kappa
        return choose(high, above, kappa * log((1.0 - choose(high, right, q)) / left))

    def _mean(self, kappa: Any) -> Any:
        return divide(1.0, kappa) - kappa

    def _var(self, kappa: Any) -> Any:
        return divide(1.0, kappa * kappa) + kappa * kappa

    def _entropy(self, kappa: Any) -> Any:
        return 1.0 + log(kappa + divide(1.0, kappa))


class Skellam(TwoSidedCounts):
    """The difference of two Poisson variables, of means `mu1` > 0 and `mu2` > 0:
    ``f(k) = exp(-mu1 - mu2) (mu1 / mu2)**(k / 2) I_|k|(2 sqrt(mu1 mu2))``.

    Source: SciPy reference, ``scipy.stats.skellam``.

    >>> float(skellam.pmf(0, 1.0, 1.0).round(4))
    0.3085
    """

    shapes = ("mu1", "mu2")
    low = -math.inf

    def _somewhere(self, low: Any) -> Any:
        return 0.0

    def _logpmf(self, k: Any, mu1: Any, mu2: Any) -> Any:
        a, b = sqrt(mu1), sqrt(mu2)
        value = log_ive(stop_gradient(absolute(k)), 2.0 * a * b)
        return 0.5 * k * (log(mu1) - log(mu2)) - (a - b) * (a - b) + value

    def _side(self, k: Any, mu1: Any, mu2: Any) -> tuple[Any, Any]:
        """Whether it is the side below, and the logarithm of the probability there."""
        below = less_equal(k, stop_gradient(mu1 - mu2) - 0.5)
        first, second = choose(below, mu2, mu1), choose(below, mu1, mu2)
        return below, log_skellam_above(choose(below, -k, k + 1.0), first, second)

    def _mean(self, mu1: Any, mu2: Any) -> Any:
        return mu1 - mu2

    def _var(self, mu1: Any, mu2: Any) -> Any:
        return mu1 + mu2

    def _entropy(self, mu1: Any, mu2: Any) -> Any:
        moments = mu1 - mu2, mu1 + mu2
        return entropy_of_bell(self._logpmf, *moments, (-math.inf, math.inf), mu1, mu2)


burr = Burr("burr")
burr12 = Burr12("burr12")
exponweib = ExponWeib("exponweib")
laplace_asymmetric = LaplaceAsymmetric("laplace_asymmetric")
skellam = Skellam("skellam")
