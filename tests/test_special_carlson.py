"""Carlson's elliptic integrals of `funcgrad.scipy.special`: values, derivatives, identities."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import funcgrad
from funcgrad.errors import ArgumentError
from funcgrad.scipy import special
from funcgrad.testing import check_all

COUNTS = {"elliprf": 3, "elliprc": 2, "elliprd": 3, "elliprg": 3, "elliprj": 4}
POWERS = {"elliprf": -0.5, "elliprc": -0.5, "elliprd": -1.5, "elliprg": 0.5, "elliprj": -1.5}
positive = st.floats(-60.0, 60.0).map(lambda e: float(np.exp(e)))
near = st.floats(0.2, 5.0)


@pytest.mark.parametrize("name", COUNTS)
@given(numbers=st.lists(st.one_of(positive, st.just(1.0)), min_size=4, max_size=4))
def test_values_are_those_of_mpmath(name: str, numbers: list[float]) -> None:
    """SciPy loses digits of `elliprj` where one number is far below the others."""
    mp = pytest.importorskip("mpmath")
    xs = numbers[: COUNTS[name]]
    with mp.workdps(30):
        wanted = float(getattr(mp, name)(*xs))
    np.testing.assert_allclose(getattr(special, name)(*xs), wanted, rtol=3e-14)


@pytest.mark.parametrize("name", COUNTS)
def test_edges_are_scipys(name: str) -> None:
    theirs = pytest.importorskip("scipy.special")
    grid = np.array([0.0, 1.0, 2.5, -1.5, np.inf, np.nan])
    args = [x.ravel() for x in np.meshgrid(*[grid] * COUNTS[name])]
    apart = sum(
        np.isinf(x) | np.isnan(x) for x in args
    )  # SciPy's choice where several meet is not ours
    plain = sum(np.isin(x, [1.0, 2.5]) for x in args)
    finite = (apart == 0) | (plain == COUNTS[name] - 1)
    with np.errstate(all="ignore"):
        ours, wanted = (getattr(m, name)(*args) for m in (special, theirs))
    np.testing.assert_allclose(ours[finite], wanted[finite], rtol=1e-11, atol=1e-14)


@pytest.mark.parametrize("name", COUNTS)
@settings(max_examples=settings().max_examples // 6)
@given(numbers=st.lists(near, min_size=4, max_size=4), same=st.booleans())
def test_derivatives(name: str, numbers: list[float], same: bool) -> None:
    """Also where numbers are equal, and Euler's identity of homogeneous functions."""
    xs = np.array(numbers[: COUNTS[name]])
    xs[1:] = np.where(same, xs[0], xs[1:])
    f = getattr(special, name)

    def of(xs: Any) -> Any:
        return f(*xs)

    slopes = funcgrad.grad(of)(xs)
    np.testing.assert_allclose(slopes @ xs, POWERS[name] * f(*xs), rtol=1e-11)
    bends = funcgrad.hessian(of)(xs)
    if same:  # then those by arguments that may be exchanged are equal, too
        alike = slopes[:2] if name == "elliprd" else slopes[: COUNTS[name] - (name == "elliprj")]
        alike = slopes[:1] if name == "elliprc" else alike
        np.testing.assert_allclose(alike, alike[0], rtol=1e-11)
    np.testing.assert_allclose(bends @ xs, (POWERS[name] - 1.0) * slopes, rtol=1e-8, atol=1e-9)
    if name == "elliprf":
        wanted = -special.elliprd(np.roll(xs, -1), np.roll(xs, -2), xs) / 6.0
        np.testing.assert_allclose(slopes, wanted, rtol=1e-11)


@pytest.mark.parametrize("name", COUNTS)
def test_checks_of_gradients(name: str) -> None:
    xs = [np.array([0.5, 2.0, 1.0]) + 0.3 * i for i in range(COUNTS[name])]
    report = check_all(lambda *xs: getattr(special, name)(*xs), xs)
    assert all(o.status != "failed" for o in report.outcomes), str(report)
    if name in ("elliprc", "elliprj"):
        xs[-1] = -xs[-1]
        report = check_all(lambda *xs: getattr(special, name)(*xs), xs)
        assert all(o.status != "failed" for o in report.outcomes), str(report)


@given(m=st.floats(-5.0, 0.99), n=st.floats(-3.0, 0.9))
def test_legendres_integrals(m: float, n: float) -> None:
    np.testing.assert_allclose(special.elliprf(0.0, 1.0 - m, 1.0), special.ellipk(m), rtol=1e-14)
    np.testing.assert_allclose(
        2.0 * special.elliprg(0.0, 1.0 - m, 1.0), special.ellipe(m), rtol=1e-14
    )
    slope = funcgrad.grad(lambda m: special.elliprf(0.0, 1.0 - m, 1.0))(m)
    np.testing.assert_allclose(slope, funcgrad.grad(special.ellipk)(m), rtol=1e-10)


def test_complex_numbers_are_refused() -> None:
    for name, count in COUNTS.items():
        with pytest.raises(ArgumentError, match="real numbers"):
            getattr(special, name)(*[1j] * count)
