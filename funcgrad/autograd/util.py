"""Lists with other entries, and functions behind methods."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any


def subvals(x: Sequence[Any], pairs: Iterable[tuple[int, Any]]) -> tuple[Any, ...]:
    """`x` as a tuple, with other values at some places.

    >>> subvals("abc", [(1, "x")])
    ('a', 'x', 'c')
    """
    full = list(x)
    for i, value in pairs:
        full[i] = value
    return tuple(full)


def subval(x: Sequence[Any], i: int, value: Any) -> tuple[Any, ...]:
    """`x` as a tuple, with another value at one place."""
    return subvals(x, [(i, value)])


def func(f: Any) -> Any:
    """The function itself: Python has no unbound methods."""
    return f
