"""The family of the softmax: logsumexp, softmax, log_softmax, and the exponential they share.

NOTE [Infinities] Every exponential here is ``exp(x - m)`` with ``x <= m``, so nothing overflows. It
counts ``-inf - (-inf)`` as -inf: where everything is -inf the weights are 0. ``inf - inf`` is 0 in the
derivative of a logarithm of sums, where entries that are inf share all the weight; a softmax is NaN
then, for what has overflowed has to be seen.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..algebra import elementwise, general
from ..core import Aval, tangent_dtype
from ..errors import ArgumentError, where
from ..half import in_single
from ..short import reduced_in, summed
from .exponential import exp
from .select import maximum, stop_gradient
from .structural import batch_axis_first, kept, without


def _lowered(xp: Any, x: Any, m: Any) -> Any:
    """``x - m`` for ``x <= m``, see NOTE [Infinities]; a new array, that may be written into."""
    dtype = tangent_dtype(xp.result_type(x, m))
    largest = float(np.finfo(dtype).max)
    lowered = xp.asarray(xp.subtract(x, xp.clip(xp.asarray(m, dtype=dtype), -largest, largest)))
    return xp.minimum(lowered, 0.0, out=lowered)


def _below_maximum(xp: Any, x: Any, axis: tuple[int, ...]) -> Any:
    """``x - max(x)``, NaN where that is inf, see NOTE [Infinities]; a new array."""
    m = reduced_in(xp, "max", x, axis, keepdims=True)
    return xp.asarray(xp.subtract(x, xp.maximum(m, -float(np.finfo(x.dtype).max))))


@elementwise(lambda w, _x, _m: w, lambda w, _x, _m: -w)
def exp_below(xp, x, m, /):
    """``exp(x - m)`` for ``x <= m``: 0 where both are -inf, 1 where both are inf.

    Shapes: broadcast.   Dtypes: floating.
    Derivative: ``exp(x - m)`` and ``-exp(x - m)``; as if ``x <= m`` everywhere.
    Raises: ShapeError: the shapes do not broadcast.
    Source: the shifted exponential of a stable softmax.

    >>> exp_below(np.array([-np.inf, 0.0, np.inf]), np.array([-np.inf, 0.0, np.inf])).tolist()
    [0.0, 1.0, 1.0]
    """
    lowered = _lowered(xp, x, m)
    return xp.exp(lowered, out=lowered)


def floating_dtype(name: str, dtype: Any) -> Any:
    """The dtype of the result: floats keep theirs, integers and booleans give float64.

    Raises: ArgumentError: complex numbers, which have no order.
    """
    if dtype.kind == "c":
        raise ArgumentError(f"{name}: needs real numbers, found {dtype.name}{where()}")
    return tangent_dtype(dtype)


def as_floating(xp: Any, name: str, x: Any) -> Any:
    """`x` as an array of floats."""
    x = xp.asarray(x)
    return x.astype(floating_dtype(name, x.dtype), copy=False)


def at_least_half(total: Any) -> Any:
    """A sum of weights, which is 1 up to rounding, or 0 where everything is -inf, to divide by."""
    return maximum(total, 0.5)


def _logsumexp_tangent(t: Any, ans: Any, x: Any, *, axis: tuple[int, ...]) -> Any:
    # Dividing by their sum makes the weights exact and independent of the shift, whatever the
    # rounding error of `ans`.
    weights = exp_below(x, stop_gradient(ans).reshape(kept(x.shape, axis)))
    return summed(t * weights, axis) / at_least_half(summed(weights, axis))


@general(
    _logsumexp_tangent,
    aval=lambda x, *, axis: Aval(without(x.shape, axis), floating_dtype("logsumexp", x.dtype)),
    batch=batch_axis_first,
)
@in_single
def logsumexp(xp, x, /, *, axis):
    """``log(sum_i exp(x_i))`` along the axes `axis` (a tuple), without overflow.

    Shapes: ``x: (*a, n, *b) -> (*a, *b)``.   Dtypes: real; integers give float64.
    Derivative: ``softmax(x)``; 0 where everything is -inf, and entries that are inf share evenly.
    Raises: ArgumentError: complex numbers.
    Source: Blanchard, Higham & Higham, "Accurately computing the log-sum-exp and softmax
    functions", IMA J. Numer. Anal. 41 (2021).

    >>> logsumexp(np.array([1000.0, 1000.0, -np.inf]), axis=(0,)).tolist()
    1000.693147
    """
    x = as_floating(xp, "logsumexp", x)
    if not math.prod(x.shape[a] for a in axis):
        return xp.full(without(x.shape, axis), -math.inf, dtype=x.dtype)
    m = reduced_in(xp, "max", x, axis, keepdims=True)
    total = reduced_in(xp, "sum", exp_below.impl(xp, x, m), axis, keepdims=True)
    # 1 or more, as the largest term is 1, except where everything is -inf.
    y = xp.log(xp.maximum(total, 1.0)) + m
    return y.reshape(without(x.shape, axis))


def _softmax_tangent(t: Any, ans: Any, _x: Any, *, axis: tuple[int, ...]) -> Any:
    weighted = t * ans
    mean = summed(weighted, axis).reshape(kept(_x.shape, axis))
    return weighted + -mean * ans  # not a difference: its transpose would negate a whole array


@general(
    _softmax_tangent,
    aval=lambda x, *, axis: Aval(x.shape, floating_dtype("softmax", x.dtype)),
    batch=batch_axis_first,
)
@in_single
def softmax(xp, x, /, *, axis):
    """``exp(x_i) / sum_j exp(x_j)`` along the axes `axis` (a tuple), without overflow.

    Shapes: ``x: (*a) -> (*a)``.   Dtypes: real; integers give float64.
    Derivative: ``y_i (dx_i - sum_j y_j dx_j)``; the value and it are NaN where everything is -inf, or
    an entry is inf.
    Raises: ArgumentError: complex numbers.
    Source: Blanchard, Higham & Higham, "Accurately computing the log-sum-exp and softmax
    functions", IMA J. Numer. Anal. 41 (2021).

    >>> softmax(np.array([1000.0, 1000.0, -np.inf]), axis=(0,)).tolist()
    [0.5, 0.5, 0.0]
    """
    x = as_floating(xp, "softmax", x)
    if not x.size:
        return xp.zeros_like(x)
    y = _below_maximum(xp, x, axis)
    xp.exp(y, out=y)
    y /= reduced_in(xp, "sum", y, axis, keepdims=True)
    return y


def _log_softmax_tangent(t: Any, ans: Any, _x: Any, *, axis: tuple[int, ...]) -> Any:
    mean = summed(t * exp(ans), axis).reshape(kept(_x.shape, axis))
    return t + -mean


@general(
    _log_softmax_tangent,
    aval=lambda x, *, axis: Aval(x.shape, floating_dtype("log_softmax", x.dtype)),
    batch=batch_axis_first,
)
@in_single
def log_softmax(xp, x, /, *, axis):
    """``x_i - log(sum_j exp(x_j))`` along the axes `axis` (a tuple), without overflow.

    Shapes: ``x: (*a) -> (*a)``.   Dtypes: real; integers give float64.
    Derivative: ``dx_i - sum_j exp(y_j) dx_j``; the value and it are NaN where everything is -inf, or
    an entry is inf.
    Raises: ArgumentError: complex numbers.
    Source: Blanchard, Higham & Higham, "Accurately computing the log-sum-exp and softmax
    functions", IMA J. Numer. Anal. 41 (2021).

    >>> log_softmax(np.array([0.0, 0.0, -np.inf]), axis=(0,)).tolist()
    [-0.693147, -0.693147, -inf]
    """
    x = as_floating(xp, "log_softmax", x)
    if not x.size:
        return xp.zeros_like(x)
    y = _below_maximum(xp, x, axis)
    y -= xp.log(reduced_in(xp, "sum", xp.exp(y), axis, keepdims=True))
    return y
