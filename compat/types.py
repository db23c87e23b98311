"""`torch.types`: names for annotations."""

from __future__ import annotations

import builtins
from collections.abc import Sequence

from . import dtypes
from ._tensor import Tensor as Tensor
from .size import Size as Size
from .size import device as _device

Number = builtins.int | builtins.float | builtins.bool
Device = _device | str | builtins.int | None
_dtype = dtypes.dtype
_size = Size | list[builtins.int] | tuple[builtins.int, ...]
_TensorOrTensors = Tensor | Sequence[Tensor]
_bool, _bytes, _complex, _float, _int, _str = bool, bytes, complex, float, int, str
