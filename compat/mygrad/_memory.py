"""Whether operations are recorded, and the guard: arrays that a graph uses are read-only meanwhile."""

from __future__ import annotations

import functools
import os
import warnings
from collections.abc import Callable, Iterable
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
ndarray = np.ndarray


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


# ---------------------------------------------------------------- the guard

# One lock for all arrays that show the same memory, by the identity of the owner: how many steps of
# graphs use it, the owner, and by their identity the others that become writeable again after it.
_locks: dict[int, list[Any]] = {}


def is_locked(array: Any) -> bool:
    """Whether the array is read-only on account of a graph."""
    base = array.base
    return id(base if base.__class__ is ndarray else array) in _locks


def repeats(array: Any) -> bool:
    """Whether one element of memory is several of the array, as in ``np.broadcast_to``."""
    return 0 in array.strides and any(
        s == 0 and n > 1 for s, n in zip(array.strides, array.shape, strict=True)
    )


def hold(arrays: Iterable[Any]) -> list[list[Any]]:
    """Make arrays read-only until as many calls of `release` were given the locks."""
    held = []
    find = _locks.get
    for array in arrays:
        base = array.base
        owner = array if base.__class__ is not ndarray else base
        lock = find(id(owner))
        if lock is None:
            flags = owner.flags
            if not flags.writeable:  # by its maker's wish
                continue
            if owner is array:
                flags.writeable = False
                lock = _locks[id(owner)] = [1, owner, None]
            else:
                lock = _locks[id(owner)] = [1, owner, {}]
                _hold_view(array, lock)
                flags.writeable = False
        else:
            lock[0] += 1
            if owner is not array:
                _hold_view(array, lock)
        held.append(lock)
    return held


def _hold_view(array: Any, lock: list[Any]) -> None:
    """Note a view to be freed after its owner, unless it is one that must not be written into."""
    if array.flags.writeable:
        array.flags.writeable = False
    elif (not lock[2] and lock[0] == 1) or repeats(array):
        return
    if lock[2] is None:
        lock[2] = {}
    lock[2][id(array)] = array


def release(held: Iterable[list[Any]]) -> None:
    """Let go of locks; what no graph uses any more is writeable again, owners first."""
    for lock in held:
        lock[0] -= 1
        if not lock[0]:
            _, owner, views = lock
            del _locks[id(owner)]
            owner.flags.writeable = True
            if views:
                for array in views.values():
                    array.flags.writeable = True
