"""`torch.distributed.autograd`: not available, as where PyTorch is built without it."""

from __future__ import annotations

from typing import NoReturn

from .rpc import is_available as is_available


class context:
    """A backward pass over several processes.

    Raises: RuntimeError: when it is made.
    """

    def __init__(self) -> NoReturn:
        raise RuntimeError(
            "distributed autograd is not available here: programs run in one process."
        )


__all__ = ["context", "is_available"]
