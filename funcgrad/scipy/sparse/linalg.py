"""Iterative solvers of linear systems under the names of ``scipy.sparse.linalg``.

The matrix is an array or a function of a vector, or of a tree of arrays, as `b` then is. Derivatives
are those of the solution, found by the same method, not those of the steps.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ... import numpy as fnp
from ... import tree
from ...core import Tracer, aval_of
from ...errors import ArgumentError, ShapeError, where
from ...flatten_util import ravel_pytree
from ...lax.implicit import custom_linear_solve
from ...numpy._arguments import array_of, is_array
from ...transforms.linearize import linear_transpose
from ...transforms.until import while_loop
from .._options import refuse_options

__all__ = ["bicgstab", "cg", "gmres"]

Function = Callable[[Any], Any]
Method = Callable[..., tuple[Any, Any]]


def cg(
    A: Any,
    b: Any,
    x0: Any = None,
    *,
    rtol: float = 1e-5,
    atol: float = 0.0,
    maxiter: int | None = None,
    M: Any = None,
    callback: None = None,
    tol: float | None = None,
) -> tuple[Any, Any]:
    """``x`` with ``A x = b``, for Hermitian, positive definite `A`, by conjugate gradients, and `info`.

    `A`, and `M`, which is near to its inverse, are matrices or functions. It ends where
    ``|b - A x| <= max(rtol |b|, atol)``: then `info` is 0, else the number of steps, `maxiter`
    (ten for each unknown). `tol` is JAX's name for `rtol`.

    Shapes: ``A: (n, n), b: (n,) -> (n,)``; `b` is any tree of arrays where `A` is a function.
    Dtypes: floating, complex; integers give float64.
    Derivative: that of ``A^-1 b`` by `b` and by what `A` is made of, to any order; none by `x0`, `M`.
    Raises: ShapeError: shapes do not fit. ArgumentError: `callback` is given.
    Source: Hestenes & Stiefel, J. Res. Nat. Bur. Standards 49 (1952).

    >>> A = np.array([[4.0, 1.0], [1.0, 3.0]])
    >>> x, info = cg(A, np.array([1.0, 2.0]), rtol=1e-12)
    >>> x.round(6).tolist(), int(info)
    ([0.090909, 0.636364], 0)
    """
    return _solved(
        "cg",
        _conjugate_gradients,
        A,
        b,
        x0,
        rtol if tol is None else tol,
        atol,
        maxiter,
        M,
        callback,
    )


def bicgstab(
    A: Any,
    b: Any,
    x0: Any = None,
    *,
    rtol: float = 1e-5,
    atol: float = 0.0,
    maxiter: int | None = None,
    M: Any = None,
    callback: None = None,
    tol: float | None = None,
) -> tuple[Any, Any]:
    """``x`` with ``A x = b`` by stabilised biconjugate gradients, and `info`; arguments as for `cg`.

    Shapes: ``A: (n, n), b: (n,) -> (n,)``; `b` is any tree of arrays where `A` is a function.
    Dtypes: floating, complex; integers give float64.
    Derivative: that of ``A^-1 b`` by `b` and by what `A` is made of, to any order; none by `x0`, `M`.
    Raises: ShapeError: shapes do not fit. ArgumentError: `callback` is given.
    Source: van der Vorst, SIAM J. Sci. Stat. Comput. 13 (1992).

    >>> A = np.array([[4.0, 1.0], [0.0, 3.0]])
    >>> bicgstab(A, np.array([1.0, 3.0]), rtol=1e-12)[0].round(6).tolist()
    [0.0, 1.0]
    """
    return _solved(
        "bicgstab", _stabilised, A, b, x0, rtol if tol is None else tol, atol, maxiter, M, callback
    )


def gmres(
    A: Any,
    b: Any,
    x0: Any = None,
    *,
    rtol: float = 1e-5,
    atol: float = 0.0,
    restart: int = 20,
    maxiter: int | None = None,
    M: Any = None,
    callback: None = None,
    tol: float | None = None,
) -> tuple[Any, Any]:
    """``x`` with ``A x = b`` by least residuals in Krylov spaces of `restart` vectors, and `info`.

    Arguments as for `cg`; `maxiter` counts restarts.

    Shapes: ``A: (n, n), b: (n,) -> (n,)``; `b` is any tree of arrays where `A` is a function.
    Dtypes: floating, complex; integers give float64.
    Derivative: that of ``A^-1 b`` by `b` and by what `A` is made of, to any order; none by `x0`, `M`.
    Raises: ShapeError: shapes do not fit. ArgumentError: `callback` is given, `restart` is below 1.
    Source: Saad & Schultz, SIAM J. Sci. Stat. Comput. 7 (1986).

    >>> A = np.array([[0.0, 1.0], [-2.0, 0.0]])
    >>> gmres(A, np.array([1.0, 4.0]), rtol=1e-12)[0].round(6).tolist()
    [-2.0, 1.0]
    """
    if restart < 1:
        raise ArgumentError(f"gmres: restart={restart}; need 1 or more{where()}")

    def method(f: Function, m: Function, b: Any, x: Any, limit: Any, most: int) -> Any:
        return _least_residuals(f, m, b, x, limit, most, min(restart, b.size))

    return _solved(
        "gmres", method, A, b, x0, rtol if tol is None else tol, atol, maxiter, M, callback
    )


# ---------------------------------------------------------------- what they share


def _solved(
    name: str,
    method: Method,
    A: Any,
    b: Any,
    x0: Any,
    rtol: float,
    atol: float,
    maxiter: int | None,
    M: Any,
    callback: None,
) -> tuple[Any, Any]:
    refuse_options(name, callback=callback)
    size = sum(aval_of(leaf).size for leaf in tree.leaves(b))
    most = 10 * size if maxiter is None else maxiter
    matvec, near = _function(name, "A", A, b), _function(name, "M", M, b)

    def solver(near: Function, start: Any) -> Callable[[Function, Any], Any]:
        def solve(f: Function, y: Any) -> Any:
            flat, unravel = ravel_pytree(y)

            def packed(g: Function) -> Function:
                return lambda v: ravel_pytree(g(unravel(v)))[0]

            x = fnp.zeros_like(flat) if start is None else ravel_pytree(start)[0].astype(flat.dtype)
            limit = fnp.maximum(rtol * _norm(flat), atol)
            found, steps = method(packed(f), packed(near), flat, x, limit, most)
            missed = _norm(flat - packed(f)(found)) > 1.001 * limit
            return unravel(found), fnp.where(missed, steps, 0)

        return solve

    def flipped(y: Any) -> Any:
        return y if M is None else linear_transpose(near, y)(y)[0]

    is_symmetric = name == "cg" and not _is_complex(
        A, b
    )  # a Hermitian matrix's transpose is another
    back = None if is_symmetric else solver(flipped, None)
    return custom_linear_solve(matvec, b, solver(near, x0), back, is_symmetric, has_aux=True)


def _is_complex(*xs: Any) -> bool:
    leaves = [leaf for x in xs if not callable(x) for leaf in tree.leaves(x)]
    return any(aval_of(leaf).dtype.kind == "c" for leaf in leaves)


def _function(name: str, what: str, A: Any, b: Any) -> Function:
    if A is None:
        return lambda x: x
    if callable(A) and not is_array(A) and not isinstance(A, Tracer):
        return A
    A = array_of(A)
    n = aval_of(b).shape
    if aval_of(A).shape != (*n, *n) or len(n) != 1:
        raise ShapeError(
            f"{name}: {what} is {aval_of(A)} and b {aval_of(b)}; need (n, n) and (n,), or a function "
            f"in place of the matrix{where()}"
        )
    return lambda x: A @ x


def _norm(x: Any) -> Any:
    return fnp.sqrt(fnp.sum(fnp.real(x * fnp.conj(x))))


def _conjugate_gradients(f: Function, m: Function, b: Any, x: Any, limit: Any, most: int) -> Any:
    r = b - f(x)
    z = m(r)

    def step(s: Any) -> Any:
        x, r, p, rz, k = s
        q = f(p)
        by = rz / fnp.vdot(p, q)
        x, r = x + by * p, r - by * q
        z = m(r)
        new = fnp.vdot(r, z)
        return x, r, z + new / rz * p, new, k + 1

    start = (x, r, z, fnp.vdot(r, z), 0)
    x, _, _, _, k = while_loop(lambda s: (_norm(s[1]) > limit) & (s[4] < most), step, start)
    return x, k


def _stabilised(f: Function, m: Function, b: Any, x: Any, limit: Any, most: int) -> Any:
    first = b - f(x)

    def step(s: Any) -> Any:
        x, r, p, rho, k = s
        u = m(p)
        v = f(u)
        by = rho / fnp.vdot(first, v)
        half = r - by * v
        w = m(half)
        t = f(w)
        square = fnp.real(fnp.vdot(t, t))
        omega = fnp.where(square == 0, 0, fnp.vdot(t, half) / fnp.where(square == 0, 1, square))
        x, r = x + by * u + omega * w, half - omega * t
        new = fnp.vdot(first, r)
        turn = fnp.where(omega == 0, 0, new / rho * (by / fnp.where(omega == 0, 1, omega)))
        return x, r, r + turn * (p - omega * v), new, k + 1

    def goes(s: Any) -> Any:
        return (_norm(s[1]) > limit) & (s[4] < most) & (s[3] != 0)

    x, _, _, _, k = while_loop(goes, step, (x, first, first, fnp.vdot(first, first), 0))
    return x, k


def _least_residuals(
    f: Function, m: Function, b: Any, x: Any, limit: Any, most: int, restart: int
) -> Any:
    """Every cycle spans a Krylov space of orthonormal vectors, and takes the best in it."""
    places = np.arange(restart + 1)

    def cycle(s: Any) -> Any:
        x, r, k = s
        size = _norm(r)
        rows = [r / size]
        columns = []
        for i in range(restart):
            w = f(m(rows[i]))
            basis = fnp.stack(rows)
            h = fnp.conj(basis) @ w
            w = w - h @ basis
            more = fnp.conj(basis) @ w  # once more: what rounding has left
            w = w - more @ basis
            rest = _norm(w)
            columns.append(
                fnp.concatenate([h + more, rest[None], fnp.zeros(restart - 1 - i, w.dtype)])
            )
            rows.append(w / fnp.where(rest == 0, 1, rest))
        right = fnp.where(places == 0, size, 0).astype(b.dtype)
        y = fnp.linalg.lstsq(fnp.stack(columns, axis=1), right)[0]
        x = x + m(y @ fnp.stack(rows[:-1]))
        return x, b - f(x), k + 1

    x, _, k = while_loop(lambda s: (_norm(s[1]) > limit) & (s[2] < most), cycle, (x, b - f(x), 0))
    return x, k
