"""Functions that are defined by integrals, element by element."""

from __future__ import annotations

import math
from typing import Any

import numpy as np  # noqa: F401  (doctests)

from ..algebra import elementwise
from ..core import dtype_of
from .arithmetic import absolute, divide, hypot, polynomial, remainder
from .complex import complex_from, imag, real
from .exponential import exp, log
from .from_scipy import by_nothing, scipy_function, together
from .logic import (
    equal,
    greater,
    greater_equal,
    isinf,
    less,
    less_equal,
    logical_and,
    logical_not,
    logical_or,
    not_equal,
)
from .rounding import rint
from .select import where
from .special import erf
from .trigonometric import cos, cosh, sin, sinh

SQRT_PI = math.sqrt(math.pi)
SQRT_2 = math.sqrt(2.0)
SQRT_2PI = math.sqrt(2.0 * math.pi)

FAR = 7.0  # where asymptotic series are exact to rounding
# 1, 3, 3 * 5, 3 * 5 * 7, ...: the asymptotic series of the derivatives of `dawsn` and `wofz`
ODD = [float(math.prod(range(1, 2 * k + 2, 2))) for k in range(26)]
ALL_ODD = [1.0, *ODD[:-1]]  # and of their values


# ---------------------------------------------------------------- exponential integrals


def _exp_over(x: Any) -> Any:
    """``e**x / x``, finite where e**x overflows first."""
    half = exp(x * 0.5)
    return divide(half, x) * half


@elementwise(lambda _y, x: _exp_over(x))
def expi(xp, x, /):
    """The integral of ``e**t / t`` from minus infinity to `x`, its principal value.

    Shapes: ``x: (*a) -> (*a)``.   Dtypes: floating, complex; integers give floats.
    Derivative: ``e**x / x``; infinite at 0; smooth inside its domain.
    Raises: ImportError: SciPy is not installed.
    Source: DLMF 6.2.5; SciPy reference, ``scipy.special.expi``.

    >>> expi(np.array([1.0, -1.0])).round(4).tolist()
    [1.8951, -0.2194]
    """
    return scipy_function(xp, "expi")(x)


@elementwise(lambda _y, x: _exp_over(-x))
def exp1(xp, x, /):
    """The integral of ``e**-t / t`` from `x` to infinity; NaN for negative real numbers.

    Shapes: ``x: (*a) -> (*a)``.   Dtypes: floating, complex; integers give floats.
    Derivative: ``-e**-x / x``; infinite at 0; smooth inside its domain.
    Raises: ImportError: SciPy is not installed.
    Source: DLMF 6.2.1; SciPy reference, ``scipy.special.exp1``.

    >>> exp1(np.array([1.0, 2.0])).round(4).tolist()
    [0.2194, 0.0489]
    """
    return scipy_function(xp, "exp1")(x)


def _expn_below(n: Any, x: Any) -> Any:
    """``expn(n - 1, x)``; of order -1, which SciPy does not have, for n = 0."""
    has_order = greater_equal(n, 1)
    r = divide(1.0, where(has_order, 1.0, x))
    return where(has_order, expn(where(has_order, n, 1) - 1, x), exp(-x) * (r + r * r))


@elementwise(by_nothing("expn", "n"), lambda _y, n, x: -_expn_below(n, x))
def expn(xp, n, x, /):
    """The integral of ``e**(-x t) / t**n`` over t from 1 to infinity, for integers n >= 0.

    Shapes: broadcast.   Dtypes: floating; integers give floats.
    Derivative: ``-expn(n - 1, x)`` by `x`, minus infinity at 0 for n <= 2; none by `n`;
    smooth inside its domain.
    Raises: ShapeError: the shapes do not broadcast. ImportError: SciPy is not installed.
    MissingRuleError: a derivative by `n`.
    Source: DLMF 8.19.3, 8.19.13; SciPy reference, ``scipy.special.expn``.

    >>> expn(np.array([0, 1, 2]), 1.0).round(4).tolist()
    [0.3679, 0.2194, 0.1485]
    """
    n, x = together(xp, "expn", n, x)
    return scipy_function(xp, "expn")(n, x)


