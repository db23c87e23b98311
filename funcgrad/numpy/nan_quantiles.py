"""Medians and quantiles that leave NaN out. Slices of nothing but NaN give NaN."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..errors import ShapeError
from ..errors import where as _line
from ..ops import sort as _sort
from ..ops.index import take_along_axis
from ..ops.join import concatenate
from ..ops.logic import equal, isnan, logical_not
from ..ops.select import maximum, where
from ..ops.structural import reshape, transpose
from . import searching as _searching
from ._arguments import array_of, axes_of, converted, written
from .statistics import quantile_of, shares, weighted_quantile


def nanmedian(
    a: Any,
    axis: Any = None,
    out: Any = None,
    overwrite_input: bool = False,
    keepdims: bool = False,
) -> Any:
    """`median` of the elements that are not NaN.

    Shapes: ``a: (*a, n, *b) -> (*a, *b)``, n > 0.   Dtypes: real numbers; integers give float64.
    Derivative: that of the elements taken: 1, or 1/2 each.
    Raises: ShapeError: an axis does not exist, or there is nothing along it.
    Source: NumPy reference, ``numpy.nanmedian``.

    >>> float(nanmedian([3.0, np.nan, 1.0]))
    2.0
    """
    if out is not None:
        return written(
            "fnp.nanmedian with out=", nanmedian(a, axis, None, overwrite_input, keepdims), out
        )
    a = array_of(a)
    if a.dtype.kind not in "fc":
        a = converted(a, float)
    return _nanquantile("nanmedian", a, 0.5, axis, keepdims, between=_middle)


def nanquantile(
    a: Any,
    q: Any,
    axis: Any = None,
    out: Any = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: bool = False,
    *,
    weights: Any = None,
) -> Any:
    """`quantile` of the elements that are not NaN.

    Shapes: ``a: (*a, n, *b), q: (*q) -> (*q, *a, *b)``, n > 0.
    Dtypes: real numbers; integers as in `quantile`.
    Derivative: that of the elements taken, and their difference by `q`; zero by `weights`.
    Raises: ShapeError, ArgumentError: as `quantile`.
    Source: NumPy reference, ``numpy.nanquantile``.

    >>> float(nanquantile([3.0, np.nan, 1.0], 0.25))
    1.5
    """
    if out is not None:
        y = nanquantile(a, q, axis, None, overwrite_input, method, keepdims, weights=weights)
        return written("fnp.nanquantile with out=", y, out)
    return _nanquantile("nanquantile", a, q, axis, keepdims, method, weights)


def nanpercentile(
    a: Any,
    q: Any,
    axis: Any = None,
    out: Any = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: bool = False,
    *,
    weights: Any = None,
) -> Any:
    """`nanquantile` of a share given in percent.

    Shapes: ``a: (*a, n, *b), q: (*q) -> (*q, *a, *b)``, n > 0.
    Dtypes: real numbers; integers as in `quantile`.
    Derivative: that of the elements taken, and their difference by `q`; zero by `weights`.
    Raises: ShapeError, ArgumentError: as `quantile`.
    Source: NumPy reference, ``numpy.nanpercentile``.

    >>> float(nanpercentile([3.0, np.nan, 1.0], 25))
    1.5
    """
    if out is not None:
        y = nanpercentile(a, q, axis, None, overwrite_input, method, keepdims, weights=weights)
        return written("fnp.nanpercentile with out=", y, out)
    return _nanquantile("nanpercentile", a, q, axis, keepdims, method, weights, whole=100)


def _middle(below: Any, above: Any, share: Any) -> Any:
    """The element in the middle, or the mean of two: infinite ones have no difference."""
    return where(equal(share, 0.0), below, (below + above) / 2)


def _nanquantile(
    name: str,
    a: Any,
    q: Any,
    axis: Any,
    keepdims: bool,
    method: str = "linear",
    weights: Any = None,
    whole: int = 1,
    between: Callable[[Any, Any, Any], Any] = _sort.between_elements,
) -> Any:
    a = array_of(a)
    if a.dtype.kind not in "fc":
        return quantile_of(name, a, q, axis, method, keepdims, whole, weights)
    q = shares(name, q, a, whole, integers=method == "linear" and whole == 1)
    axes = axes_of(name, axis, a.ndim)
    lead = tuple(n for i, n in enumerate(a.shape) if i not in axes)
    kept = tuple(1 if i in axes else n for i, n in enumerate(a.shape))
    if not math.prod(a.shape[i] for i in axes):
        raise ShapeError(f"fnp.{name}: no elements along the axes {axes}{_line()}")
    if weights is None:
        y = _of_numbers(a, q, axes, method, between)
    else:
        y = weighted_quantile(name, a, q, axes, weights, method, skips_nan=True)
    return reshape(y, shape=q.shape + (kept if keepdims else lead))


def _of_numbers(
    a: Any, q: Any, axes: tuple[int, ...], method: str, between: Callable[[Any, Any, Any], Any]
) -> Any:
    """The elements sorted, NaN last, and the position counted among the numbers of each slice."""
    rest = tuple(i for i in range(a.ndim) if i not in axes)
    last = len(rest)
    shape = (*(a.shape[i] for i in rest), math.prod(a.shape[i] for i in axes))
    rows = reshape(transpose(a, axes=rest + axes), shape=shape)
    count = _searching.count_nonzero(logical_not(isnan(rows)), axis=-1, keepdims=True)
    whole_shares = method == "linear" and q.dtype.kind in "iu"  # ask for an element
    n = converted(maximum(count, 1), q.dtype if q.dtype.kind == "f" else a.dtype)
    low, high, part = _sort.neighbours(reshape(q, shape=(q.size,)), n, method)
    ranks = converted(concatenate(low, high, axis=last), np.intp)
    places = _sort.argrank(rows, ranks, axis=last)
    found = take_along_axis(rows, places, axis=last, bounds="known")
    y, above = found[..., : q.size], found[..., q.size :]
    if method not in _sort.CHOOSING and not whole_shares:
        y = between(y, above, part)
    return transpose(y, axes=(last, *range(last)))
