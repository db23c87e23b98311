"""Distributions of monotone functions of uniform, normal and other simple variables."""

from __future__ import annotations

import math
from typing import Any

import numpy as np  # noqa: F401  (doctests)

from ...ops.arithmetic import divide, power
from ...ops.exponential import exp, expm1, log, log1p, sqrt, xlogy
from ...ops.gamma import digamma, polygamma
from ...ops.gamma import gamma as gamma_function
from ...ops.logic import equal, greater, less
from ...ops.select import where as choose
from ...ops.special import erf, erfc, erfinv, log_ndtr, ndtr, ndtri
from ...ops.trigonometric import arcsinh, arctan, cosh, sinh, tan
from .continuous import ContinuousDistribution
from .elementary import EULER
from .logs import LOG_2, log1mexpexp, log_sum
from .normal import LOG_2PI


class LogUniform(ContinuousDistribution):
    """The distribution whose logarithm is uniform, 0 < a < b: ``f(z) = 1 / (z log(b / a))`` for
    a <= z <= b.

    Source: SciPy reference, ``scipy.stats.loguniform``.

    >>> float(loguniform.cdf(1.0, 0.01, 100.0))
    0.5
    """

    shapes = ("a", "b")

    def _valid(self, a: Any, b: Any) -> Any:
        return (a > 0) & (b > a)

    def _support(self, *shapes: Any) -> tuple[Any, Any]:
        return shapes[0], shapes[1]

    def _inside(self, *shapes: Any) -> Any:
        return sqrt(shapes[0]) * sqrt(shapes[1])

    def _width(self, a: Any, b: Any) -> Any:
        return log(b) - log(a)

    def _logpdf(self, z: Any, a: Any, b: Any) -> Any:
        return -log(z) - log(self._width(a, b))

    def _cdf(self, z: Any, a: Any, b: Any) -> Any:
        return log(z / a) / self._width(a, b)

    def _sf(self, z: Any, a: Any, b: Any) -> Any:
        return log(b / z) / self._width(a, b)

    def _ppf(self, q: Any, a: Any, b: Any) -> Any:
        return exp(log(a) + q * self._width(a, b))

    def _isf(self, q: Any, a: Any, b: Any) -> Any:
        return exp(log(b) - q * self._width(a, b))

    def _mean(self, a: Any, b: Any) -> Any:
        return (b - a) / self._width(a, b)

    def _var(self, a: Any, b: Any) -> Any:
        mean = self._mean(a, b)
        return mean * (0.5 * (b + a) - mean)

    def _entropy(self, a: Any, b: Any) -> Any:
        return 0.5 * (log(a) + log(b)) + log(self._width(a, b))


class PowerLaw(ContinuousDistribution):
    """The power-function distribution, `a` > 0: ``f(z) = a z**(a - 1)`` for 0 <= z <= 1.

    For a < 1 it is infinite at z = 0, where SciPy has 0.

    Source: SciPy reference, ``scipy.stats.powerlaw``.

    >>> float(powerlaw.cdf(0.5, 2.0))
    0.25
    """

    shapes = ("a",)
    low, high = 0.0, 1.0

    def _powers(self, a: Any) -> tuple[Any, Any]:
        return a, 1.0

    def _logpdf(self, z: Any, a: Any) -> Any:
        return log(a) + xlogy(a - 1.0, z)

    def _edge(self, z: Any, a: Any) -> Any:
        return a * power(z, a - 1.0)

    def _cdf(self, z: Any, a: Any) -> Any:
        return power(z, a)

    def _sf(self, z: Any, a: Any) -> Any:
        least = equal(z, 0.0)
        inner = -expm1(a * log(choose(least, 1.0, z)))
        return choose(least, 1.0 - power(choose(least, z, 1.0), a), inner)

    def _logcdf(self, z: Any, a: Any) -> Any:
        return a * log(z)

    def _ppf(self, q: Any, a: Any) -> Any:
        return power(q, divide(1.0, a))

    def _isf(self, q: Any, a: Any) -> Any:
        return power(1.0 - q, divide(1.0, a))

    def _mean(self, a: Any) -> Any:
        return a / (a + 1.0)

    def _var(self, a: Any) -> Any:
        return a / ((a + 2.0) * (a + 1.0) * (a + 1.0))

    def _entropy(self, a: Any) -> Any:
        return 1.0 - divide(1.0, a) - log(a)


