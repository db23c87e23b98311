"""Making tensors: from data, from memory, filled, like another."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from funcgrad.core import Tracer
from funcgrad.views import snapshot

from .. import dtypes
from ..autograd import sites, views
from ..autograd.base import TensorBase
from ..size import device_of
from ..storage import UntypedStorage, elements_of
from . import legacy
from ._apply import _type_word
from ._data import array_of
from ._fresh import dtype_for, finished, made, only_strided, shape_in, shape_of, there
from ._layout import laid_out, memory_axes
from ._operands import convert, dtype_of, is_number, number_for

if TYPE_CHECKING:
    from .._tensor import Tensor

# ---------------------------------------------------------------- from data


def tensor(
    data: Any,
    *,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """A new tensor with a copy of `data`: numbers, nested sequences of them, an array or a tensor.

    Python's floats get the default dtype, other data its own. A traced array keeps its derivative.

    Raises: ValueError: rows of different lengths. RuntimeError: something is no number, or too large
    for `dtype`. TypeError: strings.

    >>> import compat as torch
    >>> torch.tensor([1.0, 2.0], requires_grad=True)
    tensor([1., 2.], requires_grad=True)
    """
    if isinstance(data, TensorBase):
        sites.warn(
            "To copy construct from a tensor, it is recommended to use "
            "sourceTensor.detach().clone() or "
            "sourceTensor.detach().clone().requires_grad_(True), rather than "
            "torch.tensor(sourceTensor)."
        )
    return _copied(data, dtype, device, requires_grad)


def _copied(data: Any, dtype: Any, device: Any, requires_grad: bool) -> Any:
    chosen = None if dtype is None else dtypes.as_dtype(dtype, "tensor")
    if isinstance(data, TensorBase):
        x: Any = data.detach()  # type: ignore[attr-defined]
        array = snapshot((x if chosen is None else convert(x, chosen))._array, copy=True)
        if device is None:
            return made(array, requires_grad)
    elif isinstance(data, Tracer):
        return made(data if chosen is None else data.astype(chosen.numpy), requires_grad)  # type: ignore[attr-defined]
    elif isinstance(data, np.ndarray | np.generic):
        array = np.array(data, (chosen or _own_dtype(data)).numpy)
    elif type(data).__module__.startswith("cupy"):
        array = data.copy() if chosen is None else data.astype(chosen.numpy)
        device = device_of(array) if device is None else device
    elif isinstance(data, UntypedStorage):
        array = elements_of(data, chosen)
    elif hasattr(data, "__array__"):  # an array of another library
        return _copied(np.asarray(data), chosen, device, requires_grad)
    else:
        array = array_of(data, chosen)
    return made(moved(array, device), requires_grad)


def _own_dtype(array: Any) -> dtypes.dtype:
    """The dtype of an array of NumPy's.

    Raises: ValueError: its bytes are in the other order, or elements lie across one another. TypeError:
    there is none.
    """
    if any(s % array.itemsize for s in array.strides):
        raise ValueError(
            "given numpy array strides not a multiple of the element byte size. Copy the numpy array "
            "to reallocate the memory."
        )
    if not array.dtype.isnative:
        raise ValueError(
            "given numpy array has byte order different from the native byte order. Conversion "
            "between byte orders is currently not supported. Convert it with "
            "array.astype(array.dtype.newbyteorder('='))."
        )
    return dtypes.of(array.dtype)


def moved(array: Any, device: Any) -> Any:
    """An array on the device; itself if it is there.

    Raises: AssertionError, RuntimeError: there is no such device.
    """
    with there(device) as xp:
        if isinstance(array, Tracer) or belongs(array, xp):
            return array
        return array.get() if xp is np else xp.asarray(array)


def belongs(array: Any, xp: Any) -> bool:
    """Whether an array is of an array module."""
    return bool(type(array).__module__.partition(".")[0] == xp.__name__)


def as_tensor(data: Any, dtype: Any = None, device: Any = None) -> Tensor:
    """`data` as a tensor: itself, or of the same memory if it is an array that fits, else a copy.

    >>> import compat as torch
    >>> a = np.zeros(2)
    >>> torch.as_tensor(a)[0] = 1
    >>> a.tolist()
    [1.0, 0.0]
    """
    if isinstance(data, TensorBase):
        return data.to(dtype=dtype, device=device)  # type: ignore[attr-defined]
    if isinstance(data, np.ndarray):
        x = from_numpy(data)
        return x if dtype is None and device is None else x.to(dtype=dtype, device=device)
    return _copied(data, dtype, device, False)


def asarray(
    obj: Any,
    *,
    dtype: Any = None,
    device: Any = None,
    copy: bool | None = None,
    requires_grad: bool | None = None,
) -> Tensor:
    """`obj` as a tensor: of the same memory if it can be and `copy` is not True.

    Objects with the buffer protocol are read as elements of `dtype`.

    Raises: ValueError: `copy` is False, and the memory cannot be the same.

    >>> import compat as torch
    >>> torch.asarray(bytearray(b"ab"), dtype=torch.uint8)
    tensor([97, 98], dtype=torch.uint8)
    """
    chosen = None if dtype is None else dtypes.as_dtype(dtype, "asarray")
    if isinstance(obj, TensorBase):
        x: Any = obj
    elif isinstance(obj, np.ndarray):
        x = from_numpy(obj)
    elif isinstance(obj, bytes | bytearray | memoryview) or hasattr(obj, "typecode"):
        x = frombuffer(obj, dtype=chosen or dtypes.get_default_dtype())
    else:
        if copy is False and isinstance(obj, np.generic):
            raise RuntimeError(
                "can't alias NumPy scalars. Either remove copy=False or transform it in a ndarray."
            )
        if copy is False:
            raise ValueError("can't alias arbitrary sequence into a tensor.")
        return _copied(obj, chosen, device, bool(requires_grad))
    if copy is False and chosen is not None and chosen is not dtype_of(x):
        raise ValueError(
            f"can't alias tensor with dtype '{_type_word(dtype_of(x))}' into dtype "
            f"'{_type_word(chosen)}'."
        )
    found = x.to(dtype=chosen, device=device)
    if copy and found is x:
        found = x.clone()
    if requires_grad is None or requires_grad == found.requires_grad:
        return found
    return found.requires_grad_() if requires_grad else found.detach()


# ---------------------------------------------------------------- from memory

_READ_ONLY = (
    "is not writable, and PyTorch does not support non-writable tensors. Writing to the tensor "
    "raises here. You may want to copy the array before converting it to a tensor."
)


def from_numpy(ndarray: Any) -> Tensor:
    """A tensor that shares the memory of a NumPy array; it warns if that cannot be written.

    Raises: TypeError: it is no array, or there is no such dtype. ValueError: foreign byte order.

    >>> import compat as torch
    >>> torch.from_numpy(np.array([1.0, 2.0]))
    tensor([1., 2.], dtype=torch.float64)
    """
    if not isinstance(ndarray, np.ndarray):
        raise TypeError(f"expected np.ndarray (got {type(ndarray).__name__})")
    _own_dtype(ndarray)
    if not ndarray.flags.writeable:
        sites.warn(f"The given NumPy array {_READ_ONLY}")
    return made(ndarray.view(np.ndarray) if type(ndarray) is not np.ndarray else ndarray)


def frombuffer(
    buffer: Any, *, dtype: Any, count: int = -1, offset: int = 0, requires_grad: bool = False
) -> Tensor:
    """A vector that shares the memory of an object with the buffer protocol.

    `count` elements from the byte `offset` on; -1: all there are.

    Raises: ValueError: the buffer does not have them.

    >>> import compat as torch
    >>> torch.frombuffer(bytearray(b"abcd"), dtype=torch.uint8, offset=2)
    tensor([ 99, 100], dtype=torch.uint8)
    """
    chosen = dtypes.as_dtype(dtype, "frombuffer")
    try:
        view = memoryview(buffer)
    except TypeError:
        raise ValueError("object does not implement Python buffer protocol.") from None
    length, width = view.nbytes, chosen.itemsize
    if not length or not count:
        raise ValueError(f"both buffer length ({length}) and count ({count}) must not be 0")
    if not 0 <= offset < length:
        raise ValueError(
            f"offset ({offset} bytes) must be non-negative and no greater than buffer length "
            f"({length} bytes) minus 1"
        )
    if count < 0 and (length - offset) % width:
        raise ValueError(
            f"buffer length ({length - offset} bytes) after offset ({offset} bytes) must be a "
            f"multiple of element size ({width})"
        )
    if count > 0 and offset + count * width > length:
        raise ValueError(
            f"requested buffer length ({count} * {width} bytes) after offset ({offset} bytes) must "
            f"not be greater than actual buffer length ({length} bytes)"
        )
    if view.readonly:
        sites.warn(f"The given buffer {_READ_ONLY}")
    return made(np.frombuffer(buffer, chosen.numpy, count, offset), requires_grad)


def scalar_tensor(
    s: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool = False
) -> Tensor:
    """A number as a tensor without axes, of the default dtype.

    Raises: TypeError: it is no number.

    >>> import compat as torch
    >>> torch.scalar_tensor(2)
    tensor(2.)
    """
    chosen = dtype_for("scalar_tensor", dtype, None)
    value = number_for(chosen, number("scalar_tensor", 1, "s", s))
    with there(device) as xp:
        return made(xp.full((), value, chosen.numpy), requires_grad)


# ---------------------------------------------------------------- filled


def number(name: str, position: int, argument: str, x: Any) -> Any:
    """A number, which may be a tensor without axes that requires no grad."""
    if isinstance(x, TensorBase) and not x._array.shape and views.edge(x) is None:
        return x.item()  # type: ignore[attr-defined]
    if not is_number(x):
        raise TypeError(
            f"{name}(): argument '{argument}' (position {position}) must be Number, not "
            f"{type(x).__name__}"
        )
    return x


def _filled(
    name: str,
    shape: tuple[int, ...],
    value: Any,
    out: Any,
    dtype: Any,
    device: Any,
    requires_grad: bool,
    default: dtypes.dtype | None = None,
) -> Any:
    chosen = dtype_for(name, dtype, out, default)
    with there(device) as xp:
        if value.__class__ is int and value == 0:
            array = xp.zeros(shape, chosen.numpy)
        else:
            array = xp.full(shape, number_for(chosen, value), chosen.numpy)
    return finished(name, array, out, requires_grad)


def zeros(
    *sizes: Any,
    size: Any = None,
    out: Any = None,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Tensor:
    """Zeros.

    >>> import compat as torch
    >>> torch.zeros(2, 3)
    tensor([[0., 0., 0.],
            [0., 0., 0.]])
    """
    if layout is not None:
        only_strided("zeros", layout)
    shape = shape_of("zeros", sizes, size)
    return _filled("zeros", shape, 0, out, dtype, device, requires_grad)


def ones(
    *sizes: Any,
    size: Any = None,
    out: Any = None,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Tensor:
    """Ones.

    >>> import compat as torch
    >>> torch.ones(2)
    tensor([1., 1.])
    """
    if layout is not None:
        only_strided("ones", layout)
    return _filled("ones", shape_of("ones", sizes, size), 1, out, dtype, device, requires_grad)


def empty(
    *sizes: Any,
    size: Any = None,
    out: Any = None,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
    memory_format: Any = None,
) -> Tensor:
    """A tensor with any contents: here zeros, so that runs can be repeated.

    >>> import compat as torch
    >>> torch.empty(0, 3)
    tensor([], size=(0, 3))
    """
    if layout is not None:
        only_strided("empty", layout)
    shape = shape_of("empty", sizes, size)
    axes = None if memory_format is None else memory_axes(memory_format, len(shape))
    if axes is None or out is not None:
        return _filled("empty", shape, 0, out, dtype, device, requires_grad)
    found = laid_out(_filled("empty", shape, 0, out, dtype, device, False), axes)
    return found.requires_grad_() if requires_grad else found


def full(
    size: Any,
    fill_value: Any,
    *,
    out: Any = None,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Tensor:
    """A tensor of one value; its dtype is that of Python numbers of the value's kind.

    Raises: TypeError: the value is no number. RuntimeError: it is too large for `dtype`.

    >>> import compat as torch
    >>> torch.full((2,), 7)
    tensor([7, 7])
    """
    if layout is not None:
        only_strided("full", layout)
    shape = shape_in("full", size)
    value = number("full", 2, "fill_value", fill_value)
    own = dtypes.default_of(dtypes.scalar_category(value))
    return _filled("full", shape, value, out, dtype, device, requires_grad, own)


def eye(
    n: Any,
    m: Any = None,
    *,
    out: Any = None,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Tensor:
    """Ones on the diagonal of `n` rows and `m` columns, zeros elsewhere.

    Raises: RuntimeError: a negative number. TypeError: no integer.

    >>> import compat as torch
    >>> torch.eye(2)
    tensor([[1., 0.],
            [0., 1.]])
    """
    if layout is not None:
        only_strided("eye", layout)
    sizes = []
    for i, (argument, k) in enumerate((("n", n), ("m", n if m is None else m))):
        if not hasattr(type(k), "__index__"):
            raise TypeError(
                f"eye(): argument '{argument}' (position {i + 1}) must be int, not "
                f"{type(k).__name__}"
            )
        if operator.index(k) < 0:
            raise RuntimeError(f"{argument} must be greater or equal to 0, got {k}")
        sizes.append(operator.index(k))
    chosen = dtype_for("eye", dtype, out)
    with there(device) as xp:
        array = xp.eye(*sizes, dtype=chosen.numpy)
    return finished("eye", array, out, requires_grad)


def empty_strided(
    size: Any,
    stride: Any,
    *,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """Zeros whose elements lie in memory as `stride` says, in numbers of elements.

    Raises: RuntimeError: as many strides as axes are needed, and none may be negative.

    >>> import compat as torch
    >>> torch.empty_strided((2, 3), (1, 2)).stride()
    (1, 2)
    """
    if layout is not None:
        only_strided("empty_strided", layout)
    shape = shape_in("empty_strided", size)
    strides = tuple(map(operator.index, stride))
    if len(shape) != len(strides):
        raise RuntimeError(
            f"dimensionality of sizes ({len(shape)}) must match dimensionality of strides "
            f"({len(strides)})"
        )
    if min(strides, default=0) < 0:
        raise RuntimeError(
            f"Storage size calculation overflowed with sizes={list(shape)} and "
            f"strides={list(strides)}"
        )
    chosen = dtype_for("empty_strided", dtype, None)
    count = 1 + sum((n - 1) * s for n, s in zip(shape, strides, strict=True))
    with there(device) as xp:
        memory = xp.zeros(0 if 0 in shape else count, chosen.numpy)
        steps = tuple(s * chosen.itemsize for s in strides)
        array = xp.lib.stride_tricks.as_strided(memory, shape, steps)
    return made(array, requires_grad)


def empty_permuted(size: Any, physical_layout: Any, **options: Any) -> Tensor:
    """Zeros without gaps whose axes lie in memory in the order `physical_layout`, the outermost first.

    Options: those of `empty_strided`.
    Raises: RuntimeError: `physical_layout` is no order of the axes.

    >>> import compat as torch
    >>> torch.empty_permuted((2, 3, 5), (1, 2, 0)).stride()
    (1, 10, 2)
    """
    shape, order = shape_in("empty_permuted", size), tuple(map(operator.index, physical_layout))
    if sorted(order) != list(range(len(shape))):
        raise RuntimeError(
            f"empty_permuted(): physical_layout must name each of the {len(shape)} axes of size once, "
            f"as a number from 0 on, but got {list(order)}"
        )
    steps = [1] * len(shape)
    for inner, outer in zip(order[:0:-1], order[-2::-1], strict=True):
        steps[outer] = steps[inner] * max(shape[inner], 1)
    return empty_strided(shape, steps, **options)


class CreateMethods:
    """Making tensors of a class."""

    __slots__ = ()

    if TYPE_CHECKING:

        def __new__(
            cls, *args: Any, device: Any = ..., data: Any = ..., other: Any = ..., size: Any = ...
        ) -> Self: ...

    else:
        __new__ = legacy.new
    _make_subclass: Any = staticmethod(legacy.make_subclass)
    as_subclass = legacy.as_subclass
    new = legacy.new_like


__all__ = [
    "as_tensor",
    "asarray",
    "empty",
    "empty_permuted",
    "empty_strided",
    "eye",
    "from_numpy",
    "frombuffer",
    "full",
    "ones",
    "scalar_tensor",
    "tensor",
    "zeros",
]
