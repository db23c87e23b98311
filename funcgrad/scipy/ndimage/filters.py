"""Filters: sums over windows of an image that is continued beyond its edges."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from ... import numpy as fnp
from ...core import aval_of
from ...errors import ArgumentError, ShapeError, where
from ...numpy._arguments import array_of, axis_of, beside, converted, module_of
from ...ops.conv import conv
from .._arrays import floating

# How an image goes on beyond its edges, by SciPy's names, and what `pad` calls that.
_PADS = {
    "reflect": "symmetric",
    "grid-mirror": "symmetric",
    "constant": "constant",
    "grid-constant": "constant",
    "nearest": "edge",
    "mirror": "reflect",
    "wrap": "wrap",
    "grid-wrap": "wrap",
}
_MOST = 3  # axes that the convolution takes at once


def image(name: str, x: Any, output: Any) -> Any:
    """The image as a floating array.

    Raises: ArgumentError: an output is asked for.
    """
    if output is not None:
        raise ArgumentError(
            f"{name}: output= is not supported, because the function works on traced values{where()}"
        )
    return floating(x)


def axes_in(name: str, axes: Any, ndim: int) -> tuple[int, ...]:
    """The axes, all of them for None, in the order given."""
    if axes is None:
        return tuple(range(ndim))
    given = axes if isinstance(axes, tuple | list) or np.ndim(axes) else (axes,)
    found = tuple(axis_of(name, a, ndim) for a in given)
    if len(set(found)) != len(found):
        raise ShapeError(f"{name}: an axis is given twice: {axes}{where()}")
    return found


def laid_out(
    axes: Sequence[int], ndim: int, *options: list[Any]
) -> tuple[tuple[int, ...], tuple[list[Any], ...]]:
    """The axes of windows, ascending as in the image, and options that are given by axis.

    As in SciPy, windows along some axes are not transposed; with all of them, options neither.
    """
    order = sorted(range(len(axes)), key=axes.__getitem__)
    moved = tuple([o[i] for i in order] for o in options) if len(axes) < ndim else options
    return tuple(axes[i] for i in order), moved


def per_axis(name: str, what: str, value: Any, count: int) -> list[Any]:
    """An option for every axis, given once or once for each."""
    if isinstance(value, tuple | list) or (hasattr(value, "ndim") and value.ndim == 1):
        if len(value) != count:
            raise ShapeError(f"{name}: {what} has {len(value)} entries for {count} axes{where()}")
        return list(value)
    return [value] * count


def padded(name: str, x: Any, widths: dict[int, tuple[int, int]], modes: Any, cval: Any) -> Any:
    """The image with elements in front and behind along some axes."""
    for (axis, width), mode in zip(widths.items(), modes, strict=True):
        if mode not in _PADS:
            raise ArgumentError(
                f"{name}: mode={mode!r}; need one of {', '.join(map(repr, _PADS))}{where()}"
            )
        if not any(width):
            continue
        if not x.shape[axis]:
            return x
        full = [width if i == axis else (0, 0) for i in range(x.ndim)]
        way = _PADS[mode]
        options = {"constant_values": cval} if way == "constant" else {}
        x = fnp.pad(x, full, way, **options)
    return x


def places_before(name: str, size: int, origin: Any) -> int:
    """How many elements of a window lie before the one it belongs to."""
    found = size // 2 + operator.index(origin)
    if not 0 <= found < size:
        raise ArgumentError(
            f"{name}: origin={origin} moves the center out of a window of {size}{where()}"
        )
    return found


def _windows(x: Any, w: Any) -> Any:
    """Sums of the last axes of `x`, which is ``(batch, *axes)``, over windows with the weights `w`."""
    if w.ndim > _MOST:
        count = x.shape[1] - w.shape[0] + 1
        inner = x.shape[2:]
        total: Any = 0.0
        for i in range(w.shape[0]):
            part = fnp.reshape(x[:, i : i + count], (x.shape[0] * count, *inner))
            total = total + _windows(part, w[i])
        return fnp.reshape(total, (x.shape[0], count, *total.shape[1:]))
    ones = (1,) * w.ndim
    y = conv(
        fnp.expand_dims(x, 1),
        fnp.expand_dims(w, (0, 1)),
        strides=ones,
        padding=((0, 0),) * w.ndim,
        lhs_dilation=ones,
        rhs_dilation=ones,
        groups=1,
    )
    return fnp.squeeze(y, 1)


def _weighted(
    name: str, x: Any, weights: Any, axes: Sequence[int], mode: Any, cval: Any, origin: Any
) -> Any:
    """``sum_k w[k] x[i + k - size // 2 - origin]`` along some axes."""
    weights = array_of(weights, module_of(x))
    if weights.ndim != len(axes) or not aval_of(weights).size:
        raise ShapeError(
            f"{name}: weights have shape {list(weights.shape)}; need {len(axes)} axes and at least one "
            f"element{where()}"
        )
    kind = aval_of(weights).dtype.kind
    real = np.finfo(aval_of(x).dtype).dtype
    weights = converted(weights, np.result_type(real, 1j) if kind == "c" else real)
    x = converted(x, np.result_type(aval_of(x).dtype, aval_of(weights).dtype))
    modes = per_axis(name, "mode", mode, len(axes))
    origins = per_axis(name, "origin", origin, len(axes))
    axes, (modes, origins) = laid_out(axes, x.ndim, modes, origins)
    widths = {}
    for axis, size, o in zip(axes, weights.shape, origins, strict=True):
        before = places_before(name, size, o)
        widths[axis] = (before, size - 1 - before)
    shape = x.shape
    if 0 in shape:
        return x
    x = padded(name, x, widths, modes, cval)
    last = tuple(range(x.ndim - len(axes), x.ndim))
    x = fnp.moveaxis(x, axes, last)
    kept = x.shape[: last[0]] if last else x.shape
    y = _windows(fnp.reshape(x, (-1, *x.shape[len(kept) :])), converted(weights, x.dtype))
    y = fnp.reshape(y, (*kept, *y.shape[1:]))
    return fnp.moveaxis(y, last, axes)


def _flipped(weights: Any, origin: Any, count: int) -> tuple[Any, list[int]]:
    """A convolution's weights and origins as those of a correlation."""
    weights = array_of(weights)
    origins = per_axis("convolve", "origin", origin, count)
    sizes = [*weights.shape, *(1,) * count]
    turned = [-operator.index(o) - (n % 2 == 0) for o, n in zip(origins, sizes, strict=False)]
    return fnp.flip(weights), turned


def correlate(
    input: Any,
    weights: Any,
    output: Any = None,
    mode: Any = "reflect",
    cval: Any = 0.0,
    origin: Any = 0,
    *,
    axes: Any = None,
) -> Any:
    """``y[i] = sum_k weights[k] x[i + k - size // 2 - origin]``, along all axes.

    `mode`: how the image goes on beyond its edges: "reflect" (``c b a | a b c``), "mirror" (``c b | a b
    c``), "nearest" (``a a | a b c``), "wrap" (``b c | a b c``) or "constant" (`cval`).

    Shapes: ``input: (*a)``, as many axes of weights as `axes`, all by default; gives ``(*a)``.
    Dtypes: floating, complex; integers give float64, where SciPy truncates.
    Derivative: bilinear in `input` and `weights`.
    Raises: ArgumentError: another mode, an output, an origin outside. ShapeError: the axes do not fit.
    Source: SciPy reference, ``scipy.ndimage.correlate``.

    >>> correlate([1.0, 2.0, 4.0], [1.0, 0.0, 10.0]).tolist()
    [21.0, 41.0, 42.0]
    """
    x = image("correlate", input, output)
    return _weighted(
        "correlate", x, weights, axes_in("correlate", axes, x.ndim), mode, cval, origin
    )


def convolve(
    input: Any,
    weights: Any,
    output: Any = None,
    mode: Any = "reflect",
    cval: Any = 0.0,
    origin: Any = 0,
    *,
    axes: Any = None,
) -> Any:
    """``y[i] = sum_k weights[k] x[i - k + size // 2 + origin]``, along all axes.

    `mode` as for `correlate`.

    Shapes: as `correlate`.   Dtypes: as `correlate`.
    Derivative: bilinear in `input` and `weights`.
    Raises: as `correlate`.
    Source: SciPy reference, ``scipy.ndimage.convolve``.

    >>> convolve([1.0, 2.0, 4.0], [1.0, 0.0, 10.0]).tolist()
    [12.0, 14.0, 24.0]
    """
    x = image("convolve", input, output)
    found = axes_in("convolve", axes, x.ndim)
    options = [
        per_axis("convolve", what, v, len(found))
        for what, v in (("mode", mode), ("origin", origin))
    ]
    found, (modes, origins) = laid_out(found, x.ndim, *options)
    weights, origins = _flipped(weights, origins, len(found))
    return _weighted("convolve", x, weights, found, modes, cval, origins)


def correlate1d(
    input: Any,
    weights: Any,
    axis: int = -1,
    output: Any = None,
    mode: str = "reflect",
    cval: Any = 0.0,
    origin: int = 0,
) -> Any:
    """`correlate` along one axis.

    Shapes: ``input: (*a), weights: (k) -> (*a)``.   Dtypes: as `correlate`.
    Derivative: bilinear in `input` and `weights`.
    Raises: as `correlate`.
    Source: SciPy reference, ``scipy.ndimage.correlate1d``.

    >>> correlate1d([[1.0, 2.0], [4.0, 8.0]], [-1.0, 1.0], axis=0, mode="constant").tolist()
    [[1.0, 2.0], [3.0, 6.0]]
    """
    x = image("correlate1d", input, output)
    found = (axis_of("correlate1d", axis, x.ndim),)
    return _weighted("correlate1d", x, weights, found, mode, cval, origin)


def convolve1d(
    input: Any,
    weights: Any,
    axis: int = -1,
    output: Any = None,
    mode: str = "reflect",
    cval: Any = 0.0,
    origin: int = 0,
) -> Any:
    """`convolve` along one axis.

    Shapes: ``input: (*a), weights: (k) -> (*a)``.   Dtypes: as `correlate`.
    Derivative: bilinear in `input` and `weights`.
    Raises: as `correlate`.
    Source: SciPy reference, ``scipy.ndimage.convolve1d``.

    >>> convolve1d([1.0, 2.0, 4.0], [1.0, -1.0], mode="constant").tolist()
    [1.0, 2.0, -4.0]
    """
    x = image("convolve1d", input, output)
    found = (axis_of("convolve1d", axis, x.ndim),)
    weights, origins = _flipped(weights, origin, 1)
    return _weighted("convolve1d", x, weights, found, mode, cval, origins)


def uniform_filter1d(
    input: Any,
    size: int,
    axis: int = -1,
    output: Any = None,
    mode: str = "reflect",
    cval: Any = 0.0,
    origin: int = 0,
) -> Any:
    """The mean of `size` elements along one axis.

    Shapes: ``input: (*a) -> (*a)``.   Dtypes: as `correlate`.
    Derivative: linear.
    Raises: as `correlate`; ArgumentError: `size` is not positive.
    Source: SciPy reference, ``scipy.ndimage.uniform_filter1d``.

    >>> uniform_filter1d([3.0, 6.0, 9.0], 3).round(6).tolist()
    [4.0, 6.0, 8.0]
    """
    x = image("uniform_filter1d", input, output)
    size = operator.index(size)
    if size < 1:
        raise ArgumentError(f"uniform_filter1d: size={size}; need a positive integer{where()}")
    found = (axis_of("uniform_filter1d", axis, x.ndim),)
    weights = beside(x, np.full(size, 1.0 / size))
    return _weighted("uniform_filter1d", x, weights, found, mode, cval, origin)


def uniform_filter(
    input: Any,
    size: Any = 3,
    output: Any = None,
    mode: Any = "reflect",
    cval: Any = 0.0,
    origin: Any = 0,
    *,
    axes: Any = None,
) -> Any:
    """The mean over windows of `size` elements along every axis; one size, or one for each.

    Shapes: ``input: (*a) -> (*a)``.   Dtypes: as `correlate`.
    Derivative: linear.
    Raises: as `uniform_filter1d`.
    Source: SciPy reference, ``scipy.ndimage.uniform_filter``.

    >>> uniform_filter([[4.0, 8.0]], (1, 2)).tolist()
    [[4.0, 6.0]]
    """
    x = image("uniform_filter", input, output)
    found = axes_in("uniform_filter", axes, x.ndim)
    options = [
        per_axis("uniform_filter", what, value, len(found))
        for what, value in (("size", size), ("mode", mode), ("origin", origin))
    ]
    for axis, n, way, o in zip(found, *options, strict=True):
        if n != 1:
            x = uniform_filter1d(x, n, axis, None, way, cval, o)
    return x


def _edges(name: str, x: Any, axis: int, across: Sequence[float], mode: Any, cval: Any) -> Any:
    """Differences along one axis, smoothed along the others."""
    axis = axis_of(name, axis, x.ndim)
    modes = per_axis(name, "mode", mode, x.ndim)
    y = correlate1d(x, [-1.0, 0.0, 1.0], axis, None, modes[axis], cval)
    for other in range(x.ndim):
        if other != axis:
            y = correlate1d(y, across, other, None, modes[other], cval)
    return y


def sobel(
    input: Any, axis: int = -1, output: Any = None, mode: Any = "reflect", cval: Any = 0.0
) -> Any:
    """Differences ``-1, 0, 1`` along one axis, summed with ``1, 2, 1`` along the others.

    Shapes: ``input: (*a) -> (*a)``.   Dtypes: as `correlate`.
    Derivative: linear.
    Raises: as `correlate`.
    Source: SciPy reference, ``scipy.ndimage.sobel``.

    >>> sobel([0.0, 1.0, 4.0]).tolist()
    [1.0, 4.0, 3.0]
    """
    return _edges("sobel", image("sobel", input, output), axis, [1.0, 2.0, 1.0], mode, cval)


def prewitt(
    input: Any, axis: int = -1, output: Any = None, mode: Any = "reflect", cval: Any = 0.0
) -> Any:
    """Differences ``-1, 0, 1`` along one axis, summed with ``1, 1, 1`` along the others.

    Shapes: ``input: (*a) -> (*a)``.   Dtypes: as `correlate`.
    Derivative: linear.
    Raises: as `correlate`.
    Source: SciPy reference, ``scipy.ndimage.prewitt``.

    >>> prewitt([[0.0, 1.0], [0.0, 2.0]]).tolist()
    [[4.0, 4.0], [5.0, 5.0]]
    """
    return _edges("prewitt", image("prewitt", input, output), axis, [1.0, 1.0, 1.0], mode, cval)


def laplace(
    input: Any, output: Any = None, mode: Any = "reflect", cval: Any = 0.0, *, axes: Any = None
) -> Any:
    """The sum over axes of the differences ``1, -2, 1``.

    Shapes: ``input: (*a) -> (*a)``.   Dtypes: as `correlate`.
    Derivative: linear.
    Raises: as `correlate`.
    Source: SciPy reference, ``scipy.ndimage.laplace``.

    >>> laplace([0.0, 1.0, 4.0]).tolist()
    [1.0, 2.0, -3.0]
    """
    x = image("laplace", input, output)
    found = axes_in("laplace", axes, x.ndim)
    modes = per_axis("laplace", "mode", mode, len(found))
    total = fnp.zeros_like(x)
    for axis, way in zip(found, modes, strict=True):
        total = total + correlate1d(x, [1.0, -2.0, 1.0], axis, None, way, cval)
    return total
