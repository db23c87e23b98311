"""`layer_norm` and its like: an input brought to mean 0 and variance 1 over some of its axes.

Half precision is computed in float32 and rounded at the end.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from funcgrad.nn import norms

from .. import dtypes
from ..autograd import no_grad
from ..autograd.remembered import remembered_of_several
from ..autograd.tape import through
from ..ops._apply import _type_word
from ..ops._compose import not_implemented, rename, require_real_floats
from ..ops._fused import fused
from ..ops._layout import in_order, ints_of
from ..ops._operands import convert, dtype_of, operand
from ..ops.pointwise import add

if TYPE_CHECKING:
    from .._tensor import Tensor

# ---------------------------------------------------------------- the formula


def wide(x: Any) -> Any:
    """`x`, as float32 if it has half precision."""
    return convert(x, dtypes.float32) if x._array.dtype.itemsize == 2 else x


def narrowed(y: Any, given: Any, node: str = "ToCopyBackward0") -> Any:
    """`y` in the dtype of `given`."""
    out = convert(y, dtype_of(given))
    if out is not y and out._node is not None:
        rename(out._node, node)
    return out


def _new(y: Any, x: Any) -> Any:
    """`y`, or a copy if it is the input: there is nothing to bring anywhere."""
    return y.clone() if y is x else y


# ---------------------------------------------------------------- over the last axes


@remembered_of_several
def layer_norm(
    input: Any,
    normalized_shape: Sequence[int],
    weight: Any = None,
    bias: Any = None,
    eps: float = 1e-5,
) -> Tensor:
    """``(x - mean) / sqrt(var + eps) * weight + bias``, with mean and variance over the last axes.

    Shapes: ``(*a, *n) -> (*a, *n)``; `normalized_shape`, `weight` and `bias`: ``n``.
    Raises: RuntimeError: shapes or dtypes do not fit. NotImplementedError: no real floats.

    >>> import compat as torch
    >>> layer_norm(torch.tensor([[1.0, 3.0], [2.0, 6.0]]), [2])
    tensor([[-1.0000,  1.0000],
            [-1.0000,  1.0000]])
    """
    x = operand("layer_norm", 1, "input", input)
    axes = _last_axes("layer_norm", x, normalized_shape, weight=weight, bias=bias)
    require_real_floats("LayerNormKernelImpl", x)
    _check_dtypes(x, weight, bias)
    node, f = "NativeLayerNormBackward0", norms.layer_norm
    y = in_order(fused(node, f, wide(x), weight, bias, axis=axes, eps=eps))
    return narrowed(_new(y, x), x, node)


@remembered_of_several
def rms_norm(
    input: Any, normalized_shape: Sequence[int], weight: Any = None, eps: float | None = None
) -> Tensor:
    """``x / sqrt(mean(x^2) + eps) * weight``, with the mean over the last axes.

    `eps` is by default the precision of the dtype.

    Shapes: ``(*a, *n) -> (*a, *n)``; `normalized_shape` and `weight`: ``n``.
    Raises: RuntimeError: shapes do not fit. NotImplementedError: integers.

    >>> import compat as torch
    >>> rms_norm(torch.tensor([[1.0, 7.0]]), [2])
    tensor([[0.2000, 1.4000]])
    """
    given = operand("rms_norm", 1, "input", input)
    axes = _last_axes("rms_norm", given, normalized_shape, weight=weight)
    if dtype_of(given).category < 2:
        raise not_implemented("rms_norm", given)
    x = wide(given)
    if eps is None:
        eps = float(np.finfo(x._array.dtype).eps)
    y = fused("MulBackward0", norms.of_mean_square_1, x, weight, axes=axes, eps=eps)
    return narrowed(in_order(y), given)


def _last_axes(name: str, x: Any, shape: Any, **parameters: Any) -> tuple[int, ...]:
    """The last axes, whose lengths are `shape`; the parameters are of that shape too.

    Raises: TypeError: it is no shape. RuntimeError: the lengths differ.
    """
    if not isinstance(shape, tuple | list):
        raise TypeError(
            f"{name}(): argument 'normalized_shape' (position 2) must be tuple of ints, not "
            f"{type(shape).__name__}"
        )
    lengths = ints_of(name, "normalized_shape", (shape,))
    if not lengths:
        raise RuntimeError(
            "Expected normalized_shape to be at least 1-dimensional, i.e., containing at least one "
            f"element, but got normalized_shape = {list(lengths)}"
        )
    for word, parameter in parameters.items():
        if parameter is not None and tuple(parameter._array.shape) != lengths:
            raise RuntimeError(
                f"Expected {word} to be of same shape as normalized_shape, but got {word} of shape "
                f"{list(parameter._array.shape)} and normalized_shape = {list(lengths)}"
            )
    found = tuple(x._array.shape)
    count = len(lengths)
    if found[-count:] != lengths:
        raise RuntimeError(
            f"Given normalized_shape={list(lengths)}, expected input with shape "
            f"[*, {', '.join(map(str, lengths))}], but got input of size{list(found)}"
        )
    return tuple(range(len(found) - count, len(found)))


def _check_dtypes(x: Any, *parameters: Any) -> None:
    """Raises: RuntimeError: a parameter has another dtype than `x`, and not float32 for halves."""
    for p in parameters:
        if p is None or dtype_of(p) is dtype_of(x):
            continue
        if x._array.dtype.itemsize != 2 or dtype_of(p) is not dtypes.float32:
            raise RuntimeError(
                f"mixed dtype (CPU): expect parameter to have scalar type of {_type_word(dtype_of(x))}"
                f", not {_type_word(dtype_of(p))}"
            )


# ---------------------------------------------------------------- over groups of channels


@remembered_of_several
def group_norm(
    input: Any, num_groups: int, weight: Any = None, bias: Any = None, eps: float = 1e-5
) -> Tensor:
    """``(x - mean) / sqrt(var + eps) * weight + bias``, over each group of channels of an example.

    Shapes: ``(n, c, *a) -> (n, c, *a)``; `weight` and `bias`: ``(c,)``.
    Raises: RuntimeError: shapes or dtypes do not fit. ValueError: one value in each group.

    >>> import compat as torch
    >>> group_norm(torch.tensor([[1.0, 3.0, 2.0, 6.0]]), 2)
    tensor([[-1.0000,  1.0000, -1.0000,  1.0000]])
    """
    x = operand("group_norm", 1, "input", input)
    shape = tuple(x._array.shape)
    _check_groups(shape, num_groups, weight, bias)
    require_real_floats("GroupNormKernelImpl", x)
    _check_dtypes(x, weight, bias)
    node = "NativeGroupNormBackward0"
    y = fused(node, _grouped, wide(x), weight, bias, groups=num_groups, eps=eps)
    return narrowed(_new(in_order(y, channels=True), x), x, node)


def _grouped(x: Any, weight: Any, bias: Any, *, groups: int, eps: float) -> Any:
    return norms.group_norm(x, groups, weight, bias, eps=eps)


def _check_groups(shape: tuple[int, ...], groups: int, weight: Any, bias: Any) -> None:
    """Raises: RuntimeError: the channels are not of that many groups, or not of the parameters'
    number. ValueError: there is nothing to take a mean of.
    """
    if len(shape) < 2:
        raise RuntimeError(
            f"Expected at least 2 dimensions for input tensor but received {len(shape)}"
        )
    if groups <= 0:
        raise RuntimeError(f"Expected num groups to be greater than 0, got {groups}")
    if shape[1] % groups:
        raise RuntimeError(
            "Expected number of channels in input to be divisible by num_groups, but got input of "
            f"shape {list(shape)} and num_groups={groups}"
        )
    for word, p in (("weight", weight), ("bias", bias)):
        if p is not None and tuple(p._array.shape) != shape[1:2]:
            raise RuntimeError(
                f"Expected {word} to be a vector of size equal to the number of channels in input, "
                f"but got {word} of shape {list(p._array.shape)} and input of shape {list(shape)}"
            )
    if shape[0] * shape[1] // groups * math.prod(shape[2:]) == 1:
        raise ValueError(
            f"Expected more than 1 value per channel when training, got input size {list(shape)}"
        )


def instance_norm(
    input: Any,
    running_mean: Any = None,
    running_var: Any = None,
    weight: Any = None,
    bias: Any = None,
    use_input_stats: bool = True,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Tensor:
    """``(x - mean) / sqrt(var + eps) * weight + bias``, over each channel of each example.

    With `use_input_stats` the running mean and variance, if there are any, move towards the means
    over the examples, as in `batch_norm`; without, they are used.

    Shapes: ``(n, c, *a) -> (n, c, *a)``; the others: ``(c,)``.
    Raises: ValueError: one value in each channel. RuntimeError: shapes or dtypes do not fit.

    >>> import compat as torch
    >>> instance_norm(torch.tensor([[[1.0, 3.0], [2.0, 6.0]]]))
    tensor([[[-1.0000,  1.0000],
             [-1.0000,  1.0000]]])
    """
    x = operand("instance_norm", 1, "input", input)
    shape = tuple(x._array.shape)
    if use_input_stats and math.prod(shape[2:]) == 1:
        raise ValueError(
            f"Expected more than 1 spatial element when training, got input size {x.shape}"
        )
    if (running_mean is None) is not (running_var is None):
        raise ValueError("running_mean and running_var must either both be None or neither be None")
    if not use_input_stats and running_mean is None:
        raise RuntimeError(
            "Expected running_mean and running_var to be defined when use_input_stats is false"
        )
    require_real_floats("batch_norm", x)
    _check_channels(x, running_mean=running_mean, running_var=running_var, weight=weight, bias=bias)
    node = "ViewBackward0"
    if use_input_stats:
        if running_mean is not None and x._array.size:
            _move(x.detach(), running_mean, running_var, momentum)
        scale = None if weight is None else weight.clone()  # which may change before the way back
        y = fused(node, norms.instance_norm, wide(x), scale, bias, eps=eps)
    else:
        given = wide(x), running_mean, running_var, weight, bias
        y = fused(node, norms.with_statistics, *given, eps=eps)
    return narrowed(_new(in_order(y, channels=True), x), x, node)


def _check_channels(x: Any, **per_channel: Any) -> None:
    """Raises: RuntimeError: something has not one number of the right dtype for each channel."""
    examples, channels = x._array.shape[:2]
    for name, p in per_channel.items():
        if p is None:
            continue
        if p._array.size != channels:  # PyTorch counts the channels of all examples
            raise RuntimeError(
                f"{name} should contain {channels * examples} elements not {p._array.size * examples}"
            )
        if dtype_of(p) is not dtype_of(x) and x._array.dtype.itemsize > 2:
            raise RuntimeError(
                f"mixed dtype (CPU): all inputs must share same datatype. {name} is {dtype_of(p)}, "
                f"the input {dtype_of(x)}."
            )


def _move(x: Any, mean: Any, var: Any, momentum: float) -> None:
    """Move running statistics towards those of `x`, with the unbiased variance."""
    axes = tuple(range(2, len(x._array.shape)))
    with no_grad():
        for running, found in ((mean, x.mean(axes)), (var, x.var(axes))):
            running.mul_(1 - momentum).add_(found.mean(0).to(running.dtype), alpha=momentum)


# ---------------------------------------------------------------- over neighbouring channels


def local_response_norm(
    input: Any, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0
) -> Tensor:
    """``x / (k + alpha * mean(x^2))^beta``, with the mean over `size` channels around each.

    Channels that are not there count as 0 in the mean.

    Shapes: ``(n, c, *a) -> (n, c, *a)``.
    Raises: ValueError: fewer than three axes. RuntimeError: `size` is not positive.

    >>> import compat as torch
    >>> local_response_norm(torch.ones(1, 2, 1), 2, alpha=2.0, beta=1.0)
    tensor([[[0.5000],
             [0.3333]]])
    """
    x = operand("local_response_norm", 1, "input", input)
    ndim = len(x._array.shape)
    if ndim < 3:
        raise ValueError(f"Expected 3D or higher dimensionality input (got {ndim} dimensions)")
    if not x._array.size:
        return x
    if dtype_of(x).category == 3:
        raise not_implemented("avg_pool2d", x)
    if size <= 0:
        raise RuntimeError(f"kernel size should be greater than zero, but got {size}")
    if dtype_of(x).category == 2:
        options = {"size": size, "alpha": alpha, "beta": beta, "k": k}
        return fused("DivBackward0", norms.local_response_norm, x, **options)
    means = through(norms.neighbour_sums, x * x, size).div(size, rounding_mode="trunc")
    return x / add(means * alpha, k) ** beta
