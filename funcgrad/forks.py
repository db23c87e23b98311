"""Locks of the process, and forks: a child has the memory as it was, but none of the other threads.

Layer 0. A lock that another thread held would never be free in the child, and what it guards might be
half done.
"""

from __future__ import annotations

import os
from typing import Any, TypeVar

Lock = TypeVar("Lock", bound=Any)
_register: Any = getattr(os, "register_at_fork", None)  # not on Windows, which has no forks


def waited_for(lock: Lock) -> Lock:
    """A lock that is held for moments: a fork waits until it is free.

    >>> import threading
    >>> with waited_for(threading.Lock()):
    ...     pass
    """
    if _register is not None:
        release = lock.release
        _register(before=lock.acquire, after_in_parent=release, after_in_child=release)
    return lock


def renewed(lock: Lock) -> Lock:
    """A lock that may be held for long, and guards no memory: a new one in the child."""
    if _register is not None:
        _register(after_in_child=lock._at_fork_reinit)
    return lock
