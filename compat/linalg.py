"""`torch.linalg`: over funcgrad's decompositions, solves and norms.

Layer 8. A function takes tensors to arrays, calls funcgrad's own of the same meaning and takes the
results back; every primitive is recorded.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import funcgrad.numpy as fnp

from .autograd.base import TensorBase
from .autograd.tape import through
from .ops._apply import finish
from .ops.matrix import chain_matmul, cross, matmul
from .ops.norm import norm as _norm


class LinAlgError(RuntimeError):
    """A matrix is singular, not positive definite, or an iteration has not converged."""


def _square(name: str, A: Any) -> Any:
    """Require a square matrix, or several.

    Raises: RuntimeError: it is not square. TypeError: it is no tensor.
    """
    if not isinstance(A, TensorBase):
        raise TypeError(f"linalg.{name}: argument 'A' must be Tensor, not {type(A).__name__}")
    shape = A._array.shape
    if len(shape) < 2:
        raise RuntimeError(f"linalg.{name}: The input tensor A must have at least 2 dimensions.")
    if shape[-1] != shape[-2]:
        raise RuntimeError(
            f"linalg.{name}: A must be batches of square matrices, but they are {shape[-2]} by "
            f"{shape[-1]} matrices"
        )
    return A


def _solved(name: str, f: Any, *args: Any, **kwargs: Any) -> Any:
    """Run `f` on tensors; NumPy's error for a matrix that does not serve becomes ours."""
    try:
        return through(f, *args, **kwargs)
    except np.linalg.LinAlgError as error:
        raise LinAlgError(
            f"linalg.{name}: the factorization could not be completed because the input is not "
            f"invertible or not positive-definite ({error})"
        ) from None


def det(A: Any, *, out: Any = None) -> Any:
    """The determinant.

    >>> import compat as torch
    >>> torch.linalg.det(torch.tensor([[2.0, 0.0], [0.0, 3.0]]))
    tensor(6.)
    """
    return finish("det", _solved("det", fnp.linalg.det, _square("det", A)), out, (A,))


def slogdet(A: Any) -> Any:
    """The sign and the logarithm of the absolute value of the determinant."""
    return _solved("slogdet", fnp.linalg.slogdet, _square("slogdet", A))


def inv(A: Any, *, out: Any = None) -> Any:
    """The inverse.

    Raises: LinAlgError: the matrix is singular.

    >>> import compat as torch
    >>> torch.linalg.inv(torch.tensor([[2.0, 0.0], [0.0, 4.0]]))
    tensor([[0.5000, 0.0000],
            [0.0000, 0.2500]])
    """
    return finish("inv", _solved("inv", fnp.linalg.inv, _square("inv", A)), out, (A,))


def solve(A: Any, B: Any, *, left: bool = True, out: Any = None) -> Any:
    """The X with ``A @ X = B``; with ``left=False``, ``X @ A = B``.

    Raises: LinAlgError: the matrix is singular.

    >>> import compat as torch
    >>> torch.linalg.solve(torch.tensor([[2.0, 0.0], [0.0, 4.0]]), torch.tensor([2.0, 4.0]))
    tensor([1., 1.])
    """
    _square("solve", A)
    if not left:
        return finish("solve", solve(A.mT, B.mT).mT, out, (A, B))
    vector = B._array.ndim == 1 or (
        B._array.ndim == A._array.ndim - 1 and B._array.shape == A._array.shape[:-1]
    )
    rows = B.unsqueeze(-1) if vector else B
    found = _solved("solve", fnp.linalg.solve, A, rows)
    return finish("solve", found.squeeze(-1) if vector else found, out, (A, B))


def cholesky(A: Any, *, upper: bool = False, out: Any = None) -> Any:
    """The lower triangular L with ``L @ L.mH = A``.

    Raises: LinAlgError: A is not positive definite.

    >>> import compat as torch
    >>> torch.linalg.cholesky(torch.tensor([[4.0, 0.0], [0.0, 9.0]]))
    tensor([[2., 0.],
            [0., 3.]])
    """
    found = _solved("cholesky", fnp.linalg.cholesky, _square("cholesky", A), upper=upper)
    return finish("cholesky", found, out, (A,))


def qr(A: Any, mode: str = "reduced") -> Any:
    """Orthogonal Q and upper triangular R with ``Q @ R = A``."""
    return _solved("qr", fnp.linalg.qr, A, mode=mode)


