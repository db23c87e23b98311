"""Distributions of counts."""

from __future__ import annotations

import math
from typing import Any

import numpy as np  # noqa: F401  (doctests)

from ...ops.arithmetic import divide, power
from ...ops.beta import betainc, betaincc, betaln, log_beta_density, log_beta_pdf
from ...ops.exponential import exp, expm1, log, log1p, logaddexp, xlog1py, xlogy
from ...ops.gamma import gammainc, gammaincc, gammaln, log_gamma_pdf
from ...ops.logic import equal, greater, greater_equal
from ...ops.rounding import ceil
from ...ops.select import maximum, minimum, stop_gradient
from ...ops.select import where as choose
from ...ops.special import entr
from .discrete import DiscreteDistribution
from .logs import bounded_exp, log1mexp
from .solved import SolvedCounts
from .sums import SummedCounts, entropy_of_bell, without_slope
from .tails import log_betainc, log_betaincc, log_gammainc, log_gammaincc


def _whole(x: Any) -> Any:
    """Where `x` is a whole number."""
    return x % 1 == 0


class Poisson(SolvedCounts):
    """Poisson's distribution, `mu` >= 0: ``f(k) = mu**k exp(-mu) / k!`` for k = 0, 1, ..

    Source: SciPy reference, ``scipy.stats.poisson``.

    >>> float(poisson.logpmf(0, 3.0))
    -3.0
    """

    shapes = ("mu",)

    def _valid(self, mu: Any) -> Any:
        return mu >= 0

    def _logpmf(self, k: Any, mu: Any) -> Any:
        return log_gamma_pdf(k + 1.0, mu)

    def _pmf(self, k: Any, mu: Any) -> Any:
        none = equal(mu, 0.0)
        edge = power(choose(none, mu, 1.0), k) * exp(-gammaln(k + 1.0) - mu)
        return choose(none, edge, exp(self._logpmf(k, choose(none, 1.0, mu))))

    def _cdf(self, k: Any, mu: Any) -> Any:
        return gammaincc(k + 1.0, mu)

    def _sf(self, k: Any, mu: Any) -> Any:
        return gammainc(k + 1.0, mu)

    def _logcdf(self, k: Any, mu: Any) -> Any:
        return log_gammaincc(k + 1.0, mu)

    def _logsf(self, k: Any, mu: Any) -> Any:
        return log_gammainc(k + 1.0, mu)

    def _mean(self, mu: Any) -> Any:
        return mu

    def _var(self, mu: Any) -> Any:
        return mu

    def _entropy(self, mu: Any) -> Any:
        none = equal(mu, 0.0)
        some = choose(none, 1.0, mu)
        inner = entropy_of_bell(self._logpmf, some, some, (0.0, math.inf), some)
        return choose(none, entr(choose(none, mu, 1.0)), inner)


def _log_choices(n: Any, k: Any, odds: Any) -> Any:
    """The logarithm of the binomial coefficient times ``p**k (1 - p)**(n - k)``, for any odds of `p`.

    Odds in logarithms; they cancel where such are multiplied and divided.
    """
    both = logaddexp(odds, 0.0) + logaddexp(-odds, 0.0)  # -log(p) - log(1 - p)
    return log_beta_density(k + 1.0, n - k + 1.0, odds) + both - log1p(n)


