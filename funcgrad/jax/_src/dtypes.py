"""``jax.dtypes``, and the classes of dtypes that flax derives its own from."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.exceptions import DTypePromotionError as TypePromotionError

from ..dtypes import extended, finfo, issubdtype

__all__ = [
    "DType",
    "ExtendedDType",
    "TypePromotionError",
    "extended",
    "finfo",
    "issubdtype",
    "to_complex_dtype",
]

DType = np.dtype


class ExtendedDType:
    """A dtype that NumPy has not; arrays of it raise, as its subclasses are no dtypes of NumPy's."""


def to_complex_dtype(dtype: Any) -> Any:
    """The dtype of complex numbers with parts of a dtype.

    >>> to_complex_dtype("float32")
    dtype('complex64')
    """
    return np.result_type(dtype, np.complex64)
