"""`torch.backends.mps`: Apple's GPUs are not offered here."""

from __future__ import annotations


def is_available() -> bool:
    """False."""
    return False


def is_built() -> bool:
    """False."""
    return False


def is_macos_or_newer(major: int, minor: int) -> bool:
    """False, as PyTorch says where there is no such GPU."""
    return False
