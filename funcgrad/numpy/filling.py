"""What stands in results where there is nothing to stand: the sizes and values of JAX's options.

``size=n`` fixes the length of a result that depends on values, so that it can be traced: what is more
is cut off, and what is missing is filled.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np


def missing(dtype: Any) -> Any:
    """What is read outside of an array unless told otherwise.

    NaN, the least of signed and the largest of unsigned integers, True.

    >>> missing(np.dtype(float)), missing(np.dtype("int8")), missing(np.dtype("uint8"))
    (nan, -128, 255)
    """
    if dtype.kind in "fc":
        return math.nan
    if dtype.kind == "b":
        return True
    limits = np.iinfo(dtype)
    return limits.min if dtype.kind == "i" else limits.max
