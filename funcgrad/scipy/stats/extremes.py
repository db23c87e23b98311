"""Distributions of extremes and of what lies beyond a threshold.

NOTE [Shapes near 0] Some families have the shape c in ``log(1 + c z) / c`` or ``(e**(c y) - 1) / c``,
which is smooth at c = 0, where its formula is 0 / 0.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np  # noqa: F401  (doctests)

from ...ops.arithmetic import absolute, divide, polynomial, power
from ...ops.exponential import exp, expm1, log, log1p, xlog1py
from ...ops.gamma import gammaln
from ...ops.hypergeometric import exprel
from ...ops.logic import greater, less
from ...ops.select import stop_gradient
from ...ops.select import where as choose
from .continuous import FADED, ContinuousDistribution
from .elementary import EULER, gumbel_r, weibull_min
from .logs import log1mexp
from .scaled import MirroredDistribution
from .skewed import scaled_exp1

_LOG = [(-1.0) ** k / (k + 1) for k in range(20)]  # of log(1 + u) / u
# Riemann's zeta function at 2, 3, ...; from 12 on a few terms are all
_ZETA = [
    1.6449340668482264,
    1.2020569031595942,
    1.0823232337111381,
    1.03692775514337,
    1.0173430619844492,
    1.008349277381923,
    1.0040773561979444,
    1.0020083928260821,
    1.000994575127818,
    1.0004941886041194,
]
_ZETA += [1.0 + 2.0**-k + 3.0**-k + 4.0**-k + 5.0**-k for k in range(12, 28)]
_LOG_GAMMA = [
    (-1.0) ** k * z / k for k, z in enumerate(_ZETA, 2)
]  # of log(gamma(1 + c)), from c**2 on
_DOUBLED = [
    v * (2.0**k - 2.0) for k, v in enumerate(_LOG_GAMMA, 2)
]  # of that at 2c less twice that


def log1p_over(c: Any, z: Any) -> Any:
    """``log(1 + c z) / c``, which is `z` for c = 0.

    >>> [round(float(log1p_over(c, 1.0)), 4) for c in (0.0, 1.0)]
    [1.0, 0.6931]
    """
    u = c * z
    near = less(absolute(u), 0.1)
    far = log1p(choose(near, 0.0, u)) / choose(near, 1.0, c)
    return choose(near, z * polynomial(choose(near, u, 0.0), _LOG), far)


def expm1_over(c: Any, y: Any) -> Any:
    """``(e**(c y) - 1) / c``, which is `y` for c = 0.

    >>> [round(float(expm1_over(c, 1.0)), 4) for c in (0.0, 1.0)]
    [1.0, 1.7183]
    """
    u = c * y
    near = less(absolute(u), 0.1)
    far = expm1(choose(near, 0.0, u)) / choose(near, 1.0, c)  # its slope is e**u, however small
    return choose(near, y * exprel(choose(near, u, 0.0)), far)


class _AnyShape(ContinuousDistribution):
    """A family of any finite shape `c`."""

    shapes = ("c",)
    exact_ends = False

    def _valid(self, c: Any) -> Any:
        return (c > -math.inf) & (c < math.inf)


class GenPareto(_AnyShape):
    """The generalised Pareto distribution, any finite `c`: ``f(z) = (1 + c z)**(-1 - 1 / c)`` for
    z >= 0, and z <= -1 / c for c < 0; ``exp(-z)`` for c = 0.

    Source: Coles, "An Introduction to Statistical Modeling of Extreme Values", 2001, chapter 4; SciPy
    reference, ``scipy.stats.genpareto``.

    >>> genpareto.logsf(np.array(2.0), np.array([-0.5, 0.0])).tolist()
    [-inf, -2.0]
    """

    def _inside(self, c: Any) -> Any:
        return stop_gradient(divide(0.5, 1.0 + absolute(c)))

    def _support(self, c: Any) -> tuple[Any, Any]:
        ends = less(c, 0.0)
        return 0.0, choose(ends, divide(-1.0, choose(ends, c, -1.0)), math.inf)

    def _logpdf(self, z: Any, c: Any) -> Any:
        near = greater(c * z, -0.5)
        inner = -(c + 1.0) * log1p_over(choose(near, c, 1.0), choose(near, z, 0.0))
        shape = choose(near, -1.0, c)  # in the other half log(1 + c z) may be infinite
        return choose(near, inner, -xlog1py(1.0 + divide(1.0, shape), shape * choose(near, 0.0, z)))

    def _pdf(self, z: Any, c: Any) -> Any:
        return self._power(z, c, 1.0 + c)

    def _sf(self, z: Any, c: Any) -> Any:
        return self._power(z, c, 1.0)

    def _power(self, z: Any, c: Any, m: Any) -> Any:
        """``(1 + c z)**(-m / c)``, beyond the middle of a support with two ends as a power."""
        near = greater(c * z, -0.5)
        shape = choose(near, -1.0, c)
        far = power(1.0 + shape * choose(near, 0.0, z), divide(-m, shape))
        return choose(near, exp(-m * log1p_over(choose(near, c, 1.0), choose(near, z, 0.0))), far)

    def _cdf(self, z: Any, c: Any) -> Any:
        near = greater(c * z, -0.5)
        inner = -expm1(-log1p_over(choose(near, c, 1.0), choose(near, z, 0.0)))
        return choose(near, inner, 1.0 - self._sf(choose(near, 0.5, z), choose(near, -1.0, c)))

    def _logsf(self, z: Any, c: Any) -> Any:
        return -log1p_over(c, z)

    def _ppf(self, q: Any, c: Any) -> Any:
        return expm1_over(c, -log1p(-q))

    def _isf(self, q: Any, c: Any) -> Any:
        return expm1_over(c, -log(q))

    def _mean(self, c: Any) -> Any:
        known = less(c, 1.0)
        return choose(known, divide(1.0, 1.0 - choose(known, c, 0.0)), math.inf)

    def _var(self, c: Any) -> Any:
        known = less(c, 0.5)
        c = choose(known, c, 0.0)
        return choose(known, divide(1.0, (1.0 - c) * (1.0 - c) * (1.0 - 2.0 * c)), math.inf)

    def _entropy(self, c: Any) -> Any:
        return 1.0 + c


class GenExtreme(_AnyShape):
    """The generalised extreme value distribution, any finite `c`:
    ``F(z) = exp(-(1 - c z)**(1 / c))`` for c z < 1, which is Gumbel's for c = 0.

    At the end of the support, 1 / c, the density counts as 0. Others call -c the shape.

    Source: Coles, "An Introduction to Statistical Modeling of Extreme Values", 2001, chapter 3; SciPy
    reference, ``scipy.stats.genextreme``.

    >>> genextreme.logcdf(np.array(0.0), np.array([-0.5, 0.0])).tolist()
    [-1.0, -1.0]
    """

    inside = 0.0
    open = True
    formulas_at_ends = False

    def _support(self, c: Any) -> tuple[Any, Any]:
        low, high = less(c, 0.0), greater(c, 0.0)
        end = divide(1.0, choose(low | high, c, 1.0))
        return choose(low, end, -math.inf), choose(high, end, math.inf)

    def _reduced(self, z: Any, c: Any) -> Any:
        """The variable of Gumbel's distribution at `z`."""
        return log1p_over(-c, z)

    def _reach(self, c: Any) -> tuple[Any, Any]:
        return expm1_over(-c, -10.0), math.inf

    def _logpdf(self, z: Any, c: Any) -> Any:
        y = self._reduced(z, c)
        return gumbel_r._logpdf(y) + c * y

    def _cdf(self, z: Any, c: Any) -> Any:
        return gumbel_r._cdf(self._reduced(z, c))

    def _sf(self, z: Any, c: Any) -> Any:
        return gumbel_r._sf(self._reduced(z, c))

    def _logcdf(self, z: Any, c: Any) -> Any:
        return gumbel_r._logcdf(self._reduced(z, c))

    def _logsf(self, z: Any, c: Any) -> Any:
        return gumbel_r._logsf(self._reduced(z, c))

    def _ppf(self, q: Any, c: Any) -> Any:
        return expm1_over(-c, gumbel_r._ppf(q))

    def _isf(self, q: Any, c: Any) -> Any:
        return expm1_over(-c, gumbel_r._isf(q))

    def _mean(self, c: Any) -> Any:
        known = greater(c, -1.0)
        c = choose(known, c, 0.0)
        near = less(absolute(c), 0.1)
        far, small = choose(near, 1.0, c), choose(near, c, 0.0)
        slope = polynomial(small, [-EULER, *_LOG_GAMMA])  # log(gamma(1 + c)) / c
        inner = -expm1_over(small, slope)
        return choose(known, choose(near, inner, -expm1(gammaln(1.0 + far)) / far), math.inf)

    def _var(self, c: Any) -> Any:
        known = greater(c, -0.5)
        c = choose(known, c, 0.0)
        near = less(absolute(c), 0.1)
        far, small = choose(near, 1.0, c), choose(near, c, 0.0)
        first = gammaln(1.0 + far)
        outer = (exp(gammaln(1.0 + 2.0 * far)) - exp(2.0 * first)) / (far * far)
        inner = exp(2.0 * small * polynomial(small, [-EULER, *_LOG_GAMMA]))
        inner = inner * expm1_over(small * small, polynomial(small, _DOUBLED))
        return choose(known, choose(near, inner, outer), math.inf)

    def _entropy(self, c: Any) -> Any:
        return EULER * (1.0 - c) + 1.0


