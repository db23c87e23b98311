"""Histograms of points: of pairs, and of vectors of any length."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core import aval_of
from ..errors import ShapeError, where
from ..ops.index import scatter_add
from ..ops.index_layout import ArrayIndex
from ..ops.select import where as _where
from ._arguments import array_of, beside, converted, host, stacked
from .elementwise import clip
from .searching import searchsorted


def histogramdd(
    sample: Any, bins: Any = 10, range: Any = None, density: bool | None = None, weights: Any = None
) -> tuple[Any, tuple[Any, ...]]:
    """How many points lie in each box, or the sum of their weights, and the edges along every axis.

    `sample` has a row for each point, or is a list of the coordinates.

    Shapes: ``(n, d) -> (*bins), d times (bins + 1,)``.   Dtypes: real numbers; gives floats.
    Derivative: zero by the points, which jump from box to box; linear in the weights.
    Raises: ConcretizationError: the values are not known, and edges or a range are not given.
    ShapeError: weights that are not one for each point.
    Source: NumPy reference, ``numpy.histogramdd``.

    >>> histogramdd([[0.0, 1.0, 3.0], [0.0, 4.0, 4.0]], 2)[0].tolist()
    [[1.0, 1.0], [0.0, 1.0]]
    """
    listed = isinstance(sample, list | tuple)
    points = array_of(stacked(sample) if listed else sample)
    points = points.T if listed or points.ndim < 2 else points
    points = points if points.ndim == 2 else points.reshape((-1, 1))
    count, dims = points.shape
    edges = _edges(points, dims, bins, range)
    terms = beside(points, np.ones(count)) if weights is None else array_of(weights)
    if aval_of(terms).shape != (count,):
        raise ShapeError(
            f"fnp.histogramdd: weights of shape {list(aval_of(terms).shape)} for {count} "
            f"points{where()}"
        )
    inside, place = beside(points, np.ones(count, bool)), beside(points, np.zeros(count, int))
    for k, limits in enumerate(edges):
        x, boxes = points[:, k], limits.size - 1
        there = beside(x, limits)
        inside = inside & (x >= there[0]) & (x <= there[-1])
        found = searchsorted(there, x, side="right") - 1
        place = place * boxes + clip(found, 0, boxes - 1)
    shape = tuple(limits.size - 1 for limits in edges)
    chosen = _where(inside, converted(terms, float), 0.0)
    size = int(np.prod(shape))
    table = scatter_add(chosen, place, shape=(size,), index=(ArrayIndex(0),)).reshape(shape)
    if density:
        for k, limits in enumerate(edges):
            width = np.diff(limits).reshape([-1 if i == k else 1 for i in np.arange(dims)])
            table = table / beside(table, width)
        table = table / chosen.sum()
    return table, edges


def _edges(points: Any, dims: int, bins: Any, range: Any) -> tuple[np.ndarray, ...]:
    """The edges along every axis, by NumPy's rules."""
    bins = _plain_bins(bins)
    given = isinstance(bins, list) and all(np.ndim(b) == 1 for b in bins)
    ranges = range is not None and all(r is not None for r in range)
    values = np.zeros((0, dims)) if given or ranges else host("histogramdd", "sample", points)
    return tuple(np.histogramdd(values, bins, range)[1])


def _plain_bins(bins: Any) -> Any:
    """Numbers of boxes, and edges as arrays of NumPy's."""
    if isinstance(bins, list | tuple) and not all(isinstance(b, float) for b in bins):
        return type(bins)(map(_plain_bins, bins))
    return bins if isinstance(bins, int | np.integer) else host("histogramdd", "bins", bins)


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
    Derivative: zero by the points, which jump from box to box; linear in the weights.
    Raises: ConcretizationError: the values are not known, and edges or a range are not given.
    ShapeError: `x` and `y` differ in length.
    Source: NumPy reference, ``numpy.histogram2d``.

    >>> histogram2d([0.0, 1.0, 3.0], [0.0, 4.0, 4.0], 2)[0].tolist()
    [[1.0, 1.0], [0.0, 1.0]]
    """
    bins = _plain_bins(bins)
    if not isinstance(bins, int | np.integer) and len(bins) not in (1, 2):
        bins = [np.asarray(bins, float)] * 2  # the edges along both
    table, (first, second) = histogramdd([x, y], bins, range, density, weights)
    return table, first, second
