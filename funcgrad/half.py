"""Half precision: what is added up is added in single, and rounded once.

Layer 0. NumPy adds halves to halves along all axes but the innermost. From 2048 on another 1 is lost:

>>> ones = np.ones((5000, 2), np.float16)
>>> ones.sum(axis=0).tolist(), summed(ones, (0,)).tolist()
([2048.0, 2048.0], [5000.0, 5000.0])
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

HALF, SINGLE = np.dtype(np.float16), np.dtype(np.float32)


def summed(x: Any, axis: Any) -> Any:
    """The sum of an array along axes."""
    if x.dtype is HALF:
        return x.sum(axis=axis, dtype=SINGLE).astype(HALF)
    return x.sum(axis=axis)


def in_single(f: Callable[..., Any]) -> Callable[..., Any]:
    """An implementation that computes halves in single precision; it gives one result."""

    @functools.wraps(f)
    def implementation(xp: Any, x: Any, *others: Any, **params: Any) -> Any:
        if getattr(x, "dtype", None) is not HALF:
            return f(xp, x, *others, **params)
        return f(xp, x.astype(SINGLE), *others, **params).astype(HALF)

    return implementation
