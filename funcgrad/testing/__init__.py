"""Testing gradients: of this library, and of your own functions.

`check_grads` and `check_all` look at a function at a point, in ways that must agree.

>>> import numpy as np
>>> from funcgrad.testing import check_all
>>> print(check_all(lambda x: np.abs(x).sum(), (np.array([1.0, 0.0]),), only=["numerical"]))
gradients of <lambda>: all right
  numerical  passed: at a kink: between the slopes of its two sides
  near a kink: absolute at <doctest ...: margin 0
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from .nonfinite import NonFinite, find_nonfinite
from .report import GradientError, Outcome, Report
from .run import check_all, check_grads

if TYPE_CHECKING:
    from .decorators import given_gradients

__all__ = [
    "GradientError",
    "NonFinite",
    "Outcome",
    "Report",
    "check_all",
    "check_grads",
    "find_nonfinite",
    "given_gradients",
]

_LAZY = {"given_gradients": "decorators"}  # need Hypothesis, which is imported if it is used


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_LAZY[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_LAZY})
