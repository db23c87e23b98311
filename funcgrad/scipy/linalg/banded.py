"""Cholesky's factors of Hermitian matrices that are given by their diagonals."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...algebra import concrete_namespace
from ...core import aval_of
from ...errors import ShapeError, where
from ...numpy._arguments import array_of
from ...ops import implicit as _implicit
from ...ops import linalg as _linalg
from ...ops.contract import conjugated
from ...ops.decompose import hermitian_part
from ...ops.index import take
from ...ops.join import concatenate
from ...ops.structural import reshape
from .._arrays import floating
from ._matrices import matrix, with_columns


def cholesky_banded(
    ab: Any, overwrite_ab: bool = False, lower: bool = False, check_finite: bool = True
) -> Any:
    """The diagonals of the ``U`` with ``U^H U = A``; or of ``L`` with ``L L^H = A`` if `lower`.

    A has the upper (or lower) diagonals `ab`: ``A_ij = ab[u + i - j, j]`` for ``i <= j``, or
    ``A_ij = ab[i - j, j]`` for ``i >= j``. Zeros stand outside of the factor. By the full matrix.

    Shapes: ``ab: (*p, u + 1, n) -> (*p, u + 1, n)``.
    Dtypes: floating, complex; integers give float64.
    Derivative: that of `cholesky`; none by the elements of `ab` outside of A.
    Raises: LinAlgError: A is not positive definite. ShapeError: `ab` is no matrix.
    Source: SciPy reference, ``scipy.linalg.cholesky_banded``.

    >>> cholesky_banded([[4.0, 2.0], [2.0, 0.0]], lower=True).tolist()
    [[2.0, 1.0], [1.0, 0.0]]
    """
    ab = floating(matrix("cholesky_banded", ab))
    count = _rows("cholesky_banded", ab) - 1
    below = ab if lower else _turned(ab, lower=0, upper=count)
    factor = _linalg.cholesky(_below_twice(below))
    bands = _elements(factor, _places_in_matrix(count, aval_of(ab).shape[-1]))
    return bands if lower else _turned(bands, lower=count, upper=0)


def cho_solve_banded(
    cb_and_lower: Any, b: Any, overwrite_b: bool = False, check_finite: bool = True
) -> Any:
    """``x`` with ``A x = b``, from ``(cholesky_banded(ab, lower=lower), lower)``.

    Shapes: ``cb: (*p, u + 1, n), b: (*q, n, k) -> (*broadcast(p, q), n, k)``, or ``b: (n,)``.
    Dtypes: floating, complex; integers give float64.
    Derivative: that of two banded systems; none by the elements of `cb` outside of the factor.
    Raises: LinAlgError: a number on the diagonal is 0. ShapeError: the shapes do not fit.
    Source: SciPy reference, ``scipy.linalg.cho_solve_banded``.

    >>> factor = cholesky_banded([[4.0, 2.0], [2.0, 0.0]], lower=True)
    >>> cho_solve_banded((factor, True), [6.0, 4.0]).tolist()
    [1.0, 1.0]
    """
    cb, lower = cb_and_lower
    cb, b = floating(matrix("cho_solve_banded", cb)), array_of(b)
    count = _rows("cho_solve_banded", cb) - 1
    if not lower:
        cb = _turned(cb, lower=0, upper=count)
    back = _turned(cb, lower=count, upper=0)

    def solve(b: Any) -> Any:
        half = _implicit.banded_solve(cb, b, lower=count, upper=0)
        return _implicit.banded_solve(back, half, lower=0, upper=count)

    return with_columns(b, solve)


def _rows(name: str, ab: Any) -> int:
    if not ab.shape[-2]:
        raise ShapeError(f"{name}: the diagonals are {aval_of(ab)}; need the main one{where()}")
    return int(ab.shape[-2])


def _turned(ab: Any, *, lower: int, upper: int) -> Any:
    """The diagonals of the conjugate transpose."""
    return conjugated(_implicit.transposed_bands(ab, lower=lower, upper=upper))


def from_bands(name: str, ab: Any, lower: Any) -> Any:
    """The Hermitian matrices with the upper (or lower) diagonals `ab`."""
    ab = floating(matrix(name, ab))
    count = _rows(name, ab) - 1
    return hermitian_part(_below_twice(ab if lower else _turned(ab, lower=0, upper=count)))


def _below_twice(below: Any) -> Any:
    """The matrices whose Hermitian part has these diagonals below."""
    count, n = below.shape[-2] - 1, below.shape[-1]
    i, j = np.indices((n, n))
    inside = (i >= j) & (i - j <= count)
    full = _elements(below, np.where(inside, (i - j) * n + j, -1))
    weights = np.where(i == j, 1.0, 2.0).astype(np.empty(0, full.dtype).real.dtype)
    return full * concrete_namespace(below).asarray(weights)


def _places_in_matrix(count: int, n: int) -> Any:
    """Where the elements of the lower diagonals are in a matrix; -1 behind their ends."""
    k, j = np.indices((count + 1, n))
    return np.where(k + j < n, (k + j) * n + j, -1)


def _elements(x: Any, places: Any) -> Any:
    """The elements of matrices, counted row by row, at a table of places; 0 at -1."""
    size = x.shape[-2] * x.shape[-1]
    flat = reshape(x, shape=(*x.shape[:-2], size))
    xp = concrete_namespace(x)
    zero = xp.zeros((*x.shape[:-2], 1), aval_of(x).dtype)
    places = xp.asarray(np.where(places < 0, size, places))
    return take(concatenate(flat, zero, axis=x.ndim - 2), places, axis=x.ndim - 2)
