"""Linear algebra under NumPy's and SciPy's names: functions over the primitives of this family.

The primitives are in `solve.py` and `decompose.py`; this file is where to import them from.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..algebra import concrete_namespace
from ..core import aval_of
from ..errors import ShapeError, where
from . import reduce, structural
from .arithmetic import absolute
from .cast import astype
from .contract import as_array, conjugated, matmul, normal_axis
from .decompose import (
    cholesky,
    eig,
    eigh,
    eigvals,
    eigvalsh,
    geqrf,
    qr,
    qr_complete,
    svd,
    svd_complete,
    svdvals,
)
from .determinants import cofactor, det, slogdet
from .logic import equal, greater, isfinite, logical_and, not_equal
from .select import stop_gradient
from .select import where as choose
from .solve import (
    adjoint,
    inv,
    matrix_solve,
    pinv,
    require_matrix,
    triangular_solve,
)
from .structural import reshape, transpose

__all__ = [
    "adjoint",
    "cholesky",
    "cofactor",
    "det",
    "eig",
    "eigh",
    "eigvals",
    "eigvalsh",
    "geqrf",
    "inv",
    "matrix_power",
    "matrix_solve",
    "multi_dot",
    "norm",
    "p_norm",
    "pinv",
    "qr",
    "qr_complete",
    "slogdet",
    "solve",
    "solve_triangular",
    "svd",
    "svd_complete",
    "svdvals",
    "triangular_solve",
]


# ---------------------------------------------------------------- systems of equations


def solve(a: Any, b: Any) -> Any:
    """``x`` with ``a x = b``; `b` is a vector if it has one axis, else a stack of matrices.

    Raises: LinAlgError: `a` is singular. ShapeError: the shapes do not fit.
    Source: NumPy reference, ``numpy.linalg.solve`` (of NumPy 2).

    >>> solve(np.array([[2.0, 0.0], [0.0, 4.0]]), np.array([2.0, 2.0])).tolist()
    [1.0, 0.5]
    """
    return _of_vectors_too(matrix_solve, a, b)


def solve_triangular(
    a: Any, b: Any, *, trans: int | str = 0, lower: bool = False, unit_diagonal: bool = False
) -> Any:
    """``x`` with ``A x = b``, A being the upper (or lower) triangle of `a`.

    `trans`: 1 or "T" solves with A transposed, 2 or "C" with its conjugate transpose.

    Raises: LinAlgError: A is singular. ShapeError: the shapes do not fit.
    Source: SciPy reference, ``scipy.linalg.solve_triangular``.

    >>> solve_triangular(np.array([[2.0, 0.0], [9.0, 4.0]]), np.array([2.0, 2.0])).tolist()
    [1.0, 0.5]
    """
    a = as_array(a)
    if trans in (1, "T", 2, "C"):
        a = adjoint(a) if trans in (2, "C") else adjoint(conjugated(a))
        lower = not lower
    prim = functools.partial(triangular_solve, lower=lower, unit_diagonal=unit_diagonal)
    return _of_vectors_too(prim, a, b)


def _of_vectors_too(prim: Any, a: Any, b: Any) -> Any:
    a, b = as_array(a), as_array(b)
    if b.ndim != 1:
        return prim(a, b)
    out = prim(a, reshape(b, shape=(b.size, 1)))
    return reshape(out, shape=out.shape[:-1])


# ---------------------------------------------------------------- products


def matrix_power(a: Any, n: int) -> Any:
    """`a` multiplied with itself `n` times; its inverse for negative `n`, by repeated squaring.

    Raises: LinAlgError: `n` is negative and `a` singular. ShapeError: `a` is not square.
    Source: NumPy reference, ``numpy.linalg.matrix_power``.

    >>> matrix_power(np.array([[1.0, 1.0], [0.0, 1.0]]), 5).tolist()
    [[1.0, 5.0], [0.0, 1.0]]
    """
    a = as_array(a)
    require_matrix("matrix_power", aval_of(a), square=True)
    if n < 0:
        a, n = inv(a), -n
    out = None
    while n:
        if n & 1:
            out = a if out is None else matmul(out, a)
        n >>= 1
        if n:
            a = matmul(a, a)
    if out is None:
        xp = concrete_namespace(a)
        out = xp.zeros(a.shape, a.dtype) + xp.eye(a.shape[-1], dtype=a.dtype)
    return out


def multi_dot(arrays: Sequence[Any]) -> Any:
    """The product of two or more matrices, multiplied in the order that takes the fewest steps.

    The first may be a row and the last a column.

    Raises: ShapeError: fewer than two arrays, or shapes that do not fit.
    Source: Cormen, Leiserson, Rivest & Stein, "Introduction to Algorithms", "Matrix-chain
    multiplication"; NumPy reference, ``numpy.linalg.multi_dot``.

    >>> multi_dot([np.ones((2, 9)), np.ones((9, 9)), np.ones(9)]).tolist()
    [81.0, 81.0]
    """
    arrays = [as_array(a) for a in arrays]
    if len(arrays) < 2:
        raise ShapeError(f"multi_dot: needs at least two arrays, found {len(arrays)}{where()}")
    rows = [a.shape[0] if a.ndim > 1 else 1 if i == 0 else a.shape[0] for i, a in enumerate(arrays)]
    split = _chain_order((*rows, arrays[-1].shape[-1] if arrays[-1].ndim > 1 else 1))

    def product(i: int, j: int) -> Any:
        if i == j:
            return arrays[i]
        return matmul(product(i, split[i, j]), product(split[i, j] + 1, j))

    return product(0, len(arrays) - 1)


@functools.lru_cache(maxsize=256)
def _chain_order(sizes: tuple[int, ...]) -> dict[tuple[int, int], int]:
    """Where to split the product of matrices i to j; matrix k is ``sizes[k]`` by ``sizes[k + 1]``."""
    count = len(sizes) - 1
    cost = {(i, i): 0 for i in range(count)}
    split = {}
    for length in range(1, count):
        for i in range(count - length):
            j = i + length
            steps = {
                k: cost[i, k] + cost[k + 1, j] + sizes[i] * sizes[k + 1] * sizes[j + 1]
                for k in range(i, j)
            }
            split[i, j] = min(steps, key=steps.__getitem__)
            cost[i, j] = steps[split[i, j]]
    return split


# ---------------------------------------------------------------- norms


def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    """A norm of vectors (one axis) or matrices (two axes), or of all elements.

    Derivatives at kinks are those of the parts: 0 at the zero vector for the 2-norm, `absolute` has
    0 at 0, and equal maxima share evenly.

    Raises: ShapeError: `ord` does not exist for as many axes.
    Source: NumPy reference, ``numpy.linalg.norm``.

    >>> [float(norm(np.array([3.0, -4.0]), ord)) for ord in (None, 1, np.inf)]
    [5.0, 7.0, 4.0]
    """
    x = as_array(x)
    if x.dtype.kind not in "fc":
        x = astype(x, np.float64)
    if axis is None:
        axes = tuple(range(x.ndim))
        whole = ord is None or (ord in ("f", "fro") and x.ndim == 2) or (ord == 2 and x.ndim == 1)
    else:
        axes = tuple(axis) if isinstance(axis, tuple | list) else (axis,)
        axes = tuple(normal_axis("norm", int(a), x.ndim) for a in axes)
        whole = False
    if whole:
        out = reduce.norm2(x, axis=axes)
    elif len(axes) == 1:
        out = _vector_norm(x, ord, axes)
    elif len(axes) == 2 and axes[0] != axes[1]:
        out = _matrix_norm(x, ord, axes)
    else:
        raise ShapeError(f"norm: ord={ord!r} over the axes {axes} of {aval_of(x)}{where()}")
    return reshape(out, shape=structural.kept(x.shape, axes)) if keepdims else out


def _vector_norm(x: Any, ord: Any, axis: tuple[int, ...]) -> Any:
    if ord is None or ord == 2:
        return reduce.norm2(x, axis=axis)
    if isinstance(ord, str):
        raise ShapeError(f"norm: ord={ord!r} is for matrices, but there is one axis{where()}")
    if ord == 0:
        return astype(reduce.count_nonzero(x, axis=axis), absolute(x).dtype)
    size = absolute(x)
    if ord == math.inf:
        return _largest(size, axis)
    if ord == -math.inf:
        return reduce.min(size, axis=axis)
    if ord == 1:
        return structural.sum(size, axis=axis)
    if ord < 0 and _is_empty(x, axis):
        return structural.sum(size, axis=axis) + math.inf
    return p_norm(x, p=ord, axis=axis)


def _is_empty(x: Any, axis: tuple[int, ...]) -> bool:
    return not math.prod(x.shape[i] for i in axis)


def _largest(size: Any, axis: tuple[int, ...]) -> Any:
    """The maximum of what is not negative, 0 of nothing."""
    return (structural.sum if _is_empty(size, axis) else reduce.max)(size, axis=axis)


def p_norm(x: Any, /, *, p: float, axis: tuple[int, ...], weights: Any = None) -> Any:
    """``(sum_i w_i |x_i|^p)^(1/p)`` of an array along the axes, for every p, zero and infinite too.

    The derivative is 0 where x is, as PyTorch's; elements that are equal in size share that of the
    infinite norms, which see only whether `weights` are 0. They go with p > 0.

    >>> float(p_norm(np.array([3.0, -4.0]), p=2, axis=(0,), weights=np.array([0.0, 0.25])))
    2.0
    """
    if p == 2 and weights is None:
        return reduce.norm2(x, axis=axis)
    size = absolute(x)
    if p == math.inf:
        return reduce.max(
            size if weights is None else choose(not_equal(weights, 0), size, 0.0), axis=axis
        )
    if p == -math.inf:
        return reduce.min(size, axis=axis)
    if p == 1:
        return structural.sum(size if weights is None else size * weights, axis=axis)
    if p == 0:
        count = reduce.count_nonzero(x, axis=axis).astype(size.dtype)
        return choose(True, count, structural.sum(size, axis=axis))  # has a derivative, which is 0
    if _is_empty(x, axis):
        return structural.sum(size, axis=axis)
    return _general_norm(size, p, axis, weights)


def _general_norm(size: Any, p: float, axis: tuple[int, ...], weights: Any) -> Any:
    """The norm of numbers that are not negative, scaled so that no power overflows."""
    kept = structural.kept(size.shape, axis)
    unit = stop_gradient((reduce.max if p > 0 else reduce.min)(size, axis=axis))
    unit = choose(logical_and(greater(unit, 0), isfinite(unit)), unit, 1.0).astype(size.dtype)
    zero = equal(size, 0)
    powers = choose(zero, 1.0, size / unit.reshape(kept)) ** p
    powers = choose(zero, 0.0 if p > 0 else math.inf, powers)
    total = structural.sum(powers if weights is None else powers * weights, axis=axis)
    zero = equal(total, 0)
    return choose(zero, 0.0, choose(zero, 1.0, total) ** (1.0 / p)) * unit


def _matrix_norm(x: Any, ord: Any, axis: tuple[int, ...]) -> Any:
    if ord in (None, "f", "fro"):
        return reduce.norm2(x, axis=axis)
    rows, columns = axis
    if ord in (1, -1, math.inf, -math.inf):
        summed, kept = (rows, columns) if abs(ord) == 1 else (columns, rows)
        sums = structural.sum(absolute(x), axis=(summed,))
        extreme = _largest if ord > 0 else reduce.min
        return extreme(sums, axis=(kept - (kept > summed),))
    if ord in (2, -2, "nuc"):
        others = tuple(i for i in range(x.ndim) if i not in axis)
        values = svdvals(transpose(x, axes=(*others, rows, columns)))
        last = (values.ndim - 1,)
        if ord == "nuc":
            return structural.sum(values, axis=last)
        return (_largest if ord == 2 else reduce.min)(values, axis=last)
    raise ShapeError(f"norm: there is no ord={ord!r} for matrices{where()}")
