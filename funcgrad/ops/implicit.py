"""Solutions of equations with a structure: Sylvester's, banded ones, recursive filters, Riccati's.

But for Riccati's, each is linear in its last operand. Axes before those of the operation are a batch
and broadcast.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..algebra import _OneRule, batch_first, broadcast_shapes, conform, conform_tangent, general
from ..core import Aval, aval_of
from ..errors import ShapeError, where
from .contract import matmul, matrix_transpose
from .from_scipy import scipy_function, scipy_if_there
from .index import FULL, Slice, getitem
from .index_layout import on_host
from .join import concatenate, pad
from .solve import checked, factor_dtype, require_matrix
from .structural import batch_in_front, reshape, sum

Operands = Sequence[Any]


class Implicit(_OneRule):
    """``y`` with ``G(x, y) = b``, where G is linear in `y` and b is the last operand.

    Declared by three functions. `moved` is the derivative of G by the others, ``(ts, xs, y)``;
    `flipped` gives the operands and parameters with which the primitive solves the transposed
    equation; `back` is the transpose of `moved`, ``(z, xs, y)``. With z the solution of the
    transposed equation for ``ct``: ``dy`` solves for ``db - moved``, the cotangents are ``-back``
    and z. `core` counts every operand's axes that are no batch.
    """

    moved: Callable[..., Any]
    flipped: Callable[..., tuple[Operands, dict]]
    back: Callable[..., list[Any]]
    core: tuple[int, ...]

    def reads(self, i: int, count: int) -> tuple[bool, tuple[bool, ...]]:
        return i < count - 1, (*[True] * (count - 1), False)

    def tangent(self, ans: Any, xs: Operands, ts: Operands, params: dict) -> Any:
        right = ts[-1]
        if any(t is not None for t in ts[:-1]):
            off = self.moved(ts[:-1], xs[:-1], ans, **params)
            right = -off if right is None else right - off
        return conform_tangent(self(*xs[:-1], right, **params), ans)

    def cotangents(self, ct, ans, xs, wanted, params):
        others, transposed = self.flipped(xs[:-1], **params)
        z = self(*others, ct, **transposed)
        found: list[Any] = [None] * (len(xs) - 1)
        if any(wanted[:-1]):
            found = self.back(z, xs[:-1], ans, **params)
        found = [
            conform(-g, x) if want else None
            for g, x, want in zip(found, xs[:-1], wanted[:-1], strict=True)
        ]
        return [*found, conform(z, xs[-1]) if wanted[-1] else None]

    def batch(self, size: int, xs: Operands, bdims: Sequence[int | None], params: dict) -> Any:
        leads = [
            aval_of(x).ndim - (d is not None) - core
            for x, d, core in zip(xs, bdims, self.core, strict=True)
        ]
        aligned = [
            x if d is None else batch_first(x, d, max(leads) + core)
            for x, d, core in zip(xs, bdims, self.core, strict=True)
        ]
        return self(*aligned, **params), 0


def implicit(*, aval: Any, moved: Any, flipped: Any, back: Any, core: tuple[int, ...]) -> Any:
    """Declare a primitive that solves an equation which is linear in its result."""

    def make(impl: Callable[..., Any]) -> Implicit:
        prim = Implicit(impl, (), aval=aval)
        prim.moved, prim.flipped, prim.back, prim.core = moved, flipped, back, core
        return prim

    return make


def total(terms: Operands) -> Any:
    """The sum of those terms that are there."""
    return functools.reduce(lambda x, y: x + y, (t for t in terms if t is not None))


def each_matrix(xp: Any, f: Callable[..., Any], *stacks: Any, core: int = 2) -> Any:
    """``f`` of one set of matrices at a time; the leading axes of the stacks broadcast."""
    lead = np.broadcast_shapes(*(x.shape[: x.ndim - core] for x in stacks))
    if not lead:
        return xp.ascontiguousarray(f(*stacks))
    flat = [
        xp.broadcast_to(x, lead + x.shape[x.ndim - core :]).reshape(
            math.prod(lead), *x.shape[x.ndim - core :]
        )
        for x in stacks
    ]
    outs = [f(*matrices) for matrices in zip(*flat, strict=True)]
    return xp.stack(outs).reshape(*lead, *outs[0].shape)


# ---------------------------------------------------------------- Sylvester's equation


def _sylvester_aval(a: Aval, b: Aval, q: Aval) -> Aval:
    require_matrix("solve_sylvester", a, square=True)
    require_matrix("solve_sylvester", b, square=True)
    require_matrix("solve_sylvester", q, square=False)
    if q.shape[-2:] != (a.shape[-1], b.shape[-1]):
        raise ShapeError(
            f"solve_sylvester: a is {a}, b is {b} and q is {q}: q needs the rows of a and the columns "
            f"of b{where()}"
        )
    lead = broadcast_shapes("solve_sylvester", [x.shape[:-2] for x in (a, b, q)])
    return Aval((*lead, *q.shape[-2:]), factor_dtype(a, b, q))


def _sylvester_moved(ts: Operands, _xs: Operands, y: Any) -> Any:
    ta, tb = ts
    left = None if ta is None else matmul(ta, y)
    return total([left, None if tb is None else matmul(y, tb)])


@implicit(
    aval=_sylvester_aval,
    moved=_sylvester_moved,
    flipped=lambda xs: ([matrix_transpose(x) for x in xs], {}),
    back=lambda z, _xs, y: [matmul(z, matrix_transpose(y)), matmul(matrix_transpose(y), z)],
    core=(2, 2, 2),
)
def sylvester(xp, a, b, q, /):
    """``y`` with ``a y + y b = q``.

    By the Schur forms of `a` and `b` if SciPy is there; else, and on CuPy, as one large system.

    Shapes: ``a: (*r, m, m), b: (*s, n, n), q: (*t, m, n) -> (*broadcast(r, s, t), m, n)``.
    Dtypes: floating, complex; integers as float64.
    Derivative: ``a dy + dy b = dq - da y - y db``; smooth where no eigenvalue of `a` is one of -b.
    Raises: LinAlgError: `a` and `-b` have an eigenvalue in common.
    Source: Bartels & Stewart, "Solution of the matrix equation AX + XB = C", Commun. ACM 15 (1972).

    >>> sylvester(np.eye(2), np.eye(1), np.array([[2.0], [4.0]])).tolist()
    [[1.0], [2.0]]
    """
    out = _sylvester_aval(*(Aval(x.shape, x.dtype) for x in (a, b, q)))
    if 0 in out.shape:
        return xp.zeros(out.shape, out.dtype)
    a, b, q = (x.astype(out.dtype, copy=False) for x in (a, b, q))
    schur = scipy_if_there("", "schur", "linalg") if on_host(xp) else None
    if schur is None:
        return each_matrix(xp, functools.partial(_sylvester_as_system, xp), a, b, q)
    return each_matrix(xp, functools.partial(_sylvester_by_schur, schur), a, b, q)


def _sylvester_by_schur(schur: Any, a: Any, b: Any, q: Any) -> Any:
    if not all(np.isfinite(x).all() for x in (a, b, q)):
        return np.full_like(q, np.nan)
    form = "complex" if q.dtype.kind == "c" else "real"
    r, u = schur(a, output=form)
    s, v = schur(b, output=form)
    lapack: Any = scipy_if_there("", "get_lapack_funcs", "linalg")
    trsyl = lapack(("trsyl",), (r, s, q))[0]
    y, scale, info = trsyl(r, s, u.conj().T @ q @ v)
    if info:
        raise np.linalg.LinAlgError("solve_sylvester: a and -b have an eigenvalue in common")
    return u @ (y / scale) @ v.conj().T


def _sylvester_as_system(xp: Any, a: Any, b: Any, q: Any) -> Any:
    rows, columns = (xp.eye(x.shape[0], dtype=q.dtype) for x in (a, b))
    system = xp.kron(a, columns) + xp.kron(rows, b.T)
    out = xp.linalg.solve(system, q.reshape(-1, 1)).reshape(q.shape)
    return checked(xp, out, system, "Singular matrix")


# ---------------------------------------------------------------- Riccati's equation


def _stable_aval(h: Aval, *, count: int) -> Aval:
    require_matrix("stable_subspace", h, square=True)
    return Aval((*h.shape[:-2], h.shape[-1] - count, count), factor_dtype(h))


def _stable_tangent(t: Any, y: Any, h: Any, *, count: int) -> Any:
    def along(m: Any) -> tuple[Any, Any]:
        """The first rows of ``m (1; y)``, and the others."""
        both = _columns(m, 0, count) + matmul(_columns(m, count, m.shape[-1]), y)
        return _rows(both, 0, count), _rows(both, count, m.shape[-1])

    above, below = along(t)
    last = _columns(h, count, h.shape[-1])
    others = _rows(last, count, h.shape[-1]) - matmul(y, _rows(last, 0, count))
    return sylvester(others, -along(h)[0], matmul(y, above) - below)


@general(_stable_tangent, aval=_stable_aval, batch=batch_in_front)
def stable_subspace(xp, h, /, *, count):
    """``y`` such that ``(1; y)`` spans the space that `h` maps into itself and in which it decays.

    That is ``h (1; y) = (1; y) s``, where the eigenvalues of s have negative real parts; `h` has
    `count` of them. For 2n by 2n matrices it is Riccati's equation.

    Shapes: ``h: (*a, m, m) -> (*a, m - count, count)``.
    Dtypes: floating, complex; integers as float64.
    Derivative: Sylvester's equation, ``(h_22 - y h_12) dy - dy s = (y, -1) dh (1; y)``; smooth.
    Raises: LinAlgError: another number of eigenvalues has negative real parts, one is about imaginary,
    or no y is finite.
    Source: Laub, "A Schur method for solving algebraic Riccati equations", IEEE Trans. Autom. Control
    24 (1979).

    >>> stable_subspace(np.array([[0.0, -1.0], [-4.0, 0.0]]), count=1).tolist()
    [[2.0]]
    """
    out = _stable_aval(Aval(h.shape, h.dtype), count=count)
    if 0 in out.shape:
        return xp.zeros(out.shape, out.dtype)
    schur = scipy_function(xp, "schur", "linalg")
    balance = scipy_function(xp, "matrix_balance", "linalg")
    each = functools.partial(_stable_by_schur, schur, balance, count=count)
    return each_matrix(xp, each, h.astype(out.dtype, copy=False))


def _stable_by_schur(schur: Any, balance: Any, h: Any, *, count: int) -> Any:
    if not np.isfinite(h).all():
        return np.full((h.shape[0] - count, count), np.nan, h.dtype)
    scaled, (scales, _) = balance(h, permute=False, separate=True)
    form = "complex" if h.dtype.kind == "c" else "real"
    t, u, found = schur(scaled, output=form, sort="lhp")
    values, eps = np.linalg.eigvals(t), float(np.finfo(h.dtype).eps)
    # Pairs on the border come out as far beside it as the root of the precision.
    border = (abs(values.real) < 3 * eps**0.5 * abs(values)).any()
    first = u[:count, :count]
    if found != count or border or np.linalg.cond(first) * eps > 0.01:
        raise np.linalg.LinAlgError(
            "there is no stabilising solution: a mode is on the border of stability, or an unstable "
            "one is out of reach"
        )
    y = np.linalg.solve(first.T, u[count:, :count].T).T
    return (y * scales[count:, None] / scales[:count]).astype(h.dtype, copy=False)


# ---------------------------------------------------------------- banded systems


def _band(x: Any, row: int, start: int, stop: int) -> Any:
    """``x[..., row, start:stop]``, with an axis of columns behind."""
    part = getitem(x, index=(*[FULL] * (x.ndim - 2), row, Slice(start, stop, 1)))
    return reshape(part, shape=(*part.shape, 1))


def _rows(x: Any, start: int, stop: int) -> Any:
    return getitem(x, index=(*[FULL] * (x.ndim - 2), Slice(start, stop, 1), FULL))


def _columns(x: Any, start: int, stop: int) -> Any:
    return getitem(x, index=(*[FULL] * (x.ndim - 1), Slice(start, stop, 1)))


def _diagonals(n: int, lower: int, upper: int) -> list[tuple[int, int, int]]:
    """Of every row of the bands: the row, its distance below the main diagonal, its length."""
    found = [(row, row - upper, max(n - abs(row - upper), 0)) for row in range(lower + upper + 1)]
    return [(row, below, length) for row, below, length in found if length]


def band_product(ab: Any, x: Any, *, lower: int, upper: int) -> Any:
    """``A x`` for the banded matrix with the diagonals `ab`.

    >>> band_product(np.array([[2.0, 3.0]]), np.ones((2, 1)), lower=0, upper=0).tolist()
    [[2.0], [3.0]]
    """
    n = x.shape[-2]
    terms = []
    for row, below, length in _diagonals(n, lower, upper):
        column, out = max(-below, 0), max(below, 0)
        part = _band(ab, row, column, column + length) * _rows(x, column, column + length)
        rest = n - out - length
        terms.append(pad(part, widths=(*[(0, 0)] * (part.ndim - 2), (out, rest), (0, 0))))
    return total(terms) if terms else x


def _band_products_back(z: Any, x: Any, *, lower: int, upper: int) -> Any:
    """The transpose of `band_product` by the bands: ``z_i x_j``, summed over columns."""
    n = x.shape[-2]
    found = {row: (below, length) for row, below, length in _diagonals(n, lower, upper)}
    rows = []
    for row in range(lower + upper + 1):
        below, length = found.get(row, (0, 0))
        column, out = max(-below, 0), max(below, 0)
        product = _rows(z, out, out + length) * _rows(x, column, column + length)
        part = sum(product, axis=(product.ndim - 1,))
        rest = n - column - length
        part = pad(part, widths=(*[(0, 0)] * (part.ndim - 1), (column, rest)))
        rows.append(reshape(part, shape=(*part.shape[:-1], 1, n)))
    return concatenate(*rows, axis=rows[0].ndim - 2)


def transposed_bands(ab: Any, *, lower: int, upper: int) -> Any:
    """The diagonals of the transposed matrix, which has as many above as this one below.

    >>> transposed_bands(np.array([[0.0, 5.0], [1.0, 2.0]]), lower=0, upper=1).tolist()
    [[1.0, 2.0], [5.0, 0.0]]
    """
    n = ab.shape[-1]
    rows = []
    for row in reversed(range(lower + upper + 1)):
        below = row - upper
        column, length = max(-below, 0), max(n - abs(below), 0)
        part = getitem(ab, index=(*[FULL] * (ab.ndim - 2), row, Slice(column, column + length, 1)))
        start = max(below, 0) if length else 0
        widths = (*[(0, 0)] * (part.ndim - 1), (start, n - start - length))
        part = pad(part, widths=widths)
        rows.append(reshape(part, shape=(*part.shape[:-1], 1, n)))
    return concatenate(*rows, axis=rows[0].ndim - 2)


def _banded_aval(ab: Aval, b: Aval, *, lower: int, upper: int) -> Aval:
    require_matrix("solve_banded", ab, square=False)
    require_matrix("solve_banded", b, square=False)
    if ab.shape[-2] != lower + upper + 1 or ab.shape[-1] != b.shape[-2]:
        raise ShapeError(
            f"solve_banded: ab is {ab} and b is {b}; need {lower} + {upper} + 1 rows in ab, and as "
            f"many columns as b has rows{where()}"
        )
    lead = broadcast_shapes("solve_banded", [ab.shape[:-2], b.shape[:-2]])
    return Aval((*lead, *b.shape[-2:]), factor_dtype(ab, b))


@implicit(
    aval=_banded_aval,
    moved=lambda ts, _xs, y, **bands: band_product(ts[0], y, **bands),
    flipped=lambda xs, *, lower, upper: (
        [transposed_bands(xs[0], lower=lower, upper=upper)],
        {"lower": upper, "upper": lower},
    ),
    back=lambda z, _xs, y, **bands: [_band_products_back(z, y, **bands)],
    core=(2, 2),
)
def banded_solve(xp, ab, b, /, *, lower, upper):
    """``y`` with ``A y = b``, where ``A_ij = ab[upper + i - j, j]`` within the bands, else 0.

    By LAPACK's ``gbsv`` if SciPy is there; else, and on CuPy, as a full system.

    Shapes: ``ab: (*p, lower + upper + 1, n), b: (*q, n, k) -> (*broadcast(p, q), n, k)``.
    Dtypes: floating, complex; integers as float64.
    Derivative: ``A dy = db - dA y``; smooth wherever A is regular.
    Raises: LinAlgError: A is singular.
    Source: LAPACK ``gbsv``; SciPy reference, ``scipy.linalg.solve_banded``.

    >>> ab, b = np.array([[0.0, 1.0], [1.0, 2.0]]), np.array([[3.0], [4.0]])
    >>> banded_solve(ab, b, lower=0, upper=1).tolist()
    [[1.0], [2.0]]
    """
    out = _banded_aval(Aval(ab.shape, ab.dtype), Aval(b.shape, b.dtype), lower=lower, upper=upper)
    if 0 in out.shape:
        return xp.zeros(out.shape, out.dtype)
    ab, b = ab.astype(out.dtype, copy=False), b.astype(out.dtype, copy=False)
    solve = scipy_if_there("", "solve_banded", "linalg") if on_host(xp) else None
    if solve is not None:
        bands = functools.partial(solve, (lower, upper), check_finite=False)
        return each_matrix(xp, bands, ab, b)
    full = xp.zeros((*ab.shape[:-2], ab.shape[-1], ab.shape[-1]), out.dtype)
    for row, below, length in _diagonals(ab.shape[-1], lower, upper):
        column, start = max(-below, 0), max(below, 0)
        places = xp.arange(length)
        full[..., start + places, column + places] = ab[..., row, column : column + length]
    return checked(xp, xp.linalg.solve(full, b), ab, "Singular matrix")


# ---------------------------------------------------------------- recursive filters


def _delayed(y: Any, count: int, reverse: bool) -> Any:
    """``y`` 1 to `count` places later (earlier if `reverse`), in a new axis before the last."""
    n, rest = y.shape[-1], [(0, 0)] * (y.ndim - 1)
    rows = []
    for k in range(1, count + 1):
        shifted = pad(y, widths=(*rest, (-k, k) if reverse else (k, -k)))
        rows.append(reshape(shifted, shape=(*y.shape[:-1], 1, n)))
    return concatenate(*rows, axis=y.ndim - 1)


def _last(x: Any) -> Any:
    return reshape(x, shape=(*x.shape, 1))


def _all_pole_aval(a: Aval, u: Aval, *, reverse: bool) -> Aval:
    lead = broadcast_shapes("lfilter", [a.shape[:-1], u.shape[:-1]])
    return Aval((*lead, u.shape[-1]), factor_dtype(a, u))


def _all_pole_moved(ts: Operands, xs: Operands, y: Any, *, reverse: bool) -> Any:
    count = xs[0].shape[-1]
    return sum(_last(ts[0]) * _delayed(y, count, reverse), axis=(y.ndim - 1,)) if count else y * 0


def _all_pole_back(z: Any, xs: Operands, y: Any, *, reverse: bool) -> list[Any]:
    count = xs[0].shape[-1]
    if not count:
        return [xs[0]]
    product = _delayed(y, count, reverse) * reshape(z, shape=(*z.shape[:-1], 1, z.shape[-1]))
    return [sum(product, axis=(product.ndim - 1,))]


@implicit(
    aval=_all_pole_aval,
    moved=_all_pole_moved,
    flipped=lambda xs, *, reverse: (xs, {"reverse": not reverse}),
    back=_all_pole_back,
    core=(1, 1),
)
def all_pole(xp, a, u, /, *, reverse):
    """``y_n = u_n - sum_k a_k y_(n-1-k)`` along the last axis; ``y_(n+1+k)`` if `reverse`.

    Shapes: ``a: (*p, m), u: (*q, n) -> (*broadcast(p, q), n)``.
    Dtypes: floating, complex; integers as float64.
    Derivative: the same recursion, of ``du_n - sum_k da_k y_(n-1-k)``; smooth everywhere.
    Raises: ShapeError: the shapes do not broadcast.
    Source: Oppenheim & Schafer, "Discrete-Time Signal Processing", section 6.3.

    >>> all_pole(np.array([-0.5]), np.array([1.0, 0.0, 0.0]), reverse=False).tolist()
    [1.0, 0.5, 0.25]
    """
    out = _all_pole_aval(Aval(a.shape, a.dtype), Aval(u.shape, u.dtype), reverse=reverse)
    a = a.astype(out.dtype, copy=False)
    u = xp.broadcast_to(u.astype(out.dtype, copy=False), out.shape)
    u = u[..., ::-1] if reverse else u
    one_filter = on_host(xp) and a.size == a.shape[-1]
    lfilter = scipy_if_there("", "lfilter", "signal") if one_filter else None
    if lfilter is None or not u.size:
        y = _recursion(xp, a, u)
    else:
        one = xp.ones(1, out.dtype)
        y = lfilter(one, xp.concatenate((one, a.reshape(-1))), u)
    return xp.ascontiguousarray(y[..., ::-1]) if reverse else y


def _recursion(xp: Any, a: Any, u: Any) -> Any:
    """Step by step, for all rows at once."""
    m, n = a.shape[-1], u.shape[-1]
    y = xp.zeros((*u.shape[:-1], m + n), u.dtype)
    newest_last = a[..., ::-1]
    for k in range(n):
        y[..., m + k] = u[..., k] - (newest_last * y[..., k : m + k]).sum(-1)
    return y[..., m:].copy()
