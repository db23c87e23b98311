"""Order: sort, argsort, searchsorted, and what is composed of them (quantiles, the top k).

Sorting is stable: equal elements keep their order, so the derivative of `sort` is a permutation.
"""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np

from ..algebra import concrete_namespace, constant, general, zeros_like
from ..core import Aval, Primitive, Tracer, aval_of, tangent_dtype
from ..errors import ArgumentError, ShapeError
from ..errors import where as place
from .index import take_along_axis
from .index_layout import on_host
from .join import concatenate
from .logic import isnan
from .rounding import ceil, floor, rint
from .select import maximum, minimum, where
from .structural import batch_all_first, batch_axis_first, transpose

Axes = tuple[int, ...]
SMALL = 512  # elements whose order is found while one asks whether it is the only one
MANY, FEW = 64, 4  # so long, and so many times k, is what is worth a partition first
RANKS = 16  # so many are found without sorting


# ---------------------------------------------------------------- sort, argsort


def _stable_order(xp: Any, x: Any, axis: int) -> Any:
    """The stable order. NumPy's default is found much faster, and but for ties it is the same."""
    if xp is np and x.dtype.kind == "f" and x.size > SMALL and x.shape[axis] > 1:
        order = np.argsort(x, axis=axis)
        rows = np.moveaxis(order, axis, -1)
        ordered = (
            x[order] if x.ndim == 1 else np.take_along_axis(np.moveaxis(x, axis, -1), rows, -1)
        )
        rises = ordered[..., 1:] > ordered[..., :-1]
        if rises.all() or _ties_in_order(rows, ordered, rises):
            return order
    return xp.argsort(x, axis=axis, kind="stable")


def _ties_in_order(rows: Any, ordered: Any, rises: Any) -> bool:
    """Put the places of equal elements in `rows` in order, unless there are many, or NaN."""
    equal = ~rises
    if np.count_nonzero(equal) * FEW > equal.size or np.isnan(ordered[..., -1]).any():
        return False
    n = rows.shape[-1]
    tied = np.zeros(rows.shape, bool)
    tied[..., 1:] = equal
    begins = ~tied
    tied[..., :-1] |= equal
    runs = np.cumsum(begins[tied]) * n  # so that one sort is the sort of every run
    rows[tied] = np.sort(runs + rows[tied]) - runs
    return True


def _argsort_aval(x: Aval, *, axis: int) -> Aval:
    return Aval(x.shape, np.dtype(np.intp))


@constant(aval=_argsort_aval, batch=batch_axis_first)
def argsort(xp, x, /, *, axis):
    """The places of the elements along `axis` (one int) in ascending order, stable.

    Shapes: ``x: (*a) -> (*a)``.   Dtypes: all; gives intp.
    Derivative: zero.
    Raises: AxisError: the axis is out of range.
    Source: NumPy reference, ``numpy.argsort``.

    >>> argsort(np.array([3.0, 1.0, 1.0]), axis=0).tolist()
    [1, 2, 0]
    """
    return _stable_order(xp, x, axis)


def _sort_tangent(t: Any, _ans: Any, x: Any, *, axis: int) -> Any:
    return take_along_axis(t, argsort(x, axis=axis), axis=axis, bounds="known")


@general(
    _sort_tangent,
    aval=lambda x, *, axis: Aval(x.shape, x.dtype),
    batch=batch_axis_first,
)
def sort(xp, x, /, *, axis):
    """The elements along `axis` (one int) in ascending order; NaN last.

    Shapes: ``x: (*a) -> (*a)``.   Dtypes: all; complex by real part, then imaginary part.
    Derivative: the tangents in the same order; those of equal elements keep their order.
    Raises: AxisError: the axis is out of range.
    Source: NumPy reference, ``numpy.sort``.

    >>> sort(np.array([3.0, 1.0, 2.0]), axis=0).tolist()
    [1.0, 2.0, 3.0]
    """
    return xp.sort(x, axis=axis)


def _first_aval(x: Aval, *, k: int, axis: int, largest: bool) -> Aval:
    return Aval((*x.shape[:axis], k, *x.shape[axis + 1 :]), np.dtype(np.intp))


def _batch_first(prim: Primitive, size: int, xs: Any, bdims: Any, params: dict) -> Any:
    (x,) = batch_all_first(size, xs, bdims)
    return prim(x, **{**params, "axis": params["axis"] + 1}), 0


