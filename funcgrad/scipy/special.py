"""``scipy.special`` under SciPy's names and signatures, differentiable.

Elementwise primitives are re-exported as they are. Needs SciPy for everything that Python's `math`
does not have.
"""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np  # noqa: F401  (doctests)

from ..algebra import broadcast_shapes
from ..core import aval_of
from ..errors import ArgumentError, where
from ..numpy._arguments import array_of, axes_of, concrete, converted, operand, with_axes
from ..ops import reduce as _reduce
from ..ops import softmax as _softmax
from ..ops import special as _special
from ..ops import structural as _structural
from ..ops.arithmetic import absolute, divide, multiply
from ..ops.exponential import cbrt, exp2, expm1, log, log1p, xlog1py, xlogy
from ..ops.exponential import exp as _exp
from ..ops.exponential import sqrt as _sqrt
from ..ops.logic import equal, greater, isfinite, less, less_equal
from ..ops.rounding import floor, sign
from ..ops.select import stop_gradient
from ..ops.select import where as _where
from ..ops.special import (
    betaln,
    digamma,
    entr,
    erf,
    erfc,
    erfcx,
    erfinv,
    expit,
    gamma,
    gammaln,
    i0,
    i0e,
    i1,
    i1e,
    kl_div,
    log_expit,
    log_ndtr,
    logit,
    ndtr,
    ndtri,
    rel_entr,
    softplus,
)
from ..ops.special import digamma as psi
from ..ops.trigonometric import sinc

__all__ = [
    "beta",
    "betaln",
    "cbrt",
    "digamma",
    "entr",
    "erf",
    "erfc",
    "erfcinv",
    "erfcx",
    "erfinv",
    "exp2",
    "expit",
    "expm1",
    "gamma",
    "gammaln",
    "gammasgn",
    "huber",
    "i0",
    "i0e",
    "i1",
    "i1e",
    "kl_div",
    "log1p",
    "log_expit",
    "log_ndtr",
    "log_softmax",
    "logit",
    "logsumexp",
    "multigammaln",
    "ndtr",
    "ndtri",
    "polygamma",
    "pseudo_huber",
    "psi",
    "rel_entr",
    "sinc",
    "softmax",
    "softplus",
    "xlog1py",
    "xlogy",
]


# ---------------------------------------------------------------- logsumexp and softmax


def logsumexp(
    a: Any, axis: Any = None, b: Any = None, keepdims: bool = False, return_sign: bool = False
) -> Any:
    """``log(sum_i b_i exp(a_i))`` along the axes, without overflow; with `return_sign` of the
    absolute value, and its sign.

    Shapes: ``a: (*a, n, *b) -> (*a, *b)``; `b` broadcasts against `a`.
    Dtypes: real; integers give float64.
    Derivative: ``b_i exp(a_i) / sum`` and ``exp(a_i) / sum``; 0 where everything is minus infinity.
    Raises: ShapeError: an axis does not exist. ArgumentError: complex numbers.
    Source: SciPy reference, ``scipy.special.logsumexp``.

    >>> float(logsumexp([1000.0, 1000.0]).round(4))
    1000.6931
    """
    a = array_of(a)
    if a.ndim == 0:
        a = _structural.reshape(a, shape=(1,))  # as SciPy has it
    if b is None and not return_sign:
        axes = axes_of("logsumexp", axis, a.ndim)
        return with_axes(_softmax.logsumexp(a, axis=axes), a.shape, axes, keepdims)
    if a.dtype.kind != "f":
        a = converted(a, _softmax.floating_dtype("logsumexp", a.dtype))
    b = 1.0 if b is None else operand(b)
    shape = broadcast_shapes("logsumexp", [a.shape, aval_of(b).shape])
    axes = axes_of("logsumexp", axis, len(shape))
    used = _where(equal(b, 0), -math.inf, a)  # what has no weight must not set the scale
    if used.shape != shape:
        used = _structural.broadcast_to(used, shape=shape)
    top = stop_gradient(_structural.reshape(_reduce.max(used, axis=axes), shape=_kept(shape, axes)))
    top = _where(isfinite(top), top, 0.0)
    total = _structural.sum(b * _exp(used - top), axis=axes)
    y = log(absolute(total) if return_sign else total)
    y = y + _structural.reshape(top, shape=total.shape)
    y = with_axes(y, shape, axes, keepdims)
    return (y, with_axes(sign(total), shape, axes, keepdims)) if return_sign else y


