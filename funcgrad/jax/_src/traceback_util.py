"""Which files tracebacks leave out: none, so that whoever asks for it is thanked, and no more."""

from __future__ import annotations

from typing import Any


def register_exclusion(path: str) -> None:
    """Nothing: tracebacks show all files."""


def api_boundary(fun: Any = None, **_: Any) -> Any:
    """`fun`, and as a decorator with options, a decorator."""
    return (lambda f: f) if fun is None else fun


def include_frame(frame: Any) -> bool:
    """Whether tracebacks show a frame: they show all."""
    return True
