"""Arrays that must not change for a while are read-only meanwhile, for as many as ask for it.

Layer 0. NumPy has one flag for each array object. So there is one lock for all arrays that show the
same memory, with the number of those that hold it; what somebody else has locked is no constant.
Threads may hold the same memory; and finalizers, which run at any time, may let go of it. Older views
of memory that are not themselves held stay writeable: NumPy does not know them.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from .forks import waited_for

ndarray = np.ndarray

# By the identity of the owner: how many hold it, the owner, and by their identity the others that
# become writeable again after it.
_locks: dict[int, list[Any]] = {}
_turn = waited_for(threading.RLock())


def is_locked(array: Any) -> bool:
    """Whether the array is read-only because somebody holds it."""
    base = array.base
    return id(base if base.__class__ is ndarray else array) in _locks


def is_constant(array: Any) -> bool:
    """Whether nobody can write into an array: it is read-only, and so is the memory that it shows.

    >>> x = np.eye(2)
    >>> is_constant(np.diagonal(x))  # which NumPy makes read-only
    False
    """
    while isinstance(array, ndarray):
        if array.flags.writeable or id(array) in _locks:
            return False
        array = array.base
    return array is None or not _is_writeable(array, unknown=True)


def can_be_held(array: Any) -> bool:
    """Whether NumPy would make the array writeable again: it asks the owner of the memory.

    Not if that is another library, whose tensor or capsule does not answer, or unknown, as where C
    made the array (SciPy's MINPACK).
    """
    while isinstance(array, ndarray):
        if array.flags.owndata:
            return True
        array = array.base
    return array is not None and _is_writeable(array, unknown=False)


def _is_writeable(owner: Any, *, unknown: bool) -> bool:
    """What the owner of an array's memory says, if it is no array."""
    try:
        return not memoryview(owner).readonly
    except TypeError:
        return unknown


def repeats(array: Any) -> bool:
    """Whether one element of memory is several of the array, as in ``np.broadcast_to``."""
    return 0 in array.strides and any(
        s == 0 and n > 1 for s, n in zip(array.strides, array.shape, strict=True)
    )


def hold(array: Any) -> list[Any] | None:
    """Make an array read-only until `release` is given the lock; None if its maker has made it so, or
    if it would stay so.
    """
    base = array.base
    owner = array if base.__class__ is not ndarray else base
    key = id(owner)
    with _turn:
        lock = _locks.get(key)
        if lock is not None:
            lock[0] += 1
            if _locks.get(key) is not lock:  # a finalizer has let go of it in between
                lock = None
        if lock is None:
            flags = owner.flags
            if not flags.writeable or not (flags.owndata or can_be_held(owner)):
                return None
            lock = _locks[key] = [1, owner, None]
            if owner is not array:
                _hold_view(array, lock)
            flags.writeable = False
        elif owner is not array:
            _hold_view(array, lock)
        return lock


def hold_all(arrays: Iterable[Any]) -> list[list[Any]]:
    """The locks of those that can be held."""
    return [lock for lock in map(hold, arrays) if lock is not None]


def _hold_view(array: Any, lock: list[Any]) -> None:
    """Note a view to be freed after its owner, unless it is one that must not be written into."""
    if array.flags.writeable:
        array.flags.writeable = False
    elif (lock[2] is None and lock[0] == 1) or repeats(array):
        return
    if lock[2] is None:
        lock[2] = {}
    lock[2][id(array)] = array


def release(held: Sequence[list[Any]]) -> None:
    """Let go of locks; what nobody holds any more is writeable again, owners first."""
    with _turn:
        for lock in held:
            left = lock[0] = lock[0] - 1
            if not left:
                _, owner, views = lock
                del _locks[id(owner)]
                owner.flags.writeable = True
                if views:
                    for array in views.values():
                        array.flags.writeable = True