def _kept(shape: tuple[int, ...], axes: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(1 if i in axes else n for i, n in enumerate(shape))


def softmax(x: Any, axis: Any = None) -> Any:
    """``exp(x_i) / sum_j exp(x_j)`` along the axes, without overflow.

    Shapes: ``x: (*a) -> (*a)``.   Dtypes: real; integers give float64.
    Derivative: ``y_i (dx_i - sum_j y_j dx_j)``.
    Raises: ShapeError: an axis does not exist. ArgumentError: complex numbers.
    Source: SciPy reference, ``scipy.special.softmax``.

    >>> softmax([1000.0, 1000.0]).tolist()
    [0.5, 0.5]
    """
    x = array_of(x)
    return _softmax.softmax(x, axis=axes_of("softmax", axis, x.ndim))


def log_softmax(x: Any, axis: Any = None) -> Any:
    """``x_i - log(sum_j exp(x_j))`` along the axes, without overflow.

    Shapes: ``x: (*a) -> (*a)``.   Dtypes: real; integers give float64.
    Derivative: ``dx_i - sum_j exp(y_j) dx_j``.
    Raises: ShapeError: an axis does not exist. ArgumentError: complex numbers.
    Source: SciPy reference, ``scipy.special.log_softmax``.

    >>> log_softmax([1000.0, 1000.0]).round(4).tolist()
    [-0.6931, -0.6931]
    """
    x = array_of(x)
    return _softmax.log_softmax(x, axis=axes_of("log_softmax", axis, x.ndim))


# ---------------------------------------------------------------- the gamma function's relatives


def polygamma(n: Any, x: Any) -> Any:
    """The derivative of order `n` of `digamma`, for one integer `n` >= 0.

    Shapes: ``x: (*a) -> (*a)``.   Dtypes: floating; integers give floats.
    Derivative: ``polygamma(n + 1, x)``; none by `n`.
    Raises: ArgumentError: `n` is no integer, or negative.
    Source: SciPy reference, ``scipy.special.polygamma``.

    >>> float(polygamma(1, 1.0).round(4))
    1.6449
    """
    try:
        order = operator.index(concrete("polygamma", "n", n))
    except TypeError:
        order = -1
    if order < 0:
        raise ArgumentError(f"polygamma: n={n!r}; need one integer, 0 or more{where()}")
    x = array_of(x)
    return _special.polygamma(x, n=order) if order else digamma(x)


def gammasgn(x: Any, /) -> Any:
    """The sign of the gamma function: 1 or -1; NaN at the negative integers.

    Shapes: ``x: (*a) -> (*a)``.   Dtypes: real; integers give floats.
    Derivative: zero.   Raises: ArgumentError: `x` is no array.
    Source: SciPy reference, ``scipy.special.gammasgn``.

    >>> gammasgn(np.array([2.5, -0.5])).tolist()
    [1.0, -1.0]
    """
    x = array_of(x)
    whole = floor(x)
    below = _where(equal(whole % 2, 0), 1.0, -1.0)
    below = _where(equal(whole, x), math.nan, below)
    return _where(less(x, 0), below, 1.0)


def beta(a: Any, b: Any, /) -> Any:
    """``gamma(a) gamma(b) / gamma(a + b)``, without overflow.

    Shapes: broadcast.   Dtypes: real; integers give floats.
    Derivative: that of ``exp(betaln(a, b))``, with the sign.
    Raises: ShapeError: the shapes do not broadcast.
    Source: SciPy reference, ``scipy.special.beta``.

    >>> float(beta(2.0, 3.0).round(6))
    0.083333
    """
    a, b = operand(a), operand(b)
    size = _exp(betaln(a, b))
    return size * gammasgn(a) * gammasgn(b) * gammasgn(a + b)


def multigammaln(a: Any, d: Any) -> Any:
    """The logarithm of the multivariate gamma function of dimension `d`, ``a > (d - 1) / 2``.

    Shapes: ``a: (*a) -> (*a)``.   Dtypes: real; integers give floats.
    Derivative: ``sum_j digamma(a - j / 2)``.
    Raises: ArgumentError: `d` is no positive integer.
    Source: SciPy reference, ``scipy.special.multigammaln``.

    >>> float(multigammaln(2.0, 2).round(4))
    0.4516
    """
    d = operator.index(d)
    if d < 1:
        raise ArgumentError(f"multigammaln: d={d}; need 1 or more{where()}")
    a = array_of(a)
    y = gammaln(a) + d * (d - 1) / 4 * math.log(math.pi)
    for j in range(1, d):
        y = y + gammaln(a - j / 2)
    return y


# ---------------------------------------------------------------- others


def erfcinv(y: Any, /) -> Any:
    """The number whose complementary error function is `y`, accurate for small `y`.

    Shapes: ``y: (*a) -> (*a)``.   Dtypes: floating.
    Derivative: ``-exp(x^2) sqrt(pi) / 2``; infinite at 0 and 2.
    Raises: ArgumentError: `y` is no array.
    Source: SciPy reference, ``scipy.special.erfcinv``.

    >>> abs(float(erfcinv(1.0)))
    0.0
    """
    return ndtri(multiply(operand(y), 0.5)) * -math.sqrt(0.5)


def _real_operand(name: str, x: Any) -> Any:
    """
    Raises: ArgumentError: `x` is complex, or no array.
    """
    x = operand(x)
    if aval_of(x).dtype.kind == "c":
        raise ArgumentError(f"{name}: needs real numbers, found complex ones{where()}")
    return x


def huber(delta: Any, r: Any, /) -> Any:
    """``r^2 / 2`` where ``|r| <= delta``, ``delta (|r| - delta / 2)`` elsewhere.

    Shapes: broadcast.   Dtypes: real.
    Derivative: ``r`` clipped to ``[-delta, delta]`` by `r`; continuous.
    Raises: ShapeError: the shapes do not broadcast. ArgumentError: complex numbers.
    Source: SciPy reference, ``scipy.special.huber``.

    >>> [float(huber(1.0, r)) for r in (0.5, 3.0)]
    [0.125, 2.5]
    """
    delta, r = _real_operand("huber", delta), _real_operand("huber", r)
    size = absolute(r)
    y = _where(less_equal(size, delta), multiply(r, r) * 0.5, delta * (size - delta * 0.5))
    return _where(less(delta, 0), math.inf, y)


def pseudo_huber(delta: Any, r: Any, /) -> Any:
    """``delta^2 (sqrt(1 + (r / delta)^2) - 1)``, a smooth `huber`.

    Shapes: broadcast.   Dtypes: real.
    Derivative: ``r / sqrt(1 + (r / delta)^2)`` by `r`; smooth for delta > 0.
    Raises: ShapeError: the shapes do not broadcast. ArgumentError: complex numbers.
    Source: SciPy reference, ``scipy.special.pseudo_huber``.

    >>> float(pseudo_huber(1.0, 0.0))
    0.0
    """
    delta, r = _real_operand("pseudo_huber", delta), _real_operand("pseudo_huber", r)
    ratio = divide(r, _where(greater(delta, 0), delta, 1.0))
    square = multiply(ratio, ratio)
    # sqrt(1 + s) - 1 without the cancellation for small s
    y = delta * delta * (square / (1.0 + _sqrt(1.0 + square)))
    return _where(less(delta, 0), math.inf, y)
