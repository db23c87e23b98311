"""Which files errors leave out when they say where; ``jax.extend.source_info_util``."""

from .._src.traceback_util import register_exclusion

__all__ = ["register_exclusion"]
