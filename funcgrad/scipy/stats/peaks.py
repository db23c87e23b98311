"""Distributions of peaks with a tail: a normal one with a power on the left, and a hyperbolic one."""

from __future__ import annotations

import math
from typing import Any

import numpy as np  # noqa: F401  (doctests)

from ...ops.arithmetic import absolute, divide, hypot
from ...ops.bessel import k1e
from ...ops.exponential import exp, expm1, log, log1p, sqrt
from ...ops.logic import greater, less
from ...ops.select import where as choose
from ...ops.special import log_ndtr, ndtr, ndtri_exp
from .continuous import NORMAL_REACH, ContinuousDistribution
from .logs import log_of
from .normal import LOG_2PI


class CrystalBall(ContinuousDistribution):
    """A normal density down to `-beta`, and below a power that goes on smoothly, `beta` > 0, `m` > 1:
    ``f(z) = n exp(-z**2 / 2)`` for z > -beta, else
    ``n exp(-beta**2 / 2) (1 - beta (z + beta) / m)**-m``.

    Source: SciPy reference, ``scipy.stats.crystalball``.

    >>> float(crystalball.pdf(0.0, 2.0, 3.0).round(4))
    0.392
    """

    shapes = ("beta", "m")
    exact_ends = False

    def _valid(self, beta: Any, m: Any) -> Any:
        return (beta > 0) & (beta < math.inf) & (m > 1) & (m < math.inf)

    def _reach(self, _beta: Any, _m: Any) -> tuple[Any, Any]:
        return -math.inf, NORMAL_REACH

    def _log_parts(self, beta: Any, m: Any) -> tuple[Any, Any]:
        """The logarithms of the weights of the power and of the normal density."""
        power = log(m / beta) - log(m - 1.0) - 0.5 * beta * beta
        whole = log(exp(power) + math.sqrt(2.0 * math.pi) * ndtr(beta))
        return power - whole, -whole

    def _sides(self, z: Any, beta: Any, m: Any) -> tuple[Any, Any, Any]:
        """Whether the power holds, the logarithm of what is taken to it, and z where it does not."""
        low = less(z, -beta)
        return low, log1p(-(beta / m) * (choose(low, z, -beta) + beta)), choose(low, 0.0, z)

    def _logpdf(self, z: Any, beta: Any, m: Any) -> Any:
        low, u, z = self._sides(z, beta, m)
        return self._log_parts(beta, m)[1] + choose(low, -0.5 * beta * beta - m * u, -0.5 * z * z)

    def _cdf(self, z: Any, beta: Any, m: Any) -> Any:
        low, u, z = self._sides(z, beta, m)
        tail, weight = self._log_parts(beta, m)
        inner = 1.0 - exp(weight + 0.5 * LOG_2PI) * ndtr(-z)
        return choose(low, exp(tail + (1.0 - m) * u), inner)

    def _sf(self, z: Any, beta: Any, m: Any) -> Any:
        low, u, z = self._sides(z, beta, m)
        tail, weight = self._log_parts(beta, m)
        inner = exp(weight + 0.5 * LOG_2PI) * ndtr(-z)
        return choose(low, -expm1(tail + (1.0 - m) * u), inner)

    def _logcdf(self, z: Any, beta: Any, m: Any) -> Any:
        low, u, _ = self._sides(z, beta, m)
        tail, _ = self._log_parts(beta, m)
        inner = choose(low, 0.0, z)
        rest = log_of(self._cdf(inner, beta, m), self._sf(inner, beta, m))
        return choose(low, tail + (1.0 - m) * u, rest)

    def _logsf(self, z: Any, beta: Any, m: Any) -> Any:
        low, u, z = self._sides(z, beta, m)
        tail, weight = self._log_parts(beta, m)
        outer = log1p(-exp(choose(low, tail + (1.0 - m) * u, -1.0)))
        return choose(low, outer, weight + 0.5 * LOG_2PI + log_ndtr(-z))

    def _ppf(self, q: Any, beta: Any, m: Any) -> Any:
        return self._place(log(q), log1p(-q), beta, m)

    def _isf(self, q: Any, beta: Any, m: Any) -> Any:
        return self._place(log1p(-q), log(q), beta, m)

    def _place(self, below: Any, above: Any, beta: Any, m: Any) -> Any:
        """By the logarithms of the probabilities below and above."""
        tail, weight = self._log_parts(beta, m)
        low = less(below, tail)
        outer = -beta - (m / beta) * expm1(choose(low, below - tail, 0.0) / (1.0 - m))
        share = choose(low, -1.0, above - weight - 0.5 * LOG_2PI)
        return choose(low, outer, -ndtri_exp(share))

    def _mean(self, beta: Any, m: Any) -> Any:
        known = greater(m, 2.0)
        m = choose(known, m, 3.0)
        tail, weight = self._log_parts(beta, m)
        inner = exp(weight - 0.5 * beta * beta)
        outer = exp(tail) * (beta + m / (beta * (m - 2.0)))
        return choose(known, inner - outer, -math.inf)

    def _var(self, beta: Any, m: Any) -> Any:
        known = greater(m, 3.0)
        m = choose(known, m, 4.0)
        tail, weight = self._log_parts(beta, m)
        over = m / (beta * (m - 2.0))  # the mean of how far below -beta it is, there
        square = beta * beta + 2.0 * beta * over + 2.0 * (m / beta) * over / (m - 3.0)
        inner = exp(weight + 0.5 * LOG_2PI) * ndtr(beta) - beta * exp(weight - 0.5 * beta * beta)
        mean = self._mean(beta, m)
        return choose(known, inner + exp(tail) * square - mean * mean, math.inf)


class NormInvGauss(ContinuousDistribution):
    """A normal variable whose variance is an inverse Gaussian one, ``|b| < a``:
    ``f(z) = a K1(a r) exp(g + b z) / (pi r)`` with ``r**2 = 1 + z**2`` and ``g**2 = a**2 - b**2``.

    Source: Barndorff-Nielsen, "Normal inverse Gaussian distributions and stochastic volatility
    modelling", 1997; SciPy reference, ``scipy.stats.norminvgauss``.

    >>> float(norminvgauss.mean(2.0, 1.0).round(4))
    0.5774
    """

    shapes = ("a", "b")

    def _valid(self, a: Any, b: Any) -> Any:
        return (a > 0) & (a < math.inf) & (absolute(b) < a)

    def _root(self, a: Any, b: Any) -> Any:
        return sqrt(a - b) * sqrt(a + b)

    def _reach(self, a: Any, b: Any) -> tuple[Any, Any]:
        end = divide(800.0, a - absolute(b))
        return -1.0 - end, 1.0 + end

    def _logpdf(self, z: Any, a: Any, b: Any) -> Any:
        r, root = hypot(1.0, z), self._root(a, b)
        along = root + b * z
        far = greater(along, 0.0)  # where a r - along has lost digits
        off = root * z - b
        fall = choose(far, off * (off / (a * r + choose(far, along, 0.0))), a * r - along)
        return log(a * k1e(a * r)) - math.log(math.pi) - fall - log(r)

    def _mean(self, a: Any, b: Any) -> Any:
        return b / self._root(a, b)

    def _var(self, a: Any, b: Any) -> Any:
        root = self._root(a, b)
        return (a / root) * (a / root) / root


crystalball = CrystalBall("crystalball")
norminvgauss = NormInvGauss("norminvgauss")
