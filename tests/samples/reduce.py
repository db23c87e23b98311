"""Samples of `funcgrad/ops/reduce.py`."""

from __future__ import annotations

import math
from typing import Any

from hypothesis import strategies as st

from . import (
    Sample,
    array,
    away,
    axes,
    booleans,
    complexes,
    distinct,
    floats,
    integers,
    shapes,
    with_axes,
    with_axis,
)

NUMBERS = [floats(-3, 3), complexes()]
# Far enough from each other that finite differences do not see the kink of `std`.
SPREAD = [floats(-3, 3, count=33), complexes(1.0, 2.0)]


@st.composite
def dispersion(draw: Any, *, least: int) -> Sample:
    """Of `least` or more different elements, and a correction that leaves a degree of freedom."""
    shape = draw(shapes(ndim=(1, 3)))
    axis = draw(axes(len(shape), least=1))
    shape = tuple(max(n, least) if i in axis else n for i, n in enumerate(shape))
    count = math.prod(shape[a] for a in axis)
    x = draw(distinct(draw(st.sampled_from(SPREAD)), shape))
    correction = draw(st.sampled_from([0, 0.5, 1] if count > 1 else [0]))
    return Sample((x,), {"axis": axis, "correction": correction})


@st.composite
def flags(draw: Any) -> Sample:
    """Zeros and others, to be counted."""
    shape = draw(shapes())
    domain = draw(st.sampled_from([booleans(), integers(-1, 1), floats(0, 1, count=2)]))
    return Sample((draw(array(domain, shape)),), {"axis": draw(axes(len(shape)))})


SAMPLES = {
    "mean": with_axes(NUMBERS, least=1),
    "var": dispersion(least=1),
    "std": dispersion(least=2),
    # Zero is a value as good as any other for a product.
    "prod": with_axes([floats(-2, 2, count=9), complexes()]),
    "max": with_axes(floats(-3, 3), fill=distinct, least=1),
    "min": with_axes(floats(-3, 3), fill=distinct, least=1),
    "norm2": with_axes([away(floats(-3, 3), 0.0, margin=0.3), complexes()]),
    "all": flags(),
    "any": flags(),
    "count_nonzero": flags(),
    "argmax": with_axis([floats(-3, 3), integers(-2, 2)], least=1),
    "argmin": with_axis([floats(-3, 3), integers(-2, 2)], least=1),
}
