"""Samples of the Fourier transforms; the length of a transformed axis is 1 or more."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from . import Sample, array, axes, axis, complexes, floats, shapes, with_axis

NORMS = st.sampled_from(["backward", "ortho", "forward"])
X = floats(-3, 3)


@st.composite
def along_axes(draw: Any) -> Sample:
    """An array and one or more of its axes."""
    shape = draw(shapes(ndim=(1, 3), side=(0, 5)))
    where = draw(axes(len(shape), least=1))
    shape = tuple(max(n, 1) if i in where else n for i, n in enumerate(shape))
    x = draw(array(draw(st.sampled_from([X, complexes()])), shape))
    return Sample((x,), {"axis": where, "inverse": draw(st.booleans()), "norm": draw(NORMS)})


@st.composite
def halves(draw: Any) -> Sample:
    """Half of the frequencies of `n` numbers."""
    shape = draw(shapes(ndim=(1, 3), side=(0, 3)))
    where, n = draw(axis(len(shape))), draw(st.integers(1, 6))
    shape = tuple(n // 2 + 1 if i == where else m for i, m in enumerate(shape))
    x = draw(array(draw(st.sampled_from([complexes(), X])), shape))
    return Sample((x,), {"axis": where, "n": n, "norm": draw(NORMS)})


SAMPLES = {
    "fft": along_axes(),
    "rfft": with_axis(X, side=(0, 6), least=1, norm=NORMS),
    "irfft": halves(),
}
