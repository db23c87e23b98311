"""Samples of Struve's functions."""

from __future__ import annotations

from . import floats, integers, operands, positive
from .bessel import of_order

X = floats(-3, 3)

SAMPLES = {
    name: operands(integers(0, 3), X) | of_order(1.5, positive(0.25))
    for name in ("struve", "modstruve")
}
