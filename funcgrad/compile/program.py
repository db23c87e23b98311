"""A jaxpr to a function: simplified, lowered, printed, once.

Layer 4½.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..jaxpr import Jaxpr
from .lower import lower
from .simplify import simplify
from .straight import straight


class Compiled:
    """A compiled program; its first arguments are the jaxpr's constants."""

    def __init__(self, jaxpr: Jaxpr) -> None:
        self.jaxpr = simplify(jaxpr)
        self.source, self.run = straight(lower(self.jaxpr))


def program_of(jaxpr: Jaxpr) -> Compiled:
    found = jaxpr.memo.get("compiled")
    if found is None:
        found = jaxpr.memo["compiled"] = Compiled(jaxpr)
    return found


def compiled(jaxpr: Jaxpr) -> Callable[..., tuple[Any, ...]]:
    """The function of NumPy arrays that a jaxpr is."""
    program = program_of(jaxpr)
    if not jaxpr.consts:
        return program.run
    return lambda *args: program.run(*jaxpr.consts, *args)
