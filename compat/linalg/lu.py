"""LU decompositions with row pivoting, and what is solved with them.

PyTorch counts the rows that are exchanged from 1, as LAPACK does; the primitives count from 0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from funcgrad.indexing import known
from funcgrad.ops import lu as primitives

from .. import dtypes
from ..autograd.base import tensor
from ..autograd.tape import record
from ..ops import return_types
from ..ops._apply import finish
from ..ops._compose import not_implemented
from ..ops._operands import dtype_of, operand
from ..ops.scatter import require_bounds
from .checks import require_same, shape_of, zero_pivots
from .systems import finish_all, require_fitting, triangular

if TYPE_CHECKING:
    from .._tensor import Tensor


def _factors(name: str, A: Any, pivot: bool, node: str) -> tuple[Any, Any, Any]:
    """L and U in one matrix, with which row each was exchanged, and which pivot is zero.

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
    lu, pivots = record(primitives.lu_factor, (x,), None, node)
    return lu, pivots, zero_pivots(lu)


def _order(pivots: Any, count: int) -> Any:
    """Where `count` rows come from after they were exchanged as the primitive says."""
    return record(primitives.permutation_of_pivots, (pivots,), {"count": count})


def _unpacked(factors: Any) -> tuple[Any, Any]:
    """L and U of both in one matrix."""
    m, n = shape_of(factors)[-2:]
    k = min(m, n)
    unit = tensor(np.eye(m, k, dtype=factors._array.dtype))
    return factors[..., :k].tril(-1) + unit, factors[..., :k, :].triu()


def _places(name: str, pivots: Any, lu: Any) -> Any:
    """Pivots that were given, counted from 0.

    Raises: RuntimeError: they are of another dtype than int32, or not between 1 and the number of rows.
    """
    if dtype_of(pivots) is not dtypes.int32:
        raise RuntimeError(f"{name}: pivots should be a Tensor of scalar type torch.int32")
    rows = shape_of(lu)[-2]
    require_bounds(
        pivots,
        1,
        rows + 1,
        lambda i: RuntimeError(
            f"{name}: pivots must be between 1 and LU.size(-2) = {rows}, but got {i}. Did you properly "
            f"pass the result of lu_factor?"
        ),
    )
    return pivots - 1


def _permutation(pivots: Any, like: Any, count: int) -> Any:
    """The matrix P with ``P x[rows] = x``, for the order of the rows that the pivots make."""
    rows = _order(pivots, count).unsqueeze(-2)
    return (rows == tensor(np.arange(count)[:, None])).to(like.dtype)


def lu(A: Any, *, pivot: bool = True, out: Any = None) -> Any:
    """A permutation P, a unit lower triangular L and an upper triangular U with ``A = P L U``.

    Derivative: where no pivot is zero.
    Raises: RuntimeError: no matrix.

    >>> import compat as torch
    >>> torch.linalg.lu(torch.tensor([[0.0, 2.0], [4.0, 2.0]])).U
    tensor([[4., 2.],
            [0., 2.]])
    """
    factors, pivots, _ = _factors("linalg.lu", A, pivot, "LinalgLuBackward0")
    found = (_permutation(pivots, factors, shape_of(factors)[-2]), *_unpacked(factors))
    return return_types.linalg_lu(*finish_all("linalg.lu", found, out, (A,)))


def lu_factor_ex(A: Any, *, pivot: bool = True, check_errors: bool = False, out: Any = None) -> Any:
    """L and U in one matrix, the rows that were swapped, and which pivot is zero, 0 if none is.

    Raises: RuntimeError: no matrix; with `check_errors`, a pivot is zero.

    >>> import compat as torch
    >>> torch.linalg.lu_factor_ex(torch.tensor([[0.0, 2.0], [4.0, 2.0]])).pivots
    tensor([2, 2], dtype=torch.int32)
    """
    name = "linalg.lu_factor_ex"
    factors, pivots, info = _factors(name, A, pivot, "LinalgLuFactorExBackward0")
    if check_errors:
        _require_pivots(known(info._array))
    results = finish_all(name, (factors, pivots + 1, info), out, (A,))
    return return_types.linalg_lu_factor_ex(*results)


def _require_pivots(info: Any) -> None:
    if info is not None and info.any():
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
) -> Tensor:
    """The X with ``A X = B`` (``X A = B`` if not `left`; A adjoint if so asked), from `lu_factor`.

    Raises: RuntimeError: the shapes do not fit, or the pivots are none of `lu_factor`.

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
    permutation = _permutation(_places(name, p, x), x, shape_of(x)[-1])
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
        permutation = _permutation(_places("lu_unpack", p, x), x, shape_of(x)[-2])
    return return_types.lu_unpack(*finish_all("lu_unpack", (permutation, low, up), out, (x,)))
