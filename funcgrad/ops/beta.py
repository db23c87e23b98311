"""The beta function and its relatives, element by element."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np  # noqa: F401  (doctests)

from ..algebra import elementwise
from .arithmetic import absolute, power
from .exponential import (
    bounded_exp,
    exp,
    expit,
    expm1,
    log,
    log1p,
    logaddexp,
    sqrt,
    unless_both,
    xlog1py,
    xlogy,
)
from .from_scipy import scipy_function, scipy_if_there, together
from .gamma import (
    DIGAMMA,
    FADED,
    LARGE,
    digamma,
    double,
    fallen_from,
    gamma,
    gammaln,
    log_less_digamma,
    log_peak,
    log_ratio,
    rgamma_slope,
)
from .index_layout import on_host
from .logic import (
    equal,
    greater,
    greater_equal,
    less,
    less_equal,
    logical_and,
    logical_not,
    logical_or,
)
from .quadrature import as_column, integral_from
from .rounding import rint
from .select import maximum, minimum, stop_gradient, where
from .trigonometric import sin

_CLOSE = 1e-3  # two digammas of numbers that differ by more keep their digits
_STEPS = 8  # of the recurrence ``digamma(x + 1) = digamma(x) + 1 / x``, for what is close


def digamma_gap(a: Any, b: Any) -> Any:
    """``digamma(a) - digamma(a + b)``, which keeps its digits where `b` is small beside `a`."""
    # Below 0 by reflection, where `b` is small or both may be at their poles.
    low = logical_and(less(a, 0.0), less(absolute(b), absolute(a - rint(a)) * _CLOSE))
    low = logical_or(low, _both_low(a, b))
    right = _right_gap(where(low, 1.0 - a, a), where(low, -b, b))
    return right - where(low, _cotangents(where(low, a, 0.25), where(low, b, 0.0)), 0.0)


def _both_low(a: Any, b: Any) -> Any:
    """Where `b` is whole, and neither `a` nor ``a + b`` above the poles of `digamma`."""
    return logical_and(equal(b, rint(b)), less(maximum(a, a + b), 0.5))


def _right_gap(a: Any, b: Any) -> Any:
    large = greater(minimum(a, a + b), LARGE)
    close = logical_and(logical_not(large), less(absolute(b), a * _CLOSE))
    by_series = logical_or(large, close)
    far = digamma(where(by_series, 1.0, a)) - digamma(where(by_series, 1.0, a + b))
    c, d = where(close, a, 1.0), where(by_series, b, 0.0)
    steps = d / c / (c + d)
    for k in range(1, _STEPS):
        steps = steps + d / ((c + k) * (c + k + d))
    return where(
        by_series,
        _gap_of_large(where(large, a, c + _STEPS), d) - where(close, steps, 0.0),
        far,
    )


def _gap_of_large(a: Any, b: Any) -> Any:
    r, s = 1.0 / a, 1.0 / (a + b)
    p, q = r * r, s * s
    total: Any = 0.0
    mixed, last = 1.0, 1.0  # p**k + p**(k - 1) q + ... + q**k, and q**k
    for coefficient in DIGAMMA:
        total = total + mixed * coefficient
        last = last * q
        mixed = mixed * p + last
    return -log1p(b * r) - b * r * s * (0.5 + (r + s) * total)


@elementwise(
    lambda _y, a, b: digamma_gap(double(a), double(b)),
    lambda _y, a, b: digamma_gap(double(b), double(a)),
)
def betaln(xp, a, b, /):
    """``log |beta(a, b)| = log |gamma(a) gamma(b) / gamma(a + b)|``.

    Shapes: broadcast.   Dtypes: real; integers give floats.
    Derivative: ``digamma(a) - digamma(a + b)`` by `a`, and so by `b`; smooth inside its domain.
    Raises: ShapeError: the shapes do not broadcast. ArgumentError: complex numbers.
    Source: DLMF 5.12; SciPy reference, ``scipy.special.betaln``.

    >>> float(betaln(np.array(2.0), 3.0).round(4))
    -2.4849
    """
    a, b = together(xp, "betaln", a, b)
    if scipy_if_there("", "betaln") is None:
        return gammaln.impl(xp, a) + gammaln.impl(xp, b) - gammaln.impl(xp, a + b)
    return scipy_function(xp, "betaln")(a, b)


def _beta_slope(y: Any, a: Any, b: Any) -> Any:
    y, a, b = double(y), double(a), double(b)
    total = a + b
    near = logical_and(_near_pole(total), less(minimum(a, b), 0.0))
    near = logical_and(near, less_equal(absolute(total - rint(total)), absolute(b)))
    near = logical_and(near, logical_not(_both_low(a, b)))
    p, q = where(near, a, 1.0), where(near, b, 1.0)
    # The pole of the denominator is a zero of `y`.
    steep = y * digamma(p) - _times_digamma(
        y, lambda _near: gamma(p) * gamma(q), where(near, total, 1.0), near
    )
    return where(near, steep, y * digamma_gap(where(near, 1.0, a), where(near, 1.0, b)))


@elementwise(_beta_slope, lambda y, a, b: _beta_slope(y, b, a))
def beta(xp, a, b, /):
    """``gamma(a) gamma(b) / gamma(a + b)``.

    Shapes: broadcast.   Dtypes: real; integers give floats.
    Derivative: ``y (digamma(a) - digamma(a + b))`` by `a`, and so by `b`; smooth inside its domain.
    Raises: ShapeError: the shapes do not broadcast. ArgumentError: complex numbers. ImportError: SciPy
    is not installed.
    Source: DLMF 5.12; SciPy reference, ``scipy.special.beta``.

    >>> float(beta(np.array(2.0), 3.0).round(6))
    0.083333
    """
    return scipy_function(xp, "beta")(*together(xp, "beta", a, b))


def _near_pole(x: Any) -> Any:
    """Where `x` is within 1/4 of 0, -1, -2, ..."""
    return logical_and(less(x, 0.25), less(absolute(x - rint(x)), 0.25))


def _times_digamma(y: Any, over: Any, x: Any, near: Any) -> Any:
    """``y digamma(x)`` for ``y = over() / gamma(x)``; where `near` by the slope of `rgamma`.

    A pole of `digamma` is a zero of `y` there.
    """
    at = -rgamma_slope(None, where(near, x, 1.0)) * over(near)
    return where(near, at, y * digamma(where(near, 1.0, x)))


def _cotangents(z: Any, m: Any) -> Any:
    """``pi cot(pi z) - pi cot(pi (z + m))`` for whole `m`: 0, but not so its slope by `m`."""
    off, rest = math.pi * (z - rint(z)), math.pi * (m - rint(m))
    pole = equal(off, 0.0)
    off = where(pole, 1.0, off)
    return where(pole, 0.0, math.pi * sin(rest) / (sin(off) * sin(off + rest)))


def _poch_by_z(y: Any, z: Any, m: Any) -> Any:
    y, z, m = double(y), double(z), double(m)
    end = z + m
    near = logical_and(_near_pole(z), less_equal(absolute(z - rint(z)), absolute(m)))
    near = logical_and(near, logical_not(_both_low(z, m)))
    steep = y * digamma(where(near, end, 1.0)) - _times_digamma(
        y, lambda near: gamma(where(near, end, 1.0)), where(near, z, 1.0), near
    )
    return where(near, steep, -y * digamma_gap(where(near, 1.0, z), where(near, 1.0, m)))


@elementwise(_poch_by_z, lambda y, z, m: y * digamma(z + m))
def poch(xp, z, m, /):
    """``gamma(z + m) / gamma(z)``, Pochhammer's symbol; ``z (z + 1) ... (z + m - 1)`` for whole `m`.

    Shapes: broadcast.   Dtypes: real; integers give floats.
    Derivative: ``y (digamma(z + m) - digamma(z))`` by `z`, ``y digamma(z + m)`` by `m`, NaN where `z`
    and `z + m` are both poles; smooth inside its domain.
    Raises: ImportError: SciPy is not installed. ArgumentError: complex numbers.
    Source: DLMF 5.2.5, 5.5.4; SciPy reference, ``scipy.special.poch``.

    >>> poch(np.array([1.0, 3.0]), 2).tolist()
    [2.0, 12.0]
    """
    return scipy_function(xp, "poch")(*together(xp, "poch", z, m))


def _binom_by_n(y: Any, n: Any, k: Any) -> Any:
    y, n, k = double(y), double(n), double(k)
    rest = n - k + 1.0
    near = _near_pole(rest)
    steep = y * digamma(where(near, n + 1.0, 1.0)) - _binom_times_digamma(y, n, k, rest, near)
    return where(near, steep, -y * digamma_gap(where(near, 1.0, rest), where(near, 1.0, k)))


def _binom_by_k(y: Any, n: Any, k: Any) -> Any:
    y, n, k = double(y), double(n), double(k)
    rest, taken = n - k + 1.0, k + 1.0
    at_rest, at_taken = _near_pole(rest), _near_pole(taken)
    near = logical_or(at_rest, at_taken)
    steep = _binom_times_digamma(y, n, k, rest, at_rest)
    steep = steep - _binom_times_digamma(y, n, n - k, taken, at_taken)
    more = greater(rest, taken)
    lesser = where(near, 1.0, where(more, taken, rest))
    gap = digamma_gap(lesser, where(near, 1.0, where(more, n - 2.0 * k, 2.0 * k - n)))
    return where(near, steep, where(more, -y, y) * gap)


def _binom_times_digamma(y: Any, n: Any, k: Any, rest: Any, near: Any) -> Any:
    """``y digamma(rest)`` for ``rest = n - k + 1``."""
    return _times_digamma(
        y, lambda near: poch(where(near, k + 1.0, 1.0), where(near, n - k, 1.0)), rest, near
    )


@elementwise(_binom_by_n, _binom_by_k)
def binom(xp, n, k, /):
    """The binomial coefficient ``gamma(n + 1) / (gamma(k + 1) gamma(n - k + 1))``.

    Shapes: broadcast.   Dtypes: real; integers give floats.
    Derivative: ``y (digamma(n + 1) - digamma(n - k + 1))`` by `n`, ``y (digamma(n - k + 1) -
    digamma(k + 1))`` by `k`; NaN at the poles, where n is a negative whole number; smooth inside its
    domain.
    Raises: ImportError: SciPy is not installed. ArgumentError: complex numbers.
    Source: DLMF 1.2.6; SciPy reference, ``scipy.special.binom``.

    >>> binom(np.array([4.0, 0.5]), 2).tolist()
    [6.0, -0.125]
    """
    return scipy_function(xp, "binom")(*together(xp, "binom", n, k))


# ---------------------------------------------------------------- integrals over one side


def _beta_width(a: Any, b: Any, odds: Any) -> Any:
    """How far down from the logarithm of the odds ``t**a (1 - t)**b`` falls by `FADED`.

    What it has fallen by is convex and grows by `a` at most, and on a way w its curvature falls by no
    more than ``e**-w``: Newton's method from the right.
    """
    a, b, odds = stop_gradient(a), stop_gradient(b), stop_gradient(odds)
    fallen_at = _fallen_at(a, b)
    top = fallen_at(odds)
    width = (FADED + (a + b) * _log_odds(odds)) / a
    bend = maximum((a + b) * expit(odds) * expit(-odds), 1e-300)
    width = minimum(width, (FADED + sqrt(FADED * FADED + 8.0 * FADED * bend)) / (2.0 * bend))
    for _ in range(12):
        below = odds - width
        fallen = fallen_at(below) - top - FADED
        width = width - fallen / (a - (a + b) * expit(below))
    return width


def _log_odds(u: Any) -> Any:
    """``log(1 + e**u)``."""
    return logaddexp(u, 0.0)


_FAR = 600.0  # what e**_FAR is added to, it swallows


def _fallen_at(a: Any, b: Any) -> Callable[[Any], Any]:
    """By what the logarithm of ``x**a (1 - x)**b`` is below its largest, as a function of the odds.

    From the side of the lesser shape, from where the distance to the hump is multiplied by that one.
    """
    first = less_equal(a, b)
    least, total = where(first, a, b), a + b
    hump, share, sign = log_ratio(a, b), least / total, where(first, 1.0, -1.0)

    def fallen(odds: Any) -> Any:
        off = (odds - hump) * sign
        over = maximum(off - _FAR, 0.0)
        return total * (log1p(share * expm1(off - over)) + over) - least * off

    return fallen


def log_beta_density(a: Any, b: Any, odds: Any) -> Any:
    """``log(x**a (1 - x)**b / beta(a, b))`` for ``x = e**odds / (1 + e**odds)``: the density of the
    logarithm of a beta variable's odds.
    """
    return _log_beta_peak(a, b) - _fallen_at(a, b)(odds)


def _log_beta_peak(a: Any, b: Any) -> Any:
    """The largest value of `log_beta_density`; NOTE [Large shapes] in ``gamma.py``."""
    return log_peak(a) + log_peak(b) - log_peak(a + b)


def beta_entropy(a: Any, b: Any) -> Any:
    """The differential entropy of the logarithm of a beta variable's odds.

    >>> float(beta_entropy(np.array(1e15), np.array(1e15)).round(4))
    -15.5039
    """
    n = a + b
    spread = a * log_less_digamma(a) + b * log_less_digamma(b) - n * log_less_digamma(n)
    return spread - _log_beta_peak(a, b)


@elementwise(
    lambda _y, a, b, x: log(unless_both(a - 1.0, x, 0, 1.0)) - digamma_gap(a, b),
    lambda _y, a, b, x: log1p(unless_both(b - 1.0, -x, -1, 0.0)) - digamma_gap(b, a),
    lambda _y, a, b, x: (
        (a - 1.0) / unless_both(a - 1.0, x, 0, 1.0)
        - (b - 1.0) / (1.0 + unless_both(b - 1.0, -x, -1, 0.0))
    ),
)
def log_beta_pdf(xp, a, b, x, /):
    """``log(x**(a-1) (1-x)**(b-1) / beta(a, b))``: the logarithm of a beta variable's density.

    Shapes: broadcast.   Dtypes: real; integers give floats.
    Derivative: ``log(x) - digamma(a) + digamma(a + b)`` by `a`, its mirror image by `b`,
    ``(a - 1) / x - (b - 1) / (1 - x)`` by `x`; smooth inside its domain.
    Raises: ShapeError: the shapes do not broadcast. ArgumentError: complex numbers.
    Source: DLMF 8.17.1; for large shapes NOTE [Large shapes] in ``gamma.py``.

    >>> log_beta_pdf(np.array([2.0, 1e15]), np.array([1.0, 1e15]), 0.5).round(4).tolist()
    [0.0, 17.3902]
    """
    a, b, x = map(xp.asarray, together(xp, "log_beta_pdf", a, b, x))
    ends = xlogy.impl(xp, a - 1.0, x) + xlog1py.impl(xp, b - 1.0, -x)
    formula = ends - betaln.impl(xp, a, b)
    large = a + b > 4.0 * LARGE
    if on_host(xp) and not large.any():
        return formula
    large = large & (x > 0) & (x < 1)
    p, q, y = (xp.where(large, v, w) for v, w in ((a, 1.0), (b, 1.0), (x, 0.5)))
    n = p + q
    fallen = fallen_from.impl(xp, p, n * y) + fallen_from.impl(xp, q, n * (1.0 - y))
    peak = log_peak.impl(xp, p) + log_peak.impl(xp, q) - log_peak.impl(xp, n)
    return xp.where(large, peak - fallen - xp.log(y) - xp.log1p(-y), formula)


def beta_beyond(a: Any, b: Any, odds: Any, log_scale: Any) -> Any:
    """The probability that a beta variable's odds are less than `odds`, which lie below the hump.

    Odds in logarithms; the probability over ``e**log_scale``.
    """
    height = as_column(_log_beta_peak(a, b) - log_scale)
    fallen_at = _fallen_at(as_column(a), as_column(b))

    def f(u: Any) -> Any:
        return exp(height - fallen_at(u))

    return integral_from(odds, -_beta_width(a, b, odds), f)


def _beta_tail(a: Any, b: Any, odds: Any, upper: Any) -> tuple[Any, Any]:
    """The derivatives by `a` and `b` of the probability below the odds, for shapes above 1.

    `odds` in logarithms; from the end below, or, for `upper`, from that above.
    """
    flipped = where(upper, -odds, odds)
    p, q = where(upper, b, a), where(upper, a, b)
    by_p, by_q = digamma_gap(p, q), digamma_gap(q, p)
    width, height = -_beta_width(p, q, flipped), as_column(_log_beta_peak(p, q))
    fallen_at = _fallen_at(as_column(p), as_column(q))

    def density(u: Any) -> Any:
        return exp(height - fallen_at(u))

    first = integral_from(flipped, width, lambda u: density(u) * (-_log_odds(-u) - as_column(by_p)))
    second = integral_from(flipped, width, lambda u: density(u) * (-_log_odds(u) - as_column(by_q)))
    return where(upper, -second, first), where(upper, -first, second)


def _betainc_by_shapes(a: Any, b: Any, x: Any) -> tuple[Any, Any]:
    """``I(a, b) = I(a + 1, b + 1) + s - t``, differentiated.

    `s` is ``x**a (1 - x)**b / (a beta(a, b))``, `t` the same for ``a + 1`` but over ``b``.
    """
    a, b, x = double(a), double(b), double(x)
    valid = logical_and(logical_and(greater(a, 0), greater(b, 0)), greater_equal(x, 0))
    valid = logical_and(valid, less_equal(x, 1))
    inside = logical_and(valid, logical_and(greater(x, 0), less(x, 1)))
    a, b, x = where(inside, a, 1.0), where(inside, b, 1.0), where(inside, x, 0.5)
    log_x, log_y, total = log(x), log1p(-x), a + b
    c, d = _beta_tail(a + 1, b + 1, log_x - log_y, greater(x * (b + 1), (1 - x) * (a + 1)))
    s = exp(log_beta_pdf(a, b, x) + log_x + log_y) / a
    t = s * x * (total / b)
    moved = log_x - digamma_gap(a + 1, b)
    c = c + s * (moved - 1.0 / total) - t * moved
    d = d + s * (log_y - digamma_gap(b, a)) - t * (log_y - digamma_gap(b + 1, a))
    c, d = where(inside, c, 0.0), where(inside, d, 0.0)
    return where(valid, c, math.nan), where(valid, d, math.nan)


def beta_edge(a: Any, b: Any, x: Any) -> Any:
    """A beta variable's density near 0 and 1, where its logarithm has no slope.

    >>> beta_edge(np.array([2.0, 1.0]), 1.0, 0.0).tolist()
    [0.0, 1.0]
    """
    return power(x, a - 1.0) * power(1.0 - x, b - 1.0) * bounded_exp(-betaln(a, b))


def _beta_density(a: Any, b: Any, x: Any) -> Any:
    a, b, x = double(a), double(b), double(x)
    valid = logical_and(greater_equal(a, 0), greater_equal(b, 0))
    end = logical_and(valid, logical_or(equal(x, 0), equal(x, 1)))
    p, q, edge = where(end, a, 1.0), where(end, b, 1.0), where(end, x, 0.5)
    inner = exp(log_beta_pdf(where(end, 1.0, a), where(end, 1.0, b), where(end, 0.5, x)))
    return where(end, beta_edge(p, q, edge), where(valid, inner, math.nan))


@elementwise(
    lambda _y, a, b, x: _betainc_by_shapes(a, b, x)[0],
    lambda _y, a, b, x: _betainc_by_shapes(a, b, x)[1],
    lambda _y, a, b, x: _beta_density(a, b, x),
)
def betainc(xp, a, b, x, /):
    """``(integral of t**(a-1) (1-t)**(b-1) from 0 to x) / beta(a, b)``: a probability.

    Shapes: broadcast.   Dtypes: real; integers give floats.
    Derivative: ``x**(a-1) (1-x)**(b-1) / beta(a, b)`` by `x`; by `a` and `b` a quadrature, good to
    1e-12 of 1; smooth inside its domain.
    Raises: ImportError: SciPy is not installed. ArgumentError: complex numbers.
    Source: DLMF 8.17; SciPy reference, ``scipy.special.betainc``.

    >>> betainc(np.array([1.0, 2.0]), 2.0, 0.25).round(4).tolist()
    [0.4375, 0.1562]
    """
    return _in_double(xp, "betainc", *together(xp, "betainc", a, b, x))


@elementwise(
    lambda _y, a, b, x: -_betainc_by_shapes(a, b, x)[0],
    lambda _y, a, b, x: -_betainc_by_shapes(a, b, x)[1],
    lambda _y, a, b, x: -_beta_density(a, b, x),
)
def betaincc(xp, a, b, x, /):
    """``1 - betainc(a, b, x)``, accurate where that is near 1.

    Shapes: broadcast.   Dtypes: real; integers give floats.
    Derivative: minus that of `betainc`; smooth inside its domain.
    Raises: ImportError: SciPy is not installed. ArgumentError: complex numbers.
    Source: DLMF 8.17; SciPy reference, ``scipy.special.betaincc``.

    >>> betaincc(np.array([1.0, 2.0]), 2.0, 0.25).round(4).tolist()
    [0.5625, 0.8438]
    """
    a, b, x = xp.broadcast_arrays(*together(xp, "betaincc", a, b, x))
    if not on_host(xp):  # a device would have to wait
        return _in_double(xp, "betaincc", a, b, x)
    # SciPy's own takes ten times as long as `betainc`, which has the digits but where it is near 1.
    # 1 - x is exact from 1/2 on; its rounding is multiplied by the hazard, which is small where b is.
    swapped = (x >= 0.5) | ((x >= 0.01) & (b <= 50))
    first, second = xp.where(swapped, b, a), xp.where(swapped, a, b)
    part = _in_double(xp, "betainc", first, second, xp.where(swapped, 1 - x, x))
    out = xp.asarray(xp.where(swapped, part, 1 - part))
    close = ~swapped & (part > 0.5)
    if close.any():
        out[close] = _in_double(xp, "betaincc", a[close], b[close], x[close])
    return out[()]


def _in_double(xp: Any, name: str, a: Any, b: Any, x: Any) -> Any:
    """A function of SciPy whose own code for single precision loses up to 1e-5."""
    if x.dtype == xp.float64:
        return scipy_function(xp, name)(a, b, x)
    found = scipy_function(xp, name)(*(v.astype(xp.float64) for v in (a, b, x)))
    return found.astype(x.dtype)


def _beta_quantile_by(shape: int, a: Any, b: Any, x: Any) -> Any:
    """By the first or the second shape: 0 at the ends, which no shape moves."""
    inside = logical_and(greater(x, 0), less(x, 1))
    place = where(inside, x, 0.5)
    slope = -_betainc_by_shapes(a, b, place)[shape] / _beta_density(a, b, place)
    return where(inside, slope, x * 0.0)


@elementwise(
    lambda x, a, b, _p: _beta_quantile_by(0, a, b, x),
    lambda x, a, b, _p: _beta_quantile_by(1, a, b, x),
    lambda x, a, b, _p: 1.0 / _beta_density(a, b, x),
)
def betaincinv(xp, a, b, p, /):
    """The `x` with ``betainc(a, b, x) = p``.

    Where SciPy finds none for a small `p`, by ``p = x**a / (a beta(a, b))``, if that is exact.

    Shapes: broadcast.   Dtypes: real; integers give floats.
    Derivative: that of the inverse: ``1 / density`` by `p`; by `a` and `b` 0 at the ends; smooth inside
    its domain.
    Raises: ImportError: SciPy is not installed. ArgumentError: complex numbers.
    Source: SciPy reference, ``scipy.special.betaincinv``.

    >>> betaincinv(np.array([1.0, 2.0]), 2.0, 0.5).round(4).tolist()
    [0.2929, 0.5]
    """
    given = together(xp, "betaincinv", a, b, p)
    # SciPy's own code for single precision is up to a third off
    a, b, p = (xp.asarray(v, xp.float64) for v in given)
    return _beta_quantile(xp, a, b, p).astype(given[0].dtype)[()]


def _beta_quantile(xp: Any, a: Any, b: Any, p: Any) -> Any:
    x = xp.asarray(scipy_function(xp, "betaincinv")(a, b, p))
    lost = xp.logical_and(xp.isnan(x), xp.logical_and(p > 0, p < 1e-30))
    if on_host(xp) and not lost.any():
        return x
    size = xp.log(xp.where(lost, p, 1)) + xp.log(a) + scipy_function(xp, "betaln")(a, b)
    small = xp.exp(size / a)
    return xp.where(xp.logical_and(lost, small < 1e-18 / (1 + b)), small, x)
