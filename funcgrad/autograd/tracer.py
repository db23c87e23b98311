"""What is traced: `isbox` and `getval`, and functions that see values only."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from .. import tree
from ..core import Tracer as Box
from ..errors import ConcretizationError, where
from ..indexing import known
from .extend import primitive

__all__ = ["Box", "getval", "isbox", "notrace_primitive", "primitive"]


def isbox(x: Any) -> bool:
    """Whether `x` is traced."""
    return isinstance(x, Box)


def getval(x: Any) -> Any:
    """The value of what may be traced, a constant.

    Raises: ConcretizationError: it has none, as under `jit`.

    >>> from funcgrad.autograd import grad
    >>> float(grad(lambda x: x * getval(x))(3.0))
    3.0
    """
    if not isinstance(x, Box):
        return x
    value = known(x)
    if value is None:
        raise ConcretizationError(f"getval: {x!r} has no value while it is traced{where()}")
    return value


def notrace_primitive(f: Callable[..., Any]) -> Callable[..., Any]:
    """`f`, called with values; its result is a constant.

    Derivative: 0.

    >>> import numpy as np
    >>> from funcgrad.autograd import grad
    >>> steps = notrace_primitive(lambda x: int(np.ceil(x)))
    >>> float(grad(lambda x: steps(x) * x)(2.5))
    3.0
    """

    @functools.wraps(f)
    def called(*args: Any, **kwargs: Any) -> Any:
        return f(*tree.map(getval, args), **tree.map(getval, kwargs))

    return called