class Binom(SolvedCounts):
    """The number of successes in `n` trials of probability `p`:
    ``f(k) = n! / (k! (n - k)!) p**k (1 - p)**(n - k)`` for k = 0 .. n.

    Source: SciPy reference, ``scipy.stats.binom``.

    >>> float(binom.pmf(1, 2, 0.5).round(4))
    0.5
    """

    shapes = ("n", "p")

    def _valid(self, n: Any, p: Any) -> Any:
        return (n >= 0) & _whole(n) & (p >= 0) & (p <= 1)

    def _support(self, n: Any, p: Any) -> tuple[Any, Any]:
        return 0.0, n

    def _logpmf(self, k: Any, n: Any, p: Any) -> Any:
        return log_beta_pdf(k + 1.0, n - k + 1.0, p) - log1p(n)

    def _pmf(self, k: Any, n: Any, p: Any) -> Any:
        sure = equal(p, 0.0) | equal(p, 1.0)
        q = choose(sure, p, 0.5)
        ways = bounded_exp(-log1p(n) - betaln(n - k + 1.0, k + 1.0))
        edge = ways * power(q, k) * power(1.0 - q, n - k)
        return choose(sure, edge, exp(self._logpmf(k, n, choose(sure, 0.5, p))))

    def _cdf(self, k: Any, n: Any, p: Any) -> Any:
        return betaincc(k + 1.0, n - k, p)

    def _sf(self, k: Any, n: Any, p: Any) -> Any:
        return betainc(k + 1.0, n - k, p)

    def _logcdf(self, k: Any, n: Any, p: Any) -> Any:
        return log_betaincc(k + 1.0, n - k, p)

    def _logsf(self, k: Any, n: Any, p: Any) -> Any:
        return log_betainc(k + 1.0, n - k, p)

    def _mean(self, n: Any, p: Any) -> Any:
        return n * p

    def _var(self, n: Any, p: Any) -> Any:
        return n * p * (1.0 - p)

    def _entropy(self, n: Any, p: Any) -> Any:
        sure = equal(p, 0.0) | equal(p, 1.0)
        q = choose(sure, 0.5, p)
        inner = entropy_of_bell(
            self._logpmf, self._mean(n, q), self._var(n, q), (0.0, n), without_slope(n), q
        )
        edge = choose(sure, p, 0.5)
        return choose(sure, n * (entr(edge) + entr(1.0 - edge)), inner)


class Bernoulli(DiscreteDistribution):
    """One trial of probability `p`: ``f(1) = p`` and ``f(0) = 1 - p``.

    Source: SciPy reference, ``scipy.stats.bernoulli``.

    >>> float(bernoulli.pmf(1, 0.25))
    0.25
    """

    shapes = ("p",)
    high = 1.0
    exact_ends = False

    def _valid(self, p: Any) -> Any:
        return (p >= 0) & (p <= 1)

    def _logpmf(self, k: Any, p: Any) -> Any:
        return xlogy(k, p) + xlog1py(1.0 - k, -p)

    def _pmf(self, k: Any, p: Any) -> Any:
        return choose(equal(k, 1.0), p, 1.0 - p) + k * 0.0

    def _cdf(self, k: Any, p: Any) -> Any:
        return 1.0 - p + k * 0.0

    def _sf(self, k: Any, p: Any) -> Any:
        return p + k * 0.0

    def _ppf(self, q: Any, p: Any) -> Any:
        return choose(greater(q, 1.0 - p), 1.0, 0.0)

    def _mean(self, p: Any) -> Any:
        return p

    def _var(self, p: Any) -> Any:
        return p * (1.0 - p)

    def _entropy(self, p: Any) -> Any:
        return entr(p) + entr(1.0 - p)


class NBinom(SolvedCounts):
    """The number of failures before the success of number `n` > 0, of probability 0 < `p` <= 1:
    ``f(k) = gamma(n + k) / (k! gamma(n)) p**n (1 - p)**k`` for k = 0, 1, ..

    Source: SciPy reference, ``scipy.stats.nbinom``.

    >>> float(nbinom.pmf(1, 2.0, 0.5).round(4))
    0.25
    """

    shapes = ("n", "p")

    def _valid(self, n: Any, p: Any) -> Any:
        return (n > 0) & (p > 0) & (p <= 1)

    def _logpmf(self, k: Any, n: Any, p: Any) -> Any:
        none = equal(k, 0.0)  # in one way, whatever `n`
        some = choose(none, 1.0, k)
        several = log_beta_pdf(choose(none, 1.0, n), some + 1.0, p) - log(n + some)
        return choose(none, n, 1.0) * log(p) + choose(none, 0.0, several)

    def _cdf(self, k: Any, n: Any, p: Any) -> Any:
        return betainc(n, k + 1.0, p)

    def _sf(self, k: Any, n: Any, p: Any) -> Any:
        return betaincc(n, k + 1.0, p)

    def _logcdf(self, k: Any, n: Any, p: Any) -> Any:
        return log_betainc(n, k + 1.0, p)

    def _logsf(self, k: Any, n: Any, p: Any) -> Any:
        return log_betaincc(n, k + 1.0, p)

    def _mean(self, n: Any, p: Any) -> Any:
        return n * (1.0 - p) / p

    def _var(self, n: Any, p: Any) -> Any:
        return n * (1.0 - p) / (p * p)


