"""`torch.signal`: windows for spectra, in `windows`."""

from . import windows

__all__ = ["windows"]
