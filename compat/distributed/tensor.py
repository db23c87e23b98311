"""`torch.distributed.tensor`: a class that programs compare with."""

from __future__ import annotations

from .._tensor import Tensor


class DTensor(Tensor):
    """A tensor whose parts are in several processes. There are none here."""


__all__ = ["DTensor"]