class Geom(DiscreteDistribution):
    """The number of trials up to the first success, of probability 0 < `p` <= 1:
    ``f(k) = (1 - p)**(k - 1) p`` for k = 1, 2, ..

    Source: SciPy reference, ``scipy.stats.geom``.

    >>> float(geom.pmf(2, 0.5))
    0.25
    """

    shapes = ("p",)
    low = 1.0
    exact_ends = False

    def _valid(self, p: Any) -> Any:
        return (p > 0) & (p <= 1)

    def _logpmf(self, k: Any, p: Any) -> Any:
        return xlog1py(k - 1.0, -p) + log(p)

    def _pmf(self, k: Any, p: Any) -> Any:
        return power(1.0 - p, k - 1.0) * p

    def _cdf(self, k: Any, p: Any) -> Any:
        return -expm1(xlog1py(k, -p))

    def _sf(self, k: Any, p: Any) -> Any:
        return power(1.0 - p, k)

    def _logcdf(self, k: Any, p: Any) -> Any:
        return log1mexp(-xlog1py(k, -p))

    def _logsf(self, k: Any, p: Any) -> Any:
        return xlog1py(k, -p)

    def _ppf(self, q: Any, p: Any) -> Any:
        k = maximum(ceil(log1p(-q) / log1p(-p)), 1.0)
        less_will_do = greater_equal(self._cdf(k - 1.0, p), q) & greater(k, 1.0)
        return choose(less_will_do, k - 1.0, k)

    def _mean(self, p: Any) -> Any:
        return divide(1.0, p)

    def _var(self, p: Any) -> Any:
        return (1.0 - p) / (p * p)

    def _entropy(self, p: Any) -> Any:
        return (entr(p) + entr(1.0 - p)) / p


class BetaBinom(SummedCounts):
    """The number of successes in `n` trials whose probability is a beta variable of `a`, `b` > 0:
    ``f(k) = n! / (k! (n - k)!) beta(k + a, n - k + b) / beta(a, b)`` for k = 0 .. n.

    Source: SciPy reference, ``scipy.stats.betabinom``.

    >>> float(betabinom.pmf(1, 2, 1.0, 1.0).round(4))
    0.3333
    """

    shapes = ("n", "a", "b")
    whole = (0,)

    def _valid(self, n: Any, a: Any, b: Any) -> Any:
        return (n >= 0) & _whole(n) & (a > 0) & (b > 0)

    def _support(self, n: Any, a: Any, b: Any) -> tuple[Any, Any]:
        return 0.0, n

    def _logpmf(self, k: Any, n: Any, a: Any, b: Any) -> Any:
        rest = n - k
        odds = stop_gradient(log((k + a) / (rest + b)))  # of the hump
        several = _log_choices(n, k, odds) + log_beta_density(a, b, odds)
        return several - log_beta_density(k + a, rest + b, odds)

    def _mean(self, n: Any, a: Any, b: Any) -> Any:
        return n * a / (a + b)

    def _var(self, n: Any, a: Any, b: Any) -> Any:
        total = a + b
        return n * (a / total) * (b / total) * (total + n) / (total + 1.0)


class BetaNBinom(SummedCounts):
    """The number of failures before the `n`-th success, whose probability is a beta variable of `a`,
    `b` > 0: ``f(k) = (n + k - 1)! / (k! (n - 1)!) beta(a + n, b + k) / beta(a, b)`` for k = 0, 1, ..

    Source: SciPy reference, ``scipy.stats.betanbinom``.

    >>> float(betanbinom.pmf(1, 1, 1.0, 1.0).round(4))
    0.1667
    """

    shapes = ("n", "a", "b")
    whole = (0,)

    def _valid(self, n: Any, a: Any, b: Any) -> Any:
        return (n > 0) & _whole(n) & (a > 0) & (b > 0)

    def _logpmf(self, k: Any, n: Any, a: Any, b: Any) -> Any:
        odds = stop_gradient(log((a + n) / (b + k)))  # of the hump
        several = log_beta_density(n, k + 1.0, odds) + logaddexp(odds, 0.0) - log(n + k)
        return several + log_beta_density(a, b, odds) - log_beta_density(a + n, b + k, odds)

    def _middle(self, n: Any, a: Any, b: Any) -> Any:
        return n * b / a

    def _entropy(self, *shapes: Any) -> Any:
        return DiscreteDistribution._entropy(self, *shapes)

    # above `k`: fewer than `n` successes in ``n + k`` trials
    def _count(self, k: Any, n: Any, a: Any, b: Any) -> Any:
        return n

    def _log_term(self, i: Any, below: Any, k: Any, n: Any, a: Any, b: Any) -> Any:
        inner = self._logpmf(choose(below, k - i, 0.0), n, a, b)
        outer = betabinom._logpmf(choose(below, 0.0, n - 1.0 - i), n + k, a, b)
        return choose(below, inner, outer)

    def _mean(self, n: Any, a: Any, b: Any) -> Any:
        known = greater(a, 1.0)
        return choose(known, n * b / (choose(known, a, 2.0) - 1.0), math.inf)

    def _var(self, n: Any, a: Any, b: Any) -> Any:
        known = greater(a, 2.0)
        less_one = choose(known, a, 3.0) - 1.0
        spread = (n + less_one) * (less_one + b) / (less_one - 1.0)
        return choose(known, n * b / (less_one * less_one) * spread, math.inf)


