"""``numpy.lib``: sliding windows, and the functions that leave the real numbers where they must."""

from . import scimath, stride_tricks

__all__ = ["scimath", "stride_tricks"]
