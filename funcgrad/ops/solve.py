"""Systems of linear equations: solve, inv and what they are made of.

Matrices are the last two axes; all axes before them are a batch and broadcast.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..algebra import (
    _OneRule,
    batch_first,
    broadcast_shapes,
    conform,
    conform_tangent,
    general,
)
from ..core import Aval, Primitive, aval_of
from ..errors import ShapeError, where
from .complex import conjugate
from .contract import matmul, matrix_transpose
from .structural import batch_in_front, reshape, transpose, tril, triu

_BLOCK = 64  # triangles up to this size are solved like any upper triangular matrix
_FEW = 8  # rows of a triangle that are found one after the other, of all matrices at once
_MANY = 32  # small matrices for each row that are sooner done together than one by one by LAPACK


def adjoint(x: Any) -> Any:
    """The conjugate transpose of the last two axes."""
    x = matrix_transpose(x)
    return conjugate(x) if x.dtype.kind == "c" else x


def factor_dtype(*avals: Aval) -> Any:
    """The dtype in which LAPACK works on the operands: NumPy's rule."""
    dtypes = [a.dtype if a.dtype.kind in "fc" else np.dtype(np.float64) for a in avals]
    return np.result_type(*dtypes)


def real_dtype(dtype: Any) -> Any:
    """The dtype of the absolute values."""
    return np.empty(0, dtype).real.dtype


def require_matrix(name: str, x: Aval, *, square: bool) -> None:
    """
    Raises: ShapeError: `x` is no matrix or stack of matrices, or not a square one.
    """
    if x.ndim < 2 or (square and x.shape[-1] != x.shape[-2]):
        need = "square matrix" if square else "matrix"
        raise ShapeError(f"{name}: needs a {need} or a stack of them, found {x}{where()}")


def batch_outputs(prim: Primitive, size: int, xs: Any, bdims: Any, params: dict) -> Any:
    """Batch rule of primitives of stacks of matrices with several results."""
    outs = prim(batch_first(xs[0], bdims[0]), **params)
    return outs, (0,) * len(outs)


def checked(xp: Any, out: Any, x: Any, message: str) -> Any:
    """`out`, unless LAPACK failed without saying so: CuPy gives NaN where NumPy raises.

    Raises: LinAlgError: `out` has NaN that do not come from `x`.
    """
    if xp is not np and bool(xp.isnan(out).any()) and not bool(xp.isnan(x).any()):
        raise np.linalg.LinAlgError(message)
    return out


# ---------------------------------------------------------------- the kind


class Solve(_OneRule):
    """``x = A^-1 b``, where the matrix A is a part of operand `a` (all of it, or a triangle).

    Declared by `part`, the self-adjoint projection of a matrix on that part, and `flipped`, the
    parameters with which the transposed `a` solves the transposed system. From ``A x = b``:

    ``dx = A^-1 (db - part(da) x)``; with ``A^T y = ct`` the cotangents are ``-part(y x^T)`` and y.

    It is linear in `b`, and this is what the transposed program of `dx` relies on.
    """

    part: Callable[..., Any]
    flipped: Callable[[dict], dict]

    def reads(self, i: int, count: int) -> tuple[bool, tuple[bool, ...]]:
        return i == 0, (True, False)

    def tangent(self, ans: Any, xs: Sequence[Any], ts: Sequence[Any], params: dict) -> Any:
        ta, right = ts
        if ta is not None:
            moved = matmul(self.part(ta, **params), ans)
            right = -moved if right is None else right - moved
        return conform_tangent(self(xs[0], right, **params), ans)

    def cotangents(self, ct, ans, xs, wanted, params):
        a, b = xs
        y = self(matrix_transpose(a), ct, **self.flipped(params))
        in_a = in_b = None
        if wanted[0]:
            in_a = conform(-self.part(matmul(y, matrix_transpose(ans)), **params), a)
        if wanted[1]:
            in_b = conform(y, b)
        return [in_a, in_b]

    def batch(self, size: int, xs: Sequence[Any], bdims: Sequence[int | None], params: dict) -> Any:
        a, b = xs
        a_ndim, b_ndim = (aval_of(x).ndim - (d is not None) for x, d in zip(xs, bdims, strict=True))
        if bdims[0] is None and a_ndim == 2 and b_ndim == 2:
            # One matrix for all examples is factorised once: their right sides are more columns.
            columns = transpose(batch_first(b, bdims[1]), axes=(1, 0, 2))
            n, _, k = columns.shape
            out = self(a, reshape(columns, shape=(n, size * k)), **params)
            return reshape(out, shape=(n, size, k)), 1
        ndim = max(a_ndim, b_ndim)
        a, b = (x if d is None else batch_first(x, d, ndim) for x, d in zip(xs, bdims, strict=True))
        return self(a, b, **params), 0


