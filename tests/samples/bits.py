"""Samples of `funcgrad/ops/bits.py`."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st

from . import Sample, array, integers, operands, shapes

DTYPES = [np.dtype(t) for t in ("int8", "uint16", "int32", "int64")]


@st.composite
def cast_bits(draw: Any) -> Sample:
    old, new = (draw(st.sampled_from(DTYPES)) for _ in range(2))
    shape = draw(shapes(ndim=(0, 2)))
    if new.itemsize > old.itemsize:
        shape = (*shape, new.itemsize // old.itemsize)
    x = draw(array(integers(-90, 90), shape)).astype(old)
    return Sample((x,), {"dtype": new})


SAMPLES = {
    "bitcast": cast_bits(),
    "bit_count": operands(integers(-9, 9)),
}
