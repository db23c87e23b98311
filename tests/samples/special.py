"""Samples of special functions: away from poles and kinks."""

from __future__ import annotations

from hypothesis import strategies as st

from . import away, floats, operands, positive

X = floats(-3, 3)
NONZERO = away(X, 0.0, margin=0.1)
SMALL = away(floats(-0.06, 0.06), 0.0, margin=0.004)  # where series take over
BETWEEN_POLES = away(floats(-1.7, 4.0), -2.0, -1.0, 0.0, margin=0.3)

SAMPLES = {
    "expit": operands(X),
    "logit": operands(floats(0.1, 0.9)),
    "log_expit": operands(X),
    "relu": operands(NONZERO),
    "erf": operands(X),
    "erfc": operands(X),
    "erfcx": operands(floats(-1.5, 3.0)),
    "erfinv": operands(floats(-0.9, 0.9)),
    "ndtr": operands(X),
    "log_ndtr": operands(floats(-6, 3)),
    "ndtri": operands(floats(0.05, 0.95)),
    "gammaln": operands(BETWEEN_POLES),
    "gamma": operands(BETWEEN_POLES),
    "digamma": operands(BETWEEN_POLES),
    "polygamma": operands(BETWEEN_POLES, n=st.integers(1, 3)),
    "i0": operands([X, SMALL]),
    "i1": operands([X, SMALL]),
    "i0e": operands([NONZERO, SMALL]),
    "i1e": operands([NONZERO, SMALL]),
    "entr": operands(positive()),
    "rel_entr": operands(positive(), positive()),
}
