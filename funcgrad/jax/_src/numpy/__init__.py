"""Of JAX's private modules of array functions, what s2fft and orthax import."""

from . import util

__all__ = ["util"]
