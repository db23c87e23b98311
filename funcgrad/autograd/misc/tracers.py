"""Functions that are traced once."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from ...compile.jit import jit


def const_graph(fun: Callable[..., Any], *args: Any, **kwargs: Any) -> Callable[..., Any]:
    """``functools.partial(fun, *args, **kwargs)``, compiled by `funcgrad.jit`.

    >>> float(const_graph(lambda x, y: x / y, 2.0)(4.0))
    0.5
    """
    return jit(functools.partial(fun, *args, **kwargs))
