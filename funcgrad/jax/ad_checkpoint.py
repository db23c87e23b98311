"""``jax.ad_checkpoint``: `checkpoint`, its policies, and names for what they may keep."""

from __future__ import annotations

from typing import Any

from . import checkpoint_policies
from .programs import checkpoint, remat

__all__ = ["checkpoint", "checkpoint_name", "checkpoint_policies", "remat"]


def checkpoint_name(x: Any, name: str) -> Any:
    """`x`; nothing is kept by its name."""
    return x
