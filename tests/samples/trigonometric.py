"""Samples of trigonometric and hyperbolic functions: away from poles and branch cuts."""

from __future__ import annotations

from hypothesis import strategies as st

from . import away, complexes, floats, operands

X = floats(-2, 2)
EITHER = [X, complexes()]
SMALL = complexes(0.1, 0.6)  # within the unit circle, on which the branch points lie

SAMPLES = {
    "sin": operands(EITHER),
    "cos": operands(EITHER),
    "tan": operands([floats(-1.2, 1.2), SMALL]),
    "one_less_square": operands([X, SMALL]),
    "arcsin": operands([floats(-0.8, 0.8), SMALL]),
    "arccos": operands([floats(-0.8, 0.8), SMALL]),
    "arctan": operands([X, SMALL]),
    "arctan2": operands(X, floats(0.3, 2.0)),
    "sinh": operands(EITHER),
    "cosh": operands(EITHER),
    "tanh": operands([X, SMALL]),
    "arcsinh": operands([X, SMALL]),
    "arccosh": operands([floats(1.3, 4.0), 1j * floats(0.3, 2.0) + 0.4]),
    "arctanh": operands([floats(-0.8, 0.8), SMALL]),
    "sinc": operands(EITHER),
    "sinc_derivative": operands([away(X, -1.0, 1.0, margin=0.02), SMALL], order=st.integers(1, 3)),
    "deg2rad": operands(floats(-180, 180)),
    "rad2deg": operands(X),
}