def solver(*, part: Callable[..., Any], flipped: Callable[[dict], dict]) -> Any:
    """Declare a primitive that solves a system of linear equations."""

    def make(impl: Callable[..., Any]) -> Solve:
        prim = Solve(impl, (), aval=_solve_aval)
        prim.part, prim.flipped = part, flipped
        return prim

    return make


def _solve_aval(a: Aval, b: Aval, **_params: Any) -> Aval:
    require_matrix("solve", a, square=True)
    require_matrix("solve", b, square=False)
    if a.shape[-1] != b.shape[-2]:
        raise ShapeError(f"solve: a is {a} and b is {b}: their rows differ in number{where()}")
    lead = broadcast_shapes("solve", [a.shape[:-2], b.shape[:-2]])
    return Aval((*lead, *b.shape[-2:]), factor_dtype(a, b))


# ---------------------------------------------------------------- solve


@solver(part=lambda a: a, flipped=lambda params: params)
def matrix_solve(xp, a, b, /):
    """``x`` with ``a x = b``, for matrices `b`.

    Shapes: ``a: (*p, n, n), b: (*q, n, k) -> (*broadcast(p, q), n, k)``.
    Dtypes: floating, complex; integers as float64.
    Derivative: ``dx = a^-1 (db - da x)``; smooth wherever `a` is regular.
    Raises: LinAlgError: `a` is singular.
    Source: LAPACK ``gesv``; Giles, "An extended collection of matrix derivative results for
    forward and reverse mode algorithmic differentiation" (2008), section 2.3.1.

    >>> matrix_solve(np.array([[2.0, 0.0], [0.0, 4.0]]), np.array([[2.0], [2.0]])).tolist()
    [[1.0], [0.5]]
    """
    return checked(xp, xp.linalg.solve(a, b), a, "Singular matrix")


def _triangle(a: Any, *, lower: bool, unit_diagonal: bool) -> Any:
    return tril(a, k=-unit_diagonal) if lower else triu(a, k=int(unit_diagonal))


@solver(part=_triangle, flipped=lambda params: {**params, "lower": not params["lower"]})
def triangular_solve(xp, a, b, /, *, lower, unit_diagonal):
    """``x`` with ``A x = b``, A being a triangle of `a`; with ones on its diagonal if so asked.

    The other triangle is not read. Solved by halves, so that almost all work is in matmul, or, a
    large one at a time and if SciPy is there, by LAPACK's ``trtrs``.

    Shapes: ``a: (*p, n, n), b: (*q, n, k) -> (*broadcast(p, q), n, k)``.
    Dtypes: floating, complex; integers as float64.
    Derivative: ``dx = A^-1 (db - dA x)``; smooth wherever A is regular.
    Raises: LinAlgError: A is singular.
    Source: Higham, "Accuracy and Stability of Numerical Algorithms", chapter 8.

    >>> a = np.array([[2.0, 9.0], [1.0, 4.0]])
    >>> triangular_solve(a, np.array([[2.0], [5.0]]), lower=True, unit_diagonal=False).tolist()
    [[1.0], [1.0]]
    """
    dtype = factor_dtype(Aval(a.shape, a.dtype), Aval(b.shape, b.dtype))
    a, b = a.astype(dtype, copy=False), b.astype(dtype, copy=False)
    on_host = xp.__name__ == "numpy"
    if on_host and a.ndim == b.ndim == 2 and len(a) > _BLOCK and b.size and _scipy_linalg():
        return _scipy_linalg().solve_triangular(
            a, b, lower=lower, unit_diagonal=unit_diagonal, check_finite=False
        )
    out = _substitute(xp, a, b, lower, unit_diagonal)
    return checked(xp, out, a, "Singular matrix")


@functools.cache
def _scipy_linalg() -> Any:
    """``scipy.linalg``, or None. Two to six times as fast as `_substitute` on one large triangle."""
    try:
        import scipy.linalg
    except ImportError:
        return None
    return scipy.linalg


