"""`UntypedStorage`: the memory that a tensor, its views and the tensors they come from share."""

from __future__ import annotations

from typing import Any

import numpy as np

from .size import device_of


class UntypedStorage:
    """How many bytes there are in the memory of a tensor, and where they begin.

    Two tensors share memory where these are equal. The bytes cannot be written through it.
    """

    def __init__(self, array: Any) -> None:
        while isinstance(array.base, np.ndarray):
            array = array.base
        self._array = array

    def nbytes(self) -> int:
        """The number of bytes."""
        return int(self._array.nbytes)

    size = __len__ = nbytes

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
        return self._array.ravel(order="K").view(np.uint8).tolist()

    def __getitem__(self, index: Any) -> Any:
        return self.tolist()[index]

    def __sizeof__(self) -> int:
        return object.__sizeof__(self) + self.nbytes()

    def __repr__(self) -> str:
        return f"<UntypedStorage of {self.nbytes()} bytes>"


__all__ = ["UntypedStorage"]
