"""What functions that make tensors share: sizes, the dtype and the device asked for, `out=`."""

from __future__ import annotations

import math
from types import ModuleType
from typing import Any

import numpy as np

from .. import cuda, dtypes
from ..autograd import base, sites
from ..autograd.base import TensorBase
from ..size import device as Device
from ..size import get_default_device, layout, strided
from ._apply import _type_word, finish
from ._layout import ints_of
from ._operands import dtype_of

# ---------------------------------------------------------------- how


def only_strided(name: str, asked: Any) -> None:
    """Refuse a layout that tensors here cannot have.

    Raises: NotImplementedError: it is one of sparse tensors. TypeError: it is none.
    """
    if not isinstance(asked, layout):
        raise TypeError(
            f"{name}(): argument 'layout' must be torch.layout, not {type(asked).__name__}"
        )
    if asked is not strided:
        raise NotImplementedError(
            f"{name}(...) is not implemented for the layout {asked}: tensors here are torch.strided"
        )


# ---------------------------------------------------------------- where


class _Host:
    """The array module of the CPU, to be used in a ``with``."""

    def __enter__(self) -> ModuleType:
        return np

    def __exit__(self, *_: Any) -> None:
        pass


class _Gpu:
    """CuPy, with one GPU made the current one."""

    def __init__(self, index: int | None) -> None:
        self.module = cuda.cupy()
        self.device = None if index is None else self.module.cuda.Device(index)

    def __enter__(self) -> Any:
        if self.device is not None:
            self.device.__enter__()
        return self.module

    def __exit__(self, *error: Any) -> None:
        if self.device is not None:
            self.device.__exit__(*error)


_HOST = _Host()


def there(device: Any) -> Any:
    """``with there(device) as xp``: the array module of a device; of the default one if None.

    Raises: AssertionError, RuntimeError, NotImplementedError: there is no such device.
    """
    if device is None:
        device = get_default_device()
    elif device.__class__ is not Device:
        device = Device(device)
    if device.type == "cpu":
        return _HOST
    if device.type == "meta":
        raise NotImplementedError(
            "tensors on the device 'meta', which have no numbers, are not implemented"
        )
    if device.type != "cuda":
        raise RuntimeError(f"PyTorch is not linked with support for {device.type} devices")
    return _Gpu(device.index)


# ---------------------------------------------------------------- what


_MOST_ELEMENTS = np.iinfo(np.intp).max // np.dtype(np.complex128).itemsize


def shape_of(name: str, given: tuple[Any, ...], keyword: Any = None) -> tuple[int, ...]:
    """The shape of ``f(2, 3)``, ``f((2, 3))`` or ``f(size=(2, 3))``.

    Raises: TypeError: something is no integer. RuntimeError: something is negative, or too large.
    """
    shape: tuple[int, ...] = ints_of(name, "size", given, keyword)
    if len(given) == 1 and isinstance(given[0], bool):
        raise TypeError(f"{name}(): argument 'size' (position 1) must be tuple of ints, not bool")
    if shape and min(shape) < 0:
        raise RuntimeError(
            f"{name}: Dimension size must be non-negative. Found the size {list(shape)}."
        )
    count = math.prod(shape) or math.prod(n or 1 for n in shape)
    if count > _MOST_ELEMENTS:
        raise RuntimeError(f"Storage size calculation overflowed with sizes={list(shape)}")
    return shape


def shape_in(name: str, size: Any) -> tuple[int, ...]:
    """The shape of ``f((2, 3), ...)``, which has to be a tuple or a list."""
    if not isinstance(size, tuple | list):
        raise TypeError(
            f"{name}(): argument 'size' (position 1) must be tuple of ints, not "
            f"{type(size).__name__}"
        )
    return shape_of(name, (size,))


def dtype_for(name: str, dtype: Any, out: Any, default: dtypes.dtype | None = None) -> dtypes.dtype:
    """The dtype asked for: that of `out` if there is one, or `default`, or the default dtype.

    Raises: RuntimeError: `dtype` is not that of `out`. TypeError: `out` is no tensor.
    """
    chosen = None if dtype is None else dtypes.as_dtype(dtype, name)
    if out is None:
        return chosen or default or dtypes.get_default_dtype()
    if not isinstance(out, TensorBase):
        raise TypeError(f"{name}(): argument 'out' must be Tensor, not {type(out).__name__}")
    found = dtype_of(out)
    if chosen is not None and chosen is not found:
        raise RuntimeError(
            f"dtype {_type_word(chosen)} does not match dtype of out parameter "
            f"({_type_word(found)})"
        )
    return found


# ---------------------------------------------------------------- the tensor


def made(array: Any, requires_grad: bool = False) -> Any:
    """A new leaf of an array that is not copied; it remembers where it was made."""
    out: Any = base.tensor(array)
    out._origin = sites.site()
    return out.requires_grad_() if requires_grad else out


def finished(name: str, array: Any, out: Any, requires_grad: bool) -> Any:
    """A new leaf of an array, or `out` with the array in it."""
    if out is None:
        return made(array, requires_grad)
    out = finish(name, base.tensor(array), out, (), quiet=True)
    return out.requires_grad_() if requires_grad else out
