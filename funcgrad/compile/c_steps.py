"""Steps that only C has, in place of calls: draws, loops with a test, branches, elements by number.

Layer 4½. Hashing is a hundred operations on integers: a few nanoseconds as C, a hundred calls as
NumPy. So programs have calls for random numbers, and only what is to be C has their steps: the
implementations, run on symbols as all others are, with the few functions that need no array.
Python runs the programs of `while_loop` and `cond` by itself; in C they are in line.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..core import EVAL, run_under
from ..ops.join import concatenate, stack_arrays
from . import c_elements
from .lower import (
    BRANCH,
    CALL,
    VIEW,
    WHILE,
    Constant,
    Lowered,
    Namespace,
    NotLowerableError,
    Step,
    Symbol,
    Value,
    Writer,
    lower,
    programs_of,
    with_programs,
)
from .simplify import simplify

DRAWS = frozenset(
    {
        "random_bits",
        "random_fold_in",
        "random_integers",
        "random_normal",
        "random_split",
        "random_uniform",
    }
)


class _Writer(Writer):
    has_bits = True


class _InC(Namespace):
    """What implementations call that gives them new arrays."""

    __name__ = "c"

    def __init__(self, writer: Writer) -> None:
        self.writer = writer

    def empty_like(self, x: Symbol) -> Symbol:
        return Symbol(self.writer, Value(x.shape, x.dtype))

    def zeros_like(self, x: Symbol | np.ndarray) -> np.ndarray:
        return np.zeros(x.shape, x.dtype)

    def broadcast_to(self, x: Symbol | np.ndarray, shape: tuple[int, ...]) -> Symbol:
        symbol = x if isinstance(x, Symbol) else Symbol(self.writer, self.writer.constant(x))
        return self.writer.view(f"np_broadcast_to({{}}, {shape!r})", symbol, shape)

    def stack(self, xs: Sequence[Symbol], *, axis: int) -> Symbol:
        shape = list(xs[0].shape)
        shape.insert(axis % (len(shape) + 1), len(xs))
        return self._joined(stack_arrays, xs, shape, axis)

    def concatenate(self, xs: Sequence[Symbol], *, axis: int) -> Symbol:
        shape = list(xs[0].shape)
        shape[axis] = sum(x.shape[axis] for x in xs)
        return self._joined(concatenate, xs, shape, axis)

    def _joined(self, prim: Any, xs: Any, shape: Sequence[int], axis: int) -> Symbol:
        options = {"axis": axis % len(shape)}
        return self.writer.step(CALL, prim, xs, tuple(shape), xs[0].dtype, options)


def with_steps(
    program: Lowered, fits: Callable[[Step], bool], grouped: Callable[[Lowered], Lowered]
) -> Lowered:
    """The program as `grouped` makes it, with such steps in place of calls where groups take them.

    `fits`: whether C can say a step.
    """
    calls: set[Step] = set()  # those that stay
    while True:
        made: dict[Step, Step] = {}
        found = grouped(_Expansion(fits, calls, made).program(program))
        outside = _outside(found, made)
        if not outside:
            return found
        calls |= outside


def is_draw(step: Step) -> bool:
    """Whether a step is a draw that C can say; bounds of integers are checked, so have to be known."""
    if step.kind != CALL or getattr(step.function, "name", "") not in DRAWS:
        return False
    known = all(v.__class__ is Constant for v in step.operands[1:])
    return known or step.function.name == "random_fold_in"


class _Expansion:
    """`made`: the steps that were put in place of which calls."""

    def __init__(
        self, fits: Callable[[Step], bool], calls: set[Step], made: dict[Step, Step]
    ) -> None:
        self.fits, self.calls, self.made = fits, calls, made

    def program(self, program: Lowered) -> Lowered:
        steps: list[Step] = []
        for step in program.steps:
            own = [] if step in self.calls else self.steps(step)
            if own and all(s.kind == VIEW or self.fits(s) for s in own):
                self.made.update((s, step) for s in own if s.kind != VIEW)
                steps += own
            else:
                steps.append(with_programs(step, self.program))
        return Lowered(program.inputs, steps, program.outs)

    def steps(self, step: Step) -> list[Step]:
        name = getattr(step.function, "name", "") if step.kind == CALL else ""
        if name in c_elements.ELEMENTS:
            return c_elements.steps_of(step)
        if name in _PROGRAMS:
            inside = _Expansion(self.fits, set(), {})
            return [_PROGRAMS[name](step, inside.program)]
        return _steps_of(step) if is_draw(step) else []


def _while(step: Step, expand: Callable[[Lowered], Lowered]) -> Step:
    p = step.options
    programs = [expand(lower(simplify(p[name]))) for name in ("test", "body")]
    return Step(WHILE, tuple(programs), step.operands, step.outs, p["counts"])


def _branch(step: Step, expand: Callable[[Lowered], Lowered]) -> Step:
    programs = [expand(lower(simplify(branch))) for branch in step.options["branches"]]
    return Step(BRANCH, tuple(programs), step.operands, step.outs)


_PROGRAMS = {"while_loop": _while, "cond": _branch}


def _steps_of(step: Step) -> list[Step]:
    """What a draw is made of; nothing if it cannot be said."""
    writer = _Writer()
    operands = [v.value if isinstance(v, Constant) else Symbol(writer, v) for v in step.operands]
    try:
        out = run_under(EVAL, _run, (step, _InC(writer), operands))
    except (NotLowerableError, AttributeError, TypeError, ValueError, IndexError):
        return []
    if out.__class__ is not Symbol or (out.shape, out.dtype) != (step.out.shape, step.out.dtype):
        return []
    for s in writer.steps:
        s.operands = tuple(step.out if v is out.of else v for v in s.operands)
        s.outs = tuple(step.out if v is out.of else v for v in s.outs)
    return writer.steps


def _run(step: Step, xp: Any, operands: Sequence[Any]) -> Any:
    return step.function.impl(xp, *operands, **step.options)


def _outside(program: Lowered, made: dict[Step, Step]) -> set[Step]:
    """The calls of which a step is left outside of groups."""
    found = {made[s] for s in program.steps if s in made}
    return found.union(*[_outside(p, made) for s in program.steps for p in programs_of(s)])
