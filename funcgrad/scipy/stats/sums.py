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
from ...ops.exponential import exp, log
from ...ops.logic import equal, greater_equal, less, less_equal
from ...ops.quadrature import as_column
from ...ops.select import maximum, minimum, stop_gradient
from ...ops.select import where as choose
from ...ops.structural import sum
from ...transforms.custom import custom_jvp
from .solved import TwoSidedCounts


@custom_jvp
def _without_slope(x: Any) -> Any:
    """`x`, with nan for its derivatives; NOTE [Whole shapes]."""
    return x


@_without_slope.defjvp
def _no_slope(primals: Any, tangents: Any) -> Any:
    return primals[0], tangents[0] * math.nan


_AT_ONCE = 256  # terms
_LEAST = 1e-18  # what the last terms must be of a sum for more to be asked for


def sum_of_terms(log_f: Callable[..., Any], count: Any, *operands: Any) -> Any:
    """``exp(log_f(0)) + exp(log_f(1)) + ...``, `count` terms, where `log_f` also gets the operands.

    Terms are added until 256 of them are nothing beside the sum, so those that grow again must not have
    been that small before.

    >>> float(sum_of_terms(lambda i, x: -i * x, np.array(3.0), np.array(1.0)).round(4))
    1.5032
    """
    nothing = stop_gradient(count) * 0.0
    for x in operands:
        nothing = nothing + stop_gradient(x) * 0.0
    columns = [as_column(x) for x in operands]
    places = np.arange(float(_AT_ONCE))

    def unfinished(state: Any) -> Any:
        done, total, last = state
        return (less(done, count) & greater_equal(last, _LEAST * total)).any()

    def further(state: Any) -> Any:
        done, total, _ = state
        i = done + places
        inside = less(i, as_column(count))
        terms = exp(log_f(choose(inside, i, 0.0), *columns))
        found = sum(choose(inside, terms, 0.0), axis=(terms.ndim - 1,))
        return done + float(_AT_ONCE), total + found, stop_gradient(found)

    return while_loop(unfinished, further, (0.0, nothing, nothing))[1]


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
        held = [_without_slope(x) if i in self.whole else x for i, x in enumerate(shapes)]
        fewer = k - self._support(*shapes)[0] + 1.0
        count = stop_gradient(choose(below, fewer, self._count(k, *shapes)))

        first = self._log_term(count * 0.0, below, k, *held)
        scale = maximum(first, self._log_term(count - 1.0, below, k, *held))
        scale = stop_gradient(scale)

        def log_f(i: Any, scale: Any, *of: Any) -> Any:
            return self._log_term(i, *of) - scale

        total = sum_of_terms(log_f, count, scale, below, k, *held)
        return below, minimum(log(total) + scale, -(2.0**-60))  # of the last count it is rounding
