"""LU decompositions with row pivoting, and what is solved with them.

NOTE [By halves] The order of the rows is found in numbers and counts as constant. The rows in that
order are then decomposed without pivots, in operations that have derivatives: with ``A = [[a, b],
[c, d]]`` and ``a = l u``, the rest is ``L = [[l, 0], [c u^-1, m]]``, ``U = [[u, l^-1 b], [0, v]]``
and ``m v = d - c u^-1 l^-1 b``. Without gradients the numbers are used as they are.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from funcgrad.ops.select import where

from ..autograd.base import tensor
from ..autograd.tape import record
from ..ops import return_types
from ..ops._apply import finish, is_traced, requires_grad
from ..ops._compose import not_implemented, values_of
from ..ops._operands import dtype_of, operand
from ..ops.join import cat
from .checks import require_same, shape_of
from .elimination import eliminate, order_of, swaps
from .systems import finish_all, require_fitting, triangular


def _factors(name: str, A: Any, pivot: bool) -> tuple[Any, Any, Any]:
    """L and U in one matrix, the order of the rows, and which pivot is zero.

    Raises: RuntimeError: no matrix, or no pivots are wanted.
    """
    x = operand(name.replace(".", "_"), 1, "A", A)
    if len(shape_of(x)) < 2:
        raise RuntimeError(
            f"{name}: Expected tensor with 2 or more dimensions. Got size: {list(shape_of(x))} instead"
        )
    if not pivot:
        raise RuntimeError("linalg.lu_factor: LU without pivoting is not implemented on the CPU")
    if dtype_of(x).name not in ("float32", "float64", "complex64", "complex128"):
        raise not_implemented("lu_cpu", x)
    lu, rows, info = eliminate(np.asarray(values_of(name, x)))
    if not requires_grad(x) and not is_traced(x):
        return tensor(lu), rows, info
    places = tensor(np.broadcast_to(rows[..., None], lu.shape).astype(np.int64))
    return _halves(x.gather(-2, places)), rows, info


def _halves(x: Any) -> Any:
    """NOTE [By halves]."""
    m, n = shape_of(x)[-2:]
    k = min(m, n)
    if k == 0 or m == 1:
        return x
    if k == 1:
        pivot = x[..., :1, :]
        return cat((pivot, x[..., 1:, :] / _nonzero(pivot)), -2)
    h = k // 2
    left = _halves(x[..., :, :h])
    top, low = left[..., :h, :], left[..., h:, :]
    right = triangular(top, x[..., :h, h:], False, True, True, "")
    rest = _halves(x[..., h:, h:] - low @ right)
    return cat((left, cat((right, rest), -2)), -1)


def _nonzero(pivot: Any) -> Any:
    """The pivots to divide by: nothing is divided by those that are zero."""
    one = np.ones((), pivot._array.dtype)
    return record(where, (pivot == 0, one, pivot), None, "WhereBackward0")


def _unpacked(factors: Any) -> tuple[Any, Any]:
    """L and U of both in one matrix."""
    m, n = shape_of(factors)[-2:]
    k = min(m, n)
    unit = tensor(np.eye(m, k, dtype=factors._array.dtype))
    return factors[..., :k].tril(-1) + unit, factors[..., :k, :].triu()


def _permutation(rows: Any, dtype: Any) -> Any:
    """The matrix P with ``P x[rows] = x``."""
    m = rows.shape[-1]
    return tensor((rows[..., None, :] == np.arange(m)[:, None]).astype(dtype))


def lu(A: Any, *, pivot: bool = True, out: Any = None) -> Any:
    """A permutation P, a unit lower triangular L and an upper triangular U with ``A = P L U``.

    Derivative: where no pivot is zero.
    Raises: RuntimeError: no matrix.

    >>> import compat as torch
    >>> torch.linalg.lu(torch.tensor([[0.0, 2.0], [4.0, 2.0]])).U
    tensor([[4., 2.],
            [0., 2.]])
    """
    factors, rows, _ = _factors("linalg.lu", A, pivot)
    found = (_permutation(rows, factors._array.dtype), *_unpacked(factors))
    return return_types.linalg_lu(*finish_all("linalg.lu", found, out, (A,)))


def lu_factor_ex(A: Any, *, pivot: bool = True, check_errors: bool = False, out: Any = None) -> Any:
    """L and U in one matrix, the rows that were swapped, and which pivot is zero, 0 if none is.

    Raises: RuntimeError: no matrix; with `check_errors`, a pivot is zero.

    >>> import compat as torch
    >>> torch.linalg.lu_factor_ex(torch.tensor([[0.0, 2.0], [4.0, 2.0]])).pivots
    tensor([2, 2], dtype=torch.int32)
    """
    name = "linalg.lu_factor_ex"
    factors, rows, info = _factors(name, A, pivot)
    if check_errors:
        _require_pivots(info)
    pivots = tensor(swaps(rows, min(shape_of(factors)[-2:])))
    results = finish_all(name, (factors, pivots, tensor(info)), out, (A,))
    return return_types.linalg_lu_factor_ex(*results)


def _require_pivots(info: Any) -> None:
    if info.any():
        k = int(info.reshape(-1)[info.reshape(-1) != 0][0])
        raise RuntimeError(
            f"torch.linalg.lu_factor: U[{k},{k}] is zero and using it on lu_solve would result in a "
            f"division by zero. If you still want to perform the factorization, consider calling "
            f"linalg.lu(A, pivot) or linalg.lu_factor_ex(A, pivot)"
        )


def lu_factor(A: Any, *, pivot: bool = True, out: Any = None) -> Any:
    """L and U in one matrix, and the rows that were swapped: what `lu_solve` takes.

    Raises: RuntimeError: no matrix, or a pivot is zero.

    >>> import compat as torch
    >>> torch.linalg.lu_factor(torch.tensor([[0.0, 2.0], [4.0, 2.0]])).LU
    tensor([[4., 2.],
            [0., 2.]])
    """
    found = lu_factor_ex(A, pivot=pivot, check_errors=True)[:2]
    return return_types.linalg_lu_factor(*finish_all("linalg.lu_factor", found, out, (A,)))


def lu_solve(
    LU: Any, pivots: Any, B: Any, *, left: bool = True, adjoint: bool = False, out: Any = None
) -> Any:
    """The X with ``A X = B`` (``X A = B`` if not `left`; A adjoint if so asked), from `lu_factor`.

    Raises: RuntimeError: the shapes do not fit.

    >>> import compat as torch
    >>> factors = torch.linalg.lu_factor(torch.tensor([[0.0, 2.0], [4.0, 2.0]]))
    >>> torch.linalg.lu_solve(*factors, torch.tensor([[2.0], [6.0]]))
    tensor([[1.],
            [1.]])
    """
    name = "linalg.lu_solve"
    x, b = operand("linalg_lu_solve", 1, "LU", LU), operand("linalg_lu_solve", 3, "B", B)
    p = operand("linalg_lu_solve", 2, "pivots", pivots)
    require_same(name, x, b)
    require_fitting(name, shape_of(x), shape_of(b), left)
    order = order_of(values_of(name, p), shape_of(x)[-1])
    permutation = _permutation(order, x._array.dtype)
    return finish(name, _lu_solve(x, permutation, b, left, adjoint), out, (x, b))


def _lu_solve(x: Any, p: Any, b: Any, left: bool, adjoint: bool) -> Any:
    """With ``A = P L U``."""
    node = "LinalgLuSolveBackward0"
    if not left:
        if adjoint:  # X A^H = B: A X^H = B^H
            return _lu_solve(x, p, b.mH, True, False).mH
        return _lu_solve(x, p, b.mH, True, True).mH
    if adjoint:
        y = triangular(x, b, True, True, False, node, adjoint=True)
        return p @ triangular(x, y, False, True, True, node, adjoint=True)
    y = triangular(x, p.mT @ b, False, True, True, node)
    return triangular(x, y, True, True, False, node)


def lu_unpack(
    LU_data: Any,
    LU_pivots: Any,
    unpack_data: bool = True,
    unpack_pivots: bool = True,
    *,
    out: Any = None,
) -> Any:
    """P, L and U from what `lu_factor` gives; what is not wanted is empty.

    >>> import compat as torch
    >>> factors = torch.linalg.lu_factor(torch.tensor([[0.0, 2.0], [4.0, 2.0]]))
    >>> torch.lu_unpack(*factors).L
    tensor([[1., 0.],
            [0., 1.]])
    """
    x = operand("lu_unpack", 1, "LU_data", LU_data)
    p = operand("lu_unpack", 2, "LU_pivots", LU_pivots)
    empty = tensor(np.zeros((0,), x._array.dtype))
    low, up = _unpacked(x) if unpack_data else (empty, empty)
    permutation = empty
    if unpack_pivots:
        order = order_of(values_of("lu_unpack", p), shape_of(x)[-2])
        permutation = _permutation(order, x._array.dtype)
    return return_types.lu_unpack(*finish_all("lu_unpack", (permutation, low, up), out, (x,)))
