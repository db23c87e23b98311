"""`torch.distributed.algorithms.join`: for processes with fewer batches than others."""

from __future__ import annotations

from typing import Any


class Join:
    """Raises: ValueError: when it is made, for there is no process group."""

    def __init__(self, joinables: Any, *args: Any, **kwargs: Any) -> None:
        raise ValueError(
            "Default process group has not been initialized, "
            "please make sure to call init_process_group."
        )