class OfNormal(ContinuousDistribution):
    """Of numbers that an increasing function makes normal: ``a + b * inner(z)``, `b` > 0."""

    shapes = ("a", "b")

    def _valid(self, a: Any, b: Any) -> Any:
        return (b > 0) & (a == a)

    def _inner(self, z: Any) -> Any:
        raise NotImplementedError

    def _outer(self, y: Any) -> Any:
        """The inverse of `_inner`."""
        raise NotImplementedError

    def _cdf(self, z: Any, a: Any, b: Any) -> Any:
        return ndtr(a + b * self._inner(z))

    def _sf(self, z: Any, a: Any, b: Any) -> Any:
        return ndtr(-a - b * self._inner(z))

    def _logcdf(self, z: Any, a: Any, b: Any) -> Any:
        return log_ndtr(a + b * self._inner(z))

    def _logsf(self, z: Any, a: Any, b: Any) -> Any:
        return log_ndtr(-a - b * self._inner(z))

    def _ppf(self, q: Any, a: Any, b: Any) -> Any:
        return self._outer((ndtri(q) - a) / b)

    def _isf(self, q: Any, a: Any, b: Any) -> Any:
        return self._outer((-ndtri(q) - a) / b)


class JohnsonSU(OfNormal):
    """Johnson's unbounded distribution: ``a + b arcsinh(z)`` is normal, `b` > 0.

    Source: SciPy reference, ``scipy.stats.johnsonsu``.

    >>> float(johnsonsu.cdf(0.0, 0.0, 2.0))
    0.5
    """

    def _logpdf(self, z: Any, a: Any, b: Any) -> Any:
        y = a + b * arcsinh(z)
        return log(b) - 0.5 * (log1p(z * z) + y * y + LOG_2PI)

    def _inner(self, z: Any) -> Any:
        return arcsinh(z)

    def _outer(self, y: Any) -> Any:
        return sinh(y)

    def _mean(self, a: Any, b: Any) -> Any:
        return -exp(divide(0.5, b * b)) * sinh(a / b)

    def _var(self, a: Any, b: Any) -> Any:
        w = divide(1.0, b * b)
        return 0.5 * expm1(w) * (exp(w) * cosh(2.0 * a / b) + 1.0)


class GenLogistic(ContinuousDistribution):
    """The logistic distribution's power, `c` > 0: ``cdf(z) = (1 + exp(-z))**-c``.

    Source: SciPy reference, ``scipy.stats.genlogistic``.

    >>> float(genlogistic.cdf(0.0, 2.0))
    0.25
    """

    shapes = ("c",)

    def _log_rest(self, z: Any) -> Any:
        """``log(1 + exp(-z))``."""
        return log_sum(0.0 * z, -z)

    def _logpdf(self, z: Any, c: Any) -> Any:
        return log(c) - z - (c + 1.0) * self._log_rest(z)

    def _cdf(self, z: Any, c: Any) -> Any:
        return exp(-c * self._log_rest(z))

    def _sf(self, z: Any, c: Any) -> Any:
        return -expm1(-c * self._log_rest(z))

    def _logcdf(self, z: Any, c: Any) -> Any:
        return -c * self._log_rest(z)

    def _logsf(self, z: Any, c: Any) -> Any:
        far = greater(z, 40.0)
        near = log(self._log_rest(choose(far, 0.0, z)))
        return log1mexpexp(log(c) + choose(far, -z, near))

    def _place(self, t: Any) -> Any:
        """``-log(expm1(t))``."""
        return -t - log(-expm1(-t))

    def _ppf(self, q: Any, c: Any) -> Any:
        return self._place(-log(q) / c)

    def _isf(self, q: Any, c: Any) -> Any:
        return self._place(-log1p(-q) / c)

    exact_ends = False

    def _mean(self, c: Any) -> Any:
        return EULER + digamma(c)

    def _var(self, c: Any) -> Any:
        return math.pi * math.pi / 6.0 + polygamma(c, n=1)

    def _entropy(self, c: Any) -> Any:
        return digamma(c + 1.0) + EULER + 1.0 - log(c)


class Moyal(ContinuousDistribution):
    """Moyal's distribution: ``f(z) = exp(-(z + exp(-z)) / 2) / sqrt(2 pi)``.

    Source: SciPy reference, ``scipy.stats.moyal``.

    >>> float(moyal.pdf(0.0).round(4))
    0.242
    """

    exact_ends = False

    def _reach(self) -> tuple[Any, Any]:
        return -11.0, math.inf

    def _logpdf(self, z: Any) -> Any:
        return -0.5 * (z + exp(-z) + LOG_2PI)

    def _cdf(self, z: Any) -> Any:
        return erfc(exp(-0.5 * (z + LOG_2)))

    def _sf(self, z: Any) -> Any:
        return erf(exp(-0.5 * (z + LOG_2)))

    def _logcdf(self, z: Any) -> Any:
        high = greater(z, 2.0)
        inside, outside = choose(high, 0.0, z), choose(high, z, 2.0)
        return choose(high, log1p(-self._sf(outside)), LOG_2 + log_ndtr(-exp(-0.5 * inside)))

    def _logsf(self, z: Any) -> Any:
        far = greater(z, 16.0)  # there by the series of log(erf(w) / w)
        square = exp(-choose(far, z, 16.0) - LOG_2)
        first = 0.5 * (LOG_2 - math.log(math.pi) - z) - square * (1 / 3 - square * (2 / 45))
        return choose(far, first, super()._logsf(choose(far, 0.0, z)))

    def _ppf(self, q: Any) -> Any:
        y = ndtri(0.5 * q)
        return -log(y * y)

    def _isf(self, q: Any) -> Any:
        y = erfinv(q)
        return -log(2.0 * y * y)

    def _mean(self) -> Any:
        return LOG_2 + EULER

    def _var(self) -> Any:
        return 0.5 * math.pi * math.pi

    def _entropy(self) -> Any:
        return 0.5 * (LOG_2 + EULER + 1.0 + LOG_2PI)


