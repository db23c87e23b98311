"""`torch.accelerator`: the GPU, whatever it is called. Here that is `torch.cuda`, through CuPy.

>>> import compat as torch
>>> device = torch.accelerator.current_accelerator() or torch.device("cpu")
>>> device.type in ("cpu", "cuda")
True
"""

from __future__ import annotations

from typing import Any

from . import cuda
from .cuda import empty_cache as empty_cache
from .cuda import synchronize as synchronize
from .size import device as Device


def is_available() -> bool:
    """Whether tensors can be on a GPU."""
    return cuda.is_available()


def device_count() -> int:
    """The number of GPUs; 0 without CuPy."""
    return cuda.device_count()


def current_accelerator(check_available: bool = False) -> Any:
    """The device of the GPU, without a number; None if there is none."""
    return Device("cuda") if cuda.is_available() else None


def current_device_index() -> int:
    """The number of the GPU that ``"cuda"`` without a number is.

    Raises: AssertionError, RuntimeError: there is none.
    """
    return cuda.current_device()


current_device_idx = current_device_index

__all__ = [
    "current_accelerator",
    "current_device_idx",
    "current_device_index",
    "device_count",
    "empty_cache",
    "is_available",
    "synchronize",
]
