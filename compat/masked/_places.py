"""What takes the places of the elements that a mask leaves out."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .. import dtypes
from ..ops._operands import dtype_of, operand
from ..ops.masks import where
from ..ops.shape import broadcast_to


def mask_of(name: str, x: Any, mask: Any) -> Any:
    """The mask as booleans in the shape of `x`.

    Raises: TypeError: it is no tensor. IndexError: it has more axes. RuntimeError: it does not fit.
    """
    given = operand(name, 2, "mask", mask)
    if len(given._array.shape) > len(x._array.shape):
        raise IndexError(
            f"{name}(): expected a mask that can be broadcast to the input, of shape "
            f"{list(x._array.shape)}, but got one of more dimensions: {list(given._array.shape)}"
        )
    own = given.to(dtypes.bool, copy=True)  # so that it may be written into before `backward()`
    return broadcast_to(own, x._array.shape)


def filled(name: str, x: Any, mask: Any, fill: Any) -> Any:
    """`x` with the number `fill` where the mask is False; `x` itself without one."""
    return x if mask is None else where(mask_of(name, x, mask), x, fill)


def lowest(name: str, x: Any) -> Any:
    """What is never larger than another element.

    Raises: NotImplementedError: booleans. TypeError: complex numbers.
    """
    return -math.inf if _is_floating(name, x) else np.iinfo(dtype_of(x).numpy).min


def highest(name: str, x: Any) -> Any:
    """What is never smaller than another element; raises as `lowest`."""
    return math.inf if _is_floating(name, x) else np.iinfo(dtype_of(x).numpy).max


def _is_floating(name: str, x: Any) -> bool:
    dtype = dtype_of(x)
    if not dtype.category:
        raise NotImplementedError(
            f"identity of {name} on torch.bool input: there is none; convert it to integers"
        )
    if dtype.category == 3:
        raise TypeError(f"{name}(): complex numbers, {dtype}, have no order; need real ones")
    return dtype.category == 2


__all__ = ["filled", "highest", "lowest", "mask_of"]
