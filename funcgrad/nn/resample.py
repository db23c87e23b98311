"""Images and other grids in another size, and their windows side by side.

Interpolation is separable: one axis after the other, an element of the result is a sum of a few of
`x` with weights. All of this is linear.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..algebra import concrete_namespace
from ..core import aval_of
from ..errors import ArgumentError, ShapeError, where
from ..numpy._arguments import array_of
from ..ops.arithmetic import add, multiply
from ..ops.conv import dilated
from ..ops.index import embed, scatter_add, take
from ..ops.index_layout import FULL, ArrayIndex, Slice
from ..ops.select import where as choose
from ..ops.structural import broadcast_to, expand_dims, reshape, transpose
from ._windows import Sizes, sizes

MODES = ("nearest", "nearest-exact", "linear", "cubic")

_A = -0.75  # the parameter of the cubic kernel, which has the slope A at distance 1

# ---------------------------------------------------------------- interpolation


def resample(
    x: Any,
    size: Sequence[int],
    mode: str = "linear",
    *,
    scales: Sequence[float | None] | None = None,
    align_corners: bool = False,
    antialias: bool = False,
) -> Any:
    """The last axes in the lengths `size`, by interpolation.

    Element i of m stands at ``(i + 1/2) n / m - 1/2`` in an axis of n, or at ``i (n - 1) / (m - 1)``
    if `align_corners`. `scales`: numbers (or None) in place of ``m / n``. There "linear" weighs two
    neighbours and "cubic" four, by the kernel of Keys with a = -3/4; "nearest-exact" takes the
    nearest element, "nearest" the one at ``floor(i n / m)``. Elements at the edges go on. `antialias`,
    for "linear" and "cubic": where an axis gets shorter the kernel gets as much wider, so that every
    element counts; its weights within the axis sum to 1, and a is -1/2.

    Shapes: ``x: (*a, *spatial) -> (*a, *size)``.   Dtypes: floating; for the nearest, any.
    Derivative: linear.
    Raises: ArgumentError: an option is of another kind. ShapeError: an axis is missing or empty.
    Source: Keys, "Cubic convolution interpolation for digital image processing", IEEE TASSP 29
    (1981); PyTorch reference, ``torch.nn.functional.interpolate``.

    >>> resample([0.0, 4.0], (4,)).tolist(), resample([0.0, 3.0], (4,), align_corners=True).tolist()
    ([0.0, 1.0, 3.0, 4.0], [0.0, 1.0, 2.0, 3.0])
    """
    x = array_of(x)
    if mode not in MODES:
        raise ArgumentError(f"resample: mode={mode!r}; need one of {MODES}{where()}")
    size = sizes("resample", "size", size, len(size), 1)
    shape, dtype = aval_of(x).shape, aval_of(x).dtype
    lead = len(shape) - len(size)
    if lead < 0 or 0 in shape[lead:]:
        raise ShapeError(
            f"resample: x is {aval_of(x)}; need elements along {len(size)} axes{where()}"
        )
    for axis, m in enumerate(size, lead):
        n = shape[axis]
        scale = None if scales is None else scales[axis - lead]
        if antialias:
            if n != m:
                x = _along(x, axis, *_wide_taps(n, m, mode, scale, align_corners, dtype))
            continue
        at = _positions(n, m, mode, scale, align_corners, dtype)
        x = _along(x, axis, *_taps(at, n, mode))
    return x


def _positions(
    n: int, m: int, mode: str, scale: float | None, align_corners: bool, dtype: Any
) -> np.ndarray:
    """Where in an axis of `n` the `m` elements stand.

    In the precision of the numbers, as PyTorch has it: where the nearest changes depends on that.
    """
    real = _precision(dtype)
    i = np.arange(m, dtype=real)
    if align_corners:
        return i * real((n - 1) / (m - 1) if m > 1 else 0.0)
    step = real(1.0 / scale if scale else n / m)
    if mode == "nearest":
        return np.floor(i * step)
    if mode == "nearest-exact":
        return np.floor((i + real(0.5)) * step)
    return step * (i + real(0.5)) - real(0.5)


def _precision(dtype: Any) -> Any:
    """The dtype of places among numbers of the dtype."""
    return np.float64 if dtype in (np.float64, np.complex128) else np.float32


def _taps(at: np.ndarray, n: int, mode: str) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """The elements next to each position, and their weights; no weights if there is one element."""
    if mode.startswith("nearest"):
        return [np.clip(at.astype(np.int64), 0, n - 1)], []
    if mode == "linear":
        at = np.clip(at, 0, n - 1)
    floor = np.floor(at)
    t, first = at - floor, floor.astype(np.int64)
    if mode == "linear":
        if not t.any():
            return [first], []
        return [first, np.minimum(first + 1, n - 1)], [1 - t, t]
    places = [np.clip(first + k, 0, n - 1) for k in (-1, 0, 1, 2)]
    return places, cubic_weights(t)


def cubic_weights(t: Any) -> list[Any]:
    """What the elements at -1, 0, 1 and 2 weigh at a place `t` between 0 and 1."""
    near, far = [_near(d, _A) for d in (t, 1 - t)], [_far(d, _A) for d in (t + 1, 2 - t)]
    return [far[0], near[0], near[1], far[1]]


def _near(d: Any, a: float) -> Any:
    """Keys's kernel at a distance up to 1."""
    return ((a + 2) * d - (a + 3)) * d * d + 1


