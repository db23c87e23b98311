"""Changing dtype and device: `to` and its short forms; what dtype an operation would have."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from funcgrad.ops.cast import cast, cast_constant

from .. import dtypes, size
from ..autograd.base import TensorBase
from ..autograd.tape import record
from . import _operands, legacy
from ._apply import _TYPE_WORDS, requires_grad
from ._operands import convert, dtype_of, operand
from .create import moved
from .legacy import TensorType

# ---------------------------------------------------------------- questions


def result_type(tensor1: Any, tensor2: Any) -> dtypes.dtype:
    """The dtype of an operation on two tensors or numbers.

    >>> import compat as torch
    >>> torch.result_type(torch.tensor([1, 2]), 1.0)
    torch.float32
    """
    return _operands.result_type(tensor1, tensor2)


def can_cast(from_: dtypes.dtype, to: dtypes.dtype) -> bool:
    """Whether a result of one dtype may be stored in another: if it is of no lower kind.

    The kinds are booleans, integers, floats, complex numbers.

    >>> import compat as torch
    >>> torch.can_cast(torch.double, torch.float), torch.can_cast(torch.float, torch.int)
    (True, False)
    """
    low, high = dtypes.as_dtype(from_, "can_cast"), dtypes.as_dtype(to, "can_cast")
    return low.category <= high.category


# ---------------------------------------------------------------- conversions


def to(
    self: Any,
    *args: Any,
    dtype: Any = None,
    device: Any = None,
    non_blocking: bool = False,
    copy: bool = False,
    memory_format: Any = None,
) -> Any:
    """The tensor in a dtype, on a device, or both as another tensor is; itself if that is so.

    ``to(dtype)``, ``to(device)``, ``to(device, dtype)``, ``to(other)``; with `copy` never itself.
    Derivative: the identity; the cotangent is converted back.

    Raises: TypeError: none of these is given. AssertionError, RuntimeError: there is no such device.

    >>> import compat as torch
    >>> torch.tensor([1.5]).to(torch.int64)
    tensor([1])
    """
    if args:
        first, *rest = args
        if isinstance(first, TensorBase):
            dtype, device = dtype_of(first), size.device_of(first._array)
        elif isinstance(first, type | dtypes.dtype):
            dtype = first
        elif first is None or isinstance(first, str | int | size.device):
            device = first
            if rest and not isinstance(rest[0], bool):
                dtype, *rest = rest
        else:
            raise TypeError(
                f"to() received an invalid combination of arguments - got "
                f"({type(first).__name__}): it takes a dtype, a device, both, or a tensor"
            )
        copy = bool(rest[1]) if len(rest) > 1 else copy
    chosen = dtype_of(self) if dtype is None else dtypes.as_dtype(dtype, "to")
    out = self if device is None else _on(self, device)
    out = _cast(out, chosen)
    return _cast(out, chosen, always=True) if copy and out is self else out


def _on(x: Any, device: Any) -> Any:
    """The tensor on a device; itself if it is there.

    Raises: RuntimeError: it requires grad, and the step would have to be recorded.
    """
    array = moved(x._array, device)
    if array is x._array:
        return x
    if requires_grad(x):
        raise RuntimeError(
            "moving a tensor that requires grad to another device is not recorded: move the data "
            "first, and then call requires_grad_(), as in x.detach().to(device).requires_grad_()"
        )
    return record(cast_constant, (array,), {"dtype": array.dtype})


def _cast(x: Any, dtype: dtypes.dtype, *, always: bool = False) -> Any:
    """`convert`, which warns if it drops imaginary parts; `always`: a copy, if nothing else."""
    found = dtype_of(x)
    if found is dtype:
        if not always:
            return x
        prim = cast if dtype.category > 1 else cast_constant
        return record(prim, (x,), {"dtype": dtype.numpy}, "ToCopyBackward0")
    if found.category == 3 and 0 < dtype.category < 3:
        warnings.warn(
            "Casting complex values to real discards the imaginary part. Take x.real instead.",
            UserWarning,
            stacklevel=4,
        )
    return convert(x, dtype)


def _short(name: str) -> Callable[..., Any]:
    """The method that converts to the dtype that is called so."""
    dtype = getattr(dtypes, name, None)

    def method(self: Any, memory_format: Any = None) -> Any:
        if dtype is None:
            raise NotImplementedError(f"{name}: install the package ml_dtypes for this dtype")
        return _cast(self, dtype)

    method.__name__ = method.__qualname__ = name
    method.__doc__ = f"The tensor in the dtype `compat.{name}`; see `to`."
    return method


def type_(self: Any, dtype: Any = None, non_blocking: bool = False) -> Any:
    """The tensor in another dtype, given as such or by the name of a class; or what it is now.

    Raises: ValueError: there is no such class.

    >>> import compat as torch
    >>> torch.ones(2).type(), torch.ones(2).type("torch.LongTensor")
    ('torch.FloatTensor', tensor([1, 1]))
    """
    if dtype is None:
        place = "cuda." if size.device_of(self._array).type == "cuda" else ""
        return f"torch.{place}{_TYPE_WORDS[dtype_of(self).name]}Tensor"
    found = legacy.TYPES.get(dtype) if isinstance(dtype, str) else dtype
    if isinstance(found, TensorType):
        found = found.dtype
    if found.__class__ is not dtypes.dtype:
        raise ValueError(f"invalid type: '{getattr(dtype, '__name__', dtype)}'")
    return _cast(self, found)


def type_as(self: Any, other: Any) -> Any:
    """The tensor in the dtype and on the device of another."""
    return to(self, operand("type_as", 1, "other", other))


def cpu(self: Any, memory_format: Any = None) -> Any:
    """The tensor in the memory of the CPU; itself if it is there."""
    return _on(self, size.cpu)


def cuda(
    self: Any, device: Any = None, non_blocking: bool = False, memory_format: Any = None
) -> Any:
    """The tensor in the memory of a GPU.

    Raises: AssertionError, RuntimeError: there is none.
    """
    return _on(self, "cuda" if device is None else device)


class ConvertMethods:
    """The methods of `Tensor` in this family."""

    __slots__ = ()
    _array: Any

    to = to
    type = type_
    type_as = type_as
    cpu = cpu
    cuda = cuda
    bfloat16 = _short("bfloat16")
    bool = _short("bool")
    byte = _short("uint8")
    cdouble = _short("cdouble")
    cfloat = _short("cfloat")
    char = _short("int8")
    double = _short("double")
    float = _short("float")
    half = _short("half")
    int = _short("int")
    long = _short("long")
    short = _short("short")

    layout = property(lambda self: size.strided)
    is_meta = property(lambda self: False)
    is_mps = property(lambda self: False)
    is_quantized = property(lambda self: False)
    is_sparse = property(lambda self: False)

    @property
    def device(self) -> Any:
        return size.device_of(self._array)

    @property
    def is_cuda(self) -> Any:
        return size.device_of(self._array).type == "cuda"

    @property
    def is_cpu(self) -> Any:
        return size.device_of(self._array).type == "cpu"

    def get_device(self) -> Any:
        """The number of the GPU; -1 on the CPU."""
        found = size.device_of(self._array).index
        return -1 if found is None else found

    def data_ptr(self) -> Any:
        """The address of the first element in memory; 0 if there is none."""
        array = self._array
        if not array.size:
            return 0
        return array.data.ptr if hasattr(array.data, "ptr") else array.ctypes.data


__all__ = ["can_cast", "result_type"]
