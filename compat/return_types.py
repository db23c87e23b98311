"""`torch.return_types`: the classes of results with names, as that of ``torch.max(x, dim=0)``.

>>> import compat as torch
>>> isinstance(torch.max(torch.eye(2), dim=0), torch.return_types.max)
True
"""

from __future__ import annotations

from .ops.return_types import *
