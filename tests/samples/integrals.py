"""Samples of functions defined by integrals: away from poles and branch cuts."""

from __future__ import annotations

from . import away, complexes, floats, integers, operands, positive

X = floats(-3, 3)
NONZERO = away(X, 0.0, margin=0.1)
LARGE = floats(8, 30)  # where asymptotic series take over
Z = complexes()

SAMPLES = {
    "expi": operands([NONZERO, Z]),
    "exp1": operands([positive(), Z]),
    "expn": operands(integers(0, 5), positive()),
    "sine_integral": operands([X, Z]),
    "cosine_integral": operands([NONZERO, Z]),
    "hyperbolic_sine_integral": operands([X, Z]),
    "hyperbolic_cosine_integral": operands([NONZERO, Z]),
    "fresnel_sine": operands([floats(-2, 2), complexes(high=1.5)]),
    "fresnel_cosine": operands([floats(-2, 2), complexes(high=1.5)]),
    "dawsn": operands([X, LARGE, Z]),
    "erfi": operands([floats(-1.5, 1.5), complexes(high=1.5)]),
    "wofz": operands([X, LARGE, Z]),
    "owens_t": operands(X, X),
    "spence": operands([positive(), Z]),
}
