"""`funcgrad.scipy.stats`: values against SciPy and mpmath, derivatives against differences."""

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
import funcgrad.numpy as fnp
from funcgrad.errors import ArgumentError, ShapeError
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
        without="cdf sf logcdf logsf ppf isf median var std",
        invalid=(-1.0,),
    ),
    Family("skewnorm", ((0.1, 4.0),), without="entropy", loose="cdf logcdf sf logsf"),
    Family("invgauss", ((0.2, 4.0),), invalid=(-1.0,)),
    Family("wrapcauchy", ((0.1, 0.9),), without="var std", loose="mean", invalid=(-1.0,)),
    Family("genextreme", ((-0.4, 0.6),), loose="var std mean"),
    Family("genpareto", ((-0.8, 0.4),)),
    Family("gengamma", ((0.5, 9.0), (0.5, 4.0)), loose="var std", invalid=(1.0, 0.0)),
    Family("gengamma", ((3.0, 9.0), (-4.0, -1.0)), loose="var std entropy", invalid=(-1.0, 1.0)),
    Family("weibull_max", ((0.3, 6.0),), loose="var", invalid=(-1.0,)),
    Family("fisk", ((2.1, 6.0),), invalid=(-1.0,)),
    Family("fisk", ((0.3, 1.0),), without="mean var std"),  # SciPy's are nan
    Family("lomax", ((0.3, 9.0),), loose="mean var std entropy", invalid=(-1.0,)),
    Family("maxwell"),
    Family("chi", ((0.3, 30.0),), loose="var std", invalid=(-1.0,)),
    Family("nakagami", ((0.3, 30.0),), loose="var std", invalid=(-1.0,)),
    Family(
        "rice",
        ((0.1, 9.0),),
        "entropy",
        loose="cdf sf logcdf logsf",
        invalid=(-1.0,),
    ),
    Family("gompertz", ((0.1, 9.0),), without="var std", loose="mean", invalid=(-1.0,)),
    Family("halflogistic"),
    Family("triang", ((0.1, 0.9),), invalid=(1.1,)),
    Family("loguniform", ((0.1, 0.9), (1.5, 40.0)), loose="var std", invalid=(1.0, 0.5)),
    Family("powerlaw", ((1.0, 6.0),), loose="isf", invalid=(-1.0,)),
    Family("johnsonsu", ((-1.5, 1.0), (0.6, 4.0)), without="entropy", invalid=(1.0, -1.0)),
    Family("genlogistic", ((0.3, 6.0),), invalid=(-1.0,)),
    Family("moyal", loose="entropy"),
    Family("invweibull", ((2.3, 9.0),), loose="var std", invalid=(-1.0,)),
    Family("hypsecant"),
    Family("burr", ((2.2, 6.0), (0.6, 4.0)), loose="isf var std entropy", invalid=(1.0, -1.0)),
    Family("burr12", ((1.2, 6.0), (2.1, 6.0)), loose="isf var std entropy", invalid=(-1.0, 1.0)),
    Family("exponweib", ((0.6, 4.0), (0.8, 4.0)), "mean var std entropy", invalid=(1.0, -1.0)),
    Family("laplace_asymmetric", ((0.4, 2.5),), invalid=(-1.0,)),
    # SciPy has no end of its support, and takes seconds for its entropy
    Family("pearson3", ((0.1, 0.9),), "entropy support", "logcdf logsf ppf isf", (inf,)),
    Family("pearson3", ((1.1, 2.5),), "entropy support", "isf", (-inf,)),
    Family(
        "ncx2",
        ((0.5, 9.0), (0.2, 9.0)),
        without="entropy",
        loose="pdf logpdf cdf sf logcdf logsf ppf isf median var std",
        invalid=(1.0, -1.0),
    ),
    Family("levy", loose="ppf isf"),
    Family("levy_l", without="mean", loose="ppf isf"),  # minus infinity; SciPy has infinity
    Family("arcsine"),
    Family("wald"),
    Family("gibrat"),
    Family("erlang", ((3.0, 3.0),), invalid=(-1.0,)),
    Family("kappa3", ((2.2, 6.0),), loose="isf var std entropy", invalid=(-1.0,)),
    Family("mielke", ((2.2, 6.0), (2.2, 6.0)), loose="isf var std entropy", invalid=(1.0, -1.0)),
    Family("rdist", ((0.3, 9.0),), loose="entropy", invalid=(-1.0,)),
    Family("semicircular"),
    Family("dgamma", ((0.4, 9.0),), invalid=(-1.0,)),
    Family("dweibull", ((0.4, 6.0),), invalid=(-1.0,)),
    Family("loglaplace", ((2.2, 6.0),), loose="var std", invalid=(-1.0,)),
    Family("skewcauchy", ((-0.8, 0.8),), loose="entropy", invalid=(1.5,)),
    Family("truncexpon", ((0.2, 9.0),), loose="mean var std entropy", invalid=(-1.0,)),
    Family("bradford", ((0.3, 9.0),), loose="var std", invalid=(-1.0,)),
    Family("anglit"),
    Family("fatiguelife", ((0.3, 4.0),), without="entropy", invalid=(-1.0,)),
    Family("johnsonsb", ((-1.5, 1.0), (0.6, 4.0)), "mean var std entropy", invalid=(1.0, -1.0)),
    Family("powernorm", ((0.3, 9.0),), "mean var std entropy", invalid=(-1.0,)),
    Family("powerlognorm", ((0.3, 9.0), (0.3, 2.0)), "mean var std entropy", invalid=(1.0, -1.0)),
    Family("exponnorm", ((0.3, 4.0),), without="entropy", invalid=(-1.0,)),
    Family("foldnorm", ((0.1, 6.0),), without="entropy", invalid=(-1.0,)),
    Family("foldcauchy", ((0.1, 6.0),), without="entropy", invalid=(-1.0,)),
    Family("halfgennorm", ((0.4, 4.0),), without="mean var std", invalid=(-1.0,)),
    Family("exponpow", ((0.4, 4.0),), without="mean var std entropy", invalid=(-1.0,)),
    # SciPy takes seconds for its moments
    Family("recipinvgauss", ((0.2, 4.0),), without="mean var std entropy", invalid=(-1.0,)),
    Family("truncpareto", ((0.3, 4.0), (1.5, 20.0)), invalid=(0.0, 2.0)),
    Family("truncpareto", ((-3.0, -0.5), (1.5, 9.0)), invalid=(1.0, 0.5)),
    Family(
        "truncweibull_min",
        ((0.4, 3.0), (0.2, 0.9), (1.2, 3.0)),
        without="entropy",
        invalid=(1.0, 2.0, 1.0),
    ),
    Family("crystalball", ((0.3, 3.0), (3.2, 9.0)), without="entropy", invalid=(1.0, 0.5)),
    Family(
        "norminvgauss",
        ((1.5, 4.0), (-1.2, 1.2)),
        without="cdf sf logcdf logsf ppf isf median entropy",
        invalid=(1.0, 2.0),
    ),
]
NO_SUMS = "cdf sf logcdf logsf entropy"
DISCRETE = [
    Family("poisson", ((0.3, 20.0),), invalid=(-1.0,)),
    Family("binom", ((5, 5), (0.05, 0.9)), invalid=(4.0, -0.1)),
    Family(
        "skellam",
        ((0.5, 9.0), (0.4, 7.0)),
        loose="logcdf logsf",
        invalid=(1.0, -1.0),
    ),
    Family("bernoulli", ((0.05, 0.9),), invalid=(-0.1,)),
    Family("nbinom", ((0.5, 9.0), (0.1, 0.9)), "entropy", invalid=(3.0, -0.1)),
    Family("geom", ((0.05, 0.9),), invalid=(-0.1,)),
    Family("betabinom", ((5, 5), (0.3, 5.0), (0.3, 5.0)), invalid=(5.0, 1.0, -1.0)),
    Family("betanbinom", ((5, 5), (2.2, 6.0), (0.3, 5.0)), "entropy", invalid=(0.5, 1.0, 1.0)),
    Family("planck", ((0.3, 3.0),), invalid=(-1.0,)),
    Family("dlaplace", ((0.3, 3.0),), loose="logsf", invalid=(-1.0,)),
    Family("logser", ((0.1, 0.9),), NO_SUMS, invalid=(1.5,)),
    Family("zipf", ((2.5, 6.0),), without="entropy", invalid=(0.5,)),
    Family("yulesimon", ((2.1, 6.0),), without="entropy", invalid=(-1.0,)),
    Family("randint", ((-2, -2), (4, 4)), invalid=(3.0, -1.0)),
    Family("hypergeom", ((20, 20), (7, 7), (12, 12)), invalid=(3.0, 2.0, -1.0)),
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
@settings(max_examples=settings().max_examples // 2)
@given(data=st.data())
def test_values_are_scipys(family: Family, data: Any) -> None:
    ours, his = pair(family)
    params = data.draw(parameters(family))
    q = data.draw(st.floats(0.001, 0.999).map(lambda v: round(v, 4)))
    # where SciPy has to search for a quantile, which takes it long, any place will do
    x = called(his.ppf, q, *params) if has(family, "ppf") else params[-2] + 3 * q * params[-1]
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
@settings(max_examples=settings().max_examples // 2)
@given(data=st.data(), q=st.sampled_from([1e-200, 1e-30, 1e-5, 0.3, 0.499]))
def test_quantiles_are_inverses(family: Family, data: Any, q: float) -> None:
    """Far out, too, where SciPy's are not; where the number can be told from the end's."""
    if not has(family, "ppf"):
        return
    ours, _ = pair(family)
    shapes = [
        low + (high - low) * round(data.draw(st.floats(0.0, 1.0)), 3) for low, high in family.shapes
    ]
    for inverse, method, end in [("ppf", "logcdf", 0), ("isf", "logsf", 1)]:
        x = called(getattr(ours, inverse), q, *shapes)
        if np.isfinite(x) and abs(x - ours.support(*shapes)[end]) > 1e-5 * abs(x):
            found = called(getattr(ours, method), x, *shapes)
            np.testing.assert_allclose(found, math.log(q), rtol=1e-9, err_msg=method)


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
            known = ~np.isnan(expected)  # SciPy has nan for some limits
            if family.name == "ncx2" and method.endswith("pdf"):
                known[0] = False  # and 0 for an infinite one
            found = called(getattr(ours, method), x, *shapes)
            np.testing.assert_allclose(found[known], expected[known], rtol=1e-12, err_msg=method)
        for method in filter(lambda m: has(family, m) and has(family, "support"), AT_CHANCES):
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
@settings(max_examples=settings().max_examples // 2)
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
        if method in AT_PLACES and k == 2.5:
            args = (2.0,)  # which SciPy's yulesimon does not round
        expected = called(getattr(his, method), *args, *params)
        assert np.shape(found) == np.shape(expected)
        if method in ONE and np.isinf(k):
            expected = np.full_like(expected, 0.0 if method == "pmf" else -inf)
        if method in AT_PLACES and np.isinf(k):
            expected = np.where(np.isnan(expected), found, expected)  # those of skellam
        if method in family.loose.split() and method.startswith("log"):
            found, expected = np.exp(found), np.exp(expected)
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


def test_shapes_that_are_zero() -> None:
    """The derivatives are those from the right: the series at small numbers says them."""
    z, zero, small = 0.7, np.float64(0.0), np.float64(1e-4)
    for f in (
        lambda v: stats.vonmises.logpdf(z, v),
        stats.vonmises.entropy,
        lambda v: stats.rice.logpdf(z, v),
        lambda v: stats.rice.pdf(z, v),
        lambda v: stats.rice.cdf(z, v),
        lambda v: stats.rice.logsf(4.0, v),
        stats.rice.mean,
    ):
        slope = funcgrad.grad(f)
        np.testing.assert_allclose(slope(zero), slope(small), rtol=1e-3, atol=1e-3)
        np.testing.assert_allclose(slope(zero), (f(small) - f(zero)) / small, rtol=1e-3, atol=1e-3)
        bend = funcgrad.grad(slope)
        np.testing.assert_allclose(bend(zero), bend(small), rtol=1e-3, atol=1e-3)


def test_sure_events() -> None:
    """Where a probability is 0 or 1 the derivatives are the limits."""
    one, zero = np.float64(1.0), np.float64(0.0)
    assert funcgrad.grad(stats.bernoulli.pmf, argnums=1)(1, zero) == 1.0
    assert funcgrad.grad(stats.binom.pmf, argnums=2)(1, 5, zero) == pytest.approx(5.0)
    assert funcgrad.grad(stats.binom.pmf, argnums=2)(5, 5, one) == pytest.approx(5.0)
    assert funcgrad.grad(stats.poisson.pmf, argnums=1)(1, zero) == 1.0
    assert funcgrad.grad(stats.geom.pmf, argnums=1)(2, one) == -1.0


# ---------------------------------------------------------------- precision, refusals


@families
def test_single_precision(family: Family) -> None:
    """Numbers in float32 give float32, whatever the defaults; so do their derivatives."""
    ours, _ = pair(family)
    params = [np.float32(v) for v in (*middle(family), 0.3, 1.4)]
    x = np.array([0.6, 0.7], np.float32)
    for method in [m for m in AT_PLACES + AT_CHANCES if has(family, m)]:
        f = getattr(ours, method)
        found = f(x, *params)
        assert found.dtype == np.float32, method
        wide = called(f, x.astype(np.float64), *map(np.float64, params))
        np.testing.assert_allclose(found, wide, rtol=2e-3, atol=1e-5, err_msg=method)
        assert funcgrad.grad(lambda x, f=f: f(x, *params).sum())(x).dtype == np.float32
    assert ours.pdf(x, *middle(family)).dtype == np.float32
    assert ours.pdf(np.zeros((0, 3), np.float32), *params).shape == (0, 3)


def test_methods_without_a_derivative_are_those_of_scipy():
    rng = np.random.default_rng
    for name, params in (("gamma", (2.0,)), ("poisson", (3.0,)), ("dirichlet", ([1.0, 2.0],))):
        ours, scipys = getattr(stats, name), getattr(theirs, name)
        expected = scipys.rvs(*params, size=4, random_state=rng(0))
        np.testing.assert_array_equal(ours.rvs(*params, size=4, random_state=rng(0)), expected)
        np.testing.assert_array_equal(ours(*params).rvs(size=4, random_state=rng(0)), expected)
    data = theirs.norm.rvs(2.0, size=50, random_state=rng(0))
    assert stats.norm.fit(data) == theirs.norm.fit(data)
    assert stats.norm.moment(4) == pytest.approx(3.0)
    assert stats.norm.expect(lambda x: x**2) == pytest.approx(1.0)


class Refused(NamedTuple):
    call: Callable[[], Any]
    error: type[Exception]
    message: str


REFUSED = [
    Refused(
        lambda: funcgrad.grad(lambda m: stats.norm.rvs(m))(1.0),
        ArgumentError,
        "norm.rvs: it has no derivative, and an argument is traced; draw with funcgrad.random",
    ),
    Refused(
        lambda: funcgrad.jit(lambda x: stats.norm(0, 1).moment(x))(1),
        ArgumentError,
        "norm.moment: .*mean, var and std",
    ),
    Refused(
        lambda: stats.dirichlet.fit([0.5]), ArgumentError, "dirichlet.fit: SciPy does not have"
    ),
    Refused(lambda: stats.gamma.pdf(1.0), ArgumentError, r"gamma.pdf: a is missing; parameters"),
    Refused(lambda: stats.norm.pdf(1.0, 0, 1, 2), ArgumentError, "3 parameters are given"),
    Refused(lambda: stats.norm.pdf(1.0, 0, loc=1), ArgumentError, "loc= is given twice"),
    Refused(lambda: stats.norm.pdf(1.0, mu=0), ArgumentError, "mu= is not known"),
    Refused(lambda: stats.norm.pdf(1j), ArgumentError, "found complex ones in its argument"),
    Refused(lambda: stats.norm.pdf(1, loc=1j), ArgumentError, "found complex ones in its loc"),
    Refused(lambda: stats.norm.pdf([1, 2], [1, 2, 3]), ShapeError, "do not broadcast"),
    Refused(lambda: stats.norm.stats(moments="mk"), ArgumentError, "moments='mk'"),
    Refused(lambda: stats.logser.cdf(1, 0.5), ArgumentError, "no formula here"),
    Refused(lambda: stats.norm.nothing, AttributeError, "no attribute 'nothing'"),
]


@pytest.mark.parametrize("refused", REFUSED, ids=lambda r: r.message)
def test_what_does_not_fit_is_refused(refused: Refused) -> None:
    with pytest.raises(refused.error, match=refused.message):
        refused.call()


def test_frozen_distributions_and_moments_together() -> None:
    frozen = stats.gamma(2.0, scale=3.0)
    assert repr(frozen) == "<funcgrad.scipy.stats.gamma>(loc=0.0, scale=3.0, a=2.0)"
    assert [float(v) for v in frozen.stats()] == [6.0, 18.0]
    assert float(frozen.stats(moments="v")) == 18.0
    np.testing.assert_allclose(frozen.interval(0.8), theirs.gamma(2.0, scale=3.0).interval(0.8))

    def likelihood(scale: Any) -> Any:
        return stats.gamma(2.0, scale=scale).logpdf(np.array([1.0, 4.0])).sum()

    assert funcgrad.jit(funcgrad.grad(likelihood))(3.0) == pytest.approx(-4 / 3 + 5 / 9)
