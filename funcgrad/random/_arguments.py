"""What the functions take: shapes, dtypes, and parameters that broadcast to a shape."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any, NoReturn

import numpy as np

from .. import numpy as fnp
from ..algebra import broadcast_shapes
from ..core import aval_of
from ..errors import ArgumentError, ShapeError, where
from ..numpy._arguments import operand

Shape = int | Sequence[int]


def shape_of(shape: Shape) -> tuple[int, ...]:
    """
    Raises: ShapeError: a length is negative.
    """
    sizes = (shape,) if isinstance(shape, int | np.integer) else shape
    found = tuple(operator.index(n) for n in sizes)
    if min(found, default=0) < 0:
        raise ShapeError(f"random: shape={shape} has a negative length{where()}")
    return found


def floating(name: str, dtype: Any) -> np.dtype:
    """
    Raises: ArgumentError: the dtype is not floating.
    """
    dtype = np.dtype(dtype)
    if dtype.kind != "f":
        raise ArgumentError(f"random.{name}: dtype={dtype} is not floating{where()}")
    return dtype


def integral(name: str, dtype: Any) -> np.dtype:
    """
    Raises: ArgumentError: the dtype is none of integers.
    """
    dtype = np.dtype(int if dtype is None else dtype)
    if dtype.kind not in "iu":
        raise ArgumentError(f"random.{name}: dtype={dtype} is no integer type{where()}")
    return dtype


def is_high(name: str, mode: str | None) -> bool:
    """Whether twice as many bits are drawn.

    Raises: ArgumentError: the mode is neither "low", which None is, too, nor "high".
    """
    if mode not in (None, "low", "high"):
        raise ArgumentError(f"random.{name}: mode={mode!r}; need 'low' or 'high'{where()}")
    return mode == "high"


def is_int(x: Any) -> bool:
    return isinstance(x, int | np.integer) and not isinstance(x, bool)


def of_shape(name: str, out: Any, shape: tuple[int, ...]) -> Any:
    """
    Raises: ShapeError: parameters have made the shape of `out` another one.
    """
    if out.shape != shape:
        _complain(name, out.shape, shape)
    return out


def _complain(name: str, found: tuple[int, ...], shape: tuple[int, ...]) -> NoReturn:
    raise ShapeError(
        f"random.{name}: parameters that broadcast to {list(found)} do not fit into shape="
        f"{list(shape)}{where()}"
    )


def in_dtype(name: str, x: Any, dtype: np.dtype) -> Any:
    """A parameter as an array of the dtype.

    Raises: ArgumentError: it is complex.
    """
    if isinstance(x, int | float):
        return dtype.type(x)
    x = operand(x)
    if aval_of(x).dtype.kind == "c":
        raise ArgumentError(f"random.{name}: a parameter is complex: {aval_of(x)}{where()}")
    return fnp.astype(x, dtype)


def parameters(name: str, shape: Shape | None, dtype: np.dtype, *found: Any) -> tuple[Any, ...]:
    """The shape of the result, that of the parameters together unless given, and the parameters.

    Raises: ShapeError: they do not broadcast to `shape`. ArgumentError: one is complex.
    """
    arrays = [in_dtype(name, x, dtype) for x in found]
    together = broadcast_shapes(f"random.{name}", [x.shape for x in arrays])
    if shape is None:
        return together, *arrays
    wanted = shape_of(shape)
    if broadcast_shapes(f"random.{name}", [wanted, together]) != wanted:
        _complain(name, together, wanted)
    return wanted, *arrays
