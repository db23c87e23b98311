"""Distribution functions of ``scipy.special``: probabilities below and above a value."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..core import aval_of
from ..errors import ArgumentError, where
from ..numpy._arguments import converted, operands
from ..ops.arithmetic import divide, polynomial
from ..ops.beta import betainc, betaincc, betaincinv, betaln
from ..ops.exponential import exp as _exp
from ..ops.exponential import sqrt as _sqrt
from ..ops.gamma import gammainc, gammaincc, gammainccinv
from ..ops.logic import greater, greater_equal, isinf, less, less_equal, logical_and, logical_or
from ..ops.rounding import floor
from ..ops.select import maximum, minimum
from ..ops.select import where as _where
from ..ops.special import ndtr


def in_one_dtype(*xs: Any) -> tuple[Any, ...]:
    """The operands as arrays of their common floating dtype.

    Raises: ArgumentError: one is complex.
    """
    found = operands(*xs)
    dtype = np.result_type(*[aval_of(x).promoting() for x in found])
    if dtype.kind == "c":
        raise ArgumentError(f"needs real numbers, found {dtype}{where()}")
    dtype = dtype if dtype.kind == "f" else np.dtype(np.float64)
    return tuple(converted(x, dtype) for x in found)


def in_double(f: Callable[..., Any]) -> Callable[..., Any]:
    """`f` of real operands, computed in double precision and rounded to theirs, as its derivatives.

    For formulas of several steps, whose differences and products single precision does not hold.
    """

    @functools.wraps(f)
    def rounded(*xs: Any) -> Any:
        found = in_one_dtype(*xs)
        asked = aval_of(found[0]).dtype
        wide = np.promote_types(asked, np.float64)
        return converted(f(*(converted(x, wide) for x in found)), asked)

    return rounded


def chdtr(v: Any, x: Any, /) -> Any:
    """The probability that a chi-squared variable of `v` degrees of freedom is at most `x`.

    Shapes: broadcast.   Dtypes: real; integers give floats.
    Derivative: the density by `x`; by `v` that of `gammainc`.
    Raises: ShapeError: the shapes do not broadcast.
    Source: SciPy reference, ``scipy.special.chdtr``.

    >>> float(chdtr(2.0, 2.0).round(4))
    0.6321
    """
    v, x = in_one_dtype(v, x)
    return gammainc(v * 0.5, x * 0.5)


def chdtrc(v: Any, x: Any, /) -> Any:
    """The probability that a chi-squared variable of `v` degrees of freedom exceeds `x`.

    Shapes: broadcast.   Dtypes: real; integers give floats.
    Derivative: minus the density by `x`; by `v` that of `gammaincc`.
    Raises: ShapeError: the shapes do not broadcast.
    Source: SciPy reference, ``scipy.special.chdtrc``.

    >>> float(chdtrc(2.0, 2.0).round(4))
    0.3679
    """
    v, x = in_one_dtype(v, x)
    return gammaincc(v * 0.5, x * 0.5)


def _fdtr(dfn: Any, dfd: Any, x: Any, lower: Any, upper: Any) -> Any:
    """``lower(dfn / 2, dfd / 2, w)`` for ``w = dfn x / (dfd + dfn x)``; beyond w = 1/2 the same by
    `upper` from ``1 - w``, which keeps its digits.
    """
    scaled = dfn * x
    far = greater(scaled, dfd)
    near_x, far_x = _where(far, dfd, scaled), _where(far, scaled, dfd)
    valid = logical_and(greater(minimum(dfn, dfd), 0), less(maximum(dfn, dfd), math.inf))
    valid = logical_and(valid, greater_equal(x, 0))
    a, b = _where(valid, dfn, math.nan) * 0.5, dfd * 0.5
    below = lower(a, b, divide(near_x, dfd + near_x))
    return _where(far, upper(b, a, divide(dfd, dfd + far_x)), below)


@in_double
def fdtr(dfn: Any, dfd: Any, x: Any, /) -> Any:
    """The probability that an F variable of `dfn` and `dfd` degrees of freedom is at most `x`.

    Shapes: broadcast.   Dtypes: real; integers give floats.
    Derivative: the density by `x`; by `dfn` and `dfd` that of `betainc`.
    Raises: ShapeError: the shapes do not broadcast.
    Source: SciPy reference, ``scipy.special.fdtr``.

    >>> float(fdtr(2.0, 2.0, 3.0).round(4))
    0.75
    """
    return _fdtr(dfn, dfd, x, betainc, betaincc)


@in_double
def fdtrc(dfn: Any, dfd: Any, x: Any, /) -> Any:
    """The probability that an F variable of `dfn` and `dfd` degrees of freedom exceeds `x`.

    Shapes: broadcast.   Dtypes: real; integers give floats.
    Derivative: minus the density by `x`; by `dfn` and `dfd` that of `betainc`.
    Raises: ShapeError: the shapes do not broadcast.
    Source: SciPy reference, ``scipy.special.fdtrc``.

    >>> float(fdtrc(2.0, 2.0, 3.0).round(4))
    0.25
    """
    return _fdtr(dfn, dfd, x, betaincc, betainc)


@in_double
def gdtr(a: Any, b: Any, x: Any, /) -> Any:
    """The probability that a gamma variable of rate `a` and shape `b` is at most `x`.

    Shapes: broadcast.   Dtypes: real; integers give floats.
    Derivative: the density by `x`; by `a` and `b` that of ``gammainc(b, a x)``.
    Raises: ShapeError: the shapes do not broadcast.
    Source: SciPy reference, ``scipy.special.gdtr``.

    >>> float(gdtr(1.0, 1.0, 1.0).round(4))
    0.6321
    """
    return gammainc(b, a * _where(less(x, 0), math.nan, x))


@in_double
def gdtrc(a: Any, b: Any, x: Any, /) -> Any:
    """The probability that a gamma variable of rate `a` and shape `b` exceeds `x`.

    Shapes: broadcast.   Dtypes: real; integers give floats.
    Derivative: minus the density by `x`; by `a` and `b` that of ``gammaincc(b, a x)``.
    Raises: ShapeError: the shapes do not broadcast.
    Source: SciPy reference, ``scipy.special.gdtrc``.

    >>> float(gdtrc(1.0, 1.0, 1.0).round(4))
    0.3679
    """
    return gammaincc(b, a * _where(less(x, 0), math.nan, x))


def _whole(k: Any) -> Any:
    """`k` rounded down, NaN below 0."""
    return _where(greater_equal(k, 0), floor(k), math.nan)


def pdtr(k: Any, m: Any, /) -> Any:
    """The probability that a Poisson variable of mean `m` is at most `k`, which is rounded down.

    Shapes: broadcast.   Dtypes: real; integers give floats.
    Derivative: minus the probability of `k` by `m`; zero by `k`.
    Raises: ShapeError: the shapes do not broadcast.
    Source: SciPy reference, ``scipy.special.pdtr``.

    >>> float(pdtr(1.5, 1.0).round(4))
    0.7358
    """
    k, m = in_one_dtype(k, m)
    return gammaincc(_whole(k) + 1.0, m)


def pdtrc(k: Any, m: Any, /) -> Any:
    """The probability that a Poisson variable of mean `m` exceeds `k`, which is rounded down.

    Shapes: broadcast.   Dtypes: real; integers give floats.
    Derivative: the probability of `k` by `m`; zero by `k`.
    Raises: ShapeError: the shapes do not broadcast.
    Source: SciPy reference, ``scipy.special.pdtrc``.

    >>> float(pdtrc(1.5, 1.0).round(4))
    0.2642
    """
    k, m = in_one_dtype(k, m)
    return gammainc(_whole(k) + 1.0, m)


def _bdtr(k: Any, n: Any, p: Any, function: Any, below: float, above: float) -> Any:
    """``function(k + 1, n - k, p)`` for 0 <= k < n, `above` for k = n, `below` for k < 0."""
    k, n, p = in_one_dtype(k, n, p)
    k, n = floor(k), floor(n)
    inside = logical_and(greater_equal(k, 0), less(k, n))
    y = function(_where(inside, k, 0.0) + 1.0, _where(inside, n - k, 1.0), p)
    y = _where(less(k, 0), below, _where(inside, y, above))
    valid = logical_and(greater_equal(p, 0), less_equal(p, 1))
    counted = logical_and(less_equal(k, n), less(n, math.inf))
    return _where(logical_and(valid, counted), y, math.nan)


def bdtr(k: Any, n: Any, p: Any, /) -> Any:
    """The probability of `k` or fewer successes in `n` trials of probability `p`.

    `k` and `n` are rounded down.

    Shapes: broadcast.   Dtypes: real; integers give floats.
    Derivative: ``-p**k (1-p)**(n-k-1) / beta(k + 1, n - k)`` by `p`; zero by `k` and `n`.
    Raises: ShapeError: the shapes do not broadcast.
    Source: SciPy reference, ``scipy.special.bdtr``.

    >>> float(bdtr(1, 2, 0.5).round(4))
    0.75
    """
    return _bdtr(k, n, p, betaincc, math.nan, 1.0)


def bdtrc(k: Any, n: Any, p: Any, /) -> Any:
    """The probability of more than `k` successes in `n` trials of probability `p`.

    `k` and `n` are rounded down.

    Shapes: broadcast.   Dtypes: real; integers give floats.
    Derivative: ``p**k (1-p)**(n-k-1) / beta(k + 1, n - k)`` by `p`; zero by `k` and `n`.
    Raises: ShapeError: the shapes do not broadcast.
    Source: SciPy reference, ``scipy.special.bdtrc``.

    >>> float(bdtrc(1, 2, 0.5).round(4))
    0.25
    """
    return _bdtr(k, n, p, betainc, 1.0, 0.0)


# gamma(n + 1/2) / gamma(n) / sqrt(n) in powers of 1 / n
_HALF_STEP = [1.0, -1 / 8, 1 / 128, 5 / 1024, -21 / 32768, -399 / 262144, 869 / 4194304]
_HALF_STEP += [39325 / 33554432, -334477 / 2147483648, -28717403 / 17179869184]
_HALF_STEP += [0.00021717708659687988, 0.0038200471120362874, -0.0004892715735692815]


# ---------------------------------------------------------------- others by these, and inverses


def nbdtr(k: Any, n: Any, p: Any, /) -> Any:
    """The probability of at most `k` failures before `n` successes of probability `p` each.

    Shapes: broadcast.   Dtypes: real; integers give floats; `k` is rounded down.
    Derivative: by `p` and `n` that of `betainc`; zero by `k`.
    Raises: ShapeError: the shapes do not broadcast.
    Source: SciPy reference, ``scipy.special.nbdtr``.

    >>> float(nbdtr(1, 1, 0.5))
    0.75
    """
    k, n, p = in_one_dtype(k, n, p)
    return betainc(n, _where(greater_equal(k, 0), floor(k) + 1.0, math.nan), p)


def nbdtrc(k: Any, n: Any, p: Any, /) -> Any:
    """The probability of more than `k` failures before `n` successes of probability `p` each.

    Shapes: broadcast.   Dtypes: real; integers give floats; `k` is rounded down.
    Derivative: by `p` and `n` that of `betaincc`; zero by `k`.
    Raises: ShapeError: the shapes do not broadcast.
    Source: SciPy reference, ``scipy.special.nbdtrc``.

    >>> float(nbdtrc(1, 1, 0.5))
    0.25
    """
    k, n, p = in_one_dtype(k, n, p)
    return betaincc(n, _where(greater_equal(k, 0), floor(k) + 1.0, math.nan), p)


def chdtri(v: Any, y: Any, /) -> Any:
    """The number that a chi-squared variable of `v` degrees of freedom exceeds with probability `y`.

    Shapes: broadcast.   Dtypes: real; integers give floats.
    Derivative: minus one over the density by `y`; by `v` that of `gammainccinv`.
    Raises: ShapeError: the shapes do not broadcast.
    Source: SciPy reference, ``scipy.special.chdtri``.

    >>> float(chdtri(2.0, chdtrc(2.0, 3.0)).round(9))
    3.0
    """
    v, y = in_one_dtype(v, y)
    return 2.0 * gammainccinv(v * 0.5, y)


def fdtri(dfn: Any, dfd: Any, y: Any, /) -> Any:
    """The inverse of `fdtr`: the number up to which an F variable is with probability `y`.

    Shapes: broadcast.   Dtypes: real; integers give floats.
    Derivative: one over the density by `y`; by `dfn` and `dfd` that of `betaincinv`.
    Raises: ShapeError: the shapes do not broadcast.
    Source: SciPy reference, ``scipy.special.fdtri``.

    >>> float(fdtri(2.0, 2.0, 0.75).round(9))
    3.0
    """
    dfn, dfd, y = in_one_dtype(dfn, dfd, y)
    a, b = dfn * 0.5, dfd * 0.5
    high = greater(y, betainc(a, b, 0.5))  # there 1 - w has the digits
    share = betaincinv(a, b, _where(high, 0.5, y))
    rest = betaincinv(b, a, _where(high, 1.0 - y, 0.5))
    odds = _where(high, divide(1.0 - rest, rest), divide(share, 1.0 - share))
    return dfd / dfn * odds


def betainccinv(a: Any, b: Any, y: Any, /) -> Any:
    """The number x with ``betaincc(a, b, x) = y``.

    Shapes: broadcast.   Dtypes: real; integers give floats.
    Derivative: minus one over the density by `y`; by `a` and `b` that of `betaincinv`.
    Raises: ShapeError: the shapes do not broadcast.
    Source: SciPy reference, ``scipy.special.betainccinv``.

    >>> float(betainccinv(2.0, 1.0, 0.75).round(9))
    0.5
    """
    a, b, y = in_one_dtype(a, b, y)
    low = greater(y, 0.5)  # 1 - y is exact, and x may be small
    below = betaincinv(a, b, _where(low, 1.0 - y, 0.5))
    return _where(low, below, 1.0 - betaincinv(b, a, _where(low, 0.5, y)))


def student_peak(df: Any) -> Any:
    """The density of Student's t at 0."""
    far = greater(df, 60.0)
    r = divide(2.0, _where(far, df, 60.0))
    near = _where(far, 1.0, df)
    inside = _exp(-betaln(0.5, near * 0.5)) / _sqrt(near)
    return _where(far, polynomial(r, _HALF_STEP) * math.sqrt(0.5 / math.pi), inside)


