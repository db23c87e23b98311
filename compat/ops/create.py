"""Making tensors: from data, filled, ranges."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from funcgrad.core import Tracer

from .. import dtypes
from ..autograd import base, sites, views
from ..autograd.base import TensorBase
from ..size import device as Device
from ._operands import dtype_of


def made(array: Any, requires_grad: bool = False) -> Any:
    """A new leaf of an array that is not copied; it remembers where it was made."""
    out = base.tensor(array)
    out._origin = sites.site()
    return out.requires_grad_() if requires_grad else out


def require_cpu(device: Any) -> None:
    """Require that a device is there.

    Raises: RuntimeError: it is not the CPU.
    """
    if device is not None and Device(device).type != "cpu":
        raise RuntimeError(
            f"the device {Device(device)} is not available: tensors are on the CPU here"
        )


# ---------------------------------------------------------------- from data


def _array_of(data: Any) -> Any:
    """An array with a copy of the data: of numbers, nested sequences, arrays or tensors."""
    if isinstance(data, TensorBase):
        return data._array
    if isinstance(data, Tracer):
        return data
    if isinstance(data, list | tuple) and any(isinstance(x, TensorBase) for x in data):
        data = [x.tolist() if isinstance(x, TensorBase) else x for x in data]
    try:
        array = np.array(data)
    except ValueError as error:
        raise ValueError(
            f"expected sequences of equal length in every dimension: {error}"
        ) from None
    if array.dtype.kind not in "biufcV":
        if array.dtype.kind == "O" and isinstance(data, list | tuple):
            return np.array([_array_of(x) for x in data])
        raise TypeError(f"could not infer dtype of {type(data).__name__}: need numbers")
    if not isinstance(data, np.ndarray | np.generic):
        default = dtypes.get_default_dtype()
        if array.dtype.kind == "f" or not array.size:
            array = array.astype(default.numpy)
        elif array.dtype.kind == "c":
            array = array.astype(default.to_complex().numpy)
    return array


def tensor(
    data: Any,
    *,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Any:
    """A new tensor with a copy of `data`: numbers, nested lists, an array or a tensor.

    Floats get the default dtype, other data its own.

    >>> import compat as torch
    >>> torch.tensor([1.0, 2.0], requires_grad=True)
    tensor([1., 2.], requires_grad=True)
    """
    require_cpu(device)
    array = _array_of(data)
    if dtype is not None:
        array = array.astype(dtypes.as_dtype(dtype).numpy)
    elif not isinstance(array, Tracer):
        dtypes.of(array.dtype)
        array = array.copy()
    return made(array, requires_grad)


def as_tensor(data: Any, dtype: Any = None, device: Any = None) -> Any:
    """`data` as a tensor, which shares its memory if that is possible.

    >>> import compat as torch
    >>> a = np.zeros(2)
    >>> torch.as_tensor(a)[0] = 1
    >>> a.tolist()
    [1.0, 0.0]
    """
    if isinstance(data, TensorBase):
        same = dtype is None or dtypes.as_dtype(dtype) is dtype_of(data)
        return data if same else data.to(dtype)  # type: ignore[attr-defined]
    if isinstance(data, np.ndarray) and (
        dtype is None or dtypes.as_dtype(dtype).numpy == data.dtype
    ):
        return from_numpy(data)
    return tensor(data, dtype=dtype, device=device)


asarray = as_tensor


def from_numpy(ndarray: Any) -> Any:
    """A tensor that shares the memory of a NumPy array.

    >>> import compat as torch
    >>> torch.from_numpy(np.array([1.0, 2.0]))
    tensor([1., 2.], dtype=torch.float64)
    """
    if not isinstance(ndarray, np.ndarray):
        raise TypeError(f"expected np.ndarray (got {type(ndarray).__name__})")
    dtypes.of(ndarray.dtype)
    return made(ndarray)


def scalar_tensor(
    s: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool = False
) -> Any:
    """A tensor without axes, of the default dtype.

    >>> import compat as torch
    >>> torch.scalar_tensor(2)
    tensor(2.)
    """
    return tensor(
        s, dtype=dtype or dtypes.get_default_dtype(), device=device, requires_grad=requires_grad
    )


# ---------------------------------------------------------------- filled


def _size(size: tuple[Any, ...]) -> tuple[int, ...]:
    if len(size) == 1 and isinstance(size[0], tuple | list):
        size = tuple(size[0])
    shape = tuple(int(n) for n in size)
    if any(n < 0 for n in shape):
        raise RuntimeError(f"Trying to create tensor with negative dimension: {list(shape)}")
    return shape


def _filled(
    shape: tuple[int, ...],
    value: Any,
    dtype: Any,
    device: Any,
    requires_grad: bool,
    out: Any = None,
) -> Any:
    require_cpu(device)
    chosen = dtypes.get_default_dtype() if dtype is None else dtypes.as_dtype(dtype)
    result = made(np.full(shape, value, chosen.numpy), requires_grad)
    return result if out is None else views.assign(out, result, "fill", whole=True)


def zeros(
    *size: Any,
    out: Any = None,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Any:
    """Zeros.

    >>> import compat as torch
    >>> torch.zeros(2, 3)
    tensor([[0., 0., 0.],
            [0., 0., 0.]])
    """
    return _filled(_size(size), 0, dtype, device, requires_grad, out)


def ones(
    *size: Any,
    out: Any = None,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Any:
    """Ones.

    >>> import compat as torch
    >>> torch.ones(2)
    tensor([1., 1.])
    """
    return _filled(_size(size), 1, dtype, device, requires_grad, out)


def empty(
    *size: Any,
    out: Any = None,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    memory_format: Any = None,
) -> Any:
    """A tensor with any contents: here zeros, so that runs can be repeated."""
    return _filled(_size(size), 0, dtype, device, requires_grad, out)


def full(
    size: Any,
    fill_value: Any,
    *,
    out: Any = None,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Any:
    """A tensor of one value; its dtype is the value's.

    >>> import compat as torch
    >>> torch.full((2,), 7)
    tensor([7, 7])
    """
    value = fill_value.item() if isinstance(fill_value, TensorBase) else fill_value  # type: ignore[attr-defined]
    chosen = dtype or dtypes.default_of(dtypes.scalar_category(value))
    return _filled(_size((size,)), value, chosen, device, requires_grad, out)


def eye(
    n: int,
    m: int | None = None,
    *,
    out: Any = None,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Any:
    """Ones on the diagonal.

    >>> import compat as torch
    >>> torch.eye(2)
    tensor([[1., 0.],
            [0., 1.]])
    """
    require_cpu(device)
    chosen = dtypes.as_dtype(dtype) if dtype is not None else dtypes.get_default_dtype()
    result = made(np.eye(n, m, dtype=chosen.numpy), requires_grad)
    return result if out is None else views.assign(out, result, "eye", whole=True)


# ---------------------------------------------------------------- ranges


def arange(
    start: Any = 0,
    end: Any = None,
    step: Any = 1,
    *,
    out: Any = None,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Any:
    """``start, start + step, ...`` below `end`; integers if all three are.

    >>> import compat as torch
    >>> torch.arange(3), torch.arange(0.0, 1.0, 0.5)
    (tensor([0, 1, 2]), tensor([0.0000, 0.5000]))
    """
    require_cpu(device)
    if end is None:
        start, end = 0, start
    given = [x.item() if isinstance(x, TensorBase) else x for x in (start, end, step)]  # type: ignore[attr-defined]
    if given[2] == 0:
        raise RuntimeError("step must be nonzero")
    if (given[1] - given[0]) * given[2] < 0:
        raise RuntimeError("upper bound and lower bound inconsistent with step sign")
    integers = all(dtypes.scalar_category(x) < 2 for x in given)
    chosen = dtypes.as_dtype(dtype) if dtype else None
    chosen = chosen or (dtypes.int64 if integers else dtypes.get_default_dtype())
    count = math.ceil((given[1] - given[0]) / given[2])
    values = given[0] + np.arange(count) * given[2]
    result = made(np.asarray(values).astype(chosen.numpy), requires_grad)
    return result if out is None else views.assign(out, result, "arange", whole=True)


def linspace(
    start: Any,
    end: Any,
    steps: int,
    *,
    out: Any = None,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Any:
    """`steps` numbers from `start` to `end`, both included, equally far apart.

    >>> import compat as torch
    >>> torch.linspace(0, 1, 3)
    tensor([0.0000, 0.5000, 1.0000])
    """
    require_cpu(device)
    chosen = dtypes.as_dtype(dtype) if dtype else dtypes.get_default_dtype()
    a, b = (x.item() if isinstance(x, TensorBase) else x for x in (start, end))  # type: ignore[attr-defined]
    result = made(np.linspace(a, b, steps).astype(chosen.numpy), requires_grad)
    return result if out is None else views.assign(out, result, "linspace", whole=True)


def logspace(
    start: Any,
    end: Any,
    steps: int,
    base: float = 10.0,
    *,
    out: Any = None,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Any:
    """``base`` to the power of `linspace`.

    >>> import compat as torch
    >>> torch.logspace(0, 2, 3)
    tensor([  1.,  10., 100.])
    """
    require_cpu(device)
    chosen = dtypes.as_dtype(dtype) if dtype else dtypes.get_default_dtype()
    values = np.logspace(start, end, steps, base=base).astype(chosen.numpy)
    result = made(values, requires_grad)
    return result if out is None else views.assign(out, result, "logspace", whole=True)


# ---------------------------------------------------------------- like another


def _like(input: Any, value: Any, dtype: Any, device: Any, requires_grad: bool) -> Any:
    return _filled(
        tuple(input._array.shape), value, dtype or dtype_of(input), device, requires_grad
    )


def zeros_like(
    input: Any,
    *,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    memory_format: Any = None,
) -> Any:
    """Zeros of the shape and dtype of `input`."""
    return _like(input, 0, dtype, device, requires_grad)


def ones_like(
    input: Any,
    *,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    memory_format: Any = None,
) -> Any:
    """Ones of the shape and dtype of `input`.

    >>> import compat as torch
    >>> torch.ones_like(torch.tensor([3, 4]))
    tensor([1, 1])
    """
    return _like(input, 1, dtype, device, requires_grad)


def empty_like(
    input: Any,
    *,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    memory_format: Any = None,
) -> Any:
    """A tensor like `input` with any contents: here zeros."""
    return _like(input, 0, dtype, device, requires_grad)


def full_like(
    input: Any,
    fill_value: Any,
    *,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    memory_format: Any = None,
) -> Any:
    """One value in the shape and dtype of `input`."""
    return _like(input, fill_value, dtype, device, requires_grad)


# ---------------------------------------------------------------- questions


def is_tensor(obj: Any) -> bool:
    """Whether `obj` is a tensor."""
    return isinstance(obj, TensorBase)


def is_floating_point(input: Any) -> bool:
    """Whether the dtype is a floating one."""
    return dtype_of(input).is_floating_point


def numel(input: Any) -> int:
    """The number of elements."""
    return math.prod(input._array.shape)


class CreateMethods:
    """``new_...``: tensors with the dtype of another."""

    __slots__ = ()

    def new_tensor(self, data: Any, *, dtype: Any = None, **options: Any) -> Any:
        """See `compat.tensor`."""
        return tensor(data, dtype=dtype or dtype_of(self), **options)  # type: ignore[arg-type]

    def new_zeros(self, *size: Any, dtype: Any = None, **options: Any) -> Any:
        """See `compat.zeros`."""
        return zeros(*size, dtype=dtype or dtype_of(self), **options)  # type: ignore[arg-type]

    def new_ones(self, *size: Any, dtype: Any = None, **options: Any) -> Any:
        """See `compat.ones`."""
        return ones(*size, dtype=dtype or dtype_of(self), **options)  # type: ignore[arg-type]

    def new_empty(self, *size: Any, dtype: Any = None, **options: Any) -> Any:
        """See `compat.empty`."""
        return empty(*size, dtype=dtype or dtype_of(self), **options)  # type: ignore[arg-type]

    def new_full(self, size: Any, fill_value: Any, *, dtype: Any = None, **options: Any) -> Any:
        """See `compat.full`."""
        return full(size, fill_value, dtype=dtype or dtype_of(self), **options)  # type: ignore[arg-type]




__all__ = [
    "arange",
    "as_tensor",
    "asarray",
    "empty",
    "empty_like",
    "eye",
    "from_numpy",
    "full",
    "full_like",
    "is_floating_point",
    "is_tensor",
    "linspace",
    "logspace",
    "numel",
    "ones",
    "ones_like",
    "scalar_tensor",
    "tensor",
    "zeros",
    "zeros_like",
]
