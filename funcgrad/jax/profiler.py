"""Names for what a profiler shows, which here Python's own see: ``jax.profiler``."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

__all__ = ["StepTraceAnnotation", "TraceAnnotation", "annotate_function"]


class TraceAnnotation(contextlib.ContextDecorator):
    """Nothing, around a block or a function.

    >>> with TraceAnnotation("step", epoch=1):
    ...     pass
    """

    def __init__(self, name: str, **_: Any) -> None:
        self.name = name

    def __enter__(self) -> TraceAnnotation:
        return self

    def __exit__(self, *_: Any) -> None:
        return None


StepTraceAnnotation = TraceAnnotation


def annotate_function(
    func: Callable[..., Any], name: str | None = None, **_: Any
) -> Callable[..., Any]:
    """`func`."""
    return func
