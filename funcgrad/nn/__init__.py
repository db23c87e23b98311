"""Layers of networks as pure functions of arrays: the functional twin of ``torch.nn.functional``.

An input is ``(*batch, channels, *spatial)`` or, for pooling, any array whose last axes are pooled.
Nothing here keeps state; weights are arguments, and every function is differentiable, to any order.

>>> import numpy as np, funcgrad
>>> from funcgrad.nn import conv, max_pool
>>> x, w = np.arange(16.0).reshape(1, 1, 4, 4), np.ones((1, 1, 3, 3))
>>> max_pool(conv(x, w, padding=1), (2, 2)).tolist()
[[[[45.0, 54.0], [81.0, 90.0]]]]
>>> funcgrad.grad(lambda w: conv(x, w).sum())(w)[0, 0].tolist()
[[10.0, 14.0, 18.0], [26.0, 30.0, 34.0], [42.0, 46.0, 50.0]]
"""

from .attention import multi_head_attention, scaled_dot_product_attention
from .conv import conv, conv_transpose
from .fractional import fractional_max_pool
from .grid import affine_grid, grid_sample
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

__all__ = [
    "adaptive_avg_pool",
    "adaptive_max_pool",
    "affine_grid",
    "avg_pool",
    "conv",
    "conv_transpose",
    "fold",
    "fractional_max_pool",
    "grid_sample",
    "gru_cell",
    "gru_layer",
    "lp_pool",
    "lstm_cell",
    "lstm_layer",
    "max_pool",
    "max_pool_with_indices",
    "multi_head_attention",
    "resample",
    "rnn_cell",
    "rnn_layer",
    "scaled_dot_product_attention",
    "unfold",
]
