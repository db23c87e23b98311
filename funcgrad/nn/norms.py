"""Normalisation: an input brought to mean 0 and variance 1 over some of its axes.

Running statistics are arguments and results; nothing here keeps state.
"""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from .. import numpy as fnp
from ..core import aval_of
from ..errors import ArgumentError, ShapeError, where
from ..numpy._arguments import axes_of
from ..ops.arithmetic import add, square
from ..ops.exponential import sqrt
from ..ops.logic import isinf
from ..ops.select import where as choose
from ..ops.structural import reshape
from ._arguments import real, require

Axis = int | tuple[int, ...] | None
Shape = tuple[int, ...]


def standardize(
    x: Any,
    axis: Axis = -1,
    mean: Any = None,
    variance: Any = None,
    epsilon: Any = 1e-5,
    where: Any = None,
    *,
    algorithm: str = "fast",
) -> Any:
    """``(x - mean) / sqrt(variance + epsilon)``, by default with mean and variance along the axes,
    of the elements that `where` holds for.

    The variance is always that of the differences from the mean, so both values of `algorithm` give
    the same.

    Shapes: ``x: (*a) -> (*a)``; `mean`, `variance` and `where` broadcast to it.
    Dtypes: real; integers give float64.
    Derivative: that of the formula, through mean and variance too.
    NaN where the mean of squares overflows, in the other norms of this module too.
    Raises: ShapeError: an axis does not exist. ArgumentError: complex numbers, or another algorithm.
    Source: JAX reference, ``jax.nn.standardize``.

    >>> standardize(np.array([1.0, 3.0]), epsilon=0.0).tolist()
    [-1.0, 1.0]
    """
    require(algorithm in ("fast", "stable"), "standardize", "algorithm", algorithm, "fast, stable")
    x = real("standardize", x)
    aval = aval_of(x)
    axes = axes_of("standardize", axis, aval.ndim)
    if not aval.size:
        return x
    counted = True if where is None else where
    if mean is None:
        mean = fnp.mean(x, axes, keepdims=True, where=counted)
    centered = x - mean
    if variance is None:
        variance = _told(fnp.mean(square(centered), axes, keepdims=True, where=counted))
    return centered / sqrt(variance + epsilon)


def _told(moment: Any) -> Any:
    """A mean of squares, as NaN where it has overflowed: divided by infinity, all would be 0."""
    return choose(isinf(moment), np.nan, moment)


# ---------------------------------------------------------------- over axes


def layer_norm(
    x: Any, weight: Any = None, bias: Any = None, *, axis: Axis = -1, eps: float = 1e-5
) -> Any:
    """``(x - mean) / sqrt(var + eps) * weight + bias``, with mean and variance along the axes.

    Shapes: ``x: (*a) -> (*a)``; `weight` and `bias` have the lengths of the axes, in order.
    Dtypes: real; integers give float64.
    Derivative: that of the formula; smooth everywhere for eps > 0.
    Raises: ShapeError: the shapes do not fit. ArgumentError: complex numbers.
    Source: Ba, Kiros & Hinton, "Layer normalization", 2016.

    >>> layer_norm(np.array([[1.0, 3.0], [2.0, 6.0]]), eps=0.0).tolist()
    [[-1.0, 1.0], [-1.0, 1.0]]
    """
    x = real("layer_norm", x)
    aval = aval_of(x)
    axes = axes_of("layer_norm", axis, aval.ndim)
    y = standardize(x, axes, epsilon=eps)
    return _affine("layer_norm", y, weight, bias, aval.shape, axes)


def rms_norm(x: Any, weight: Any = None, *, axis: Axis = -1, eps: float | None = None) -> Any:
    """``x / sqrt(mean(x^2) + eps) * weight``, with the mean along the axes.

    `eps` is by default the precision of the dtype.

    Shapes: ``x: (*a) -> (*a)``; `weight` has the lengths of the axes, in order.
    Dtypes: real; integers give float64.
    Derivative: that of the formula; smooth everywhere for eps > 0.
    Raises: ShapeError: the shapes do not fit. ArgumentError: complex numbers.
    Source: Zhang & Sennrich, "Root mean square layer normalization", NeurIPS 2019.

    >>> rms_norm(np.array([1.0, 7.0])).round(4).tolist()
    [0.2, 1.4]
    """
    x = real("rms_norm", x)
    aval = aval_of(x)
    axes = axes_of("rms_norm", axis, aval.ndim)
    if eps is None:
        eps = float(np.finfo(aval.dtype).eps)
    y = of_mean_square_1(x, axes=axes, eps=eps) if aval.size else x
    return _affine("rms_norm", y, weight, None, aval.shape, axes)


def of_mean_square_1(x: Any, weight: Any = None, *, axes: tuple[int, ...], eps: float) -> Any:
    """``x / sqrt(mean(x^2) + eps) * weight``, with the mean along the axes, which are the last ones.

    >>> of_mean_square_1(np.array([1.0, 7.0]), np.array([1.0, 10.0]), axes=(0,), eps=0.0).round(
    ...     4
    ... ).tolist()
    [0.2, 14.0]
    """
    y = x / sqrt(_told(fnp.mean(square(x), axes, keepdims=True)) + eps)
    return y if weight is None else y * weight


