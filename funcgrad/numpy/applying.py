"""Functions applied along axes, and counts of values between edges."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..errors import ArgumentError, ShapeError, where
from ..indexing import known
from ..ops.index import scatter_add
from ..ops.index_layout import ArrayIndex
from ..ops.join import stack
from ..ops.structural import reshape
from ._arguments import array_of, arrays_of, axis_of, beside, host
from .elementwise import clip
from .indexing import where as _where
from .ordering import moveaxis
from .searching import searchsorted
from .shaping import expand_dims, ravel


def apply_along_axis(
    func1d: Callable[..., Any], axis: int, arr: Any, *args: Any, **kwargs: Any
) -> Any:
    """``func1d(slice, ...)`` of every slice along an axis, one after another.

    `vmap` does the same for all slices at once.

    Shapes: ``arr: (*a, n, *b) -> (*a, *found, *b)`` for results of shape `found`.
    Dtypes: the function's.   Derivative: the function's.
    Raises: ShapeError: the axis does not exist. ArgumentError: there is no slice.
    Source: NumPy reference, ``numpy.apply_along_axis``.

    >>> apply_along_axis(np.sum, 1, np.array([[1.0, 2.0], [3.0, 4.0]])).tolist()
    [3.0, 7.0]
    """
    arr = array_of(arr)
    axis = axis_of("apply_along_axis", axis, arr.ndim)
    slices = moveaxis(arr, axis, -1)
    lead = slices.shape[:-1]
    found = [array_of(func1d(slices[place], *args, **kwargs)) for place in np.ndindex(*lead)]
    if not found:
        raise ArgumentError(
            f"fnp.apply_along_axis: an array of shape {list(arr.shape)} has no slice to apply a "
            f"function to{where()}"
        )
    out = reshape(stack(found, axis=0), shape=lead + found[0].shape)
    own = tuple(range(len(lead), out.ndim))
    return moveaxis(out, own, tuple(range(axis, axis + len(own))))


def apply_over_axes(func: Callable[[Any, int], Any], a: Any, axes: Any) -> Any:
    """``func(x, axis)`` for one axis after another, each kept with length 1 if `func` drops it.

    Shapes: as described.   Dtypes: the function's.   Derivative: the function's.
    Raises: ShapeError: an axis does not exist, or `func` gives another number of axes.
    Source: NumPy reference, ``numpy.apply_over_axes``.

    >>> apply_over_axes(np.sum, np.ones((2, 3)), (0, 1)).tolist()
    [[6.0]]
    """
    a = array_of(a)
    for axis in axes if isinstance(axes, tuple | list) else (axes,):
        axis = axis_of("apply_over_axes", axis, a.ndim)
        found = array_of(func(a, axis))
        a, ndim = expand_dims(found, axis) if found.ndim == a.ndim - 1 else found, a.ndim
        if a.ndim != ndim:
            raise ShapeError(
                f"fnp.apply_over_axes: the function gave {found.ndim} axes for {ndim}; need as many "
                f"or one less{where()}"
            )
    return a


def histogram_bin_edges(a: Any, bins: Any = 10, range: Any = None, weights: Any = None) -> Any:
    """The edges of the bins that `histogram` takes.

    Shapes: ``(*a) -> (bins + 1,)``.   Dtypes: real numbers.
    Derivative: zero; the edges are plain numbers.
    Raises: ConcretizationError: the values are not known, and edges or a range are not given.
    Source: NumPy reference, ``numpy.histogram_bin_edges``.

    >>> histogram_bin_edges([0.0, 4.0], 2).tolist()
    [0.0, 2.0, 4.0]
    """
    bins = bins if isinstance(bins, str) else known(bins)
    enough = np.ndim(bins) == 1 or (range is not None and not isinstance(bins, str))
    values = np.zeros(0) if enough else host("histogram", "a", a)
    return np.histogram_bin_edges(values, bins, range)


def histogram(
    a: Any, bins: Any = 10, range: Any = None, density: bool | None = None, weights: Any = None
) -> Any:
    """How many elements lie in each bin, or the sum of their weights, and the edges of the bins.

    A bin has its lower edge, the last one both. With `density`, over the total and the bins' widths.

    Shapes: ``(*a) -> (bins,), (bins + 1,)``.   Dtypes: real numbers; counts are integers.
    Derivative: zero by the elements, which jump from bin to bin; linear in the weights.
    Raises: ConcretizationError: the values are not known, and edges or a range are not given.
    ShapeError: weights of another shape.
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
    x, count, limits = ravel(a), edges.size - 1, beside(a, edges)
    inside = (x >= limits[0]) & (x <= limits[-1])
    places = clip(searchsorted(limits, x, side="right") - 1, 0, count - 1)
    terms = _where(inside, w if weights is None else ravel(w), 0)
    found = scatter_add(terms, places, shape=(count,), index=(ArrayIndex(0),))
    if density:
        found = found / (found.sum() * beside(found, np.diff(edges)))
    return found, edges
