"""Functions on their way through a transform: ``jax.extend.linear_util``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .._absent import absent

__all__ = ["WrappedFun", "transformation", "wrap_init"]

_OWN = "functions of functions do it, as no transform runs in steps here"


def transformation(gen: Callable[..., Any]) -> Any:
    """A name for what raises when it is called: transforms that run in two steps.

    Raises: ArgumentError: always, when the result is called.
    """
    return absent(gen.__name__, _OWN)


@dataclass(frozen=True)
class WrappedFun:
    """A function that is called by `call_wrapped`."""

    f: Callable[..., Any]

    def call_wrapped(self, *args: Any, **kwargs: Any) -> Any:
        """The function's result."""
        return self.f(*args, **kwargs)


def wrap_init(f: Callable[..., Any], params: Any = None, *, debug_info: Any = None) -> WrappedFun:
    """`f` with the keyword arguments `params`; `debug_info` changes nothing.

    >>> wrap_init(max, debug_info=None).call_wrapped(2, 3)
    3
    """
    return WrappedFun(lambda *args, **kwargs: f(*args, **(params or {}), **kwargs))
