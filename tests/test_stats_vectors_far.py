"""Distributions of vectors in `funcgrad.scipy.stats`: large parameters, and single precision."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import funcgrad
from funcgrad.errors import ShapeError
from funcgrad.scipy import stats

theirs = pytest.importorskip("scipy.stats")

SPREAD = np.array([[2.0, 0.3, -0.4], [0.3, 1.0, 0.1], [-0.4, 0.1, 1.5]])
X = np.array([0.3, -1.2, 2.0])


@pytest.mark.parametrize("df", [1e3, 1e7, 1e11, 1e15])
def test_many_degrees_of_freedom(df: float) -> None:
    """Of the logarithms of gamma functions of 1e14 nothing was left but 0.06 of rounding."""
    mp = pytest.importorskip("mpmath")
    half, n, square = mp.mpf(df) / 2, 3, mp.mpf(float(X @ X))
    with mp.workdps(60):
        peak = mp.loggamma(half + 1.5) - mp.loggamma(half) - 1.5 * mp.log(2 * half * mp.pi)
        density = peak - (half + 1.5) * mp.log1p(square / (2 * half))
        entropy = (half + 1.5) * (mp.digamma(half + 1.5) - mp.digamma(half)) - peak
    place = np.zeros(n), np.eye(n), df
    np.testing.assert_allclose(stats.multivariate_t.logpdf(X, *place), float(density), rtol=1e-11)
    np.testing.assert_allclose(stats.multivariate_t.entropy(*place), float(entropy), rtol=1e-11)


def value_and_slopes(f: Callable[..., Any], args: list[Any]) -> list[Any]:
    return [f(*args), *funcgrad.grad(f, tuple(range(len(args))))(*args)]


SINGLE: dict[str, tuple[Callable[..., Any], list[Any]]] = {
    "t": (stats.multivariate_t.logpdf, [X, 0 * X, SPREAD, 1e8]),
    "t, far": (stats.multivariate_t.logpdf, [1e15 * X, 0 * X, SPREAD, 0.7]),
    "t, entropy": (stats.multivariate_t.entropy, [0 * X, SPREAD, 5e3]),
    "wishart": (stats.wishart.logpdf, [1e5 * SPREAD, 1e5, SPREAD]),
    "wishart, entropy": (stats.wishart.entropy, [1e5, SPREAD]),
    "invwishart": (stats.invwishart.logpdf, [1e-5 * SPREAD, 1e5, SPREAD]),
    "counts": (
        lambda alpha: stats.dirichlet_multinomial.logpmf([3, 4, 5], alpha, 12),
        [np.array([1e6, 2e6, 3e6])],
    ),
}


@pytest.mark.parametrize("name", SINGLE)
def test_single_precision(name: str) -> None:
    f, given = SINGLE[name]
    single = [np.asarray(x, np.float32) for x in given]
    expected = value_and_slopes(f, [x.astype(np.float64) for x in single])
    for one, other in zip(value_and_slopes(f, single), expected, strict=True):
        if name != "counts":
            assert one.dtype == np.float32
        np.testing.assert_allclose(one, other, rtol=3e-7, atol=1e-7 * np.abs(other).max())


def test_numbers_are_double() -> None:
    for found in (stats.wishart.logpdf(2.0, 3.0, 1.0), stats.multivariate_t.pdf(0, df=1)):
        assert found.dtype == np.float64


# ---------------------------------------------------------------- Dirichlet's multinomial

COUNTS, ALPHA = np.array([[3, 4, 5], [0, 12, 0], [1, 1, 1]]), np.array([1.5, 2.0, 0.3])


def test_counts_are_scipys() -> None:
    ours, his = stats.dirichlet_multinomial, theirs.dirichlet_multinomial
    for method in ("logpmf", "pmf"):
        found = getattr(ours, method)(COUNTS, ALPHA, [12, 12, 12])
        np.testing.assert_allclose(found, getattr(his, method)(COUNTS, ALPHA, 12), rtol=1e-12)
    for method in ("mean", "var", "cov"):
        found = getattr(ours(ALPHA, 12), method)()
        np.testing.assert_allclose(found, getattr(his(ALPHA, 12), method)(), rtol=1e-12)
    assert ours.logpmf([0, 0, 0], ALPHA, 0) == 0.0
    assert np.isneginf(ours.logpmf([0.5, 1.5, 1.0], ALPHA, 3))
    assert np.isnan(ours.logpmf([1, 1, 1], -ALPHA, 3))
    with pytest.raises(ShapeError, match="classes"):
        ours.logpmf([1, 2], ALPHA, 3)


@pytest.mark.parametrize("size", [1e-15, 1e-3, 1.0, 1e4, 1e9])
def test_slopes_of_counts_are_sums(size: float) -> None:
    """Gamma functions of a whole number apart are products."""
    alpha, x, n = size * ALPHA, COUNTS[0], 12
    rise = np.array([np.sum(1 / (a + np.arange(k))) for a, k in zip(alpha, x, strict=True)])
    expected = rise - np.sum(1 / (alpha.sum() + np.arange(n)))
    slope = funcgrad.grad(lambda a: stats.dirichlet_multinomial.logpmf(x, a, n))(alpha)
    np.testing.assert_allclose(slope, expected, rtol=1e-9, atol=1e-12 * np.abs(rise).max())
