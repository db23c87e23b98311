"""The gradients of convolutions as functions: `torch.nn.grad`.

They are what the backward pass of `nn.functional.conv1d` and its like computes, and have derivatives
themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ..autograd import enable_grad, grad
from .conv_functions import Given, conv1d, conv2d, conv3d

if TYPE_CHECKING:
    from .._tensor import Tensor


def _cotangent(conv: Callable[[Any], Any], like: Any, size: Sequence[int], g: Any) -> Any:
    """The cotangent of the argument of a linear function, which has this size."""
    with enable_grad():
        x = like.new_zeros(size).requires_grad_()
        y = conv(x)
        if y.shape != g.shape:
            raise RuntimeError(
                f"Expected grad_output of the shape {list(y.shape)}, that of the result of the "
                f"convolution, but got {list(g.shape)}"
            )
        keeps = like.requires_grad or g.requires_grad
        return grad(y, x, g, create_graph=keeps)[0]


def conv1d_input(
    input_size: Sequence[int],
    weight: Any,
    grad_output: Any,
    stride: Given = 1,
    padding: Given = 0,
    dilation: Given = 1,
    groups: int = 1,
) -> Tensor:
    """The gradient of ``(conv1d(x, weight) * grad_output).sum()`` by x of the size `input_size`.

    Raises: RuntimeError: the sizes do not fit.
    Source: PyTorch reference, ``torch.nn.grad.conv1d_input``.

    >>> import compat as torch
    >>> conv1d_input((1, 1, 4), torch.tensor([[[1.0, 2.0]]]), torch.ones(1, 1, 3))
    tensor([[[1., 3., 3., 2.]]])
    """
    return _cotangent(
        lambda x: conv1d(x, weight, None, stride, padding, dilation, groups),
        weight,
        input_size,
        grad_output,
    )


def conv1d_weight(
    input: Any,
    weight_size: Sequence[int],
    grad_output: Any,
    stride: Given = 1,
    padding: Given = 0,
    dilation: Given = 1,
    groups: int = 1,
) -> Tensor:
    """The gradient of ``(conv1d(input, w) * grad_output).sum()`` by w of the size `weight_size`.

    Raises: RuntimeError: the sizes do not fit.
    Source: PyTorch reference, ``torch.nn.grad.conv1d_weight``.

    >>> import compat as torch
    >>> conv1d_weight(torch.tensor([[[1.0, 2.0, 3.0]]]), (1, 1, 2), torch.ones(1, 1, 2))
    tensor([[[3., 5.]]])
    """
    return _cotangent(
        lambda w: conv1d(input, w, None, stride, padding, dilation, groups),
        input,
        weight_size,
        grad_output,
    )


def conv2d_input(
    input_size: Sequence[int],
    weight: Any,
    grad_output: Any,
    stride: Given = 1,
    padding: Given = 0,
    dilation: Given = 1,
    groups: int = 1,
) -> Tensor:
    """As `conv1d_input`, with two spatial axes."""
    return _cotangent(
        lambda x: conv2d(x, weight, None, stride, padding, dilation, groups),
        weight,
        input_size,
        grad_output,
    )


def conv2d_weight(
    input: Any,
    weight_size: Sequence[int],
    grad_output: Any,
    stride: Given = 1,
    padding: Given = 0,
    dilation: Given = 1,
    groups: int = 1,
) -> Tensor:
    """As `conv1d_weight`, with two spatial axes."""
    return _cotangent(
        lambda w: conv2d(input, w, None, stride, padding, dilation, groups),
        input,
        weight_size,
        grad_output,
    )


def conv3d_input(
    input_size: Sequence[int],
    weight: Any,
    grad_output: Any,
    stride: Given = 1,
    padding: Given = 0,
    dilation: Given = 1,
    groups: int = 1,
) -> Tensor:
    """As `conv1d_input`, with three spatial axes."""
    return _cotangent(
        lambda x: conv3d(x, weight, None, stride, padding, dilation, groups),
        weight,
        input_size,
        grad_output,
    )


def conv3d_weight(
    input: Any,
    weight_size: Sequence[int],
    grad_output: Any,
    stride: Given = 1,
    padding: Given = 0,
    dilation: Given = 1,
    groups: int = 1,
) -> Tensor:
    """As `conv1d_weight`, with three spatial axes."""
    return _cotangent(
        lambda w: conv3d(input, w, None, stride, padding, dilation, groups),
        input,
        weight_size,
        grad_output,
    )


__all__ = [
    "conv1d_input",
    "conv1d_weight",
    "conv2d_input",
    "conv2d_weight",
    "conv3d_input",
    "conv3d_weight",
]
