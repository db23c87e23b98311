"""Changing dtype and device: `to` and its short forms; what dtype an operation would have."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from funcgrad.core import Tracer
from funcgrad.ops.cast import cast, cast_constant

from .. import dtypes, size
from ..autograd import sites
from ..autograd.base import TensorBase, made
from ..autograd.tape import record
from . import _operands, legacy
from ._apply import _TYPE_WORDS, requires_grad
from ._layout import laid_out, lies_in, memory_axes
from ._operands import convert, dtype_of, is_number, operand
from .create import moved
from .legacy import TensorType

if TYPE_CHECKING:
    import builtins

    from .._tensor import Tensor

# ---------------------------------------------------------------- questions


def result_type(tensor: Any, other: Any) -> dtypes.dtype:
    """The dtype of an operation on two tensors or numbers.

    >>> import compat as torch
    >>> torch.result_type(torch.tensor([1, 2]), 1.0)
    torch.float32
    """
    return _operands.result_type(tensor, other)


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
) -> Tensor:
    """The tensor in a dtype, on a device, or both as another tensor is; itself if that is so.

    ``to(dtype)``, ``to(device)``, ``to(device, dtype)``, ``to(other)``; with `copy` never itself.
    `memory_format` is the order of the elements in memory, by default that which they have.
    Derivative: the identity; the cotangent is converted back.

    Raises: TypeError: none of these is given. AssertionError, RuntimeError: there is no such device.
    RuntimeError: the tensor has not the number of axes of its memory format.

    >>> import compat as torch
    >>> torch.tensor([1.5]).to(torch.int64)
    tensor([1])
    """
    if args:
        dtype, device, flags = target(args, dtype, device)
        copy = flags[1] if len(flags) > 1 else copy
    chosen = dtype_of(self) if dtype is None else dtypes.as_dtype(dtype, "to")
    out = self if device is None else _on(self, device)
    out = _cast(out, chosen)
    if copy and out is self:
        out = _cast(out, chosen, always=True)
    return out if memory_format is None else _in_order(out, memory_format, self)


def target(args: Sequence[Any], dtype: Any, device: Any) -> tuple[Any, Any, Sequence[bool]]:
    """The dtype, the device and the flags that the positional arguments of `to` stand for.

    Raises: TypeError: they are none of its forms.
    """
    first, *rest = args
    by_keyword = dtype is not None or device is not None
    if isinstance(first, TensorBase):
        dtype, device = dtype_of(first), size.device_of(first._array)
    elif isinstance(first, type | dtypes.dtype):
        by_keyword, dtype = dtype is not None, first
    elif first is None or isinstance(first, str | int | size.device):
        by_keyword, device = device is not None or (bool(rest) and dtype is not None), first
        if rest:
            dtype, *rest = rest
    else:
        by_keyword = True
    if by_keyword or len(rest) > 2 or any(flag.__class__ is not bool for flag in rest):
        found = ", ".join(type(x).__name__ for x in args)
        raise TypeError(
            f"to() received an invalid combination of arguments - got ({found}): it takes a dtype, "
            f"a device, both, or a tensor, and then two booleans, non_blocking and copy"
        )
    return dtype, device, rest


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
        sites.warn(
            "Casting complex values to real discards the imaginary part. Take x.real instead."
        )
    return convert(x, dtype)


def _in_order(x: Any, order: Any, given: Any) -> Any:
    """`x` with its elements in an order of memory; `given` is the tensor that it was made of.

    Raises: TypeError: it is no order. RuntimeError: it is one for another number of axes.
    """
    axes = memory_axes(order, len(x._array.shape))
    if axes is None or isinstance(x._array, Tracer) or lies_in(x._array, axes):
        return x
    return laid_out(_cast(x, dtype_of(x), always=True) if x is given else x, axes)


def _short(name: str) -> Callable[..., Tensor]:
    """The method that converts to the dtype that is called so."""
    dtype = getattr(dtypes, name, None)

    def method(self: Any, *, memory_format: Any = None) -> Any:
        if dtype is None:
            raise NotImplementedError(f"{name}: install the package ml_dtypes for this dtype")
        out = _cast(self, dtype)
        return out if memory_format is None else _in_order(out, memory_format, self)

    method.__name__ = method.__qualname__ = name
    method.__doc__ = f"The tensor in the dtype `compat.{name}`; see `to`."
    return method


def type_(self: Any, dtype: Any = None, non_blocking: bool = False) -> Any:
    """The tensor in another dtype, given as such or by the name of a class; or what it is now.

    A class of `compat.cuda` moves the tensor to the GPU, one of `compat` to the CPU.

    Raises: ValueError: there is no such class. TypeError: it is no class and no name.
        AssertionError, RuntimeError: there is no GPU.

    >>> import compat as torch
    >>> torch.ones(2).type(), torch.ones(2).type("torch.LongTensor")
    ('torch.FloatTensor', tensor([1, 1]))
    """
    if dtype is None:
        place = "cuda." if size.device_of(self._array).type == "cuda" else ""
        return f"torch.{place}{_TYPE_WORDS[dtype_of(self).name]}Tensor"
    if not isinstance(dtype, str | type | dtypes.dtype):
        raise TypeError(f"dtype must be a type, str, or dtype object, not {type(dtype).__name__}")
    found = legacy.TYPES.get(dtype) if isinstance(dtype, str) else dtype
    if isinstance(found, TensorType):
        return to(self, device=found.place, dtype=found.dtype)
    if found is made.cls:
        found = dtypes.get_default_dtype()
    if found.__class__ is not dtypes.dtype:
        raise ValueError(f"invalid type: '{getattr(dtype, '__name__', dtype)}'")
    return _cast(self, found)


def type_as(self: Any, other: Any) -> Tensor:
    """The tensor in the dtype and on the device of another."""
    return to(self, operand("type_as", 1, "other", other))


def cpu(self: Any, *, memory_format: Any = None) -> Tensor:
    """The tensor in the memory of the CPU; itself if it is there."""
    return to(self, device=size.cpu, memory_format=memory_format)


def cuda(
    self: Any, device: Any = None, non_blocking: bool = False, memory_format: Any = None
) -> Tensor:
    """The tensor in the memory of a GPU.

    Raises: AssertionError, RuntimeError: there is none.
    """
    return to(self, device="cuda" if device is None else device, memory_format=memory_format)


# ---------------------------------------------------------------- as a container


def contains(self: Any, element: Any) -> bool:
    """``element in x``: whether some element equals it.

    Raises: RuntimeError: it is no tensor and no number.

    >>> import compat as torch
    >>> 2 in torch.tensor([1, 2]), 3 in torch.tensor([1, 2])
    (True, False)
    """
    if not isinstance(element, TensorBase) and not is_number(element):
        raise RuntimeError(
            f"Tensor.__contains__ only supports Tensor or scalar, but you passed in a "
            f"{type(element)}."
        )
    return bool((self == element).any())


def backwards(self: Any) -> Any:
    """``reversed(x)``: a tensor, not an iterator."""
    return self.flip(0) if self.ndim else self


_never: bool = property(lambda self: False)  # type: ignore[assignment]


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

    __contains__ = contains
    __reversed__ = backwards
    apply_ = legacy.apply_
    map2_ = legacy.map2_
    set_ = legacy.set_
    map_ = legacy.map_

    layout: size.layout = property(lambda self: size.strided)  # type: ignore[assignment]
    is_ipu = is_maia = is_meta = is_mkldnn = is_mps = is_mtia = is_nested = is_quantized = _never
    is_sparse = is_sparse_csr = is_vulkan = is_xla = is_xpu = _never

    @property
    def device(self) -> size.device:
        return size.device_of(self._array)

    @property
    def is_cuda(self) -> builtins.bool:
        return size.device_of(self._array).type == "cuda"

    @property
    def is_cpu(self) -> builtins.bool:
        return size.device_of(self._array).type == "cpu"

    def is_pinned(self, device: Any = None) -> builtins.bool:
        """Whether the memory is locked for copies to a GPU: never."""
        return False

    def pin_memory(self, device: Any = None) -> Tensor:
        """A copy: what would be locked is fast to copy to a GPU, and else the same."""
        return self.clone()  # type: ignore[attr-defined]

    def is_shared(self) -> builtins.bool:
        """Whether other processes see what is written: never."""
        return False

    def get_device(self) -> builtins.int:
        """The number of the GPU; -1 on the CPU."""
        found = size.device_of(self._array).index
        return -1 if found is None else found

    def data_ptr(self) -> builtins.int:
        """The address of the first element in memory; 0 if there is none.

        Raises: RuntimeError: the numbers are those of a transform.
        """
        array = self._array
        if isinstance(array, Tracer):
            raise RuntimeError(
                "Cannot access data pointer of Tensor that doesn't have storage: it is inside a "
                "transform"
            )
        if not array.size:
            return 0
        return array.ctypes.data if hasattr(array, "ctypes") else array.data.ptr

    @property
    def _cdata(self) -> builtins.int:
        """A number that only this tensor has; Pyro asks whether two are one."""
        return id(self)


def typename(obj: Any, /) -> str:
    """The name of the type of `obj`, or of `obj` itself if it has one, with its module.

    >>> import compat as torch
    >>> torch.typename(torch.tensor([1, 2])), torch.typename(3)
    ('torch.LongTensor', 'int')
    """
    if isinstance(obj, TensorBase):
        return f"torch.{_TYPE_WORDS[dtype_of(obj).name]}Tensor"
    named = obj if hasattr(obj, "__qualname__") else type(obj)
    module = getattr(named, "__module__", None) or ""
    return named.__qualname__ if module in ("", "builtins") else f"{module}.{named.__qualname__}"


__all__ = ["can_cast", "result_type", "typename"]
