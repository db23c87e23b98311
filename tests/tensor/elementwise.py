"""Comparing one expression on compat and on PyTorch: the numbers, the dtype, or the error."""

from __future__ import annotations

import importlib.util
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from harness import torch

import compat

needs_torch = pytest.mark.skipif(
    importlib.util.find_spec("torch") is None, reason="PyTorch is not installed"
)


def outcome(module: Any, f: Callable[[Any], Any]) -> Any:
    """What `f` gives on `module` (None: PyTorch), or the error it raises."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return f(torch if module is None else module)
    except Exception as error:
        return error


def _facts(x: Any) -> Any:
    if isinstance(x, tuple):
        return [_facts(y) for y in x]
    if hasattr(x, "detach"):
        x = x.detach()
        return str(x.dtype), tuple(x.shape), x.resolve_conj().resolve_neg().numpy()
    return x


def agree(f: Callable[[Any], Any], *, half: bool = False) -> None:
    """Require that `f` gives the same on compat and PyTorch: an error of the same type, or equal
    numbers of the same dtype. `half`: PyTorch may lack it, and rounds otherwise."""
    ours, theirs = outcome(compat, f), outcome(None, f)
    if isinstance(theirs, Exception):
        if half and "not implemented for 'Half'" in str(theirs):
            return
        assert type(ours).__name__ == type(theirs).__name__, (ours, theirs)
        return
    assert not isinstance(ours, Exception), repr(ours)
    _same(_facts(ours), _facts(theirs), 2e-3 if half else 2e-6)


def _same(ours: Any, theirs: Any, tolerance: float) -> None:
    if isinstance(theirs, list):
        assert len(ours) == len(theirs)
        for a, b in zip(ours, theirs, strict=True):
            _same(a, b, tolerance)
    elif isinstance(theirs, tuple):
        assert ours[:2] == theirs[:2]
        np.testing.assert_allclose(ours[2], theirs[2], rtol=tolerance, atol=tolerance)
    else:
        assert ours == theirs
