"""Linear least squares within bounds: `nnls`, `lsq_linear`.

SciPy finds which unknowns are on a bound; the others solve the least squares problem of their columns,
which has the derivatives.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ... import numpy as fnp
from ...core import Aval, aval_of
from ...errors import ShapeError, where
from ...numpy._arguments import array_of, converted
from .._arrays import host_only
from .._programs import directional, on_host, tracing, with_tangent
from .implicit import FLOAT, INT, count, flag, plain, refuse, require_constants, said, scipy


@host_only
def nnls(A: Any, b: Any, *, maxiter: int | None = None, atol: Any = None) -> tuple[Any, Any]:
    """The `x` without negative elements for which ``|A x - b|`` is least, and this length.

    `atol` changes nothing.

    Shapes: ``A: (m, n), b: (m) -> (n), ()``.   Dtypes: real; gives float64.
    Derivative: by `A` and `b`, that of the least squares problem of the columns whose x is positive;
    what is 0 stays 0, at the border too. It is nan where these columns are dependent.
    Raises: RuntimeError: from SciPy, after `maxiter` steps. ShapeError: the shapes do not fit.
    Source: Lawson & Hanson, "Solving Least Squares Problems", SIAM 1995; SciPy reference,
    ``scipy.optimize.nnls``.

    >>> import funcgrad
    >>> A = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    >>> fit = lambda b: nnls(A, b)[0]
    >>> fit(np.array([1.0, 2.0, -1.0])).tolist()
    [1.5, 0.0]
    >>> funcgrad.jacrev(fit)(np.array([1.0, 2.0, -1.0])).round(12).tolist()[0]
    [0.5, 0.5, 0.0]
    """
    solver = scipy("nnls").nnls
    A, b = _problem("nnls", A, b)
    if not tracing():
        x, length = solver(A, b, maxiter=maxiter)
        return x, np.float64(length)
    require_constants("nnls", maxiter=maxiter)

    def compute(A: Any, b: Any) -> list[Any]:
        x, _ = solver(A, b, maxiter=maxiter)
        side = np.where(x > 0, 0, -1)
        return [x, side, _is_unique(A, side)]

    n = aval_of(A).shape[1]
    types = [Aval((n,), FLOAT), Aval((n,), INT), flag()]
    x, side, found = on_host("nnls", compute, [A, b], types)
    x = _with_derivatives("nnls", x, [found, side, A, b, fnp.zeros(n), fnp.zeros(n)])
    return x, fnp.linalg.norm(A @ x - b)


@host_only
def lsq_linear(
    A: Any,
    b: Any,
    bounds: Any = (-np.inf, np.inf),
    method: str = "trf",
    tol: float = 1e-10,
    lsq_solver: str | None = None,
    lsmr_tol: Any = None,
    max_iter: int | None = None,
    verbose: int = 0,
    *,
    lsmr_maxiter: int | None = None,
) -> Any:
    """The `x` between `bounds` at which ``1/2 |A x - b|**2`` is least.

    Under a transform the result has the fields ``x``, ``cost``, ``fun``, ``active_mask``,
    ``optimality``, ``success``, ``status``, ``message``, ``nit``.

    Shapes: ``A: (m, n), b: (m) -> (n)``; bounds are numbers or rows.   Dtypes: real; gives float64.
    Derivative: by `A`, `b` and the bounds; an element that a bound holds back stays on it. It is nan
    where the columns of the others are dependent, or the solver ends elsewhere.
    Raises: ValueError: from SciPy, for bounds that do not fit. ShapeError: the shapes do not fit.
    ArgumentError: `lsq_solver` "lsmr", which needs sparse matrices.
    Source: Branch, Coleman & Li, SIAM J. Sci. Comput. 21 (1999); SciPy reference,
    ``scipy.optimize.lsq_linear``.

    >>> import funcgrad
    >>> fit = lambda b: lsq_linear(np.eye(2), b, (0.0, 1.0)).x
    >>> fit(np.array([0.4, 3.0])).round(6).tolist()
    [0.4, 1.0]
    >>> funcgrad.jacrev(fit)(np.array([0.4, 3.0])).tolist()
    [[1.0, 0.0], [0.0, 0.0]]
    """
    solver = scipy("lsq_linear").lsq_linear
    refuse("lsq_linear", "", lsmr_tol=lsmr_tol, lsmr_maxiter=lsmr_maxiter)
    refuse("lsq_linear", "for matrices", lsq_solver=None if lsq_solver == "exact" else lsq_solver)
    A, b = _problem("lsq_linear", A, b)
    n = aval_of(A).shape[1]
    pair = (bounds.lb, bounds.ub) if hasattr(bounds, "lb") else bounds
    options = {"method": method, "tol": tol, "max_iter": max_iter, "verbose": verbose}

    def solve(A: Any, b: Any, low: Any, high: Any) -> Any:
        return solver(A, b, (low, high), lsq_solver="exact", **options)

    if not tracing():
        return solve(A, b, *pair)
    require_constants("lsq_linear", **options)
    low, high = (fnp.broadcast_to(converted(array_of(v), FLOAT), (n,)) for v in pair)
    messages: list[str] = []

    def compute(*given: Any) -> list[Any]:
        found = solve(*given)
        messages.append(found.message)
        side = _sides_of(found.x, *given)
        x = _within(side, *given)
        is_least = _is_unique(given[0], side) and _is_least(x, side, *given)
        return [
            x if is_least else found.x, side, is_least, found.success, found.status, found.nit,
            found.optimality,
        ]  # fmt: skip

    given = [A, b, low, high]
    row = Aval((n,), FLOAT)
    types = [row, Aval((n,), INT), flag(), flag(), count(), count(), Aval((), FLOAT)]
    x, side, found, *numbers = on_host("lsq_linear", compute, given, types)
    success, status, nit, optimality = map(plain, numbers)
    x = _with_derivatives("lsq_linear", x, [found, side, *given])
    residuals = A @ x - b
    return scipy("lsq_linear").OptimizeResult(
        x=x,
        cost=0.5 * fnp.sum(fnp.square(residuals)),
        fun=residuals,
        active_mask=side,
        optimality=optimality,
        success=success,
        status=status,
        message=said(messages),
        nit=nit,
    )


def _problem(name: str, A: Any, b: Any) -> tuple[Any, Any]:
    A, b = (converted(array_of(v), FLOAT) for v in (A, b))
    if A.ndim != 2 or b.shape != A.shape[:1]:
        raise ShapeError(
            f"{name}: A is {aval_of(A)} and b {aval_of(b)}; need a matrix and a number for each of its "
            f"rows{where()}"
        )
    return A, b


def _within(side: Any, A: Any, b: Any, low: Any, high: Any) -> Any:
    """The least squares where `side` is 0; the lower bound where it is -1, the upper one at 1."""
    free = side == 0
    fixed = fnp.where(free, 0.0, fnp.where(side < 0, low, high))
    inner = fnp.linalg.lstsq(fnp.where(free, A, 0.0), b - A @ fixed)[0]
    return fnp.where(free, inner, fixed)


def _is_unique(A: Any, side: Any) -> Any:
    free = A[:, side == 0]
    return not free.size or np.linalg.matrix_rank(free) == free.shape[1]


def _sides_of(x: Any, A: Any, b: Any, low: Any, high: Any) -> Any:
    """On which bound an element is: Newton's step for it alone leaves the bounds."""
    slope, bend = A.T @ (A @ x - b), np.square(A).sum(axis=0)
    leaves = np.abs(slope) > bend * np.where(slope > 0, x - low, high - x)
    return np.where(
        leaves & np.isfinite(np.where(slope > 0, low, high)), -np.sign(slope), 0
    ).astype(int)


def _is_least(x: Any, side: Any, A: Any, b: Any, low: Any, high: Any) -> bool:
    """Whether nothing is outside of the bounds, and nothing on them would go inside."""
    reach = 1e-9 * (1.0 + np.abs(x))
    pull = side * (A.T @ (A @ x - b))
    inside = (x >= low - reach) & (x <= high + reach)
    return bool(np.all(inside & (pull <= 1e-9 * (1.0 + np.abs(A.T @ b)))))


def _with_derivatives(name: str, x: Any, held: Sequence[Any]) -> Any:
    """`x` with the derivatives of `_within`; nan where that is not the solution."""

    def tangent(_x: Any, held: Sequence[Any], dots: Sequence[Any]) -> Any:
        dot = directional(lambda _found, *rest: _within(*rest), held, dots)
        return None if dot is None else dot * fnp.where(held[0], 1.0, np.nan)

    return with_tangent(name, x, held, tangent)
