"""Where the elements of a nest's operands and results are in memory, as C.

Layer 4½.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from .c_places import Part


def zero(kind: str) -> str:
    """The name of a zero of a type, for what is read where nothing lies."""
    return f"ZERO_{kind.replace(' ', '_')}"


class Access:
    """An operand or a result inside a nest: where its element is for a place in the nest."""

    def __init__(
        self, base: str, kind: str, offset: int, strides: dict[int, int], variable: bool = False
    ) -> None:
        self.base, self.kind = base, kind
        self.offset, self.strides = offset, strides
        self.variable = variable
        self.long_steps: dict[int, str] = {}  # what strides that have one are called

    def at(self, where: dict[int, Any]) -> str:
        """The element as C; `where`: the number or the variable that an axis has."""
        if self.variable:
            return self.base
        fixed, terms = self.offset, []
        for axis, stride in self.strides.items():
            place = where[axis]
            if place.__class__ is int:
                fixed += place * stride
            elif stride:
                step = self.long_steps.get(axis) or stride
                terms.append(place if stride == 1 else f"{place} * {step}")
        if fixed or not terms:
            terms.append(str(fixed))
        return f"{self.base}[{' + '.join(terms)}]"


class Moved:
    """A result that is put together from parts of other arrays, and zeros."""

    def __init__(
        self, parts: Sequence[tuple[Access, Part]], shape: Sequence[int], kind: str
    ) -> None:
        self.parts = parts
        self.shape = shape
        self.kind = kind
        taken = [[h - low for low, h in zip(p.low, p.high, strict=True)] for _, p in parts]
        self.is_covered = sum(map(math.prod, taken)) == math.prod(shape)

    def borders(self, axis: int) -> set[int]:
        """Where parts begin and end."""
        return {n for _, part in self.parts for n in (part.low[axis], part.high[axis])}

    def at(self, where: dict[int, Any], stretch: dict[int, tuple[int, int]]) -> str:
        """The element as C: where it lies is chosen, and then read; NOTE [Chosen places] in c_nests.py.

        `stretch`: from where to where a variable goes.
        """
        text = "" if self.is_covered else zero(self.kind)
        for access, part in self.parts:
            guards = []
            possible = True
            for axis, (low, high) in enumerate(zip(part.low, part.high, strict=True)):
                place = where.get(axis, 0)
                if place.__class__ is int:
                    possible = possible and low <= place < high
                    continue
                first, end = stretch[axis]
                possible = possible and low < end and first < high
                if low > first:
                    guards.append(f"{place} >= {low}")
                if high < end:
                    guards.append(f"{place} < {high}")
            if possible:
                found = access.at(where)
                if access.variable or access.kind != self.kind:
                    found = f"(const {self.kind}){{{found}}}"
                chosen = guards and text
                text = f"*({' & '.join(guards)} ? &{found} : &{text})" if chosen else found
        return text
