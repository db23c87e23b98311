"""Whose turn it is: one backward pass at a time has its cotangents on the nodes.

NOTE [Turns] A pass gives up its turn while code of the user runs (hooks, custom `Function`s), since
that may wait for a pass in another thread. It leaves its cotangents on the nodes; only if another
pass takes a turn meanwhile are they put aside, and laid back when the first goes on. A pass inside
code of the user, in the same thread, is no other case.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, Protocol

from funcgrad.forks import waited_for
from funcgrad.quiet import reset_state, set_state


class Pass(Protocol):
    """A backward pass, which can take its cotangents off the nodes and lay them back.

    `outside`: NumPy's floating-point warnings as the user's code has them; a pass turns them off.
    """

    outside: Any

    def put_aside(self) -> None: ...

    def lay_back(self) -> None: ...


class _Mine(threading.local):
    def __init__(self) -> None:
        self.passes: list[Any] = []  # of this thread, the innermost last
        self.held = 0  # how often this thread has the lock


# Not a plain lock: a finalizer may run backward anywhere, also in a thread that has its turn.
_lock = waited_for(threading.RLock())
_mine = _Mine()
_laid: Pass | None = None  # the pass whose cotangents are on the nodes


def innermost() -> Any:
    """The backward pass that runs the code of the user that asks; None if there is none."""
    return _mine.passes[-1] if _mine.passes else None


def begin(walk: Pass) -> None:
    """Wait for a turn, and take it for a new pass."""
    # In this order, so that a finalizer that runs backward between any two of these does no harm.
    _mine.passes.append(walk)
    try:
        _lock.acquire()
    except BaseException:
        _mine.passes.pop()
        raise
    _mine.held += 1
    try:
        _lay(walk)
    except BaseException:  # an interrupt
        end()
        raise


def end() -> None:
    """End the innermost pass, which has left nothing on the nodes, and its turn."""
    global _laid
    _mine.passes.pop()
    if not _mine.held:  # an interrupt came before code of the user gave the turn back
        return
    _laid = None
    _mine.held -= 1
    if _mine.held:
        _lay(_mine.passes[-1])
    _lock.release()


def called(f: Callable[..., Any], *args: Any) -> Any:
    """``f(*args)``, code of the user, while other threads may take turns."""
    count = _mine.held
    if not count:
        return f(*args)
    _mine.held = 0
    for _ in range(count):
        _lock.release()
    token = set_state(_mine.passes[-1].outside)
    try:
        return f(*args)
    finally:
        reset_state(token)
        _take_again(count)


def _take_again(count: int) -> None:
    """Take the lock so many times; an interrupt that comes meanwhile is raised after that."""
    interrupt: BaseException | None = None
    while True:
        try:
            while _mine.held < count:
                _lock.acquire()
                _mine.held += 1
            _lay(_mine.passes[-1])
            break
        except KeyboardInterrupt as error:
            interrupt = error
    if interrupt is not None:
        raise interrupt


def _lay(walk: Pass) -> None:
    global _laid
    if _laid is walk:
        return
    if _laid is not None:
        _laid.put_aside()
    walk.lay_back()
    _laid = walk
