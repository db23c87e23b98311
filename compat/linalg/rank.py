"""What depends on which singular values are negligible: rank, pseudo-inverse, least squares."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import funcgrad.numpy as fnp
from funcgrad.core import Tracer
from funcgrad.ops import solve as primitives
from funcgrad.ops.solve import adjoint
from funcgrad.transforms.vmap import BatchTracer

from ..autograd.base import TensorBase, tensor
from ..autograd.tape import through
from ..ops import return_types
from ..ops._apply import _type_word, finish, requires_grad
from ..ops._compose import composed
from ..ops._operands import dtype_of, operand
from ..ops.join import stack
from .checks import factored, numbers, shape_of, square, unconverged
from .decompositions import eigvalsh, from_triangle, qr, svd, svdvals
from .systems import finish_all, is_vector, triangular

if TYPE_CHECKING:
    from .._tensor import Tensor


def _cutoffs(s: Any, shape: tuple[int, ...], atol: Any, rtol: Any) -> Any:
    """Up to where singular values count as zero: ``max(atol, rtol * largest)``.

    Without `rtol` it is 0 where there is `atol`, else the precision of the dtype times the longer side.
    Raises: RuntimeError: one of them is complex.
    """
    for name, given in (("atol", atol), ("rtol", rtol)):
        if isinstance(given, TensorBase) and dtype_of(given).category == 3:
            raise RuntimeError(
                f"{name} tensor of complex type is not supported. Got {_type_word(dtype_of(given))}"
            )
    if rtol is None:
        rtol = max(shape) * float(np.finfo(s._array.dtype).eps)
        if atol is not None:
            rtol = rtol * (atol <= 0)
    largest = s.amax(-1) if shape_of(s)[-1] else s.sum(-1)
    relative = largest * rtol
    if atol is None:
        return relative
    absolute: Any = (
        atol if isinstance(atol, TensorBase) else tensor(np.asarray(atol, s._array.dtype))
    )
    return relative.maximum(absolute.to(s.dtype))


_LAPACK = ("float32", "float64", "complex64", "complex128")


def _require_lapack(x: Any) -> None:
    if dtype_of(x).name not in _LAPACK:
        raise RuntimeError(
            "This function doesn't handle types other than float and double, found "
            f"{_type_word(dtype_of(x))}"
        )


def matrix_rank(
    A: Any,
    tol: Any = None,
    hermitian: bool = False,
    *,
    atol: Any = None,
    rtol: Any = None,
    out: Any = None,
) -> Tensor:
    """How many singular values exceed ``max(atol, rtol * largest)``.

    Raises: RuntimeError: no matrix, or not square if `hermitian`.

    >>> import compat as torch
    >>> torch.linalg.matrix_rank(torch.tensor([[1.0, 1.0], [1.0, 1.0]]))
    tensor(1)
    """
    x = operand("linalg_matrix_rank", 1, "A", A)
    if len(shape_of(x)) < 2:
        raise RuntimeError(
            "torch.linalg.matrix_rank: The input tensor input must have at least 2 dimensions."
        )
    _require_lapack(x)
    if hermitian:
        square("linalg.matrix_rank", x)
    found = x.detach()
    s = eigvalsh(found).abs() if hermitian else svdvals(found)
    if tol is not None:
        atol, rtol = tol, 0.0
    cut = _cutoffs(s, shape_of(x)[-2:], atol, rtol)
    return finish("linalg.matrix_rank", (s > cut.unsqueeze(-1)).sum(-1), out, (found,))


# ---------------------------------------------------------------- pinv


def pinv(
    A: Any,
    rcond: Any = None,
    hermitian: bool = False,
    *,
    atol: Any = None,
    rtol: Any = None,
    out: Any = None,
) -> Tensor:
    """The pseudo-inverse; singular values up to ``max(atol, rtol * largest)`` count as zero.

    Derivative: where the rank is constant.
    Raises: RuntimeError: no matrix of floating or complex numbers; a limit requires grad.

    >>> import compat as torch
    >>> torch.linalg.pinv(torch.tensor([[2.0], [0.0]]))
    tensor([[0.5000, 0.0000]])
    """
    given = x = operand("linalg_pinv", 1, "A", A)
    dtype = dtype_of(x)
    if len(shape_of(x)) < 2 or dtype.name not in _LAPACK:
        raise RuntimeError(
            f"linalg.pinv({_type_word(dtype)}{{{list(shape_of(x))}}}): expected a tensor with 2 or "
            f"more dimensions of float, double, cfloat or cdouble types"
        )
    if hermitian:
        x = from_triangle(square("linalg.pinv", x), upper=False)
        x = (x + x.mH) * 0.5
    rtol = rcond if rtol is None else rtol
    for name, limit in (("atol", atol), ("rtol", rtol)):
        if isinstance(limit, TensorBase) and requires_grad(limit):
            raise RuntimeError(
                f"The function 'linalg_pinv' is not differentiable with respect to argument '{name}'. "
                f"This input cannot have requires_grad True."
            )
    *lead, m, n = shape_of(x)
    if atol is None and not isinstance(rtol, TensorBase):
        relative = max(m, n) * float(np.finfo(x._array.dtype).eps) if rtol is None else rtol
        found = _pinv(x, np.broadcast_to(np.asarray(relative, float), lead))
    else:
        found = _pinv_above(x, atol, rtol)
    return finish("linalg.pinv", found, out, (given,))


def _pinv_above(x: Any, atol: Any, rtol: Any) -> Any:
    """`pinv` with limits that depend on the matrix, or are tensors, with which `x` broadcasts."""
    *lead, m, n = shape_of(x)
    s = svdvals(x.detach())
    cut = _cutoffs(s, (m, n), atol, rtol)
    if shape_of(cut) != tuple(lead):
        lead = list(shape_of(cut))
        x, s = x.expand(*lead, m, n), s.expand(*lead, min(m, n))
    if not s._array.size:
        return _pinv(x, np.zeros(lead))
    relative = numbers((cut / s.amax(-1)).nan_to_num(0.0))
    if relative is not None:
        return _pinv(x, np.broadcast_to(relative.astype(float), lead))
    # The part that counts as zero is taken away, as a constant; where that is all, x counts as zero.
    u, s, vh = svd(x.detach(), full_matrices=False)
    kept = s > _cutoffs(s, (m, n), atol, rtol)[..., None]  # of these s, to the last bit
    small = (u * s.masked_fill(kept, 0.0)[..., None, :]) @ vh
    rest = x - small
    rest = rest.masked_fill(~kept.any(-1)[..., None, None], 0.0)
    return _pinv(rest, np.asarray(4 * max(m, n) * float(np.finfo(s._array.dtype).eps)))


def _pinv(x: Any, relative: Any) -> Any:
    """`relative`: for every matrix, below which part of the largest a singular value is zero."""
    first = float(relative.flat[0]) if relative.size else 0.0
    if (relative == first).all():
        params = {"rcond": first}
        return factored(
            "linalg.svd", unconverged, primitives.pinv, (x,), params, "LinalgPinvBackward0"
        )
    *lead, m, n = shape_of(x)
    each = zip(x.reshape(-1, m, n).unbind(0), relative.reshape(-1), strict=True)
    return stack([_pinv(a, np.asarray(cut)) for a, cut in each]).reshape(*lead, n, m)


# ---------------------------------------------------------------- lstsq

_DRIVERS = ("gels", "gelsy", "gelsd", "gelss")
_LSTSQ = "LinalgLstsqBackward0"


def lstsq(A: Any, B: Any, rcond: Any = None, *, driver: str | None = None, out: Any = None) -> Any:
    """The X that minimises ``|A X - B|``, the shortest where there are several.

    Also the squares ``|A X - B|^2`` (of tall matrices of full rank, if `driver` is not "gelsy"), the
    rank (not with "gels") and the singular values (with "gelsd" and "gelss").

    Derivative: where the rank is constant.
    Raises: RuntimeError: the shapes or dtypes do not fit, or an unknown driver.

    >>> import compat as torch
    >>> torch.linalg.lstsq(torch.ones(2, 1), torch.tensor([[1.0], [3.0]])).solution
    tensor([[2.]])
    """
    x, b = _least_squares(A, B)
    if driver is None:
        driver = "gelsy"
    if driver not in _DRIVERS:
        raise RuntimeError(
            f"torch.linalg.lstsq: parameter `driver` should be one of ({', '.join(_DRIVERS)})"
        )
    vector = is_vector(x, b)
    right = b.unsqueeze(-1) if vector else b
    m, n = shape_of(x)[-2:]
    s = svdvals(x.detach())
    rcond = _least_ratio(rcond, driver, (m, n), float(np.finfo(s._array.dtype).eps))
    largest = s[..., :1] if min(m, n) else s
    rank = (s > largest * rcond).sum(-1)
    known_full = _is_everywhere(rank._array, min(m, n))
    found = _minimum(x, right, known_full or driver == "gels", rcond)
    empty = tensor(np.zeros(0, s._array.dtype))
    residuals = empty
    if m > n and driver != "gelsy" and (known_full or driver == "gels"):
        residuals = composed(_LSTSQ, _square_distance, x, found, right)
    elif requires_grad(found):
        residuals = composed(_LSTSQ, _nothing, found)
    if driver == "gels":
        rank = tensor(np.zeros(0, np.int64))
    if driver in ("gels", "gelsy"):
        s = empty
    solution = found.squeeze(-1) if vector else found
    results = finish_all("linalg.lstsq", (solution, residuals, rank, s), out, (A, B))
    return return_types.linalg_lstsq(*results)


def _least_ratio(given: Any, driver: str, shape: tuple[int, int], eps: float) -> float:
    """The share of the largest singular value up to which others count as zero, as LAPACK reads it."""
    if given is None:
        return max(shape) * eps
    if given < 0 or (driver == "gelsd" and not 0 < given < 1):
        return eps
    return min(given, 1.0 - eps) if driver == "gelsy" else given  # which keeps the largest


def _is_everywhere(rank: Any, full: int) -> bool:
    """Whether all ranks, of every example of a batch too, are known and `full`."""
    while rank.__class__ is BatchTracer:
        rank = rank.value
    return not isinstance(rank, Tracer) and bool((rank == full).all())


def _square_distance(a: Any, x: Any, b: Any) -> Any:
    """``|a x - b|^2`` of every column."""
    return fnp.sum(fnp.square(fnp.abs(a @ x - b)), axis=-2)


def _nothing(x: Any) -> Any:
    """No elements, of the dtype of absolute values."""
    return fnp.sum(fnp.abs(x.reshape(-1)[:0]).reshape(0, 1), axis=-1)


def _least_squares(A: Any, B: Any) -> tuple[Any, Any]:
    """
    Raises: RuntimeError: the operands do not fit.
    """
    x, b = operand("linalg_lstsq", 1, "A", A), operand("linalg_lstsq", 2, "B", B)
    words = "torch.linalg.lstsq: input"
    if len(shape_of(x)) < 2:
        raise RuntimeError(f"{words} must have at least 2 dimensions.")
    if not shape_of(b):
        raise RuntimeError("torch.linalg.lstsq: other must have at least 1 dimension.")
    if dtype_of(x) is not dtype_of(b):
        raise RuntimeError(
            f"torch.linalg.lstsq: Expected input and other to have the same dtype, but got input's "
            f"dtype {_type_word(dtype_of(x))} and other's dtype {_type_word(dtype_of(b))}"
        )
    _require_lapack(x)
    vector = is_vector(x, b)
    if shape_of(x)[-2] != shape_of(b)[-1 if vector else -2]:
        axis = -1 if vector else -2
        raise RuntimeError(f"{words}.size(-2) should match other.size({axis})")
    return x, b


def _minimum(x: Any, b: Any, full: bool, rcond: float) -> Any:
    """From a QR decomposition where the rank is known to be full, else from the pseudo-inverse."""
    m, n = shape_of(x)[-2:]
    if not full or not m or not n:
        return pinv(x, rtol=rcond) @ b
    if m >= n:
        q, r = qr(x)
        return triangular(r, through(adjoint, q) @ b, True, True, False, _LSTSQ)
    q, r = qr(x.mH)
    return q @ triangular(r, b, True, True, False, _LSTSQ, adjoint=True)
