"""MyGrad's names of types, for annotations."""

from __future__ import annotations

from types import EllipsisType
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

__all__ = ["ArrayLike", "DTypeLike", "DTypeLikeReals", "Index", "Mask", "Real", "Shape"]

Real: TypeAlias = int | float
ArrayLike: TypeAlias = Any  # a tensor, or whatever NumPy makes an array of
Mask: TypeAlias = Any
DTypeLike: TypeAlias = npt.DTypeLike
DTypeLikeReals: TypeAlias = npt.DTypeLike
Shape: TypeAlias = tuple[int, ...]
Index: TypeAlias = int | slice | EllipsisType | np.ndarray | list[Any] | tuple[Any, ...] | None
