"""The gamma function and its relatives, element by element."""

from __future__ import annotations

import functools
import math
import operator
from typing import Any

import numpy as np

from ..algebra import elementwise, elementwise_constant
from ..choose import choose_in
from ..core import aval_of
from .arithmetic import absolute, fmod, hypot, polynomial, power
from .exponential import exp, expm1, log, log1p, sqrt, unless_both, xlogy
from .from_scipy import (
    real_floating,
    scipy_function,
    scipy_or_math,
    together,
)
from .index_layout import on_host
from .logic import (
    equal,
    greater,
    greater_equal,
    less,
    less_equal,
    logical_and,
)
from .quadrature import as_column, integral_from
from .select import maximum, minimum, where
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


# B_2 / 2!, B_4 / 4!, ...: of Euler and Maclaurin's formula, after as many terms one by one
_EULER_MACLAURIN = [1 / 12, -1 / 720, 1 / 30240, -1 / 1209600, 1 / 47900160]
_EULER_MACLAURIN += [-691 / 1307674368000, 1 / 74724249600, -3617 / 10670622842880000]
_TERMS = 8
_LARGEST = 6  # exponent for which this is as exact as SciPy's function


def _hurwitz_zeta(xp: Any, s: int, x: Any) -> Any:
    """``zeta(s, x)`` of a whole exponent, inf where ``x <= 0``: a fraction of the time of SciPy's."""
    below = xp.less_equal(x, 0)
    x = choose_in(xp, below, 1.0, x)
    total: Any = 0.0
    for k in range(_TERMS):
        total = total + functools.reduce(operator.mul, [1.0 / (x + k)] * s)
    r = 1.0 / (x + _TERMS)
    rising = [math.prod(range(s, s + 2 * j + 1)) for j in range(_TERMS)]
    series = [a * b for a, b in zip(_EULER_MACLAURIN, rising, strict=True)]
    rest = 1 / (s - 1) + r * (0.5 + r * polynomial(r * r, series))
    rest = functools.reduce(operator.mul, [r] * (s - 1), rest)
    return choose_in(xp, below, math.inf, total + rest)


@elementwise(lambda _y, x, *, n: polygamma(x, n=n + 1))
def polygamma(xp, x, /, *, n):
    """The derivative of `digamma` of order `n` >= 1.

    Shapes: ``x: (*a) -> (*a)``.   Dtypes: floating; integers give floats.
    Derivative: that of the next order; smooth between the poles 0, -1, -2, ...
    Raises: ImportError: SciPy is not installed, for ``n > 5``.
    Source: DLMF 5.15.1, 25.11: ``(-1)**(n + 1) n! zeta(n + 1, x)``; 5.15.6 below 0.

    >>> polygamma(np.array([1.0]), n=1).round(4).tolist()
    [1.6449]
    """
    factor = float((-1) ** (n + 1) * math.factorial(n))
    small = n < _LARGEST
    zeta = functools.partial(_hurwitz_zeta, xp) if small else scipy_function(xp, "zeta")
    x = real_floating(xp, "polygamma", x)
    dtype, x = x.dtype, x.astype("float64")  # large factors, small functions
    left = xp.clip(x, -(2.0**53), 0.0)  # farther down are whole numbers only
    off = left - xp.round(left)
    low = xp.logical_and(xp.less(x, 0), xp.not_equal(off, 0))
    if on_host(xp) and not low.any():
        return (zeta(n + 1, x) * factor).astype(dtype)
    # The formula wants x > 0, and SciPy's function adds up as many terms as x is below 0.
    y = zeta(n + 1, choose_in(xp, low, 1.0 - x, x)) * factor
    size = xp.abs(choose_in(xp, low, off, 0.5))
    near = xp.less(size, 0.25)
    tan = xp.tan(math.pi * choose_in(xp, near, size, 0.5 - size))
    cot = xp.sign(off) * choose_in(xp, near, 1.0 / choose_in(xp, near, tan, 1.0), tan)
    y = choose_in(xp, low, (-1.0) ** n * y - polynomial(cot, _cot_slope(n)), y)
    return y.astype(dtype)


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