# ---------------------------------------------------------------- sine and cosine integrals

SINE = [(-1.0) ** k / math.factorial(2 * k + 1) for k in range(11)]
HYPERBOLIC_SINE = [1.0 / math.factorial(2 * k + 1) for k in range(11)]


def _sine_over(x: Any) -> Any:
    """``sin(x) / x``; near 0, where derivatives of it cancel, by its series."""
    near = less(absolute(x), 1.0)
    inside, outside = where(near, x, 0.0), where(near, 1.0, x)
    return where(near, polynomial(inside * inside, SINE), divide(sin(outside), outside))


def _hyperbolic_sine_over(x: Any) -> Any:
    """``sinh(x) / x`` likewise, finite where sinh(x) overflows first."""
    near = less(absolute(x), 1.0)
    inside, outside = where(near, x, 0.0), where(near, 1.0, x)
    product = sinh(outside * 0.5) * divide(2.0 * cosh(outside * 0.5), outside)
    return where(near, polynomial(inside * inside, HYPERBOLIC_SINE), product)


def _hyperbolic_cosine_over(x: Any) -> Any:
    """``cosh(x) / x``, finite where cosh(x) overflows first."""
    c, s = cosh(x * 0.5), sinh(x * 0.5)
    return divide(c, x) * c + divide(s, x) * s


@elementwise(lambda _y, x: _sine_over(x))
def sine_integral(xp, x, /):
    """The integral of ``sin(t) / t`` from 0 to `x`.

    Shapes: ``x: (*a) -> (*a)``.   Dtypes: floating, complex; integers give floats.
    Derivative: ``sin(x) / x``, 1 at 0; smooth everywhere.
    Raises: ImportError: SciPy is not installed.
    Source: DLMF 6.2.9; SciPy reference, ``scipy.special.sici``.

    >>> sine_integral(np.array([0.0, 1.0])).round(4).tolist()
    [0.0, 0.9461]
    """
    return scipy_function(xp, "sici")(x)[0]


@elementwise(lambda _y, x: divide(cos(x), x))
def cosine_integral(xp, x, /):
    """Minus the integral of ``cos(t) / t`` from `x` to infinity; of ``|x|`` for real numbers.

    Shapes: ``x: (*a) -> (*a)``.   Dtypes: floating, complex; integers give floats.
    Derivative: ``cos(x) / x``; infinite at 0; smooth inside its domain.
    Raises: ImportError: SciPy is not installed.
    Source: DLMF 6.2.11; SciPy reference, ``scipy.special.sici``.

    >>> cosine_integral(np.array([1.0, -1.0])).round(4).tolist()
    [0.3374, 0.3374]
    """
    return scipy_function(xp, "sici")(x)[1]


@elementwise(lambda _y, x: _hyperbolic_sine_over(x))
def hyperbolic_sine_integral(xp, x, /):
    """The integral of ``sinh(t) / t`` from 0 to `x`.

    Shapes: ``x: (*a) -> (*a)``.   Dtypes: floating, complex; integers give floats.
    Derivative: ``sinh(x) / x``, 1 at 0; smooth everywhere.
    Raises: ImportError: SciPy is not installed.
    Source: DLMF 6.2.15; SciPy reference, ``scipy.special.shichi``.

    >>> hyperbolic_sine_integral(np.array([0.0, 1.0])).round(4).tolist()
    [0.0, 1.0573]
    """
    return scipy_function(xp, "shichi")(x)[0]


@elementwise(lambda _y, x: _hyperbolic_cosine_over(x))
def hyperbolic_cosine_integral(xp, x, /):
    """The integral of ``(cosh(t) - 1) / t`` from 0 to `x`, plus ``log(x)`` and Euler's constant.

    The logarithm is that of ``|x|`` for real numbers.

    Shapes: ``x: (*a) -> (*a)``.   Dtypes: floating, complex; integers give floats.
    Derivative: ``cosh(x) / x``; infinite at 0; smooth inside its domain.
    Raises: ImportError: SciPy is not installed.
    Source: DLMF 6.2.16; SciPy reference, ``scipy.special.shichi``.

    >>> hyperbolic_cosine_integral(np.array([1.0, -1.0])).round(4).tolist()
    [0.8379, 0.8379]
    """
    return scipy_function(xp, "shichi")(x)[1]


