"""Histograms: of numbers, of pairs and of vectors of any length; and the edges of their bins."""

from __future__ import annotations

import operator
from collections.abc import Iterable
from typing import Any

import numpy as np

from ..core import aval_of
from ..errors import ShapeError, where
from ..indexing import known
from ..ops.cumulative import part
from ..ops.index import scatter_add
from ..ops.index_layout import ArrayIndex
from ..ops.join import concatenate
from ..ops.logic import equal
from ..ops.reduce import max as _max
from ..ops.reduce import min as _min
from ..ops.select import where as _where
from ..ops.structural import reshape
from ._arguments import array_of, arrays_of, beside, concrete, converted, host, stacked
from .elementwise import clip
from .searching import searchsorted
from .shaping import ravel


def histogram_bin_edges(a: Any, bins: Any = 10, range: Any = None, weights: Any = None) -> Any:
    """The edges of the bins that `histogram` takes: given, or at equal distances over all elements.

    Shapes: ``(*a) -> (bins + 1,)``.   Dtypes: real numbers.
    Derivative: that of the smallest and largest elements, or of the `range` or edges given.
    Raises: ConcretizationError: `bins` names a rule for their number, and the values are not known.
    ValueError: edges that descend, no bins, a `range` that is not finite or descends.
    Source: NumPy reference, ``numpy.histogram_bin_edges``.

    >>> histogram_bin_edges([0.0, 4.0], 2).tolist()
    [0.0, 2.0, 4.0]
    """
    a = array_of(a)
    if isinstance(bins, str):
        limits = None if range is None else _floats(host("histogram", "range", v) for v in range)
        values = host("histogram", "a", a)
        bins = np.histogram_bin_edges(values, bins, limits).size - 1
    edges = _edges("histogram", ravel(a), bins, range)
    if not _floating(a):
        return edges
    return converted(edges, _beside_numbers(a.dtype, range)) if np.ndim(bins) == 0 else edges


def _floats(ends: Iterable[Any]) -> tuple[float, float]:
    low, high = ends
    return float(low), float(high)


def _floating(x: Any) -> bool:
    return x.dtype.kind == "f"


def _beside_numbers(dtype: Any, limits: Any) -> Any:
    """The dtype of edges over elements of a floating dtype: Python's numbers do not widen it."""
    given = [] if limits is None else [v for v in limits if not isinstance(v, int | float)]
    return np.result_type(dtype, *(aval_of(v).dtype for v in given))


def _edges(name: str, x: Any, bins: Any, limits: Any) -> Any:
    """The edges along one axis, by NumPy's rules: a number of bins, or edges as they are."""
    if not isinstance(bins, int | np.integer):
        bins = stacked(bins)
        if bins.ndim:
            if known(bins) is not None:
                # This raises if they descend.
                np.histogram_bin_edges(np.zeros(0), host(name, "bins", bins))
            return bins
        bins = concrete(name, "bins", bins)
    count = operator.index(bins)
    if limits is not None:
        low, high = limits
    else:
        low, high = (f(x, axis=(0,)) for f in (_min, _max)) if x.shape[0] else (0.0, 1.0)
    low, high = (beside(x, v) if isinstance(v, int | float) else v for v in (low, high))
    low, high = (v if aval_of(v).dtype.kind == "f" else converted(v, float) for v in (low, high))
    values = [known(v) for v in (low, high)]
    if all(v is not None for v in values):
        ends = _floats(values)
        empty = np.array(ends) if limits is None else np.zeros(0)
        np.histogram_bin_edges(empty, count, None if limits is None else ends)  # raises
    same = equal(low, high)
    low, high = _where(same, low - 0.5, low), _where(same, high + 0.5, high)
    # As NumPy's `linspace` rounds, so that points on an edge are on it here.
    inner = beside(x, np.arange(count)).astype(low.dtype) * ((high - low) / count) + low
    return concatenate(inner, reshape(high, shape=(1,)), axis=0)


def histogram(
    a: Any, bins: Any = 10, range: Any = None, density: bool | None = None, weights: Any = None
) -> Any:
    """How many elements lie in each bin, or the sum of their weights, and the edges of the bins.

    A bin has its lower edge, the last one both. With `density`, over the total and the bins' widths.

    Shapes: ``(*a) -> (bins,), (bins + 1,)``.   Dtypes: real numbers; counts are integers.
    Derivative: of counts zero, since elements jump from bin to bin; linear in the weights; edges
    and widths move with the smallest and largest elements, or as the `range` or edges given.
    Raises: as `histogram_bin_edges`. ShapeError: weights of another shape.
    Source: NumPy reference, ``numpy.histogram``.

    >>> histogram([0.0, 1.0, 3.0, 4.0], 2, weights=[1.0, 2.0, 3.0, 4.0])[0].tolist()
    [3.0, 7.0]
    """
    edges = histogram_bin_edges(a, bins, range)
    w = np.int64(1) if weights is None else weights
    a, w = arrays_of(a, w)
    if weights is not None and w.shape != a.shape:
        raise ShapeError(
            f"fnp.histogram: weights of shape {list(w.shape)} for values of shape {list(a.shape)}; "
            f"need one for each{where()}"
        )
    inside, places = _places(ravel(a), edges)
    terms = _where(inside, w if weights is None else ravel(w), 0)
    found = scatter_add(terms, places, shape=(edges.shape[0] - 1,), index=(ArrayIndex(0),))
    if density:
        found = found / _widths(edges) / found.sum()
    return found, edges


