"""Linear programs: SciPy finds the vertex, the equations that hold there have the derivatives."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ... import numpy as fnp
from ...core import Aval, aval_of
from ...errors import ArgumentError, ShapeError, where
from ...indexing import read, write
from ...numpy._arguments import array_of, converted
from .._arrays import host_only
from .._programs import on_host, tracing
from .implicit import FLOAT, INT, count, plain, refuse, require_constants, scipy

_STATUS = {
    0: "the least was found",
    1: "too many iterations",
    2: "no point satisfies the constraints",
    3: "there is no least value",
    4: "rounding errors stopped the solver",
}


@host_only
def linprog(
    c: Any,
    A_ub: Any = None,
    b_ub: Any = None,
    A_eq: Any = None,
    b_eq: Any = None,
    bounds: Any = (0, None),
    method: str = "highs",
    callback: Any = None,
    options: Any = None,
    x0: Any = None,
    integrality: Any = None,
) -> Any:
    """The `x` for which ``c x`` is least while ``A_ub x <= b_ub``, ``A_eq x = b_eq``, within `bounds`.

    `bounds`: a pair for all, or one for each element; None is no bound. Under a transform the result
    has the fields ``x``, ``fun``, ``slack``, ``con``, ``status``, ``success``, ``message``, ``nit``,
    and ``lower``, ``upper``, ``eqlin``, ``ineqlin`` with the ``residual`` of a constraint and, as
    ``marginals``, the derivative of the least value by its right side.

    Shapes: ``c: (n), A_ub: (m, n), b_ub: (m), A_eq: (k, n), b_eq: (k) -> (n)``.
    Dtypes: real; gives float64.
    Derivative: that of the vertex, where n independent equations hold, by all constraints; by `c` it
    stays. Where more equations hold, or edges are as low, it is that of one choice. It is nan where the
    solver finds none.
    Raises: ShapeError: the shapes do not fit. ArgumentError: under a transform `callback`, `x0`,
    `integrality`, an interior method, and least points that are no vertex. ValueError: from SciPy.
    Source: Gal, "Postoptimal Analyses", de Gruyter 1995; SciPy reference, ``scipy.optimize.linprog``.

    >>> import funcgrad
    >>> at = lambda b: linprog([-1.0, -2.0], A_ub=[[1.0, 1.0], [0.0, 1.0]], b_ub=b).x
    >>> at(np.array([4.0, 3.0])).tolist(), funcgrad.jacrev(at)(np.array([4.0, 3.0])).tolist()
    ([1.0, 3.0], [[1.0, -1.0], [0.0, 1.0]])
    """
    solver = scipy("linprog").linprog
    if not tracing():
        return solver(c, A_ub, b_ub, A_eq, b_eq, bounds, method, callback, options, x0, integrality)
    refuse("linprog", "under transforms", callback=callback, x0=x0, integrality=integrality)
    require_constants("linprog", options=options)
    if method not in ("highs", "highs-ds"):
        raise ArgumentError(
            f"linprog: method={method!r}; under transforms it needs 'highs' or 'highs-ds'{where()}"
        )
    c = converted(array_of(c), FLOAT)
    if c.ndim != 1:
        raise ShapeError(f"linprog: c is {aval_of(c)}; need a row{where()}")
    n = c.shape[0]
    above, most = _constraints("ub", A_ub, b_ub, n)
    equal, right = _constraints("eq", A_eq, b_eq, n)
    low, high = _limits(bounds, n)

    def compute(*given: Any) -> list[Any]:
        c, above, most, equal, right, low, high = given
        pairs = np.stack([low, high], axis=1)
        found = solver(c, above, most, equal, right, pairs, "highs-ds", options=options)
        if found.status:
            return [np.full(n, -1), found.status, found.nit]
        return [_basis(found, *given), 0, found.nit]

    given = [c, above, most, equal, right, low, high]
    basis, status, nit = on_host("linprog", compute, given, [Aval((n,), INT), count(), count()])
    rows = fnp.concatenate([equal, above, np.eye(n), np.eye(n)])
    ends = fnp.concatenate([right, most, low, high])
    lost = basis < 0
    matrix = fnp.where(lost[:, None], np.eye(n), read(rows, fnp.where(lost, 0, basis)))
    unknown = fnp.where(lost, np.nan, 1.0)  # a factor, so that derivatives are nan, too
    x = fnp.linalg.solve(matrix, read(ends, fnp.where(lost, 0, basis)) * unknown)
    prices = fnp.linalg.solve(matrix.T, c * unknown)
    all_prices = write(np.zeros(rows.shape[0]), fnp.where(lost, 0, basis), prices)
    parts = np.cumsum([equal.shape[0], above.shape[0], n])
    marginals = fnp.split(all_prices, parts)
    slack, con = most - above @ x, right - equal @ x
    result = scipy("linprog").OptimizeResult
    residuals = (con, slack, x - low, high - x)
    fields = {
        name: result(residual=residual, marginals=price)
        for name, residual, price in zip(
            ("eqlin", "ineqlin", "lower", "upper"), residuals, marginals, strict=True
        )
    }
    status = plain(status)
    said = _STATUS[status] if isinstance(status, int) else "the solver runs when the program does"
    return result(
        x=x, fun=c @ x, slack=slack, con=con, status=status, success=status == 0, message=said,
        nit=plain(nit), **fields,
    )  # fmt: skip


def _constraints(name: str, A: Any, b: Any, n: int) -> tuple[Any, Any]:
    if A is None and b is None:
        return np.zeros((0, n)), np.zeros(0)
    if A is None or b is None:
        raise ArgumentError(f"linprog: A_{name} and b_{name} belong together{where()}")
    A, b = converted(array_of(A), FLOAT), fnp.atleast_1d(converted(array_of(b), FLOAT))
    A = A[None] if A.ndim == 1 else A
    if A.ndim != 2 or A.shape[1] != n or b.shape != A.shape[:1]:
        raise ShapeError(
            f"linprog: A_{name} is {aval_of(A)} and b_{name} is {aval_of(b)}; need [m, {n}] and [m]"
            f"{where()}"
        )
    return A, b


def _limits(bounds: Any, n: int) -> tuple[Any, Any]:
    """The bounds as two rows, infinite where there are none."""
    if bounds is None:
        bounds = (0, None)
    several: Sequence[Any] = list(bounds)
    if len(several) == 2 and not any(isinstance(x, Sequence) or np.ndim(x) for x in several):
        several = [several] * n
    if len(several) != n:
        raise ShapeError(f"linprog: {len(several)} bounds for {n} elements of c{where()}")
    rows = [
        [(sign * np.inf if pair[i] is None else pair[i]) for pair in several]
        for i, sign in ((0, -1.0), (1, 1.0))
    ]
    low, high = (converted(array_of(row), FLOAT) for row in rows)
    return low, high


def _basis(found: Any, c: Any, above: Any, most: Any, equal: Any, right: Any, *_ends: Any) -> Any:
    """The numbers of n independent equations that hold, those that decide the least value first.

    Counted over equations, inequalities, lower and upper bounds.
    """
    n = c.size
    rows = np.concatenate([equal, above, np.eye(n), np.eye(n)])
    parts = (found.eqlin, found.ineqlin, found.lower, found.upper)
    slack = np.abs(np.concatenate([part.residual for part in parts]))
    price = np.abs(np.concatenate([part.marginals for part in parts]))
    price[: right.size] = np.inf
    reach = 1.0 + np.abs(found.x).max(initial=0.0)
    holds = slack <= 1e-7 * (reach * np.linalg.norm(rows, axis=1) + 1e-300)
    chosen: list[int] = []
    basis = np.zeros((0, n))
    for i in map(int, np.lexsort((slack, -price))):
        length = np.linalg.norm(rows[i])
        if not holds[i] or not length or len(chosen) == n:
            continue
        rest = rows[i] / length
        for _ in range(2):
            rest = rest - basis.T @ (basis @ rest)
        if np.linalg.norm(rest) > 1e-9:
            chosen.append(i)
            basis = np.concatenate([basis, [rest / np.linalg.norm(rest)]])
    if len(chosen) < n:
        raise ArgumentError(
            f"linprog: {len(chosen)} independent equations hold at the least point, which has {n} "
            f"elements: it is no vertex, and has no derivative{where()}"
        )
    return np.array(chosen)
