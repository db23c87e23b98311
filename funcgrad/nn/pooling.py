"""Pooling over the last axes: maxima, means and norms of windows, with PyTorch's arguments.

The window says how many axes are pooled: a tuple has one entry for each; with a single integer
`ndim` says it. All axes before them are a batch.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..algebra import concrete_namespace
from ..core import aval_of
from ..errors import ArgumentError, ShapeError, where
from ..numpy._arguments import array_of
from ..ops import pool as _pool
from ..ops import structural as _structural
from ..ops.arithmetic import absolute, divide, multiply, power
from ..ops.index import take, take_along_axis
from ..ops.logic import equal
from ..ops.reduce import argmax
from ..ops.select import where as _where
from ..ops.structural import reshape
from ._windows import Sizes, sizes

Given = int | Sizes
Pads = tuple[tuple[int, int], ...]

# ---------------------------------------------------------------- windows of one size


def max_pool(
    x: Any,
    window: Given,
    *,
    stride: Given | None = None,
    padding: Given = 0,
    dilation: Given = 1,
    ceil_mode: bool = False,
    ndim: int | None = None,
) -> Any:
    """``y[p] = max_k x[p * stride + k * dilation - padding]`` over the last axes.

    `stride`: the window, if not given. `ceil_mode`: a last window may reach beyond the padding.

    Shapes: ``x: (*a, *spatial) -> (*a, *windows)``.   Dtypes: floating, integers.
    Derivative: that of the largest element; the first of equal ones takes all.
    Raises: ArgumentError: an option is of another kind. ShapeError: a window does not fit, or is not
    larger than its padding.
    Source: PyTorch reference, ``torch.nn.functional.max_pool2d``.

    >>> max_pool([1.0, 3.0, 2.0, 5.0, 4.0], (2,)).tolist()
    [3.0, 5.0]
    >>> max_pool([1.0, 3.0, 2.0, 5.0, 4.0], (2,), ceil_mode=True).tolist()
    [3.0, 5.0, 4.0]
    """
    name = "max_pool"
    x, axes = _pooled_axes(name, x, window, ndim)
    dilations = sizes(name, "dilation", dilation, len(axes), 1)
    if max(dilations, default=1) > 1:
        options: dict[str, Any] = {"stride": stride, "padding": padding, "ceil_mode": ceil_mode}
        return max_pool_with_indices(x, window, dilation=dilation, ndim=ndim, **options)[0]
    params = _params(name, axes, window, stride, padding, dilations, ceil_mode)
    return _pool.max_pool(x, **params)


def max_pool_with_indices(
    x: Any,
    window: Given,
    *,
    stride: Given | None = None,
    padding: Given = 0,
    dilation: Given = 1,
    ceil_mode: bool = False,
    ndim: int | None = None,
) -> tuple[Any, Any]:
    """`max_pool`, and the places of the maxima in the flattened spatial axes.

    Shapes: ``x: (*a, *spatial) -> (*a, *windows)``, twice.
    Dtypes: floating, integers; indices are int64.
    Derivative: that of the largest element; the first of equal ones takes all. Indices have none.
    Raises: ArgumentError: an option is of another kind. ShapeError: a window does not fit, or has no
    element of `x`.
    Source: PyTorch reference, ``torch.nn.functional.max_pool2d``, ``return_indices=True``.

    >>> y, indices = max_pool_with_indices([[1.0, 3.0], [2.0, 5.0], [4.0, 0.0]], (2, 2), stride=1)
    >>> y.tolist(), indices.tolist()
    ([[5.0], [5.0]], [[3], [3]])
    """
    name = "max_pool_with_indices"
    x, axes = _pooled_axes(name, x, window, ndim)
    dilations = sizes(name, "dilation", dilation, len(axes), 1)
    params = _params(name, axes, window, stride, padding, dilations, ceil_mode)
    taps = [_taps(name, *each) for each in zip(axes, *params.values(), dilations, strict=True)]
    return _largest(x, taps, axes)


def avg_pool(
    x: Any,
    window: Given,
    *,
    stride: Given | None = None,
    padding: Given = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
    ndim: int | None = None,
) -> Any:
    """``y[p] = sum_k x[p * stride + k - padding] / count`` over the last axes.

    The count is that of the window's elements, with the zeros of the padding or without; what
    `ceil_mode` adds never counts. `divisor_override` takes its place.

    Shapes: ``x: (*a, *spatial) -> (*a, *windows)``.   Dtypes: numbers.
    Derivative: linear.
    Raises: ArgumentError: an option is of another kind. ShapeError: a window does not fit, or is not
    larger than its padding.
    Source: PyTorch reference, ``torch.nn.functional.avg_pool2d``.

    >>> avg_pool([1.0, 3.0, 2.0], (2,), stride=1, padding=1).tolist()
    [0.5, 2.0, 2.5, 1.0]
    >>> avg_pool([1.0, 3.0, 2.0], (2,), padding=1, count_include_pad=False).tolist()
    [1.0, 2.5]
    """
    name = "avg_pool"
    x, axes = _pooled_axes(name, x, window, ndim)
    params = _params(name, axes, window, stride, padding, (1,) * len(axes), ceil_mode)
    if divisor_override is not None:
        if not divisor_override:
            raise ArgumentError(f"{name}: divisor_override=0; need another number{where()}")
        return divide(_pool.sum_windows(x, **params), divisor_override)
    pads = sizes(name, "padding", padding, len(axes), 0)
    beyond = any(high > p for (_, high), p in zip(params["padding"], pads, strict=True))
    if not beyond:
        return _pool.avg_pool(x, **params, count_include_pad=count_include_pad)
    return divide(_pool.sum_windows(x, **params), _counts(x, axes, params, pads, count_include_pad))


def _counts(x: Any, axes: Sizes, params: Any, pads: Sizes, with_padding: bool) -> Any:
    """How many elements every window has, of `x` and, if asked, of its own padding."""
    padding = params["padding"]
    if with_padding:
        axes = tuple(n + 2 * p for n, p in zip(axes, pads, strict=True))
        padding = tuple((0, high - p) for (_, high), p in zip(padding, pads, strict=True))
    ones = concrete_namespace(x).ones(axes, _weight_dtype(x))
    return _pool.sum_windows(ones, **{**params, "padding": padding})


def lp_pool(
    x: Any,
    p: float,
    window: Given,
    *,
    stride: Given | None = None,
    ceil_mode: bool = False,
    ndim: int | None = None,
) -> Any:
    """``y = (sum_k x_k ** p) ** (1 / p)`` for the elements of every window of the last axes.

    The largest ``abs(x_k)`` if `p` is infinite.
    With `ceil_mode` a window that reaches beyond `x` counts the mean of its powers for what it lacks.

    Shapes: ``x: (*a, *spatial) -> (*a, *windows)``.   Dtypes: floating, integers.
    Derivative: ``y ** (1 - p) * x_k ** (p - 1)``; 0 where the sum is 0. NaN where a sum is negative
    and p is odd or no integer, as the value is.
    Raises: ArgumentError: `p` is not positive, or an option is of another kind.
    ShapeError: a window does not fit.
    Source: PyTorch reference, ``torch.nn.functional.lp_pool2d``.

    >>> lp_pool([3.0, 4.0, 0.0, 2.0], 2, (2,)).tolist()
    [5.0, 2.0]
    """
    if not p > 0:
        raise ArgumentError(f"lp_pool: p={p!r}; need a positive number{where()}")
    x, axes = _pooled_axes("lp_pool", x, window, ndim)
    if p == math.inf:
        return max_pool(absolute(x), window, stride=stride, ceil_mode=ceil_mode, ndim=ndim)
    mean = avg_pool(power(x, p), window, stride=stride, ceil_mode=ceil_mode, ndim=ndim)
    total = multiply(mean, math.prod(sizes("lp_pool", "window", window, len(axes), 1)))
    # The slope of a root at 0 is infinite: it is not taken there.
    empty = equal(total, 0.0)
    root = power(_where(empty, 1.0, total), 1.0 / p)
    return _where(empty, 0.0, root)


# ---------------------------------------------------------------- as many windows as asked for


def adaptive_avg_pool(x: Any, output_size: Any, *, ndim: int | None = None) -> Any:
    """The means of windows that divide the last axes into `output_size` parts.

    Part i of m of an axis of n elements has those from ``floor(i n / m)`` up to, and without,
    ``ceil((i + 1) n / m)``. An entry of None keeps its axis.

    Shapes: ``x: (*a, *spatial) -> (*a, *output_size)``.   Dtypes: numbers.
    Derivative: linear.
    Raises: ArgumentError: `output_size` is of another kind. ShapeError: an axis of `x` is missing or
    empty.
    Source: PyTorch reference, ``torch.nn.functional.adaptive_avg_pool2d``.

    >>> adaptive_avg_pool([0.0, 2.0, 4.0, 6.0, 8.0], (2,)).tolist()
    [2.0, 6.0]
    """
    x, axes, counts = _adaptive("adaptive_avg_pool", x, output_size, ndim)
    if all(m and n % m == 0 for n, m in zip(axes, counts, strict=True)):
        window = tuple(n // m for n, m in zip(axes, counts, strict=True))
        return avg_pool(x, window) if axes else x
    xp, dtype = concrete_namespace(x), _weight_dtype(x)
    for axis, (n, m) in enumerate(zip(axes, counts, strict=True), aval_of(x).ndim - len(axes)):
        taps = _parts(n, m)
        # An element that fills a row up shares its weight with the copies, so none is 0 times inf.
        copies = (taps[:, :, None] == taps[:, None, :]).sum(2)
        weights = 1.0 / (copies * (taps[:, -1:] - taps[:, :1] + 1))
        ones = (1,) * (len(axes) - 1 - axis + aval_of(x).ndim - len(axes))
        weights = xp.asarray(weights.reshape(*taps.shape, *ones).astype(dtype))
        parts = take(x, xp.asarray(taps), axis=axis)
        x = _structural.sum(multiply(parts, weights), axis=(axis + 1,))
    return x


def adaptive_max_pool(x: Any, output_size: Any, *, ndim: int | None = None) -> tuple[Any, Any]:
    """The maxima of the windows of `adaptive_avg_pool`, and their places in the flattened axes.

    Shapes: ``x: (*a, *spatial) -> (*a, *output_size)``, twice.
    Dtypes: floating, integers; indices are int64.
    Derivative: that of the largest element; the first of equal ones takes all. Indices have none.
    Raises: ArgumentError: `output_size` is of another kind. ShapeError: an axis of `x` is missing or
    empty.
    Source: PyTorch reference, ``torch.nn.functional.adaptive_max_pool2d``.

    >>> y, indices = adaptive_max_pool([0.0, 5.0, 4.0, 6.0, 8.0], (2,))
    >>> y.tolist(), indices.tolist()
    ([5.0, 8.0], [1, 4])
    """
    x, axes, counts = _adaptive("adaptive_max_pool", x, output_size, ndim)
    return _largest(x, [_parts(n, m) for n, m in zip(axes, counts, strict=True)], axes)


# ---------------------------------------------------------------- any windows


def _largest(x: Any, taps: list[np.ndarray], axes: Sizes) -> tuple[Any, Any]:
    """The first largest element of every window, and its place in the flattened `axes`.

    `taps` has a row of places for every window along each axis. A row may have a place twice.
    """
    xp, lead = concrete_namespace(x), aval_of(x).shape[: aval_of(x).ndim - len(axes)]
    counts = tuple(len(rows) for rows in taps)
    table = np.zeros((1, 1), np.int64)
    for n, rows in zip(axes, taps, strict=True):
        table = table[:, None, :, None] * n + rows[None, :, None, :]
        windows, more, places, each = table.shape  # any of the numbers of windows may be 0
        table = table.reshape(windows * more, places * each)
    flat = reshape(x, shape=(*lead, math.prod(axes)))
    place = argmax(take(flat, xp.asarray(table), axis=len(lead)), axis=len(lead) + 1)
    # Which place each window's row of the table has at its argmax; the rows lie one after another.
    first = xp.asarray(np.arange(len(table)) * table.shape[1])
    indices = take(xp.asarray(table.ravel()), place + first, axis=0)
    y = take_along_axis(flat, indices, axis=len(lead), bounds="known")
    return reshape(y, shape=lead + counts), reshape(indices, shape=lead + counts)


def _taps(
    name: str, n: int, window: int, stride: int, pads: tuple[int, int], dilation: int
) -> np.ndarray:
    """The places of every window along an axis; the window's first one instead of padding."""
    low, high = pads
    count = (n + low + high - dilation * (window - 1) - 1) // stride + 1
    places = np.arange(count)[:, None] * stride - low + np.arange(window) * dilation
    inside = (places >= 0) & (places < n)
    if not inside.any(1).all():
        raise ShapeError(f"{name}: a window has no element of an axis of {n}{where()}")
    first = np.take_along_axis(places, inside.argmax(1)[:, None], 1)
    return np.where(inside, places, first)


