"""Products and diagonals of matrices: NumPy's signatures in ``numpy.linalg``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np  # noqa: F401  (doctests)

from ...errors import ShapeError, where
from ...ops import linalg as _linalg
from .. import matrices as _matrices
from .. import products as _products
from .._arguments import array_of, written


def matrix_power(a: Any, n: int) -> Any:
    """`a` multiplied with itself `n` times; its inverse for negative `n`.

    Shapes: ``a: (*a, k, k) -> (*a, k, k)``.   Dtypes: numbers.
    Derivative: that of the products.
    Raises: ShapeError: `a` is not square. LinAlgError: `n` is negative and `a` singular.
    Source: NumPy reference, ``numpy.linalg.matrix_power``.

    >>> matrix_power([[1.0, 1.0], [0.0, 1.0]], 5).tolist()
    [[1.0, 5.0], [0.0, 1.0]]
    """
    return _linalg.matrix_power(array_of(a), n)


def multi_dot(arrays: Sequence[Any], *, out: Any = None, precision: Any = None) -> Any:
    """The product of two or more matrices, multiplied in the order that takes the fewest steps.

    `precision` changes nothing.

    Shapes: ``(m, k1), (k1, k2), ..., (kn, n) -> (m, n)``; vectors at the ends.   Dtypes: numbers.
    Derivative: linear in every array.
    Raises: ShapeError: the shapes do not fit. ArgumentError: `out` does not fit.
    Source: NumPy reference, ``numpy.linalg.multi_dot``.

    >>> multi_dot([np.ones((2, 9)), np.ones((9, 9)), np.ones(9)]).tolist()
    [81.0, 81.0]
    """
    if out is not None:
        return written("fnp.linalg.multi_dot with out=", multi_dot(arrays, out=None), out)
    return _linalg.multi_dot([array_of(a) for a in arrays])


def outer(x1: Any, x2: Any, /) -> Any:
    """``x1_i x2_j`` of two vectors.

    Shapes: ``(m,), (n,) -> (m, n)``.   Dtypes: numbers.
    Derivative: bilinear; smooth everywhere.
    Raises: ShapeError: an argument has not one axis.
    Source: NumPy reference, ``numpy.linalg.outer``.

    >>> outer([1.0, 2.0], [3.0]).tolist()
    [[3.0], [6.0]]
    """
    x1, x2 = array_of(x1), array_of(x2)
    if x1.ndim != 1 or x2.ndim != 1:
        raise ShapeError(
            f"fnp.linalg.outer: needs two vectors, found shapes {list(x1.shape)} and "
            f"{list(x2.shape)}{where()}"
        )
    return _products.outer(x1, x2)


def cross(x1: Any, x2: Any, /, *, axis: int = -1) -> Any:
    """The vector product along an axis of length 3.

    Shapes: ``(*a, 3), (*b, 3) -> (*broadcast(a, b), 3)``.   Dtypes: numbers.
    Derivative: bilinear; smooth everywhere.
    Raises: ShapeError: an axis does not exist or is not 3 long.
    Source: NumPy reference, ``numpy.linalg.cross``.

    >>> cross([1.0, 0.0, 0.0], [0.0, 1.0, 0.0]).tolist()
    [0.0, 0.0, 1.0]
    """
    return _products.cross(x1, x2, axis=axis)


def tensordot(
    x1: Any,
    x2: Any,
    /,
    *,
    axes: Any = 2,
    precision: Any = None,
    preferred_element_type: Any = None,
) -> Any:
    """Sum of products over pairs of axes, as `funcgrad.numpy.tensordot`.

    Shapes: the axes that are left, those of `x1` first.   Dtypes: numbers.
    Derivative: bilinear; smooth everywhere.
    Raises: ShapeError: the axes do not exist, or differ in number or in length.
    Source: NumPy reference, ``numpy.linalg.tensordot``.

    >>> float(tensordot([1.0, 2.0], [3.0, 4.0], axes=1))
    11.0
    """
    return _products.tensordot(x1, x2, axes, preferred_element_type=preferred_element_type)


def vecdot(
    x1: Any,
    x2: Any,
    /,
    *,
    axis: int = -1,
    precision: Any = None,
    preferred_element_type: Any = None,
) -> Any:
    """``sum_k conj(x1_k) x2_k`` along an axis, as `funcgrad.numpy.vecdot`.

    Shapes: ``(*a, n), (*b, n) -> broadcast(a, b)``.   Dtypes: numbers.
    Derivative: bilinear over the reals; smooth everywhere.
    Raises: ShapeError: the axes differ in length, or the others do not broadcast.
    Source: NumPy reference, ``numpy.linalg.vecdot``.

    >>> float(vecdot([1.0, 2.0], [3.0, 4.0]))
    11.0
    """
    return _products.vecdot(x1, x2, axis=axis, preferred_element_type=preferred_element_type)


def diagonal(x: Any, /, *, offset: int = 0) -> Any:
    """The diagonals of matrices, the last two axes.

    Shapes: ``x: (*a, m, n) -> (*a, k)``.   Dtypes: all.
    Derivative: linear; the cotangent goes to the diagonal.
    Raises: ShapeError: `x` has fewer than two axes.
    Source: NumPy reference, ``numpy.linalg.diagonal``.

    >>> diagonal([[1.0, 2.0], [3.0, 4.0]]).tolist()
    [1.0, 4.0]
    """
    return _matrices.diagonal(x, offset, -2, -1)


def trace(x: Any, /, *, offset: int = 0, dtype: Any = None) -> Any:
    """The sum of the diagonals of matrices, the last two axes.

    Shapes: ``x: (*a, m, n) -> (*a)``.   Dtypes: all; small integers widen.
    Derivative: linear; the cotangent goes to every element of the diagonal.
    Raises: ShapeError: `x` has fewer than two axes.
    Source: NumPy reference, ``numpy.linalg.trace``.

    >>> float(trace([[1.0, 2.0], [3.0, 4.0]]))
    5.0
    """
    return _matrices.trace(x, offset, -2, -1, dtype)
