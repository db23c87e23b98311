"""Ranks and modes: what the order of a sample says."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from ...errors import ArgumentError, where
from ...indexing import known
from ...numpy._arguments import array_of, axis_of, beside
from ...numpy.accumulating import cumsum
from ...numpy.indexing import take_along_axis
from ...numpy.joining import concatenate
from ...numpy.searching import any as any_of
from ...numpy.searching import argmax
from ...numpy.shaping import ravel, squeeze
from ...numpy.sorting import argsort, sort
from ...ops.cumulative import cummax, cummin, part
from ...ops.logic import isnan, not_equal
from ...ops.select import stop_gradient
from ...ops.select import where as choose
from ...ops.structural import broadcast_to
from .descriptive import sample_of

_METHODS = ("average", "min", "max", "dense", "ordinal")


class ModeResult(NamedTuple):
    """The commonest element, and how often it occurs."""

    mode: Any
    count: Any


class Runs(NamedTuple):
    """Of a sorted array: where a run of equal elements begins; the first and the last place of the
    run that an element is in.
    """

    begins: Any
    first: Any
    last: Any


def _runs(a: Any, axis: int) -> Runs:
    n = a.shape[axis]
    places = np.arange(n).reshape([n if i == axis else 1 for i in range(a.ndim)])
    places = broadcast_to(beside(a, places), shape=a.shape)
    later, earlier = part(a, axis, 1), part(a, axis, 0, max(n - 1, 0))
    edge = not_equal(later, earlier) & ~(isnan(later) & isnan(earlier))
    rim = part(places, axis, 0, 1) >= 0
    begins, ends = concatenate([rim, edge], axis=axis), concatenate([edge, rim], axis=axis)
    first = cummax(choose(begins, places, 0), axis=axis, reverse=False)
    last = cummin(choose(ends, places, n), axis=axis, reverse=True)
    return Runs(begins, first, last)


def _ranks_in_order(runs: Runs, method: str, axis: int) -> Any:
    if method == "average":
        return (runs.first + runs.last) * 0.5 + 1.0
    if method == "dense":
        return cumsum(choose(runs.begins, 1, 0), axis=axis)
    if method == "ordinal":
        return cumsum(runs.first * 0 + 1, axis=axis)
    return (runs.first if method == "min" else runs.last) + 1


def rankdata(
    a: Any, method: str = "average", *, axis: Any = None, nan_policy: str = "propagate"
) -> Any:
    """The rank of every element along the axis, from 1; equal elements share one by `method`:
    'average', 'min', 'max', 'dense' (no gaps) or 'ordinal' (in their order).

    Shapes: ``a: (*a) -> (*a)``, one axis if `axis` is None.
    Dtypes: real; gives float64 for 'average' (nan where there is a nan along the axis), integers
    for the others (in SciPy since 1.18 floating too).
    Derivative: zero.
    Raises: ArgumentError: no such method, or nan but for 'average'. ShapeError: no such axis.
    Source: SciPy reference, ``scipy.stats.rankdata``.

    >>> rankdata([3.0, 1.0, 3.0]).tolist()
    [2.5, 1.0, 2.5]
    """
    if method not in _METHODS:
        raise ArgumentError(f"rankdata: method={method!r}; need one of {_METHODS}{where()}")
    a = stop_gradient(sample_of("rankdata", a, nan_policy))
    a, axis = (ravel(a), 0) if axis is None else (a, axis_of("rankdata", axis, a.ndim))
    values = known(a)
    if method != "average" and values is not None and (values != values).any():
        raise ArgumentError(f"rankdata: nan has no rank of method={method!r}{where()}")
    order = argsort(a, axis=axis)
    ranks = _ranks_in_order(_runs(take_along_axis(a, order, axis), axis), method, axis)
    ranks = take_along_axis(ranks, argsort(order, axis=axis), axis)
    if method != "average" or not a.size:
        return ranks
    return choose(any_of(isnan(a), axis=axis, keepdims=True), math.nan, ranks)


def tie_correction(a: Any) -> Any:
    """``sum(t**3 - t)`` over the runs of t equal elements along the last axis.

    >>> float(tie_correction(np.array([3.0, 1.0, 3.0])))
    6.0
    """
    runs = _runs(sort(a, axis=-1), a.ndim - 1)
    length = (runs.last - runs.first + 1) * 1.0
    return choose(runs.begins, length * length * length - length, 0.0).sum(axis=-1)


def mode(a: Any, axis: Any = 0, nan_policy: str = "propagate", keepdims: bool = False) -> Any:
    """The commonest element along the axis, the least of several, and how often it occurs; nans
    count as equal.

    Shapes: ``a: (*a, n, *b) -> (*a, *b)``, twice, n > 0.   Dtypes: real; counts are integers.
    Derivative: that of the first of the elements taken; zero of the count.
    Raises: ShapeError: no such axis. ArgumentError: `nan_policy` is not 'propagate'.
    Source: SciPy reference, ``scipy.stats.mode``.

    >>> found = mode(np.array([3.0, 1.0, 3.0]))
    >>> float(found.mode), int(found.count)
    (3.0, 2)
    """
    sample_of("mode", a, nan_policy)
    a = array_of(a)
    a, axis = (ravel(a), 0) if axis is None else (a, axis_of("mode", axis, a.ndim))
    a = sort(a, axis=axis)
    runs = _runs(stop_gradient(a), axis)
    counts = runs.last - runs.first + 1
    place = argmax(counts, axis=axis, keepdims=True)
    found = take_along_axis(a, place, axis), take_along_axis(counts, place, axis)
    return ModeResult(*(y if keepdims else squeeze(y, axis=axis) for y in found))
