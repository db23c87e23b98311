"""The gamma function and its relatives, element by element."""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from ..algebra import elementwise, elementwise_constant
from ..choose import choose_in
from ..core import aval_of
from .arithmetic import absolute, hypot, polynomial
from .exponential import exp, expit, log, log1p, logaddexp, sqrt, xlog1py, xlogy
from .from_scipy import (
    by_nothing,
    real_floating,
    scipy_function,
    scipy_if_there,
    scipy_or_math,
    together,
)
from .index_layout import on_host
from .logic import greater, greater_equal, less, less_equal, logical_and
from .quadrature import as_column, integral_from
from .select import maximum, minimum, stop_gradient, where
from .trigonometric import cos, sin


def _lgamma(x: float) -> float:
    return math.inf if x <= 0 and x.is_integer() else math.lgamma(x)


@elementwise(lambda _y, x: digamma(x))
def gammaln(xp, x, /):
    """``log |gamma(x)|``.

    Shapes: ``x: (*a) -> (*a)``.   Dtypes: floating; integers give floats.
    Derivative: ``digamma(x)``, which needs SciPy; smooth between the poles 0, -1, -2, ...
    Raises: nothing of its own; without SciPy it is slow.
    Source: DLMF 5.2; SciPy reference, ``scipy.special.gammaln``.

    >>> gammaln(np.array([1.0, 5.0])).round(4).tolist()
    [0.0, 3.1781]
    """
    return scipy_or_math(xp, "gammaln", _lgamma, x)


# B_2 / 2, B_4 / 4, ...: of log(x) - 1 / (2 x) - digamma(x) in powers of 1 / x**2, from the first on
_DIGAMMA = [1 / 12, -1 / 120, 1 / 252, -1 / 240, 1 / 132, -691 / 32760, 1 / 12, -3617 / 8160]
_LARGE = 15.0  # from here on these are all


def _digamma_gap(a: Any, b: Any) -> Any:
    """``digamma(a) - digamma(a + b)``, which keeps its digits where `a` is large beside `b`."""
    large = greater(minimum(a, a + b), _LARGE)
    c, d = where(large, a, 1.0), where(large, b, 1.0)
    r, s = 1.0 / c, 1.0 / (c + d)
    p, q = r * r, s * s
    total: Any = 0.0
    mixed, last = 1.0, 1.0  # p**k + p**(k - 1) q + ... + q**k, and q**k
    for coefficient in _DIGAMMA:
        total = total + mixed * coefficient
        last = last * q
        mixed = mixed * p + last
    gap = -log1p(d * r) - d * r * s * (0.5 + (r + s) * total)
    return where(large, gap, digamma(where(large, 1.0, a)) - digamma(where(large, 1.0, a + b)))


