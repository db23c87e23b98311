"""Functions of square matrices: exponential, logarithm, square root.

NOTE [Blocks] With L(A, E) the derivative of f at A along E, ``f([[A, E], [0, A]])`` is
``[[f(A), L(A, E)], [0, f(A)]]``. So the second derivative at A along E and D is a block of L at
``[[A, E], [0, A]]`` along ``diag(D, D)``, and one primitive, L, has the derivatives of every order. It
is linear in E. Since traces of products may be turned, ``C -> L(A, C^T)^T`` is its transpose, and
the same holds of the second derivative by either direction.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..algebra import _OneRule, batch_first, broadcast_shapes, conform, conform_tangent, general
from ..core import Aval, aval_of
from ..errors import ArgumentError, ShapeError, where
from . import reduce
from .arithmetic import absolute
from .contract import matmul, matrix_transpose
from .from_scipy import scipy_function
from .implicit import each_matrix, sylvester
from .index import FULL, Slice, getitem
from .join import pad
from .logic import equal
from .select import stop_gradient
from .select import where as choose
from .solve import adjoint, batch_outputs, factor_dtype, matrix_solve, require_matrix
from .structural import batch_in_front, reshape

Operands = Sequence[Any]


def _square_aval(name: str) -> Callable[[Aval], Aval]:
    def aval(x: Aval) -> Aval:
        require_matrix(name, x, square=True)
        return Aval(x.shape, factor_dtype(x))

    return aval


# ---------------------------------------------------------------- derivatives: NOTE [Blocks]


def _placed(x: Any, row: int, column: int) -> Any:
    """``2n x 2n`` matrices with `x` as one of the four blocks."""
    n = x.shape[-1]
    widths = [(0, 0)] * (x.ndim - 2) + [(n * k, n * (1 - k)) for k in (row, column)]
    return pad(x, widths=tuple(widths))


def _upper_right(x: Any) -> Any:
    n = x.shape[-1] // 2
    return getitem(x, index=(*[FULL] * (x.ndim - 2), Slice(0, n, 1), Slice(n, 2 * n, 1)))


def _size(x: Any) -> Any:
    """The largest absolute value of each matrix, or 1, as a constant."""
    size = absolute(stop_gradient(x))
    size = reduce.max(size, axis=(x.ndim - 2, x.ndim - 1))
    return reshape(choose(equal(size, 0), 1.0, size), shape=(*size.shape, 1, 1))


class Frechet(_OneRule):
    """``L(a, e)``: the derivative of a function of matrices at `a` along `e`."""

    def reads(self, i: int, count: int) -> tuple[bool, tuple[bool, ...]]:
        return False, (True, i == 0)

    def second(self, a: Any, e: Any, t: Any) -> Any:
        """The second derivative along `e` and `t`; `e` is scaled, since the blocks meet in norms."""
        if 0 in a.shape or 0 in e.shape:
            return e * t
        size = _size(e)
        blocks = _placed(a, 0, 0) + _placed(a, 1, 1) + _placed(e / size, 0, 1)
        return _upper_right(self(blocks, _placed(t, 0, 0) + _placed(t, 1, 1))) * size

    def tangent(self, ans: Any, xs: Operands, ts: Operands, params: dict) -> Any:
        (a, e), (ta, te) = xs, ts
        out = None if te is None else self(a, te)
        if ta is not None:
            bent = self.second(a, e, ta)
            out = bent if out is None else out + bent
        return conform_tangent(out, ans)

    def cotangents(self, ct, ans, xs, wanted, params):
        a, e = xs
        turned = matrix_transpose(ct)
        in_a = in_e = None
        if wanted[0]:
            in_a = conform(matrix_transpose(self.second(a, e, turned)), a)
        if wanted[1]:
            in_e = conform(matrix_transpose(self(a, turned)), e)
        return [in_a, in_e]

    def batch(self, size: int, xs: Operands, bdims: Sequence[int | None], params: dict) -> Any:
        ndim = max(aval_of(x).ndim - (d is not None) for x, d in zip(xs, bdims, strict=True))
        aligned = [
            x if d is None else batch_first(x, d, ndim) for x, d in zip(xs, bdims, strict=True)
        ]
        return self(*aligned), 0


def frechet_aval(a: Aval, e: Aval) -> Aval:
    require_matrix("expm_frechet", a, square=True)
    require_matrix("expm_frechet", e, square=True)
    if a.shape[-1] != e.shape[-1]:
        raise ShapeError(f"expm_frechet: a is {a} and e is {e}: their sizes differ{where()}")
    lead = broadcast_shapes("expm_frechet", [a.shape[:-2], e.shape[:-2]])
    return Aval((*lead, *e.shape[-2:]), factor_dtype(a, e))


def _along(frechet: Any) -> Callable[..., Any]:
    """The rule of the function whose derivative it is."""
    return lambda t, _ans, x: frechet(x, t)


# ---------------------------------------------------------------- exponential

# Pade's approximant ``p(x) / p(-x)`` of degree 13: the coefficients of p.
PADE = [1.0]
for _k in range(13):
    PADE.append(PADE[-1] * (13 - _k) / ((26 - _k) * (_k + 1)))
# The first term that it has wrong, by its binary logarithm, and the norm up to which this is small.
LOG_ERROR = math.log2(math.factorial(13) ** 2 / math.factorial(26)) - math.log2(math.factorial(27))
LOG_REACH = math.log2(4.25)


def _norm(xp: Any, x: Any) -> Any:
    return xp.abs(x).sum(axis=-2).max(axis=-1)


def _product(xp: Any, x: Any, y: Any) -> Any:
    """Of values ``x[0]`` and, if they are there, derivatives ``x[1]``."""
    value = xp.matmul(x[0], y[0])
    if len(x) == 1:
        return value[None]
    return xp.stack((value, xp.matmul(x[0], y[1]) + xp.matmul(x[1], y[0])))


def _one(xp: Any, x: Any) -> Any:
    one = xp.zeros(x.shape, x.dtype)
    one[0] = xp.eye(x.shape[-1], dtype=x.dtype)
    return one


def _doubled(xp: Any, x: Any, times: Any) -> Any:
    """Each matrix times two to the power `times`, without an overflow on the way."""
    parts = xp.ascontiguousarray(x).view(xp.finfo(x.dtype).dtype)
    return xp.ldexp(parts, times[:, None, None]).view(x.dtype)


def _approximant(xp: Any, x: Any, square: Any, fourth: Any, sixth: Any) -> Any:
    """Pade's approximant of exp of `x`, of which even powers are given."""
    c, one = PADE, _one(xp, x)
    odd = _product(xp, sixth, c[13] * sixth + c[11] * fourth + c[9] * square)
    odd = _product(xp, x, odd + c[7] * sixth + c[5] * fourth + c[3] * square + c[1] * one)
    even = _product(xp, sixth, c[12] * sixth + c[10] * fourth + c[8] * square)
    below = even + c[6] * sixth + c[4] * fourth + c[2] * square + one - odd
    out = xp.linalg.solve(below[0], 2.0 * odd[0])[None]  # p(x) / p(-x) is 1 + 2 odd / below
    if len(x) > 1:
        bent = xp.linalg.solve(below[0], 2.0 * odd[1] - xp.matmul(below[1], out[0]))
        out = xp.concatenate((out, bent[None]))
    return out + one


