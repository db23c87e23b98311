"""Samples of casts. A narrow dtype is exact on them: multiples of 1/64, as differences need."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from . import booleans, floats, integers, operands

EXACT = floats(-3, 3, count=385)
INEXACT = [np.dtype(name) for name in ("float64", "complex128")]
OTHERS = [np.dtype(name) for name in ("int64", "int32", "bool")]

SAMPLES = {
    "as_number": operands([EXACT, EXACT * (1 - 0.5j)]).filter(lambda s: s.args[0].ndim),  # a batch
    "cast": operands([EXACT, EXACT * (1 - 0.5j)], dtype=st.sampled_from(INEXACT)),
    "cast_constant": st.one_of(
        operands([floats(0.1, 0.9), integers(-3, 3)], dtype=st.sampled_from(OTHERS)),
        operands([booleans(), integers(-3, 3)], dtype=st.sampled_from(INEXACT)),
    ),
}
