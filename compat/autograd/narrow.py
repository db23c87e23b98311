"""bfloat16, which NumPy cannot compute in: to float32 and back."""

from __future__ import annotations

from typing import Any

import numpy as np

from funcgrad.backend import NAMESPACES
from funcgrad.core import Aval, Tracer
from funcgrad.ops.cast import cast

from .. import dtypes

_FLOAT32 = np.dtype(np.float32)

# NOTE [bfloat16] NumPy knows too little of this dtype, which the package ml_dtypes brings, to compute
# in it: primitives and their rules run in float32, and results are rounded. To transforms it is one of
# the dtypes with derivatives (its kind is "V").
BFLOAT16: Any = dtypes.bfloat16.numpy if hasattr(dtypes, "bfloat16") else None
if BFLOAT16 is not None:
    NAMESPACES[BFLOAT16.type] = None  # its scalars are numbers, as NumPy's are


def is_narrow(x: Any) -> bool:
    """Whether `x` is a bfloat16 array, or the type of one."""
    return BFLOAT16 is not None and getattr(x, "dtype", None) is BFLOAT16


def widened(x: Any) -> Any:
    """A bfloat16 array, or the type of one, in float32; anything else as it is."""
    if not is_narrow(x):
        return x
    return Aval(x.shape, _FLOAT32) if x.__class__ is Aval else _converted(x, _FLOAT32)


def narrowed(x: Any) -> Any:
    """A floating array rounded to bfloat16; anything else as it is."""
    return _converted(x, BFLOAT16) if x.dtype.kind == "f" else x


def _converted(x: Any, dtype: Any) -> Any:
    return cast(x, dtype=dtype) if isinstance(x, Tracer) else x.astype(dtype)
