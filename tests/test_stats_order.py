"""Tests by ranks, of shapes, spreads and counts, against SciPy; derivatives of what is smooth."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import funcgrad
import funcgrad.numpy as fnp
from funcgrad.errors import ArgumentError, ConcretizationError, ShapeError
from funcgrad.scipy import stats
from funcgrad.testing import check_all

theirs = pytest.importorskip("scipy.stats")
CHECKS = ["types", "transpose", "numerical", "jit", "vmap", "second order"]
SIDES = ["two-sided", "less", "greater"]


def quietly(f: Callable[..., Any], *args: Any, **kwds: Any) -> Any:
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return f(*args, **kwds)


def same(name: str, *args: Any, **kwds: Any) -> None:
    """The statistic and the p-value, those that both can have, are SciPy's."""
    found = quietly(getattr(stats, name), *args, **kwds)
    agree(found, quietly(getattr(theirs, name), *args, **kwds), args)


def agree(found: Any, expected: Any, samples: tuple[Any, ...] = ()) -> None:
    for field in ("statistic", "pvalue", "statistic_location", "statistic_sign", "dof"):
        if hasattr(expected, field):
            a, b = quietly(lambda f=field: getattr(found, f)), getattr(expected, field)  # type: ignore[misc]
            if field == "statistic_location" and samples:  # of places that are equally far, any
                x, y, *_ = samples
                a, b = (np.abs(np.mean(x <= at) - np.mean(y <= at)) for at in (a, b))
            np.testing.assert_allclose(a, b, rtol=1e-8, atol=1e-11, err_msg=field)


def sample(seed: int, *shape: int, ties: bool = False) -> np.ndarray:
    x = np.random.default_rng(seed).normal(size=shape)
    return np.round(2 * x) if ties else x


seeds, flags, sides = st.integers(0, 10**6), st.booleans(), st.sampled_from(SIDES)


@settings(max_examples=30)
@given(seeds, flags, sides, st.integers(2, 30), st.integers(2, 30))
def test_order(seed: int, ties: bool, side: str, n: int, m: int) -> None:
    x, y = sample(seed, n, ties=ties), sample(seed + 1, m, ties=ties)
    for name in ("ks_2samp", "kstest", "mannwhitneyu", "ranksums"):
        same(name, x, y, alternative=side)
    same("mannwhitneyu", x, y, False, side, method="asymptotic")
    for variant in "bc":
        same("kendalltau", x[: min(n, m)], y[: min(n, m)], variant=variant, alternative=side)
    same("kruskal", x, y, sample(seed + 2, 5, ties=ties))
    for zeros in ("wilcox", "pratt", "zsplit"):
        same("wilcoxon", x, zero_method=zeros, alternative=side, method="asymptotic")
    same("wilcoxon", x[: min(n, m)], y[: min(n, m)], alternative=side, correction=True)
    for method in ("auto", "approx", "asymp"):
        one = quietly(stats.kstest, x, "norm", (0.2, 1.5), alternative=side, method=method)
        frozen = theirs.norm(0.2, 1.5).cdf  # a name with parameters raises in SciPy 1.18
        agree(one, quietly(theirs.kstest, x, frozen, alternative=side, method=method))
    rows = sample(seed, 4, n, ties=ties)
    same("friedmanchisquare", *rows)


def test_orders_along_axes() -> None:
    x, y = sample(0, 3, 9, 2), sample(1, 3, 7, 2, ties=True)
    for name in ("mannwhitneyu", "ranksums", "kruskal"):
        same(name, x, y, axis=1)
    for axis in (0, 1, None):
        same("wilcoxon", x[0], axis=axis)
    same("friedmanchisquare", x, x[::-1], sample(2, 3, 9, 2), axis=1)
    for axis, side in ((1, "two-sided"), (1, "greater"), (None, "less")):
        options = {"axis": axis, "alternative": side}
        found = stats.ks_1samp(x, stats.norm.cdf, **options)
        expected = theirs.ks_1samp(x, theirs.norm.cdf, **options)
        np.testing.assert_allclose(found.statistic, expected.statistic)
        np.testing.assert_allclose(found.pvalue, expected.pvalue)
        np.testing.assert_array_equal(found.statistic_sign, expected.statistic_sign)
        assert np.shape(found.statistic_sign) == np.shape(expected.statistic_sign)


def test_many_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    x, y = sample(0, 90), sample(1, 90)
    whole = stats.kendalltau(x, y).statistic
    monkeypatch.setattr("funcgrad.scipy.stats.ordered._PAIRS", 700)
    assert stats.kendalltau(x, y).statistic == pytest.approx(whole, abs=1e-15)


