"""`torch.distributed._tensor.experimental`: what only tensors in several processes need."""

from __future__ import annotations

from typing import NoReturn


def implicit_replication() -> NoReturn:
    """Raises: RuntimeError: always, for every tensor is in this process as a whole."""
    raise RuntimeError(
        "implicit_replication needs DTensors, which are not offered: programs run in one process."
    )


__all__ = ["implicit_replication"]