def rgamma_slope(_y: Any, x: Any) -> Any:
    """``-digamma(x) / gamma(x)``, and for small `x`, poles of both among it, by the reflection."""
    low = less(x, 0.5)
    left, right = where(low, x, 0.0), where(low, 1.0, x)
    turn = left * math.pi
    mirrored = cos(turn) - digamma(1.0 - left) * sin(turn) * (1.0 / math.pi)
    return where(low, gamma(1.0 - left) * mirrored, -digamma(right) * rgamma(right))


@elementwise(rgamma_slope)
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
    lambda _y, x, q: where(less(x, 1.0), math.nan, zeta_of_logs(x, q, n=1)),
    lambda _y, x, q: -1.0 * x * zeta(x + 1.0, q),
)
def zeta(xp, x, q, /):
    """``sum_k (k + q)**-x`` over ``k = 0, 1, ...``: Hurwitz's zeta function, Riemann's for q = 1.

    Shapes: broadcast.   Dtypes: real; integers give floats.
    Derivative: `zeta_of_logs` by `x`, ``-x zeta(x + 1, q)`` by `q`; smooth inside its domain.
    Raises: ImportError: SciPy is not installed. ArgumentError: complex numbers.
    Source: DLMF 25.11.1, 25.11.17; SciPy reference, ``scipy.special.zeta``.

    >>> zeta(np.array([2.0]), 1.0).round(4).tolist()
    [1.6449]
    """
    return scipy_function(xp, "zeta")(*together(xp, "zeta", x, q))


# B_2j / (2j)! of Euler and Maclaurin's formula
_BERNOULLI = [1 / 12, -1 / 720, 1 / 30240, -1 / 1209600, 1 / 47900160, -691 / 1307674368000,
              1 / 74724249600, -3617 / 10670622842880000, 43867 / 5109094217170944000]  # fmt: skip


def _logs_by_q(_y: Any, x: Any, q: Any, *, n: int) -> Any:
    below = zeta_of_logs(x + 1.0, q, n=n - 1) if n > 1 else zeta(x + 1.0, q)
    return -1.0 * x * zeta_of_logs(x + 1.0, q, n=n) - float(n) * below


@elementwise(lambda _y, x, q, *, n: zeta_of_logs(x, q, n=n + 1), _logs_by_q)
def zeta_of_logs(xp, x, q, /, *, n):
    """``sum_k (-log(k + q))**n (k + q)**-x``: `zeta` differentiated `n` times by `x`.

    For x >= -1 and q > 0, below 1 as it is continued there; nan elsewhere.

    Shapes: broadcast.   Dtypes: real; integers give floats.
    Derivative: that with n + 1 by `x`, by `q` of each term; smooth inside its domain.
    Raises: ArgumentError: complex numbers.
    Source: DLMF 25.11.1; Euler and Maclaurin's formula, DLMF 2.10.1, 25.11.28.

    >>> zeta_of_logs(np.array([2.0]), 1.0, n=1).round(4).tolist()
    [-0.9375]
    """
    given = together(xp, "zeta_of_logs", x, q)
    x, q = (xp.asarray(v, xp.float64) for v in given)
    known = (x >= -1) & (q > 0)
    x, q = xp.where(known, x, 2.0), xp.where(known, q, 1.0)
    total = 0.0 * (x + q)
    for k in range(16):
        log = xp.log(q + k)
        total = total + (-log) ** n * xp.exp(-x * log)
    # The rest, by Taylor's coefficients in the exponent: they are multiplied as polynomials are.
    w = q + 16.0
    log = xp.log(w)
    power = [xp.exp(-x * log) * (-log) ** i / math.factorial(i) for i in range(n + 1)]
    whole = [w * (-1.0) ** i / (x - 1.0) ** (i + 1) for i in range(n + 1)]
    rest = [c + 0.5 * (i == 0) for i, c in enumerate(whole)]
    term = [x / w, 1.0 / w, *[0.0] * n][: n + 1]
    for j, b in enumerate(_BERNOULLI, 1):
        rest = [r + b * t for r, t in zip(rest, term, strict=True)]
        for step in (2 * j - 1, 2 * j):
            term = [((x + step) * t + u) / w for t, u in zip(term, [0.0, *term], strict=False)]
    last = sum(power[i] * rest[n - i] for i in range(n + 1)) * math.factorial(n)
    return xp.where(known, total + last, xp.nan).astype(xp.result_type(*given))


