"""Samples of Schur's and Hessenberg's forms: of integers, since there is no derivative."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st

from . import Sample, array, integers, shapes


@st.composite
def square(draw: Any, many: int = 1, **params: Any) -> Sample:
    n = draw(st.integers(0, 3))
    shape = (*draw(shapes(ndim=(0, 2))), n, n)
    found = tuple(draw(array(integers(-3, 3), shape)) for _ in range(many))
    return Sample(found, {k: draw(v) for k, v in params.items()})


@st.composite
def forms(draw: Any) -> Sample:
    """What is like a real form: a triangle with one block, and a matrix."""
    t, z = draw(square(2)).args
    below = np.eye(t.shape[-1], k=-1, dtype=t.dtype)
    below[2:] = 0
    return Sample((np.triu(t) + np.tril(t, -1) * below, z))


SAMPLES = {
    "schur": square(output=st.sampled_from(["real", "complex"])),
    "rsf2csf": forms(),
    "hessenberg": square(),
}