def _far(d: Any, a: float) -> Any:
    """The same at a distance from 1 to 2."""
    return ((a * d - 5 * a) * d + 8 * a) * d - 4 * a


def keys_kernel(d: Any, a: float) -> Any:
    """Keys's kernel with the parameter `a` at a distance, as an array.

    >>> keys_kernel(np.array([0.0, 0.5, 1.5, 3.0]), -0.5).tolist()
    [1.0, 0.5625, -0.0625, 0.0]
    """
    return choose(d < 1, _near(d, a), choose(d < 2, _far(d, a), 0))


def _wide_taps(
    n: int, m: int, mode: str, scale: float | None, align_corners: bool, dtype: Any
) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """As `_taps`, for a kernel that is as wide as the elements of the result are apart.

    As in PyTorch, `align_corners` changes their distance and not where the first one is.
    """
    real = _precision(dtype)
    half = real(0.5)
    if align_corners:
        step = real((n - 1) / (m - 1) if m > 1 else 0.0)
    else:
        step = real(1.0 / scale if scale else n / m)
    width = max(step, real(1.0))
    reach = (1 if mode == "linear" else 2) * width
    center = step * (np.arange(m, dtype=real) + half)
    first = np.maximum((center - reach + half).astype(np.int64), 0)
    stop = np.minimum((center + reach + half).astype(np.int64), n)
    places = first[:, None] + np.arange(int((stop - first).max()))
    d = np.abs((places - center[:, None] + half) / width)
    weights = np.maximum(1 - d, 0) if mode == "linear" else keys_kernel(d, -0.5)
    weights = np.where(places < stop[:, None], weights, 0)
    weights = weights / weights.sum(1, keepdims=True)
    return list(np.minimum(places, n - 1).T), list(weights.T)


def _along(x: Any, axis: int, places: list[np.ndarray], weights: list[np.ndarray]) -> Any:
    """``y[i] = sum_k weights[k][i] x[places[k][i]]`` along an axis."""
    xp, aval = concrete_namespace(x), aval_of(x)
    if not weights:
        return _picked(x, axis, places[0])
    total = None
    column = (-1, *(1,) * (aval.ndim - axis - 1))
    for at, w in zip(places, weights, strict=True):
        part = multiply(
            take(x, xp.asarray(at), axis=axis, bounds="known"),
            xp.asarray(w.astype(aval.dtype).reshape(column)),
        )
        total = part if total is None else add(total, part)
    return total


