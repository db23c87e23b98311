"""Means of other kinds than the arithmetic one, and the entropy of shares."""

from __future__ import annotations

import math
from typing import Any

import numpy as np  # noqa: F401  (doctests)

from ...errors import ArgumentError, where
from ...numpy._arguments import array_of, converted
from ...numpy.reductions import amin, sum
from ...numpy.statistics import average
from ...ops.arithmetic import absolute, divide, power
from ...ops.exponential import exp, log
from ...ops.logic import equal, less
from ...ops.select import where as choose
from ...ops.special import entr, rel_entr
from ...ops.structural import broadcast_to
from ..probabilities import in_one_dtype
from .descriptive import sample_of


def _weighted(a: Any, axis: Any, weights: Any, keepdims: bool) -> Any:
    """The mean along the axis; weights broadcast to the shape of `a`."""
    if weights is not None:
        weights = broadcast_to(converted(array_of(weights), a.dtype), shape=a.shape)
    return average(a, axis=axis, weights=weights, keepdims=keepdims)


def _nan_below_zero(a: Any, axis: Any, keepdims: bool, y: Any) -> Any:
    """`y`, nan where an entry of `a` is negative."""
    return choose(less(amin(a, axis=axis, keepdims=keepdims), 0.0), math.nan, y)


def gmean(
    a: Any,
    axis: Any = 0,
    dtype: Any = None,
    weights: Any = None,
    *,
    nan_policy: str = "propagate",
    keepdims: bool = False,
) -> Any:
    """The geometric mean along the axis: ``exp(mean(log(a)))``; nan where an entry is negative.

    Shapes: ``a: (*a, n, *b) -> (*a, *b)``.   Dtypes: real; integers give float64.
    Derivative: ``y w / a`` for shares w of the weights; nan at 0.
    Raises: ShapeError: no such axis. ArgumentError: `nan_policy` is not 'propagate'.
    Source: SciPy reference, ``scipy.stats.gmean``.

    >>> float(gmean([1.0, 4.0]).round(4))
    2.0
    """
    a = converted(sample_of("gmean", a, nan_policy), dtype)
    return exp(_weighted(log(a), axis, weights, keepdims))


def hmean(
    a: Any,
    axis: Any = 0,
    dtype: Any = None,
    *,
    weights: Any = None,
    nan_policy: str = "propagate",
    keepdims: bool = False,
) -> Any:
    """The harmonic mean along the axis: ``1 / mean(1 / a)``; nan where an entry is negative, 0 where
    one is 0.

    Shapes: ``a: (*a, n, *b) -> (*a, *b)``.   Dtypes: real; integers give float64.
    Derivative: ``w (y / a)**2`` for shares w of the weights; 0 where an entry is 0.
    Raises: ShapeError: no such axis. ArgumentError: `nan_policy` is not 'propagate'.
    Source: SciPy reference, ``scipy.stats.hmean``.

    >>> float(hmean([1.0, 3.0]))
    1.5
    """
    a = converted(sample_of("hmean", a, nan_policy), dtype)
    none = equal(amin(absolute(a), axis=axis, keepdims=True), 0.0)
    y = divide(1.0, _weighted(divide(1.0, choose(none, 1.0, a)), axis, weights, keepdims))
    flat = equal(amin(absolute(a), axis=axis, keepdims=keepdims), 0.0)
    return _nan_below_zero(a, axis, keepdims, choose(flat, 0.0, y))


def pmean(
    a: Any,
    p: Any,
    *,
    axis: Any = 0,
    dtype: Any = None,
    weights: Any = None,
    nan_policy: str = "propagate",
    keepdims: bool = False,
) -> Any:
    """The power mean along the axis: ``mean(a**p)**(1/p)``, the geometric one for p = 0; nan where an
    entry is negative.

    Shapes: ``a: (*a, n, *b) -> (*a, *b)``.   Dtypes: real; integers give float64.
    Derivative: ``w (y / a)**(1 - p)`` for shares w of the weights; none by `p`, a Python number.
    Raises: ShapeError: no such axis. ArgumentError: `p` is no number, or `nan_policy` is not
    'propagate'.
    Source: SciPy reference, ``scipy.stats.pmean``.

    >>> float(pmean([1.0, 7.0], 2.0))
    5.0
    """
    if not isinstance(p, int | float):
        raise ArgumentError(f"stats.pmean: p is {type(p).__name__}; need a number{where()}")
    if p == 0:
        return gmean(a, axis, dtype, weights, nan_policy=nan_policy, keepdims=keepdims)
    a = converted(sample_of("pmean", a, nan_policy), dtype)
    y = power(_weighted(power(a, float(p)), axis, weights, keepdims), 1.0 / p)
    return _nan_below_zero(a, axis, keepdims, y)


def entropy(
    pk: Any,
    qk: Any = None,
    base: Any = None,
    axis: Any = 0,
    *,
    nan_policy: str = "propagate",
    keepdims: bool = False,
) -> Any:
    """``-sum(p log(p))`` along the axis for the shares ``p = pk / sum(pk)``, or, with `qk`, the
    divergence ``sum(p log(p / q))``; over ``log(base)``, if `base` is given.

    Shapes: ``pk: (*a, n, *b) -> (*a, *b)``; `qk` broadcasts with it.
    Dtypes: real; integers give float64.
    Derivative: by `pk` and `qk`, which need not sum to 1; infinite where a share is 0.
    Raises: ShapeError: no such axis. ArgumentError: `base` is no positive number, or `nan_policy` is
    not 'propagate'.
    Source: SciPy reference, ``scipy.stats.entropy``.

    >>> float(entropy([1.0, 1.0], base=2))
    1.0
    """
    if base is not None and not (isinstance(base, int | float) and base > 0):
        raise ArgumentError(f"stats.entropy: base={base!r}; need a positive number{where()}")
    p = sample_of("entropy", pk, nan_policy)
    if qk is not None:
        p, q = in_one_dtype(p, sample_of("entropy", qk))
        q = q / sum(q, axis=axis, keepdims=True)
    p = p / sum(p, axis=axis, keepdims=True)
    y = sum(entr(p) if qk is None else rel_entr(p, q), axis=axis, keepdims=keepdims)
    return y if base is None else y * (1.0 / math.log(base))
