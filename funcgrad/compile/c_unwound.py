"""The pullback of a loop with a test as C: three loops, and memory for the rows between them.

Layer 4½. How many rows there are is known when the steps have been counted. So much memory is asked
for then; if there is none NumPy runs the program again, and raises what it has to.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..transforms.while_loop import Counts
from .c_places import dense
from .c_source import TYPES
from .steps import LOOP, WHILE, Constant, Rows, Step, Value

INT64 = np.dtype(np.int64)


def lines(kernel: Any, step: Step) -> list[str]:
    """The text of an UNWIND step."""
    test, counted, forward, backward = step.function
    p = step.options
    operands = list(step.operands)
    body, k = p.test + p.body, p.test + p.body + p.carries
    consts, carry = operands[p.test : body], operands[body:k]
    steps, *_ = ends = [Value((), INT64), *_like(carry)]
    start = [*operands[:body], Constant(0), *carry]
    text = kernel.while_lines(Step(WHILE, (test, counted), start, ends, Counts(p.test, p.body)))
    count = f"n{kernel.count()}"
    text.append(f"long {count} = {kernel.number(steps, INT64)};")
    rows = [Value((2, *v.shape), v.dtype) for v in forward.outs[p.carries :]]  # or any other number
    names = [f"b{kernel.count()}" for _ in rows]
    for name, v in zip(names, rows, strict=True):
        kernel.given[v] = dense(name, v.shape)
        kind, size = TYPES[v.dtype], v.size // 2 * v.dtype.itemsize
        text.append(f"{kind} *{name} = aligned_alloc(64, ({count} * {size} + 64) / 64 * 64);")
    if rows:
        kernel.bad = kernel.bad or Value((), INT64)
        text.append(f"if ({' || '.join(f'!{name}' for name in names)}) bad = 1, {count} = 0;")
    made = [*_like(carry), *rows]
    text += kernel.loop_lines(
        Step(LOOP, forward, [*consts, *carry], made, Rows(p.body, p.carries, count, False))
    )
    back = Rows(p.same, len(step.outs), count, True)
    text += kernel.loop_lines(Step(LOOP, backward, [*operands[k:], *rows], step.outs, back))
    return [*text, *(f"free({name});" for name in names)]


def _like(values: list[Value]) -> list[Value]:
    return [Value(v.shape, v.dtype) for v in values]
