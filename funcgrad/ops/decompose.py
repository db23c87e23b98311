"""Decompositions of matrices: cholesky, qr, eigh, eig, svd.

Matrices are the last two axes; all axes before them are a batch.

NOTE [Gaps] The derivative of an eigenvector has the distances of its eigenvalue from all others as
divisors. Where two are equal the eigenvectors are not even continuous, and no rule can know whether
what is computed from them depends on that. So the division is a primitive of its own, which warns
when it is carried out with a gap that rounding alone may have made; in reverse mode that happens
only if something was computed from the vectors, not from the values alone.

NOTE [Gauges] Eigenvectors and singular vectors are unique up to a sign, complex ones up to a phase.
The derivatives here belong to the choice in which a vector's derivative has no part along the vector
itself (for `svd`: equal and opposite parts in u and v). What depends on the choice has no derivative
that means anything; what does not gets the right one.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from ..algebra import elementwise, general
from ..core import Aval
from ..errors import MissingRuleError
from ..errors import where as user_line
from . import reduce
from .arithmetic import absolute
from .complex import imag, real
from .contract import conjugated, matmul, matrix_transpose
from .index import FULL, Slice, getitem
from .logic import equal
from .select import stop_gradient, where
from .solve import (
    adjoint,
    batch_outputs,
    checked,
    factor_dtype,
    matrix_solve,
    real_dtype,
    require_matrix,
    triangular_solve,
)
from .structural import batch_in_front, broadcast_to, diagonal, diagonal_embed, reshape, tril, triu


def hermitian_part(x: Any) -> Any:
    """``(x + x^H) / 2``."""
    return (x + adjoint(x)) * 0.5


def _hermitian_part(xp: Any, x: Any) -> Any:
    """The same inside an implementation. Exact for a Hermitian `x`."""
    return (x + xp.swapaxes(x, -1, -2).conj()) * 0.5


def matrix_diagonal(x: Any) -> Any:
    """The main diagonals of the matrices."""
    return diagonal(x, offset=0, axis1=x.ndim - 2, axis2=x.ndim - 1)


def off_diagonal(x: Any) -> Any:
    """The matrices with zeros on their diagonals."""
    return tril(x, k=-1) + triu(x, k=1)


def _on_diagonal(x: Any) -> Any:
    """Square matrices with `x` on their diagonals."""
    n, ndim = x.shape[-1], x.ndim
    return diagonal_embed(x, shape=(*x.shape, n), offset=0, axis1=ndim - 1, axis2=ndim)


def _as_row(x: Any) -> Any:
    return reshape(x, shape=(*x.shape[:-1], 1, x.shape[-1]))


def _as_column(x: Any) -> Any:
    return reshape(x, shape=(*x.shape, 1))


# ---------------------------------------------------------------- cholesky


def _square_aval(x: Aval) -> Aval:
    require_matrix("cholesky", x, square=True)
    return Aval(x.shape, factor_dtype(x))


def _cholesky_tangent(t: Any, ans: Any, _x: Any) -> Any:
    def divided(y: Any) -> Any:
        return triangular_solve(ans, y, lower=True, unit_diagonal=False)

    relative = divided(adjoint(divided(hermitian_part(t))))  # L^-1 dx L^-H
    return matmul(ans, (tril(relative, k=0) + tril(relative, k=-1)) * 0.5)


@general(_cholesky_tangent, aval=_square_aval, batch=batch_in_front)
def cholesky(xp, x, /):
    """The lower triangular ``L`` with a positive diagonal and ``L L^H = x``.

    `x` stands for its Hermitian part ``(x + x^H) / 2``, so gradients are Hermitian too.

    Shapes: ``x: (*a, n, n) -> (*a, n, n)``.   Dtypes: floating, complex; integers as float64.
    Derivative: ``L Phi(L^-1 dx L^-H)``, Phi being the lower triangle with half the diagonal;
    smooth wherever `x` is positive definite.
    Raises: LinAlgError: `x` is not positive definite, which it is not with NaN.
    Source: Murray, "Differentiation of the Cholesky decomposition", arXiv:1602.07527.

    >>> cholesky(np.array([[4.0, 2.0], [2.0, 2.0]])).tolist()
    [[2.0, 0.0], [1.0, 1.0]]
    """
    out = xp.linalg.cholesky(_hermitian_part(xp, x))
    if bool(xp.isnan(xp.diagonal(out, 0, -2, -1)).any()):  # LAPACK lets NaN pass
        raise np.linalg.LinAlgError("Matrix is not positive definite")
    return out


# ---------------------------------------------------------------- qr


def _qr_aval(x: Aval) -> tuple[Aval, Aval]:
    require_matrix("qr", x, square=False)
    *lead, m, n = x.shape
    k, dtype = min(m, n), factor_dtype(x)
    return Aval((*lead, m, k), dtype), Aval((*lead, k, n), dtype)


def _first_columns(x: Any, k: int) -> Any:
    if x.shape[-1] == k:
        return x
    return getitem(x, index=(*[FULL] * (x.ndim - 1), Slice(0, k, 1)))


def _qr_tangent(t: Any, ans: Any, _x: Any) -> Any:
    """With ``q^H dq = w`` anti-Hermitian: dr must be triangular, which fixes w."""
    q, r = ans
    k = q.shape[-1]
    relative = matrix_transpose(  # dx r^-1, of the first k columns
        triangular_solve(
            matrix_transpose(_first_columns(r, k)),
            matrix_transpose(_first_columns(t, k)),
            lower=True,
            unit_diagonal=False,
        )
    )
    inside = matmul(adjoint(q), relative)
    low = tril(inside, k=-1)
    w = low - adjoint(low)
    if q.dtype.kind == "c":  # the diagonal of r stays real
        w = w + _on_diagonal(imag(matrix_diagonal(inside)) * 1j)
    dq = matmul(q, w - inside) + relative
    return dq, triu(matmul(adjoint(q), t) - matmul(w, r), k=0)


@general(_qr_tangent, aval=_qr_aval, batch=batch_outputs, multiple=True)
def qr(xp, x, /):
    """``q, r`` with ``x = q r``, orthonormal columns in `q` and `r` upper triangular; reduced.

    Shapes: ``x: (*a, m, n) -> (*a, m, k), (*a, k, n)`` with ``k = min(m, n)``.
    Dtypes: floating, complex; integers as float64.
    Derivative: smooth where the first k columns are independent.
    Raises: LinAlgError: only the derivative, where the first k columns are dependent.
    Source: Walter, Lehmann & Lamour, "On evaluating higher-order derivatives of the QR
    decomposition of tall matrices with full column rank", Optim. Methods Softw. 27 (2012).

    >>> [y.tolist() for y in qr(np.array([[-2.0], [0.0]]))]
    [[[1.0], [0.0]], [[-2.0]]]
    """
    q, r = xp.linalg.qr(x)
    return q, r


def _no_rule(text: str) -> Callable[..., NoReturn]:
    def rule(_t: Any, ans: Any, x: Any) -> NoReturn:
        raise MissingRuleError(
            f"{text} have no derivative, here of a matrix of shape {list(x.shape)}{user_line()}"
        )

    return rule


def _square_sides(x: Aval) -> tuple[Aval, Aval, Aval]:
    """The types of x, and of square matrices from the left and the right."""
    *lead, m, n = x.shape
    dtype = factor_dtype(x)
    return Aval((*lead, m, n), dtype), Aval((*lead, m, m), dtype), Aval((*lead, n, n), dtype)


def _qr_complete_aval(x: Aval) -> tuple[Aval, Aval]:
    require_matrix("qr", x, square=False)
    like, left, _ = _square_sides(x)
    return left, like


@general(
    _no_rule("qr: the columns that mode='complete' adds (use mode='reduced', SciPy's 'economic')"),
    aval=_qr_complete_aval,
    batch=batch_outputs,
    multiple=True,
)
def qr_complete(xp, x, /):
    """``q, r`` with ``x = q r``: a unitary `q`, and zeros below the triangle of `r`.

    Shapes: ``x: (*a, m, n) -> (*a, m, m), (*a, m, n)``.
    Dtypes: floating, complex; integers as float64.
    Derivative: refused: the columns of `q` after the first n are no smooth choice, any orthogonal ones.
    Raises: MissingRuleError: a derivative.
    Source: LAPACK geqrf, orgqr; NumPy reference, ``numpy.linalg.qr``.

    >>> [y.tolist() for y in qr_complete(np.array([[-2.0], [0.0]]))]
    [[[1.0, 0.0], [0.0, 1.0]], [[-2.0], [0.0]]]
    """
    q, r = xp.linalg.qr(x, "complete")
    return q, r


def _geqrf_aval(x: Aval) -> tuple[Aval, Aval]:
    require_matrix("geqrf", x, square=False)
    *lead, m, n = x.shape
    dtype = factor_dtype(x)
    return Aval((*lead, m, n), dtype), Aval((*lead, min(m, n)), dtype)


@general(
    _no_rule("geqrf: the reflections (use qr)"),
    aval=_geqrf_aval,
    batch=batch_outputs,
    multiple=True,
)
def geqrf(xp, x, /):
    """R of `qr` in the upper triangle, the reflections that make Q below, and their scales.

    Q is the product of ``1 - tau_i v_i v_i^H``; v_i is column i below a one on the diagonal.

    Shapes: ``x: (*a, m, n) -> (*a, m, n), (*a, min(m, n))``.
    Dtypes: floating, complex; integers as float64.
    Derivative: refused: where there is a smooth one, that of `qr` says the same.
    Raises: MissingRuleError: a derivative.
    Source: LAPACK geqrf.

    >>> [y.tolist() for y in geqrf(np.array([[3.0], [4.0]]))]
    [[[-5.0], [0.5]], [1.6]]
    """
    if not x.size:
        packed, tau = _geqrf_aval(Aval(x.shape, x.dtype))
        return xp.zeros(packed.shape, packed.dtype), xp.zeros(tau.shape, tau.dtype)
    packed, tau = xp.linalg.qr(x, "raw")
    return xp.ascontiguousarray(packed.swapaxes(-1, -2)), tau


# ---------------------------------------------------------------- gaps


def gaps(x: Any, *, sign: int) -> Any:
    """``g_ij = x_j + sign x_i`` for ``i != j``; the largest ``|x|``, or 1, on the diagonal.

    The diagonal can be divided by and tells `gap_divide` what is small; what it divides is zero.

    >>> gaps(np.array([1.0, 4.0]), sign=-1).tolist()
    [[4.0, 3.0], [-3.0, 4.0]]
    """
    differences = off_diagonal(_as_row(x) + _as_column(x) * sign)
    if not x.shape[-1]:
        return differences
    size = reduce.max(absolute(stop_gradient(x)), axis=(x.ndim - 1,))
    size = where(equal(size, 0), 1.0, size)
    return differences + _on_diagonal(broadcast_to(_as_column(size), shape=x.shape))


_GAP = (
    "derivative of eigenvectors or singular vectors: a gap of {:.3g} between two values is zero up "
    "to rounding, so the derivative is infinite, NaN or meaningless unless nothing depends on these "
    "vectors; the derivatives of the values are right{}"
)


@elementwise(
    lambda _z, _t, g: gap_divide(1.0, g),
    lambda z, _t, g: gap_divide(-z, g),
)
def gap_divide(xp, t, g, /):
    """``t / g``, with a warning where `g` is so near zero that rounding may have made it.

    Shapes: broadcast; `g` has the gaps of one matrix in its last two axes.   Dtypes: numbers.
    Derivative: ``1 / g`` and ``-t / g^2``.
    Raises: ShapeError: the shapes do not broadcast.
    Source: NOTE [Gaps].

    >>> gap_divide(np.array([[1.0, 2.0]]), np.array([[2.0, 4.0]])).tolist()
    [[0.5, 0.5]]
    """
    size = xp.abs(g)
    if size.size:
        largest = size.max(axis=(-2, -1), keepdims=True) if size.ndim > 1 else size.max()
        relative = float((size / xp.where(largest == 0, 1, largest)).min())
        if relative <= 16 * max(size.shape[-1:], default=1) * float(np.finfo(size.dtype).eps):
            warnings.warn(_GAP.format(float(size.min()), user_line()), stacklevel=2)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        return xp.divide(t, g)


# ---------------------------------------------------------------- eigh


def _eigh_aval(x: Aval) -> tuple[Aval, Aval]:
    require_matrix("eigh", x, square=True)
    dtype = factor_dtype(x)
    return Aval(x.shape[:-1], real_dtype(dtype)), Aval(x.shape, dtype)


def _eigh_tangent(t: Any, ans: Any, _x: Any) -> Any:
    w, v = ans
    inside = matmul(adjoint(v), matmul(hermitian_part(t), v))
    dw = matrix_diagonal(inside)
    turn = gap_divide(off_diagonal(inside), gaps(w, sign=-1))
    return real(dw) if dw.dtype.kind == "c" else dw, matmul(v, turn)


@general(_eigh_tangent, aval=_eigh_aval, batch=batch_outputs, multiple=True)
def eigh(xp, x, /):
    """``w, v``: eigenvalues, ascending, and eigenvectors (columns): ``x v = v diag(w)``.

    `x` stands for its Hermitian part ``(x + x^H) / 2``, so gradients are Hermitian too.

    Shapes: ``x: (*a, n, n) -> (*a, n), (*a, n, n)``.
    Dtypes: floating, complex; integers as float64; `w` is real.
    Derivative: ``dw_i = v_i^H dx v_i``, ``dv_j = sum_i v_i (v_i^H dx v_j) / (w_j - w_i)``; with
    equal eigenvalues that of `v` warns and is infinite or NaN, see NOTE [Gaps], NOTE [Gauges].
    Raises: LinAlgError: no convergence.
    Source: Giles (2008), section 3.1; Magnus, "On differentiating eigenvalues and eigenvectors",
    Econometric Theory 1 (1985).

    >>> eigh(np.array([[2.0, 0.0], [0.0, 1.0]]))[0].tolist()
    [1.0, 2.0]
    """
    w, v = xp.linalg.eigh(_hermitian_part(xp, x))
    return w, checked(xp, v, x, "Eigenvalues did not converge")


def _inside(u: Any, t: Any, v: Any) -> Any:
    """``Re u_i^H t v_i`` for every column i."""
    products = (matmul(t, v) * conjugated(u)).sum(axis=u.ndim - 2)
    return real(products) if products.dtype.kind == "c" else products


def _eigvalsh_tangent(t: Any, _ans: Any, x: Any) -> Any:
    v = eigh(x)[1]
    return _inside(v, hermitian_part(t), v)


@general(_eigvalsh_tangent, aval=lambda x: _eigh_aval(x)[0], batch=batch_in_front)
def eigvalsh(xp, x, /):
    """The eigenvalues, ascending: as `eigh`, without the time and the gaps of the eigenvectors.

    Shapes: ``x: (*a, n, n) -> (*a, n)``.   Dtypes: floating, complex ``->`` real.
    Derivative: ``dw_i = v_i^H dx v_i``; with equal eigenvalues right for functions that treat these
    alike, and the second derivative warns.
    Raises: LinAlgError: no convergence.
    Source: Giles (2008), section 3.1.

    >>> eigvalsh(np.array([[2.0, 0.0], [0.0, 1.0]])).tolist()
    [1.0, 2.0]
    """
    w = xp.linalg.eigvalsh(_hermitian_part(xp, x))
    return checked(xp, w, x, "Eigenvalues did not converge")


# ---------------------------------------------------------------- eig


def _eig_aval(x: Aval) -> tuple[Aval, Aval]:
    require_matrix("eig", x, square=True)
    dtype = np.result_type(factor_dtype(x), np.complex64)
    return Aval(x.shape[:-1], dtype), Aval(x.shape, dtype)


def _entry(v: Any) -> Any:
    """1 at the entry of each column that LAPACK has turned to be real, the largest; 0 elsewhere."""
    v = stop_gradient(v)
    if not v.shape[-1]:
        return absolute(v)
    size = where(equal(imag(v), 0), absolute(v), -1.0)
    largest = reduce.max(size, axis=(v.ndim - 2,))
    chosen = equal(size, _as_row(largest)).astype(size.dtype)
    return chosen / _as_row(chosen.sum(axis=v.ndim - 2))  # equal ones share


def _eig_tangent(t: Any, ans: Any, _x: Any) -> Any:
    """That of `v` has a part along `v` that keeps the lengths 1 and one entry real."""
    w, v = ans
    inside = matrix_solve(v, matmul(t, v))
    moved = matmul(v, gap_divide(off_diagonal(inside), gaps(w, sign=-1)))
    longer = real((moved * conjugated(v)).sum(axis=v.ndim - 2))
    entry = _entry(v)
    turned = imag((moved * entry).sum(axis=v.ndim - 2)) / real((v * entry).sum(axis=v.ndim - 2))
    return matrix_diagonal(inside), moved - _as_row(longer + turned * 1j) * v


@general(_eig_tangent, aval=_eig_aval, batch=batch_outputs, multiple=True)
def eig(xp, x, /):
    """``w, v``: eigenvalues in no order, and eigenvectors (columns) of length 1: ``x v = v diag(w)``.

    Shapes: ``x: (*a, n, n) -> (*a, n), (*a, n, n)``.
    Dtypes: floating, complex, integers as float64; always gives complex numbers.
    Derivative: with ``p = v^-1 dx v``: ``dw_i = p_ii``, ``dv_j = sum_i v_i p_ij / (w_j - w_i)`` and
    what keeps the length and the phase that LAPACK chooses, the largest entry being real; with equal
    eigenvalues that of `v` warns and is infinite or NaN, see NOTE [Gaps];
    smooth inside its domain.
    Raises: LinAlgError: no convergence, or in the derivative a matrix without n eigenvectors.
    Source: Boeddeker, Hanebrink, Drude, Heymann & Haeb-Umbach, "On the computation of complex-valued
    gradients with application to statistically optimum beamforming", arXiv:1701.00392; LAPACK geev.

    >>> eig(np.array([[0.0, 1.0], [-1.0, 0.0]]))[0].tolist()
    [1j, -1j]
    """
    w, v = xp.linalg.eig(x)
    dtype = xp.result_type(v.dtype, xp.complex64)
    return w.astype(dtype), v.astype(dtype)


def _eigvals_tangent(t: Any, _ans: Any, x: Any) -> Any:
    v = eig(x)[1]
    return matrix_diagonal(matrix_solve(v, matmul(t, v)))


@general(_eigvals_tangent, aval=lambda x: _eig_aval(x)[0], batch=batch_in_front)
def eigvals(xp, x, /):
    """The eigenvalues, in no order: as `eig`, without the gaps of the eigenvectors.

    Shapes: ``x: (*a, n, n) -> (*a, n)``.
    Dtypes: floating, complex, integers as float64; always gives complex numbers.
    Derivative: ``(v^-1 dx v)_ii`` with the eigenvectors of `eig`; smooth inside its domain.
    Raises: LinAlgError: no convergence, or in the derivative a matrix without n eigenvectors.
    Source: Magnus (1985).

    >>> eigvals(np.array([[0.0, 1.0], [-1.0, 0.0]])).tolist()
    [1j, -1j]
    """
    # The same values in the same order as those of `eig`, whose vectors the derivative takes.
    w = xp.linalg.eig(x)[0]
    return w.astype(xp.result_type(w.dtype, xp.complex64))


# ---------------------------------------------------------------- svd


def _svd_aval(x: Aval) -> tuple[Aval, Aval, Aval]:
    require_matrix("svd", x, square=False)
    *lead, m, n = x.shape
    k, dtype = min(m, n), factor_dtype(x)
    return (
        Aval((*lead, m, k), dtype),
        Aval((*lead, k), real_dtype(dtype)),
        Aval((*lead, k, n), dtype),
    )


def _beyond(t: Any, base: Any, s: Any) -> Any:
    """The part of `t` outside the span of the columns of `base`, divided by singular values."""
    return gap_divide(t - matmul(base, matmul(adjoint(base), t)), _as_row(s))


def _svd_tangent(t: Any, ans: Any, _x: Any) -> Any:
    """``u^H dx v = w_u s + ds + s w_v^H`` with anti-Hermitian w_u, w_v gives all three."""
    u, s, vh = ans
    v = adjoint(vh)
    tv = matmul(t, v)
    inside = matmul(adjoint(u), tv)
    ds = matrix_diagonal(inside)
    even, odd = inside + adjoint(inside), inside - adjoint(inside)
    even = gap_divide(off_diagonal(even), gaps(s, sign=-1))
    phase = odd.dtype.kind == "c"
    odd_part = gap_divide(off_diagonal(odd), gaps(s, sign=1))
    if phase:
        turn = gap_divide(_as_row(imag(ds)), _as_row(s))
        odd_part = odd_part + _on_diagonal(reshape(turn, shape=s.shape) * 1j)
    du = matmul(u, (even + odd_part) * 0.5)
    dv = matmul(v, (even - odd_part) * 0.5)
    m, n, k = u.shape[-2], v.shape[-2], s.shape[-1]
    if m > k:
        du = du + _beyond(tv, u, s)
    if n > k:
        dv = dv + _beyond(matmul(adjoint(t), u), v, s)
    return du, real(ds) if phase else ds, adjoint(dv)


@general(_svd_tangent, aval=_svd_aval, batch=batch_outputs, multiple=True)
def svd(xp, x, /):
    """``u, s, vh`` with ``x = u diag(s) vh``, orthonormal columns of `u` and rows of `vh`; reduced.

    Shapes: ``x: (*a, m, n) -> (*a, m, k), (*a, k), (*a, k, n)`` with ``k = min(m, n)``.
    Dtypes: floating, complex; integers as float64; `s` is real and descending.
    Derivative: ``ds_i = Re u_i^H dx v_i``; that of `u` and `vh` divides by the distances of the
    singular values, by their sums, and of rectangular matrices by themselves; where these are zero
    it warns and is infinite or NaN, see NOTE [Gaps], NOTE [Gauges].
    Raises: LinAlgError: no convergence.
    Source: Seeger, Hetzel, Dai, Meissner & Lawrence, "Auto-differentiating linear algebra",
    arXiv:1710.08717; Giles (2008), section 3.2; Wan & Zhang, arXiv:1909.02659 (complex).

    >>> svd(np.array([[3.0, 0.0], [0.0, -4.0]]))[1].tolist()
    [4.0, 3.0]
    """
    u, s, vh = xp.linalg.svd(x, full_matrices=False)
    return u, checked(xp, s, x, "SVD did not converge"), vh


def _svd_complete_aval(x: Aval) -> tuple[Aval, Aval, Aval]:
    values = _svd_aval(x)[1]
    _, left, right = _square_sides(x)
    return left, values, right


@general(
    _no_rule("svd: the vectors that full_matrices=True adds (pass full_matrices=False)"),
    aval=_svd_complete_aval,
    batch=batch_outputs,
    multiple=True,
)
def svd_complete(xp, x, /):
    """``u, s, vh`` as of `svd`, with more columns of `u` or rows of `vh`, so that both are unitary.

    Shapes: ``x: (*a, m, n) -> (*a, m, m), (*a, min(m, n)), (*a, n, n)``.
    Dtypes: floating, complex; integers as float64; `s` is real and descending.
    Derivative: refused, since what is added is no smooth choice, any vectors orthogonal to the others.
    Raises: MissingRuleError: a derivative. LinAlgError: no convergence.
    Source: LAPACK gesdd; NumPy reference, ``numpy.linalg.svd``.

    >>> [y.tolist() for y in svd_complete(np.array([[3.0, 0.0]]))]
    [[[1.0]], [3.0], [[1.0, 0.0], [-0.0, 1.0]]]
    """
    u, s, vh = xp.linalg.svd(x)
    return u, checked(xp, s, x, "SVD did not converge"), vh


def _svdvals_tangent(t: Any, _ans: Any, x: Any) -> Any:
    u, _, vh = svd(x)
    return _inside(u, t, adjoint(vh))


@general(_svdvals_tangent, aval=lambda x: _svd_aval(x)[1], batch=batch_in_front)
def svdvals(xp, x, /):
    """The singular values, descending: as `svd`, without the time and the gaps of the vectors.

    Shapes: ``x: (*a, m, n) -> (*a, k)`` with ``k = min(m, n)``.
    Dtypes: floating, complex ``->`` real.
    Derivative: ``ds_i = Re u_i^H dx v_i``; with equal singular values right for functions that
    treat these alike, and the second derivative warns.
    Raises: LinAlgError: no convergence.
    Source: Giles (2008), section 3.2.

    >>> svdvals(np.array([[3.0, 0.0], [0.0, -4.0]])).tolist()
    [4.0, 3.0]
    """
    s = xp.linalg.svd(x, compute_uv=False)
    return checked(xp, s, x, "SVD did not converge")
