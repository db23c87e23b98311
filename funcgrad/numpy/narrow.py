"""Names of dtypes that NumPy has not: code asks whether an array has one, and none does."""

from __future__ import annotations

from typing import NoReturn

from ..errors import ArgumentError, where


class Narrow:
    """A dtype of few bits, which no array has.

    >>> import numpy as np
    >>> np.dtype("float32") == bfloat16
    False
    >>> np.zeros(2, bfloat16)
    Traceback (most recent call last):
        ...
    funcgrad.errors.ArgumentError: bfloat16 is no dtype of NumPy's; take float16 or float32...
    """

    def __init__(self, name: str) -> None:
        self.name = name

    @property
    def dtype(self) -> NoReturn:
        """What NumPy looks for in a dtype; a class would make arrays of objects."""
        raise ArgumentError(f"{self.name} is no dtype of NumPy's; take float16 or float32{where()}")

    def __repr__(self) -> str:
        return self.name


bfloat16 = Narrow("bfloat16")
float8_e4m3fn = Narrow("float8_e4m3fn")
float8_e4m3fnuz = Narrow("float8_e4m3fnuz")
float8_e5m2 = Narrow("float8_e5m2")
float8_e5m2fnuz = Narrow("float8_e5m2fnuz")
