"""Conjugates that follow the tensor they are of, as PyTorch's do.

NOTE [Mirrors] PyTorch's `conj` shows the same memory with a bit set. NumPy has no such arrays, so the
result has memory of its own, a mirror. A write into what it mirrors is repeated in it, and a write into
it, or into a view of it, goes back. Tensors that share memory share a counter of writes, by which
the mirrors are found.
"""

from __future__ import annotations

import weakref
from typing import Any

import numpy as np

ndarray = np.ndarray


class Mirror:
    """That `array` is ``prim(part)``, and was last made so at this count of writes.

    It owns `part` and the counter, and lives as long as somebody has `array` or a view of it.
    """

    __slots__ = ("array", "counter", "part", "prim", "seen")

    def __init__(self, array: ndarray, part: ndarray, prim: Any, counter: list[Any]) -> None:
        self.array = weakref.ref(array, lambda _: _forget(self))
        self.part = part
        self.prim = prim
        self.counter = counter
        self.seen = counter[0]


# By the id of the counter, those made first in front.
known: dict[int, list[Mirror]] = {}


def _forget(mirror: Mirror) -> None:
    key = id(mirror.counter)
    rest = [m for m in known[key] if m is not mirror]
    if rest:
        known[key] = rest
    else:
        del known[key]


def add(array: ndarray, part: ndarray, prim: Any, counter: list[Any]) -> None:
    """Let `array`, which owns its memory, be the mirror ``prim(part)``."""
    known.setdefault(id(counter), []).append(Mirror(array, part, prim, counter))


def written(counter: list[Any], array: ndarray) -> None:
    """After a write into `array`: carry it back to what it mirrors, and on to all mirrors of that."""
    found = [(m, mine) for m in known.get(id(counter), ()) if (mine := m.array()) is not None]
    for m, mine in reversed(found):
        if np.may_share_memory(array, mine):
            array = m.part
            array[...] = m.prim.impl(np, mine)
    for m, mine in found:
        mine[...] = m.prim.impl(np, m.part)
        m.seen = counter[0]


def follow(counter: list[Any]) -> None:
    """Make the mirrors anew where something was written without a word to `written`."""
    for m in known.get(id(counter), ()):
        mine = m.array()
        if mine is not None and m.seen != counter[0]:
            mine[...] = m.prim.impl(np, m.part)
            m.seen = counter[0]
