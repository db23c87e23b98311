"""Transposed matrices that many products read, those of a loop's steps too: copied once, before.

Layer 4½. BLAS takes a matrix in either order, but where the other one has few rows it spends half of
the time on reading one that lies the other way: 29 us against 17 for 16 x 128 times 128 x 512.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .steps import CALL, LOOP, VIEW, Lowered, Rows, Step, Value

OFTEN = 4  # steps of a loop after which the copy has paid
FEW = 64  # rows of the other matrix
SMALL = 1 << 10  # elements of a matrix that costs nothing either way


class _Contiguous:
    """Called as a primitive is."""

    name = "contiguous"

    @staticmethod
    def impl(xp: Any, x: Any) -> Any:
        return xp.ascontiguousarray(x)


_contiguous = _Contiguous()


def turned(program: Lowered) -> Lowered:
    """The program with transposed matrices that lie as its many products read them."""
    steps: list[Step] = []
    for step in program.steps:
        if step.kind == LOOP:
            steps += _before_loop(step)
        elif _is_transpose(step) and _products(step.out, program) >= OFTEN:
            steps += _copied(step, step.operands[0], step.out)
        else:
            steps.append(step)
    return Lowered(program.inputs, steps, program.outs)


def _copied(step: Step, given: Value, out: Value) -> list[Step]:
    """The transpose of `given`, copied into `out`."""
    view = Value(out.shape, out.dtype)
    return [
        Step(VIEW, step.function, [given], [view], step.options),
        Step(CALL, _contiguous, [view], [out], {}),
    ]


def _before_loop(loop: Step) -> list[Step]:
    """The loop, with steps before it that copy what it transposes and does not change."""
    body, rows = loop.function, loop.options
    consts, operands = list(body.inputs[: rows.consts]), list(loop.operands)
    before: list[Step] = []
    left = []
    for step in body.steps:
        if (
            _is_transpose(step)
            and step.operands[0] in consts
            and rows.length * _products(step.out, body) >= OFTEN
        ):
            copy = Value(step.out.shape, step.out.dtype)
            before += _copied(step, operands[consts.index(step.operands[0])], copy)
            operands.insert(len(consts), copy)
            consts.append(step.out)
        else:
            left.append(step)
    body = turned(Lowered([*consts, *body.inputs[rows.consts :]], left, body.outs))
    options = Rows(len(consts), rows.carries, rows.length, rows.reverse)
    return [*before, Step(LOOP, body, operands, loop.outs, options)]


def _is_transpose(step: Step) -> bool:
    """Whether a step shows a matrix, and not a small one, as its transpose."""
    is_view = step.kind == VIEW and len(step.out.shape) == 2 and step.out.size > SMALL
    return is_view and ".transpose((1, 0))" in str(step.function)


def _products(matrix: Value, program: Lowered) -> int:
    """How many products of few rows there are with a matrix; 0 if anything else reads it."""
    count = 0
    for step in program.steps:
        for i, value in enumerate(step.operands):
            if value is not matrix:
                continue
            found = _in_loop(step, i) if step.kind == LOOP else int(i == 1 and _has_few_rows(step))
            if not found:
                return 0
            count += found
    return 0 if matrix in program.outs else count


def _has_few_rows(step: Step) -> bool:
    if step.kind != CALL or step.function is not np.dot:
        return False
    x, y = step.operands
    return x is not y and len(x.shape) == 2 and 1 < x.shape[0] <= FEW


def _in_loop(loop: Step, i: int) -> int:
    """The products that a loop makes with its operand `i`, in all its steps."""
    if i >= loop.options.consts:
        return 0
    return loop.options.length * _products(loop.function.inputs[i], loop.function)
