"""`Variable`: what a tensor with a gradient was called when tensors had none. Old code still does."""

from __future__ import annotations

from typing import Any

from .base import TensorBase


class _IsTensor(type):
    def __instancecheck__(cls, x: Any) -> bool:
        return isinstance(x, TensorBase)


class Variable(metaclass=_IsTensor):
    """``Variable(x, requires_grad=True)`` is ``x.detach().requires_grad_()``; all tensors are one.

    Raises: TypeError: `data` is no tensor.

    >>> import compat as torch
    >>> torch.autograd.Variable(torch.ones(2), requires_grad=True)
    tensor([1., 1.], requires_grad=True)
    """

    def __new__(cls, data: Any, requires_grad: bool = False) -> Any:
        if not isinstance(data, TensorBase):
            raise TypeError(f"Variable data has to be a tensor, but got {type(data).__name__}")
        out: Any = data.detach()  # type: ignore[attr-defined]
        return out.requires_grad_() if requires_grad else out
