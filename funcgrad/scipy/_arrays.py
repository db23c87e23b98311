"""Operands of SciPy's functions as arrays."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from ..core import aval_of
from ..errors import ArgumentError, where
from ..numpy._arguments import array_of, converted, module_of


def floating(x: Any, xp: Any = np) -> Any:
    """`x` as an array of floating or complex numbers: integers as float64; what is made is of `xp`.

    >>> floating([1, 2]).tolist()
    [1.0, 2.0]
    """
    x = array_of(x, xp)
    return x if aval_of(x).dtype.kind in "fc" else converted(x, np.float64)


def floating_each(*xs: Any) -> tuple[Any, ...]:
    """`floating` of each; what has to be made is made on the device of the others."""
    xp = module_of(*xs)
    return tuple(floating(x, xp) for x in xs)


def require_host(name: str, *xs: Any) -> None:
    """Raises: ArgumentError: one of the arguments, lists of them included, is on a device."""
    xp = module_of(*xs)
    if xp is not np:
        raise ArgumentError(f"{name} needs NumPy arrays, found arrays of {xp.__name__}{where()}")


def host_only(f: Callable[..., Any]) -> Callable[..., Any]:
    """`f`, which is not offered for arrays of devices and says so."""

    @functools.wraps(f)
    def checked(*args: Any, **kwds: Any) -> Any:
        require_host(f.__name__, *args, *kwds.values())
        return f(*args, **kwds)

    return checked
