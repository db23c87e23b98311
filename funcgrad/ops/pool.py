"""Pooling: the maximum, the sum or the mean of every window that slides over the trailing axes.

`window`, `strides` and `padding` have one entry per pooled axis. Those are the last axes; all axes
before them are a batch, so a batch rule has to put one more axis in front and nothing else.

The implementations are loops over the elements of a window ("taps"): each is a strided view of the
padded input that shows this element of every window at once.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..algebra import concrete_namespace, constant, general, linear
from ..core import Aval, Primitive, aval_of
from ..errors import ShapeError, where
from .arithmetic import divide
from .conv import Padding, Sizes, dilated, padded, window_count
from .index_layout import on_host
from .structural import batch_all_first, batch_in_front


def _pooled(name: str, shape: Sizes, window: Sizes, strides: Sizes, padding: Padding) -> Sizes:
    """The shape of the result: the batch, then the number of windows along every pooled axis."""
    lead = len(shape) - len(window)
    if lead < 0 or not len(window) == len(strides) == len(padding):
        raise ShapeError(
            f"{name}: window={window}, strides={strides} and padding={padding} need one entry for "
            f"each pooled axis of {list(shape)}{where()}"
        )
    for k, pads in zip(window, padding, strict=True):
        if min(pads) < 0 or max(pads) >= k:
            raise ShapeError(
                f"{name}: padding by {pads}, window of {k}; need 0 <= padding < window{where()}"
            )
    counts = (
        window_count(name, n, k, stride, pads)
        for n, k, stride, pads in zip(shape[lead:], window, strides, padding, strict=True)
    )
    return (*shape[:lead], *counts)


def _pooled_aval(x: Aval, *_: Aval, window: Sizes, strides: Sizes, padding: Padding) -> Aval:
    return Aval(_pooled("pooling", x.shape, window, strides, padding), x.dtype)


def _spread_aval(ct: Aval, *_: Aval, spatial: Sizes, **_params: Any) -> Aval:
    return Aval((*ct.shape[: ct.ndim - len(spatial)], *spatial), ct.dtype)


def _batch_both_in_front(prim: Primitive, size: int, xs: Any, bdims: Any, params: dict) -> Any:
    return prim(*batch_all_first(size, xs, bdims), **params), 0


def _view(start: int, count: int, stride: int) -> slice:
    """The slice of the padded axis that has one element of every window."""
    return slice(start, start + dilated(count, stride), stride)


def _taps(x: Any, window: Sizes, strides: Sizes, places: Sizes) -> Iterator[Any]:
    """For every element of a window in C order, a view of the padded `x` with that of all windows.

    Windows are entered along the trailing axes, one per entry of `window`.
    """
    counts = places[len(places) - len(window) :]
    for start in itertools.product(*map(range, window)):
        yield x[(..., *map(_view, start, counts, strides))]


def _no_dilation(window: Sizes) -> Sizes:
    return (1,) * len(window)


def _combined(
    combine: Callable[..., Any], x: Any, window: Sizes, strides: Sizes, places: Sizes
) -> Any:
    """All elements of every window of the padded `x` combined, one axis after the other."""
    lead = x.ndim - len(window)
    for axis, (k, stride) in enumerate(zip(window, strides, strict=True), lead):
        front = (slice(None),) * axis
        taps = [x[(*front, _view(i, places[axis], stride))] for i in range(k)]
        x = taps[0]
        for i, tap in enumerate(taps[1:]):
            x = combine(x, tap, out=x) if i else combine(x, tap)
    return x


# ---------------------------------------------------------------- sums of windows


@linear(
    lambda ct, _x, *, window, **params: spread_windows(
        ct, spatial=_x.shape[_x.ndim - len(window) :], window=window, **params
    ),
    aval=_pooled_aval,
    batch=batch_in_front,
)
def sum_windows(xp, x, /, *, window, strides, padding):
    """``y[p] = sum_k x[p * stride + k - padding]`` over the trailing axes; outside `x` is zero.

    Shapes: ``x: (*a, *spatial) -> (*a, *windows)``.   Dtypes: numbers.
    Derivative: linear; its transpose is `spread_windows`.
    Raises: ShapeError: a window does not fit, or is not larger than its padding.
    Source: the convolution with a kernel of ones.

    >>> sum_windows(np.arange(4.0), window=(2,), strides=(2,), padding=((0, 0),)).tolist()
    [1.0, 5.0]
    """
    places = _pooled("sum_windows", x.shape, window, strides, padding)
    source = padded(xp, x, padding, _no_dilation(window), 0)
    out = _combined(xp.add, source, window, strides, places)
    return out if math.prod(window) > 1 else out.copy()


@linear(
    lambda ct, _ct, *, spatial, **params: sum_windows(ct, **params),
    aval=_spread_aval,
    batch=batch_in_front,
)
def spread_windows(xp, ct, /, *, spatial, window, strides, padding):
    """Zeros with ``ct[p]`` added to every element of window `p`: the transpose of `sum_windows`.

    Shapes: ``ct: (*a, *windows) -> (*a, *spatial)``.   Dtypes: numbers.
    Derivative: linear; its transpose is `sum_windows`.
    Raises: nothing of its own.
    Source: the adjoint of summation.

    >>> ct = np.array([1.0, 2.0])
    >>> spread_windows(ct, spatial=(4,), window=(2,), strides=(2,), padding=((0, 0),)).tolist()
    [1.0, 1.0, 2.0, 2.0]
    """
    lead = ct.ndim - len(spatial)
    for axis in reversed(range(len(spatial))):
        n, k, stride, (low, high) = spatial[axis], window[axis], strides[axis], padding[axis]
        front = (slice(None),) * (lead + axis)
        shape = (*ct.shape[: lead + axis], low + n + high, *ct.shape[lead + axis + 1 :])
        out = xp.zeros(shape, ct.dtype)
        for i in range(k):
            out[(*front, _view(i, ct.shape[lead + axis], stride))] += ct
        ct = out[(*front, slice(low, low + n))]
    return ct if spatial else ct.copy()


def avg_pool(
    x: Any,
    /,
    *,
    window: Sizes,
    strides: Sizes,
    padding: Padding,
    count_include_pad: bool = True,
) -> Any:
    """The mean of every window; padding counts as zeros, or not at all.

    Shapes: ``x: (*a, *spatial) -> (*a, *windows)``.
    Raises: ShapeError: a window does not fit, or is not larger than its padding.

    >>> avg_pool(np.arange(4.0), window=(2,), strides=(2,), padding=((0, 0),)).tolist()
    [0.5, 2.5]
    """
    params = {"window": window, "strides": strides, "padding": padding}
    total = sum_windows(x, **params)
    if count_include_pad or not any(map(any, padding)):
        return divide(total, math.prod(window))
    aval = aval_of(x)
    ones = concrete_namespace(x).ones(aval.shape[aval.ndim - len(window) :], aval.dtype)
    return divide(total, sum_windows(ones, **params))


# ---------------------------------------------------------------- the maximum of windows


FEW = 1 << 13  # elements of all windows that one call looks at faster than one call per tap


def _lowest(dtype: Any) -> Any:
    return -math.inf if dtype.kind == "f" else np.iinfo(dtype).min


def _max_pool_tangent(t: Any, _ans: Any, x: Any, **params: Any) -> Any:
    # Computed again, so that the result need not be kept: ReLU often overwrites it.
    return pick_windows(t, window_argmax(x, max_pool(x, **params), **params), **params)


@general(_max_pool_tangent, aval=_pooled_aval, batch=batch_in_front)
def max_pool(xp, x, /, *, window, strides, padding):
    """``y[p] = max_k x[p * stride + k - padding]`` over the trailing axes; NaN where one is.

    Shapes: ``x: (*a, *spatial) -> (*a, *windows)``.   Dtypes: floating, integers.
    Derivative: that of the largest element; the first of equal ones takes all.
    Raises: ShapeError: a window does not fit, or is not larger than its padding.
    Source: PyTorch's conventions (``torch.nn.MaxPool2d``).

    >>> max_pool(np.array([1.0, 3.0, 2.0]), window=(2,), strides=(1,), padding=((0, 0),)).tolist()
    [3.0, 3.0]
    """
    places = _pooled("max_pool", x.shape, window, strides, padding)
    source = padded(xp, x, padding, _no_dilation(window), _lowest(x.dtype))
    out = _combined(xp.maximum, source, window, strides, places)
    return out if math.prod(window) > 1 else out.copy()


def _argmax_aval(x: Aval, ans: Aval, *, window: Sizes, **_params: Any) -> Aval:
    return Aval(ans.shape, _place_dtype(window))


def _place_dtype(window: Sizes) -> Any:
    return np.dtype(np.uint8 if math.prod(window) <= 256 else np.int64)


@constant(aval=_argmax_aval, batch=_batch_both_in_front)
def window_argmax(xp, x, ans, /, *, window, strides, padding):
    """The place in each window, in C order, of the first element equal to its maximum `ans`.

    Never a place in the padding. If the maximum is NaN, it is the place of the first NaN.

    Shapes: ``x: (*a, *spatial), ans: (*a, *windows) -> (*a, *windows)``.
    Dtypes: floating, integers ``->`` uint8, or int64 for windows of more than 256 elements.
    Derivative: zero.
    Raises: nothing of its own.
    Source: NumPy reference, ``numpy.argmax``.

    >>> x, params = (
    ...     np.array([1.0, 3.0, 2.0]),
    ...     {"window": (2,), "strides": (1,), "padding": ((0, 0),)},
    ... )
    >>> window_argmax(x, np.array([3.0, 3.0]), **params).tolist()
    [1, 0]
    """
    lowest = _lowest(x.dtype)
    source = padded(xp, x, padding, _no_dilation(window), lowest)
    dtype = _place_dtype(window)
    if on_host(xp) and ans.size * math.prod(window) <= FEW and (ans > lowest).all():
        lead = x.ndim - len(window)
        spatial = source.shape[lead:]
        starts = _starts(spatial, ans.shape[lead:], strides)
        places = xp.add.outer(starts, _offsets(spatial, window))
        images = source.reshape(math.prod(x.shape[:lead]), math.prod(spatial))
        is_below = images.take(places, axis=1) < ans.reshape(len(images), len(places), 1)
        is_below[..., -1] = False
        return is_below.argmin(-1).reshape(ans.shape).astype(dtype)
    taps = itertools.islice(_taps(source, window, strides, ans.shape), math.prod(window) - 1)
    if on_host(xp) and (ans > lowest).all():
        below: Iterator[Any] = (tap < ans for tap in taps)
    else:  # NaN is below nothing, and padding looks like an element of the lowest value
        real = xp.ones(x.shape[x.ndim - len(window) :], bool)
        real = padded(xp, real, padding, _no_dilation(window), False)
        reals = _taps(real, window, strides, ans.shape)
        below = (~(r & ((t >= ans) | (t != t))) for r, t in zip(reals, taps, strict=False))
    place = xp.zeros(ans.shape, dtype)
    before = xp.ones(ans.shape, dtype)  # 1 as long as the maximum has not been met
    for b in below:
        before &= b.astype(dtype)
        place += before
    return place


def _kept(xp: Any, x: Any, keep: Any) -> Any:
    """`x` where `keep` is true, elsewhere 0."""
    if x.dtype.kind != "f" or x.dtype.itemsize > 8 or not x.ndim:
        return xp.where(keep, x, 0)
    # By masking bits: `where` is thirty times as slow on a CPU if the choices look random.
    # As an 8-bit integer true is 1, and -1 has all bits set, also when it is made longer.
    bits = np.dtype(f"int{8 * x.dtype.itemsize}")
    mask = (-keep.view(np.int8)).astype(bits)
    mask &= x.view(bits)
    return mask.view(x.dtype)


def _chosen(shape: Sizes, place: Any, window: Sizes, strides: Sizes) -> Any:
    """Where the chosen elements of all windows are in the flattened padded array of a shape."""
    lead = len(shape) - len(window)
    images, spatial = math.prod(shape[:lead]), shape[lead:]
    found = _offsets(spatial, window).take(place)
    by_image = found.reshape(images, math.prod(place.shape[lead:]))
    by_image += _starts(spatial, place.shape[lead:], strides)
    by_image += np.arange(images)[:, None] * math.prod(spatial)
    return found


@functools.lru_cache(maxsize=64)
def _offsets(shape: Sizes, window: Sizes) -> Any:
    """How far the elements of a window are from its first one, in the flattened array of a shape."""
    return _steps(shape, window, (1,) * len(shape))


@functools.lru_cache(maxsize=64)
def _starts(shape: Sizes, counts: Sizes, strides: Sizes) -> Any:
    """Where the windows begin in the flattened array of a shape."""
    return _steps(shape, counts, strides)


def _steps(shape: Sizes, counts: Sizes, steps: Sizes) -> Any:
    """The places, in a flattened array, of so many elements along each axis in so long steps."""
    found, width = np.zeros(1, np.int64), 1
    for n, count, step in zip(reversed(shape), reversed(counts), reversed(steps), strict=True):
        found = np.add.outer(np.arange(count) * (step * width), found).ravel()
        width *= n
    found.flags.writeable = False
    return found


@linear(
    lambda ct, _x, place, *, window, **params: put_windows(
        ct, place, spatial=_x.shape[_x.ndim - len(window) :], window=window, **params
    ),
    None,
    aval=_pooled_aval,
    batch=_batch_both_in_front,
)
def pick_windows(xp, x, place, /, *, window, strides, padding):
    """``y[p] = x[p * stride + place[p] - padding]``: one element of each window, zero outside `x`.

    Shapes: ``x: (*a, *spatial), place: (*a, *windows) -> (*a, *windows)``.
    Dtypes: numbers; `place` as `window_argmax` gives it.
    Derivative: linear in `x`; its transpose is `put_windows`.
    Raises: nothing of its own.
    Source: selection.

    >>> place, params = np.uint8([1, 0]), {"window": (2,), "strides": (1,), "padding": ((0, 0),)}
    >>> pick_windows(np.array([1.0, 3.0, 2.0]), place, **params).tolist()
    [3.0, 3.0]
    """
    source = padded(xp, x, padding, _no_dilation(window), 0)
    if on_host(xp):
        return source.take(_chosen(source.shape, place, window, strides))
    out = xp.zeros(place.shape, x.dtype)
    for i, tap in enumerate(_taps(source, window, strides, place.shape)):
        out += _kept(xp, tap, place == i)
    return out


@linear(
    lambda ct, _ct, place, *, spatial, **params: pick_windows(ct, place, **params),
    None,
    aval=_spread_aval,
    batch=_batch_both_in_front,
)
def put_windows(xp, ct, place, /, *, spatial, window, strides, padding):
    """Zeros with ``ct[p]`` added to one element of window `p`: the transpose of `pick_windows`.

    Shapes: ``ct, place: (*a, *windows) -> (*a, *spatial)``.
    Dtypes: numbers; `place` as `window_argmax` gives it.
    Derivative: linear in `ct`; its transpose is `pick_windows`.
    Raises: nothing of its own.
    Source: the adjoint of selection.

    >>> place, params = np.uint8([1, 0]), {"window": (2,), "strides": (1,), "padding": ((0, 0),)}
    >>> put_windows(np.array([1.0, 2.0]), place, spatial=(3,), **params).tolist()
    [0.0, 3.0, 0.0]
    """
    lead = ct.ndim - len(spatial)
    sizes = (low + n + high for n, (low, high) in zip(spatial, padding, strict=True))
    out = xp.zeros((*ct.shape[:lead], *sizes), ct.dtype)
    apart = all(k <= stride for k, stride in zip(window, strides, strict=True))
    inside = tuple(slice(low, low + n) for n, (low, _) in zip(spatial, padding, strict=True))
    if on_host(xp):
        chosen = _chosen(out.shape, place, window, strides)
        if apart:
            out.put(chosen, ct)
        else:
            xp.add.at(out.reshape(-1), chosen.reshape(-1), ct.reshape(-1))
        return out[(..., *inside)]
    for i, tap in enumerate(_taps(out, window, strides, ct.shape)):
        part = _kept(xp, ct, place == i)
        if apart:
            tap[...] = part
        else:
            tap += part
    return out[(..., *inside)]
