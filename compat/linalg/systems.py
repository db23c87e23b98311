"""Systems of linear equations, inverses, determinants."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from funcgrad.indexing import known
from funcgrad.ops import determinants
from funcgrad.ops import solve as primitives
from funcgrad.ops.select import where
from funcgrad.ops.structural import squeeze

from ..autograd.base import tensor
from ..autograd.tape import record
from ..ops import return_types
from ..ops._apply import finish, requires_grad
from ..ops._compose import hidden_view
from ..ops._operands import operand, promoted
from .checks import (
    LinAlgError,
    factored,
    matrix,
    numbers,
    pivot_info,
    require_floats,
    require_same,
    shape_of,
    singular,
    square,
    unsolvable,
)

if TYPE_CHECKING:
    from .._tensor import Tensor

# ---------------------------------------------------------------- determinants


def det(A: Any, *, out: Any = None) -> Tensor:
    """The determinant.

    Derivative: the cofactors; right for singular matrices too.
    Raises: RuntimeError: the matrix is not square.

    >>> import compat as torch
    >>> torch.linalg.det(torch.tensor([[2.0, 0.0], [0.0, 3.0]]))
    tensor(6.)
    """
    x = square("linalg.det", A)
    require_floats("linalg.det", x, lu_kernel(x))
    found = record(determinants.det, (x,), None, "LinalgDetBackward0")
    return finish("linalg.det", found, out, (x,))


def lu_kernel(x: Any) -> str | None:
    """PyTorch lets half precision pass until it looks for the kernel."""
    return "lu_cpu" if x._array.dtype.kind in "fV" else None


def slogdet(A: Any, *, out: Any = None) -> Any:
    """The sign of the determinant, and the logarithm of its absolute value.

    Derivative: NaN where the matrix is singular.
    Raises: RuntimeError: the matrix is not square.

    >>> import compat as torch
    >>> torch.linalg.slogdet(torch.tensor([[2.0, 0.0], [0.0, -3.0]]))
    torch.return_types.linalg_slogdet(
    sign=tensor(-1.),
    logabsdet=tensor(1.7918))
    """
    return return_types.linalg_slogdet(*finish_all("linalg.slogdet", _slogdet(A), out, (A,)))


def _slogdet(A: Any, name: str = "linalg.slogdet") -> Any:
    x = square(name, A)
    require_floats(name, x, lu_kernel(x))
    node = "LinalgSlogdetBackward0"
    found = record(determinants.slogdet, (x,), None, node)
    sign = known(found[0]._array)
    if sign is None or np.all(sign) or not requires_grad(x):
        return found
    # Minus infinity for singular matrices has no derivative: log(0 x) has the value, and NaN there.
    info = (sign == 0).astype(np.int32)
    sign, size = record(determinants.slogdet, (regular(x, info),), None, node)
    none = (x.sum((-2, -1)) * 0.0).abs()
    nothing = record(where, (info != 0, none, np.ones((), none._array.dtype))).log()
    zero = np.zeros((), sign._array.dtype)
    return record(where, (info != 0, zero, sign)), nothing + size


def finish_all(name: str, results: Any, out: Any, operands: tuple[Any, ...]) -> tuple[Any, ...]:
    """The results, or the tensors of `out` with them.

    Raises: TypeError: `out` is not as many tensors.
    """
    if out is None:
        return tuple(results)
    if len(out) != len(results):
        raise TypeError(f"expected tuple of {len(results)} elements but got {len(out)}")
    return tuple(finish(name, r, o, operands) for r, o in zip(results, out, strict=True))


def logdet(input: Any) -> Tensor:
    """The logarithm of the determinant; NaN where that is negative.

    >>> import compat as torch
    >>> torch.logdet(torch.eye(2) * 3)
    tensor(2.1972)
    """
    sign, size = _slogdet(input, "logdet")
    if sign._array.dtype.kind == "c":
        return sign.log() + size
    nan = np.asarray(math.nan, sign._array.dtype)
    return record(where, (sign == -1, nan, size), None, "WhereBackward0")


# ---------------------------------------------------------------- inverses


def inv(A: Any, *, out: Any = None) -> Tensor:
    """The inverse.

    Raises: LinAlgError: the matrix is singular.

    >>> import compat as torch
    >>> torch.linalg.inv(torch.tensor([[2.0, 0.0], [0.0, 4.0]]))
    tensor([[0.5000, 0.0000],
            [0.0000, 0.2500]])
    """
    x = square("linalg.inv", A)
    require_floats("linalg.inv", x)
    return finish("linalg.inv", _inv("linalg.inv", x), out, (x,))


def _inv(name: str, x: Any) -> Any:
    try:
        return factored(name, singular, primitives.inv, (x,), {}, "LinalgInvExBackward0")
    except LinAlgError:
        info = infinite(x)
        if not info.any():
            raise
        return not_where(info, _inv(name, regular(x, info)))


def infinite(x: Any) -> Any:
    """Which matrices have infinities or NaN: to NumPy they may look singular, to PyTorch not."""
    array = numbers(x)
    if array is None:
        return np.zeros((), np.int32)
    return (~np.isfinite(array).all((-2, -1))).astype(np.int32)


def inv_ex(A: Any, *, check_errors: bool = False, out: Any = None) -> Any:
    """The inverse, and which pivot is zero: 0 where there is none. Where one is, the inverse is NaN.

    Raises: LinAlgError: with `check_errors`, a matrix is singular.

    >>> import compat as torch
    >>> torch.linalg.inv_ex(torch.zeros(1, 1)).info
    tensor(1, dtype=torch.int32)
    """
    x = square("linalg.inv_ex", A)
    require_floats("linalg.inv_ex", x)
    try:
        found, info = _inv("linalg.inv_ex", x), no_failures(x)
    except LinAlgError:
        info = pivot_info(x)
        if check_errors:
            raise singular("linalg.inv_ex", x, info) from None
        found = not_where(info, _inv("linalg.inv_ex", regular(x, info)))
    results = finish_all("linalg.inv_ex", (found, tensor(info)), out, (x,))
    return return_types.linalg_inv_ex(*results)


def no_failures(x: Any) -> Any:
    return np.zeros(shape_of(x)[:-2], np.int32)


def regular(x: Any, info: Any) -> Any:
    """The matrices, with the identity in place of those that failed."""
    identity = np.eye(shape_of(x)[-1], dtype=x._array.dtype)
    return record(where, (info[..., None, None] != 0, identity, x), None, "WhereBackward0")


def not_where(info: Any, result: Any, axes: int = 2) -> Any:
    """The results, with NaN in place of those of matrices that failed."""
    failed = info.reshape(info.shape + (1,) * axes) != 0
    nan = np.asarray(math.nan, result._array.dtype)
    return record(where, (failed, nan, result), None, "WhereBackward0")


# ---------------------------------------------------------------- systems of equations


def is_vector(A: Any, B: Any) -> bool:
    """Whether `B` is one vector per matrix of `A`."""
    a, b = shape_of(A), shape_of(B)
    return len(b) == 1 or (len(b) == len(a) - 1 and b == a[:-1])


def solve(A: Any, B: Any, *, left: bool = True, out: Any = None) -> Tensor:
    """The X with ``A X = B``; with ``left=False``, ``X A = B``.

    Shapes: ``(*p, n, n), (*q, n, k) -> (*broadcast(p, q), n, k)``, or vectors ``(n,)``, ``(*p, n)``.
    Raises: LinAlgError: the matrix is singular.

    >>> import compat as torch
    >>> torch.linalg.solve(torch.tensor([[2.0, 0.0], [0.0, 4.0]]), torch.tensor([2.0, 4.0]))
    tensor([1., 1.])
    """
    x, b, vector = _system("linalg.solve", A, B, left)
    return finish("linalg.solve", _solve("linalg.solve", x, b, left, vector), out, (x, b))


def _system(name: str, A: Any, B: Any, left: bool) -> tuple[Any, Any, bool]:
    """The operands, and whether the right side is a vector.

    Raises: RuntimeError: they do not make a system.
    """
    x, b = square(name, A), operand(name.replace(".", "_"), 2, "B", B)
    require_floats(name, x, lu_kernel(x))
    require_same(name, x, b)
    vector = is_vector(x, b)
    rows = (*shape_of(b), 1) if vector else shape_of(b)
    require_fitting(name, shape_of(x), rows, left)
    if vector and not left:
        raise incompatible(name, shape_of(x), rows, left)
    return x, b, vector


def require_fitting(name: str, a: Any, b: Any, left: bool) -> None:
    """
    Raises: RuntimeError: the lengths differ.
    """
    if len(b) < 2:
        raise RuntimeError(f"{name}: The input tensor B must have at least 2 dimensions.")
    if a[-1] != b[-2 if left else -1]:
        raise incompatible(name, a, b, left)


def incompatible(name: str, a: Any, b: Any, left: bool) -> RuntimeError:
    equation = "AX = B" if left else "XA = B"
    return RuntimeError(
        f"{name}: Incompatible shapes of A and B for the equation {equation} ({a[-2]}x{a[-1]} and "
        f"{b[-2]}x{b[-1]})"
    )


def _solve(name: str, x: Any, b: Any, left: bool, vector: bool) -> Any:
    if not left:
        return _solve(name, x.mT, b.mT, True, False).mT
    rows = b.unsqueeze(-1) if vector else b
    node = "LinalgSolveExBackward0"
    try:
        found = factored(name, unsolvable, primitives.matrix_solve, (x, rows), {}, node)
    except LinAlgError:
        info = infinite(x)
        if not info.any():
            raise
        found = not_where(info, _solve(name, regular(x, info), rows, True, False))
    if vector:
        return hidden_view(squeeze, found, (len(shape_of(found)) - 1,))
    return found


def solve_ex(
    A: Any, B: Any, *, left: bool = True, check_errors: bool = False, out: Any = None
) -> Any:
    """`solve`, and which pivot is zero: 0 where there is none. Where one is, the result is NaN.

    Raises: LinAlgError: with `check_errors`, a matrix is singular.

    >>> import compat as torch
    >>> torch.linalg.solve_ex(torch.eye(1), torch.tensor([2.0])).result
    tensor([2.])
    """
    name = "linalg.solve_ex"
    x, b, vector = _system(name, A, B, left)
    try:
        found, info = _solve(name, x, b, left, vector), no_failures(x)
    except LinAlgError:
        info = pivot_info(x)
        if check_errors:
            raise unsolvable(name, x, info) from None
        found = _solve(name, regular(x, info), b, left, vector)
        found = not_where(info, found, 1 if vector else 2)
    results = finish_all(name, (found, tensor(info)), out, (x, b))
    return return_types.linalg_solve_ex(*results)


def solve_triangular(
    A: Any,
    B: Any,
    *,
    upper: bool,
    left: bool = True,
    unitriangular: bool = False,
    out: Any = None,
) -> Tensor:
    """The X with ``A X = B`` (``X A = B`` if not `left`); the other triangle of `A` is not read.

    `unitriangular`: the diagonal is not read either, and counts as ones. A zero on the diagonal gives
    infinities or NaN.

    Raises: RuntimeError: the shapes do not fit.

    >>> import compat as torch
    >>> A = torch.tensor([[2.0, 9.0], [1.0, 4.0]])
    >>> torch.linalg.solve_triangular(A, torch.tensor([[2.0], [5.0]]), upper=False)
    tensor([[1.],
            [1.]])
    """
    name = "linalg.solve_triangular"
    x, b = square(name, A), matrix(name, B, "B", 2)
    require_fitting(name, shape_of(x), shape_of(b), left)
    x, b = promoted((x, b))
    require_floats(name, x, "triangular_solve_cpu")
    found = triangular(x, b, upper, left, unitriangular, "LinalgSolveTriangularBackward0")
    return finish(name, found, out, (x, b))


def triangular(
    x: Any, b: Any, upper: bool, left: bool, unit: bool, node: str, *, adjoint: bool = False
) -> Any:
    """`solve_triangular` of operands that fit; `adjoint`: with the conjugate transpose of `x`."""
    if adjoint:
        x, upper = x.mH, not upper
    if not left:
        return triangular(x.mT, b.mT, not upper, True, unit, node).mT
    params = {"lower": not upper, "unit_diagonal": unit}
    try:
        return record(primitives.triangular_solve, (x, b), params, node)
    except np.linalg.LinAlgError:
        info = _zero_on_diagonal(x)
        return not_where(info, triangular(regular(x, info), b, upper, True, unit, node))


def _zero_on_diagonal(x: Any) -> Any:
    found = numbers(x)
    if found is None:
        return (x.detach().diagonal(0, -2, -1) == 0).any(-1)
    return (np.diagonal(found, axis1=-2, axis2=-1) == 0).any(-1).astype(np.int32)


# ---------------------------------------------------------------- tensors as matrices


def tensorsolve(A: Any, B: Any, dims: Any = None, *, out: Any = None) -> Tensor:
    """The X with ``tensordot(A, X, X.ndim) = B``, after `dims` of `A` were moved to the end.

    Raises: LinAlgError: singular. RuntimeError: the shapes make no square system.

    >>> import compat as torch
    >>> torch.linalg.tensorsolve(2 * torch.eye(4).reshape(2, 2, 4), torch.ones(2, 2))
    tensor([0.5000, 0.5000, 0.5000, 0.5000])
    """
    x, b = operand("linalg_tensorsolve", 1, "A", A), operand("linalg_tensorsolve", 2, "B", B)
    operands = (x, b)
    if dims is not None:
        x = x.movedim(tuple(dims), tuple(range(-len(dims), 0)))
    rest = shape_of(x)[len(shape_of(b)) :]
    n, m = math.prod(shape_of(x)[: len(shape_of(b))]), math.prod(rest)
    if n != m:
        raise RuntimeError(
            "Expected self to satisfy the requirement prod(self.shape[other.ndim:]) == "
            f"prod(self.shape[:other.ndim]), but got {m} != {n}"
        )
    found = solve(x.reshape(n, m), b.reshape(-1)).reshape(rest)
    return finish("linalg.tensorsolve", found, out, operands)


def tensorinv(A: Any, ind: int = 2, *, out: Any = None) -> Tensor:
    """The inverse of ``X -> tensordot(A, X, ind)``.

    Shapes: ``(*p, *q) -> (*q, *p)`` with `ind` axes in p.
    Raises: LinAlgError: singular. RuntimeError: `ind` is not positive, or the shapes do not fit.

    >>> import compat as torch
    >>> torch.linalg.tensorinv(torch.eye(4).reshape(2, 2, 4)).shape
    torch.Size([4, 2, 2])
    """
    x = operand("linalg_tensorinv", 1, "A", A)
    if ind <= 0:
        raise RuntimeError(f"Expected a strictly positive integer for 'ind', but got {ind}")
    rows, columns = shape_of(x)[:ind], shape_of(x)[ind:]
    m, n = math.prod(rows), math.prod(columns)
    if m != n:
        raise RuntimeError(
            "Expected self to satisfy the requirement prod(self.shape[ind:]) == "
            f"prod(self.shape[:ind]), but got {n} != {m}"
        )
    return finish("linalg.tensorinv", inv(x.reshape(m, n)).reshape(columns + rows), out, (x,))
