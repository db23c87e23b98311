"""Samples of `funcgrad/ops/cumulative.py`."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from . import Sample, array, axis, complexes, distinct, floats, integers, shapes, with_axis

# Zero is a value as good as any other for a product.
FACTORS = [floats(-2, 2, count=9), complexes()]


@st.composite
def recurrences(draw: Any) -> Sample:
    """Factors and driving terms, of which there is one more."""
    shape = draw(shapes(ndim=(1, 3), side=(0, 5)))
    where = draw(axis(len(shape)))
    shorter = (*shape[:where], max(shape[where] - 1, 0), *shape[where + 1 :])
    a, b = (array(draw(st.sampled_from(FACTORS)), s) for s in (shorter, shape))
    return Sample((draw(a), draw(b)), {"axis": where, "reverse": draw(st.booleans())})


SAMPLES = {
    "recurrence": recurrences(),
    "cumsum": with_axis([floats(-3, 3), complexes()], side=(0, 5), reverse=st.booleans()),
    "cumprod": with_axis(FACTORS, side=(0, 5), reverse=st.booleans()),
    "cummax": with_axis(floats(-3, 3), fill=distinct, side=(0, 4), reverse=st.booleans()),
    "cummin": with_axis(floats(-3, 3), fill=distinct, side=(0, 4), reverse=st.booleans()),
    "last_change": with_axis([integers(0, 2), floats(0, 1, count=2)], reverse=st.booleans()),
    "logcumsumexp": with_axis(floats(-3, 3), side=(0, 5), reverse=st.booleans()),
}
