"""Matrices, under the names and in the order of results of ``jax.lax.linalg``."""

from __future__ import annotations

from typing import Any

import numpy as np  # noqa: F401  (doctests)

from .. import numpy as fnp
from ..core import aval_of
from ..errors import ShapeError, where
from ..numpy._arguments import array_of
from ..ops import solve as _solve

__all__ = ["cholesky", "eigh", "qr", "svd", "triangular_solve"]


def _symmetric(x: Any) -> Any:
    return (x + fnp.conjugate(fnp.matrix_transpose(x))) / 2


def cholesky(x: Any, *, symmetrize_input: bool = True) -> Any:
    """The lower triangle L with ``x = L L^H``; of the Hermitian part of `x` unless told otherwise.

    Shapes: ``(*a, n, n) -> (*a, n, n)``.   Dtypes: floating, complex.
    Derivative: smooth where `x` is positive definite.
    Raises: LinAlgError: `x` is not positive definite.
    Source: JAX, ``jax.lax.linalg.cholesky``.

    >>> cholesky(np.array([[4.0, 2.0], [2.0, 2.0]])).tolist()
    [[2.0, 0.0], [1.0, 1.0]]
    """
    x = array_of(x)
    return fnp.linalg.cholesky(_symmetric(x) if symmetrize_input else x)


def qr(x: Any, *, full_matrices: bool = True) -> tuple[Any, Any]:
    """``Q, R`` with ``x = Q R``: orthonormal columns and an upper triangle.

    Shapes: ``(*a, m, n) -> (*a, m, k), (*a, k, n)``; k is m with `full_matrices`, else min(m, n).
    Dtypes: floating, complex.
    Derivative: smooth where the first min(m, n) columns are independent.
    Raises: ArgumentError: `full_matrices` of a traced tall matrix: what it adds has no derivative.
    Source: JAX, ``jax.lax.linalg.qr``.

    >>> qr(np.array([[0.0], [2.0]]), full_matrices=False)[1].tolist()
    [[-2.0]]
    """
    return tuple(fnp.linalg.qr(x, "complete" if full_matrices else "reduced"))


def svd(x: Any, *, full_matrices: bool = True, compute_uv: bool = True) -> Any:
    """``U, S, Vh`` with ``x = U diag(S) Vh``; or the singular values alone without `compute_uv`.

    Shapes: ``(*a, m, n) -> (*a, m, k), (*a, k), (*a, k, n)``, square matrices with `full_matrices`.
    Dtypes: floating, complex; singular values are real.
    Derivative: smooth where the singular values differ and are not 0.
    Raises: ArgumentError: `full_matrices` of a traced matrix that is not square.
    Source: JAX, ``jax.lax.linalg.svd``.

    >>> svd(np.array([[3.0, 0.0], [0.0, -4.0]]), compute_uv=False).tolist()
    [4.0, 3.0]
    """
    found = fnp.linalg.svd(x, full_matrices=full_matrices, compute_uv=compute_uv)
    return tuple(found) if compute_uv else found


def eigh(x: Any, *, lower: bool = True, symmetrize_input: bool = True) -> tuple[Any, Any]:
    """Eigenvectors (columns) and eigenvalues, ascending, of a Hermitian matrix: in this order.

    Only its Hermitian part is read, or one triangle without `symmetrize_input`.

    Shapes: ``(*a, n, n) -> (*a, n, n), (*a, n)``.   Dtypes: floating, complex; values are real.
    Derivative: smooth where the eigenvalues differ.
    Raises: LinAlgError: no convergence.
    Source: JAX, ``jax.lax.linalg.eigh``.

    >>> eigh(np.array([[2.0, 0.0], [0.0, 1.0]]))[1].tolist()
    [1.0, 2.0]
    """
    x = array_of(x)
    if not symmetrize_input:
        half, other = (fnp.tril, -1) if lower else (fnp.triu, 1)
        x = half(x) + fnp.conjugate(fnp.matrix_transpose(half(x, other)))
    values, vectors = fnp.linalg.eigh(x)
    return vectors, values


def triangular_solve(
    a: Any,
    b: Any,
    *,
    left_side: bool = False,
    lower: bool = False,
    transpose_a: bool = False,
    conjugate_a: bool = False,
    unit_diagonal: bool = False,
) -> Any:
    """``x`` with ``x A = b``, or with ``A x = b`` for `left_side`; A is a triangle of `a`.

    Shapes: ``a: (*p, n, n), b: (*p, m, n) -> (*p, m, n)``, or ``(*p, n, m)`` for `left_side`.
    Dtypes: floating, complex.
    Derivative: that of ``A^-1 b``; smooth wherever A is regular.
    Raises: ShapeError: the shapes do not fit. LinAlgError: A is singular.
    Source: XLA's operation semantics, "TriangularSolve".

    >>> triangular_solve(np.array([[2.0, 1.0], [0.0, 4.0]]), np.array([[2.0, 5.0]])).tolist()
    [[1.0, 1.0]]
    """
    a, b = array_of(a), array_of(b)
    side = -2 if left_side else -1
    if a.ndim < 2 or b.ndim < 2 or a.shape[-1] != a.shape[-2] or b.shape[side] != a.shape[-1]:
        raise ShapeError(f"lax.triangular_solve: {aval_of(a)} with {aval_of(b)}{where()}")
    a = fnp.conjugate(a) if conjugate_a else a
    if transpose_a == left_side:  # x A = b is A^T x^T = b^T
        a, lower = fnp.matrix_transpose(a), not lower
    b = b if left_side else fnp.matrix_transpose(b)
    x = _solve.triangular_solve(a, b, lower=bool(lower), unit_diagonal=bool(unit_diagonal))
    return x if left_side else fnp.matrix_transpose(x)
