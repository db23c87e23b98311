"""Groups: elementwise steps over one shape, with the sums over it, that are run as one loop.

Layer 4½. A step joins the group of an operand if that closes no circle: none of its other operands
may depend on the group. What a group reads and what others read of it are arrays; everything else
stays inside.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .steps import (
    CALL,
    ELEMENTWISE,
    INDEX,
    KERNEL,
    LOOP,
    REDUCE,
    TAKE,
    Constant,
    Lowered,
    Step,
    Value,
    with_programs,
)

MOST_STEPS = 512  # that are looked at together: finding groups takes the square of that


class Group:
    """Steps over one `shape`, in order; `inputs` and `outs` are what crosses its border."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.shape = shape
        self.steps: list[Step] = []
        self.inputs: list[Value] = []
        self.outs: list[Value] = []

    def close(self, read_later: set[Value]) -> None:
        """Find the border; `read_later`: by any step outside, or a result of the program."""
        made = {v for step in self.steps for v in step.outs}
        read = [v for step in self.steps for v in step.operands if v not in made]
        self.inputs = list(dict.fromkeys(v for v in read if not is_number(v)))
        self.outs = [step.out for step in self.steps if step.out in read_later]


def is_number(value: Any) -> bool:
    """Whether a value is a number that can be written into the source."""
    return value.__class__ is Constant and not value.shape


def grouped(
    program: Lowered,
    fits: Callable[[Step], bool],
    accepts: Callable[[Group], bool],
) -> Lowered:
    """The program with groups in place of their steps, as steps of kind `KERNEL`; in loops too.

    `fits`: whether a step may be in a group. `accepts`: whether a whole group is worth it.
    """
    units = []
    for start in range(0, len(program.steps), MOST_STEPS):
        units += _assign(program.steps[start : start + MOST_STEPS], fits)
    readers: dict[Value, set[int]] = {}
    for k, unit in enumerate(units):
        for step in unit.steps if unit.__class__ is Group else [unit]:
            for v in step.operands:
                readers.setdefault(v, set()).add(k)
    results = set(program.outs)
    steps: list[Step] = []
    for k, unit in enumerate(units):
        if unit.__class__ is not Group:
            steps.append(with_programs(unit, lambda p: grouped(p, fits, accepts)))
            continue
        made = [v for step in unit.steps for v in step.outs]
        later = {v for v in made if v in results or readers.get(v, set()) - {k}}
        unit.close(later)
        if accepts(unit):
            steps.append(Step(KERNEL, unit, unit.inputs, unit.outs))
        else:
            steps += unit.steps
    return Lowered(program.inputs, ordered(steps), program.outs)


def kernels_of(program: Lowered) -> list[Step]:
    """The steps that are groups, in loops too."""
    found = []
    for step in program.steps:
        if step.kind == KERNEL:
            found.append(step)
        elif step.kind == LOOP:
            found += kernels_of(step.function)
    return found


def _shape_of(step: Step) -> tuple[int, ...] | None:
    """Over which shape a step loops, if it can be in a group."""
    if step.kind in ELEMENTWISE or step.kind in (CALL, INDEX, TAKE):
        return step.out.shape
    return step.operands[0].shape if step.kind == REDUCE else None


def reads_others(step: Step, value: Value) -> bool:
    """Whether a step reads other elements of an operand than its own."""
    return step.kind == CALL or (step.kind == TAKE and value is step.operands[0])


