"""What of ``jax.interpreters`` there is here."""

from . import partial_eval

__all__ = ["partial_eval"]
