"""Elements more than once: repeat, tile, roll, pad."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from ..algebra import concrete_namespace
from ..core import Tracer
from ..errors import ArgumentError, ShapeError, where
from ..indexing import known
from ..ops import join as _join
from ..ops import structural as _structural
from ..ops.arithmetic import remainder
from ..ops.cumulative import cumsum
from ..ops.index import getitem as _getitem
from ..ops.index import take as _take
from ..ops.index_layout import FULL, Slice
from ..ops.rounding import rint
from ..ops.select import minimum
from ..ops.sort import searchsorted
from . import reductions as _reductions
from ._arguments import (
    array_of,
    axis_of,
    beside,
    contains_foreign,
    converted,
    copied,
    host,
    integers,
    shape_of,
)
from .filling import length_of
from .shaping import ravel
from .statistics import median


def repeat(
    a: Any, repeats: Any, axis: int | None = None, *, total_repeat_length: int | None = None
) -> Any:
    """Every element `repeats` times in a row; of the flattened array if `axis` is None.

    With `total_repeat_length` that is the length of the result: more is cut off, and what is missing
    is the last element.

    Shapes: ``a: (*a, n, *b) -> (*a, sum(repeats), *b)``.   Dtypes: all.
    Derivative: linear; the cotangents of the repetitions are summed.
    Raises: ShapeError: the axis does not exist. ConcretizationError: `repeats` is not known, and no
    length is given. ArgumentError: that is none.
    Source: NumPy reference, ``numpy.repeat``; JAX's for `total_repeat_length`.

    >>> repeat([1.0, 2.0], [2, 1]).tolist()
    [1.0, 1.0, 2.0]
    >>> repeat([1.0, 2.0], [2, 1], total_repeat_length=5).tolist()
    [1.0, 1.0, 2.0, 2.0, 2.0]
    """
    a = array_of(a)
    if axis is None:
        a, axis = ravel(a), 0
    axis = axis_of("repeat", axis, a.ndim)
    if total_repeat_length is not None:
        total = length_of("repeat", "total_repeat_length", total_repeat_length)
        return _repeat_to(a, array_of(repeats, concrete_namespace(a)), axis, total)
    hint = "; or give the length of the result, total_repeat_length="
    counts = host("repeat", "repeats", repeats, hint)
    if counts.size == 1:
        return _join.repeat(a, repeats=int(counts.reshape(())), axis=axis)
    _require_counts(a.shape[axis], counts.shape)
    return _join.repeat(a, repeats=tuple(map(int, counts)), axis=axis)


def _require_counts(n: int, shape: tuple[int, ...]) -> None:
    if shape != (n,):
        raise ShapeError(f"fnp.repeat: {n} elements, but repeats has shape {list(shape)}{where()}")


def _repeat_to(a: Any, repeats: Any, axis: int, total: int) -> Any:
    """The repetitions, `total` of them; how many of each may be traced."""
    n = a.shape[axis]
    if repeats.dtype.kind not in "biu":
        raise ArgumentError(f"fnp.repeat: repeats is {repeats.dtype}; need integers{where()}")
    if repeats.size == 1:
        repeats = _structural.broadcast_to(ravel(repeats), shape=(n,))
    _require_counts(n, repeats.shape)
    if total and not n:
        raise ShapeError(f"fnp.repeat: no elements to repeat {total} times{where()}")
    values = known(repeats)
    if values is not None and values.size and int(values.min()) < 0:
        raise ArgumentError(f"fnp.repeat: {int(values.min())} repeats{where()}")
    ends = cumsum(converted(repeats, np.intp), axis=0, reverse=False)
    places = searchsorted(ends, beside(a, np.arange(total)), side="right")
    return _take(a, minimum(places, max(n - 1, 0)), axis=axis, bounds="known")


def tile(A: Any, reps: Any) -> Any:
    """`A` side by side `reps` times along each of the last axes.

    Shapes: ``A: (*a) -> a * reps``, the shorter of the two filled up with 1s in front.
    Dtypes: all.
    Derivative: linear; the cotangents of the tiles are summed.
    Raises: nothing of its own.
    Source: NumPy reference, ``numpy.tile``.

    >>> tile([1.0, 2.0], (2, 2)).tolist()
    [[1.0, 2.0, 1.0, 2.0], [1.0, 2.0, 1.0, 2.0]]
    """
    return copied(_join.tile(array_of(A), reps=shape_of(reps, "fnp.tile: reps")))


def roll(a: Any, shift: Any, axis: Any = None) -> Any:
    """The elements moved on by `shift` places; what leaves at one end comes in at the other.

    Shapes: ``a: (*a) -> (*a)``; of the flattened array if `axis` is None.   Dtypes: all.
    Derivative: linear; the cotangent is rolled back.
    Raises: ShapeError: an axis does not exist, or `shift` and `axis` differ in length.
    ArgumentError: a traced `shift` is no integer.
    Source: NumPy reference, ``numpy.roll``.

    >>> roll([1.0, 2.0, 3.0], 1).tolist()
    [3.0, 1.0, 2.0]
    """
    a = array_of(a)
    steps = integers("roll", "shift", shift)
    is_traced = isinstance(steps, Tracer)
    if axis is None:
        step = _reductions.sum(steps) if is_traced else sum(map(int, steps.ravel()))
        return _structural.reshape(roll(ravel(a), step, 0), shape=a.shape)
    try:
        shape = np.broadcast_shapes(steps.shape, np.shape(axis))
    except ValueError:
        raise ShapeError(
            f"fnp.roll: shift={shift} and axis={axis} differ in length{where()}"
        ) from None
    axes = [axis_of("roll", int(i), a.ndim) for i in np.broadcast_to(axis, shape).ravel()]
    if is_traced:
        steps = ravel(_structural.broadcast_to(steps, shape=shape))
        for k, i in enumerate(axes):
            n = a.shape[i]
            a = _take(a, remainder(beside(a, np.arange(n)) - steps[k], n), axis=i) if n else a
        return a
    total: dict[int, int] = {}
    for step, i in zip(np.broadcast_to(steps, shape).ravel(), axes, strict=True):
        total[i] = (total.get(i, 0) + int(step)) % max(a.shape[i], 1)
    return _join.roll(a, shift=tuple(total.values()), axis=tuple(total))


# ---------------------------------------------------------------- pad


def pad(array: Any, pad_width: Any, mode: str = "constant", **kwargs: Any) -> Any:
    """Elements before and after those of `array`, along every axis.

    `mode` is "constant" (with constant_values=), "edge", "reflect", "symmetric" (these two with
    reflect_type=), "wrap" (elements of the array itself), "linear_ramp" (with end_values=), "maximum",
    "mean", "minimum", "median" (with stat_length=), or "empty" (zeros).

    Shapes: ``(n1, n2, ...) -> (before1 + n1 + after1, ...)``.   Dtypes: that of `array`.
    Derivative: linear, but for the statistics, whose derivatives are those of `max`, `mean`, ...
    Raises: ArgumentError: the mode is not known, or has no such option.
    Source: NumPy reference, ``numpy.pad``.

    >>> pad([1.0, 2.0], 1).tolist()
    [0.0, 1.0, 2.0, 0.0]
    """
    x = array_of(array)
    widths = _pad_widths(pad_width, x.ndim)
    options = _PAD_OPTIONS.get(mode) if isinstance(mode, str) else None
    if options is None:
        raise ArgumentError(
            f"fnp.pad: mode={mode!r}; need one of {', '.join(sorted(_PAD_OPTIONS))}{where()}"
        )
    unknown = kwargs.keys() - options.keys()
    if unknown:
        raise ArgumentError(f"fnp.pad: mode {mode!r} has no option {min(unknown)}={where()}")
    return _PAD[mode](x, widths, mode, **{**options, **kwargs})


_PAD_OPTIONS: dict[str, dict[str, Any]] = {
    "constant": {"constant_values": 0},
    "empty": {},
    "edge": {},
    "wrap": {},
    "reflect": {"reflect_type": "even"},
    "symmetric": {"reflect_type": "even"},
    "linear_ramp": {"end_values": 0},
    "maximum": {"stat_length": None},
    "mean": {"stat_length": None},
    "median": {"stat_length": None},
    "minimum": {"stat_length": None},
}


def _pad_widths(given: Any, ndim: int) -> tuple[tuple[int, int], ...]:
    """One pair per axis.

    Raises: ShapeError: `given` is no such thing. ArgumentError: a width is negative.
    """
    if isinstance(given, dict):
        widths = [(0, 0)] * ndim
        for axis, width in given.items():
            pair = (width, width) if np.ndim(width) == 0 else tuple(width)
            widths[axis_of("pad", axis, ndim)] = pair
        found = np.array(widths, dtype=int).reshape(ndim, 2)
    else:
        try:
            found = np.broadcast_to(host("pad", "pad_width", given), (ndim, 2))
        except ValueError:
            raise ShapeError(
                f"fnp.pad: pad_width={given!r} does not fit {ndim} axes; need a number, a pair, or a "
                f"pair per axis{where()}"
            ) from None
    if (found < 0).any():
        raise ArgumentError(f"fnp.pad: pad_width={given!r} has a negative entry{where()}")
    return tuple((int(before), int(after)) for before, after in found)


def _pairs(values: Any, x: Any) -> list[tuple[Any, Any]]:
    """A value, a pair or one pair per axis, which may be traced, as one pair per axis of `x`."""
    values = array_of(values, concrete_namespace(x))
    pairs = _structural.broadcast_to(values, shape=(x.ndim, 2))
    return [(pairs[i, 0], pairs[i, 1]) for i in range(x.ndim)]


def _pad_constant(x: Any, widths: Any, mode: str, *, constant_values: Any) -> Any:
    if not contains_foreign(constant_values) and np.ndim(constant_values) == 0:
        return _join.pad_constant(x, constant_values, widths=widths)
    pairs = _pairs(constant_values, x)
    return _join.pad_constant(x, pairs, widths=widths)


def _pad_empty(x: Any, widths: Any, mode: str) -> Any:
    return _join.pad(x, widths=widths)


def _pad_from_inside(x: Any, widths: Any, mode: str, *, reflect_type: str = "even") -> Any:
    if reflect_type not in ("even", "odd"):
        raise ArgumentError(
            f"fnp.pad: reflect_type={reflect_type!r}; need 'even' or 'odd'{where()}"
        )
    for axis, width in enumerate(widths):
        if any(width) and x.shape[axis] == 0:
            raise ShapeError(
                f"fnp.pad: mode {mode!r} cannot extend axis {axis}, which is empty{where()}"
            )
    if reflect_type == "odd":
        return _extended(x, widths, functools.partial(_turned, mode == "symmetric"))
    return _join.pad_from_inside(x, widths=widths, mode=mode)


def _turned(twice: bool, x: Any, axis: int, before: int, after: int) -> tuple[Any, Any]:
    """`x` turned around its ends, along an axis, again and again; the ends are there `twice` or once.

    Every second stretch is minus `x` backwards, and stretches go on where the one before ends.
    """
    n = x.shape[axis]
    period = max(2 * (n - 1 + twice), 1)
    ends = _at(x, axis, 0, 1), _at(x, axis, n - 1, n)

    def side(places: np.ndarray, end: int) -> Any:
        back = places % period >= n
        source = np.where(back, period - twice - places % period, places % period)
        turns = np.where(
            back, (places + source + twice) // period - end, (places - source) // period
        )
        column = (-1,) + (1,) * (x.ndim - axis - 1)
        signs, shares, steps = (
            beside(x, v.astype(x.dtype).reshape(column))
            for v in (1 - 2 * back, 2 * back, 2 * turns)
        )
        part = _take(x, beside(x, source), axis=axis, bounds="known")
        return part * signs + ends[end] * shares + (ends[1] - ends[0]) * steps

    return side(np.arange(-before, 0), 0), side(np.arange(n, n + after), 1)


def _extended(x: Any, widths: Any, sides: Callable[[Any, int, int, int], tuple[Any, Any]]) -> Any:
    """`x` padded one axis after the other with ``sides(x, axis, before, after)``."""
    for axis, (before, after) in enumerate(widths):
        if before or after:
            first, last = sides(x, axis, before, after)
            x = _join.concatenate(first, x, last, axis=axis)
    return x


def _at(x: Any, axis: int, start: int, stop: int) -> Any:
    """``x[start:stop]`` along an axis; bounds are in range."""
    index = (FULL,) * axis + (Slice(start, stop, 1),) + (FULL,) * (x.ndim - axis - 1)
    return _getitem(x, index=index)


def _pad_ramp(x: Any, widths: Any, mode: str, *, end_values: Any) -> Any:
    pairs = _pairs(end_values, x)

    def ramp(edge: Any, end: Any, axis: int, weights: Any) -> Any:
        w = beside(x, weights.reshape((-1,) + (1,) * (x.ndim - axis - 1)))
        out = end * (1 - w) + edge * w
        if x.dtype.kind in "iu":
            out = out // 1
        return converted(out, x.dtype)

    def sides(x: Any, axis: int, before: int, after: int) -> tuple[Any, Any]:
        n = x.shape[axis]
        left, right = pairs[axis]
        return (
            ramp(_at(x, axis, 0, 1), left, axis, np.arange(before) / max(before, 1)),
            ramp(_at(x, axis, n - 1, n), right, axis, np.arange(after)[::-1] / max(after, 1)),
        )

    return _extended(x, widths, sides)


_STATISTICS: dict[str, Callable[..., Any]] = {
    "maximum": _reductions.max,
    "mean": _reductions.mean,
    "median": median,
    "minimum": _reductions.min,
}


def _pad_statistic(x: Any, widths: Any, mode: str, *, stat_length: Any) -> Any:
    statistic = _STATISTICS[mode]
    lengths = [(None, None)] * x.ndim if stat_length is None else _pad_widths(stat_length, x.ndim)
    if mode in ("maximum", "minimum") and any(0 in pair for pair in lengths):
        raise ArgumentError(f"fnp.pad: no numbers have no {mode}; need stat_length > 0{where()}")

    def side(part: Any, axis: int, width: int) -> Any:
        value = statistic(part, axis=axis, keepdims=True)
        if x.dtype.kind in "iu":
            value = rint(value)
        shape = (*part.shape[:axis], width, *part.shape[axis + 1 :])
        return _structural.broadcast_to(converted(value, x.dtype), shape=shape)

    def sides(x: Any, axis: int, before: int, after: int) -> tuple[Any, Any]:
        n = x.shape[axis]
        left, right = (n if k is None or k > n else k for k in lengths[axis])
        return (
            side(_at(x, axis, 0, left), axis, before),
            side(_at(x, axis, n - right, n), axis, after),
        )

    return _extended(x, widths, sides)


_PAD: dict[str, Callable[..., Any]] = {
    "constant": _pad_constant,
    "empty": _pad_empty,
    "edge": _pad_from_inside,
    "wrap": _pad_from_inside,
    "reflect": _pad_from_inside,
    "symmetric": _pad_from_inside,
    "linear_ramp": _pad_ramp,
    "maximum": _pad_statistic,
    "mean": _pad_statistic,
    "median": _pad_statistic,
    "minimum": _pad_statistic,
}
