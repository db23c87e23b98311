"""Hypergeometric functions and elliptic integrals, element by element.

NOTE [Elliptic integrals by m] ``d/dm`` of the integrals is a difference of others that cancels near
``m = 0`` and ``phi = 0``. Complete ones take a hypergeometric series there. Incomplete ones are
`elliptic_moment`, an integral of positive numbers, and so are all their derivatives by `m`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np  # noqa: F401  (doctests)

from ..algebra import elementwise
from .arithmetic import absolute, divide
from .exponential import sqrt
from .from_scipy import by_nothing, scipy_function, together
from .hypergeometric_parameters import hyp0f1_by_v, kummer_by_parameters
from .logic import equal, less
from .select import where
from .trigonometric import cos, sin

# ---------------------------------------------------------------- hypergeometric functions


def _contiguous(factor: Any, function: Callable[[Any], Any], x: Any) -> Any:
    """``factor * function(x)``, and 0 for the factor 0 also where the function is infinite.

    Factors and parameters are computed with floating numbers: small integers would run over.
    """
    return factor * function(where(equal(factor, 0), 0.5, x))


@elementwise(
    lambda _y, v, z: hyp0f1_by_v(v, z, j=1),
    lambda _y, v, z: divide(hyp0f1(v + 1.0, z), v),
)
def hyp0f1(xp, v, z, /):
    """The confluent hypergeometric limit function: the sum of ``z**k / ((v)_k k!)``.

    Shapes: broadcast.   Dtypes: floating; integers give floats.
    Derivative: ``hyp0f1(v + 1, z) / v``; by `v` that of the series; smooth inside its domain.
    Raises: ArgumentError: complex numbers. ImportError: SciPy is not installed.
    Source: DLMF 16.2.1, 16.3.1; SciPy reference, ``scipy.special.hyp0f1``.

    >>> hyp0f1(0.5, np.array([0.0, 1.0])).round(4).tolist()
    [1.0, 3.7622]
    """
    v, z = together(xp, "hyp0f1", v, z)
    return scipy_function(xp, "hyp0f1")(v, z)


@elementwise(
    lambda _y, a, b, x: kummer_by_parameters(a, b, x, i=1, j=0),
    lambda _y, a, b, x: kummer_by_parameters(a, b, x, i=0, j=1),
    lambda _y, a, b, x: _contiguous(divide(a, b), lambda t: hyp1f1(a + 1.0, b + 1.0, t), x),
)
def hyp1f1(xp, a, b, x, /):
    """Kummer's confluent hypergeometric function: the sum of ``(a)_k x**k / ((b)_k k!)``.

    Shapes: broadcast.   Dtypes: floating; integers give floats.
    Derivative: ``a / b hyp1f1(a + 1, b + 1, x)``; by `a` and `b` those of the series; smooth inside
    its domain.
    Raises: ArgumentError: complex numbers. ImportError: SciPy is not installed.
    Source: DLMF 13.2.2, 13.3.15; SciPy reference, ``scipy.special.hyp1f1``.

    >>> hyp1f1(1.0, 2.0, np.array([0.0, 1.0])).round(4).tolist()
    [1.0, 1.7183]
    """
    a, b, x = together(xp, "hyp1f1", a, b, x)
    return scipy_function(xp, "hyp1f1")(a, b, x)


@elementwise(
    by_nothing("hyp2f1", "a"),
    by_nothing("hyp2f1", "b"),
    by_nothing("hyp2f1", "c"),
    lambda _y, a, b, c, z: _contiguous(
        divide(1.0 * a * b, c), lambda t: hyp2f1(a + 1.0, b + 1.0, c + 1.0, t), z
    ),
)
def hyp2f1(xp, a, b, c, z, /):
    """Gauss' hypergeometric function: the sum of ``(a)_k (b)_k z**k / ((c)_k k!)``.

    Shapes: broadcast.   Dtypes: floating; integers give floats.
    Derivative: ``a b / c hyp2f1(a + 1, b + 1, c + 1, z)``; none by the parameters;
    smooth inside its domain.
    Raises: ArgumentError: complex numbers. MissingRuleError: the derivative by `a`, `b` or `c`.
    ImportError: SciPy is not installed.
    Source: DLMF 15.2.1, 15.5.1; SciPy reference, ``scipy.special.hyp2f1``.

    >>> hyp2f1(1.0, 1.0, 2.0, np.array([0.0, 0.5])).round(4).tolist()
    [1.0, 1.3863]
    """
    a, b, c, z = together(xp, "hyp2f1", a, b, c, z)
    y = scipy_function(xp, "hyp2f1")(a, b, c, z)
    return y.astype(xp.result_type(a, b, c, z))  # SciPy may prefer float64


@elementwise(
    by_nothing("hyperu", "a"),
    by_nothing("hyperu", "b"),
    lambda _y, a, b, x: _contiguous(-1.0 * a, lambda t: hyperu(a + 1.0, b + 1.0, t), x),
)
def hyperu(xp, a, b, x, /):
    """Tricomi's confluent hypergeometric function ``U(a, b, x)``, near ``x**-a`` for large `x`.

    Shapes: broadcast.   Dtypes: floating; integers give floats.
    Derivative: ``-a hyperu(a + 1, b + 1, x)``; none by `a` and `b`; smooth inside its domain.
    Raises: ArgumentError: complex numbers. MissingRuleError: the derivative by `a` or `b`.
    ImportError: SciPy is not installed.
    Source: DLMF 13.2.6, 13.3.22; SciPy reference, ``scipy.special.hyperu``.

    >>> hyperu(1.0, 2.0, np.array([0.5, 1.0])).round(4).tolist()
    [2.0, 1.0]
    """
    a, b, x = together(xp, "hyperu", a, b, x)
    return scipy_function(xp, "hyperu")(a, b, x)


# ---------------------------------------------------------------- exprel


@elementwise(lambda _y, x: exprel_derivative(x, order=1))
def exprel(xp, x, /):
    """``(e**x - 1) / x``, 1 at 0.

    Shapes: ``x: (*a) -> (*a)``.   Dtypes: floating; integers give floats.
    Derivative: `exprel_derivative`, 1/2 at 0; smooth everywhere.
    Raises: ArgumentError: complex numbers. ImportError: SciPy is not installed.
    Source: DLMF 13.6.2; SciPy reference, ``scipy.special.exprel``.

    >>> exprel(np.array([0.0, 1.0])).round(4).tolist()
    [1.0, 1.7183]
    """
    (x,) = together(xp, "exprel", x)
    return scipy_function(xp, "exprel")(x)


def _exprel_series(xp: ModuleType, x: Any, order: int) -> Any:
    """The derivative for ``|x| <= order + 1``, by series of positive numbers."""
    size = xp.abs(x)
    above: Any = 0.0
    below: Any = 0.0
    for k in range(3 * order + 30, -1, -1):  # Horner's rule
        above = above * size / (k + 1.0) + 1.0 / (order + k + 1.0)
        below = below * size / (order + k + 2.0) + 1.0
    return xp.where(x < 0, xp.exp(-size) * below / (order + 1.0), above)


def _exprel_recurrence(xp: ModuleType, x: Any, order: int) -> Any:
    """The derivative for ``|x| >= order + 1``, from those of lower order."""
    size = xp.where(x < 0, -x, xp.minimum(x, 1e4))  # e**1e4 is infinite
    small = xp.exp(-size)
    above = below = (1.0 - small) / size  # above 0, the derivatives over e**x
    for n in range(1, order + 1):
        above = (1.0 - n * above) / size
        below = (n * below - small) / size
    half = xp.exp(0.5 * xp.where(x < 0, 0.0, x))
    return xp.where(x < 0, below, half * above * half)


@elementwise(lambda _y, x, *, order: exprel_derivative(x, order=order + 1))
def exprel_derivative(xp, x, /, *, order):
    """The derivative of `exprel` of the given order: the integral of ``t^n e^(x t)`` from 0 to 1.

    Shapes: ``x: (*a) -> (*a)``.   Dtypes: floating; integers give floats.
    Derivative: that of the next order; smooth everywhere.
    Raises: ArgumentError: complex numbers.
    Source: DLMF 13.4.1, 13.2.2, 13.2.39: ``1F1(n + 1, n + 2, x) / (n + 1)``; parts.

    >>> exprel_derivative(np.array([0.0, 1.0]), order=1).round(4).tolist()
    [0.5, 1.0]
    """
    (x,) = together(xp, "exprel_derivative", x)
    x = xp.asarray(x)
    near = xp.abs(x) <= order + 1.0
    inside = _exprel_series(xp, xp.where(near, x, 0.0), order)
    outside = _exprel_recurrence(xp, xp.where(near, order + 1.0, x), order)
    return xp.where(near, inside, outside)


# ---------------------------------------------------------------- complete elliptic integrals


def _complete(m: Any, a: float, far: Callable[[Any], Any]) -> Any:
    """``pi / 8 hyp2f1(a, 3/2, 2, m)``: by that near 0, by ``far(m)`` elsewhere."""
    near = less(absolute(m), 0.5)
    series = (math.pi / 8) * hyp2f1(a, 1.5, 2.0, where(near, m, 0.0))
    return where(near, series, far(where(near, 0.5, m)))


def _slope_of_k(k: Any, e: Any, m: Any, p: Any) -> Any:
    """``dK/dm`` from the integrals K and E and from ``p = 1 - m``."""
    rest = p * where(equal(p, 0), 0.0, k)  # 0 at m = 1, where K is infinite
    return _complete(m, 1.5, lambda m: (e - rest) / (2.0 * m * p))


def _slope_of_e(k: Any, e: Any, m: Any) -> Any:
    """``dE/dm`` from the integrals K and E."""
    return -_complete(m, 0.5, lambda m: (k - e) / (2.0 * m))


@elementwise(lambda k, m: _slope_of_k(k, ellipe(m), m, 1.0 - m))
def ellipk(xp, m, /):
    """The complete elliptic integral of the first kind: of ``1 / sqrt(1 - m sin(t)**2)``.

    Shapes: ``m: (*a) -> (*a)``.   Dtypes: floating; integers give floats.
    Derivative: ``(E - (1 - m) K) / (2 m (1 - m))``, pi/8 at 0; infinite at 1.
    Raises: ArgumentError: complex numbers. ImportError: SciPy is not installed.
    Source: DLMF 19.2.8, 19.4.1, 19.5.1; SciPy reference, ``scipy.special.ellipk``.

    >>> ellipk(np.array([0.0, 0.5])).round(4).tolist()
    [1.5708, 1.8541]
    """
    (m,) = together(xp, "ellipk", m)
    return scipy_function(xp, "ellipk")(m)


@elementwise(lambda k, p: -_slope_of_k(k, ellipem1(p), 1.0 - p, p))
def ellipkm1(xp, p, /):
    """``ellipk(1 - p)``, accurate near ``p = 0``.

    Shapes: ``p: (*a) -> (*a)``.   Dtypes: floating; integers give floats.
    Derivative: that of `ellipk` at ``1 - p``, negated; infinite at 0.
    Raises: ArgumentError: complex numbers. ImportError: SciPy is not installed.
    Source: DLMF 19.2.8, 19.4.1; SciPy reference, ``scipy.special.ellipkm1``.

    >>> ellipkm1(np.array([1e-20, 1.0])).round(4).tolist()
    [24.4121, 1.5708]
    """
    (p,) = together(xp, "ellipkm1", p)
    return scipy_function(xp, "ellipkm1")(p)


@elementwise(lambda e, m: _slope_of_e(ellipk(m), e, m))
def ellipe(xp, m, /):
    """The complete elliptic integral of the second kind: of ``sqrt(1 - m sin(t)**2)``.

    Shapes: ``m: (*a) -> (*a)``.   Dtypes: floating; integers give floats.
    Derivative: ``(E - K) / (2 m)``, -pi/8 at 0; infinite at 1.
    Raises: ArgumentError: complex numbers. ImportError: SciPy is not installed.
    Source: DLMF 19.2.8, 19.4.2, 19.5.2; SciPy reference, ``scipy.special.ellipe``.

    >>> ellipe(np.array([0.0, 0.5])).round(4).tolist()
    [1.5708, 1.3506]
    """
    (m,) = together(xp, "ellipe", m)
    return scipy_function(xp, "ellipe")(m)


@elementwise(lambda e, p: -_slope_of_e(ellipkm1(p), e, 1.0 - p))
def ellipem1(xp, p, /):
    """``ellipe(1 - p)``, with derivatives that are accurate near ``p = 0``.

    Shapes: ``p: (*a) -> (*a)``.   Dtypes: floating; integers give floats.
    Derivative: that of `ellipe` at ``1 - p``, negated; infinite at 0; smooth inside its domain.
    Raises: ArgumentError: complex numbers. ImportError: SciPy is not installed.
    Source: DLMF 19.2.8, 19.4.2.

    >>> ellipem1(np.array([1e-20, 1.0])).round(4).tolist()
    [1.0, 1.5708]
    """
    (p,) = together(xp, "ellipem1", p)
    return scipy_function(xp, "ellipe")(1.0 - p)


# ---------------------------------------------------------------- incomplete elliptic integrals


def _delta_squared(phi: Any, m: Any) -> Any:
    """``1 - m sin(phi)**2``, accurate with its derivatives near ``m = 0`` and ``m = 1``."""
    s, c = sin(phi), cos(phi)
    return where(less(m, 0.5), 1.0 - m * s * s, c * c + (1.0 - m) * s * s)


@elementwise(
    lambda _y, phi, m: 1.0 / sqrt(_delta_squared(phi, m)),
    lambda _y, phi, m: 0.5 * elliptic_moment(phi, m, j=1, q=1),
)
def ellipkinc(xp, phi, m, /):
    """The integral of ``1 / sqrt(1 - m sin(t)**2)`` from 0 to `phi`.

    Shapes: broadcast.   Dtypes: floating; integers give floats.
    Derivative: ``1 / sqrt(1 - m sin(phi)**2)`` by `phi`; by `m` half of `elliptic_moment`;
    smooth inside its domain.
    Raises: ArgumentError: complex numbers. ImportError: SciPy is not installed.
    Source: DLMF 19.2.4; SciPy reference, ``scipy.special.ellipkinc``.

    >>> ellipkinc(np.array([0.0, 1.0]), 0.5).round(4).tolist()
    [0.0, 1.0832]
    """
    phi, m = together(xp, "ellipkinc", phi, m)
    return scipy_function(xp, "ellipkinc")(phi, m)


@elementwise(
    lambda _y, phi, m: sqrt(_delta_squared(phi, m)),
    lambda _y, phi, m: -0.5 * elliptic_moment(phi, m, j=1, q=0),
)
def ellipeinc(xp, phi, m, /):
    """The integral of ``sqrt(1 - m sin(t)**2)`` from 0 to `phi`.

    Shapes: broadcast.   Dtypes: floating; integers give floats.
    Derivative: ``sqrt(1 - m sin(phi)**2)`` by `phi`; by `m` minus half of `elliptic_moment`;
    smooth inside its domain.
    Raises: ArgumentError: complex numbers. ImportError: SciPy is not installed.
    Source: DLMF 19.2.5; SciPy reference, ``scipy.special.ellipeinc``.

    >>> ellipeinc(np.array([0.0, 1.0]), 0.5).round(4).tolist()
    [0.0, 0.9273]
    """
    phi, m = together(xp, "ellipeinc", phi, m)
    return scipy_function(xp, "ellipeinc")(phi, m)


@elementwise(
    lambda _y, phi, m, *, j, q: sin(phi) ** (2 * j) * _delta_squared(phi, m) ** (-q - 0.5),
    lambda _y, phi, m, *, j, q: (q + 0.5) * elliptic_moment(phi, m, j=j + 1, q=q + 1),
)
def elliptic_moment(xp, phi, m, /, *, j, q):
    """The integral of ``sin(t)**(2 j) (1 - m sin(t)**2)**(-q - 1/2)`` from 0 to `phi`.

    `j` >= 1, and `q` is `j` or ``j - 1``.

    Shapes: broadcast.   Dtypes: floating; integers give floats.
    Derivative: the integrand by `phi`; by `m` ``q + 1/2`` times the integral of the next order;
    smooth inside its domain.
    Raises: ArgumentError: complex numbers. ImportError: SciPy is not installed.
    Source: DLMF 19.16.5, 19.25.8: for ``j = 1`` Carlson's R_D; the trapezoidal rule for others.

    >>> elliptic_moment(np.array([0.0, 1.0]), 0.0, j=1, q=1).round(4).tolist()
    [0.0, 0.2727]
    """
    given = together(xp, "elliptic_moment", phi, m)
    phi, m = (xp.asarray(x, xp.float64) for x in given)
    turns = xp.rint(phi / math.pi)
    s = xp.where(turns % 2 == 0, 1.0, -1.0) * xp.sin(phi)
    y = _moment(xp, s, xp.square(xp.cos(phi)), m, j, q)
    if xp.any(turns != 0):
        here = xp.where(turns == 0, 0.0, m)
        y = y + 2.0 * turns * _moment(xp, xp.ones_like(here), xp.zeros_like(here), here, j, q)
    return y.astype(xp.result_type(*given))


def _moment(xp: ModuleType, s: Any, cc: Any, m: Any, j: int, q: int) -> Any:
    """`elliptic_moment` of an angle in [-pi/2, pi/2] with sine `s` and squared cosine `cc`."""
    dd = cc + (1.0 - m) * s * s
    if j > 1:
        return s ** (2 * j + 1) * _trapezoids(xp, cc, dd, j, q)
    rd = scipy_function(xp, "elliprd")
    return s**3 / 3.0 * (rd(cc, 1.0, dd) if q else rd(cc, dd, 1.0))


def _trapezoids(xp: ModuleType, cc: Any, dd: Any, j: int, q: int) -> Any:
    """Half the integral of ``(t + 1)**(q - j - 1/2) (t + dd)**(-q - 1/2) (t + cc)**(-1/2)``.

    `t`, which is ``(sin(phi) / sin(theta))**2 - 1`` scaled, goes from 0 to infinity. In its
    logarithm the trapezoidal rule converges exponentially, and adds positive numbers only.
    """
    scale = xp.log(xp.where(dd == 0, 1.0, dd))
    low, high = xp.minimum(scale, 0.0) - 76.0, xp.maximum(scale, 0.0) + 16.0
    step = (high - low) / 250.0
    total = 0.0 * step
    for k in range(251):
        t = xp.exp(low + k * step)
        root = xp.sqrt((t + 1.0) * (t + dd) * (t + cc))
        total = total + t / (root * (t + dd) ** q * (t + 1.0) ** (j - q))
    return xp.where(dd == 0, xp.inf, 0.5 * step * total)


# ---------------------------------------------------------------- Jacobi's elliptic functions


# With the amplitude phi, u is ``ellipkinc(phi, m)``: by `m` phi moves by minus dn times the slope of
# that. In sn, cn and dn it is phi's motion, and for dn that of its own `m`.


def _turn(u: Any, m: Any) -> Any:
    """How fast the amplitude moves by `m`, over ``-dn``."""
    return 0.5 * elliptic_moment(jacobi_am(u, m), m, j=1, q=1)


def _dn_by_m(dn: Any, u: Any, m: Any) -> Any:
    s = jacobi_sn(u, m)
    return m * s * jacobi_cn(u, m) * _turn(u, m) - divide(0.5 * s * s, dn)


def _jacobi(xp: ModuleType, name: str, which: int, u: Any, m: Any) -> Any:
    u, m = together(xp, name, u, m)
    return scipy_function(xp, "ellipj")(u, m)[which]


@elementwise(
    lambda _y, u, m: jacobi_cn(u, m) * jacobi_dn(u, m),
    lambda _y, u, m: -jacobi_cn(u, m) * jacobi_dn(u, m) * _turn(u, m),
)
def jacobi_sn(xp, u, m, /):
    """Jacobi's ``sn(u | m)``: the sine of the amplitude `jacobi_am`, 0 <= m <= 1.

    Shapes: broadcast.   Dtypes: floating; integers give floats.
    Derivative: ``cn dn`` by `u`; by `m` from that of `ellipkinc`; smooth inside its domain.
    Raises: ArgumentError: complex numbers. ImportError: SciPy is not installed.
    Source: DLMF 22.13.1; SciPy reference, ``scipy.special.ellipj``.

    >>> jacobi_sn(np.array([0.0, 1.0]), 0.5).round(4).tolist()
    [0.0, 0.803]
    """
    return _jacobi(xp, "jacobi_sn", 0, u, m)


@elementwise(
    lambda _y, u, m: -jacobi_sn(u, m) * jacobi_dn(u, m),
    lambda _y, u, m: jacobi_sn(u, m) * jacobi_dn(u, m) * _turn(u, m),
)
def jacobi_cn(xp, u, m, /):
    """Jacobi's ``cn(u | m)``: the cosine of the amplitude `jacobi_am`, 0 <= m <= 1.

    Shapes: broadcast.   Dtypes: floating; integers give floats.
    Derivative: ``-sn dn`` by `u`; by `m` from that of `ellipkinc`; smooth inside its domain.
    Raises: ArgumentError: complex numbers. ImportError: SciPy is not installed.
    Source: DLMF 22.13.2; SciPy reference, ``scipy.special.ellipj``.

    >>> jacobi_cn(np.array([0.0, 1.0]), 0.5).round(4).tolist()
    [1.0, 0.596]
    """
    return _jacobi(xp, "jacobi_cn", 1, u, m)


@elementwise(
    lambda _y, u, m: -m * jacobi_sn(u, m) * jacobi_cn(u, m),
    _dn_by_m,
)
def jacobi_dn(xp, u, m, /):
    """Jacobi's ``dn(u | m) = sqrt(1 - m sn(u | m)**2)``, 0 <= m <= 1.

    Shapes: broadcast.   Dtypes: floating; integers give floats.
    Derivative: ``-m sn cn`` by `u`; by `m` from that of `ellipkinc`; smooth inside its domain.
    Raises: ArgumentError: complex numbers. ImportError: SciPy is not installed.
    Source: DLMF 22.13.3; SciPy reference, ``scipy.special.ellipj``.

    >>> jacobi_dn(np.array([0.0, 1.0]), 0.5).round(4).tolist()
    [1.0, 0.8232]
    """
    return _jacobi(xp, "jacobi_dn", 2, u, m)


@elementwise(
    lambda _y, u, m: jacobi_dn(u, m),
    lambda _y, u, m: -jacobi_dn(u, m) * _turn(u, m),
)
def jacobi_am(xp, u, m, /):
    """Jacobi's amplitude: the `phi` with ``ellipkinc(phi, m) = u``, 0 <= m <= 1.

    Shapes: broadcast.   Dtypes: floating; integers give floats.
    Derivative: ``dn`` by `u`; by `m` from that of `ellipkinc`; smooth inside its domain.
    Raises: ArgumentError: complex numbers. ImportError: SciPy is not installed.
    Source: DLMF 22.16.3; SciPy reference, ``scipy.special.ellipj``, its ``ph``.

    >>> jacobi_am(np.array([0.0, 1.0]), 0.5).round(4).tolist()
    [0.0, 0.9323]
    """
    return _jacobi(xp, "jacobi_am", 3, u, m)
