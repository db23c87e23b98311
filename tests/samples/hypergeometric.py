"""Samples of hypergeometric functions and elliptic integrals, away from their singular points."""

from __future__ import annotations

from hypothesis import strategies as st

from . import Sample, away, floats, integers, operands

PARAMETER = integers(1, 3)  # where there is no derivative by it, so that it is no float
POSITIVE = floats(0.4, 3)
X = floats(-3, 3)
M = away(floats(-2.0, 0.9), 0.5, -0.5, margin=0.01)  # formulas change at 1/2 and -1/2
PHI = floats(-5, 5)
BELOW_0 = away(floats(-2.0, 0.7), 0.5, margin=0.01)

# At the ends of m there are derivatives to one side: it is no array there.
JACOBI = operands(X, floats(0.05, 0.9)) | st.builds(
    lambda one, m: Sample((*one.args, m)), operands(X), st.sampled_from([0.0, 0.3, 0.9, 1.0])
)

SAMPLES = {
    "hyp0f1": operands([PARAMETER, POSITIVE], X),
    "hyp0f1_by_v": operands(POSITIVE, X, j=st.integers(0, 2)),
    "hyp1f1": operands([integers(-1, 3), X], [PARAMETER, POSITIVE], X),
    "kummer_by_parameters": operands(
        X, POSITIVE, away(X, 0.0, margin=0.1), i=st.integers(0, 1), j=st.integers(0, 1)
    ),
    "hyp2f1": operands(integers(-1, 3), PARAMETER, PARAMETER, floats(-2, 0.7), weak=False),
    "hyperu": operands(integers(-1, 3), PARAMETER, floats(0.3, 3)),
    "exprel": operands(X),
    "exprel_derivative": operands(
        [away(X, -2.0, 2.0, margin=0.02), floats(-9, 9)[::7]], order=st.just(1)
    ),
    "ellipk": operands(M),
    "ellipe": operands(M),
    "ellipkm1": operands(1.0 - M),
    "ellipem1": operands(1.0 - M),
    "ellipkinc": operands(PHI, BELOW_0),
    "ellipeinc": operands(PHI, BELOW_0),
    "elliptic_moment": st.one_of(
        *[operands(PHI, BELOW_0, j=j, q=q) for j, q in ((1, 0), (1, 1), (2, 1), (2, 2))]
    ),
    "jacobi_sn": JACOBI,
    "jacobi_cn": JACOBI,
    "jacobi_dn": JACOBI,
    "jacobi_am": JACOBI,
}
