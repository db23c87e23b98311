"""Samples of `funcgrad/ops/matrix_functions.py`; roots and logarithms near a multiple of 1."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st

from . import Sample, array, broadcastable, complexes, floats
from .linalg import NUMBERS, SIDES, lead

LARGE = [floats(-3, 3), complexes()]
SMALL = st.integers(0, 2)  # SciPy's logarithm takes a millisecond, and a derivative many of them


@st.composite
def any_square(draw: Any) -> Sample:
    n = draw(SIDES)
    return Sample((draw(array(draw(st.sampled_from(LARGE)), (*draw(lead()), n, n))),))


@st.composite
def near_one(draw: Any, sides: Any = SIDES, most: int = 1) -> Sample:
    n = draw(sides)
    part = draw(array(draw(st.sampled_from(NUMBERS)), (*draw(lead(most)), n, n)))
    return Sample((part + draw(st.sampled_from([1.0, 2.0])) * np.eye(n),))


@st.composite
def with_direction(draw: Any, base: float, sides: Any = SIDES, most: int = 1) -> Sample:
    n = draw(sides)
    leads = draw(broadcastable(2, ndim=(0, most), side=(0, 2)))
    domain = draw(st.sampled_from(NUMBERS))
    a, e = (draw(array(domain, (*at, n, n))) for at in leads)
    return Sample((a + base * np.eye(n), e))


@st.composite
def tall(draw: Any) -> Sample:
    """Singular values far from 0."""
    n = draw(SIDES)
    shape = (*draw(lead()), n + draw(st.integers(0, 2)), n)
    part = draw(array(draw(st.sampled_from(NUMBERS)), shape))
    return Sample((part + np.eye(*shape[-2:]),))


SAMPLES = {
    "expm": any_square(),
    "expm_frechet": with_direction(0.0),
    "logm": near_one(SMALL, 0),
    "logm_frechet": with_direction(1.5, SMALL, 0),
    "polar": tall(),
    "sqrtm": near_one(),
}
