"""Determinants, their cofactors, and the derivatives of these.

NOTE [Cofactors] The matrix of cofactors is a polynomial of the elements, so its derivatives exist at
singular matrices as well, where no formula with an inverse has them. Of a diagonal matrix they are
products of its elements, and by the singular value decomposition every matrix is a diagonal one,
turned: ``c(u s v) = det(u v) conj(u) c(s) conj(v)``. That has the first derivative, everywhere. Of
3 x 3 matrices all higher ones follow, as their cofactors are quadratic.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..algebra import concrete_namespace, general
from ..core import Aval, aval_of
from . import reduce, structural
from .arithmetic import absolute
from .complex import imag, real
from .contract import matmul, matrix_transpose
from .logic import less
from .matrix_functions import Frechet, frechet_aval
from .select import stop_gradient
from .select import where as choose
from .solve import (
    _MANY,
    _matrices_first,
    _matrices_last,
    _square_aval,
    batch_outputs,
    factor_dtype,
    inv,
    real_dtype,
    require_matrix,
)
from .structural import batch_in_front, reshape


def _matrices_with(found: Any) -> Any:
    """Which matrices have an element that is marked."""
    return found.any(axis=(-2, -1))


def _sum_matrix(x: Any) -> Any:
    """The sum over the last two axes."""
    return structural.sum(x, axis=(x.ndim - 2, x.ndim - 1))


def _scaled_matrix(x: Any, scale: Any) -> Any:
    """Each matrix of `x` times its number in `scale`."""
    return reshape(scale, shape=(*scale.shape, 1, 1)) * x


def _is_regular(x: Any, inverse: Any) -> Any:
    """Whether a matrix is regular by more than rounding, so that its inverse has any digits."""
    axes = (x.ndim - 2, x.ndim - 1)
    largest = [reduce.max(absolute(stop_gradient(m)), axis=axes) for m in (x, inverse)]
    limit = 0.1 / float(np.finfo(aval_of(inverse).dtype).eps)
    return reshape(less(largest[0] * largest[1], limit), shape=(*largest[0].shape, 1, 1))


# ---------------------------------------------------------------- cofactors: NOTE [Cofactors]


class Adjugate(Frechet):
    """The derivative of the adjugate, which is the transposed matrix of cofactors."""

    def second(self, a: Any, e: Any, t: Any) -> Any:
        """By the inverse, if the matrices are larger than 3 x 3; NaN where that has no digits."""
        if a.shape[-1] < 3:
            return e * t * 0
        if a.shape[-1] == 3:
            return self(e, t)
        inverse, adjugate = inv(a), matrix_transpose(cofactor(a))
        turned = matmul(t, inverse)
        moved = matmul(inverse, turned)  # the inverse moves by its negative
        bent = self(a, t)
        out = (
            _scaled_matrix(bent, _trace(inverse, e))
            - _scaled_matrix(adjugate, _trace(moved, e))
            + matmul(moved, matmul(e, adjugate))
            - matmul(inverse, matmul(e, bent))
        )
        # A product: of NaN by `where` the transpose would be 0.
        return out * choose(_is_regular(a, inverse), 1.0, math.nan)


def _trace(x: Any, y: Any) -> Any:
    """The trace of the product."""
    return _sum_matrix(x * matrix_transpose(y))


@lambda impl: Adjugate(impl, (), aval=frechet_aval)
def adjugate_along(xp, a, e, /):
    """The derivative at `a` along `e` of the adjugate, the transposed matrix of cofactors.

    Shapes: ``a: (*p, n, n), e: (*q, n, n) -> (*broadcast(p, q), n, n)``.
    Dtypes: floating, complex; integers as float64.
    Derivative: linear in `e`; by `a` that of ``tr(a^-1 e) b - a^-1 e b`` for the adjugate b, if they
    are larger than 3 x 3 for regular matrices only; NaN where `a` is singular but for rounding.
    Raises: ShapeError: the matrices are not square, or their sizes differ. LinAlgError: only its
    derivative by `a`, where `a` is singular.
    Source: Stewart, "On the adjugate matrix", Linear Algebra Appl. 283 (1998).

    >>> adjugate_along(np.zeros((3, 3)), np.eye(3)).tolist() == np.zeros((3, 3)).tolist()
    True
    """
    out = frechet_aval(Aval(a.shape, a.dtype), Aval(e.shape, e.dtype))
    if 0 in out.shape:
        return xp.zeros(out.shape, out.dtype)
    a, e = (xp.broadcast_to(x.astype(out.dtype, copy=False), out.shape) for x in (a, e))
    with np.errstate(over="ignore", invalid="ignore"):
        if out.shape[-1] == 3:
            return xp.swapaxes(_mixed(a, e) + _mixed(e, a), -1, -2)
        unknown = _matrices_with(~xp.isfinite(a))[..., None, None]
        a = xp.where(unknown, xp.eye(out.shape[-1], dtype=a.dtype), a)
        rows, whole = _sizes(xp, a, -1)
        columns, more = _sizes(xp, a / rows, -2)
        size = rows * columns
        e, (u, s, vh) = e / size, xp.linalg.svd(a / size)
        left, right = xp.swapaxes(u, -1, -2), xp.swapaxes(vh, -1, -2)
        e = xp.matmul(xp.matmul(left.conj(), e), right.conj())
        others = _without_pairs(xp, s)
        on_diagonal = xp.matmul(others, xp.diagonal(e, axis1=-2, axis2=-1)[..., None])
        inner = on_diagonal * xp.eye(out.shape[-1], dtype=a.dtype) - e * others
        turn = (xp.linalg.det(u) * xp.linalg.det(vh))[..., None, None]
        y = turn * xp.matmul(xp.matmul(right.conj(), inner), left.conj())
        y = y / xp.swapaxes(size, -1, -2) * (whole * more)
    return xp.where(unknown, xp.asarray(math.nan, y.dtype), y)


def _sizes(xp: Any, a: Any, axis: int) -> tuple[Any, Any]:
    """How large rows (`axis` is -1) or columns are, as powers of 2 around 1, and their product.

    The singular values of rows of very different sizes have few digits of the smaller ones.
    """
    power = xp.frexp(xp.abs(a).max(axis=axis, keepdims=True))[1].astype(xp.float64)
    power = power - xp.round(power.mean(axis=(-2, -1), keepdims=True))
    dtype = real_dtype(a.dtype)
    whole = xp.exp2(power.sum(axis=(-2, -1), keepdims=True))
    return xp.exp2(power).astype(dtype), whole.astype(dtype)


def _mixed(a: Any, b: Any) -> Any:
    """``a[i + 1, j + 1] b[i + 2, j + 2] - a[i + 1, j + 2] b[i + 2, j + 1]``, indices modulo 3."""
    one, two = [1, 2, 0], [2, 0, 1]
    upper, lower = a[..., one, :], b[..., two, :]
    return upper[..., one] * lower[..., two] - upper[..., two] * lower[..., one]


def _without_pairs(xp: Any, s: Any) -> Any:
    """At ``(i, j)`` the product of all numbers but those two; 0 on the diagonal."""
    n = s.shape[-1]
    same = xp.eye(n, dtype=bool)
    kept = xp.where(same[:, None] | same, 1, s[..., None, None, :]).prod(axis=-1)
    return xp.where(same, 0, kept)


def _cofactor_tangent(t: Any, ans: Any, x: Any) -> Any:
    if x.shape[-1] < 2:  # constant
        return t * 0
    if x.shape[-1] == 2:  # linear
        signs = 2 * concrete_namespace(ans).eye(2, dtype=t.dtype) - 1
        return structural.flip(t, axis=(t.ndim - 2, t.ndim - 1)) * signs
    return matrix_transpose(adjugate_along(x, t))


@general(_cofactor_tangent, aval=_square_aval, batch=batch_in_front)
def cofactor(xp, x, /):
    """The matrix of cofactors: ``c_ij = d det(x) / d x_ij``; ``det(x) x^-T`` if `x` is regular.

    Shapes: ``x: (*a, n, n) -> (*a, n, n)``.   Dtypes: floating, complex; integers as float64.
    Derivative: the transposed `adjugate_along`; smooth everywhere.
    Raises: nothing of its own.
    Source: Stewart, "On the adjugate matrix", Linear Algebra Appl. 283 (1998).

    >>> cofactor(np.array([[1.0, 2.0], [3.0, 4.0]])).round(12).tolist()
    [[4.0, -3.0], [-2.0, 1.0]]
    """
    if x.shape[-1] < 2:
        return xp.ones(x.shape, factor_dtype(Aval(x.shape, x.dtype)))
    out = _minors(xp, x)
    if out is not None:
        return out
    with np.errstate(over="ignore", invalid="ignore"):
        try:
            det = xp.linalg.det(x)
            out = det[..., None, None] * xp.swapaxes(xp.linalg.inv(x), -1, -2)
            if bool(xp.isfinite(out).all()):
                return out
        except np.linalg.LinAlgError:
            pass
    return _cofactor_of_singular(xp, x)


def _minors(xp: Any, x: Any) -> Any:
    """Cofactors of many 3 x 3 matrices: the determinants of what is left of each in turn."""
    if xp is not np or x.shape[-1] != 3 or math.prod(x.shape[:-2]) < _MANY:
        return None
    x = x.astype(factor_dtype(Aval(x.shape, x.dtype)), copy=False)
    x = np.ascontiguousarray(_matrices_last(x))
    left, right = [1, 2, 0], [2, 0, 1]
    upper, lower = x[left], x[right]
    with np.errstate(over="ignore", invalid="ignore"):
        out = upper[:, left] * lower[:, right] - upper[:, right] * lower[:, left]
    return _matrices_first(out) if np.isfinite(out).all() else None


def _cofactor_of_singular(xp: Any, x: Any) -> Any:
    """From the singular value decomposition, with products in place of quotients.

    There is none of matrices with infinities or NaN; their cofactors count as NaN.
    """
    unknown = _matrices_with(~xp.isfinite(x))[..., None, None]
    u, s, vh = xp.linalg.svd(xp.where(unknown, xp.eye(x.shape[-1], dtype=x.dtype), x))
    n = s.shape[-1]
    others = xp.where(xp.eye(n, dtype=bool), 1, s[..., None, :]).prod(axis=-1)
    turn = xp.linalg.det(u) * xp.linalg.det(vh)
    out = turn[..., None, None] * xp.matmul(u.conj() * others[..., None, :], vh.conj())
    return xp.where(unknown, xp.asarray(math.nan, out.dtype), out)


def _det_aval(x: Aval) -> Aval:
    require_matrix("det", x, square=True)
    return Aval(x.shape[:-2], factor_dtype(x))


@general(lambda t, _ans, x: _sum_matrix(t * cofactor(x)), aval=_det_aval, batch=batch_in_front)
def det(xp, x, /):
    """The determinant; NaN of a matrix with NaN, which to LAPACK may look singular.

    Shapes: ``x: (*a, n, n) -> (*a)``.   Dtypes: floating, complex; integers as float64.
    Derivative: ``sum_ij c_ij dx_ij`` with the cofactors c. It and the second are right for singular
    matrices too; their third ones raise from 4 x 4 on, and are NaN where rounding hides it.
    Raises: nothing of its own.
    Source: Giles (2008), section 2.2.4; Jacobi's formula.

    >>> det(np.array([[2.0, 0.0], [0.0, 4.0]])).tolist()
    8.0
    """
    out = xp.linalg.det(x)
    return out if bool(xp.all(out)) else _nan_of_nan(xp, x, out)


def _nan_of_nan(xp: Any, x: Any, out: Any) -> Any:
    """One number for each matrix, or NaN where the matrix has NaN."""
    if x.dtype.kind not in "fc":
        return out
    return xp.where(_matrices_with(xp.isnan(x)), xp.asarray(math.nan, out.dtype), out)[()]


def _slogdet_aval(x: Aval) -> tuple[Aval, Aval]:
    require_matrix("slogdet", x, square=True)
    dtype = factor_dtype(x)
    return Aval(x.shape[:-2], dtype), Aval(x.shape[:-2], real_dtype(dtype))


def _slogdet_tangent(t: Any, _ans: Any, x: Any) -> Any:
    relative = _sum_matrix(t * matrix_transpose(inv(x)))
    if relative.dtype.kind != "c":
        return None, relative
    return imag(relative) * 1j * slogdet(x)[0], real(relative)


@general(_slogdet_tangent, aval=_slogdet_aval, batch=batch_outputs, multiple=True)
def slogdet(xp, x, /):
    """``(sign, logabsdet)`` with ``det(x) = sign exp(logabsdet)`` and ``|sign| = 1``, or 0.

    Both are NaN of a matrix with NaN, which to LAPACK may look singular.

    Shapes: ``x: (*a, n, n) -> (*a), (*a)``.
    Dtypes: floating, complex; integers as float64; `logabsdet` is real.
    Derivative: ``Re tr(x^-1 dx)`` of `logabsdet`, ``sign i Im tr(x^-1 dx)`` of a complex `sign`;
    smooth wherever `x` is regular.
    Raises: LinAlgError: only the derivative, where `x` is singular.
    Source: Giles (2008), section 2.2.4.

    >>> [float(y) for y in slogdet(np.eye(2) * -3.0)]
    [1.0, 2.1972]
    """
    sign, log = xp.linalg.slogdet(x)
    if bool(xp.isfinite(log).all()):
        return sign, log
    return _nan_of_nan(xp, x, sign), _nan_of_nan(xp, x, log)
