"""The noncentral chi-squared distribution, by NOTE [Paths] in ``contours.py``."""

from __future__ import annotations

import math
from typing import Any

import numpy as np  # noqa: F401  (doctests)

from ...ops.arithmetic import power
from ...ops.exponential import exp, log1p, sqrt, xlogy
from ...ops.gamma import gammaln
from ...ops.logic import less, less_equal
from ...ops.select import stop_gradient
from ...ops.select import where as choose
from .contours import log_noncentral
from .logs import LOG_2
from .solved import SolvedDistribution, TwoSided


class NoncentralChi2(TwoSided, SolvedDistribution):
    """The sum of `df` > 0 squares of normal variables whose means have squares of the sum `nc` >= 0: a
    chi-squared variable of ``df + 2 k``, where k is Poisson's of the mean ``nc / 2``.

    Source: Temme, "Asymptotic and numerical aspects of the noncentral chi-square distribution", 1993;
    SciPy reference, ``scipy.stats.ncx2``.

    >>> float(ncx2.pdf(1.0, 2.0, 1.0).round(4))
    0.2329
    """

    shapes = ("df", "nc")
    low = 0.0
    inside = 1.0
    formulas_at_ends = False

    def _valid(self, df: Any, nc: Any) -> Any:
        return (df > 0) & (df < math.inf) & (nc >= 0) & (nc < math.inf)

    def _reach(self, df: Any, nc: Any) -> tuple[Any, Any]:
        far = sqrt(nc) + 45.0
        return -math.inf, far * far + 100.0 * df + 2000.0

    def _powers(self, df: Any, nc: Any) -> tuple[Any, Any]:
        return 0.5 * df, 1.0

    def _logpdf(self, z: Any, df: Any, nc: Any) -> Any:
        near = less(z * (1.0 + nc), 1e-9)
        far = log_noncentral(choose(near, 1.0, z), df, nc, stop_gradient(z) * 0.0)
        return choose(near, xlogy(0.5 * df - 1.0, z) + self._log_rest(z, df, nc), far)

    def _edge(self, z: Any, df: Any, nc: Any) -> Any:
        return power(z, 0.5 * df - 1.0) * exp(self._log_rest(z, df, nc))

    def _log_rest(self, z: Any, df: Any, nc: Any) -> Any:
        """The logarithm of the density over ``z**(df / 2 - 1)``, for a small z."""
        m = 0.5 * df
        return log1p(0.25 * nc * z / m) - 0.5 * (z + nc) - m * LOG_2 - gammaln(m)

    def _side(self, z: Any, df: Any, nc: Any) -> tuple[Any, Any]:
        below = stop_gradient(less_equal(z, df + nc + 2.0))
        return below, log_noncentral(z, df, nc, choose(below, -1.0, 1.0))

    def _mean(self, df: Any, nc: Any) -> Any:
        return df + nc

    def _var(self, df: Any, nc: Any) -> Any:
        return 2.0 * (df + 2.0 * nc)


ncx2 = NoncentralChi2("ncx2")
