"""Convolution and its transpose, over one, two or three spatial axes, with PyTorch's arguments."""

from __future__ import annotations

from typing import Any

import numpy as np  # noqa: F401  (doctests)

from ..core import aval_of
from ..errors import ArgumentError, ShapeError, where
from ..numpy._arguments import arrays_of
from ..ops import conv as _conv
from ..ops.arithmetic import add
from ..ops.structural import expand_dims, reshape, squeeze
from ._windows import Sizes, sizes

Pads = tuple[tuple[int, int], ...]


def conv(
    x: Any,
    weight: Any,
    bias: Any = None,
    *,
    stride: int | Sizes = 1,
    padding: int | Sizes | str = 0,
    dilation: int | Sizes = 1,
    groups: int = 1,
) -> Any:
    """``y[n, o, p] = b[o] + sum_{c,k} x[n, c, p * stride + k * dilation - padding] * w[o, c, k]``.

    The kernel is not flipped. `padding`: zeros at both ends of every axis; "valid" for none; "same"
    for as many as keep the size, the odd one at the end (needs a stride of 1).

    Shapes: ``x: (n, c, *spatial) or (c, *spatial), weight: (o, c / groups, *kernel), bias: (o)
    -> (n, o, *windows) or (o, *windows)`` for one to three spatial axes.
    Dtypes: numbers.
    Derivative: linear in `bias`, bilinear in `x` and `weight`; smooth everywhere.
    Raises: ArgumentError: an option is of another kind. ShapeError: the shapes do not fit.
    Source: PyTorch reference, ``torch.nn.functional.conv2d``.

    >>> conv([[[0.0, 1.0, 2.0, 3.0]]], [[[1.0, 10.0]]], [100.0]).tolist()
    [[[110.0, 121.0, 132.0]]]
    """
    x, weight, alone = _batched("conv", x, weight)
    kernel = aval_of(weight).shape[2:]
    strides = sizes("conv", "stride", stride, len(kernel), 1)
    dilations = sizes("conv", "dilation", dilation, len(kernel), 1)
    y = _conv.conv(
        x,
        weight,
        strides=strides,
        padding=_pads("conv", padding, kernel, strides, dilations),
        lhs_dilation=(1,) * len(kernel),
        rhs_dilation=dilations,
        groups=_groups("conv", groups),
    )
    return _finished("conv", y, bias, alone)


def conv_transpose(
    x: Any,
    weight: Any,
    bias: Any = None,
    *,
    stride: int | Sizes = 1,
    padding: int | Sizes = 0,
    output_padding: int | Sizes = 0,
    groups: int = 1,
    dilation: int | Sizes = 1,
) -> Any:
    """The adjoint of `conv` by its input: ``y[n, c, p * stride + k * dilation - padding] +=
    x[n, o, p] * w[o, c, k]``, plus ``b[c]``.

    The options are those of the convolution that it is the adjoint of; `output_padding` more
    elements at the end, for what the strides of that convolution left over.

    Shapes: ``x: (n, o, *windows) or (o, *windows), weight: (o, c / groups, *kernel), bias: (c)
    -> (n, c, *spatial) or (c, *spatial)``, ``spatial = (windows - 1) * stride - 2 * padding +
    dilation * (kernel - 1) + 1 + output_padding``.
    Dtypes: numbers.
    Derivative: linear in `bias`, bilinear in `x` and `weight`; smooth everywhere.
    Raises: ArgumentError: an option is of another kind, or `output_padding` is as large as stride
    and dilation. ShapeError: the shapes do not fit.
    Source: PyTorch reference, ``torch.nn.functional.conv_transpose2d``.

    >>> conv_transpose([[[1.0, 2.0]]], [[[1.0, 10.0]]], stride=2).tolist()
    [[[1.0, 10.0, 2.0, 20.0]]]
    """
    name = "conv_transpose"
    x, weight, alone = _batched(name, x, weight)
    channels, _, *kernel = aval_of(weight).shape
    if aval_of(x).shape[1] != channels or channels % _groups(name, groups):
        raise ShapeError(
            f"{name}: x is {aval_of(x)} and weight is {aval_of(weight)}; need as many channels of x "
            f"as weight.shape[0], divisible by groups={groups}{where()}"
        )
    strides = sizes(name, "stride", stride, len(kernel), 1)
    dilations = sizes(name, "dilation", dilation, len(kernel), 1)
    pads = sizes(name, "padding", padding, len(kernel), 0)
    more = sizes(name, "output_padding", output_padding, len(kernel), 0)
    if any(m >= max(both) for m, *both in zip(more, strides, dilations, strict=True)):
        raise ArgumentError(
            f"{name}: output_padding={output_padding!r}; need less than the larger of "
            f"stride={stride!r} and dilation={dilation!r}{where()}"
        )
    y = _conv.conv_transpose(
        x,
        weight,
        strides=strides,
        padding=tuple((p, p) for p in pads),
        output_padding=more,
        rhs_dilation=dilations,
        groups=groups,
    )
    return _finished(name, y, bias, alone)


# ---------------------------------------------------------------- arguments


def _batched(name: str, x: Any, weight: Any) -> tuple[Any, Any, bool]:
    """`x` with a batch axis, `weight`, and whether `x` had none."""
    x, weight = arrays_of(x, weight)
    ndim, axes = aval_of(x).ndim, aval_of(weight).ndim
    if not 3 <= axes <= 5 or ndim not in (axes - 1, axes):
        raise ShapeError(
            f"{name}: x is {aval_of(x)} and weight is {aval_of(weight)}; need a weight of two "
            f"channel axes and one to three spatial axes, and x: (batch, channels, *spatial) or "
            f"(channels, *spatial){where()}"
        )
    alone = ndim < axes
    return (expand_dims(x, axis=(0,)) if alone else x), weight, alone


def _finished(name: str, y: Any, bias: Any, alone: bool) -> Any:
    """`y` with the bias of its channels, and without the batch axis if `x` had none."""
    shape = aval_of(y).shape
    if bias is not None:
        (bias,) = arrays_of(bias)
        if aval_of(bias).shape != shape[1:2]:
            raise ShapeError(
                f"{name}: bias is {aval_of(bias)}; need one number for each of {shape[1]} "
                f"output channels{where()}"
            )
        y = add(y, reshape(bias, shape=(shape[1], *(1 for _ in shape[2:]))))
    return squeeze(y, axis=(0,)) if alone else y


def _groups(name: str, groups: Any) -> int:
    (found,) = sizes(name, "groups", groups, 1, 1)
    return found


def _pads(name: str, padding: Any, kernel: Sizes, strides: Sizes, dilations: Sizes) -> Pads:
    """The zeros before and after every spatial axis."""
    if padding == "valid":
        return ((0, 0),) * len(kernel)
    if padding == "same":
        if max(strides) > 1:
            raise ArgumentError(f'{name}: padding="same" needs a stride of 1{where()}')
        totals = [d * (k - 1) for k, d in zip(kernel, dilations, strict=True)]
        return tuple((total // 2, total - total // 2) for total in totals)
    if isinstance(padding, str):
        raise ArgumentError(
            f'{name}: padding={padding!r}; need "same", "valid" or integers{where()}'
        )
    return tuple((p, p) for p in sizes(name, "padding", padding, len(kernel), 0))
