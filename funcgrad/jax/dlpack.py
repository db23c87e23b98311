"""Arrays of other libraries: ``jax.dlpack``."""

from ..numpy import from_dlpack

__all__ = ["from_dlpack"]
