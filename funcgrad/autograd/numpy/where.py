"""``autograd.numpy.where``, which leaves Python's values what they are."""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import numpy as fnp
from ...core import Tracer


def where(condition: Any, x: Any = None, y: Any = None) -> Any:
    """``fnp.where``; for one truth value and two values of Python's (no arrays) one of them as it is.

    Shapes: the three broadcast together.   Dtypes: that of ``x + y``, but for values of Python's.
    Derivative: that of what is chosen.
    Source: HIPS autograd 1.9, ``autograd.numpy.where``.

    >>> where(True, 1, 2.0), where(condition=[True, False], x=1.0, y=np.zeros(2))
    (1, array([1., 0.]))
    """
    if x is None and y is None:
        return fnp.where(condition)
    arrays = (np.ndarray, np.generic, Tracer)
    is_plain = not isinstance(x, arrays) and not isinstance(y, arrays)
    if is_plain and isinstance(condition, bool | np.bool):
        return x if condition else y
    return fnp.where(condition, x, y)
