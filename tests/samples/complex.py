"""Samples of complex parts."""

from __future__ import annotations

from . import complexes, floats, operands

X = floats(-3, 3)

SAMPLES = {
    "real": operands(complexes()),
    "imag": operands(complexes()),
    "conjugate": operands([X, complexes()]),
    "complex_from": operands(X, X),
}
