"""Bessel functions, element by element."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from ..algebra import elementwise
from ..core import aval_of
from ..errors import ArgumentError
from ..errors import where as at_user_code
from .arithmetic import absolute, divide, polynomial
from .bessel_far import scaled_or_far, wave_or_far
from .bessel_orders import i_by_order, kve_moment
from .exponential import exp, sqrt
from .from_scipy import by_nothing, scipy_function, together
from .gamma import double
from .logic import greater, greater_equal, isinf, less, not_equal
from .rounding import sign
from .select import maximum, where


def _over_x(bessel: Callable[[Any], Any], x: Any, *, turn: int = 1, scaled: bool = False) -> Any:
    """``i1(x) / x``, ``j1(x) / x`` (`turn` is -1) or ``i1e(x) / x`` (`scaled`).

    Near 0, where derivatives of it cancel, by its series.
    """
    near = less(absolute(x), 0.05)
    inside = where(near, x, 0.0)
    q = inside * inside * turn
    series = 0.5 + q * (1 / 16 + q * (1 / 384 + q * (1 / 18432)))
    if scaled:
        series = series * exp(-absolute(inside))
    return where(near, series, divide(bessel(x), where(near, 1.0, x)))


def _unless(condition: Any, x: Any, v: Any = None) -> Any:
    """`x`, a harmless number where the condition holds: that term, of order `v`, is not needed."""
    return where(condition, 1.0 if v is None else absolute(v) + 1.0, x)


# ---------------------------------------------------------------- Bessel functions of orders 0 and 1


@elementwise(lambda _y, x: -j1(x))
def j0(xp, x, /):
    """The Bessel function of the first kind of order 0.

    Shapes: ``x: (*a) -> (*a)``.   Dtypes: floating; integers give floats.
    Derivative: ``-j1(x)``; smooth everywhere.
    Raises: ImportError: SciPy is not installed.
    Source: DLMF 10.2.2, 10.6.3; SciPy reference, ``scipy.special.j0``.

    >>> j0(np.array([0.0, 1.0])).round(4).tolist()
    [1.0, 0.7652]
    """
    return scipy_function(xp, "j0")(x)


@elementwise(lambda _y, x: j0(x) - _over_x(j1, x, turn=-1))
def j1(xp, x, /):
    """The Bessel function of the first kind of order 1.

    Shapes: ``x: (*a) -> (*a)``.   Dtypes: floating; integers give floats.
    Derivative: ``j0(x) - j1(x) / x``, 1/2 at 0; smooth everywhere.
    Raises: ImportError: SciPy is not installed.
    Source: DLMF 10.2.2, 10.6.2; SciPy reference, ``scipy.special.j1``.

    >>> j1(np.array([0.0, 1.0])).round(4).tolist()
    [0.0, 0.4401]
    """
    return scipy_function(xp, "j1")(x)


@elementwise(lambda _y, x: -y1(x))
def y0(xp, x, /):
    """The Bessel function of the second kind of order 0, for x > 0.

    Shapes: ``x: (*a) -> (*a)``.   Dtypes: floating; integers give floats.
    Derivative: ``-y1(x)``; infinite at the pole 0, NaN below; smooth inside its domain.
    Raises: ImportError: SciPy is not installed.
    Source: DLMF 10.2.3, 10.6.3; SciPy reference, ``scipy.special.y0``.

    >>> y0(np.array([0.0, 1.0])).round(4).tolist()
    [-inf, 0.0883]
    """
    return scipy_function(xp, "y0")(x)


@elementwise(lambda y, x: y0(_unless(isinf(y), x)) - divide(y, x))
def y1(xp, x, /):
    """The Bessel function of the second kind of order 1, for x > 0.

    Shapes: ``x: (*a) -> (*a)``.   Dtypes: floating; integers give floats.
    Derivative: ``y0(x) - y1(x) / x``; infinite at the pole 0, NaN below; smooth inside its domain.
    Raises: ImportError: SciPy is not installed.
    Source: DLMF 10.2.3, 10.6.2; SciPy reference, ``scipy.special.y1``.

    >>> y1(np.array([0.0, 1.0])).round(4).tolist()
    [-inf, -0.7812]
    """
    return scipy_function(xp, "y1")(x)


# ---------------------------------------------------------------- modified Bessel functions, 0 and 1

FAR = 80.0  # from here on eight terms of an asymptotic series are exact


@functools.cache
def _debye(count: int) -> tuple[tuple[float, ...], ...]:
    """Coefficients of the polynomials of `_log_slope`, the lowest power first.

    With ``w = sqrt(v^2 + z^2)``, ``q = (v / w)^2`` and I for the function, ``z I' / I`` is
    ``w + R_1(q) + R_2(q) / w + R_3(q) / w^2 + ...``; put into Bessel's equation that gives R_k+1
    from those before. With ``-w`` for ``w`` it is K.
    """
    q = np.polynomial.Polynomial([0.0, 1.0])
    found = [np.polynomial.Polynomial([1.0])]
    for k in range(count):
        r = found[k]
        known = (1 - q) * ((1 - k) * r - 2 * q * r.deriv())
        for i in range(1, k + 1):
            known = known + found[i] * found[k + 1 - i]
        found.append(known * -0.5)
    return tuple(tuple(r.coef.tolist()) for r in found[1:])


def _log_slope(z: Any, side: int, v: Any = None) -> Any:
    """``f'(z) / f(z)`` of ``ive`` (`side` is 1) or ``kve`` (-1), for ``z >= max(FAR, |v|)``.

    There ``f'`` is much smaller than the terms of its recurrence. No `v`: order 0.
    """
    if v is None:
        leading, w, rates = 0.0, z, [r[0] for r in _debye(8)]
    else:
        slant = divide(v, z)
        square = slant * slant
        root = sqrt(1.0 + square)
        leading = v * slant / (1.0 + root) * side  # w - z
        q = divide(square, 1.0 + square)
        w, rates = z * root, [polynomial(q, r) for r in _debye(8)]
    return divide(leading + polynomial(divide(side, w), rates), z)


def _i_gap(x: Any) -> Any:
    """``i0e(x) - |i1e(x)|``, without cancellation where both are nearly equal."""
    size = absolute(x)
    far = greater(size, FAR)
    z = where(far, size, FAR)
    return where(far, -i0e(z) * _log_slope(z, 1), i0e(x) - sign(x) * i1e(x))


def _k_gap(x: Any) -> Any:
    """``k1e(x) - k0e(x)``, without cancellation where both are nearly equal."""
    far = greater(x, FAR)
    z = where(far, x, FAR)
    large = k1e(_unless(far, x))
    near = large - k0e(_unless(isinf(large), x))
    return where(far, -k0e(z) * _log_slope(z, -1), near)


@elementwise(lambda _y, x: i1(x))
def i0(xp, x, /):
    """The modified Bessel function of the first kind of order 0.

    Shapes: ``x: (*a) -> (*a)``.   Dtypes: floating; integers give floats.
    Derivative: ``i1(x)``; smooth everywhere.
    Raises: ImportError: SciPy is not installed.
    Source: DLMF 10.25.2, 10.29.3; SciPy reference, ``scipy.special.i0``.

    >>> i0(np.array([0.0, 1.0])).round(4).tolist()
    [1.0, 1.2661]
    """
    return scipy_function(xp, "i0")(x)


@elementwise(lambda y, x: i0(x) - _over_x(i1, _unless(isinf(y), x)))
def i1(xp, x, /):
    """The modified Bessel function of the first kind of order 1.

    Shapes: ``x: (*a) -> (*a)``.   Dtypes: floating; integers give floats.
    Derivative: ``i0(x) - i1(x) / x``, 1/2 at 0; smooth everywhere.
    Raises: ImportError: SciPy is not installed.
    Source: DLMF 10.25.2, 10.29.2; SciPy reference, ``scipy.special.i1``.

    >>> i1(np.array([0.0, 1.0])).round(4).tolist()
    [0.0, 0.5652]
    """
    return scipy_function(xp, "i1")(x)


@elementwise(lambda _y, x: -sign(x) * _i_gap(x))
def i0e(xp, x, /):
    """``e**-|x| i0(x)``.

    Shapes: ``x: (*a) -> (*a)``.   Dtypes: floating; integers give floats.
    Derivative: ``i1e(x) - sign(x) i0e(x)``; 0 at the kink 0.
    Raises: ImportError: SciPy is not installed.
    Source: SciPy reference, ``scipy.special.i0e``.

    >>> i0e(np.array([0.0, 1.0])).round(4).tolist()
    [1.0, 0.4658]
    """
    return scipy_function(xp, "i0e")(x)


@elementwise(lambda _y, x: _i_gap(x) - _over_x(i1e, x, scaled=True))
def i1e(xp, x, /):
    """``e**-|x| i1(x)``.

    Shapes: ``x: (*a) -> (*a)``.   Dtypes: floating; integers give floats.
    Derivative: ``i0e(x) - sign(x) i1e(x) - i1e(x) / x``, 1/2 at 0.
    Raises: ImportError: SciPy is not installed.
    Source: SciPy reference, ``scipy.special.i1e``.

    >>> i1e(np.array([0.0, 1.0])).round(4).tolist()
    [0.0, 0.2079]
    """
    return scipy_function(xp, "i1e")(x)


@elementwise(lambda _y, x: -k1(x))
def k0(xp, x, /):
    """The modified Bessel function of the second kind of order 0, for x > 0.

    Shapes: ``x: (*a) -> (*a)``.   Dtypes: floating; integers give floats.
    Derivative: ``-k1(x)``; infinite at the pole 0, NaN below; smooth inside its domain.
    Raises: ImportError: SciPy is not installed.
    Source: DLMF 10.27.4, 10.29.3; SciPy reference, ``scipy.special.k0``.

    >>> k0(np.array([0.0, 1.0])).round(4).tolist()
    [inf, 0.421]
    """
    return scipy_function(xp, "k0")(x)


@elementwise(lambda y, x: -k0(x) - divide(y, x))
def k1(xp, x, /):
    """The modified Bessel function of the second kind of order 1, for x > 0.

    Shapes: ``x: (*a) -> (*a)``.   Dtypes: floating; integers give floats.
    Derivative: ``-k0(x) - k1(x) / x``; infinite at the pole 0, NaN below; smooth inside its domain.
    Raises: ImportError: SciPy is not installed.
    Source: DLMF 10.27.4, 10.29.2; SciPy reference, ``scipy.special.k1``.

    >>> k1(np.array([0.0, 1.0])).round(4).tolist()
    [inf, 0.6019]
    """
    return scipy_function(xp, "k1")(x)


@elementwise(lambda _y, x: -_k_gap(x))
def k0e(xp, x, /):
    """``e**x k0(x)``, for x > 0.

    Shapes: ``x: (*a) -> (*a)``.   Dtypes: floating; integers give floats.
    Derivative: ``k0e(x) - k1e(x)``; infinite at the pole 0, NaN below; smooth inside its domain.
    Raises: ImportError: SciPy is not installed.
    Source: SciPy reference, ``scipy.special.k0e``.

    >>> k0e(np.array([0.0, 1.0])).round(4).tolist()
    [inf, 1.1445]
    """
    return scipy_function(xp, "k0e")(x)


def _k1e_slope(y: Any, x: Any) -> Any:
    large = divide(y, x)
    return _k_gap(_unless(isinf(large), x)) - large


@elementwise(_k1e_slope)
def k1e(xp, x, /):
    """``e**x k1(x)``, for x > 0.

    Shapes: ``x: (*a) -> (*a)``.   Dtypes: floating; integers give floats.
    Derivative: ``k1e(x) - k0e(x) - k1e(x) / x``; infinite at the pole 0, NaN below;
    smooth inside its domain.
    Raises: ImportError: SciPy is not installed.
    Source: SciPy reference, ``scipy.special.k1e``.

    >>> k1e(np.array([0.0, 1.0])).round(4).tolist()
    [inf, 1.6362]
    """
    return scipy_function(xp, "k1e")(x)


# ---------------------------------------------------------------- any order


def _with_order(xp: Any, name: str, v: Any, z: Any) -> tuple[Any, Any]:
    """A real order, integers in the precision of `z`, and real or complex `z`.

    Raises: ArgumentError: the order is complex.
    """
    if (z.dtype.kind if hasattr(z, "dtype") else "c" if isinstance(z, complex) else "f") != "c":
        return together(xp, name, v, z)
    return together(xp, name, v, z.real)[0], z


def _wave(xp: Any, name: str, v: Any, z: Any) -> Any:
    """`jv` or `yv`."""
    v, z = _with_order(xp, name, v, z)
    known = scipy_function(xp, name)(v, z)
    if known.dtype.kind == "c":
        return known
    return wave_or_far(xp, known, v, z, second=name == "yv")


def _by_order(name: str, rule: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    """The rule of the order, for real `z`: in double precision, as its terms cancel."""
    refused = by_nothing(name, "v")
    return lambda y, v, z: (
        refused(y, v, z) if aval_of(z).dtype.kind == "c" else rule(double(v), double(z))
    )


def _slight(y: Any, v: Any, z: Any) -> Any:
    """Where ``v - 1`` would lose digits of the order, a factor of the slope at a small `z`."""
    return less(absolute(v), 0.5) & not_equal(z, 0.0) & not_equal(y, 0.0)


def _jv_slope(y: Any, v: Any, z: Any) -> Any:
    large = jv(v - 1.0, z)  # infinite at 0 if v < 1 is no integer
    above = jv(v + 1.0, _unless(isinf(large), z, v))
    slight = _slight(y, v, z)
    return where(slight, divide(v, where(slight, z, 1.0)) * y - above, (large - above) * 0.5)


@elementwise(by_nothing("jv", "v"), _jv_slope)
def jv(xp, v, z, /):
    """The Bessel function of the first kind of order `v`.

    Shapes: broadcast.   Dtypes: `v` real, `z` floating, complex; integers give floats.
    Derivative: ``(jv(v - 1, z) - jv(v + 1, z)) / 2`` by `z`, none by `v`; smooth for z > 0, and
    everywhere for integers `v`.
    Raises: ShapeError: the shapes do not broadcast. ArgumentError: `v` is complex.
    ImportError: SciPy is not installed. MissingRuleError: a derivative by `v`.
    Source: DLMF 10.2.2, 10.6.1; SciPy reference, ``scipy.special.jv``.

    >>> jv(np.array([0, 1]), 1.0).round(4).tolist()
    [0.7652, 0.4401]
    """
    return _wave(xp, "jv", v, z)


def _yv_slope(_y: Any, v: Any, z: Any) -> Any:
    away = where(greater_equal(v, 0), 1.0, -1.0)  # to the order that grows faster towards 0
    large = yv(v + away, z)
    return (yv(v - away, _unless(isinf(large), z, v)) - large) * (0.5 * away)


@elementwise(by_nothing("yv", "v"), _yv_slope)
def yv(xp, v, z, /):
    """The Bessel function of the second kind of order `v`, for z > 0 or complex.

    Shapes: broadcast.   Dtypes: `v` real, `z` floating, complex; integers give floats.
    Derivative: ``(yv(v - 1, z) - yv(v + 1, z)) / 2`` by `z`, none by `v`; infinite at the pole 0;
    smooth inside its domain.
    Raises: ShapeError: the shapes do not broadcast. ArgumentError: `v` is complex.
    ImportError: SciPy is not installed. MissingRuleError: a derivative by `v`.
    Source: DLMF 10.2.3, 10.6.1; SciPy reference, ``scipy.special.yv``.

    >>> yv(np.array([0, 1]), 1.0).round(4).tolist()
    [0.0883, -0.7812]
    """
    return _wave(xp, "yv", v, z)


def _iv_slope(y: Any, v: Any, z: Any) -> Any:
    above = iv(v + 1.0, z)
    slight = _slight(y, v, z)
    outer = (iv(v - 1.0, z) + above) * 0.5
    return where(slight, divide(v, where(slight, z, 1.0)) * y + above, outer)


@elementwise(_by_order("iv", lambda v, z: i_by_order(v, z, scaled=False)), _iv_slope)
def iv(xp, v, z, /):
    """The modified Bessel function of the first kind of order `v`.

    Shapes: broadcast.   Dtypes: `v` real, `z` floating, complex; integers give floats.
    Derivative: ``(iv(v - 1, z) + iv(v + 1, z)) / 2`` by `z`, for real z > 0 by `v`;
    smooth for z > 0, and everywhere for integers `v`.
    Raises: ShapeError: the shapes do not broadcast. ArgumentError: `v` is complex.
    ImportError: SciPy is not installed. MissingRuleError: a derivative by `v` at complex `z`.
    Source: DLMF 10.25.2, 10.29.1; SciPy reference, ``scipy.special.iv``.

    >>> iv(np.array([0, 1]), 1.0).round(4).tolist()
    [1.2661, 0.5652]
    """
    return scipy_function(xp, "iv")(*_with_order(xp, "iv", v, z))


def _ive_slope(y: Any, v: Any, z: Any) -> Any:
    size = absolute(z)
    far = greater(size, maximum(absolute(v), FAR))
    outside = where(far, size, maximum(absolute(v), FAR))
    order = double(v)
    near = (ive(order - 1.0, z) + ive(order + 1.0, z)) * 0.5 - sign(z) * ive(order, z)
    return where(far, sign(z) * y * _log_slope(outside, 1, v), near)


@elementwise(_by_order("ive", lambda v, z: i_by_order(v, z, scaled=True)), _ive_slope)
def ive(xp, v, z, /):
    """``e**-|z| iv(v, z)``.

    Shapes: broadcast.   Dtypes: real; integers give floats.
    Derivative: ``(ive(v - 1, z) + ive(v + 1, z)) / 2 - sign(z) ive(v, z)`` by `z`, for z > 0 by
    `v`; at the kink 0 that of ``iv(v, z)``.
    Raises: ShapeError: the shapes do not broadcast. ArgumentError: complex numbers.
    ImportError: SciPy is not installed.
    Source: SciPy reference, ``scipy.special.ive``.

    >>> ive(np.array([0, 1]), 1.0).round(4).tolist()
    [0.4658, 0.2079]
    """
    v, z = together(xp, "ive", v, z)
    return scaled_or_far(xp, scipy_function(xp, "ive")(v, z), v, z, side=1)


def _kv_slope(_y: Any, v: Any, z: Any) -> Any:
    return (kv(v - 1.0, z) + kv(v + 1.0, z)) * -0.5


@elementwise(_by_order("kv", lambda v, z: exp(-z) * kve_moment(v, z, n=1, m=0)), _kv_slope)
def kv(xp, v, z, /):
    """The modified Bessel function of the second kind of order `v`, for z > 0 or complex.

    Shapes: broadcast.   Dtypes: `v` real, `z` floating, complex; integers give floats.
    Derivative: ``-(kv(v - 1, z) + kv(v + 1, z)) / 2`` by `z`, for real z > 0 by `v`;
    infinite at the pole 0; smooth inside its domain.
    Raises: ShapeError: the shapes do not broadcast. ArgumentError: `v` is complex.
    ImportError: SciPy is not installed. MissingRuleError: a derivative by `v` at complex `z`.
    Source: DLMF 10.27.4, 10.29.1; SciPy reference, ``scipy.special.kv``.

    >>> kv(np.array([0, 1]), 1.0).round(4).tolist()
    [0.421, 0.6019]
    """
    return scipy_function(xp, "kv")(*_with_order(xp, "kv", v, z))


def _kve_slope(_y: Any, v: Any, z: Any) -> Any:
    around = (kve(v - 1.0, z) + kve(v + 1.0, z)) * 0.5
    near = kve(v, _unless(isinf(around), z, v)) - around
    if aval_of(z).dtype.kind == "c":
        return near
    least = maximum(absolute(v), FAR)
    far = greater(z, least)
    outside = where(far, z, least)
    return where(far, kve(v, outside) * _log_slope(outside, -1, v), near)


@elementwise(_by_order("kve", lambda v, z: kve_moment(v, z, n=1, m=0)), _kve_slope)
def kve(xp, v, z, /):
    """``e**z kv(v, z)``, for z > 0 or complex.

    Shapes: broadcast.   Dtypes: `v` real, `z` floating, complex; integers give floats.
    Derivative: ``kve(v, z) - (kve(v - 1, z) + kve(v + 1, z)) / 2`` by `z`, for real z > 0
    by `v`; infinite at the pole 0; smooth inside its domain.
    Raises: ShapeError: the shapes do not broadcast. ArgumentError: `v` is complex.
    ImportError: SciPy is not installed. MissingRuleError: a derivative by `v` at complex `z`.
    Source: SciPy reference, ``scipy.special.kve``.

    >>> kve(np.array([0, 1]), 1.0).round(4).tolist()
    [1.1445, 1.6362]
    """
    v, z = _with_order(xp, "kve", v, z)
    known = scipy_function(xp, "kve")(v, z)
    return known if known.dtype.kind == "c" else scaled_or_far(xp, known, v, z, side=-1)


# ---------------------------------------------------------------- spherical Bessel functions


def _whole(name: str, n: Any) -> Any:
    """
    Raises: ArgumentError: the order is no integer.
    """
    if isinstance(n, float | complex) or getattr(n, "dtype", np.dtype(int)).kind in "fc":
        raise ArgumentError(f"{name}: the order has to be an integer{at_user_code()}")
    return n


def spherical_jn_slope(n: Any, z: Any) -> Any:
    """The derivative of `spherical_jn` by `z`, without cancellation at 0.

    >>> float(spherical_jn_slope(1, np.array(0.0)).round(4))
    0.3333
    """
    m = n * 1.0
    below = spherical_jn(maximum(n, 1) - 1, z)
    return (m * below - (m + 1.0) * spherical_jn(n + 1, z)) / (2.0 * m + 1.0)


@elementwise(by_nothing("spherical_jn", "n"), lambda _y, n, z: spherical_jn_slope(n, z))
def spherical_jn(xp, n, z, /):
    """The spherical Bessel function of the first kind of the integer order `n` >= 0.

    Shapes: broadcast.   Dtypes: `n` integer, `z` floating, complex; integers give floats.
    Derivative: ``(n spherical_jn(n - 1, z) - (n + 1) spherical_jn(n + 1, z)) / (2n + 1)``; smooth
    everywhere.
    Raises: ShapeError: the shapes do not broadcast. ArgumentError: `n` is no integer.
    ImportError: SciPy is not installed.
    Source: DLMF 10.47.3, 10.51.1; SciPy reference, ``scipy.special.spherical_jn``.

    >>> spherical_jn(np.array([0, 1]), 1.0).round(4).tolist()
    [0.8415, 0.3012]
    """
    return _in_precision_of(z, scipy_function(xp, "spherical_jn")(_whole("spherical_jn", n), z))


def spherical_yn_slope(n: Any, z: Any) -> Any:
    """The derivative of `spherical_yn` by `z`.

    >>> float(spherical_yn_slope(0, np.array(1.0)).round(4))
    1.3818
    """
    m = n * 1.0
    large = spherical_yn(n + 1, z)
    below = spherical_yn(maximum(n, 1) - 1, _unless(isinf(large), z, m))
    return (m * below - (m + 1.0) * large) / (2.0 * m + 1.0)


@elementwise(by_nothing("spherical_yn", "n"), lambda _y, n, z: spherical_yn_slope(n, z))
def spherical_yn(xp, n, z, /):
    """The spherical Bessel function of the second kind of the integer order `n` >= 0.

    Shapes: broadcast.   Dtypes: `n` integer, `z` floating, complex; integers give floats.
    Derivative: ``(n spherical_yn(n - 1, z) - (n + 1) spherical_yn(n + 1, z)) / (2n + 1)``; infinite
    at the pole 0; smooth inside its domain.
    Raises: ShapeError: the shapes do not broadcast. ArgumentError: `n` is no integer.
    ImportError: SciPy is not installed.
    Source: DLMF 10.47.4, 10.51.1; SciPy reference, ``scipy.special.spherical_yn``.

    >>> spherical_yn(np.array([0, 1]), 1.0).round(4).tolist()
    [-0.5403, -1.3818]
    """
    return _in_precision_of(z, scipy_function(xp, "spherical_yn")(_whole("spherical_yn", n), z))


def _in_precision_of(z: Any, y: Any) -> Any:
    """SciPy makes float64 of all."""
    exact = not hasattr(z, "dtype") or z.dtype.kind not in "fc"
    return y if exact else y.astype(z.dtype)
