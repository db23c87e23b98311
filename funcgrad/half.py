"""Half precision: what is added up, or worse, is computed in single, and rounded once.

Layer 0. Sums are in `short`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

HALF, SINGLE = np.dtype(np.float16), np.dtype(np.float32)


def in_single(f: Callable[..., Any]) -> Callable[..., Any]:
    """An implementation that computes halves in single precision; it gives one result."""

    @functools.wraps(f)
    def implementation(xp: Any, x: Any, *others: Any, **params: Any) -> Any:
        if getattr(x, "dtype", None) is not HALF:
            return f(xp, x, *others, **params)
        return f(xp, x.astype(SINGLE), *others, **params).astype(HALF)

    return implementation