@constant(aval=_first_aval, batch=_batch_first)
def argtopk(xp, x, /, *, k, axis, largest):
    """The places of the `k` largest, or smallest, elements along `axis` (one int), in that order.

    Of equal elements the earlier comes first; NaN counts as largest.

    Shapes: ``x: (*a, n, *b) -> (*a, k, *b)``.   Dtypes: real; gives intp.
    Derivative: zero.
    Raises: nothing of its own; `k` is at most n.
    Source: JAX reference, ``jax.lax.top_k``.

    >>> argtopk(np.array([1.0, 5.0, 3.0, 5.0]), k=3, axis=0, largest=True).tolist()
    [1, 3, 2]
    """
    if on_host(xp) and MANY <= x.shape[axis] >= FEW * k > 0:
        found = _among_few(xp.moveaxis(x, axis, -1), k, largest)
        if found is not None:
            return xp.moveaxis(found, -1, axis)
    return _first_places(xp, x, k, axis, largest)


def _first_places(xp: Any, x: Any, k: int, axis: int, largest: bool) -> Any:
    n = x.shape[axis]
    if not largest:
        return _places(_stable_order(xp, x, axis), axis, slice(k))
    # Descending and stable: ascending, with what is last counted first.
    order = _stable_order(xp, xp.flip(x, axis), axis)
    return (n - 1) - xp.flip(_places(order, axis, slice(n - k, n)), axis)


def _places(order: Any, axis: int, part: slice) -> Any:
    return order[(slice(None),) * axis + (part,)]


def _among_few(x: Any, k: int, largest: bool) -> Any:
    """The places along the last axis; None if the last of them is not the only one of its value."""
    rank = x.shape[-1] - k if largest else k - 1
    limit = np.partition(x, rank, axis=-1)[..., rank : rank + 1]
    chosen = x >= limit if largest else x <= limit  # NaN are not
    if not (np.count_nonzero(chosen, axis=-1) == k).all():
        return None
    places = np.nonzero(chosen)[-1].reshape(*x.shape[:-1], k)
    order = _first_places(np, np.take_along_axis(x, places, -1), k, x.ndim - 1, largest)
    return np.take_along_axis(places, order, -1)


def _ranked_aval(x: Aval, rank: Aval, *, axis: int) -> Aval:
    return Aval((*x.shape[:axis], rank.shape[axis], *x.shape[axis + 1 :]), np.dtype(np.intp))


def _batch_ranked(prim: Primitive, size: int, xs: Any, bdims: Any, params: dict) -> Any:
    return prim(*batch_all_first(size, xs, bdims), axis=params["axis"] + 1), 0


@constant(aval=_ranked_aval, batch=_batch_ranked)
def argrank(xp, x, rank, /, *, axis):
    """The places of the elements that come `rank`-th along `axis` (one int), counted from 0.

    ``take_along_axis(argsort(x), rank)``, where a few ranks are found without sorting.

    Shapes: ``x: (*a, n, *b), rank: (*a, k, *b) or 1 for n, where it is alike -> (*a, k, *b)``.
    Dtypes: all, integers for `rank`; gives intp.
    Derivative: zero.
    Raises: IndexError: a rank is n or more.
    Source: NumPy reference, ``numpy.partition``.

    >>> argrank(np.array([4.0, 1.0, 3.0, 2.0]), np.array([1, 2]), axis=0).tolist()
    [3, 2]
    """
    x, rank = xp.moveaxis(x, axis, -1), xp.moveaxis(rank, axis, -1)
    rank = xp.broadcast_to(rank, (*x.shape[:-1], rank.shape[-1]))
    found = _by_partition(x, rank) if on_host(xp) and x.shape[-1] >= MANY else None
    if found is None:
        found = xp.take_along_axis(_stable_order(xp, x, x.ndim - 1), rank, axis=-1)
    return xp.moveaxis(found, -1, axis)


def _by_partition(x: Any, rank: Any) -> Any:
    """The places along the last axis; None if there are many ranks, some out of bounds, or of NaN."""
    ranks = np.unique(rank)
    if not 0 < ranks.size <= RANKS or ranks[0] < 0 or ranks[-1] >= x.shape[-1]:
        return None
    limits = np.take_along_axis(np.partition(x, ranks, axis=-1), rank, -1)
    if (limits != limits).any():
        return None
    places = np.empty(rank.shape, np.intp)
    for j in range(rank.shape[-1]):
        limit = limits[..., j : j + 1]
        chosen = x == limit
        if not (np.count_nonzero(chosen, axis=-1) == 1).all():
            before = np.count_nonzero(x < limit, axis=-1, keepdims=True)
            chosen = np.cumsum(chosen, axis=-1) > rank[..., j : j + 1] - before
        places[..., j] = np.argmax(chosen, axis=-1)  # the first that is
    return places


