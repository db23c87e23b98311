"""Convolution in one, two or three dimensions: cross-correlation with strides and dilations.

One primitive, which is bilinear and closed under transposition: the cotangent of the input is a
convolution of the cotangent with the flipped kernel whose input is dilated by the strides, and the
cotangent of the kernel is a convolution of the input with the cotangent as the kernel, the batch
being the channels that are summed over. So there is one implementation and no second rule.

NOTE [Windows and rows] The implementation looks at the padded input through strided windows (no
copy), gathers them into a buffer, and multiplies that with the kernel. Gathered are the taps of all
spatial axes but the first: with whole rows one after another in the buffer, the windows of the rows
overlap there, and a view of them is a matrix for BLAS. So a kernel of 5 x 5 needs 5 copies of the
input, not 25. There are three forms.

* `_by_rows`: one product for each row of the result, summed over taps and channels.
* `_by_places`, for kernels larger than the output (cotangents of kernels): one product for each row of
  the kernel, with places in the part of taps; these are added up.
* `_scatter`, where the output is smaller than the input or the input is dilated (cotangents of inputs):
  products with every tap first, which are added to where they belong. That moves less, and no zeros.

Where rows are short, do not overlap or there is one axis only, all axes are gathered. `_by_images`
copies nothing for kernels of one element. For signals of one channel see `sliding.py`.
"""

from __future__ import annotations

import itertools
import math
import os
from collections.abc import Iterator
from typing import Any

import numpy as np

from ..algebra import batch_first, bilinear
from ..core import Aval, Primitive
from ..errors import ShapeError, where
from ..sliding import rows_slid
from .index_layout import on_host
from .structural import flip, reshape, transpose

Sizes = tuple[int, ...]
Padding = tuple[tuple[int, int], ...]

# Elements of the buffer: for a CPU's caches, and as much as is reasonable where one large product is
# better than several. On the CPU everything from 2**18 to 2**22 is within 10 %.
_BUFFER = {"numpy": 1 << 20}
_LARGE_BUFFER = 1 << 26

_LONG_SIGNAL = 1000  # products for one row of the result that make it worth a call
_LONG_ROW = 64  # elements of a row of the buffer that make a product worth a call
# Whether OpenBLAS may use several threads; it reads these, in this order.
_NAMED = (os.environ.get(f"{name}_NUM_THREADS") for name in ("OPENBLAS", "GOTO", "OMP"))
_HAS_THREADS = next(filter(None, _NAMED), "") != "1"

_FEW = 32  # output channels, above which products take much longer than gathering


def dilated(n: int, step: int) -> int:
    """The length of `n` elements with ``step - 1`` zeros between them."""
    return (n - 1) * step + 1 if n else 0


def window_count(name: str, n: int, window: int, stride: int, padding: tuple[int, int]) -> int:
    """How many windows fit into `n` padded elements.

    Raises: ShapeError: none does.
    """
    padded = n + padding[0] + padding[1]
    if n < 1 or window < 1 or padded < window:
        raise ShapeError(
            f"{name}: a window of {window} does not fit into an axis of {n} padded by {padding}"
            f"{where()}"
        )
    return (padded - window) // stride + 1


# ---------------------------------------------------------------- shape


def _conv_aval(
    x: Aval,
    w: Aval,
    *,
    strides: Sizes,
    padding: Padding,
    lhs_dilation: Sizes,
    rhs_dilation: Sizes,
    groups: int,
) -> Aval:
    n = x.ndim - 2
    given = {"strides": strides, "padding": padding}
    given |= {"lhs_dilation": lhs_dilation, "rhs_dilation": rhs_dilation}
    for name, values in given.items():
        if len(values) != n:
            raise ShapeError(f"conv: {name}={values} for {n} spatial axes; x is {x}{where()}")
    if w.ndim != x.ndim or n < 1:
        raise ShapeError(
            f"conv: x is {x} and w is {w}; need x: (batch, channels, *spatial) and w: (out "
            f"channels, channels / groups, *spatial) with as many spatial axes{where()}"
        )
    if x.shape[1] != w.shape[1] * groups or w.shape[0] % groups:
        raise ShapeError(
            f"conv: the channels of x, {x}, and of w, {w}, do not go with groups={groups}; need "
            f"x.shape[1] == w.shape[1] * groups and w.shape[0] divisible by groups{where()}"
        )
    spatial = tuple(
        window_count("conv", dilated(s, left), dilated(k, right), stride, pads)
        for s, left, k, right, stride, pads in zip(
            x.shape[2:], lhs_dilation, w.shape[2:], rhs_dilation, strides, padding, strict=True
        )
    )
    return Aval((x.shape[0], w.shape[0], *spatial), np.result_type(x.promoting(), w.promoting()))


