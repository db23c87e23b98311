"""Samples of inverse functions: away from branch points and poles."""

from __future__ import annotations

from hypothesis import strategies as st

from . import complexes, floats, operands, positive

Z = complexes()
EXPONENT = [floats(-1, 1), floats(-0.004, 0.004)]  # where series take over

SAMPLES = {
    "lambertw": st.one_of(
        operands([floats(-0.25, 3), Z], k=0, tol=1e-8),
        operands([positive(), Z], k=st.sampled_from([1, -1, 2]), tol=1e-8),
        operands(floats(-0.3, -0.1), k=-1, tol=1e-8),
    ),
    "wrightomega": operands([floats(-3, 3), Z]),
    "boxcox": operands(positive(), EXPONENT),
    "boxcox1p": operands(floats(-0.8, 3), EXPONENT),
    "inv_boxcox": operands(floats(-0.8, 0.8), EXPONENT),
    "inv_boxcox1p": operands(floats(-0.8, 0.8), EXPONENT),
    "cosm1": operands(floats(-3, 3)),
    "powm1": operands(positive(), floats(-2, 2)),
}
