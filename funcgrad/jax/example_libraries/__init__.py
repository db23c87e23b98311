"""The small libraries in JAX's own repository on which tutorials build: ``jax.example_libraries``."""

from . import optimizers, stax

__all__ = ["optimizers", "stax"]
