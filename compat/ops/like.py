"""Tensors with the shape, the dtype or the device of another; questions about a tensor."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from funcgrad.core import Tracer

from .. import dtypes
from ..autograd.base import TensorBase
from ..size import contiguous_format, device_of
from . import create
from ._fresh import made, only_strided, there
from ._layout import laid_out, memory_axes
from ._operands import dtype_of, number_for, operand

if TYPE_CHECKING:
    from .._tensor import Tensor

# ---------------------------------------------------------------- like another


def _like(
    name: str,
    input: Any,
    value: Any,
    dtype: Any,
    device: Any,
    requires_grad: bool,
    memory_format: Any,
) -> Any:
    """A tensor of one value, laid out in memory as `input` is."""
    x = operand(name, 1, "input", input)._array
    chosen = dtypes.of(x.dtype) if dtype is None else dtypes.as_dtype(dtype, name)
    number = number_for(chosen, value)
    axes = None if memory_format is None else memory_axes(memory_format, len(x.shape))
    plain = isinstance(x, Tracer) or memory_format is contiguous_format
    with there(device_of(x) if device is None else device) as xp:
        if plain or not create.belongs(x, xp):
            array = xp.full(x.shape, number, chosen.numpy)
        else:
            array = xp.full_like(x, number, chosen.numpy, "C" if 0 in x.strides else "K")
    if axes is None:
        return made(array, requires_grad)
    out = laid_out(made(array, False), axes)
    return out.requires_grad_() if requires_grad else out


def zeros_like(
    input: Any,
    *,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
    memory_format: Any = None,
) -> Tensor:
    """Zeros of the shape and dtype of `input`.

    >>> import compat as torch
    >>> torch.zeros_like(torch.tensor([3, 4]))
    tensor([0, 0])
    """
    if layout is not None:
        only_strided("zeros_like", layout)
    return _like("zeros_like", input, 0, dtype, device, requires_grad, memory_format)


def ones_like(
    input: Any,
    *,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
    memory_format: Any = None,
) -> Tensor:
    """Ones of the shape and dtype of `input`.

    >>> import compat as torch
    >>> torch.ones_like(torch.tensor([3, 4]))
    tensor([1, 1])
    """
    if layout is not None:
        only_strided("ones_like", layout)
    return _like("ones_like", input, 1, dtype, device, requires_grad, memory_format)


def empty_like(
    input: Any,
    *,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
    memory_format: Any = None,
) -> Tensor:
    """A tensor of the shape and dtype of `input` with any contents: here zeros.

    >>> import compat as torch
    >>> torch.empty_like(torch.ones(2, 3)).shape
    torch.Size([2, 3])
    """
    if layout is not None:
        only_strided("empty_like", layout)
    return _like("empty_like", input, 0, dtype, device, requires_grad, memory_format)


def full_like(
    input: Any,
    fill_value: Any,
    *,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
    memory_format: Any = None,
) -> Tensor:
    """One value in the shape and dtype of `input`.

    >>> import compat as torch
    >>> torch.full_like(torch.tensor([3, 4]), 7)
    tensor([7, 7])
    """
    if layout is not None:
        only_strided("full_like", layout)
    value = create.number("full_like", 2, "fill_value", fill_value)
    return _like("full_like", input, value, dtype, device, requires_grad, memory_format)


# ---------------------------------------------------------------- questions


def is_tensor(obj: Any) -> bool:
    """Whether `obj` is a tensor.

    >>> import compat as torch
    >>> torch.is_tensor(torch.ones(2)), torch.is_tensor([1.0])
    (True, False)
    """
    return isinstance(obj, TensorBase)


def is_nonzero(input: Any) -> bool:
    """Whether the one number in `input` is not 0.

    Raises: RuntimeError: there are several, or none.
    """
    return bool(operand("is_nonzero", 1, "input", input))


def is_inference(input: Any) -> bool:
    """Whether the tensor was made in inference mode."""
    return bool(operand("is_inference", 1, "input", input).is_inference())


def is_same_size(input: Any, other: Any) -> bool:
    """Whether two tensors have the same shape."""
    x, y = operand("is_same_size", 1, "input", input), operand("is_same_size", 2, "other", other)
    return tuple(x._array.shape) == tuple(y._array.shape)


def is_signed(input: Any) -> bool:
    """Whether numbers of the dtype have a sign."""
    return dtype_of(operand("is_signed", 1, "input", input)).is_signed


def numel(input: Any) -> int:
    """The number of elements.

    >>> import compat as torch
    >>> torch.numel(torch.ones(2, 3))
    6
    """
    return int(operand("numel", 1, "input", input).numel())


class LikeMethods:
    """``new_...``: tensors with the dtype and on the device of another."""

    __slots__ = ()

    is_nonzero = is_nonzero
    is_same_size = is_same_size

    def _own(self, dtype: Any, device: Any) -> dict[str, Any]:
        x: Any = self
        return {
            "dtype": dtype_of(x) if dtype is None else dtype,
            "device": device_of(x._array) if device is None else device,
        }

    def new_tensor(
        self, data: Any, *, dtype: Any = None, device: Any = None, **options: Any
    ) -> Tensor:
        """See `compat.tensor`."""
        return create.tensor(data, **self._own(dtype, device), **options)

    def new_zeros(
        self, *size: Any, dtype: Any = None, device: Any = None, **options: Any
    ) -> Tensor:
        """See `compat.zeros`."""
        return create.zeros(*size, **self._own(dtype, device), **options)

    def new_ones(self, *size: Any, dtype: Any = None, device: Any = None, **options: Any) -> Tensor:
        """See `compat.ones`."""
        return create.ones(*size, **self._own(dtype, device), **options)

    def new_empty(
        self, *size: Any, dtype: Any = None, device: Any = None, **options: Any
    ) -> Tensor:
        """See `compat.empty`."""
        return create.empty(*size, **self._own(dtype, device), **options)

    def new_full(
        self, size: Any, fill_value: Any, *, dtype: Any = None, device: Any = None, **options: Any
    ) -> Tensor:
        """See `compat.full`."""
        return create.full(size, fill_value, **self._own(dtype, device), **options)

    def new_empty_strided(
        self, size: Any, stride: Any, dtype: Any = None, device: Any = None, **options: Any
    ) -> Tensor:
        """See `compat.empty_strided`."""
        return create.empty_strided(size, stride, **self._own(dtype, device), **options)


__all__ = [
    "empty_like",
    "full_like",
    "is_inference",
    "is_nonzero",
    "is_same_size",
    "is_signed",
    "is_tensor",
    "numel",
    "ones_like",
    "zeros_like",
]
