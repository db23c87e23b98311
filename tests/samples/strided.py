"""Samples of one axis read along several."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from . import Sample, array, complexes, floats, shapes

DOMAINS = st.sampled_from([floats(-3, 3), complexes()])


@st.composite
def several(draw: Any, *, added: bool = False) -> Sample:
    """Some elements read several times, some not at all; or the adjoint of that."""
    shape = draw(shapes(ndim=(0, 3)))
    strides = tuple(draw(st.lists(st.integers(0, 4), min_size=len(shape), max_size=len(shape))))
    offset = draw(st.integers(0, 2))
    last = offset + sum(max(n - 1, 0) * s for n, s in zip(shape, strides, strict=True))
    length = last + 1 + draw(st.integers(0, 2))
    params: dict[str, Any] = {"shape": shape, "strides": strides, "offset": offset}
    lead = draw(shapes(ndim=(0, 1)))
    if added:
        params["length"] = length
    x = draw(array(draw(DOMAINS), (*lead, *(shape if added else (length,)))))
    return Sample((x,), params)


SAMPLES = {"strided": several(), "add_strided": several(added=True)}
