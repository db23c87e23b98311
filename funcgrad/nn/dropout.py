"""Dropout: parts of an input set to 0 at random."""

from __future__ import annotations

from typing import Any

import numpy as np  # noqa: F401  (doctests)

from ..core import aval_of
from ..numpy._arguments import arrays_of, converted
from ..ops.logic import greater, greater_equal, less, less_equal, logical_and
from ..ops.random import random_uniform, words_of
from ..ops.select import where as choose
from ._arguments import real, require


def dropout(key: Any, x: Any, rate: Any) -> Any:
    """`x` with each element 0 with probability `rate`, else divided by ``1 - rate``.

    `key` is one of `funcgrad.random`; the same key drops the same elements.

    Shapes: ``key: (2,), x: (*a), rate: () -> (*a)``.   Dtypes: real; integers give float64.
    Derivative: linear in `x`, 0 where it is dropped.
    Raises: ArgumentError: `rate` is no probability, or `key` no key, or `x` complex.
    Source: Srivastava et al., "Dropout: a simple way to prevent neural networks from overfitting",
    JMLR 15 (2014).

    >>> dropout(np.zeros(2, np.uint32), np.ones(6), 0.5).tolist()
    [2.0, 2.0, 0.0, 0.0, 0.0, 2.0]
    """
    x = real("dropout", x)
    aval = aval_of(x)
    fits = logical_and(greater_equal(rate, 0), less_equal(rate, 1))
    require(fits, "dropout", "rate", rate, "a number from 0 to 1")
    kept = converted(arrays_of(x, 1.0 - rate)[1], aval.dtype)
    drawn = random_uniform(words_of(key), shape=aval.shape, dtype=aval.dtype)
    return choose(less(drawn, kept), x / choose(greater(kept, 0.0), kept, 1.0), 0.0)
