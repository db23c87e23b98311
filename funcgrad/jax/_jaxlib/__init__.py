"""What ``import jaxlib`` finds behind `install`: types that code for JAX names in annotations."""

from ..version import __version__
from . import xla_client

__all__ = ["__version__", "xla_client"]
