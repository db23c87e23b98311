"""`torch._utils`: several tensors as one vector, and back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .ops.join import cat


def _flatten_dense_tensors(tensors: Sequence[Any]) -> Any:
    """All elements of the tensors, one after another.

    >>> import compat as torch
    >>> _flatten_dense_tensors([torch.zeros(2), torch.ones(1, 1)])
    tensor([0., 0., 1.])
    """
    return cat([x.contiguous().view(-1) for x in tensors])


def _unflatten_dense_tensors(flat: Any, tensors: Sequence[Any]) -> tuple[Any, ...]:
    """Parts of a vector in the shapes of the tensors, as views of it.

    >>> import compat as torch
    >>> _unflatten_dense_tensors(torch.arange(3), [torch.zeros(2), torch.ones(1, 1)])
    (tensor([0, 1]), tensor([[2]]))
    """
    parts = flat.split([x.numel() for x in tensors])
    return tuple(part.view(x.shape) for part, x in zip(parts, tensors, strict=True))
