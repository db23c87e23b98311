"""`funcgrad.scipy.stats`: values against SciPy and mpmath, derivatives against differences."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import funcgrad
import funcgrad.numpy as fnp
from funcgrad.scipy import stats
from funcgrad.testing import check_all

theirs = pytest.importorskip("scipy.stats")

inf, nan = math.inf, math.nan


class Family(NamedTuple):
    """A distribution, the ranges of its shapes, and what it does not have."""

    name: str
    shapes: tuple[tuple[float, float], ...] = ()
    without: str = ""  # methods
    loose: str = ""  # methods of SciPy's that are less accurate than ours
    invalid: tuple[float, ...] = ()  # shapes that make no distribution


NO_QUANTILE = "ppf isf median"
CONTINUOUS = [
    Family("norm"),
    Family("uniform"),
    Family("expon"),
    Family("gamma", ((0.2, 30.0),), invalid=(-1.0,)),
    Family("beta", ((0.2, 9.0), (0.2, 9.0)), loose="isf", invalid=(1.0, 0.0)),
    Family("t", ((0.3, 90.0),), loose="logpdf", invalid=(-2.0,)),
    Family("chi2", ((0.2, 30.0),), invalid=(0.0,)),
    Family("cauchy"),
    Family("laplace"),
    Family("logistic"),
    Family("lognorm", ((0.1, 3.0),), invalid=(-1.0,)),
    Family("pareto", ((0.3, 9.0),), invalid=(-1.0,)),
    Family("weibull_min", ((0.3, 6.0),), loose="var", invalid=(-1.0,)),
    Family("halfnorm", loose="ppf"),
    Family("halfcauchy", loose="ppf"),
    Family("rayleigh"),
    Family("invgamma", ((0.2, 9.0),), loose="entropy", invalid=(-1.0,)),
    Family("gumbel_r"),
    Family("gumbel_l"),
    Family("f", ((0.5, 20.0), (0.5, 20.0)), loose="isf", invalid=(1.0, -1.0)),
    Family("gennorm", ((0.5, 4.0),), invalid=(-1.0,)),
    Family("loggamma", ((0.3, 9.0),), invalid=(-1.0,)),
    Family(
        "betaprime", ((0.5, 9.0), (0.5, 9.0)), loose="isf ppf entropy logsf", invalid=(1.0, -1.0)
    ),
    Family(
        "truncnorm",
        ((-3.0, 0.5), (0.7, 4.0)),
        loose="cdf sf logcdf logsf ppf isf mean var std median",
        invalid=(1.0, -1.0),
    ),
    Family(
        "vonmises",
        ((0.1, 9.0),),
        without=f"cdf sf logcdf logsf {NO_QUANTILE} var std",
        invalid=(-1.0,),
    ),
    Family(
        "skewnorm", ((0.1, 4.0),), without=f"{NO_QUANTILE} entropy", loose="cdf logcdf sf logsf"
    ),
    Family("invgauss", ((0.2, 4.0),), without=NO_QUANTILE, invalid=(-1.0,)),
    Family("wrapcauchy", ((0.1, 0.9),), without="var std", loose="mean", invalid=(-1.0,)),
    Family("exponnorm", ((0.3, 4.0),), without=f"{NO_QUANTILE} entropy", invalid=(-1.0,)),
]
NO_SUMS = f"cdf sf logcdf logsf {NO_QUANTILE} entropy"
DISCRETE = [
    Family("poisson", ((0.3, 20.0),), without=f"{NO_QUANTILE} entropy", invalid=(-1.0,)),
    Family("binom", ((5, 5), (0.05, 0.9)), without=f"{NO_QUANTILE} entropy", invalid=(4.0, -0.1)),
    Family("bernoulli", ((0.05, 0.9),), invalid=(-0.1,)),
    Family("nbinom", ((0.5, 9.0), (0.1, 0.9)), f"{NO_QUANTILE} entropy", invalid=(3.0, -0.1)),
    Family("geom", ((0.05, 0.9),), invalid=(-0.1,)),
    Family("betabinom", ((5, 5), (0.3, 5.0), (0.3, 5.0)), NO_SUMS, invalid=(5.0, 1.0, -1.0)),
    Family("randint", ((-2, -2), (4, 4)), invalid=(3.0, -1.0)),
    Family("hypergeom", ((20, 20), (7, 7), (12, 12)), NO_SUMS, invalid=(3.0, 2.0, -1.0)),
]
ONE = ["pmf", "logpmf"]
AT_PLACES = ["pdf", "logpdf", "cdf", "sf", "logcdf", "logsf"]
AT_CHANCES = ["ppf", "isf"]
ALONE = ["mean", "var", "std", "entropy", "median", "support"]

families = pytest.mark.parametrize("family", CONTINUOUS, ids=lambda f: f.name)
counts = pytest.mark.parametrize("family", DISCRETE, ids=lambda f: f.name)


def pair(family: Family) -> tuple[Any, Any]:
    return getattr(stats, family.name), getattr(theirs, family.name)


def has(family: Family, method: str) -> bool:
    return method not in family.without.split()


def called(f: Callable[..., Any], *args: Any, **kwds: Any) -> Any:
    """Infinite values and SciPy's own inaccuracies warn."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return f(*args, **kwds)


