"""Joining, repeating, padding and moving: concatenate, stack, repeat, tile, pad, roll."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..algebra import concrete_namespace, linear
from ..core import Aval, Primitive, Tracer, aval_of
from ..errors import ArgumentError, ShapeError, where
from ..short import summed
from .cast import astype
from .index import FULL, ArrayIndex, Slice, embed, getitem, scatter_add, take, view_update
from .index_layout import on_host
from .structural import batch_all_first, batch_axis_first, broadcast_to, reshape

Shape = tuple[int, ...]
Widths = Sequence[tuple[int, ...]]


def along(ndim: int, axis: int, entry: Any) -> tuple[Any, ...]:
    """The index with `entry` at `axis` and everything of the other axes."""
    return (FULL,) * axis + (entry,) + (FULL,) * (ndim - axis - 1)


def resized(shape: Shape, axis: int, length: int) -> Shape:
    """`shape` with another length along `axis`."""
    return (*shape[:axis], length, *shape[axis + 1 :])


def matched(value: Any, x: Any) -> Any:
    """The number or array `value` in the dtype of `x`, and on its device if it is a number."""
    dtype = aval_of(x).dtype
    if isinstance(value, Tracer) or hasattr(value, "dtype"):
        return value if value.dtype == dtype else astype(value, dtype)
    return concrete_namespace(x).asarray(value, dtype=dtype)


def _batch_join(prim: Primitive, size: int, xs: Any, bdims: Any, params: dict) -> Any:
    return prim(*batch_all_first(size, xs, bdims), axis=params["axis"] + 1), 0


# ---------------------------------------------------------------- concatenate and split


def _concatenate_aval(*xs: Aval, axis: int) -> Aval:
    first = xs[0].shape
    length = 0
    for x in xs:
        if x.ndim != len(first) or resized(x.shape, axis, 0) != resized(first, axis, 0):
            listed = ", ".join(str(list(x.shape)) for x in xs)
            raise ShapeError(
                f"concatenate: shapes {listed} differ elsewhere than along axis {axis}{where()}"
            )
        length += x.shape[axis]
    return Aval(resized(first, axis, length), np.result_type(*(x.dtype for x in xs)))


def _cut(ct: Any, *_xs: Any, axis: int) -> list[Any]:
    parts = []
    start = 0
    for x in _xs:
        stop = start + x.shape[axis]
        parts.append(getitem(ct, index=along(ct.ndim, axis, Slice(start, stop, 1))))
        start = stop
    return parts


@linear(variadic=_cut, aval=_concatenate_aval, batch=_batch_join)
def concatenate(xp, /, *xs, axis):
    """The arrays one after another along an axis that they have.

    Shapes: ``(*a, n1, *b), (*a, n2, *b), ... -> (*a, n1 + n2 + ..., *b)``.   Dtypes: all, promoted.
    Derivative: linear; its transpose cuts the cotangent into the same parts.
    Raises: ValueError: the shapes differ along another axis.
    Source: NumPy reference, ``numpy.concatenate``.

    >>> concatenate(np.array([1.0]), np.array([2.0, 3.0]), axis=0).tolist()
    [1.0, 2.0, 3.0]
    """
    return xp.concatenate(xs, axis)


def split(x: Any, /, *, at: Sequence[int], axis: int) -> list[Any]:
    """The views ``x[:a], x[a:b], ..., x[z:]`` along `axis`, for ``at = (a, b, ..., z)``.

    >>> [part.tolist() for part in split(np.arange(4.0), at=(1, 3), axis=0)]
    [[0.0], [1.0, 2.0], [3.0]]
    """
    aval = aval_of(x)
    parts = []
    for start, stop in zip((None, *at), (*at, None), strict=True):
        entry = Slice(*slice(start, stop).indices(aval.shape[axis]))
        parts.append(getitem(x, index=along(aval.ndim, axis, entry)))
    return parts


# ---------------------------------------------------------------- stack and unstack


def _stack_aval(*xs: Aval, axis: int) -> Aval:
    first = xs[0].shape
    if any(x.shape != first for x in xs):
        listed = ", ".join(str(list(x.shape)) for x in xs)
        raise ShapeError(f"stack: all arrays must have one shape, found {listed}{where()}")
    return Aval((*first[:axis], len(xs), *first[axis:]), np.result_type(*(x.dtype for x in xs)))


@linear(variadic=lambda ct, *_xs, axis: unstack(ct, axis=axis), aval=_stack_aval, batch=_batch_join)
def stack_arrays(xp, /, *xs, axis):
    """The arrays one after another along a new axis; `stack` of a sequence.

    Shapes: ``(*a, *b), (*a, *b), ... -> (*a, n, *b)`` for `n` arrays.   Dtypes: all, promoted.
    Derivative: linear; its transpose is `unstack`.
    Raises: ValueError: the shapes differ.
    Source: NumPy reference, ``numpy.stack``.

    >>> stack_arrays(np.array([1.0, 2.0]), np.array([3.0, 4.0]), axis=1).tolist()
    [[1.0, 3.0], [2.0, 4.0]]
    """
    if axis == 0 and on_host(xp):
        return xp.array(xs)  # many numbers: thirty times as fast as `stack`
    return xp.stack([xp.asarray(x) for x in xs], axis)


def stack(xs: Sequence[Any], /, *, axis: int) -> Any:
    """The arrays of the sequence along a new axis.

    >>> stack([np.array([1.0, 2.0]), np.array([3.0, 4.0])], axis=0).tolist()
    [[1.0, 2.0], [3.0, 4.0]]
    """
    return stack_arrays(*xs, axis=axis)


def unstack(x: Any, /, *, axis: int) -> list[Any]:
    """The views ``x[0], x[1], ...`` along `axis`.

    >>> [row.tolist() for row in unstack(np.eye(2), axis=0)]
    [[1.0, 0.0], [0.0, 1.0]]
    """
    aval = aval_of(x)
    return [getitem(x, index=along(aval.ndim, axis, i)) for i in range(aval.shape[axis])]


# ---------------------------------------------------------------- repeat and tile


def _repeat_aval(x: Aval, *, repeats: int | tuple[int, ...], axis: int) -> Aval:
    length = x.shape[axis]
    if isinstance(repeats, int):
        return Aval(resized(x.shape, axis, length * repeats), x.dtype)
    if len(repeats) != length:
        raise ShapeError(
            f"repeat: {len(repeats)} counts are given for the {length} elements along axis {axis} "
            f"of {x}{where()}"
        )
    return Aval(resized(x.shape, axis, sum(repeats)), x.dtype)


def _repeat_transpose(ct: Any, _x: Any, *, repeats: int | tuple[int, ...], axis: int) -> Any:
    shape = _x.shape
    if isinstance(repeats, int):
        apart = (*shape[: axis + 1], repeats, *shape[axis + 1 :])
        return summed(reshape(ct, shape=apart), (axis + 1,))
    source = np.repeat(np.arange(shape[axis]), repeats)
    source = concrete_namespace(ct).asarray(source)
    index = along(len(shape), axis, ArrayIndex(0, "known"))
    return scatter_add(ct, source, shape=shape, index=index)


@linear(_repeat_transpose, aval=_repeat_aval, batch=batch_axis_first)
def repeat(xp, x, /, *, repeats, axis):
    """Every element along `axis` several times in a row; `repeats` is a count or one per element.

    Shapes: ``x: (*a, n, *b) -> (*a, n * repeats, *b)`` or ``(*a, sum(repeats), *b)``.
    Dtypes: all.
    Derivative: linear; its transpose adds up the copies.
    Raises: ValueError: not one count per element.
    Source: NumPy reference, ``numpy.repeat``.

    >>> repeat(np.array([1.0, 2.0]), repeats=(1, 2), axis=0).tolist()
    [1.0, 2.0, 2.0]
    """
    return xp.repeat(x, repeats, axis)


def tile(x: Any, /, *, reps: tuple[int, ...]) -> Any:
    """`x` repeated as a whole: ``reps[i]`` times along axis ``i``; new axes come in front.

    >>> tile(np.array([1.0, 2.0]), reps=(2, 2)).tolist()
    [[1.0, 2.0, 1.0, 2.0], [1.0, 2.0, 1.0, 2.0]]
    """
    shape = aval_of(x).shape
    ndim = max(len(reps), len(shape))
    reps = (1,) * (ndim - len(reps)) + reps
    shape = (1,) * (ndim - len(shape)) + shape
    apart = reshape(x, shape=sum(((1, n) for n in shape), ()))
    many = broadcast_to(apart, shape=sum(zip(reps, shape, strict=True), ()))
    return reshape(many, shape=tuple(r * n for r, n in zip(reps, shape, strict=True)))


# ---------------------------------------------------------------- pad


def _placed(length: int, low: int, high: int, interior: int = 0) -> tuple[int, Slice, Slice]:
    """Padding of one axis: the new length, what is kept of the old one, and where it goes."""
    step = interior + 1
    spread = length + max(length - 1, 0) * interior
    total = max(low + spread + high, 0)
    first = max(0, -(low // step))  # the first element at a place that is not cut off
    last = min(length, max(first, (total - 1 - low) // step + 1))
    first = min(first, last)
    start = low + first * step if first < last else 0
    return total, Slice(first, last, 1), Slice(start, start + (last - first) * step, step)


def pad(x: Any, /, *, widths: Widths) -> Any:
    """Zeros around `x`: ``(low, high)`` per axis, or ``(low, high, interior)`` to spread it too.

    Negative widths cut off. Its transpose is the strided slice that takes `x` out again.

    >>> pad(np.array([1.0, 2.0]), widths=((1, 2),)).tolist()
    [0.0, 1.0, 2.0, 0.0, 0.0]
    >>> pad(np.array([1.0, 2.0, 3.0]), widths=((-1, 1, 1),)).tolist()
    [0.0, 2.0, 0.0, 3.0, 0.0]
    """
    x, shape, index = _cropped(x, widths)
    return embed(x, shape=shape, index=index)


def _cropped(x: Any, widths: Widths) -> tuple[Any, Shape, tuple[Slice, ...]]:
    """What padding keeps of `x`, the padded shape, and the index of `x` in it."""
    old = aval_of(x).shape
    placed = [_placed(n, *w) for n, w in zip(old, widths, strict=True)]
    kept = tuple(k for _, k, _ in placed)
    if any(k != (0, n, 1) for k, n in zip(kept, old, strict=True)):
        x = getitem(x, index=kept)
    return x, tuple(n for n, _, _ in placed), tuple(i for _, _, i in placed)


def pad_constant(x: Any, values: Any, /, *, widths: Widths) -> Any:
    """`values` around `x`: one number for all sides, or a pair ``(low, high)`` per axis.

    >>> pad_constant(np.array([1.0, 2.0]), 9.0, widths=((1, 1),)).tolist()
    [9.0, 1.0, 2.0, 9.0]
    >>> pad_constant(np.array([1.0, 2.0]), [(8.0, 9.0)], widths=((1, 2),)).tolist()
    [8.0, 1.0, 2.0, 9.0, 9.0]
    """
    if values.__class__ in (int, float) and values == 0 and math.copysign(1.0, values) > 0:
        return pad(x, widths=widths)
    if not isinstance(values, list | tuple):
        x, shape, index = _cropped(x, widths)
        base = broadcast_to(matched(values, x), shape=shape)
        return view_update(base, x, chain=((getitem, (("index", index),)),))
    for axis, (low, high) in enumerate(widths):
        shape = aval_of(x).shape
        first, last = (
            broadcast_to(matched(value, x), shape=resized(shape, axis, width))
            for value, width in zip(values[axis], (low, high), strict=True)
        )
        x = concatenate(first, x, last, axis=axis)
    return x


def pad_from_inside(x: Any, /, *, widths: Widths, mode: str) -> Any:
    """Elements of `x` itself around `x`: NumPy's modes "edge", "reflect", "symmetric", "wrap".

    >>> pad_from_inside(np.array([1.0, 2.0, 3.0]), widths=((2, 1),), mode="reflect").tolist()
    [3.0, 2.0, 1.0, 2.0, 3.0, 2.0]
    """
    if mode not in ("edge", "reflect", "symmetric", "wrap"):
        raise ArgumentError(
            f"pad: mode {mode!r} is not supported; use 'constant', 'edge', 'reflect', 'symmetric' "
            f"or 'wrap'{where()}"
        )
    for axis, width in enumerate(widths):
        if any(width):
            source = np.pad(np.arange(aval_of(x).shape[axis]), width, mode=mode)  # type: ignore[call-overload]
            x = take_known(x, source, axis=axis)
    return x


MOST_RUNS = 8  # slices that are joined; of more, `take` is faster


def take_known(x: Any, places: np.ndarray, /, *, axis: int) -> Any:
    """The elements at known `places` along an axis, in new memory; a few runs of them are slices.

    >>> take_known(np.array([1.0, 2.0, 3.0]), np.array([1, 0, 1, 2, 2, 2]), axis=0).tolist()
    [2.0, 1.0, 2.0, 3.0, 3.0, 3.0]
    """
    runs = _runs(places)
    if not 1 < len(runs) <= MOST_RUNS:  # one alone would be a view
        return take(x, concrete_namespace(x).asarray(places), axis=axis, bounds="known")
    ndim, parts = len(aval_of(x).shape), []
    for first, step, count in runs:
        stop = first + (step * count or 1)
        cut = Slice(first, stop if stop >= 0 else None, step or 1)
        part = getitem(x, index=(*(FULL,) * axis, cut, *(FULL,) * (ndim - axis - 1)))
        if not step:
            part = broadcast_to(part, shape=resized(aval_of(x).shape, axis, count))
        parts.append(part)
    return concatenate(*parts, axis=axis)


def _runs(places: np.ndarray) -> list[tuple[int, int, int]]:
    """Places as runs: the first one, the step to the next (1, -1 or 0), and how many there are.

    At most one more than `MOST_RUNS`.
    """
    runs: list[tuple[int, int, int]] = []
    steps = np.diff(places)
    ends = np.append(np.flatnonzero(np.diff(steps)) + 1, steps.size)  # of equal steps
    i = 0
    while i < places.size and len(runs) <= MOST_RUNS:
        step, last = 1, i
        if i < steps.size and abs(steps[i]) <= 1:
            step, last = int(steps[i]), int(ends[np.searchsorted(ends, i, "right")])
        runs.append((int(places[i]), step, last - i + 1))
        i = last + 1
    return runs


# ---------------------------------------------------------------- roll

FEW = 8  # elements along the last axis that are sooner taken than copied in two parts


@linear(
    lambda ct, _x, *, shift, axis: roll(ct, shift=tuple(-s for s in shift), axis=axis),
    aval=lambda x, *, shift, axis: Aval(x.shape, x.dtype),
    batch=batch_axis_first,
)
def roll(xp, x, /, *, shift, axis):
    """``y[i + shift] = x[i]``, cyclically, along each of the axes `axis` (a tuple).

    Shapes: ``x: (*a) -> (*a)``.   Dtypes: all.
    Derivative: linear; its transpose rolls back.
    Raises: AxisError: an axis is out of range.
    Source: NumPy reference, ``numpy.roll``.

    >>> roll(np.array([1.0, 2.0, 3.0]), shift=(1,), axis=(0,)).tolist()
    [3.0, 1.0, 2.0]
    """
    moving = [(a, s % x.shape[a]) for a, s in zip(axis, shift, strict=True) if x.shape[a]]
    moving = [(a, k) for a, k in moving if k]
    if len(moving) != 1:
        return xp.roll(x, shift, axis)
    ((a, k),) = moving  # NumPy takes seven times as long for short arrays
    n = x.shape[a]
    if on_host(xp) and x.ndim > 1 and n <= FEW and a % x.ndim == x.ndim - 1:
        return x.take([i - k for i in range(n)], axis=a)  # elements one by one, not rows of few
    cut = n - k
    lead = (slice(None),) * (a % x.ndim)
    return xp.concatenate((x[(*lead, slice(cut, None))], x[(*lead, slice(cut))]), a)
