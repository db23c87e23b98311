"""Distributions of angles."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...ops.arithmetic import divide
from ...ops.bessel import i1e
from ...ops.exponential import exp, log, log1p, sqrt
from ...ops.inverses import cosm1
from ...ops.logic import greater, less
from ...ops.quadrature import as_column, integral_between
from ...ops.rounding import rint
from ...ops.select import maximum, minimum, stop_gradient
from ...ops.select import where as choose
from ...ops.trigonometric import arctan2, cos, sin
from .continuous import ContinuousDistribution
from .logs import log_i0e
from .normal import LOG_2PI
from .solved import SolvedDistribution


class VonMises(SolvedDistribution):
    """Von Mises' distribution of an angle, `kappa` >= 0:
    ``f(z) = exp(kappa cos(z)) / (2 pi I0(kappa))``, for any z as it repeats itself.

    Source: SciPy reference, ``scipy.stats.vonmises``.

    >>> float(vonmises.pdf(0.0, 0.0).round(4)), float(vonmises.cdf(1.0, 2.0).round(4))
    (0.1592, 0.8896)
    """

    shapes = ("kappa",)

    def _valid(self, kappa: Any) -> Any:
        return kappa >= 0

    def _logpdf(self, z: Any, kappa: Any) -> Any:
        return kappa * cosm1(z) - log_i0e(kappa) - LOG_2PI

    def _cdf(self, z: Any, kappa: Any) -> Any:
        """Every whole turn adds 1, as in SciPy."""
        return self._sf(-z, kappa)

    def _sf(self, z: Any, kappa: Any) -> Any:
        turns = rint(z * (0.5 / math.pi))
        z = z - turns * (2.0 * math.pi)
        below = less(z, 0.0)  # not `absolute`, whose slope at 0 is 0
        side = self._beyond(choose(below, -z, z), kappa, 0.0 * z)
        return choose(below, 1.0 - side, side) - turns

    def _logcdf(self, z: Any, kappa: Any) -> Any:
        return self._logsf(-z, kappa)

    def _logsf(self, z: Any, kappa: Any) -> Any:
        """Between 1/2 and pi also where the probability underflows."""
        far = greater(z, 0.5) & less(z, math.pi)
        place = choose(far, z, 1.0)
        height = self._logpdf(place, kappa)
        tail = height + log(self._beyond(place, kappa, height))
        return choose(far, tail, super()._logsf(choose(far, 0.0, z), kappa))

    def _beyond(self, z: Any, kappa: Any, log_scale: Any) -> Any:
        """The probability between `z`, which is in 0..pi, and pi; over ``e**log_scale``."""
        # The exponent falls by kappa (cos(z) - cos(t)), which is 2 / pi**2 (t**2 - z**2) at least where
        # t + z < pi, and 2 / pi (t - z) times the lesser sine of z and of (z + pi) / 2.
        reach = divide(20.0, maximum(kappa, 1e-9))
        square = math.pi**2 * reach
        near = square / (z + sqrt(z * z + square))
        near = choose(less(near + 2.0 * z, math.pi), near, math.pi)
        steep = minimum(sin(z), cos(0.5 * z))
        far = divide(math.pi * reach, maximum(steep, 1e-9))
        width = stop_gradient(minimum(near, far))
        end = choose(less(width, math.pi - z), z + width, math.pi)
        return integral_between(
            z, end, lambda t: exp(self._logpdf(t, as_column(kappa)) - as_column(log_scale))
        )

    def _least(self, *_shapes: Any) -> Any:
        return -math.pi

    def _quantile(self, upper: bool, q: Any, *shapes: Any) -> Any:
        """Within half a turn of 0, whose both sides are alike."""
        q, *rest = np.broadcast_arrays(q, *shapes)
        tail = np.minimum(q, 1.0 - q)
        z = self._near(False, tail, *rest)
        # below what the number next to the end has, the end is the nearest
        next_to = self._cdf(np.full(q.shape, math.nextafter(-math.pi, 0.0)), *rest)
        z = np.where(tail <= next_to, -math.pi, z)
        return np.where((q > 0.5) != upper, -z, z)

    def _mean(self, kappa: Any) -> Any:
        return 0.0

    def _entropy(self, kappa: Any) -> Any:
        scaled = log_i0e(kappa)
        return kappa * (1.0 - i1e(kappa) / exp(scaled)) + scaled + LOG_2PI


class WrapCauchy(ContinuousDistribution):
    """A Cauchy variable taken as an angle, 0 < `c` < 1:
    ``f(z) = (1 - c**2) / (2 pi (1 + c**2 - 2 c cos(z)))`` for 0 <= z <= 2 pi.

    Source: SciPy reference, ``scipy.stats.wrapcauchy``.

    >>> float(wrapcauchy.cdf(math.pi, 0.5))
    0.5
    """

    shapes = ("c",)
    low, high = 0.0, 2.0 * math.pi

    def _valid(self, c: Any) -> Any:
        return (c > 0) & (c < 1)

    def _logpdf(self, z: Any, c: Any) -> Any:
        gap = 1.0 - c
        return log1p(c) + log(gap) - log(gap * gap - 2.0 * c * cosm1(z)) - LOG_2PI

    def _cdf(self, z: Any, c: Any) -> Any:
        half = 0.5 * z
        return arctan2((1.0 + c) * sin(half), (1.0 - c) * cos(half)) * (1.0 / math.pi)

    def _sf(self, z: Any, c: Any) -> Any:
        return self._cdf(2.0 * math.pi - z, c)

    def _ppf(self, q: Any, c: Any) -> Any:
        turn = math.pi * q
        return 2.0 * arctan2((1.0 - c) * sin(turn), (1.0 + c) * cos(turn))

    def _mean(self, c: Any) -> Any:
        return math.pi

    def _entropy(self, c: Any) -> Any:
        return LOG_2PI + log(1.0 - c) + log1p(c)


vonmises = VonMises("vonmises")
wrapcauchy = WrapCauchy("wrapcauchy")
