"""Arguments that are shapes or axes, and what is a view: shared by the families that move elements."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from funcgrad.ops.index import getitem
from funcgrad.ops.index_layout import FULL
from funcgrad.ops.structural import reshape
from funcgrad.views import snapshot

from .. import size
from ..autograd import modes
from ..autograd.base import UNCOUNTED, hold
from ..autograd.remembered import remembered
from ..autograd.tape import Owned, record, tell, watchers
from ._axes import axis_of

ndarray = np.ndarray

# ---------------------------------------------------------------- arguments


def ints_of(name: str, argument: str, given: tuple[Any, ...], keyword: Any = None) -> Any:
    """The integers of ``f(1, 2)``, ``f((1, 2))`` or ``f(argument=(1, 2))``.

    Raises: TypeError: there are none, or something else.
    """
    if keyword is not None:
        given = (keyword,)
    elif not given:
        raise TypeError(f'{name}() missing 1 required positional arguments: "{argument}"')
    if len(given) == 1 and isinstance(given[0], tuple | list):
        given = tuple(given[0])
    try:
        return tuple(map(operator.index, given))
    except TypeError:
        wrong = next(i for i in given if not _is_index(i))
        raise TypeError(
            f"{name}(): argument '{argument}' (position 1) must be tuple of ints, not "
            f"{type(wrong).__name__}"
        ) from None


def _is_index(x: Any) -> bool:
    try:
        operator.index(x)
    except TypeError:  # tensors and arrays have the method, and may hold floats
        return False
    return True


def shape_for(size: int, given: Sequence[int]) -> tuple[int, ...]:
    """The shape `given` for `size` elements, with the number that its -1 stands for.

    Raises: RuntimeError: there is no such shape.
    """
    shape = list(given)
    for i, n in enumerate(shape):
        if n < -1:
            raise RuntimeError(f"invalid shape dimension {n} at index {i} of shape {shape}")
    if shape.count(-1) > 1:
        raise RuntimeError("only one dimension can be inferred")
    inferred = -1 in shape
    known = math.prod(n for n in shape if n != -1)
    if known != size and not (inferred and known and size % known == 0):
        raise RuntimeError(f"shape '{shape}' is invalid for input of size {size}")
    if inferred:
        if not known:
            raise RuntimeError(
                f"cannot reshape tensor of 0 elements into shape {shape} because the unspecified "
                f"dimension size -1 can be any value and is ambiguous"
            )
        shape[shape.index(-1)] = size // known
    return tuple(shape)


def axes_in(ndim: int, dims: Sequence[int]) -> tuple[int, ...]:
    """The axes `dims` counted from the front, in the order given.

    Raises: IndexError: there is no such axis. RuntimeError: one is named twice.
    """
    axes = tuple(axis_of(ndim, d) for d in dims)
    for axis in axes:
        if axes.count(axis) > 1:
            raise RuntimeError(f"dim {axis} appears multiple times in the list of dims")
    return axes


def own(out: Any, order: Any = "C") -> Any:
    """`out`, the result of a view primitive that nobody has seen, in memory of its own.

    Order "K" keeps that of the memory; axes that are repeated without a copy have none.
    """
    array = out._array
    if watchers:
        tell(Owned(out, order))
    if array.__class__ is ndarray:
        out._array = array.copy("C" if 0 in array.strides else order)
    else:
        out._array = snapshot(array, copy=False)
        hold(out)
    out._view = None
    out._counter = UNCOUNTED if modes.get().inference else [0]
    return out


@remembered
def unsafe_view(found: Any, shape: tuple[int, ...]) -> Any:
    """A new tensor that nobody else sees in another shape, so that it is no view to anybody."""
    out = record(reshape, (found,), {"shape": shape}, "UnsafeViewBackward0")
    out._view = None
    return out


_CHANNELS_LAST = {size.channels_last: 4, size.channels_last_3d: 5}  # and the axes that it needs


def memory_axes(order: Any, ndim: int) -> tuple[int, ...] | None:
    """The axes in an order of memory, the fastest last; None: as they are.

    Raises: TypeError: it is no order. RuntimeError: it is one for another number of axes.
    """
    if order.__class__ is not size.memory_format:
        raise TypeError(
            f"argument 'memory_format' must be torch.memory_format, not {type(order).__name__}"
        )
    if order is size.preserve_format:
        return None
    last = _CHANNELS_LAST.get(order)
    if last not in (None, ndim):
        raise RuntimeError(
            f"required rank {last} tensor to use {order._name} format, not one of {ndim} axes"
        )
    return (0, *range(2, ndim), 1) if last else tuple(range(ndim))


def lies_in(array: Any, axes: tuple[int, ...]) -> bool:
    """Whether the elements of a bare array lie in that order, without gaps."""
    return bool(array.transpose(axes).flags.c_contiguous)


def as_dtype(memory: Any, dtype: Any) -> Any:
    """The numbers in the memory of an array read as a dtype, in a row; None where that cannot be."""
    if memory is None or not memory.flags.forc or memory.nbytes % dtype.itemsize:
        return None
    return memory.ravel(order="K").view(dtype.numpy)


def laid_out(out: Any, axes: tuple[int, ...]) -> Any:
    """`out`, which nobody has seen and which owns its memory, with its elements in that order."""
    if out._array.__class__ is ndarray:
        out._array = out._array.transpose(axes).copy("C").transpose(np.argsort(axes))
    return out


def alias(x: Any, node: str = "AliasBackward0") -> Any:
    """All of `x`, as a view."""
    return record(getitem, (x,), {"index": (FULL,) * len(x._array.shape)}, node)


@remembered
def copied_in_c_order(x: Any) -> Any:
    return own(alias(x, "CloneBackward0"))


def unlocked(out: Any, x: Any) -> Any:
    """`out`, a view of `x` that NumPy locks, as writable as `x`; `check_writable` guards it."""
    if out._array.__class__ is ndarray and x._array.flags.writeable:
        out._array.flags.writeable = True
    return out


def viewable(array: Any, shape: tuple[int, ...]) -> bool:
    """Whether the elements in C order have this shape without a copy."""
    if array.__class__ is not ndarray or array.flags.c_contiguous or not array.size:
        return True
    runs: list[int] = []  # lengths of the axes, those merged that lie in memory as one; last first
    expected = 0
    for n, stride in zip(reversed(array.shape), reversed(array.strides), strict=True):
        if n == 1:
            continue
        if runs and stride == expected:
            runs[-1] *= n
        else:
            runs.append(n)
        expected = n * stride
    lengths = [n for n in shape if n != 1]
    for run in runs:
        while run > 1:
            if not lengths or run % lengths[-1]:
                return False
            run //= lengths.pop()
    return True


def apart(out: Any, x: Any) -> Any:
    """`out`, in memory of its own if it shares that of `x`."""
    array = out._array
    if out._view is None and not (
        array.__class__ is ndarray and np.may_share_memory(array, x._array)
    ):
        return out
    return own(out)


def in_order(out: Any, *, channels: bool = False) -> Any:
    """`out`, a result that nobody has seen, with its elements in C order: `view` asks for that.

    `channels`: or with the channels last, if they are.
    """
    array = out._array
    if array.__class__ is not ndarray or array.flags.c_contiguous:
        return out
    if channels and array.ndim in (4, 5) and lies_in(array, (0, *range(2, array.ndim), 1)):
        return out
    return own(out)


def sole(out: Any) -> Any:
    """`out`, a view of a tensor that nobody else sees, as no view."""
    out._view = None
    return out


def in_shape(out: Any, shape: tuple[int, ...], node: str) -> Any:
    """`out`, which nobody has seen, in another shape; it is no view, and its node is `node`."""
    if out._array.shape == shape:
        return out
    return sole(record(reshape, (out,), {"shape": shape}, node))


def strides_of(array: np.ndarray) -> tuple[int, ...]:
    """How many elements lie between neighbours along each axis."""
    found: list[int] = []
    step = 1  # what an axis that NumPy gives none would have: of length 1, or of no elements
    for n, s in zip(reversed(array.shape), reversed(array.strides), strict=True):
        found.append(step if s == 0 and (n == 1 or not array.size) else s // array.itemsize)
        step = found[-1] * max(n, 1)
    return tuple(reversed(found))
