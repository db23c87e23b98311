"""Extremes of groups: rows that go to the same place, as one. Their sums are `scatter_add`."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..algebra import batch_first, concrete_namespace, general
from ..core import Aval, Primitive, aval_of
from .index import scatter_add, take
from .index_layout import FULL, ArrayIndex, Index, positions
from .logic import equal, isnan, logical_and, logical_or
from .select import maximum, where
from .structural import batch_all_first, reshape


def _rows_of(ndim: int) -> Index:
    """The index of whole rows of an array of so many axes."""
    return (ArrayIndex(0), *(FULL,) * (ndim - 1))


def group_sum(x: Any, places: Any, /, *, count: int) -> Any:
    """``y_k = sum x_i`` over the i with ``places_i = k``: ``(n, *a), (n,) -> (count, *a)``.

    >>> group_sum(np.array([1.0, 2.0, 4.0]), np.array([1, 1, 0]), count=3).tolist()
    [4.0, 3.0, 0.0]
    """
    shape = aval_of(x).shape
    return scatter_add(x, places, shape=(count, *shape[1:]), index=_rows_of(len(shape)))


def _extreme_tangent(t: Any, ans: Any, x: Any, places: Any, *, count: int) -> Any:
    """The mean of the tangents of the elements that are equal to the extreme; NaN at NaN."""
    lost = isnan(ans)
    hit = logical_or(equal(x, take(ans, places, axis=0)), take(lost, places, axis=0))
    number = group_sum(hit.astype(t.dtype), places, count=count)
    total = group_sum(where(hit, t, 0.0), places, count=count)
    return total / where(lost, math.nan, maximum(number, 1.0))


def _batch_groups(prim: Primitive, size: int, xs: Any, bdims: Any, params: dict) -> Any:
    """Groups of every example are groups of their own; with the same places, there are longer rows."""
    if bdims[1] is None:
        x = batch_first(xs[0], bdims[0])
        return prim(x.swapaxes(0, 1), xs[1], **params), 1
    x, places = batch_all_first(size, xs, bdims)
    (_, n, *rest), count = x.shape, params["count"]
    places = where(places < 0, places + count, places)
    first = concrete_namespace(places).arange(0, size * count, count)[:, None] if count else 0
    inside = logical_and(places >= 0, places < count)
    flat = prim(
        reshape(x, shape=(size * n, *rest)),
        reshape(where(inside, places + first, size * count), shape=(size * n,)),
        count=size * count,
    )
    return reshape(flat, shape=(size, count, *rest)), 0


def _group_aval(x: Aval, places: Aval, *, count: int) -> Aval:
    return Aval((count, *x.shape[1:]), x.dtype)


def _extreme(xp: Any, x: Any, places: Any, count: int, *, largest: bool) -> Any:
    x = xp.asarray(x)
    shape = (count, *x.shape[1:])
    out = xp.full(shape, neutral(x.dtype, largest=largest), dtype=x.dtype)
    at = positions(xp, shape, _rows_of(x.ndim), (xp.asarray(places),))
    with np.errstate(invalid="ignore"):  # of NaN, `at` warns
        (xp.maximum if largest else xp.minimum).at(out.reshape(-1), at.ravel(), x.ravel())
    return out


def neutral(dtype: Any, *, largest: bool) -> Any:
    """What the largest, or the smallest, of no numbers is.

    >>> neutral(np.dtype("int8"), largest=True), neutral(np.dtype(float), largest=False)
    (-128, inf)
    """
    if dtype.kind == "f":
        return -math.inf if largest else math.inf
    if dtype.kind == "b":
        return not largest
    limits = np.iinfo(dtype)
    return limits.min if largest else limits.max


@general(_extreme_tangent, None, aval=_group_aval, batch=_batch_groups)
def group_max(xp, x, places, /, *, count):
    """``y_k = max x_i`` over the i with ``places_i = k``; the least number where there is none.

    Shapes: ``x: (n, *a), places: (n,) -> (count, *a)``.   Dtypes: real; places are integers.
    Derivative: that of the largest element; equal ones share evenly; NaN at NaN; 0 of nothing.
    Raises: IndexError: a place is out of bounds.
    Source: NumPy reference, ``numpy.ufunc.at``.

    >>> group_max(np.array([1.0, 3.0, 2.0]), np.array([0, 0, 2]), count=3).tolist()
    [3.0, -inf, 2.0]
    """
    return _extreme(xp, x, places, count, largest=True)


@general(_extreme_tangent, None, aval=_group_aval, batch=_batch_groups)
def group_min(xp, x, places, /, *, count):
    """``y_k = min x_i`` over the i with ``places_i = k``; the largest number where there is none.

    Shapes: ``x: (n, *a), places: (n,) -> (count, *a)``.   Dtypes: real; places are integers.
    Derivative: that of the smallest element; equal ones share evenly; NaN at NaN; 0 of nothing.
    Raises: IndexError: a place is out of bounds.
    Source: NumPy reference, ``numpy.ufunc.at``.

    >>> group_min(np.array([1.0, 3.0, 2.0]), np.array([0, 0, 2]), count=3).tolist()
    [1.0, inf, 2.0]
    """
    return _extreme(xp, x, places, count, largest=False)
