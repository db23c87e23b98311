"""`Parameter`: a tensor that a module counts as its own."""

from __future__ import annotations

from typing import Any, Self

from ._tensor import Tensor
from .ops.legacy import make_subclass
from .printing import describe


class Parameter(Tensor):
    """A leaf that modules register when it becomes an attribute; it requires grad by default.

    It shares the memory of `data`. Results of operations are plain tensors.

    >>> import compat as torch
    >>> torch.nn.Parameter(torch.ones(2))
    Parameter containing:
    tensor([1., 1.], requires_grad=True)
    """

    __slots__ = ()

    def __new__(cls, data: Any = None, requires_grad: bool = True) -> Self:
        return make_subclass(cls, Tensor() if data is None else data, requires_grad)

    def __repr__(self, *, tensor_contents: Any = None) -> str:  # type: ignore[override]
        if type(self) is Parameter:
            return "Parameter containing:\n" + describe(self, contents=tensor_contents)
        inner: Any = super()
        return (
            f"Parameter containing:\nParameter({inner.__repr__(tensor_contents=tensor_contents)})"
        )

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        return make_subclass(type(self), self.detach().clone(), self.requires_grad)
