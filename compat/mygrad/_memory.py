"""Whether operations are recorded, and the guard: arrays that a graph uses are read-only meanwhile."""

from __future__ import annotations

import functools
import os
import warnings
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

__all__ = [
    "mem_guard_active",
    "mem_guard_off",
    "mem_guard_on",
    "no_autodiff",
    "turn_memory_guarding_off",
    "turn_memory_guarding_on",
]

_F = TypeVar("_F", bound=Callable[..., Any])


class _State:
    """`tracks`: operations are recorded. `guards`: what they read and make is read-only."""

    __slots__ = ("guards", "tracks")
    guards: bool
    tracks: bool


def _guards_at_first() -> bool:
    found = os.environ.get("MYGRAD_MEM_GUARD", "True")
    if found not in ("True", "true", "1", "False", "false", "0"):
        warnings.warn(
            f"MYGRAD_MEM_GUARD: need True or False, found {found!r}; arrays are guarded",
            stacklevel=2,
        )
    return found not in ("False", "false", "0")


state = _State()
state.tracks = True
state.guards = _guards_at_first()


# ---------------------------------------------------------------- switches


class _Switch:
    """A context manager and decorator that sets one field of the state; it may be entered again."""

    __slots__ = ("_before", "_field", "_value")

    def __init__(self, field: str, value: bool) -> None:
        self._field = field
        self._value = value
        self._before: list[bool] = []

    def __bool__(self) -> bool:
        return getattr(state, self._field)

    def __enter__(self) -> None:
        self._before.append(getattr(state, self._field))
        setattr(state, self._field, self._value)

    def __exit__(self, *_: Any) -> None:
        setattr(state, self._field, self._before.pop())

    def __call__(self, func: _F, to_numpy: bool = False) -> _F:
        @functools.wraps(func)
        def inside(*args: Any, **kwargs: Any) -> Any:
            with self:
                found = func(*args, **kwargs)
            return np.asarray(found) if to_numpy else found

        return inside  # type: ignore[return-value]


no_autodiff = _Switch("tracks", False)
mem_guard_off = _Switch("guards", False)
mem_guard_on = _Switch("guards", True)


def turn_memory_guarding_off() -> None:
    """From here on arrays that a graph uses may be written into, which makes its gradients wrong.

    >>> import numpy as np
    >>> import compat.mygrad as mg
    >>> mg.turn_memory_guarding_off()
    >>> x = np.ones(2)
    >>> y = mg.tensor(x) * x
    >>> x.flags.writeable, mg.mem_guard_active()
    (True, False)
    >>> mg.turn_memory_guarding_on()
    """
    state.guards = False


def turn_memory_guarding_on() -> None:
    """From here on arrays that a graph uses are read-only until it is cleared, as they are at first."""
    state.guards = True


def mem_guard_active() -> bool:
    """Whether arrays that a graph uses are read-only."""
    return state.guards