class Lomax(ContinuousDistribution):
    """Lomax's distribution, `c` > 0: ``f(z) = c / (1 + z)**(c + 1)`` for z >= 0, Pareto's less 1.

    Source: SciPy reference, ``scipy.stats.lomax``.

    >>> float(lomax.pdf(0.0, 3.0))
    3.0
    """

    shapes = ("c",)
    low = 0.0

    def _logpdf(self, z: Any, c: Any) -> Any:
        return log(c) - (c + 1.0) * log1p(z)

    def _cdf(self, z: Any, c: Any) -> Any:
        return -expm1(-c * log1p(z))

    def _sf(self, z: Any, c: Any) -> Any:
        return exp(-c * log1p(z))

    def _logcdf(self, z: Any, c: Any) -> Any:
        return log1mexp(c * log1p(z))

    def _logsf(self, z: Any, c: Any) -> Any:
        return -c * log1p(z)

    def _ppf(self, q: Any, c: Any) -> Any:
        return expm1(-log1p(-q) / c)

    def _isf(self, q: Any, c: Any) -> Any:
        return expm1(-log(q) / c)

    def _mean(self, c: Any) -> Any:
        known = greater(c, 1.0)
        return choose(known, divide(1.0, choose(known, c, 2.0) - 1.0), math.inf)

    def _var(self, c: Any) -> Any:
        known = greater(c, 2.0)
        c = choose(known, c, 3.0)
        return choose(known, c / ((c - 2.0) * (c - 1.0) * (c - 1.0)), math.inf)

    def _entropy(self, c: Any) -> Any:
        return 1.0 + divide(1.0, c) - log(c)


