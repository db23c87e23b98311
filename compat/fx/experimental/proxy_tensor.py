"""`torch.fx.experimental.proxy_tensor`: whether PyTorch is recording a graph."""

from __future__ import annotations


def get_proxy_mode() -> None:
    """None: no graph of modules is being recorded."""
