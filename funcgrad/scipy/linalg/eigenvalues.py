"""Eigenvalues and eigenvectors."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...algebra import concrete_namespace
from ...errors import ArgumentError, ShapeError, where
from ...numpy._arguments import concrete
from ...ops import linalg as _linalg
from ...ops.contract import matmul
from ...ops.decompose import hermitian_part
from ...ops.index import FULL, Slice, getitem, take
from ...ops.structural import diagonal_embed
from .._options import refuse_options
from ._matrices import adjoint_of, hermitian, matrix, vectors
from .banded import from_bands


def eig(
    a: Any,
    b: Any = None,
    left: bool = False,
    right: bool = True,
    overwrite_a: bool = False,
    overwrite_b: bool = False,
    check_finite: bool = True,
    homogeneous_eigvals: bool = False,
) -> Any:
    """Eigenvalues, in no order, and eigenvectors (columns), length 1: ``a v = w v`` or ``a v = w b v``.

    The eigenvalues alone without `right`.

    Shapes: ``a, b: (*a, n, n) -> (*a, n), (*a, n, n)``.
    Dtypes: floating, complex; integers as float64; always gives complex numbers.
    Derivative: smooth where the eigenvalues differ; with equal ones that of the vectors warns and is
    infinite or NaN.
    Raises: ArgumentError: left vectors or `homogeneous_eigvals` are wanted. LinAlgError: `b` is
    singular, no convergence, or in the derivative a matrix without n eigenvectors.
    Source: SciPy reference, ``scipy.linalg.eig``.

    >>> eig([[0.0, 1.0], [-1.0, 0.0]])[0].tolist()
    [1j, -1j]
    """
    refuse_options("eig", left=left, homogeneous_eigvals=homogeneous_eigvals)
    a = matrix("eig", a, square=True)
    if b is not None:
        a = _linalg.solve(matrix("eig", b, square=True), a)
    return tuple(_linalg.eig(a)) if right else _linalg.eigvals(a)


def eigvals(
    a: Any,
    b: Any = None,
    overwrite_a: bool = False,
    check_finite: bool = True,
    homogeneous_eigvals: bool = False,
) -> Any:
    """The eigenvalues, in no order: ``a v = w v`` or ``a v = w b v``.

    Shapes: ``a, b: (*a, n, n) -> (*a, n)``.
    Dtypes: floating, complex; integers as float64; always gives complex numbers.
    Derivative: ``(v^-1 da v)_ii`` with the eigenvectors.
    Raises: as `eig`.
    Source: SciPy reference, ``scipy.linalg.eigvals``.

    >>> eigvals([[0.0, 1.0], [-1.0, 0.0]]).tolist()
    [1j, -1j]
    """
    return eig(a, b, right=False, homogeneous_eigvals=homogeneous_eigvals)


# ---------------------------------------------------------------- Hermitian matrices


def _reduced(name: str, a: Any, b: Any, kind: Any) -> tuple[Any, Any]:
    """The matrix with the eigenvalues, and what takes its vectors to those of the problem."""
    a = hermitian(name, a)
    if kind not in (1, 2, 3):
        raise ArgumentError(f"{name}: type={kind!r}; need 1, 2 or 3{where()}")
    if b is None:
        return a, lambda y: y
    factor = _linalg.cholesky(hermitian(name, b))

    def divided(x: Any, trans: int | str = 0) -> Any:
        return _linalg.solve_triangular(factor, x, lower=True, trans=trans)

    if kind == 1:
        inside = divided(adjoint_of(divided(adjoint_of(hermitian_part(a)))))
        return inside, lambda y: divided(y, "C")
    inside = matmul(adjoint_of(factor), matmul(hermitian_part(a), factor))
    return inside, (lambda y: divided(y, "C")) if kind == 2 else (lambda y: matmul(factor, y))


def _chosen(name: str, w: Any, by_index: Any, by_value: Any) -> Any:
    """Which of the eigenvalues are wanted: a slice, or places; None for all.

    Raises: ArgumentError: both are given. ShapeError: an index does not exist.
    """
    if by_index is None and by_value is None:
        return None
    if by_index is not None and by_value is not None:
        raise ArgumentError(
            f"{name}: subset_by_index and subset_by_value are both given; need one{where()}"
        )
    n = w.shape[-1]
    if by_index is not None:
        low, high = (int(concrete(f"linalg.{name}", "subset_by_index", i)) for i in by_index)
        if not 0 <= low <= high < n:
            raise ShapeError(
                f"{name}: subset_by_index={list(by_index)} of {n} eigenvalues; the first and the last "
                f"one, counted from 0{where()}"
            )
        return Slice(low, high + 1, 1)
    low, high = by_value
    value = concrete(f"linalg.{name}", "the matrix, with subset_by_value,", w)
    if value.ndim != 1:
        raise ArgumentError(f"{name}: subset_by_value of a stack of matrices{where()}")
    return np.flatnonzero((value > low) & (value <= high))


def _part(x: Any, chosen: Any) -> Any:
    """Along the last axis."""
    if chosen is None:
        return x
    if isinstance(chosen, Slice):
        return getitem(x, index=(*[FULL] * (x.ndim - 1), chosen))
    return take(x, concrete_namespace(x).asarray(chosen), axis=x.ndim - 1)


def eigh(
    a: Any,
    b: Any = None,
    *,
    lower: bool = True,
    eigvals_only: bool = False,
    overwrite_a: bool = False,
    overwrite_b: bool = False,
    type: int = 1,
    check_finite: bool = True,
    subset_by_index: Any = None,
    subset_by_value: Any = None,
    driver: Any = None,
) -> Any:
    """Eigenvalues, ascending, and eigenvectors (columns) of Hermitian parts: ``a v = w v``.

    With `b`, positive definite: `type` 1: ``a v = w b v``, 2: ``a b v = w v``, 3: ``b a v = w v``, and
    ``v^H b v = 1``, for type 3 ``v^H b^-1 v = 1``. `lower` and `driver` change nothing.
    `subset_by_index`: the first and the last one wanted; `subset_by_value`: those above the first
    number, up to the second.

    Shapes: ``a, b: (*a, n, n) -> (*a, n), (*a, n, n)``.
    Dtypes: floating, complex; integers give float64; eigenvalues are real.
    Derivative: smooth where the eigenvalues differ; with equal ones that of the vectors warns and is
    infinite or NaN, that of the values is right.
    Raises: LinAlgError: `b` is not positive definite, or no convergence. ArgumentError: one triangle
    is empty. ConcretizationError: `subset_by_value` of values that are not known.
    Source: SciPy reference, ``scipy.linalg.eigh``.

    >>> eigh([[2.0, 0.0], [0.0, 1.0]])[0].tolist()
    [1.0, 2.0]
    """
    inside, outward = _reduced("eigh", a, b, type)
    if eigvals_only:
        w = _linalg.eigvalsh(inside)
        return _part(w, _chosen("eigh", w, subset_by_index, subset_by_value))
    w, y = _linalg.eigh(inside)
    chosen = _chosen("eigh", w, subset_by_index, subset_by_value)
    return _part(w, chosen), _part(outward(y), chosen)


def eigvalsh(
    a: Any,
    b: Any = None,
    *,
    lower: bool = True,
    overwrite_a: bool = False,
    overwrite_b: bool = False,
    type: int = 1,
    check_finite: bool = True,
    subset_by_index: Any = None,
    subset_by_value: Any = None,
    driver: Any = None,
) -> Any:
    """The eigenvalues of `eigh`, ascending.

    Shapes: ``a, b: (*a, n, n) -> (*a, n)``.   Dtypes: floating, complex; gives reals.
    Derivative: ``v_i^H (da - w_i db) v_i`` with the eigenvectors.
    Raises: as `eigh`.
    Source: SciPy reference, ``scipy.linalg.eigvalsh``.

    >>> eigvalsh([[2.0, 0.0], [0.0, 1.0]]).tolist()
    [1.0, 2.0]
    """
    return eigh(
        a,
        b,
        type=type,
        eigvals_only=True,
        subset_by_index=subset_by_index,
        subset_by_value=subset_by_value,
    )


def eigh_tridiagonal(
    d: Any,
    e: Any,
    eigvals_only: bool = False,
    select: Any = "a",
    select_range: Any = None,
    check_finite: bool = True,
    tol: float = 0.0,
    lapack_driver: str = "auto",
) -> Any:
    """`eigh` of the symmetric matrices with the diagonals `d`, and `e` beside them.

    `select`: "a" all, "v" those above the first number of `select_range`, up to the second, "i" from
    the first index to the second. Solved as full matrices.

    Shapes: ``d: (*a, n), e: (*a, n - 1) -> (*a, n), (*a, n, n)``.
    Dtypes: real; integers give float64.
    Derivative: as `eigh`.
    Raises: ArgumentError: complex numbers, or an unknown `select`. ShapeError: the lengths do not fit.
    Source: SciPy reference, ``scipy.linalg.eigh_tridiagonal``.

    >>> eigh_tridiagonal([0.0, 0.0], [1.0], eigvals_only=True).tolist()
    [-1.0, 1.0]
    """
    return _selected("eigh_tridiagonal", _tridiagonal(d, e), eigvals_only, select, select_range)


def _selected(name: str, full: Any, eigvals_only: bool, select: Any, select_range: Any) -> Any:
    """`eigh` with the options of LAPACK's drivers for bands."""
    options = {"a": None, 0: None, "v": "subset_by_value", 1: "subset_by_value"}
    options |= dict.fromkeys(("i", 2), "subset_by_index")
    if select not in options:
        raise ArgumentError(f"{name}: select={select!r}; need 'a', 'v' or 'i'{where()}")
    option = options[select]
    subset: Any = {option: select_range} if option else {}
    return eigh(full, eigvals_only=eigvals_only, **subset)


