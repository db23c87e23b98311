"""The language of indices: their normal form, the layout of their results, and how they batch.

An index is a tuple, one entry per axis, of hashable things only: `int` (non-negative), `Slice`,
None for a new axis; and in the index of `gather` and its relatives also `ArrayIndex`, the place of
an integer array that comes as an operand, and `Iota`. There the Ellipsis stands for no axis at all:
it is kept only because NumPy takes it for a separator, see NOTE [Layout].

NOTE [Layout] The result of an index with arrays has three parts, as NumPy lays them out:
``before + block + after``. `block` is what the index arrays (integers count as arrays) broadcast
to; it stands where they stand, or first if a slice, None or an Ellipsis separates them.

NOTE [Last write] Of two writes to the same element the later one, in C order of the index arrays,
wins, and the derivative of the other is zero.
"""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..algebra import batch_first
from ..core import aval_of
from ..errors import where
from .structural import transpose


class Slice(NamedTuple):
    """A hashable `slice` with every bound in place; `stop` is None for 'to the front end'."""

    start: int
    stop: int | None
    step: int

    def __repr__(self) -> str:
        stop = "" if self.stop is None else self.stop
        return f"{self.start}:{stop}" + (f":{self.step}" if self.step != 1 else "")


class ArrayIndex(NamedTuple):
    """The place of index array number `position` among the operands after the first ones.

    `bounds` is "known" if no element can be negative or too large, so that nobody has to check; it
    is a string since tuples of numbers would be equal to those of `Iota`.
    """

    position: int
    bounds: str = "checked"

    def __repr__(self) -> str:
        return f"i{self.position}"


class Iota(NamedTuple):
    """The index array ``arange(size)``, followed by `after` axes of length 1."""

    size: int
    after: int

    def __repr__(self) -> str:
        return f"iota({self.size}{', 1' * self.after})"


Index = tuple[Any, ...]
Shape = tuple[int, ...]

FULL = Slice(0, None, 1)
_FANCY = (ArrayIndex, Iota, int)
FANCY = frozenset((ArrayIndex, Iota))
SHORT = 1 << 12  # the lengths of all axes together, for which what is known of an index is kept


def slice_length(part: Slice, length: int) -> int:
    """How many of `length` elements the slice shows."""
    return len(range(length)[slice(*part)])


def basic_shape(shape: Shape, index: Index) -> Shape:
    """The shape of what a basic index shows of an array of the given shape."""
    out = []
    axis = 0
    for i in index:
        if i is None:
            out.append(1)
            continue
        if i.__class__ is Slice:
            out.append(slice_length(i, shape[axis]))
        axis += 1
    return (*out, *shape[axis:])


# ---------------------------------------------------------------- index arrays


def layout(shape: Shape, index: Index, arrays: Sequence[Shape]) -> tuple[Shape, Shape, Shape]:
    """NOTE [Layout]: the parts (before, block, after) of the shape of ``x[index]``.

    Raises: IndexError: the index arrays, of the shapes `arrays`, do not broadcast together.
    """
    kept: list[int] = []
    shapes = list(arrays)
    lead = runs = axis = 0
    inside = False
    for i in index:
        fancy = i.__class__ in _FANCY
        if fancy and not inside:
            runs += 1
            lead = len(kept)
        inside = fancy
        if i is None:
            kept.append(1)
        if i is None or i is ...:
            continue
        if i.__class__ is Slice:
            kept.append(slice_length(i, shape[axis]))
        elif i.__class__ is Iota:
            shapes.append((i.size,) + (1,) * i.after)
        axis += 1
    if runs > 1:
        lead = 0
    try:
        block = np.broadcast_shapes(*shapes)
    except ValueError:
        listed = " ".join(str(s) for s in shapes)
        raise IndexError(
            f"shape mismatch: index arrays of shapes {listed} do not broadcast together{where()}"
        ) from None
    return tuple(kept[:lead]), block, tuple(kept[lead:])


def _indexed_axes(index: Index) -> list[tuple[int, Any]]:
    """The axes of the operand that index arrays stand for: (axis, `ArrayIndex` or `Iota`)."""
    entries = [i for i in index if i is not None and i is not ...]
    return [(a, i) for a, i in enumerate(entries) if i.__class__ in (ArrayIndex, Iota)]


def on_host(xp: Any) -> bool:
    """Whether the array module is NumPy, which checks indices and assigns in order by itself."""
    return xp is np


def filled(xp: Any, shape: Shape, index: Index, arrays: Sequence[Any]) -> Index:
    """The index as the array module takes it, with the arrays in place.

    Raises: IndexError: an array has an element out of bounds. NumPy finds that itself; CuPy wraps
    around, so there it is checked here, at the price of a synchronisation per index array.
    """
    if not on_host(xp):
        for axis, i in _indexed_axes(index):
            if i.__class__ is ArrayIndex:
                _wrapped(xp, arrays[i.position], i, axis, shape[axis])
    return tuple(
        arrays[i.position]
        if i.__class__ is ArrayIndex
        else slice(*i)
        if i.__class__ is Slice
        else _iota(xp, i)
        if i.__class__ is Iota
        else i
        for i in index
    )


