"""``scipy.linalg``: what ``numpy.linalg`` does not have."""

from __future__ import annotations

from typing import Any

import numpy as np  # noqa: F401  (doctests)

from ..numpy._arguments import array_of
from ..ops import linalg as _linalg

__all__ = ["solve_triangular"]


def solve_triangular(
    a: Any,
    b: Any,
    trans: int | str = 0,
    lower: bool = False,
    unit_diagonal: bool = False,
    overwrite_b: bool = False,
    check_finite: bool = True,
) -> Any:
    """``x`` with ``A x = b``, A being the upper (or lower) triangle of `a`.

    `trans`: 1 or "T" solves with A transposed, 2 or "C" with its conjugate transpose.

    Shapes: ``a: (*p, n, n), b: (*q, n, k) -> (*broadcast(p, q), n, k)``, or ``b: (n,)``.
    Dtypes: floating, complex; integers give float64.
    Derivative: ``A^-1 (db - dA x)``; none by the other triangle.
    Raises: LinAlgError: A is singular. ShapeError: the shapes do not fit.
    Source: SciPy reference, ``scipy.linalg.solve_triangular``.

    >>> solve_triangular([[2.0, 0.0], [9.0, 4.0]], [2.0, 2.0]).tolist()
    [1.0, 0.5]
    """
    a, b = array_of(a), array_of(b)
    return _linalg.solve_triangular(a, b, trans=trans, lower=lower, unit_diagonal=unit_diagonal)
