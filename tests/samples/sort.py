"""Samples of `funcgrad/ops/sort.py`."""

from __future__ import annotations

from typing import Any

import numpy as np
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


@st.composite
def first_places(draw: Any) -> Sample:
    """Rows with equal elements, short and so long that few are looked at."""
    lead = draw(shapes(ndim=(0, 2), side=(0, 3)))
    n = draw(st.sampled_from([1, 3, 70]))
    domain = draw(st.sampled_from([floats(-99, 99), integers(-1, 1)]))
    x = draw(array(domain, (*lead, n)))
    k = draw(st.integers(0, min(n, 20)))
    return Sample((x,), {"k": k, "axis": x.ndim - 1, "largest": draw(st.booleans())})


@st.composite
def ranked(draw: Any) -> Sample:
    """Rows with and without equal elements and NaN, few ranks or many, alike for all rows or not."""
    lead = draw(shapes(ndim=(0, 2), side=(0, 3)))
    n = draw(st.sampled_from([1, 3, 70]))
    domain = draw(st.sampled_from([floats(-99, 99), integers(-1, 1)]))
    x = draw(array(domain, (*lead, n)))
    if draw(st.booleans()) and x.dtype.kind == "f":
        x[..., : draw(st.integers(0, n))] = np.nan
    k = draw(st.sampled_from([1, 3, 20]))
    alike = draw(st.booleans())
    rank = draw(array(integers(0, n - 1), (*([1] * len(lead) if alike else lead), k)))
    return Sample((x, rank), {"axis": x.ndim - 1})


SAMPLES = {
    "argrank": ranked(),
    "argtopk": first_places(),
    "sort": with_axis(floats(-3, 3), fill=distinct, side=(0, 4)),
    "argsort": with_axis([floats(-3, 3), integers(-1, 1)], side=(0, 4)),
    "searchsorted": ascending(),
}
