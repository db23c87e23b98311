"""Sigmoids, error functions and entropies, element by element."""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from ..algebra import Selection, elementwise
from ..core import aval_of
from .arithmetic import absolute, divide, polynomial
from .exponential import exp, expm1, log, log1p, logaddexp, sqrt
from .from_scipy import floating, scipy_function, scipy_or_math, together
from .gamma import double
from .logic import equal, greater, less, logical_and
from .select import where

LOG_2 = math.log(2.0)
SQRT_2 = math.sqrt(2.0)
SQRT_PI = math.sqrt(math.pi)
SQRT_2PI = math.sqrt(2.0 * math.pi)
_TINY = float(np.finfo(np.float32).tiny)
_NARROW = (np.dtype(np.float16), np.dtype(np.float32))


# ---------------------------------------------------------------- sigmoids


@elementwise(lambda _y, x: 1.0 / (x * (1 - x)))
def logit(xp, x, /):
    """``log(x / (1 - x))``, the inverse of `expit`.

    Shapes: ``x: (*a) -> (*a)``.   Dtypes: floating, complex; integers give floats.
    Derivative: ``1 / (x * (1 - x))``; infinite at 0 and 1.
    Raises: nothing of its own.
    Source: SciPy reference, ``scipy.special.logit``.

    >>> logit(np.array([0.5, 0.75])).round(4).tolist()
    [0.0, 1.0986]
    """
    x = floating(xp, x)
    return xp.log(x) - xp.log1p(-x)


def softplus(x: Any) -> Any:
    """``log(1 + e**x)`` without overflow, a smooth `relu`; its derivative is ``expit(x)``.

    >>> softplus(np.array([0.0, 1000.0])).round(4).tolist()
    [0.6931, 1000.0]
    """
    return logaddexp(x, 0.0)


def log1mexp(x: Any) -> Any:
    """``log(1 - e**-x)`` for x > 0, without cancellation.

    >>> [round(float(log1mexp(x)), 4) for x in (0.5, 1.0, 50.0)]
    [-0.9328, -0.4587, -0.0]
    """
    far = greater(x, LOG_2)
    small = log1p(-exp(-where(far, x, 1.0)))
    return where(far, small, log(-expm1(-where(far, 0.5, x))))


@elementwise(lambda y, _x: Selection(greater(y, 0)))
def relu(xp, x, /):
    """``max(x, 0)``.

    Shapes: ``x: (*a) -> (*a)``.   Dtypes: real numbers.
    Derivative: 1 where ``x > 0``, else 0; 0 at 0.
    Raises: nothing of its own.
    Source: Nair & Hinton, "Rectified linear units improve restricted Boltzmann machines", 2010.

    >>> relu(np.array([-1.0, 2.0])).tolist()
    [0.0, 2.0]
    """
    return xp.maximum(x, 0)


# ---------------------------------------------------------------- error functions


@elementwise(lambda _y, x: exp(-x * x) * (2.0 / SQRT_PI))
def erf(xp, x, /):
    """``2 / sqrt(pi)`` times the integral of ``e**(-t**2)`` from 0 to `x`.

    Shapes: ``x: (*a) -> (*a)``.   Dtypes: floating, complex with SciPy; integers give floats.
    Derivative: ``2 / sqrt(pi) e**(-x**2)``; smooth everywhere.
    Raises: nothing of its own; without SciPy it is slow.
    Source: DLMF 7.2.1; SciPy reference, ``scipy.special.erf``.

    >>> erf(np.array([0.0, 1.0])).round(4).tolist()
    [0.0, 0.8427]
    """
    return scipy_or_math(xp, "erf", math.erf, x)


@elementwise(lambda _y, x: exp(-x * x) * (-2.0 / SQRT_PI))
def erfc(xp, x, /):
    """``1 - erf(x)``, accurate for large `x`.

    Shapes: ``x: (*a) -> (*a)``.   Dtypes: floating, complex with SciPy; integers give floats.
    Derivative: ``-2 / sqrt(pi) e**(-x**2)``; smooth everywhere.
    Raises: nothing of its own; without SciPy it is slow.
    Source: DLMF 7.2.2; SciPy reference, ``scipy.special.erfc``.

    >>> erfc(np.array([0.0, 1.0])).round(4).tolist()
    [1.0, 0.1573]
    """
    return scipy_or_math(xp, "erfc", math.erfc, x)


_FAR = 12.0  # from here on the asymptotic series of the slope of `erfcx` is exact to rounding
_SLOPE = [(-1.0) ** k * math.prod(range(1, 2 * k + 2, 2)) for k in range(13)]


def erfcx_fall(x: Any) -> Any:
    """Minus the slope of `erfcx`.

    >>> erfcx_fall(np.array([0.0, 100.0])).round(7).tolist()
    [1.1283792, 5.64e-05]
    """
    return -_erfcx_slope(erfcx(x), x)