class _Units:
    """Steps and groups, and which depends on which, as bits of an integer for each."""

    def __init__(self) -> None:
        self.units: list[Any] = []  # steps and groups
        self.behind: list[int] = []
        self.home: dict[Value, int] = {}  # which unit makes a value

    def add(self, unit: Step | Group, sources: set[int]) -> int:
        """A new unit that depends on these, and none on it; which number it has."""
        self.units.append(unit)
        self.behind.append(self._all(sources))
        return len(self.units) - 1

    def _all(self, sources: set[int]) -> int:
        """These units and what they depend on."""
        found = 0
        for k in sources:
            found |= self.behind[k] | 1 << k
        return found

    def sources(self, step: Step) -> set[int]:
        return {self.home[v] for v in step.operands if v in self.home}

    def depend(self, k: int, sources: set[int]) -> None:
        """Unit `k` now also depends on these."""
        new = self._all(sources) & ~(1 << k | self.behind[k])
        if new:
            for i, behind in enumerate(self.behind):
                if i == k or behind >> k & 1:
                    self.behind[i] |= new & ~(1 << i)

    def may_join(self, step: Step, k: int, sources: set[int]) -> bool:
        """Whether a step may be run with group `k`: nothing else leads from the group to it."""
        inside = [v for v in step.operands if self.home.get(v) == k]
        group = self.units[k]
        if any(reads_others(step, v) for v in inside):
            return False
        return all(v.shape == group.shape for v in inside) and not any(
            self.behind[other] >> k & 1 for other in sources if other != k
        )

    def may_merge(self, a: int, b: int) -> bool:
        """Whether two groups may be one: no way from one to the other leads through a third."""
        for first, last in ((a, b), (b, a)):
            between = self.behind[last] & ~(1 << first)
            for k in range(len(self.units)):
                if between >> k & 1 and self.behind[k] >> first & 1:
                    return False
        return True

    def merge(self, a: int, b: int) -> None:
        """Put the steps of group `b` into group `a`."""
        one, other = self.units[a], self.units[b]
        made = {v for step in one.steps for v in step.outs}
        if any(
            v in made and (v.shape != one.shape or reads_others(s, v))
            for s in other.steps
            for v in s.operands
        ):
            return  # it reads a sum over the other, or elements that are not there yet
        one.steps += other.steps
        other.steps = []
        for value, k in self.home.items():
            if k == b:
                self.home[value] = a
        both = (self.behind[a] | self.behind[b]) & ~(1 << a | 1 << b)
        for i, behind in enumerate(self.behind):
            if behind >> b & 1 or i == a:
                behind = behind & ~(1 << b) | 1 << a
                self.behind[i] = (behind | both) & ~(1 << i)
            elif behind >> a & 1:
                self.behind[i] |= both & ~(1 << i)


def _assign(steps: Sequence[Step], fits: Callable[[Step], bool]) -> list[Any]:
    order = {step: i for i, step in enumerate(steps)}
    all_units = _Units()
    for step in steps:
        sources = all_units.sources(step)
        shape = _shape_of(step)
        if not shape or not fits(step):
            place = all_units.add(step, sources)
        else:
            alike = [
                k for k in sorted(sources) if getattr(all_units.units[k], "shape", None) == shape
            ]
            joined = [k for k in alike if all_units.may_join(step, k, sources)]
            if joined:
                place = joined[0]
                all_units.depend(place, sources - {place})
            else:
                place = all_units.add(Group(shape), sources)
            all_units.units[place].steps.append(step)
            for other in joined[1:]:
                if all_units.may_merge(place, other):
                    all_units.merge(place, other)
        all_units.home.update(dict.fromkeys(step.outs, place))
    found = [u for u in all_units.units if u.__class__ is Step or u.steps]
    for unit in found:
        if unit.__class__ is Group:
            unit.steps.sort(key=order.__getitem__)
    return found


def ordered(steps: list[Step]) -> list[Step]:
    """The steps in an order in which everything is made before it is read."""
    maker = {v: step for step in steps for v in step.outs}
    done: set[Step] = set()
    found: list[Step] = []
    for last in steps:
        waiting = [last]
        while waiting:
            step = waiting[-1]
            missing = (
                [maker[v] for v in step.operands if v in maker and maker[v] not in done]
                if step not in done
                else []
            )
            if missing:
                waiting += missing
                continue
            waiting.pop()
            if step not in done:
                done.add(step)
                found.append(step)
    return found