class InvWeibull(ContinuousDistribution):
    """The inverse Weibull or Fréchet's distribution, `c` > 0: ``cdf(z) = exp(-z**-c)`` for z > 0.

    Source: SciPy reference, ``scipy.stats.invweibull``.

    >>> float(invweibull.logcdf(0.5, 2.0))
    -4.0
    """

    shapes = ("c",)
    low = 0.0
    inside = 1.0
    open = True
    formulas_at_ends = False
    exact_ends = False

    def _reach(self, c: Any) -> tuple[Any, Any]:
        return exp(divide(-10.0, c)), math.inf

    def _logpdf(self, z: Any, c: Any) -> Any:
        return log(c) - (c + 1.0) * log(z) - power(z, -c)

    def _cdf(self, z: Any, c: Any) -> Any:
        return exp(-power(z, -c))

    def _sf(self, z: Any, c: Any) -> Any:
        return -expm1(-power(z, -c))

    def _logcdf(self, z: Any, c: Any) -> Any:
        return -power(z, -c)

    def _logsf(self, z: Any, c: Any) -> Any:
        return log1mexpexp(-c * log(z))

    def _ppf(self, q: Any, c: Any) -> Any:
        return power(-log(q), divide(-1.0, c))

    def _isf(self, q: Any, c: Any) -> Any:
        return power(-log1p(-q), divide(-1.0, c))

    def _moment(self, c: Any, m: float) -> Any:
        known = greater(c, m)
        return choose(known, gamma_function(1.0 - divide(m, choose(known, c, 2.0 * m))), math.inf)

    def _mean(self, c: Any) -> Any:
        return self._moment(c, 1.0)

    def _var(self, c: Any) -> Any:
        mean = self._moment(choose(greater(c, 2.0), c, 3.0), 1.0)
        return self._moment(c, 2.0) - mean * mean

    def _entropy(self, c: Any) -> Any:
        return 1.0 + EULER + divide(EULER, c) - log(c)


class HypSecant(ContinuousDistribution):
    """The hyperbolic secant's distribution: ``f(z) = 1 / (pi cosh(z))``.

    Source: SciPy reference, ``scipy.stats.hypsecant``.

    >>> float(hypsecant.cdf(0.0))
    0.5
    """

    exact_ends = False

    def _logpdf(self, z: Any) -> Any:
        return math.log(2.0 / math.pi) - log_sum(z, -z)

    def _cdf(self, z: Any) -> Any:
        high = greater(z, 0.0)
        y = (2.0 / math.pi) * arctan(exp(choose(high, -z, z)))
        return choose(high, 1.0 - y, y)

    def _sf(self, z: Any) -> Any:
        return self._cdf(-z)

    def _logcdf(self, z: Any) -> Any:
        far, high = less(z, -8.0), greater(z, 0.0)
        w = exp(choose(high, -z, z))  # log(arctan(w) / w) by its series
        first = z + math.log(2.0 / math.pi) - w * w * (1 / 3 - w * w * (13 / 90))
        y = (2.0 / math.pi) * arctan(choose(far, 1.0, w))
        near = choose(high, log1p(-choose(high, y, 0.0)), log(choose(high, 1.0, y)))
        return choose(far, first, near)

    def _logsf(self, z: Any) -> Any:
        return self._logcdf(-z)

    def _ppf(self, q: Any) -> Any:
        return log(tan(0.5 * math.pi * q))

    def _isf(self, q: Any) -> Any:
        return -log(tan(0.5 * math.pi * q))

    def _mean(self) -> Any:
        return 0.0

    def _var(self) -> Any:
        return 0.25 * math.pi * math.pi

    def _entropy(self) -> Any:
        return math.log(2.0 * math.pi)


loguniform = LogUniform("loguniform")
reciprocal = LogUniform("reciprocal")
powerlaw = PowerLaw("powerlaw")
johnsonsu = JohnsonSU("johnsonsu")
genlogistic = GenLogistic("genlogistic")
moyal = Moyal("moyal")
invweibull = InvWeibull("invweibull")
hypsecant = HypSecant("hypsecant")
