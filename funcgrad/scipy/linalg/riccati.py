"""Riccati's equations, by the space in which the optimal system decays."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...algebra import concrete_namespace
from ...core import aval_of
from ...errors import ArgumentError, ShapeError, where
from ...ops import implicit as _implicit
from ...ops import linalg as _linalg
from ...ops.contract import matmul, matrix_transpose
from ...ops.decompose import hermitian_part
from ...ops.index import FULL, Slice, getitem
from ...ops.join import concatenate
from ...ops.structural import broadcast_to
from .._arrays import floating
from ._matrices import adjoint_of, hermitian, matrix


def solve_continuous_are(
    a: Any, b: Any, q: Any, r: Any, e: Any = None, s: Any = None, balanced: bool = True
) -> Any:
    """The stabilising ``x`` with ``a^H x e + e^H x a - (e^H x b + s) r^-1 (b^H x e + s^H) + q = 0``.

    All eigenvalues of ``a - b r^-1 (b^H x e + s^H)``, with `e`, have negative real parts then. `e` is
    the identity and `s` is 0 unless they are given; `balanced` changes nothing.

    Shapes: ``a, q, e: (*a, n, n), b, s: (*a, n, m), r: (*a, m, m) -> (*a, n, n)``.
    Dtypes: floating, complex; integers give float64.
    Derivative: Lyapunov's equation of the closed loop; smooth wherever there is a solution.
    Raises: LinAlgError: there is no stabilising solution, `r` or `e` is singular. ShapeError: the
    shapes do not fit. ArgumentError: one triangle of `q` or `r` is empty.
    Source: Laub, IEEE Trans. Autom. Control 24 (1979); SciPy reference,
    ``scipy.linalg.solve_continuous_are``.

    >>> solve_continuous_are([[1.0]], [[1.0]], [[3.0]], [[1.0]]).round(12).tolist()
    [[3.0]]
    """
    a, b, q, r, e, s = _operands("solve_continuous_are", a, b, q, r, e, s)
    n = a.shape[-1]
    # The states and costates of the optimal system; its inputs are -gain of both.
    gain = _linalg.solve(r, concatenate(adjoint_of(s), adjoint_of(b), axis=a.ndim - 1))
    pulled = matmul(concatenate(b, -s, axis=a.ndim - 2), gain)
    h = _blocks([[a, None], [-q, -adjoint_of(a)]], [n, n]) - pulled
    if e is not None:
        h = _linalg.solve(_blocks([[e, None], [None, adjoint_of(e)]], [n, n]), h)
    return _of_states(_implicit.stable_subspace(h, count=n), e)


def solve_discrete_are(
    a: Any, b: Any, q: Any, r: Any, e: Any = None, s: Any = None, balanced: bool = True
) -> Any:
    """The stabilising ``x`` with ``a^H x a - e^H x e - k^H (r + b^H x b) k + q = 0``.

    Here ``k = (r + b^H x b)^-1 (b^H x a + s^H)``, and all eigenvalues of ``a - b k``, with `e`, are
    inside of the unit circle. `e` is the identity and `s` is 0 unless they are given; `r` may be
    singular; `balanced` changes nothing.

    Shapes: ``a, q, e: (*a, n, n), b, s: (*a, n, m), r: (*a, m, m) -> (*a, n, n)``.
    Dtypes: floating, complex; integers give float64.
    Derivative: Stein's equation of the closed loop; smooth wherever there is a solution.
    Raises: LinAlgError: there is no stabilising solution, or `e` is singular. ShapeError: the shapes
    do not fit. ArgumentError: one triangle of `q` or `r` is empty.
    Source: Van Dooren, "A generalized eigenvalue approach for solving Riccati equations", SIAM J. Sci.
    Stat. Comput. 2 (1981); SciPy reference, ``scipy.linalg.solve_discrete_are``.

    >>> solve_discrete_are([[2.0]], [[1.0]], [[1.0]], [[1.0]]).round(6).tolist()
    [[4.236068]]
    """
    a, b, q, r, e, s = _operands("solve_discrete_are", a, b, q, r, e, s)
    n, m = b.shape[-2:]
    one = e
    if e is None:
        one = broadcast_to(concrete_namespace(a).eye(n, dtype=a.dtype), shape=a.shape)
    sizes = [n, n, m]
    now = _blocks([[a, None, b], [-q, adjoint_of(one), -s], [-adjoint_of(s), None, -r]], sizes)
    later = _blocks(
        [[one, None, None], [None, adjoint_of(a), None], [None, adjoint_of(b), None]], sizes
    )
    # What shrinks by l in a step decays by (l - 1) / (l + 1); no l is -1 if there is a solution.
    h = _linalg.solve(now + later, now - later)
    y = _implicit.stable_subspace(h, count=n)
    return _of_states(getitem(y, index=(*[FULL] * (y.ndim - 2), Slice(0, n, 1), FULL)), e)


def _operands(name: str, a: Any, b: Any, q: Any, r: Any, e: Any, s: Any) -> list[Any]:
    """All in one dtype and with the same leading axes; `s` always, `e` if it is given."""
    a, b = matrix(name, a, square=True), matrix(name, b)
    q, r = hermitian(name, q), hermitian(name, r)
    n, m = b.shape[-2:]
    found = {"a": (a, (n, n)), "b": (b, (n, m)), "q": (q, (n, n)), "r": (r, (m, m))}
    if e is not None:
        found["e"] = (matrix(name, e, square=True), (n, n))
    if s is not None:
        found["s"] = (matrix(name, s), (n, m))
    for letter, (x, shape) in found.items():
        if x.shape[-2:] != shape:
            raise ShapeError(
                f"{name}: {letter} is {aval_of(x)}; b is {aval_of(b)}, so need {list(shape)}{where()}"
            )
    if not m:
        raise ArgumentError(f"{name}: b has no columns; use solve_continuous_lyapunov{where()}")
    xs = {letter: floating(x) for letter, (x, _) in found.items()}
    dtype = np.result_type(*(aval_of(x).dtype for x in xs.values()))
    lead = np.broadcast_shapes(*(x.shape[:-2] for x in xs.values()))
    xs = {k: broadcast_to(x.astype(dtype), shape=(*lead, *x.shape[-2:])) for k, x in xs.items()}
    zero = concrete_namespace(xs["b"]).zeros((*lead, n, m), dtype)
    q, r = hermitian_part(xs["q"]), hermitian_part(xs["r"])
    return [xs["a"], xs["b"], q, r, xs.get("e"), xs.get("s", zero)]


def _blocks(rows: list[list[Any]], sizes: list[int]) -> Any:
    """One matrix of matrices; None stands for zeros."""
    some = next(x for row in rows for x in row if x is not None)
    xp, axis = concrete_namespace(some), some.ndim - 1
    full = [
        [
            xp.zeros((*some.shape[:-2], i, j), aval_of(some).dtype) if x is None else x
            for x, j in zip(row, sizes, strict=True)
        ]
        for row, i in zip(rows, sizes, strict=True)
    ]
    return concatenate(*(concatenate(*row, axis=axis) for row in full), axis=axis - 1)


def _of_states(y: Any, e: Any) -> Any:
    """``x`` with ``x e = y``, Hermitian to the last bit."""
    if e is not None:
        y = matrix_transpose(_linalg.solve(matrix_transpose(e), matrix_transpose(y)))
    return hermitian_part(y)
