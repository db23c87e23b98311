"""The last steps of functions that are one operation in PyTorch.

Here such a function is made of several operations, and the last one has the node that users see. These
are the fast paths of such steps, printed when they are first asked for.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from ..autograd import printed
from ..autograd.tape import record
from ..ops._operands import promoted


@functools.cache
def total(prim: Any, node: str) -> Callable[[Any], Any]:
    """The primitive `sum` or `mean` of all elements."""

    def all_axes(input: Any, *_usual: Any, **_options: Any) -> Any:
        axis = tuple(range(len(input._array.shape)))
        return record(prim, (input,), {"axis": axis}, node)

    all_axes.__name__ = f"last_{prim.name}"
    return printed.total(prim, node)(all_axes)


@functools.cache
def last(prim: Any, node: str) -> Callable[..., Any]:
    """An elementwise primitive of one tensor or two."""

    def step(input: Any, other: Any = None) -> Any:
        args = (input,) if other is None else promoted((input, other))
        return record(prim, args, None, node)

    step.__name__ = f"last_{prim.name}"
    one = len(prim.rules) == 1
    return printed.unary(prim, node)(step) if one else printed.binary(prim, node)(step)
