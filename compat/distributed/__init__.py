"""`torch.distributed` as it is without process groups: not available, never initialized.

Code that asks `is_available` or `is_initialized` first goes on with one process. The rest raises what
PyTorch raises without a process group.
"""

from __future__ import annotations

import enum
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NoReturn

from .._missing import explain as _explain_missing

if TYPE_CHECKING:
    from . import nn as nn


def is_available() -> bool:
    """False: there are no process groups here."""
    return False


def is_initialized() -> bool:
    """False."""
    return False


def is_torchelastic_launched() -> bool:
    """False."""
    return False


def is_nccl_available() -> bool:
    """False."""
    return False


is_gloo_available = is_mpi_available = is_nccl_available


class ReduceOp(enum.Enum):
    """What `all_reduce` would do with the tensors of all processes."""

    SUM, AVG, PRODUCT, MIN, MAX, BAND, BOR, BXOR = range(8)


class ProcessGroup:
    """What PyTorch groups processes by. There are none here."""


def init_process_group(*args: Any, **kwargs: Any) -> NoReturn:
    """Raises: RuntimeError: always."""
    raise RuntimeError("torch.distributed is not available here: programs run in one process.")


def _needs_group(name: str) -> Callable[..., Any]:
    def function(*args: Any, **kwargs: Any) -> NoReturn:
        raise ValueError(
            "Default process group has not been initialized, "
            "please make sure to call init_process_group."
        )

    function.__name__ = function.__qualname__ = name
    function.__doc__ = "Raises: ValueError: always, for there is no process group."
    return function


get_rank = _needs_group("get_rank")
get_world_size = _needs_group("get_world_size")
get_backend = _needs_group("get_backend")
barrier = _needs_group("barrier")
broadcast = _needs_group("broadcast")
all_reduce = _needs_group("all_reduce")
all_gather = _needs_group("all_gather")
reduce = _needs_group("reduce")

_explain_missing("torch.distributed", globals(), later=("device_mesh",))
