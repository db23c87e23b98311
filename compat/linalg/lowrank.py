"""Decompositions of which only the largest singular values count, by random projections."""

from __future__ import annotations

from typing import Any

from ..ops._apply import _type_word
from ..ops._operands import dtype_of, operand
from ..ops.random import randn
from ..ops.shape import broadcast_to
from .checks import shape_of
from .decompositions import qr, svd


def _matrix(name: str, A: Any) -> Any:
    """Raises: ValueError: there are no two axes. RuntimeError: integers."""
    x = operand(name, 1, "A", A)
    if len(shape_of(x)) < 2:
        raise ValueError(f"{name}: need a matrix, but A has the shape {list(shape_of(x))}")
    if dtype_of(x).category < 2:
        raise RuntimeError(
            f"{name}: Expected a floating point or complex tensor as input. Got "
            f"{_type_word(dtype_of(x))}"
        )
    return x


def _range(x: Any, q: int, niter: int) -> Any:
    """Orthonormal columns that nearly span what `x` makes of its `q` largest directions."""
    found = qr(x @ randn(shape_of(x)[-1], q, dtype=x.dtype)).Q
    for _ in range(niter):
        found = qr(x @ qr(x.mH @ found).Q).Q
    return found


def svd_lowrank(
    A: Any, q: int | None = 6, niter: int | None = 2, M: Any = None
) -> tuple[Any, Any, Any]:
    """U, S and V with ``U diag(S) V^H`` close to ``A - M``, for the `q` largest singular values.

    Exact up to rounding where the rank is not larger than `q`. Each of the `niter` iterations makes
    the rest count less. The directions to begin with are drawn from the default generator.

    Shapes: ``(*a, m, n) -> (*a, m, k), (*a, k), (*a, n, k)``, ``k = min(m, n, q)``.
    Raises: ValueError: no matrix. RuntimeError: integers, a negative `q`, or an `M` that does not fit.
    Source: Halko, Martinsson, Tropp, "Finding structure with randomness" (2011), algorithms 4.4, 5.1.

    >>> import compat as torch
    >>> torch.svd_lowrank(torch.tensor([[3.0, 0.0], [4.0, 0.0]]), 1)[1]
    tensor([5.])
    """
    x = _matrix("svd_lowrank", A)
    if M is not None:
        x = x - broadcast_to(operand("svd_lowrank", 4, "M", M), shape_of(x))
    m, n = shape_of(x)[-2:]
    turned = x.mH if m < n else x
    basis = _range(turned, 6 if q is None else q, 2 if niter is None else niter)
    u, s, vh = svd(basis.mH @ turned, full_matrices=False)
    left, right = basis @ u, vh.mH
    return (right, s, left) if m < n else (left, s, right)


def pca_lowrank(
    A: Any, q: int | None = None, center: bool = True, niter: int = 2
) -> tuple[Any, Any, Any]:
    """`svd_lowrank` of the rows of `A` less their mean, so that the columns of V are the components.

    `q` is 6, or the shorter side; without `center` the mean stays.

    Shapes: as `svd_lowrank`.
    Raises: ValueError: no matrix, or `q` or `niter` is out of range. RuntimeError: integers.

    >>> import compat as torch
    >>> torch.pca_lowrank(torch.tensor([[1.0, 0.0], [3.0, 0.0]]), 1)[1]
    tensor([1.4142])
    """
    x = _matrix("pca_lowrank", A)
    m, n = shape_of(x)[-2:]
    if q is None:
        q = min(6, m, n)
    elif not 0 <= q <= min(m, n):
        raise ValueError(
            f"q(={q}) must be non-negative integer and not greater than min(m, n)={min(m, n)}"
        )
    if niter < 0:
        raise ValueError(f"niter(={niter}) must be non-negative integer")
    return svd_lowrank(x, q, niter, x.mean(-2, keepdim=True) if center else None)


__all__ = ["pca_lowrank", "svd_lowrank"]
