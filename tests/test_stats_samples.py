"""What describes a sample in `funcgrad.scipy.stats`, against SciPy and differences."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import funcgrad
from funcgrad.errors import ArgumentError, ShapeError
from funcgrad.scipy import stats
from funcgrad.testing import check_all
from funcgrad.testing.strategies import arrays, floats, positive

theirs = pytest.importorskip("scipy.stats")


class Statistic(NamedTuple):
    """A function of a sample, and options that it is called with."""

    name: str
    options: tuple[dict[str, Any], ...] = ({},)
    needs_positive: bool = False


WEIGHTS = np.array([[0.5], [1.0], [2.0], [0.25]])
STATISTICS = [
    Statistic("zscore", ({}, {"ddof": 1})),
    Statistic("sem", ({}, {"ddof": 0})),
    Statistic("skew", ({}, {"bias": False})),
    Statistic("kurtosis", ({}, {"bias": False}, {"fisher": False})),
    Statistic("moment", ({"order": 2}, {"order": 3, "center": 0.5}, {"order": [1, 2, 4]})),
    Statistic("variation", ({}, {"ddof": 1}), True),
    Statistic("gmean", ({}, {"weights": WEIGHTS}), True),
    Statistic("hmean", ({}, {"weights": WEIGHTS}), True),
    Statistic("pmean", ({"p": 2.5}, {"p": 0}, {"p": -1.0, "weights": WEIGHTS}), True),
    Statistic("entropy", ({}, {"base": 2}), True),
]
statistics = pytest.mark.parametrize("statistic", STATISTICS, ids=lambda s: s.name)


def quietly(f: Callable[..., Any], *args: Any, **kwds: Any) -> Any:
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return f(*args, **kwds)


@statistics
@settings(max_examples=settings().max_examples // 2)
@given(data=st.data())
def test_statistics_are_scipys(statistic: Statistic, data: Any) -> None:
    domain = positive() if statistic.needs_positive else floats(-3.0, 3.0)
    a = data.draw(arrays((4, 4), domain=domain))
    for options in statistic.options:
        given = dict(options)
        if "weights" not in given:
            given["axis"] = data.draw(st.sampled_from([0, 1, -1, None]))
        if statistic.name not in ("zscore",):
            given["keepdims"] = data.draw(st.booleans())
        found = quietly(getattr(stats, statistic.name), a, **given)
        expected = quietly(getattr(theirs, statistic.name), a, **given)
        assert np.shape(found) == np.shape(expected)
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)
        single = quietly(getattr(stats, statistic.name), a.astype(np.float32), **given)
        assert single.dtype == np.float32


@statistics
def test_derivatives_of_statistics(statistic: Statistic) -> None:
    a = np.array([[0.3, 2.0, 1.1], [1.4, 0.2, 0.5], [0.9, 1.7, 2.2], [1.2, 0.6, 0.4]])
    for options in statistic.options:
        f = getattr(stats, statistic.name)
        report = check_all(
            lambda a, f=f, options=options: f(a, **options),
            (a,),
            only=["types", "transpose", "numerical", "jit", "second order"],
        )
        assert all(o.status == "passed" for o in report.outcomes), str(report)


@given(data=st.data())
def test_divergence_is_scipys(data: Any) -> None:
    p = data.draw(arrays((4, 3), domain=positive()))
    q = data.draw(arrays((4, 1), domain=positive()))
    np.testing.assert_allclose(stats.entropy(p, q), theirs.entropy(p, q), rtol=1e-9, atol=1e-12)
    report = check_all(lambda p, q: stats.entropy(p, q, base=3), (p, q), only=["numerical"])
    assert report.ok, str(report)


def test_edges_of_statistics() -> None:
    same = np.full(3, 2.0)
    for name in ("zscore", "skew", "kurtosis"):
        assert np.isnan(getattr(stats, name)(same)).all()
    mixed = np.array([1.0, 0.0, 2.0])
    assert stats.hmean(mixed) == 0.0
    assert np.isnan(quietly(stats.hmean, -mixed))
    assert np.isnan(quietly(stats.pmean, -mixed, 2.0))
    np.testing.assert_array_equal(funcgrad.grad(stats.hmean)(mixed), np.zeros(3))
    assert np.isnan(stats.sem(np.array([1.0, nan, 2.0])))


# ---------------------------------------------------------------- ranks

nan = math.nan
VALUES = floats(-2.0, 2.0)


@pytest.mark.parametrize("method", ["average", "min", "max", "dense", "ordinal"])
@given(data=st.data(), axis=st.sampled_from([None, 0, 1, -1]))
def test_ranks_are_scipys(method: str, data: Any, axis: Any) -> None:
    a = np.round(data.draw(arrays((3, 5), domain=VALUES)))
    found, expected = stats.rankdata(a, method, axis=axis), theirs.rankdata(a, method, axis=axis)
    np.testing.assert_array_equal(found, expected)
    assert found.dtype == (np.float64 if method == "average" else np.int64)
    np.testing.assert_array_equal(
        funcgrad.jit(lambda a: stats.rankdata(a, method))(a).ravel(), theirs.rankdata(a, method)
    )
    assert not funcgrad.grad(lambda a: stats.rankdata(a).sum())(a).any()


@given(data=st.data(), axis=st.sampled_from([None, 0, 1, -1]), keepdims=st.booleans())
def test_modes_are_scipys(data: Any, axis: Any, keepdims: bool) -> None:
    a = np.round(data.draw(arrays((3, 5), domain=VALUES)))
    a = np.where(a == 2.0, nan, a)
    found = stats.mode(a, axis=axis)
    expected = theirs.mode(a, axis=axis)
    np.testing.assert_array_equal(found.mode, expected.mode)
    np.testing.assert_array_equal(found.count, expected.count)
    assert stats.mode(a, axis=0, keepdims=keepdims)[0].ndim == 1 + keepdims


def test_nan_among_ranks() -> None:
    a = np.array([[3.0, nan, 1.0], [1.0, 1.0, 2.0]])
    np.testing.assert_array_equal(stats.rankdata(a, axis=1), theirs.rankdata(a, axis=1))
    np.testing.assert_array_equal(stats.rankdata([]), [])


# ---------------------------------------------------------------- densities from samples


@given(data=st.data(), d=st.sampled_from([1, 2]))
def test_estimated_densities_are_scipys(data: Any, d: int) -> None:
    noise = np.array([[0.1, 0.9, -0.3, 0.5, 1.3, -1.0], [1.0, -0.2, 0.4, 0.8, -0.6, 0.0]])[:d]
    sample = data.draw(arrays((d, 6), domain=floats(-1.0, 1.0))) * 0.2 + noise
    points = data.draw(arrays((d, 4), domain=floats(-2.0, 2.0)))
    weights = data.draw(st.sampled_from([None, np.array([1.0, 2.0, 0.5, 1.0, 3.0, 0.1])]))
    how = data.draw(st.sampled_from([None, "scott", "silverman", 0.4, lambda kde: 0.3]))
    sample, points = (sample[0], points[0]) if d == 1 else (sample, points)
    ours, his = (m.gaussian_kde(sample, how, weights) for m in (stats, theirs))
    for method in ("evaluate", "pdf", "logpdf", "__call__"):
        found, expected = getattr(ours, method)(points), getattr(his, method)(points)
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-14)
    np.testing.assert_allclose(ours.covariance, his.covariance, rtol=1e-11)
    np.testing.assert_allclose([ours.factor, ours.neff], [his.factor, his.neff], rtol=1e-12)


def test_derivatives_of_estimated_densities() -> None:
    def f(sample: Any, points: Any, weights: Any, width: Any) -> Any:
        kde = stats.gaussian_kde(sample, width, weights)
        return kde.logpdf(points) + stats.gaussian_kde(sample, weights=weights)(points)

    sample = np.array([[0.1, 0.9, -0.3, 0.5], [1.0, -0.2, 0.4, 0.8]])
    args = (sample, sample[:, :2] + 0.3, WEIGHTS[:, 0], np.array(0.7))
    report = check_all(f, args, only=["types", "transpose", "numerical", "jit", "second order"])
    assert all(o.status == "passed" for o in report.outcomes), str(report)


# ---------------------------------------------------------------- errors


class Refused(NamedTuple):
    call: Callable[[], Any]
    error: type[Exception]
    message: str


X = np.array([1.0, 2.0, 4.0])
REFUSED = [
    Refused(lambda: stats.zscore(X, nan_policy="omit"), ArgumentError, "nan_policy='omit'"),
    Refused(lambda: stats.zscore(X * 1j), ArgumentError, "found complex ones"),
    Refused(lambda: stats.sem(X, axis=1), ShapeError, "axis 1 does not exist"),
    Refused(lambda: stats.moment(X, 1.5), ArgumentError, "order=1.5"),
    Refused(lambda: stats.entropy(X, base=-1), ArgumentError, "base=-1"),
    Refused(
        lambda: funcgrad.grad(lambda p: stats.pmean(X, p))(2.0), ArgumentError, "need a number"
    ),
    Refused(lambda: stats.rankdata(X, "best"), ArgumentError, "method='best'"),
    Refused(lambda: stats.rankdata(X * nan, "min"), ArgumentError, "nan has no rank"),
    Refused(lambda: stats.gaussian_kde([1.0]), ArgumentError, "two points"),
    Refused(lambda: stats.gaussian_kde(X, "wide"), ArgumentError, "bw_method='wide'"),
    Refused(lambda: stats.gaussian_kde(X, weights=[1.0]), ShapeError, r"need \[3\]"),
    Refused(lambda: stats.gaussian_kde([X, X * 0]), np.linalg.LinAlgError, "singular"),
    Refused(lambda: stats.gaussian_kde(X)(np.ones((2, 2))), ShapeError, "need 1 rows"),
    Refused(lambda: stats.gaussian_kde(X).resample(3), ArgumentError, "not offered"),
]


@pytest.mark.parametrize("refused", REFUSED, ids=lambda r: r.message)
def test_what_does_not_fit_is_refused(refused: Refused) -> None:
    with pytest.raises(refused.error, match=refused.message):
        refused.call()


def test_samples_without_a_spread() -> None:
    """The mean of equal numbers is rounded; SciPy and we call what is left over no spread."""
    with np.errstate(all="ignore"):
        for x in ([-0.087] * 3, [0.1] * 7):
            assert np.isnan(stats.zscore(x)).all()
        found = stats.ttest_ind(np.zeros(3), np.ones(3), equal_var=False)
    assert float(found.pvalue) == 0.0 and float(found.df) == 1.0


def test_means_that_are_arrays() -> None:
    x, means = np.random.default_rng(0).normal(size=(5, 3, 2)), np.ones((1, 3, 2))
    found, wanted = (m.ttest_1samp(x, means, axis=0) for m in (stats, theirs))
    np.testing.assert_allclose(found.statistic, wanted.statistic)
    with pytest.raises(ShapeError, match="popmean"):
        stats.ttest_1samp(x, np.ones((5, 1, 1)), axis=0)