def _places(x: Any, edges: Any) -> tuple[Any, Any]:
    """Which elements lie between the edges, and in which bin."""
    edges = beside(x, edges) if isinstance(edges, np.ndarray) else edges
    inside = (x >= edges[0]) & (x <= edges[-1])
    return inside, clip(searchsorted(edges, x, side="right") - 1, 0, edges.shape[0] - 2)


def _widths(edges: Any) -> Any:
    n = edges.shape[0] - 1
    return part(edges, 0, 1, n + 1) - part(edges, 0, 0, n)


def histogramdd(
    sample: Any, bins: Any = 10, range: Any = None, density: bool | None = None, weights: Any = None
) -> tuple[Any, tuple[Any, ...]]:
    """How many points lie in each box, or the sum of their weights, and the edges along every axis.

    `sample` has a row for each point, or is a list of the coordinates.

    Shapes: ``(n, d) -> (*bins), d times (bins + 1,)``.   Dtypes: real numbers; gives floats.
    Derivative: of counts zero, since points jump from box to box; linear in the weights; edges and
    widths move with the smallest and largest coordinates, or as the `range` or edges given.
    Raises: ShapeError: weights that are not one for each point, or bins not for each axis.
    ValueError: edges that descend, no bins, a `range` that is not finite or descends.
    Source: NumPy reference, ``numpy.histogramdd``.

    >>> histogramdd([[0.0, 1.0, 3.0], [0.0, 4.0, 4.0]], 2)[0].tolist()
    [[1.0, 1.0], [0.0, 1.0]]
    """
    listed = isinstance(sample, list | tuple)
    points = array_of(stacked(sample) if listed else sample)
    points = points.T if listed or points.ndim < 2 else points
    points = points if points.ndim == 2 else points.reshape((-1, 1))
    count, dims = points.shape
    edges = _edges_along(points, bins, range)
    terms = beside(points, np.ones(count)) if weights is None else array_of(weights)
    if aval_of(terms).shape != (count,):
        raise ShapeError(
            f"fnp.histogramdd: weights of shape {list(aval_of(terms).shape)} for {count} "
            f"points{where()}"
        )
    inside, place = beside(points, np.ones(count, bool)), beside(points, np.zeros(count, int))
    for k, limits in enumerate(edges):
        there, found = _places(points[:, k], limits)
        inside, place = inside & there, place * (limits.shape[0] - 1) + found
    shape = tuple(limits.shape[0] - 1 for limits in edges)
    chosen = _where(inside, converted(terms, float), 0.0)
    size = int(np.prod(shape))
    table = scatter_add(chosen, place, shape=(size,), index=(ArrayIndex(0),)).reshape(shape)
    if density:
        for k, limits in enumerate(edges):
            width = _widths(limits).reshape([-1 if i == k else 1 for i in np.arange(dims)])
            table = table / (beside(table, width) if isinstance(width, np.ndarray) else width)
        table = table / chosen.sum()
    return table, edges


def _edges_along(points: Any, bins: Any, limits: Any) -> tuple[Any, ...]:
    """The edges along every axis; `bins` and `limits` for all of them, or for each."""
    dims = points.shape[1]
    each = [bins] * dims if isinstance(bins, int | np.integer) else list(bins)
    within = [None] * dims if limits is None else list(limits)
    if len(each) != dims or len(within) != dims:
        raise ShapeError(
            f"fnp.histogramdd: {len(each)} bins and {len(within)} ranges for points of {dims} "
            f"coordinates; need one for each{where()}"
        )
    return tuple(
        _edges("histogramdd", points[:, k], b, r)
        for k, (b, r) in enumerate(zip(each, within, strict=True))
    )


def histogram2d(
    x: Any,
    y: Any,
    bins: Any = 10,
    range: Any = None,
    density: bool | None = None,
    weights: Any = None,
) -> tuple[Any, Any, Any]:
    """How many points (x, y) lie in each box, or the sum of their weights, and the edges.

    Shapes: ``(n,), (n,) -> (bins, bins), (bins + 1,), (bins + 1,)``.
    Dtypes: real numbers; gives floats.
    Derivative: as `histogramdd`.   Raises: as `histogramdd`. ShapeError: `x` and `y` differ in length.
    Source: NumPy reference, ``numpy.histogram2d``.

    >>> histogram2d([0.0, 1.0, 3.0], [0.0, 4.0, 4.0], 2)[0].tolist()
    [[1.0, 1.0], [0.0, 1.0]]
    """
    if not isinstance(bins, int | np.integer) and len(bins) not in (1, 2):
        bins = [stacked(bins)] * 2  # the edges along both
    table, (first, second) = histogramdd([x, y], bins, range, density, weights)
    return table, first, second
