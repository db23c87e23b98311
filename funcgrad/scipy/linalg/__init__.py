"""``scipy.linalg`` under SciPy's names and signatures, differentiable.

Matrices are the last two axes; all axes before them are a batch. What SciPy does with the memory of
its arguments (``overwrite_a=``, ...) and ``check_finite=`` change nothing here: nothing is
overwritten, and numbers that are not finite go through. Functions of Hermitian matrices read the
Hermitian part ``(a + a^H) / 2``, so that gradients are Hermitian, where SciPy reads one triangle; a
matrix that has only one triangle is refused. What has a real and a complex result in SciPy, depending
on the numbers, says here which one it gives.
"""

from numpy.linalg import LinAlgError

from .angles import subspace_angles
from .banded import cho_solve_banded, cholesky_banded
from .constants import hadamard, helmert, invhilbert, invpascal, pascal
from .eigenvalues import (
    eig,
    eig_banded,
    eigh,
    eigh_tridiagonal,
    eigvals,
    eigvals_banded,
    eigvalsh,
    eigvalsh_tridiagonal,
)
from .factors import (
    cho_factor,
    cho_solve,
    cholesky,
    lu,
    lu_factor,
    lu_solve,
    null_space,
    orth,
    orthogonal_procrustes,
    polar,
    qr,
    rq,
    svd,
    svdvals,
)
from .functions import (
    coshm,
    cosm,
    expm,
    expm_frechet,
    fractional_matrix_power,
    logm,
    signm,
    sinhm,
    sinm,
    sqrtm,
    tanhm,
    tanm,
)
from .reduced import funm, hessenberg, qr_multiply, rsf2csf, schur
from .riccati import solve_continuous_are, solve_discrete_are
from .solving import (
    det,
    inv,
    lstsq,
    norm,
    pinv,
    pinvh,
    solve,
    solve_banded,
    solve_circulant,
    solve_continuous_lyapunov,
    solve_discrete_lyapunov,
    solve_lyapunov,
    solve_sylvester,
    solve_toeplitz,
    solve_triangular,
    solveh_banded,
)
from .structured import (
    block_diag,
    circulant,
    companion,
    convolution_matrix,
    dft,
    diagsvd,
    fiedler,
    fiedler_companion,
    hankel,
    hilbert,
    khatri_rao,
    leslie,
    matmul_toeplitz,
    toeplitz,
)

__all__ = [
    "LinAlgError", "block_diag", "cho_factor", "cho_solve", "cho_solve_banded", "cholesky",
    "cholesky_banded", "circulant", "companion", "convolution_matrix", "coshm", "cosm", "det", "dft",
    "diagsvd", "eig", "eig_banded", "eigh", "eigh_tridiagonal", "eigvals", "eigvals_banded",
    "eigvalsh", "eigvalsh_tridiagonal", "expm", "expm_frechet", "fiedler", "fiedler_companion",
    "fractional_matrix_power", "funm", "hadamard", "hankel", "helmert", "hessenberg", "hilbert",
    "inv", "invhilbert", "invpascal", "khatri_rao", "leslie", "logm", "lstsq", "lu", "lu_factor",
    "lu_solve", "matmul_toeplitz", "norm", "null_space", "orth", "orthogonal_procrustes", "pascal",
    "pinv", "pinvh", "polar", "qr", "qr_multiply", "rq", "rsf2csf", "schur", "signm", "sinhm", "sinm",
    "solve", "solve_banded", "solve_circulant", "solve_continuous_are", "solve_continuous_lyapunov",
    "solve_discrete_are", "solve_discrete_lyapunov", "solve_lyapunov", "solve_sylvester",
    "solve_toeplitz", "solve_triangular", "solveh_banded", "sqrtm", "subspace_angles", "svd",
    "svdvals", "tanhm", "tanm", "toeplitz",
]  # fmt: skip
