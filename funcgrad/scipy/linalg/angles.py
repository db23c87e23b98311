"""Angles between subspaces."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core import Tracer, aval_of
from ...errors import ArgumentError, ShapeError, where
from ...indexing import known
from ...ops.contract import matmul
from ...ops.linalg import svdvals
from ...ops.structural import flip
from ...ops.trigonometric import arctan2
from .._arrays import floating
from ._matrices import adjoint_of, matrix
from .factors import orth, qr


def subspace_angles(A: Any, B: Any) -> Any:
    """The principal angles between what the columns of `A` and those of `B` span, the largest first.

    Shapes: ``A: (m, n), B: (m, k) -> (min of the ranks)``.
    Dtypes: floating, complex; integers give float64; angles are real.
    Derivative: smooth where the angles differ and are neither 0 nor pi / 2, columns being independent.
    Raises: ShapeError: other shapes. ArgumentError: dependent columns of a traced matrix, as far as
    they are known: what they span jumps.
    Source: Knyazev, Argentati, SIAM J. Sci. Comput. 23 (2002) 2009; SciPy reference,
    ``scipy.linalg.subspace_angles``.

    >>> subspace_angles([[1.0], [0.0]], [[1.0], [1.0]]).round(6).tolist()
    [0.785398]
    """
    A, B = (floating(matrix("subspace_angles", x)) for x in (A, B))
    if A.ndim != 2 or B.ndim != 2 or A.shape[0] != B.shape[0]:
        raise ShapeError(
            f"subspace_angles: A is {aval_of(A)} and B is {aval_of(B)}; need two matrices of as many "
            f"rows{where()}"
        )
    a, b = _basis(A), _basis(B)
    if a.shape[1] < b.shape[1]:
        a, b = b, a
    inside = matmul(adjoint_of(a), b)
    # cosines keep the digits of large angles, sines those of small ones
    return arctan2(svdvals(b - matmul(a, inside)), flip(svdvals(inside), axis=(0,)))


def _basis(a: Any) -> Any:
    if not isinstance(a, Tracer):
        return orth(a)
    value, (rows, columns) = known(a), aval_of(a).shape
    dependent = columns > rows
    if value is not None and not dependent:
        dependent = bool(np.linalg.matrix_rank(np.asarray(value)) < columns)
    if dependent:
        raise ArgumentError(f"subspace_angles: the columns of {a!r} are dependent{where()}")
    return qr(a, mode="economic")[0]
