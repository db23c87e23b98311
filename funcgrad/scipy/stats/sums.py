"""Counts whose probabilities have no formula but a sum, term by term.

NOTE [Whole shapes] Where a shape is a whole number, it says how many terms there are. A sum has no
derivative by that: it is nan.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ...lax import while_loop
from ...numpy._arguments import beside
from ...ops.exponential import exp, log, sqrt
from ...ops.logic import equal, greater_equal, less, less_equal
from ...ops.quadrature import as_column
from ...ops.rounding import ceil, floor
from ...ops.select import maximum, minimum, stop_gradient
from ...ops.select import where as choose
from ...ops.structural import sum
from ...transforms.custom import custom_jvp
from .solved import TwoSidedCounts


@custom_jvp
def without_slope(x: Any) -> Any:
    """`x`, with nan for its derivatives; NOTE [Whole shapes]."""
    return x


@without_slope.defjvp
def _no_slope(primals: Any, tangents: Any) -> Any:
    return primals[0], tangents[0] * math.nan


_AT_ONCE = 256  # terms
_LEAST = 1e-18  # what the last terms must be of a sum for more to be asked for


def sum_of_terms(f: Callable[..., Any], count: Any, *operands: Any) -> Any:
    """``f(0) + f(1) + ...``, `count` terms that are not negative, where `f` also gets the operands.

    Terms are added until 256 of them are nothing beside the sum, so those that grow again must not have
    been that small before.

    >>> float(sum_of_terms(lambda i, x: i * x, np.array(3.0), np.array(2.0)))
    6.0
    """
    nothing = stop_gradient(count) * 0.0
    for x in operands:
        nothing = nothing + x * 0.0  # the slope is nan, too, where something is
    columns = [as_column(x) for x in operands]
    places = beside(nothing, np.arange(float(_AT_ONCE)))

    def unfinished(state: Any) -> Any:
        done, total, last = state
        return (less(done, count) & greater_equal(last, _LEAST * total)).any()

    def further(state: Any) -> Any:
        done, total, _ = state
        i = done + places
        inside = less(i, as_column(count))
        terms = f(choose(inside, i, 0.0), *columns)
        found = sum(choose(inside, terms, 0.0), axis=(terms.ndim - 1,))
        return done + float(_AT_ONCE), total + found, stop_gradient(found)

    return while_loop(unfinished, further, (0.0, nothing, nothing))[1]


def _surprise(log_p: Any) -> Any:
    """``-p log(p)``."""
    log_p = maximum(log_p, -740.0)  # of which the exponential is nearly 0
    return -exp(log_p) * log_p


_PLACES = 360


def entropy_of_bell(log_f: Callable[..., Any], mean: Any, var: Any, ends: Any, *shapes: Any) -> Any:
    """The entropy of a distribution of counts whose probabilities are a bell, Poisson's or one of more
    trials, by as many numbers of the support as there are, or by equal steps: these leave out nothing
    where a step is a small part of the deviation, as the sum of a smooth bell is its integral.

    >>> float(entropy_of_bell(lambda k: k * -np.log(2.0), 0.5, 0.25, (0.0, 1.0)).round(4))
    0.3466
    """
    low, high = (stop_gradient(end)[()] for end in ends)  # numbers, which fit any device
    mean, reach = stop_gradient(mean), 40.0 + 10.0 * sqrt(stop_gradient(var))
    first, last = maximum(floor(mean - reach), low), minimum(ceil(mean + reach), high)
    step = maximum((last - first) / (_PLACES - 1.0), 1.0)
    k = as_column(first) + as_column(step) * beside(step, np.arange(float(_PLACES)))
    inside = less_equal(k, as_column(last) + 0.5)
    k = choose(inside, k, as_column(first))
    terms = choose(inside, _surprise(log_f(k, *(as_column(x) for x in shapes))), 0.0)
    return sum(terms, axis=(terms.ndim - 1,)) * step


class SummedCounts(TwoSidedCounts):
    """A family without a formula for `cdf`: the terms on the side of `k` where the mean is not."""

    whole: tuple[int, ...] = ()  # which shapes are whole numbers

    def _middle(self, *shapes: Any) -> Any:
        """A number with much of the probability on both sides."""
        return self._mean(*shapes)

    def _count(self, k: Any, *shapes: Any) -> Any:
        """How many terms are added for the probability above `k`."""
        return self._support(*shapes)[1] - k

    def _log_term(self, i: Any, below: Any, k: Any, *shapes: Any) -> Any:
        """The logarithm of the i-th term from `k` down, or of the i-th above it."""
        return self._logpmf(choose(below, k - i, k + 1.0 + i), *shapes)

    def _side(self, k: Any, *shapes: Any) -> tuple[Any, Any]:
        # so that what is nearly sure is never added up
        below = less_equal(k, self._middle(*shapes) - 0.5) | equal(k, self._support(*shapes)[1])
        held = [without_slope(x) if i in self.whole else x for i, x in enumerate(shapes)]
        fewer = k - self._support(*shapes)[0] + 1.0
        count = stop_gradient(choose(below, fewer, self._count(k, *shapes)))

        first = self._log_term(count * 0.0, below, k, *held)
        scale = maximum(first, self._log_term(count - 1.0, below, k, *held))
        scale = stop_gradient(scale)

        def f(i: Any, scale: Any, *of: Any) -> Any:
            return exp(self._log_term(i, *of) - scale)

        total = sum_of_terms(f, count, scale, below, k, *held)
        return below, minimum(log(total) + scale, -(2.0**-60))  # of the last count it is rounding

    def _entropy(self, *shapes: Any) -> Any:
        held = [without_slope(x) if i in self.whole else x for i, x in enumerate(shapes)]
        low, high = (stop_gradient(end)[()] for end in self._support(*shapes))

        def f(i: Any, low: Any, *of: Any) -> Any:
            return _surprise(self._logpmf(low + i, *of))

        return sum_of_terms(f, high - low + 1.0, low, *held)