def eigvalsh_tridiagonal(
    d: Any,
    e: Any,
    select: Any = "a",
    select_range: Any = None,
    check_finite: bool = True,
    tol: float = 0.0,
    lapack_driver: str = "auto",
) -> Any:
    """The eigenvalues of `eigh_tridiagonal`, ascending.

    Shapes: ``d: (*a, n), e: (*a, n - 1) -> (*a, n)``.   Dtypes: real; integers give float64.
    Derivative: as `eigvalsh`.
    Raises: as `eigh_tridiagonal`.
    Source: SciPy reference, ``scipy.linalg.eigvalsh_tridiagonal``.

    >>> eigvalsh_tridiagonal([0.0, 0.0], [1.0]).tolist()
    [-1.0, 1.0]
    """
    return eigh_tridiagonal(d, e, True, select, select_range)


def _tridiagonal(d: Any, e: Any) -> Any:
    d, e = vectors("eigh_tridiagonal", d), vectors("eigh_tridiagonal", e)
    n = d.shape[-1]
    if "c" in (d.dtype.kind, e.dtype.kind):
        raise ArgumentError(f"eigh_tridiagonal: needs real numbers, found complex ones{where()}")
    if e.shape[-1] != n - 1:
        raise ShapeError(
            f"eigh_tridiagonal: d has {n} elements, e has {e.shape[-1]}; need one fewer{where()}"
        )

    def on(x: Any, offset: int) -> Any:
        ndim = x.ndim
        shape = (*x.shape[:-1], n, n)
        return diagonal_embed(x, shape=shape, offset=offset, axis1=ndim - 1, axis2=ndim)

    return on(d, 0) + on(e, 1) + on(e, -1)


