"""Diagonals and triangles of matrices, and the indices that name them."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core import Tracer
from ..errors import ShapeError, where
from ..ops import structural as _structural
from ..ops.logic import greater_equal, less_equal
from ..ops.select import where as _choose
from ._arguments import array_of, axis_of, beside, converted, integer, known_lengths, written
from .creation import offsets
from .shaping import ravel


def diag(v: Any, k: int = 0) -> Any:
    """A matrix with the vector `v` on its diagonal `k`; or the diagonal `k` of a matrix.

    Shapes: ``(n,) -> (n + |k|, n + |k|)``; ``(m, n) -> (length of the diagonal,)``.   Dtypes: all.
    Derivative: linear; the two are each other's transpose.
    Raises: ShapeError: neither one nor two axes.
    Source: NumPy reference, ``numpy.diag``.

    >>> diag([1.0, 2.0]).tolist()
    [[1.0, 0.0], [0.0, 2.0]]
    """
    v, k = array_of(v), known_lengths("fnp.diag: k", k)
    if v.ndim == 1:
        n = v.shape[0] + abs(k)
        return _structural.diagonal_embed(v, shape=(n, n), offset=k, axis1=0, axis2=1)
    if v.ndim != 2:
        raise ShapeError(f"fnp.diag: needs one or two axes, found {v.ndim}{where()}")
    return _structural.diagonal(v, offset=k, axis1=0, axis2=1)


def diagflat(v: Any, k: int = 0) -> Any:
    """A matrix with the flattened `v` on its diagonal `k`.

    Shapes: ``(*a) -> (prod(a) + |k|, prod(a) + |k|)``.   Dtypes: all.
    Derivative: linear; the transpose takes the diagonal.
    Raises: ArgumentError: `v` is no array.
    Source: NumPy reference, ``numpy.diagflat``.

    >>> diagflat([[1.0, 2.0]]).tolist()
    [[1.0, 0.0], [0.0, 2.0]]
    """
    return diag(ravel(v), k)


def diagonal(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    """``y_...i = a_(i, i + offset)`` along two axes, which become the last one.

    Shapes: ``a: (*a, m, *b, n, *c) -> (*a, *b, *c, k)``.   Dtypes: all.
    Derivative: linear; the cotangent goes to the diagonal.
    Raises: ShapeError: the axes do not exist or are the same.
    Source: NumPy reference, ``numpy.diagonal``.

    >>> diagonal([[1.0, 2.0], [3.0, 4.0]]).tolist()
    [1.0, 4.0]
    """
    a = array_of(a)
    first, second = _two_axes("diagonal", a, axis1, axis2)
    offset = known_lengths("fnp.diagonal: offset", offset)
    return _structural.diagonal(a, offset=offset, axis1=first, axis2=second)


def _two_axes(name: str, a: Any, axis1: int, axis2: int) -> tuple[int, int]:
    first, second = axis_of(name, axis1, a.ndim), axis_of(name, axis2, a.ndim)
    if first == second:
        raise ShapeError(f"fnp.{name}: axis1 and axis2 are both {first}{where()}")
    return first, second


def trace(
    a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None, out: Any = None
) -> Any:
    """``sum_i a_(i, i + offset)`` along two axes.

    Shapes: ``a: (*a, m, *b, n, *c) -> (*a, *b, *c)``.   Dtypes: all; small integers widen.
    Derivative: linear; the cotangent goes to every element of the diagonal.
    Raises: ShapeError: the axes do not exist or are the same. ArgumentError: `out` does not fit.
    Source: NumPy reference, ``numpy.trace``.

    >>> float(trace([[1.0, 2.0], [3.0, 4.0]]))
    5.0
    """
    if out is not None:
        return written("fnp.trace with out=", trace(a, offset, axis1, axis2, dtype, None), out)
    a = converted(array_of(a), dtype)
    first, second = _two_axes("trace", a, axis1, axis2)
    offset = known_lengths("fnp.trace: offset", offset)
    y = _structural.trace(a, offset=offset, axis1=first, axis2=second)
    return converted(y, dtype)


def tril(m: Any, k: int = 0) -> Any:
    """``y_ij = m_ij if j <= i + k else 0``, of the last two axes.

    Shapes: ``m: (*a, m, n) -> (*a, m, n)``; a vector is repeated as rows.   Dtypes: all.
    Derivative: linear; smooth everywhere.
    Raises: ShapeError: `m` is 0-d. ArgumentError: a traced `k` is no integer.
    Source: NumPy reference, ``numpy.tril``.

    >>> tril([[1.0, 2.0], [3.0, 4.0]]).tolist()
    [[1.0, 0.0], [3.0, 4.0]]
    """
    m, k = _matrix("tril", m), integer("tril", "k", k)
    if isinstance(k, Tracer):
        return _choose(less_equal(_diagonals(m), k), m, m.dtype.type(0))
    return _structural.tril(m, k=k)


def triu(m: Any, k: int = 0) -> Any:
    """``y_ij = m_ij if j >= i + k else 0``, of the last two axes.

    Shapes: ``m: (*a, m, n) -> (*a, m, n)``; a vector is repeated as rows.   Dtypes: all.
    Derivative: linear; smooth everywhere.
    Raises: ShapeError: `m` is 0-d. ArgumentError: a traced `k` is no integer.
    Source: NumPy reference, ``numpy.triu``.

    >>> triu([[1.0, 2.0], [3.0, 4.0]]).tolist()
    [[1.0, 2.0], [0.0, 4.0]]
    """
    m, k = _matrix("triu", m), integer("triu", "k", k)
    if isinstance(k, Tracer):
        return _choose(greater_equal(_diagonals(m), k), m, m.dtype.type(0))
    return _structural.triu(m, k=k)


def _diagonals(m: Any) -> Any:
    return beside(m, offsets(*m.shape[-2:]))


def _matrix(name: str, m: Any) -> Any:
    m = array_of(m)
    if m.ndim == 0:
        raise ShapeError(f"fnp.{name}: needs one axis or more, found a 0-d array{where()}")
    return m if m.ndim > 1 else _structural.broadcast_to(m, shape=m.shape * 2)


# ---------------------------------------------------------------- indices


def tril_indices_from(arr: Any, k: int = 0) -> tuple[Any, ...]:
    """The indices of the lower triangle of a matrix of the shape of `arr`.

    Derivative: none.   Source: NumPy reference, ``numpy.tril_indices_from``.

    >>> [i.tolist() for i in tril_indices_from(np.ones((2, 2)))]
    [[0, 1, 1], [0, 0, 1]]
    """
    rows, columns = _square("tril_indices_from", arr)
    return np.tril_indices(rows, k, columns)


def triu_indices_from(arr: Any, k: int = 0) -> tuple[Any, ...]:
    """The indices of the upper triangle of a matrix of the shape of `arr`.

    Derivative: none.   Source: NumPy reference, ``numpy.triu_indices_from``.

    >>> [i.tolist() for i in triu_indices_from(np.ones((2, 2)))]
    [[0, 0, 1], [0, 1, 1]]
    """
    rows, columns = _square("triu_indices_from", arr)
    return np.triu_indices(rows, k, columns)


def diag_indices_from(arr: Any) -> tuple[Any, ...]:
    """The indices of the main diagonal of an array of the shape of `arr`, whose axes are equal.

    Derivative: none.   Raises: ShapeError: the axes differ in length.
    Source: NumPy reference, ``numpy.diag_indices_from``.

    >>> [i.tolist() for i in diag_indices_from(np.ones((2, 2)))]
    [[0, 1], [0, 1]]
    """
    shape = array_of(arr).shape
    if len(shape) < 2 or len(set(shape)) > 1:
        raise ShapeError(
            f"fnp.diag_indices_from: needs two axes or more of one length, found {list(shape)}{where()}"
        )
    return np.diag_indices(shape[0], len(shape))


def _square(name: str, arr: Any) -> tuple[int, int]:
    shape = array_of(arr).shape
    if len(shape) != 2:
        raise ShapeError(f"fnp.{name}: needs two axes, found {len(shape)}{where()}")
    return shape
