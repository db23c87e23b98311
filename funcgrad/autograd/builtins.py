"""Containers and questions about types: containers of traced values are Python's own here."""

from __future__ import annotations

import builtins
from typing import Any

from ..core import Tracer
from .tracer import getval

__all__ = ["DictBox", "dict", "isinstance", "list", "tuple", "type"]

dict = builtins.dict
list = builtins.list
tuple = builtins.tuple
DictBox = builtins.dict  # what autograd makes of a dict


def isinstance(x: Any, types: Any) -> bool:
    """Whether `x`, or the value of what is traced, is of one of these types.

    >>> import numpy as np
    >>> from funcgrad.autograd import grad
    >>> grad(lambda x: x.sum() if isinstance(x, np.ndarray) else 0.0 * x)(np.ones(2))
    array([1., 1.])
    """
    if builtins.isinstance(x, types):
        return True
    return builtins.isinstance(x, Tracer) and builtins.isinstance(getval(x), types)


def type(x: Any) -> Any:
    """The type of `x`, or of the value of what is traced."""
    return builtins.type(getval(x))
