"""What JAX has under ``jax.experimental`` and there is here."""

from ...transforms.callbacks import io_callback
from ..settings import enable_x64
from . import checkify, hijax, jet, ode, shard_map, sparse

__all__ = ["checkify", "enable_x64", "hijax", "io_callback", "jet", "ode", "shard_map", "sparse"]
