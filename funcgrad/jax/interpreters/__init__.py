"""What of ``jax.interpreters`` there is here."""

from . import ad, batching, mlir, partial_eval, xla

__all__ = ["ad", "batching", "mlir", "partial_eval", "xla"]
