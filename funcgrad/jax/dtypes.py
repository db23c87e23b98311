"""Questions about dtypes under the names of ``jax.dtypes``; the answers are NumPy's."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy import finfo, iinfo

from ..core import aval_of
from ..numpy import result_type
from ..ops.random import extended, prng_key

__all__ = [
    "canonicalize_dtype",
    "extended",
    "finfo",
    "float0",
    "iinfo",
    "issubdtype",
    "prng_key",
    "result_type",
    "scalar_type_of",
]

float0 = np.dtype([("float0", np.void, 0)])


def canonicalize_dtype(dtype: Any, allow_extended_dtype: bool = False) -> Any:
    """The dtype itself, with 64 bits where it has them.

    >>> canonicalize_dtype(float)
    dtype('float64')
    """
    return np.dtype(dtype)


def issubdtype(a: Any, b: Any) -> bool:
    """Whether a dtype is one of a kind.

    >>> issubdtype(np.float32, np.floating), issubdtype(np.uint32, prng_key)
    (True, False)
    """
    return np.issubdtype(a, b)


def scalar_type_of(x: Any) -> type:
    """Python's type for the numbers in `x`.

    >>> scalar_type_of(np.ones(2, "float32"))
    <class 'float'>
    """
    return type(aval_of(x).dtype.type(0).item())
