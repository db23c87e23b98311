"""How far points are from points, all pairs of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..algebra import batch_first, broadcast_shapes, general
from ..core import Aval, Primitive, aval_of
from ..errors import ShapeError, where
from ..short import summed
from .contract import matmul, matrix_transpose
from .exponential import sqrt
from .index_layout import on_host
from .logic import equal
from .select import stop_gradient
from .select import where as choose
from .solve import factor_dtype
from .structural import expand_dims
from .structural import sum as sum_

_CANCELLED = 2.0**-6  # what is left of the squares where products are as good as differences
_BLOCK = 1 << 16  # so many differences at once
FEW = 25  # points of which all distances are sooner found by differences


def _row_sums(x: Any) -> Any:
    return sum_(x, axis=(x.ndim - 1,))


def _centred(x: Any, y: Any) -> tuple[Any, Any]:
    """Both about the mean of `y`: only differences count, and products of small numbers cancel less."""
    centre = stop_gradient(sum_(y, axis=(y.ndim - 2,)) / max(y.shape[-2], 1))
    centre = expand_dims(centre, axis=(y.ndim - 2,))
    return x - centre, y - centre


def _by_rows(t: Any, _ans: Any, x: Any, y: Any) -> Any:
    x, y = _centred(x, y)
    own = _row_sums(t * x)
    own = expand_dims(own, axis=(own.ndim,))
    return 2.0 * (own - matmul(t, matrix_transpose(y)))


def _by_columns(t: Any, _ans: Any, x: Any, y: Any) -> Any:
    x, y = _centred(x, y)
    own = _row_sums(t * y)
    own = expand_dims(own, axis=(own.ndim - 1,))
    return 2.0 * (own - matmul(x, matrix_transpose(t)))


def _distances_aval(x: Aval, y: Aval) -> Aval:
    if min(x.ndim, y.ndim) < 2 or x.shape[-1] != y.shape[-1]:
        raise ShapeError(
            f"square_distances: x is {x} and y is {y}: need rows of the same length{where()}"
        )
    lead = broadcast_shapes("square_distances", [x.shape[:-2], y.shape[:-2]])
    return Aval((*lead, x.shape[-2], y.shape[-2]), factor_dtype(x, y))


def _batch_points(prim: Primitive, size: int, xs: Any, bdims: Any, params: dict) -> Any:
    ndim = max(aval_of(x).ndim - (d is not None) for x, d in zip(xs, bdims, strict=True))
    given = [x if d is None else batch_first(x, d, ndim) for x, d in zip(xs, bdims, strict=True)]
    return prim(*given, **params), 0


@general(_by_rows, _by_columns, aval=_distances_aval, batch=_batch_points)
def square_distances(xp, x, y, /):
    """``d_ij = sum_k (x_ik - y_jk)**2``: of every row of `x` and every row of `y`.

    By products of matrices; once more, by differences, for pairs so close that products cancel.

    Shapes: ``x: (*p, m, k), y: (*q, n, k) -> (*broadcast(p, q), m, n)``.
    Dtypes: real; integers as float64.
    Derivative: ``2 sum_k (x_ik - y_jk) (dx_ik - dy_jk)``, by products; smooth everywhere.
    Raises: ShapeError: rows of different lengths.
    Source: Higham, "Accuracy and Stability of Numerical Algorithms" (2002), section 1.7.

    >>> square_distances(np.array([[0.0, 0.0], [3.0, 4.0]]), np.array([[3.0, 4.0]])).tolist()
    [[25.0], [0.0]]
    """
    aval = _distances_aval(Aval(x.shape, x.dtype), Aval(y.shape, y.dtype))
    x, y = (a.astype(aval.dtype, copy=False) for a in (x, y))
    if 0 in aval.shape:
        return xp.zeros(aval.shape, aval.dtype)
    if not on_host(xp):  # which pairs are close would have to be waited for
        apart = x[..., :, None, :] - y[..., None, :, :]
        return (apart * apart).sum(-1)
    with np.errstate(all="ignore"):
        centre = y.mean(axis=-2, keepdims=True)
        a, b = x - centre, y - centre
        squares = _squares(a)[..., :, None] + _squares(b)[..., None, :]
        out = squares - 2.0 * xp.matmul(a, xp.swapaxes(b, -1, -2))
        close = ~(out > _CANCELLED * squares)  # or not a number
        if bool(close.any()):
            out[close] = _by_differences(xp, x, y, close)
    return out


def _squares(rows: Any) -> Any:
    return summed(rows * rows, (rows.ndim - 1,))


def _by_differences(xp: Any, x: Any, y: Any, close: Any) -> Any:
    """The distances of the pairs that are marked."""
    *lead, i, j = xp.nonzero(close)
    x, y = (xp.broadcast_to(a, (*close.shape[:-2], *a.shape[-2:])) for a in (x, y))
    out = xp.empty(i.shape, x.dtype)
    step = max(_BLOCK // max(x.shape[-1], 1), 1)
    for start in range(0, len(i), step):
        part = slice(start, start + step)
        before = tuple(a[part] for a in lead)
        apart = x[(*before, i[part])] - y[(*before, j[part])]
        out[part] = _squares(apart)
    return out


def distances(x: Any, y: Any, /) -> Any:
    """``d_ij = |x_i - y_j|`` of every row of `x` and every row of `y`, by `square_distances`.

    The derivative is 0 where rows are equal.

    >>> distances(np.array([[0.0, 0.0], [3.0, 4.0]]), np.array([[3.0, 4.0]])).tolist()
    [[5.0], [0.0]]
    """
    return root(square_distances(x, y))


def root(squares: Any, /) -> Any:
    """The square root of squares, with the derivative 0 where they are 0.

    >>> root(np.array([0.0, 4.0])).tolist()
    [0.0, 2.0]
    """
    nothing = equal(squares, 0)
    return choose(nothing, 0.0, sqrt(choose(nothing, 1.0, squares)))
