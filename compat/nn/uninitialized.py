"""Buffers that say so themselves, and parameters and buffers whose shape is not known yet.

NOTE [Uninitialized tensors] `_array`, which everything reads, raises for such a tensor, so that no
operation has to ask. What is allowed (dtype, device, moving) reads the empty array that is stored.
"""

from __future__ import annotations

from typing import Any, NoReturn, Self

from .._tensor import Tensor
from ..autograd import base
from ..autograd.base import TensorBase
from ..ops.create import empty
from ..ops.legacy import make_subclass
from ..parameter import Parameter

_stored: Any = TensorBase._array  # the slot itself


class UninitializedTensorMixin:
    """What parameters and buffers without a shape have in common, see NOTE [Uninitialized tensors]."""

    __slots__ = ()
    cls_to_become: type
    requires_grad: bool

    def materialize(self, shape: Any, device: Any = None, dtype: Any = None) -> None:
        """Become an ordinary parameter or buffer of this shape, with any numbers in it."""
        like: Any = self.data
        made = empty(
            shape if isinstance(shape, int) else tuple(shape),
            device=like.device if device is None else device,
            dtype=like.dtype if dtype is None else dtype,
        )
        self.__class__ = self.cls_to_become
        self.data = made

    @property
    def _array(self) -> NoReturn:
        raise ValueError(
            "Attempted to use an uninitialized parameter: its shape is not known before the module "
            f"has seen an input. Call the module once, or `materialize` this {type(self).__name__}."
        )

    @_array.setter
    def _array(self, value: Any) -> None:
        _stored.__set__(self, value)

    @property
    def data(self) -> Any:
        """An empty tensor of the dtype, at the device."""
        return base.tensor(_stored.__get__(self))

    @data.setter
    def data(self, value: Any) -> None:
        self._array = value.data._array
        leaf = self.__dict__.get("_leaf")
        if leaf is not None:
            leaf.array = _stored.__get__(self)

    @property
    def shape(self) -> NoReturn:
        raise RuntimeError(
            "Can't access the shape of an uninitialized parameter or buffer. It often means that "
            "`load_state_dict` was given the state of a module that has not been called. Call that "
            "module once before its state is saved."
        )

    @property
    def dtype(self) -> Any:
        return self.data.dtype

    @property
    def device(self) -> Any:
        return self.data.device

    def size(self, dim: int | None = None) -> Any:
        return self.data.size() if dim is None else self.data.size(dim)

    def is_floating_point(self) -> bool:
        return bool(self.data.is_floating_point())

    def is_complex(self) -> bool:
        return bool(self.data.is_complex())

    def to(self, *args: Any, **kwargs: Any) -> Any:
        """Another one without a shape, of this dtype or at this device."""
        like = self.data.to(*args, **kwargs)
        return type(self)(self.requires_grad, like.device, like.dtype)  # type: ignore[call-arg]

    def detach(self) -> Any:
        """Itself: there is nothing to share."""
        return self

    def share_memory_(self) -> NoReturn:
        raise RuntimeError(
            "Can't share memory on an uninitialized parameter or buffer. Call the module once first."
        )

    def __repr__(self, *, tensor_contents: Any = None) -> str:
        return f"<{type(self).__name__}>"

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        return self.to(self.dtype)

    def __reduce_ex__(self, protocol: Any) -> Any:
        return type(self), (self.requires_grad, self.device, self.dtype)


def _nothing(device: Any, dtype: Any) -> Any:
    return empty((0,), device=device, dtype=dtype)


def is_lazy(param: Any) -> bool:
    """Whether this is a parameter or buffer without a shape."""
    return isinstance(param, UninitializedTensorMixin)


class UninitializedParameter(UninitializedTensorMixin, Parameter):  # type: ignore[misc]
    """A parameter whose shape is not known yet; `materialize` makes it one.

    It can be moved and change its dtype; everything else raises.

    >>> import compat as torch
    >>> weight = UninitializedParameter(dtype=torch.float64)
    >>> weight
    <UninitializedParameter>
    >>> weight.materialize((2, 3))
    >>> type(weight).__name__, weight.shape, weight.dtype
    ('Parameter', torch.Size([2, 3]), torch.float64)
    """

    __slots__ = ()
    cls_to_become = Parameter

    def __new__(cls, requires_grad: bool = True, device: Any = None, dtype: Any = None) -> Any:
        made = make_subclass(Parameter, _nothing(device, dtype), requires_grad)
        made.__class__ = cls
        return made

    def __init__(self, requires_grad: bool = True, device: Any = None, dtype: Any = None) -> None:
        pass


class UninitializedBuffer(UninitializedTensorMixin, Tensor):  # type: ignore[misc]
    """A buffer whose shape is not known yet, see `UninitializedParameter`."""

    __slots__ = ()
    cls_to_become = Tensor
    persistent: bool
    _is_buffer: bool

    def __new__(
        cls,
        requires_grad: bool = False,
        device: Any = None,
        dtype: Any = None,
        persistent: bool = True,
    ) -> Any:
        made = make_subclass(Tensor, _nothing(device, dtype), requires_grad)
        made.persistent = persistent
        made._is_buffer = True
        made.__class__ = cls
        return made

    def __init__(
        self,
        requires_grad: bool = False,
        device: Any = None,
        dtype: Any = None,
        persistent: bool = True,
    ) -> None:
        pass


class _BufferType(type):
    """Counts every tensor that `Buffer` has marked as one."""

    def __instancecheck__(cls, x: Any) -> bool:
        return isinstance(x, TensorBase) and bool(getattr(x, "_is_buffer", False))


class Buffer(Tensor, metaclass=_BufferType):
    """`data`, marked: modules register it as a buffer when it becomes an attribute.

    >>> import compat as torch
    >>> module = torch.nn.Module()
    >>> module.mean = Buffer(torch.zeros(2))
    >>> [name for name, _ in module.named_buffers()]
    ['mean']
    """

    __slots__ = ()

    def __new__(cls, data: Any = None, *, persistent: bool = True) -> Self:
        data = _nothing(None, None) if data is None else data
        made = data.detach().requires_grad_(data.requires_grad)
        made.persistent = persistent
        made._is_buffer = True
        return made


__all__ = [
    "Buffer",
    "UninitializedBuffer",
    "UninitializedParameter",
    "UninitializedTensorMixin",
    "is_lazy",
]
