"""The functions behind the modules: `torch.nn.functional`. Losses are in `loss_functions.py`."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from funcgrad import numpy as fnp
from funcgrad.core import Tracer
from funcgrad.nn import norms
from funcgrad.ops.linalg import p_norm
from funcgrad.ops.select import stop_gradient

from .. import dtypes
from .._missing import explain as _explain_missing
from ..autograd import base, no_grad, views
from ..autograd.remembered import remembered as _remembered
from ..ops._apply import _type_word, finish
from ..ops._axes import axes_of
from ..ops._compose import require_real_floats
from ..ops._fused import fused
from ..ops._layout import in_order
from ..ops._operands import dtype_of, operand, plain_number
from ..ops.activation import (
    celu,
    celu_,
    elu,
    elu_,
    gelu,
    glu,
    hardshrink,
    hardsigmoid,
    hardswish,
    hardtanh,
    hardtanh_,
    leaky_relu,
    leaky_relu_,
    logsigmoid,
    mish,
    prelu,
    relu6,
    rrelu,
    rrelu_,
    selu,
    selu_,
    silu,
    softplus,
    softshrink,
    softsign,
    tanhshrink,
    threshold,
    threshold_,
)
from ..ops.distance import pdist
from ..ops.embedding import functional_embedding as embedding
from ..ops.exponential import relu as _relu
from ..ops.exponential import relu_, sigmoid
from ..ops.matrix import linear
from ..ops.norm import cosine_similarity, pairwise_distance
from ..ops.padding import (
    channel_shuffle,
    native_channel_shuffle,
    pad,
    pixel_shuffle,
    pixel_unshuffle,
)
from ..ops.softmax import functional_log_softmax as log_softmax
from ..ops.softmax import functional_softmax as softmax
from ..ops.softmax import softmin
from ..ops.trigonometric import tanh
from .attention_functions import multi_head_attention_forward, scaled_dot_product_attention
from .conv_functions import (
    conv1d,
    conv2d,
    conv3d,
    conv_tbc,
    conv_transpose1d,
    conv_transpose2d,
    conv_transpose3d,
)
from .ctc import ctc_loss
from .dropout_functions import (
    alpha_dropout,
    dropout,
    dropout1d,
    dropout2d,
    dropout3d,
    feature_alpha_dropout,
)
from .embedding_functions import embedding_bag
from .fractional import (
    fractional_max_pool2d,
    fractional_max_pool2d_with_indices,
    fractional_max_pool3d,
    fractional_max_pool3d_with_indices,
)
from .gumbel import (
    gumbel_softmax,
)
from .likelihoods import gaussian_nll_loss, huber_loss, kl_div, poisson_nll_loss, smooth_l1_loss
from .linear_cross_entropy_functions import (
    linear_cross_entropy,
)
from .linear_functions import bilinear
from .loss_functions import (
    binary_cross_entropy,
    binary_cross_entropy_with_logits,
    cross_entropy,
    l1_loss,
    mse_loss,
    nll_loss,
)
from .margins import (
    cosine_embedding_loss,
    hinge_embedding_loss,
    margin_ranking_loss,
    multi_margin_loss,
    multilabel_margin_loss,
    multilabel_soft_margin_loss,
    soft_margin_loss,
    triplet_margin_loss,
    triplet_margin_with_distance_loss,
)
from .norm_functions import (
    group_norm,
    instance_norm,
    layer_norm,
    local_response_norm,
    narrowed,
    rms_norm,
    wide,
)
from .pooling_functions import (
    adaptive_avg_pool1d,
    adaptive_avg_pool2d,
    adaptive_avg_pool3d,
    adaptive_max_pool1d,
    adaptive_max_pool1d_with_indices,
    adaptive_max_pool2d,
    adaptive_max_pool2d_with_indices,
    adaptive_max_pool3d,
    adaptive_max_pool3d_with_indices,
    avg_pool1d,
    avg_pool2d,
    avg_pool3d,
    lp_pool1d,
    lp_pool2d,
    lp_pool3d,
    max_pool1d,
    max_pool1d_with_indices,
    max_pool2d,
    max_pool2d_with_indices,
    max_pool3d,
    max_pool3d_with_indices,
)
from .resample_functions import (
    affine_grid,
    fold,
    grid_sample,
    interpolate,
    unfold,
    upsample,
    upsample_bilinear,
    upsample_nearest,
)
from .unpooling_functions import max_unpool1d, max_unpool2d, max_unpool3d

if TYPE_CHECKING:
    from .._tensor import Tensor


def relu(input: Any, inplace: bool = False) -> Tensor:
    """``max(x, 0)``, whose derivative at 0 is 0.

    >>> import compat as torch
    >>> relu(torch.tensor([-1.0, 2.0]))
    tensor([0., 2.])
    """
    return relu_(input) if inplace else _relu(input)


# ---------------------------------------------------------------- normalisation


def batch_norm(
    input: Any,
    running_mean: Any,
    running_var: Any,
    weight: Any = None,
    bias: Any = None,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Tensor:
    """``(x - mean) / sqrt(var + eps) * weight + bias``, of each channel, which axis 1 counts.

    In `training`, mean and variance are those of the batch, and the running ones become
    ``(1 - momentum) * old + momentum * new``, with the unbiased variance; otherwise they are used.

    Raises: ValueError: there is only one value for each channel, or `eps` is not positive (0 may be
    used with given statistics). RuntimeError: sizes or dtypes do
    not fit, or there are no running statistics to use.

    >>> import compat as torch
    >>> batch_norm(torch.tensor([[0.0], [2.0]]), None, None, training=True)
    tensor([[-1.0000],
            [ 1.0000]])
    """
    input = operand("batch_norm", 1, "input", input)
    if training and eps <= 0.0:
        raise ValueError(f"batch_norm eps must be positive during training, but got {eps}")
    if eps < 0.0:
        raise ValueError(f"batch_norm eps must be non-negative, but got {eps}")
    require_real_floats("batch_norm", input)
    shape = tuple(input._array.shape)
    _check_channels(input, running_mean, running_var, weight, bias)
    axes = tuple(i for i in range(len(shape)) if i != 1)
    count = math.prod(shape[i] for i in axes)
    node = "NativeBatchNormBackward0"
    if not training:
        if running_mean is None or running_var is None:
            missing = "running_mean" if running_mean is None else "running_var"
            raise RuntimeError(f"{missing} must be defined in evaluation mode")
        given = wide(input), running_mean, running_var, weight, bias
        y = in_order(fused(node, norms.with_statistics, *given, eps=eps), channels=True)
        return narrowed(y, input, node)
    if count == 1:
        raise ValueError(
            f"Expected more than 1 value per channel when training, got input size {input.shape}"
        )
    options = {"axes": axes, "count": max(count, 1), "eps": eps}
    x = wide(input)
    y, mean, variance = fused(node, norms.with_own_statistics, x, weight, bias, **options)
    if count:
        _update(running_mean, mean, momentum)
        _update(running_var, variance, momentum, count / (count - 1))
    return narrowed(in_order(y, channels=True), input, node)


def _update(running: Any, new: Any, momentum: float, factor: float = 1.0) -> None:
    """Move a running statistic towards a new one; nothing of it is recorded."""
    if running is not None:
        with no_grad():
            found = stop_gradient(new._array)
            value = running._array * (1 - momentum) + found * (momentum * factor)
            views.assign(running, value.astype(running._array.dtype), "batch_norm")


def _check_channels(input: Any, *per_channel: Any) -> None:
    """Raises: RuntimeError: something has not one number of the right dtype for each channel."""
    shape = input._array.shape
    channels = shape[1] if len(shape) > 1 else 0
    for name, x in zip(("running_mean", "running_var", "weight", "bias"), per_channel, strict=True):
        if x is None:
            continue
        if x._array.size != channels:
            raise RuntimeError(f"{name} should contain {channels} elements not {x._array.size}")
        if dtype_of(x) is not dtype_of(input) and input._array.dtype.itemsize > 2:
            raise RuntimeError(
                f"mixed dtype (CPU): all inputs must share same datatype. {name} is "
                f"{dtype_of(x)}, the input {dtype_of(input)}."
            )


@_remembered
def normalize(
    input: Any, p: float = 2.0, dim: int = 1, eps: float = 1e-12, out: Any = None
) -> Tensor:
    """``x / max(norm_p(x), eps)``, with the norm along `dim`.

    Raises: RuntimeError: the dtype is not floating. IndexError: there is no such axis.

    >>> import compat as torch
    >>> normalize(torch.tensor([[3.0, 4.0]]))
    tensor([[0.6000, 0.8000]])
    """
    input = operand("normalize", 1, "input", input)
    if dtype_of(input).category < 2:
        raise RuntimeError(
            "linalg.vector_norm: Expected a floating point or complex tensor as input. Got "
            f"{_type_word(dtype_of(input))}"
        )
    p = float(plain_number("normalize", "p", p))
    axes = axes_of("normalize", len(input._array.shape), dim)
    y = fused("DivBackward0", _unit, input, p=p, axis=axes, eps=eps)
    return finish("normalize", y, out, (input,))


def _unit(x: Any, *, p: float, axis: tuple[int, ...], eps: float) -> Any:
    return x / fnp.maximum(fnp.expand_dims(p_norm(x, p=p, axis=axis), axis), eps)


# ---------------------------------------------------------------- classes


def one_hot(tensor: Any, num_classes: int = -1) -> Tensor:
    """Rows of `num_classes` zeros with a 1 at the class; by default as many as the classes need.

    Shapes: ``(*a) -> (*a, num_classes)``.
    Raises: RuntimeError: the dtype is not int64, or a class is negative or too large.

    >>> import compat as torch
    >>> one_hot(torch.tensor([0, 2]))
    tensor([[1, 0, 0],
            [0, 0, 1]])
    """
    x = operand("one_hot", 1, "tensor", tensor)
    if dtype_of(x) is not dtypes.int64:
        raise RuntimeError(
            "one_hot is only applicable to index tensor of type LongTensor. Convert it with "
            "x.long()."
        )
    classes = x._array
    num_classes = plain_number("one_hot", "num_classes", num_classes)
    if not isinstance(num_classes, int | np.integer):
        raise TypeError(
            f"one_hot(): argument 'num_classes' (position 2) must be int, not "
            f"{type(num_classes).__name__}"
        )
    if num_classes == -1:
        if not classes.size:
            raise RuntimeError("Can not infer total number of classes from empty tensor.")
        num_classes = int(classes.max()) + 1
    if not isinstance(classes, Tracer) and classes.size:
        if classes.min() < 0:
            raise RuntimeError("Class values must be non-negative.")
        if classes.max() >= num_classes:
            raise RuntimeError("Class values must be smaller than num_classes.")
    hits = fnp.equal(fnp.expand_dims(classes, -1), np.arange(num_classes))
    return in_order(base.tensor(hits.astype(np.int64)))


_explain_missing("torch.nn.functional", globals())

__all__ = [
    "adaptive_avg_pool1d",
    "adaptive_avg_pool2d",
    "adaptive_avg_pool3d",
    "adaptive_max_pool1d",
    "adaptive_max_pool1d_with_indices",
    "adaptive_max_pool2d",
    "adaptive_max_pool2d_with_indices",
    "adaptive_max_pool3d",
    "adaptive_max_pool3d_with_indices",
    "affine_grid",
    "alpha_dropout",
    "avg_pool1d",
    "avg_pool2d",
    "avg_pool3d",
    "batch_norm",
    "bilinear",
    "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
    "celu",
    "celu_",
    "channel_shuffle",
    "conv1d",
    "conv2d",
    "conv3d",
    "conv_tbc",
    "conv_transpose1d",
    "conv_transpose2d",
    "conv_transpose3d",
    "cosine_embedding_loss",
    "cosine_similarity",
    "cross_entropy",
    "ctc_loss",
    "dropout",
    "dropout1d",
    "dropout2d",
    "dropout3d",
    "elu",
    "elu_",
    "embedding",
    "embedding_bag",
    "feature_alpha_dropout",
    "fold",
    "fractional_max_pool2d",
    "fractional_max_pool2d_with_indices",
    "fractional_max_pool3d",
    "fractional_max_pool3d_with_indices",
    "gaussian_nll_loss",
    "gelu",
    "glu",
    "grid_sample",
    "group_norm",
    "gumbel_softmax",
    "hardshrink",
    "hardsigmoid",
    "hardswish",
    "hardtanh",
    "hardtanh_",
    "hinge_embedding_loss",
    "huber_loss",
    "instance_norm",
    "interpolate",
    "kl_div",
    "l1_loss",
    "layer_norm",
    "leaky_relu",
    "leaky_relu_",
    "linear",
    "linear_cross_entropy",
    "local_response_norm",
    "log_softmax",
    "logsigmoid",
    "lp_pool1d",
    "lp_pool2d",
    "lp_pool3d",
    "margin_ranking_loss",
    "max_pool1d",
    "max_pool1d_with_indices",
    "max_pool2d",
    "max_pool2d_with_indices",
    "max_pool3d",
    "max_pool3d_with_indices",
    "max_unpool1d",
    "max_unpool2d",
    "max_unpool3d",
    "mish",
    "mse_loss",
    "multi_head_attention_forward",
    "multi_margin_loss",
    "multilabel_margin_loss",
    "multilabel_soft_margin_loss",
    "native_channel_shuffle",
    "nll_loss",
    "normalize",
    "one_hot",
    "pad",
    "pairwise_distance",
    "pdist",
    "pixel_shuffle",
    "pixel_unshuffle",
    "poisson_nll_loss",
    "prelu",
    "relu",
    "relu6",
    "relu_",
    "rms_norm",
    "rrelu",
    "rrelu_",
    "scaled_dot_product_attention",
    "selu",
    "selu_",
    "sigmoid",
    "silu",
    "smooth_l1_loss",
    "soft_margin_loss",
    "softmax",
    "softmin",
    "softplus",
    "softshrink",
    "softsign",
    "tanh",
    "tanhshrink",
    "threshold",
    "threshold_",
    "triplet_margin_loss",
    "triplet_margin_with_distance_loss",
    "unfold",
    "upsample",
    "upsample_bilinear",
    "upsample_nearest",
]
