"""Samples of rounding and signs: away from the jumps."""

from __future__ import annotations

from . import away, floats, operands

NUMBERS = away(floats(-3.2, 3.2), *(n / 2 for n in range(-7, 8)), margin=0.05)

SAMPLES = {
    name: operands(NUMBERS)
    for name in ("sign", "floor", "ceil", "trunc", "rint", "signbit", "binary_exponent")
} | {
    "heaviside": operands(NUMBERS, floats(-1, 1)),
    "spacing": operands(away(floats(-3.2, 3.2, count=97), 0.0, 0.5, 1.0, 2.0, -0.5, -1.0, -2.0)),
    "nextafter": operands(floats(-3, 3), floats(-3, 3) + 0.02),
}
