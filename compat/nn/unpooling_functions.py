"""The way back from maxima: `max_unpool1d`, `max_unpool2d` and `max_unpool3d`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from funcgrad.core import Tracer

from .. import dtypes
from ..autograd.base import tensor
from ..ops._apply import _type_word
from ..ops._compose import not_implemented
from ..ops._layout import in_shape
from ..ops._operands import dtype_of, operand
from ..ops.scatter import scatter
from .conv_functions import Given, Sizes, sizes
from .pooling_functions import node_name

if TYPE_CHECKING:
    from .._tensor import Tensor


def max_unpool1d(
    input: Any,
    indices: Any,
    kernel_size: Given,
    stride: Given | None = None,
    padding: Given = 0,
    output_size: Sequence[int] | None = None,
) -> Tensor:
    """Zeros, with the maxima that `max_pool1d` found where it found them.

    `output_size` says which of the sizes it is that the windows fit.

    Shapes: ``(n, c, windows) or (c, windows) -> (n, c, l) or (c, l)``.
    Raises: RuntimeError: the indices do not fit. ValueError: `output_size` does not.

    >>> import compat as torch
    >>> x = torch.tensor([[1.0, 3.0, 2.0, 5.0]])
    >>> y, places = torch.nn.functional.max_pool1d(x, 2, return_indices=True)
    >>> max_unpool1d(y, places, 2)
    tensor([[0., 3., 0., 5.]])
    """
    return _max_unpool(1, input, indices, kernel_size, stride, padding, output_size)


def max_unpool2d(
    input: Any,
    indices: Any,
    kernel_size: Given,
    stride: Given | None = None,
    padding: Given = 0,
    output_size: Sequence[int] | None = None,
) -> Tensor:
    """As `max_unpool1d`, over two axes."""
    return _max_unpool(2, input, indices, kernel_size, stride, padding, output_size)


def max_unpool3d(
    input: Any,
    indices: Any,
    kernel_size: Given,
    stride: Given | None = None,
    padding: Given = 0,
    output_size: Sequence[int] | None = None,
) -> Tensor:
    """As `max_unpool1d`, over three axes."""
    return _max_unpool(3, input, indices, kernel_size, stride, padding, output_size)


def _max_unpool(
    n: int, input: Any, indices: Any, kernel_size: Any, stride: Any, padding: Any, output_size: Any
) -> Any:
    name = f"max_unpool{n}d"
    x, places = operand(name, 1, "input", input), operand(name, 2, "indices", indices)
    kernels = sizes(name, "kernel_size", kernel_size, n)
    strides = kernels if stride is None else sizes(name, "stride", stride, n)
    pads = sizes(name, "padding", padding, n)
    if dtype_of(places) is not dtypes.int64:
        raise RuntimeError(
            f"elements in indices should be type int64 but got: {_type_word(dtype_of(places))}"
        )
    shape = x._array.shape
    if places._array.shape != shape:
        raise RuntimeError(
            f"Expected shape of indices to be same as that of the input tensor ({list(shape)}) but "
            f"got indices tensor with shape: {list(places._array.shape)}"
        )
    if len(shape) not in (n + 1, n + 2):
        raise RuntimeError(
            f"Input to max_unpooling{n}d should be a {n + 1}d or {n + 2}d Tensor, but got a tensor "
            f"with {len(shape)} dimensions."
        )
    if dtype_of(x).category != 2:
        raise not_implemented(name, x)
    spatial = _unpooled(shape[-n:], kernels, strides, pads, output_size)
    volume = math.prod(spatial)
    found = places._array
    if not isinstance(found, Tracer) and found.size:
        worst = int(found.min()) if found.min() < 0 else int(found.max())
        if not 0 <= worst < volume:
            raise RuntimeError(
                f"Found an invalid max index: {worst} (output volumes are of size "
                f"{'x'.join(map(str, spatial))})"
            )
    lead = math.prod(shape[:-n])
    flat = (lead, math.prod(shape[-n:]))
    zeros = tensor(np.zeros((lead, volume), x._array.dtype))
    y = scatter(zeros, 1, places.reshape(flat), x.reshape(flat))
    return in_shape(y, (*shape[:-n], *spatial), node_name("MaxUnpool", n))


def _unpooled(shape: Sizes, kernels: Sizes, strides: Sizes, pads: Sizes, asked: Any) -> Sizes:
    """The sizes of the axes before they were pooled.

    Raises: ValueError: those asked for are not possible.
    """
    each = zip(shape, kernels, strides, pads, strict=True)
    usual = tuple((size - 1) * s + k - 2 * p for size, k, s, p in each)
    if asked is None:
        return usual
    n = len(usual)
    found = tuple(asked)
    if len(found) == n + 2:
        found = found[2:]
    if len(found) != n:
        raise ValueError(
            f"output_size should be a sequence containing {n} or {n + 2} elements, but it has a "
            f"length of '{len(found)}'"
        )
    for i, (size, middle, s) in enumerate(zip(found, usual, strides, strict=True)):
        if not middle - s < size < middle + s:
            raise ValueError(
                f'invalid output_size "{found}" (dim {i} must be between {middle - s} and '
                f"{middle + s})"
            )
    return found


__all__ = ["max_unpool1d", "max_unpool2d", "max_unpool3d"]
