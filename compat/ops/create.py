"""Making tensors: from data, filled, ranges."""

from __future__ import annotations

from typing import Any

import numpy as np

from funcgrad.core import Tracer

from .. import dtypes
from ..autograd import base, sites
from ..autograd.base import TensorBase


def made(array: Any, requires_grad: bool = False) -> Any:
    """A new leaf of an array that is not copied; it remembers where it was made."""
    out = base.tensor(array)
    out._origin = sites.site()
    return out.requires_grad_() if requires_grad else out


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
    if isinstance(data, TensorBase):
        array = data._array
    elif isinstance(data, Tracer):
        array = data
    else:
        array = np.array(data)
        if not isinstance(data, np.ndarray | np.generic) and array.dtype.kind in "fc":
            default = dtypes.get_default_dtype()
            array = array.astype(
                (default if array.dtype.kind == "f" else default.to_complex()).numpy
            )
    if dtype is not None:
        array = array.astype(dtypes.as_dtype(dtype).numpy)
    elif not isinstance(array, Tracer):
        dtypes.of(array.dtype)
        array = array.copy()
    return made(array, requires_grad)


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


__all__ = ["from_numpy", "tensor"]
