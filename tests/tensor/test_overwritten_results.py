"""A layer's result is overwritten in place, as ``ReLU(inplace=True)`` does: as PyTorch, or raises."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from modules import Case, torch

import compat

FOLDER = Path(__file__).parent

# What differs: (here, in PyTorch). None of it is silent: where PyTorch raises, what is here is right.
DIFFERENT: dict[str, tuple[str, str]] = {
    "CTCLoss": ("fine", "RuntimeError"),
    "PairwiseDistance": ("fine", "RuntimeError"),
    "EmbeddingBag": ("RuntimeError", "fine"),  # the largest of no rows
}


def cases() -> list[Case]:
    """All modules of the tables in the tests of layers, once each."""
    found: dict[str, Case] = {}
    for path in sorted(FOLDER.glob("test_n*_*.py")):
        module = importlib.import_module(path.stem)
        for table in vars(module).values():
            if isinstance(table, list | tuple):
                found |= {repr(c): c for c in table if isinstance(c, Case)}
    return list(found.values())


def outcome(th: Any, case: Case) -> tuple[str, list[np.ndarray]]:
    """What comes of writing into the result before the way back, and the gradients."""
    module = case.make(th, "float64")
    if th is compat:
        theirs = case.make(torch, "float64").state_dict()
        module.load_state_dict({k: compat.tensor(v.numpy()) for k, v in theirs.items()})
    xs = [
        th.tensor(a).requires_grad_() if a.dtype.kind == "f" else th.tensor(a)
        for a in case.arrays("float64")
    ]
    out = module(*xs)
    while isinstance(out, tuple):
        out = out[0]
    if not out.requires_grad:
        return "constant", []
    try:
        out.mul_(2.0)
        out.sum().backward()
    except RuntimeError:
        return "RuntimeError", []
    return "fine", [x.grad.numpy() for x in xs if x.grad is not None]


@pytest.mark.skipif(torch is None, reason="compares with PyTorch")
@pytest.mark.filterwarnings("ignore")
def test_results_may_be_overwritten_where_pytorch_allows_it() -> None:
    met: set[str] = set()
    random = ("Dropout", "RReLU", "Fractional")
    every = cases()
    assert len(every) > 500
    for case in every:
        if any(word in case.name for word in random):
            continue
        (ours, grads), (theirs, expected) = (outcome(th, case) for th in (compat, torch))
        if ours != theirs:
            assert DIFFERENT.get(case.name) == (ours, theirs), case
            met.add(case.name)
            continue
        for a, b in zip(grads, expected, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-6, atol=1e-8, err_msg=repr(case))
    assert met == set(DIFFERENT)