def _erfcx_slope(y: Any, x: Any) -> Any:
    """``2 x y - 2 / sqrt(pi)``, of which nothing is left for large `x`: there by its series."""
    dtype = aval_of(x).dtype
    if dtype in _NARROW:  # in which what the two leave has no digits
        wide = double(x)
        return _erfcx_slope(erfcx(wide), wide).astype(dtype)
    far = greater(x, _FAR)
    r = divide(1.0, where(far, x, _FAR))
    q = r * r * 0.5
    near = 2.0 * where(far, 0.0, x) * y - 2.0 / SQRT_PI
    return where(far, q * polynomial(q, _SLOPE) * (-2.0 / SQRT_PI), near)


@elementwise(_erfcx_slope)
def erfcx(xp, x, /):
    """``e**(x**2) erfc(x)``, which neither overflows nor vanishes for large `x`.

    Shapes: ``x: (*a) -> (*a)``.   Dtypes: floating; integers give floats.
    Derivative: ``2 x y - 2 / sqrt(pi)``, for large `x` by its asymptotic series; smooth everywhere.
    Raises: ImportError: SciPy is not installed.
    Source: SciPy reference, ``scipy.special.erfcx``.

    >>> erfcx(np.array([0.0, 100.0])).round(4).tolist()
    [1.0, 0.0056]
    """
    return scipy_function(xp, "erfcx")(x)


def wald_moved(mean: Any, x: Any) -> Any:
    """How fast a number of the inverse normal distribution moves with its mean, its probability kept.

    ``2 m(z) x**1.5 / mean**2`` with Mills' ratio ``m`` of the normal distribution at
    ``z = (x / mean + 1) / sqrt(x)``.
    """
    ratio = (SQRT_PI / SQRT_2) * erfcx((x / mean + 1) / sqrt(2 * x))
    return 2 * ratio * x * sqrt(x) / (mean * mean)


@elementwise(lambda y, _x: exp(y * y) * (SQRT_PI / 2.0))
def erfinv(xp, x, /):
    """The number with error function `x`.

    Shapes: ``x: (*a) -> (*a)``.   Dtypes: floating.
    Derivative: ``sqrt(pi) / 2 e**(y**2)``; infinite at 1 and -1.
    Raises: ImportError: SciPy is not installed.
    Source: SciPy reference, ``scipy.special.erfinv``.

    >>> erfinv(np.array([0.0, 0.5])).round(4).tolist()
    [0.0, 0.4769]
    """
    return scipy_function(xp, "erfinv")(x)


@elementwise(lambda _y, x: exp(x * x * -0.5) * (1.0 / SQRT_2PI))
def ndtr(xp, x, /):
    """The probability that a standard normal variable is below `x`: ``erfc(-x / sqrt(2)) / 2``.

    Shapes: ``x: (*a) -> (*a)``.   Dtypes: floating; integers give floats.
    Derivative: the normal density ``e**(-x**2 / 2) / sqrt(2 pi)``; smooth everywhere.
    Raises: nothing of its own; without SciPy it is slow.
    Source: SciPy reference, ``scipy.special.ndtr``.

    >>> ndtr(np.array([0.0, 1.0])).round(4).tolist()
    [0.5, 0.8413]
    """
    return scipy_or_math(xp, "ndtr", lambda v: 0.5 * math.erfc(-v / SQRT_2), x)


_LOW = 15.0  # from here on down the asymptotic series of `log_ndtr_slope` is exact to rounding


@functools.cache
def _log_ndtr_bends() -> list[float]:
    """The slope of `log_ndtr_slope` in powers of ``1 / x**2``, far below 0.

    In ``u = -x`` the slope is ``u + g(u)`` for ``1 + g' = u g + g**2``, which gives the coefficients of
    ``u**(1 - 2 k)`` in `g` one after another.
    """
    found = [1.0]
    for k in range(1, 16):
        squares = sum(c * d for c, d in zip(found, found[::-1], strict=True))
        found.append((1 - 2 * k) * found[-1] - squares)
    return [-1.0] + [(2 * k - 1) * c for k, c in enumerate(found, 1)]


def _log_ndtr_bend(y: Any, x: Any) -> Any:
    """``-y (x + y)``, where `y` and `-x` have all digits in common by the series."""
    far = less(x, -_LOW)
    r = divide(1.0, where(far, x, -_LOW))
    u, v = where(far, 0.0, x), where(far, 0.0, y)
    return where(far, polynomial(r * r, _log_ndtr_bends()), -v * (u + v))


@elementwise(_log_ndtr_bend)
def log_ndtr_slope(xp, x, /):
    """The normal density over the probability: ``sqrt(2 / pi) / erfcx(-x / sqrt(2))``.

    Shapes: ``x: (*a) -> (*a)``.   Dtypes: floating; integers give floats.
    Derivative: ``-y (x + y)``, far below 0 by its asymptotic series; smooth everywhere.
    Raises: ImportError: SciPy is not installed.
    Source: DLMF 7.8, 7.12.

    >>> log_ndtr_slope(np.array([0.0, -100.0])).round(4).tolist()
    [0.7979, 100.01]
    """
    return (2.0 / SQRT_2PI) / scipy_function(xp, "erfcx")(x * (-1.0 / SQRT_2))


