"""Where values are inside a region: pointers of C, and the element that each index shows.

Layer 4½. Shapes are known when C is printed, so a place is a strided array over memory that nobody
reads: NumPy itself works out what a view of it shows.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from .steps import Step


class Place:
    """`shown`: an array of one-byte elements whose strides are those of the value in `base`.

    What is one element, whatever it is broadcast to, is a C variable, `base`.
    """

    __slots__ = ("base", "is_variable", "origin", "shown")

    def __init__(self, base: str, shown: np.ndarray, origin: int, is_variable: bool) -> None:
        self.base = base
        self.shown = shown
        self.origin = origin
        self.is_variable = is_variable

    @property
    def offset(self) -> int:
        return _address(self.shown) - self.origin

    def showing(self, shown: np.ndarray) -> Place:
        """The same memory, seen through another array over it."""
        return Place(self.base, shown, self.origin, self.is_variable)

    def viewed(self, template: str) -> Place | None:
        """What a view shows; None if it would have to copy."""
        made = _viewed(self.shown, template)
        inside = self.is_variable or np.may_share_memory(made, self.shown)
        return self.showing(made) if inside else None

    def over(self, shape: tuple[int, ...]) -> Place:
        return self.showing(np.broadcast_to(self.shown, shape))

    def offsets(self) -> np.ndarray:
        """The offset of every element."""
        found = np.full(self.shown.shape, self.offset)
        for axis, (n, stride) in enumerate(zip(self.shown.shape, self.shown.strides, strict=True)):
            found += (np.arange(n) * stride).reshape([-1] + [1] * (found.ndim - axis - 1))
        return found


def _address(shown: np.ndarray) -> int:
    return shown.__array_interface__["data"][0]


def _viewed(shown: np.ndarray, template: str) -> np.ndarray:
    return eval(template.format("x"), {"x": shown, "np_broadcast_to": np.broadcast_to})


def is_array_view(step: Step) -> bool:
    """Whether a view of an array is an array, so that a place can follow it."""
    stand_in = np.broadcast_to(np.empty((), np.int8), step.operands[0].shape)
    return isinstance(_viewed(stand_in, step.function), np.ndarray)


def shows_first_row(
    template: str, shape: Sequence[int], row: Sequence[int], out: Sequence[int]
) -> bool:
    """Whether a view of each row of a dense array, `out`, is the same row of a view of all of it."""
    stand_in = np.empty(math.prod(shape), np.int8)
    size = math.prod(row)
    whole = _viewed(stand_in.reshape(shape), template)
    try:
        first = _viewed(stand_in[:size].reshape(row), template)
    except (ValueError, IndexError):  # what is beyond the row
        return False
    rows = whole.reshape((stand_in.size // size, *out))
    return (
        first.shape == tuple(out)
        and rows.strides[0] == size
        and np.may_share_memory(rows, stand_in)
        and _steps(rows[0]) == _steps(first)
        and _address(rows) == _address(first)
    )


def _steps(shown: np.ndarray) -> list[int]:
    """The strides that matter."""
    return [s for n, s in zip(shown.shape, shown.strides, strict=True) if n > 1]


def dense(base: str, shape: tuple[int, ...], order: Sequence[int] | None = None) -> Place:
    """Memory of its own; `order`: the axes from the outermost to the innermost."""
    shown = np.empty(math.prod(shape), np.int8)
    if order is None:
        shown = shown.reshape(shape)
    else:
        shown = shown.reshape([shape[a] for a in order]).transpose(np.argsort(order))
    return Place(base, shown, _address(shown), shown.size == 1)


def layout(shape: tuple[int, ...], keeps: bool) -> list[int]:
    """The order of axes for an intermediate result: a last axis gives way to a long one, or `keeps`
    its place.
    """
    axes = list(range(len(shape)))
    longest = max(axes, key=lambda a: (shape[a], a))
    if not keeps and shape[longest] >= 4 * shape[-1]:
        axes.remove(longest)
        axes.append(longest)
    return axes


class Part:
    """Which part of a result comes from one operand, by slices: from `low` to `high` on each axis.

    The operand's element is at `offset` and the strides times the place in the *result*.
    """

    def __init__(
        self, low: Sequence[int], high: Sequence[int], offset: int, strides: Sequence[int]
    ) -> None:
        self.low, self.high = tuple(low), tuple(high)
        self.offset, self.strides = offset, tuple(strides)


def moved(step: Step, offsets: Sequence[np.ndarray]) -> list[Part | None] | None:
    """How a step that only moves elements does it; None if that are not slices.

    `offsets`: of the operands' elements. Found by moving the offsets themselves: what does not come
    from an operand is 0 there.
    """
    parts: list[Part | None] = []
    for k in range(len(offsets)):
        given = [o + 1 if i == k else np.zeros_like(o) for i, o in enumerate(offsets)]
        table = np.asarray(step.function.impl(np, *given, **step.options))
        places = np.nonzero(table)
        if not len(places[0] if places else ()):
            parts.append(None)
            continue
        low = [int(p.min()) for p in places]
        high = [int(p.max()) + 1 for p in places]
        box = table[tuple(slice(a, b) for a, b in zip(low, high, strict=True))]
        strides = [
            int(np.take(box, 1, a).flat[0] - box.flat[0]) if box.shape[a] > 1 else 0
            for a in range(box.ndim)
        ]
        offset = int(box.flat[0]) - 1 - sum(a * s for a, s in zip(low, strides, strict=True))
        part = Part(low, high, offset, strides)
        if not np.array_equal(box, _of(part) + 1):
            return None
        parts.append(part)
    return parts


def _of(part: Part) -> np.ndarray:
    """The offsets that a part stands for."""
    count = len(part.low)
    found = np.full([b - a for a, b in zip(part.low, part.high, strict=True)], part.offset)
    for axis, (a, b) in enumerate(zip(part.low, part.high, strict=True)):
        line = np.arange(a, b) * part.strides[axis]
        found += line.reshape([-1] + [1] * (count - axis - 1))
    return found
