"""Windows of arrays at computed places under the names of ``jax.lax``: read, replaced, added to.

Compositions of reading and writing rows (`windows`). Windows that lie outside are moved inside where
they are read, and left out where they are written; `mode` "clip", "fill" or "drop" says what else.
"promise_in_bounds" changes nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import numpy as fnp
from ..core import aval_of
from ..errors import ShapeError, where
from ..indexing import known
from ..numpy._arguments import array_of, beside
from ..numpy.filling import missing
from ..ops import segments
from ..ops.groups import group_sum
from ..ops.index import scatter_set, take
from ..ops.index_layout import FULL, ArrayIndex
from ..transforms.until import fori_loop
from ._arguments import Ints, axis_in, ints, stored
from .windows import (
    GatherDimensionNumbers,
    GatherScatterMode,
    Numbers,
    ScatterDimensionNumbers,
    Windows,
    as_rows,
    from_rows,
    inverse,
    numbers_of,
    turned,
    windows_of,
)

_from_any = GatherScatterMode.from_any


def gather(
    operand: Any,
    start_indices: Any,
    dimension_numbers: GatherDimensionNumbers,
    slice_sizes: Any,
    *,
    unique_indices: bool = False,
    indices_are_sorted: bool = False,
    mode: Any = None,
    fill_value: Any = None,
) -> Any:
    """For every index, a vector along the last axis, the window of `operand` that starts there.

    A window outside is moved inside; with ``mode="fill"`` it is filled with `fill_value`: NaN, the
    least of signed and the largest of unsigned integers, or True unless given. `unique_indices` and
    `indices_are_sorted` promise what changes nothing here.

    Shapes: ``operand: (*a), start_indices: (*b, k)``; the axes `offset_dims` of the result are those
    of the windows, the others ``*b``.   Dtypes: all; indices are integers.
    Derivative: linear in `operand`; cotangents of an element read twice are summed.
    Raises: ShapeError: shapes and `dimension_numbers` do not fit. ArgumentError: a start is no
    integer, or there is no such mode.
    Source: XLA's operation semantics, "Gather".

    >>> numbers = GatherDimensionNumbers((1,), (), (0,))
    >>> gather(np.arange(5.0), np.array([[0], [3]]), numbers, (2,)).tolist()
    [[0.0, 1.0], [3.0, 4.0]]
    """
    x, found = array_of(operand), _from_any("clip" if mode is None else mode)
    numbers = numbers_of("gather", dimension_numbers, GatherDimensionNumbers._fields)
    sizes = ints("gather", "slice_sizes", slice_sizes, x.ndim)
    windows = windows_of("gather", x, start_indices, numbers, sizes, found)
    rows = take(as_rows(x, windows), windows.places, axis=0, bounds="known")
    rows = fnp.reshape(rows, windows.block + windows.columns)
    if windows.inside is not None and found is GatherScatterMode.FILL_OR_DROP:
        dtype = aval_of(x).dtype
        value = missing(dtype) if fill_value is None else stored("gather", x, fill_value)
        held = fnp.reshape(windows.inside, windows.inside.shape + (1,) * len(windows.columns))
        rows = fnp.where(held, rows, value)
    return turned(rows, windows.turn)


def index_take(src: Any, idxs: Any, axes: Any) -> Any:
    """The elements of `src` at the places along `axes` that vectors of integers name together.

    Shapes: ``src: (*a), idxs: (k,) each -> (k, *rest)``, of the axes that are not in `axes`.
    Dtypes: all.   Derivative: linear; cotangents of an element taken twice are summed.
    Raises: ShapeError: there is not one vector for each axis, or no such axis.
    Source: JAX, ``jax.lax.index_take``; places outside are moved inside.

    >>> index_take(
    ...     np.arange(6.0).reshape(2, 3), (np.array([0, 1]), np.array([2, 0])), (0, 1)
    ... ).tolist()
    [2.0, 3.0]
    """
    src, vectors = array_of(src), [array_of(i) for i in idxs]
    along = tuple(axis_in("index_take", a, src.ndim) for a in ints("index_take", "axes", axes))
    if len(vectors) != len(along) or any(i.ndim != 1 for i in vectors):
        found = [str(aval_of(i)) for i in vectors]
        raise ShapeError(f"lax.index_take: {found} for the axes {along}; need vectors{where()}")
    sizes = [1 if a in along else n for a, n in enumerate(src.shape)]
    offset = tuple(range(1, src.ndim - len(along) + 1))
    numbers = GatherDimensionNumbers(offset, tuple(sorted(along)), along)
    return gather(src, fnp.stack(vectors, axis=1), numbers, sizes)


# ---------------------------------------------------------------- writing

Combine = Callable[[Any, Any, Any], Any]  # rows of the operand, of the updates, and their places


def _scattered(
    name: str, combine: Combine, operand: Any, indices: Any, updates: Any, numbers: Any, mode: Any
) -> Any:
    """`operand` after ``combine(rows, updates, places)`` of its rows."""
    x = array_of(operand)
    updates = stored(name, x, updates)
    windows = _written(name, x, indices, aval_of(updates).shape, numbers, mode)
    back = turned(updates, inverse(windows.turn))
    return _combined(x, windows, combine, fnp.reshape(back, _flat(windows)))


def _flat(windows: Windows) -> Ints:
    return math.prod(windows.block), math.prod(windows.columns)


def _written(name: str, x: Any, indices: Any, shape: Ints, given: Any, mode: Any) -> Windows:
    """The windows into which updates of a shape go.

    Raises: ShapeError: they do not fit.
    """
    numbers = numbers_of(name, given, ScatterDimensionNumbers._fields)
    if not all(0 <= k < len(shape) for k in numbers.offset):
        raise ShapeError(
            f"lax.{name}: windows along the axes {numbers.offset} of updates of {list(shape)}{where()}"
        )
    sizes = _window_sizes(name, x.ndim, shape, numbers)
    windows = windows_of(name, x, indices, numbers, sizes, _from_any(mode))
    whole = windows.block + windows.columns
    expected = tuple(whole[k] for k in windows.turn)
    if shape != expected:
        raise ShapeError(
            f"lax.{name}: updates of {list(shape)}; need {list(expected)} for {aval_of(x)} and "
            f"indices {aval_of(array_of(indices))}{where()}"
        )
    return windows


def _window_sizes(name: str, ndim: int, shape: Ints, numbers: Numbers) -> Ints:
    lengths = iter([shape[k] for k in numbers.offset])
    try:
        return tuple(1 if a in numbers.without_window else next(lengths) for a in range(ndim))
    except (StopIteration, RuntimeError):
        raise ShapeError(
            f"lax.{name}: {len(numbers.offset)} axes of windows and {len(numbers.without_window)} "
            f"without for an operand of {ndim} axes{where()}"
        ) from None


def _combined(x: Any, windows: Windows, combine: Combine, updates: Any) -> Any:
    """The operand after `combine`; what lies outside goes into one more row."""
    rows, places = as_rows(x, windows), windows.places
    if windows.inside is not None:
        places = fnp.where(windows.inside, places, windows.rows)
        spare = beside(x, np.zeros((1, _flat(windows)[1]), aval_of(x).dtype))
        rows = fnp.concatenate([rows, spare])
    out = combine(rows, updates, fnp.reshape(places, (-1,)))
    return from_rows(out if windows.inside is None else out[: windows.rows], windows)


def _replace(rows: Any, updates: Any, places: Any) -> Any:
    return scatter_set(rows, updates, places, index=(ArrayIndex(0, "known"), FULL))


def _add(rows: Any, updates: Any, places: Any) -> Any:
    return rows + group_sum(updates, places, count=rows.shape[0])


def _together(reduction: Any) -> Combine:
    """Every row with the updates that go there as one group."""

    def combine(rows: Any, updates: Any, places: Any) -> Any:
        count = rows.shape[0]
        everything = fnp.concatenate([rows, updates])
        groups = fnp.concatenate([beside(rows, np.arange(count)), places])
        return fnp.astype(reduction(everything, groups, count), aval_of(rows).dtype)

    return combine


def scatter(
    operand: Any,
    scatter_indices: Any,
    updates: Any,
    dimension_numbers: ScatterDimensionNumbers,
    *,
    indices_are_sorted: bool = False,
    unique_indices: bool = False,
    mode: Any = None,
) -> Any:
    """`operand` with `updates` in place of the windows that start at the indices; the last one wins.

    `indices_are_sorted` and `unique_indices` promise what changes nothing here.

    Shapes: ``operand: (*a), scatter_indices: (*b, k) -> (*a)``; the axes `update_window_dims` of
    `updates` are those of the windows, the others ``*b``.
    Dtypes: that of `operand`; indices are integers.
    Derivative: linear in `operand` and `updates`; what is replaced gets no cotangent.
    Raises: ShapeError: shapes and `dimension_numbers` do not fit. ArgumentError: an index is no
    integer, the dtype of `operand` cannot hold the updates, or there is no such mode.
    Source: XLA's operation semantics, "Scatter".

    >>> numbers = ScatterDimensionNumbers((), (0,), (0,))
    >>> scatter(np.zeros(3), np.array([[2], [7]]), np.ones(2), numbers).tolist()
    [0.0, 0.0, 1.0]
    """
    arguments = operand, scatter_indices, updates, dimension_numbers, mode
    return _scattered("scatter", _replace, *arguments)


def scatter_add(
    operand: Any,
    scatter_indices: Any,
    updates: Any,
    dimension_numbers: ScatterDimensionNumbers,
    *,
    indices_are_sorted: bool = False,
    unique_indices: bool = False,
    mode: Any = None,
) -> Any:
    """`operand` plus `updates` at the windows that start at the indices.

    Shapes: as `scatter`.   Dtypes: that of `operand`; indices are integers.
    Derivative: linear in `operand` and `updates`.
    Raises: as `scatter`.
    Source: XLA's operation semantics, "Scatter".

    >>> numbers = ScatterDimensionNumbers((), (0,), (0,))
    >>> scatter_add(np.ones(3), np.array([[2], [2]]), np.array([1.0, 2.0]), numbers).tolist()
    [1.0, 1.0, 4.0]
    """
    arguments = operand, scatter_indices, updates, dimension_numbers, mode
    return _scattered("scatter_add", _add, *arguments)


def scatter_sub(
    operand: Any,
    scatter_indices: Any,
    updates: Any,
    dimension_numbers: ScatterDimensionNumbers,
    *,
    indices_are_sorted: bool = False,
    unique_indices: bool = False,
    mode: Any = None,
) -> Any:
    """`operand` minus `updates` at the windows that start at the indices.

    Shapes: as `scatter`.   Dtypes: that of `operand`; indices are integers.
    Derivative: linear in `operand` and `updates`.
    Raises: as `scatter`.
    Source: JAX, ``jax.lax.scatter_sub``.

    >>> numbers = ScatterDimensionNumbers((), (0,), (0,))
    >>> scatter_sub(np.ones(3), np.array([[2], [2]]), np.array([1.0, 2.0]), numbers).tolist()
    [1.0, 1.0, -2.0]
    """
    arguments = operand, scatter_indices, -array_of(updates), dimension_numbers, mode
    return _scattered("scatter_sub", _add, *arguments)


def scatter_mul(
    operand: Any,
    scatter_indices: Any,
    updates: Any,
    dimension_numbers: ScatterDimensionNumbers,
    *,
    indices_are_sorted: bool = False,
    unique_indices: bool = False,
    mode: Any = None,
) -> Any:
    """`operand` times `updates` at the windows that start at the indices.

    Shapes: as `scatter`.   Dtypes: that of `operand`; indices are integers.
    Derivative: that of the product, by every factor, also where several are 0.
    Raises: as `scatter`.
    Source: XLA's operation semantics, "Scatter".

    >>> numbers = ScatterDimensionNumbers((), (0,), (0,))
    >>> scatter_mul(np.full(3, 2.0), np.array([[2], [2]]), np.array([3.0, 5.0]), numbers).tolist()
    [2.0, 2.0, 30.0]
    """
    arguments = operand, scatter_indices, updates, dimension_numbers, mode
    return _scattered("scatter_mul", _together(segments.segment_prod), *arguments)


def scatter_min(
    operand: Any,
    scatter_indices: Any,
    updates: Any,
    dimension_numbers: ScatterDimensionNumbers,
    *,
    indices_are_sorted: bool = False,
    unique_indices: bool = False,
    mode: Any = None,
) -> Any:
    """The smallest of `operand` and `updates` at the windows that start at the indices.

    Shapes: as `scatter`.   Dtypes: that of `operand`, real; indices are integers.
    Derivative: that of the smallest element; equal ones share evenly.
    Raises: as `scatter`; complex numbers.
    Source: XLA's operation semantics, "Scatter".

    >>> numbers = ScatterDimensionNumbers((), (0,), (0,))
    >>> scatter_min(np.full(3, 4.0), np.array([[2], [2]]), np.array([3.0, 5.0]), numbers).tolist()
    [4.0, 4.0, 3.0]
    """
    arguments = operand, scatter_indices, updates, dimension_numbers, mode
    return _scattered("scatter_min", _together(segments.segment_min), *arguments)


def scatter_max(
    operand: Any,
    scatter_indices: Any,
    updates: Any,
    dimension_numbers: ScatterDimensionNumbers,
    *,
    indices_are_sorted: bool = False,
    unique_indices: bool = False,
    mode: Any = None,
) -> Any:
    """The largest of `operand` and `updates` at the windows that start at the indices.

    Shapes: as `scatter`.   Dtypes: that of `operand`, real; indices are integers.
    Derivative: that of the largest element; equal ones share evenly.
    Raises: as `scatter`; complex numbers.
    Source: XLA's operation semantics, "Scatter".

    >>> numbers = ScatterDimensionNumbers((), (0,), (0,))
    >>> scatter_max(np.full(3, 4.0), np.array([[2], [2]]), np.array([3.0, 5.0]), numbers).tolist()
    [4.0, 4.0, 5.0]
    """
    arguments = operand, scatter_indices, updates, dimension_numbers, mode
    return _scattered("scatter_max", _together(segments.segment_max), *arguments)


def scatter_apply(
    operand: Any,
    scatter_indices: Any,
    func: Callable[[Any], Any],
    dimension_numbers: ScatterDimensionNumbers,
    *,
    update_shape: Any = (),
    indices_are_sorted: bool = False,
    unique_indices: bool = False,
    mode: Any = None,
) -> Any:
    """`operand` with ``func`` of its elements in the windows that start at the indices.

    `func` is elementwise; an element that lies in several windows goes through it as many times.

    Shapes: as `scatter`, with `update_shape` for the shape of updates.   Dtypes: that of `operand`.
    Derivative: that of `func`.
    Raises: as `scatter`.
    Source: JAX, ``jax.lax.scatter_apply``.

    >>> numbers, at = ScatterDimensionNumbers((), (0,), (0,)), np.array([[2], [2], [0]])
    >>> scatter_apply(np.full(3, 3.0), at, np.square, numbers, update_shape=(3,)).tolist()
    [9.0, 3.0, 81.0]
    """
    x = array_of(operand)
    shape = ints("scatter_apply", "update_shape", update_shape)
    windows = _written("scatter_apply", x, scatter_indices, shape, dimension_numbers, mode)

    def combine(rows: Any, _: Any, places: Any) -> Any:
        if not rows.size or not places.size:
            return rows
        spare = beside(x, np.zeros((1, rows.shape[1]), aval_of(x).dtype))
        turns = fnp.zeros_like(places) if unique_indices else _turns(places)
        count = rows.shape[0]

        def again(k: Any, rows: Any) -> Any:
            new = stored("scatter_apply", x, func(take(rows, places, axis=0, bounds="known")))
            return _replace(rows, new, fnp.where(turns == k, places, count))

        most = fnp.max(turns) + 1
        last = known(most)
        rounds = most if last is None else int(last)
        return fori_loop(0, rounds, again, fnp.concatenate([rows, spare]))[:count]

    return _combined(x, windows, combine, None)


def _turns(places: Any) -> Any:
    """How many times each place was there before."""
    order = fnp.argsort(places)
    ordered = places[order]
    rank = beside(places, np.arange(places.size)) - fnp.searchsorted(ordered, ordered)
    return rank[fnp.argsort(order)]
