"""``scipy.sparse``: the solvers of large linear systems, in `linalg`. There are no sparse matrices."""

from . import linalg

__all__ = ["linalg"]
