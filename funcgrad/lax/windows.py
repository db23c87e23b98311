"""Where the windows of `gather` and `scatter` lie, as rows of the operand.

A window that shows all of an axis has no choice of places there. So those axes come last and are one
axis of columns; the others are one axis of rows, and all that is left to know is the row of each
element: the sum over axes of (start + step inside the window) times stride.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from .. import numpy as fnp
from ..errors import ArgumentError, ShapeError, where
from ..indexing import known
from ..numpy._arguments import array_of, beside
from ..ops.cast import astype
from ..ops.structural import transpose
from ._arguments import Ints, integral, ints


class GatherDimensionNumbers(NamedTuple):
    """Which axes of the result, of the operand and of the indices belong together in `gather`.

    `offset_dims` are the axes of the result along which windows lie. Axes of the operand in
    `collapsed_slice_dims` have none there. Entry k of an index is a start along the axis
    ``start_index_map[k]``; axes of `operand_batching_dims` and `start_indices_batching_dims` are
    paired.
    """

    offset_dims: Any
    collapsed_slice_dims: Any
    start_index_map: Any
    operand_batching_dims: Any = ()
    start_indices_batching_dims: Any = ()


class ScatterDimensionNumbers(NamedTuple):
    """Which axes of the updates, of the operand and of the indices belong together in `scatter`.

    `update_window_dims` are the axes of the updates along which windows lie. Axes of the operand in
    `inserted_window_dims` have none there. Entry k of an index is a start along the axis
    ``scatter_dims_to_operand_dims[k]``; axes of `operand_batching_dims` and
    `scatter_indices_batching_dims` are paired.
    """

    update_window_dims: Any
    inserted_window_dims: Any
    scatter_dims_to_operand_dims: Any
    operand_batching_dims: Any = ()
    scatter_indices_batching_dims: Any = ()


class GatherScatterMode(enum.Enum):
    """What becomes of windows that lie outside of the operand."""

    CLIP = "clip"
    FILL_OR_DROP = "fill"
    PROMISE_IN_BOUNDS = "promise_in_bounds"

    @staticmethod
    def from_any(s: Any) -> GatherScatterMode:
        """The mode that a mode, a string or None, for "fill", stands for.

        Raises: ArgumentError: there is no such mode.
        """
        if isinstance(s, GatherScatterMode):
            return s
        found = "fill" if s is None or s == "drop" else s
        if found not in [mode.value for mode in GatherScatterMode]:
            raise ArgumentError(
                f"lax: mode={s!r}; need 'clip', 'fill' (or 'drop') or 'promise_in_bounds'{where()}"
            )
        return GatherScatterMode(found)


class Windows(NamedTuple):
    """The elements of the windows as rows of the operand."""

    shape: Ints  # of the operand
    order: Ints  # its axes: those that are rows, then those that are columns
    rows: int
    columns: Ints
    block: Ints  # axes of the indices, then those of windows along rows
    turn: Ints  # for each axis of the result its place in the block and the columns
    places: Any  # the row of each element of the block
    inside: Any  # whether a window lies inside, beside the block; None if all do


class Numbers(NamedTuple):
    """The numbers of axes that `gather` and `scatter` share."""

    offset: Ints
    collapsed: Ints
    mapped: Ints
    paired: Ints
    pairing: Ints

    @property
    def without_window(self) -> Ints:
        return (*self.collapsed, *self.paired)


def numbers_of(name: str, given: Any, fields: Iterable[str]) -> Numbers:
    """The entries `fields` of the dimension numbers.

    Raises: ArgumentError: they are none.
    """
    try:
        return Numbers(*(ints(name, field, getattr(given, field)) for field in fields))
    except AttributeError as error:
        raise ArgumentError(
            f"lax.{name}: dimension_numbers={given!r}; need what has {error.name}{where()}"
        ) from None


def _require(holds: bool, name: str, what: str) -> None:
    if not holds:
        raise ShapeError(f"lax.{name}: {what}{where()}")


def _ascending(axes: Ints, ndim: int) -> bool:
    return list(axes) == sorted(set(axes)) and all(0 <= a < ndim for a in axes)


def _require_fit(name: str, shape: Ints, indices: Ints, numbers: Numbers, sizes: Ints) -> None:
    """Require what makes windows of these sizes and numbers well defined.

    Raises: ShapeError: something does not fit.
    """
    n, rest = len(shape), indices[:-1]
    gone = numbers.without_window
    _require(
        len(sizes) == n and all(0 <= s <= m for s, m in zip(sizes, shape, strict=True)),
        name,
        f"windows of {list(sizes)} of an operand of {list(shape)}",
    )
    _require(
        all(_ascending(tuple(sorted(a)), n) for a in (gone, (*numbers.mapped, *numbers.paired)))
        and all(sizes[a] <= 1 for a in gone),
        name,
        f"of {n} axes those of length 1 to leave out are {gone}, those with a start {numbers.mapped}",
    )
    _require(
        len(numbers.offset) + len(gone) == n
        and _ascending(numbers.offset, len(rest) + len(numbers.offset)),
        name,
        f"windows lie along the axes {numbers.offset} beside {len(rest)} axes of indices; need "
        f"{n - len(gone)}, in ascending order",
    )
    _require(
        len(numbers.mapped) == indices[-1],
        name,
        f"an index has {indices[-1]} entries for the axes {numbers.mapped}",
    )
    _require(
        len(numbers.paired) == len(numbers.pairing)
        and all(0 <= b < len(rest) for b in numbers.pairing)
        and all(shape[a] == rest[b] for a, b in zip(numbers.paired, numbers.pairing, strict=True)),
        name,
        f"the operand of {list(shape)} at {numbers.paired} is paired with indices of "
        f"{list(indices)} at {numbers.pairing}",
    )


def _starts(x: Any, indices: Any, numbers: Numbers, spare: Ints) -> tuple[dict[int, Any], Any]:
    """For each axis of the operand the start, brought inside, and whether all of them were."""
    found: dict[int, Any] = {}
    inside: Any = None
    for k, axis in enumerate(numbers.mapped):
        start = indices[..., k]
        held = (start >= 0) & (start <= spare[axis])
        inside = held if inside is None else inside & held
        found[axis] = fnp.clip(start, 0, spare[axis])
    ndim = indices.ndim - 1
    for axis, at in zip(numbers.paired, numbers.pairing, strict=True):
        count = np.arange(indices.shape[at])
        found[axis] = beside(x, count.reshape(-1, *(1,) * (ndim - 1 - at)))
    value = None if inside is None else known(inside)
    return found, (None if value is not None and value.all() else inside)


def windows_of(
    name: str, x: Any, indices: Any, numbers: Numbers, sizes: Ints, mode: GatherScatterMode
) -> Windows:
    """The windows of `sizes` at `indices` of the operand `x`.

    Raises: ShapeError: something does not fit. ArgumentError: the indices are no integers.
    """
    indices = astype(integral(name, indices), np.intp)
    _require(indices.ndim > 0, name, "indices are a number; need an axis of entries, the last one")
    _require_fit(name, x.shape, indices.shape, numbers, sizes)
    kept = [a for a in range(x.ndim) if a not in numbers.without_window]
    columns = tuple(a for a in kept if sizes[a] == x.shape[a])
    rows = tuple(a for a in range(x.ndim) if a not in columns)
    along = tuple(a for a in kept if a in rows)
    spare = tuple(n - s for n, s in zip(x.shape, sizes, strict=True))
    starts, inside = _starts(x, indices, numbers, spare)
    beyond = (1,) * len(along)  # the axes of the block after those of the indices
    block = (*indices.shape[:-1], *(sizes[a] for a in along))
    places = _places(x, rows, {a: sizes[a] for a in along}, starts)
    if inside is not None:
        inside = fnp.reshape(inside, inside.shape + beyond)
    return Windows(
        x.shape,
        (*rows, *columns),
        math.prod(x.shape[a] for a in rows),
        tuple(x.shape[a] for a in columns),
        block,
        _turn(indices.ndim - 1, numbers.offset, kept, (*along, *columns)),
        fnp.broadcast_to(places, block),
        None if mode is GatherScatterMode.CLIP else inside,
    )


def _places(x: Any, rows: Ints, along: dict[int, int], starts: dict[int, Any]) -> Any:
    """The rows of the elements of windows, which have the lengths `along` some of the axes."""
    places: Any = beside(x, np.zeros((), np.intp))
    for i, axis in enumerate(rows):
        stride = math.prod(x.shape[a] for a in rows[i + 1 :])
        if axis in starts:
            start = array_of(starts[axis])
            places = places + fnp.reshape(start * stride, start.shape + (1,) * len(along))
        if axis in along:
            steps = np.arange(along[axis]) * stride
            after = len(along) - 1 - list(along).index(axis)
            places = places + beside(x, steps.reshape(-1, *(1,) * after))
    return places


def _turn(lead: int, offset: Ints, kept: list[int], order: Ints) -> Ints:
    """For each axis of the result, `offset` those of the windows along `kept`, where it comes from:
    the `lead` axes of the indices come first there, then those of the windows in their `order`.
    """
    window = dict(zip(offset, kept, strict=True))
    batch = iter(range(lead))
    return tuple(
        lead + order.index(window[k]) if k in window else next(batch)
        for k in range(lead + len(offset))
    )


def turned(x: Any, axes: Ints) -> Any:
    """`x` with its axes in another order."""
    return x if axes == tuple(range(len(axes))) else transpose(x, axes=axes)


def as_rows(x: Any, windows: Windows) -> Any:
    """The operand as rows and columns."""
    return fnp.reshape(turned(x, windows.order), (windows.rows, math.prod(windows.columns)))


def from_rows(rows: Any, windows: Windows) -> Any:
    """The rows and columns as the operand."""
    apart = fnp.reshape(rows, tuple(windows.shape[a] for a in windows.order))
    return turned(apart, inverse(windows.order))


def inverse(order: Ints) -> Ints:
    """The order of axes that undoes another."""
    return tuple(int(i) for i in np.argsort(order))