def middle(family: Family) -> list[float]:
    return [math.sqrt(low * high) if low > 0 else (low + high) / 2 for low, high in family.shapes]


@st.composite
def parameters(draw: Any, family: Family) -> list[Any]:
    """The shapes, loc and scale, of shape (3,), (2, 1) or () each."""
    found: list[Any] = []
    for low, high in (*family.shapes, (-2.0, 2.0), (0.3, 3.0)):
        shape = draw(st.sampled_from([(), (3,), (2, 1)]))
        share = draw(st.floats(0.0, 1.0).map(lambda v: round(v, 3)))
        spread = np.linspace(0.0, 1.0, math.prod(shape)).reshape(shape) if shape else 1.0
        found.append(low + (high - low) * share * spread)
    return found


# ---------------------------------------------------------------- values


@families
@given(data=st.data())
def test_values_are_scipys(family: Family, data: Any) -> None:
    ours, his = pair(family)
    params = data.draw(parameters(family))
    q = data.draw(st.floats(0.001, 0.999).map(lambda v: round(v, 4)))
    x = called(his.ppf, q, *params)
    for method in [*AT_PLACES, *AT_CHANCES, *ALONE]:
        if not has(family, method):
            continue
        args = (x,) if method in AT_PLACES else (q,) if method in AT_CHANCES else ()
        found = called(getattr(ours, method), *args, *params)
        expected = called(getattr(his, method), *args, *params)
        rtol = 1e-7 if method in family.loose.split() else 1e-10
        np.testing.assert_allclose(found, expected, rtol=rtol, atol=1e-13, err_msg=method)
        assert np.shape(found) == np.shape(expected)
    frozen, names = ours(*params), dict(zip((*ours.shapes, "loc", "scale"), params, strict=True))
    np.testing.assert_array_equal(called(frozen.pdf, x), called(ours.pdf, x, **names))


@families
def test_outside_of_the_support(family: Family) -> None:
    """The values are SciPy's, or the limits where it has nan; no derivative but 0, never nan."""
    ours, his = pair(family)
    params = [*middle(family), 0.5, 2.0]
    low, high = his.support(*params)
    x = np.array([-inf, low - 1.0, high + 1.0, inf])
    limits = {"pdf": [0.0] * 4, "logpdf": [-inf] * 4, "cdf": [0.0, 0.0, 1.0, 1.0]}
    limits |= {"sf": [1.0, 1.0, 0.0, 0.0]}
    limits |= {"logcdf": [-inf, -inf, 0.0, 0.0], "logsf": [0.0, 0.0, -inf, -inf]}
    for method, expected in limits.items():
        if not has(family, method):
            continue
        f = getattr(ours, method)
        np.testing.assert_array_equal(f(x, *params), expected, err_msg=method)
        slopes = funcgrad.jacrev(f, argnums=tuple(range(len(params) + 1)))(x, *params)
        for slope in slopes:
            np.testing.assert_array_equal(slope, np.zeros_like(slope), err_msg=method)
        assert np.isnan(f(nan, *params))


@families
def test_ends_of_the_support(family: Family) -> None:
    ours, his = pair(family)
    for share in (0.1, 0.5, 0.9):
        shapes = [low + (high - low) * share for low, high in family.shapes]
        x = np.array(his.support(*shapes))
        for method in filter(lambda m: has(family, m), AT_PLACES):
            expected = called(getattr(his, method), x, *shapes)
            known = np.isfinite(x) | ~np.isnan(expected)
            found = called(getattr(ours, method), x, *shapes)
            np.testing.assert_allclose(found[known], expected[known], rtol=1e-12, err_msg=method)
        for method in filter(lambda m: has(family, m), AT_CHANCES):
            q = np.array([0.0, 1.0, -0.1, 1.1, nan])
            found = called(getattr(ours, method), q, *shapes)
            np.testing.assert_allclose(found, getattr(his, method)(q, *shapes), err_msg=method)


@families
def test_invalid_parameters_are_nan_with_nan_derivatives(family: Family) -> None:
    ours, his = pair(family)
    x = np.float64(called(his.ppf, 0.3, *middle(family)))
    for shapes, scale in [(middle(family), -1.0), (list(family.invalid), 1.0)]:
        if len(shapes) < len(family.shapes) or (scale > 0 and not shapes):
            continue
        args = [np.float64(p) for p in (x, *shapes, 0.0, scale)]
        for method in [m for m in AT_PLACES + ALONE[:4] if has(family, m)]:
            f, skip = getattr(ours, method), int(method not in AT_PLACES)
            assert np.isnan(called(f, *args[skip:])), method
            if not skip:
                i = len(args) - (1 if scale < 0 else 3)
                assert np.isnan(called(funcgrad.grad(f, argnums=i), *args)), method


