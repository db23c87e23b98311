"""Operands of SciPy's functions as arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core import aval_of
from ..numpy._arguments import array_of, converted


def floating(x: Any) -> Any:
    """`x` as an array of floating or complex numbers: integers as float64.

    >>> floating([1, 2]).tolist()
    [1.0, 2.0]
    """
    x = array_of(x)
    return x if aval_of(x).dtype.kind in "fc" else converted(x, np.float64)
