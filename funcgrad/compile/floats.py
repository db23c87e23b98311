"""Operations on 0-d float64 values as Python's, which take a tenth of NumPy's time.

Layer 4½.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from .steps import UFUNC, WHERE, Constant, Lowered, Step, Value

FLOAT64 = np.dtype(np.float64)
BOOL = np.dtype(np.bool_)

# How 0-d float64 operations read on Python's floats.
ON_FLOATS: dict[Any, str] = {
    np.add: "{} + {}",
    np.subtract: "{} - {}",
    np.multiply: "{} * {}",
    np.divide: "{} / {}",
    np.negative: "-{}",
    np.positive: "{}",
    np.square: "{0} * {0}",
    np.reciprocal: "1.0 / {}",
    np.absolute: "abs({})",
    np.maximum: "{0} if {0} >= {1} or {0} != {0} else {1}",
    np.minimum: "{0} if {0} <= {1} or {0} != {0} else {1}",
    np.power: "math_pow({}, {})",
    np.less: "{} < {}",
    np.less_equal: "{} <= {}",
    np.greater: "{} > {}",
    np.greater_equal: "{} >= {}",
    np.equal: "{} == {}",
    np.not_equal: "{} != {}",
    **{
        getattr(np, name): f"math_{name}({{}})"
        for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh", "exp", "expm1", "log", "log1p")
    },
    **{getattr(np, name): f"math_{name}({{}})" for name in ("sqrt", "log2", "log10")},
    np.arcsin: "math_asin({})",
    np.arccos: "math_acos({})",
    np.arctan: "math_atan({})",
    np.arctan2: "math_atan2({}, {})",
    np.arcsinh: "math_asinh({})",
    np.arccosh: "math_acosh({})",
    np.arctanh: "math_atanh({})",
}


def as_python(value: Value, text: str) -> str:
    """A 0-d array as a number of Python's."""
    return f"{'bool' if value.dtype == BOOL else 'float'}({text})"


def read_once(program: Lowered, float_steps: Iterable[Step]) -> set[Value]:
    """Values that are read once, on Python's floats: their expressions are put where that is."""
    uses: dict[Value, int] = dict.fromkeys(program.outs, 2)
    for step in program.steps:
        text = "" if step.kind == WHERE else ON_FLOATS.get(step.function, "")
        once = step in float_steps and "{0}" not in text
        for v in step.operands:
            uses[v] = uses.get(v, 0) + (1 if once else 2)
    return {v for v, n in uses.items() if n == 1}


def float_steps(program: Lowered) -> dict[Step, tuple[Value, ...]]:
    """The steps that run on Python's floats and booleans, and their values, which are such."""

    def could_be(value: Value) -> bool:
        if value.__class__ is Constant and value.weak:
            return value.dtype.kind in "if"
        return not value.shape and value.dtype in (FLOAT64, BOOL)

    found: dict[Step, tuple[Value, ...]] = {}
    for step in program.steps:
        known = step.kind == WHERE or (
            step.kind == UFUNC and step.function in ON_FLOATS and step.options is None
        )
        if known and could_be(step.out) and all(map(could_be, step.operands)):
            # What is bool and not float would need other words: True + True.
            numbers = step.operands[1:] if step.kind == WHERE else step.operands
            if all(v.dtype != BOOL for v in numbers):
                found[step] = (step.out, *step.operands)
    return found