@elementwise(lambda _y, x: log_ndtr_slope(x))
def log_ndtr(xp, x, /):
    """``log(ndtr(x))``, accurate where `ndtr` vanishes.

    Shapes: ``x: (*a) -> (*a)``.   Dtypes: floating; integers give floats.
    Derivative: density over probability, ``sqrt(2 / pi) / erfcx(-x / sqrt(2))``; smooth everywhere.
    Raises: ImportError: SciPy is not installed.
    Source: SciPy reference, ``scipy.special.log_ndtr``.

    >>> log_ndtr(np.array([0.0, -100.0])).round(2).tolist()
    [-0.69, -5005.52]
    """
    return scipy_function(xp, "log_ndtr")(x)


@elementwise(lambda y, _x: exp(y * y * 0.5) * SQRT_2PI)
def ndtri(xp, x, /):
    """The number below which a standard normal variable lies with probability `x`.

    Shapes: ``x: (*a) -> (*a)``.   Dtypes: floating.
    Derivative: ``sqrt(2 pi) e**(y**2 / 2)``; infinite at 0 and 1.
    Raises: ImportError: SciPy is not installed.
    Source: SciPy reference, ``scipy.special.ndtri``.

    >>> ndtri(np.array([0.5, 0.975])).round(4).tolist()
    [0.0, 1.96]
    """
    return scipy_function(xp, "ndtri")(x)


@elementwise(lambda y, _x: erfcx(y * -math.sqrt(0.5)) * (0.5 * SQRT_2PI))
def ndtri_exp(xp, x, /):
    """The number below which a standard normal variable lies with probability ``e**x``; x <= 0.

    Shapes: ``x: (*a) -> (*a)``.   Dtypes: floating.
    Derivative: ``sqrt(2 pi) e**(y**2 / 2 + x)``; infinite at 0.
    Raises: ImportError: SciPy is not installed.
    Source: SciPy reference, ``scipy.special.ndtri_exp``.

    >>> ndtri_exp(np.array([-1e4, -1.0])).round(4).tolist()
    [-141.3798, -0.3375]
    """
    return scipy_function(xp, "ndtri_exp")(x)


# ---------------------------------------------------------------- entropies


@elementwise(lambda _y, x: -1.0 - log(x))
def entr(xp, x, /):
    """``-x log(x)``; 0 at 0, minus infinity below.

    Shapes: ``x: (*a) -> (*a)``.   Dtypes: floating; integers give floats.
    Derivative: ``-1 - log(x)``; infinite at 0.
    Raises: ImportError: SciPy is not installed.
    Source: SciPy reference, ``scipy.special.entr``.

    >>> entr(np.array([0.0, 1.0, -1.0])).tolist()
    [0.0, -0.0, -inf]
    """
    return scipy_function(xp, "entr")(x)


@elementwise(
    lambda _z, x, y: where(_both_zero(x, y), 0.0, 1.0 + _log_ratio(x, y)),
    lambda _z, x, y: where(_both_zero(x, y), 0.0, -_ratio(x, y)),
)
def rel_entr(xp, x, y, /):
    """``x log(x / y)``; 0 where x = 0 and y >= 0, infinite where either is negative.

    Shapes: broadcast.   Dtypes: floating; integers give floats.
    Derivative: ``1 + log(x / y)`` and ``-x / y``; 0 and 0 at (0, 0).
    Raises: ShapeError: the shapes do not broadcast. ImportError: SciPy is not installed.
    Source: SciPy reference, ``scipy.special.rel_entr``.

    >>> rel_entr(np.array([0.0, 1.0]), 0.5).round(4).tolist()
    [0.0, 0.6931]
    """
    return scipy_function(xp, "rel_entr")(*together(xp, "rel_entr", x, y))


def _both_zero(x: Any, y: Any) -> Any:
    return logical_and(equal(x, 0), equal(y, 0))


def _ratio(x: Any, y: Any) -> Any:
    return divide(*_apart(x, y))


def _apart(x: Any, y: Any) -> tuple[Any, Any]:
    both = _both_zero(x, y)
    return where(both, 1.0, x), where(both, 1.0, y)


def _log_ratio(x: Any, y: Any) -> Any:
    """``log(x / y)``, also where the ratio overflows or vanishes."""
    x, y = _apart(x, y)
    ratio = divide(x, y)
    held = logical_and(greater(absolute(ratio), _TINY), less(absolute(ratio), 1.0 / _TINY))
    return log(where(held, ratio, x)) - log(where(held, 1.0, y))