# ---------------------------------------------------------------- derivatives


def stacked(family: Family, methods: list[str]) -> Callable[..., Any]:
    """Some methods in one function of places, chances and parameters."""
    ours, _ = pair(family)

    def f(x: Any, q: Any, *params: Any) -> Any:
        found = []
        for method in methods:
            args = (x,) if method in AT_PLACES else (q,) if method in AT_CHANCES else ()
            found.append(fnp.atleast_1d(getattr(ours, method)(*args, *params)))
        return fnp.concatenate(found)

    return f


CHECKS = ["types", "transpose", "numerical", "jit", "vmap", "second order"]


@families
def test_derivatives(family: Family) -> None:
    ours, his = pair(family)
    params = [np.array(v) for v in (*middle(family), 0.3, 1.4)]
    q = np.array([0.15, 0.4, 0.8])
    alone = [m for m in ALONE[:4] if has(family, m) and np.isfinite(getattr(ours, m)(*params))]
    for methods, checks in [
        (["logpdf", *alone], CHECKS),
        (["pdf", *AT_PLACES[2:], *AT_CHANCES], ["transpose", "numerical", "jit"]),
    ]:
        f = stacked(family, [m for m in methods if has(family, m)])
        report = check_all(f, (his.ppf(q, *params), q, *params), only=checks)
        assert all(o.status == "passed" for o in report.outcomes), str(report)


# ---------------------------------------------------------------- whole numbers


@counts
@given(data=st.data())
def test_values_of_counts_are_scipys(family: Family, data: Any) -> None:
    """At whole numbers, in between, outside, and at infinity, where SciPy may have nan."""
    ours, his = pair(family)
    params = data.draw(parameters(family))[:-1]
    params[-1] = data.draw(st.integers(-2, 2))
    k = data.draw(st.sampled_from([-inf, *range(-4, 12), 2.5, 30.0, inf, nan]))
    q = data.draw(st.sampled_from([0.0, 1e-3, 0.31, 0.77, 0.999, 1.0, 1.5, nan]))
    for method in [*ONE, *AT_PLACES[2:], *AT_CHANCES, *ALONE]:
        if not has(family, method):
            continue
        args = (q,) if method in AT_CHANCES else () if method in ALONE else (k,)
        found = called(getattr(ours, method), *args, *params)
        expected = called(getattr(his, method), *args, *params)
        assert np.shape(found) == np.shape(expected)
        if method in ONE and np.isinf(k):
            expected = np.full_like(expected, 0.0 if method == "pmf" else -inf)
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-13, err_msg=method)


@counts
def test_derivatives_of_counts(family: Family) -> None:
    """By every shape; by the number itself and by loc they are 0."""
    ours, _ = pair(family)
    params = [np.array(v) for v in (*middle(family), 1.0)]
    k = np.array([0.0, 0.0] if family.name == "bernoulli" else [3.0, 4.0]) + 1.0
    moving = [i for i, (low, high) in enumerate(family.shapes) if low < high]
    methods = [m for m in (*ONE, *AT_PLACES[2:], "mean", "var", "entropy") if has(family, m)]

    def f(*shapes: Any) -> Any:
        given = list(params)
        for i, shape in zip(moving, shapes, strict=True):
            given[i] = shape
        found = [getattr(ours, m)(*([] if m in ALONE else [k]), *given) for m in methods]
        return fnp.concatenate([fnp.atleast_1d(y) for y in found])

    if moving:
        report = check_all(f, tuple(params[i] for i in moving), only=CHECKS)
        assert all(o.status == "passed" for o in report.outcomes), str(report)
    for i in (0, len(params)):
        slope = funcgrad.jacrev(ours.pmf, argnums=i)(k, *params)
        np.testing.assert_array_equal(slope, np.zeros_like(slope))


@counts
def test_invalid_parameters_of_counts(family: Family) -> None:
    ours, _ = pair(family)
    args = [np.float64(p) for p in (1.0, *family.invalid)]
    for method in [m for m in (*ONE, *AT_PLACES[2:], *ALONE[:4]) if has(family, m)]:
        skip = int(method in ALONE)
        assert np.isnan(called(getattr(ours, method), *args[skip:])), method
        if not skip:
            slope = called(funcgrad.grad(getattr(ours, method), argnums=len(args) - 1), *args)
            assert np.isnan(slope), method


def test_sure_events() -> None:
    """Where a probability is 0 or 1 the derivatives are the limits."""
    one, zero = np.float64(1.0), np.float64(0.0)
    assert funcgrad.grad(stats.bernoulli.pmf, argnums=1)(1, zero) == 1.0
    assert funcgrad.grad(stats.binom.pmf, argnums=2)(1, 5, zero) == pytest.approx(5.0)
    assert funcgrad.grad(stats.binom.pmf, argnums=2)(5, 5, one) == pytest.approx(5.0)
    assert funcgrad.grad(stats.poisson.pmf, argnums=1)(1, zero) == 1.0
    assert funcgrad.grad(stats.geom.pmf, argnums=1)(2, one) == -1.0
