"""Steps of a region that keep to their rows, as loops over the rows.

Layer 4½. A softmax is five nests of loops over the whole array, with arrays between them that leave the
cache; a few rows at a time, what lies between them stays there. If there are `count` rows, the i-th of
an array is the i-th of so many equal stretches of its elements, whatever axes these go through. So a
loop goes on through reshapes, transposes of what is in the rows, products of many matrices and sums
over all rows, which are carried from turn to turn. What does not hang together is in several loops.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np

from .c_places import shows_first_row
from .c_products import is_product
from .groups import grouped, is_number
from .steps import (
    CALL,
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

IN_CACHE = 1 << 14  # bytes of a row of a result, a third of the nearest cache: others lie beside it
MANY = 16  # parts of an axis above which a row may have several: nests write out what is shorter
SHORT = 32  # elements of a last axis that is too short for vectors along it
LONG = 128  # parts of an axis that vectors can go along instead
FAR = 1 << 19  # bytes of a result for which that is better than all of the axis at once
KINDS = 4  # of shapes that rows are looked for in, the largest ones

Shape = tuple[int, ...]
_RESHAPE = re.compile(r"\{\}\.reshape\(\((.*)\)\)")


def _bytes(value: Value) -> int:
    return value.size * value.dtype.itemsize


def in_rows(program: Lowered) -> Lowered:
    """The program with loops over rows, where large results would lie between nests."""
    return Lowered(program.inputs, _in_rows(program.steps, set(program.outs)), program.outs)


def _in_rows(steps: Sequence[Step], needed: set[Value]) -> list[Step]:
    """The steps, of whose results `needed` are, with loops over rows."""
    found = max(_runs(steps), key=lambda run: run.worth(), default=None)
    if found is None:
        return list(steps)
    own = {*found.steps, *found.totals.values()}
    run, before, after = _Run.over(found.count, steps, own)
    later = needed.union(*[s.operands for s in after])
    earlier = later.union(*[s.operands for s in own])
    return [*_in_rows(before, earlier), *run.looped(later), *_in_rows(after, needed)]


def _runs(steps: Sequence[Step]) -> Iterator[_Run]:
    """Runs that are worth a loop."""
    for count in _counts(steps):
        run, _, _ = _Run.over(count, steps, set(steps))
        for part in run.parts():
            one, _, _ = _Run.over(count, steps, part)
            if one.is_worth_it():
                yield one


def _counts(steps: Sequence[Step]) -> list[int]:
    """Into how many rows the largest arrays can be cut: as many as an outer axis has or, of the next
    axis too, parts that fit into the cache.
    """
    large: dict[Shape, int] = {}
    for step in steps:
        for value in (*step.operands, *step.outs) if step.kind != VIEW else ():
            if len(value.shape) > 1 and _bytes(value) > IN_CACHE:
                large[value.shape] = max(large.get(value.shape, 0), _bytes(value))
    found: dict[int, None] = {}
    for shape in sorted(large, key=lambda shape: -large[shape])[:KINDS]:
        count = 1
        for n in shape[:-1]:
            bytes_of_one = large[shape] // (count * n)
            for block in range(min(IN_CACHE // bytes_of_one, n - 1), MANY, -1):
                if n % block == 0:
                    found[count * n // block] = None
                    break
            count *= n
            if n > 1:
                found[count] = None
    return list(found)


def _row(shape: Shape, count: int) -> tuple[Shape, int] | None:
    """One of `count` rows, and along how many axes these are counted; None if axes do not allow it."""
    row = list(shape)
    for axis, n in enumerate(shape):
        if count == 1:
            return tuple(row), axis
        if count % n == 0:
            row[axis] = 1
            count //= n
        elif n % count == 0:
            row[axis] = n // count
            return tuple(row), axis + 1
        else:
            return None
    return (tuple(row), len(shape)) if count == 1 else None


class _Run:
    """Steps one after another, each over `count` rows, and sums of their results over all rows."""

    def __init__(self, count: int) -> None:
        self.count = count
        self.steps: list[Step] = []
        self.views: dict[Step, str] = {}  # as they are of one row
        self.made: dict[Value, None] = {}
        self.rows: dict[Value, None] = {}  # what is read row by row and not made here
        # What all rows of a step read as a whole, though it may have rows for another.
        self.same: dict[Step, set[Value]] = {}
        self.totals: dict[Value, Step] = {}

    @classmethod
    def over(
        cls, count: int, steps: Sequence[Step], able: set[Step]
    ) -> tuple[_Run, list[Step], list[Step]]:
        """The run of those steps of `able` that it can take, and what comes before and after it."""
        run = cls(count)
        before: list[Step] = []
        after: list[Step] = []
        late: set[Value] = set()
        for step in steps:
            if not late.isdisjoint(step.operands):
                after.append(step)
                late.update(step.outs)
            elif step in able and run.take(step):
                late.update(run.totals.keys() & step.outs)
            elif run.made.keys().isdisjoint(step.operands):
                before.append(step)
            else:
                after.append(step)
                late.update(step.outs)
        return run, before, after

    # ------------------------------------------------------------ which steps

    def take(self, step: Step) -> bool:
        """Add a step, if every row of its result is made of the same row of the operands."""
        if step.kind == VIEW:
            return self.take_view(step)
        shape, inner = step.out.shape, len(step.out.shape)  # the axes from which on rows may mix
        if step.kind == REDUCE:
            shape = step.operands[0].shape
            inner = min(step.options[0])
        elif step.kind == CALL and is_product(step):
            inner -= 2
            if step.function is not np.matmul or any(len(v.shape) < 2 for v in step.operands):
                return False
        elif step.kind == CALL and getattr(step.function, "name", None) == "concatenate":
            inner = step.options["axis"]
        elif step.kind not in ELEMENTWISE:
            return False
        row = _row(shape, self.count)
        if row is None:
            return False
        _, axes = row
        read = {v: self.is_read_in_rows(v, shape, axes) for v in step.operands if not is_number(v)}
        if None in read.values() or True not in read.values():
            return False
        if axes > inner:
            return step.kind == REDUCE and self.take_total(step, axes, read)
        return self.taken(step, read)

    def is_read_in_rows(self, value: Value, shape: Shape, axes: int) -> bool | None:
        """Whether a step over `shape`, of rows along so many axes, reads an operand row by row; no if
        all rows read the same of it, and None if it is neither.
        """
        own = ((1,) * (len(shape) - len(value.shape)) + value.shape)[:axes]
        if own == shape[:axes]:
            return True
        return False if all(n == 1 for n in own) and value not in self.made else None

    def taken(self, step: Step, read: dict[Value, bool | None]) -> bool:
        self.steps.append(step)
        self.rows.update((v, None) for v, in_rows in read.items() if in_rows and v not in self.made)
        self.same[step] = {v for v, in_rows in read.items() if not in_rows}
        self.made.update(dict.fromkeys(step.outs))
        return True

    def take_total(self, step: Step, axes: int, read: dict[Value, bool | None]) -> bool:
        """Add a sum over all rows."""
        (value,) = step.operands
        over = {a for a in range(axes) if value.shape[a] > 1}
        if step.function is not np.add or step.out.size == 1 or not over <= {*step.options[0]}:
            return False
        self.totals[step.out] = step
        self.rows.update((v, None) for v in read if v not in self.made)
        return True

    def take_view(self, step: Step) -> bool:
        (value,) = step.operands
        row, out = (_row(v.shape, self.count) for v in (value, step.out))
        if value not in self.made or row is None or out is None:
            return False
        is_reshape = _RESHAPE.fullmatch(step.function)
        template = f"{{}}.reshape({out[0]!r})" if is_reshape else step.function
        if not is_reshape and not shows_first_row(template, value.shape, row[0], out[0]):
            return False
        self.views[step] = template
        return self.taken(step, {})

    def parts(self) -> list[set[Step]]:
        """The steps by what hangs together: they make and read the same rows."""
        home: dict[Value, dict[Step, None]] = {}
        for step in (*self.steps, *self.totals.values()):
            values = [v for v in (*step.operands, step.out) if v in self.made or v in self.rows]
            joined = {id(home[v]): home[v] for v in values if v in home}
            part = {s: None for own in joined.values() for s in own} | {step: None}
            for s in part:
                for v in (*s.operands, s.out):
                    if v in self.made or v in self.rows:
                        home[v] = part
        return [set(part) for part in {id(part): part for part in home.values()}.values()]

    # ------------------------------------------------------------ whether they are worth it

    def worth(self) -> tuple[int, bool, int]:
        """What is made in the loop, and whether that stays in the cache; then, how few turns."""
        bytes_of_row = self.bytes() // self.count
        is_near = bytes_of_row <= IN_CACHE
        return self.work(), is_near, bytes_of_row if is_near else -bytes_of_row

    def work(self) -> int:
        read = sum(_bytes(s.operands[0]) for s in self.totals.values())
        return read + sum(_bytes(v) for s in self.steps if s.kind != VIEW for v in s.outs)

    def bytes(self) -> int:
        """Of the largest result."""
        return max(map(_bytes, self.made), default=0)

    def is_worth_it(self) -> bool:
        """Whether large results lie between nests, whose vectors can still go along something."""
        if self.bytes() <= IN_CACHE:
            return False
        shape = max(self.made, key=_bytes).shape
        row, axes = _row(shape, self.count) or (shape, 0)
        parts = row[axes - 1] if axes else 1
        is_long = row[-1] >= SHORT or (parts >= LONG and self.bytes() > FAR)
        if len(shape) < 2 or not is_long or 1 < parts <= MANY:
            return False
        nests = grouped(
            Lowered([], [*self.steps, *self.totals.values()], []),
            lambda step: step.kind in ELEMENTWISE or step.kind == REDUCE,
            lambda group: True,
        )
        passed = Counter(
            v
            for step in nests.steps
            if step.kind != VIEW
            for v in {*step.operands, *step.outs}
            if _bytes(v) > IN_CACHE and (v in self.made or v in self.rows)
        )
        return max(passed.values(), default=0) > 1

    # ------------------------------------------------------------ the loop

    def looped(self, needed: set[Value]) -> list[Step]:
        """The run as a loop that makes what is `needed` of its results, and views of these after it."""
        needed, views = set(needed), []
        for step in reversed(self.steps):
            if step.kind == VIEW and step.out in needed:
                needed.add(step.operands[0])
                views.append(step)
        outs = [v for s in self.steps if s.kind != VIEW for v in s.outs if v in needed]
        stretches = [Value((self.count, *self.row(v).shape), v.dtype) for v in self.rows]
        before = [
            Step(VIEW, f"{{}}.reshape({rows.shape!r})", [v], [rows])
            for v, rows in zip(self.rows, stretches, strict=True)
        ]
        made = {v: self.row(v) for v in (*self.rows, *(v for s in self.steps for v in s.outs))}
        consts: dict[Value, Value] = {}

        def inner(value: Value, step: Step) -> Value:
            if value in self.same[step]:
                return consts.setdefault(value, Value(value.shape, value.dtype, value.weak))
            return value if is_number(value) else made[value]

        inside = []
        for s in self.steps:
            function = self.views.get(s, s.function)
            operands, results = [inner(v, s) for v in s.operands], [made[v] for v in s.outs]
            inside.append(Step(s.kind, function, operands, results, s.options))
        carries = [Value(v.shape, v.dtype) for v in self.totals]
        sums = [
            _added(carry, step, made[step.operands[0]], inside)
            for carry, step in zip(carries, self.totals.values(), strict=True)
        ]
        body = Lowered(
            [*consts.values(), *carries, *(made[v] for v in self.rows)],
            inside,
            [*sums, *(made[v] for v in outs)],
        )
        options = Rows(len(consts), len(carries), self.count, False)
        given = [*consts, *(Constant(0) for _ in carries), *stretches]
        loop = Step(LOOP, in_rows(body), given, [*self.totals, *outs], options)
        return [*before, loop, *reversed(views)]

    def row(self, value: Value) -> Value:
        found = _row(value.shape, self.count)
        assert found is not None
        return Value(found[0], value.dtype)


def _added(carry: Value, step: Step, part: Value, inside: list[Step]) -> Value:
    """The sum of the rows of this turn and of those before, by steps that join `inside`."""
    axes, _ = step.options
    summed, out = Value(carry.shape, carry.dtype), Value(carry.shape, carry.dtype)
    if all(part.shape[a] == 1 for a in axes):
        inside.append(Step(VIEW, f"{{}}.reshape({carry.shape!r})", [part], [summed]))
    else:
        inside.append(Step(REDUCE, step.function, [part], [summed], step.options))
    inside.append(Step(UFUNC, step.function, [carry, summed], [out]))
    return out
