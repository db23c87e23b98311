"""Samples of arithmetic: away from zero divisors and from the jumps of quotients."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from . import Sample, away, complexes, floats, integers, operands, positive

X = floats(-3, 3)
NONZERO = away(X, 0.0, margin=0.3)
EITHER = [X, complexes()]

# Quotients of these two are near no integer.
DIVIDENDS = away(floats(-2.7, 2.7), *range(-3, 4), margin=0.3)
DIVISORS = [floats(0.95, 1.05), floats(-1.05, -0.95)]


@st.composite
def constant_powers(draw: Any) -> Sample:
    """A base and a Python number as exponent; a base of either sign where that is an integer."""
    exponent = draw(st.sampled_from([-2, -1, 0, 1, 2, 3, 0.0, 2.0, -1.5, 0.5, 2.5]))
    base = NONZERO if float(exponent).is_integer() else positive(0.3)
    (x,), params = draw(operands([base, complexes()]))
    return Sample((x, exponent), params)


POWERS = st.one_of(
    operands(positive(0.3, 3.0), floats(-2, 2)),
    operands(complexes(), [floats(-2, 2), complexes()]),
    operands(NONZERO, integers(-3, 3), weak=False),
    constant_powers(),
)

SAMPLES = {
    "add": operands(EITHER, EITHER),
    "subtract": operands(EITHER, EITHER),
    "multiply": operands(EITHER, EITHER),
    "divide": operands(EITHER, [NONZERO, complexes()]),
    "negative": operands(EITHER),
    "positive": operands(EITHER),
    "reciprocal": operands([NONZERO, complexes()]),
    "square": operands(EITHER),
    "power": POWERS,
    "float_power": POWERS,
    "floor_divide": operands(DIVIDENDS, DIVISORS),
    "remainder": operands(DIVIDENDS, DIVISORS),
    "fmod": operands(DIVIDENDS, DIVISORS),
    "gcd": operands(integers(-12, 12), integers(-12, 12)),
    "lcm": operands(integers(-12, 12), integers(-12, 12)),
    "absolute": operands([NONZERO, complexes()]),
    "hypot": operands(NONZERO, X),
    "copysign": operands(NONZERO, NONZERO),
    "ldexp": operands(X, integers(-3, 3)),
    "zero_preserving_multiply": operands(EITHER, EITHER),
}
