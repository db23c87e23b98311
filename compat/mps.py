"""`torch.mps`: Apple's GPUs, on which no tensors are here; scripts ask whether there are any.

>>> import compat as torch
>>> torch.mps.is_available()
False
"""

from __future__ import annotations

from ._missing import explain as _explain_missing


def is_available() -> bool:
    """False: tensors are on the CPU, or on NVIDIA's and AMD's GPUs through CuPy."""
    return False


def device_count() -> int:
    """0."""
    return 0


def empty_cache() -> None:
    """Nothing: there is no memory to hand back."""


_explain_missing("torch.mps", globals())