def _like_normal(df: Any, t: Any) -> Any:
    """The number below which a normal variable has the probability that Student's has below `t`.

    Of the probability for many degrees of freedom next to nothing depends on these: no difference of
    tails has the digits of that slope.
    """
    r, s = divide(1.0, df), t * t
    second = (3.0 + s * (8.0 + s * 13.0)) / 96.0
    third = (-15.0 + s * (1.0 + s * (19.0 + s * 35.0))) / 384.0
    return t * (1.0 - r * ((1.0 + s) * 0.25 - r * (second - r * third)))


@in_double
def stdtr(df: Any, t: Any, /) -> Any:
    """The probability that a variable of Student's t distribution with `df` degrees of freedom is
    at most `t`.

    Shapes: broadcast.   Dtypes: real; integers give floats.
    Derivative: the density by `t`; by `df` that of `betainc`.
    Raises: ShapeError: the shapes do not broadcast.
    Source: DLMF 8.17, 15.4; Abramowitz & Stegun 26.7.5, turned around; SciPy reference,
    ``scipy.special.stdtr``.

    >>> float(stdtr(1.0, 1.0).round(4))
    0.75
    """
    df = _where(greater(df, 0), df, math.nan)
    normal = logical_or(isinf(df), logical_and(greater(df, 1e6), less(t * t, 1e-4 * df)))
    like = _like_normal(_where(normal, df, math.inf), _where(normal, t, 0.0))
    df = _where(normal, 1.0, df)

    # near t = 0 a series, where the tail has a root of t**2
    near = less(t * t * (1.0 + divide(1.0, df)), 0.05)
    inner, outer = _where(near, t, 0.0), _where(near, 1.0, t)
    q = divide(inner * inner, df)
    total: Any = 0.0
    for j in range(12, -1, -1):
        total = 1.0 / (2 * j + 1) - total * q * ((df + 1.0) * 0.5 + j) / (j + 1.0)
    inside = 0.5 + inner * student_peak(df) * total

    # in the tail the one of t**2 / (df + t**2) and df / (df + t**2) that has its digits
    square, half = outer * outer, df * 0.5
    far = greater(square, df)
    s = _where(far, df, square)
    close_tail = betaincc(0.5, half, divide(s, df + s))
    far_tail = betainc(half, 0.5, divide(df, df + _where(far, square, df)))
    tail = _where(far, far_tail, close_tail) * 0.5
    y = _where(near, inside, _where(less(t, 0), tail, 1.0 - tail))
    return _where(normal, ndtr(like), y)
