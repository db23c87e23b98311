"""Products of two matrices, where `ndarray.dot` is not the fastest that can be had.

Layer 0. OpenBLAS, which NumPy is built with, spends half of the time of ``x @ w.T`` in single
precision, for an `x` of few rows, on arranging w. The other way round, ``(w @ x.T).T``, it arranges x.
Measured on AVX-512: 16 x 128 times 128 x 512 in 37 instead of 62 us, 8 x 1024 times 1024 x 1024 in 0.42
instead of 0.87 ms, the copy into the usual order included.
"""

from __future__ import annotations

from typing import Any

import numpy as np

LEAST = 1 << 18  # multiplications; for fewer OpenBLAS arranges nothing
MOST_ROWS = 48

ndarray = np.ndarray
_SINGLE = np.dtype(np.float32)

# Asked for each large product first, where something is here; see compile/own_products.py.
own: Any = None


def dot(x: Any, y: Any, out: Any = None) -> Any:
    """``x.dot(y)`` of arrays; `out` is memory for the result.

    Shapes: as ``np.dot``.   Dtypes: numbers.

    >>> dot(np.eye(2), np.array([[1.0, 2.0], [3.0, 4.0]]).T).tolist()
    [[1.0, 3.0], [2.0, 4.0]]
    """
    if x.__class__ is y.__class__ is ndarray and x.ndim == y.ndim == 2 and y.size * len(x) >= LEAST:
        found = own(x, y, out) if own is not None else None
        return by_blas(x, y, out) if found is None else found
    return x.dot(y) if out is None else x.dot(y, out)


def by_blas(x: Any, y: Any, out: Any = None) -> Any:
    """``x.dot(y, out)`` of two large matrices.

    >>> by_blas(np.eye(2), np.array([[1.0, 2.0], [3.0, 4.0]])).tolist()
    [[1.0, 2.0], [3.0, 4.0]]
    """
    if 1 < len(x) <= MOST_ROWS and x.dtype is y.dtype is _SINGLE and y.strides[0] < y.strides[1]:
        found = y.T.dot(x.T).T
        if out is None:
            return np.ascontiguousarray(found)
        out[...] = found
        return out
    return x.dot(y, out)
