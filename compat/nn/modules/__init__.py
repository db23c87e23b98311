"""`torch.nn.modules`: the layers under the names of the files that PyTorch has them in.

>>> import compat as torch
>>> from compat.nn.modules.batchnorm import BatchNorm2d
>>> BatchNorm2d is torch.nn.BatchNorm2d
True
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING

from ... import nn
from ..._files import file_of
from .. import (
    activation,
    container,
    conv,
    dropout,
    global_hooks,
    lazy,
    linear,
    loss,
    module,
    normalization,
    pooling,
    recurrent,
    recurrent_cells,
    resample,
    state,
    transformer,
)
from . import utils as _utils

if TYPE_CHECKING:
    from .. import *

# PyTorch's files whose names are elsewhere here, or among others: file -> (where, names).
_FILES: dict[str, list[tuple[ModuleType, str]]] = {
    "activation": [(activation, " ".join(activation.__all__)), (nn, "MultiheadAttention")],
    "adaptive": [(nn, "AdaptiveLogSoftmaxWithLoss")],
    "batchnorm": [
        (normalization, "_BatchNorm BatchNorm1d BatchNorm2d BatchNorm3d SyncBatchNorm"),
        (nn, "LazyBatchNorm1d LazyBatchNorm2d LazyBatchNorm3d"),
    ],
    "channelshuffle": [(resample, "ChannelShuffle")],
    "distance": [(nn, "CosineSimilarity PairwiseDistance")],
    "flatten": [(nn, "Flatten Unflatten")],
    "fold": [(resample, "Fold Unfold")],
    "instancenorm": [
        (normalization, "_InstanceNorm InstanceNorm1d InstanceNorm2d InstanceNorm3d"),
        (nn, "LazyInstanceNorm1d LazyInstanceNorm2d LazyInstanceNorm3d"),
    ],
    "padding": [
        (
            nn,
            "ConstantPad1d ConstantPad2d ConstantPad3d ReflectionPad1d ReflectionPad2d "
            "ReflectionPad3d ReplicationPad1d ReplicationPad2d ReplicationPad3d "
            "ZeroPad1d ZeroPad2d ZeroPad3d CircularPad1d CircularPad2d CircularPad3d",
        )
    ],
    "module": [
        (module, "Module"),
        (state, "_IncompatibleKeys"),
        (global_hooks, " ".join(global_hooks.__all__)),
    ],
    "pixelshuffle": [(resample, "PixelShuffle PixelUnshuffle")],
    "rnn": [
        (recurrent, "RNNBase RNN LSTM GRU"),
        (recurrent_cells, "RNNCellBase RNNCell LSTMCell GRUCell"),
    ],
    "sparse": [(nn, "Embedding EmbeddingBag")],
    "upsampling": [(resample, "Upsample UpsamplingNearest2d UpsamplingBilinear2d")],
}
# Those that are here as well.
_SAME = (container, conv, dropout, lazy, linear, loss, normalization, pooling, transformer)


globals().update({name: file_of(__name__, name, entries) for name, entries in _FILES.items()})
for _module in _SAME:
    sys.modules[f"{__name__}.{_module.__name__.rpartition('.')[2]}"] = _module
    globals()[_module.__name__.rpartition(".")[2]] = _module
_offered = {name: getattr(nn, name) for name in nn.__all__}
globals().update(_offered)
__all__ = [n for n, x in _offered.items() if isinstance(x, type) and issubclass(x, module.Module)]
utils = _utils  # type: ignore[misc]  # not those of `nn`
