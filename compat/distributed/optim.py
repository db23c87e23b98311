"""`torch.distributed.optim`: an optimizer that cannot be made, for there are no process groups."""

from __future__ import annotations

from typing import Any

from ..optim import Optimizer


class ZeroRedundancyOptimizer(Optimizer):
    """Needs a process group.

    Raises: ValueError: always, as PyTorch does without one.
    """

    def __init__(self, params: Any, optimizer_class: Any, **kwargs: Any) -> None:
        raise ValueError(
            "Default process group has not been initialized, "
            "please make sure to call init_process_group."
        )


__all__ = ["ZeroRedundancyOptimizer"]
