"""What the functions take: dtypes, axes, and arrays in normal form."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core import aval_of
from ..errors import ArgumentError, ShapeError, where
from ..numpy._arguments import array_of
from ..ops.cast import astype as cast_to
from ..ops.contract import normal_axis

Ints = tuple[int, ...]

_RANK = {"b": 0, "i": 1, "u": 1, "f": 2, "c": 3}


def ints(name: str, what: str, given: Any, count: int | None = None) -> Ints:
    """Integers, one each for `count` axes.

    Raises: ArgumentError: they are none, or traced. ShapeError: there are more or fewer.
    """
    try:
        found = tuple(operator.index(i) for i in given)
    except TypeError:
        raise ArgumentError(f"lax.{name}: {what}={given!r}; need integers{where()}") from None
    if count is not None and len(found) != count:
        raise ShapeError(
            f"lax.{name}: {what}={given!r} has {len(found)} entries; need {count}{where()}"
        )
    return found


def axis_in(name: str, axis: Any, ndim: int) -> int:
    """`axis` counted from the front.

    Raises: ShapeError: there is none.
    """
    return normal_axis(f"lax.{name}", operator.index(axis), ndim)


def axes_in(name: str, axes: Any, ndim: int) -> Ints:
    """Different axes counted from the front, in order; one integer counts as one axis.

    Raises: ShapeError: one does not exist, or is given twice.
    """
    given: Sequence[Any] = [axes] if isinstance(axes, int | np.integer) else axes
    found = tuple(sorted(axis_in(name, a, ndim) for a in ints(name, "axes", given)))
    if len(set(found)) != len(found):
        raise ShapeError(f"lax.{name}: an axis is given twice: {axes}{where()}")
    return found


def integral(name: str, x: Any) -> Any:
    """`x` as an array of integers.

    Raises: ArgumentError: it has others.
    """
    x = array_of(x)
    if aval_of(x).dtype.kind not in "iu":
        raise ArgumentError(f"lax.{name}: needs integers, found {aval_of(x)}{where()}")
    return x


def stored(name: str, x: Any, value: Any) -> Any:
    """`value` in the dtype of `x`.

    Raises: ArgumentError: that cannot hold it.
    """
    value, dtype = array_of(value), aval_of(x).dtype
    if _RANK[aval_of(value).dtype.kind] > _RANK[dtype.kind]:
        raise ArgumentError(
            f"lax.{name}: a value of {aval_of(value)} into {aval_of(x)} would lose part of it; convert "
            f"one of them{where()}"
        )
    return cast_to(value, dtype)
