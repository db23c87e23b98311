"""Distributions of whole numbers: everything but the mathematics of their standard forms."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np  # noqa: F401  (doctests)

from ...ops.exponential import exp
from ...ops.logic import equal, greater, greater_equal, isinf, less, not_equal
from ...ops.rounding import floor
from ...ops.select import stop_gradient
from ...ops.select import where as choose
from .distribution import Distribution, Parameters
from .logs import log_of


class DiscreteDistribution(Distribution):
    """A family with shapes and loc: ``pmf(k) = f(k - loc)``."""

    others = (("loc", 0.0),)
    low = 0.0

    # ------------------------------------------------------------ the mathematics

    def _logpmf(self, k: Any, *shapes: Any) -> Any:
        raise NotImplementedError

    def _pmf(self, k: Any, *shapes: Any) -> Any:
        return exp(self._logpmf(k, *shapes))

    def _somewhere(self, low: Any) -> Any:
        """A number of the support, whose least one is `low`."""
        return stop_gradient(low)[()]

    def _logcdf(self, k: Any, *shapes: Any) -> Any:
        return log_of(self._cdf(k, *shapes), self._sf(k, *shapes))

    def _logsf(self, k: Any, *shapes: Any) -> Any:
        return log_of(self._sf(k, *shapes), self._cdf(k, *shapes))

    # ------------------------------------------------------------ probabilities of one number

    def pmf(self, k: Any, *args: Any, **kwds: Any) -> Any:
        """The probability of `k`; 0 where that is no whole number of the support.

        Shapes: broadcast.   Dtypes: real; integers give float64.
        Derivative: by every shape; zero by `k` and loc.
        Raises: ArgumentError: a parameter is missing or unknown, or a number is complex.
        Source: SciPy reference, ``scipy.stats``.

        >>> from funcgrad.scipy import stats
        >>> stats.poisson.pmf(np.array([0, 1, -1]), 1.0).round(4).tolist()
        [0.3679, 0.3679, 0.0]
        """
        return self._of_one("pmf", self._pmf, 0.0, k, args, kwds)

    def logpmf(self, k: Any, *args: Any, **kwds: Any) -> Any:
        """The logarithm of the probability of `k`; minus infinity where that is no whole number of
        the support.

        Shapes: broadcast.   Dtypes: real; integers give float64.
        Derivative: by every shape; zero by `k` and loc.
        Raises: ArgumentError: a parameter is missing or unknown, or a number is complex.
        Source: SciPy reference, ``scipy.stats``.

        >>> from funcgrad.scipy import stats
        >>> stats.bernoulli.logpmf(np.array([0, 1]), 0.5).round(4).tolist()
        [-0.6931, -0.6931]
        """
        return self._of_one("logpmf", self._logpmf, -math.inf, k, args, kwds)

    # ------------------------------------------------------------ probabilities of many

    def cdf(self, k: Any, *args: Any, **kwds: Any) -> Any:
        """The probability of a number of at most `k`, which is rounded down.

        Shapes: broadcast.   Dtypes: real; integers give float64.
        Derivative: by every shape; zero by `k` and loc.
        Raises: ArgumentError: a parameter is missing or unknown, or there is no formula.
        Source: SciPy reference, ``scipy.stats``.

        >>> from funcgrad.scipy import stats
        >>> float(stats.binom.cdf(1, 2, 0.5).round(4))
        0.75
        """
        return self._of_many("cdf", self._cdf, (0.0, 1.0), k, args, kwds)

    def sf(self, k: Any, *args: Any, **kwds: Any) -> Any:
        """The probability of a number above `k`, which is rounded down; accurate where it is small.

        Shapes: broadcast.   Dtypes: real; integers give float64.
        Derivative: by every shape; zero by `k` and loc.
        Raises: ArgumentError: a parameter is missing or unknown, or there is no formula.
        Source: SciPy reference, ``scipy.stats``.

        >>> from funcgrad.scipy import stats
        >>> float(stats.binom.sf(1, 2, 0.5).round(4))
        0.25
        """
        return self._of_many("sf", self._sf, (1.0, 0.0), k, args, kwds)

    def logcdf(self, k: Any, *args: Any, **kwds: Any) -> Any:
        """``log(cdf(k))``, accurate where `cdf` vanishes.

        Shapes: broadcast.   Dtypes: real; integers give float64.
        Derivative: by every shape; zero by `k` and loc.
        Raises: ArgumentError: a parameter is missing or unknown, or there is no formula.
        Source: SciPy reference, ``scipy.stats``.

        >>> from funcgrad.scipy import stats
        >>> float(stats.poisson.logcdf(0, 1e4).round(4))
        -10000.0
        """
        return self._of_many("logcdf", self._logcdf, (-math.inf, 0.0), k, args, kwds)

    def logsf(self, k: Any, *args: Any, **kwds: Any) -> Any:
        """``log(sf(k))``, accurate where `sf` vanishes.

        Shapes: broadcast.   Dtypes: real; integers give float64.
        Derivative: by every shape; zero by `k` and loc.
        Raises: ArgumentError: a parameter is missing or unknown, or there is no formula.
        Source: SciPy reference, ``scipy.stats``.

        >>> from funcgrad.scipy import stats
        >>> float(stats.geom.logsf(10, 0.5).round(4))
        -6.9315
        """
        return self._of_many("logsf", self._logsf, (0.0, -math.inf), k, args, kwds)

    def entropy(self, *args: Any, **kwds: Any) -> Any:
        """The entropy: minus the mean of `logpmf`.

        Shapes: broadcast.   Dtypes: real; integers give float64.
        Derivative: by the shapes.
        Raises: ArgumentError: a parameter is missing or unknown, or there is no formula.
        Source: SciPy reference, ``scipy.stats``.

        >>> from funcgrad.scipy import stats
        >>> float(stats.bernoulli.entropy(0.5).round(4))
        0.6931
        """
        _, p = self.prepared("entropy", args, kwds)
        return p.result(self._entropy(*p.shapes))

    # ------------------------------------------------------------ places

    def _of_one(
        self, method: str, f: Callable[..., Any], other: float, k: Any, args: Any, kwds: Any
    ) -> Any:
        k, p = self._at(method, k, args, kwds)
        low, high = self._support(*p.shapes)
        apart = not_equal(k, floor(k)) & equal(k, k)
        outside = less(k, low) | greater(k, high) | apart | isinf(k)
        y = f(choose(outside, self._somewhere(low), k), *p.shapes)
        return p.result(choose(outside, other, y))

    def _of_many(
        self,
        method: str,
        f: Callable[..., Any],
        ends: tuple[float, float],
        k: Any,
        args: Any,
        kwds: Any,
    ) -> Any:
        """The first of `ends` below the support, the last at its upper end and beyond."""
        k, p = self._at(method, k, args, kwds)
        low, high = self._support(*p.shapes)
        k = floor(k)
        before = less(k, low) | equal(k, -math.inf)
        after = greater_equal(k, high)
        y = f(choose(before | after, self._somewhere(low), k), *p.shapes)
        return p.result(choose(before, ends[0], choose(after, ends[1], y)))

    def _at(self, method: str, k: Any, args: Any, kwds: Any) -> tuple[Any, Parameters]:
        """The number of the standard form at `k`: a constant."""
        k, p = self.prepared(method, args, kwds, k)
        return stop_gradient(p.standard(k))[()], p  # a number, which fits any device

    def _between_ends(self, q: Any, p: Parameters, inverse: Callable[..., Any]) -> Any:
        """The inverse at `q`, a constant; where nothing is to lie below, one less than the least."""
        lower, upper = equal(q, 0.0), equal(q, 1.0)
        if inverse == self._isf:
            lower, upper = upper, lower
        k = stop_gradient(inverse(choose(lower | upper, 0.5, q), *p.shapes))
        low, high = self._support(*p.shapes)
        return choose(lower, low - 1.0, choose(upper, high, k))
