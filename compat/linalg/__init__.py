"""`torch.linalg`: over funcgrad's decompositions, solves and norms.

Layer 6. A function checks its arguments as PyTorch does and calls funcgrad's primitives of the same
meaning, which are recorded; none of them defines a derivative.
"""

from ..ops.matrix import matmul
from ..ops.products import multi_dot
from .checks import LinAlgError
from .decompositions import (
    cholesky,
    cholesky_ex,
    eig,
    eigh,
    eigvals,
    eigvalsh,
    householder_product,
    qr,
    svd,
    svdvals,
)
from .functions import cross, diagonal, matrix_exp, matrix_power, vander, vecdot
from .ldl import ldl_factor, ldl_factor_ex, ldl_solve
from .lu import lu, lu_factor, lu_factor_ex, lu_solve
from .norms import cond, matrix_norm, norm, vector_norm
from .rank import lstsq, matrix_rank, pinv
from .systems import (
    det,
    inv,
    inv_ex,
    slogdet,
    solve,
    solve_ex,
    solve_triangular,
    tensorinv,
    tensorsolve,
)

__all__ = [
    "LinAlgError",
    "cholesky",
    "cholesky_ex",
    "cond",
    "cross",
    "det",
    "diagonal",
    "eig",
    "eigh",
    "eigvals",
    "eigvalsh",
    "householder_product",
    "inv",
    "inv_ex",
    "ldl_factor",
    "ldl_factor_ex",
    "ldl_solve",
    "lstsq",
    "lu",
    "lu_factor",
    "lu_factor_ex",
    "lu_solve",
    "matmul",
    "matrix_exp",
    "matrix_norm",
    "matrix_power",
    "matrix_rank",
    "multi_dot",
    "norm",
    "pinv",
    "qr",
    "slogdet",
    "solve",
    "solve_ex",
    "solve_triangular",
    "svd",
    "svdvals",
    "tensorinv",
    "tensorsolve",
    "vander",
    "vecdot",
    "vector_norm",
]
