"""Distributions whose quantiles have no formula: those of continuous ones are solved for, from SciPy's
numbers, and differentiated by the implicit function theorem; those of discrete ones are SciPy's.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ...algebra import broadcast_shapes
from ...core import Aval, aval_of
from ...lax.implicit import custom_root
from ...ops.exponential import exp
from ...ops.from_scipy import scipy_function
from ...ops.select import stop_gradient
from ...ops.select import where as choose
from ...transforms.callbacks import pure_callback
from .continuous import ContinuousDistribution
from .discrete import DiscreteDistribution
from .distribution import Distribution
from .logs import log1mexp

_STEPS = 100  # of Newton, which takes 5 to 10, or 60 next to an end at 0


def _called(family: Distribution, f: Callable[..., Any], q: Any, shapes: tuple[Any, ...]) -> Any:
    """What a function of numbers gives, a constant."""
    operands = [stop_gradient(x) for x in (q, *shapes)]
    shape = broadcast_shapes(f"{family.name}.ppf", [aval_of(x).shape for x in operands])
    return pure_callback(f, Aval(shape, aval_of(q).dtype), *operands, vmap_method="expand_dims")


def _of_scipy(family: Distribution, method: str) -> Callable[..., Any]:
    found: Callable[..., Any] = getattr(scipy_function(np, family.name, "stats"), method)
    return found


class SolvedDistribution(ContinuousDistribution):
    """A continuous family with formulas for `cdf` and `sf`, but none for their inverses.

    Where the logarithm of a probability is concave, Newton's steps on it, which begin at the mean, come
    near the root from the left (of `sf` from the right). SciPy's quantiles are not these far out.
    """

    exact_ends = False

    def _ppf(self, q: Any, *shapes: Any) -> Any:
        z = _called(self, functools.partial(self._quantile, False), q, shapes)
        return _root(lambda z: self._cdf(z, *shapes) - q, z)

    def _isf(self, q: Any, *shapes: Any) -> Any:
        z = _called(self, functools.partial(self._quantile, True), q, shapes)
        return _root(lambda z: self._sf(z, *shapes) - q, z)

    def _quantile(self, upper: bool, q: Any, *shapes: Any) -> Any:
        """The numbers, from the end that is nearer: from 1/2 on, 1 - q is exact."""
        q, *rest = np.broadcast_arrays(q, *shapes)
        z = np.empty(q.shape)
        for nearer, p in ((q <= 0.5, q), (q > 0.5, 1.0 - q)):
            z[nearer] = self._near(upper, p[nearer], *(s[nearer] for s in rest))
            upper = not upper
        return z

    def _least(self, *shapes: Any) -> Any:
        """What no quantile is below."""
        return self._support(*shapes)[0]

    def _near(self, upper: bool, q: Any, *shapes: Any) -> Any:
        """Where ``log(sf)``, or ``log(cdf)``, is ``log(q)``; NaN where that is not found."""
        log_p, sign = (self._logsf, -1.0) if upper else (self._logcdf, 1.0)
        low = self._least(*shapes)
        log_q = np.log(q)
        bound = np.maximum(1.0, -log_q)
        z = np.full(q.shape, self._mean(*shapes))
        left, right = np.broadcast_to(low, z.shape), np.full(z.shape, math.inf)
        with np.errstate(all="ignore"):
            for _ in range(_STEPS):
                y = log_p(z, *shapes)
                off = y - log_q
                if not (abs(off) > 4e-15 * bound).any():
                    break
                step = sign * off * np.exp(y - self._logpdf(z, *shapes))
                # towards an end at 0 by a factor: probabilities are powers there
                factor = np.maximum(np.exp(-step / (z - low)), 1e-3)
                over = np.where(step < z - low, z - step, low + (z - low) * factor)
                # where it is not concave a step may be too long: half of what is known instead
                known = sign * off < 0
                left, right = np.where(known, z, left), np.where(known, right, z)
                middle = 0.5 * (left + right)
                missed = ~((over >= left) & (over <= right)) & np.isfinite(middle)
                z = np.where(missed, middle, over)
            y = log_p(z, *shapes)
            room = 1e-10 * bound + 1e-15 * abs(z) * np.exp(self._logpdf(z, *shapes) - y)
            return np.where(abs(y - log_q) <= room, z, math.nan)


def _root(f: Callable[[Any], Any], z: Any) -> Any:
    """The root `z` of `f`, with derivatives by what `f` closes over."""
    ones = np.ones(aval_of(z).shape, aval_of(z).dtype)
    return custom_root(f, z, lambda _f, z: z, lambda g, y: y / g(ones))


class SolvedCounts(DiscreteDistribution):
    """A discrete family without formulas for the inverses of `cdf` and `sf`."""

    def _ppf(self, q: Any, *shapes: Any) -> Any:
        return _called(self, _of_scipy(self, "ppf"), q, shapes)

    def _isf(self, q: Any, *shapes: Any) -> Any:
        return _called(self, _of_scipy(self, "isf"), q, shapes)


class TwoSided(Distribution):
    """A family whose probabilities are found on one side of a number, where they are not nearly 1."""

    def _side(self, k: Any, *shapes: Any) -> tuple[Any, Any]:
        """Whether it is the side below, and the logarithm of the probability there."""
        raise NotImplementedError

    def _logcdf(self, k: Any, *shapes: Any) -> Any:
        below, side = self._side(k, *shapes)
        return choose(below, side, log1mexp(-choose(below, -1.0, side)))

    def _logsf(self, k: Any, *shapes: Any) -> Any:
        below, side = self._side(k, *shapes)
        return choose(below, log1mexp(-choose(below, side, -1.0)), side)

    def _cdf(self, k: Any, *shapes: Any) -> Any:
        below, side = self._side(k, *shapes)
        p = exp(side)
        return choose(below, p, 1.0 - p)

    def _sf(self, k: Any, *shapes: Any) -> Any:
        below, side = self._side(k, *shapes)
        p = exp(side)
        return choose(below, 1.0 - p, p)


class TwoSidedCounts(TwoSided, SolvedCounts):
    """Such a family of counts."""
