"""Samples of `funcgrad/ops/implicit.py`: systems that are far from singular."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st

from . import Sample, array, broadcastable, complexes, floats
from .linalg import NUMBERS, SIDES, lead

SMALL = floats(-0.25, 0.25)


@st.composite
def sylvester(draw: Any) -> Sample:
    m, n = draw(SIDES), draw(SIDES)
    leads = draw(broadcastable(3, ndim=(0, 1), side=(0, 2)))
    domain = draw(st.sampled_from(NUMBERS))
    a = draw(array(domain, (*leads[0], m, m))) + 1.5 * np.eye(m)
    b = draw(array(domain, (*leads[1], n, n))) + np.eye(n)
    return Sample((a, b, draw(array(domain, (*leads[2], m, n)))))


@st.composite
def banded(draw: Any) -> Sample:
    lower, upper, n, k = (
        draw(st.integers(0, 2)),
        draw(st.integers(0, 2)),
        draw(SIDES),
        draw(SIDES),
    )
    leads = draw(broadcastable(2, ndim=(0, 1), side=(0, 2)))
    domain = draw(st.sampled_from(NUMBERS))
    ab = draw(array(domain, (*leads[0], lower + upper + 1, n)))
    ab[..., upper, :] += 2.0
    b = draw(array(domain, (*leads[1], n, k)))
    return Sample((ab, b), {"lower": lower, "upper": upper})


@st.composite
def recursive(draw: Any) -> Sample:
    leads = draw(broadcastable(2, ndim=(0, 2), side=(0, 2)))
    domain = draw(st.sampled_from([SMALL, complexes() * 0.15]))
    a = draw(array(domain, (*leads[0], draw(st.integers(0, 3)))))
    u = draw(array(domain, (*leads[1], draw(st.integers(0, 5)))))
    return Sample((a, u), {"reverse": draw(st.booleans())})


@st.composite
def decaying(draw: Any) -> Sample:
    """As many eigenvalues near -1 as are asked for, and the others near 1."""
    count, others = draw(st.integers(0, 2)), draw(st.integers(0, 2))
    near = np.diag([-1.0] * count + [1.0] * others)
    part = draw(array(draw(st.sampled_from(NUMBERS)), (*draw(lead()), *near.shape)))
    return Sample((part * 0.5 + near,), {"count": count})


SAMPLES = {
    "stable_subspace": decaying(),
    "sylvester": sylvester(),
    "banded_solve": banded(),
    "all_pole": recursive(),
}
