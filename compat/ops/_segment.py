"""Many elements into one: sums, products, means, maxima of the elements that go to one place."""

from __future__ import annotations

from typing import Any

import numpy as np

import funcgrad.numpy as fnp
from funcgrad.ops.groups import group_max, group_min, group_sum
from funcgrad.ops.join import concatenate
from funcgrad.ops.segments import segment_prod
from funcgrad.ops.select import maximum, where

from .. import dtypes
from ._compose import composed
from ._elementwise import narrow
from ._operands import convert


def reduced(x: Any, src: Any, target: Any, how: str, *, include_self: bool, node: str) -> Any:
    """The vector `x` with the elements of the vector `src` reduced into the places `target`.

    `how` is "sum", "prod", "mean", "amax" or "amin". Without `include_self` what `x` had at a place
    that something goes to does not count. Ties of maxima share the cotangent equally.
    """

    def found(x: Any, src: Any) -> Any:
        return composed(node, _reduced, x, src, target, how, include_self)

    if x.dtype.category == 1:  # integers, of which a mean is rounded down
        wide = found(*(convert(y, dtypes.int64) for y in (x, src)))
        return convert(wide, x.dtype)
    return narrow(found, x, src)


def _reduced(x: Any, src: Any, target: Any, how: str, include_self: bool, /) -> Any:
    (count,) = x.shape
    if include_self:
        src = concatenate(x, src, axis=0)
        target = concatenate(np.arange(count), target, axis=0)
    if how == "prod":
        found = _products(src, target, count)
    elif how in ("amax", "amin"):
        found = (group_max if how == "amax" else group_min)(src, target, count=count)
    else:
        found = group_sum(src, target, count=count)
    if how == "sum" and include_self:
        return found
    number = group_sum(np.ones(target.shape, np.int64), target, count=count)
    if how == "mean":
        divide = fnp.floor_divide if found.dtype.kind in "biu" else fnp.divide
        found = divide(found, fnp.astype(maximum(number, 1), found.dtype))
    return found if include_self else where(number > 0, found, x)


def _products(x: Any, target: Any, count: int) -> Any:
    if x.dtype.kind == "b":
        return group_min(x, target, count=count)
    return segment_prod(x, target, count)
