"""Functions of SciPy under SciPy's names and signatures, differentiable."""

from . import linalg, special

__all__ = ["linalg", "special"]
