"""`torch.compiler`: marks for code that is compiled. `compat.compile` needs none of them."""

from __future__ import annotations

from typing import Any, TypeVar

from ._missing import explain as _explain_missing
from .compiling import BACKENDS
from .compiling import compile as compile

F = TypeVar("F")


def disable(fn: Any = None, recursive: bool = True, *, reason: str | None = None) -> Any:
    """A function as it is; or a decorator that leaves it so."""
    return fn if fn is not None else lambda fn: fn


def allow_in_graph(fn: F) -> F:
    """A function as it is."""
    return fn


def is_compiling() -> bool:
    """False: code that is compiled runs as it does otherwise, on traced values."""
    return False


is_dynamo_compiling = is_compiling
is_exporting = is_compiling


def list_backends(exclude_tags: Any = ()) -> list[str]:
    """What `compile` takes as `backend`: names for the one way to compile here."""
    return sorted(BACKENDS)


def reset() -> None:
    """Nothing: programs belong to the functions that `compile` made."""


_explain_missing("torch.compiler", globals())