def eigh(A: Any, UPLO: str = "L") -> Any:
    """Eigenvalues, ascending, and eigenvectors of a symmetric matrix."""
    return _solved("eigh", fnp.linalg.eigh, _square("eigh", A), UPLO=UPLO)


def eigvalsh(A: Any, UPLO: str = "L") -> Any:
    """The eigenvalues of a symmetric matrix, ascending.

    >>> import compat as torch
    >>> torch.linalg.eigvalsh(torch.tensor([[2.0, 0.0], [0.0, 1.0]]))
    tensor([1., 2.])
    """
    return _solved("eigvalsh", fnp.linalg.eigvalsh, _square("eigvalsh", A), UPLO=UPLO)


def svd(A: Any, full_matrices: bool = True) -> Any:
    """The singular value decomposition: U, S and Vh with ``U @ diag(S) @ Vh = A``."""
    return _solved("svd", fnp.linalg.svd, A, full_matrices=full_matrices)


def svdvals(A: Any) -> Any:
    """The singular values, descending."""
    return _solved("svdvals", fnp.linalg.svdvals, A)


def pinv(A: Any, *, rtol: float | None = None, hermitian: bool = False) -> Any:
    """The pseudo-inverse."""
    return _solved("pinv", fnp.linalg.pinv, A, rtol=rtol, hermitian=hermitian)


def matrix_power(A: Any, n: int, *, out: Any = None) -> Any:
    """The product of `n` factors A; of inverses for a negative `n`."""
    found = _solved("matrix_power", fnp.linalg.matrix_power, _square("matrix_power", A), n)
    return finish("matrix_power", found, out, (A,))


def matrix_norm(A: Any, ord: Any = "fro", dim: Any = (-2, -1), keepdim: bool = False) -> Any:
    """A norm of matrices: "fro", "nuc", 1, 2, inf or their negatives."""
    moved = A if tuple(dim) == (-2, -1) else A.movedim(tuple(dim), (-2, -1))
    found = _solved("matrix_norm", fnp.linalg.matrix_norm, moved, ord=ord)
    if keepdim:
        for d in sorted(d % A._array.ndim for d in dim):
            found = found.unsqueeze(d)
    return found


def norm(A: Any, ord: Any = None, dim: Any = None, keepdim: bool = False) -> Any:
    """A norm of a matrix (two axes, or `ord` given and A a matrix) or else of a vector.

    >>> import compat as torch
    >>> torch.linalg.norm(torch.tensor([3.0, 4.0]))
    tensor(5.)
    """
    axes = dim if isinstance(dim, tuple | list) else None
    if ord is not None and (
        (axes is not None and len(axes) == 2) or (dim is None and A._array.ndim == 2)
    ):
        return matrix_norm(A, ord, axes or (-2, -1), keepdim)
    return vector_norm(A, 2 if ord is None else ord, dim, keepdim)


def vector_norm(x: Any, ord: Any = 2, dim: Any = None, keepdim: bool = False) -> Any:
    """The norm of order `ord` of vectors along `dim`; of all elements if it is None."""
    return _norm(x, ord, dim if dim is not None else tuple(range(x._array.ndim)), keepdim)


def matrix_rank(A: Any, *, tol: Any = None, hermitian: bool = False) -> Any:
    """The number of singular values that are not negligible."""
    return through(fnp.linalg.matrix_rank, A, tol=tol, hermitian=hermitian)


def multi_dot(tensors: Any, *, out: Any = None) -> Any:
    """The product of several matrices, in the cheapest order."""
    return chain_matmul(*tensors, out=out)


def vecdot(x: Any, y: Any, *, dim: int = -1) -> Any:
    """Inner products along `dim`, the first conjugated."""
    return (x.conj() * y).sum(dim)


def diagonal(A: Any, *, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Any:
    """The diagonal of matrices, a view."""
    return A.diagonal(offset, dim1, dim2)


__all__ = [
    "LinAlgError",
    "cholesky",
    "cross",
    "det",
    "diagonal",
    "eigh",
    "eigvalsh",
    "inv",
    "matmul",
    "matrix_norm",
    "matrix_power",
    "matrix_rank",
    "multi_dot",
    "norm",
    "pinv",
    "qr",
    "slogdet",
    "solve",
    "svd",
    "svdvals",
    "vecdot",
    "vector_norm",
]
