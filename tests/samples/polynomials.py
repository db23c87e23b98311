"""Samples of orthogonal polynomials: of low degree, up to the ends of their intervals."""

from __future__ import annotations

from . import floats, integers, operands

DEGREE = integers(0, 5)
WEIGHT = integers(0, 3)  # no derivative by it, so it is no float
X = floats(-1.5, 1.5)

SAMPLES = {
    "eval_jacobi": operands(DEGREE, WEIGHT, WEIGHT, X, weak=False),
    "eval_gegenbauer": operands(DEGREE, WEIGHT, X),
    "eval_legendre": operands(integers(-3, 5), X),
    "eval_chebyt": operands(integers(-3, 5), X),
    "eval_chebyu": operands(integers(-4, 5), X),
    "eval_genlaguerre": operands(DEGREE, WEIGHT, floats(-1, 4)),
    "eval_laguerre": operands(DEGREE, floats(-1, 4)),
    "eval_hermite": operands(DEGREE, X),
    "eval_hermitenorm": operands(DEGREE, X),
}
