"""`DistributedDataParallel`: a class that cannot be made, for there are no process groups."""

from __future__ import annotations

from typing import Any

from ..module import Module


class DistributedDataParallel(Module):
    """Needs a process group.

    Raises: ValueError: always, as PyTorch does without one.
    """

    def __init__(self, module: Any, *args: Any, **kwargs: Any) -> None:
        raise ValueError(
            "Default process group has not been initialized, "
            "please make sure to call init_process_group."
        )
