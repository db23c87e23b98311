"""Pearson's distribution of the third kind, which is a gamma variable's with mean 0 and variance 1.

NOTE [Nearly normal] For a small skewness the gamma variable has a large shape, and everything is a
small difference of large numbers; for none it is a normal variable. So densities are written in
``w = skew z / 2``, in which they are smooth, and probabilities are integrals of them.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np  # noqa: F401  (doctests)

from ...ops.arithmetic import absolute, divide, polynomial
from ...ops.exponential import exp, log, log1p, sqrt
from ...ops.gamma import log_peak
from ...ops.logic import equal, greater, less, less_equal
from ...ops.quadrature import as_column, integral_from
from ...ops.select import maximum, minimum, stop_gradient
from ...ops.select import where as choose
from .gammas import gamma
from .logs import LOG_2, log1mexp
from .normal import LOG_2PI
from .solved import SolvedDistribution

_FADED = 40.0  # beyond a fall by e**-40 a density is left out
_PLAIN = 1.0  # from this skewness on it is the gamma variable's formulas
# of (w - log(1 + w)) / w**2, in powers of w
_FALL = [(-1.0) ** k / (k + 2.0) for k in range(24)]


class Pearson3(SolvedDistribution):
    """Pearson's distribution of the third kind, any finite `skew`: that of ``(y - a) / sqrt(a)`` for a
    gamma variable y of the shape ``a = 4 / skew**2``, with the sign of `skew`; normal for 0.

    Source: SciPy reference, ``scipy.stats.pearson3``.

    >>> float(pearson3.pdf(0.0, 0.0).round(4)), float(pearson3.pdf(0.0, 2.0).round(4))
    (0.3989, 0.3679)
    """

    shapes = ("skew",)
    inside = 0.0

    def _valid(self, skew: Any) -> Any:
        return (skew > -math.inf) & (skew < math.inf)

    def _support(self, skew: Any) -> tuple[Any, Any]:
        none = equal(skew, 0.0)
        end = divide(-2.0, choose(none, 1.0, skew))
        low = choose(greater(skew, 0.0), end, -math.inf)
        return low, choose(less(skew, 0.0), end, math.inf)

    def _reach(self, skew: Any) -> tuple[Any, Any]:
        near, far = 50.0, 50.0 + 1e3 * absolute(skew)
        mirrored = less(skew, 0.0)
        return -choose(mirrored, far, near), choose(mirrored, near, far)

    def _upright(self, z: Any, skew: Any) -> tuple[Any, Any, Any]:
        """Whether it is mirrored, and the place and the skewness where that is not negative."""
        mirrored = less(skew, 0.0)
        return mirrored, choose(mirrored, -z, z), choose(mirrored, -skew, skew)

    def _of_gamma(self, z: Any, skew: Any) -> tuple[Any, Any, Any]:
        """Whether the skewness is large, and the gamma variable and its shape, where it is."""
        plain = greater(skew, _PLAIN)
        s, z = choose(plain, skew, 2.0), choose(plain, z, 0.0)
        a = divide(4.0, s * s)
        y = a + divide(2.0, s) * z
        return plain, choose(less(y, 0.0), 0.0, y), a  # what rounding has put before the end

    def _logpdf(self, z: Any, skew: Any) -> Any:
        _, z, s = self._upright(z, skew)
        plain, y, a = self._of_gamma(z, s)
        outer = gamma._logpdf(y, a) + LOG_2 - log(choose(plain, s, 2.0))
        return choose(plain, outer, self._log_near(choose(plain, 0.0, z), choose(plain, 0.0, s)))

    def _edge(self, z: Any, skew: Any) -> Any:
        _, z, s = self._upright(z, skew)
        plain, y, a = self._of_gamma(z, s)
        outer = gamma._edge(choose(plain, y * 0.0, 1.0), a) * 2.0 / choose(plain, s, 2.0)
        return choose(plain, outer, 0.0)

    def _log_near(self, z: Any, s: Any) -> Any:
        """The logarithm of the density for a small skewness, not negative."""
        w = 0.5 * s * z
        close = less(absolute(w), 0.1)
        near, far = choose(close, w, 0.0), choose(close, 1.0, w)
        end = less_equal(far, -1.0)
        far = choose(end, 1.0, far)
        fall = choose(close, polynomial(near, _FALL), (far - log1p(far)) / (far * far))
        y = -z * z * fall - log1p(choose(end, 0.0, w)) + self._log_height(s)
        return choose(end, -math.inf, y)

    def _log_height(self, s: Any) -> Any:
        """``log(a**a e**-a / gamma(a)) - log(a) / 2`` for ``a = 4 / s**2``."""
        thin = less(s, 0.3)
        r = 0.25 * choose(thin, s, 0.0) ** 2
        series = -0.5 * LOG_2PI - r * (
            1 / 12 - r * r * (1 / 360 - r * r * (1 / 1260 - r * r / 1680))
        )
        s = choose(thin, 1.0, s)
        return choose(thin, series, log_peak(divide(4.0, s * s)) + log(s) - LOG_2)

    def _side(self, z: Any, s: Any) -> tuple[Any, Any]:
        """Whether `z` is above the mean, and the logarithm of the probability on that side of it: the
        integral of the density over where it fades. For a small skewness, not negative.
        """
        above = greater(z, 0.0)
        x, k = stop_gradient(z), stop_gradient(s)
        # above, a fall that is slower than the density's, and is a root; below, the normal one
        b = x - 0.5 * _FADED * k
        lead = 0.5 * (1.0 + k * choose(above, x, 0.0))
        up = (sqrt(b * b + 4.0 * lead * _FADED) - b) / (2.0 * lead)
        size = absolute(x)
        down = 2.0 * _FADED / (size + sqrt(size * size + 2.0 * _FADED))
        down = minimum(down, divide(2.0, maximum(k, 1e-9)))  # to where the support ends
        width = choose(above, up, -down) * (1.0 + 0.5 * k * x)
        peak = self._log_near(z, s)
        lost = equal(peak, -math.inf)
        peak = choose(lost, 0.0, peak)
        place = choose(lost, 0.0, z)

        def falls(t: Any) -> Any:
            return exp(self._log_near(t, as_column(s)) - as_column(peak))

        whole = peak + log(integral_from(place, choose(lost, 1.0, width), falls))
        return above, choose(lost, -math.inf, whole)

    def _parts(self, z: Any, skew: Any) -> Any:
        mirrored, z, s = self._upright(z, skew)
        plain, y, a = self._of_gamma(z, s)
        above, side = self._side(choose(plain, 0.0, z), choose(plain, 0.0, s))
        return mirrored, plain, y, a, above, side

    def _log_of(self, upper: bool, z: Any, skew: Any) -> Any:
        mirrored, plain, y, a, above, side = self._parts(z, skew)
        wanted = ~mirrored if upper else mirrored  # whether above, in the upright one
        up, down = choose(wanted, y, a), choose(wanted, a, y)
        outer = choose(wanted, gamma._logsf(up, a), gamma._logcdf(down, a))
        same = above & wanted | ~above & ~wanted
        inner = choose(same, side, log1mexp(-choose(same, -1.0, minimum(side, -(2.0**-60)))))
        return choose(plain, outer, inner)

    def _of(self, upper: bool, z: Any, skew: Any) -> Any:
        mirrored, plain, y, a, above, side = self._parts(z, skew)
        wanted = ~mirrored if upper else mirrored
        outer = choose(wanted, gamma._sf(y, a), gamma._cdf(y, a))
        p, same = exp(side), above & wanted | ~above & ~wanted
        return choose(plain, outer, choose(same, p, 1.0 - p))

    def _cdf(self, z: Any, skew: Any) -> Any:
        return self._of(False, z, skew)

    def _sf(self, z: Any, skew: Any) -> Any:
        return self._of(True, z, skew)

    def _logcdf(self, z: Any, skew: Any) -> Any:
        return self._log_of(False, z, skew)

    def _logsf(self, z: Any, skew: Any) -> Any:
        return self._log_of(True, z, skew)

    def _ppf(self, q: Any, skew: Any) -> Any:
        return self._place(super()._ppf, False, q, skew)

    def _isf(self, q: Any, skew: Any) -> Any:
        return self._place(super()._isf, True, q, skew)

    def _place(self, solved: Any, upper: bool, q: Any, skew: Any) -> Any:
        mirrored, _, s = self._upright(skew, skew)
        plain, _, a = self._of_gamma(s, s)
        wanted = ~mirrored if upper else mirrored
        y = choose(wanted, gamma._isf(q, a), gamma._ppf(q, a))
        outer = 0.5 * (y - a) * choose(plain, skew, 1.0)
        return choose(plain, outer, solved(q, choose(plain, 0.5, skew)))

    def _mean(self, skew: Any) -> Any:
        return 0.0 * skew

    def _var(self, skew: Any) -> Any:
        return 0.0 * skew + 1.0

    def _entropy(self, skew: Any) -> Any:
        s = absolute(skew)
        thin = less(s, 1e-2)
        r = 0.25 * choose(thin, skew, 0.0) ** 2
        series = 0.5 * (1.0 + LOG_2PI) - r * (1 / 3 + r * (1 / 12 + r * (1 / 90)))
        s = choose(thin, 1.0, s)
        return choose(thin, series, gamma._entropy(divide(4.0, s * s)) + log(s) - LOG_2)


pearson3 = Pearson3("pearson3")