@pytest.mark.parametrize("variant", ["b", "c"])
def test_order_of_infinities(variant: str) -> None:
    x = np.array([np.inf, 0.0, -4.0, 0.0, np.inf, -np.inf], np.float32)
    same("kendalltau", x, [1.7, 0.4, 1.1, -0.8, 0.1, 0.6], variant=variant)
    assert stats.kendalltau(x, x).statistic.dtype == np.float64


def test_nan_and_ends() -> None:
    x = np.array([1.0, np.nan, 2.0])
    assert np.isnan(stats.ks_2samp(x, [1.0, 2.0]).statistic)
    assert np.isnan(stats.kendalltau(x, x).statistic)
    for variant in "bc":
        assert np.isnan(stats.kendalltau([1.0, 1.0], [1.0, 2.0], variant=variant).statistic)
    assert np.isnan(stats.kruskal(x, x).statistic)
    with np.errstate(invalid="ignore"), pytest.warns(RuntimeWarning, match="Degrees of freedom"):
        assert np.isnan(stats.bartlett([1.0], [2.0]).statistic)
    with pytest.raises(ShapeError, match="need a row"):
        stats.ks_2samp(np.ones((2, 2)), x)
    with pytest.raises(ShapeError, match="the rows have 3 and 2"):
        stats.kendalltau(x, x[:2])
    with pytest.raises(ArgumentError, match="no distribution 'nothing'"):
        stats.kstest(x, "nothing")
    with pytest.raises(ArgumentError, match="need a sample"):
        stats.kstest("norm", "norm")
    with pytest.raises(ArgumentError, match="zero_method='no'"):
        stats.wilcoxon(x, zero_method="no")
    for name, count in (("kruskal", 1), ("friedmanchisquare", 2), ("bartlett", 1), ("levene", 1)):
        with pytest.raises(ArgumentError, match="need t"):
            getattr(stats, name)(*[[1.0, 2.0]] * count)


def test_orders_in_programs() -> None:
    x, y = sample(0, 4, 9), sample(1, 4, 9)
    for name in ("ks_2samp", "kendalltau", "mannwhitneyu", "wilcoxon", "kruskal"):
        f = lambda x, y, name=name: getattr(stats, name)(x, y).statistic  # noqa: E731
        expected = [f(a, b) for a, b in zip(x, y, strict=True)]
        np.testing.assert_allclose(funcgrad.vmap(f)(x, y), expected, rtol=1e-12)
        np.testing.assert_allclose(funcgrad.jit(f)(x[0], y[0]), expected[0], rtol=1e-12)
        assert not np.any(funcgrad.grad(f)(x[0], y[0]))
    with pytest.raises(ConcretizationError, match="for its p-value"):
        funcgrad.jit(lambda x: stats.ks_2samp(x, y[0]).pvalue)(x[0])


def test_the_distance_from_a_distribution_has_derivatives() -> None:
    x = sample(3, 12)
    report = check_all(
        lambda x, m, s: stats.ks_1samp(x, stats.norm(m, s).cdf).statistic,
        (x, np.float64(0.3), np.float64(1.2)),
        only=CHECKS,
    )
    assert not report.failures, str(report)
    for transform in (funcgrad.grad, funcgrad.jit):
        with pytest.raises(ArgumentError, match="without its derivative"):
            transform(lambda m: stats.kstest(x, "norm", (m,)).pvalue)(0.3)


SMOOTH: list[tuple[str, dict[str, Any]]] = [
    ("skewtest", {}),
    ("kurtosistest", {}),
    ("normaltest", {}),
    ("skewtest", {"alternative": "less"}),
    ("kurtosistest", {"alternative": "greater"}),
]


@pytest.mark.parametrize(("name", "options"), SMOOTH)
def test_normality(name: str, options: dict[str, Any]) -> None:
    x = sample(4, 3, 11, 2) ** 2 + sample(5, 3, 11, 2)
    for axis in (1, None):
        same(name, x, axis=axis, **options)
    assert getattr(stats, name)(x, 1, keepdims=True).statistic.shape == (3, 1, 2)
    report = check_all(
        lambda x: fnp.stack(list(getattr(stats, name)(x, **options))), (x[0],), only=CHECKS
    )
    assert not report.failures, str(report)
    with pytest.raises(ShapeError, match="observations; need"):
        getattr(stats, name)([1.0, 2.0, 4.0])


SPREADS: list[tuple[str, dict[str, Any]]] = [
    ("bartlett", {}),
    *[(n, {"center": c}) for n in ("levene", "fligner") for c in ("mean", "median", "trimmed")],
    ("levene", {"center": "trimmed", "proportiontocut": 0.2}),
]