def _affine(name: str, y: Any, weight: Any, bias: Any, shape: Shape, axes: tuple[int, ...]) -> Any:
    """``y * weight + bias``, which lie along the axes of the shape; either may be None.

    Raises: ShapeError: they have other lengths.
    """
    lengths = tuple(shape[i] for i in axes)
    column = tuple(n if i in axes else 1 for i, n in enumerate(shape))
    for what, p in (("weight", weight), ("bias", bias)):
        if p is None:
            continue
        p = real(name, p)
        if aval_of(p).shape != lengths:
            raise ShapeError(
                f"nn.{name}: {what} is {aval_of(p)}; need shape {list(lengths)}, for the axes "
                f"{list(axes)} of {list(shape)}{where()}"
            )
        p = reshape(p, shape=column)
        y = y * p if what == "weight" else y + p
    return y


# ---------------------------------------------------------------- over channels


def _channels(name: str, x: Any, least: int) -> tuple[Any, Shape]:
    """The input and its shape. Raises: ShapeError: it has fewer than `least` axes."""
    x = real(name, x)
    shape = aval_of(x).shape
    if len(shape) < least:
        raise ShapeError(
            f"nn.{name}: x is {aval_of(x)}; need at least {least} axes, of which axis 1 counts the "
            f"channels{where()}"
        )
    return x, shape


