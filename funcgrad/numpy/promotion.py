"""Questions about dtypes, which may be asked about traced values too."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core import Tracer
from ._arguments import array_of


def _known_type(x: Any) -> Any:
    """What NumPy should see in place of a traced value: its dtype, or a number if it is weak."""
    return x.aval.promoting() if isinstance(x, Tracer) else x


def result_type(*arrays_and_dtypes: Any) -> Any:
    """The dtype that the arguments are promoted to.

    Derivative: none.   Source: NumPy reference, ``numpy.result_type``.

    >>> result_type(np.float32(1), 2.0)
    dtype('float32')
    """
    return np.result_type(*map(_known_type, arrays_and_dtypes))


def can_cast(from_: Any, to: Any, casting: Any = "safe") -> bool:
    """Whether a cast between dtypes is allowed.

    Derivative: none.   Source: NumPy reference, ``numpy.can_cast``.

    >>> can_cast(np.float64, np.float32)
    False
    """
    return np.can_cast(from_.aval.dtype if isinstance(from_, Tracer) else from_, to, casting)


def __array_namespace_info__() -> Any:
    """What the array API asks about the namespace: NumPy's own answer."""
    return np.__array_namespace_info__()


def common_type(*arrays: Any) -> Any:
    """The floating or complex type that holds all the arrays.

    Derivative: none.   Source: NumPy reference, ``numpy.common_type``.

    >>> common_type(np.ones(1), 1j * np.ones(1)).__name__
    'complex128'
    """
    return np.common_type(*(np.empty(0, array_of(a).dtype) for a in arrays))


def finfo(dtype: Any) -> np.finfo:
    """The limits of a floating dtype, or of the dtype of an array.

    Source: NumPy reference, ``numpy.finfo``.

    >>> bool(finfo(np.ones(2)).eps == finfo(float).eps)
    True
    """
    return np.finfo(dtype.dtype if isinstance(dtype, np.ndarray) else dtype)


def iinfo(dtype: Any) -> np.iinfo:
    """The limits of a dtype of integers, or of the dtype of an array.

    Source: NumPy reference, ``numpy.iinfo``.

    >>> iinfo(np.ones(2, np.int8)).max
    127
    """
    return np.iinfo(dtype.dtype if isinstance(dtype, np.ndarray) else dtype)
