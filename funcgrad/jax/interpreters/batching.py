"""What primitives of one's own are for many examples: ``jax.interpreters.batching``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

primitive_batchers: dict[Any, Callable[..., Any]] = {}
axis_primitive_batchers: dict[Any, Callable[..., Any]] = {}
not_mapped = None


def register_vmappable(*_: Any) -> None:
    """Nothing: what is no tree of arrays is no argument of `vmap`, which says so."""