def _picked(x: Any, axis: int, places: np.ndarray) -> Any:
    """``y[i] = x[places[i]]`` along an axis."""
    shape, m = aval_of(x).shape, len(places)
    n = shape[axis]
    if m % n == 0 and np.array_equal(places, np.arange(m) // (m // n)):
        if m == n:
            return x
        # Each element as many times: that is broadcasting, whose transpose is a fast sum.
        front, rest = shape[: axis + 1], shape[axis + 1 :]
        x = broadcast_to(expand_dims(x, axis=(axis + 1,)), shape=(*front, m // n, *rest))
        return reshape(x, shape=(*shape[:axis], m, *rest))
    return take(x, concrete_namespace(x).asarray(places), axis=axis, bounds="known")


# ---------------------------------------------------------------- windows side by side


def unfold(x: Any, window: Sizes, *, dilation: Any = 1, padding: Any = 0, stride: Any = 1) -> Any:
    """The windows of a convolution as columns: ``y[n, (c, *k), (*p)] = x[n, c, *(p * stride + k *
    dilation - padding)]``, zero outside of `x`.

    Shapes: ``x: (n, c, *spatial) -> (n, c * prod(window), prod(windows))``.   Dtypes: numbers.
    Derivative: linear; its transpose is `fold`.
    Raises: ArgumentError: an option is of another kind. ShapeError: a window does not fit.
    Source: PyTorch reference, ``torch.nn.functional.unfold``.

    >>> unfold([[[1.0, 2.0, 3.0]]], (2,)).tolist()
    [[[1.0, 2.0], [2.0, 3.0]]]
    """
    x = array_of(x)
    n = len(window)
    shape = aval_of(x).shape
    if len(shape) != n + 2:
        raise ShapeError(f"unfold: x is {aval_of(x)}; need a batch, channels, {n} axes{where()}")
    tables, pads = _tables("unfold", shape[2:], window, dilation, padding, stride)
    xp = concrete_namespace(x)
    if any(pads):
        inside = [Slice(p, p + s, 1) for s, p in zip(shape[2:], pads, strict=True)]
        total = [s + 2 * p for s, p in zip(shape[2:], pads, strict=True)]
        x = embed(x, shape=(*shape[:2], *total), index=(FULL, FULL, *inside))
    for i, table in enumerate(tables):
        x = take(x, xp.asarray(table), axis=2 + 2 * i, bounds="known")
    x = transpose(x, axes=_kernel_first(n))
    rows = shape[1] * math.prod(window)
    return reshape(x, shape=(shape[0], rows, math.prod(t.shape[1] for t in tables)))


def fold(
    x: Any,
    size: Sequence[int],
    window: Sizes,
    *,
    dilation: Any = 1,
    padding: Any = 0,
    stride: Any = 1,
) -> Any:
    """The transpose of `unfold`: columns added up where their windows lie.

    Shapes: ``x: (n, c * prod(window), prod(windows)) -> (n, c, *size)``.   Dtypes: numbers.
    Derivative: linear; its transpose is `unfold`.
    Raises: ArgumentError: an option is of another kind. ShapeError: a window does not fit, or there
    are more or fewer columns or rows than needed.
    Source: PyTorch reference, ``torch.nn.functional.fold``.

    >>> fold([[[1.0, 2.0], [2.0, 3.0]]], (3,), (2,)).tolist()
    [[[1.0, 4.0, 3.0]]]
    """
    x = array_of(x)
    n = len(window)
    size = sizes("fold", "size", size, n, 1)
    tables, pads = _tables("fold", size, window, dilation, padding, stride)
    counts = tuple(t.shape[1] for t in tables)
    shape, taps = aval_of(x).shape, math.prod(window)
    if len(shape) != 3 or shape[1] % taps or shape[2] != math.prod(counts):
        raise ShapeError(
            f"fold: x is {aval_of(x)}; need (batch, channels * {taps}, {math.prod(counts)}){where()}"
        )
    x = reshape(x, shape=(shape[0], shape[1] // taps, *window, *counts))
    x = transpose(x, axes=tuple(np.argsort(_kernel_first(n)).tolist()))
    xp = concrete_namespace(x)
    for i in reversed(range(n)):
        total = size[i] + 2 * pads[i]
        found = aval_of(x).shape
        rest = (FULL,) * (len(found) - 4 - 2 * i)
        index = ((FULL,) * (2 + 2 * i), (ArrayIndex(0, "known"),), rest)
        x = scatter_add(
            x,
            xp.asarray(tables[i]),
            shape=(*found[: 2 + 2 * i], total, *found[4 + 2 * i :]),
            index=sum(index, ()),
        )
    inside = tuple(slice(p, p + s) for s, p in zip(size, pads, strict=True))
    return x[(slice(None), slice(None), *inside)] if any(pads) else x


def _tables(
    name: str, spatial: Sizes, window: Sizes, dilation: Any, padding: Any, stride: Any
) -> tuple[list[np.ndarray], Sizes]:
    """For every axis the place of each tap (row) of each window (column), and the padding."""
    n = len(window)
    window = sizes(name, "window", window, n, 1)
    dilations, strides = (
        sizes(name, word, given, n, 1)
        for word, given in (("dilation", dilation), ("stride", stride))
    )
    pads = sizes(name, "padding", padding, n, 0)
    tables = []
    for size, k, d, p, s in zip(spatial, window, dilations, pads, strides, strict=True):
        count = (size + 2 * p - dilated(k, d)) // s + 1
        if count < 1:
            raise ShapeError(
                f"{name}: a window of {dilated(k, d)} does not fit into {size} elements padded by "
                f"{p}{where()}"
            )
        tables.append(np.arange(k)[:, None] * d + np.arange(count) * s)
    return tables, pads


def _kernel_first(n: int) -> Sizes:
    """Taps and windows alternate; all taps are to come before all windows."""
    return (0, 1, *range(2, 2 + 2 * n, 2), *range(3, 3 + 2 * n, 2))
