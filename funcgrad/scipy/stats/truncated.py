"""The normal distribution between two bounds."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...numpy._arguments import beside
from ...ops.arithmetic import absolute
from ...ops.exponential import exp, log, log1p
from ...ops.logic import greater, less
from ...ops.quadrature import as_column
from ...ops.select import clip, maximum, minimum, stop_gradient
from ...ops.select import where as choose
from ...ops.special import log_ndtr, ndtr, ndtri
from ...ops.structural import sum
from .continuous import ContinuousDistribution
from .logs import log1mexp, log_sum
from .normal import LOG_2PI, log_density

_FAR = 1e10  # stands for an infinite bound: nothing lies beyond it


def log_mass(a: Any, b: Any) -> Any:
    """The logarithm of the probability that a normal variable lies between `a` and `b`, a < b.

    >>> float(log_mass(-1.0, 1.0).round(4))
    -0.3817
    """
    log_rate, width = rate_and_width(a, b, 0.5 * (a + b), b - a)
    return log_rate + log(width)


def rate_and_width(a: Any, b: Any, middle: Any, width: Any) -> tuple[Any, Any]:
    """The logarithm of the probability over a width, and that: of the bounds if they are near, or 1."""
    narrow = less(width * (1.0 + absolute(middle)), 1.0)
    inner = _log_narrow(choose(narrow, middle, 0.0), choose(narrow, width, 0.0))
    outer = _log_wide(choose(narrow, -1.0, a), choose(narrow, 1.0, b))
    return choose(narrow, inner, outer), choose(narrow, width, 1.0)


def _log_narrow(middle: Any, width: Any) -> Any:
    """The logarithm of the mean density, by Gauss and Legendre's rule: nothing cancels."""
    nodes, weights = (beside(width, v * 0.5) for v in np.polynomial.legendre.leggauss(8))
    step = as_column(width) * nodes
    inner = exp(-step * (as_column(middle) + 0.5 * step)) * weights
    return log_density(middle) + log(sum(inner, axis=(inner.ndim - 1,)))


def _log_wide(a: Any, b: Any) -> Any:
    flipped = greater(a, 0.0)
    low, high = choose(flipped, -b, a), choose(flipped, -a, b)
    tail = less(high, 0.0)
    top, bottom = log_ndtr(choose(tail, high, 0.0)), log_ndtr(choose(tail, low, -1.0))
    inner = log1p(-ndtr(choose(tail, -1.0, low)) - ndtr(-choose(tail, 1.0, high)))
    return choose(tail, top + log1mexp(top - bottom), inner)


def ndtri_exp(y: Any) -> Any:
    """``ndtri(exp(y))``, also where ``exp(y)`` underflows.

    >>> float(ndtri_exp(-1e4).round(4))
    -141.3798
    """
    far = less(y, -300.0)
    target = choose(far, y, -300.0)
    size = -2.0 * target - LOG_2PI
    x = stop_gradient(-((size - log(size)) ** 0.5))
    for _ in range(4):  # Newton's method: derivatives up to the fifteenth are right, too
        value = log_ndtr(x)
        x = x - (value - target) * exp(value - log_density(x))
    return choose(far, x, ndtri(exp(choose(far, -1.0, y))))


class TruncNorm(ContinuousDistribution):
    """A normal variable known to lie between `a` and `b`, a < b, in units of scale from loc:
    ``f(z) = phi(z) / (Phi(b) - Phi(a))`` for a <= z <= b; bounds may be infinite.

    Far out in a tail `var` loses digits: it is good to about ``1e-16 a**4``.

    Source: SciPy reference, ``scipy.stats.truncnorm``.

    >>> float(truncnorm.pdf(0.0, -1.0, 1.0).round(4))
    0.5844
    """

    shapes = ("a", "b")
    exact_ends = False

    def _valid(self, a: Any, b: Any) -> Any:
        return a < b

    def _support(self, a: Any, b: Any) -> tuple[Any, Any]:
        return a, b

    def _inside(self, a: Any, b: Any) -> Any:
        middle = clip(0.0, a, b)
        step = minimum(1.0, 0.5 * (b - a))
        return stop_gradient(choose(less(middle + step, b), middle + step, middle - step))

    def _mass(self, a: Any, b: Any) -> Any:
        return log_mass(maximum(a, -_FAR), minimum(b, _FAR))

    def _share(self, low: Any, high: Any, a: Any, b: Any) -> Any:
        """The probability between two numbers, which may be one."""
        low, high = maximum(low, -_FAR), minimum(high, _FAR)
        log_rate, width = rate_and_width(low, high, 0.5 * (low + high), high - low)
        return exp(log_rate - self._mass(a, b)) * width

    def _logpdf(self, z: Any, a: Any, b: Any) -> Any:
        return log_density(z) - self._mass(a, b)

    def _cdf(self, z: Any, a: Any, b: Any) -> Any:
        return self._share(a, z, a, b)

    def _sf(self, z: Any, a: Any, b: Any) -> Any:
        return self._share(z, b, a, b)

    def _logcdf(self, z: Any, a: Any, b: Any) -> Any:
        above = self._sf(z, a, b)
        small = greater(above, 0.5)
        below = self._mass(a, choose(small, z, b)) - self._mass(a, b)
        return choose(small, below, log1p(-choose(small, 0.5, above)))

    def _logsf(self, z: Any, a: Any, b: Any) -> Any:
        return self._logcdf(-z, -b, -a)

    def _ppf(self, q: Any, a: Any, b: Any) -> Any:
        return self._quantile(log(q), log1p(-q), a, b)

    def _isf(self, q: Any, a: Any, b: Any) -> Any:
        return self._quantile(log1p(-q), log(q), a, b)

    def _quantile(self, below: Any, above: Any, a: Any, b: Any) -> Any:
        """By the logarithms of the probabilities below and above, from the side with less."""
        low, high = maximum(a, -_FAR), minimum(b, _FAR)
        whole = self._mass(a, b)
        from_below = log_sum(log_ndtr(low), below + whole)
        from_above = log_sum(log_ndtr(-high), above + whole)
        lower = less(from_below, from_above)
        z = ndtri_exp(choose(lower, from_below, from_above))
        return clip(choose(lower, z, -z), a, b)

    def _mean(self, a: Any, b: Any) -> Any:
        whole = self._mass(a, b)
        low, high = maximum(a, -_FAR), minimum(b, _FAR)
        return exp(log_density(low) - whole) - exp(log_density(high) - whole)

    def _tilt(self, a: Any, b: Any) -> Any:
        """``(a phi(a) - b phi(b)) / mass``."""
        whole = self._mass(a, b)
        low, high = maximum(a, -_FAR), minimum(b, _FAR)
        return low * exp(log_density(low) - whole) - high * exp(log_density(high) - whole)

    def _var(self, a: Any, b: Any) -> Any:
        mean = self._mean(a, b)
        return 1.0 + self._tilt(a, b) - mean * mean

    def _entropy(self, a: Any, b: Any) -> Any:
        return 0.5 * (LOG_2PI + 1.0 + self._tilt(a, b)) + self._mass(a, b)


truncnorm = TruncNorm("truncnorm")
