"""Samples of `funcgrad/ops/structural.py`."""

from __future__ import annotations

import math
from typing import Any

from hypothesis import strategies as st

from . import Sample, array, axes, complexes, floats, shapes, with_axes

DOMAINS = st.sampled_from([floats(-3, 3), complexes()])


@st.composite
def reshaped(draw: Any) -> Sample:
    shape = draw(shapes())
    size = math.prod(shape)
    flat = st.sampled_from([(size,), (1, size), (size, 1, 1)])
    other = flat | st.permutations(shape).map(tuple) | st.just((*shape, 1))
    return Sample((draw(array(draw(DOMAINS), shape)),), {"shape": draw(other)})


@st.composite
def transposed(draw: Any) -> Sample:
    shape = draw(shapes())
    order = draw(st.permutations(range(len(shape))))
    return Sample((draw(array(draw(DOMAINS), shape)),), {"axes": tuple(order)})


@st.composite
def broadcast(draw: Any) -> Sample:
    shape = draw(shapes())
    wide = tuple(draw(st.integers(0, 3)) if n == 1 else n for n in shape)
    lead = draw(shapes(ndim=(0, 2)))
    return Sample((draw(array(draw(DOMAINS), shape)),), {"shape": (*lead, *wide)})


@st.composite
def squeezed(draw: Any) -> Sample:
    shape = draw(shapes())
    where = draw(axes(len(shape)))
    shape = tuple(1 if i in where else n for i, n in enumerate(shape))
    return Sample((draw(array(draw(DOMAINS), shape)),), {"axis": where})


@st.composite
def expanded(draw: Any) -> Sample:
    shape = draw(shapes(ndim=(0, 2)))
    places = draw(axes(len(shape) + 1) | axes(len(shape) + 2, least=2))
    places = tuple(p for p in places if p < len(shape) + len(places))
    return Sample((draw(array(draw(DOMAINS), shape)),), {"axis": places})


@st.composite
def diagonals(draw: Any, *, embedded: bool = False) -> Sample:
    shape = draw(shapes(ndim=(2, 3)))
    axis1, axis2 = draw(st.permutations(range(len(shape))))[:2]
    offset = draw(st.integers(-3, 3))
    params: dict[str, Any] = {"offset": offset, "axis1": axis1, "axis2": axis2}
    if embedded:
        length = max(0, min(shape[axis1] + min(offset, 0), shape[axis2] - max(offset, 0)))
        params["shape"] = shape
        shape = (*(n for i, n in enumerate(shape) if i not in (axis1, axis2)), length)
    return Sample((draw(array(draw(DOMAINS), shape)),), params)


@st.composite
def matrices(draw: Any) -> Sample:
    shape = draw(shapes(ndim=(2, 3)))
    return Sample((draw(array(draw(DOMAINS), shape)),), {"k": draw(st.integers(-3, 3))})


SAMPLES = {
    "reshape": reshaped(),
    "transpose": transposed(),
    "squeeze": squeezed(),
    "expand_dims": expanded(),
    "flip": with_axes([floats(-3, 3), complexes()]),
    "broadcast_to": broadcast(),
    "sum": with_axes([floats(-3, 3), complexes()]),
    "diagonal": diagonals(),
    "diagonal_embed": diagonals(embedded=True),
    "tril": matrices(),
    "triu": matrices(),
}
