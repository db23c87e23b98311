"""Samples of `funcgrad/ops/sort.py`."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from . import Sample, array, distinct, floats, integers, shapes, with_axis


@st.composite
def ascending(draw: Any) -> Sample:
    """Rows in ascending order, and as many rows of numbers to place."""
    lead = draw(shapes(ndim=(0, 2)))
    domain = draw(st.sampled_from([floats(-3, 3), integers(-3, 3)]))
    rows = draw(array(domain, (*lead, draw(st.integers(0, 4)))))
    rows.sort(axis=-1)
    values = draw(array(domain, lead + draw(shapes(ndim=(0, 2)))))
    return Sample((rows, values), {"side": draw(st.sampled_from(["left", "right"]))})


SAMPLES = {
    "sort": with_axis(floats(-3, 3), fill=distinct, side=(0, 4)),
    "argsort": with_axis([floats(-3, 3), integers(-1, 1)], side=(0, 4)),
    "searchsorted": ascending(),
}