# ---------------------------------------------------------------- transposes


def _flipped(w: Any, groups: int) -> Any:
    """The kernel of the transpose: reversed, with input and output channels exchanged."""
    out, channels, *spatial = w.shape
    w = flip(w, axis=tuple(range(2, w.ndim)))
    if groups == 1:
        return transpose(w, axes=(1, 0, *range(2, w.ndim)))
    w = reshape(w, shape=(groups, out // groups, channels, *spatial))
    w = transpose(w, axes=(0, 2, 1, *range(3, w.ndim)))
    return reshape(w, shape=(groups * channels, out // groups, *spatial))


def _cotangent_of_input(
    ct: Any,
    _x: Any,
    w: Any,
    *,
    strides: Sizes,
    padding: Padding,
    lhs_dilation: Sizes,
    rhs_dilation: Sizes,
    groups: int,
) -> Any:
    pads = []
    for s, left, k, right, stride, (low, _), out in zip(
        _x.shape[2:],
        lhs_dilation,
        w.shape[2:],
        rhs_dilation,
        strides,
        padding,
        ct.shape[2:],
        strict=True,
    ):
        before = dilated(k, right) - 1 - low
        pads.append((before, dilated(s, left) + low - dilated(out, stride)))
    return conv(
        ct,
        _flipped(w, groups),
        strides=lhs_dilation,
        padding=tuple(pads),
        lhs_dilation=strides,
        rhs_dilation=rhs_dilation,
        groups=groups,
    )


def _cotangent_of_kernel(
    ct: Any,
    x: Any,
    _w: Any,
    *,
    strides: Sizes,
    padding: Padding,
    lhs_dilation: Sizes,
    rhs_dilation: Sizes,
    groups: int,
) -> Any:
    pads, axes = [], tuple(range(2, x.ndim))
    has_gaps = max(lhs_dilation) > 1 == max(strides)
    sizes = zip(x.shape[2:], _w.shape[2:], ct.shape[2:], strict=True)
    steps = zip(lhs_dilation, rhs_dilation, strides, padding, strict=True)
    for (s, k, out), (left, right, stride, (low, _)) in zip(sizes, steps, strict=True):
        used = dilated(out, stride) + dilated(k, right) - 1
        size = dilated(s, left)
        if has_gaps:
            used, size, low = size + dilated(k, right) - 1, out, dilated(k, right) - 1 - low
        pads.append((low, used - low - size))
    params = {"padding": tuple(pads), "strides": rhs_dilation, "groups": groups}
    if has_gaps:  # `x` is the kernel, so that nobody meets its zeros; taps come out in reverse
        params |= {"lhs_dilation": strides, "rhs_dilation": lhs_dilation}
        found = flip(conv(_of_groups(ct, groups), _exchanged(x), **params), axis=axes)
        if groups == 1:
            return found
        found = reshape(found, shape=(found.shape[0], groups, *_w.shape[1:]))
        return reshape(transpose(found, axes=(1, 0, *axes, x.ndim)), shape=_w.shape)
    params |= {"lhs_dilation": lhs_dilation, "rhs_dilation": strides}
    return _exchanged(conv(_of_groups(x, groups), _exchanged(ct), **params))


def _of_groups(x: Any, groups: int) -> Any:
    """Channels become the batch; the batch becomes the channels, group by group."""
    batch, channels, *spatial = x.shape
    if groups == 1:
        return _exchanged(x)
    x = reshape(x, shape=(batch, groups, channels // groups, *spatial))
    x = transpose(x, axes=(2, 1, 0, *range(3, x.ndim)))
    return reshape(x, shape=(channels // groups, groups * batch, *spatial))


def _exchanged(x: Any) -> Any:
    return transpose(x, axes=(1, 0, *range(2, x.ndim)))


# ---------------------------------------------------------------- batches


def _batch_conv(prim: Primitive, size: int, xs: Any, bdims: Any, params: dict) -> Any:
    """A batch of inputs is a larger batch; of kernels, more output channels; of both, groups."""
    x, w = (v if b is None else batch_first(v, b) for v, b in zip(xs, bdims, strict=True))
    groups = params["groups"]
    if bdims[1] is None:
        out = prim(reshape(x, shape=(size * x.shape[1], *x.shape[2:])), w, **params)
        return reshape(out, shape=(size, out.shape[0] // size, *out.shape[1:])), 0
    out_channels = w.shape[1]
    if bdims[0] is not None:
        x = transpose(x, axes=(1, 0, *range(2, x.ndim)))
        x = reshape(x, shape=(x.shape[0], size * x.shape[2], *x.shape[3:]))
        w = reshape(w, shape=(size * out_channels, *w.shape[2:]))
        out = prim(x, w, **{**params, "groups": size * groups})
        return reshape(out, shape=(out.shape[0], size, out_channels, *out.shape[2:])), 1
    per_group = out_channels // groups
    w = reshape(w, shape=(size, groups, per_group, *w.shape[2:]))
    w = transpose(w, axes=(1, 0, *range(2, w.ndim)))
    w = reshape(w, shape=(size * out_channels, *w.shape[3:]))
    out = prim(x, w, **params)
    out = reshape(out, shape=(out.shape[0], groups, size, per_group, *out.shape[2:]))
    out = transpose(out, axes=(0, 2, 1, *range(3, out.ndim)))
    return reshape(out, shape=(*out.shape[:2], out_channels, *out.shape[4:])), 1


# ---------------------------------------------------------------- the primitive


@bilinear(_cotangent_of_input, _cotangent_of_kernel, aval=_conv_aval, batch=_batch_conv)
def conv(xp, x, w, /, *, strides, padding, lhs_dilation, rhs_dilation, groups):
    """``z[n, o, p] = sum_{c,k} x[n, c, p * stride + k * dilation] * w[o, c, k]``.

    The kernel is not flipped (cross-correlation). One entry per spatial axis: `strides`; `padding`,
    pairs of zeros before and after, negative to crop; `lhs_dilation` and `rhs_dilation`, the
    distances that zeros put between the elements of `x` and of `w`. `groups`: the channels of `x`
    and of the result are split into so many blocks that do not mix.

    Shapes: ``x: (n, c, *spatial), w: (o, c / groups, *kernel) -> (n, o, *windows)``.
    Dtypes: numbers.
    Derivative: bilinear; smooth everywhere. Both transposes are convolutions.
    Raises: ShapeError: channels or numbers of axes do not fit; a kernel exceeds its padded input.
    Source: Dumoulin & Visin, "A guide to convolution arithmetic for deep learning",
    arXiv:1603.07285; XLA's operation semantics, "ConvWithGeneralPadding".

    >>> x, w = np.arange(4.0).reshape(1, 1, 4), np.array([[[1.0, 10.0]]])
    >>> conv(
    ...     x, w, strides=(1,), padding=((0, 0),), lhs_dilation=(1,), rhs_dilation=(1,), groups=1
    ... ).tolist()
    [[[10.0, 21.0, 32.0]]]
    """
    params = {"padding": padding, "lhs_dilation": lhs_dilation, "groups": groups}
    params |= {"strides": strides, "rhs_dilation": rhs_dilation}
    out = _conv_aval(Aval(x.shape, x.dtype), Aval(w.shape, w.dtype), **params)
    x, w = x.astype(out.dtype, copy=False), w.astype(out.dtype, copy=False)
    if not out.size or not w.size:
        return xp.zeros(out.shape, out.dtype)
    if on_host(xp) and _is_of_signals(x, w, out, strides, lhs_dilation, rhs_dilation, groups):
        return rows_slid(padded(xp, x, padding, lhs_dilation, 0), w, out.shape)
    if max(strides) == 1 and _scattering_is_cheaper(x, w, out, lhs_dilation):
        return _scatter(xp, x, w, out.shape, padding, lhs_dilation, rhs_dilation, groups)
    x = padded(xp, x, padding, lhs_dilation, 0)
    return _correlate(xp, x, w, out.shape, strides, rhs_dilation, groups)


def _is_of_signals(
    x: Any, w: Any, out: Aval, strides: Sizes, lhs: Sizes, rhs: Sizes, groups: int
) -> bool:
    """Whether each row of the result is one row of `x` under one of `w`, and long."""
    if not strides == lhs == rhs == (1,) or w.shape[:2] != (groups, 1):
        return False
    if groups == 1 and out.shape[2] >= w.shape[2]:
        return True
    return out.shape[2] * w.shape[2] >= _LONG_SIGNAL


def padded(xp: Any, x: Any, padding: Padding, dilation: Sizes, fill: Any) -> Any:
    """The trailing axes of `x`, one per entry of `padding`, dilated, then padded or cropped."""
    lead = x.ndim - len(padding)
    source: list[Any] = [slice(None)] * lead
    target: list[Any] = [slice(None)] * lead
    shape = list(x.shape[:lead])
    for n, (low, high), step in zip(x.shape[lead:], padding, dilation, strict=True):
        total = dilated(n, step) + low + high
        first = -(min(low, 0) // step)  # the first element that is not cropped, and its place
        place = first * step + low
        count = max(0, min(n - first, -((place - total) // step)))
        source.append(slice(first, first + count))
        target.append(slice(place, place + dilated(count, step), step))
        shape.append(total)
    x = x[tuple(source)]
    if x.shape == tuple(shape):
        return x
    out = xp.full(shape, fill, x.dtype) if fill else xp.zeros(shape, x.dtype)
    out[tuple(target)] = x
    return out


def _correlate(
    xp: Any, x: Any, w: Any, shape: Sizes, strides: Sizes, dilation: Sizes, groups: int
) -> Any:
    """NOTE [Windows and rows]."""
    kernel, places = w.shape[2:], shape[2:]
    if math.prod(places) < math.prod(kernel):
        rows = strides[0] == 1 and dilation[0] < places[0]
        length = w.shape[1] * math.prod(kernel[1:])
        if not rows or length < _LONG_ROW or w.shape[0] > _FEW * groups:
            x, w, shape, strides, dilation = _one_row(x, w, shape, strides, dilation)
        out = _by_places(xp, x, w, shape, strides, dilation, groups)
    elif (
        dilation[0] == 1
        and strides[0] < kernel[0]
        and x.shape[0] * math.prod(places[1:]) >= _LONG_ROW
        and w.shape[0] <= _FEW * groups
    ):
        out = _by_rows(xp, x, w, shape, strides, dilation, groups)
    else:
        out = _by_images(xp, x, w, shape, strides, dilation, groups)
    return out.reshape(*out.shape[:2], *places)


def _one_row(x: Any, w: Any, shape: Sizes, *steps: Sizes) -> Any:
    """The same convolution with an axis of one element in front of the spatial ones."""
    shape = (*shape[:2], 1, *shape[2:])
    return (x[:, :, None], w[:, :, None], shape, *((1, *step) for step in steps))


def _windows(
    xp: Any, x: Any, groups: int, kernel: Sizes, places: Sizes, strides: Sizes, dilation: Sizes
) -> Any:
    """``(n, groups, c, *kernel, *places)``: the input under every tap at every place, as a view."""
    batch, channel, *steps = x.strides
    n, c = x.shape[0], x.shape[1] // groups
    taps = (s * d for s, d in zip(steps, dilation, strict=True))
    moves = (s * k for s, k in zip(steps, strides, strict=True))
    return xp.lib.stride_tricks.as_strided(
        x, (n, groups, c, *kernel, *places), (batch, c * channel, channel, *taps, *moves)
    )


def _row_windows(
    xp: Any, x: Any, groups: int, kernel: Sizes, places: Sizes, strides: Sizes, dilation: Sizes
) -> Any:
    """``(n, groups, c, *kernel[1:], rows, *places[1:])``: as `_windows`, of every row by itself."""
    view = _windows(
        xp,
        x,
        groups,
        (1, *kernel[1:]),
        (x.shape[2], *places[1:]),
        (1, *strides[1:]),
        (1, *dilation[1:]),
    )
    return view[:, :, :, 0]


def _overlapping(xp: Any, rows: Any, shape: Sizes, step: int) -> Any:
    """``(groups, count, m, n)``: matrices that begin `step` rows apart and may have several rows.

    `rows` is contiguous, and begins with the axes of the groups and of the rows.
    """
    item = rows.itemsize  # strides are computed: those of axes of one element may be anything
    row = math.prod(rows.shape[2:]) * item
    steps = (rows.shape[1] * row, step * row, shape[-1] * item, item)
    return xp.lib.stride_tricks.as_strided(rows, shape, steps)


def _by_images(
    xp: Any, x: Any, w: Any, shape: Sizes, strides: Sizes, dilation: Sizes, groups: int
) -> Any:
    """The windows of a few images at a time, times the kernel."""
    kernel, places = w.shape[2:], math.prod(shape[2:])
    view = _windows(xp, x, groups, kernel, shape[2:], strides, dilation)
    n, _, c = view.shape[:3]
    w = w.reshape(groups, -1, c * math.prod(kernel))
    out = xp.empty((n, groups, w.shape[1], places), w.dtype)
    for i, g in _blocks(xp, n, groups, w.shape[2] * places):
        part = out[i, g]
        columns = view[i, g].reshape(*part.shape[:2], w.shape[2], places)
        xp.matmul(w[g], columns, out=part)
    return out.reshape(shape)


def _by_rows(
    xp: Any, x: Any, w: Any, shape: Sizes, strides: Sizes, dilation: Sizes, groups: int
) -> Any:
    """The rows of a few images at a time, times the kernel, for each row of the result."""
    n, kernel, places = x.shape[0], w.shape[2:], shape[2:]
    view = _row_windows(xp, x, groups, kernel, places, strides, dilation)
    c, d = view.shape[2], len(kernel)
    # -> (groups, rows, *taps, c, n, *places)
    view = view.transpose(1, 2 + d, *range(3, 2 + d), 2, 0, *range(3 + d, 2 + 2 * d))
    w = xp.moveaxis(w.reshape(groups, -1, c, *kernel), 2, -1)
    w = w.reshape(groups, 1, w.shape[1], -1)
    out = xp.empty((n, groups, w.shape[2], *places), w.dtype)
    work = w.shape[2] * w.shape[3] * math.prod(places[1:])
    unit = _unit(math.prod(view.shape) // (n * groups), work, n)
    for i, g in _blocks(xp, n, groups, unit):
        rows = xp.ascontiguousarray(view[(g, *[slice(None)] * (1 + d), i)])
        count, images = len(rows), rows.shape[2 + d]
        matrices = (count, places[0], w.shape[-1], images * math.prod(places[1:]))
        part = xp.matmul(w[g], _overlapping(xp, rows, matrices, strides[0]))
        part = part.reshape(*part.shape[:3], images, *places[1:])
        out[i, g] = part.transpose(3, 0, 2, 1, *range(4, 3 + d))
    return out.reshape(shape)


def _by_places(
    xp: Any, x: Any, w: Any, shape: Sizes, strides: Sizes, dilation: Sizes, groups: int
) -> Any:
    """The rows of a few channels at a time, times each row of the kernel; the products summed."""
    n, kernel, places = x.shape[0], w.shape[2:], shape[2:]
    view = _row_windows(xp, x, groups, kernel, places, strides, dilation)
    c, d = view.shape[2], len(kernel)
    # -> (groups, rows, *places, n, c, *taps)
    view = view.transpose(1, 2 + d, *range(3 + d, 2 + 2 * d), 0, 2, *range(3, 2 + d))
    w = xp.moveaxis(w.reshape(groups, -1, c, *kernel), 3, 1)  # (groups, kernel rows, o, c, *taps)
    out = xp.zeros((groups, w.shape[2], math.prod(places) * n), w.dtype)
    work = w.shape[2] * out.shape[2] * math.prod(kernel[1:])
    unit = _unit(math.prod(view.shape) // (groups * c), work, c)
    for g, k in _blocks(xp, groups, c, unit):
        rows = xp.ascontiguousarray(view[(g, *[slice(None)] * (1 + d), k)])
        kernels = w[g, :, :, k]
        kernels = kernels.reshape(*kernels.shape[:3], -1)
        matrices = (len(rows), kernel[0], out.shape[2], kernels.shape[-1])
        columns = _overlapping(xp, rows, matrices, dilation[0])
        out[g] += xp.matmul(kernels, columns.swapaxes(2, 3)).sum(1)
    out = xp.moveaxis(out.reshape(*out.shape[:2], *places, n), -1, 0)
    return out.reshape(shape)


def _blocks(xp: Any, outer: int, inner: int, unit: int) -> Iterator[tuple[slice, slice]]:
    """Slices of two axes such that a block has as many elements as the buffer, or one unit."""
    limit = _BUFFER.get(xp.__name__, _LARGE_BUFFER)
    inner_step = max(1, min(inner, limit // unit))
    outer_step = max(1, limit // (unit * inner))
    outer_step = -(-outer // -(-outer // outer_step)) if outer else 1  # equal parts
    for i in range(0, outer, outer_step):
        for j in range(0, inner, inner_step):
            yield slice(i, i + outer_step), slice(j, j + inner_step)


def _unit(elements: int, work: int, count: int) -> int:
    """What one of `count` images takes of the buffer, with `work` multiplications per product.

    Products of a few microseconds are made smaller than 2**19 multiplications, from which on OpenBLAS
    shares them among threads: that gains nothing, and waits for cores that are busy.
    """
    short = _HAS_THREADS and work * count < 1 << 21
    return max(elements, 2 * work) if short else elements


# ---------------------------------------------------------------- from the input's side


def _scattering_is_cheaper(x: Any, w: Any, out: Aval, dilation: Sizes) -> bool:
    """By what has to be moved for every tap: products for all of `x`, or windows for all of `out`.

    It needs no zeros between the elements of a dilated `x`, so then it is taken anyway; but it is
    a loop over taps, so not where there are more taps than places.
    """
    places, taps = math.prod(out.shape[2:]), math.prod(w.shape[2:])
    products = out.shape[1] * math.prod(x.shape[2:])
    return taps <= places and (max(dilation) > 1 or products < x.shape[1] * places)


def _scatter(
    xp: Any,
    x: Any,
    w: Any,
    shape: Sizes,
    padding: Padding,
    dilation: Sizes,
    taps_dilation: Sizes,
    groups: int,
) -> Any:
    """Every element of `x` times every tap, added to the place it is for; needs strides of 1.

    Along the first axis, rows are gathered as in `_by_rows`; there is one of them if that does not
    pay. Along the others element i meets tap k at ``i * dilation - k * tap dilation + low padding``.
    """
    final = shape
    rows = len(dilation) > 1 and dilation[0] == taps_dilation[0] == 1 < w.shape[2]
    rows = rows and x.shape[0] * math.prod(x.shape[3:]) >= _LONG_ROW
    if not rows:
        x, w, shape, dilation, taps_dilation = _one_row(x, w, shape, dilation, taps_dilation)
        padding = ((0, 0), *padding)
    d, n, c = len(dilation), x.shape[0], x.shape[1] // groups
    kernel, spatial, places = w.shape[3:], x.shape[3:], shape[2:]
    x = padded(xp, x, (padding[0], *[(0, 0)] * (d - 1)), (1,) * d, 0)
    x = x.reshape(n, groups, c, *x.shape[2:])
    w = w.reshape(groups, -1, c, *w.shape[2:])
    o, depth = w.shape[1], w.shape[3]
    # -> (groups, 1, (*taps, o), (kernel rows, c))
    w = w.transpose(0, *range(4, 3 + d), 1, 3, 2).reshape(groups, 1, -1, depth * c)
    # (n, groups, c, rows) -> (groups, rows, c, n); of one row, images take the place of the rows
    order, back = ((1, 3, 2, 0), (3, 0, 2, 1)) if rows else ((1, 0, 2, 3), (1, 0, 2, 3))
    rest = range(4, 3 + d)
    out = xp.empty((n, groups, o, *places), x.dtype)
    size = w.shape[2] * math.prod(spatial)
    for i, g in _blocks(xp, n, groups, _unit(places[0] * size, w.shape[3] * size, n)):
        source = xp.ascontiguousarray(x[i, g].transpose(*order, *rest))
        count, height, _, width = source.shape[:4]
        height -= depth - 1
        matrices = (count, height, depth * c, width * math.prod(spatial))
        products = xp.matmul(w[g], _overlapping(xp, source, matrices, 1))
        products = products.reshape(count, height, *kernel, o, width, *spatial)
        part = xp.zeros((count, height, o, width, *places[1:]), x.dtype)
        for tap in itertools.product(*map(range, kernel)):
            taken, put = _meeting(
                tap, taps_dilation[1:], dilation[1:], padding[1:], spatial, places[1:]
            )
            part[(..., *put)] += products[(slice(None), slice(None), *tap, ..., *taken)]
        out[i, g] = part.transpose(*back, *rest)
    return out.reshape(final)


def _meeting(
    tap: Sizes,
    taps_dilation: Sizes,
    dilation: Sizes,
    padding: Padding,
    spatial: Sizes,
    places: Sizes,
) -> tuple[list[slice], list[slice]]:
    """Which elements the tap meets at a place inside, and those places, along every axis."""
    taken, put = [], []
    for k, d, step, (low, _), m, total in zip(
        tap, taps_dilation, dilation, padding, spatial, places, strict=True
    ):
        first = low - k * d
        start = max(0, -(first // step))
        stop = max(start, min(m, -((first - total) // step)))
        taken.append(slice(start, stop))
        begin = first + start * step
        put.append(slice(begin, begin + dilated(stop - start, step), step))
    return taken, put


# ---------------------------------------------------------------- conv_transpose


def conv_transpose(
    x: Any,
    w: Any,
    *,
    strides: Sizes,
    padding: Padding,
    output_padding: Sizes,
    rhs_dilation: Sizes,
    groups: int,
) -> Any:
    """The transpose of `conv` with respect to its input: maps ``(n, o, ...)`` to ``(n, c, ...)``.

    `strides`, `padding` and `rhs_dilation` are those of the convolution it transposes;
    `output_padding` is what the strides of that convolution left over at the end of every axis.

    Shapes: ``x: (n, o, *windows), w: (o, c / groups, *kernel) -> (n, c, *spatial)`` with
    ``spatial = (windows - 1) * stride + dilated kernel - padding + output_padding``.
    Raises: ShapeError: channels or numbers of axes do not fit.
    Source: Dumoulin & Visin, arXiv:1603.07285, section 4.

    >>> x, w = np.array([[[1.0, 2.0]]]), np.array([[[1.0, 10.0]]])
    >>> conv_transpose(
    ...     x, w, strides=(2,), padding=((0, 0),), output_padding=(0,), rhs_dilation=(1,), groups=1
    ... ).tolist()
    [[[1.0, 10.0, 2.0, 20.0]]]
    """
    pads = tuple(
        (dilated(k, d) - 1 - low, dilated(k, d) - 1 - high + more)
        for k, d, (low, high), more in zip(
            w.shape[2:], rhs_dilation, padding, output_padding, strict=True
        )
    )
    return conv(
        x,
        _flipped(w, groups),
        strides=(1,) * len(strides),
        padding=pads,
        lhs_dilation=strides,
        rhs_dilation=rhs_dilation,
        groups=groups,
    )
