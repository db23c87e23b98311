"""Products of arrays with sparse matrices of SciPy's, which are constants.

The matrix is a parameter, not an operand: SciPy multiplies by it as it is when the product is made, in
whatever format, so that a program sees what was written into it since.
"""

from __future__ import annotations

import math
import sys
from typing import Any

import numpy as np

from ..algebra import linear
from ..core import Aval, Primitive, aval_of
from ..errors import ArgumentError, ShapeError, where


def is_sparse(x: Any) -> bool:
    """Whether `x` is a sparse matrix or array of SciPy's."""
    module = sys.modules.get("scipy.sparse")
    return module is not None and module.issparse(x)


class Held:
    """A sparse matrix as a parameter: equal to itself only, since SciPy's compare elements."""

    __slots__ = ("matrix",)

    def __init__(self, matrix: Any) -> None:
        self.matrix = matrix

    def __eq__(self, other: Any) -> bool:
        return other.__class__ is Held and other.matrix is self.matrix

    def __hash__(self) -> int:
        return id(self.matrix)

    def __repr__(self) -> str:
        return f"{type(self.matrix).__name__}{list(self.matrix.shape)}"


def _product_aval(x: Aval, *, matrix: Held, transposed: bool) -> Aval:
    shape = matrix.matrix.shape
    m, n = reversed(shape) if transposed else shape
    if not x.shape or x.shape[0] != n:
        raise ShapeError(
            f"the sparse matrix of shape {[m, n]} times an array of shape {list(x.shape)}: the first "
            f"axis must have length {n}{where()}"
        )
    # SciPy multiplies float16 in single precision.
    dtype = np.result_type(matrix.matrix.dtype, x.dtype)
    return Aval((m, *x.shape[1:]), np.dtype(np.float32) if dtype == np.float16 else dtype)


def _batch_last(prim: Primitive, size: int, xs: Any, bdims: Any, params: dict) -> Any:
    (x,), (bdim,) = xs, bdims
    last = aval_of(x).ndim - 1
    axes = (*(i for i in range(last + 1) if i != bdim), bdim)
    return prim(x.transpose(axes), **params), last


@linear(
    lambda ct, _x, *, matrix, transposed: sparse_product(
        ct, matrix=matrix, transposed=not transposed
    ),
    aval=_product_aval,
    batch=_batch_last,
)
def sparse_product(xp, x, /, *, matrix, transposed):
    """``y_i = sum_j a_ij x_j`` along the first axis, for a constant sparse matrix a, or its transpose.

    Shapes: ``a: (m, n), x: (n, *b) -> (m, *b)``; `transposed` swaps m and n.
    Dtypes: numbers; gives the common dtype, float32 for float16.
    Derivative: linear; its transpose is the product with the transposed matrix.
    Raises: ShapeError: the first axis does not fit. ArgumentError: `x` is a CuPy array.
    Source: SciPy reference, ``scipy.sparse``.

    >>> from scipy.sparse import csr_array
    >>> a = Held(csr_array([[0.0, 2.0], [0.0, 0.0], [3.0, 1.0]]))
    >>> sparse_product(np.array([1.0, 10.0]), matrix=a, transposed=False).tolist()
    [20.0, 0.0, 13.0]
    """
    if xp.__name__ == "cupy":
        raise ArgumentError(f"a sparse matrix of SciPy's needs NumPy arrays, found CuPy's{where()}")
    a = matrix.matrix.T if transposed else matrix.matrix
    flat = x.reshape(len(x), math.prod(x.shape[1:])) if x.ndim > 2 else x
    return xp.asarray(a @ flat).reshape((a.shape[0], *x.shape[1:]))
