"""Convolutions and their transposes: `conv1d`, `conv_transpose2d` and their like."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from funcgrad import numpy as fnp
from funcgrad.ops import conv as _ops

from .. import dtypes
from ..autograd.remembered import remembered_of_several
from ..ops._apply import _type_word
from ..ops._fused import fused
from ..ops._layout import in_order
from ..ops._operands import convert, dtype_of, operand

if TYPE_CHECKING:
    from .._tensor import Tensor

_NODE = "ConvolutionBackward0"

Sizes = tuple[int, ...]
Given = int | Sequence[int]


# ---------------------------------------------------------------- convolution


@remembered_of_several
def conv1d(
    input: Any,
    weight: Any,
    bias: Any = None,
    stride: Given = 1,
    padding: Given | str = 0,
    dilation: Given = 1,
    groups: int = 1,
) -> Tensor:
    """``y[n, o, p] = b[o] + sum_{c,k} x[n, c, p * stride + k * dilation - padding] w[o, c, k]``.

    The kernel is not flipped. `padding`: zeros at both ends, "valid" for none, "same" for as many as
    keep the length (needs a stride of 1). `groups`: blocks of channels that do not mix.

    Shapes: ``x: (n, c, l) or (c, l), weight: (o, c / groups, k) -> (n, o, windows)``.
    Raises: RuntimeError: sizes or dtypes do not fit.

    >>> import compat as torch
    >>> x = torch.tensor([[[0.0, 1.0, 2.0, 3.0]]])
    >>> conv1d(x, torch.tensor([[[1.0, 10.0]]]), torch.tensor([100.0]))
    tensor([[[110., 121., 132.]]])
    """
    return _conv("conv1d", 1, input, weight, bias, stride, padding, dilation, groups)


@remembered_of_several
def conv2d(
    input: Any,
    weight: Any,
    bias: Any = None,
    stride: Given = 1,
    padding: Given | str = 0,
    dilation: Given = 1,
    groups: int = 1,
) -> Tensor:
    """As `conv1d`, with two spatial axes.

    >>> import compat as torch
    >>> conv2d(torch.ones(1, 1, 3, 3), torch.ones(1, 1, 3, 3), padding=1)
    tensor([[[[4., 6., 4.],
              [6., 9., 6.],
              [4., 6., 4.]]]])
    """
    return _conv("conv2d", 2, input, weight, bias, stride, padding, dilation, groups)


@remembered_of_several
def conv3d(
    input: Any,
    weight: Any,
    bias: Any = None,
    stride: Given = 1,
    padding: Given | str = 0,
    dilation: Given = 1,
    groups: int = 1,
) -> Tensor:
    """As `conv1d`, with three spatial axes."""
    return _conv("conv3d", 3, input, weight, bias, stride, padding, dilation, groups)


def _conv(
    name: str,
    n: int,
    input: Any,
    weight: Any,
    bias: Any,
    stride: Any,
    padding: Any,
    dilation: Any,
    groups: int,
) -> Any:
    x, w = operand(name, 1, "input", input), operand(name, 2, "weight", weight)
    strides = sizes(name, "stride", stride, n)
    dilations = sizes(name, "dilation", dilation, n)
    alone = _is_alone(name, n, x, w, strides, dilations, groups)
    kernel = w._array.shape[2:]
    pads = _pads(name, padding, kernel, strides, dilations)
    shape = x._array.shape
    channels = w._array.shape[1] * groups
    if shape[0 if alone else 1] != channels:
        raise _wrong_channels(f"groups={groups}", w, x, channels, alone)
    ends = zip(shape[-n:], pads, kernel, dilations, strict=True)
    found = [(s + low + high, d * (k - 1) + 1) for s, (low, high), k, d in ends]
    if any(size < reach for size, reach in found):
        raise RuntimeError(
            f"Calculated padded input size per channel: ({_by(s for s, _ in found)}). Kernel size: "
            f"({_by(r for _, r in found)}). Kernel size can't be greater than actual input size"
        )
    _check_bias(x, w, bias, w._array.shape[0])
    params = {
        "strides": strides,
        "padding": pads,
        "lhs_dilation": (1,) * n,
        "rhs_dilation": dilations,
        "groups": groups,
    }
    return _finished(_ops.conv, x, w, bias, alone, params)


# ---------------------------------------------------------------- its transpose


@remembered_of_several
def conv_transpose1d(
    input: Any,
    weight: Any,
    bias: Any = None,
    stride: Given = 1,
    padding: Given = 0,
    output_padding: Given = 0,
    groups: int = 1,
    dilation: Given = 1,
) -> Tensor:
    """The adjoint of `conv1d` by its input: ``y[n, c, p * stride + k * dilation - padding] +=
    x[n, o, p] w[o, c, k]``, plus ``b[c]``.

    The options are those of the convolution that it is the adjoint of; `output_padding` adds
    elements at the end, for what the strides of that convolution left over.

    Shapes: ``x: (n, o, windows) or (o, windows), weight: (o, c / groups, k) -> (n, c, l)``.
    Raises: RuntimeError: sizes or dtypes do not fit.

    >>> import compat as torch
    >>> conv_transpose1d(torch.tensor([[[1.0, 2.0]]]), torch.tensor([[[1.0, 10.0]]]), stride=2)
    tensor([[[ 1., 10.,  2., 20.]]])
    """
    options = (stride, padding, output_padding, groups, dilation)
    return _transposed("conv_transpose1d", 1, input, weight, bias, *options)


@remembered_of_several
def conv_transpose2d(
    input: Any,
    weight: Any,
    bias: Any = None,
    stride: Given = 1,
    padding: Given = 0,
    output_padding: Given = 0,
    groups: int = 1,
    dilation: Given = 1,
) -> Tensor:
    """As `conv_transpose1d`, with two spatial axes."""
    options = (stride, padding, output_padding, groups, dilation)
    return _transposed("conv_transpose2d", 2, input, weight, bias, *options)


@remembered_of_several
def conv_transpose3d(
    input: Any,
    weight: Any,
    bias: Any = None,
    stride: Given = 1,
    padding: Given = 0,
    output_padding: Given = 0,
    groups: int = 1,
    dilation: Given = 1,
) -> Tensor:
    """As `conv_transpose1d`, with three spatial axes."""
    options = (stride, padding, output_padding, groups, dilation)
    return _transposed("conv_transpose3d", 3, input, weight, bias, *options)


def _transposed(
    name: str,
    n: int,
    input: Any,
    weight: Any,
    bias: Any,
    stride: Any,
    padding: Any,
    output_padding: Any,
    groups: int,
    dilation: Any,
) -> Any:
    x, w = operand(name, 1, "input", input), operand(name, 2, "weight", weight)
    strides = sizes(name, "stride", stride, n)
    dilations = sizes(name, "dilation", dilation, n)
    pads = _not_negative("padding", sizes(name, "padding", padding, n))
    more = _not_negative("output_padding", sizes(name, "output_padding", output_padding, n))
    alone = _is_alone(name, n, x, w, strides, dilations, groups)
    shape, kernel = x._array.shape, w._array.shape[2:]
    if shape[0 if alone else 1] != w._array.shape[0]:
        raise _wrong_channels("transposed=1", w, x, w._array.shape[0], alone)
    _check_bias(x, w, bias, w._array.shape[1] * groups, "transposed=1, ")
    if any(m >= max(s, d) for m, s, d in zip(more, strides, dilations, strict=True)):
        raise RuntimeError(
            f"output padding must be smaller than either stride or dilation, but got "
            f"output_padding={list(more)}, stride={list(strides)} and dilation={list(dilations)}"
        )
    found = transposed_sizes(shape[-n:], kernel, strides, pads, dilations, more)
    if min(found) < 1:
        raise RuntimeError(
            f"Given input size per channel: ({_by(shape[-n:])}). Calculated output size per channel: "
            f"({_by(found)}). Output size is too small"
        )
    params = {
        "strides": strides,
        "padding": tuple((p, p) for p in pads),
        "output_padding": more,
        "rhs_dilation": dilations,
        "groups": groups,
    }
    return _finished(_ops.conv_transpose, x, w, bias, alone, params)


def transposed_sizes(
    sizes: Sequence[int],
    kernel: Sizes,
    strides: Sizes,
    pads: Sizes,
    dilations: Sizes,
    more: Sequence[int],
) -> list[int]:
    """How long the spatial axes of a transposed convolution are."""
    each = zip(sizes, kernel, strides, pads, dilations, more, strict=True)
    return [(s - 1) * step - 2 * p + d * (k - 1) + 1 + m for s, k, step, p, d, m in each]


# ---------------------------------------------------------------- arguments and results


def sizes(name: str, argument: str, given: Any, n: int) -> Sizes:
    """One integer for each of `n` axes; a single one counts for all.

    Raises: TypeError: they are no integers. RuntimeError: there are as many as fit no axes.
    """
    if given.__class__ is int:
        return (given,) * n
    try:
        found = tuple(map(operator.index, given if isinstance(given, tuple | list) else (given,)))
    except TypeError:
        raise TypeError(
            f"{name}(): argument '{argument}' must be tuple of ints, not {type(given).__name__}"
        ) from None
    if len(found) == n:
        return found
    if len(found) != 1:
        raise RuntimeError(
            f"expected {argument} to be a single integer value or a list of {n} values, one for each "
            f"spatial axis, but got {argument}={list(found)}"
        )
    return found * n


def _pads(
    name: str, given: Any, kernel: Sizes, strides: Sizes, dilations: Sizes
) -> tuple[tuple[int, int], ...]:
    """The zeros before and after every spatial axis."""
    if not isinstance(given, str):
        found = _not_negative("padding", sizes(name, "padding", given, len(kernel)))
        return tuple([(p, p) for p in found])
    if given == "valid":
        return ((0, 0),) * len(kernel)
    if given != "same":
        raise RuntimeError(f"Invalid padding string: '{given}'")
    if max(strides) > 1:
        raise RuntimeError("padding='same' is not supported for strided convolutions")
    totals = [d * (k - 1) for k, d in zip(kernel, dilations, strict=True)]
    return tuple((total // 2, total - total // 2) for total in totals)


def _not_negative(what: str, found: Sizes) -> Sizes:
    if min(found) < 0:
        raise RuntimeError(f"negative {what} is not supported, but got {list(found)}")
    return found


def _is_alone(
    name: str, n: int, x: Any, w: Any, strides: Sizes, dilations: Sizes, groups: int
) -> bool:
    """Whether the input has no batch axis.

    Raises: RuntimeError: numbers of axes, dtypes or options do not fit.
    """
    ndim, shape = len(x._array.shape), w._array.shape
    if ndim not in (n + 1, n + 2):
        raise RuntimeError(
            f"Expected {n + 1}D (unbatched) or {n + 2}D (batched) input to {name}, but got input of "
            f"size: {list(x._array.shape)}"
        )
    if len(shape) != n + 2:
        raise RuntimeError(f"{name}: expected a weight of {n + 2} axes, but got {list(shape)}")
    if min(strides) < 1:
        raise RuntimeError(f"non-positive stride is not supported, but got {list(strides)}")
    if min(dilations) < 1:
        raise RuntimeError(f"dilation should be greater than zero, but got {list(dilations)}")
    if groups < 1:
        raise RuntimeError(f"non-positive groups is not supported, but got {groups}")
    if shape[0] < groups or shape[0] % groups:
        least = "at least" if shape[0] < groups else "divisible by"
        raise RuntimeError(
            f"Given groups={groups}, expected weight to be {least} {groups} at dimension 0, but got "
            f"weight of size {list(shape)} instead"
        )
    if math.prod(shape[2:]) == 0:
        raise RuntimeError(f"{name}: weight of size {list(shape)} has an empty kernel")
    if x._array.dtype != w._array.dtype:
        raise RuntimeError(
            f"expected scalar type {_type_word(dtype_of(x))} but found {_type_word(dtype_of(w))}"
        )
    return ndim == n + 1


def _wrong_channels(option: str, w: Any, x: Any, needed: int, alone: bool) -> RuntimeError:
    return RuntimeError(
        f"Given {option}, weight of size {list(w._array.shape)}, expected input"
        f"{list(x._array.shape)} to have {needed} channels, but got "
        f"{x._array.shape[0 if alone else 1]} channels instead"
    )


def _check_bias(x: Any, w: Any, bias: Any, channels: int, option: str = "") -> None:
    if bias is None:
        return
    if bias._array.shape != (channels,):
        raise RuntimeError(
            f"Given {option}weight of size {list(w._array.shape)}, expected bias to be 1-dimensional "
            f"with {channels} elements, but got bias of size {list(bias._array.shape)} instead"
        )
    if bias._array.dtype != x._array.dtype:
        raise RuntimeError(
            f"Input type ({_type_word(dtype_of(x))}) and bias type ({_type_word(dtype_of(bias))}) "
            f"should be the same"
        )


def _finished(f: Any, x: Any, w: Any, bias: Any, alone: bool, params: dict[str, Any]) -> Any:
    given = widened(x), widened(w), None if bias is None else widened(bias)
    node = "SqueezeBackward1" if alone else _NODE
    return narrowed(in_order(fused(node, _with_bias, *given, f=f, alone=alone, **params)), x)


def _with_bias(x: Any, w: Any, bias: Any, /, *, f: Any, alone: bool, **params: Any) -> Any:
    """``f(x, w, **params)`` with the bias of its channels; `alone`: there is no batch axis."""
    y = f(fnp.expand_dims(x, 0) if alone else x, w, **params)
    if bias is not None:
        y = y + bias.reshape((-1,) + (1,) * (y.ndim - 2))
    return fnp.squeeze(y, 0) if alone else y


def widened(x: Any) -> Any:
    """`x`, as float32 if it has half precision: sums are taken in that."""
    half = x._array.dtype.itemsize == 2 and dtype_of(x).category == 2
    return convert(x, dtypes.float32) if half else x


def narrowed(y: Any, given: Any) -> Any:
    """`y` in the dtype of `given`."""
    return convert(y, dtype_of(given))


def _by(numbers: Any) -> str:
    return " x ".join(map(str, numbers))


def conv_tbc(input: Any, weight: Any, bias: Any, pad: int = 0) -> Tensor:
    """`conv1d` of sequences with the channels last, with `pad` zeros at both ends.

    Shapes: ``x: (l, n, c), weight: (k, c, o), bias: (o,) -> (windows, n, o)``.
    Raises: RuntimeError: sizes or dtypes do not fit.

    >>> import compat as torch
    >>> conv_tbc(torch.ones(3, 1, 1), torch.ones(2, 1, 1), torch.zeros(1)).flatten()
    tensor([2., 2.])
    """
    x, w = operand("conv_tbc", 1, "self", input), operand("conv_tbc", 2, "weight", weight)
    for name, found in (("Input", x), ("Weight", w)):
        if found.dim() != 3:
            raise RuntimeError(f"{name} must have 3 dims, got {found.dim()}")
    return conv1d(x.permute(1, 2, 0), w.permute(2, 1, 0), bias, padding=pad).permute(2, 0, 1)


__all__ = [
    "conv1d",
    "conv2d",
    "conv3d",
    "conv_tbc",
    "conv_transpose1d",
    "conv_transpose2d",
    "conv_transpose3d",
]
