"""``scipy.sparse``: solvers of large linear systems, in `linalg`, for arrays and SciPy's matrices."""

from . import linalg

__all__ = ["linalg"]
