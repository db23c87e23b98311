"""Struve's functions, element by element."""

from __future__ import annotations

import math
from typing import Any

import numpy as np  # noqa: F401  (doctests)

from ..algebra import Primitive, elementwise
from .arithmetic import absolute, divide, power
from .from_scipy import by_nothing, scipy_function, together
from .gamma import rgamma
from .logic import equal, less
from .select import where


def _slope(function: Primitive, y: Any, v: Any, x: Any, sign: float) -> Any:
    """By the order below, and near 0, where that divides by x, by those below and above.

    Near 0 these cancel for order -1; ``H_-1 = 2/pi - H_1`` and ``L_-1 = 2/pi + L_1``.
    """
    near = less(absolute(x), 1.0)
    inner, outer = where(near, x, 0.5), where(near, 1.0, x)
    turned = equal(v, -1.0)
    order = where(turned, 1.0, v)
    first = power(inner * 0.5, order) * rgamma(order + 1.5) * (1.0 / math.sqrt(math.pi))
    inside = (function(order - 1.0, inner) + sign * function(order + 1.0, inner) + first) * 0.5
    inside = where(turned, sign * inside, inside)
    outside = function(v - 1.0, outer) - divide(v * where(near, 0.0, y), outer)
    return where(near, inside, outside)


@elementwise(by_nothing("struve", "v"), lambda y, v, x: _slope(struve, y, v, x, -1.0))
def struve(xp, v, x, /):
    """Struve's function of order `v`: ``H_v(x)``; nan for x < 0 unless `v` is a whole number.

    Shapes: broadcast.   Dtypes: real; integers give floats.
    Derivative: ``H_(v - 1)(x) - v H_v(x) / x`` by `x`; smooth for x > 0, and everywhere for whole `v`.
    Raises: MissingRuleError: the derivative by `v`. ArgumentError: complex numbers.
    ImportError: SciPy is not installed.
    Source: DLMF 11.4.23-27; SciPy reference, ``scipy.special.struve``.

    >>> struve(np.array([0, 1]), 1.0).round(4).tolist()
    [0.5687, 0.1985]
    """
    return scipy_function(xp, "struve")(*together(xp, "struve", v, x))


@elementwise(by_nothing("modstruve", "v"), lambda y, v, x: _slope(modstruve, y, v, x, 1.0))
def modstruve(xp, v, x, /):
    """The modified Struve function of order `v`: ``L_v(x)``; nan for x < 0 unless `v` is whole.

    Shapes: broadcast.   Dtypes: real; integers give floats.
    Derivative: ``L_(v - 1)(x) - v L_v(x) / x`` by `x`; smooth for x > 0, and everywhere for whole `v`.
    Raises: MissingRuleError: the derivative by `v`. ArgumentError: complex numbers.
    ImportError: SciPy is not installed.
    Source: DLMF 11.4.25-29; SciPy reference, ``scipy.special.modstruve``.

    >>> modstruve(np.array([0, 1]), 1.0).round(4).tolist()
    [0.7102, 0.2268]
    """
    return scipy_function(xp, "modstruve")(*together(xp, "modstruve", v, x))
