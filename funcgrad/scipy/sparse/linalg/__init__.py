"""``scipy.sparse.linalg``: linear systems, least squares and eigenvalues of large matrices."""

from .eigenvalues import eigsh, svds
from .exponential import expm_multiply
from .least_squares import lsmr, lsqr
from .operators import LinearOperator
from .solving import bicgstab, cg, gmres, minres, spsolve

__all__ = [
    "LinearOperator",
    "bicgstab",
    "cg",
    "eigsh",
    "expm_multiply",
    "gmres",
    "lsmr",
    "lsqr",
    "minres",
    "spsolve",
    "svds",
]
