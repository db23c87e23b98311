"""`torch.cuda.amp`: `compat.amp` for the GPU, under its old names."""

from __future__ import annotations

from typing import Any

from .. import amp
from ..amp import custom_bwd, custom_fwd
from ..dtypes import float16


class autocast(amp.autocast):
    """``torch.amp.autocast("cuda", …)``."""

    def __init__(
        self, enabled: bool = True, dtype: Any = float16, cache_enabled: bool = True
    ) -> None:
        super().__init__("cuda", dtype, enabled, cache_enabled)


class GradScaler(amp.GradScaler):
    """``torch.amp.GradScaler("cuda", …)``."""

    def __init__(
        self,
        init_scale: float = 2.0**16,
        growth_factor: float = 2.0,
        backoff_factor: float = 0.5,
        growth_interval: int = 2000,
        enabled: bool = True,
    ) -> None:
        super().__init__(
            "cuda", init_scale, growth_factor, backoff_factor, growth_interval, enabled
        )


__all__ = ["GradScaler", "autocast", "custom_bwd", "custom_fwd"]
