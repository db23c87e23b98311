"""What code that extends JAX builds on, as far as there is such a thing here: ``jax.extend``."""

from . import backend, core, linear_util, source_info_util

__all__ = ["backend", "core", "linear_util", "source_info_util"]
