"""Matrices, under the names and in the order of results of ``jax.lax.linalg``."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from .. import numpy as fnp
from ..core import aval_of
from ..errors import ArgumentError, ShapeError, where
from ..numpy._arguments import array_of, arrays_of, beside
from ..ops import linalg as _linalg
from ..ops import solve as _solve
from ..ops.lu import permutation_of_pivots
from ..scipy import linalg as _scipy
from ._arguments import integral, ints

__all__ = [
    "cholesky",
    "cholesky_update",
    "eig",
    "eigh",
    "geqrf",
    "householder_product",
    "lu",
    "lu_pivots_to_permutation",
    "ormqr",
    "qdwh",
    "qr",
    "schur",
    "svd",
    "symmetric_product",
    "triangular_solve",
    "tridiagonal_solve",
]


def _symmetric(x: Any) -> Any:
    return (x + fnp.conjugate(fnp.matrix_transpose(x))) / 2


def cholesky(x: Any, *, symmetrize_input: bool = True) -> Any:
    """The lower triangle L with ``x = L L^H``; of the Hermitian part of `x`.

    Without `symmetrize_input` only the lower triangle is read.

    Shapes: ``(*a, n, n) -> (*a, n, n)``.   Dtypes: floating, complex.
    Derivative: smooth where `x` is positive definite.
    Raises: LinAlgError: `x` is not positive definite.
    Source: JAX, ``jax.lax.linalg.cholesky``.

    >>> cholesky(np.array([[4.0, 2.0], [2.0, 2.0]])).tolist()
    [[2.0, 0.0], [1.0, 1.0]]
    """
    x = array_of(x)
    return fnp.linalg.cholesky(_symmetric(x) if symmetrize_input else _mirrored(x, True))


def _mirrored(x: Any, lower: bool) -> Any:
    """The Hermitian matrix with this triangle."""
    half, other = (fnp.tril, -1) if lower else (fnp.triu, 1)
    return half(x) + fnp.conjugate(fnp.matrix_transpose(half(x, other)))


def qr(
    x: Any, *, pivoting: bool = False, full_matrices: bool = True, use_magma: Any = None
) -> tuple[Any, ...]:
    """``Q, R`` with ``x = Q R``: orthonormal columns and an upper triangle.

    With `pivoting` also the order p of the columns for which it holds: ``x[:, p] = Q R``. `use_magma`
    changes nothing.

    Shapes: ``(*a, m, n) -> (*a, m, k), (*a, k, n)``; k is m with `full_matrices`, else min(m, n).
    Dtypes: floating, complex.
    Derivative: smooth where the first min(m, n) columns are independent.
    Raises: MissingRuleError: the derivative with `full_matrices` of a tall matrix: what that adds has
    none. ArgumentError: `pivoting` of a stack of matrices.
    Source: JAX, ``jax.lax.linalg.qr``.

    >>> qr(np.array([[0.0], [2.0]]), full_matrices=False)[1].tolist()
    [[-2.0]]
    """
    return tuple(_scipy.qr(x, mode="full" if full_matrices else "economic", pivoting=pivoting))


def svd(
    x: Any,
    *,
    full_matrices: bool = True,
    compute_uv: bool = True,
    subset_by_index: tuple[int, int] | None = None,
    algorithm: Any = None,
) -> Any:
    """``U, S, Vh`` with ``x = U diag(S) Vh``; or the singular values alone without `compute_uv`.

    `subset_by_index` is a range of the singular values, the largest first. `algorithm` changes nothing.

    Shapes: ``(*a, m, n) -> (*a, m, k), (*a, k), (*a, k, n)``, square matrices with `full_matrices`.
    Dtypes: floating, complex; singular values are real.
    Derivative: smooth where the singular values differ and are not 0.
    Raises: MissingRuleError: the derivative with `full_matrices` of a matrix that is not square.
    ArgumentError: `subset_by_index` is no range, or `full_matrices` besides.
    Source: JAX, ``jax.lax.linalg.svd``.

    >>> svd(np.array([[3.0, 0.0], [0.0, -4.0]]), compute_uv=False).tolist()
    [4.0, 3.0]
    """
    found = fnp.linalg.svd(x, full_matrices=full_matrices, compute_uv=compute_uv)
    if not compute_uv:
        return _among("svd", subset_by_index, found)
    if subset_by_index is None:
        return tuple(found)
    if full_matrices:
        raise ArgumentError(
            f"lax.svd: subset_by_index={subset_by_index} with full_matrices=True{where()}"
        )
    u, values, vh = found
    u, values = (_among("svd", subset_by_index, y) for y in (u, values))
    return u, values, _among("svd", subset_by_index, vh, axis=-2)


def _among(name: str, subset: Any, x: Any, axis: int = -1) -> Any:
    """Entries of a range along an axis; all without one.

    Raises: ArgumentError: it is no range of entries that there are.
    """
    if subset is None:
        return x
    start, stop = ints(name, "subset_by_index", subset, 2)
    if not 0 <= start < stop <= x.shape[axis]:
        raise ArgumentError(
            f"lax.{name}: subset_by_index={(start, stop)} of {x.shape[axis]}; need a start and a "
            f"greater end among them{where()}"
        )
    return x[..., start:stop] if axis == -1 else x[..., start:stop, :]


def eigh(
    x: Any,
    *,
    lower: bool = True,
    symmetrize_input: bool = True,
    sort_eigenvalues: bool = True,
    subset_by_index: tuple[int, int] | None = None,
    implementation: Any = None,
) -> tuple[Any, Any]:
    """Eigenvectors (columns) and eigenvalues, ascending, of a Hermitian matrix: in this order.

    Only its Hermitian part is read, or one triangle without `symmetrize_input`. `subset_by_index` is
    a range of the eigenvalues in their order, which they always have. `implementation` changes nothing.

    Shapes: ``(*a, n, n) -> (*a, n, n), (*a, n)``.   Dtypes: floating, complex; values are real.
    Derivative: smooth where the eigenvalues differ.
    Raises: LinAlgError: no convergence. ArgumentError: `subset_by_index` is no range.
    Source: JAX, ``jax.lax.linalg.eigh``.

    >>> eigh(np.array([[2.0, 0.0], [0.0, 1.0]]))[1].tolist()
    [1.0, 2.0]
    """
    x = array_of(x)
    if not symmetrize_input:
        x = _mirrored(x, lower)
    values, vectors = fnp.linalg.eigh(x)
    return _among("eigh", subset_by_index, vectors), _among("eigh", subset_by_index, values)


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


# ---------------------------------------------------------------- triangles and pivots


def lu(x: Any) -> list[Any]:
    """L below the diagonal (on it, L has 1) and U; the row exchanges; the order of rows they make.

    Shapes: ``(*a, m, n) -> (*a, m, n), (*a, min(m, n)), (*a, m)``.
    Dtypes: floating, complex; exchanges and order are int32.
    Derivative: smooth where the first ``min(m, n)`` columns are independent.
    Raises: LinAlgError: only the derivative, where these columns are dependent.
    Source: JAX, ``jax.lax.linalg.lu``.

    >>> [y.tolist() for y in lu(np.array([[1.0, 2.0], [4.0, 4.0]]))]
    [[[4.0, 4.0], [0.25, 1.0]], [1, 1], [1, 0]]
    """
    factors, pivots = _scipy.lu_factor(x)
    pivots = fnp.astype(pivots, np.int32)
    return [factors, pivots, lu_pivots_to_permutation(pivots, factors.shape[-2])]


def lu_pivots_to_permutation(pivots: Any, permutation_size: int) -> Any:
    """The order of so many rows after row i was exchanged with row ``pivots[i]``, one after another.

    Shapes: ``(*a, k) -> (*a, permutation_size)``.   Dtypes: integers; gives int32.
    Derivative: zero.
    Raises: ArgumentError: these are no integers.
    Source: JAX, ``jax.lax.linalg.lu_pivots_to_permutation``.

    >>> lu_pivots_to_permutation(np.array([2, 2]), 3).tolist()
    [2, 0, 1]
    """
    name = "lu_pivots_to_permutation"
    (count,) = ints(name, "permutation_size", (permutation_size,))
    return fnp.astype(permutation_of_pivots(integral(name, pivots), count=count), np.int32)


def cholesky_update(r_matrix: Any, w_vector: Any) -> Any:
    """The upper triangle R with a positive diagonal and ``R^T R = r^T r + w w^T``.

    Shapes: ``r: (n, n), w: (n,) -> (n, n)``.   Dtypes: floating.
    Derivative: smooth where ``R`` is regular.
    Raises: ShapeError: the shapes do not fit.
    Source: JAX, ``jax.lax.linalg.cholesky_update``.

    >>> cholesky_update(np.array([[3.0, 0.0], [0.0, 1.0]]), np.array([4.0, 0.0])).round(12).tolist()
    [[5.0, 0.0], [0.0, 1.0]]
    """
    r, w = arrays_of(r_matrix, w_vector)
    if r.ndim != 2 or w.shape != (r.shape[0],) or r.shape[0] != r.shape[1]:
        raise ShapeError(f"lax.cholesky_update: {aval_of(r)} with {aval_of(w)}{where()}")
    found = fnp.linalg.qr(fnp.concatenate([r, w[None]]))[1]
    signs = fnp.where(fnp.diagonal(found) < 0, -1, 1)
    return found * fnp.astype(signs, aval_of(found).dtype)[:, None]


# ---------------------------------------------------------------- other forms


def eig(
    x: Any,
    *,
    compute_left_eigenvectors: bool = True,
    compute_right_eigenvectors: bool = True,
    enable_eigvec_derivs: bool = False,
    implementation: Any = None,
    use_magma: bool | None = None,
) -> list[Any]:
    """Eigenvalues, in no order, left eigenvectors ``u^H x = w u^H``, and right ones ``x v = w v``.

    They are columns of length 1 whose largest entry is real; the left ones are those of the inverse
    of the right ones. Only what is wanted is there. The last three options change nothing.

    Shapes: ``(*a, n, n) -> (*a, n), (*a, n, n), (*a, n, n)``.   Dtypes: all become complex.
    Derivative: smooth where the eigenvalues differ.
    Raises: LinAlgError: no convergence, or left vectors of a matrix without n eigenvectors.
    Source: JAX, ``jax.lax.linalg.eig``.

    >>> [
    ...     y.tolist()
    ...     for y in eig(np.array([[2.0, 0.0], [0.0, 1.0]]), compute_left_eigenvectors=False)
    ... ]
    [[(2+0j), (1+0j)], [[(1+0j), 0j], [0j, (1+0j)]]]
    """
    if not (compute_left_eigenvectors or compute_right_eigenvectors):
        return [_complex(x, _scipy.eigvals(x))]
    values, right = (_complex(x, y) for y in _scipy.eig(x))
    vectors = [_left(right)] if compute_left_eigenvectors else []
    return [values, *vectors, *([right] if compute_right_eigenvectors else [])]


def _complex(x: Any, y: Any) -> Any:
    """`y` as complex numbers of the precision of `x`."""
    return fnp.astype(y, np.result_type(aval_of(array_of(x)).dtype, np.complex64))


def _left(right: Any) -> Any:
    """The columns of the inverse, as lengths and phases of eigenvectors are."""
    u = fnp.conjugate(fnp.matrix_transpose(fnp.linalg.inv(right)))
    if not u.size:
        return u
    u = u / fnp.linalg.norm(u, axis=-2, keepdims=True)
    place = fnp.argmax(fnp.absolute(u), axis=-2, keepdims=True)
    largest = fnp.take_along_axis(u, place, axis=-2)
    return u * (fnp.conjugate(largest) / fnp.absolute(largest))


def schur(
    x: Any,
    *,
    compute_schur_vectors: bool = True,
    sort_eig_vals: bool = False,
    select_callable: Any = None,
) -> list[Any]:
    """``T, Z`` with ``x = Z T Z^H``: Z unitary, T upper triangular, with blocks if `x` is real.

    T alone without `compute_schur_vectors`.

    Shapes: ``(*a, n, n) -> (*a, n, n), (*a, n, n)``.   Dtypes: floating, complex.
    Derivative: none, since LAPACK chooses the form.
    Raises: MissingRuleError: a derivative. ArgumentError: an order of eigenvalues is wanted.
    Source: JAX, ``jax.lax.linalg.schur``.

    >>> [abs(y).tolist() for y in schur(np.array([[2.0, 1.0], [0.0, 3.0]]))]
    [[[2.0, 1.0], [0.0, 3.0]], [[1.0, 0.0], [0.0, 1.0]]]
    """
    if sort_eig_vals or select_callable is not None:
        raise ArgumentError(
            f"lax.schur: sort_eig_vals and select_callable are not supported; "
            f"funcgrad.scipy.linalg.schur has sort={where()}"
        )
    found = list(_scipy.schur(x))
    return found if compute_schur_vectors else found[:1]


def householder_product(a: Any, taus: Any) -> Any:
    """The first n columns of the product of ``I - tau_i v_i v_i^H``.

    v_i are the columns of `a` below the diagonal, with 1 on it and 0 above.

    Shapes: ``a: (*a, m, n), taus: (*a, k) -> (*a, m, n)``, k <= n <= m.   Dtypes: floating, complex.
    Derivative: smooth.
    Raises: ShapeError: the shapes do not fit.
    Source: LAPACK ``orgqr``.

    >>> householder_product(np.zeros((2, 1)), np.array([2.0])).tolist()
    [[-1.0], [0.0]]
    """
    a, taus = arrays_of(a, taus)
    if (
        a.ndim < 2
        or a.ndim != taus.ndim + 1
        or a.shape[:-2] != taus.shape[:-1]
        or not taus.shape[-1] <= a.shape[-1] <= a.shape[-2]
    ):
        raise ShapeError(f"lax.householder_product: {aval_of(a)} with {aval_of(taus)}{where()}")
    m, n = a.shape[-2:]
    dtype = aval_of(a).dtype
    columns = fnp.tril(a, -1) + beside(a, np.eye(m, n, dtype=dtype))
    q = fnp.broadcast_to(beside(a, np.eye(m, n, dtype=dtype)), a.shape)
    return _reflected(columns, taus, q, reversed(range(taus.shape[-1])))


def _reflected(columns: Any, taus: Any, q: Any, order: Iterable[int]) -> Any:
    """`q`, multiplied from the left by ``1 - tau_i v_i v_i^H`` for every i in `order`."""
    for i in order:
        v = columns[..., i : i + 1]
        q = q - taus[..., i, None, None] * v @ (_adjoint(v) @ q)
    return q


def _adjoint(x: Any) -> Any:
    return fnp.conjugate(fnp.matrix_transpose(x))


def geqrf(a: Any) -> tuple[Any, Any]:
    """R of `qr` in the upper triangle, the reflections that make Q below, and their scales.

    Shapes: ``(*a, m, n) -> (*a, m, n), (*a, min(m, n))``.   Dtypes: floating, complex.
    Derivative: none; that of `qr` says the same.
    Raises: MissingRuleError: a derivative.
    Source: LAPACK ``geqrf``.

    >>> a, taus = geqrf(np.array([[3.0], [4.0]]))
    >>> a.tolist(), householder_product(a, taus).round(1).tolist()
    ([[-5.0], [0.5]], [[-0.6], [-0.8]])
    """
    return _linalg.geqrf(array_of(a))


def ormqr(a: Any, taus: Any, c: Any, *, left: bool = True, transpose: bool = False) -> Any:
    """``Q c`` or, if not `left`, ``c Q``; Q^H in the place of Q with `transpose`.

    Q is the square matrix that the reflections of `geqrf` stand for; it is not made.

    Shapes: ``a: (*a, m, n), taus: (*a, k), c: (*a, m, l) -> (*a, m, l)``, or ``(*a, l, m)`` if not
    `left`; k <= min(m, n).
    Dtypes: floating, complex.
    Derivative: smooth.
    Raises: ShapeError: the shapes do not fit.
    Source: LAPACK ``ormqr``, ``unmqr``.

    >>> a, taus = geqrf(np.array([[3.0], [4.0]]))
    >>> ormqr(a, taus, np.array([[3.0], [4.0]]), transpose=True).round().tolist()
    [[-5.0], [0.0]]
    """
    a, taus, c = arrays_of(a, taus, c)
    if (
        a.ndim < 2
        or not a.ndim == c.ndim == taus.ndim + 1
        or not a.shape[:-2] == taus.shape[:-1] == c.shape[:-2]
        or c.shape[-2 if left else -1] != a.shape[-2]
        or taus.shape[-1] > min(a.shape[-2:])
    ):
        found = f"{aval_of(a)} with {aval_of(taus)} and {aval_of(c)}"
        raise ShapeError(f"lax.ormqr: {found}{where()}")
    m, k = a.shape[-2], taus.shape[-1]
    columns = fnp.tril(a[..., :k], -1) + beside(a, np.eye(m, k, dtype=aval_of(a).dtype))
    # From the right, Q is Q^H from the left of the adjoint; Q^H has the reflections' adjoints.
    is_adjoint = bool(transpose) == bool(left)
    order = range(k) if is_adjoint else reversed(range(k))
    taus = fnp.conjugate(taus) if is_adjoint else taus
    found = _reflected(columns, taus, c if left else _adjoint(c), order)
    return found if left else _adjoint(found)


def tridiagonal_solve(dl: Any, d: Any, du: Any, b: Any, *, perturb_singular: bool = False) -> Any:
    """``x`` with ``A x = b``; A has the diagonal `d`, `dl` below and `du` above it.

    The first of `dl` and the last of `du` are not read.

    Shapes: ``dl, d, du: (*a, n), b: (*a, n, k) -> (*a, n, k)``.   Dtypes: floating, complex.
    Derivative: ``A^-1 (db - dA x)``.
    Raises: LinAlgError: A is singular. ShapeError: the shapes do not fit. ArgumentError:
    `perturb_singular`.
    Source: JAX, ``jax.lax.linalg.tridiagonal_solve``.

    >>> tridiagonal_solve(
    ...     np.zeros(2), np.full(2, 2.0), np.ones(2), np.array([[3.0], [2.0]])
    ... ).tolist()
    [[1.0], [1.0]]
    """
    if perturb_singular:
        raise ArgumentError(f"lax.tridiagonal_solve: perturb_singular is not supported{where()}")
    dl, d, du, b = arrays_of(dl, d, du, b)
    if not dl.shape == d.shape == du.shape == b.shape[:-1] or not d.ndim:
        found = " and ".join(str(aval_of(x)) for x in (dl, d, du, b))
        raise ShapeError(f"lax.tridiagonal_solve: {found}{where()}")
    zero = fnp.zeros_like(d[..., :1])
    above = fnp.concatenate([zero, du[..., :-1]], axis=-1)
    below = fnp.concatenate([dl[..., 1:], zero], axis=-1)
    bands = fnp.stack([above, d, below], axis=-2)
    return _scipy.solve_banded((1, 1), bands, b)


def symmetric_product(
    a_matrix: Any,
    c_matrix: Any,
    *,
    alpha: float = 1.0,
    beta: float = 0.0,
    symmetrize_output: bool = False,
) -> Any:
    """``alpha A A^T + beta C`` for a symmetric C; of its lower triangle with `symmetrize_output`.

    Shapes: ``A: (*a, n, k), C: (*a, n, n) -> (*a, n, n)``.   Dtypes: floating, complex.
    Derivative: smooth.
    Raises: ShapeError: the shapes do not fit.
    Source: JAX, ``jax.lax.linalg.symmetric_product``.

    >>> symmetric_product(np.array([[1.0], [2.0]]), np.eye(2), beta=1.0).tolist()
    [[2.0, 2.0], [2.0, 5.0]]
    """
    a, c = arrays_of(a_matrix, c_matrix)
    if a.ndim < 2 or c.shape != (*a.shape[:-1], a.shape[-2]):
        raise ShapeError(f"lax.symmetric_product: {aval_of(a)} with {aval_of(c)}{where()}")
    found = alpha * (a @ fnp.matrix_transpose(a)) + beta * c
    if symmetrize_output:
        found = fnp.tril(found) + fnp.matrix_transpose(fnp.tril(found, -1))
    return found


def qdwh(
    x: Any,
    *,
    is_hermitian: bool = False,
    max_iterations: int | None = None,
    eps: float | None = None,
    dynamic_shape: tuple[int, int] | None = None,
) -> tuple[Any, Any, Any, Any]:
    """``U, H`` with ``x = U H``, U with orthonormal columns and H Hermitian; the polar decomposition.

    Then how many iterations it took, 0 since singular values give it, and that it is found. What is
    said of iterations and of `x` changes nothing.

    Shapes: ``(m, n) -> (m, n), (n, n), (), ()``, n <= m.   Dtypes: floating, complex.
    Derivative: smooth where `x` has full rank.
    Raises: ArgumentError: `dynamic_shape`. ShapeError: fewer rows than columns.
    Source: JAX, ``jax.lax.linalg.qdwh``.

    >>> [y.round(12).tolist() for y in qdwh(np.array([[0.0, -2.0], [3.0, 0.0]]))[:2]]
    [[[0.0, -1.0], [1.0, 0.0]], [[3.0, 0.0], [0.0, 2.0]]]
    """
    if dynamic_shape is not None:
        raise ArgumentError(f"lax.qdwh: dynamic_shape= is not supported{where()}")
    x = array_of(x)
    if x.ndim != 2 or x.shape[0] < x.shape[1]:
        raise ShapeError(f"lax.qdwh: {aval_of(x)}; need as many rows as columns, or more{where()}")
    u, h = _scipy.polar(x)
    return u, h, np.int64(0), np.bool_(True)
