"""`torch.utils.model_zoo`: `torch.hub`'s downloads under their old name."""

from __future__ import annotations

from ..hub import load_state_dict_from_url as load_url

__all__ = ["load_url"]
