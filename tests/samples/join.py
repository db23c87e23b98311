"""Samples of `funcgrad/ops/join.py`."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from . import Sample, array, axis, complexes, floats, shapes

DOMAINS = st.sampled_from([floats(-3, 3), complexes()])


@st.composite
def joined(draw: Any) -> Sample:
    shape = draw(shapes(ndim=(1, 3)))
    where = draw(axis(len(shape)))
    lengths = draw(st.lists(st.integers(0, 3), min_size=1, max_size=3))
    parts = [(*shape[:where], n, *shape[where + 1 :]) for n in lengths]
    return Sample(tuple(draw(array(draw(DOMAINS), s)) for s in parts), {"axis": where})


@st.composite
def stacked(draw: Any) -> Sample:
    shape = draw(shapes(ndim=(0, 2)))
    count = draw(st.integers(1, 3))
    args = tuple(draw(array(draw(DOMAINS), shape)) for _ in range(count))
    return Sample(args, {"axis": draw(axis(len(shape) + 1))})


@st.composite
def repeated(draw: Any) -> Sample:
    shape = draw(shapes(ndim=(1, 3)))
    where = draw(axis(len(shape)))
    each = st.lists(st.integers(0, 3), min_size=shape[where], max_size=shape[where]).map(tuple)
    repeats = draw(st.integers(0, 3) | each)
    return Sample((draw(array(draw(DOMAINS), shape)),), {"repeats": repeats, "axis": where})


@st.composite
def rolled(draw: Any) -> Sample:
    shape = draw(shapes(ndim=(1, 3)))
    where = draw(st.lists(axis(len(shape)), max_size=3).map(tuple))
    shift = draw(st.lists(st.integers(-4, 4), min_size=len(where), max_size=len(where)))
    params = {"shift": tuple(shift), "axis": where}
    return Sample((draw(array(draw(DOMAINS), shape)),), params)


SAMPLES = {
    "concatenate": joined(),
    "stack_arrays": stacked(),
    "repeat": repeated(),
    "roll": rolled(),
}
