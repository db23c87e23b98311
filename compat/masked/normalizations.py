"""What keeps the shape of its operand: running sums, softmaxes, unit vectors; and `logaddexp`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import dtypes
from ..ops import cumulative, exponential
from ..ops import softmax as softmaxes
from ..ops._axes import axes_of
from ..ops._operands import dtype_of, operand
from ..ops.rounding import clamp_min
from ._places import filled, highest, lowest
from .reductions import norm

if TYPE_CHECKING:
    from .._tensor import Tensor


def _axis(name: str, x: Any, dim: Any) -> int:
    """The axis that `dim` names; the first one if it is None."""
    return (axes_of(name, len(x._array.shape), dim) or (0,))[0]


def _cumulative(name: str, input: Any, dim: Any, dtype: Any, mask: Any, neutral: int) -> Any:
    x = operand(name, 1, "input", input)
    if not dtype_of(x).category and dtype is None:
        raise NotImplementedError(
            f"\"{name}_out_cpu\" not implemented for 'Bool'. Give the dtype of the result"
        )
    wide = dtype_of(x) if dtype is None else dtypes.as_dtype(dtype)
    left = filled(name, x.to(wide), mask, neutral)
    return getattr(cumulative, name)(left, _axis(name, x, dim), dtype=wide)


def cumsum(input: Any, dim: int, *, dtype: Any = None, mask: Any = None) -> Tensor:
    """``y_i = sum_{j <= i} input_j`` over the `j` that the mask has, along `dim`, in the input's dtype.

    Raises: IndexError, RuntimeError: the mask does not fit the input, or there is no such axis.
    NotImplementedError: booleans without a `dtype`.

    >>> import compat as torch
    >>> x, mask = torch.tensor([1.0, 2.0, 4.0]), torch.tensor([True, False, True])
    >>> torch.masked.cumsum(x, 0, mask=mask)
    tensor([1., 1., 5.])
    """
    return _cumulative("cumsum", input, dim, dtype, mask, 0)


def cumprod(input: Any, dim: int, *, dtype: Any = None, mask: Any = None) -> Tensor:
    """``y_i = prod_{j <= i} input_j`` over the `j` that the mask has; as `cumsum`.

    >>> import compat as torch
    >>> x, mask = torch.tensor([1.0, 2.0, 4.0]), torch.tensor([True, False, True])
    >>> torch.masked.cumprod(x, 0, mask=mask)
    tensor([1., 1., 4.])
    """
    return _cumulative("cumprod", input, dim, dtype, mask, 1)


def _lowered(name: str, input: Any, mask: Any) -> Any:
    """What is left out is so low that its exponential is 0."""
    x = operand(name, 1, "input", input)
    return x if mask is None else filled(name, x, mask, lowest("amax", x))


def softmax(input: Any, dim: int, *, dtype: Any = None, mask: Any = None) -> Tensor:
    """``exp(input_i) / sum_j exp(input_j)`` over the `j` that the mask has, 0 of what is left out.

    NaN where nothing is left. The derivative of what is left out is 0.

    Raises: as `cumsum`; NotImplementedError: integers without a `dtype`.

    >>> import compat as torch
    >>> x, mask = torch.tensor([1.0, 2.0, 1.0]), torch.tensor([True, False, True])
    >>> torch.masked.softmax(x, 0, mask=mask)
    tensor([0.5000, 0.0000, 0.5000])
    """
    x = _lowered("softmax", input, mask)
    return softmaxes.softmax(x, _axis("softmax", x, dim), dtype)


def log_softmax(input: Any, dim: int, *, dtype: Any = None, mask: Any = None) -> Tensor:
    """The logarithm of `softmax`, minus infinity of what is left out; raises as `softmax`.

    >>> import compat as torch
    >>> x, mask = torch.tensor([1.0, 2.0, 1.0]), torch.tensor([True, False, True])
    >>> torch.masked.log_softmax(x, 0, mask=mask)
    tensor([-0.6931,    -inf, -0.6931])
    """
    x = _lowered("log_softmax", input, mask)
    return softmaxes.log_softmax(x, _axis("log_softmax", x, dim), dtype)


def softmin(input: Any, dim: int, *, dtype: Any = None, mask: Any = None) -> Tensor:
    """`softmax` of ``-input``; raises as `softmax`.

    >>> import compat as torch
    >>> x, mask = torch.tensor([1.0, 2.0, 1.0]), torch.tensor([True, False, True])
    >>> torch.masked.softmin(x, 0, mask=mask)
    tensor([0.5000, 0.0000, 0.5000])
    """
    x = operand("softmin", 1, "input", input)
    left = x if mask is None else filled("softmin", x, mask, highest("amin", x))
    return softmaxes.softmax(-left, _axis("softmin", x, dim), dtype)


def normalize(
    input: Any,
    ord: float,
    dim: int,
    *,
    eps: float = 1e-12,
    dtype: Any = None,
    mask: Any = None,
) -> Tensor:
    """``input / max(|input|_ord, eps)`` along `dim`, where only what the mask has counts; else 0.

    Raises: as `norm`.

    >>> import compat as torch
    >>> x, mask = torch.tensor([3.0, 2.0, 4.0]), torch.tensor([True, False, True])
    >>> torch.masked.normalize(x, 2, 0, mask=mask)
    tensor([0.6000, 0.0000, 0.8000])
    """
    x = operand("normalize", 1, "input", input)
    length = norm(x, ord, dim, keepdim=True, dtype=dtype, mask=mask)
    wide = x if dtype is None else x.to(dtypes.as_dtype(dtype))
    return filled("normalize", wide, mask, 0) / clamp_min(length, eps)


def logaddexp(
    input: Any,
    other: Any,
    *,
    dtype: Any = None,
    input_mask: Any = None,
    other_mask: Any = None,
) -> Tensor:
    """``log(exp(input) + exp(other))`` of what the masks have; minus infinity of nothing.

    Raises: as `cumsum`; NotImplementedError: integers.

    >>> import compat as torch
    >>> x, mask = torch.tensor([1.0, 2.0]), torch.tensor([True, False])
    >>> torch.masked.logaddexp(x, x, other_mask=mask)
    tensor([1.6931, 2.0000])
    """
    x = _lowered("logaddexp", input, input_mask)
    y = _lowered("logaddexp", other, other_mask)
    found = exponential.logaddexp(x, y)
    return found.to(dtype_of(x) if dtype is None else dtypes.as_dtype(dtype))


__all__ = [
    "cumprod",
    "cumsum",
    "log_softmax",
    "logaddexp",
    "normalize",
    "softmax",
    "softmin",
]
