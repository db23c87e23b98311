"""Filters that choose an element of every window: the least, the greatest, the one of some rank."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from ... import numpy as fnp
from ...errors import ArgumentError, ShapeError, where
from ...indexing import known
from ...numpy._arguments import axis_of
from .filters import axes_in, image, laid_out, padded, per_axis, places_before


def footprint_of(name: str, size: Any, footprint: Any, count: int) -> np.ndarray:
    """Which elements a window has."""
    if footprint is None:
        if size is None:
            raise ArgumentError(f"{name}: need size= or footprint={where()}")
        sizes = [operator.index(n) for n in per_axis(name, "size", size, count)]
        if min(sizes, default=1) < 1:
            raise ArgumentError(f"{name}: size={size}; need positive integers{where()}")
        return np.ones(sizes, bool)
    found = np.asarray(footprint, bool)
    if found.ndim != count or not found.any():
        raise ShapeError(
            f"{name}: footprint has shape {list(found.shape)}; need {count} axes and an element that "
            f"is True{where()}"
        )
    return found


def windows_of(
    name: str,
    x: Any,
    footprint: np.ndarray,
    axes: Sequence[int],
    mode: Any,
    cval: Any,
    origin: Any,
) -> Any:
    """The elements of every window along a new first axis."""
    origins = per_axis(name, "origin", origin, len(axes))
    modes = per_axis(name, "mode", mode, len(axes))
    axes, (modes, origins) = laid_out(axes, x.ndim, modes, origins)
    widths = {}
    for axis, n, o in zip(axes, footprint.shape, origins, strict=True):
        before = places_before(name, n, o)
        widths[axis] = (before, n - 1 - before)
    wide = padded(name, x, widths, modes, cval)
    found = []
    for place in np.argwhere(footprint):
        index = [slice(None)] * x.ndim
        for axis, i in zip(axes, place, strict=True):
            index[axis] = slice(int(i), int(i) + x.shape[axis])
        found.append(wide[tuple(index)])
    return fnp.stack(found)


def _ranked(name: str, x: Any, rank: int, windows: Any) -> Any:
    count = windows.shape[0]
    if not -count <= rank < count:
        raise ArgumentError(f"{name}: rank={rank} in windows of {count} elements{where()}")
    return x if 0 in x.shape else fnp.sort(windows, axis=0)[rank]


def rank_filter(
    input: Any,
    rank: int,
    size: Any = None,
    footprint: Any = None,
    output: Any = None,
    mode: Any = "reflect",
    cval: Any = 0.0,
    origin: Any = 0,
    *,
    axes: Any = None,
) -> Any:
    """The element of every window that has `rank` others below it; counted from above if negative.

    A window has `size` elements along every axis, or those that are True in `footprint`. `mode` as for
    `correlate`.

    Shapes: ``input: (*a) -> (*a)``.   Dtypes: real floating; integers give float64.
    Derivative: 1 by the element that is taken, the first of equal ones.
    Raises: ArgumentError: there is no such rank, neither `size` nor `footprint`, another mode, an
    output. ShapeError: the axes do not fit.
    Source: SciPy reference, ``scipy.ndimage.rank_filter``.

    >>> rank_filter([3.0, 1.0, 2.0, 5.0], 1, size=3).tolist()
    [3.0, 2.0, 2.0, 5.0]
    """
    x = image("rank_filter", input, output)
    found = axes_in("rank_filter", axes, x.ndim)
    print_ = footprint_of("rank_filter", size, footprint, len(found))
    windows = windows_of("rank_filter", x, print_, found, mode, cval, origin)
    return _ranked("rank_filter", x, operator.index(rank), windows)


def median_filter(
    input: Any,
    size: Any = None,
    footprint: Any = None,
    output: Any = None,
    mode: Any = "reflect",
    cval: Any = 0.0,
    origin: Any = 0,
    *,
    axes: Any = None,
) -> Any:
    """The element in the middle of every window; the higher one of two. Arguments as `rank_filter`.

    Shapes, Dtypes, Derivative, Raises: as `rank_filter`.
    Source: SciPy reference, ``scipy.ndimage.median_filter``.

    >>> median_filter([3.0, 1.0, 2.0, 5.0], 3).tolist()
    [3.0, 2.0, 2.0, 5.0]
    """
    x = image("median_filter", input, output)
    found = axes_in("median_filter", axes, x.ndim)
    print_ = footprint_of("median_filter", size, footprint, len(found))
    windows = windows_of("median_filter", x, print_, found, mode, cval, origin)
    return _ranked("median_filter", x, windows.shape[0] // 2, windows)


def percentile_filter(
    input: Any,
    percentile: Any,
    size: Any = None,
    footprint: Any = None,
    output: Any = None,
    mode: Any = "reflect",
    cval: Any = 0.0,
    origin: Any = 0,
    *,
    axes: Any = None,
) -> Any:
    """The element of every window with `percentile` % of the others below; 100 more if negative.

    Shapes, Dtypes, Derivative: as `rank_filter`; 0 by `percentile`, which steps from one element to
    the next.
    Raises: as `rank_filter`; ArgumentError: `percentile` is not known (under `jit`, `vmap`), or not
    in -100..100.
    Source: SciPy reference, ``scipy.ndimage.percentile_filter``.

    >>> percentile_filter([3.0, 1.0, 2.0, 5.0], 100, 3).tolist()
    [3.0, 3.0, 5.0, 5.0]
    """
    x = image("percentile_filter", input, output)
    found = axes_in("percentile_filter", axes, x.ndim)
    share = known(percentile)
    share = share + 100.0 if share is not None and share < 0 else share
    if share is None or not 0 <= share <= 100:
        raise ArgumentError(
            f"percentile_filter: percentile={percentile}; need a constant in -100..100{where()}"
        )
    print_ = footprint_of("percentile_filter", size, footprint, len(found))
    windows = windows_of("percentile_filter", x, print_, found, mode, cval, origin)
    count = windows.shape[0]
    rank = count - 1 if share == 100 else int(count * float(share) / 100.0)
    return _ranked("percentile_filter", x, rank, windows)


def _extreme1d(
    end: Any, name: str, x: Any, size: int, axis: int, mode: str, cval: Any, origin: int
) -> Any:
    """`end`: the function that finds the least or the greatest."""
    axis, size = axis_of(name, axis, x.ndim), operator.index(size)
    if size < 1:
        raise ArgumentError(f"{name}: size={size}; need a positive integer{where()}")
    if 0 in x.shape:
        return x
    windows = windows_of(name, x, np.ones(size, bool), (axis,), mode, cval, origin)
    return end(windows, axis=0)


def extreme(
    end: Any,
    name: str,
    x: Any,
    size: Any,
    footprint: Any,
    mode: Any,
    cval: Any,
    origin: Any,
    axes: Any,
) -> Any:
    """`end` of every window, one axis after the other where it is a whole box."""
    found = axes_in(name, axes, x.ndim)
    print_ = footprint_of(name, size, footprint, len(found))
    if not print_.all():
        windows = windows_of(name, x, print_, found, mode, cval, origin)
        return end(windows, axis=0)
    options = [
        per_axis(name, what, v, len(found)) for what, v in (("mode", mode), ("origin", origin))
    ]
    for axis, n, way, o in zip(found, print_.shape, *options, strict=True):
        x = _extreme1d(end, name, x, n, axis, way, cval, o)
    return x


def maximum_filter1d(
    input: Any,
    size: int,
    axis: int = -1,
    output: Any = None,
    mode: str = "reflect",
    cval: Any = 0.0,
    origin: int = 0,
) -> Any:
    """The greatest of `size` elements along one axis. `mode` and `origin` as for `correlate`.

    Shapes: ``input: (*a) -> (*a)``.   Dtypes: real floating; integers give float64.
    Derivative: as `max` of the window; equal ones share.
    Raises: ArgumentError: `size` is not positive, another mode, an output.
    Source: SciPy reference, ``scipy.ndimage.maximum_filter1d``.

    >>> maximum_filter1d([3.0, 1.0, 2.0, 5.0], 3).tolist()
    [3.0, 3.0, 5.0, 5.0]
    """
    x = image("maximum_filter1d", input, output)
    return _extreme1d(fnp.max, "maximum_filter1d", x, size, axis, mode, cval, origin)


def minimum_filter1d(
    input: Any,
    size: int,
    axis: int = -1,
    output: Any = None,
    mode: str = "reflect",
    cval: Any = 0.0,
    origin: int = 0,
) -> Any:
    """The least of `size` elements along one axis. `mode` and `origin` as for `correlate`.

    Shapes, Dtypes, Derivative, Raises: as `maximum_filter1d`.
    Source: SciPy reference, ``scipy.ndimage.minimum_filter1d``.

    >>> minimum_filter1d([3.0, 1.0, 2.0, 5.0], 3).tolist()
    [1.0, 1.0, 1.0, 2.0]
    """
    x = image("minimum_filter1d", input, output)
    return _extreme1d(fnp.min, "minimum_filter1d", x, size, axis, mode, cval, origin)


def maximum_filter(
    input: Any,
    size: Any = None,
    footprint: Any = None,
    output: Any = None,
    mode: Any = "reflect",
    cval: Any = 0.0,
    origin: Any = 0,
    *,
    axes: Any = None,
) -> Any:
    """The greatest element of every window. Arguments as for `rank_filter`.

    Shapes, Dtypes: as `rank_filter`.   Derivative: as `max` of the window; equal ones share.
    Raises: as `rank_filter`.
    Source: SciPy reference, ``scipy.ndimage.maximum_filter``.

    >>> maximum_filter([[1.0, 2.0], [0.0, 3.0]], (1, 3)).tolist()
    [[2.0, 2.0], [3.0, 3.0]]
    """
    x = image("maximum_filter", input, output)
    return extreme(fnp.max, "maximum_filter", x, size, footprint, mode, cval, origin, axes)


def minimum_filter(
    input: Any,
    size: Any = None,
    footprint: Any = None,
    output: Any = None,
    mode: Any = "reflect",
    cval: Any = 0.0,
    origin: Any = 0,
    *,
    axes: Any = None,
) -> Any:
    """The least element of every window. Arguments as for `rank_filter`.

    Shapes, Dtypes: as `rank_filter`.   Derivative: as `min` of the window; equal ones share.
    Raises: as `rank_filter`.
    Source: SciPy reference, ``scipy.ndimage.minimum_filter``.

    >>> minimum_filter([[1.0, 2.0], [0.0, 3.0]], (3, 1)).tolist()
    [[0.0, 2.0], [0.0, 2.0]]
    """
    x = image("minimum_filter", input, output)
    return extreme(fnp.min, "minimum_filter", x, size, footprint, mode, cval, origin, axes)
