"""Results that a program writes into the memory of its inputs, as an optimizer's step does.

Layer 4½. An input may be written once nothing reads it any more. From then on the program cannot be
run again from the start, so what may fail, the arithmetic on Python's floats, comes first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..core import Aval
from .steps import CALL, CAST, UFUNC, WHERE, Constant, Lowered, Value

# Results, the inputs whose memory they are written into, and their numbers among the results.
Homes = Mapping[Value, tuple[Value, int]]


Into = tuple[tuple[int, int], ...]  # pairs of a result and an input, by number


def pairs(ins: Sequence[Aval], outs: Sequence[Aval], given: Sequence[int]) -> Into:
    """Results for the inputs `given`, in order: for each the first of its type that is left."""
    found: list[tuple[int, int]] = []
    left = list(range(len(outs)))
    for k in given:
        i = next((i for i in left if outs[i] == ins[k] and ins[k].shape), None)
        if i is not None:
            left.remove(i)
            found.append((i, k))
    return tuple(found)


def are_apart(arrays: Sequence[Any], into: Into) -> bool:
    """Whether the inputs that are to be written share memory with no other, as far as NumPy knows."""
    owners: set[int] = set()
    count = 0
    for x in arrays:
        if isinstance(x, np.ndarray):
            owner = x if x.base is None else x.base
            if owner.__class__ is not np.ndarray:
                return False
            owners.add(id(owner))
            count += 1
    return len(owners) == count and all(_may_be_written(arrays[k]) for _, k in into)


def _may_be_written(x: Any) -> bool:
    """Only views repeat elements."""
    return x.flags.writeable and (x.base is None or x.flags.forc)


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
