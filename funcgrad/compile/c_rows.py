"""Steps of a region that keep to their rows, as a loop over the rows.

Layer 4½. A softmax is five nests of loops over the whole array, with arrays between them that leave the
cache; row by row, what lies between them is as small as a row. Steps are taken together as long as
none reads another row than its own: then the first axis of all of them becomes a loop, and of what is
left, the next one.
"""

from __future__ import annotations

import math
import re
from typing import Any

from .groups import is_number
from .lower import ELEMENTWISE, LOOP, REDUCE, VIEW, Lowered, Rows, Step, Value

IN_CACHE = 1 << 14  # bytes of a result that may lie between nests
SHORT = 32  # elements of a row that is too short for vectors along it

_RESHAPE = re.compile(r"\{\}\.reshape\(\((.*)\)\)")


def in_rows(program: Lowered) -> Lowered:
    """The program, with loops over rows where that keeps results in the cache."""
    steps: list[Step] = []
    run: _Run | None = None
    for k, step in enumerate(program.steps):
        if run is not None and run.take(step):
            continue
        if run is not None:
            steps += run.ended(program, k)
        run = _Run.of(step)
        if run is None:
            steps.append(step)
    if run is not None:
        steps += run.ended(program, len(program.steps))
    return Lowered(program.inputs, steps, program.outs)


class _Run:
    """Steps one after another over `length` rows, and views of other arrays among them."""

    def __init__(self, length: int) -> None:
        self.length = length
        self.all: list[Step] = []
        self.views: list[Step] = []  # of what is made outside
        self.steps: list[Step] = []
        self.made: set[Value] = set()

    @classmethod
    def of(cls, step: Step) -> _Run | None:
        """A run that starts with a step; None if it cannot."""
        shape = (step.operands[0] if step.kind == REDUCE else step.out).shape
        if step.kind == VIEW or len(shape) < 2 or shape[0] < 2:
            return None
        run = cls(shape[0])
        return run if run.take(step) else None

    def take(self, step: Step) -> bool:
        """Add a step, if every row of its result is made of the same row of the operands."""
        if step.kind == VIEW:
            (value,) = step.operands
            if value not in self.made:
                self.views.append(step)
                self.all.append(step)
                return True
            fits = bool(_RESHAPE.fullmatch(step.function)) and self.has_rows(value)
        elif step.kind == REDUCE:
            fits = self.has_rows(step.operands[0]) and 0 not in step.options[0]
        else:
            axes = len(step.out.shape)
            fits = step.kind in ELEMENTWISE and self.has_rows(step.out)
            fits = fits and all(self.is_along(v, axes) for v in step.operands)
        if not fits or not self.has_rows(step.out):
            return False
        self.steps.append(step)
        self.all.append(step)
        self.made.update(step.outs)
        return True

    def has_rows(self, value: Value) -> bool:
        return bool(value.shape) and value.shape[0] == self.length

    def is_along(self, value: Value, axes: int) -> bool:
        """Whether an operand of a step over so many axes has its rows, or is the same for all."""
        if value in self.made:
            return len(value.shape) == axes
        return len(value.shape) < axes or value.shape[0] in (1, self.length)

    # ------------------------------------------------------------ the loop

    def ended(self, program: Lowered, stop: int) -> list[Step]:
        """What stands for the run in the program, where it ends before step `stop`."""
        if not self.is_worth_it():
            return self.all
        later = {v for s in program.steps[stop:] for v in s.operands} | set(program.outs)
        later.update(v for s in self.views for v in s.operands)
        outs = [v for s in self.steps for v in s.outs if v in later]
        body = _Body()
        inside = [self.row_step(step, body) for step in self.steps]
        lowered = Lowered(
            [*body.consts.values(), *body.rows.values()], inside, [body.made[v] for v in outs]
        )
        rows = Rows(len(body.consts), 0, self.length, False)
        operands = [*body.given, *body.rows]
        loop = Step(LOOP, in_rows(lowered), operands, outs, rows)
        return [*self.views, *body.before, loop]

    def is_worth_it(self) -> bool:
        """Whether large results lie between nests: what is reduced, and read again with that."""
        reduced = {s.out for s in self.steps if s.kind == REDUCE}
        for step in self.steps:
            if step.kind == VIEW and step.operands[0] in reduced:
                reduced.add(step.out)
        uses = any(v in reduced for s in self.steps if s.kind != VIEW for v in s.operands)
        largest = max((v for v in self.made), key=lambda v: v.size * v.dtype.itemsize)
        long = math.prod(largest.shape[1:]) >= SHORT and largest.shape[-1] >= SHORT
        return uses and long and largest.size * largest.dtype.itemsize > IN_CACHE

    def row_step(self, step: Step, body: _Body) -> Step:
        """A step for one row."""
        axes = len(step.out.shape)
        operands = [body.operand(v, self, step.kind in ELEMENTWISE, axes) for v in step.operands]
        outs = [body.row(v) for v in step.outs]
        body.made.update(zip(step.outs, outs, strict=True))
        function, options = step.function, step.options
        if step.kind == VIEW:
            function = f"{{}}.reshape({step.out.shape[1:]!r})"
        elif step.kind == REDUCE:
            options = (tuple(a - 1 for a in options[0]), options[1])
        return Step(step.kind, function, operands, outs, options)


class _Body:
    """The values inside of the loop, by those outside."""

    def __init__(self) -> None:
        self.consts: dict[Value, Value] = {}  # the same for all rows
        self.given: list[Value] = []  # as the loop takes them
        self.rows: dict[Value, Value] = {}
        self.made: dict[Value, Value] = {}
        self.before: list[Step] = []  # views that the loop needs

    @staticmethod
    def row(value: Value) -> Value:
        return Value(value.shape[1:], value.dtype)

    def operand(self, value: Any, run: _Run, elementwise: bool, axes: int) -> Value:
        if value in self.made:
            return self.made[value]
        if is_number(value):
            return value
        whole = len(value.shape) == axes or not elementwise
        if whole and run.has_rows(value):
            return self.rows.setdefault(value, self.row(value))
        if value not in self.consts:
            given = value
            if whole:  # one row for all
                given = self.row(value)
                self.before.append(
                    Step(VIEW, f"{{}}.reshape({value.shape[1:]!r})", [value], [given])
                )
            self.given.append(given)
            self.consts[value] = Value(given.shape, value.dtype, value.weak)
        return self.consts[value]
