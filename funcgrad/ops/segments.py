"""Rows that belong together as one: sums, products and extremes of segments, as ``jax.ops`` has them.

Layer 3½, with `funcgrad.numpy`; `funcgrad.ops` shows these functions when they are looked at.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from ..algebra import concrete_namespace
from ..core import aval_of
from ..errors import ArgumentError, ConcretizationError, ShapeError, where
from ..indexing import known
from ..numpy._arguments import arrays_of
from . import select
from .cast import astype
from .cumulative import cumsum, part
from .groups import group_max, group_min, group_sum
from .index import take
from .join import concatenate
from .logic import equal, logical_and, logical_or
from .sort import argsort

MODES = (None, "promise_in_bounds", "drop", "fill", "clip")
Grouped = Callable[[Any, Any, int], Any]


# ---------------------------------------------------------------- arguments


def _segments(
    name: str,
    grouped: Grouped,
    data: Any,
    segment_ids: Any,
    num_segments: Any,
    bucket_size: Any,
    mode: Any,
    kinds: str,
) -> Any:
    """``grouped(data, places, count)`` of arguments that are checked.

    Raises: what the public functions say.
    """
    data, ids = arrays_of(data, segment_ids)
    _require_rows(name, aval_of(data), aval_of(ids), kinds)
    if bucket_size is not None:
        raise ArgumentError(
            f"ops.{name}: bucket_size={bucket_size!r} is not supported; rows are taken together in "
            f"their order{where()}"
        )
    if mode not in MODES:
        raise ArgumentError(f"ops.{name}: mode={mode!r}; need one of {MODES}{where()}")
    ids = astype(ids, np.intp)
    count = _count(name, ids, num_segments)
    if mode == "clip":
        return grouped(data, select.minimum(select.maximum(ids, 0), count - 1), count)
    outside = logical_or(ids < 0, ids >= count)
    if mode in ("drop", "fill"):
        y = grouped(data, select.where(outside, count, ids), count + 1)
        return part(y, 0, 0, count)
    _require_inside(name, ids, count)
    if known(ids) is None:
        ids = select.where(outside, count, ids)  # NumPy would count from the end
    return grouped(data, ids, count)


def _require_rows(name: str, data: Any, ids: Any, kinds: str) -> None:
    if data.dtype.kind not in kinds:
        hint = "; make integers of booleans" if data.dtype.kind == "b" else ""
        raise ArgumentError(f"ops.{name}: data is {data}, which has no {name[8:]}{hint}{where()}")
    if ids.dtype.kind not in "iu" and ids.size:
        raise ArgumentError(f"ops.{name}: segment_ids is {ids}; need integers{where()}")
    if ids.ndim != 1 or data.shape[:1] != ids.shape:
        raise ShapeError(
            f"ops.{name}: segment_ids is {ids} for data {data}; need one number for each row{where()}"
        )


def _count(name: str, ids: Any, num_segments: Any) -> int:
    """How many segments there are; without `num_segments`, one more than the largest number.

    Raises: ConcretizationError: that is not known while the function is traced.
    """
    if num_segments is None:
        found = known(ids)
        if found is None:
            raise ConcretizationError(
                f"ops.{name}: num_segments is needed where segment_ids are traced ({ids!r}), since "
                f"the shape of the result depends on them{where()}"
            )
        return max(int(found.max()) + 1, 0) if found.size else 0
    try:
        count = operator.index(num_segments)
    except TypeError:
        raise ArgumentError(
            f"ops.{name}: num_segments must be an integer that is known while tracing, found "
            f"{num_segments!r}{where()}"
        ) from None
    if count < 0:
        raise ArgumentError(f"ops.{name}: num_segments={count} is negative{where()}")
    return count


def _require_inside(name: str, ids: Any, count: int) -> None:
    found = known(ids)
    if found is None or not found.size:
        return
    least, greatest = int(found.min()), int(found.max())
    if least < 0 or greatest >= count:
        raise IndexError(
            f"ops.{name}: segment_ids has {least if least < 0 else greatest}, which is none of "
            f'{count} segments; mode="drop" leaves out such rows{where()}'
        )


# ---------------------------------------------------------------- sums, products, extremes


def segment_sum(
    data: Any,
    segment_ids: Any,
    num_segments: int | None = None,
    indices_are_sorted: bool = False,
    unique_indices: bool = False,
    bucket_size: None = None,
    mode: str | None = None,
) -> Any:
    """``y_k = sum x_i`` over the rows i with ``segment_ids_i = k``; 0 of none.

    `num_segments` is one more than the largest number if it is not given. Numbers that are none of
    the segments raise; with `mode` "drop" (or "fill"), JAX's default, their rows are left out, and
    with "clip" they go to the first or the last segment. The other options promise what changes
    nothing here.

    Shapes: ``data: (n, *a), segment_ids: (n,) -> (num_segments, *a)``.   Dtypes: numbers; integers
    do not widen.
    Derivative: linear in `data`.
    Raises: IndexError: a number is none of the segments. ShapeError: not one number for each row.
    ArgumentError: booleans, or an option is of another kind. ConcretizationError: `num_segments` is
    not given and the numbers are traced.
    Source: JAX reference, ``jax.ops.segment_sum``.

    >>> segment_sum(np.array([1.0, 2.0, 4.0]), np.array([0, 0, 2])).tolist()
    [3.0, 0.0, 4.0]
    """

    def grouped(x: Any, places: Any, count: int) -> Any:
        return group_sum(x, places, count=count)

    options = num_segments, bucket_size, mode
    return _segments("segment_sum", grouped, data, segment_ids, *options, "iufc")


def segment_prod(
    data: Any,
    segment_ids: Any,
    num_segments: int | None = None,
    indices_are_sorted: bool = False,
    unique_indices: bool = False,
    bucket_size: None = None,
    mode: str | None = None,
) -> Any:
    """``y_k = prod x_i`` over the rows i with ``segment_ids_i = k``; 1 of none.

    Options as in `segment_sum`.

    Shapes: ``data: (n, *a), segment_ids: (n,) -> (num_segments, *a)``.   Dtypes: numbers; integers
    do not widen.
    Derivative: the product of the others, without a division: zeros are nothing special.
    Raises: as `segment_sum`.
    Source: JAX reference, ``jax.ops.segment_prod``.

    >>> segment_prod(np.array([1.0, 2.0, 4.0]), np.array([0, 2, 2])).tolist()
    [1.0, 1.0, 8.0]
    """
    options = num_segments, bucket_size, mode
    return _segments("segment_prod", _products, data, segment_ids, *options, "iufc")


def _products(x: Any, places: Any, count: int) -> Any:
    """Rows in the order of their places, multiplied in pairs, then the products in pairs, and so on.

    What is not needed stays as it is, so that nothing infinite meets a cotangent of 0.
    """
    (n, *rest), xp = aval_of(x).shape, concrete_namespace(x)
    if not n:
        return xp.ones((count, *rest), dtype=aval_of(x).dtype)
    number = group_sum(xp.ones(n, np.intp), places, count=count)
    first = select.minimum(cumsum(number, axis=0, reverse=False) - number, n - 1)
    order = argsort(places, axis=0)
    x, places = take(x, order, axis=0, bounds="known"), places[order]
    rank = xp.arange(n) - first[places]
    column = (-1, *(1,) * len(rest))
    reach, longest = 1, _longest(number, n)
    while reach < longest:
        same = equal(part(places, 0, reach), part(places, 0, 0, n - reach))
        pair = logical_and(same, equal(part(rank, 0, 0, n - reach) % (2 * reach), 0))
        pair, early = pair.reshape(column), part(x, 0, 0, n - reach)
        product = select.where(pair, early, 1) * select.where(pair, part(x, 0, reach), 1)
        x = concatenate(select.where(pair, product, early), part(x, 0, n - reach), axis=0)
        reach *= 2
    return select.where((number > 0).reshape(column), take(x, first, axis=0, bounds="known"), 1)


def _longest(number: Any, n: int) -> int:
    """How many rows the largest group has, or might have."""
    found = known(number)
    return n if found is None else int(found.max()) if found.size else 0


def segment_max(
    data: Any,
    segment_ids: Any,
    num_segments: int | None = None,
    indices_are_sorted: bool = False,
    unique_indices: bool = False,
    bucket_size: None = None,
    mode: str | None = None,
) -> Any:
    """``y_k = max x_i`` over the rows i with ``segment_ids_i = k``; the least number of none.

    That is -inf, or the least integer. Options as in `segment_sum`.

    Shapes: ``data: (n, *a), segment_ids: (n,) -> (num_segments, *a)``.   Dtypes: real.
    Derivative: that of the largest element; equal ones share evenly; NaN at NaN; 0 of none.
    Raises: as `segment_sum`; complex numbers.
    Source: JAX reference, ``jax.ops.segment_max``.

    >>> segment_max(np.array([1.0, 2.0, 4.0]), np.array([0, 0, 2])).tolist()
    [2.0, -inf, 4.0]
    """

    def grouped(x: Any, places: Any, count: int) -> Any:
        return group_max(x, places, count=count)

    options = num_segments, bucket_size, mode
    return _segments("segment_max", grouped, data, segment_ids, *options, "biuf")


def segment_min(
    data: Any,
    segment_ids: Any,
    num_segments: int | None = None,
    indices_are_sorted: bool = False,
    unique_indices: bool = False,
    bucket_size: None = None,
    mode: str | None = None,
) -> Any:
    """``y_k = min x_i`` over the rows i with ``segment_ids_i = k``; the largest number of none.

    That is inf, or the largest integer. Options as in `segment_sum`.

    Shapes: ``data: (n, *a), segment_ids: (n,) -> (num_segments, *a)``.   Dtypes: real.
    Derivative: that of the smallest element; equal ones share evenly; NaN at NaN; 0 of none.
    Raises: as `segment_sum`; complex numbers.
    Source: JAX reference, ``jax.ops.segment_min``.

    >>> segment_min(np.array([1.0, 2.0, 4.0]), np.array([0, 0, 2])).tolist()
    [1.0, inf, 4.0]
    """

    def grouped(x: Any, places: Any, count: int) -> Any:
        return group_min(x, places, count=count)

    options = num_segments, bucket_size, mode
    return _segments("segment_min", grouped, data, segment_ids, *options, "biuf")