def _halvings(xp: Any, x: Any, scale: Any, fourth: Any, sixth: Any) -> Any:
    """How often to halve the matrices ``x * 2**scale``, of norms that are 1 or less without that.

    By the powers, which of a matrix far from normal are small; then its absolute values say whether
    rounding allows that.
    """
    size = _norm(xp, x)
    powers = xp.maximum(_norm(xp, fourth) ** 0.25, _norm(xp, sixth) ** (1 / 6))
    by_norm, by_powers = (
        xp.maximum(xp.ceil(xp.log2(y) + scale - LOG_REACH), 0.0) for y in (size, powers)
    )
    if bool((by_powers < by_norm).any()):
        sums = xp.ones((*x.shape[:-2], 1, x.shape[-1]), size.dtype)
        for _ in range(27):
            sums = xp.matmul(sums, xp.abs(x))
        digits = 1 - math.log2(float(xp.finfo(x.dtype).eps))
        error = xp.log2(sums.max(axis=(-2, -1)) / size) + 26 * (scale - by_powers) + LOG_ERROR
        more = xp.nan_to_num(xp.ceil((error + digits) / 26), nan=0.0, neginf=0.0)
        by_powers = xp.minimum(by_powers + xp.maximum(more, 0.0), by_norm)
    return by_powers.astype(xp.int64)


def _exponential(xp: Any, x: Any) -> Any:
    """exp of the matrices ``x[0]`` and, if it is there, its derivative along ``x[1]``.

    In double precision: the terms of the approximant are larger than what they add up to.
    """
    shape, dtype = x.shape, x.dtype
    if 0 in shape:
        return x
    x = x.reshape(len(x), -1, *shape[-2:]).astype(xp.result_type(dtype, xp.float64), copy=False)
    with np.errstate(all="ignore"):
        finite = xp.isfinite(_norm(xp, x[0]))
        x = xp.where(finite[:, None, None], x, 0.0)
        scale = xp.ceil(xp.log2(xp.maximum(_norm(xp, x[0]), 1.0))).astype(xp.int64)
        unit = _doubled(xp, x, -scale)
        square = _product(xp, unit, unit)
        fourth = _product(xp, square, square)
        sixth = _product(xp, fourth, square)
        halvings = _halvings(xp, unit[0], scale, fourth[0], sixth[0])
        powers = zip((unit, square, fourth, sixth), (1, 2, 4, 6), strict=True)
        y = _approximant(xp, *(_doubled(xp, p, k * (scale - halvings)) for p, k in powers))
        for k in range(int(halvings.max())):
            left = halvings > k
            y[:, left] = _product(xp, y[:, left], y[:, left])
        return xp.where(finite[:, None, None], y, math.nan).astype(dtype).reshape(shape)


