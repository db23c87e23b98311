"""Samples of complex parts."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from . import Sample, array, complexes, floats, operands, shapes

X = floats(-3, 3)


@st.composite
def pairs(draw: Any) -> Sample:
    return Sample((draw(array(X, (*draw(shapes(ndim=(0, 2))), 2))),))


SAMPLES = {
    "real": operands(complexes()),
    "imag": operands(complexes()),
    "as_real": operands(complexes()),
    "as_complex": pairs(),
    "conjugate": operands([X, complexes()]),
    "complex_from": operands(X, X),
}
