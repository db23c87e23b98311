"""New tensors: NumPy's functions that make arrays, their files, and its random numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ._function import OVERRIDES
from ._graph import TensorCore, array_of
from .tensor_base import Tensor

NAMES: dict[str, Any] = {}


class Maker:
    """A function of NumPy's that makes an array, with `constant`; `defaults` that differ from its."""

    def __init__(self, name: str, numpy: Callable[..., Any], **defaults: Any) -> None:
        self.__name__ = self.__qualname__ = name
        self.__doc__ = f"As ``np.{name}``, a tensor."
        self.numpy = numpy
        self.defaults = defaults

    def __call__(self, *args: Any, **kwargs: Any) -> Tensor:
        constant = kwargs.pop("constant", None)
        args = tuple(array_of(a) if isinstance(a, TensorCore) else a for a in args)
        found = self.numpy(*args, **{**self.missing(args), **kwargs})
        return Tensor(found, constant=constant, copy=False)

    def missing(self, args: Any) -> dict[str, Any]:
        """The defaults that no argument by position takes the place of; all are the second."""
        return self.defaults if len(args) < 2 else {}

    def __repr__(self) -> str:
        return f"<function {self.__name__}>"

    def __reduce__(self) -> str:
        return self.__name__


class _Like(Maker):
    """A tensor of the shape and dtype of another, constant if that is one."""

    def __call__(
        self, other: Any, *args: Any, constant: bool | None = None, **kwargs: Any
    ) -> Tensor:
        if constant is None and (not isinstance(other, TensorCore) or other._constant):
            constant = True
        # MyGrad has `dtype` and `shape` in this order, and NumPy others between them.
        first = ("fill_value",) if self.__name__ == "full_like" else ()
        kwargs.update(zip((*first, "dtype", "shape"), args, strict=False))
        if "fill_value" in kwargs:
            kwargs["fill_value"] = array_of(kwargs["fill_value"])
        return Tensor(self.numpy(array_of(other), **kwargs), constant=constant, copy=False)


for _name in ("empty", "ones", "zeros"):
    NAMES[_name] = Maker(_name, getattr(np, _name), dtype=np.float32)
for _name in ["eye", "identity", "full", "arange", "linspace", "logspace", "geomspace"]:
    NAMES[_name] = Maker(_name, getattr(np, _name))
for _name in ("empty_like", "ones_like", "zeros_like", "full_like"):
    _numpy = getattr(np, _name)
    NAMES[_name] = OVERRIDES[_numpy] = _Like(_name, _numpy)


# ---------------------------------------------------------------- files


def save(file: Any, tensor: Tensor) -> None:
    """Write a tensor and its gradient into a file, in NumPy's format ``.npz``.

    Raises: TypeError: `tensor` is none.

    >>> import io
    >>> import compat.mygrad as mg
    >>> x = mg.tensor([1.0, 2.0])
    >>> (x * x).backward()
    >>> file = io.BytesIO()
    >>> mg.save(file, x)
    >>> _ = file.seek(0)
    >>> mg.load(file).grad
    array([2., 4.])
    """
    if not isinstance(tensor, TensorCore):
        raise TypeError(f"save: need a tensor, found {type(tensor).__name__}")
    grad = tensor.grad
    if grad is None:
        np.savez(file, data=tensor.data)
    else:
        np.savez(file, data=tensor.data, grad=grad)


def load(file: Any) -> Tensor:
    """Read a tensor, and its gradient if it had one, from a file that `save` wrote."""
    with np.load(file) as found:
        out = Tensor(found["data"])
        if "grad" in found:
            out.backward(found["grad"])
    return out
