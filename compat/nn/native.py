"""Functions under the names of PyTorch's kernels: norms with their statistics, sampling on grids.

`nn.functional` has the same with fewer results, and words where numbers stand here.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..ops._operands import operand
from ..ops.create import empty
from ..ops.norm import norm
from . import functional

if TYPE_CHECKING:
    from .._tensor import Tensor

# ---------------------------------------------------------------- norms and their statistics


def _statistics(x: Any, axes: Sequence[int], eps: float, keepdim: bool) -> tuple[Any, Any]:
    """The mean, and 1 over the root of the variance and `eps`."""
    mean = x.mean(axes, keepdim=keepdim)
    return mean, (x.var(axes, correction=0, keepdim=keepdim) + eps).rsqrt()


def native_layer_norm(
    input: Any, normalized_shape: Sequence[int], weight: Any, bias: Any, eps: float
) -> tuple[Any, Any, Any]:
    """`nn.functional.layer_norm`, the mean, and the inverse of the deviation, with lengths of 1.

    Derivative: of the first; the others are constants.
    Raises: as `nn.functional.layer_norm`.

    >>> import compat as torch
    >>> torch.native_layer_norm(torch.tensor([1.0, 3.0]), [2], None, None, 0.0)
    (tensor([-1.,  1.]), tensor([2.]), tensor([1.]))
    """
    x = operand("native_layer_norm", 1, "input", input)
    y = functional.layer_norm(x, normalized_shape, weight, bias, eps)
    axes = tuple(range(-len(normalized_shape), 0))
    fixed = x.detach()
    wide = fixed if weight is None else fixed.to(weight.dtype)
    return (y, *_statistics(wide, axes, eps, True))


def native_group_norm(
    input: Any, weight: Any, bias: Any, N: int, C: int, HxW: int, group: int, eps: float
) -> tuple[Any, Any, Any]:
    """`nn.functional.group_norm` of ``N * C`` channels, the means, and the inverse deviations.

    Shapes: ``(N, C, *a), where a has HxW elements -> (N, C, *a), (N, group), (N, group)``.
    Derivative: of all three.
    Raises: RuntimeError: the sizes are not those of the input.

    >>> import compat as torch
    >>> torch.native_group_norm(torch.tensor([[1.0, 3.0]]), None, None, 1, 2, 1, 1, 0.0)
    (tensor([[-1.,  1.]]), tensor([[2.]]), tensor([[1.]]))
    """
    x = operand("native_group_norm", 1, "input", input)
    shape = tuple(x._array.shape)
    if math.prod(shape) != N * C * HxW or shape[:2] != (N, C):
        raise RuntimeError(
            f"native_group_norm(): Expected X.numel() == N * C * HxW to be true, but got an input of "
            f"shape {list(shape)} for N={N}, C={C}, HxW={HxW}"
        )
    y = functional.group_norm(x, group, weight, bias, eps)
    return (y, *_statistics(x.reshape(N, group, C // group * HxW), (2,), eps, False))


def native_batch_norm(
    input: Any,
    weight: Any,
    bias: Any,
    running_mean: Any,
    running_var: Any,
    training: bool,
    momentum: float,
    eps: float,
) -> tuple[Any, Any, Any]:
    """`nn.functional.batch_norm`; in training the means of the channels and the inverse deviations.

    Otherwise two tensors without elements follow.

    Derivative: of the first; the others are constants.
    Raises: as `nn.functional.batch_norm`.

    >>> import compat as torch
    >>> x = torch.tensor([[1.0], [3.0]])
    >>> torch.native_batch_norm(x, None, None, None, None, True, 0.1, 1e-12)[1]
    tensor([2.])
    """
    x = operand("native_batch_norm", 1, "input", input)
    y = functional.batch_norm(x, running_mean, running_var, weight, bias, training, momentum, eps)
    if not training:
        return y, empty(0, dtype=x.dtype), empty(0, dtype=x.dtype)
    axes = tuple(i for i in range(len(x._array.shape)) if i != 1)
    return (y, *_statistics(x.detach(), axes, eps, False))


def norm_except_dim(v: Any, pow: int = 2, dim: int = 0) -> Tensor:
    """The norms of order `pow` of the slices of `v` along `dim`; of all of it if that is -1.

    Shapes: ``(*a, n, *b) -> (1, ..., n, ..., 1)``, or ``()``.
    Raises: IndexError: there is no such axis. RuntimeError: integers.

    >>> import compat as torch
    >>> torch.norm_except_dim(torch.tensor([[3.0, 4.0], [0.0, 1.0]]))
    tensor([[5.],
            [1.]])
    """
    x = operand("norm_except_dim", 1, "v", v)
    axes = len(x._array.shape)
    if not axes and dim != -1:
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    if dim == -1:
        return norm(x, pow, None, False)
    x.transpose(0, dim)  # checks the axis
    return norm(x, pow, tuple(i for i in range(axes) if i != dim % axes), True)


# ---------------------------------------------------------------- sampling on grids


def _word(argument: str, number: int, words: tuple[str, ...]) -> str:
    """Raises: ValueError: the number stands for nothing."""
    if number not in range(len(words)):
        raise ValueError(
            f"grid_sampler(): {argument}={number} is unknown; need one of "
            f"{', '.join(f'{i} ({word})' for i, word in enumerate(words))}"
        )
    return words[number]


def grid_sampler(
    input: Any, grid: Any, interpolation_mode: int, padding_mode: int, align_corners: bool
) -> Tensor:
    """`nn.functional.grid_sample` with numbers for its words, in the order that it names them.

    `interpolation_mode`: 0 bilinear, 1 nearest, 2 bicubic. `padding_mode`: 0 zeros, 1 border,
    2 reflection.

    Raises: ValueError: another number. RuntimeError: shapes or dtypes do not fit.

    >>> import compat as torch
    >>> image = torch.tensor([[[[0.0, 4.0]]]])
    >>> torch.grid_sampler(image, torch.tensor([[[[-0.5, 0.0], [0.0, 0.0]]]]), 0, 0, False)
    tensor([[[[0., 2.]]]])
    """
    mode = _word("interpolation_mode", interpolation_mode, ("bilinear", "nearest", "bicubic"))
    padding = _word("padding_mode", padding_mode, ("zeros", "border", "reflection"))
    return functional.grid_sample(input, grid, mode, padding, bool(align_corners))


def _require_axes(input: Any, grid: Any, count: int) -> None:
    """Raises: RuntimeError: it is no batch of images, or of volumes."""
    if len(input.shape) != count:
        raise RuntimeError(
            f"grid_sampler(): expected {count}D input and grid with same number of dimensions, but "
            f"got input with sizes {list(input.shape)} and grid with sizes {list(grid.shape)}"
        )


def grid_sampler_2d(
    input: Any, grid: Any, interpolation_mode: int, padding_mode: int, align_corners: bool
) -> Tensor:
    """`grid_sampler` of images."""
    _require_axes(input, grid, 4)
    return grid_sampler(input, grid, interpolation_mode, padding_mode, align_corners)


def grid_sampler_3d(
    input: Any, grid: Any, interpolation_mode: int, padding_mode: int, align_corners: bool
) -> Tensor:
    """`grid_sampler` of volumes."""
    _require_axes(input, grid, 5)
    return grid_sampler(input, grid, interpolation_mode, padding_mode, align_corners)


# ---------------------------------------------------------------- ways back


def _softmax_backward_data(grad_output: Any, output: Any, dim: int, input_dtype: Any) -> Tensor:
    """The cotangent of x from that of ``y = softmax(x, dim)``: ``y (ct - sum(ct y))``.

    Packages call it in rules of their own for a softmax that leaves places out.

    Derivative: of the formula, by both.

    >>> import compat as torch
    >>> y = torch.tensor([0.25, 0.75])
    >>> torch._softmax_backward_data(torch.tensor([4.0, 0.0]), y, 0, torch.float32)
    tensor([ 0.7500, -0.7500])
    """
    ct = operand("_softmax_backward_data", 1, "grad_output", grad_output)
    y = operand("_softmax_backward_data", 2, "output", output)
    return (y * (ct - (ct * y).sum(dim, keepdim=True))).to(input_dtype)


__all__ = [
    "_softmax_backward_data",
    "grid_sampler",
    "grid_sampler_2d",
    "grid_sampler_3d",
    "native_batch_norm",
    "native_group_norm",
    "native_layer_norm",
    "norm_except_dim",
]
