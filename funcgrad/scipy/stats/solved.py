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
from ...ops.from_scipy import scipy_function
from ...ops.select import stop_gradient
from ...transforms.callbacks import pure_callback
from .continuous import ContinuousDistribution
from .discrete import DiscreteDistribution
from .distribution import Distribution

_STEPS = 60  # of Newton, which takes 1 or 2 but far out


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

    Logarithms of probabilities are concave, so Newton's steps on them come near the root from the left
    (of `sf` from the right), wherever they begin. They begin at SciPy's numbers, which are the root
    but far out.
    """

    exact_ends = False

    def _ppf(self, q: Any, *shapes: Any) -> Any:
        z = _called(self, functools.partial(self._near, "ppf", self._logcdf, 1.0), q, shapes)
        return _root(lambda z: self._cdf(z, *shapes) - q, z)

    def _isf(self, q: Any, *shapes: Any) -> Any:
        z = _called(self, functools.partial(self._near, "isf", self._logsf, -1.0), q, shapes)
        return _root(lambda z: self._sf(z, *shapes) - q, z)

    def _near(
        self, method: str, log_p: Callable[..., Any], sign: float, q: Any, *shapes: Any
    ) -> Any:
        """Where `log_p` is ``log(q)``; NaN where that is not found."""
        z = _of_scipy(self, method)(q, *shapes)
        low, high = self._support(*shapes)
        inside = self._inside(*shapes)
        z = np.where((z > low) & (z < high) & np.isfinite(z), z, inside)
        log_q = np.log(q)
        bound = np.maximum(1.0, -log_q)
        for _ in range(_STEPS):
            y = log_p(z, *shapes)
            off = y - log_q
            if not (abs(off) > 4e-15 * bound).any():
                break
            new = z - sign * off * np.exp(y - self._logpdf(z, *shapes))
            new = np.where(np.isfinite(new), new, 0.5 * (z + inside))
            z = np.where(new <= low, 0.5 * (z + low), np.where(new >= high, 0.5 * (z + high), new))
        return np.where(abs(log_p(z, *shapes) - log_q) <= 1e-10 * bound, z, math.nan)


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