# ---------------------------------------------------------------- Fresnel's integrals


def _turned(z: Any) -> Any:
    """``pi / 2 z**2``; for real z without whole turns, which for large z would cost digits.

    With z = n + f, n whole, z**2 = n**2 + 2 n f + f**2, and only the last is rounded.
    """
    if dtype_of(z).kind == "c":
        return z * z * (math.pi / 2)
    n = rint(z)
    f = z - n
    return (remainder(n, 2) + remainder(2 * n * f, 4) + f * f) * (math.pi / 2)


@elementwise(lambda _y, z: sin(_turned(z)))
def fresnel_sine(xp, z, /):
    """The integral of ``sin(pi / 2 t**2)`` from 0 to `z`.

    Shapes: ``z: (*a) -> (*a)``.   Dtypes: floating, complex; integers give floats.
    Derivative: ``sin(pi / 2 z**2)``; smooth everywhere.
    Raises: ImportError: SciPy is not installed.
    Source: DLMF 7.2.8; SciPy reference, ``scipy.special.fresnel``.

    >>> fresnel_sine(np.array([0.0, 1.0])).round(4).tolist()
    [0.0, 0.4383]
    """
    return scipy_function(xp, "fresnel")(z)[0]


@elementwise(lambda _y, z: cos(_turned(z)))
def fresnel_cosine(xp, z, /):
    """The integral of ``cos(pi / 2 t**2)`` from 0 to `z`.

    Shapes: ``z: (*a) -> (*a)``.   Dtypes: floating, complex; integers give floats.
    Derivative: ``cos(pi / 2 z**2)``; smooth everywhere.
    Raises: ImportError: SciPy is not installed.
    Source: DLMF 7.2.7; SciPy reference, ``scipy.special.fresnel``.

    >>> fresnel_cosine(np.array([0.0, 1.0])).round(4).tolist()
    [0.0, 0.7799]
    """
    return scipy_function(xp, "fresnel")(z)[1]


# ---------------------------------------------------------------- relatives of the error function

# NOTE [Large arguments] ``1 - 2 x dawsn(x)`` and ``2i / sqrt(pi) - 2 z wofz(z)`` lose all digits for
# large arguments. From `FAR` on their asymptotic series in ``q = 1 / (2 z**2)`` take over, with the
# term ``z e**(-z**2)`` that the series does not have: 0, 1 or 2 times above, on and below the real
# axis. It is added on a strip around the axis as on the axis, where it is smaller than rounding
# errors of anything but the real part on the axis itself.

STRIP = 0.1


def _inverse_square(x: Any, far: Any) -> Any:
    """``1 / (2 x**2)`` where `far` holds, without overflow; a harmless number elsewhere."""
    r = divide(1.0, where(far, x, FAR))
    return r * r * 0.5


def _gaussian(z: Any, used: Any) -> Any:
    """``e**(-z**2)`` where `used` holds, 1 elsewhere."""
    z = where(used, z, 0.0)
    return exp(-z * z)


def _beyond_strip(z: Any) -> Any:
    """Whether complex `z` is above or below the strip, and not where ``e**(-z**2)`` vanishes."""
    height = absolute(imag(z))
    return logical_and(greater(height, STRIP), less(absolute(real(z)), height + 75.0))


def _dawsn_slope(y: Any, x: Any) -> Any:
    far = greater_equal(absolute(x), FAR)
    q = _inverse_square(x, far)
    outside = -q * polynomial(q, ODD)
    if dtype_of(x).kind == "c":
        used = logical_and(far, _beyond_strip(x))
        upper = where(used, where(less(imag(x), 0.0), -x, x), 0.0)
        outside = outside - upper * _gaussian(upper, used) * (1j * SQRT_PI)
    return where(far, outside, 1.0 - 2.0 * where(far, 0.0, x) * y)


