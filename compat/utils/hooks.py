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

    def __init__(self, hooks_dict: OrderedDict[int, Any], *, extra_dict: Any = None) -> None:
        extra = [] if extra_dict is None else extra_dict
        self.id = _next_id()
        self._refer(hooks_dict, *(extra if isinstance(extra, list) else [extra]))

    def _refer(self, hooks: OrderedDict[int, Any], *extra: OrderedDict[int, Any]) -> None:
        self.hooks_dict_ref = weakref.ref(hooks)
        self.extra_dict_ref = tuple(map(weakref.ref, extra))

    @classmethod
    def added(
        cls,
        hooks: OrderedDict[int, Callable[..., Any]],
        fn: Callable[..., Any],
        *marks: OrderedDict[int, bool],
    ) -> RemovableHandle:
        """Register `fn` in `hooks`, whose order is that of registration, and its number in `marks`."""
        handle = cls(hooks, extra_dict=[*marks])
        hooks[handle.id] = fn
        for mark in marks:
            mark[handle.id] = True
        return handle

    def _dicts(self) -> list[Any]:
        return [ref() for ref in (self.hooks_dict_ref, *self.extra_dict_ref)]

    def remove(self) -> None:
        for hooks in self._dicts():
            if hooks is not None:
                hooks.pop(self.id, None)

    def __getstate__(self) -> tuple[int, list[Any]]:
        """The hooks themselves: a copy of a module and its handles share their copy."""
        return self.id, self._dicts()

    def __setstate__(self, state: tuple[int, list[Any]]) -> None:
        self.id, dicts = state
        self._refer(*(OrderedDict() if hooks is None else hooks for hooks in dicts))

    def __enter__(self) -> RemovableHandle:
        return self

    def __exit__(self, *_: Any) -> None:
        self.remove()
