"""Decompositions: cholesky, qr, eigh, eig, svd, and products of reflections."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from funcgrad.core import Tracer
from funcgrad.ops import decompose as primitives
from funcgrad.ops.linalg import adjoint
from funcgrad.ops.select import where

from ..autograd.base import tensor
from ..autograd.function import Function
from ..autograd.tape import record
from ..ops import return_types
from ..ops._apply import _type_word, finish
from ..ops._compose import composed
from ..ops._operands import dtype_of, operand
from ..ops.join import cat
from .checks import (
    LinAlgError,
    factored,
    indefinite,
    matrix,
    minor_info,
    numbers,
    require_floats,
    shape_of,
    square,
    unconverged,
)
from .systems import finish_all, lu_kernel, no_failures, not_where, regular

if TYPE_CHECKING:
    from .._tensor import Tensor

# ---------------------------------------------------------------- Hermitian matrices


def from_triangle(x: Any, *, upper: bool) -> Any:
    """A matrix whose Hermitian part is that which a triangle of `x` stands for.

    funcgrad's functions of Hermitian matrices read ``(x + x^H) / 2``, PyTorch's one triangle. For
    Hermitian matrices that is the same, and so are the gradients, which both make Hermitian; for
    others the difference is added as a constant.
    """
    array = x._array
    if not isinstance(array, Tracer):
        turned = array.swapaxes(-1, -2)
        if bool((array == (turned.conj() if array.dtype.kind == "c" else turned)).all()):
            return x
    found = x.detach()
    half = found.triu() if upper else found.tril()
    other = found.triu(1) if upper else found.tril(-1)
    return x + (half + other.mH - found)


def _kernel(x: Any, name: str) -> str | None:
    """The kernel in which PyTorch finds that it lacks half precision."""
    return name if lu_kernel(x) else None


def _cholesky(name: str, x: Any, upper: bool, node: str = "LinalgCholeskyExBackward0") -> Any:
    given = from_triangle(x, upper=upper)
    low = factored(name, indefinite, primitives.cholesky, (given,), {}, node)
    return composed(node, adjoint, low) if upper else low


def cholesky(A: Any, *, upper: bool = False, out: Any = None) -> Tensor:
    """The lower triangular L with a positive diagonal and ``L L^H = A``; or its adjoint if `upper`.

    Only one triangle of `A` is read; the gradient is Hermitian.

    Raises: LinAlgError: A is not positive definite.

    >>> import compat as torch
    >>> torch.linalg.cholesky(torch.tensor([[4.0, 0.0], [0.0, 9.0]]))
    tensor([[2., 0.],
            [0., 3.]])
    """
    name = "linalg.cholesky"
    x = square(name, A)
    require_floats(name, x, _kernel(x, "cholesky_cpu"))
    return finish(name, _cholesky(name, x, upper), out, (x,))


def cholesky_of(name: str, A: Any, upper: bool) -> Any:
    """`cholesky` under another name."""
    x = square(name, A)
    require_floats(name, x, _kernel(x, "cholesky_cpu"))
    return _cholesky(name, x, upper, "CholeskyBackward0")


def cholesky_ex(A: Any, *, upper: bool = False, check_errors: bool = False, out: Any = None) -> Any:
    """`cholesky`, and the order of the first leading minor that is not positive definite.

    That is 0 where all are; elsewhere L is NaN.

    Raises: LinAlgError: with `check_errors`, a matrix is not positive definite.

    >>> import compat as torch
    >>> torch.linalg.cholesky_ex(torch.eye(1)).L
    tensor([[1.]])
    """
    name = "linalg.cholesky_ex"
    x = square(name, A)
    require_floats(name, x, _kernel(x, "cholesky_cpu"))
    try:
        found, info = _cholesky(name, x, upper), no_failures(x)
    except LinAlgError:
        info = minor_info(from_triangle(x, upper=upper))
        if check_errors:
            raise indefinite(name, x, info) from None
        found = not_where(info, _cholesky(name, regular(x, info), upper))
    return return_types.linalg_cholesky_ex(*finish_all(name, (found, tensor(info)), out, (x,)))


def _hermitian(name: str, A: Any, UPLO: str) -> Any:
    x = square(name, A)
    if UPLO not in ("L", "U", "l", "u"):
        raise RuntimeError(f"Expected UPLO argument to be 'L' or 'U', but got {UPLO}")
    require_floats(name, x, "linalg_eigh_cpu")
    return from_triangle(x, upper=UPLO in "Uu")


def eigh(A: Any, UPLO: str = "L", *, out: Any = None) -> Any:
    """Eigenvalues, ascending, and eigenvectors (columns) of a Hermitian matrix.

    Only one triangle is read. Derivatives of the vectors are infinite where eigenvalues are equal.

    Raises: RuntimeError: the matrix is not square. LinAlgError: no convergence.

    >>> import compat as torch
    >>> torch.linalg.eigh(torch.tensor([[2.0, 0.0], [0.0, 1.0]])).eigenvalues
    tensor([1., 2.])
    """
    name = "linalg.eigh"
    x = _hermitian(name, A, UPLO)
    found = factored(name, unconverged, primitives.eigh, (x,), {}, "LinalgEighBackward0")
    return return_types.linalg_eigh(*finish_all(name, found, out, (A,)))


def eigvalsh(A: Any, UPLO: str = "L", *, out: Any = None) -> Tensor:
    """The eigenvalues of a Hermitian matrix, ascending.

    Raises: RuntimeError: the matrix is not square. LinAlgError: no convergence.

    >>> import compat as torch
    >>> torch.linalg.eigvalsh(torch.tensor([[2.0, 0.0], [0.0, 1.0]]))
    tensor([1., 2.])
    """
    name = "linalg.eigvalsh"
    x = _hermitian("linalg.eigh", A, UPLO)
    found = factored(name, unconverged, primitives.eigvalsh, (x,), {}, "LinalgEighBackward0")
    return finish(name, found, out, (A,))


def eig(A: Any, *, out: Any = None) -> Any:
    """Eigenvalues, in no order, and eigenvectors (columns) of length 1, both complex.

    Derivative: that of the vectors as LAPACK turns them, their largest entries real.
    Raises: RuntimeError: the matrix is not square. LinAlgError: no convergence.

    >>> import compat as torch
    >>> torch.linalg.eig(torch.tensor([[0.0, 1.0], [-1.0, 0.0]])).eigenvalues
    tensor([0.+1.j, 0.-1.j])
    """
    name = "linalg.eig"
    x = square(name, A)
    require_floats(name, x, "linalg_eig_cpu")
    found = factored(name, unconverged, primitives.eig, (x,), {}, "LinalgEigBackward0")
    return return_types.linalg_eig(*finish_all(name, found, out, (A,)))


def eigvals(A: Any, *, out: Any = None) -> Tensor:
    """The eigenvalues of a square matrix, in no order, complex.

    Raises: RuntimeError: the matrix is not square. LinAlgError: no convergence.

    >>> import compat as torch
    >>> torch.linalg.eigvals(torch.tensor([[0.0, 1.0], [-1.0, 0.0]]))
    tensor([0.+1.j, 0.-1.j])
    """
    name = "linalg.eigvals"
    x = square(name, A)
    require_floats(name, x, "linalg_eig_cpu")
    found = factored(name, unconverged, primitives.eigvals, (x,), {}, "LinalgEigBackward0")
    return finish(name, found, out, (A,))


# ---------------------------------------------------------------- qr


class LinalgQr(Function):
    """The complete decomposition of tall matrices, whose added columns have no derivative."""

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        q, r = np.linalg.qr(numbers(x), "complete")
        return tensor(q), tensor(r)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        raise RuntimeError(
            "The QR decomposition is not differentiable when mode='complete' and nrows > ncols. Use "
            "mode='reduced'."
        )


def qr(A: Any, mode: str = "reduced", *, out: Any = None) -> Any:
    """Q with orthonormal columns and an upper triangular R with ``Q R = A``.

    Shapes: ``(*a, m, n) -> (*a, m, k), (*a, k, n)``, ``k = min(m, n)``; m with "complete"; no Q with
    "r".
    Derivative: where the first k columns are independent; none of the columns that "complete" adds.
    Raises: RuntimeError: no matrix, or an unknown mode.

    >>> import compat as torch
    >>> torch.linalg.qr(torch.tensor([[3.0], [4.0]]), mode="r").R
    tensor([[-5.]])
    """
    name = "linalg.qr"
    x = matrix(name, A)
    require_floats(name, x, _kernel(x, "geqrf_cpu"))
    if mode not in ("reduced", "complete", "r"):
        raise RuntimeError(
            f"qr received unrecognized mode '{mode}' but expected one of 'reduced' (default), 'r', "
            f"or 'complete'"
        )
    m, n = shape_of(x)[-2:]
    if mode == "complete" and m > n:
        if isinstance(x._array, Tracer):
            raise RuntimeError(
                "linalg.qr: mode='complete' adds columns that have no derivative, which a transform "
                "would need; use mode='reduced'"
            )
        found = LinalgQr.apply(x)
    else:
        found = record(primitives.qr, (x,), None, "LinalgQrBackward0")
    if mode == "r":
        found = tensor(np.zeros((0,), x._array.dtype)), found[1]
    return return_types.linalg_qr(*finish_all(name, found, out, (x,)))


def householder_product(A: Any, tau: Any, *, out: Any = None) -> Tensor:
    """The first columns of ``H_1 H_2 ... H_k``, ``H_i = 1 - tau_i v_i v_i^H``.

    v_i is column i of `A` below the diagonal, with a one on the diagonal and zeros above.

    Shapes: ``(*a, m, n), (*a, k) -> (*a, m, n)`` with ``m >= n >= k``.
    Raises: RuntimeError: the shapes do not fit.

    >>> import compat as torch
    >>> torch.linalg.householder_product(torch.zeros(2, 1), torch.tensor([2.0]))
    tensor([[-1.],
            [ 0.]])
    """
    name = "linalg.householder_product"
    x, t = operand(name, 1, "input", A), operand(name, 2, "tau", tau)
    words = f"torch.{name}: input"
    if len(shape_of(x)) < 2:
        raise RuntimeError(f"{words} must have at least 2 dimensions.")
    m, n = shape_of(x)[-2:]
    if m < n:
        raise RuntimeError(f"{words}.shape[-2] must be greater than or equal to input.shape[-1]")
    if not shape_of(t):
        raise IndexError("Dimension specified as -1 but tensor has no dimensions")
    k = shape_of(t)[-1]
    if n < k:
        raise RuntimeError(f"{words}.shape[-1] must be greater than or equal to tau.shape[-1]")
    check_scales(f"torch.{name}", x, t)
    require_floats(name, x, "orgqr_cpu")
    unit = tensor(np.eye(m, n, dtype=x._array.dtype))
    v = x.tril(-1) + unit
    q = reflected(v, t, unit.expand(shape_of(x)), reversed(range(k)))
    if not k:  # constant, but recorded
        q = record(where, (np.False_, x, q), None, "WhereBackward0") + t.sum(-1)[..., None, None]
    return finish(name, q, out, (x, t))


def reflected(v: Any, t: Any, q: Any, order: Iterable[int]) -> Any:
    """The matrix `q`, multiplied from the left by ``1 - t_i v_i v_i^H`` for every i in `order`."""
    for i in order:
        column = v[..., i : i + 1]
        q = q - t[..., i : i + 1, None] * (column @ (column.mH @ q))
    return q


def check_scales(name: str, x: Any, t: Any) -> None:
    """
    Raises: RuntimeError: not one scale for each reflection, or of another dtype.
    """
    a, b = shape_of(x), shape_of(t)
    if len(b) != len(a) - 1:
        raise RuntimeError(
            f"{name}: Expected tau to have one dimension less than input, but got tau.ndim equal to "
            f"{len(b)} and input.ndim is equal to {len(a)}"
        )
    if b[:-1] != a[:-2]:
        raise RuntimeError(
            f"{name}: Expected batch dimensions of tau to be equal to input.shape[:-2], but got "
            f"{list(b[:-1])}"
        )
    if dtype_of(x) is not dtype_of(t):
        raise RuntimeError(
            f"{name}: tau dtype {_type_word(dtype_of(t))} does not match input dtype "
            f"{_type_word(dtype_of(x))}"
        )


# ---------------------------------------------------------------- svd


def svd(A: Any, full_matrices: bool = True, *, driver: str | None = None, out: Any = None) -> Any:
    """U, S and Vh with ``U diag(S) Vh = A``; with `full_matrices`, U and Vh are square.

    Derivative: where the singular values differ, and are not 0 if the matrix is not square; the
    vectors that `full_matrices` adds count as constant.
    Raises: RuntimeError: no matrix. LinAlgError: no convergence.

    >>> import compat as torch
    >>> torch.linalg.svd(torch.tensor([[3.0, 0.0], [0.0, -4.0]])).S
    tensor([4., 3.])
    """
    name = "linalg.svd"
    x = matrix(name, A)
    require_floats(name, x, _kernel(x, "linalg_svd_cpu"))
    m, n = shape_of(x)[-2:]
    u, s, vh = factored(name, unconverged, primitives.svd, (x,), {}, "LinalgSvdBackward0")
    if full_matrices and m > n:
        u = cat((u, _complement(u)), -1)
    if full_matrices and m < n:
        vh = cat((vh, _complement(vh.mT.conj()).mT.conj()), -2)
    return return_types.linalg_svd(*finish_all(name, (u, s, vh), out, (x,)))


def _complement(u: Any) -> Any:
    """Orthonormal columns that make the columns of `u` a basis.

    Raises: RuntimeError: they are not known.
    """
    columns = numbers(u)
    if columns is None:
        raise RuntimeError(
            "linalg.svd: full_matrices=True, the default, adds vectors that depend on numbers which "
            "are not known while this is traced; pass full_matrices=False"
        )
    *lead, m, k = columns.shape
    if not k:
        return tensor(np.broadcast_to(np.eye(m, dtype=columns.dtype), (*lead, m, m)).copy())
    return tensor(np.linalg.qr(columns, "complete")[0][..., k:])


def svdvals(A: Any, *, driver: str | None = None, out: Any = None) -> Tensor:
    """The singular values, descending.

    Raises: RuntimeError: no matrix. LinAlgError: no convergence.

    >>> import compat as torch
    >>> torch.linalg.svdvals(torch.tensor([[3.0, 0.0], [0.0, -4.0]]))
    tensor([4., 3.])
    """
    name = "linalg.svd"
    x = matrix(name, A)
    require_floats(name, x, _kernel(x, "linalg_svd_cpu"))
    found = factored(name, unconverged, primitives.svdvals, (x,), {}, "LinalgSvdBackward0")
    return finish("linalg.svdvals", found, out, (x,))