def _substitute(xp: Any, a: Any, b: Any, lower: bool, unit: bool) -> Any:
    n = a.shape[-1]
    if xp is np and n <= _FEW and math.prod(a.shape[:-2]) >= _MANY * n:
        return _row_by_row(a, b, lower, unit)
    if n <= _BLOCK:
        # LU takes pivots from below the diagonal, so a lower triangle is solved as an upper one
        # from its end: rows exchanged would lose digits that substitution keeps, and exact zeros.
        if lower:
            a, b = a[..., ::-1, ::-1], b[..., ::-1, :]
        block = xp.triu(a, int(unit))
        x = xp.linalg.solve(block + xp.eye(n, dtype=a.dtype) if unit else block, b)
        return xp.ascontiguousarray(x[..., ::-1, :]) if lower else x
    half = n // 2
    first, second = slice(0, half), slice(half, n)
    if not lower:
        first, second = second, first
    x = _substitute(xp, a[..., first, first], b[..., first, :], lower, unit)
    rest = b[..., second, :] - xp.matmul(a[..., second, first], x)
    y = _substitute(xp, a[..., second, second], rest, lower, unit)
    return xp.concatenate((x, y) if lower else (y, x), axis=-2)


def _row_by_row(a: Any, b: Any, lower: bool, unit: bool) -> Any:
    """Rows of `x` of many small triangles at once: LAPACK takes 0.3 us to begin with each."""
    n = a.shape[-1]
    lead = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    a, b = (_matrices_last(np.broadcast_to(m, (*lead, *m.shape[-2:]))) for m in (a, b))
    if not (unit or all(a[i, i].all() for i in range(n))):
        raise np.linalg.LinAlgError("Singular matrix")
    x = b.copy()
    with np.errstate(all="ignore"):  # as LAPACK
        for i in range(n) if lower else range(n - 1, -1, -1):
            if not unit:
                x[i] /= a[i, i]
            later = slice(i + 1, n) if lower else slice(0, i)
            x[later] -= a[later, i, None] * x[i]
    return _matrices_first(x)


def _matrices_last(x: Any) -> Any:
    """The two axes of matrices before all others."""
    return x.transpose((x.ndim - 2, x.ndim - 1, *range(x.ndim - 2)))


def _matrices_first(x: Any) -> Any:
    return np.ascontiguousarray(x.transpose((*range(2, x.ndim), 0, 1)))


# ---------------------------------------------------------------- inverses


def _square_aval(x: Aval) -> Aval:
    require_matrix("inv", x, square=True)
    return Aval(x.shape, factor_dtype(x))


@general(lambda t, ans, _x: -matmul(ans, matmul(t, ans)), aval=_square_aval, batch=batch_in_front)
def inv(xp, x, /):
    """``x^-1``.

    Shapes: ``x: (*a, n, n) -> (*a, n, n)``.   Dtypes: floating, complex; integers as float64.
    Derivative: ``-x^-1 dx x^-1``; smooth wherever `x` is regular.
    Raises: LinAlgError: `x` is singular.
    Source: Giles (2008), section 2.2.3.

    >>> inv(np.array([[2.0, 0.0], [0.0, 4.0]])).tolist()
    [[0.5, 0.0], [0.0, 0.25]]
    """
    return checked(xp, xp.linalg.inv(x), x, "Singular matrix")


def _pinv_aval(x: Aval, *, rcond: float) -> Aval:
    require_matrix("pinv", x, square=False)
    return Aval((*x.shape[:-2], x.shape[-1], x.shape[-2]), factor_dtype(x))


def _pinv_tangent(t: Any, ans: Any, x: Any, *, rcond: float) -> Any:
    """Three terms; the products with ``I - x y`` and ``I - y x`` are written out."""
    back, other = adjoint(t), adjoint(ans)
    rows = matmul(matmul(ans, other), back)
    columns = matmul(back, matmul(other, ans))
    return (
        -matmul(ans, matmul(t, ans))
        + (rows - matmul(matmul(rows, x), ans))
        + (columns - matmul(ans, matmul(x, columns)))
    )


@general(_pinv_tangent, aval=_pinv_aval, batch=batch_in_front)
def pinv(xp, x, /, *, rcond):
    """The pseudo-inverse ``y``: ``x y x = x``, ``y x y = y``, and ``x y`` and ``y x`` Hermitian.

    Singular values below `rcond` times the largest count as zero.

    Shapes: ``x: (*a, m, n) -> (*a, n, m)``.   Dtypes: floating, complex; integers as float64.
    Derivative: ``-y dx y + y y^H dx^H (1 - x y) + (1 - y x) dx^H y^H y``, where the rank is
    constant; the pseudo-inverse jumps where it is not.
    Raises: LinAlgError: the singular value decomposition does not converge.
    Source: Golub & Pereyra, "The differentiation of pseudo-inverses and nonlinear least squares
    problems whose variables separate", SIAM J. Numer. Anal. 10 (1973).

    >>> pinv(np.array([[2.0], [0.0]]), rcond=1e-15).tolist()
    [[0.5, 0.0]]
    """
    return checked(xp, xp.linalg.pinv(x, rcond), x, "SVD did not converge")
