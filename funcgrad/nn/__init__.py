"""Layers of networks as pure functions of arrays: the functional twin of ``torch.nn.functional``.

An input of a convolution is ``(*batch, channels, *spatial)``, of a pool any array whose last axes are
pooled. Nothing here keeps state; weights are arguments, and every function is differentiable, to any
order. Activations, softmaxes and `initializers` have the names and arguments of ``jax.nn``.

>>> import numpy as np, funcgrad
>>> from funcgrad.nn import conv, max_pool
>>> x, w = np.arange(16.0).reshape(1, 1, 4, 4), np.ones((1, 1, 3, 3))
>>> max_pool(conv(x, w, padding=1), (2, 2)).tolist()
[[[[45.0, 54.0], [81.0, 90.0]]]]
>>> funcgrad.grad(lambda w: conv(x, w).sum())(w)[0, 0].tolist()
[[10.0, 14.0, 18.0], [26.0, 30.0, 34.0], [42.0, 46.0, 50.0]]

A small network, trained to tell in which quadrants a point lies:

>>> from funcgrad import nn, optim, random
>>> keys = random.split(random.PRNGKey(0), 3)
>>> x = random.normal(keys[0], (64, 2))
>>> labels = (x[:, 0] * x[:, 1] > 0).astype(int)
>>> init = nn.initializers.he_normal()
>>> params = {"w1": init(keys[1], (2, 16)), "b1": np.zeros(16), "w2": init(keys[2], (16, 2))}
>>> def logits(p):
...     return nn.relu(x @ p["w1"] + p["b1"]) @ p["w2"]
>>> optimizer = optim.adam(lr=0.03)
>>> @funcgrad.jit
... def step(params, state):
...     loss, grads = funcgrad.value_and_grad(lambda p: nn.cross_entropy(logits(p), labels))(params)
...     return loss, *optimizer.update(grads, state, params)
>>> state = optimizer.init(params)
>>> for _ in range(200):
...     loss, params, state = step(params, state)
>>> bool(loss < 0.1), bool(np.all(logits(params).argmax(1) == labels))
(True, True)
"""

import typing as _typing
from importlib import import_module as _import_module

from .activations import (
    celu,
    elu,
    gelu,
    glu,
    hard_sigmoid,
    hard_silu,
    hard_swish,
    hard_tanh,
    identity,
    leaky_relu,
    log1mexp,
    log_sigmoid,
    mish,
    relu,
    relu6,
    selu,
    sigmoid,
    silu,
    soft_sign,
    softplus,
    sparse_plus,
    sparse_sigmoid,
    squareplus,
    swish,
    tanh,
)
from .attention import multi_head_attention, scaled_dot_product_attention
from .conv import conv, conv_transpose
from .ctc import ctc_loss
from .dot_product import dot_product_attention
from .dropout import dropout
from .embedding import embedding, one_hot
from .fractional import fractional_max_pool
from .grid import affine_grid, grid_sample
from .losses import (
    binary_cross_entropy,
    binary_cross_entropy_with_logits,
    cross_entropy,
    gaussian_nll_loss,
    huber_loss,
    kl_divergence,
    mean_absolute_error,
    mean_squared_error,
    nll_loss,
    poisson_nll_loss,
    smooth_l1_loss,
)
from .margin_losses import (
    cosine_embedding_loss,
    cosine_similarity,
    hinge_embedding_loss,
    hinge_loss,
    margin_ranking_loss,
    multi_margin_loss,
    multilabel_margin_loss,
    multilabel_soft_margin_loss,
    soft_margin_loss,
    triplet_margin_loss,
)
from .norms import (
    batch_norm,
    group_norm,
    instance_norm,
    layer_norm,
    local_response_norm,
    rms_norm,
    standardize,
)
from .pooling import (
    adaptive_avg_pool,
    adaptive_max_pool,
    avg_pool,
    lp_pool,
    max_pool,
    max_pool_with_indices,
)
from .recurrent import gru_cell, gru_layer, lstm_cell, lstm_layer, rnn_cell, rnn_layer
from .resample import fold, resample, unfold
from .softmax import log_softmax, logmeanexp, logsumexp, softmax

if _typing.TYPE_CHECKING:
    from . import initializers as initializers
else:

    def __getattr__(name):
        if name == "initializers":  # needs `funcgrad.random`, which an import does not wait for
            return _import_module(f"{__name__}.{name}")
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ = [
    "adaptive_avg_pool",
    "adaptive_max_pool",
    "affine_grid",
    "avg_pool",
    "batch_norm",
    "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
    "celu",
    "conv",
    "conv_transpose",
    "cosine_embedding_loss",
    "cosine_similarity",
    "cross_entropy",
    "ctc_loss",
    "dot_product_attention",
    "dropout",
    "elu",
    "embedding",
    "fold",
    "fractional_max_pool",
    "gaussian_nll_loss",
    "gelu",
    "glu",
    "grid_sample",
    "group_norm",
    "gru_cell",
    "gru_layer",
    "hard_sigmoid",
    "hard_silu",
    "hard_swish",
    "hard_tanh",
    "hinge_embedding_loss",
    "hinge_loss",
    "huber_loss",
    "identity",
    "initializers",
    "instance_norm",
    "kl_divergence",
    "layer_norm",
    "leaky_relu",
    "local_response_norm",
    "log1mexp",
    "log_sigmoid",
    "log_softmax",
    "logmeanexp",
    "logsumexp",
    "lp_pool",
    "lstm_cell",
    "lstm_layer",
    "margin_ranking_loss",
    "max_pool",
    "max_pool_with_indices",
    "mean_absolute_error",
    "mean_squared_error",
    "mish",
    "multi_head_attention",
    "multi_margin_loss",
    "multilabel_margin_loss",
    "multilabel_soft_margin_loss",
    "nll_loss",
    "one_hot",
    "poisson_nll_loss",
    "relu",
    "relu6",
    "resample",
    "rms_norm",
    "rnn_cell",
    "rnn_layer",
    "scaled_dot_product_attention",
    "selu",
    "sigmoid",
    "silu",
    "smooth_l1_loss",
    "soft_margin_loss",
    "soft_sign",
    "softmax",
    "softplus",
    "sparse_plus",
    "sparse_sigmoid",
    "squareplus",
    "standardize",
    "swish",
    "tanh",
    "triplet_margin_loss",
    "unfold",
]


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
