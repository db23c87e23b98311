"""Annotations: what functions take for an array, and for a dtype."""

import numpy as np
from numpy.typing import DTypeLike

from ..core import Array

__all__ = ["ArrayLike", "DTypeLike"]

ArrayLike = Array | np.ndarray | np.generic | bool | int | float | complex
