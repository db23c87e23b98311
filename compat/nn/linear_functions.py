"""`bilinear`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from funcgrad import numpy as fnp

from ..ops._compose import composed
from ..ops._operands import dtype_of, operand
from ..ops.pointwise import add

if TYPE_CHECKING:
    from .._tensor import Tensor


def bilinear(input1: Any, input2: Any, weight: Any, bias: Any = None) -> Tensor:
    """``y_k = x1^T W_k x2 + b_k``, along the last axes.

    Shapes: ``input1: (*a, m)``, ``input2: (*a, n)``, ``weight: (k, m, n)``, ``bias: (k,)``.
    Raises: RuntimeError: shapes or dtypes do not fit. IndexError: `weight` has not three axes.

    >>> import compat as torch
    >>> bilinear(torch.tensor([1.0, 2.0]), torch.tensor([3.0]), torch.ones(4, 2, 1))
    tensor([9., 9., 9., 9.])
    """
    x, y, w = (
        operand("bilinear", i + 1, name, given)
        for i, (name, given) in enumerate(
            (("input1", input1), ("input2", input2), ("weight", weight))
        )
    )
    _check(x, y, w, bias)
    out = composed("ViewBackward0", _bilinear, x, y, w)
    return out if bias is None else add(out, bias)


def _bilinear(x: Any, y: Any, w: Any, /) -> Any:
    return fnp.einsum("...kn,...n->...k", fnp.einsum("...m,kmn->...kn", x, w), y)


def _check(x: Any, y: Any, w: Any, bias: Any) -> None:
    """Raises: RuntimeError, IndexError: the operands do not fit."""
    shapes = [tuple(t._array.shape) for t in (x, y, w)]
    if not all(shapes) or len(shapes[0]) != len(shapes[1]):
        raise RuntimeError(
            f"bilinear(): input dimensions do not match: got {len(shapes[0])} and {len(shapes[1])}"
        )
    for i, (m, n) in enumerate(zip(shapes[0][:-1], shapes[1][:-1], strict=True)):
        if m != n:
            raise RuntimeError(
                f"bilinear(): input batch dimensions do not match at dim {i}: got {m} and {n}"
            )
    if len(shapes[2]) != 3:
        raise IndexError(f"bilinear(): weight must have 3 dimensions, but got {len(shapes[2])}")
    for i, shape in enumerate(shapes[:2]):
        if shape[-1] != shapes[2][i + 1]:
            raise RuntimeError(
                f"bilinear(): input{i + 1} size does not match weight size: got {shape[-1]} but "
                f"expected {shapes[2][i + 1]}"
            )
    if bias is not None and tuple(bias._array.shape) != shapes[2][:1]:
        raise RuntimeError(
            f"bilinear(): bias size does not match weight size: got {list(bias._array.shape)} but "
            f"expected {shapes[2][0]}"
        )
    if not dtype_of(x) is dtype_of(y) is dtype_of(w):
        raise RuntimeError(
            f"All tensors must have the same dtype, got input1: {dtype_of(x)}, input2: "
            f"{dtype_of(y)}, weight: {dtype_of(w)}"
        )


__all__ = ["bilinear"]
