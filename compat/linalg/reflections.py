"""Orthogonal matrices as products of reflections: `geqrf` makes them, `ormqr` multiplies by them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..autograd.base import tensor
from ..autograd.function import Function
from ..ops import return_types
from ..ops._apply import _type_word, finish
from ..ops._operands import dtype_of, operand
from .checks import numbers, require_floats, shape_of
from .decompositions import check_scales, reflected
from .systems import finish_all, lu_kernel

if TYPE_CHECKING:
    from .._tensor import Tensor


class Geqrf(Function):
    """LAPACK's decomposition, whose derivative PyTorch does not have either."""

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        array = numbers(x)
        if array is None:
            raise RuntimeError(
                "geqrf: the numbers are not known inside of this transform; use linalg.qr"
            )
        if not array.size:
            return x.clone(), x.new_zeros((*array.shape[:-2], min(array.shape[-2:])))
        turned, tau = np.linalg.qr(array, "raw")
        return tensor(np.ascontiguousarray(turned.swapaxes(-1, -2))), tensor(tau)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        raise NotImplementedError("the derivative for 'geqrf' is not implemented: use linalg.qr")


def geqrf(input: Any, *, out: Any = None) -> Any:
    """R of `linalg.qr` in the upper triangle, the reflections that make Q below, and their scales.

    `linalg.householder_product` makes Q of both, and `ormqr` multiplies by it.

    Shapes: ``(*a, m, n) -> (*a, m, n), (*a, min(m, n))``.
    Derivative: none, as in PyTorch.
    Raises: RuntimeError: no matrix. NotImplementedError: integers.

    >>> import compat as torch
    >>> torch.geqrf(torch.tensor([[3.0], [4.0]])).a
    tensor([[-5.0000],
            [ 0.5000]])
    """
    x = operand("geqrf", 1, "input", input)
    if len(shape_of(x)) < 2:
        raise RuntimeError("torch.geqrf: input must have at least 2 dimensions.")
    require_floats("geqrf", x, "geqrf_cpu" if lu_kernel(x) or dtype_of(x).category < 2 else None)
    return return_types.geqrf(*finish_all("geqrf", Geqrf.apply(x), out, (x,)))


def _check(x: Any, t: Any, c: Any, left: bool) -> None:
    """Raises: RuntimeError: shapes or dtypes do not fit."""
    for name, matrix in (("input", x), ("other", c)):
        if len(shape_of(matrix)) < 2:
            raise RuntimeError(f"torch.ormqr: {name} must have at least 2 dimensions.")
    if len(shape_of(x)) != len(shape_of(c)) or shape_of(x)[:-2] != shape_of(c)[:-2]:
        raise RuntimeError(
            f"torch.ormqr: Expected other to have the same number of dimensions as input, and the "
            f"same batch, but got other of shape {list(shape_of(c))} and input of shape "
            f"{list(shape_of(x))}"
        )
    axis = -2 if left else -1
    size, rows = shape_of(c)[axis], shape_of(x)[-2]
    if size != rows:
        raise RuntimeError(f"torch.ormqr: other.shape[{axis}] must be equal to input.shape[-2]")
    if not shape_of(t) or shape_of(t)[-1] != min(size, shape_of(x)[-1]):
        raise RuntimeError(
            f"torch.ormqr: tau.shape[-1] must be equal to min(other.shape[{axis}], input.shape[-1])"
        )
    check_scales("torch.ormqr", x, t)
    if dtype_of(x) is not dtype_of(c):
        raise RuntimeError(
            f"torch.ormqr: Expected input and other to have the same dtype, but input has dtype "
            f"{_type_word(dtype_of(x))} and other has dtype {_type_word(dtype_of(c))}"
        )


def ormqr(
    input: Any,
    tau: Any,
    other: Any,
    left: bool = True,
    transpose: bool = False,
    *,
    out: Any = None,
) -> Tensor:
    """``Q @ other`` or, if not `left`, ``other @ Q``; Q^H for Q if `transpose`.

    Q is the square matrix that the reflections of `geqrf` stand for; it is not made.

    Shapes: ``(*a, m, n), (*a, min(m, n)), (*a, m, k) -> (*a, m, k)``, or ``(*a, k, m)`` if not `left`.
    Raises: RuntimeError: shapes or dtypes do not fit.

    >>> import compat as torch
    >>> a, tau = torch.geqrf(torch.tensor([[3.0], [4.0]]))
    >>> torch.ormqr(a, tau, torch.tensor([[3.0], [4.0]]), transpose=True).round()
    tensor([[-5.],
            [ 0.]])
    """
    x, t, c = (
        operand("ormqr", i + 1, name, given)
        for i, (name, given) in enumerate((("input", input), ("tau", tau), ("other", other)))
    )
    _check(x, t, c, left)
    require_floats("ormqr", x, "ormqr_cpu")
    k = shape_of(t)[-1]
    v = x[..., :k].tril(-1) + tensor(np.eye(shape_of(x)[-2], k, dtype=x._array.dtype))
    # From the right, Q is Q^H from the left of the adjoint; Q^H has the reflections' adjoints.
    adjoint = bool(transpose) == bool(left)
    order = range(k) if adjoint else reversed(range(k))
    y = reflected(v, t.conj() if adjoint else t, c if left else c.mH, order)
    return finish("ormqr", y if left else y.mH, out, (x, t, c))


__all__ = ["geqrf", "ormqr"]
