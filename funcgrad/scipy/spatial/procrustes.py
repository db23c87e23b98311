"""Comparing and joining points: shapes up to a similarity, great circles."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from ... import numpy as fnp
from ...core import aval_of
from ...errors import ArgumentError, ShapeError, where
from ...indexing import known
from ..linalg import orthogonal_procrustes
from ._arguments import floating_vectors
from .transform.quaternions import from_vectors, turns


def procrustes(data1: Any, data2: Any) -> tuple[Any, Any, Any]:
    """Both tables centred and scaled, the second turned to fit the first, and the sum of squares left.

    The first is scaled to the norm 1; the second is rotated, mirrored and scaled as fits best.

    Shapes: ``(n, d), (n, d) -> (n, d), (n, d), ()``.   Dtypes: real; integers give float64.
    Derivative: smooth where the product of both tables is regular.
    Raises: ShapeError: other shapes. ArgumentError: all points of a table are one, as far as known.
    LinAlgError: only the derivative, where the product is singular.
    Source: SciPy reference, ``scipy.spatial.procrustes``.

    >>> a = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 2.0]])
    >>> float(procrustes(a, a @ [[0.0, 3.0], [-3.0, 0.0]] + 1.0)[2].round(12))
    0.0
    """
    tables = floating_vectors("procrustes", data1, data2)
    if tables[0].ndim != 2 or tables[0].shape != tables[1].shape or not aval_of(tables[0]).size:
        raise ShapeError(
            f"procrustes: data1 is {aval_of(tables[0])} and data2 is {aval_of(tables[1])}; need two "
            f"tables of one shape that are not empty{where()}"
        )
    first, second = (x - fnp.mean(x, axis=0) for x in tables)
    norms = [fnp.linalg.norm(x) for x in (first, second)]
    for norm in norms:
        value = known(norm)
        if value is not None and not value > 0:
            raise ArgumentError(f"procrustes: all points of a table are one{where()}")
    first, second = first / norms[0], second / norms[1]
    turn, size = orthogonal_procrustes(first, second)
    second = (second @ turn.T) * size
    return first, second, fnp.sum((first - second) ** 2)


def geometric_slerp(start: Any, end: Any, t: Any, tol: float = 1e-7) -> Any:
    """Points on the great circle between two points of a unit sphere: the share `t` of the way.

    Ends that are opposite to `tol` warn, as every circle through one goes through the other.

    Shapes: ``start, end: (d), t: (n) or () -> (n, d) or (d)``, d > 1.
    Dtypes: real; integers give float64.
    Derivative: by the ends, as points of the sphere, and by `t`; smooth but where they are opposite.
    Raises: ShapeError: other shapes. ArgumentError: an end that is known is not on the sphere.
    Source: SciPy reference, ``scipy.spatial.geometric_slerp``.

    >>> geometric_slerp([1.0, 0.0], [0.0, 1.0], [0.0, 0.5]).round(6).tolist()
    [[1.0, 0.0], [0.707107, 0.707107]]
    """
    start, end, t = floating_vectors("geometric_slerp", start, end, t)
    if start.ndim != 1 or start.shape != end.shape or start.shape[0] < 2 or t.ndim > 1:
        raise ShapeError(
            f"geometric_slerp: start is {aval_of(start)}, end is {aval_of(end)} and t is {aval_of(t)}; "
            f"need two vectors of one length, 2 or more, and a row or a number{where()}"
        )
    for point in map(known, (start, end)):
        if point is not None and not np.allclose(np.linalg.norm(point), 1.0, rtol=1e-9, atol=0):
            raise ArgumentError(f"geometric_slerp: an end is not on the unit sphere{where()}")
    chord = end - start
    half = 0.5 * fnp.linalg.norm(start + end, keepdims=True)
    value = known(half)
    if value is not None and 2.0 - 2.0 * np.sqrt(max(1.0 - float(value[0]) ** 2, 0.0)) <= tol:
        warnings.warn("geometric_slerp: start and end are opposite", stacklevel=2)
    across = chord + 0.5 * fnp.sum(chord * chord) * start
    found = from_vectors(t[..., None] * (2.0 * turns(across / (2.0 * half), half)))
    return found[..., :-1] + found[..., -1:] * start