def _iota(xp: Any, i: Iota) -> Any:
    return xp.arange(i.size).reshape((i.size,) + (1,) * i.after)


def _wrapped(xp: Any, array: Any, place: ArrayIndex, axis: int, length: int) -> Any:
    """The index array with negative entries counted from the end.

    Raises: IndexError: an entry is out of bounds.
    """
    array = array.astype(xp.intp, copy=False)  # a narrower one overflows in what follows
    if place.bounds == "known" or math.prod(array.shape) == 0:
        return array
    low, high = int(array.min()), int(array.max())
    if low < -length or high >= length:
        bad = low if low < -length else high
        raise IndexError(
            f"index {bad} is out of bounds for axis {axis} with size {length}{where()}"
        )
    return xp.where(array < 0, array + length, array) if low < 0 else array


def positions(xp: Any, shape: Shape, index: Index, arrays: Sequence[Any]) -> Any:
    """For every element of ``x[index]``, its place in ``x.ravel()``."""
    arrays = [xp.asarray(a) if a.__class__ is int else a for a in arrays]
    shapes = tuple([a.shape for a in arrays])
    if on_host(xp) and sum(shape) <= SHORT:
        full, known, chosen = _known_on_host(shape, index, shapes)
    else:
        full, known, chosen = _known_terms(xp, shape, index, shapes)
    terms = list(known)
    for i, axis, stride, after in chosen:
        array = _wrapped(xp, arrays[i.position], i, axis, shape[axis])
        steps = array if stride == 1 else array * stride
        terms.append(steps.reshape(array.shape + (1,) * after) if after else steps)
    terms.sort(key=lambda term: term.size)  # so that there are few large sums
    total = functools.reduce(operator.add, terms)
    return total if total.shape == full else xp.broadcast_to(total, full)


def _known_terms(
    xp: Any, shape: Shape, index: Index, arrays: tuple[Shape, ...]
) -> tuple[Shape, list[Any], list[tuple[ArrayIndex, int, int, int]]]:
    """Of `positions`: their shape, what adds up to them but for the index arrays, and for each of
    these its axis, by how much a step along it moves on, and how many axes there are after it."""
    before, block, after = layout(shape, index, arrays)
    ndim = len(before) + len(block) + len(after)
    stride = math.prod(shape)
    axis = place = start = 0
    terms: list[Any] = []
    chosen: list[tuple[ArrayIndex, int, int, int]] = []
    for i in index:
        if i is None:
            place += 1
        if i is None or i is ...:
            continue
        length = shape[axis]
        stride //= max(length, 1)
        if i.__class__ is Slice:
            r = range(length)[slice(*i)]
            # `place` counts the axes of slices and None; the block stands between them.
            at = place if place < len(before) else place + len(block)
            steps = xp.arange(r.start, r.stop, r.step) * stride
            terms.append(steps.reshape((len(r),) + (1,) * (ndim - 1 - at)))
            place += 1
        elif i.__class__ is int:
            start += i * stride
        elif i.__class__ is Iota:
            steps = _iota(xp, i) * stride
            terms.append(steps.reshape(steps.shape + (1,) * len(after)))
        else:
            chosen.append((i, axis, stride, len(after)))
        axis += 1
    if start or not (terms or chosen):
        terms.append(xp.full((1,) * ndim, start, dtype=xp.intp))
    return before + block + after, terms, chosen


@functools.lru_cache(maxsize=256)
def _known_on_host(shape: Shape, index: Index, arrays: tuple[Shape, ...]) -> Any:
    """`_known_terms` of NumPy, kept from call to call."""
    full, terms, chosen = _known_terms(np, shape, index, arrays)
    for term in terms:
        term.flags.writeable = False
    return full, terms, chosen


def of_rows(shape: Shape, index: Index, arrays: Sequence[Any]) -> tuple[Index, list[Any]]:
    """The same index with a slice for every last axis along which the arrays only repeat themselves.

    ``x[i[:, None], arange(n)]`` is ``x[i]``.
    """
    arrays = list(arrays)
    if len(index) != len(shape) or not FANCY.issuperset([i.__class__ for i in index]):
        return index, arrays
    last = len(index) - 1
    while last and index[last] == Iota(shape[last], 0):
        others = [i for i in index[:last] if i.__class__ is Iota]
        if not all(a.ndim and (a.shape[-1] == 1 or a.strides[-1] == 0) for a in arrays) or any(
            i.after == 0 for i in others
        ):
            break
        arrays = [a[..., 0] for a in arrays]
        index = (
            *[Iota(i.size, i.after - 1) if i.__class__ is Iota else i for i in index[:last]],
            *(FULL,) * (len(index) - last),
        )
        last -= 1
    return index, arrays


