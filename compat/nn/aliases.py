"""Functions of `nn.functional` that PyTorch also has at its top, with arguments in another order.

`reduction` is a number here: 0 for "none", which PyTorch has as the default, 1 for "mean", 2 for
"sum".
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..autograd import base
from ..ops._operands import operand
from . import functional
from .conv_functions import (
    conv1d,
    conv2d,
    conv3d,
    conv_transpose1d,
    conv_transpose2d,
    conv_transpose3d,
)
from .ctc import ctc_loss
from .dropout_functions import alpha_dropout, feature_alpha_dropout
from .embedding_functions import embedding_bag
from .pooling_functions import (
    adaptive_avg_pool1d,
    avg_pool1d,
    max_pool1d,
    max_pool1d_with_indices,
    max_pool2d,
    max_pool3d,
)
from .pooling_functions import (
    adaptive_max_pool1d_with_indices as adaptive_max_pool1d,
)
from .resample_functions import affine_grid_generator

if TYPE_CHECKING:
    from .._tensor import Tensor

# ---------------------------------------------------------------- dropout


def dropout(input: Any, p: float, train: bool) -> Tensor:
    """`nn.functional.dropout`.

    >>> import compat as torch
    >>> torch.dropout(torch.ones(2), 1.0, True)
    tensor([0., 0.])
    """
    return functional.dropout(input, _probability(p), train)


def dropout_(input: Any, p: float, train: bool) -> Tensor:
    """`dropout` in place."""
    return functional.dropout(input, _probability(p), train, inplace=True)


def feature_dropout(input: Any, p: float, train: bool) -> Tensor:
    """In training, each channel is 0 with probability `p`, else divided by ``1 - p``.

    Raises: RuntimeError: `p` is no probability, or there are fewer than two axes.

    >>> import compat as torch
    >>> torch.feature_dropout(torch.ones(1, 2), 1.0, True)
    tensor([[0., 0.]])
    """
    mask = _channel_mask(input, p, train)
    return input if mask is None else input * mask


def feature_dropout_(input: Any, p: float, train: bool) -> Tensor:
    """`feature_dropout` in place."""
    mask = _channel_mask(input, p, train)
    return input if mask is None else input.mul_(mask)


def _channel_mask(input: Any, p: float, train: bool) -> Any:
    """What to multiply channels with; None if nothing changes."""
    x = operand("feature_dropout", 1, "input", input)
    if not train or _probability(p) == 0 or 0 in x._array.shape:
        return None
    shape = x._array.shape
    if len(shape) < 2:
        raise RuntimeError("Feature dropout requires at least 2 dimensions in the input")
    channels = base.tensor(np.ones(shape[:2] + (1,) * (len(shape) - 2), x._array.dtype))
    return functional.dropout(channels, p)


def _probability(p: float) -> float:
    """Raises: RuntimeError: `p` is no probability."""
    if not 0.0 <= p <= 1.0:
        raise RuntimeError(f"dropout probability has to be between 0 and 1, but got {p}")
    return p


# ---------------------------------------------------------------- normalisation


def batch_norm(
    input: Any,
    weight: Any,
    bias: Any,
    running_mean: Any,
    running_var: Any,
    training: bool,
    momentum: float,
    eps: float,
    cudnn_enabled: bool,
) -> Tensor:
    """`nn.functional.batch_norm`."""
    return functional.batch_norm(
        input, running_mean, running_var, weight, bias, training, momentum, eps
    )


def group_norm(
    input: Any,
    num_groups: int,
    weight: Any = None,
    bias: Any = None,
    eps: float = 1e-5,
    cudnn_enabled: bool = True,
) -> Tensor:
    """`nn.functional.group_norm`."""
    return functional.group_norm(input, num_groups, weight, bias, eps)


def instance_norm(
    input: Any,
    weight: Any,
    bias: Any,
    running_mean: Any,
    running_var: Any,
    use_input_stats: bool,
    momentum: float,
    eps: float,
    cudnn_enabled: bool,
) -> Tensor:
    """`nn.functional.instance_norm`."""
    return functional.instance_norm(
        input, running_mean, running_var, weight, bias, use_input_stats, momentum, eps
    )


def layer_norm(
    input: Any,
    normalized_shape: Sequence[int],
    weight: Any = None,
    bias: Any = None,
    eps: float = 1e-5,
    cudnn_enable: bool = True,
) -> Tensor:
    """`nn.functional.layer_norm`."""
    return functional.layer_norm(input, normalized_shape, weight, bias, eps)


rms_norm = functional.rms_norm

# ---------------------------------------------------------------- losses

_REDUCTIONS = ("none", "mean", "sum")


def _word(reduction: int) -> str:
    """Raises: ValueError: there is no such reduction."""
    if reduction not in (0, 1, 2):
        raise ValueError(
            f"{reduction} is not a valid value for reduction: use 0 (none), 1 (mean) or 2 (sum)"
        )
    return _REDUCTIONS[reduction]


def binary_cross_entropy_with_logits(
    input: Any, target: Any, weight: Any = None, pos_weight: Any = None, reduction: int = 0
) -> Tensor:
    """`nn.functional.binary_cross_entropy_with_logits`."""
    return functional.binary_cross_entropy_with_logits(
        input, target, weight, reduction=_word(reduction), pos_weight=pos_weight
    )


def cosine_embedding_loss(
    input1: Any, input2: Any, target: Any, margin: float = 0.0, reduction: int = 0
) -> Tensor:
    """`nn.functional.cosine_embedding_loss`."""
    return functional.cosine_embedding_loss(
        input1, input2, target, margin, reduction=_word(reduction)
    )


def hinge_embedding_loss(
    input: Any, target: Any, margin: float = 1.0, reduction: int = 0
) -> Tensor:
    """`nn.functional.hinge_embedding_loss`."""
    return functional.hinge_embedding_loss(input, target, margin, reduction=_word(reduction))


def kl_div(input: Any, target: Any, reduction: int = 0, *, log_target: bool = False) -> Tensor:
    """`nn.functional.kl_div`.

    >>> import compat as torch
    >>> torch.kl_div(torch.zeros(2), torch.ones(2), reduction=2)
    tensor(0.)
    """
    losses = functional.kl_div(input, target, reduction="none", log_target=log_target)
    word = _word(reduction)
    return losses if word == "none" else losses.mean() if word == "mean" else losses.sum()


def margin_ranking_loss(
    input1: Any, input2: Any, target: Any, margin: float = 0.0, reduction: int = 0
) -> Tensor:
    """`nn.functional.margin_ranking_loss`."""
    return functional.margin_ranking_loss(
        input1, input2, target, margin, reduction=_word(reduction)
    )


def poisson_nll_loss(
    input: Any, target: Any, log_input: bool, full: bool, eps: float, reduction: int
) -> Tensor:
    """`nn.functional.poisson_nll_loss`."""
    return functional.poisson_nll_loss(
        input, target, log_input, full, eps=eps, reduction=_word(reduction)
    )


def triplet_margin_loss(
    anchor: Any,
    positive: Any,
    negative: Any,
    margin: float = 1.0,
    p: float = 2.0,
    eps: float = 1e-6,
    swap: bool = False,
    reduction: int = 0,
) -> Tensor:
    """`nn.functional.triplet_margin_loss`."""
    return functional.triplet_margin_loss(
        anchor, positive, negative, margin, p, eps, swap, reduction=_word(reduction)
    )


__all__ = [
    "adaptive_avg_pool1d",
    "adaptive_max_pool1d",
    "affine_grid_generator",
    "alpha_dropout",
    "avg_pool1d",
    "batch_norm",
    "binary_cross_entropy_with_logits",
    "conv1d",
    "conv2d",
    "conv3d",
    "conv_transpose1d",
    "conv_transpose2d",
    "conv_transpose3d",
    "cosine_embedding_loss",
    "ctc_loss",
    "dropout",
    "dropout_",
    "embedding_bag",
    "feature_alpha_dropout",
    "feature_dropout",
    "feature_dropout_",
    "group_norm",
    "hinge_embedding_loss",
    "instance_norm",
    "kl_div",
    "layer_norm",
    "margin_ranking_loss",
    "max_pool1d",
    "max_pool1d_with_indices",
    "max_pool2d",
    "max_pool3d",
    "poisson_nll_loss",
    "rms_norm",
    "triplet_margin_loss",
]
