"""Distributions with a density: everything but the mathematics of their standard forms.

NOTE [Borders] Outside of the support, infinity included, the density is the constant 0: the formula is
not asked there, so its derivatives are 0 and never nan. At a finite end of the support the formula
holds, unless the density is 0 there with all its derivatives (`open`), or the formula that is good
elsewhere breaks down there (`_edge`).

NOTE [Reach] Where e**-x is far below the smallest number, and x or its slope may be infinite, a formula
gives the right 0 or 1, but 0 * inf for its derivatives. Beyond the reach of a distribution, which lies
well past that place, `pdf`, `cdf`, `sf` and those logarithms that are 0 are constants, as outside of
the support.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ...core import aval_of
from ...ops.exponential import exp
from ...ops.logic import equal, greater_equal, isinf, less, less_equal
from ...ops.select import minimum
from ...ops.select import where as choose
from .distribution import Distribution, Parameters
from .logs import log_of

FADED = math.exp(10.0)  # e**-FADED, times any power of FADED that occurs, is 0
NORMAL_REACH = 45.0  # for a density that falls as the normal one


class ContinuousDistribution(Distribution):
    """A family with shapes, loc and scale: ``pdf(x) = f((x - loc) / scale) / scale``."""

    others = (("loc", 0.0), ("scale", 1.0))
    inside: float = 0.5  # in every support, where no formula is singular
    open = False  # whether the formulas of the density do not hold at a finite end
    formulas_at_ends = True  # whether those of the probabilities do

    # ------------------------------------------------------------ the mathematics

    def _logpdf(self, z: Any, *shapes: Any) -> Any:
        raise NotImplementedError

    def _pdf(self, z: Any, *shapes: Any) -> Any:
        return exp(self._logpdf(z, *shapes))

    def _inside(self, *_shapes: Any) -> Any:
        return self.inside

    def _reach(self, *_shapes: Any) -> tuple[Any, Any]:
        """NOTE [Reach]; infinite numbers where the formulas hold everywhere."""
        return -math.inf, math.inf

    def _powers(self, *_shapes: Any) -> tuple[Any, Any] | None:
        """`m` and `c` if the density at an end at 0 is ``z**(m - 1)`` times a series in ``z**c``, whose
        slope may be infinite.
        """
        return None

    def _steep(self, method: str, *shapes: Any) -> Any:
        """Where the slope of the method at an end at 0 is infinite; None where it never is."""
        powers = self._powers(*shapes)
        if powers is None or method == "logpdf":
            return None
        m, c = powers
        if method != "pdf":
            return less(m, 1.0)
        return less(m, 2.0) & (less(c, 1.0) | ~equal(m, 1.0))

    _edge: Callable[..., Any] | None = None  # the density near a finite end of the support

    def _logcdf(self, z: Any, *shapes: Any) -> Any:
        return log_of(self._cdf(z, *shapes), self._sf(z, *shapes))

    def _logsf(self, z: Any, *shapes: Any) -> Any:
        return log_of(self._sf(z, *shapes), self._cdf(z, *shapes))

    # ------------------------------------------------------------ densities

    def pdf(self, x: Any, *args: Any, **kwds: Any) -> Any:
        """The density at `x`: ``f((x - loc) / scale) / scale`` for that of the standard form, f.

        Shapes: broadcast.   Dtypes: real; integers give float64.
        Derivative: by `x` and every parameter; 0 outside of the support; at its ends that from
        inside.
        Raises: ArgumentError: a parameter is missing or unknown, or a number is complex.
        Source: SciPy reference, ``scipy.stats``.

        >>> from funcgrad.scipy import stats
        >>> stats.expon.pdf(np.array([-1.0, 0.0, 1.0])).round(4).tolist()
        [0.0, 1.0, 0.3679]
        """
        z, p = self._at("pdf", x, args, kwds)
        low, high = self._reach(*p.shapes)
        outside = beyond(beyond(self._outside(z, p), z, low), -z, -high)
        z = choose(outside, self._inside(*p.shapes), z)
        y = self._pdf(z, *p.shapes) if self._edge is None else self._with_edges(z, p)
        return p.result(choose(outside, 0.0, y) / p.scale)

    def _with_edges(self, z: Any, p: Parameters) -> Any:
        edge = self._edge
        assert edge is not None
        low, high = self._support(*p.shapes)
        at_end = less_equal(z, low) | greater_equal(z, high)
        inner = self._pdf(choose(at_end, self.inside, z), *p.shapes)
        at = [choose(at_end, s, 1.0) for s in p.shapes]
        return choose(at_end, edge(choose(at_end, z, self.inside), *at), inner)

    def logpdf(self, x: Any, *args: Any, **kwds: Any) -> Any:
        """The logarithm of the density at `x`; minus infinity outside of the support.

        Shapes: broadcast.   Dtypes: real; integers give float64.
        Derivative: by `x` and every parameter; 0 outside of the support; at its ends that from
        inside.
        Raises: ArgumentError: a parameter is missing or unknown, or a number is complex.
        Source: SciPy reference, ``scipy.stats``.

        >>> from funcgrad.scipy import stats
        >>> stats.norm.logpdf(np.array([0.0, 100.0])).round(2).tolist()
        [-0.92, -5000.92]
        """
        z, p = self._at("logpdf", x, args, kwds)
        outside = self._outside(z, p)
        y = self._logpdf(choose(outside, self._inside(*p.shapes), z), *p.shapes) - p.log_scale
        return p.result(choose(outside, -math.inf, y))

    # ------------------------------------------------------------ probabilities

    def cdf(self, x: Any, *args: Any, **kwds: Any) -> Any:
        """The probability of a number of at most `x`.

        Shapes: broadcast.   Dtypes: real; integers give float64.
        Derivative: `pdf` by `x`; by every parameter; 0 outside of the support.
        Raises: ArgumentError: a parameter is missing or unknown, or there is no formula.
        Source: SciPy reference, ``scipy.stats``.

        >>> from funcgrad.scipy import stats
        >>> float(stats.norm.cdf(1.96).round(3))
        0.975
        """
        return self._probability("cdf", self._cdf, (0.0, 1.0), x, args, kwds)

    def sf(self, x: Any, *args: Any, **kwds: Any) -> Any:
        """The probability of a number above `x`, accurate where it is small.

        Shapes: broadcast.   Dtypes: real; integers give float64.
        Derivative: minus `pdf` by `x`; by every parameter; 0 outside of the support.
        Raises: ArgumentError: a parameter is missing or unknown, or there is no formula.
        Source: SciPy reference, ``scipy.stats``.

        >>> from funcgrad.scipy import stats
        >>> float(stats.norm.sf(1.96).round(3))
        0.025
        """
        return self._probability("sf", self._sf, (1.0, 0.0), x, args, kwds)

    def logcdf(self, x: Any, *args: Any, **kwds: Any) -> Any:
        """``log(cdf(x))``, accurate where `cdf` vanishes.

        Shapes: broadcast.   Dtypes: real; integers give float64.
        Derivative: ``pdf / cdf`` by `x`; by every parameter; 0 outside of the support.
        Raises: ArgumentError: a parameter is missing or unknown, or there is no formula.
        Source: SciPy reference, ``scipy.stats``.

        >>> from funcgrad.scipy import stats
        >>> float(stats.norm.logcdf(-40.0).round(3))
        -804.608
        """
        return self._probability("logcdf", self._logcdf, (-math.inf, 0.0), x, args, kwds)

    def logsf(self, x: Any, *args: Any, **kwds: Any) -> Any:
        """``log(sf(x))``, accurate where `sf` vanishes.

        Shapes: broadcast.   Dtypes: real; integers give float64.
        Derivative: ``-pdf / sf`` by `x`; by every parameter; 0 outside of the support.
        Raises: ArgumentError: a parameter is missing or unknown, or there is no formula.
        Source: SciPy reference, ``scipy.stats``.

        >>> from funcgrad.scipy import stats
        >>> float(stats.norm.logsf(40.0).round(3))
        -804.608
        """
        return self._probability("logsf", self._logsf, (0.0, -math.inf), x, args, kwds)

    def entropy(self, *args: Any, **kwds: Any) -> Any:
        """The differential entropy: ``log(scale) + h`` for that of the standard form, h.

        Shapes: broadcast.   Dtypes: real; integers give float64.
        Derivative: by scale and the shapes.
        Raises: ArgumentError: a parameter is missing or unknown, or there is no formula.
        Source: SciPy reference, ``scipy.stats``.

        >>> from funcgrad.scipy import stats
        >>> float(stats.norm.entropy().round(4))
        1.4189
        """
        _, p = self.prepared("entropy", args, kwds)
        return p.result(self._entropy(*p.shapes) + p.log_scale)

    # ------------------------------------------------------------ places

    def _at(self, method: str, x: Any, args: Any, kwds: Any) -> tuple[Any, Parameters]:
        """The value of the standard form at `x`; infinite ones are constants."""
        x, p = self.prepared(method, args, kwds, x)
        infinite, steep = isinf(x), self._steep(method, *p.shapes)
        return choose(infinite, x, p.standard(choose(infinite, 0.0, x), steep)), p

    def _outside(self, z: Any, p: Parameters) -> Any:
        """Where the density is the constant 0; not where `z` is nan."""
        low, high = self._support(*p.shapes)
        return below(z, low, self.open) | above(z, high, self.open)

    def _probability(
        self,
        method: str,
        f: Callable[..., Any],
        ends: tuple[float, float],
        x: Any,
        args: Any,
        kwds: Any,
    ) -> Any:
        """The first of `ends` below the support, the last above; an infinite one at the end, too."""
        z, p = self._at(method, x, args, kwds)
        low, high = self._support(*p.shapes)
        before = below(z, low, ends[0] == -math.inf or not self.formulas_at_ends)
        after = above(z, high, ends[1] == -math.inf or not self.formulas_at_ends)
        low, high = self._reach(*p.shapes)
        if ends[0] != -math.inf:
            before = beyond(before, z, low)
        if ends[1] != -math.inf:
            after = beyond(after, -z, -high)
        y = f(choose(before | after, self._inside(*p.shapes), z), *p.shapes)
        return p.result(choose(before, ends[0], choose(after, ends[1], y)))


def reach(log_end: Any) -> Any:
    """``exp(log_end)``, but never infinite."""
    return exp(minimum(log_end, 0.999 * math.log(np.finfo(aval_of(log_end).dtype).max)))


def below(z: Any, low: Any, or_at: bool) -> Any:
    """Where ``z < low``, or at it; at minus infinity in any case."""
    if low.__class__ is float:
        return equal(z, low) if low == -math.inf else (less_equal if or_at else less)(z, low)
    return less_equal(z, low) if or_at else less(z, low) | equal(z, -math.inf)


def above(z: Any, high: Any, or_at: bool) -> Any:
    """Where ``z > high``, or at it; at infinity in any case."""
    return below(-z, -high, or_at)


def beyond(there: Any, z: Any, low: Any) -> Any:
    """`there`, and where ``z < low``."""
    return there if low.__class__ is float and low == -math.inf else there | less(z, low)