def _reflected_zeta_slope(x: Any) -> Any:
    """``d/dx 2 (2 pi)**-t gamma(t) zeta(t) sin(pi x / 2)``, where ``t = 1 - x``, for x < -1."""
    t, turn, log_circle = 1.0 - x, 0.5 * math.pi * fmod(x, 4.0), math.log(2.0 * math.pi)
    size = 2.0 * exp(gammaln(t) - t * log_circle)
    z, slope = zeta(t, 1.0), zeta_of_logs(t, 1.0, n=1)
    return size * (
        0.5 * math.pi * cos(turn) * z + sin(turn) * (z * (log_circle - digamma(t)) - slope)
    )


def _riemann_zeta_slope(x: Any) -> Any:
    dtype, x = aval_of(x).dtype, double(x)
    low = less(x, -1.0)
    reflected = _reflected_zeta_slope(where(low, x, -2.0))
    return where(low, reflected, zeta_of_logs(where(low, 2.0, x), 1.0, n=1)).astype(dtype)


@elementwise(lambda _y, x: _riemann_zeta_slope(x))
def riemann_zeta(xp, x, /):
    """Riemann's zeta function: ``sum_k k**-x`` for x > 1, and its continuation below.

    Shapes: ``x: (*a) -> (*a)``.   Dtypes: real; integers give floats.
    Derivative: `zeta_of_logs`, below -1 by reflection; smooth but for the pole at 1.
    Raises: ImportError: SciPy is not installed. ArgumentError: complex numbers.
    Source: DLMF 25.2.1, 25.4.1; SciPy reference, ``scipy.special.zeta``; NaN below 1 on CuPy.

    >>> riemann_zeta(np.array([2.0, -1.0])).round(4).tolist()
    [1.6449, -0.0833]
    """
    x = real_floating(xp, "riemann_zeta", x)
    of_one = scipy_function(xp, "zeta")
    return of_one(x, 1.0) if xp.__name__ == "cupy" else of_one(x)


# ---------------------------------------------------------------- integrals over one side

# Derivatives by a shape parameter have no closed form. In logarithms, log t of a gamma variable and
# log t - log(1 - t) of a beta variable, the densities are smooth and have one hump; they are
# integrated by Gauss and Legendre's rule from the given point away from the hump until they have
# faded. For shapes below 1 the hump is too wide for the nodes: a recurrence leads to larger ones.

FADED = 40.0  # what is left out lies below e**-40 of the largest


def double(x: Any) -> Any:
    return x if aval_of(x).weak else x.astype(np.float64)


# NOTE [Large shapes] ``gammaln(a)`` and what it is taken from are of size ``a log(a)``: where `a` is
# large their difference has no digits. So a density is its height at the hump, by Stirling's series,
# less what it has fallen by since, which is computed from the distance (Loader, "Fast and accurate
# computation of binomial probabilities", 2000). Places are given by that distance, ``log(x / a)``.

# B_2j / (2j (2j - 1)): of log(gamma(a)) beyond Stirling's formula, in odd powers of 1 / a
_STIRLING = [
    1 / 12,
    -1 / 360,
    1 / 1260,
    -1 / 1680,
    1 / 1188,
    -691 / 360360,
    1 / 156,
    -3617 / 122400,
]
# B_2j / 2j: of log(a) - 1 / (2 a) - digamma(a), in powers of 1 / a**2 from the first on
DIGAMMA = [1 / 12, -1 / 120, 1 / 252, -1 / 240, 1 / 132, -691 / 32760, 1 / 12, -3617 / 8160]
LARGE = 15.0  # from here on these are all


@elementwise(lambda _y, a: log_less_digamma(a))
def log_peak(xp, a, /):
    """``log(a**a e**-a / gamma(a))``: the highest density of a gamma variable's logarithm.

    Shapes: ``a: (*s) -> (*s)``.   Dtypes: real; integers give floats.
    Derivative: ``log(a) - digamma(a)``, which needs SciPy; smooth inside its domain, a > 0.
    Raises: ArgumentError: complex numbers.
    Source: DLMF 5.11.1.

    >>> log_peak(np.array([1.0, 1e15])).round(4).tolist()
    [-1.0, 16.3504]
    """
    a = xp.asarray(real_floating(xp, "log_peak", a))
    large = a > LARGE
    far, near = xp.where(large, a, LARGE), xp.where(large, LARGE, a)
    r = 1.0 / far
    by_series = 0.5 * xp.log(far * (0.5 / math.pi)) - r * polynomial(r * r, _STIRLING)
    power = near * xp.log(xp.where(near == 0, 1.0, near))
    return xp.where(large, by_series, power - near - gammaln.impl(xp, near))


