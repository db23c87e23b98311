"""`torch.distributed._tensor`: an older name of `torch.distributed.tensor`."""

from ..tensor import DTensor

__all__ = ["DTensor"]
