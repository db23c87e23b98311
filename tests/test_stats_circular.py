"""Probabilities of von Mises' distribution, beside the integral of the density in many digits."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import funcgrad
from funcgrad.scipy import special, stats

pytest.importorskip("scipy")

KAPPAS = [0.0, 1e-3, 0.7, 5.0, 49.0, 51.0, 1e3, 1e8]
PLACES = [0.01, 0.5, 1.5, 3.0, math.pi]  # of the spread, or of pi


def place(kappa: float, share: float) -> float:
    return (
        min(share * max(1.0, 3.0 / math.sqrt(kappa + 1e-9)), math.pi)
        if kappa < 1
        else min(3.0 * share / math.sqrt(kappa), math.pi)
    )


def beyond(mp: Any, z: Any, kappa: Any) -> Any:
    """The probability between `z` and pi."""
    end = min(mp.pi, z + 30 / mp.sqrt(kappa + mp.mpf(10) ** -9))
    total = mp.quad(lambda t: mp.exp(kappa * (mp.cos(t) - 1)), mp.linspace(z, end, 9))
    return total / (2 * mp.pi * mp.besseli(0, kappa) * mp.exp(-kappa))


@pytest.mark.parametrize("kappa", KAPPAS)
@pytest.mark.parametrize("share", PLACES)
def test_probabilities_beyond_an_angle(kappa: float, share: float) -> None:
    mpmath = pytest.importorskip("mpmath")
    z = place(kappa, share)
    with mpmath.workdps(40):
        mp, k, t = mpmath.mp, mpmath.mpf(kappa), mpmath.mpf(z)
        exact = float(beyond(mp, t, k))
        step = mp.mpf(10) ** -12 * max(k, 1)
        moved = float((beyond(mp, t, k + step) - beyond(mp, t, k)) / step)
    for f in (lambda z, k: stats.vonmises.sf(z, k), lambda z, k: stats.vonmises.cdf(-z, k)):
        np.testing.assert_allclose(f(z, kappa), exact, rtol=1e-12, atol=1e-16)
        found = funcgrad.grad(f, argnums=(0, 1))(z, kappa)
        wanted = -stats.vonmises.pdf(z, kappa), moved
        np.testing.assert_allclose(found, wanted, rtol=1e-8, atol=1e-13)
    np.testing.assert_allclose(stats.vonmises.cdf(z, kappa), 1.0 - exact, rtol=1e-14)


@pytest.mark.parametrize("kappa", [0.5, 80.0])
@pytest.mark.parametrize("z", [-9.0, -4.0, 2.0, 5.0, 20.0])
def test_a_turn_adds_one(kappa: float, z: float) -> None:
    found = stats.vonmises.cdf(z + 2.0 * math.pi, kappa) - stats.vonmises.cdf(z, kappa)
    np.testing.assert_allclose(found, 1.0, rtol=1e-14)
    np.testing.assert_allclose(
        stats.vonmises.sf(z, kappa), 1.0 - stats.vonmises.cdf(z, kappa), atol=1e-15
    )
    slope = funcgrad.jit(funcgrad.grad(stats.vonmises.cdf))(z, kappa)
    np.testing.assert_allclose(slope, stats.vonmises.pdf(z, kappa), rtol=1e-9)


@pytest.mark.parametrize(
    ("a", "b", "p"), [(101.6, 101.6, 0.678), (101.6, 8e19, 0.3), (9e29, 28.9, 0.23)], ids=str
)
def test_quantiles_of_beta_variables_in_single_precision(a: float, b: float, p: float) -> None:
    single = [np.float32(v) for v in (a, b, p)]
    exact = special.betaincinv(*[np.float64(v) for v in single])
    found = special.betaincinv(*single)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, exact, rtol=1e-7)


@pytest.mark.parametrize("kappa", [1e-3, 0.5, 3.0, 30.0, 1e3, 1e8])
def test_quantiles_of_angles(kappa: float) -> None:
    q = np.array([1e-200, 1e-30, 1e-8, 0.01, 0.4999, 0.5, 0.7, 0.99])
    z = stats.vonmises.ppf(q, kappa)
    np.testing.assert_array_equal(stats.vonmises.isf(q, kappa), -z)
    inside = z > -3.1415
    assert (np.diff(z) >= 0).all() and (z >= -math.pi).all()
    np.testing.assert_allclose(
        stats.vonmises.logcdf(z[inside], kappa), np.log(q)[inside], rtol=1e-10, atol=1e-12
    )
    assert stats.vonmises.ppf(0.0, kappa) == -math.inf
    by_q, by_kappa = funcgrad.jit(funcgrad.grad(stats.vonmises.ppf, (0, 1)))(0.2, kappa)
    point, moved = stats.vonmises.ppf(0.2, kappa), funcgrad.grad(stats.vonmises.cdf, 1)
    np.testing.assert_allclose(by_q, 1 / stats.vonmises.pdf(point, kappa), rtol=1e-12)
    np.testing.assert_allclose(by_kappa, -moved(point, kappa) * by_q, rtol=1e-10)


@pytest.mark.parametrize(("z", "kappa"), [(-3.0, 1e3), (-1.0, 1e3), (-2.5, 20.0), (-0.6, 5e4)])
def test_logarithms_of_angles_far_out(z: float, kappa: float) -> None:
    mpmath = pytest.importorskip("mpmath")
    mp = mpmath.mp

    def log_cdf(k: Any) -> Any:
        nodes = mp.linspace(-mp.pi, z, 60)
        total = mp.quad(lambda t: mp.exp(k * (mp.cos(t) - mp.cos(z))), nodes)
        return mp.log(total / (2 * mp.pi * mp.besseli(0, k))) + k * mp.cos(z)

    with mpmath.workdps(30):
        exact, moved = float(log_cdf(mp.mpf(kappa))), float(mp.diff(log_cdf, kappa))
    np.testing.assert_allclose(stats.vonmises.logcdf(z, kappa), exact, rtol=1e-13)
    np.testing.assert_allclose(stats.vonmises.logsf(-z, kappa), exact, rtol=1e-13)
    np.testing.assert_allclose(funcgrad.grad(stats.vonmises.logcdf, 1)(z, kappa), moved, rtol=1e-11)