def log_less_digamma(a: Any) -> Any:
    """``log(a) - digamma(a)``, the derivative of `log_peak`.

    >>> float(log_less_digamma(np.array(1e15)))
    5e-16
    """
    large = greater(a, LARGE)
    r, near = 1.0 / where(large, a, LARGE), where(large, LARGE, a)
    by_series = r * (0.5 + r * polynomial(r * r, DIGAMMA))
    return where(large, by_series, log(near) - digamma(near))


@elementwise(lambda _y, x, _a: 1.0 / x, lambda _y, _x, a: -1.0 / a)
def log_ratio(xp, x, a, /):
    """``log(x / a)`` for positive numbers, with its digits where that is small.

    Shapes: broadcast.   Dtypes: real; integers give floats.
    Derivative: ``1 / x`` by `x`, ``-1 / a`` by `a`; smooth inside its domain.
    Raises: ShapeError: the shapes do not broadcast. ArgumentError: complex numbers.
    Source: DLMF 4.5.

    >>> log_ratio(np.array([1e15 + 1.0, 1.0]), 1e15).round(18).tolist()
    [1e-15, -34.538776394910684]
    """
    x, a = map(xp.asarray, together(xp, "log_ratio", x, a))
    close = (x < 2 * a) & (a < 2 * x)
    near = xp.log1p(xp.where(close, x - a, 0.0) / a)
    return xp.where(close, near, xp.log(x) - xp.log(a))


_ARTANH = [1.0 / k for k in range(3, 21, 2)]  # of artanh(r) beyond r, in powers of r**2


@elementwise(lambda _y, a, x: -log_ratio(x, a), lambda _y, a, x: (x - a) / x)
def fallen_from(xp, a, x, /):
    """``x - a - a log(x / a)`` for positive numbers: by what ``a log(x) - x`` is below its peak at `a`.

    Shapes: broadcast.   Dtypes: real; integers give floats.
    Derivative: ``-log(x / a)`` by `a`, ``1 - a / x`` by `x`; smooth inside its domain.
    Raises: ShapeError: the shapes do not broadcast. ArgumentError: complex numbers.
    Source: DLMF 4.6.4; Loader, "Fast and accurate computation of binomial probabilities", 2000.

    >>> fallen_from(np.array([1.0, 1e15]), np.array([2.0, 1e15 + 1e8])).round(4).tolist()
    [0.3069, 5.0]
    """
    a, x = map(xp.asarray, together(xp, "fallen_from", a, x))
    off = (x - a) / a
    near = xp.abs(off) < 0.25
    u = xp.where(near, off, 0.0)
    r = u / (2.0 + u)  # log(1 + u) = 2 artanh(r)
    square = r * r
    close = a * r * (u - 2.0 * square * polynomial(square, _ARTANH))
    y = xp.where(near, a, x)
    return xp.where(near, close, y - a - a * (xp.log(y) - xp.log(a)))


def log_gamma_density(a: Any, off: Any) -> Any:
    """``log(x**a e**-x / gamma(a))`` for ``x = a e**off``: the density of the logarithm of `x`."""
    large = greater(a, LARGE)
    u = where(large, off, 0.0)
    fallen = where(large, a * (expm1(u) - u), exp(off + log(a)) - a - a * off)
    return log_peak(a) - fallen


@elementwise(
    lambda _y, a, x: log(unless_both(a - 1.0, x, 0, 1.0)) - digamma(a),
    lambda _y, a, x: (a - 1.0) / unless_both(a - 1.0, x, 0, 1.0) - 1.0,
)
def log_gamma_pdf(xp, a, x, /):
    """``log(x**(a-1) e**-x / gamma(a))``: the logarithm of a gamma variable's density.

    Shapes: broadcast.   Dtypes: real; integers give floats.
    Derivative: ``log(x) - digamma(a)`` by `a`, ``(a - 1) / x - 1`` by `x`; smooth inside its domain.
    Raises: ShapeError: the shapes do not broadcast. ArgumentError: complex numbers.
    Source: DLMF 8.2.4; for large `a` NOTE [Large shapes].

    >>> log_gamma_pdf(np.array([2.0, 1e15]), np.array([1.0, 1e15])).round(4).tolist()
    [-1.0, -18.1884]
    """
    a, x = map(xp.asarray, together(xp, "log_gamma_pdf", a, x))
    end = xp.minimum(x, float(xp.finfo(x.dtype).max))  # infinity less infinity is no number
    formula = xlogy.impl(xp, a - 1.0, end) - x - gammaln.impl(xp, a)
    large = a > 2.0 * LARGE
    if on_host(xp) and not large.any():
        return formula
    large = large & (x > 0) & (x < math.inf)
    b, y = xp.where(large, a, 2.0 * LARGE), xp.where(large, x, 2.0 * LARGE)
    by_distance = log_peak.impl(xp, b) - fallen_from.impl(xp, b, y) - xp.log(y)
    return xp.where(large, by_distance, formula)