def topk(x: Any, /, *, k: int, axis: int) -> tuple[Any, Any]:
    """The `k` largest elements along `axis`, in descending order, and their places.

    Of equal elements the earlier comes first; NaN counts as largest.

    Raises: ShapeError: there are fewer than `k` elements.

    >>> values, places = topk(np.array([1.0, 5.0, 3.0, 5.0]), k=2, axis=0)
    >>> values.tolist(), places.tolist()
    ([5.0, 5.0], [1, 3])
    """
    n = x.shape[axis]
    if not 0 <= k <= n:
        raise ShapeError(f"topk: k={k}, but there are {n} elements along axis {axis}{place()}")
    places = argtopk(x, k=k, axis=axis, largest=True)
    return take_along_axis(x, places, axis=axis, bounds="known"), places


# ---------------------------------------------------------------- searchsorted


def _batch_searchsorted(prim: Primitive, size: int, xs: Any, bdims: Any, params: dict) -> Any:
    if bdims[0] is None and aval_of(xs[0]).ndim == 1:
        return prim(*xs, **params), bdims[1]
    return prim(*batch_all_first(size, xs, bdims), **params), 0


@constant(
    aval=lambda a, v, *, side: Aval(v.shape, np.dtype(np.intp)),
    batch=_batch_searchsorted,
)
def searchsorted(xp, a, v, /, *, side):
    """Where to insert each `v` into the ascending `a`: how many elements are ``< v``.

    With `side` ``"right"``, how many are ``<= v``. More axes of `a` are paired with those of `v`.

    Shapes: ``a: (*b, n), v: (*b, *c) -> (*b, *c)``.   Dtypes: all; gives intp.
    Derivative: zero.
    Raises: ValueError: `side` is neither ``"left"`` nor ``"right"``.
    Source: NumPy reference, ``numpy.searchsorted``.

    >>> searchsorted(np.array([1.0, 2.0, 2.0]), np.array([0.0, 2.0, 3.0]), side="left").tolist()
    [0, 1, 3]
    """
    v = xp.asarray(v)
    if a.ndim == 1:
        return xp.searchsorted(a, v, side=side)
    found = xp.empty(v.shape, dtype=xp.intp)
    for row in itertools.product(*map(range, a.shape[:-1])):
        found[row] = xp.searchsorted(a[row], v[row], side=side)
    return found


# ---------------------------------------------------------------- quantiles


def _made_last(name: str, x: Any, axis: Axes) -> Any:
    """The axes `axis` made one, the last.

    Raises: ShapeError: there is nothing along them.
    """
    rest = tuple(i for i in range(x.ndim) if i not in axis)
    if axis != tuple(range(len(rest), x.ndim)):
        x = transpose(x, axes=rest + axis)
    if len(axis) != 1:
        x = x.reshape((*x.shape[: len(rest)], math.prod(x.shape[len(rest) :])))
    if not x.shape[-1]:
        raise ShapeError(f"{name}: no elements along the axes {axis}{place()}")
    return x


def _ranked(x: Any, rank: Any) -> Any:
    """The elements that come `rank`-th, a vector of integers, along the last axis."""
    axis = x.ndim - 1
    places = argrank(x, rank.reshape((1,) * axis + rank.shape), axis=axis)
    return take_along_axis(x, places, axis=axis, bounds="known")


def _integers(x: Any, *values: int) -> Any:
    return concrete_namespace(x).asarray(values, dtype=np.intp)


def _nan_if_any(y: Any, last: Any) -> Any:
    """`y`, NaN where the last of the elements in order is, as is its derivative: NaN is last."""
    if last.dtype.kind not in "fc":
        return y
    return y * where(isnan(last), math.nan, zeros_like(last) + 1.0)


