"""Many elements into one: sums, products, means, maxima of the elements that go to one place."""

from __future__ import annotations

from typing import Any

import numpy as np

from funcgrad.core import Primitive, aval_of
from funcgrad.indexing import known
from funcgrad.ops import arithmetic
from funcgrad.ops.index import scatter_add, scatter_set, take
from funcgrad.ops.index_layout import ArrayIndex
from funcgrad.ops.join import concatenate
from funcgrad.ops.select import maximum, minimum, where

from ..autograd.base import tensor
from ..autograd.tape import record, through
from ._compose import values_of

_FLAT = (ArrayIndex(0, "known"),)


def reduced(x: Any, src: Any, target: Any, how: str, *, include_self: bool, node: str) -> Any:
    """The vector `x` with the elements of the vector `src` reduced into the places `target`.

    `how` is "sum", "prod", "mean", "amax" or "amin". Without `include_self` what `x` had at a place
    that something goes to does not count. Ties of maxima share the cotangent, equally but where a
    transform knows only the type of the numbers.
    """
    if how == "prod":
        one = np.ones((), x._array.dtype)
        return _paired(x, src, target, include_self, node, arithmetic.multiply, one)
    if how in ("amax", "amin"):
        if known(x._array) is None or known(src._array) is None:
            prim = maximum if how == "amax" else minimum
            least = np.asarray(_worst(aval_of(x._array).dtype, how))
            return _paired(x, src, target, include_self, node, prim, least)
        return _extreme(x, src, target, how, include_self, node)
    hit = _hit(x, target)
    if not include_self:
        x = record(where, (hit, np.zeros((), x._array.dtype), x))
    last = node if how == "sum" else None
    total = record(arithmetic.add, (x, _sums(x, src, target)), {}, last)
    if how == "sum":
        return total
    count = np.bincount(target, minlength=hit.size) + (include_self | ~hit)
    divided: Primitive = (
        arithmetic.divide if x._array.dtype.kind in "fcV" else arithmetic.floor_divide
    )
    return record(divided, (total, count.astype(x._array.dtype)), {}, node)


def _hit(x: Any, target: Any) -> Any:
    hit = np.zeros(x._array.shape, dtype=bool)
    hit[target] = True
    return hit


def _sums(x: Any, src: Any, target: Any) -> Any:
    return record(scatter_add, (src, target), {"shape": x._array.shape, "index": _FLAT})


def _extreme(x: Any, src: Any, target: Any, how: str, include_self: bool, node: str) -> Any:
    """The largest or smallest, as the mean of those that are equal to it."""
    own, new = values_of("scatter_reduce", x), values_of("scatter_reduce", src)
    ufunc = np.maximum if how == "amax" else np.minimum
    hit = _hit(x, target)
    counts_itself = np.full(hit.shape, True) if include_self else ~hit
    best = np.where(counts_itself, own, _worst(own.dtype, how))
    with np.errstate(invalid="ignore"):
        ufunc.at(best, target, new)
    if own.dtype.kind in "biu":
        return tensor(best)
    tied = counts_itself & _same(own, best)
    tied_new = _same(new, best[target])
    share = 1 / np.maximum(np.bincount(target, tied_new, hit.size) + tied, 1)
    share = share.astype(own.dtype)
    zero = np.zeros((), own.dtype)
    kept = record(arithmetic.multiply, (record(where, (tied, x, zero)), share))
    added = record(where, (tied_new, src, zero))
    sums = _sums(x, record(arithmetic.multiply, (added, share[target])), target)
    mean = record(arithmetic.add, (kept, sums))
    rounded = mean._array
    with np.errstate(invalid="ignore"):
        error = np.where(rounded == best, zero, best - rounded)
    return record(arithmetic.add, (mean, error), {}, node)


def _worst(dtype: Any, how: str) -> Any:
    if dtype.kind == "b":
        return how == "amin"
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        return dtype.type(limits.min if how == "amax" else limits.max)
    return dtype.type(-np.inf if how == "amax" else np.inf)


def _same(a: Any, b: Any) -> Any:
    return (a == b) | (np.isnan(a) & np.isnan(b))


def _paired(
    x: Any, src: Any, target: Any, include_self: bool, node: str, combine: Any, neutral: Any
) -> Any:
    """Neighbours that go to one place are combined until one is left at every place."""
    values = src
    if include_self:
        places = np.flatnonzero(_hit(x, target))
        mine = through(take, x, places, axis=0, bounds="known")
        values = record(concatenate, (mine, src), {"axis": 0})
        target = np.concatenate([places, target])
    order = np.argsort(target, kind="stable")
    values, target = through(take, values, order, axis=0, bounds="known"), target[order]
    while True:
        n = target.size
        first = np.flatnonzero(np.append(True, target[1:] != target[:-1])[:n])
        turn = np.arange(n) - np.repeat(first, np.diff(np.append(first, n)))
        if not turn.any():
            return record(scatter_set, (x, values, target), {"index": _FLAT}, node)
        left = np.flatnonzero(turn % 2 == 0)
        paired = np.append(turn[1:] % 2 == 1, False)[left]
        a = through(take, values, left, axis=0, bounds="known")
        b = through(take, values, np.minimum(left + 1, n - 1), axis=0, bounds="known")
        values = record(combine, (a, record(where, (paired, b, neutral))))
        target = target[left]
