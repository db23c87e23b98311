"""`torch.distributed.nn`: collectives that gradients go through. They need a process group."""

from __future__ import annotations

from . import all_gather, all_reduce, broadcast, reduce

__all__ = ["all_gather", "all_reduce", "broadcast", "reduce"]