def _parts(n: int, count: int) -> np.ndarray:
    """The places in `count` parts of an axis, the last one again where a part has less than others."""
    i = np.arange(count)
    start, stop = i * n // count, -(-(i + 1) * n // count)
    longest = int((stop - start).max(initial=1))
    return np.minimum(start[:, None] + np.arange(longest), stop[:, None] - 1)


# ---------------------------------------------------------------- arguments


def _pooled_axes(name: str, x: Any, window: Any, ndim: int | None) -> tuple[Any, Sizes]:
    """`x` as an array, and the sizes of its pooled axes."""
    x = array_of(x)
    if ndim is None:
        if not isinstance(window, tuple | list):
            raise ArgumentError(
                f"{name}: a single size, {window!r}, for how many axes? Give a tuple with one entry "
                f"for each, or ndim={where()}"
            )
        ndim = len(window)
    shape = aval_of(x).shape
    if ndim > len(shape):
        raise ShapeError(f"{name}: {ndim} axes to pool, but x is {aval_of(x)}{where()}")
    return x, shape[len(shape) - ndim :]


def _params(
    name: str,
    axes: Sizes,
    window: Any,
    stride: Any,
    padding: Any,
    dilations: Sizes,
    ceil_mode: bool,
) -> dict[str, Any]:
    """The parameters of the primitives: one entry per axis, windows beyond the end as padding."""
    n = len(axes)
    windows = sizes(name, "window", window, n, 1)
    strides = windows if stride is None else sizes(name, "stride", stride, n, 1)
    padding = sizes(name, "padding", padding, n, 0)
    pads = []
    for size, k, d, step, p in zip(axes, windows, dilations, strides, padding, strict=True):
        reach = d * (k - 1) + 1
        beyond = step - 1 if ceil_mode else 0
        if p >= reach or size + 2 * p + beyond < reach:
            raise ShapeError(
                f"{name}: a window of {reach} for an axis of {size} padded by {p}; it has to fit, "
                f"and to be larger than the padding{where()}"
            )
        high = p
        if ceil_mode:
            start = -((reach - size - 2 * p) // step) * step  # of the last window
            if start >= size + p:  # one that begins behind all elements is left out
                start -= step
            high = max(p, start + reach - size - p)
        pads.append((p, high))
    return {"window": windows, "strides": strides, "padding": tuple(pads)}


def _adaptive(name: str, x: Any, output_size: Any, ndim: int | None) -> tuple[Any, Sizes, Sizes]:
    """`x`, the sizes of its pooled axes, and into how many parts each is divided."""
    if output_size is None:
        output_size = (None,) * (ndim or 0)
    x, axes = _pooled_axes(name, x, output_size, ndim)
    if isinstance(output_size, tuple | list):
        pairs = zip(output_size, axes, strict=False)
        output_size = (*(n if m is None else m for m, n in pairs), *output_size[len(axes) :])
    counts = sizes(name, "output_size", output_size, len(axes), 0)
    if 0 in axes:
        raise ShapeError(f"{name}: x is {aval_of(x)}; need elements to pool{where()}")
    return x, axes, counts


def _weight_dtype(x: Any) -> Any:
    """That of weights which leave the dtype of `x` as it is, if it has fractions."""
    dtype = aval_of(x).dtype
    return dtype if dtype.kind in "fc" else np.dtype(np.float64)
