"""Hankel functions, derivatives of Bessel functions of any order, modified spherical ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import funcgrad
from funcgrad.errors import ArgumentError
from funcgrad.scipy import special
from funcgrad.testing import check_all

ss = pytest.importorskip("scipy.special")

HANKEL = ["hankel1", "hankel2", "hankel1e", "hankel2e"]
ORDERS = st.sampled_from([0, 1, 2, 7, -1, 0.5, 2.3, -1.7])
DERIVED = {"jvp": "jv", "yvp": "yv", "ivp": "iv", "kvp": "kv", "h1vp": "hankel1", "h2vp": "hankel2"}


@pytest.mark.parametrize("name", HANKEL)
@given(ORDERS, st.floats(0.05, 300.0), st.floats(-np.pi, np.pi) | st.sampled_from([0.0, np.pi]))
def test_everywhere_in_the_plane(name: str, v: float, size: float, angle: float) -> None:
    """Where one of J + iY and J - iY is small, too, and on both sides of the cut."""
    z = complex(size * np.exp(1j * angle))
    expected = getattr(ss, name)(v, z)
    assume(1e-280 < abs(expected) < 1e280)
    np.testing.assert_allclose(getattr(special, name)(v, z), expected, rtol=1e-9)


@pytest.mark.parametrize("name", HANKEL)
@pytest.mark.parametrize("v", [0, 1, 0.5, -1.7])
def test_imaginary_numbers(name: str, v: float) -> None:
    """With both signs of their real part, 0: -3j is -0.0 - 3j. There the function has no cut."""
    f = getattr(special, name)
    z = np.array([complex(s, y) for s in (0.0, -0.0) for y in (3.0, -3.0)])
    np.testing.assert_allclose(f(v, z), getattr(ss, name)(v, z), rtol=1e-11)
    slopes = funcgrad.vmap(funcgrad.grad(lambda z: f(v, z), holomorphic=True))(z)
    np.testing.assert_allclose(slopes, (f(v, z + 1e-6) - f(v, z - 1e-6)) / 2e-6, rtol=1e-8)


@pytest.mark.parametrize("name", HANKEL)
def test_real_numbers(name: str) -> None:
    x = np.array([-20.0, -1.0, 0.3, 2.0, 900.0])
    f, g = getattr(special, name), getattr(ss, name)
    np.testing.assert_allclose(f(1.5, x), g(1.5, x), rtol=1e-11)
    assert f(0, np.float32(1)).dtype == np.complex64 and f(0, 1).dtype == np.complex128
    assert np.isnan(f(0, 0.0))
    with pytest.raises(ArgumentError, match="the order is complex"):
        f(1j, 1.0)


@pytest.mark.parametrize("name", DERIVED)
@given(st.sampled_from([0, 1, 4, 0.5, 2.3]), st.floats(0.2, 30.0), st.integers(0, 4))
def test_derivatives_of_any_order(name: str, v: float, x: float, n: int) -> None:
    found = getattr(special, name)(v, x, n)
    np.testing.assert_allclose(found, getattr(ss, name)(v, x, n), rtol=1e-10, atol=1e-12)
    if not n:
        return
    lower: Any = getattr(special, name)
    for part in (np.real, np.imag):
        slope = funcgrad.grad(lambda x: part(lower(v, x, n - 1)))(x)  # noqa: B023
        np.testing.assert_allclose(slope, part(found), rtol=1e-8, atol=1e-9)


def test_orders_of_derivatives_are_counts() -> None:
    for n in (-1, 1.5):
        with pytest.raises(ArgumentError, match="jvp: n="):
            special.jvp(0, 1.0, n)
    with pytest.raises(NotImplementedError, match="there is no derivative by `v`"):
        funcgrad.grad(lambda v: special.jvp(v, 1.0))(1.0)


@pytest.mark.parametrize("name", ["spherical_in", "spherical_kn"])
@pytest.mark.parametrize("n", [0, 1, 2, 6])
def test_modified_spherical(name: str, n: int) -> None:
    x = np.array([0.0, 0.01, 0.4, 3.0, 50.0])
    x = np.concatenate([x, -x[1:]])
    f, g = getattr(special, name), getattr(ss, name)
    for derivative in (False, True):
        for z in (x, x + 0.3j):
            found = f(n, z, derivative)
            # SciPy's own cancel where the function of a negative number vanishes
            scale = np.abs(np.where(np.isfinite(found), found, 0)).max() * 1e-13
            np.testing.assert_allclose(found, g(n, z, derivative), rtol=1e-8, atol=scale)
    np.testing.assert_allclose(
        funcgrad.vmap(funcgrad.grad(lambda z: f(n, z)))(x[1:]), f(n, x[1:], True), rtol=1e-9
    )
    assert {f(n, np.float32(1), d).dtype for d in (False, True)} == {np.dtype(np.float32)}
    assert np.isnan(f(-1, 1.0))
    with pytest.raises(ArgumentError, match="has to be an integer"):
        f(1.5, 1.0)


def test_modified_spherical_at_infinity() -> None:
    for z in (np.inf, np.array([2.0, np.inf, 0.5]), complex(np.inf)):
        for derivative in (False, True):
            found, expected = (m.spherical_kn(1, z, derivative) for m in (special, ss))
            np.testing.assert_allclose(found, expected)
    assert funcgrad.grad(lambda z: special.spherical_kn(1, z))(np.inf) == 0


@pytest.mark.parametrize("name", [*HANKEL, "h1vp", "spherical_in", "spherical_kn"])
def test_checks(name: str) -> None:
    x = np.array([0.4, 1.3, 6.0])
    report = check_all(lambda x: getattr(special, name)(2, x), (x,))
    assert not report.failures, str(report)
