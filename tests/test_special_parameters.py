"""Derivatives of special functions by orders and parameters: recurrences, and mpmath's differences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import funcgrad
from funcgrad.ops.hypergeometric_parameters import kummer_by_parameters
from funcgrad.scipy import special

pytest.importorskip("scipy")

ORDERS = st.floats(-3.0, 6.0).map(lambda v: round(v, 3))
PLACES = st.floats(0.01, 60.0).map(lambda z: round(z, 3))


def slope(f: Callable[..., Any], argnum: int, *args: float) -> Any:
    return funcgrad.grad(f, argnum)(*map(np.float64, args))


# ---------------------------------------------------------------- identities, differentiated


@given(x=st.floats(1.01, 40.0), q=st.floats(1e-3, 1e4))
def test_zeta_without_its_first_term(x: float, q: float) -> None:
    rest = slope(special.zeta, 0, x, q) - slope(special.zeta, 0, x, q + 1.0)
    size = np.abs(np.log(q)) * q**-x + np.abs(slope(special.zeta, 0, x, q))
    np.testing.assert_allclose(rest, -np.log(q) * q**-x, rtol=0, atol=1e-13 * size)


@given(v=ORDERS, z=PLACES)
def test_three_orders_in_a_row(v: float, z: float) -> None:
    """``I(v - 1) - I(v + 1) = 2 v / z I(v)``, and for K with the other sign, by `v`."""
    for name, sign in (("ive", 1.0), ("kve", -1.0)):
        f = getattr(special, name)
        below, here, above = (slope(f, 0, v + step, z) for step in (-1.0, 0.0, 1.0))
        found, expected = below - above, sign * 2.0 / z * (v * here + f(v, z))
        size = abs(below) + abs(above) + abs(v * here / z) + abs(f(v, z) / z)
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9 * size)


@given(v=ORDERS, z=PLACES)
def test_wronskian_does_not_move(v: float, z: float) -> None:
    """``I(v) K(v + 1) + I(v + 1) K(v) = 1 / z`` for all orders."""

    def product(v: Any) -> Any:
        return special.ive(v, z) * special.kve(v + 1.0, z) + special.ive(v + 1.0, z) * special.kve(
            v, z
        )

    size = abs(slope(special.ive, 0, v, z) * special.kve(v + 1.0, z)) + 1.0 / z
    np.testing.assert_allclose(slope(product, 0, v), 0.0, atol=1e-9 * size)


@given(a=st.floats(-3.0, 6.0), b=st.floats(0.3, 6.0), x=st.floats(-30.0, 30.0))
def test_contiguous_kummer_functions(a: float, b: float, x: float) -> None:
    """``b M(a, b) - b M(a - 1, b) = x M(a, b + 1)``, by `a` and by `b`."""

    def left(a: Any, b: Any) -> Any:
        return b * (special.hyp1f1(a, b, x) - special.hyp1f1(a - 1.0, b, x))

    for i in (0, 1):
        expected = x * slope(lambda a, b: special.hyp1f1(a, b + 1.0, x), i, a, b)
        found = slope(left, i, a, b)
        parts = [b * slope(lambda a, b, s=s: special.hyp1f1(a - s, b, x), i, a, b) for s in (0, 1)]
        size = np.abs(parts).max() + abs(special.hyp1f1(a, b, x))
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-8 * size)


@given(m=st.floats(0.0, 0.999), u=st.floats(-9.0, 9.0))
def test_elliptic_functions_stay_on_their_curves(m: float, u: float) -> None:
    """``sn^2 + cn^2 = 1`` and ``dn^2 + m sn^2 = 1`` for all m, and `ellipkinc` leads back to `u`."""
    curves = [
        lambda m: special.ellipj(u, m)[0] ** 2 + special.ellipj(u, m)[1] ** 2,
        lambda m: special.ellipj(u, m)[2] ** 2 + m * special.ellipj(u, m)[0] ** 2,
        lambda m: special.ellipkinc(special.ellipj(u, m)[3], m),
    ]
    reach = abs(slope(lambda m: special.ellipj(u, m)[3], 0, m)) + 1.0
    for curve in curves:
        np.testing.assert_allclose(slope(curve, 0, m), 0.0, atol=1e-11 * reach)


# ---------------------------------------------------------------- against mpmath

CASES: list[tuple[str, int, tuple[float, ...]]] = [
    *[("kv", 0, (v, z)) for v in (0.3, 2.5, 30.0) for z in (1e-8, 0.5, 8.0, 200.0)],
    *[("kve", 0, (v, z)) for v in (-1.2, 7.0) for z in (1e-30, 1e4)],
    *[("iv", 0, (v, z)) for v in (-2.0, -0.5, 1.5, 9.0) for z in (1e-6, 1.0, 25.0, 400.0)],
    *[("ive", 0, (v, 1e5)) for v in (0.5, 30.0)],
    *[("zeta", 0, (x, q)) for x in (1.001, 2.0, 30.0) for q in (0.01, 1.0, 50.0)],
    *[("zeta", 0, (x,)) for x in (-60.3, -4.0, -1.0, -1e-9, 0.0, 0.9, 3.0)],
    *[("struveh", 1, (v, x)) for v in (-1.0, 0.0) for x in (-1e-8, 1e-20, 0.5)],
    *[("struvel", 1, (v, x)) for v in (-1.0, 0.0) for x in (-1e-8, 1e-20, 0.5)],
    *[("hyp0f1", 0, (v, z)) for v in (-1.5, 0.5, 20.0) for z in (-9.0, 0.2, 1e4)],
    *[
        ("hyp1f1", i, (a, b, x))
        for i in (0, 1)
        for a, b in ((-2.0, 0.5), (0.7, 2.0), (40.0, 3.5))
        for x in (-200.0, -1.0, 0.01, 50.0)
    ],
    *[("ellipj", 1, (u, m)) for u in (-3.0, 0.4, 12.0) for m in (0.0, 0.3, 0.99)],
]
NAMES = {"kv": "besselk", "kve": "besselk", "iv": "besseli", "ive": "besseli"}


@pytest.mark.parametrize(("name", "i", "args"), CASES)
def test_first_and_second_derivatives(name: str, i: int, args: tuple[float, ...]) -> None:
    mpmath = pytest.importorskip("mpmath")

    def exact(*x: Any) -> Any:
        if name == "ellipj":
            return mpmath.re(mpmath.ellipfun("sn", x[0], m=x[1]))
        y = getattr(mpmath, NAMES.get(name, name))(*x)
        scale = {"kve": mpmath.exp(x[-1]), "ive": mpmath.exp(-x[-1])}
        return y * scale.get(name, 1)

    def ours(*x: Any) -> Any:
        if name == "ellipj":
            return special.ellipj(*x)[0]
        return getattr(special, {"struveh": "struve", "struvel": "modstruve"}.get(name, name))(*x)

    with mpmath.workdps(50):
        points = [mpmath.mpf(x) for x in args]
        step = mpmath.mpf(10) ** -14
        moved = [[*points[:i], points[i] + s * step, *points[i + 1 :]] for s in (-1, 0, 1)]
        below, here, above = (exact(*x) for x in moved)
        first = float((above - below) / (2 * step))
        second = float((above - 2 * here + below) / step**2)
    by = funcgrad.grad(ours, i)
    room = 1e-9 * (1e-5 * abs(float(here)))
    np.testing.assert_allclose(by(*args), first, rtol=1e-9, atol=room)
    np.testing.assert_allclose(funcgrad.grad(by, i)(*args), second, rtol=1e-8, atol=10 * room)


# ---------------------------------------------------------------- where there is none


def test_where_series_do_not_tell() -> None:
    """Terms that cancel, and orders of complex places, are nan or an error, never a wrong number."""
    assert np.isnan(slope(special.hyp0f1, 0, 1.0, -1e4))
    assert np.isnan(slope(special.kv, 0, 1.0, -1.0))
    a, b, x = map(np.float64, (-60.5, 0.7, 60.0))
    assert np.isnan(kummer_by_parameters(a, b, x, i=1, j=0))
    assert kummer_by_parameters(a, b, x, i=0, j=0) == special.hyp1f1(a, b, x)  # needs no series
    for name in ("iv", "kv", "kve"):
        with pytest.raises(NotImplementedError, match=f"{name}: there is no derivative by `v`"):
            funcgrad.grad(lambda v, f=name: np.real(getattr(special, f)(v, 1.0 + 1j)))(1.0)


# ---------------------------------------------------------------- far out


@given(st.sampled_from([0.0, 1.0, 2.5, 90.0, -99.7, 300.25]), st.floats(1e5, 1e15))
def test_second_kind_completes_the_wave(v: float, z: float) -> None:
    """``(jv**2 + yv**2) pi z / 2`` is ``1 + (4 v**2 - 1) / (8 z**2) + ...`` there (DLMF 10.18.17)."""
    size = (special.jv(v, z) ** 2 + special.yv(v, z) ** 2) * (np.pi * z / 2)
    np.testing.assert_allclose(size, 1 + (4 * v * v - 1) / (8 * z * z), rtol=1e-9)


@given(st.floats(0.0, 1e12), st.floats(3e9, 1e150))
def test_scaled_wronskian_far_out(v: float, z: float) -> None:
    """``iv kv' - iv' kv = -1 / z``; the slope by the order of a logarithm is ``-arcsinh(v / z)``."""
    v = min(v, (1000.0 * z) ** 0.5)  # e**500, inside the range
    i, k = special.ive(v, z), special.kve(v, z)
    np.testing.assert_allclose(2 * i * k * np.hypot(v, z), 1, rtol=1e-10)
    if 1e-3 < v < 100:
        np.testing.assert_allclose(slope(special.kve, 0, v, z) / k, v / z, rtol=1e-8)


@given(st.floats(1e-14, 1e-3), st.sampled_from([1e-290, 1e-100, 1e-9, 0.5]))
def test_slight_orders(v: float, z: float) -> None:
    """The slope of ``(z / 2)**v / gamma(v + 1)`` at small `z`: its factor `v` has all its digits."""
    for name, side in (("jv", -1), ("iv", 1)):
        f, above = getattr(special, name), special.gammaln(v + 1)
        leading = np.exp(v * np.log(z / 2) - above) * v / z
        next_one = side * np.exp((v + 1) * np.log(z / 2) - special.gammaln(v + 2)) * (1 + v / 2)
        if z < 1e-8:
            np.testing.assert_allclose(slope(f, 1, v, z), leading + next_one, rtol=1e-12)
        else:
            expected = v / z * f(v, z) + side * f(v + 1, z)
            np.testing.assert_allclose(slope(f, 1, v, z), expected, rtol=1e-12)
