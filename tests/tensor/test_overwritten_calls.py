"""Arguments and results of every call are overwritten before the way back: as PyTorch, or raises."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from harness import Call, _numpy, arrays_of, torch
from tables import FILES, calls_of, function_of

import compat

# What raises here and not in PyTorch, which keeps something else for the way back, or a copy.
STRICTER = (
    "einsum erfinv expm1 kron linalg.cond linalg.eigvals linalg.eigvalsh linalg.matrix_norm "
    "linalg.norm linalg.svdvals ldexp logaddexp logaddexp2 masked.logaddexp matmul norm "
    "norm_except_dim nuclear_norm polar special.erfinv special.expm1 special.ndtr tensordot"
)


def outcome(th: Any, c: Call, written: tuple[str, int] | None) -> Any:
    """The gradients, "raises" if something that was kept had changed, None if there is no such thing.

    `written`: what is overwritten, ("argument", 1) or ("result", 0).
    """
    leaves = [th.from_numpy(a.copy()) for a in arrays_of(c, 0)]
    moving = [x.requires_grad_() for x in leaves if _numpy(x).dtype.kind in "fc"]
    args = [x * 1 if x.requires_grad else x for x in leaves]
    outs = [y for y in function_of(th, c)(*args) if y.requires_grad]
    if not outs:
        return None
    cts = [th.from_numpy(np.ones(tuple(y.shape), _numpy(y).dtype)) for y in outs]
    if written is not None:
        kind, i = written
        if i >= len(args if kind == "argument" else outs):
            return None
        overwrite(th, args[i] if kind == "argument" else outs[i])
    try:
        th.autograd.backward(outs, cts)
    except RuntimeError as error:
        if "modified by an inplace operation" not in str(error):
            raise
        return "raises"
    return [None if x.grad is None else _numpy(x.grad) for x in moving]


def overwrite(th: Any, x: Any) -> None:
    with th.no_grad():
        if _numpy(x).dtype.kind in "fc":
            x.mul_(0.5).add_(0.1)
        else:
            x.zero_()


def fault(c: Call, written: tuple[str, int], expected: Any) -> str:
    """What is wrong after the write; nothing if it is right."""
    where = f"{c}, {written[0]} {written[1]} overwritten"
    try:
        found = outcome(compat, c, written)
        theirs = None if torch is None else outcome(torch, c, written)
    except (RuntimeError, NotImplementedError):
        return ""  # what may not be written into
    if found is None:
        return ""
    if found == "raises":
        stricter = theirs not in (None, "raises") and c.name.strip("._") not in STRICTER.split()
        return f"{where}: raises, and not in PyTorch" if stricter else ""
    for a, b in zip(found, expected, strict=True):
        if (a is None) != (b is None) or not (
            a is None or np.allclose(a, b, rtol=1e-9, atol=1e-12, equal_nan=True)
        ):
            return f"{where}: {a} instead of {b}"
    return ""


def writes(c: Call) -> Iterator[tuple[str, int]]:
    for i in range(len(arrays_of(c, 0))):
        yield "argument", i
    for i in range(3):
        yield "result", i


@pytest.mark.parametrize("name", FILES.split())
def test_calls(name: str) -> None:
    found = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for c in calls_of(name):
            try:
                expected = outcome(compat, c, None)
            except (RuntimeError, ValueError, NotImplementedError, IndexError, TypeError):
                continue  # there for its error
            if expected is not None:
                found += [words for w in writes(c) if (words := fault(c, w, expected))]
    assert not found, "\n".join(found)
