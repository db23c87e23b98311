"""Samples of exponentials, logarithms and roots."""

from __future__ import annotations

from . import away, complexes, floats, operands, positive

X = floats(-2, 2)
EITHER = [X, complexes()]
POSITIVE = [positive(), complexes()]

SAMPLES = {
    "exp": operands(EITHER),
    "exp2": operands(EITHER),
    "expm1": operands(EITHER),
    "log": operands(POSITIVE),
    "log2": operands(POSITIVE),
    "log10": operands(POSITIVE),
    "log1p": operands([floats(-0.7, 3.0), complexes(angle=2.0)]),
    "sqrt": operands(POSITIVE),
    "cbrt": operands(away(X, 0.0, margin=0.3)),
    **dict.fromkeys(["expit", "expit_slope", "sigmoid", "log_expit"], operands(floats(-3, 3))),
    "logaddexp": operands(X, X),
    "logaddexp2": operands(X, X),
    "xlogy": operands(EITHER, POSITIVE),
    "xlog1py": operands(EITHER, [floats(-0.7, 3.0), complexes(angle=2.0)]),
}
