"""Distributions made of a normal variable and something else."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...numpy._arguments import beside
from ...ops.arithmetic import absolute, divide, hypot, polynomial
from ...ops.bessel import i0e, i1e
from ...ops.exponential import exp, expm1, log, log1p, sqrt
from ...ops.integrals import exp1, owens_t
from ...ops.logic import equal, greater, greater_equal, less
from ...ops.quadrature import as_column, integral_from
from ...ops.select import maximum, minimum, stop_gradient
from ...ops.select import where as choose
from ...ops.special import erfcx, erfcx_fall, log_ndtr, log_ndtr_slope, ndtr
from ...ops.structural import sum
from .continuous import FADED, NORMAL_REACH, ContinuousDistribution
from .logs import LOG_2, log1mexp, log_i0e, log_of, log_sum
from .normal import LOG_2PI, log_density
from .solved import SolvedDistribution

_FADED = 40.0  # beyond a fall by e**-40 an integrand is left out


class SkewNorm(SolvedDistribution):
    """The skew normal distribution, any finite `a`: ``f(z) = 2 phi(z) Phi(a z)`` for the normal
    density phi and probability Phi.

    Source: Azzalini, "A class of distributions which includes the normal ones", 1985; SciPy
    reference, ``scipy.stats.skewnorm``.

    >>> float(skewnorm.cdf(0.0, 1.0).round(4))
    0.25
    """

    shapes = ("a",)

    def _valid(self, a: Any) -> Any:
        return (a > -math.inf) & (a < math.inf)

    def _reach(self, _a: Any) -> tuple[Any, Any]:
        return -NORMAL_REACH, NORMAL_REACH

    def _logpdf(self, z: Any, a: Any) -> Any:
        return LOG_2 + log_density(z) + log_ndtr(a * z)

    def _cdf(self, z: Any, a: Any) -> Any:
        return self._sf(-z, -a)

    def _sf(self, z: Any, a: Any) -> Any:
        upper, lower = self._thin(z, a), self._thin(-z, -a)  # of 1 the slope would be lost as well
        near = choose(upper | lower, 0.0, z)
        inner = ndtr(-near) + 2.0 * owens_t(near, a)
        tail = exp(self._log_tail(choose(upper, z, choose(lower, -z, 1.0)), choose(lower, -a, a)))
        return choose(upper, tail, choose(lower, 1.0 - tail, inner))

    def _logcdf(self, z: Any, a: Any) -> Any:
        return self._logsf(-z, -a)

    def _logsf(self, z: Any, a: Any) -> Any:
        thin = self._thin(z, a)
        near = choose(thin, 0.0, z)
        inner = log_of(self._sf(near, a), self._cdf(near, a))
        return choose(thin, self._log_tail(choose(thin, z, 1.0), a), inner)

    def _thin(self, z: Any, a: Any) -> Any:
        """Where the probability above `z` is a small difference, or may underflow."""
        return greater(z, 0.0) & (less(a, 0.0) | greater(z, 5.0))

    def _log_tail(self, z: Any, a: Any) -> Any:
        """``log(sf(z))`` for z > 0: the integral of the density over where it fades."""
        whole = self._logpdf(z, a)
        over = equal(whole, -math.inf)
        z, peak = choose(over, 1.0, z), choose(over, 0.0, whole)
        slope = stop_gradient(
            z - a * log_ndtr_slope(a * z)
        )  # the logarithm falls faster than slope s + s**2 / 2
        root = sqrt(slope * slope + 2.0 * _FADED)
        width = choose(greater(slope, 0.0), divide(2.0 * _FADED, slope + root), root - slope)

        def falls(s: Any) -> Any:
            return exp(self._logpdf(as_column(z) + s, as_column(a)) - as_column(peak))

        return whole + choose(over, 0.0, log(integral_from(z * 0.0, width, falls)))

    def _mean(self, a: Any) -> Any:
        return math.sqrt(2.0 / math.pi) * a / sqrt(1.0 + a * a)

    def _var(self, a: Any) -> Any:
        mean = self._mean(a)
        return 1.0 - mean * mean


def log_difference(x: Any, width: Any) -> Any:
    """``log(ndtr(-x) - exp((y**2 - x**2) / 2) ndtr(-y))`` for x >= 0 and ``y = x + width``.

    >>> float(log_difference(1e9, 1e9)), float(log_difference(1e9, 1e-9))
    (-5e+17, -5e+17)
    """
    r = math.sqrt(0.5)
    x, width = x * r, width * r
    narrow = less(width, 0.5 * (1.0 + x))  # where the difference has lost digits
    step, start = choose(narrow, width, 0.5), choose(narrow, minimum(x, 1e15), 0.0)
    nodes, weights = (beside(step, v * 0.5) for v in np.polynomial.legendre.leggauss(8))
    falls = erfcx_fall(as_column(start) + as_column(step) * (nodes + 0.5)) * weights
    inner = log(step) + log(sum(falls, axis=(falls.ndim - 1,)))
    y, z = choose(narrow, 0.0, x), choose(narrow, 1.0, x + width)
    return choose(narrow, inner, log(erfcx(y) - erfcx(z))) - LOG_2 - x * x


# of t times Mills' ratio at t, less 1, in powers of 1 / t**2 from the first on
_MILLS = [(-1.0) ** k * math.prod(range(1, 2 * k, 2)) for k in range(1, 12)]


class ExponNorm(SolvedDistribution):
    """A normal variable plus `K` > 0 times an exponential one:
    ``f(z) = exp(1 / (2 K**2) - z / K) Phi(z - 1 / K) / K``.

    Source: SciPy reference, ``scipy.stats.exponnorm``.

    >>> float(exponnorm.mean(2.0))
    2.0
    """

    shapes = ("K",)

    def _logpdf(self, z: Any, k: Any) -> Any:
        t = stop_gradient(divide(1.0, k) - z)
        # for large t the density is the normal one over 1 - k z, but for a series in 1 / t**2
        far, high = greater(t, 15.0), less(t, 0.0)
        near_z, near_k = choose(far, 0.0, z), choose(far, 1.0, k)
        r = divide(1.0, near_k)
        above = r * (0.5 * r - near_z) + log_ndtr(near_z - r)
        inner = (
            log(erfcx(choose(high, 1.0, r - near_z) * math.sqrt(0.5)))
            - LOG_2
            - 0.5 * near_z * near_z
        )
        outer_z, outer_k = choose(far, z, 0.0), choose(far, k, 0.01)
        rest = 1.0 - outer_k * outer_z
        u = outer_k * outer_k / (rest * rest)
        outer = log_density(outer_z) - log(rest) + log1p(u * polynomial(u, _MILLS))
        return choose(far, outer, choose(high, above, inner) - log(near_k))

    def _log_rest(self, z: Any, k: Any) -> Any:
        """The logarithm of what `sf` has beyond that of the normal variable."""
        return self._logpdf(z, k) + log(k)

    def _cdf(self, z: Any, k: Any) -> Any:
        return ndtr(z) - exp(self._log_rest(z, k))

    def _sf(self, z: Any, k: Any) -> Any:
        return ndtr(-z) + exp(self._log_rest(z, k))

    def _logcdf(self, z: Any, k: Any) -> Any:
        low = less(z, 0.0)
        near = choose(low, 0.0, z)
        far = choose(low, z, 0.0)
        tail = log_difference(-far, divide(1.0, k))
        return choose(low, tail, log_of(self._cdf(near, k), self._sf(near, k)))

    def _logsf(self, z: Any, k: Any) -> Any:
        low = less(z, 0.0)
        near, far = choose(low, z, 0.0), choose(low, 0.0, z)
        inner = log_of(self._sf(near, k), self._cdf(near, k))
        return choose(low, inner, log_sum(log_ndtr(-far), self._log_rest(far, k)))

    def _mean(self, k: Any) -> Any:
        return k

    def _var(self, k: Any) -> Any:
        return 1.0 + k * k


class InvGauss(SolvedDistribution):
    """The inverse Gaussian distribution, `mu` > 0:
    ``f(z) = exp(-(z - mu)**2 / (2 z mu**2)) / sqrt(2 pi z**3)`` for z > 0.

    Source: SciPy reference, ``scipy.stats.invgauss``.

    >>> float(invgauss.pdf(1.0, 1.0).round(4))
    0.3989
    """

    shapes = ("mu",)
    low = 0.0
    inside = 1.0
    open = True

    def _reach(self, mu: Any) -> tuple[Any, Any]:
        return minimum(0.5 * mu, 0.25 / FADED), maximum(2.0 * mu, FADED * mu * mu)

    def _logpdf(self, z: Any, mu: Any) -> Any:
        off = (z - mu) / mu
        return -0.5 * LOG_2PI - 1.5 * log(z) - off * off / (2.0 * z)

    def _places(self, z: Any, mu: Any) -> tuple[Any, Any]:
        """``(z - mu) / (mu sqrt(z))`` and ``(z + mu) / (mu sqrt(z))``; far away at z = 0."""
        root = sqrt(choose(equal(z, 0.0), 1e-30, z))
        return root / mu - divide(1.0, root), root / mu + divide(1.0, root)

    def _cdf(self, z: Any, mu: Any) -> Any:
        return exp(self._logcdf(z, mu))

    def _sf(self, z: Any, mu: Any) -> Any:
        near, far = self._places(z, mu)
        return ndtr(-near) - exp(divide(2.0, mu) + log_ndtr(-far))

    def _logcdf(self, z: Any, mu: Any) -> Any:
        near, far = self._places(z, mu)
        below = log_sum(log_ndtr(near), divide(2.0, mu) + log_ndtr(-far))
        low = less(below, -LOG_2)
        rest = exp(self._logsf_above(choose(low, mu, z), mu))
        return choose(low, below, log_of(1.0 - rest, rest))

    def _logsf(self, z: Any, mu: Any) -> Any:
        high = greater(z, mu)
        near, far = self._places(choose(high, mu, z), mu)
        rest = exp(log_sum(log_ndtr(near), divide(2.0, mu) + log_ndtr(-far)))
        return choose(high, self._logsf_above(choose(high, z, mu), mu), log_of(1.0 - rest, rest))

    def _logsf_above(self, z: Any, mu: Any) -> Any:
        """For z >= mu."""
        return log_difference(self._places(z, mu)[0], 2.0 / sqrt(z))

    def _mean(self, mu: Any) -> Any:
        return mu

    def _var(self, mu: Any) -> Any:
        return mu * mu * mu

    def _entropy(self, mu: Any) -> Any:
        whole = 0.5 * (1.0 + LOG_2PI) + 1.5 * log(mu)
        return whole - 1.5 * scaled_exp1(divide(2.0, mu))


class RecipInvGauss(ContinuousDistribution):
    """One over an inverse Gaussian variable, `mu` > 0:
    ``f(z) = exp(-(1 - mu z)**2 / (2 z mu**2)) / sqrt(2 pi z)`` for z > 0.

    Source: SciPy reference, ``scipy.stats.recipinvgauss``.

    >>> float(recipinvgauss.mean(2.0))
    1.5
    """

    shapes = ("mu",)
    low = 0.0
    inside = 1.0
    open = True
    formulas_at_ends = False
    exact_ends = False

    def _reach(self, mu: Any) -> tuple[Any, Any]:
        low, high = invgauss._reach(mu)
        return divide(1.0, high), divide(1.0, low)

    def _logpdf(self, z: Any, mu: Any) -> Any:
        return invgauss._logpdf(divide(1.0, z), mu) - 2.0 * log(z)

    def _cdf(self, z: Any, mu: Any) -> Any:
        return invgauss._sf(divide(1.0, z), mu)

    def _sf(self, z: Any, mu: Any) -> Any:
        return invgauss._cdf(divide(1.0, z), mu)

    def _logcdf(self, z: Any, mu: Any) -> Any:
        return invgauss._logsf(divide(1.0, z), mu)

    def _logsf(self, z: Any, mu: Any) -> Any:
        return invgauss._logcdf(divide(1.0, z), mu)

    def _ppf(self, q: Any, mu: Any) -> Any:
        return divide(1.0, invgauss._isf(q, mu))

    def _isf(self, q: Any, mu: Any) -> Any:
        return divide(1.0, invgauss._ppf(q, mu))

    def _mean(self, mu: Any) -> Any:
        return 1.0 + divide(1.0, mu)

    def _var(self, mu: Any) -> Any:
        return 2.0 + divide(1.0, mu)


# of the mean of Rice's distribution over b, in powers of 2 / b**2, and of b**2 times its square less 1
_RICE_MEAN = [math.prod((j - 0.5) ** 2 / (j + 1.0) for j in range(k)) for k in range(22)]
_RICE_SQUARE = [2.0 * c for c in np.convolve(_RICE_MEAN, _RICE_MEAN)[1:22].tolist()]


class Rice(SolvedDistribution):
    """The length of a vector of two normal variables, one of mean `b` >= 0:
    ``f(z) = z exp(-(z**2 + b**2) / 2) I0(b z)`` for z >= 0.

    Source: SciPy reference, ``scipy.stats.rice``.

    >>> float(rice.pdf(1.0, 0.0).round(4))
    0.6065
    """

    shapes = ("b",)
    low = 0.0
    formulas_at_ends = False

    def _valid(self, b: Any) -> Any:
        return (b >= 0) & (b < math.inf)

    def _reach(self, b: Any) -> tuple[Any, Any]:
        return -math.inf, b + NORMAL_REACH

    def _logpdf(self, z: Any, b: Any) -> Any:
        off = z - b
        return log(z) - 0.5 * off * off + log_i0e(b * z)

    def _pdf(self, z: Any, b: Any) -> Any:
        off = z - b
        return z * exp(log_i0e(b * z) - 0.5 * off * off)

    def _side(self, z: Any, b: Any) -> tuple[Any, Any]:
        """Whether `z` is above the mode, and the logarithm of the probability on that side of it: the
        integral of the density over where it fades.
        """
        whole = self._logpdf(z, b)
        over = equal(whole, -math.inf) & greater(z, 1.0)  # the square has overflown
        z, peak = choose(over, b + 1.0, z), choose(over, 0.0, whole)
        slope = stop_gradient(z - divide(1.0, z) - b * i1e(b * z) / i0e(b * z))
        above, steep = greater_equal(slope, 0.0), absolute(slope)
        # the logarithm falls faster than steep s + s**2 / 2
        width = divide(2.0 * _FADED, steep + hypot(steep, math.sqrt(2.0 * _FADED)))
        width = choose(above, width, -minimum(width, z))

        # over shares of z, which are constant: an end at 0 stays there when z moves
        def falls(share: Any) -> Any:
            return exp(self._logpdf(as_column(z) * (1.0 + share), as_column(b)) - as_column(peak))

        rest = choose(over, 0.0, log(z * integral_from(z * 0.0, width / z, falls)))
        return above | over, whole + rest

    def _cdf(self, z: Any, b: Any) -> Any:
        above, side = self._side(z, b)
        return choose(above, -expm1(side), exp(side))

    def _sf(self, z: Any, b: Any) -> Any:
        above, side = self._side(z, b)
        return choose(above, exp(side), -expm1(side))

    def _logcdf(self, z: Any, b: Any) -> Any:
        above, side = self._side(z, b)
        return choose(above, log1mexp(-choose(above, side, -1.0)), side)

    def _logsf(self, z: Any, b: Any) -> Any:
        above, side = self._side(z, b)
        return choose(above, side, log1mexp(-choose(above, -1.0, side)))

    def _mean(self, b: Any) -> Any:
        x = 0.25 * b * b
        return math.sqrt(0.5 * math.pi) * ((1.0 + 2.0 * x) * exp(log_i0e(x)) + 2.0 * x * i1e(x))

    def _var(self, b: Any) -> Any:
        far = greater(b, 12.0)
        near, end = choose(far, 0.0, b), choose(far, b, 12.0)
        mean, r = self._mean(near), divide(2.0, end)
        outer = 2.0 - polynomial(0.5 * r * r, _RICE_SQUARE)
        return choose(far, outer, 2.0 + near * near - mean * mean)


def scaled_exp1(x: Any) -> Any:
    """``exp(x) E1(x)``: Euler's asymptotic series beyond x = 50.

    >>> float(scaled_exp1(np.array(1e3)).round(7))
    0.000999
    """
    far = greater(x, 50.0)
    near, r = choose(far, 1.0, x), divide(1.0, choose(far, x, 50.0))
    total: Any = 1.0
    for n in range(20, 0, -1):
        total = 1.0 - total * r * float(n)
    return choose(far, r * total, exp(near) * exp1(near))


skewnorm = SkewNorm("skewnorm")
exponnorm = ExponNorm("exponnorm")
invgauss = InvGauss("invgauss")
recipinvgauss = RecipInvGauss("recipinvgauss")
rice = Rice("rice")
