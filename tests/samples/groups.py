"""Samples of `funcgrad/ops/groups.py`."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st

from . import Sample, array, distinct, floats, shapes


@st.composite
def rows_in_groups(draw: Any) -> Sample:
    """Rows without equal elements, the group of each, and how many groups there are."""
    shape = draw(shapes(ndim=(1, 3), side=(0, 4)))
    count = draw(st.integers(1, 4))
    places = draw(array(np.arange(-count, count), shape[:1]))
    return Sample((draw(distinct(floats(-3, 3), shape)), places), {"count": count})


SAMPLES = {"group_max": rows_in_groups(), "group_min": rows_in_groups()}
