"""Solvers of linear systems: `cg`, `bicgstab`, `gmres`, `minres`, `spsolve`.

The matrix is an array, one of SciPy's sparse matrices, which is a constant, or, for iterative solvers,
a function of a vector, or of a tree of arrays, as `b` then is. Derivatives are those of the solution,
found by the same method, not those of the steps.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .... import numpy as fnp
from .... import tree
from ....core import Tracer, aval_of
from ....errors import ArgumentError, ShapeError, where
from ....flatten_util import ravel_pytree
from ....lax.implicit import custom_linear_solve
from ....numpy._arguments import array_of, converted, is_array
from ....ops.from_scipy import scipy_package
from ....ops.sparse import is_sparse
from ....transforms.linearize import linear_transpose
from ....transforms.trace import eval_shape
from ....transforms.until import while_loop
from ..._arrays import floating
from ..._options import refuse_options
from ..._programs import on_host

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
    solve_method: str = "batched",
) -> tuple[Any, Any]:
    """``x`` with ``A x = b`` by least residuals in Krylov spaces of `restart` vectors, and `info`.

    Arguments as for `cg`; `maxiter` counts restarts. `solve_method`, JAX's "batched" or "incremental",
    changes nothing.

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


def minres(
    A: Any,
    b: Any,
    x0: Any = None,
    *,
    rtol: float = 1e-5,
    shift: Any = 0.0,
    maxiter: int | None = None,
    M: Any = None,
    callback: None = None,
    show: bool = False,
    check: bool = False,
    atol: float = 0.0,
) -> tuple[Any, Any]:
    """``x`` with ``(A - shift) x = b``, for Hermitian `A`, definite or not, by least residuals, and
    `info`; other arguments as for `cg`. It ends where `cg` does; SciPy's estimates norms for that. `M`
    is positive definite.

    Shapes: ``A: (n, n), b: (n,) -> (n,)``; `b` is any tree of arrays where `A` is a function.
    Dtypes: floating, complex; integers give float64.
    Derivative: that of ``(A - shift)^-1 b`` by `b`, `shift` and by what `A` is made of, to any order;
    none by `x0`, `M`.
    Raises: ShapeError: shapes do not fit. ArgumentError: `callback`, `show` or `check` is given.
    Source: Paige & Saunders, SIAM J. Numer. Anal. 12 (1975).

    >>> A = np.array([[1.0, 2.0], [2.0, -1.0]])
    >>> minres(A, np.array([5.0, 0.0]), rtol=1e-12)[0].round(6).tolist()
    [1.0, 2.0]
    """
    refuse_options("minres", show=show, check=check)
    b = _promoted(b, A)
    matvec = _function("minres", "A", A, b)

    def shifted(x: Any) -> Any:
        return tree.map(lambda y, v: y - shift * v, matvec(x), x)

    moved = matvec if isinstance(shift, float | int) and not shift else shifted
    return _solved("minres", _lanczos, moved, b, x0, rtol, atol, maxiter, M, callback)


def spsolve(A: Any, b: Any, permc_spec: str | None = None, use_umfpack: bool = True) -> Any:
    """``x`` with ``A x = b`` by factors: SciPy's sparse ones for its sparse matrices, else dense ones.

    `use_umfpack` changes nothing.

    Shapes: ``A: (n, n), b: (n,) or (n, k) -> the same as b``, but ``(n,)`` for k = 1, as in SciPy.
    Dtypes: floating, complex; integers give float64.
    Derivative: that of ``A^-1 b``; by `A` only if it is an array.
    Raises: LinAlgError: the matrix is singular. ShapeError: shapes do not fit.
    Source: Demmel et al., SIAM J. Matrix Anal. Appl. 20 (1999); SciPy reference,
    ``scipy.sparse.linalg.spsolve``.

    >>> spsolve(np.array([[2.0, 1.0], [0.0, 4.0]]), np.array([3.0, 4.0])).tolist()
    [1.0, 1.0]
    """
    b = floating(b)
    shape = A.shape if is_sparse(A) else aval_of(array_of(A)).shape
    if len(shape) != 2 or shape != (b.shape[:1] * 2) or b.ndim > 2:
        raise ShapeError(
            f"spsolve: A has shape {list(shape)} and b {list(b.shape)}; need (n, n), and (n,) or (n, k)"
            f"{where()}"
        )
    b = b.reshape(-1) if b.shape[1:] == (1,) else b
    if not is_sparse(A):
        return fnp.linalg.solve(array_of(A), b)
    dtype = np.result_type(A.dtype, aval_of(b).dtype)
    b, A = b.astype(dtype), A.tocsc().astype(dtype)
    try:
        factors = scipy_package("sparse.linalg", "spsolve").splu(A, permc_spec)
    except RuntimeError as error:
        raise np.linalg.LinAlgError(f"spsolve: {error}{where()}") from None

    def solver(way: str) -> Callable[[Function, Any], Any]:
        def solve(_: Function, y: Any) -> Any:
            return on_host("spsolve", lambda v: [factors.solve(v, way)], [y], [aval_of(y)])[0]

        return solve

    return custom_linear_solve(lambda x: fnp.matmul(A, x), b, solver("N"), solver("T"))


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
    b = _promoted(b, A, M)
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

    # a Hermitian matrix's transpose is another
    is_symmetric = name in ("cg", "minres") and not _is_complex(A, b)
    back = None if is_symmetric else solver(flipped, None)
    return custom_linear_solve(matvec, b, solver(near, x0), back, is_symmetric, has_aux=True)


