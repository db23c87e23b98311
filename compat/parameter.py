"""`Parameter`: a tensor that a module counts as its own."""

from __future__ import annotations

from typing import Any

from ._tensor import Tensor
from .autograd.base import TensorBase, tensor
from .printing import describe


class Parameter(Tensor):
    """A leaf that modules register when it becomes an attribute; it requires grad by default.

    >>> import compat as torch
    >>> torch.nn.Parameter(torch.ones(2))
    Parameter containing:
    tensor([1., 1.], requires_grad=True)
    """

    __slots__ = ()

    def __new__(cls, data: Any = None, requires_grad: bool = True) -> Any:
        out = TensorBase.__new__(cls)
        source = tensor(0.0) if data is None else data
        out._array = source._array
        out._counter = source._counter
        out._node = None
        out._view = None
        out.requires_grad_(requires_grad)
        return out

    def __init__(self, data: Any = None, requires_grad: bool = True) -> None:
        pass

    def __repr__(self) -> str:
        return "Parameter containing:\n" + describe(self)

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        found = memo.get(id(self))
        if found is None:
            copied = tensor(self._array.copy())
            found = memo[id(self)] = type(self)(copied, self.requires_grad)
        return found

    def __reduce_ex__(self, protocol: Any) -> Any:
        return _rebuilt, (type(self), self._array, self.requires_grad)


def _rebuilt(cls: type[Parameter], array: Any, requires_grad: bool) -> Parameter:
    return cls(tensor(array), requires_grad)
