"""Names for parts of a program. There is no profiler here: Python's own ones see every function.

Layer 6.
"""

from __future__ import annotations

import contextlib
from typing import Any


class record_function(contextlib.ContextDecorator):
    """A part of the program called `name`; nothing happens, so that code with it runs here.

    >>> import compat as torch
    >>> with torch.autograd.profiler.record_function("forward"):
    ...     torch.ones(2) + 1
    tensor([2., 2.])
    """

    def __init__(self, name: str, args: str | None = None) -> None:
        self.name = name
        self.args = args

    def __enter__(self) -> record_function:
        return self

    def __exit__(self, *_: Any) -> None:
        pass


__all__ = ["record_function"]
