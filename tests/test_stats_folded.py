"""Folded, cut off and peaked distributions, beta negative binomial counts: beyond SciPy's numbers.

`test_stats.py` has their values and derivatives where SciPy has them.
"""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import funcgrad
from funcgrad.scipy import stats

mp = pytest.importorskip("mpmath")
integrate = pytest.importorskip("scipy.integrate")


@pytest.mark.parametrize(
    ("name", "shapes"),
    [
        ("recipinvgauss", (0.7,)),
        ("crystalball", (1.2, 7.5)),
        ("crystalball", (0.4, 6.0)),
        ("norminvgauss", (1.5, -0.6)),
        ("norminvgauss", (0.3, 0.1)),
        ("foldnorm", (1.3,)),
        ("halfgennorm", (0.8,)),
        ("truncweibull_min", (0.7, 0.3, 2.0)),
        ("truncpareto", (-1.5, 4.0)),
        ("truncpareto", (1.0, 4.0)),  # where its mean has a removable singularity
    ],
)
def test_moments_are_integrals(name: str, shapes: tuple[float, ...]) -> None:
    family = getattr(stats, name)
    low, high = (float(v) for v in family.support(*shapes))
    places = [p for p in (-100.0, -10.0, -1.0, 0.0, 1.0, 10.0, 100.0) if low < p < high]
    ends = [low, *places, high]

    def total(f):
        parts = itertools.pairwise(ends)
        return sum(
            integrate.quad(f, a, b, epsabs=1e-13, epsrel=1e-11, limit=400)[0] for a, b in parts
        )

    assert total(lambda z: family.pdf(z, *shapes)) == pytest.approx(1.0, rel=1e-8)
    mean = total(lambda z: z * family.pdf(z, *shapes))
    assert mean == pytest.approx(family.mean(*shapes), rel=1e-7)
    var = total(lambda z: (z - mean) ** 2 * family.pdf(z, *shapes))
    assert var == pytest.approx(family.var(*shapes), rel=1e-5)


@pytest.mark.parametrize("c", [0.0, 1e-8, 3.0, 40.0, 1e9])
def test_the_spread_of_folded_normal_variables(c: float) -> None:
    """It nears 1, without a difference of squares."""
    with mp.workdps(40):
        d = mp.mpf(c)
        mean = mp.sqrt(2 / mp.pi) * mp.exp(-d * d / 2) + d * mp.erf(d / mp.sqrt(2))
        expected = float(d * d + 1 - mean * mean)
    assert stats.foldnorm.var(c) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("c", [0.5, 30.0, 1e6])
@pytest.mark.parametrize("z", [1e-200, 1e-6, 0.3])
def test_folded_normal_variables_next_to_zero(c: float, z: float) -> None:
    with mp.workdps(60):
        x, d = mp.mpf(z), mp.mpf(c)
        density = 2 * mp.npdf(d) * x if c > 1e3 or z < 1e-3 else mp.ncdf(x - d) - mp.ncdf(-x - d)
        expected = float(mp.log(density))
    if c < 1e3:
        assert stats.foldnorm.logcdf(z, c) == pytest.approx(expected, rel=1e-10)
    assert np.isfinite(funcgrad.grad(stats.foldnorm.logcdf, argnums=1)(z, c))


@pytest.mark.parametrize("a", [1e-3, 1.0, 1e4, 1e8])
@pytest.mark.parametrize("z", [-1e6, -2.0, 0.0, 0.4, 1e6])
def test_densities_of_normal_inverse_gaussian_variables(a: float, z: float) -> None:
    b = 0.6 * a
    with mp.workdps(50):
        p, q, x = mp.mpf(a), mp.mpf(b), mp.mpf(z)
        r = mp.sqrt(1 + x * x)
        expected = mp.log(p * mp.besselk(1, p * r) / (mp.pi * r)) + mp.sqrt(p * p - q * q) + q * x
    found = stats.norminvgauss.logpdf(z, a, b)
    assert found == pytest.approx(float(expected), rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("shapes", [(5.0, 2.0, 3.0), (1e6, 1e8, 2e8), (3.0, 1e10, 1e12)])
@pytest.mark.parametrize("k", [0.0, 7.0, 2e6])
def test_beta_negative_binomial_counts(shapes: tuple[float, ...], k: float) -> None:
    """Large shapes, too, where differences of logarithms of beta functions have no digits."""
    with mp.workdps(60):
        n, a, b = map(mp.mpf, shapes)

        def log_beta(x, y):
            return mp.loggamma(x) + mp.loggamma(y) - mp.loggamma(x + y)

        expected = (
            log_beta(a + n, b + k) - log_beta(a, b) - log_beta(n, mp.mpf(k) + 1) - mp.log(n + k)
        )
    found = stats.betanbinom.logpmf(k, *shapes)
    assert found == pytest.approx(float(expected), rel=1e-9, abs=1e-9)


def test_sums_of_beta_negative_binomial_counts() -> None:
    k = np.arange(20000.0)
    p = stats.betanbinom.pmf(k, 3.0, 6.5, 2.0)
    assert p.sum() == pytest.approx(1.0, rel=1e-10)
    assert (k * p).sum() == pytest.approx(stats.betanbinom.mean(3.0, 6.5, 2.0), rel=1e-8)
    assert stats.betanbinom.mean(3.0, 0.9, 2.0) == stats.betanbinom.var(3.0, 1.9, 2.0) == np.inf


def test_moments_that_are_infinite() -> None:
    assert stats.crystalball.mean(1.0, 1.5) == -np.inf and stats.crystalball.var(1.0, 2.5) == np.inf
    assert stats.foldcauchy.mean(1.0) == np.inf