@lambda impl: Frechet(impl, (), aval=frechet_aval)
def expm_frechet(xp, a, e, /):
    """``L(a, e)``: the derivative of `expm` at `a` along `e`.

    Shapes: ``a: (*p, n, n), e: (*q, n, n) -> (*broadcast(p, q), n, n)``.
    Dtypes: floating, complex; integers as float64.
    Derivative: linear in `e`; by `a` see NOTE [Blocks]; smooth everywhere.
    Raises: ShapeError: the matrices are not square, or their sizes differ.
    Source: Al-Mohy & Higham, "Computing the Frechet derivative of the matrix exponential, with an
    application to condition number estimation", SIAM J. Matrix Anal. Appl. 30 (2009).

    >>> expm_frechet(np.zeros((2, 2)), np.array([[1.0, 2.0], [3.0, 4.0]])).tolist()
    [[1.0, 2.0], [3.0, 4.0]]
    """
    out = frechet_aval(Aval(a.shape, a.dtype), Aval(e.shape, e.dtype))
    pair = [xp.broadcast_to(x.astype(out.dtype, copy=False), out.shape) for x in (a, e)]
    return _exponential(xp, xp.stack(pair))[1]


@general(_along(expm_frechet), aval=_square_aval("expm"), batch=batch_in_front)
def expm(xp, x, /):
    """``1 + x + x^2 / 2! + x^3 / 3! + ...``, by scaling and squaring.

    NaN for a matrix with an element that is not finite.

    Shapes: ``x: (*a, n, n) -> (*a, n, n)``.   Dtypes: floating, complex; integers as float64.
    Derivative: `expm_frechet`; smooth everywhere.
    Raises: ShapeError: `x` is not square.
    Source: Al-Mohy & Higham, "A new scaling and squaring algorithm for the matrix exponential",
    SIAM J. Matrix Anal. Appl. 31 (2009).

    >>> expm(np.array([[0.0, 2.0], [0.0, 0.0]])).tolist()
    [[1.0, 2.0], [0.0, 1.0]]
    """
    x = x.astype(factor_dtype(Aval(x.shape, x.dtype)), copy=False)
    return _exponential(xp, x[None])[0]


# ---------------------------------------------------------------- logarithm and square root


def _by_scipy(xp: Any, name: str, x: Any) -> Any:
    """SciPy's function of each matrix, in double precision, and then in the dtype of `x`.

    Complex matrices without imaginary parts are passed as real ones: rounding errors would put each
    negative eigenvalue on either side of the branch cut.

    Raises: ArgumentError: `x` is real, and the result is not.
    """
    dtype = factor_dtype(Aval(x.shape, x.dtype))
    if 0 in x.shape:
        return xp.zeros(x.shape, dtype)
    x = x.astype(xp.result_type(dtype, xp.float64), copy=False)
    f = scipy_function(xp, name, "linalg")
    out = each_matrix(xp, lambda m: f(m if m.imag.any() else m.real), x)
    if dtype.kind != "c" and out.dtype.kind == "c":
        noise = 10 * x.shape[-1] * float(xp.finfo(dtype).eps) ** 0.5
        if float(abs(out.imag).max()) > noise * float(abs(out.real).max()):
            raise ArgumentError(
                f"{name}: a real matrix without a real result, since it has negative eigenvalues; "
                f"pass it as complex numbers, a.astype(complex){where()}"
            )
        out = out.real
    return out.astype(dtype, copy=False)


@general(
    lambda t, ans, _x: sylvester(ans, ans, t),
    aval=_square_aval("sqrtm"),
    batch=batch_in_front,
)
def sqrtm(xp, x, /):
    """The ``y`` with ``y y = x`` whose eigenvalues have no negative real part.

    Shapes: ``x: (*a, n, n) -> (*a, n, n)``.   Dtypes: floating, complex; integers as float64.
    Derivative: ``y dy + dy y = dx``; smooth where `x` has no eigenvalue that is 0 or negative.
    Raises: ArgumentError: `x` is real, `y` is not. LinAlgError: only the derivative, if singular.
    Source: Higham, "Functions of Matrices: Theory and Computation", chapter 6.

    >>> sqrtm(np.array([[4.0, 0.0], [0.0, 9.0]])).round(12).tolist()
    [[2.0, 0.0], [0.0, 3.0]]
    """
    return _by_scipy(xp, "sqrtm", x)


