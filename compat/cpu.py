"""`torch.cpu`: the host as a device, for scripts that ask the module of whichever device they run on.

>>> import compat as torch
>>> torch.cpu.is_available(), torch.cpu.device_count(), torch.cpu.current_device()
(True, 1, 'cpu')
"""

from __future__ import annotations

from typing import Any

from ._missing import explain as _explain_missing


def is_available() -> bool:
    """True."""
    return True


def is_initialized() -> bool:
    """True."""
    return True


def device_count() -> int:
    """1."""
    return 1


def current_device() -> str:
    """``'cpu'``."""
    return "cpu"


def set_device(device: Any) -> None:
    """Nothing: there is one."""


def synchronize(device: Any = None) -> None:
    """Nothing: operations are done when they return."""


_explain_missing("torch.cpu", globals())
