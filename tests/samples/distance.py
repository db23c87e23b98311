"""Samples of `funcgrad/ops/distance.py`."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from . import Sample, array, broadcastable, floats


@st.composite
def points(draw: Any) -> Sample:
    """Two sets of points, in stacks that broadcast."""
    m, n, k = (draw(st.integers(0, 3)) for _ in range(3))
    leads = draw(broadcastable(2, ndim=(0, 1), side=(0, 2)))
    domain = floats(-2, 2)
    return Sample((draw(array(domain, (*leads[0], m, k))), draw(array(domain, (*leads[1], n, k)))))


SAMPLES = {"square_distances": points()}