def group_norm(
    x: Any, groups: int, weight: Any = None, bias: Any = None, *, eps: float = 1e-5
) -> Any:
    """``(x - mean) / sqrt(var + eps) * weight + bias``, over each group of channels of an example.

    Shapes: ``x: (n, c, *a) -> (n, c, *a), weight and bias: (c,)``; `groups` divides c.
    Dtypes: real; integers give float64.
    Derivative: that of the formula; smooth everywhere for eps > 0.
    Raises: ShapeError: the shapes do not fit. ArgumentError: complex numbers.
    Source: Wu & He, "Group normalization", ECCV 2018.

    >>> group_norm(np.array([[1.0, 3.0, 2.0, 6.0]]), 2, eps=0.0).tolist()
    [[-1.0, 1.0, -1.0, 1.0]]
    """
    x, shape = _channels("group_norm", x, 2)
    if groups < 1 or shape[1] % groups:
        raise ShapeError(f"nn.group_norm: {shape[1]} channels in groups={groups}{where()}")
    grouped = (shape[0], groups, math.prod(shape[2:]) * (shape[1] // groups))
    y = standardize(reshape(x, shape=grouped), 2, epsilon=eps)
    return _affine("group_norm", reshape(y, shape=shape), weight, bias, shape, (1,))


def instance_norm(x: Any, weight: Any = None, bias: Any = None, *, eps: float = 1e-5) -> Any:
    """``(x - mean) / sqrt(var + eps) * weight + bias``, over each channel of each example.

    Shapes: ``x: (n, c, *a) -> (n, c, *a), weight and bias: (c,)``.
    Dtypes: real; integers give float64.
    Derivative: that of the formula; smooth everywhere for eps > 0.
    Raises: ShapeError: the shapes do not fit. ArgumentError: complex numbers.
    Source: Ulyanov, Vedaldi & Lempitsky, "Instance normalization", 2016.

    >>> instance_norm(np.array([[[1.0, 3.0], [2.0, 6.0]]]), eps=0.0).tolist()
    [[[-1.0, 1.0], [-1.0, 1.0]]]
    """
    x, shape = _channels("instance_norm", x, 3)
    y = standardize(x, tuple(range(2, len(shape))), epsilon=eps)
    return _affine("instance_norm", y, weight, bias, shape, (1,))


def batch_norm(
    x: Any,
    running_mean: Any = None,
    running_var: Any = None,
    weight: Any = None,
    bias: Any = None,
    *,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> tuple[Any, Any, Any]:
    """``(x - mean) / sqrt(var + eps) * weight + bias`` of each channel, and the running mean and
    variance.

    In `training`, mean and variance are those of the batch, and the running ones become
    ``(1 - momentum) * old + momentum * new``, with the unbiased variance, or the new ones where there
    are none; otherwise the running ones are used, and stay.

    Shapes: ``x: (n, c, *a) -> (n, c, *a), (c,), (c,)``, the others ``(c,)``.
    Dtypes: real; integers give float64.
    Derivative: that of the formula, through the statistics too.
    Raises: ShapeError: the shapes do not fit, or there is one value for each channel in training.
    ArgumentError: there are no running statistics to use, or one of two, or complex numbers.
    Source: Ioffe & Szegedy, "Batch normalization", ICML 2015.

    >>> y, mean, var = batch_norm(np.array([[0.0], [2.0]]), training=True, eps=0.0)
    >>> y.tolist(), mean.tolist(), var.tolist()
    ([[-1.0], [1.0]], [1.0], [2.0])
    """
    x, shape = _channels("batch_norm", x, 2)
    has_none = [s is None for s in (running_mean, running_var)]
    if any(has_none) and not (training and all(has_none)):
        raise ArgumentError(
            "nn.batch_norm: need running_mean and running_var, or training=True without both"
            f"{where()}"
        )
    affine = [_per_channel("batch_norm", p, shape) for p in (weight, bias)]
    if not training:
        mean, var = (real("batch_norm", s) for s in (running_mean, running_var))
        return with_statistics(x, mean, var, *affine, eps=eps), mean, var
    axes = (0, *range(2, len(shape)))
    count = math.prod(shape[i] for i in axes)
    if count < 2:
        raise ShapeError(
            f"nn.batch_norm: training with {count} values for each channel, x is {aval_of(x)}; need "
            f"two or more{where()}"
        )
    y, new_mean, new_var = with_own_statistics(x, *affine, axes=axes, count=count, eps=eps)
    new_var = new_var * (count / (count - 1))
    if running_mean is None:
        return y, new_mean, new_var
    return (
        y,
        (1 - momentum) * real("batch_norm", running_mean) + momentum * new_mean,
        (1 - momentum) * real("batch_norm", running_var) + momentum * new_var,
    )


def _per_channel(name: str, p: Any, shape: Shape) -> Any:
    """The parameter, one number for each channel. Raises: ShapeError: it has another shape."""
    if p is None:
        return None
    p = real(name, p)
    if aval_of(p).shape != shape[1:2]:
        raise ShapeError(
            f"nn.{name}: weight or bias is {aval_of(p)}; need shape {list(shape[1:2])}, for the "
            f"channels of {list(shape)}{where()}"
        )
    return p


def with_own_statistics(
    x: Any,
    weight: Any = None,
    bias: Any = None,
    *,
    axes: tuple[int, ...],
    count: int,
    eps: float,
) -> tuple[Any, Any, Any]:
    """`with_statistics` of the channels, and their mean and variance.

    `axes` are all but axis 1, and have `count` places.

    >>> [
    ...     y.tolist()
    ...     for y in with_own_statistics(np.array([[0.0], [2.0]]), axes=(0,), count=2, eps=0.0)
    ... ]
    [[[-1.0], [1.0]], [1.0], [1.0]]
    """
    mean = fnp.sum(x, axis=axes) / count
    rest = x - _along_channels(mean, x)
    variance = fnp.sum(square(rest), axis=axes) / count
    return _normalised(rest, _told(variance), weight, bias, eps), mean, variance


def with_statistics(
    x: Any, mean: Any, variance: Any, weight: Any = None, bias: Any = None, *, eps: float
) -> Any:
    """``(x - mean) / sqrt(variance + eps) * weight + bias`` of each channel.

    >>> with_statistics(
    ...     np.array([[0.0], [2.0]]), np.array([1.0]), np.array([4.0]), eps=0.0
    ... ).tolist()
    [[-0.5], [0.5]]
    """
    return _normalised(x - _along_channels(mean, x), variance, weight, bias, eps)


def _along_channels(v: Any, x: Any) -> Any:
    return v.reshape((-1,) + (1,) * (x.ndim - 2))


def _normalised(rest: Any, variance: Any, weight: Any, bias: Any, eps: float) -> Any:
    scale = 1 / sqrt(variance + eps)
    scale = scale if weight is None else scale * weight
    y = rest * _along_channels(scale, rest)
    return y if bias is None else y + _along_channels(bias, rest)


def local_response_norm(
    x: Any, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0
) -> Any:
    """``x / (k + alpha * mean(x^2))^beta``, with the mean over `size` channels around each.

    Channels that are not there count as 0 in the mean.

    Shapes: ``x: (n, c, *a) -> (n, c, *a)``.   Dtypes: real; integers give float64.
    Derivative: that of the formula.
    Raises: ShapeError: fewer than two axes. ArgumentError: `size` is not positive, or complex numbers.
    Source: Krizhevsky, Sutskever & Hinton, "ImageNet classification with deep convolutional neural
    networks", NeurIPS 2012.

    >>> local_response_norm(np.ones((1, 2, 1)), 2, alpha=2.0, beta=1.0).round(4).tolist()
    [[[0.5], [0.3333]]]
    """
    x, _ = _channels("local_response_norm", x, 2)
    require(size >= 1, "local_response_norm", "size", size, "1 or more")
    return x / (neighbour_sums(square(x), size) * (alpha / size) + k) ** beta


def neighbour_sums(x: Any, size: int) -> Any:
    """The sums over `size` channels around each, of which there are ``size // 2`` before it.

    >>> neighbour_sums(np.array([[1.0, 10.0, 100.0]]), 2).tolist()
    [[1.0, 11.0, 110.0]]
    """
    channels = x.shape[1]
    widths = [(0, 0), (size // 2, (size - 1) // 2)] + [(0, 0)] * (x.ndim - 2)
    padded = fnp.pad(x, widths)
    return functools.reduce(add, [padded[:, i : i + channels] for i in range(size)])
