"""`torch.xpu`: Intel's GPUs, on which no tensors are here; scripts ask whether there are any.

>>> import compat as torch
>>> torch.xpu.is_available()
False
"""

from __future__ import annotations

from ._missing import explain as _explain_missing
from .mps import device_count as device_count
from .mps import is_available as is_available

_explain_missing("torch.xpu", globals())