@pytest.mark.parametrize(("name", "options"), SPREADS)
def test_spreads(name: str, options: dict[str, Any]) -> None:
    x, y, z = sample(4, 2, 11), 2 * sample(5, 2, 8), sample(6, 2, 6)
    same(name, x, y, z, axis=1, **options)
    same(name, x[0], y[1], **options)
    report = check_all(
        lambda x, y: fnp.stack(list(getattr(stats, name)(x, y, axis=1, **options))),
        (x, y),
        only=CHECKS,
    )
    assert not report.failures, str(report)
    if options:
        with pytest.raises(ArgumentError, match="center='no'"):
            getattr(stats, name)(x, y, center="no")


POWERS = [
    None, "pearson", "log-likelihood", "freeman-tukey", "mod-log-likelihood", "neyman",
    "cressie-read", 0.3,
]  # fmt: skip


@pytest.mark.parametrize("power", POWERS)
def test_counts(power: Any) -> None:
    seen = np.array([[16.0, 18.0, 16.0, 14.0], [12.0, 12.0, 20.0, 7.0]])
    expected = np.flip(seen, 1) / seen.sum(1, keepdims=True) * seen.sum(1, keepdims=True)
    same("power_divergence", seen, axis=1, lambda_=power)
    same("power_divergence", seen, expected, 1, 1, power)
    for table in (seen, seen[:, :2], seen[0], seen.reshape(2, 2, 2)):
        for correction in (True, False):
            same("chi2_contingency", table, correction, power)
    np.testing.assert_allclose(
        stats.chi2_contingency(seen).expected_freq, theirs.chi2_contingency(seen).expected_freq
    )
    for f in (
        lambda s: stats.power_divergence(s, lambda_=power, axis=1).statistic,
        lambda s: fnp.stack(list(stats.chi2_contingency(s, False, power)[:2])),
    ):
        report = check_all(f, (seen,), only=CHECKS)
        assert not report.failures, str(report)


def test_counts_that_are_none() -> None:
    for table, cause in (
        ([[1.0, -1.0], [1.0, 2.0]], "none of them negative"),
        ([[0.0, 0.0], [1.0, 2.0]], "expected to be 0"),
        ([], "need a table"),
    ):
        with pytest.raises(ArgumentError, match=cause):
            stats.chi2_contingency(table)
    with pytest.raises(ArgumentError, match="need a constant"):
        funcgrad.grad(lambda p: stats.power_divergence([1.0, 2.0], lambda_=p).statistic)(0.5)
    with pytest.raises(ArgumentError, match="lambda_='no'"):
        stats.power_divergence([1.0, 2.0], lambda_="no")
    with pytest.raises(ArgumentError, match="power_divergence: the sums"):
        stats.power_divergence([1.0, 2.0], [1.0, 3.0])


@pytest.mark.parametrize("method", ["fisher", "pearson", "mudholkar_george", "tippett", "stouffer"])
def test_pvalues_together(method: str) -> None:
    p = np.array([[0.3, 0.02, 0.7], [0.4, 0.1, 0.05]])
    weights = np.array([1.0, 2.0, 0.5])
    for axis in (0, 1):
        same("combine_pvalues", p, method, axis=axis)
    if method == "stouffer":
        same("combine_pvalues", p, method, weights, axis=1)
    report = check_all(
        lambda p: fnp.stack(list(stats.combine_pvalues(p, method, axis=1))), (p,), only=CHECKS
    )
    assert not report.failures, str(report)
    with pytest.raises(ArgumentError, match="method='no'"):
        stats.combine_pvalues(p, "no")


def test_results_are_indexed_as_tuples() -> None:
    x, y = np.array([1.0, 3.0, 2.0, 5.0]), np.array([2.0, 1.0, 4.0, 3.0])
    for name, args in (
        ("kendalltau", (x, y)),
        ("ttest_ind", (x, y)),
        ("linregress", (x, y)),
        ("mannwhitneyu", (x, y)),
    ):
        expected, found = getattr(theirs, name)(*args), getattr(stats, name)(*args)
        assert len(found) == len(expected)
        np.testing.assert_allclose([found[i] for i in range(len(found))], expected[:], rtol=1e-10)
        np.testing.assert_allclose(found[-1], expected[-1], rtol=1e-10)
        np.testing.assert_allclose(found[:2], expected[:2], rtol=1e-10)
    # The p-value of traced samples is refused; the statistic is had by number, too.
    gradient = funcgrad.grad(lambda x: stats.mannwhitneyu(x, y)[0] + 0.0 * np.sum(x))(x)
    assert gradient.tolist() == [0.0] * 4
