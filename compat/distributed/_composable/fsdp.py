"""`torch.distributed._composable.fsdp`: an older name of a part of `torch.distributed.fsdp`."""

from ..fsdp import FSDPModule

__all__ = ["FSDPModule"]
