"""What the functions of this package accept for a window or its steps, in normal form."""

from __future__ import annotations

import operator
from typing import Any

from ..errors import ArgumentError, where

Sizes = tuple[int, ...]


def sizes(name: str, what: str, given: Any, ndim: int, least: int) -> Sizes:
    """One integer for each of `ndim` axes; a single one counts for all.

    Raises: ArgumentError: another number of them, no integers, or one is smaller than `least`.
    """
    try:
        try:
            found = (operator.index(given),) * ndim
        except TypeError:
            found = tuple(map(operator.index, given))
            found = found * ndim if len(found) == 1 else found
    except TypeError:
        found = ()
    if len(found) != ndim or min(found, default=least) < least:
        raise ArgumentError(
            f"{name}: {what}={given!r}; need an integer of at least {least}, or one for each of "
            f"{ndim} spatial ax{'i' if ndim == 1 else 'e'}s{where()}"
        )
    return found