class RandInt(DiscreteDistribution):
    """Whole numbers ``low <= k < high``, all as likely: ``f(k) = 1 / (high - low)``.

    Source: SciPy reference, ``scipy.stats.randint``.

    >>> float(randint.pmf(3, 1, 5))
    0.25
    """

    shapes = ("low", "high")
    exact_ends = False

    def _valid(self, low: Any, high: Any) -> Any:
        return (high > low) & _whole(low) & _whole(high)

    def _support(self, low: Any, high: Any) -> tuple[Any, Any]:
        return low, high - 1.0

    def _logpmf(self, k: Any, low: Any, high: Any) -> Any:
        return -log(high - low) + k * 0.0

    def _cdf(self, k: Any, low: Any, high: Any) -> Any:
        return (k - low + 1.0) / (high - low)

    def _sf(self, k: Any, low: Any, high: Any) -> Any:
        return (high - 1.0 - k) / (high - low)

    def _ppf(self, q: Any, low: Any, high: Any) -> Any:
        k = ceil(q * (high - low) + low) - 1.0
        before = maximum(k - 1.0, low)
        return choose(greater_equal(self._cdf(before, low, high), q), before, k)

    def _mean(self, low: Any, high: Any) -> Any:
        return 0.5 * (low + high - 1.0)

    def _var(self, low: Any, high: Any) -> Any:
        width = high - low
        return (width * width - 1.0) / 12.0

    def _entropy(self, low: Any, high: Any) -> Any:
        return log(high - low)


class HyperGeom(SummedCounts):
    """How many of `N` things drawn from `M` are among `n` special ones:
    ``f(k) = C(n, k) C(M - n, N - k) / C(M, N)`` for binomial coefficients C.

    Source: SciPy reference, ``scipy.stats.hypergeom``.

    >>> float(hypergeom.pmf(1, 4, 2, 2).round(4))
    0.6667
    """

    shapes = ("M", "n", "N")
    whole = (0, 1, 2)

    def _valid(self, m: Any, n: Any, drawn: Any) -> Any:
        whole = _whole(m) & _whole(n) & _whole(drawn)
        return whole & (n >= 0) & (drawn >= 0) & (m > 0) & (n <= m) & (drawn <= m)

    def _support(self, m: Any, n: Any, drawn: Any) -> tuple[Any, Any]:
        return maximum(drawn - (m - n), 0.0), minimum(n, drawn)

    def _logpmf(self, k: Any, m: Any, n: Any, drawn: Any) -> Any:
        odds = log((drawn + 0.5) / (m - drawn + 0.5))  # of the hump
        ways = _log_choices(n, k, odds) + _log_choices(m - n, drawn - k, odds)
        return ways - _log_choices(m, drawn, odds)

    def _mean(self, m: Any, n: Any, drawn: Any) -> Any:
        return drawn * (n / m)

    def _var(self, m: Any, n: Any, drawn: Any) -> Any:
        share = n / m
        alone = equal(m, 1.0)
        rest = (m - drawn) / choose(alone, 1.0, m - 1.0)
        return choose(alone, math.nan, drawn * share * (1.0 - share) * rest)


poisson = Poisson("poisson")
binom = Binom("binom")
bernoulli = Bernoulli("bernoulli")
nbinom = NBinom("nbinom")
geom = Geom("geom")
betabinom = BetaBinom("betabinom")
betanbinom = BetaNBinom("betanbinom")
randint = RandInt("randint")
hypergeom = HyperGeom("hypergeom")