def gamma_integral(a: Any, off: Any, log_scale: Any, below: Any, origin: Any) -> Any:
    """The integral of the density, or of that times ``log(t / a) - origin``, from `off` to an end."""
    x = maximum(a * exp(off), 1e-300)
    down = (FADED + sqrt(FADED * FADED + 2 * FADED * a)) / a
    slope = maximum(a * expm1(off), 0.0)  # the logarithm falls faster than slope u + x u**2 / 2
    steep = 2 * FADED / (slope + hypot(slope, sqrt(2 * FADED * x)))
    up = minimum(log1p((FADED + sqrt(FADED * FADED + 2 * FADED * x)) / x), steep)
    height = log_peak(a) - log_scale

    def f(u: Any) -> Any:
        y = exp(as_column(height) - as_column(a) * (expm1(u) - u))
        return y if origin is None else y * (u - as_column(origin))

    return integral_from(off, where(below, -down, up), f)


def _gamma_by_shape(a: Any, off: Any, log_scale: Any) -> Any:
    """The derivative by `a` of ``P(a, x)`` for ``x = a e**off``, over ``e**log_scale``.

    Of ``P(a, x) = P(a + 1, x) + x**a e**-x / gamma(a + 1)`` both terms are differentiated.
    """
    b = a + 1
    below, next_off = less_equal(off, 0.0), off - log_ratio(b, a)
    origin = -log_less_digamma(b)
    mass = gamma_integral(b, next_off, log_scale, below, origin)
    between = exp(log_gamma_density(a, off) - log_scale) * (next_off - origin) / a
    return where(below, mass, -mass) + between


def _gammainc_by_a(_y: Any, a: Any, x: Any) -> Any:
    a, x = double(a), double(x)
    valid = greater_equal(minimum(a, x), 0)
    inside = logical_and(valid, logical_and(greater(x, 0), less(x, math.inf)))
    b = where(inside, a, 1.0)
    slope = _gamma_by_shape(b, log_ratio(where(inside, x, 1.0), b), 0.0)
    return where(valid, where(inside, slope, 0.0), math.nan)


def log_gamma_moved(a: Any, log_x: Any) -> Any:
    """How fast the logarithm of a gamma variable moves with `a` if its probability ``P(a, x)`` stays.

    Also where `x` itself would underflow. Zero where `x` is 0 or infinite.
    """
    a, log_x = double(a), double(log_x)
    inside = less(absolute(log_x), math.inf)
    return where(inside, _moved(a, where(inside, log_x, 0.0) - log(a)), 0.0)


def _moved(a: Any, off: Any) -> Any:
    return -_gamma_by_shape(a, off, log_gamma_density(a, off))


def gamma_edge(a: Any, x: Any) -> Any:
    """A gamma variable's density near 0, where its logarithm has no slope.

    >>> gamma_edge(np.array([2.0, 1.0]), 0.0).tolist()
    [0.0, 1.0]
    """
    return power(x, a - 1.0) * exp(-x - gammaln(a))


def _gamma_density(a: Any, x: Any) -> Any:
    a, x = double(a), double(x)
    a, end = where(less(minimum(a, x), 0.0), math.nan, a), equal(x, 0)
    inner = exp(log_gamma_pdf(where(end, 1.0, a), where(end, 1.0, x)))
    return where(end, gamma_edge(where(end, a, 1.0), where(end, x, 1.0)), inner)


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
    a, y = double(a), double(where(inside, x, 1.0))
    return where(inside, x * _moved(a, log_ratio(y, a)), x * 0.0)


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
