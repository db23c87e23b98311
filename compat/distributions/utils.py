"""`distributions.utils`: broadcasting of parameters, probabilities and logits, lazy attributes."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from numbers import Number
from typing import Any

import compat as torch

from .. import dtypes

euler_constant = 0.57721566490153286060


def is_tensor_like(x: Any) -> bool:
    """Whether `x` is a tensor or takes part in functions of tensors."""
    return isinstance(x, torch.Tensor) or hasattr(type(x), "__torch_function__")


def broadcast_all(*values: Any) -> tuple[Any, ...]:
    """Numbers and tensors as tensors of one shape; numbers take the dtype of the first tensor.

    Raises: ValueError: an argument is neither.

    >>> import compat as torch
    >>> broadcast_all(1.0, torch.tensor([2.0, 3.0]))
    (tensor([1., 1.]), tensor([2., 3.]))
    """
    if not all(is_tensor_like(v) or isinstance(v, Number) for v in values):
        raise ValueError(
            "Input arguments must all be instances of Number, torch.Tensor or objects "
            "implementing __torch_function__."
        )
    first = next((v for v in values if is_tensor_like(v)), None)
    dtype = torch.get_default_dtype() if first is None else first.dtype
    device = None if first is None else first.device
    made = [v if is_tensor_like(v) else torch.tensor(v, dtype=dtype, device=device) for v in values]
    return tuple(torch.broadcast_tensors(*made))


def clamp_probs(probs: Any) -> Any:
    """Probabilities kept away from 0 and 1 by the dtype's epsilon."""
    eps = torch.finfo(probs.dtype).eps
    return probs.clamp(min=eps, max=1 - eps)


def logits_to_probs(logits: Any, is_binary: bool = False) -> Any:
    """``sigmoid(logits)``, or `softmax` over the last axis.

    >>> import compat as torch
    >>> logits_to_probs(torch.zeros(2)), logits_to_probs(torch.zeros(1), is_binary=True)
    (tensor([0.5000, 0.5000]), tensor([0.5000]))
    """
    return torch.sigmoid(logits) if is_binary else torch.softmax(logits, -1)


def probs_to_logits(probs: Any, is_binary: bool = False) -> Any:
    """``log p - log(1 - p)``, or ``log p``, of probabilities kept away from 0 and 1.

    >>> import compat as torch
    >>> probs_to_logits(torch.tensor([0.5]), is_binary=True)
    tensor([0.])
    """
    p = clamp_probs(probs)
    return torch.log(p) - torch.log1p(-p) if is_binary else torch.log(p)


class lazy_property:
    """An attribute that is computed when it is first read, with gradients, and then kept."""

    def __init__(self, wrapped: Callable[[Any], Any]) -> None:
        self.wrapped = wrapped
        functools.update_wrapper(self, wrapped)  # type: ignore[arg-type]

    def __get__(self, instance: Any, obj_type: Any = None) -> Any:
        if instance is None:
            return _lazy_property_and_property(self.wrapped)
        with torch.enable_grad():
            value = self.wrapped(instance)
        setattr(instance, self.wrapped.__name__, value)
        return value


class _lazy_property_and_property(lazy_property, property):
    """What a class shows of a lazy property, so that tools take it for a property."""

    def __init__(self, wrapped: Callable[[Any], Any]) -> None:
        property.__init__(self, wrapped)


def tril_matrix_to_vec(mat: Any, diag: int = 0) -> Any:
    """The elements on and below the diagonal `diag` of square matrices, row by row.

    Raises: ValueError: there is no such diagonal.

    >>> import compat as torch
    >>> tril_matrix_to_vec(torch.tensor([[1.0, 0.0], [2.0, 3.0]]))
    tensor([1., 2., 3.])
    """
    n = mat.shape[-1]
    if not -n <= diag < n:
        raise ValueError(f"diag ({diag}) provided is outside [{-n}, {n - 1}].")
    rows, columns = torch.tril_indices(n, n, diag, device=mat.device)
    return mat[..., rows, columns]


def vec_to_tril_matrix(vec: Any, diag: int = 0) -> Any:
    """The square matrices whose elements on and below the diagonal `diag` are `vec`, row by row.

    Raises: ValueError: no matrix has so many.

    >>> import compat as torch
    >>> vec_to_tril_matrix(torch.tensor([1.0, 2.0, 3.0]))
    tensor([[1., 0.],
            [2., 3.]])
    """
    count, shift = vec.shape[-1], 1 + 2 * diag
    root = math.sqrt(shift**2 + 8 * count + 4 * abs(diag) * (diag + 1))
    n = round((root - shift) / 2)
    if abs((root - shift) / 2 - n) > torch.finfo(vec.dtype).eps:
        raise ValueError(
            f"The size of last dimension is {count} which cannot be expressed as "
            "the lower triangular part of a square D x D matrix."
        )
    if not count:
        return vec.new_zeros((*vec.shape[:-1], n, n))
    rows, columns = torch.tril_indices(n, n, diag, device=vec.device)
    place = torch.zeros(n, n, dtype=dtypes.int64, device=vec.device)
    place[rows, columns] = torch.arange(count, device=vec.device)
    inside = torch.tril(torch.ones(n, n, dtype=dtypes.bool, device=vec.device), diag)
    return torch.where(inside, vec[..., place], vec.new_zeros(()))


def _sum_rightmost(value: Any, count: int) -> Any:
    """`value` summed over its last `count` axes.

    >>> import compat as torch
    >>> _sum_rightmost(torch.ones(2, 3), 1)
    tensor([3., 3.])
    """
    return value.reshape(*value.shape[: value.dim() - count], -1).sum(-1) if count else value


def _standard_normal(shape: Any, dtype: Any, device: Any) -> Any:
    """Standard normal numbers; other packages import it from here."""
    return torch.randn(shape, dtype=dtype, device=device)
