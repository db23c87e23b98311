"""The triangular factors of matrices, with rows exchanged."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..algebra import concrete_namespace, constant, general
from ..core import Aval
from .contract import matmul, matrix_transpose
from .from_scipy import scipy_if_there
from .index import take_along_axis
from .index_layout import on_host
from .join import pad
from .solve import batch_outputs, factor_dtype, require_matrix, triangular_solve
from .structural import batch_in_front, reshape, tril, triu


def _pivots_aval(piv: Aval, *, count: int) -> Aval:
    return Aval((*piv.shape[:-1], count), np.dtype(np.int64))


_FEW = 16  # matrices whose rows are sooner exchanged one by one


@constant(aval=_pivots_aval, batch=batch_in_front)
def permutation_of_pivots(xp, piv, /, *, count):
    """The places of `count` rows after row i was exchanged with row ``piv_i``, in order.

    Shapes: ``piv: (*a, k) -> (*a, count)``.   Dtypes: integers.
    Derivative: zero.   Raises: IndexError: a row does not exist.
    Source: LAPACK ``laswp``.

    >>> permutation_of_pivots(np.array([1, 1]), count=3).tolist()
    [1, 0, 2]
    """
    rows = piv.reshape(math.prod(piv.shape[:-1]), piv.shape[-1])
    shape = (*piv.shape[:-1], count)
    if on_host(xp) and len(rows) < _FEW:  # a device would have to wait
        return xp.array([_order(row, count) for row in rows.tolist()], xp.int64).reshape(shape)
    out = xp.broadcast_to(xp.arange(count), (len(rows), count)).copy()
    every = xp.arange(len(rows))
    for i in range(piv.shape[-1]):
        other = rows[:, i]
        held = out[every, other]
        out[every, other] = out[:, i]
        out[:, i] = held
    return out.astype(xp.int64, copy=False).reshape(shape)


def _order(pivots: list[int], count: int) -> list[int]:
    out = list(range(count))
    for i, other in enumerate(pivots):
        out[i], out[other] = out[other], out[i]
    return out


def _lu_aval(x: Aval) -> tuple[Aval, Aval]:
    require_matrix("lu_factor", x, square=False)
    count = min(x.shape[-2:])
    return Aval(x.shape, factor_dtype(x)), Aval((*x.shape[:-2], count), np.dtype(np.int32))


def permuted(x: Any, permutation: Any) -> Any:
    """The rows of matrices `x` in another order."""
    places = reshape(permutation, shape=(*permutation.shape, 1))
    return take_along_axis(x, places, axis=x.ndim - 2, bounds="known")


def _squared(lu: Any, side: int) -> Any:
    """The factors cut to, or filled up with zeros to, a square."""
    widths = [(0, 0)] * (lu.ndim - 2) + [(0, side - n) for n in lu.shape[-2:]]
    return pad(lu, widths=tuple(widths))


def _lu_tangent(t: Any, ans: Any, _x: Any) -> Any:
    """With both factors made square: ``F = L^-1 P dx U^-1``, ``dL = L low(F)``, ``dU = up(F) U``."""
    lu, piv = ans
    *_, m, n = lu.shape
    xp = concrete_namespace(lu)
    rest = xp.diag((xp.arange(n) >= m).astype(lu.dtype))
    low = _squared(lu, m)
    up = triu(_squared(lu, n), k=0) + rest
    inside = triangular_solve(
        low, permuted(t, permutation_of_pivots(piv, count=m)), lower=True, unit_diagonal=True
    )
    inside = matrix_transpose(
        triangular_solve(
            matrix_transpose(up), matrix_transpose(inside), lower=True, unit_diagonal=False
        )
    )
    low = tril(low, k=-1) + xp.eye(m, dtype=lu.dtype)
    return matmul(low, tril(inside, k=-1)) + matmul(triu(inside, k=0), up), None


@general(_lu_tangent, aval=_lu_aval, batch=batch_outputs, multiple=True)
def lu_factor(xp, x, /):
    """``lu, piv``: L below the diagonal (on it, L has 1) and U, with ``L U = x`` but for the rows.

    Row i was exchanged with row ``piv_i``, in order, so that no element of L is larger than 1.

    Shapes: ``x: (*a, m, n) -> (*a, m, n), (*a, min(m, n))``.
    Dtypes: floating, complex; integers as float64; `piv` is int32.
    Derivative: with ``F = L^-1 P dx U^-1``: ``dL = L low(F)``, ``dU = up(F) U``; smooth where the
    first ``min(m, n)`` columns are independent and the pivots stay. None of `piv`.
    Raises: LinAlgError: only the derivative, where U is singular.
    Source: LAPACK ``getrf``; de Hoog, Anderssen & Lukas, "Differentiation of matrix functionals using
    triangular factorization", Math. Comp. 80 (2011).

    >>> [y.tolist() for y in lu_factor(np.array([[1.0, 2.0], [4.0, 4.0]]))]
    [[[4.0, 4.0], [0.25, 1.0]], [1, 1]]
    """
    dtype, piv_dtype = (a.dtype for a in _lu_aval(Aval(x.shape, x.dtype)))
    lapack = scipy_if_there("", "get_lapack_funcs", "linalg") if on_host(xp) else None
    if lapack is not None and x.ndim == 2 and x.size:
        a = x.astype(dtype, copy=False)
        lu, piv, _ = lapack(("getrf",), (a,))[0](a)
        return lu, piv.astype(piv_dtype, copy=False)
    return _eliminated(xp, xp.array(x, dtype=dtype, order="C"), piv_dtype)


def _size(xp: Any, x: Any) -> Any:
    """What LAPACK takes for the size of an element."""
    return xp.abs(x) if x.dtype.kind != "c" else xp.abs(x.real) + xp.abs(x.imag)


def _eliminated(xp: Any, x: Any, piv_dtype: Any) -> tuple[Any, Any]:
    """Gauss's elimination, column by column, of all matrices at once, written into `x`."""
    *lead, m, n = x.shape
    lu = x.reshape(math.prod(lead), m, n)
    every = xp.arange(len(lu))
    count = min(m, n)
    piv = xp.zeros((len(lu), count), piv_dtype)
    with np.errstate(divide="ignore", invalid="ignore"):
        for j in range(count):
            row = _size(xp, lu[:, j:, j]).argmax(axis=1) + j
            piv[:, j] = row
            held = lu[every, row]
            lu[every, row] = lu[:, j]
            lu[:, j] = held
            pivot = lu[:, j, j][:, None]
            column = lu[:, j + 1 :, j]
            column[...] = xp.where(pivot == 0, column, column / pivot)
            lu[:, j + 1 :, j + 1 :] -= column[:, :, None] * lu[:, j, None, j + 1 :]
    return lu.reshape(x.shape), piv.reshape(*lead, count)
