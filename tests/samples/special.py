"""Samples of special functions: away from poles and kinks."""

from __future__ import annotations

from . import away, floats, operands, positive

X = floats(-3, 3)
NONZERO = away(X, 0.0, margin=0.1)

SAMPLES = {
    "logit": operands(floats(0.1, 0.9)),
    "relu": operands(NONZERO),
    "erf": operands(X),
    "erfc": operands(X),
    "erfcx": operands(floats(-1.5, 3.0)),
    "erfinv": operands(floats(-0.9, 0.9)),
    "ndtr": operands(X),
    "log_ndtr": operands(floats(-6, 3)),
    "log_ndtr_slope": operands(floats(-6, 3)),
    "ndtri": operands(floats(0.05, 0.95)),
    "ndtri_exp": operands(floats(-9.0, -0.05)),
    "entr": operands(positive()),
    "rel_entr": operands(positive(), positive()),
}
