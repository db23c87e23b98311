"""Derivatives of hypergeometric functions by their parameters.

Each term of a series is carried with its derivatives. Where terms of both signs leave less than half of
the digits, or thousands of them are not enough, the result is nan.
"""

from __future__ import annotations

import math
from types import ModuleType
from typing import Any

import numpy as np  # noqa: F401  (doctests)

from ..algebra import elementwise
from .from_scipy import scipy_function, together

MOST = 4000  # terms
LEAST = 1e-18  # the part of a sum that is left out
SURE = 1e-8  # the part of a sum that rounding may have changed


def _sums(xp: ModuleType, unit: Any, tops: list[Any], b: Any, x: Any, i: int, j: int) -> Any:
    """`unit` times ``sum_k (a)_k x**k / ((b)_k k!)``, the one `a` in `tops` or none, differentiated up
    to i times by `a` and j times by `b`; and the sums of the sizes.
    """
    pairs = [(p, q) for p in range(i, -1, -1) for q in range(j + 1)]
    zero = sum(tops, 0.0 * (b + x)) * 0.0
    term = dict.fromkeys(pairs, zero)
    term[0, 0] = zero + unit
    total, size = dict(term), {pair: xp.abs(t) for pair, t in term.items()}
    for k in range(MOST):
        for p, q in pairs:  # what is read of lower order in `a` is still of the last term
            factor = term[p, q]
            for a in tops:
                factor = (a + k) * factor + (p * term[p - 1, q] if p else 0.0)
            below = q * term[p, q - 1] if q else 0.0
            term[p, q] = (x / (k + 1.0) * factor - below) / (b + k)
            total[p, q] = total[p, q] + term[p, q]
            size[p, q] = size[p, q] + xp.abs(term[p, q])
        if k % 16 == 15 and not any(xp.any(xp.abs(term[s]) > LEAST * size[s]) for s in pairs):
            break
    else:
        total = {s: xp.where(xp.abs(term[s]) > LEAST * size[s], xp.nan, total[s]) for s in pairs}
    return total, size


def _sure(xp: ModuleType, total: Any, size: Any, whole: Any) -> Any:
    """`total`, nan where it and the function itself are small beside the sizes of its terms."""
    lost = 2e-16 * size > SURE * xp.maximum(xp.abs(total), xp.abs(whole))
    return xp.where(lost, xp.nan, total)


# ---------------------------------------------------------------- 0F1


def _below_by_z(_y: Any, v: Any, z: Any, *, j: int) -> Any:
    """The derivative by `z`, ``F(v + 1, z) / v``, j times by v."""
    found = 0.0
    for k in range(j + 1):
        factor = math.comb(j, k) * math.factorial(k) * (-1.0) ** k
        found = found + factor * hyp0f1_by_v(v + 1.0, z, j=j - k) / v ** (k + 1)
    return found


@elementwise(lambda _y, v, z, *, j: hyp0f1_by_v(v, z, j=j + 1), _below_by_z)
def hyp0f1_by_v(xp, v, z, /, *, j):
    """`hyp0f1`, differentiated j times by `v`.

    Shapes: broadcast.   Dtypes: real; integers give floats.
    Derivative: that with j + 1 by `v`, that of ``hyp0f1(v + 1, z) / v`` by `z`; smooth inside its
    domain.
    Raises: ArgumentError: complex numbers.
    Source: DLMF 16.2.1, term by term; nan where the terms cancel, far below 0.

    >>> hyp0f1_by_v(0.5, np.array([0.0, 1.0]), j=1).round(4).tolist()
    [0.0, -6.0727]
    """
    given = together(xp, "hyp0f1_by_v", v, z)
    v, z = (xp.asarray(x, xp.float64) for x in given)
    total, size = _sums(xp, 1.0, [], v, z, 0, j)
    found = _sure(xp, total[0, j], size[0, j], total[0, 0])
    return found.astype(xp.result_type(*given))


# ---------------------------------------------------------------- 1F1


def _kummer_by_x(_y: Any, a: Any, b: Any, x: Any, *, i: int, j: int) -> Any:
    """The derivative by `x`, ``a / b M(a + 1, b + 1, x)``, i times by a and j times by b."""
    found = 0.0
    for k in range(j + 1):
        factor = math.comb(j, k) * math.factorial(k) * (-1.0) ** k
        inner = a * kummer_by_parameters(a + 1.0, b + 1.0, x, i=i, j=j - k)
        if i:
            inner = inner + i * kummer_by_parameters(a + 1.0, b + 1.0, x, i=i - 1, j=j - k)
        found = found + factor * inner / b ** (k + 1)
    return found


@elementwise(
    lambda _y, a, b, x, *, i, j: kummer_by_parameters(a, b, x, i=i + 1, j=j),
    lambda _y, a, b, x, *, i, j: kummer_by_parameters(a, b, x, i=i, j=j + 1),
    _kummer_by_x,
)
def kummer_by_parameters(xp, a, b, x, /, *, i, j):
    """`hyp1f1`, differentiated i times by `a` and j times by `b`.

    Shapes: broadcast.   Dtypes: real; integers give floats.
    Derivative: that with i + 1 by `a`, with j + 1 by `b`, by `x` that of
    ``a / b hyp1f1(a + 1, b + 1, x)``; smooth inside its domain.
    Raises: ArgumentError: complex numbers. ImportError: SciPy is not installed.
    Source: DLMF 13.2.2, term by term, and 13.2.39 below 0; nan where the terms cancel.

    >>> kummer_by_parameters(1.0, 2.0, np.array([0.0, 1.0]), i=1, j=0).round(4).tolist()
    [0.0, 0.8475]
    """
    given = together(xp, "kummer_by_parameters", a, b, x)
    if i + j == 0:
        return scipy_function(xp, "hyp1f1")(*given)
    a, b, x = (xp.asarray(v, xp.float64) for v in given)
    low = x < 0
    most = i + j if xp.any(low) else i
    unit = xp.exp(-0.5 * xp.abs(x))  # half before and half after: the sum may overflow
    total, size = _sums(xp, unit, [xp.where(low, b - a, a)], b, xp.abs(x), most, j)
    above, below = (total[i, j], size[i, j]), (0.0, 0.0)
    if xp.any(low):  # e**x M(b - a, b, -x): by `a` minus, by `b` both
        for k in range(j + 1):
            sign = math.comb(j, k) * (-1.0) ** i
            below = below[0] + sign * total[i + k, j - k], below[1] + abs(sign) * size[i + k, j - k]
    found, sizes = (xp.where(low, one, other) for one, other in zip(below, above, strict=True))
    found = _sure(xp, found, sizes, total[0, 0]) * xp.exp(0.5 * x)
    return found.astype(xp.result_type(*given))