@elementwise(_dawsn_slope)
def dawsn(xp, x, /):
    """``e**(-x**2)`` times the integral of ``e**(t**2)`` from 0 to `x`: Dawson's integral.

    Shapes: ``x: (*a) -> (*a)``.   Dtypes: floating, complex; integers give floats.
    Derivative: ``1 - 2 x y``, for large `x` by its asymptotic series; smooth everywhere.
    Raises: ImportError: SciPy is not installed.
    Source: DLMF 7.2.5, 7.12; SciPy reference, ``scipy.special.dawsn``.

    >>> dawsn(np.array([0.0, 1.0])).round(4).tolist()
    [0.0, 0.5381]
    """
    return scipy_function(xp, "dawsn")(x)


@elementwise(lambda _y, x: exp(x * x) * (2.0 / SQRT_PI))
def erfi(xp, x, /):
    """``2 / sqrt(pi)`` times the integral of ``e**(t**2)`` from 0 to `x`: ``-i erf(i x)``.

    Shapes: ``x: (*a) -> (*a)``.   Dtypes: floating, complex; integers give floats.
    Derivative: ``2 / sqrt(pi) e**(x**2)``; smooth everywhere.
    Raises: ImportError: SciPy is not installed.
    Source: SciPy reference, ``scipy.special.erfi``.

    >>> erfi(np.array([0.0, 1.0])).round(4).tolist()
    [0.0, 1.6504]
    """
    return scipy_function(xp, "erfi")(x)


def _wofz_slope(y: Any, z: Any) -> Any:
    size = absolute(z)
    far = greater_equal(size, FAR)
    on_strip = logical_and(far, less(size, 40.0))  # where e**(-z**2) is no 0
    q = _inverse_square(z, far)
    outside = q * polynomial(q, ODD) * (-2j / SQRT_PI)
    if dtype_of(z).kind == "c":
        below = logical_and(far, logical_and(less(imag(z), -STRIP), _beyond_strip(z)))
        on_strip = logical_and(on_strip, less_equal(absolute(imag(z)), STRIP))
        used = logical_or(below, on_strip)
        weighted = where(below, -4.0 * z, where(on_strip, -2.0 * z, 0.0))
    else:
        used, weighted = on_strip, where(on_strip, -2.0 * z, 0.0)
    outside = outside + weighted * _gaussian(z, used)
    return where(far, outside, -2.0 * where(far, 0.0, z) * y + 2j / SQRT_PI)


@elementwise(_wofz_slope)
def wofz(xp, z, /):
    """``e**(-z**2) erfc(-i z)``, the Faddeeva function.

    Shapes: ``z: (*a) -> (*a)``.   Dtypes: complex; real numbers give complex ones.
    Derivative: ``2i / sqrt(pi) - 2 z w``, for large `z` by its asymptotic series; smooth everywhere.
    Raises: ImportError: SciPy is not installed.
    Source: DLMF 7.2.3, 7.10.2, 7.12; SciPy reference, ``scipy.special.wofz``.

    >>> wofz(np.array([0.0, 1.0])).round(4).tolist()
    [(1+0j), (0.3679+0.6072j)]
    """
    return scipy_function(xp, "wofz")(z)


