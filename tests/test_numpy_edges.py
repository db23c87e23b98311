"""Rare arguments that NumPy has rules for: infinities, singular matrices, numbers, options."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import funcgrad
import funcgrad.numpy as fnp
from funcgrad.errors import ArgumentError
from funcgrad.testing import check_all

INF, NAN = np.inf, np.nan
CHECKS = ["types", "transpose", "numerical", "jit", "vmap"]


def traced(f: Callable[..., Any], *xs: Any) -> Any:
    """The value of `f` under reverse mode."""
    return funcgrad.vjp(f, *xs)[0]


# ---------------------------------------------------------------- histograms


@given(
    st.integers(0, 10**6),
    st.integers(0, 12),
    st.integers(1, 9),
    st.sampled_from([{}, {"range": (0.1, 0.7)}, {"density": True}]),
    st.sampled_from(["f8", "f4", "i8"]),
)
def test_histograms_without_values(
    seed: int, n: int, bins: int, options: dict[str, Any], dtype: str
) -> None:
    rng = np.random.default_rng(seed)
    x = (rng.integers(0, 9, n) / rng.choice([1, 3, 7, 10])).astype(dtype)
    with np.errstate(all="ignore"):
        wanted = np.histogram(x, bins, **options)
        found = funcgrad.jit(lambda x: fnp.histogram(x, bins, **options))(x)
    for a, b in zip(wanted, found, strict=True):
        assert a.dtype == b.dtype
        np.testing.assert_allclose(a, b, rtol=1e-6 if dtype == "f4" else 1e-15)


def test_edges_and_densities_move() -> None:
    x = np.array([0.3, 1.1, 2.6, 0.9, 3.7, 2.2])
    points = np.stack([x, x[::-1] ** 2], axis=1)
    for f, at in (
        (lambda x: np.histogram(x, 3)[1], (x,)),
        (lambda x: np.histogram(x, 4, density=True)[0], (x,)),
        (lambda x, e: np.histogram(x, e, density=True), (x, np.array([0.0, 1.0, 2.5, 4.0]))),
        (lambda x, low: fnp.histogram(x, 3, (low, 4.0), density=True), (x, 0.1)),
        (lambda p: np.histogramdd(p, (2, 3), density=True), (points,)),
        (lambda x: np.histogram2d(x, x**2, 2)[1:], (x,)),
    ):
        report = check_all(f, at, only=CHECKS)
        assert not report.failures, str(report)


@pytest.mark.parametrize(
    "bins, limits", [(0, None), ([2.0, 1.0], None), (2, (1.0, 0.0)), (2, (0.0, INF))]
)
def test_histograms_complain_as_numpy(bins: Any, limits: Any) -> None:
    for histogram in (np.histogram, fnp.histogram):
        with pytest.raises(ValueError):
            histogram(np.ones(3), bins, limits)
    with pytest.raises(ValueError, match="not finite"):
        fnp.histogram([NAN, 1.0])


# ---------------------------------------------------------------- infinities


FAR = st.sampled_from([-INF, -1.5, -1.0, 0.0, 0.5, 1.0, 2.0, INF])


@given(
    st.lists(FAR, min_size=1, max_size=6),
    st.lists(FAR, min_size=1, max_size=5, unique=True),
    st.lists(FAR, min_size=5, max_size=5),
)
def test_interpolation_among_infinities(x: Any, xp: Any, fp: Any) -> None:
    x, xp, fp = np.array(x), np.sort(xp), np.array(fp[: len(xp)])
    with np.errstate(all="ignore"):
        wanted = np.interp(x, xp, fp)
        for found in (traced(np.interp, x, xp, fp), funcgrad.jit(fnp.interp)(x, xp, fp)):
            # Between two infinities of xp NumPy has no rule of its own.
            known = ~np.isnan(wanted)
            np.testing.assert_array_equal(found[known], wanted[known])


@given(st.complex_numbers() | st.builds(complex, FAR, FAR | st.just(NAN)))
def test_signs_of_complex_numbers(z: complex) -> None:
    wanted, found = np.sign(z), traced(np.sign, np.complex128(z))
    np.testing.assert_allclose(found, wanted, rtol=1e-14, atol=1e-300)


@pytest.mark.parametrize("p", [None, 2, -2, 1, -1, INF, "fro"])
def test_condition_of_singular_matrices(p: Any) -> None:
    xs = np.array([[[0.0, 0.0], [0.0, 0.0]], [[1.0, 1.0], [1.0, 1.0]], [[2.0, 1.0], [1.0, 1.0]]])
    wanted = np.linalg.cond(xs, p)
    for found in (
        traced(lambda x: np.linalg.cond(x, p), xs),
        funcgrad.jit(lambda x: np.linalg.cond(x, p))(xs),
    ):
        np.testing.assert_allclose(found[[0, 2]], wanted[[0, 2]])
        assert found[1] > 1e15 or found[1] < 1e-15
    slope = funcgrad.grad(lambda x: np.linalg.cond(x, p)[2])(xs)
    report = check_all(lambda x: np.linalg.cond(x, p), (xs[2],), only=CHECKS)
    assert not report.failures, str(report)
    assert np.isfinite(slope[2]).all()


# ---------------------------------------------------------------- numbers as arrays


@pytest.mark.parametrize("axis", [0, -1])
@pytest.mark.parametrize(
    "name",
    ["sum", "prod", "min", "max", "ptp", "all", "any", "argmax", "argmin", "cumsum", "cumprod",
     "count_nonzero", "nansum", "nanprod", "nanmax", "nanmin"],
)  # fmt: skip
def test_numbers_have_an_axis_to_reduce(name: str, axis: int) -> None:
    x = np.float64(2.5)
    wanted, found = (
        getattr(np, name)(x, axis=axis),
        traced(lambda x: getattr(np, name)(x, axis=axis), x),
    )
    assert (
        np.shape(found) == np.shape(wanted) and np.asarray(found).dtype == np.asarray(wanted).dtype
    )
    np.testing.assert_array_equal(found, wanted)
    for f in (np.mean, np.var, np.median):
        with pytest.raises(ValueError, match="axis"):
            traced(lambda x, f=f: f(x, axis=axis), x)


# ---------------------------------------------------------------- options


def test_corrections_of_nan_spreads() -> None:
    x = np.array([1.0, NAN, 2.0, 4.0])
    for f in (np.nanvar, np.nanstd):
        wanted = f(x, ddof=1)
        np.testing.assert_allclose(traced(lambda x, f=f: f(x, correction=1), x), wanted)
        np.testing.assert_allclose(traced(lambda x, f=f: f(x), x), f(x))


def test_covariances_with_nothing_left() -> None:
    with np.errstate(all="ignore"), pytest.warns(RuntimeWarning):
        for x, ddof in (([[1.0, 2.0], [1.0, 1.0]], 3), (np.zeros((2, 0)), None)):
            wanted, found = np.cov(x, ddof=ddof), fnp.cov(x, ddof=ddof)
            np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize(
    "call",
    [
        lambda: fnp.quantile([1j, 2.0], 0.5),
        lambda: fnp.nanquantile([1j, 2.0], 0.5),
        lambda: traced(lambda q: np.percentile([1.0, 2.0], q), np.array([101.0])),
        lambda: traced(lambda q: np.quantile([1.0, 2.0], q), NAN),
        lambda: fnp.quantile([1.0, 2.0], 0.5, weights=[-1.0, 2.0], method="inverted_cdf"),
        lambda: fnp.quantile([1.0, 2.0], 0.5, weights=[INF, 2.0], method="inverted_cdf"),
        lambda: fnp.concatenate([[1.5]], dtype=int),
        lambda: fnp.stack([[1.5]], dtype=np.float32, casting="safe"),
        lambda: fnp.hstack([[1.5j]], dtype=float),
        lambda: fnp.vstack([[1.5]], dtype=np.float32, casting="no"),
        lambda: fnp.isposinf(np.array([1j])),
        lambda: fnp.isneginf(np.array([1j])),
        lambda: fnp.cov([[1.0, 2.0]], aweights=[-1.0, 2.0]),
        lambda: fnp.cov([[1.0, 2.0]], fweights=[1.0, 2.5]),
    ],
    ids=range(14),
)
def test_what_numpy_refuses(call: Callable[[], Any]) -> None:
    with pytest.raises(ArgumentError, match=r"fnp\."):
        call()


def test_fits_and_what_is_left() -> None:
    x = np.array([0.0, 1.0, 2.0, 4.0, 5.0])
    y = np.stack([x**2 + np.sin(x), 3.0 * x + np.cos(5.0 * x)], axis=1)
    for values in (y[:, 0], y):
        for a, b in zip(
            traced(lambda y: np.polyfit(x, y, 2, full=True), values),
            np.polyfit(x, values, 2, full=True),
            strict=True,
        ):
            np.testing.assert_allclose(a, b, rtol=1e-9)
        report = check_all(
            lambda x, y: np.polyfit(x, y, 2, cov=True), (x, values), only=[*CHECKS, "second order"]
        )
        assert not report.failures, str(report)
    with pytest.raises(ValueError, match="more points"):
        fnp.polyfit(x[:3], y[:3], 2, cov=True)


def test_axes_may_be_a_range_and_none_has_no_axes() -> None:
    x = np.arange(6.0).reshape(2, 3)
    assert fnp.expand_dims(x, range(2)).shape == (1, 1, 2, 3)
    assert fnp.expand_dims(x, range(0)).shape == (2, 3)
    assert fnp.squeeze(x[None, None], range(2)).shape == (2, 3) and fnp.sum(x, range(2)) == 15.0
    assert fnp.shape(None) == np.shape(None) and fnp.ndim(None) == np.ndim(None)
