"""Samples of `funcgrad/ops/cumulative.py`."""

from __future__ import annotations

from hypothesis import strategies as st

from . import complexes, distinct, floats, integers, with_axis

# Zero is a value as good as any other for a product.
FACTORS = [floats(-2, 2, count=9), complexes()]

SAMPLES = {
    "cumsum": with_axis([floats(-3, 3), complexes()], side=(0, 5), reverse=st.booleans()),
    "cumprod": with_axis(FACTORS, side=(0, 5), reverse=st.booleans()),
    "cummax": with_axis(floats(-3, 3), fill=distinct, side=(0, 4), reverse=st.booleans()),
    "cummin": with_axis(floats(-3, 3), fill=distinct, side=(0, 4), reverse=st.booleans()),
    "last_change": with_axis([integers(0, 2), floats(0, 1, count=2)], reverse=st.booleans()),
    "logcumsumexp": with_axis(floats(-3, 3), side=(0, 5), reverse=st.booleans()),
}
