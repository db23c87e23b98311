"""The axes that arguments called `dim` name."""

from __future__ import annotations

import operator
from typing import Any

from ..autograd.base import TensorBase


def axes_of(name: str, ndim: int, dim: Any) -> tuple[int, ...]:
    """The axes that `dim` names, in order and not negative; None and () are all of them.

    Raises: IndexError: there is no such axis. RuntimeError: one is named twice.
    """
    if dim is None or (isinstance(dim, tuple | list) and not dim):
        return tuple(range(ndim))
    found: list[int] = []
    for d in dim if isinstance(dim, tuple | list) else (dim,):
        axis = axis_of(ndim, d)
        if axis in found:
            raise RuntimeError(f"dim {axis} appears multiple times in the list of dims")
        found.append(axis)
    return tuple(sorted(found)) if ndim else ()


def axis_of(ndim: int, dim: int) -> int:
    """`dim`, counted from the front.

    Raises: IndexError: there is no such axis. TypeError: `dim` is no integer.
    """
    n = max(ndim, 1)
    dim = whole(dim)
    if not -n <= dim < n:
        raise IndexError(
            f"Dimension out of range (expected to be in range of [{-n}, {n - 1}], but got {dim})"
        )
    return dim % n


def whole(n: Any, what: str = "dim") -> int:
    """`n` as an integer, which a bool is not: in ``x.sum(True)`` that was meant for `keepdim`.

    Raises: TypeError: it is none.
    """
    if n.__class__ is bool:
        raise TypeError(f"argument '{what}' must be int, not bool")
    return operator.index(n)


def require_elements(name: str, x: TensorBase, dim: Any) -> None:
    """Require that there is something along every axis of `dim`.

    Raises: IndexError: there is nothing. RuntimeError: nothing, and no axis is named.
    """
    shape = x._array.shape
    if 0 not in shape:
        return
    if dim is None or (isinstance(dim, tuple | list) and not dim):
        error = IndexError if name in ("argmax", "argmin") else RuntimeError
        raise error(
            f"{name}(): Expected reduction dim to be specified for input.numel() == 0. Specify the "
            f"reduction dim with the 'dim' argument."
        )
    for axis in axes_of(name, len(shape), dim):
        if not shape[axis]:
            raise IndexError(f"{name}(): Expected reduction dim {axis} to have non-zero size.")
