"""Medians and quantiles that leave NaN out. Slices of nothing but NaN give NaN."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..errors import ArgumentError, ShapeError
from ..errors import where as _line
from ..ops import sort as _sort
from ..ops.arithmetic import multiply
from ..ops.index import take_along_axis
from ..ops.join import concatenate
from ..ops.logic import equal, isnan, logical_not
from ..ops.rounding import floor
from ..ops.select import maximum, minimum, where
from ..ops.structural import reshape, transpose
from . import searching as _searching
from ._arguments import array_of, axes_of, converted, refuse, written
from .statistics import shares


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
    return _nanquantile("nanmedian", a, 0.5, axis, "linear", keepdims, between=_middle)


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
    """`quantile` of the elements that are not NaN, with the method "linear".

    Shapes: ``a: (*a, n, *b), q: (*q) -> (*q, *a, *b)``, n > 0.
    Dtypes: real numbers; integers give float64.
    Derivative: that of the elements taken, and their difference by `q`.
    Raises: ShapeError: there is nothing along the axes. ArgumentError: another method, or weights=.
    Source: NumPy reference, ``numpy.nanquantile``.

    >>> float(nanquantile([3.0, np.nan, 1.0], 0.25))
    1.5
    """
    if out is not None or weights is not None:
        refuse("nanquantile", out=out, weights=weights)
    return _nanquantile("nanquantile", a, q, axis, method, keepdims)


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
    Dtypes: real numbers; integers give float64.
    Derivative: that of the elements taken, and their difference by `q`.
    Raises: ShapeError: there is nothing along the axes. ArgumentError: another method, or weights=.
    Source: NumPy reference, ``numpy.nanpercentile``.

    >>> float(nanpercentile([3.0, np.nan, 1.0], 25))
    1.5
    """
    if out is not None or weights is not None:
        refuse("nanpercentile", out=out, weights=weights)
    return _nanquantile("nanpercentile", a, q, axis, method, keepdims, 100)


def _on_the_line(below: Any, above: Any, share: Any) -> Any:
    return below + (above - below) * share


def _middle(below: Any, above: Any, share: Any) -> Any:
    """The element in the middle, or the mean of two: infinite ones have no difference."""
    return where(equal(share, 0.0), below, (below + above) / 2)


def _nanquantile(
    name: str,
    a: Any,
    q: Any,
    axis: Any,
    method: str,
    keepdims: bool,
    whole: int = 1,
    between: Callable[[Any, Any, Any], Any] = _on_the_line,
) -> Any:
    """The elements sorted, NaN last, and the position counted among the numbers of each slice."""
    if method != "linear":
        raise ArgumentError(f"fnp.{name}: method={method!r}; only 'linear' leaves NaN out{_line()}")
    a = array_of(a)
    if a.dtype.kind not in "fc":
        a = converted(a, float)
    q = shares(name, q, a, whole)
    axes = axes_of(name, axis, a.ndim)
    rest = tuple(i for i in range(a.ndim) if i not in axes)
    kept = tuple(1 if i in axes else n for i, n in enumerate(a.shape))
    lead = tuple(a.shape[i] for i in rest)
    n = math.prod(a.shape[i] for i in axes)
    if n == 0:
        raise ShapeError(f"fnp.{name}: no elements along the axes {axes}{_line()}")
    rows = reshape(transpose(a, axes=rest + axes), shape=(*lead, n))
    count = _searching.count_nonzero(logical_not(isnan(rows)), axis=-1, keepdims=True)
    top = converted(maximum(count - 1, 0), a.dtype)
    position = multiply(reshape(q, shape=(q.size,)), top)
    low = floor(position)
    high = minimum(low + 1, top)
    ranks = converted(concatenate(low, high, axis=len(lead)), np.intp)
    places = _sort.argrank(rows, ranks, axis=len(lead))
    found = take_along_axis(rows, places, axis=len(lead), bounds="known")
    below, above = found[..., : q.size], found[..., q.size :]
    y = between(below, above, position - low)
    y = transpose(y, axes=(len(lead), *range(len(lead))))
    return reshape(y, shape=q.shape + (kept if keepdims else lead))
