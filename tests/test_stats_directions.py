"""`vonmises_fisher`: SciPy's numbers, derivatives, and large concentrations beside mpmath."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import funcgrad
import funcgrad.numpy as fnp
from funcgrad.errors import ArgumentError, ShapeError
from funcgrad.scipy import stats
from funcgrad.testing import check_all

theirs = pytest.importorskip("scipy.stats")


def units(n: int, seed: int, *shape: int) -> Any:
    x = np.random.default_rng(seed).normal(size=(*shape, n))
    return x / np.linalg.norm(x, axis=-1, keepdims=True)


@given(st.integers(2, 9), st.integers(0, 99), st.floats(0.01, 300.0))
def test_values_are_scipys(n: int, seed: int, kappa: float) -> None:
    x, mu = units(n, seed, 4, 2), units(n, seed + 1)
    ours, his = stats.vonmises_fisher, theirs.vonmises_fisher
    np.testing.assert_allclose(
        ours.logpdf(x, mu, kappa), his.logpdf(x, mu, kappa), rtol=1e-10, atol=1e-10
    )
    np.testing.assert_allclose(ours(mu, kappa).pdf(x), his.pdf(x, mu, kappa), rtol=1e-9)
    np.testing.assert_allclose(
        ours.entropy(mu, kappa), his.entropy(mu, kappa), rtol=1e-9, atol=1e-10
    )


@pytest.mark.parametrize("n", [2, 3, 6])
def test_derivatives(n: int) -> None:
    def f(kappa: Any, direction: Any) -> Any:
        mu = direction / fnp.linalg.norm(direction)
        family = stats.vonmises_fisher(mu, kappa)
        return fnp.append(family.logpdf(units(n, 0, 3)), family.entropy())

    report = check_all(f, (np.float64(2.3), 3.0 * units(n, 1)))
    assert report.ok, str(report)


@pytest.mark.parametrize("n", [2, 3, 60])
@pytest.mark.parametrize("kappa", [1e-8, 1.0, 1e5, 1e12])
def test_any_concentration(n: int, kappa: float) -> None:
    mp = pytest.importorskip("mpmath")
    mu = np.eye(n)[0]
    with mp.workdps(40):
        v, k = mp.mpf(n) / 2 - 1, mp.mpf(kappa)
        bessel = mp.besseli(v, k) if kappa < 1e6 else mp.exp(k) / mp.sqrt(2 * mp.pi * k) * (
            1 - (4 * v * v - 1) / (8 * k)
        )  # fmt: skip
        expected = float(v * mp.log(k) + k - (v + 1) * mp.log(2 * mp.pi) - mp.log(bessel))
    assert stats.vonmises_fisher.logpdf(mu, mu, kappa) == pytest.approx(expected, rel=1e-11)
    slope = funcgrad.grad(lambda k: stats.vonmises_fisher.logpdf(mu, mu, k))(kappa)
    assert 0.0 < slope * kappa < kappa + n


@pytest.mark.parametrize("spread", [0.0, 1.0, -3.0])
@pytest.mark.parametrize("rate", [1e8, 1e9, 1e12])
def test_differences_of_large_counts(rate: float, spread: float) -> None:
    """Bessel functions of large numbers, which SciPy has not, are needed there, too."""
    k = np.floor(spread * np.sqrt(2.0 * rate))
    expected = -0.5 * np.log(4.0 * np.pi * rate) - k * k / (4.0 * rate)  # a normal density
    assert stats.skellam.logpmf(k, rate, rate) == pytest.approx(expected, rel=1e-6)
    slope = funcgrad.grad(lambda r: stats.skellam.logpmf(k, r, r))(rate)
    assert slope * rate == pytest.approx(-0.5 + k * k / (4.0 * rate), rel=1e-3)


def test_precision_and_refusals() -> None:
    x = units(3, 0).astype(np.float32)
    family = stats.vonmises_fisher
    assert family.logpdf(x, x, np.float32(2.0)).dtype == np.float32
    for call, error, says in (
        (lambda: family.logpdf(x, 2 * x, 1.0), ArgumentError, "the length of mu"),
        (lambda: family.logpdf(2 * x, x, 1.0), ArgumentError, "the length of x"),
        (lambda: family.logpdf(x, x, 0.0), ArgumentError, "kappa is 0"),
        (lambda: family.logpdf(x, x, np.ones(2)), ShapeError, "kappa"),
        (lambda: family.logpdf(x), ShapeError, "mu has shape"),
        (lambda: family.logpdf(np.ones(2), x), ShapeError, "x has shape"),
    ):
        with pytest.raises(error, match=says):
            call()
    assert family.rvs(x.astype(float), 2.0, 3).shape == (3, 3)
