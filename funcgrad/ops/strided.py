"""The elements of one axis read along several, in any steps: sliding windows, PyTorch's as_strided."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np  # noqa: F401  (doctests)

from ..algebra import linear, view
from ..core import Aval, aval_of
from ..errors import MutationError, ShapeError, where
from .index_layout import on_host
from .structural import batch_in_front

Sizes = tuple[int, ...]


def repeats(shape: Sizes, strides: Sizes) -> bool:
    """Whether an element may be read several times; True also where that is hard to tell."""
    return len(_apart(shape, strides)) < len(shape)


def require_apart(shape: Sizes, strides: Sizes, offset: int) -> None:
    """Require that writing into such a view means something.

    Raises: MutationError: an element may be there several times.
    """
    if repeats(shape, strides):
        raise MutationError(
            f"a write into windows that overlap, of shape {list(shape)} in steps of {list(strides)}: "
            f"an element is there several times. Write into the array itself, or copy first{where()}"
        )


def _apart(shape: Sizes, strides: Sizes) -> list[int]:
    """Axes along which together no element is read twice, long ones first."""
    found: list[int] = []
    for axis in sorted(range(len(shape)), key=lambda a: -shape[a]):
        reach = 0  # of the axes with smaller steps
        for step, n in sorted((strides[a], shape[a]) for a in (*found, axis)):
            if n > 1 and step <= reach:
                break
            reach += (n - 1) * step
        else:
            found.append(axis)
    return found


def _require_inside(length: int, shape: Sizes, strides: Sizes, offset: int) -> None:
    """Raises: ShapeError: an element beyond the axis would be read."""
    fits = len(shape) == len(strides) and min((offset, *shape, *strides)) >= 0
    if fits and 0 not in shape:
        fits = offset + sum((n - 1) * s for n, s in zip(shape, strides, strict=True)) < length
    if not fits:
        raise ShapeError(
            f"strided: shape={shape}, strides={strides} and offset={offset} do not fit into an axis "
            f"of {length} elements{where()}"
        )


def _strided(xp: Any, x: Any, shape: Sizes, strides: Sizes, offset: int) -> Any:
    """The elements as an array that shows the memory of `x`."""
    _require_inside(x.shape[-1], shape, strides, offset)
    step = x.strides[-1]
    x = x[..., offset:]
    steps = (*x.strides[:-1], *(s * step for s in strides))
    return xp.lib.stride_tricks.as_strided(x, (*x.shape[:-1], *shape), steps)


def _strided_aval(x: Aval, *, shape: Sizes, strides: Sizes, offset: int) -> Aval:
    _require_inside(x.shape[-1], shape, strides, offset)
    return Aval((*x.shape[:-1], *shape), x.dtype)


@view(
    lambda ct, _x, **params: add_strided(ct, length=_x.shape[-1], **params),
    aval=_strided_aval,
    lift=lambda size, ndim, p: p,
)
def strided(xp, x, /, *, shape, strides, offset):
    """``y[..., i] = x[..., offset + sum_k strides_k i_k]``, where `i` has the shape `shape`.

    Elements that are read several times are shown several times; such a view is only to be read.

    Shapes: ``x: (*a, n) -> (*a, *shape)``.   Dtypes: all.
    Derivative: linear; its transpose is `add_strided`.
    Raises: ShapeError: the axis has not so many elements.
    Source: NumPy reference, ``numpy.lib.stride_tricks.as_strided``.

    >>> strided(np.arange(4.0), shape=(3, 2), strides=(1, 1), offset=0).tolist()
    [[0.0, 1.0], [1.0, 2.0], [2.0, 3.0]]
    """
    out = _strided(xp, x, shape, strides, offset)
    if on_host(xp) and repeats(shape, strides):
        out.flags.writeable = False
    return out


@linear(
    lambda ct, _ct, *, length, **params: strided(ct, **params),
    aval=lambda ct, *, length, shape, strides, offset: Aval(
        (*ct.shape[: ct.ndim - len(shape)], length), ct.dtype
    ),
    batch=batch_in_front,
)
def add_strided(xp, ct, /, *, length, shape, strides, offset):
    """``x[..., j] = sum of ct[..., i] over all i with offset + sum_k strides_k i_k = j``.

    Shapes: ``ct: (*a, *shape) -> (*a, length)``.   Dtypes: numbers.
    Derivative: linear; its transpose is `strided`.
    Raises: ShapeError: the axis has not so many elements.
    Source: the adjoint of reading an element several times.

    >>> add_strided(np.ones((3, 2)), length=4, shape=(3, 2), strides=(1, 1), offset=0).tolist()
    [1.0, 2.0, 2.0, 1.0]
    """
    aval = aval_of(ct)
    out = xp.zeros((*aval.shape[: aval.ndim - len(shape)], length), aval.dtype)
    part = _strided(xp, out, shape, strides, offset)
    at_once = _apart(shape, strides)
    entries: list[Sequence[Any]] = [
        (slice(None),) if axis in at_once else range(n) for axis, n in enumerate(shape)
    ]
    for index in itertools.product(*entries):
        part[(..., *index)] += ct[(..., *index)]
    return out
