"""Decompositions of matrices."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np  # noqa: F401  (doctests)

from ...errors import ArgumentError, where
from ...ops import linalg as _linalg
from .._arguments import array_of
from .triangles import hermitian


class EigResult(NamedTuple):
    """What `eig` returns."""

    eigenvalues: Any
    eigenvectors: Any


class EighResult(NamedTuple):
    """What `eigh` returns."""

    eigenvalues: Any
    eigenvectors: Any


class QRResult(NamedTuple):
    """What `qr` returns."""

    Q: Any
    R: Any


class SVDResult(NamedTuple):
    """What `svd` returns."""

    U: Any
    S: Any
    Vh: Any


def cholesky(a: Any, /, *, upper: bool = False) -> Any:
    """The lower triangular ``L`` with ``L L^H = a``; or its conjugate transpose if `upper`.

    Shapes: ``a: (*a, n, n) -> (*a, n, n)``.   Dtypes: floating, complex; integers give float64.
    Derivative: ``L Phi(L^-1 da L^-H)``, Phi being the lower triangle with half the diagonal.
    Raises: LinAlgError: `a` is not positive definite. ArgumentError: one triangle is empty.
    Source: NumPy reference, ``numpy.linalg.cholesky``.

    >>> cholesky([[4.0, 2.0], [2.0, 2.0]]).tolist()
    [[2.0, 0.0], [1.0, 1.0]]
    """
    lower = _linalg.cholesky(hermitian("cholesky", a))
    return _linalg.adjoint(lower) if upper else lower


def qr(a: Any, mode: str = "reduced") -> Any:
    """``Q, R`` with ``a = Q R``: orthonormal columns and an upper triangle; or R with mode "r".

    With "raw", LAPACK's reflections, which stand for Q, below R, as columns of the transpose, and
    their scales.

    Shapes: ``a: (*a, m, n) -> (*a, m, k), (*a, k, n)``, ``k = min(m, n)``; m with "complete"; with
    "raw" ``(*a, n, m), (*a, k)``.
    Dtypes: floating, complex; integers give float64.
    Derivative: smooth where the first k columns are independent.
    Raises: ArgumentError: an unknown mode. MissingRuleError: the derivative of "raw", or of "complete"
    of a tall matrix, since the columns that it adds have none.
    Source: NumPy reference, ``numpy.linalg.qr``.

    >>> qr([[0.0], [2.0]], "r").tolist()
    [[-2.0]]
    """
    a = array_of(a)
    if mode not in ("reduced", "complete", "r", "raw"):
        raise ArgumentError(
            f"fnp.linalg.qr: mode={mode!r}; need 'reduced', 'complete', 'r' or 'raw'{where()}"
        )
    if mode == "raw":
        packed, scales = _linalg.geqrf(a)
        return packed.swapaxes(-1, -2), scales
    shape = a.shape
    if mode == "complete" and len(shape) > 1 and shape[-2] > shape[-1]:
        return QRResult(*_linalg.qr_complete(a))
    q, r = _linalg.qr(a)
    return r if mode == "r" else QRResult(q, r)


def eig(a: Any) -> EigResult:
    """Eigenvalues, in no order, and eigenvectors (columns) of length 1 of any square matrix.

    Shapes: ``a: (*a, n, n) -> (*a, n), (*a, n, n)``.
    Dtypes: floating, complex; integers as float64; always gives complex numbers, where NumPy gives
    real ones if all are.
    Derivative: smooth where the eigenvalues differ; with equal ones that of the vectors warns and is
    infinite or NaN.
    Raises: LinAlgError: no convergence, or in the derivative a matrix without n eigenvectors.
    Source: NumPy reference, ``numpy.linalg.eig``.

    >>> eig([[0.0, 1.0], [-1.0, 0.0]]).eigenvalues.tolist()
    [1j, -1j]
    """
    return EigResult(*_linalg.eig(array_of(a)))


def eigvals(a: Any) -> Any:
    """The eigenvalues, in no order, of any square matrix.

    Shapes: ``a: (*a, n, n) -> (*a, n)``.
    Dtypes: floating, complex; integers as float64; always gives complex numbers.
    Derivative: ``(v^-1 da v)_ii`` with the eigenvectors.
    Raises: LinAlgError: no convergence, or in the derivative a matrix without n eigenvectors.
    Source: NumPy reference, ``numpy.linalg.eigvals``.

    >>> eigvals([[0.0, 1.0], [-1.0, 0.0]]).tolist()
    [1j, -1j]
    """
    return _linalg.eigvals(array_of(a))


def _require_triangle(name: str, uplo: Any) -> None:
    if uplo not in ("L", "U", "l", "u"):
        raise ArgumentError(f"fnp.linalg.{name}: UPLO={uplo!r}; need 'L' or 'U'{where()}")


def eigh(a: Any, UPLO: str = "L") -> EighResult:
    """Eigenvalues, ascending, and eigenvectors (columns) of the Hermitian part of `a`.

    Shapes: ``a: (*a, n, n) -> (*a, n), (*a, n, n)``.
    Dtypes: floating, complex; integers give float64; eigenvalues are real.
    Derivative: smooth where the eigenvalues differ; with equal ones that of the vectors warns and is
    infinite or NaN, that of the values is right.
    Raises: LinAlgError: no convergence. ArgumentError: an unknown `UPLO`, or one triangle is empty.
    Source: NumPy reference, ``numpy.linalg.eigh``.

    >>> eigh([[2.0, 0.0], [0.0, 1.0]]).eigenvalues.tolist()
    [1.0, 2.0]
    """
    _require_triangle("eigh", UPLO)
    return EighResult(*_linalg.eigh(hermitian("eigh", a)))


def eigvalsh(a: Any, UPLO: str = "L") -> Any:
    """The eigenvalues, ascending, of the Hermitian part of `a`.

    Shapes: ``a: (*a, n, n) -> (*a, n)``.   Dtypes: floating, complex; gives reals.
    Derivative: ``v_i^H da v_i`` with the eigenvectors.
    Raises: LinAlgError: no convergence. ArgumentError: an unknown `UPLO`, or one triangle is empty.
    Source: NumPy reference, ``numpy.linalg.eigvalsh``.

    >>> eigvalsh([[2.0, 0.0], [0.0, 1.0]]).tolist()
    [1.0, 2.0]
    """
    _require_triangle("eigvalsh", UPLO)
    return _linalg.eigvalsh(hermitian("eigvalsh", a))


def svd(
    a: Any, full_matrices: bool = True, compute_uv: bool = True, hermitian: bool = False
) -> Any:
    """``U, S, Vh`` with ``a = U diag(S) Vh``; or the singular values alone without `compute_uv`.

    Shapes: ``a: (*a, m, n) -> (*a, m, k), (*a, k), (*a, k, n)``, ``k = min(m, n)``; the matrices are
    square with `full_matrices`.
    Dtypes: floating, complex; integers give float64; singular values are real.
    Derivative: smooth where the singular values differ and are not 0; elsewhere that of the vectors
    warns and is infinite or NaN.
    Raises: MissingRuleError: the derivative with `full_matrices` of a matrix that is not square, since
    the vectors that are added have none. LinAlgError: no convergence.
    Source: NumPy reference, ``numpy.linalg.svd``.

    >>> svd([[3.0, 0.0], [0.0, -4.0]]).S.tolist()
    [4.0, 3.0]
    """
    a = array_of(a)
    if not compute_uv:
        return _linalg.svdvals(a)
    shape = a.shape
    if full_matrices and len(shape) > 1 and shape[-1] != shape[-2]:
        return SVDResult(*_linalg.svd_complete(a))
    return SVDResult(*_linalg.svd(a))


def svdvals(x: Any, /) -> Any:
    """The singular values, descending.

    Shapes: ``x: (*a, m, n) -> (*a, min(m, n))``.   Dtypes: floating, complex; gives reals.
    Derivative: ``Re u_i^H dx v_i`` with the singular vectors.
    Raises: LinAlgError: no convergence.
    Source: NumPy reference, ``numpy.linalg.svdvals``.

    >>> svdvals([[3.0, 0.0], [0.0, -4.0]]).tolist()
    [4.0, 3.0]
    """
    return _linalg.svdvals(array_of(x))
