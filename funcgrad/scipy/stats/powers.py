"""Powers of gamma and of logistic variables: Maxwell's, Nakagami's and other distributions."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...numpy._arguments import beside
from ...ops.arithmetic import absolute, divide, power
from ...ops.beta import poch
from ...ops.exponential import exp, expm1, log, log1p, sqrt, xlogy
from ...ops.gamma import (
    digamma,
    gammainc,
    gammaincc,
    gammainccinv,
    gammaincinv,
    gammaln,
    log_gamma_pdf,
    polygamma,
)
from ...ops.logic import equal, greater, less
from ...ops.quadrature import as_column
from ...ops.select import maximum, minimum
from ...ops.select import where as choose
from ...ops.structural import sum
from ...ops.trigonometric import sin
from .continuous import ContinuousDistribution, reach
from .gammas import gamma, loggamma
from .logs import log1mexpexp, near_zero
from .scaled import ScaledDistribution
from .tails import log_gammainc, log_gammaincc


class GenGamma(ContinuousDistribution):
    """A gamma variable to the power of 1 / c, `a` > 0, any finite `c` but 0:
    ``f(z) = |c| z**(a c - 1) exp(-z**c) / gamma(a)`` for z >= 0, z > 0 for c < 0.

    Source: Stacy, "A generalization of the gamma distribution", 1962; SciPy reference,
    ``scipy.stats.gengamma``.

    >>> float(gengamma.pdf(1.0, 2.0, -3.0).round(4))
    1.1036
    """

    shapes = ("a", "c")
    exact_ends = False
    low = 0.0

    def _valid(self, a: Any, c: Any) -> Any:
        return (a > 0) & (c != 0) & (c > -math.inf) & (c < math.inf)

    def _power(self, z: Any, c: Any) -> Any:
        """``z**c``; where that is infinite, and every derivative vanishes, a large number."""
        lost = equal(z, 0.0) & less(c, 0.0)
        return choose(lost, 1e30, power(choose(lost, 1.0, z), c))

    def _reach(self, a: Any, c: Any) -> tuple[Any, Any]:
        end = reach((10.0 + log(maximum(a, 1.0))) / c)
        return choose(less(c, 0.0), end, -math.inf), choose(greater(c, 0.0), end, math.inf)

    def _powers(self, a: Any, c: Any) -> tuple[Any, Any]:
        return a * c, c

    def _logpdf(self, z: Any, a: Any, c: Any) -> Any:
        lost = equal(z, 0.0) & less(c, 0.0)
        z = choose(lost, 1.0, z)
        x = power(z, c)
        inner = xlogy(a * c - 1.0, z) - x - gammaln(a)
        large = greater(a, 30.0) & greater(x, 0.0)  # NOTE [Large shapes] in ops/gamma.py
        z, x = choose(large, z, 1.0), choose(large, x, 1.0)
        inner = choose(large, log_gamma_pdf(a, x) + log(x) - log(z), inner)
        return choose(lost, -math.inf, log(absolute(c)) + inner)

    def _edge(self, z: Any, a: Any, c: Any) -> Any:
        lost = equal(z, 0.0) & less(c, 0.0)
        z = choose(lost, 1.0, z)
        inner = absolute(c) * power(z, a * c - 1.0) * exp(-power(z, c) - gammaln(a))
        return choose(lost, 0.0, inner)

    def _near(self, z: Any, a: Any, c: Any) -> tuple[Any, Any, Any]:
        """Where `z` is close to 0, a `z` that is not, and the probability below one that is."""
        near, p = near_zero(z, c, a * c, a / (a + 1.0))
        return near, choose(near, 1.0, z), p * exp(-gammaln(a + 1.0))

    def _cdf(self, z: Any, a: Any, c: Any) -> Any:
        near, z, p = self._near(z, a, c)
        x = self._power(z, c)
        return choose(near, p, choose(greater(c, 0.0), gammainc(a, x), gammaincc(a, x)))

    def _sf(self, z: Any, a: Any, c: Any) -> Any:
        near, z, p = self._near(z, a, c)
        x = self._power(z, c)
        return choose(near, 1.0 - p, choose(greater(c, 0.0), gammaincc(a, x), gammainc(a, x)))

    def _logcdf(self, z: Any, a: Any, c: Any) -> Any:
        u, rises = c * log(z), greater(c, 0.0)  # a power may underflow
        above = log_gammaincc(a, exp(choose(rises, 0.0, u)))
        return choose(rises, loggamma._logcdf(choose(rises, u, 0.0), a), above)

    def _logsf(self, z: Any, a: Any, c: Any) -> Any:
        at_end, z, p = self._near(z, a, c)
        rises = greater(c, 0.0)
        above = log_gammaincc(a, choose(rises, self._power(z, c), 1.0))
        far = ~rises & greater(z, 1.0)
        below = loggamma._logcdf(c * log(choose(far, z, 1.0)), a)
        near = log_gammainc(a, choose(rises | far, 1.0, self._power(z, c)))
        return choose(at_end, log1p(-p), choose(rises, above, choose(far, below, near)))

    def _ppf(self, q: Any, a: Any, c: Any) -> Any:
        x = choose(greater(c, 0.0), gammaincinv(a, q), gammainccinv(a, q))
        return power(x, divide(1.0, c))

    def _isf(self, q: Any, a: Any, c: Any) -> Any:
        x = choose(greater(c, 0.0), gammainccinv(a, q), gammaincinv(a, q))
        return power(x, divide(1.0, c))

    def _moment(self, a: Any, m: Any) -> Any:
        """The mean of the gamma variable to the power of `m`."""
        known = greater(a + m, 0.0)
        return choose(known, poch(a, choose(known, m, 0.0)), math.inf)

    def _mean(self, a: Any, c: Any) -> Any:
        return self._moment(a, divide(1.0, c))

    def _var(self, a: Any, c: Any) -> Any:
        h = divide(1.0, c)
        known = greater(a + 2.0 * h, 0.0)
        mean = self._moment(a, choose(known, h, 0.0))
        # over the square of the mean it is expm1 of a second difference of gammaln, which has no digits
        # for large a: there as an integral of the second derivative
        far = greater(a + h, 3.0 * absolute(h))
        step = choose(far, h, 0.25)
        middle = choose(far, a, 1.0) + step
        nodes, weights = (beside(step, v) for v in np.polynomial.legendre.leggauss(8))
        off = as_column(step) * (0.5 + 0.5 * nodes)
        both = polygamma(as_column(middle) + off, n=1) + polygamma(as_column(middle) - off, n=1)
        both = both * (0.25 * weights * (1.0 - nodes))
        spread = step * step * sum(both, axis=(both.ndim - 1,))
        return choose(far, mean * mean * expm1(spread), self._moment(a, 2.0 * h) - mean * mean)

    def _entropy(self, a: Any, c: Any) -> Any:
        return gamma._entropy(a) - log(absolute(c)) + (divide(1.0, c) - 1.0) * digamma(a)


class Chi(ScaledDistribution):
    """The length of a vector of `df` normal variables, `df` > 0:
    ``f(z) = z**(df - 1) exp(-z**2 / 2) / (2**(df/2 - 1) gamma(df/2))`` for z >= 0.

    Source: SciPy reference, ``scipy.stats.chi``.

    >>> float(chi.pdf(1.0, 2.0).round(4))
    0.6065
    """

    shapes = ("df",)
    low = 0.0

    def _base(self, df: Any) -> Any:
        return gengamma, (df * 0.5, 2.0), math.sqrt(2.0)


class Maxwell(ScaledDistribution):
    """The length of a vector of three normal variables:
    ``f(z) = sqrt(2 / pi) z**2 exp(-z**2 / 2)`` for z >= 0.

    Source: SciPy reference, ``scipy.stats.maxwell``.

    >>> float(maxwell.pdf(1.0).round(4))
    0.4839
    """

    low = 0.0

    def _base(self) -> Any:
        return gengamma, (1.5, 2.0), math.sqrt(2.0)


class Nakagami(ScaledDistribution):
    """The root of a gamma variable of mean 1, `nu` > 0:
    ``f(z) = 2 nu**nu z**(2 nu - 1) exp(-nu z**2) / gamma(nu)`` for z >= 0.

    Source: SciPy reference, ``scipy.stats.nakagami``.

    >>> float(nakagami.pdf(1.0, 1.0).round(4))
    0.7358
    """

    shapes = ("nu",)
    low = 0.0

    def _base(self, nu: Any) -> Any:
        return gengamma, (nu, 2.0), sqrt(divide(1.0, nu))


class Fisk(ContinuousDistribution):
    """Fisk's or the log-logistic distribution, `c` > 0:
    ``f(z) = c z**(c - 1) / (1 + z**c)**2`` for z >= 0.

    Source: SciPy reference, ``scipy.stats.fisk``.

    >>> float(fisk.sf(2.0, 2.0))
    0.2
    """

    shapes = ("c",)
    low = 0.0
    inside = 1.0
    exact_ends = False

    def _sides(self, z: Any, c: Any) -> tuple[Any, Any, Any]:
        """Where z > 1, and ``z**c`` or ``z**-c``: the one that is at most 1."""
        far = greater(z, 1.0)
        return far, power(choose(far, 1.0, z), c), power(choose(far, z, 1.0), -c)

    def _powers(self, c: Any) -> tuple[Any, Any]:
        return c, c

    def _logpdf(self, z: Any, c: Any) -> Any:
        far, below, above = self._sides(z, c)
        spread = -2.0 * log1p(choose(far, above, below))
        return log(c) + xlogy(choose(far, -c, c) - 1.0, z) + spread

    def _edge(self, z: Any, c: Any) -> Any:
        rest = 1.0 + power(z, c)
        return c * power(z, c - 1.0) / (rest * rest)

    def _cdf(self, z: Any, c: Any) -> Any:
        far, below, above = self._sides(z, c)
        return choose(far, 1.0, below) / (1.0 + choose(far, above, below))

    def _sf(self, z: Any, c: Any) -> Any:
        far, below, above = self._sides(z, c)
        return choose(far, above, 1.0) / (1.0 + choose(far, above, below))

    def _logcdf(self, z: Any, c: Any) -> Any:
        far, below, above = self._sides(z, c)
        return choose(far, 0.0, c * log(z)) - log1p(choose(far, above, below))

    def _logsf(self, z: Any, c: Any) -> Any:
        far, below, above = self._sides(z, c)
        return -c * log(choose(far, z, 1.0)) - log1p(choose(far, above, below))

    def _ppf(self, q: Any, c: Any) -> Any:
        return power(q / (1.0 - q), divide(1.0, c))

    def _isf(self, q: Any, c: Any) -> Any:
        return power((1.0 - q) / q, divide(1.0, c))

    def _moment(self, c: Any, m: float) -> Any:
        known = greater(c, m)
        angle = divide(m * math.pi, choose(known, c, 2.0 * m))
        return choose(known, angle / sin(angle), math.inf)

    def _mean(self, c: Any) -> Any:
        return self._moment(c, 1.0)

    def _var(self, c: Any) -> Any:
        mean = self._moment(choose(greater(c, 2.0), c, 2.0), 1.0)
        return self._moment(c, 2.0) - mean * mean

    def _entropy(self, c: Any) -> Any:
        return 2.0 - log(c)


class ExponPow(ContinuousDistribution):
    """The exponential power distribution, `b` > 0: ``sf(z) = exp(1 - exp(z**b))`` for z >= 0.

    Source: SciPy reference, ``scipy.stats.exponpow``.

    >>> float(exponpow.cdf(1.0, 2.0).round(4))
    0.8206
    """

    shapes = ("b",)
    low = 0.0
    inside = 1.0
    exact_ends = False

    def _reach(self, b: Any) -> tuple[Any, Any]:
        return -math.inf, reach(divide(math.log(10.0), b))

    def _powers(self, b: Any) -> tuple[Any, Any]:
        return b, b

    def _logpdf(self, z: Any, b: Any) -> Any:
        u = power(z, b)
        return log(b) + xlogy(b - 1.0, z) + u - expm1(u)

    def _edge(self, z: Any, b: Any) -> Any:
        u = power(z, b)
        return b * power(z, b - 1.0) * exp(u - expm1(u))

    def _cdf(self, z: Any, b: Any) -> Any:
        return -expm1(-expm1(power(z, b)))

    def _sf(self, z: Any, b: Any) -> Any:
        return exp(-expm1(power(z, b)))

    def _logcdf(self, z: Any, b: Any) -> Any:
        u = b * log(z)
        far = less(u, 0.0)  # log(expm1(v)) is log(v) + v / 2 + log(sinh(v / 2) / (v / 2))
        v = exp(choose(far, u, 0.0))
        w = v * v / 24.0
        near = u + 0.5 * v + log1p(w * (1.0 + w * (0.3 + w * (3 / 70 + w * (1 / 280 + w / 4620)))))
        return log1mexpexp(choose(far, near, log(expm1(exp(choose(far, 0.0, minimum(u, 6.0)))))))

    def _logsf(self, z: Any, b: Any) -> Any:
        return -expm1(power(z, b))

    def _ppf(self, q: Any, b: Any) -> Any:
        return power(log1p(-log1p(-q)), divide(1.0, b))

    def _isf(self, q: Any, b: Any) -> Any:
        return power(log1p(-log(q)), divide(1.0, b))


gengamma = GenGamma("gengamma")
exponpow = ExponPow("exponpow")
chi = Chi("chi")
maxwell = Maxwell("maxwell")
nakagami = Nakagami("nakagami")
fisk = Fisk("fisk")