def eig_banded(
    a_band: Any,
    lower: bool = False,
    eigvals_only: bool = False,
    overwrite_a_band: bool = False,
    select: Any = "a",
    select_range: Any = None,
    max_ev: int = 0,
    check_finite: bool = True,
) -> Any:
    """`eigh` of the Hermitian matrices with the upper (or `lower`) diagonals `a_band`.

    They stand as for `cholesky_banded`; `select` and `select_range` are those of `eigh_tridiagonal`,
    `max_ev` changes nothing. By the full matrix.

    Shapes: ``a_band: (*a, u + 1, n) -> (*a, n), (*a, n, n)``.
    Dtypes: floating, complex; integers give float64; eigenvalues are real.
    Derivative: as `eigh`; none by the elements of `a_band` outside of the matrix.
    Raises: ArgumentError: an unknown `select`. ShapeError: `a_band` is no matrix.
    Source: SciPy reference, ``scipy.linalg.eig_banded``.

    >>> eig_banded([[0.0, 0.0], [1.0, 0.0]], lower=True, eigvals_only=True).tolist()
    [-1.0, 1.0]
    """
    full = from_bands("eig_banded", a_band, lower)
    return _selected("eig_banded", full, eigvals_only, select, select_range)


def eigvals_banded(
    a_band: Any,
    lower: bool = False,
    overwrite_a_band: bool = False,
    select: Any = "a",
    select_range: Any = None,
    check_finite: bool = True,
) -> Any:
    """The eigenvalues of `eig_banded`, ascending.

    Shapes: ``a_band: (*a, u + 1, n) -> (*a, n)``.   Dtypes: floating, complex; gives reals.
    Derivative: as `eigvalsh`.
    Raises: as `eig_banded`.
    Source: SciPy reference, ``scipy.linalg.eigvals_banded``.

    >>> eigvals_banded([[0.0, 0.0], [1.0, 0.0]], lower=True).tolist()
    [-1.0, 1.0]
    """
    return eig_banded(a_band, lower, True, select=select, select_range=select_range)