def rows(shape: Shape, index: Index, arrays: Sequence[Any]) -> tuple[Any, int]:
    """The index of whole rows, on the host: places in ``x.reshape(-1, width)``, and the width."""
    count = len(index)
    while count > 1 and index[count - 1] == FULL:
        count -= 1
    axes = sum(i is not None and i is not ... for i in index[:count])
    return positions(np, shape[:axes], index[:count], arrays).ravel(), math.prod(shape[axes:])


def last_writes(xp: Any, shape: Shape, index: Index, arrays: Sequence[Any]) -> Any:
    """NOTE [Last write]: which elements of the block no later one overwrites, as booleans."""
    entries = _indexed_axes(index)
    lengths = tuple(shape[axis] for axis, _ in entries)
    places = positions(xp, lengths, tuple(i for _, i in entries), arrays)
    flat = places.ravel()
    turn = xp.arange(1, flat.size + 1, dtype=xp.uint64)  # CuPy has maximum.at for this dtype
    last = xp.zeros(math.prod(lengths), dtype=xp.uint64)
    if on_host(xp):
        last[flat] = turn  # in order
    else:
        xp.maximum.at(last, flat, turn)
    return (last[flat] == turn).reshape(places.shape)


def assign(xp: Any, out: Any, new: Any, index: Index, arrays: Sequence[Any]) -> None:
    """``out[index] = new``, in C order: NumPy promises an order only along one axis, CuPy none."""
    arrays = [xp.asarray(a) if a.__class__ is int else a for a in arrays]
    before, block, after = layout(out.shape, index, [a.shape for a in arrays])
    if getattr(new, "size", 1) == 1 or (len(block) < 2 and on_host(xp)):
        arrays = [xp.ascontiguousarray(a).reshape(a.shape) for a in arrays]
        out[filled(xp, out.shape, index, arrays)] = new
        return
    if on_host(xp) and out.size:
        index, arrays = of_rows(out.shape, index, arrays)
        places, width = rows(out.shape, index, arrays)
        whole = xp.ascontiguousarray(out)  # `out` itself, unless it is a view of other strides
        new = xp.broadcast_to(new, before + block + after).reshape(-1, width)
        whole.reshape(-1, width)[places] = new
        if whole is not out:
            out[...] = whole
        return
    won = xp.flatnonzero(last_writes(xp, out.shape, index, arrays))
    merged = (*before, math.prod(block), *after)
    new = xp.broadcast_to(new, before + block + after).reshape(merged)
    entries = filled(xp, out.shape, index, arrays)
    out[
        tuple(xp.broadcast_to(i, block).ravel()[won] if hasattr(i, "shape") else i for i in entries)
    ] = xp.take(new, won, axis=len(before))


# ---------------------------------------------------------------- batching index arrays


def batched_index(
    size: int, shape: Shape, index: Index, arrays: Sequence[Any], bdims: Sequence[int | None]
) -> tuple[Index, list[Any], int, int]:
    """The index of a batch of operands of the given shape, the batch axis in front.

    Returns (index, arrays, lead, width): in the result the batch axis is the first one, and the
    `width` axes of the block come before the `lead` axes that precede them for one example.
    """
    before, block, _ = layout(shape, index, example_shapes(arrays, bdims))
    if all(b is None for b in bdims) and not _separated(index):
        return (FULL, *index), list(arrays), 0, 0
    return (
        (Iota(size, len(block)), *index),
        blocks_first(arrays, bdims, len(block)),
        len(before),
        len(block),
    )


def example_shapes(arrays: Sequence[Any], bdims: Sequence[int | None]) -> list[Shape]:
    shapes = [aval_of(a).shape for a in arrays]
    return [s if b is None else s[:b] + s[b + 1 :] for s, b in zip(shapes, bdims, strict=True)]


def blocks_first(arrays: Sequence[Any], bdims: Sequence[int | None], width: int) -> list[Any]:
    """The index arrays with the batch axis before the block, where they have one."""
    return [
        a if b is None else batch_first(a, b, width) for a, b in zip(arrays, bdims, strict=True)
    ]


def _separated(index: Index) -> bool:
    """Whether a slice, None or an Ellipsis stands between index arrays (or integers)."""
    fancy = [i.__class__ in _FANCY for i in index]
    first, last = fancy.index(True), len(fancy) - fancy[::-1].index(True)
    return not all(fancy[first:last])


def rolled(x: Any, first: int, then: int) -> Any:
    """`x` with the `first` axes after its batch axis moved behind the `then` axes after those."""
    if first == 0 or then == 0:
        return x
    end = 1 + first + then
    axes = (0, *range(1 + first, end), *range(1, 1 + first), *range(end, aval_of(x).ndim))
    return transpose(x, axes=axes)
