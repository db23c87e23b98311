"""Steps of a region that keep to their rows, as a loop over the rows.

Layer 4½. A softmax is five nests of loops over the whole array, with arrays between them that leave the
cache; a few rows at a time, what lies between them stays there. Steps are taken together as long as
none reads another row than its own: then the first axis of all of them becomes a loop, over blocks of
rows that fit or, of what is left, over the next axis. Sums over all rows are carried from turn to turn.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from .groups import is_number
from .lower import (
    ELEMENTWISE,
    LOOP,
    REDUCE,
    UFUNC,
    VIEW,
    Constant,
    Lowered,
    Rows,
    Step,
    Value,
)

IN_CACHE = 1 << 16  # bytes of a result that may lie between nests
MANY = 16  # rows above which they are a block, with an axis
SHORT = 32  # elements of a row that is too short for vectors along it


def _bytes(value: Value) -> int:
    return value.size * value.dtype.itemsize


_RESHAPE = re.compile(r"\{\}\.reshape\(\((.*)\)\)")


def in_rows(program: Lowered) -> Lowered:
    """The program with a loop over rows, if what keeps to its rows is large and then stays in cache.

    What reads no row's result comes before the loop, what reads sums over all rows after it. Both are
    small: nests that were one would be two.
    """
    run = _Run.of(program.steps)
    if run is None:
        return program
    before: list[Step] = []
    after: list[Step] = []
    late: set[Value] = set()
    for step in program.steps:
        is_early = late.isdisjoint(step.operands)
        if is_early and run.take(step):
            late.update(run.totals.keys() & step.outs)
        elif is_early and run.made.isdisjoint(step.operands):
            before.append(step)
        else:
            after.append(step)
            late.update(step.outs)
    if not run.is_worth_it() or any(map(run.is_large, (*before, *after))):
        return program
    needed = {*program.outs, *(v for s in after for v in s.operands)}
    return Lowered(program.inputs, [*before, *run.looped(needed), *after], program.outs)


class _Run:
    """Steps one after another over `length` rows, and sums of their results over all rows."""

    def __init__(self, length: int) -> None:
        self.length = length
        self.steps: list[Step] = []
        self.made: set[Value] = set()
        self.totals: dict[Value, Step] = {}

    @classmethod
    def of(cls, steps: Sequence[Step]) -> _Run | None:
        """A run, of no step yet, over the rows of the largest result; None if it has none."""
        shapes = [
            (s.operands[0] if s.kind == REDUCE else s.out).shape for s in steps if s.kind != VIEW
        ]
        shape = max(shapes, key=math.prod, default=())
        return None if len(shape) < 2 or shape[0] < 2 else cls(shape[0])

    def take(self, step: Step) -> bool:
        """Add a step, if every row of its result is made of the same row of the operands."""
        if step.kind == VIEW:
            (value,) = step.operands
            fits = value in self.made and bool(_RESHAPE.fullmatch(step.function))
        elif step.kind == REDUCE:
            (value,) = step.operands
            if not self.has_rows(value):
                return False
            if 0 in step.options[0]:
                return self.take_total(step)
            fits = True
        else:
            axes = len(step.out.shape)
            fits = step.kind in ELEMENTWISE and self.has_rows(step.out)
            fits = fits and all(self.is_along(v, axes) for v in step.operands)
        if not fits or not self.has_rows(step.out):
            return False
        self.steps.append(step)
        self.made.update(step.outs)
        return True

    def take_total(self, step: Step) -> bool:
        """Add a sum over all rows."""
        fits = step.function is np.add and step.out.size > 1
        if fits:
            self.totals[step.out] = step
        return fits

    def has_rows(self, value: Value) -> bool:
        return bool(value.shape) and value.shape[0] == self.length

    def is_along(self, value: Value, axes: int) -> bool:
        """Whether an operand of a step over so many axes has its rows, or is the same for all."""
        if value in self.made:
            return len(value.shape) == axes
        return len(value.shape) < axes or value.shape[0] in (1, self.length)

    # ------------------------------------------------------------ the loop

    def looped(self, needed: set[Value]) -> list[Step]:
        """The run as a loop that makes what is `needed` of its results."""
        outs = [v for s in self.steps for v in s.outs if v in needed]
        body = _Body(self.block())
        inside = [self.row_step(step, body) for step in self.steps]
        carries = [Value(v.shape, v.dtype) for v in self.totals]
        sums = [
            body.added(carry, step, self, inside)
            for carry, step in zip(carries, self.totals.values(), strict=True)
        ]
        lowered = Lowered(
            [*body.consts.values(), *carries, *body.rows.values()],
            inside,
            [*sums, *(body.made[v] for v in outs)],
        )
        length = self.length // max(body.block, 1)
        rows = Rows(len(body.consts), len(carries), length, False, body.block)
        operands = [*body.given, *(Constant(0) for _ in carries), *body.rows]
        inside_loop = lowered if body.block else in_rows(lowered)
        loop = Step(LOOP, inside_loop, operands, [*self.totals, *outs], rows)
        return [*body.before, loop]

    def is_large(self, step: Step) -> bool:
        """Whether a step goes through more than a small part of what the run does."""
        values = (*step.operands, *step.outs)
        return step.kind != VIEW and max(map(_bytes, values)) > max(self.bytes() // 8, IN_CACHE)

    def is_worth_it(self) -> bool:
        """Whether large results lie between nests: what is reduced, and read again with that."""
        reduced = {s.out for s in self.steps if s.kind == REDUCE}
        for step in self.steps:
            if step.kind == VIEW and step.operands[0] in reduced:
                reduced.add(step.out)
        uses = any(v in reduced for s in self.steps if s.kind != VIEW for v in s.operands)
        shape = max(self.made, key=_bytes).shape if uses else ()
        return len(shape) > 1 and shape[-1] >= SHORT and self.bytes() > IN_CACHE

    def bytes(self) -> int:
        """Of the largest result."""
        return max(map(_bytes, self.made))

    def block(self) -> int:
        """How many rows fit into the cache; 0 for one, as nests write out few of them."""
        most = IN_CACHE * self.length // self.bytes()
        return next((b for b in range(most, MANY, -1) if self.length % b == 0), 0)

    def row_step(self, step: Step, body: _Body) -> Step:
        """A step for one row."""
        axes = len(step.out.shape)
        operands = [body.operand(v, self, step.kind in ELEMENTWISE, axes) for v in step.operands]
        outs = [body.row(v) for v in step.outs]
        body.made.update(zip(step.outs, outs, strict=True))
        function, options = step.function, step.options
        if step.kind == VIEW:
            function = f"{{}}.reshape({outs[0].shape!r})"
        elif step.kind == REDUCE and not body.block:
            options = (tuple(a - 1 for a in options[0]), options[1])
        return Step(step.kind, function, operands, outs, options)


class _Body:
    """The values inside of the loop, by those outside. `block`: of so many rows; 0: of one."""

    def __init__(self, block: int) -> None:
        self.block = block
        # The same for all rows; of those with an axis of one in front, with that or without.
        self.consts: dict[tuple[Value, bool], Value] = {}
        self.given: list[Value] = []  # as the loop takes them
        self.rows: dict[Value, Value] = {}
        self.made: dict[Value, Value] = {}
        self.before: list[Step] = []  # views that the loop needs

    def row(self, value: Value) -> Value:
        return Value(((self.block,) if self.block else ()) + value.shape[1:], value.dtype)

    def added(self, carry: Value, step: Step, run: _Run, inside: list[Step]) -> Value:
        """The sum of the rows of this turn and of those before, by steps that join `inside`."""
        (value,) = step.operands
        part = self.operand(value, run, False, len(value.shape))
        axes, keepdims = step.options
        if not self.block:
            axes = tuple(a - 1 for a in axes if a)
        if axes:
            shape = carry.shape if self.block or not keepdims else carry.shape[1:]
            summed = Value(shape, carry.dtype)
            inside.append(Step(REDUCE, step.function, [part], [summed], (axes, keepdims)))
            part = summed
        out = Value(carry.shape, carry.dtype)
        inside.append(Step(UFUNC, step.function, [carry, part], [out]))
        return out

    def operand(self, value: Any, run: _Run, elementwise: bool, axes: int) -> Value:
        if value in self.made:
            return self.made[value]
        if is_number(value):
            return value
        whole = len(value.shape) == axes or not elementwise
        if whole and run.has_rows(value):
            return self.rows.setdefault(value, self.row(value))
        key = value, whole
        if key not in self.consts:
            given = value
            if whole and not self.block:  # one row for all
                given = Value(value.shape[1:], value.dtype)
                self.before.append(
                    Step(VIEW, f"{{}}.reshape({value.shape[1:]!r})", [value], [given])
                )
            self.given.append(given)
            self.consts[key] = Value(given.shape, value.dtype, value.weak)
        return self.consts[key]
