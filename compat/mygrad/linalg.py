"""MyGrad's linear algebra: `norm`; `einsum`, `matmul` and `multi_matmul` are in `mygrad` itself."""

from ._arrays import norm

__all__ = ["norm"]
