"""`RemovableHandle`: what registering a hook returns."""

from __future__ import annotations

import itertools
import weakref
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

_next_id = itertools.count().__next__


class RemovableHandle:
    """A hook's registration; `remove()` undoes it, and so does leaving a `with` block.

    >>> from collections import OrderedDict
    >>> hooks = OrderedDict()
    >>> with RemovableHandle.added(hooks, print):
    ...     len(hooks)
    1
    >>> len(hooks)
    0
    """

    def __init__(self, hooks_dict: OrderedDict[int, Any]) -> None:
        self.id = _next_id()
        self._hooks = weakref.ref(hooks_dict)

    @classmethod
    def added(
        cls, hooks: OrderedDict[int, Callable[..., Any]], fn: Callable[..., Any]
    ) -> RemovableHandle:
        """Register `fn` in `hooks`, whose order is that of registration."""
        handle = cls(hooks)
        hooks[handle.id] = fn
        return handle

    def remove(self) -> None:
        hooks = self._hooks()
        if hooks is not None:
            hooks.pop(self.id, None)

    def __getstate__(self) -> tuple[Any, int]:
        """The hooks themselves: a copy of a module and its handles share their copy."""
        return self._hooks(), self.id

    def __setstate__(self, state: tuple[Any, int]) -> None:
        hooks, self.id = state
        self._hooks = weakref.ref(OrderedDict() if hooks is None else hooks)

    def __enter__(self) -> RemovableHandle:
        return self

    def __exit__(self, *_: Any) -> None:
        self.remove()
