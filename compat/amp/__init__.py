"""Mixed precision: `autocast`, which is offered only where it changes nothing, and `GradScaler`.

>>> import compat as torch
>>> with torch.autocast("cpu", enabled=False):
...     print(torch.ones(2).dtype)
torch.float32
"""

from .autocast_mode import autocast, custom_bwd, custom_fwd, is_autocast_available
from .grad_scaler import GradScaler

__all__ = ["GradScaler", "autocast", "custom_bwd", "custom_fwd", "is_autocast_available"]
