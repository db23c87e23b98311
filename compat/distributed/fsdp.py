"""`torch.distributed.fsdp`: classes that cannot be made, for there are no process groups."""

from __future__ import annotations

from typing import Any, NoReturn

from ..nn.module import Module


class FullyShardedDataParallel(Module):
    """A module whose parameters are spread over processes.

    Raises: RuntimeError: when it is made.
    """

    def __init__(self, module: Module, *args: Any, **kwargs: Any) -> NoReturn:
        raise RuntimeError(
            "FullyShardedDataParallel needs process groups, which are not offered: programs run in "
            "one process. Use the module itself."
        )


class FSDPModule:
    """What `fully_shard` makes of a module, whose parameters are spread over processes.

    Raises: RuntimeError: when it is made.
    """

    def __new__(cls, *args: Any, **kwargs: Any) -> NoReturn:
        raise RuntimeError(
            "FSDPModule needs process groups, which are not offered: programs run in one process. "
            "Use the module itself."
        )


FSDP = FullyShardedDataParallel

__all__ = ["FSDP", "FSDPModule", "FullyShardedDataParallel"]
