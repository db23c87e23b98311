"""Distances between points: all pairs of two sets, all pairs of one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from funcgrad.ops.distance import FEW, distances
from funcgrad.ops.linalg import p_norm
from funcgrad.ops.structural import expand_dims

from ..autograd.remembered import remembered_of_several
from ._apply import _type_word, check_broadcast
from ._compose import composed
from ._fused import fused
from ._layout import in_order
from ._operands import dtype_of, operand

if TYPE_CHECKING:
    from .._tensor import Tensor

_MODES = (
    "use_mm_for_euclid_dist_if_necessary",
    "use_mm_for_euclid_dist",
    "donot_use_mm_for_euclid_dist",
)


def _require_floats(name: str, x: Any, argument: str = "") -> None:
    if dtype_of(x).category != 2:
        raise RuntimeError(
            f"{name} only supports floating-point dtypes, {argument}got: {_type_word(dtype_of(x))}"
        )


def _require_order(name: str, p: float) -> None:
    if p < 0:
        raise RuntimeError(f"{name} only supports non-negative p values, got {p}")


@remembered_of_several
def cdist(x1: Any, x2: Any, p: float = 2.0, compute_mode: str | None = None) -> Tensor:
    """``d_ij = |x1_i - x2_j|_p``: the distances of all pairs of points (rows).

    Euclidean distances of more than 25 points are computed by products of matrices, which
    `compute_mode` may ask for or forbid; pairs so close that these cancel by differences, as all
    others. Where points are equal the gradient is 0.

    Shapes: ``(*a, m, k), (*b, n, k) -> (*broadcast(a, b), m, n)``.
    Raises: RuntimeError: the shapes or dtypes do not fit. ValueError: an unknown mode.

    >>> import compat as torch
    >>> torch.cdist(torch.tensor([[0.0, 0.0]]), torch.tensor([[3.0, 4.0], [0.0, 1.0]]))
    tensor([[5., 1.]])
    """
    if compute_mode is not None and compute_mode not in _MODES:
        raise ValueError(f"{compute_mode} is not a valid value for compute_mode")
    x, y = operand("cdist", 1, "x1", x1), operand("cdist", 2, "x2", x2)
    for name, t in (("X1", x), ("X2", y)):
        if t._array.ndim < 2:
            raise RuntimeError(
                f"cdist only supports at least 2D tensors, {name} got: {t._array.ndim}D"
            )
    for name, t in (("X1", x), ("X2", y)):
        _require_floats("cdist", t, f"{name} ")
    m, n = x._array.shape[-1], y._array.shape[-1]
    if m != n:
        raise RuntimeError(f"X1 and X2 must have the same number of columns. X1: {m} X2: {n}")
    _require_order("cdist", p)
    if dtype_of(x) is not dtype_of(y):
        raise RuntimeError(
            f"expected scalar type {_type_word(dtype_of(x))} but found {_type_word(dtype_of(y))}"
        )
    if x._array.shape[:-2] != y._array.shape[:-2]:
        check_broadcast(x.detach()[..., 0, 0], y.detach()[..., 0, 0])
    if p == 2 and _by_products(compute_mode, x._array.shape[-2], y._array.shape[-2]):
        return in_order(fused("CdistBackward0", distances, x, y))
    return in_order(fused("CdistBackward0", _distances, x, y, p=float(p)))


def _by_products(mode: str | None, rows: int, others: int) -> bool:
    if mode is None or mode == _MODES[0]:
        return max(rows, others) > FEW
    return mode == _MODES[1]


def _distances(x: Any, y: Any, /, *, p: float) -> Any:
    d = expand_dims(x, axis=(x.ndim - 1,)) - expand_dims(y, axis=(y.ndim - 2,))
    return p_norm(d, p=p, axis=(d.ndim - 1,))


def pdist(input: Any, p: float = 2.0) -> Tensor:
    """``|x_i - x_j|_p`` of all pairs of rows with i < j, in order.

    Where rows are equal the gradient is 0.

    Shapes: ``(n, k) -> (n (n - 1) / 2,)``.
    Raises: RuntimeError: no matrix of floating numbers, or `p` is negative.

    >>> import compat as torch
    >>> torch.pdist(torch.tensor([[0.0, 0.0], [3.0, 4.0], [0.0, 1.0]]))
    tensor([5.0000, 1.0000, 4.2426])
    """
    x = operand("pdist", 1, "input", input)
    if x._array.ndim != 2:
        raise RuntimeError(f"pdist only supports 2D tensors, got: {x._array.ndim}D")
    _require_floats("pdist", x)
    _require_order("pdist", p)
    i, j = np.triu_indices(x._array.shape[0], 1)
    return composed("PdistBackward0", _pairs, x, i=i, j=j, p=float(p))


def _pairs(x: Any, /, *, i: Any, j: Any, p: float) -> Any:
    if p == 2 and len(x) > FEW:
        return distances(x, x)[i, j]
    return p_norm(x[i] - x[j], p=p, axis=(1,))


__all__ = ["cdist", "pdist"]
