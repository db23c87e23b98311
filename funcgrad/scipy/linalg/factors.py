"""Matrices as products: Cholesky's factors, LU, QR, singular values, polar factors."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...algebra import concrete_namespace
from ...core import Tracer, aval_of
from ...errors import ArgumentError, ShapeError, where
from ...numpy import linalg as _nl
from ...numpy._arguments import array_of, concrete
from ...numpy.sorting import argsort
from ...ops import linalg as _linalg
from ...ops import lu as _lu
from ...ops import matrix_functions as _functions
from ...ops.contract import matmul
from ...ops.index import FULL, Slice, getitem, take
from ...ops.structural import flip, reshape, tril, triu
from .._arrays import floating
from ._matrices import adjoint_of, filled, hermitian, matrix

# ---------------------------------------------------------------- Cholesky


def cholesky(
    a: Any, lower: bool = False, overwrite_a: bool = False, check_finite: bool = True
) -> Any:
    """The upper triangular ``U`` with ``U^H U = a``; or ``L`` with ``L L^H = a`` if `lower`.

    Shapes: ``a: (*a, n, n) -> (*a, n, n)``.   Dtypes: floating, complex; integers give float64.
    Derivative: ``L Phi(L^-1 da L^-H)``, Phi being the lower triangle with half the diagonal.
    Raises: LinAlgError: `a` is not positive definite. ArgumentError: one triangle is empty.
    Source: SciPy reference, ``scipy.linalg.cholesky``.

    >>> cholesky([[4.0, 2.0], [2.0, 2.0]]).tolist()
    [[2.0, 1.0], [0.0, 1.0]]
    """
    factor = _linalg.cholesky(hermitian("cholesky", a))
    return factor if lower else adjoint_of(factor)


def cho_factor(
    a: Any, lower: bool = False, overwrite_a: bool = False, check_finite: bool = True
) -> tuple[Any, bool]:
    """``(c, lower)`` for `cho_solve`: `cholesky`, with zeros where SciPy leaves random data.

    Shapes: ``a: (*a, n, n) -> (*a, n, n)``.   Dtypes: floating, complex; integers give float64.
    Derivative: that of `cholesky`.
    Raises: LinAlgError: `a` is not positive definite. ArgumentError: one triangle is empty.
    Source: SciPy reference, ``scipy.linalg.cho_factor``.

    >>> cho_factor([[4.0, 2.0], [2.0, 2.0]], lower=True)[0].tolist()
    [[2.0, 0.0], [1.0, 1.0]]
    """
    return cholesky(a, lower), lower


def cho_solve(
    c_and_lower: Any, b: Any, overwrite_b: bool = False, check_finite: bool = True
) -> Any:
    """``x`` with ``a x = b``, from what `cho_factor` made of `a`.

    Shapes: ``c: (*p, n, n), b: (*q, n, k) -> (*broadcast(p, q), n, k)``, or ``b: (n,)``.
    Dtypes: floating, complex; integers give float64.
    Derivative: that of two triangular systems.
    Raises: LinAlgError: a number on the diagonal is 0. ShapeError: the shapes do not fit.
    Source: SciPy reference, ``scipy.linalg.cho_solve``.

    >>> cho_solve(cho_factor([[4.0, 0.0], [0.0, 1.0]]), [4.0, 3.0]).tolist()
    [1.0, 3.0]
    """
    c, lower = c_and_lower
    c, b = matrix("cho_solve", c, square=True), array_of(b)
    half = _linalg.solve_triangular(c, b, lower=lower, trans=0 if lower else "C")
    return _linalg.solve_triangular(c, half, lower=lower, trans="C" if lower else 0)


# ---------------------------------------------------------------- LU


def lu_factor(a: Any, overwrite_a: bool = False, check_finite: bool = True) -> tuple[Any, Any]:
    """``(lu, piv)`` for `lu_solve`: L below the diagonal (on it, L has 1) and U, and row exchanges.

    Shapes: ``a: (*a, m, n) -> (*a, m, n), (*a, min(m, n))``.
    Dtypes: floating, complex; integers give float64.
    Derivative: smooth where the first ``min(m, n)`` columns are independent; none of `piv`.
    Raises: LinAlgError: only the derivative, where these columns are dependent.
    Source: SciPy reference, ``scipy.linalg.lu_factor``.

    >>> [y.tolist() for y in lu_factor([[1.0, 2.0], [4.0, 4.0]])]
    [[[4.0, 4.0], [0.25, 1.0]], [1, 1]]
    """
    return tuple(_lu.lu_factor(matrix("lu_factor", a)))


def lu_solve(
    lu_and_piv: Any,
    b: Any,
    trans: int = 0,
    overwrite_b: bool = False,
    check_finite: bool = True,
) -> Any:
    """``x`` with ``a x = b`` (`trans` 1: ``a^T x = b``, 2: ``a^H x = b``), from ``lu_factor(a)``.

    Shapes: ``lu: (*p, n, n), b: (*q, n, k) -> (*broadcast(p, q), n, k)``, or ``b: (n,)``.
    Dtypes: floating, complex; integers give float64.
    Derivative: that of two triangular systems.
    Raises: LinAlgError: U is singular. ArgumentError: an unknown `trans`.
    Source: SciPy reference, ``scipy.linalg.lu_solve``.

    >>> lu_solve(lu_factor([[1.0, 2.0], [4.0, 4.0]]), [3.0, 8.0]).tolist()
    [1.0, 1.0]
    """
    lu, piv = lu_and_piv
    lu, piv, b = matrix("lu_solve", lu, square=True), array_of(piv), array_of(b)
    if trans not in (0, 1, 2):
        raise ArgumentError(f"lu_solve: trans={trans!r}; need 0, 1 or 2{where()}")
    if b.ndim == 1:
        out = lu_solve((lu, piv), reshape(b, shape=(b.shape[0], 1)), trans)
        return reshape(out, shape=out.shape[:-1])
    order = _lu.permutation_of_pivots(piv, count=lu.shape[-1])

    def solved(right: Any, lower: bool) -> Any:
        return _linalg.solve_triangular(lu, right, trans=trans, lower=lower, unit_diagonal=lower)

    if trans == 0:
        return solved(solved(_permuted(b, order), True), False)
    return _permuted(solved(solved(b, False), True), argsort(order, axis=-1))


def _permuted(b: Any, order: Any) -> Any:
    """The rows in another order; the leading axes broadcast."""
    if order.ndim == 1:
        return take(b, order, axis=b.ndim - 2)
    lead = np.broadcast_shapes(b.shape[:-2], order.shape[:-1])
    b = b + concrete_namespace(b).zeros((*lead, 1, 1), b.dtype)
    return _lu.permuted(b, order)


def lu(
    a: Any,
    permute_l: bool = False,
    overwrite_a: bool = False,
    check_finite: bool = True,
    p_indices: bool = False,
) -> Any:
    """``P, L, U`` with ``a = P L U``; ``P L, U`` if `permute_l`; p with ``a = L[p] U`` if `p_indices`.

    Shapes: ``a: (*a, m, n) -> (*a, m, m), (*a, m, k), (*a, k, n)``, ``k = min(m, n)``.
    Dtypes: floating, complex; integers give float64; P is real.
    Derivative: smooth where the first k columns are independent; none of P.
    Raises: LinAlgError: only the derivative, where these columns are dependent.
    Source: SciPy reference, ``scipy.linalg.lu``.

    >>> [y.tolist() for y in lu([[1.0, 2.0], [4.0, 4.0]])]
    [[[0.0, 1.0], [1.0, 0.0]], [[1.0, 0.0], [0.25, 1.0]], [[4.0, 4.0], [0.0, 1.0]]]
    """
    both, piv = lu_factor(a)
    *lead, m, n = both.shape
    count = min(m, n)
    every = [FULL] * len(lead)
    xp = concrete_namespace(both)
    low = tril(getitem(both, index=(*every, FULL, Slice(0, count, 1))), k=-1)
    low = low + xp.eye(m, count, dtype=both.dtype)
    up = triu(getitem(both, index=(*every, Slice(0, count, 1), FULL)), k=0)
    back = argsort(_lu.permutation_of_pivots(piv, count=m), axis=-1)
    if permute_l:
        return _lu.permuted(low, back), up
    if p_indices:
        return back, low, up
    one = np.empty(0, both.dtype).real.dtype
    return (reshape(back, shape=(*back.shape, 1)) == xp.arange(m)).astype(one), low, up


# ---------------------------------------------------------------- QR


def qr(
    a: Any,
    overwrite_a: bool = False,
    lwork: Any = None,
    mode: str = "full",
    pivoting: bool = False,
    check_finite: bool = True,
) -> Any:
    """``Q, R`` with ``a = Q R``: orthonormal columns and an upper triangle; ``(R,)`` with mode "r".

    With `pivoting` also the order of the columns for which it holds: ``a[:, P] = Q R``.

    Shapes: ``a: (*a, m, n) -> (*a, m, m), (*a, m, n)``; with "economic" ``(*a, m, k), (*a, k, n)``,
    ``k = min(m, n)``.
    Dtypes: floating, complex; integers give float64.
    Derivative: smooth where the first k columns (of the chosen order) are independent.
    Raises: ArgumentError: an unknown mode, or `pivoting` of a stack of matrices. MissingRuleError: the
    derivative of "full" of a tall matrix, since the columns that it adds have none.
    ConcretizationError: `pivoting` of values that are not known.
    Source: SciPy reference, ``scipy.linalg.qr``.

    >>> qr([[0.0], [2.0]], mode="r")[0].tolist()
    [[-2.0], [0.0]]
    """
    a = matrix("qr", a)
    if mode not in ("full", "r", "economic"):
        raise ArgumentError(f"qr: mode={mode!r}; need 'full', 'r' or 'economic'{where()}")
    order = None
    if pivoting:
        order = _column_order(a)
        a = take(a, order, axis=1)
    m, n = a.shape[-2:]
    q, r = _nl.qr(a, "complete" if mode == "full" else "reduced")
    if mode == "r":
        r = filled(r, m, n)
    found = (r,) if mode == "r" else (q, r)
    return found if order is None else (*found, order)


def rq(
    a: Any,
    overwrite_a: bool = False,
    lwork: Any = None,
    mode: str = "full",
    check_finite: bool = True,
) -> Any:
    """``R, Q`` with ``a = R Q``: an upper triangle, and orthonormal rows; R alone with mode "r".

    Of more rows than columns R has the triangle at its lower end.

    Shapes: ``a: (*a, m, n) -> (*a, m, n), (*a, n, n)``; with "economic" ``(*a, m, k), (*a, k, n)``,
    ``k = min(m, n)``.
    Dtypes: floating, complex; integers give float64.
    Derivative: smooth where the last k rows are independent.
    Raises: ArgumentError: an unknown mode. MissingRuleError: the derivative of "full" of a wide matrix,
    since the rows that it adds have none.
    Source: SciPy reference, ``scipy.linalg.rq``.

    >>> [abs(x).tolist() for x in rq([[0.0, 2.0], [3.0, 0.0]])]
    [[[2.0, 0.0], [0.0, 3.0]], [[0.0, 1.0], [1.0, 0.0]]]
    """
    if mode not in ("full", "r", "economic"):
        raise ArgumentError(f"rq: mode={mode!r}; need 'full', 'r' or 'economic'{where()}")
    a = matrix("rq", a)
    # turned around, the last row is the first column of a QR
    found = [_turned(adjoint_of(x)) for x in qr(adjoint_of(_turned(a)), mode=mode)]
    return found[0] if mode == "r" else (found[1], found[0])


def _turned(a: Any) -> Any:
    """Rows and columns in the opposite order."""
    return flip(a, axis=(a.ndim - 2, a.ndim - 1))


def _column_order(a: Any) -> Any:
    """The order in which the longest of the columns that are left comes next."""
    value = concrete("linalg.qr", "the matrix, with pivoting=True,", a)
    if value.ndim != 2:
        raise ArgumentError(f"qr: pivoting=True needs one matrix, found {aval_of(a)}{where()}")
    rest, count = np.array(floating(value)), value.shape[1]
    order = np.arange(count)
    for i in range(min(rest.shape)):
        lengths = np.linalg.norm(rest[:, i:], axis=0)
        chosen = i + int(lengths.argmax())
        order[[i, chosen]] = order[[chosen, i]]
        rest[:, [i, chosen]] = rest[:, [chosen, i]]
        length = lengths.max()
        if length:
            along = rest[:, i] / length
            rest[:, i + 1 :] -= np.outer(along, along.conj() @ rest[:, i + 1 :])
    return order.astype(np.int32)


# ---------------------------------------------------------------- singular values


def svd(
    a: Any,
    full_matrices: bool = True,
    compute_uv: bool = True,
    overwrite_a: bool = False,
    check_finite: bool = True,
    lapack_driver: str = "gesdd",
) -> Any:
    """``U, s, Vh`` with ``a = U diag(s) Vh``; or the singular values alone without `compute_uv`.

    Shapes: ``a: (*a, m, n) -> (*a, m, k), (*a, k), (*a, k, n)``, ``k = min(m, n)``; the matrices are
    square with `full_matrices`.
    Dtypes: floating, complex; integers give float64; singular values are real.
    Derivative: smooth where the singular values differ and are not 0; elsewhere that of the vectors
    warns and is infinite or NaN.
    Raises: MissingRuleError: the derivative with `full_matrices` of a matrix that is not square, since
    the vectors that are added have none. LinAlgError: no convergence.
    Source: SciPy reference, ``scipy.linalg.svd``.

    >>> svd([[3.0, 0.0], [0.0, -4.0]])[1].tolist()
    [4.0, 3.0]
    """
    if lapack_driver not in ("gesdd", "gesvd"):
        raise ArgumentError(f"svd: lapack_driver={lapack_driver!r} is unknown{where()}")
    found = _nl.svd(matrix("svd", a), full_matrices, compute_uv)
    return tuple(found) if compute_uv else found


def svdvals(a: Any, overwrite_a: bool = False, check_finite: bool = True) -> Any:
    """The singular values, descending.

    Shapes: ``a: (*a, m, n) -> (*a, min(m, n))``.   Dtypes: floating, complex; gives reals.
    Derivative: ``Re u_i^H da v_i`` with the singular vectors.
    Raises: LinAlgError: no convergence.
    Source: SciPy reference, ``scipy.linalg.svdvals``.

    >>> svdvals([[3.0, 0.0], [0.0, -4.0]]).tolist()
    [4.0, 3.0]
    """
    return _linalg.svdvals(matrix("svdvals", a))


def _plain(name: str, a: Any, instead: str) -> Any:
    a = floating(matrix(name, a))
    if isinstance(a, Tracer):
        raise ArgumentError(
            f"{name}: LAPACK chooses the basis, so it has no derivative; what does not depend on the "
            f"choice is a function of the projection, {instead}{where()}"
        )
    return a


def orth(A: Any, rcond: Any = None) -> Any:
    """An orthonormal basis of what the columns span, for plain arrays.

    Shapes: ``A: (m, n) -> (m, rank)``.   Dtypes: floating, complex; integers give float64.
    Derivative: refused, since the basis is LAPACK's choice: ``A pinv(A)`` projects on its span.
    Raises: ArgumentError: `A` is traced. ShapeError: it is not one matrix.
    Source: SciPy reference, ``scipy.linalg.orth``.

    >>> abs(orth([[0.0, 0.0], [0.0, 2.0]])).tolist()
    [[0.0], [1.0]]
    """
    u, _, rank = _basis("orth", A, rcond, "A @ pinv(A)")
    return u[:, :rank]


def null_space(
    A: Any,
    rcond: Any = None,
    *,
    overwrite_a: bool = False,
    check_finite: bool = True,
    lapack_driver: str = "gesdd",
) -> Any:
    """An orthonormal basis of the vectors that `A` maps to 0, for plain arrays.

    Shapes: ``A: (m, n) -> (n, n - rank)``.   Dtypes: floating, complex; integers give float64.
    Derivative: refused, since the basis is LAPACK's choice: ``1 - pinv(A) A`` projects on its span.
    Raises: ArgumentError: `A` is traced. ShapeError: it is not one matrix.
    Source: SciPy reference, ``scipy.linalg.null_space``.

    >>> abs(null_space([[0.0, 0.0], [0.0, 2.0]])).tolist()
    [[1.0], [0.0]]
    """
    _, vh, rank = _basis("null_space", A, rcond, "eye(n) - pinv(A) @ A")
    return vh[rank:].T.conj()


def _basis(name: str, a: Any, rcond: Any, instead: str) -> tuple[Any, Any, int]:
    a = _plain(name, a, instead)
    if a.ndim != 2:
        raise ShapeError(f"{name}: needs one matrix, found {aval_of(a)}{where()}")
    xp = concrete_namespace(a)
    u, s, vh = xp.linalg.svd(a)
    if rcond is None:
        rcond = max(a.shape) * float(np.finfo(s.dtype).eps)
    return u, vh, int((s > rcond * (s.max() if s.size else 0.0)).sum())


# ---------------------------------------------------------------- polar factors


def polar(a: Any, side: str = "right") -> tuple[Any, Any]:
    """``u, p`` with ``a = u p`` (``a = p u`` if `side` is "left"), u being as a rotation, p Hermitian.

    The columns of u are orthonormal, or the rows if there are fewer of them.

    Shapes: ``a: (*a, m, n) -> (*a, m, n), (*a, n, n)``; p is m by m on the left.
    Dtypes: floating, complex; integers give float64.
    Derivative: smooth where `a` has full rank; but a p of less than full rank goes through `svd`,
    which warns if singular values are equal.
    Raises: ArgumentError: an unknown `side`. LinAlgError: only the derivative, of dependent columns.
    Source: SciPy reference, ``scipy.linalg.polar``.

    >>> [y.round(12).tolist() for y in polar([[0.0, -2.0], [3.0, 0.0]])]
    [[[0.0, -1.0], [1.0, 0.0]], [[3.0, 0.0], [0.0, 2.0]]]
    """
    if side not in ("right", "left"):
        raise ArgumentError(f"polar: side={side!r}; need 'right' or 'left'{where()}")
    a = matrix("polar", a)
    if side == "left":
        u, p = polar(adjoint_of(a))
        return adjoint_of(u), p
    if a.shape[-2] >= a.shape[-1]:
        return tuple(_functions.polar(a))
    u, s, vh = _linalg.svd(a)
    scaled = adjoint_of(vh) * reshape(s, shape=(*s.shape[:-1], 1, s.shape[-1]))
    return matmul(u, vh), matmul(scaled, vh)


def orthogonal_procrustes(A: Any, B: Any, check_finite: bool = True) -> tuple[Any, Any]:
    """The orthogonal ``R`` that minimises ``|A R - B|``, and the sum of the singular values.

    Those are of ``A^H B``, of which R is the polar factor.

    Shapes: ``A: (m, n), B: (m, n) -> (n, n), ()``.
    Dtypes: floating, complex; integers give float64.
    Derivative: smooth where ``A^H B`` is regular.
    Raises: ShapeError: the shapes differ. LinAlgError: only the derivative, where it is singular.
    Source: SciPy reference, ``scipy.linalg.orthogonal_procrustes``.

    >>> orthogonal_procrustes([[2.0, 0.0], [0.0, 1.0]], [[0.0, 2.0], [1.0, 0.0]])[0].round(
    ...     12
    ... ).tolist()
    [[0.0, 1.0], [1.0, 0.0]]
    """
    A, B = (matrix("orthogonal_procrustes", x) for x in (A, B))
    if A.ndim != 2 or A.shape != B.shape:
        raise ShapeError(
            f"orthogonal_procrustes: needs two matrices of one shape, found {aval_of(A)} and "
            f"{aval_of(B)}{where()}"
        )
    inside = matmul(adjoint_of(A), B)
    return _functions.polar(inside)[0], _linalg.norm(inside, "nuc")