@lambda impl: Frechet(impl, (), aval=frechet_aval)
def logm_frechet(xp, a, e, /):
    """``L(a, e)``: the derivative of `logm` at `a` along `e`.

    Shapes: ``a: (*p, n, n), e: (*q, n, n) -> (*broadcast(p, q), n, n)``.
    Dtypes: floating, complex; integers as float64.
    Derivative: linear in `e`; by `a` see NOTE [Blocks]; smooth wherever `logm` is.
    Raises: ArgumentError: `a` is real, its logarithm is not. ShapeError: the shapes do not fit.
    Source: Higham, "Functions of Matrices: Theory and Computation", section 3.2.

    >>> logm_frechet(np.eye(2), np.array([[1.0, 2.0], [3.0, 4.0]])).round(9).tolist()
    [[1.0, 2.0], [3.0, 4.0]]
    """
    out = frechet_aval(Aval(a.shape, a.dtype), Aval(e.shape, e.dtype))
    if 0 in out.shape:
        return xp.zeros(out.shape, out.dtype)
    if not a.imag.any() and e.imag.any():  # the blocks of `_by_scipy` are real then
        parts = [xp.asarray(part, out.dtype) for part in (e.real, e.imag)]
        along, across = (logm_frechet.impl(xp, a, part) for part in parts)
        return along + along.dtype.type(1j) * across
    n, size = out.shape[-1], float(abs(e).max()) / (float(abs(a).max()) or 1.0) or 1.0
    blocks = xp.zeros((*out.shape[:-2], 2 * n, 2 * n), out.dtype)
    blocks[..., :n, :n] = blocks[..., n:, n:] = a
    blocks[..., :n, n:] = e / size
    return _by_scipy(xp, "logm", blocks)[..., :n, n:] * out.dtype.type(size)


@general(_along(logm_frechet), aval=_square_aval("logm"), batch=batch_in_front)
def logm(xp, x, /):
    """The ``y`` with ``expm(y) = x`` whose eigenvalues have imaginary parts within -pi and pi.

    Shapes: ``x: (*a, n, n) -> (*a, n, n)``.   Dtypes: floating, complex; integers as float64.
    Derivative: `logm_frechet`; smooth where `x` has no eigenvalue that is 0 or negative.
    Raises: ArgumentError: `x` is real, `y` is not.
    Source: Higham, "Functions of Matrices: Theory and Computation", chapter 11.

    >>> logm(np.array([[1.0, 2.0], [0.0, 1.0]])).round(12).tolist()
    [[0.0, 2.0], [0.0, 0.0]]
    """
    return _by_scipy(xp, "logm", x)


# ---------------------------------------------------------------- polar factors


def _polar_aval(x: Aval) -> tuple[Aval, Aval]:
    require_matrix("polar", x, square=False)
    *lead, m, n = x.shape
    if m < n:
        raise ShapeError(f"polar: needs as many rows as columns or more, found {x}{where()}")
    dtype = factor_dtype(x)
    return Aval(x.shape, dtype), Aval((*lead, n, n), dtype)


def _polar_tangent(t: Any, ans: Any, _x: Any) -> Any:
    """``w = u^H du`` is anti-Hermitian and ``dp`` Hermitian: ``w p + p w = u^H dx - dx^H u``."""
    u, p = ans
    inside = matmul(adjoint(u), t)
    w = sylvester(p, p, inside - adjoint(inside))
    du = matmul(u, w)
    if u.shape[-2] > u.shape[-1]:
        outside = t - matmul(u, inside)
        du = du + adjoint(matrix_solve(p, adjoint(outside)))
    return du, inside - matmul(w, p)


@general(_polar_tangent, aval=_polar_aval, batch=batch_outputs, multiple=True)
def polar(xp, x, /):
    """``u, p`` with ``x = u p``, orthonormal columns in `u`, and `p` Hermitian, not negative.

    Shapes: ``x: (*a, m, n) -> (*a, m, n), (*a, n, n)`` with m >= n.
    Dtypes: floating, complex; integers as float64.
    Derivative: smooth where the columns are independent, equal singular values included.
    Raises: ShapeError: n exceeds m. LinAlgError: only the derivative, where columns are dependent.
    Source: Higham, "Functions of Matrices: Theory and Computation", chapter 8.

    >>> [y.round(12).tolist() for y in polar(np.array([[0.0, -2.0], [3.0, 0.0]]))]
    [[[0.0, -1.0], [1.0, 0.0]], [[3.0, 0.0], [0.0, 2.0]]]
    """
    u, s, vh = xp.linalg.svd(x, full_matrices=False)
    turned = xp.swapaxes(vh, -1, -2).conj()
    return xp.matmul(u, vh), xp.matmul(turned * s[..., None, :], vh)
