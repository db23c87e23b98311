"""Parameters and buffers on the device "meta": a shape and a dtype, and no numbers.

A module that has been moved there is a form, which `func.functional_call` fills with the numbers of
others. As in NOTE [Uninitialized tensors], `_array` raises, so that no operation has to ask.
"""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np

from .._tensor import Tensor
from ..autograd import base
from ..autograd.base import TensorBase
from ..ops.create import empty
from ..ops.legacy import make_subclass
from ..parameter import Parameter
from ..size import device

_stored: Any = TensorBase._array  # the slot itself
_META = device("meta")


class OnMeta:
    """What parameters and buffers without numbers have in common."""

    __slots__ = ()
    requires_grad: bool

    @property
    def _array(self) -> NoReturn:
        raise NotImplementedError(
            f"A tensor on the device 'meta' of the shape {list(self.shape)} has no numbers to compute "
            f"with, to copy or to write into: give others by func.functional_call, or `to_empty` the "
            f"module to a device and load a state."
        )

    @_array.setter
    def _array(self, value: Any) -> None:
        raise NotImplementedError("A tensor on the device 'meta' takes no numbers: `to_empty` does")

    @property
    def _form(self) -> Any:
        """A tensor of this shape and dtype."""
        return base.tensor(_stored.__get__(self))

    @property
    def data(self) -> Any:
        return self

    @data.setter
    def data(self, value: Any) -> None:
        self._array = value

    @property
    def device(self) -> Any:
        return _META

    @property
    def shape(self) -> Any:
        return self._form.shape

    @property
    def ndim(self) -> Any:
        return self._form.ndim

    @property
    def dtype(self) -> Any:
        return self._form.dtype

    def size(self, dim: int | None = None) -> Any:
        return self._form.size() if dim is None else self._form.size(dim)

    def dim(self) -> Any:
        return self._form.dim()

    def numel(self) -> Any:
        return self._form.numel()

    def is_floating_point(self) -> bool:
        return bool(self._form.is_floating_point())

    def is_complex(self) -> bool:
        return bool(self._form.is_complex())

    def detach(self) -> Any:
        """Itself: there is nothing to share."""
        return self

    def __repr__(self, *, tensor_contents: Any = None) -> str:
        head = "Parameter containing:\n" if isinstance(self, Parameter) else ""
        grad = ", requires_grad=True" if self.requires_grad else ""
        return f"{head}tensor(..., device='meta', size={tuple(self.shape)}{grad})"

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        return on_meta(self)

    def __reduce_ex__(self, protocol: Any) -> NoReturn:
        raise NotImplementedError("A tensor on the device 'meta' has no numbers to save")


class MetaParameter(OnMeta, Parameter):  # type: ignore[misc]
    __slots__ = ()


class MetaBuffer(OnMeta, Tensor):  # type: ignore[misc]
    __slots__ = ()


def on_meta(x: Any) -> Any:
    """A parameter or buffer without the numbers of `x`: its shape and dtype in no memory.

    >>> import compat as torch
    >>> on_meta(torch.nn.Parameter(torch.ones(2, 3)))
    Parameter containing:
    tensor(..., device='meta', size=(2, 3), requires_grad=True)
    """
    form = x._form if isinstance(x, OnMeta) else x.detach()
    array = np.broadcast_to(np.zeros((), form._array.dtype), tuple(form.shape))
    is_parameter = isinstance(x, Parameter)
    made = make_subclass(Parameter if is_parameter else Tensor, base.tensor(array), x.requires_grad)
    made.__class__ = MetaParameter if is_parameter else MetaBuffer
    return made


def with_memory(x: Any, device: Any) -> Any:
    """A parameter or buffer like `x`, which has no numbers, with any numbers in it."""
    made = empty(tuple(x.shape), dtype=x.dtype, device=device)
    return Parameter(made, x.requires_grad) if isinstance(x, Parameter) else made
