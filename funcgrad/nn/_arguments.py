"""What the functions of networks ask of their arguments."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core import aval_of
from ..errors import ArgumentError, where
from ..indexing import known
from ..numpy._arguments import array_of, arrays_of
from ..ops.cast import astype as cast_to


def real(name: str, x: Any) -> Any:
    """The argument as an array of real floats; integers become float64.

    Raises: ArgumentError: it is complex, or no array.
    """
    return _floating(name, array_of(x))


def reals(name: str, *xs: Any) -> tuple[Any, ...]:
    """`real` of each; what has to be made is made on the device of the others."""
    return tuple([_floating(name, x) for x in arrays_of(*xs)])


def _floating(name: str, x: Any) -> Any:
    kind = x.dtype.kind
    if kind == "c":
        raise ArgumentError(f"nn.{name}: needs real numbers, found {aval_of(x)}{where()}")
    return cast_to(x, np.float64) if kind in "biu" else x


def integers(name: str, what: str, x: Any) -> Any:
    """The argument `what` as an array of integers.

    Raises: ArgumentError: it holds other numbers.
    """
    (x,) = arrays_of(x)
    if aval_of(x).dtype.kind not in "iu":
        raise ArgumentError(f"nn.{name}: {what} has to be integers, found {aval_of(x)}{where()}")
    return x


def require_classes(name: str, labels: Any, classes: int, ignored: Any = None) -> None:
    """Raises: IndexError: a label that is known is no class, and not ignored either."""
    found = known(labels)
    if found is None:
        return
    wrong = found[(found < 0) | (found >= classes)]
    wrong = wrong if ignored is None else wrong[wrong != ignored]
    if wrong.size:
        raise IndexError(
            f"nn.{name}: a label is {int(wrong[0])}; need one of {classes} classes, counted from 0"
            f"{where()}"
        )


def require(holds: Any, name: str, what: str, value: Any, needed: str) -> None:
    """Raises: ArgumentError: a condition on an option is known not to hold."""
    found = known(holds)
    if found is not None and not (found.all() if hasattr(found, "all") else found):
        raise ArgumentError(f"nn.{name}: {what}={value}; need {needed}{where()}")