@elementwise(
    lambda _y, a, b: _digamma_gap(a, b),
    lambda _y, a, b: _digamma_gap(b, a),
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
    return y * _digamma_gap(a, b)


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


@elementwise_constant
def gammasgn(xp, x, /):
    """The sign of the gamma function: 1 or -1; NaN at the negative integers.

    Shapes: ``x: (*a) -> (*a)``.   Dtypes: real; integers give floats.
    Derivative: zero.   Raises: ArgumentError: complex numbers.
    Source: SciPy reference, ``scipy.special.gammasgn``.

    >>> gammasgn(np.array([2.5, -0.5])).tolist()
    [1.0, -1.0]
    """
    x = xp.asarray(real_floating(xp, "gammasgn", x))
    whole = xp.floor(x)
    turned = xp.where(xp.equal(x, 0), xp.signbit(x), xp.logical_and(x < 0, whole % 2 != 0))
    pole = xp.logical_and(xp.equal(whole, x), x < 0)
    y = xp.where(turned, -1.0, 1.0)
    return xp.where(xp.logical_or(pole, xp.isnan(x)), math.nan, y).astype(x.dtype)


@elementwise(lambda y, x: y * digamma(x))
def gamma(xp, x, /):
    """The gamma function, ``(x - 1)!`` at the positive integers.

    Shapes: ``x: (*a) -> (*a)``.   Dtypes: floating, complex; integers give floats.
    Derivative: ``gamma(x) digamma(x)``; smooth between the poles 0, -1, -2, ...
    Raises: ImportError: SciPy is not installed.
    Source: DLMF 5.2; SciPy reference, ``scipy.special.gamma``.

    >>> gamma(np.array([1.0, 5.0])).tolist()
    [1.0, 24.0]
    """
    return scipy_function(xp, "gamma")(x)


@elementwise(lambda _y, x: polygamma(x, n=1))
def digamma(xp, x, /):
    """The derivative of ``log(gamma(x))``.

    Shapes: ``x: (*a) -> (*a)``.   Dtypes: floating; integers give floats.
    Derivative: ``polygamma(x, n=1)``; smooth between the poles 0, -1, -2, ...
    Raises: ImportError: SciPy is not installed.
    Source: DLMF 5.2.2; SciPy reference, ``scipy.special.digamma``.

    >>> digamma(np.array([1.0, 5.0])).round(4).tolist()
    [-0.5772, 1.5061]
    """
    return scipy_function(xp, "digamma")(x)


@functools.cache
def _cot_slope(n: int) -> list[float]:
    """The derivative of order `n` of ``pi cot(pi x)`` in powers of ``cot(pi x)``."""
    found = [0, 1]
    for _ in range(n):
        slope = [k * c for k, c in enumerate(found)][1:]
        found = [-a - b for a, b in zip([*slope, 0, 0], [0, 0, *slope], strict=True)]
    return [math.pi ** (n + 1) * c for c in found]


@elementwise(lambda _y, x, *, n: polygamma(x, n=n + 1))
def polygamma(xp, x, /, *, n):
    """The derivative of `digamma` of order `n` >= 1.

    Shapes: ``x: (*a) -> (*a)``.   Dtypes: floating; integers give floats.
    Derivative: that of the next order; smooth between the poles 0, -1, -2, ...
    Raises: ImportError: SciPy is not installed.
    Source: DLMF 5.15.1, 25.11: ``(-1)**(n + 1) n! zeta(n + 1, x)``; 5.15.6 below 0.

    >>> polygamma(np.array([1.0]), n=1).round(4).tolist()
    [1.6449]
    """
    zeta, factor = scipy_function(xp, "zeta"), float((-1) ** (n + 1) * math.factorial(n))
    x = real_floating(xp, "polygamma", x)
    left = xp.clip(x, -(2.0**53), 0.0)  # farther down are whole numbers only
    off = left - xp.round(left)
    low = xp.logical_and(xp.less(x, 0), xp.not_equal(off, 0))
    if on_host(xp) and not low.any():
        return zeta(n + 1.0, x) * factor
    # SciPy adds up to x terms below 0
    y = zeta(n + 1.0, choose_in(xp, low, 1.0 - x, x)) * factor
    size = xp.abs(choose_in(xp, low, off, 0.5))
    near = xp.less(size, 0.25)
    tan = xp.tan(math.pi * choose_in(xp, near, size, 0.5 - size))
    cot = xp.sign(off) * choose_in(xp, near, 1.0 / choose_in(xp, near, tan, 1.0), tan)
    return choose_in(xp, low, (-1.0) ** n * y - polynomial(cot, _cot_slope(n)), y)


@elementwise(lambda _y, x: digamma(x))
def loggamma(xp, x, /):
    """``log(gamma(x))`` on its principal branch, which is continuous but for the negative numbers.

    Shapes: ``x: (*a) -> (*a)``.   Dtypes: floating, complex; real negative numbers give NaN.
    Derivative: ``digamma(x)``; of complex numbers once; smooth inside its domain.
    Raises: ImportError: SciPy is not installed.
    Source: DLMF 5.2; SciPy reference, ``scipy.special.loggamma``.

    >>> loggamma(np.array([1.0, 5.0])).round(4).tolist()
    [0.0, 3.1781]
    """
    return scipy_function(xp, "loggamma")(x)


def _rgamma_slope(_y: Any, x: Any) -> Any:
    """``-digamma(x) / gamma(x)``, and for small `x`, poles of both among it, by the reflection."""
    low = less(x, 0.5)
    left, right = where(low, x, 0.0), where(low, 1.0, x)
    turn = left * math.pi
    mirrored = cos(turn) - digamma(1.0 - left) * sin(turn) * (1.0 / math.pi)
    return where(low, gamma(1.0 - left) * mirrored, -digamma(right) * rgamma(right))


@elementwise(_rgamma_slope)
def rgamma(xp, x, /):
    """``1 / gamma(x)``, which is 0 at 0, -1, -2, ...

    Shapes: ``x: (*a) -> (*a)``.   Dtypes: real; integers give floats.
    Derivative: ``-digamma(x) / gamma(x)``; smooth everywhere, ``(-1)**n n!`` at -n.
    Raises: ImportError: SciPy is not installed. ArgumentError: complex numbers.
    Source: DLMF 5.2.1, 5.5.3; SciPy reference, ``scipy.special.rgamma``.

    >>> rgamma(np.array([-1.0, 5.0])).round(4).tolist()
    [0.0, 0.0417]
    """
    return scipy_function(xp, "rgamma")(real_floating(xp, "rgamma", x))


@elementwise(
    lambda y, z, m: y * (digamma(z + m) - digamma(z)),
    lambda y, z, m: y * digamma(z + m),
)
def poch(xp, z, m, /):
    """``gamma(z + m) / gamma(z)``, Pochhammer's symbol; ``z (z + 1) ... (z + m - 1)`` for whole `m`.

    Shapes: broadcast.   Dtypes: real; integers give floats.
    Derivative: ``y (digamma(z + m) - digamma(z))`` by `z`, ``y digamma(z + m)`` by `m`; NaN at the
    poles z = 0, -1, -2, ..; smooth inside its domain.
    Raises: ImportError: SciPy is not installed. ArgumentError: complex numbers.
    Source: DLMF 5.2.5; SciPy reference, ``scipy.special.poch``.

    >>> poch(np.array([1.0, 3.0]), 2).tolist()
    [2.0, 12.0]
    """
    return scipy_function(xp, "poch")(*together(xp, "poch", z, m))


@elementwise(
    lambda y, n, k: y * (digamma(n + 1) - digamma(n - k + 1)),
    lambda y, n, k: y * (digamma(n - k + 1) - digamma(k + 1)),
)
def binom(xp, n, k, /):
    """The binomial coefficient ``gamma(n + 1) / (gamma(k + 1) gamma(n - k + 1))``.

    Shapes: broadcast.   Dtypes: real; integers give floats.
    Derivative: ``y (digamma(n + 1) - digamma(n - k + 1))`` by `n`, ``y (digamma(n - k + 1) -
    digamma(k + 1))`` by `k`; NaN at the poles, where k or n - k is a negative whole number;
    smooth inside its domain.
    Raises: ImportError: SciPy is not installed. ArgumentError: complex numbers.
    Source: DLMF 1.2.6; SciPy reference, ``scipy.special.binom``.

    >>> binom(np.array([4.0, 0.5]), 2).tolist()
    [6.0, -0.125]
    """
    return scipy_function(xp, "binom")(*together(xp, "binom", n, k))


@elementwise(by_nothing("zeta", "x"), lambda _y, x, q: -1.0 * x * zeta(x + 1.0, q))
def zeta(xp, x, q, /):
    """``sum_k (k + q)**-x`` over ``k = 0, 1, ...``: Hurwitz's zeta function, Riemann's for q = 1.

    Shapes: broadcast.   Dtypes: real; integers give floats.
    Derivative: ``-x zeta(x + 1, q)`` by `q`; none by `x`; smooth inside its domain.
    Raises: ImportError: SciPy is not installed. ArgumentError: complex numbers. MissingRuleError: a
    derivative by `x`.
    Source: DLMF 25.11.1, 25.11.17; SciPy reference, ``scipy.special.zeta``.

    >>> zeta(np.array([2.0]), 1.0).round(4).tolist()
    [1.6449]
    """
    return scipy_function(xp, "zeta")(*together(xp, "zeta", x, q))


# ---------------------------------------------------------------- integrals over one side

# Derivatives by a shape parameter have no closed form. In logarithms, log t of a gamma variable and
# log t - log(1 - t) of a beta variable, the densities are smooth and have one hump; they are
# integrated by Gauss and Legendre's rule from the given point away from the hump until they have
# faded. For shapes below 1 the hump is too wide for the nodes: a recurrence leads to larger ones.

_FADED = 40.0  # what is left out lies below e**-40 of the largest


def _double(x: Any) -> Any:
    return x if aval_of(x).weak else x.astype(np.float64)


def log_gamma_density(a: Any, log_x: Any) -> Any:
    """``log(x**a e**-x / gamma(a))``: the density of a gamma variable's logarithm."""
    return a * log_x - exp(log_x) - gammaln(a)


def gamma_integral(a: Any, log_x: Any, log_scale: Any, below: Any, origin: Any) -> Any:
    """The integral of the density, or of that times ``log t - origin``, from `x` to an end."""
    x = maximum(exp(log_x), 1e-300)
    down = (_FADED + sqrt(_FADED * _FADED + 2 * _FADED * a)) / a
    slope = maximum(x - a, 0.0)  # the logarithm falls faster than slope u + x u**2 / 2
    steep = 2 * _FADED / (slope + hypot(slope, sqrt(2 * _FADED * x)))
    up = minimum(log1p((_FADED + sqrt(_FADED * _FADED + 2 * _FADED * x)) / x), steep)

    def f(u: Any) -> Any:
        y = exp(as_column(a) * u - exp(u) - as_column(gammaln(a) + log_scale))
        return y if origin is None else y * (u - as_column(origin))

    return integral_from(log_x, where(below, -down, up), f)


def _gamma_by_shape(a: Any, log_x: Any, log_scale: Any) -> Any:
    """The derivative by `a` of ``P(a, x)``, over ``e**log_scale``.

    Of ``P(a, x) = P(a + 1, x) + x**a e**-x / gamma(a + 1)`` both terms are differentiated.
    """
    origin = digamma(a + 1)
    below = less_equal(log_x, log(a))
    mass = gamma_integral(a + 1, log_x, log_scale, below, origin)
    between = exp(log_gamma_density(a, log_x) - log_scale) * (log_x - origin) / a
    return where(below, mass, -mass) + between


def _gammainc_by_a(_y: Any, a: Any, x: Any) -> Any:
    a, x = _double(a), _double(x)
    inside = logical_and(greater(x, 0), less(x, math.inf))
    slope = where(inside, _gamma_by_shape(a, log(where(inside, x, 1.0)), 0.0), 0.0)
    return where(greater_equal(x, 0), slope, math.nan)


def log_gamma_moved(a: Any, log_x: Any) -> Any:
    """How fast the logarithm of a gamma variable moves with `a` if its probability ``P(a, x)`` stays.

    Also where `x` itself would underflow. Zero where `x` is 0 or infinite.
    """
    a, log_x = _double(a), _double(log_x)
    inside = less(absolute(log_x), math.inf)
    log_x = where(inside, log_x, 0.0)
    return where(inside, -_gamma_by_shape(a, log_x, log_gamma_density(a, log_x)), 0.0)


def _gamma_density(a: Any, x: Any) -> Any:
    a, x = _double(a), _double(x)
    return exp(xlogy(a - 1, where(less(x, math.inf), x, 1.0)) - x - gammaln(a))


@elementwise(_gammainc_by_a, lambda _y, a, x: _gamma_density(a, x))
def gammainc(xp, a, x, /):
    """``(integral of t**(a-1) e**-t from 0 to x) / gamma(a)``: P(a, x), a probability.

    Shapes: broadcast.   Dtypes: real; integers give floats.
    Derivative: ``x**(a-1) e**-x / gamma(a)`` by `x`; by `a` a quadrature, good to 1e-12 of 1;
    smooth inside its domain.
    Raises: ImportError: SciPy is not installed. ArgumentError: complex numbers.
    Source: DLMF 8.2.4, 8.8.5; SciPy reference, ``scipy.special.gammainc``.

    >>> gammainc(np.array([1.0, 2.0]), 1.0).round(4).tolist()
    [0.6321, 0.2642]
    """
    return scipy_function(xp, "gammainc")(*together(xp, "gammainc", a, x))


@elementwise(
    lambda _y, a, x: -_gammainc_by_a(None, a, x),
    lambda _y, a, x: -_gamma_density(a, x),
)
def gammaincc(xp, a, x, /):
    """``1 - gammainc(a, x)``, accurate for large `x`.

    Shapes: broadcast.   Dtypes: real; integers give floats.
    Derivative: that of ``-gammainc(a, x)``; smooth inside its domain.
    Raises: ImportError: SciPy is not installed. ArgumentError: complex numbers.
    Source: DLMF 8.2.4; SciPy reference, ``scipy.special.gammaincc``.

    >>> gammaincc(np.array([1.0, 2.0]), 1.0).round(4).tolist()
    [0.3679, 0.7358]
    """
    return scipy_function(xp, "gammaincc")(*together(xp, "gammaincc", a, x))


def _quantile_by_a(x: Any, a: Any, _p: Any) -> Any:
    inside = logical_and(greater(x, 0), less(x, math.inf))
    return where(inside, x * log_gamma_moved(a, log(where(inside, x, 1.0))), x * 0.0)


@elementwise(_quantile_by_a, lambda x, a, _p: 1.0 / _gamma_density(a, x))
def gammaincinv(xp, a, p, /):
    """The `x` with ``gammainc(a, x) = p``.

    Shapes: broadcast.   Dtypes: real; integers give floats.
    Derivative: that of the inverse: ``1 / density`` by `p`; by `a` 0 where x = 0; smooth inside its
    domain.
    Raises: ImportError: SciPy is not installed. ArgumentError: complex numbers.
    Source: SciPy reference, ``scipy.special.gammaincinv``.

    >>> gammaincinv(np.array([1.0, 2.0]), 0.5).round(4).tolist()
    [0.6931, 1.6783]
    """
    return scipy_function(xp, "gammaincinv")(*together(xp, "gammaincinv", a, p))


@elementwise(_quantile_by_a, lambda x, a, _p: -1.0 / _gamma_density(a, x))
def gammainccinv(xp, a, p, /):
    """The `x` with ``gammaincc(a, x) = p``.

    Shapes: broadcast.   Dtypes: real; integers give floats.
    Derivative: that of the inverse: ``-1 / density`` by `p`; smooth inside its domain.
    Raises: ImportError: SciPy is not installed. ArgumentError: complex numbers.
    Source: SciPy reference, ``scipy.special.gammainccinv``.

    >>> gammainccinv(np.array([1.0, 2.0]), 0.5).round(4).tolist()
    [0.6931, 1.6783]
    """
    return scipy_function(xp, "gammainccinv")(*together(xp, "gammainccinv", a, p))


def _beta_width(a: Any, b: Any, odds: Any) -> Any:
    """How far down from the logarithm of the odds ``t**a (1 - t)**b`` falls by `_FADED`.

    What it has fallen by is convex and grows by `a` at most: Newton's method from the right.
    """
    a, b, odds = stop_gradient(a), stop_gradient(b), stop_gradient(odds)
    top = _log_odds(odds)
    width = (_FADED + (a + b) * top) / a
    for _ in range(12):
        below = odds - width
        fallen = a * width - (a + b) * (top - _log_odds(below)) - _FADED
        width = width - fallen / (a - (a + b) * expit(below))
    return width


def _log_odds(u: Any) -> Any:
    """``log(1 + e**u)``."""
    return logaddexp(u, 0.0)


def log_beta_density(a: Any, b: Any, odds: Any) -> Any:
    """``log(x**a (1 - x)**b / beta(a, b))`` for ``x = e**odds / (1 + e**odds)``: the density of the
    logarithm of a beta variable's odds.
    """
    return a * odds - (a + b) * _log_odds(odds) - betaln(a, b)


def beta_beyond(a: Any, b: Any, odds: Any, log_scale: Any) -> Any:
    """The probability that a beta variable's odds are less than `odds`, which lie below the hump.

    Odds in logarithms; the probability over ``e**log_scale``.
    """

    def f(u: Any) -> Any:
        return exp(log_beta_density(as_column(a), as_column(b), u) - as_column(log_scale))

    return integral_from(odds, -_beta_width(a, b, odds), f)


def _beta_tail(a: Any, b: Any, odds: Any, upper: Any) -> tuple[Any, Any]:
    """The derivatives by `a` and `b` of the probability below the odds, for shapes above 1.

    `odds` in logarithms; from the end below, or, for `upper`, from that above.
    """
    flipped = where(upper, -odds, odds)
    p, q = where(upper, b, a), where(upper, a, b)
    total = digamma(a + b)
    by_p, by_q = digamma(p) - total, digamma(q) - total
    width = -_beta_width(p, q, flipped)

    def density(u: Any) -> Any:
        return exp(log_beta_density(as_column(p), as_column(q), u))

    first = integral_from(
        flipped, width, lambda u: density(u) * (u - _log_odds(u) - as_column(by_p))
    )
    second = integral_from(flipped, width, lambda u: density(u) * (-_log_odds(u) - as_column(by_q)))
    return where(upper, -second, first), where(upper, -first, second)


def _betainc_by_shapes(a: Any, b: Any, x: Any) -> tuple[Any, Any]:
    """``I(a, b) = I(a + 1, b + 1) + s / a - t / b``, differentiated.

    `s` is ``x**a (1 - x)**b / beta(a, b)`` and `t` that for ``a + 1``.
    """
    a, b, x = _double(a), _double(b), _double(x)
    inside = logical_and(greater(x, 0), less(x, 1))
    valid = logical_and(greater_equal(x, 0), less_equal(x, 1))
    x = where(inside, x, 0.5)
    log_x, log_y = log(x), log1p(-x)
    odds = log_x - log_y
    c, d = _beta_tail(a + 1, b + 1, odds, greater(odds, log(a + 1) - log(b + 1)))
    s = exp(a * log_x + b * log_y - betaln(a, b)) / a
    t = exp((a + 1) * log_x + b * log_y - betaln(a + 1, b)) / b
    total = digamma(a + b)
    c = (
        c
        + s * (log_x - digamma(a + 1) + total)
        - t * (log_x - digamma(a + 1) + total + 1 / (a + b))
    )
    d = d + s * (log_y - digamma(b) + total) - t * (log_y - digamma(b + 1) + total + 1 / (a + b))
    c, d = where(inside, c, 0.0), where(inside, d, 0.0)
    return where(valid, c, math.nan), where(valid, d, math.nan)


def _beta_density(a: Any, b: Any, x: Any) -> Any:
    a, b, x = _double(a), _double(b), _double(x)
    return exp(xlogy(a - 1, x) + xlog1py(b - 1, -x) - betaln(a, b))


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
    return scipy_function(xp, "betainc")(*together(xp, "betainc", a, b, x))


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
    return scipy_function(xp, "betaincc")(*together(xp, "betaincc", a, b, x))


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
    a, b, p = together(xp, "betaincinv", a, b, p)
    x = scipy_function(xp, "betaincinv")(a, b, p)
    lost = xp.logical_and(xp.isnan(x), xp.logical_and(p > 0, p < 1e-30))
    if on_host(xp) and not lost.any():
        return x
    size = xp.log(xp.where(lost, p, 1)) + xp.log(a) + scipy_function(xp, "betaln")(a, b)
    small = xp.exp(size / a)
    return xp.where(xp.logical_and(lost, small < 1e-18 / (1 + b)), small, x)
