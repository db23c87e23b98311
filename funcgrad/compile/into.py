"""Results that a program writes into the memory of its inputs, as an optimizer's step does.

Layer 4½. An input may be written once nothing reads it any more. From then on the program cannot be
run again from the start, so what may fail, the arithmetic on Python's floats, comes first.
"""

from __future__ import annotations

from collections.abc import Mapping

from .lower import CALL, CAST, UFUNC, WHERE, Constant, Lowered, Value

# Results, the inputs whose memory they are written into, and their numbers among the results.
Homes = Mapping[Value, tuple[Value, int]]


def homes_of(program: Lowered, into: Mapping[int, int]) -> Homes:
    """The results that can be written into inputs, with these."""
    found: dict[Value, tuple[Value, int]] = {}
    for i, k in into.items():
        value, home = program.outs[i], program.inputs[k]
        fits = value.shape == home.shape and value.dtype == home.dtype and value.shape
        if fits and value.__class__ is Value and value not in program.inputs:
            found.setdefault(value, (home, i))
    return found


def numbers_first(program: Lowered) -> Lowered:
    """The same steps, at first those that compute numbers from numbers among the inputs."""
    known = {v for v in program.inputs if not v.shape}
    first, rest = [], []
    for step in program.steps:
        may_move = step.kind in (UFUNC, CAST, WHERE, CALL) and not any(v.shape for v in step.outs)
        if may_move and all(v in known or v.__class__ is Constant for v in step.operands):
            known.update(step.outs)
            first.append(step)
        else:
            rest.append(step)
    return Lowered(program.inputs, [*first, *rest], program.outs)
