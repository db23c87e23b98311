"""Linear systems with matrices by rows: ``jax.experimental.sparse.linalg``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ....core import aval_of
from ....errors import where
from ....lax.implicit import custom_linear_solve
from ....ops.from_scipy import scipy_package
from ....ops.segments import segment_sum
from ....scipy._arrays import floating
from ....scipy._programs import on_host

__all__ = ["spsolve"]


def spsolve(
    data: Any, indices: Any, indptr: Any, b: Any, tol: float = 1e-6, reorder: int = 1
) -> Any:
    """``x`` with ``A x = b``, for the CSR matrix A of these elements; by SciPy's factors.

    `tol` and `reorder` change nothing.

    Shapes: ``data: (m,), indices: (m,), indptr: (n + 1,), b: (n,) -> (n,)``. Dtypes: floating.
    Derivative: that of ``A^-1 b``, by `data` and `b`.
    Raises: LinAlgError: the matrix is singular. HandoverError: `indices` or `indptr` is traced.
    Source: JAX, ``jax.experimental.sparse.linalg.spsolve``.

    >>> spsolve(np.array([2.0, 1.0, 4.0]), [0, 1, 1], [0, 2, 3], np.array([3.0, 4.0])).tolist()
    [1.0, 1.0]
    """
    columns, starts = np.asarray(indices), np.asarray(indptr)
    n = len(starts) - 1
    rows = np.repeat(np.arange(n), np.diff(starts))
    data, b = floating(data), floating(b)
    sparse = scipy_package("sparse", "spsolve")
    factors = scipy_package("sparse.linalg", "spsolve").splu

    def product(x: Any) -> Any:
        return segment_sum(data * x[columns], rows, n)

    def solver(way: str) -> Callable[[Any, Any], Any]:
        def solved(elements: Any, y: Any) -> list[Any]:
            A = sparse.csr_array((elements, columns, starts), (n, n))
            try:
                return [factors(A.tocsc()).solve(y, way)]
            except RuntimeError as error:
                raise np.linalg.LinAlgError(f"spsolve: {error}{where()}") from None

        return lambda _, y: on_host("spsolve", solved, [data, y], [aval_of(y)])[0]

    return custom_linear_solve(product, b, solver("N"), solver("T"))
