"""`torch.distributed.elastic.multiprocessing.errors`: there is no launcher to report errors to."""

from __future__ import annotations

from typing import Any, TypeVar

F = TypeVar("F")


def record(fn: F, error_handler: Any = None) -> F:
    """A function as it is: its errors are raised."""
    return fn


__all__ = ["record"]