class WeibullMax(MirroredDistribution):
    """Minus Weibull's variable, `c` > 0: ``f(z) = c (-z)**(c - 1) exp(-(-z)**c)`` for z <= 0.

    Source: SciPy reference, ``scipy.stats.weibull_max``.

    >>> float(weibull_max.logcdf(-2.0, 3.0))
    -8.0
    """

    shapes = ("c",)
    high = 0.0
    inside = -1.0

    def _edge(self, z: Any, c: Any) -> Any:
        return weibull_min._edge(-z, c)


class Gompertz(ContinuousDistribution):
    """Gompertz's distribution, `c` > 0: ``f(z) = c exp(z - c (exp(z) - 1))`` for z >= 0.

    Source: SciPy reference, ``scipy.stats.gompertz``.

    >>> float(gompertz.pdf(0.0, 3.0))
    3.0
    """

    shapes = ("c",)
    low = 0.0

    def _reach(self, c: Any) -> tuple[Any, Any]:
        return -math.inf, log1p(divide(FADED, c))

    def _logpdf(self, z: Any, c: Any) -> Any:
        return log(c) + z - c * expm1(z)

    def _cdf(self, z: Any, c: Any) -> Any:
        return -expm1(-c * expm1(z))

    def _sf(self, z: Any, c: Any) -> Any:
        return exp(-c * expm1(z))

    def _logcdf(self, z: Any, c: Any) -> Any:
        return log1mexp(c * expm1(z))

    def _logsf(self, z: Any, c: Any) -> Any:
        return -c * expm1(z)

    def _ppf(self, q: Any, c: Any) -> Any:
        return log1p(-log1p(-q) / c)

    def _isf(self, q: Any, c: Any) -> Any:
        return log1p(-log(q) / c)

    def _mean(self, c: Any) -> Any:
        return scaled_exp1(c)

    def _entropy(self, c: Any) -> Any:
        return 1.0 - log(c) - scaled_exp1(c)


genpareto = GenPareto("genpareto")
genextreme = GenExtreme("genextreme")
lomax = Lomax("lomax")
weibull_max = WeibullMax("weibull_max", weibull_min)
gompertz = Gompertz("gompertz")
