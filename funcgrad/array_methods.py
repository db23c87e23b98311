"""The attributes and methods of ndarray on traced values, each one a call of `funcgrad.numpy`.

Layer 3¾. What NumPy's arrays do with their memory has no meaning here and says so.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

import numpy as np

from . import numpy as fnp
from .algebra import concrete_namespace
from .core import Tracer
from .errors import ArgumentError, HandoverError, where
from .numpy._arguments import copied, of_numpy
from .views import snapshot


class ArrayMethods(Tracer):
    """Attributes and methods; the operators, and reading and writing, are in `TracedArray`."""

    __slots__ = ()

    # ------------------------------------------------------------ type

    @property
    def shape(self) -> tuple[int, ...]:
        return self.aval.shape

    @property
    def dtype(self) -> Any:
        return self.aval.dtype

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return self.aval.size

    @property
    def itemsize(self) -> int:
        return self.dtype.itemsize

    @property
    def nbytes(self) -> int:
        return self.size * self.dtype.itemsize

    @property
    def T(self) -> Any:
        return fnp.transpose(self)

    @property
    def mT(self) -> Any:
        return fnp.matrix_transpose(self)

    @property
    def real(self) -> Any:
        return fnp.real(self)

    @real.setter
    def real(self, value: Any) -> None:
        fnp.real(self)[...] = value

    @property
    def imag(self) -> Any:
        return fnp.imag(self)

    @imag.setter
    def imag(self, value: Any) -> None:
        if self.dtype.kind != "c":
            raise TypeError("array does not have imaginary part to set")
        fnp.imag(self)[...] = value

    @property
    def flat(self) -> FlatIterator:
        return FlatIterator(self)

    @property
    def at(self) -> Any:
        return fnp.at(self)

    @property
    def weak_type(self) -> bool:
        return self.aval.weak

    def block_until_ready(self) -> Any:
        return self

    def copy(self, order: str = "C") -> Any:
        return copied(self)

    def astype(
        self,
        dtype: Any,
        order: str = "K",
        casting: Any = "unsafe",
        subok: bool = True,
        copy: bool = True,
    ) -> Any:
        if not np.can_cast(self.dtype, dtype, casting):
            raise ArgumentError(
                f"astype: {self.dtype} is not cast to {np.dtype(dtype)} by the rule "
                f"{casting!r}{where()}"
            )
        return fnp.astype(self, dtype, copy=copy)

    def reshape(self, *shape: Any, order: Any = "C", copy: bool | None = None) -> Any:
        return fnp.reshape(self, shape[0] if len(shape) == 1 else shape, order=order, copy=copy)

    def transpose(self, *axes: Any) -> Any:
        if len(axes) == 1 and not isinstance(axes[0], int):
            return fnp.transpose(self, axes[0])
        return fnp.transpose(self, axes or None)

    def ravel(self, order: str = "C") -> Any:
        return fnp.ravel(self, order=order)

    def flatten(self, order: str = "C") -> Any:
        return copied(fnp.ravel(self, order=order))

    def swapaxes(self, axis1: int, axis2: int) -> Any:
        return fnp.swapaxes(self, axis1, axis2)

    def squeeze(self, axis: Any = None) -> Any:
        return fnp.squeeze(self, axis=axis)

    # NumPy's reductions take the rest (keepdims, initial, where) by name. `funcgrad.jax.install`
    # gives ``where=None`` the meaning that it has there.
    reducing = staticmethod(of_numpy)

    def sum(self, axis: Any = None, dtype: Any = None, out: Any = None, **options: Any) -> Any:
        return fnp.sum(self, axis, dtype, out, **self.reducing(options))

    def prod(self, axis: Any = None, dtype: Any = None, out: Any = None, **options: Any) -> Any:
        return fnp.prod(self, axis, dtype, out, **self.reducing(options))

    def mean(self, axis: Any = None, dtype: Any = None, out: Any = None, **options: Any) -> Any:
        return fnp.mean(self, axis, dtype, out, **self.reducing(options))

    def var(
        self, axis: Any = None, dtype: Any = None, out: Any = None, ddof: float = 0, **options: Any
    ) -> Any:
        return fnp.var(self, axis, dtype, out, ddof, **self.reducing(options))

    def std(
        self, axis: Any = None, dtype: Any = None, out: Any = None, ddof: float = 0, **options: Any
    ) -> Any:
        return fnp.std(self, axis, dtype, out, ddof, **self.reducing(options))

    def max(self, axis: Any = None, out: Any = None, keepdims: bool = False, **options: Any) -> Any:
        return fnp.max(self, axis, out, keepdims, **self.reducing(options))

    def min(self, axis: Any = None, out: Any = None, keepdims: bool = False, **options: Any) -> Any:
        return fnp.min(self, axis, out, keepdims, **self.reducing(options))

    def all(self, axis: Any = None, out: Any = None, keepdims: bool = False, **options: Any) -> Any:
        return fnp.all(self, axis, out, keepdims, **self.reducing(options))

    def any(self, axis: Any = None, out: Any = None, keepdims: bool = False, **options: Any) -> Any:
        return fnp.any(self, axis, out, keepdims, **self.reducing(options))

    def argmax(self, axis: Any = None, out: Any = None, *, keepdims: bool = False) -> Any:
        return fnp.argmax(self, axis=axis, out=out, keepdims=keepdims)

    def argmin(self, axis: Any = None, out: Any = None, *, keepdims: bool = False) -> Any:
        return fnp.argmin(self, axis=axis, out=out, keepdims=keepdims)

    def argsort(self, axis: int = -1, **kwargs: Any) -> Any:
        return fnp.argsort(self, axis=axis, **kwargs)

    def cumsum(self, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
        return fnp.cumsum(self, axis=axis, dtype=dtype, out=out)

    def cumprod(self, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
        return fnp.cumprod(self, axis=axis, dtype=dtype, out=out)

    def clip(self, min: Any = None, max: Any = None, out: Any = None, **options: Any) -> Any:
        return fnp.clip(self, min, max, out, **options)

    def round(self, decimals: int = 0, out: Any = None) -> Any:
        return fnp.round(self, decimals, out=out)

    def conj(self) -> Any:
        return fnp.conj(self) if self.dtype.kind == "c" else self

    conjugate = conj

    def dot(self, b: Any, out: Any = None) -> Any:
        return fnp.dot(self, b, out)

    def take(self, indices: Any, axis: Any = None, out: Any = None, mode: Any = "raise") -> Any:
        return fnp.take(self, indices, axis, out, mode)

    def compress(self, condition: Any, axis: Any = None, out: Any = None) -> Any:
        return fnp.compress(condition, self, axis, out)

    def choose(self, choices: Any, out: Any = None, mode: Any = "raise") -> Any:
        return fnp.choose(self, choices, out, mode)

    def argpartition(self, kth: Any, axis: Any = -1, **options: Any) -> Any:
        return fnp.argpartition(self, kth, axis, **options)

    def repeat(self, repeats: Any, axis: Any = None) -> Any:
        return fnp.repeat(self, repeats, axis=axis)

    def diagonal(self, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
        return fnp.diagonal(self, offset, axis1, axis2)

    def trace(
        self, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None, out: Any = None
    ) -> Any:
        return fnp.trace(self, offset, axis1, axis2, dtype, out)

    def nonzero(self) -> Any:
        return fnp.nonzero(self)

    def searchsorted(self, v: Any, side: str = "left", sorter: Any = None) -> Any:
        return fnp.searchsorted(self, v, side=side, sorter=sorter)

    # ------------------------------------------------------------ in place

    def fill(self, value: Any) -> None:
        """Set every element."""
        cast(Any, self)[...] = value

    def sort(self, axis: int = -1, **options: Any) -> None:
        """Sort in place; `fnp.sort` returns a sorted copy."""
        cast(Any, self)[...] = fnp.sort(self, axis, **options)

    def partition(self, kth: Any, axis: int = -1, **options: Any) -> None:
        """Partition in place; `fnp.partition` returns a partitioned copy."""
        cast(Any, self)[...] = fnp.partition(self, kth, axis, **options)

    def put(self, indices: Any, values: Any, mode: Any = "raise") -> None:
        """Write at places of the flattened array."""
        fnp.put(self, indices, values, mode)

    # ------------------------------------------------------------ memory

    @property
    def device(self) -> Any:
        x = concrete_namespace(self)
        return "cpu" if x is np else x.__name__

    def to_device(self, device: Any, /, *, stream: Any = None) -> Any:
        if device != self.device or stream is not None:
            raise ArgumentError(
                f"to_device({device!r}): the array is on {self.device!r} and a traced array stays "
                f"where it is; move it before the transform{where()}"
            )
        return self

    def view(self, dtype: Any = None) -> Any:
        if dtype is not None and np.dtype(dtype) != self.dtype:
            raise HandoverError(
                f"x.view({np.dtype(dtype)}) would read the bytes of the traced value "
                f"{self.described()} as another dtype; use astype{where()}"
            )
        return self[...]  # type: ignore[index]

    def __getattr__(self, name: str) -> Any:
        if name in _OF_MEMORY:
            raise AttributeError(
                f"x.{name} is about the memory of an array, and the traced value "
                f"{self.described()} has none{where()}"
            )
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")


_OF_MEMORY = frozenset(
    {
        *("strides", "flags", "base", "data", "ctypes", "tobytes", "tofile", "dump", "dumps"),
        *("byteswap", "getfield", "setfield", "setflags", "resize", "__dlpack__"),
        *("__dlpack_device__", "__array_interface__", "__array_struct__"),
    }
)


class FlatIterator:
    """``x.flat``: the elements in C order, to iterate over, to index and to write into."""

    __slots__ = ("_next", "_x")

    def __init__(self, x: Any) -> None:
        self._x = x
        self._next = iter(range(x.size))

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        return self[next(self._next)]

    def __len__(self) -> int:
        return self._x.size

    def __getitem__(self, index: Any) -> Any:
        return snapshot(fnp.ravel(self._x)[index], copy=False)  # a copy, also of a slice

    def __setitem__(self, index: Any, value: Any) -> None:
        places = np.arange(len(self))[index]
        if places.ndim:
            fnp.put(self._x, places, value)  # values that are too few are repeated
        else:
            self._x[np.unravel_index(places, self._x.shape)] = value
