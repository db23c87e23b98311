"""Statistics within limits, unbiased cumulants and entropies by spacings, against SciPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import funcgrad
from funcgrad.errors import ArgumentError, ShapeError
from funcgrad.scipy import stats
from funcgrad.testing import check_all

theirs = pytest.importorskip("scipy.stats")
CHECKS = ["types", "transpose", "numerical", "jit", "vmap", "second order"]
LIMITS = [None, (None, 1.0), (-0.5, None), (-0.5, 1.0)]


@pytest.mark.parametrize("name", ["tmean", "tvar", "tstd", "tsem"])
@given(st.integers(0, 10**6), st.sampled_from(LIMITS), st.booleans(), st.sampled_from([0, 1, None]))
def test_within_limits(name: str, seed: int, limits: Any, closed: bool, axis: Any) -> None:
    x = np.round(np.random.default_rng(seed).normal(size=(9, 8)), 1)
    options = {"limits": limits, "inclusive": (closed, True), "axis": axis}
    found, expected = (getattr(m, name)(x, **options) for m in (stats, theirs))
    assert np.shape(found) == np.shape(expected)
    # SciPy has 0 for what is too little
    few = ~np.isfinite(found)
    np.testing.assert_allclose(found[~few], np.asarray(expected)[~few], rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("name", ["tmean", "tvar", "tstd", "tsem"])
def test_derivatives_within_limits(name: str) -> None:
    x = np.random.default_rng(0).normal(size=(5, 3))
    f = getattr(stats, name)
    report = check_all(lambda x: f(x, (-1.0, 1.0), axis=0), (x,), only=CHECKS)
    assert not report.failures, str(report)
    assert np.isnan(f([1.0, 2.0], (5.0, 6.0)))
    assert np.isnan(f([1.0, np.nan, 2.0], (0.0, 6.0)))
    assert f(x, axis=0, keepdims=True).shape == (1, 3)
    assert f(x.astype(np.float32), (-1.0, 1.0)).dtype == np.float32


@pytest.mark.parametrize("name", ["tmean", "tvar", "tstd", "tsem"])
def test_infinities_beyond_the_limits_have_no_influence(name: str) -> None:
    x = np.array([1.0, 2.0, 4.0, np.inf, -np.inf])
    found, slopes = funcgrad.value_and_grad(getattr(stats, name))(x, (0.0, 9.0))
    assert found == getattr(stats, name)(x[:3])
    assert slopes.tolist() == [*funcgrad.grad(getattr(stats, name))(x[:3]), 0.0, 0.0]


@given(st.integers(0, 10**6), st.integers(1, 4), st.sampled_from([0, 1, None]))
def test_cumulants(seed: int, n: int, axis: Any) -> None:
    x = np.random.default_rng(seed).normal(size=(5, 6))
    found, expected = (m.kstat(x, n, axis=axis) for m in (stats, theirs))
    np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("method", ["vasicek", "van es", "ebrahimi", "correa", "auto"])
@pytest.mark.parametrize("n", [7, 20])
def test_entropies(method: str, n: int) -> None:
    x = np.random.default_rng(n).normal(size=(2, n))
    for options in ({}, {"window_length": 2}, {"base": 2}):
        found, expected = (
            m.differential_entropy(x, axis=1, method=method, **options) for m in (stats, theirs)
        )
        np.testing.assert_allclose(found, expected, rtol=1e-10)
    assert stats.differential_entropy(x.astype(np.float32), axis=1, method=method).dtype == "f4"
    report = check_all(
        lambda x: stats.differential_entropy(x, axis=1, method=method), (x[:, :7],), only=CHECKS
    )
    assert not report.failures, str(report)


def test_refused() -> None:
    x = np.arange(6.0)
    report = check_all(lambda x: stats.kstat(x, 4), (x**2,), only=CHECKS)
    assert not report.failures, str(report)
    for options in ({"method": "no"}, {"window_length": 3}, {"base": -1.0}):
        with pytest.raises(ArgumentError, match="need one of"):
            stats.differential_entropy(x, **options)
    with pytest.raises(ArgumentError, match="need 1 to 4"):
        stats.kstat(x, 5)
    with pytest.raises(ShapeError, match="need 4"):
        stats.kstat(x[:3], 4)
