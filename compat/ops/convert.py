"""Changing dtype and device: `to` and its short forms; what dtype an operation would have."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import dtypes
from ..autograd import views
from ..autograd.base import TensorBase, tensor
from ..autograd.node import AccumulateGrad
from ..size import device as Device
from . import _operands
from ._operands import convert, dtype_of
from .create import require_cpu


def result_type(tensor1: Any, tensor2: Any) -> dtypes.dtype:
    """The dtype of an operation on two tensors or numbers.

    >>> import compat as torch
    >>> torch.result_type(torch.tensor([1, 2]), 1.0)
    torch.float32
    """
    return _operands.result_type(tensor1, tensor2)


def can_cast(from_: dtypes.dtype, to: dtypes.dtype) -> bool:
    """Whether a dtype converts to another without leaving its category.

    >>> import compat as torch
    >>> torch.can_cast(torch.double, torch.float), torch.can_cast(torch.float, torch.int)
    (True, False)
    """
    signed = to.is_signed or not from_.is_signed or to.category > 1
    return from_.category <= to.category and signed


def to(input: Any, *args: Any, **kwargs: Any) -> Any:
    """`input` in a dtype, on a device, or as another tensor is; itself if nothing changes.

    >>> import compat as torch
    >>> torch.tensor([1.5]).to(torch.int64)
    tensor([1])
    """
    dtype, device = kwargs.get("dtype"), kwargs.get("device")
    for a in args:
        if isinstance(a, TensorBase):
            dtype = dtype_of(a)
        elif a.__class__ is dtypes.dtype:
            dtype = a
        elif isinstance(a, str | Device):
            device = a
    require_cpu(device)
    out = input if dtype is None else convert(input, dtypes.as_dtype(dtype))
    return input.clone() if kwargs.get("copy") and out is input else out


def _short(name: str) -> Callable[[Any], Any]:
    dtype = getattr(dtypes, name)

    def method(self: Any, memory_format: Any = None) -> Any:
        return convert(self, dtype)

    method.__name__ = name
    method.__doc__ = f"The tensor in the dtype `{dtype!r}`."
    return method


_TYPES = {
    "torch.FloatTensor": dtypes.float32,
    "torch.DoubleTensor": dtypes.float64,
    "torch.HalfTensor": dtypes.float16,
    "torch.LongTensor": dtypes.int64,
    "torch.IntTensor": dtypes.int32,
    "torch.ShortTensor": dtypes.int16,
    "torch.CharTensor": dtypes.int8,
    "torch.ByteTensor": dtypes.uint8,
    "torch.BoolTensor": dtypes.bool,
}


def _leaf_copy(x: Any, memo: dict[int, Any]) -> Any:
    """A deep copy of a leaf, with its `.grad`.

    Raises: RuntimeError: it is no leaf.
    """
    node = views.edge(x)
    if node is not None and node.__class__ is not AccumulateGrad:
        raise RuntimeError(
            "Only Tensors created explicitly by the user (graph leaves) support the deepcopy "
            "protocol at the moment. If you were attempting to deepcopy a module, this may be "
            "because of a torch.nn.utils.weight_norm usage, see "
            "https://github.com/pytorch/pytorch/pull/103001"
        )
    found = memo.get(id(x))
    if found is None:
        found = memo[id(x)] = tensor(np.array(x._array))
        if node is not None:
            found.requires_grad_()
        if x._grad is not None:
            found._grad = copy.deepcopy(x._grad, memo)
    return found


def _rebuilt(array: Any, requires_grad: bool) -> Any:
    out: Any = tensor(array)
    return out.requires_grad_() if requires_grad else out


class ConvertMethods:
    """The methods of `Tensor` in this family."""

    __slots__ = ()

    to = to
    float = _short("float32")
    double = _short("float64")
    half = _short("float16")
    long = _short("int64")
    int = _short("int32")
    short = _short("int16")
    char = _short("int8")
    byte = _short("uint8")
    bool = _short("bool")
    cfloat = _short("complex64")
    cdouble = _short("complex128")

    def type(self, dtype: Any = None, non_blocking: Any = False) -> Any:
        """The name of the tensor's type, or the tensor in another."""
        if dtype is None:
            found: Any = dtype_of(self)  # type: ignore[arg-type]
            return next((k for k, v in _TYPES.items() if v is found), f"torch.{found.name}")
        return convert(self, _TYPES[dtype] if isinstance(dtype, str) else dtypes.as_dtype(dtype))

    def type_as(self, other: Any) -> Any:
        """The tensor in the dtype of another."""
        return convert(self, dtype_of(other))

    def cpu(self, memory_format: Any = None) -> Any:
        """The tensor itself: it is on the CPU."""
        return self

    def cuda(self, device: Any = None, non_blocking: Any = False) -> Any:
        """Raises: RuntimeError: there is no GPU here."""
        require_cpu(device or "cuda")

    def __deepcopy__(self, memo: Any) -> Any:
        return _leaf_copy(self, memo)

    def __reduce_ex__(self, protocol: Any) -> Any:
        node = views.edge(self)  # type: ignore[arg-type]
        if node is not None and node.__class__ is not AccumulateGrad:
            raise RuntimeError(
                "only leaves can be pickled: pickle x.detach(), or the leaves it is computed from"
            )
        return _rebuilt, (self._array, node is not None)  # type: ignore[attr-defined]


__all__ = ["can_cast", "result_type"]
