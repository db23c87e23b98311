"""The type of traced arrays, for ``isinstance``."""

from ...core import Tracer as ArrayBox

__all__ = ["ArrayBox"]
