"""Samples of choices: away from ties and bounds."""

from __future__ import annotations

import numpy as np

from . import booleans, complexes, floats, operands

X = floats(-3, 3)
Y = floats(-3, 3) + 0.03  # half a step from X
NEGATIVE, POSITIVE = Y[Y < 0], Y[Y > 0]

SAMPLES = {
    "where": operands(booleans(), [X, complexes()], [Y, complexes()]),
    "clip": operands(X, NEGATIVE, POSITIVE),
    "nan_to_num": operands([X, complexes()], nan=0.0, posinf=9.0, neginf=None),
    "stop_gradient": operands([X, complexes(), np.arange(3), booleans()]),
} | {name: operands(X, Y) for name in ("maximum", "minimum", "fmax", "fmin")}
