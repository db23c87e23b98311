"""`torch.nn.parameter`: where PyTorch's code has `Parameter`."""

from __future__ import annotations

from .._missing import explain as _explain_missing
from ..parameter import Parameter
from .uninitialized import (
    Buffer,
    UninitializedBuffer,
    UninitializedParameter,
    UninitializedTensorMixin,
    is_lazy,
)

_explain_missing("torch.nn.parameter", globals())

__all__ = [
    "Buffer",
    "Parameter",
    "UninitializedBuffer",
    "UninitializedParameter",
    "UninitializedTensorMixin",
    "is_lazy",
]
