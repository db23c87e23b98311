"""The gradient of a chain of 100 elementwise operations: what one operation costs."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from .base import Function, Workload, gradient

LINKS = 20


def chain(xp: Any) -> Function:
    """The sum of 20 links of multiply, add, sin, tanh and one more."""

    def f(x: Any) -> Any:
        for link in range(LINKS):
            y = xp.tanh(xp.sin(x * x + x))
            x = y * 0.5 if link % 2 else xp.exp(y)
        return xp.sum(x)

    return f


def by_hand(x: Any) -> Any:
    """The gradient, keeping the values that the derivatives need."""
    kept = []
    for link in range(LINKS):
        inner = x * x + x
        bounded = np.tanh(np.sin(inner))
        out = bounded * 0.5 if link % 2 else np.exp(bounded)
        kept.append((x, inner, bounded, out))
        x = out
    g = np.ones_like(x)
    for link in reversed(range(LINKS)):
        x, inner, bounded, out = kept.pop()
        g = g * 0.5 if link % 2 else g * out
        g = g * (1.0 - bounded * bounded) * np.cos(inner) * (2.0 * x + 1.0)
    return g


def start(size: int) -> tuple[Any, ...]:
    return (np.linspace(-1.0, 1.0, size + 2)[1:-1],)


FIELDS = gradient(chain, with_value=False)
WORKLOADS = (
    Workload("chain, one number", lambda: (np.float64(0.3),), by_hand=by_hand, **FIELDS),
    *(
        Workload(
            f"chain, {size:,} element{'s' * (size > 1)}",
            partial(start, size),
            by_hand=by_hand,
            **FIELDS,
        )
        for size in (1, 10, 1000)
    ),
)
