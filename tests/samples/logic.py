"""Samples of comparisons, truth values and bit operations."""

from __future__ import annotations

import numpy as np

from . import booleans, floats, integers, operands

NUMBERS = floats(-3, 3)
WHOLE = integers(-5, 5)
TRUTHS = [booleans(), integers(-1, 1), np.array([-1.5, 0.0, 2.0])]

SAMPLES = (
    {
        name: operands([NUMBERS, WHOLE], [NUMBERS + 0.02, WHOLE])
        for name in ("equal", "not_equal", "less", "less_equal", "greater", "greater_equal")
    }
    | {
        name: operands([np.array([-1.0, 0.0, 2.5, np.inf, -np.inf, np.nan]), WHOLE])
        for name in ("isnan", "isinf", "isfinite")
    }
    | {name: operands(TRUTHS, TRUTHS) for name in ("logical_and", "logical_or", "logical_xor")}
    | {"logical_not": operands(TRUTHS)}
    | {name: operands(WHOLE, WHOLE) for name in ("bitwise_and", "bitwise_or", "bitwise_xor")}
    | {name: operands(WHOLE, integers(0, 6)) for name in ("left_shift", "right_shift")}
    | {"invert": operands([WHOLE, booleans()])}
)