def _promoted(b: Any, *operators: Any) -> Any:
    """`b` in the dtype that solutions have: steps of a wider one would not fit into the loop."""
    if any(x is not None and not _is_function(x) for x in operators):
        b = array_of(b)
    b = tree.map(floating, b)
    for operator in operators:
        if _is_function(operator):
            b = tree.map(lambda v, y: converted(v, _wider(v, y)), b, eval_shape(operator, b))
        elif operator is not None:
            b = converted(b, _wider(b, operator if is_sparse(operator) else array_of(operator)))
    return b


def _wider(v: Any, y: Any) -> np.dtype[Any]:
    return np.result_type(aval_of(v).dtype, y.dtype)


def _is_function(x: Any) -> bool:
    return callable(x) and not is_array(x) and not isinstance(x, Tracer)


def _is_complex(*xs: Any) -> bool:
    leaves = [leaf for x in xs if not callable(x) for leaf in tree.leaves(x)]
    return any(aval_of(leaf).dtype.kind == "c" for leaf in leaves)


def _function(name: str, what: str, A: Any, b: Any) -> Function:
    if A is None:
        return lambda x: x
    if _is_function(A):
        return A
    A = A if is_sparse(A) else array_of(A)
    n = aval_of(b).shape
    if A.shape != (*n, *n) or len(n) != 1:
        raise ShapeError(
            f"{name}: {what} has shape {list(A.shape)} and b is {aval_of(b)}; need (n, n) and (n,), "
            f"or a function in place of the matrix{where()}"
        )
    return lambda x: fnp.matmul(A, x)


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


def _lanczos(f: Function, m: Function, b: Any, x: Any, limit: Any, most: int) -> Any:
    """Orthonormal vectors by three terms, and rotations; `w` are steps, `fw` what `f` makes of them."""
    r = b - f(x)
    z = m(r)
    size = fnp.sqrt(fnp.real(fnp.vdot(r, z)))
    zero, none = 0.0 * r, 0.0 * size

    def step(s: Any) -> Any:
        x, r, (old, v), z, (before, size), (w0, w1), (f0, f1), (c0, c1), (s0, s1), eta, k = s
        unit = z / fnp.where(size == 0, 1, size)
        q = f(unit)
        middle = fnp.real(fnp.vdot(unit, q))
        new = q - middle / fnp.where(size == 0, 1, size) * v
        new = new - size / fnp.where(before == 0, 1, before) * old
        z = m(new)
        after = fnp.sqrt(fnp.maximum(fnp.real(fnp.vdot(new, z)), 0))
        front = c1 * middle - c0 * s1 * size
        whole = fnp.sqrt(front * front + after * after)
        whole = fnp.where(whole == 0, 1, whole)
        mid, far = s1 * middle + c0 * c1 * size, s0 * size
        w = (unit - far * w0 - mid * w1) / whole
        fw = (q - far * f0 - mid * f1) / whole
        c, turn = front / whole, after / whole
        by = c * eta
        return (
            x + by * w, r - by * fw, (v, new), z, (size, after), (w1, w), (f1, fw),
            (c1, c), (s1, turn), -turn * eta, k + 1,
        )  # fmt: skip

    one = none + 1.0
    start = (
        x, r, (zero, r), z, (none, size), (zero, zero), (zero, zero), (one, one), (none, none), size, 0,
    )  # fmt: skip
    found = while_loop(
        lambda s: (_norm(s[1]) > limit) & (s[-1] < most) & (s[4][1] > 0), step, start
    )
    return found[0], found[-1]


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
