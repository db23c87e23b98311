"""The functions of `functional` that leave out at random: single entries, or whole channels."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from ..autograd import base, sites
from ..ops._apply import _type_word
from ..ops._operands import dtype_of, operand, plain_number
from ..ops.pointwise import mul

if TYPE_CHECKING:
    from .._tensor import Tensor


def check_probability(p: float) -> None:
    """Raises: ValueError: it is none. TypeError: it is a tensor that requires grad."""
    if not 0.0 <= plain_number("dropout", "p", p) <= 1.0:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")


def _kept(x: Any, shape: tuple[int, ...], p: float) -> Any:
    """Ones, and zeros with probability `p`, in the dtype of `x`.

    Raises: RuntimeError: integers, which cannot be scaled.
    """
    if dtype_of(x).category < 2:
        raise RuntimeError(
            f"result type Float can't be cast to the desired output type {_type_word(dtype_of(x))}"
        )
    if p == 1:
        return base.tensor(np.zeros(shape, x._array.dtype))
    return base.tensor(np.empty(shape, x._array.dtype)).bernoulli_(1 - p)


def _scaled(x: Any, kept: Any, p: float, inplace: bool) -> Any:
    """`x` where it is kept, divided by ``1 - p``."""
    if p < 1:
        kept.mul_(1 / (1 - p))
    return x.mul_(kept) if inplace else mul(x, kept)


def _unchanged(x: Any, p: float, training: bool) -> bool:
    return not training or p == 0 or 0 in x._array.shape


def dropout(input: Any, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """In training, each entry is 0 with probability `p`, else divided by ``1 - p``.

    Otherwise, or if `p` is 0, the input itself.

    Raises: ValueError: `p` is no probability. RuntimeError: integers.

    >>> import compat as torch
    >>> dropout(torch.tensor([1.0, 2.0]), p=1.0)
    tensor([0., 0.])
    """
    check_probability(p)
    x = operand("dropout", 1, "input", input)
    if _unchanged(x, p, training):
        return x
    return _scaled(x, _kept(x, x._array.shape, p), p, inplace)


# ---------------------------------------------------------------- whole channels


def _channels(x: Any, p: float, axes: int) -> Any:
    """What is kept of the parts that the first `axes` axes count.

    Raises: RuntimeError: there are not so many axes.
    """
    shape = x._array.shape
    if len(shape) < axes:
        raise RuntimeError("Feature dropout requires at least 2 dimensions in the input")
    return _kept(x, shape[:axes] + (1,) * (len(shape) - axes), p)


def _without_channels(
    name: str, input: Any, p: float, training: bool, inplace: bool, spatial: int
) -> Any:
    """Dropout of channels with `spatial` axes; an input with another number of axes is warned of."""
    check_probability(p)
    x = operand(name, 1, "input", input)
    ndim = len(x._array.shape)
    batched = ndim == spatial + 2
    if not batched and ndim != spatial + 1:
        sites.warn(
            f"{name}: Received a {ndim}-D input to {name}, which is deprecated and will be an error "
            f"in PyTorch. It is for inputs of {spatial + 1} or {spatial + 2} axes; use dropout for "
            "others."
        )
    if _unchanged(x, p, training):
        return x
    # Two-dimensional dropout takes the first axis for the batch, whatever the number of axes.
    kept = _channels(x, p, 2 if batched or spatial == 2 else 1)
    return _scaled(x, kept, p, inplace)


def dropout1d(input: Any, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """In training, each channel is 0 with probability `p`, else divided by ``1 - p``.

    Shapes: ``(N, C, L)`` or ``(C, L)``.
    Raises: RuntimeError: another number of axes, or integers. ValueError: `p` is no probability.

    >>> import compat as torch
    >>> dropout1d(torch.ones(2, 3), p=1.0).sum()
    tensor(0.)
    """
    check_probability(p)
    input = operand("dropout1d", 1, "input", input)
    ndim = input.dim()
    if ndim not in (2, 3):
        raise RuntimeError(
            f"dropout1d: Expected 2D or 3D input, but received a {ndim}D input. The axes are a "
            "batch, if there is one, channels, and one axis of space."
        )
    return _without_channels("dropout1d", input, p, training, inplace, 1)


def dropout2d(input: Any, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """In training, each channel is 0 with probability `p`, else divided by ``1 - p``.

    Shapes: ``(N, C, H, W)``; of ``(N, C, L)`` the channels are taken too, with a warning.
    Raises: RuntimeError: fewer than two axes, or integers. ValueError: `p` is no probability.

    >>> import compat as torch
    >>> dropout2d(torch.ones(1, 2, 3, 4), p=1.0).sum()
    tensor(0.)
    """
    input = operand("dropout2d", 1, "input", input)
    if input.dim() == 3:
        sites.warn(
            "dropout2d: Received a 3D input to dropout2d and assuming that channel-wise 1D dropout "
            "behavior is desired: the axes are (N, C, L). Use dropout1d for that."
        )
    return _without_channels("dropout2d", input, p, training, inplace, 2)


def dropout3d(input: Any, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """In training, each channel is 0 with probability `p`, else divided by ``1 - p``.

    Shapes: ``(N, C, D, H, W)`` or ``(C, D, H, W)``.
    Raises: RuntimeError: no axes, or integers. ValueError: `p` is no probability.

    >>> import compat as torch
    >>> dropout3d(torch.ones(1, 2, 3, 4, 5), p=1.0).sum()
    tensor(0.)
    """
    return _without_channels("dropout3d", input, p, training, inplace, 3)


# ---------------------------------------------------------------- for self-normalising networks

_ALPHA = 1.7580993408473766  # minus what `selu` has for minus infinity


def _normalised(x: Any, kept: Any, p: float, inplace: bool) -> Any:
    """What is dropped becomes ``-alpha``; then all is made to keep mean 0 and variance 1."""
    if p == 1:
        return _scaled(x, kept, p, inplace)
    scale = 1 / math.sqrt((_ALPHA**2 * p + 1) * (1 - p))
    shift = (kept - (1 - p)) * (_ALPHA * scale)
    kept.mul_(scale)
    return x.mul_(kept).add_(shift) if inplace else mul(x, kept) + shift


def alpha_dropout(
    input: Any, p: float = 0.5, training: bool = False, inplace: bool = False
) -> Tensor:
    """In training, each entry is that of `selu` at minus infinity with probability `p`.

    All is then scaled and shifted so that mean 0 and variance 1 are kept.

    Raises: ValueError: `p` is no probability. RuntimeError: integers.

    >>> import compat as torch
    >>> alpha_dropout(torch.tensor([1.0, 2.0]), p=1.0, training=True)
    tensor([0., 0.])
    """
    check_probability(p)
    x = operand("alpha_dropout", 1, "input", input)
    if _unchanged(x, p, training):
        return x
    return _normalised(x, _kept(x, x._array.shape, p), p, inplace)


def feature_alpha_dropout(
    input: Any, p: float = 0.5, training: bool = False, inplace: bool = False
) -> Tensor:
    """`alpha_dropout` of whole channels, which the first two axes count.

    Raises: ValueError: `p` is no probability. RuntimeError: integers, or fewer than two axes.

    >>> import compat as torch
    >>> feature_alpha_dropout(torch.ones(1, 2, 3), p=1.0, training=True).sum()
    tensor(0.)
    """
    check_probability(p)
    x = operand("feature_alpha_dropout", 1, "input", input)
    if _unchanged(x, p, training):
        return x
    return _normalised(x, _channels(x, p, 2), p, inplace)


__all__ = [
    "alpha_dropout",
    "dropout",
    "dropout1d",
    "dropout2d",
    "dropout3d",
    "feature_alpha_dropout",
]
