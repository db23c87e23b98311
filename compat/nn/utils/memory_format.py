"""How the weights of convolutions lie in memory: there is one way here, which is kept."""

from __future__ import annotations

from typing import Any


def convert_conv2d_weight_memory_format(module: Any, memory_format: Any) -> Any:
    """`module` as it is: a `memory_format` changes no number, and here nothing else.

    >>> import compat as torch
    >>> layer = torch.nn.Conv2d(2, 3, 2)
    >>> convert_conv2d_weight_memory_format(layer, torch.channels_last) is layer
    True
    """
    return module


def convert_conv3d_weight_memory_format(module: Any, memory_format: Any) -> Any:
    """`module` as it is, see `convert_conv2d_weight_memory_format`."""
    return module


__all__ = ["convert_conv2d_weight_memory_format", "convert_conv3d_weight_memory_format"]
