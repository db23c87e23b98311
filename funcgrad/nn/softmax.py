"""The softmax and its like along axes, with the names and arguments of ``jax.nn``.

`where` says which elements count; the others are as if they were not there.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .. import numpy as fnp
from ..core import aval_of
from ..numpy._arguments import axes_of
from ..ops import softmax as _softmax
from ..ops.logic import isfinite
from ..ops.select import stop_gradient
from ..ops.select import where as choose
from ..scipy import special
from ._arguments import real
from .attention import softmax_or_zero

Axis = int | tuple[int, ...] | None


def softmax(x: Any, axis: Axis = -1, where: Any = None) -> Any:
    """``exp(x_i) / sum_j exp(x_j)`` along the axes, without overflow; 0 where `where` does not hold.

    Shapes: ``x: (*a) -> (*a)``; `where` broadcasts to it.   Dtypes: real; integers give float64.
    Derivative: ``y_i (dx_i - sum_j y_j dx_j)``. Where everything is -inf, value and derivative are
    NaN; with `where`, 0.
    Raises: ShapeError: an axis does not exist. ArgumentError: complex numbers.
    Source: JAX reference, ``jax.nn.softmax``.

    >>> softmax(np.array([1000.0, 1000.0, 5.0]), where=np.array([True, True, False])).tolist()
    [0.5, 0.5, 0.0]
    """
    x = real("softmax", x)
    axes = axes_of("nn.softmax", axis, aval_of(x).ndim)
    if where is None:
        return _softmax.softmax(x, axis=axes)
    return softmax_or_zero(choose(where, x, -math.inf), axes)


def log_softmax(x: Any, axis: Axis = -1, where: Any = None) -> Any:
    """``x_i - log(sum_j exp(x_j))`` along the axes, without overflow; -inf where `where` does not hold.

    Shapes: ``x: (*a) -> (*a)``; `where` broadcasts to it.   Dtypes: real; integers give float64.
    Derivative: ``dx_i - sum_j exp(y_j) dx_j``; 0 where `where` does not hold.
    Raises: ShapeError: an axis does not exist. ArgumentError: complex numbers.
    Source: JAX reference, ``jax.nn.log_softmax``.

    >>> log_softmax(np.array([7.0, 7.0])).round(4).tolist()
    [-0.6931, -0.6931]
    """
    x = real("log_softmax", x)
    axes = axes_of("nn.log_softmax", axis, aval_of(x).ndim)
    if where is None:
        return _softmax.log_softmax(x, axis=axes)
    top = fnp.max(stop_gradient(choose(where, x, -math.inf)), axis=axes, keepdims=True)
    low = x - choose(isfinite(top), top, 0.0)
    total = special.logsumexp(choose(where, low, -math.inf), axes, keepdims=True)
    return choose(where, low - total, -math.inf)


def logsumexp(
    a: Any,
    axis: Axis = None,
    b: Any = None,
    keepdims: bool = False,
    return_sign: bool = False,
    where: Any = None,
) -> Any:
    """``log(sum_i b_i exp(a_i))`` along the axes, without overflow, over the elements that `where`
    holds for; with `return_sign` of the absolute value, and its sign.

    Shapes: ``a: (*a, n, *b) -> (*a, *b)``; `b` and `where` broadcast to it.
    Dtypes: real; integers give float64.
    Derivative: ``b_i exp(a_i) / sum`` and ``exp(a_i) / sum``; 0 where everything is minus infinity.
    Raises: ShapeError: an axis does not exist. ArgumentError: complex numbers.
    Source: JAX reference, ``jax.nn.logsumexp``.

    >>> float(logsumexp(np.array([1000.0, 1000.0])).round(4))
    1000.6931
    """
    return special.logsumexp(real("logsumexp", a), axis, b, keepdims, return_sign, where)


def logmeanexp(x: Any, axis: Axis = None, where: Any = None, keepdims: bool = False) -> Any:
    """``log(mean_i exp(x_i))`` along the axes, over the elements that `where` holds for.

    Shapes: ``x: (*a, n, *b) -> (*a, *b)``; `where` broadcasts to it.
    Dtypes: real; integers give float64.
    Derivative: the softmax; the value is NaN, as a mean of nothing is, where `where` holds nowhere.
    Raises: ShapeError: an axis does not exist. ArgumentError: complex numbers.
    Source: JAX reference, ``jax.nn.logmeanexp``.

    >>> float(logmeanexp(np.array([1000.0, 1000.0])))
    1000.0
    """
    x = real("logmeanexp", x)
    aval = aval_of(x)
    total = logsumexp(x, axis, keepdims=keepdims, where=where)
    axes = axes_of("nn.logmeanexp", axis, aval.ndim)
    if where is None:
        count = math.prod(aval.shape[i] for i in axes)
        return total - (math.log(count) if count else -math.inf)
    counted = fnp.broadcast_to(fnp.astype(where, aval.dtype), aval.shape)
    count = fnp.sum(counted, axis=axes, keepdims=keepdims)
    return choose(count > 0, total - fnp.log(fnp.maximum(count, 1)), np.nan)