def median(x: Any, /, *, axis: Axes) -> Any:
    """The middle one of the sorted elements, of an even number the mean of the middle two.

    NaN if any element is. Its derivative is that of the elements taken.

    Raises: ShapeError: there is nothing along the axes.

    >>> median(np.array([4.0, 1.0, 3.0, 2.0]), axis=(0,)).tolist()
    2.5
    """
    x = _made_last("median", x, axis)
    n = x.shape[-1]
    found = _ranked(x, _integers(x, (n - 1) // 2, n // 2, n - 1))
    low, high = found[..., 0], found[..., 1]
    y = low * 1.0 if n % 2 else 0.5 * low + 0.5 * high
    return _nan_if_any(y, found[..., 2])


# Methods of `quantile`: plotting positions (alpha, beta), and rules for the nearby elements.
PLOTTING = {
    "linear": (1.0, 1.0),
    "interpolated_inverted_cdf": (0.0, 1.0),
    "hazen": (0.5, 0.5),
    "weibull": (0.0, 0.0),
    "median_unbiased": (1 / 3, 1 / 3),
    "normal_unbiased": (3 / 8, 3 / 8),
}
ROUNDING = {"lower": floor, "higher": ceil, "nearest": rint}
# The number of the element, from 1 on, for the share of all `n` elements; 1/2 is the mean of two.
COUNTING: dict[str, Any] = {
    "inverted_cdf": ceil,
    "closest_observation": rint,
    "averaged_inverted_cdf": lambda share: (ceil(share) + floor(share) + 1) * 0.5,
}

CHOOSING = {*ROUNDING, "inverted_cdf", "closest_observation"}  # which give an element as it is


def neighbours(q: Any, n: Any, method: str) -> tuple[Any, Any, Any]:
    """The places of the two of `n` sorted elements around a quantile, and the part of the way.

    `n` may be an array of floating numbers, for slices of which each has its own. Beyond the ends both
    are the element there, so that the next one, which may be infinite, does not matter.

    Raises: ArgumentError: the method is unknown.
    """
    position = _position(q, n, method)
    low = floor(position)
    below, above = (maximum(minimum(i, n - 1.0), 0.0) for i in (low, low + 1))
    return below, above, position - low


def _position(q: Any, n: Any, method: str) -> Any:
    """Where the quantile lies among `n` sorted elements, of which the first is at 0."""
    if method in ROUNDING:
        return ROUNDING[method](q * (n - 1))
    if method == "midpoint":
        return (floor(q * (n - 1)) + ceil(q * (n - 1))) * 0.5
    if method == "linear":
        return q * (n - 1)
    if method in COUNTING:
        return COUNTING[method](q * n) - 1.0
    if method in PLOTTING:
        alpha, beta = PLOTTING[method]
        return q * (n + 1 - alpha - beta) + (alpha - 1)
    names = ", ".join(sorted([*PLOTTING, *ROUNDING, *COUNTING, "midpoint"]))
    raise ArgumentError(f"quantile: no method {method!r}; there are {names}{place()}")


def between_elements(below: Any, above: Any, part: Any) -> Any:
    """The number that is at the `part` of the way from one to the next.

    From the nearer element: exact at both, right beside infinite ones.
    """
    from_above = part >= 0.5
    return where(from_above, above, below) + (above - below) * (part - from_above)


def quantile(x: Any, q: Any, /, *, axis: Axes, method: str = "linear") -> Any:
    """The number that a share `q` of the elements is below, between two of the sorted elements.

    The axes of `q` come first in the result. NaN if any element is. Differentiable by `x` and, with
    the methods that interpolate, by `q`; where `q` meets an element, as from above.

    Raises: ShapeError: there is nothing along the axes. ArgumentError: an unknown method; a share
        that is a plain number or NumPy array and not between 0 and 1.
    Source: Hyndman & Fan, "Sample quantiles in statistical packages", Am. Stat. 50 (1996).

    >>> quantile(np.array([1.0, 2.0, 3.0]), 0.25, axis=(0,)).tolist()
    1.5
    """
    plain = isinstance(q, int | float | np.ndarray | np.generic)
    if plain and not np.all((np.asarray(q) >= 0) & (np.asarray(q) <= 1)):
        raise ArgumentError(f"quantile: shares must be between 0 and 1, found {q}{place()}")
    x = _made_last("quantile", x, axis)
    lead, n = x.shape[:-1], x.shape[-1]
    # Shares of 0 and 1 that are integers ask for an element, too.
    whole_shares = method == "linear" and aval_of(q).dtype.kind in "iu"
    if not isinstance(q, Tracer):
        weak = q.__class__ in (int, float)  # widens nothing, as in NumPy
        q = concrete_namespace(x).asarray(q, dtype=tangent_dtype(aval_of(x if weak else q).dtype))
    low, high, part = neighbours(q.reshape((q.size,)), n, method)
    ranks = concatenate(low, high, axis=0).astype(np.intp)
    found = _ranked(x, concatenate(ranks, _integers(x, n - 1), axis=0))
    below, above = found[..., : q.size], found[..., q.size : -1]
    if method not in CHOOSING and not whole_shares:
        below = between_elements(below, above, part)
    y = _nan_if_any(below, found[..., -1:])
    y = transpose(y, axes=(len(lead), *range(len(lead))))
    return y.reshape(q.shape + lead)


def percentile(x: Any, q: Any, /, *, axis: Axes, method: str = "linear") -> Any:
    """`quantile` of a share given in percent.

    >>> percentile(np.array([1.0, 2.0, 3.0]), 25, axis=(0,)).tolist()
    1.5
    """
    return quantile(x, q / 100, axis=axis, method=method)
