"""``numpy.linalg`` under NumPy's names and signatures, differentiable.

Matrices are the last two axes; all axes before them are a batch. Functions of Hermitian matrices
(`cholesky`, `eigh`, `eigvalsh`) read the Hermitian part ``(a + a^H) / 2`` of their argument, where
NumPy reads one triangle: for Hermitian arguments it is the same, and gradients are Hermitian; a matrix
that has only one triangle is refused.
"""

from numpy.linalg import LinAlgError

from ..ordering import matrix_transpose
from ..products import matmul
from .decompositions import cholesky, eig, eigh, eigvals, eigvalsh, qr, svd, svdvals
from .norms import cond, matrix_norm, matrix_rank, norm, vector_norm
from .products import cross, diagonal, matrix_power, multi_dot, outer, tensordot, trace, vecdot
from .systems import det, inv, lstsq, pinv, slogdet, solve, tensorinv, tensorsolve

__all__ = [
    "LinAlgError", "cholesky", "cond", "cross", "det", "diagonal", "eig", "eigh", "eigvals",
    "eigvalsh", "inv", "lstsq", "matmul", "matrix_norm", "matrix_power", "matrix_rank",
    "matrix_transpose", "multi_dot", "norm", "outer", "pinv", "qr", "slogdet", "solve", "svd",
    "svdvals", "tensordot", "tensorinv", "tensorsolve", "trace", "vecdot", "vector_norm",
]  # fmt: skip
