"""The memory that a tensor, its views and the tensors they come from share: its bytes, or elements."""

from __future__ import annotations

import operator
from pathlib import Path
from typing import Any, Self

import numpy as np

from . import dtypes
from .size import device_of


class UntypedStorage:
    """How many bytes there are in the memory of a tensor, and where they begin.

    Two tensors share memory where these are equal. The bytes cannot be written through it.
    """

    def __init__(self, array: Any) -> None:
        while isinstance(array.base, np.ndarray):
            array = array.base
        self._array = array

    @classmethod
    def from_file(cls, filename: Any, shared: bool = False, nbytes: int = 0) -> UntypedStorage:
        """The first bytes of a file, in memory of its own; `shared`: in the file, which may grow.

        Raises: RuntimeError: the file is not there or shorter, and not shared; a negative length.
        """
        if nbytes < 0:
            raise RuntimeError(f"unable to mmap {nbytes} bytes from file <{filename}>")
        path = Path(filename)
        if not shared and not path.is_file():
            raise RuntimeError(f"unable to open file <{filename}> in read-only mode: there is none")
        found = path.stat().st_size if path.is_file() else 0
        if found < nbytes and not shared:
            raise RuntimeError(
                f"file <{filename}> size <{found}> is smaller than the required mapping size <{nbytes}>"
            )
        if not nbytes:
            return cls(np.zeros(0, np.uint8))
        mode: Any = ("r+" if path.is_file() else "w+") if shared else "c"
        part = object.__new__(cls)
        part._array = np.memmap(path, np.uint8, mode, shape=nbytes).view(np.ndarray)
        return part

    def clone(self) -> Self:
        """The same in memory of its own."""
        part = object.__new__(type(self))
        part._array = self._array.copy("K")
        return part

    def _bytes(self) -> Any:
        return self._array.ravel(order="K").view(np.uint8)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return np.array(self._bytes(), dtype, copy=copy)

    def nbytes(self) -> int:
        """The number of bytes."""
        return int(self._array.nbytes)

    size = __len__ = nbytes

    def untyped(self) -> UntypedStorage:
        """The storage itself."""
        return self

    def data_ptr(self) -> int:
        """The address of the first byte."""
        return int(np.lib.array_utils.byte_bounds(self._array)[0])

    def element_size(self) -> int:
        """1: the unit is the byte."""
        return 1

    @property
    def device(self) -> Any:
        """Where the memory is."""
        return device_of(self._array)

    def is_pinned(self) -> bool:
        """False: no memory is locked for a device."""
        return False

    def tolist(self) -> list[int]:
        """The bytes."""
        return self._bytes().tolist()

    def __getitem__(self, index: Any) -> Any:
        """A byte, or for a slice a part of the storage."""
        if not isinstance(index, slice):
            return int(self._bytes()[index])
        part = object.__new__(UntypedStorage)
        part._array = self._bytes()[index]
        return part

    def __sizeof__(self) -> int:
        return object.__sizeof__(self) + self.nbytes()

    def __repr__(self) -> str:
        return f"<UntypedStorage of {self.nbytes()} bytes>"


class TypedStorage(UntypedStorage):
    """The same memory, counted in elements, as older code asks for it.

    >>> import compat as torch
    >>> torch.ones(2, 3)[0].storage().size(), torch.ones(2, 3).storage()[4]
    (6, 1.0)
    """

    def _elements(self) -> Any:
        return self._array.ravel(order="K")

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return np.array(self._elements(), dtype, copy=copy)

    def size(self) -> int:
        """The number of elements."""
        return int(self._array.size)

    __len__ = size

    @property
    def dtype(self) -> Any:
        """The dtype of the elements."""
        return dtypes.of(self._array.dtype)

    def untyped(self) -> UntypedStorage:
        """The same memory in bytes."""
        return UntypedStorage(self._array)

    def element_size(self) -> int:
        """The number of bytes of an element."""
        return int(self._array.itemsize)

    def tolist(self) -> list[Any]:
        """The elements."""
        return self._elements().tolist()

    def __getitem__(self, index: Any) -> Any:
        """An element."""
        return self._elements()[operator.index(index)].item()

    def __repr__(self) -> str:
        return f"<TypedStorage of {self.size()} elements, dtype={self.dtype}>"


def numbers_of(storage: UntypedStorage, dtype: dtypes.dtype) -> Any:
    """The memory of the storage as a vector of the dtype, not copied.

    Raises: RuntimeError: the storage is one of another dtype, or its bytes are no whole elements.
    """
    if isinstance(storage, TypedStorage) and storage.dtype is not dtype:
        raise RuntimeError(
            f"Expected a Storage of type {dtype.name} or an UntypedStorage, but got "
            f"{storage.dtype.name}; make a tensor of it and convert that"
        )
    if storage.nbytes() % dtype.numpy.itemsize:
        raise RuntimeError(
            f"a storage of {storage.nbytes()} bytes holds no whole number of elements of "
            f"{dtype.numpy.itemsize} bytes"
        )
    return storage._bytes().view(dtype.numpy)


def elements_of(storage: UntypedStorage, dtype: dtypes.dtype | None) -> Any:
    """A copy of what is in the storage; bytes are read as numbers of the dtype, or int64.

    Raises: RuntimeError: the storage is one of another dtype, or its bytes are no whole elements.
    """
    own = storage.dtype if isinstance(storage, TypedStorage) else dtypes.int64
    return numbers_of(storage, dtype or own).copy()


__all__ = ["TypedStorage", "UntypedStorage"]
