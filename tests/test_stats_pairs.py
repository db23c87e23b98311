"""Samples compared, correlated and described by `funcgrad.scipy.stats`, against SciPy."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import funcgrad
import funcgrad.numpy as fnp
from funcgrad.errors import ArgumentError, FuncgradError, ShapeError
from funcgrad.scipy import optimize, stats
from funcgrad.testing import check_all

theirs = pytest.importorskip("scipy.stats")

CHECKS = ["types", "transpose", "numerical", "jit", "vmap", "second order"]
SIDES = ["two-sided", "less", "greater"]

# What is called with the module, two matrices (x positive) and an axis.
CALLS: dict[str, Callable[[Any, Any, Any, int], Any]] = {
    "ttest_1samp": lambda m, x, y, axis: m.ttest_1samp(x, 1.1, axis=axis),
    "ttest_1samp less": lambda m, x, y, axis: m.ttest_1samp(x, 1.1, axis=axis, alternative="less"),
    "ttest_rel": lambda m, x, y, axis: m.ttest_rel(x, y, axis=axis, alternative="greater"),
    "ttest_ind": lambda m, x, y, axis: m.ttest_ind(x, y, axis=axis),
    "welch": lambda m, x, y, axis: m.ttest_ind(x, y, axis=axis, equal_var=False, keepdims=True),
    "from_stats": lambda m, x, y, axis: m.ttest_ind_from_stats(
        x, 1.0 + y * y, 5, y, x, 7, equal_var=axis == 0
    ),
    "f_oneway": lambda m, x, y, axis: m.f_oneway(x, y, x * y, axis=axis),
    "chisquare": lambda m, x, y, axis: m.chisquare(x, axis=axis, ddof=1),
    "chisquare expected": lambda m, x, y, axis: m.chisquare(
        x, 0 * x + x.mean(0), axis=0, sum_check=False
    ),
    "jarque_bera": lambda m, x, y, axis: m.jarque_bera(x, axis=axis),
    "pearsonr": lambda m, x, y, axis: tuple(m.pearsonr(x, y, axis=axis)),
    "pearsonr greater": lambda m, x, y, axis: tuple(
        m.pearsonr(x, y, axis=axis, alternative="greater")
    ),
    "linregress": lambda m, x, y, axis: (
        *m.linregress(x[axis], y[axis]),
        m.linregress(x[axis], y[axis], alternative="less").intercept_stderr,
    ),
    "wasserstein_distance": lambda m, x, y, axis: m.wasserstein_distance(x[0], y[:, 1]),
    "wasserstein weighted": lambda m, x, y, axis: m.wasserstein_distance(x[0], y[0], x[1], x[2]),
    "energy_distance": lambda m, x, y, axis: m.energy_distance(x[0], y[0], None, x[2]),
    "iqr": lambda m, x, y, axis: m.iqr(x, axis, (10, 80), scale="normal", keepdims=True),
    "median_abs_deviation": lambda m, x, y, axis: m.median_abs_deviation(x, axis, scale="normal"),
    "trim_mean": lambda m, x, y, axis: m.trim_mean(x, 0.3, axis),
    "gstd": lambda m, x, y, axis: m.gstd(x, axis, ddof=0),
    "zmap": lambda m, x, y, axis: m.zmap(x, y, axis, 1),
    "boxcox": lambda m, x, y, axis: m.boxcox(x[0], 0.3),
    "boxcox_llf": lambda m, x, y, axis: m.boxcox_llf(0.3, x, axis=axis),
    "yeojohnson": lambda m, x, y, axis: m.yeojohnson(y.reshape(-1), 1.3),
    "yeojohnson_llf": lambda m, x, y, axis: m.yeojohnson_llf(1.3, y, axis=axis),
    "circmean": lambda m, x, y, axis: m.circmean(y, 2.5, -1.5, axis),
    "circvar": lambda m, x, y, axis: m.circvar(y, 3, axis=axis, keepdims=True),
    "circstd": lambda m, x, y, axis: m.circstd(y, 3, axis=axis),
    "circstd normalized": lambda m, x, y, axis: m.circstd(y, 3, axis=axis, normalize=True),
    "describe": lambda m, x, y, axis: np.stack([*(d := m.describe(x, axis))[1], *d[2:]]),
}
calls = pytest.mark.parametrize("name", CALLS)


def quietly(f: Callable[..., Any], *args: Any) -> Any:
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return f(*args)


def flat(found: Any) -> Any:
    found = found if hasattr(found, "dtype") or np.isscalar(found) else tuple(found)
    return fnp.concatenate([fnp.ravel(v) for v in found]) if isinstance(found, tuple) else found


@calls
@given(seed=st.integers(0, 999), axis=st.sampled_from([0, 1]))
def test_values_are_scipys(name: str, seed: int, axis: int) -> None:
    rng = np.random.default_rng(seed)
    x, y = rng.gamma(2.0, size=(4, 4)), rng.normal(size=(4, 4))
    found, expected = (flat(quietly(CALLS[name], m, x, y, axis)) for m in (stats, theirs))
    assert np.shape(found) == np.shape(expected)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)
    single = flat(quietly(CALLS[name], stats, x.astype("f"), y.astype("f"), axis))
    assert single.dtype == np.float32


@calls
def test_derivatives(name: str) -> None:
    rng = np.random.default_rng(3)
    x, y = rng.gamma(2.0, size=(4, 4)), rng.normal(size=(4, 4))

    def f(x: Any, y: Any) -> Any:
        return flat(CALLS[name](stats, x, y, 1))

    report = check_all(f, (x, y), only=CHECKS)
    assert all(o.status == "passed" for o in report.outcomes), str(report)


@given(seed=st.integers(0, 99), side=st.sampled_from(SIDES))
def test_ranks_are_correlated_as_scipys(seed: int, side: str) -> None:
    x, y = np.random.default_rng(seed).integers(0, 6, (2, 9))
    a, b = (
        quietly(lambda m: tuple(m.spearmanr(x, y, alternative=side)), m) for m in (stats, theirs)
    )
    np.testing.assert_allclose(a, b, rtol=1e-9)
    assert not funcgrad.grad(lambda v: stats.spearmanr(v, y).statistic)(x * 1.0).any()


def test_two_points_are_correlated() -> None:
    found, expected = (m.pearsonr([1.0, 2.0], [3.0, 1.0]) for m in (stats, theirs))
    assert tuple(expected) == (-1.0, 1.0)
    np.testing.assert_allclose(tuple(found), (-1.0, 1.0), rtol=1e-15)
    line = stats.linregress([0.0, 1.0, 2.0], [1.0, 3.0, 5.0])
    np.testing.assert_allclose(
        [line.slope, line.intercept, line.stderr], [2.0, 1.0, 0.0], atol=1e-9
    )


def test_the_best_transform_is_scipys() -> None:
    x = np.random.default_rng(0).gamma(2.0, size=30)
    best = optimize.minimize_scalar(lambda v: -stats.boxcox_llf(v, x), bracket=(-2.0, 2.0)).x
    np.testing.assert_allclose(best, theirs.boxcox(x)[1], rtol=1e-6)
    best = optimize.minimize_scalar(lambda v: -stats.yeojohnson_llf(v, x), bracket=(-2.0, 2.0)).x
    np.testing.assert_allclose(best, theirs.yeojohnson(x)[1], rtol=1e-6)


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: stats.pearsonr([1.0], [2.0]), "need two"),
        (lambda: stats.pearsonr([1.0, 2.0], [2.0]), "of the same"),
        (lambda: stats.pearsonr([1.0, 2.0], [2.0, 1.0], alternative="more"), "'more'"),
        (lambda: stats.pearsonr([1.0, 2.0], [2.0, 1.0], method=1), "method=1"),
        (lambda: stats.spearmanr(np.ones((2, 2)), np.ones((2, 2))), "two rows"),
        (lambda: stats.spearmanr(np.ones((2, 2))), "two rows"),
        (lambda: stats.linregress([1.0, 1.0, 1.0], [1.0, 2.0, 3.0]), "all x"),
        (lambda: stats.linregress([1.0, 2.0], [1.0, 2.0]), "at least 3"),
        (lambda: stats.ttest_ind([1.0], [2.0], trim=0.1), "trim="),
        (lambda: stats.f_oneway([1.0, 2.0]), "two samples"),
        (lambda: stats.chisquare([1.0, 2.0], [1.0, 3.0]), "sums"),
        (lambda: stats.jarque_bera([]), "no observations"),
        (lambda: stats.describe([]), "no elements"),
        (lambda: stats.iqr([1.0, 2.0], scale="odd"), "'odd'"),
        (lambda: stats.trim_mean([1.0, 2.0], 0.5), "below 0.5"),
        (lambda: stats.boxcox([1.0, 2.0]), "boxcox_llf"),
        (lambda: stats.wasserstein_distance([], [1.0]), "not empty"),
        (lambda: stats.wasserstein_distance([1.0], [1.0], [-1.0]), "not negative"),
        (lambda: stats.wasserstein_distance([1.0], [1.0], [1.0, 2.0]), "weights of shape"),
        (lambda: stats.zmap([1.0], [1j]), "real"),
    ],
)  # fmt: skip
def test_errors(call: Any, says: str) -> None:
    with pytest.raises(FuncgradError, match=says):
        call()


def test_correlations_that_do_not_exist() -> None:
    """The mean of equal numbers is rounded, and what is left over has no meaning."""
    for x, y in (([0.667] * 3, [0.123, 0.456, 0.789]), ([0.1, 0.2, 0.4], [1 / 3] * 3)):
        assert np.isnan(stats.pearsonr(x, y).statistic)
        assert np.isnan(stats.pearsonr(x, y).pvalue)
    with pytest.raises(ArgumentError, match="nan_policy"):
        stats.spearmanr([1.0, np.nan], [1.0, 2.0], nan_policy="raise")
    with pytest.raises(ShapeError, match="axis"):
        stats.spearmanr([1.0, 3.0, 2.0], [1.0, 2.0, 3.0], axis=2)


@pytest.mark.parametrize("lmb", [-8.0, -0.5, 0.0, 40.0])
def test_likelihoods_of_powers_that_vanish(lmb: float) -> None:
    """Powers of numbers far from 1 have no variance that is a number; their ratio has."""
    x = np.array([198.0, 233.0, 233.0, 392.0])
    np.testing.assert_allclose(stats.boxcox_llf(lmb, x), theirs.boxcox_llf(lmb, x), rtol=1e-9)
    report = check_all(stats.boxcox_llf, (lmb, x), only=["types", "transpose", "numerical", "jit"])
    assert not report.failures, str(report)
