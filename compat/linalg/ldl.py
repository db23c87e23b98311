"""LDL decompositions of symmetric and Hermitian matrices, by LAPACK, and what is solved with them.

D has blocks of size 1 and 2 on its diagonal. `pivots` counts from 1, as in PyTorch; where a block of
size 2 is, it has the row that was exchanged twice, with a minus.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from funcgrad.ops.from_scipy import scipy_function

from ..autograd.base import tensor
from ..autograd.function import Function
from ..ops import return_types
from ..ops._apply import finish
from ..ops._operands import dtype_of, operand
from .checks import numbers, require_floats, require_same, shape_of, square
from .systems import finish_all

if TYPE_CHECKING:
    from .._tensor import Tensor

ndarray = np.ndarray


class _Constant(Function):
    """What LAPACK computes, whose derivative PyTorch does not have either."""

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        raise NotImplementedError(
            "the derivatives of linalg.ldl_factor and linalg.ldl_solve are not implemented: use "
            "linalg.solve"
        )


def _known(name: str, *xs: Any) -> list[ndarray]:
    arrays: list[Any] = [numbers(x) for x in xs]
    if any(array is None for array in arrays):
        raise RuntimeError(
            f"{name}: the numbers are not known inside of this transform; use linalg.solve"
        )
    return arrays


class LinalgLdlFactorEx(_Constant):
    @staticmethod
    def forward(ctx: Any, x: Any, hermitian: bool) -> Any:
        (array,) = _known("linalg.ldl_factor_ex", x)
        find = scipy_function(np, "get_lapack_funcs", "linalg")
        kind = "hetrf" if hermitian and array.dtype.kind == "c" else "sytrf"
        (factor,) = find((kind,), (array,))
        factors, n = np.zeros(array.shape, array.dtype), array.shape[-1]
        pivots, infos = np.zeros(array.shape[:-1], np.int32), np.zeros(array.shape[:-2], np.int32)
        for place in np.ndindex(array.shape[:-2]) if n else ():
            found, pivots[place], infos[place] = factor(array[place], lower=1)
            factors[place] = np.tril(found)
        return tuple(map(tensor, (factors, pivots, infos)))


class LinalgLdlSolve(_Constant):
    @staticmethod
    def forward(ctx: Any, ld: Any, pivots: Any, b: Any, hermitian: bool) -> Any:
        factors, places, right = _known("linalg.ldl_solve", ld, pivots, b)
        batch = np.broadcast_shapes(factors.shape[:-2], right.shape[:-2])
        factors, places, right = (
            np.broadcast_to(a, batch + a.shape[-k:])
            for a, k in ((factors, 2), (places, 1), (right, 2))
        )
        out = np.array(right, order="C")
        turn = np.conj if hermitian else np.asarray
        with np.errstate(all="ignore"):
            for place in np.ndindex(batch):
                _solve(factors[place], places[place].tolist(), out[place], turn)
        return tensor(out)


def _solve(ld: ndarray, pivots: list[int], b: ndarray, turn: Any) -> None:
    """``A x = b`` in place, of A as `L D L^T`, or with `turn` the conjugate: three passes in two."""
    blocks, k = [], 0
    while k < len(pivots):
        size = 1 if pivots[k] > 0 else 2
        blocks.append((k, size, abs(pivots[k]) - 1))
        k += size
    for k, size, other in blocks:
        end = k + size
        b[[end - 1, other]] = b[[other, end - 1]]
        b[end:] -= ld[end:, k:end] @ b[k:end]
        if size == 1:
            b[k] /= ld[k, k]
        else:
            block = np.tril(ld[k:end, k:end])
            b[k:end] = np.linalg.solve(block + turn(np.tril(block, -1)).T, b[k:end])
    for k, size, other in reversed(blocks):
        end = k + size
        b[k:end] -= turn(ld[end:, k:end]).T @ b[end:]
        b[[end - 1, other]] = b[[other, end - 1]]


def ldl_factor_ex(
    A: Any, *, hermitian: bool = False, check_errors: bool = False, out: Any = None
) -> Any:
    """L and D of ``A = L D L^T`` in one matrix, the pivots, and which block of D is singular, or 0.

    Of the lower triangle; `hermitian`: ``A = L D L^H``.

    Shapes: ``(*a, n, n) -> (*a, n, n), (*a, n), (*a,)``.
    Derivative: none, as in PyTorch.
    Raises: RuntimeError: no square matrices; with `check_errors`, one is singular. ImportError: SciPy
    is not installed.

    >>> import compat as torch
    >>> torch.linalg.ldl_factor_ex(torch.tensor([[0.0, 0.0], [1.0, 0.0]])).pivots
    tensor([-2, -2], dtype=torch.int32)
    """
    x = square("linalg.ldl_factor_ex", A)
    require_floats("linalg.ldl_factor_ex", x)
    factors, pivots, info = LinalgLdlFactorEx.apply(x, hermitian)
    if check_errors and (numbers(info) != 0).any():
        raise RuntimeError(
            f"linalg.ldl_factor_ex: a block of D is singular (info is {info.tolist()}); with it "
            f"ldl_solve would divide by zero"
        )
    results = finish_all("linalg.ldl_factor_ex", (factors, pivots, info), out, (A,))
    return return_types.linalg_ldl_factor_ex(*results)


def ldl_factor(A: Any, *, hermitian: bool = False, out: Any = None) -> Any:
    """L and D of ``A = L D L^T`` in one matrix, and the pivots: what `ldl_solve` takes.

    Raises: RuntimeError: no square matrices, or one is singular.

    >>> import compat as torch
    >>> torch.linalg.ldl_factor(torch.tensor([[4.0, 0.0], [2.0, 3.0]])).LD
    tensor([[4.0000, 0.0000],
            [0.5000, 2.0000]])
    """
    found = ldl_factor_ex(A, hermitian=hermitian, check_errors=True)[:2]
    return return_types.linalg_ldl_factor(*finish_all("linalg.ldl_factor", found, out, (A,)))


def ldl_solve(LD: Any, pivots: Any, B: Any, *, hermitian: bool = False, out: Any = None) -> Tensor:
    """The X with ``A X = B``, from `ldl_factor` of A.

    Shapes: ``(*a, n, n), (*a, n), (*a, n, k) -> (*a, n, k)``.
    Derivative: none, as in PyTorch.
    Raises: RuntimeError: the shapes or dtypes do not fit.

    >>> import compat as torch
    >>> found = torch.linalg.ldl_factor(torch.tensor([[4.0, 0.0], [2.0, 3.0]]))
    >>> torch.linalg.ldl_solve(*found, torch.tensor([[8.0], [6.0]]))
    tensor([[1.5000],
            [1.0000]])
    """
    name = "linalg.ldl_solve"
    ld, b = square(name, LD), operand(name.replace(".", "_"), 3, "B", B)
    places = operand(name.replace(".", "_"), 2, "pivots", pivots)
    if len(shape_of(b)) < 2:
        raise RuntimeError(f"{name}: Expected B to have at least 2 dimensions")
    require_same(name, ld, b)
    n = shape_of(ld)[-1]
    if shape_of(b)[-2] != n or shape_of(places) != shape_of(ld)[:-1]:
        raise RuntimeError(
            f"{name}: Incompatible shapes: LD {list(shape_of(ld))}, pivots {list(shape_of(places))}, "
            f"B {list(shape_of(b))}"
        )
    if dtype_of(places).category != 1:
        raise RuntimeError(f"{name}: Expected pivots to be integers, but found {pivots.dtype}")
    if (abs(numbers(places)) - 1 >= n).any() or not numbers(places).all():
        raise RuntimeError(f"{name}: pivots must be of ldl_factor, from 1 to {n}, or with a minus")
    x = LinalgLdlSolve.apply(ld, places, b, hermitian)
    return finish(name, x, out, (LD, B))
