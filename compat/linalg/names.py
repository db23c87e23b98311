"""The functions of `linalg` that PyTorch also has at its top and as methods of `Tensor`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..autograd import sites
from ..autograd.base import tensor
from ..ops import return_types
from ..ops._apply import finish
from ..ops._operands import operand
from ..ops.create import zeros
from .checks import matrix, numbers, require_floats, shape_of, singular, square
from .decompositions import cholesky_of, householder_product
from .decompositions import qr as _qr
from .decompositions import svd as _svd
from .functions import matrix_exp, matrix_power
from .lu import lu_factor_ex, lu_unpack
from .lu import lu_solve as _lu_solve
from .norms import matrix_norm, vector_norm
from .rank import pinv
from .reflections import geqrf, ormqr
from .systems import _slogdet, det, finish_all, inv, logdet, triangular

if TYPE_CHECKING:
    from .._tensor import Tensor

inverse = inv
orgqr = householder_product


def slogdet(input: Any) -> Any:
    """The sign of the determinant, and the logarithm of its absolute value.

    >>> import compat as torch
    >>> torch.slogdet(torch.eye(2)).sign
    tensor(1.)
    """
    return return_types.slogdet(*_slogdet(input))


def pinverse(input: Any, rcond: float = 1e-15) -> Tensor:
    """The pseudo-inverse; singular values below `rcond` times the largest count as zero.

    >>> import compat as torch
    >>> torch.pinverse(torch.tensor([[2.0], [0.0]]))
    tensor([[0.5000, 0.0000]])
    """
    return pinv(input, rcond)


# ---------------------------------------------------------------- norms


def frobenius_norm(input: Any, dim: Any, keepdim: bool = False, *, out: Any = None) -> Tensor:
    """Deprecated: `linalg.vector_norm` along one or two axes; along all if `dim` is empty.

    Raises: RuntimeError: three axes or more, or integers.
    """
    _deprecated("frobenius_norm", "linalg.vector_norm(A, 2., dim, keepdim)")
    if isinstance(dim, tuple | list) and len(dim) > 2:
        raise RuntimeError(f"Expected at most 2 dimensions, but got {len(dim)} dimensions instead.")
    axes = dim if isinstance(dim, int) or dim else None
    return vector_norm(input, 2, axes, keepdim, out=out)


def nuclear_norm(input: Any, *args: Any, out: Any = None, **kwargs: Any) -> Tensor:
    """Deprecated: ``nuclear_norm(input, dim=(-2, -1), keepdim=False)``, the sum of singular values.

    A single boolean after `input` is `keepdim`.

    Raises: RuntimeError: `dim` is not two axes, or integers.
    """
    _deprecated("nuclear_norm", "linalg.matrix_norm(A, 'nuc', dim, keepdim)")
    if args and isinstance(args[0], bool):
        args = ((-2, -1), *args)
    return _nuclear_norm(input, *args, out=out, **kwargs)


def _nuclear_norm(input: Any, dim: Any = (-2, -1), keepdim: bool = False, *, out: Any) -> Any:
    return matrix_norm(input, "nuc", (dim, dim) if isinstance(dim, int) else dim, keepdim, out=out)


def _deprecated(name: str, instead: str) -> None:
    sites.warn(
        f"at::{name} is deprecated and it is just left for JIT compatibility. It will be removed in a "
        f"future PyTorch release. Please use `{instead}` instead"
    )


# ---------------------------------------------------------------- cholesky


def cholesky(input: Any, upper: bool = False, *, out: Any = None) -> Tensor:
    """The lower triangular L with ``L L^H = input``; see `linalg.cholesky`.

    >>> import compat as torch
    >>> torch.cholesky(torch.tensor([[4.0]]))
    tensor([[2.]])
    """
    return finish("cholesky", cholesky_of("cholesky", input, upper), out, (input,))


def cholesky_inverse(L: Any, upper: bool = False, *, out: Any = None) -> Tensor:
    """``(L L^H)^-1`` of a lower triangular L; ``(U^H U)^-1`` if `upper`.

    Raises: LinAlgError: a diagonal element is zero. RuntimeError: L is not square.

    >>> import compat as torch
    >>> torch.cholesky_inverse(torch.tensor([[2.0]]))
    tensor([[0.2500]])
    """
    x = square("cholesky_inverse", L)
    require_floats("cholesky_inverse", x, "cholesky_inverse")
    array = numbers(x)
    if array is not None:
        zero = np.diagonal(array, 0, -2, -1) == 0
        if zero.any():
            raise singular("cholesky_inverse", x, np.where(zero.any(-1), zero.argmax(-1) + 1, 0))
    identity = tensor(np.eye(shape_of(x)[-1], dtype=x._array.dtype))
    found = _two_triangles(x, identity, upper, "CholeskyInverseBackward0")
    return finish("cholesky_inverse", found, out, (x,))


def _two_triangles(x: Any, b: Any, upper: bool, node: str) -> Any:
    """``(L L^H)^-1 b``, where `x` is L or L^H."""
    y = triangular(x, b, upper, True, False, node, adjoint=upper)
    return triangular(x, y, upper, True, False, node, adjoint=not upper)


def cholesky_solve(B: Any, L: Any, upper: bool = False, *, out: Any = None) -> Tensor:
    """``(L L^H)^-1 B`` of a lower triangular L; ``(U^H U)^-1 B`` if `upper`.

    Raises: RuntimeError: the shapes do not fit.

    >>> import compat as torch
    >>> torch.cholesky_solve(torch.tensor([[4.0]]), torch.tensor([[2.0]]))
    tensor([[1.]])
    """
    b, x = operand("cholesky_solve", 1, "B", B), operand("cholesky_solve", 2, "L", L)
    for word, t in (("b", b), ("u", x)):
        if len(shape_of(t)) < 2:
            raise RuntimeError(
                f"{word} should have at least 2 dimensions, but has {len(shape_of(t))} dimensions "
                "instead"
            )
    m, n = shape_of(x)[-2:]
    rows, columns = shape_of(b)[-2:]
    if m != n or n != rows:
        raise RuntimeError(
            f"Incompatible matrix sizes for cholesky_solve: each A matrix is {m} by {n} but each b "
            f"matrix is {rows} by {columns}"
        )
    require_floats("cholesky_solve", x, "cholesky_cpu_solve")
    found = _two_triangles(x, b, upper, "CholeskySolveBackward0")
    return finish("cholesky_solve", found, out, (b, x))


# ---------------------------------------------------------------- others


def triangular_solve(
    b: Any,
    A: Any,
    upper: bool = True,
    transpose: bool = False,
    unitriangular: bool = False,
    *,
    out: Any = None,
) -> Any:
    """The X with ``A X = b``, A being triangular (transposed if so asked); and a copy of `A`.

    Raises: RuntimeError: the shapes do not fit.

    >>> import compat as torch
    >>> torch.triangular_solve(torch.tensor([[4.0]]), torch.tensor([[2.0]])).solution
    tensor([[2.]])
    """
    right, x = operand("triangular_solve", 1, "b", b), operand("triangular_solve", 2, "A", A)
    for word, t in (("b", right), ("A", x)):
        if len(shape_of(t)) < 2:
            raise RuntimeError(
                f"torch.triangular_solve: Expected {word} to have at least 2 dimensions, but it has "
                f"{len(shape_of(t))} dimensions instead"
            )
    square("triangular_solve", x)
    if shape_of(x)[-1] != shape_of(right)[-2]:
        raise RuntimeError(
            f"Incompatible matrix sizes for triangular_solve: each A matrix is {shape_of(x)[-2]} by "
            f"{shape_of(x)[-1]} but each b matrix is {shape_of(right)[-2]} by {shape_of(right)[-1]}"
        )
    require_floats("triangular_solve", x, "triangular_solve_cpu")
    turned, up = (x.mT, not upper) if transpose else (x, upper)
    found = triangular(turned, right, up, True, unitriangular, "TriangularSolveBackward0")
    results = finish_all("triangular_solve", (found, x.clone()), out, (right, x))
    return return_types.triangular_solve(*results)


def qr(input: Any, some: bool = True, *, out: Any = None) -> Any:
    """Q and R with ``Q R = input``, reduced if `some`; see `linalg.qr`.

    >>> import compat as torch
    >>> torch.qr(torch.tensor([[3.0], [4.0]])).R
    tensor([[-5.]])
    """
    return return_types.qr(*_qr(input, "reduced" if some else "complete", out=out))


def svd(input: Any, some: bool = True, compute_uv: bool = True, *, out: Any = None) -> Any:
    """U, S and V with ``U diag(S) V^H = input``, reduced if `some`; zeros without `compute_uv`.

    >>> import compat as torch
    >>> torch.svd(torch.tensor([[3.0, 0.0], [0.0, -4.0]])).S
    tensor([4., 3.])
    """
    u, s, vh = _svd(input, full_matrices=not some)
    found = u, s, vh.mH
    if not compute_uv:
        *lead, m, n = shape_of(input)
        dtype = input.dtype
        found = zeros(*lead, m, m, dtype=dtype), s, zeros(*lead, n, n, dtype=dtype)
    return return_types.svd(*finish_all("svd", found, out, (input,)))


def lu(input: Any, pivot: bool = True, get_infos: bool = False, out: Any = None) -> Any:
    """L and U in one matrix, the rows that were swapped, and which pivot is zero if `get_infos`.

    >>> import compat as torch
    >>> torch.lu(torch.eye(2))[1]
    tensor([1, 2], dtype=torch.int32)
    """
    found = lu_factor_ex(input, pivot=pivot)[: 3 if get_infos else 2]
    results = finish_all("lu", found, out, (input,))
    return return_types._lu_with_info(*results) if get_infos and out is None else results


def _lu_method(self: Any, pivot: bool = True, get_infos: bool = False) -> Any:
    """`compat.lu`, as a plain tuple."""
    return tuple(lu(self, pivot, get_infos))


def lu_solve(b: Any, LU_data: Any, LU_pivots: Any, *, out: Any = None) -> Tensor:
    """The X with ``A X = b``, from what `lu` gives.

    >>> import compat as torch
    >>> torch.lu_solve(torch.tensor([[4.0]]), *torch.lu(torch.tensor([[2.0]])))
    tensor([[2.]])
    """
    return _lu_solve(LU_data, LU_pivots, matrix("lu_solve", b, "b"), out=out)


class LinalgMethods:
    """The methods of `Tensor` in this family."""

    __slots__ = ()

    cholesky = cholesky
    cholesky_inverse = cholesky_inverse
    cholesky_solve = cholesky_solve
    det = det
    geqrf = geqrf
    inverse = inverse
    logdet = logdet
    lu = _lu_method
    lu_solve = lu_solve
    matrix_exp = matrix_exp
    matrix_power = matrix_power
    orgqr = orgqr
    ormqr = ormqr
    pinverse = pinverse
    qr = qr
    slogdet = slogdet
    svd = svd
    triangular_solve = triangular_solve


__all__ = [
    "cholesky",
    "cholesky_inverse",
    "cholesky_solve",
    "det",
    "frobenius_norm",
    "inverse",
    "logdet",
    "lu",
    "lu_solve",
    "lu_unpack",
    "matrix_exp",
    "matrix_power",
    "nuclear_norm",
    "orgqr",
    "pinverse",
    "qr",
    "slogdet",
    "svd",
    "triangular_solve",
]
