"""`jit_call`, the primitive that runs a compiled program, and its gradient, compiled in two halves.

Layer 4½.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType
from typing import Any

import numpy as np

from ..algebra import device_namespace
from ..core import EVAL, Tracer, current
from ..jaxpr import Jaxpr, eval_jaxpr
from ..transforms.bodies import Split, memo_of, placed
from ..transforms.program_call import ProgramCall, open_jaxpr
from .program import compiled, program_of

ndarray = np.ndarray


class JitCall(ProgramCall):
    """Runs the program `jaxpr`, compiled; so is its reverse mode, in two parts."""

    def forward(self, xs: Sequence[Any], wanted: Sequence[bool], params: dict) -> Any:
        halves = halves_of(params["jaxpr"], tuple(wanted), False, device_namespace(xs))
        found = self._run(halves.forward, [*halves.split.forward.consts, *xs])
        outs, saved = halves.divided(found, xs)
        return outs, (halves, saved)

    def reached(self, residual: Any) -> list[int]:
        return residual[0].split.moving

    def kept(self, residual: Any) -> list[Any]:
        return residual[1]

    def backward(
        self, residual: Any, cts: Sequence[Any], wanted: Sequence[bool], params: dict
    ) -> list[Any]:
        halves, saved = residual
        moving = [cts[i] for i in halves.split.moving]
        program, consts, places = halves.backward_of([ct is not None for ct in moving])
        given = [ct for ct in moving if ct is not None]
        found = self._run(program, [*consts, *saved, *given]) if places else ()
        return placed(found, places, len(wanted))

    def _run(self, jaxpr: Jaxpr, xs: list[Any]) -> Any:
        """One half: at once where there is nothing to ask, as for the many cells of a network."""
        if current.get() is EVAL and all(x.__class__ is ndarray for x in xs):
            return program_of(jaxpr).run(*xs)
        return self(*xs, jaxpr=jaxpr)


class Halves:
    """The gradient of a program as two that take their constants as operands.

    `made`: how many of the saved values the first one makes for the second.
    """

    def __init__(
        self, jaxpr: Jaxpr, wanted: tuple[bool, ...], shares: bool, xp: ModuleType | None
    ) -> None:
        self.split = split = Split(jaxpr, wanted, shares, xp)
        self.forward = open_jaxpr(split.forward)
        self.backward = open_jaxpr(split.backward)
        self.made = len(self.forward.outs) - split.count
        self._backwards: dict[tuple[bool, ...], Any] = {}

    def backward_of(self, flags: Sequence[bool]) -> tuple[Jaxpr, Sequence[Any], list[int]]:
        """`Split.backward_of`: the program that takes its constants as operands, these, and places."""
        if all(flags):
            return self.backward, self.split.backward.consts, self.split.found
        key = tuple(flags)
        if key not in self._backwards:
            program, places = self.split.backward_of(key)
            self._backwards[key] = open_jaxpr(program), program.consts, places
        return self._backwards[key]

    def divided(self, found: Any, xs: Sequence[Any]) -> tuple[Any, list[Any]]:
        """The results, and what the second program needs: made, results and operands."""
        split = self.split
        saved = [*found[split.count :]]
        if split.shown:
            saved += [found[i] for i in split.shown]
        if split.kept:
            saved += [xs[i] for i in split.kept]
        return found[: split.count], saved

    def run_forward(self, xs: Sequence[Any]) -> tuple[Any, list[Any]]:
        """`divided` results for bare arrays."""
        return self.divided(program_of(self.forward).run(*self.split.forward.consts, *xs), xs)

    def run_backward(self, saved: Sequence[Any], cts: Sequence[Any]) -> Any:
        """The cotangents of the operands in ``split.found`` for bare arrays."""
        return program_of(self.backward).run(*self.split.backward.consts, *saved, *cts)


def halves_of(
    jaxpr: Jaxpr, wanted: tuple[bool, ...], shares: bool, xp: ModuleType | None = None
) -> Halves:
    """`xp`: the array module of what the halves will run on, if not NumPy."""
    key = ("halves", wanted, shares, xp)
    return memo_of(jaxpr, key, lambda: Halves(jaxpr, wanted, shares, xp))


def _jit_call_impl(xp, *xs, jaxpr):
    """The outputs of the program `jaxpr` at `xs`, compiled.

    Shapes: those of the program.   Dtypes: those of the program.
    Derivative: the program's, compiled too.
    Raises: what the program raises.
    Source: Frostig, Johnson & Leary, "Compiling machine learning programs via high-level tracing",
    SysML 2018.

    >>> import funcgrad
    >>> float(funcgrad.grad(funcgrad.jit(lambda x: x * x))(3.0))
    6.0
    """
    if not any(issubclass(cls, Tracer) for cls in {*map(type, xs)}):
        return compiled(jaxpr, xs)(*xs)
    token = current.set(EVAL)
    try:
        return tuple(eval_jaxpr(jaxpr, *xs))
    finally:
        current.reset(token)


jit_call = JitCall(_jit_call_impl, register_as="jit_call")