def voigt_profile(x: Any, sigma: Any, gamma: Any) -> Any:
    """The density of the sum of a normal variable of deviation `sigma` and a Cauchy variable of
    half-width `gamma`: ``Re w((x + i gamma) / (sigma sqrt(2))) / (sigma sqrt(2 pi))``.

    Where sigma is small beside the rest it is the asymptotic series, in powers of sigma**2: so the
    Lorentzian of sigma = 0 is no special case, and the derivative by sigma is right there: 0.

    >>> voigt_profile(0.0, 1.0, np.array([0.5, 0.0])).round(4).tolist()
    [0.279, 0.3989]
    """
    z = complex_from(x, gamma)
    size, scale = absolute(z), absolute(sigma) * SQRT_2
    far = logical_and(logical_not(less(size, FAR * scale)), not_equal(size, 0.0))  # NaN is, too
    r = divide(1.0, where(far, z, 1.0))
    s = where(far, sigma, 0.0) * r
    outside = real(1j * r * polynomial(s * s, ALL_ODD)) * (1.0 / math.pi)

    # What the series does not have, see the note: on the axis that is all of the normal density.
    height = where(less(sigma, 0.0), -gamma, gamma)
    below = less(height, -STRIP * scale)
    on_strip = logical_and(less_equal(absolute(height), STRIP * scale), less(size, 40.0 * scale))
    used = logical_and(far, logical_or(below, on_strip))
    used = logical_and(used, greater(scale, 0.0))
    width = where(used, sigma, 1.0)
    normal = real(_gaussian(where(used, z, 0.0) / (width * SQRT_2), used)) / (width * SQRT_2PI)
    outside = outside + where(used, where(below, 2.0 * normal, normal), 0.0)

    divided = logical_and(logical_not(far), greater(scale, 0.0))
    inside = real(wofz(where(divided, z, 0.0) / (where(divided, sigma, 1.0) * SQRT_2)))
    return where(far, outside, divide(inside, where(far, 1.0, sigma) * SQRT_2PI))


# ---------------------------------------------------------------- Owen's T, Spence's function


def _reach(h: Any, a: Any) -> Any:
    """``a h``, 0 where h = 0 and `a` is infinite."""
    return where(logical_and(equal(h, 0.0), isinf(a)), 0.0, a) * h


def _owens_t_by_a(_y: Any, h: Any, a: Any) -> Any:
    p, r = _reach(h, a), divide(1.0, hypot(1.0, a))
    return exp(-0.5 * h * h) * exp(-0.5 * p * p) * r * r * (0.5 / math.pi)


@elementwise(
    lambda _y, h, a: exp(-0.5 * h * h) * erf(_reach(h, a) * (1.0 / SQRT_2)) * (-0.5 / SQRT_2PI),
    _owens_t_by_a,
)
def owens_t(xp, h, a, /):
    """``1 / (2 pi)`` times the integral of ``e**(-h**2 (1 + t**2) / 2) / (1 + t**2)`` from 0 to `a`.

    Shapes: broadcast.   Dtypes: floating; integers give floats.
    Derivative: ``-e**(-h**2 / 2) erf(a h / sqrt(2)) / sqrt(8 pi)`` by `h`, the integrand at `a` by
    `a`; smooth but for the kink at h = 0 of infinite `a`: 0 there.
    Raises: ShapeError: the shapes do not broadcast. ImportError: SciPy is not installed.
    Source: Owen, "Tables for computing bivariate normal probabilities", 1956; SciPy reference,
    ``scipy.special.owens_t``.

    >>> owens_t(np.array([0.0, 1.0]), 1.0).round(4).tolist()
    [0.125, 0.0667]
    """
    h, a = together(xp, "owens_t", h, a)
    return scipy_function(xp, "owens_t")(h, a)


ARTANH = [1.0 / (2 * k + 1) for k in range(12)]


def _spence_slope(_y: Any, z: Any) -> Any:
    """``log(z) / (1 - z)``; near 1, with ``log(z) = 2 artanh(t)`` for ``t = (z - 1) / (z + 1)``."""
    near = less(absolute(z - 1.0), 0.25)
    inside, outside = where(near, z, 1.0), where(near, 2.0, z)
    s = divide(1.0, inside + 1.0)
    t = (inside - 1.0) * s
    return where(near, -2.0 * s * polynomial(t * t, ARTANH), divide(log(outside), 1.0 - outside))


@elementwise(_spence_slope)
def spence(xp, z, /):
    """The integral of ``log(t) / (1 - t)`` from 1 to `z`: the dilogarithm of ``1 - z``.

    Shapes: ``z: (*a) -> (*a)``.   Dtypes: floating, complex; integers give floats.
    Derivative: ``log(z) / (1 - z)``, -1 at 1; minus infinity at 0.
    Raises: ImportError: SciPy is not installed.
    Source: DLMF 25.12.2; SciPy reference, ``scipy.special.spence``.

    >>> spence(np.array([0.0, 1.0])).round(4).tolist()
    [1.6449, 0.0]
    """
    return scipy_function(xp, "spence")(z)
