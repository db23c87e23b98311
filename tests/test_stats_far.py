"""`funcgrad.scipy.stats`: second derivatives, and derivatives where values are 0, 1 or infinite."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_stats import CONTINUOUS, Family

import funcgrad
from funcgrad.scipy import special, stats

pytest.importorskip("scipy")


def jet(f: Any, *args: float) -> tuple[Any, Any, Any]:
    """The value, the gradient and the Hessian by all arguments."""
    found = tuple(range(len(args)))
    points = [v if isinstance(v, np.float32) else np.float64(v) for v in args]
    slopes = np.array(funcgrad.grad(f, argnums=found)(*points))
    return f(*points), slopes, np.array(funcgrad.hessian(f, argnums=found)(*points))


@settings(deadline=None)
@given(
    x=st.floats(0.02, 7.0).map(lambda v: round(v, 3)),
    b=st.floats(0.05, 6.0).map(lambda v: round(v, 3)),
)
def test_second_derivatives_of_rices_probabilities(x: float, b: float) -> None:
    """The slope of `sf` is minus the density by x, ``x exp(-(x**2 + b**2) / 2) I1(b x)`` by b."""

    def by_b(x: Any, b: Any) -> Any:
        return x * np.exp(-0.5 * (x - b) * (x - b)) * special.i1e(b * x)

    points = np.float64(x), np.float64(b)
    slopes = np.array([-stats.rice.pdf(x, b), by_b(x, b)])
    seconds = np.array(
        [
            funcgrad.grad(lambda x, b: -stats.rice.pdf(x, b), argnums=(0, 1))(*points),
            funcgrad.grad(by_b, argnums=(0, 1))(*points),
        ]
    )
    for name, sign in (("cdf", -1.0), ("sf", 1.0)):
        p, first, second = jet(getattr(stats.rice, name), x, b)
        np.testing.assert_allclose(first, sign * slopes, rtol=1e-9, atol=1e-15)
        np.testing.assert_allclose(second, sign * seconds, rtol=1e-9, atol=1e-12)
        share = first / p
        _, of_log, second_of_log = jet(getattr(stats.rice, "log" + name), x, b)
        np.testing.assert_allclose(of_log, share, rtol=1e-9, atol=1e-15)
        expected = second / p - np.outer(share, share)
        scale = np.outer(share, share).max() + np.abs(second / p).max()
        np.testing.assert_allclose(second_of_log, expected, rtol=1e-9, atol=1e-10 * scale)


@pytest.mark.parametrize("skew", [0.0, 1e-9, -1e-4])
@pytest.mark.parametrize("z", [-3.0, 0.2, 1.5])
def test_no_skewness_is_a_normal_variable(z: float, skew: float) -> None:
    """The slope by the skewness is a sixth of the density's third derivative."""
    density = stats.norm.pdf(z)
    rtol = 1e-12 + 10 * abs(skew)
    np.testing.assert_allclose(stats.pearson3.cdf(z, skew), stats.norm.cdf(z), rtol=rtol)
    np.testing.assert_allclose(stats.pearson3.sf(z, skew), stats.norm.sf(z), rtol=rtol)
    slope = funcgrad.grad(stats.pearson3.cdf, argnums=1)(z, skew)
    np.testing.assert_allclose(slope, (1.0 - z * z) / 6.0 * density, rtol=rtol, atol=abs(skew))
    slope = funcgrad.grad(stats.pearson3.pdf, argnums=1)(z, skew)
    np.testing.assert_allclose(slope, (z**3 - 3 * z) / 6 * density, rtol=rtol, atol=abs(skew))
    assert stats.pearson3.entropy(skew) == pytest.approx(stats.norm.entropy())
    assert stats.pearson3.entropy(2.0) == pytest.approx(stats.expon.entropy())


def shapes_of(family: Family, share: float) -> list[np.float64]:
    return [np.float64(low + (high - low) * share) for low, high in family.shapes]


@pytest.mark.parametrize("family", CONTINUOUS, ids=lambda f: f.name)
@pytest.mark.parametrize("share", [0.1, 0.5, 0.95])
@np.errstate(all="ignore")
def test_derivatives_where_probabilities_are_zero_or_one(family: Family, share: float) -> None:
    """They are 0 or tiny, and by x the density: never 0 times an infinite slope."""
    shapes = shapes_of(family, share)
    ours = getattr(stats, family.name)
    sizes = [1e-300, 1e-100, 1e-20, 10.0, 45.0, 1e2, 1e3, 1e8, 1e20, 1e80, 1e155, 1e160]
    everything = tuple(range(len(shapes) + 3))
    for x in [sign * size for size in sizes for sign in (1.0, -1.0)]:
        for method in [m for m in ("pdf", "cdf", "sf") if m not in family.without.split()]:
            args = np.float64(x), *shapes, np.float64(0.0), np.float64(1.0)
            slopes = np.array(funcgrad.grad(getattr(ours, method), argnums=everything)(*args))
            if abs(x) < 1.0 and np.abs(slopes[0]) > 1e10:
                continue  # at the end the density is infinite, or so its slope
            assert np.isfinite(slopes).all(), (method, x)
            if method != "pdf":
                sign = 1.0 if method == "cdf" else -1.0
                density = ours.pdf(*args)
                np.testing.assert_allclose(slopes[0], sign * density, rtol=1e-8, atol=1e-18)


@pytest.mark.parametrize("family", CONTINUOUS, ids=lambda f: f.name)
@pytest.mark.parametrize("share", [0.05, 0.5, 0.95])
@np.errstate(all="ignore")
def test_the_slopes_of_probabilities_at_finite_ends_are_the_density(
    family: Family, share: float
) -> None:
    """From inside, where the density is not infinite or set to 0."""
    shapes = shapes_of(family, share)
    ours = getattr(stats, family.name)
    for end in ours.support(*shapes):
        density = ours.pdf(end, *shapes)
        if not np.isfinite(end) or not np.isfinite(density) or ours.open:
            continue
        for method, sign in (("cdf", 1.0), ("sf", -1.0)):
            if method in family.without.split():
                continue
            slope = funcgrad.grad(getattr(ours, method))(np.float64(end), *shapes)
            np.testing.assert_allclose(slope, sign * density, rtol=1e-9, atol=1e-14)
            if getattr(ours, method)(end, *shapes) == 1.0:
                of_log = funcgrad.grad(getattr(ours, "log" + method))(np.float64(end), *shapes)
                np.testing.assert_allclose(of_log, slope, rtol=1e-9, atol=1e-14)


@pytest.mark.parametrize("shapes", [(0.5, 0.5), (1.0, 0.5), (1.0, 2.0)], ids=str)
@np.errstate(all="ignore")
def test_f_and_betaprime_at_zero(shapes: tuple[float, float]) -> None:
    """Steep or not, the slopes by the shapes are 0, those by x the limit of the density."""
    for name, steep in (("betaprime", shapes[0] < 1.0), ("f", True)):
        found = funcgrad.grad(getattr(stats, name).cdf, argnums=(0, 1, 2))(0.0, *shapes)
        limit = math.inf if steep else shapes[1]
        np.testing.assert_allclose(found, [limit, 0.0, 0.0], rtol=1e-14)


@pytest.mark.parametrize("function", [special.gammainc, special.gammaincc])
def test_slopes_by_shapes_of_nan_are_nan(function: Any) -> None:
    for args in ((math.nan, 0.5), (0.5, math.nan)):
        assert np.isnan(funcgrad.grad(function, argnums=(0, 1))(*args)).all()
    for f in (special.betainc, special.betaincc):
        for x in (math.nan, -1.0, 2.0):
            assert np.isnan(funcgrad.grad(f, argnums=(0, 1))(0.5, 2.0, x)).all()
    assert np.isnan(funcgrad.grad(special.gammainc)(0.5, -1.0))


@settings(deadline=None)
@given(
    beta=st.floats(0.3, 6.0).map(lambda v: round(v, 3)),
    z=st.sampled_from([0.0, 1e-300, -1e-20, 1e-6]) | st.floats(-2.0, 2.0),
)
def test_the_generalised_normal_distribution_around_its_middle(beta: float, z: float) -> None:
    """There the incomplete gamma function has an infinite slope by a power with slope 0."""
    z, beta = np.float64(z), np.float64(beta)
    density = stats.gennorm.pdf(z, beta)
    slopes = funcgrad.grad(stats.gennorm.cdf, argnums=(0, 1, 2, 3))(z, beta, 0.0, 1.0)
    np.testing.assert_allclose(slopes[0], density, rtol=1e-11)
    np.testing.assert_allclose(slopes[2:], [-density, -z * density], rtol=1e-11)
    if z == 0.0:
        np.testing.assert_array_equal(
            funcgrad.grad(stats.gennorm.pdf, argnums=(0, 2))(z, beta, 0.0), 0
        )
    mixed = funcgrad.grad(funcgrad.grad(stats.gennorm.cdf, argnums=1))(z, beta)
    if z != 0.0:
        by_beta = funcgrad.grad(stats.gennorm.pdf, argnums=1)(z, beta)
        np.testing.assert_allclose(mixed, by_beta, rtol=1e-8, atol=1e-9)
    of_log = funcgrad.grad(stats.gennorm.logsf, argnums=(0, 1))(z, beta)
    below = stats.gennorm.sf(z, beta)
    np.testing.assert_allclose(
        of_log, [-density / below, -slopes[1] / below], rtol=1e-8, atol=1e-14
    )


class Far(NamedTuple):
    """The logarithm of a probability; how mpmath has it; places and shapes."""

    name: str
    exact: Callable[..., Any]
    places: list[tuple[float, float]]


FAR = [
    Far("invgauss.logsf", lambda m, x, mu: m.log(
        m.ncdf((1 - x / mu) / m.sqrt(x)) - m.exp(2 / mu) * m.ncdf(-(1 + x / mu) / m.sqrt(x))
    ), [(3.0, 1.0), (30.0, 0.1), (5.0, 20.0), (500.0, 20.0), (1e6, 1.0), (1e10, 0.3), (1e20, 1.0)]),
    Far("exponnorm.logcdf", lambda m, x, k: m.log(
        m.ncdf(x) - m.exp(1 / (2 * k * k) - x / k) * m.ncdf(x - 1 / k)
    ), [(-0.5, 1.0), (-5.0, 1e4), (-1e2, 1e9), (-1e5, 0.3), (-1e8, 3.0), (-1e20, 1.0)]),
    Far("gamma.logsf", lambda m, x, a: (
        (a - 1) * m.log(x) - x - m.loggamma(a) + m.log(m.hyp2f0(1 - a, 1, -1 / x))
    ), [(2e3, 2.0), (1e6, 0.3), (1e7, 900.0), (1e12, 5.5), (1e20, 2.0), (1e160, 2.5)]),
]  # fmt: skip


@pytest.mark.parametrize("far", FAR, ids=lambda f: f.name)
def test_logarithms_of_probabilities_far_out(far: Far) -> None:
    mpmath = pytest.importorskip("mpmath")
    name, method = far.name.split(".")
    f = getattr(getattr(stats, name), method)
    for x, shape in far.places:
        with mpmath.workdps(60 + 4 * round(math.log10(1.0 + abs(x)))):
            args = [mpmath.mpf(x), mpmath.mpf(shape)]
            np.testing.assert_allclose(f(x, shape), float(far.exact(mpmath, *args)), rtol=1e-13)
            slopes = funcgrad.grad(f, argnums=(0, 1))(np.float64(x), np.float64(shape))
            for i in range(2):
                step = args[i] * mpmath.mpf(10) ** -12
                values = []
                for sign in (1, -1):
                    place = list(args)
                    place[i] += sign * step
                    values.append(far.exact(mpmath, *place))
                expected = float((values[0] - values[1]) / (2 * step))
                np.testing.assert_allclose(slopes[i], expected, rtol=1e-11, err_msg=str((x, i)))


@settings(deadline=None)
@given(
    size=st.sampled_from([1e16, 1e10, 1e5, 300.0])
    | st.floats(0.6, 80.0).map(lambda v: round(v, 3)),
    c=st.sampled_from([2.0, 0.7, -3.0, 11.0]),
)
def test_variances_of_large_shapes(size: float, c: float) -> None:
    """They are small differences of large moments."""
    mpmath = pytest.importorskip("mpmath")
    a = size - min(0.0, 2.0 / c)

    def exact(a: Any) -> Any:
        ratios = [
            mpmath.exp(mpmath.loggamma(a + k / mpmath.mpf(c)) - mpmath.loggamma(a)) for k in (1, 2)
        ]
        return ratios[1] - ratios[0] ** 2

    with mpmath.workdps(90):
        place = mpmath.mpf(a)
        step = place * mpmath.mpf(10) ** -15
        slope = float((exact(place + step) - exact(place - step)) / (2 * step))
        value = float(exact(place))
        scaled = 2.0 * float(exact(mpmath.mpf(size)))
    args = np.float64(a), np.float64(c)
    rtol = 2e-12  # that of the mean
    np.testing.assert_allclose(stats.gengamma.var(*args), value, rtol=rtol)
    np.testing.assert_allclose(
        funcgrad.grad(stats.gengamma.var)(*args), slope, rtol=1e-9, atol=1e-12 * value
    )
    if c == 2.0:
        np.testing.assert_allclose(stats.chi.var(2.0 * size), scaled, rtol=rtol)
        np.testing.assert_allclose(stats.nakagami.var(size), 0.5 * scaled / size, rtol=rtol)


@pytest.mark.parametrize("k", [0.3, 0.03, 1e-3, 1e-9, 1e-12])
@pytest.mark.parametrize("z", [-40.0, -1.0, 0.3, 2.0, 12.0])
def test_exponnorm_of_a_small_shape(z: float, k: float) -> None:
    """Two squares that cancel are large then."""
    mpmath = pytest.importorskip("mpmath")

    def exact(z: Any, k: Any) -> Any:
        t = (1 / k - z) / mpmath.sqrt(2)
        return 1 / (2 * k * k) - z / k + mpmath.log(mpmath.erfc(t) / (2 * k))

    with mpmath.workdps(60):
        places = [mpmath.mpf(z), mpmath.mpf(k)]
        if k < 1e-4:  # by the first terms of the series, as erfc is too small a number
            value = mpmath.log(mpmath.npdf(places[0]) * (1 + places[1] * z))
            slopes = [k - z, z + k * (z * z - 2.0)]  # but for terms in k**2
        else:
            value = exact(*places)
            slopes = [float(mpmath.diff(exact, places, order)) for order in ((1, 0), (0, 1))]
    args = np.float64(z), np.float64(k)
    np.testing.assert_allclose(stats.exponnorm.logpdf(*args), float(value), rtol=1e-13)
    found = funcgrad.grad(stats.exponnorm.logpdf, argnums=(0, 1))(*args)
    np.testing.assert_allclose(found, slopes, rtol=2e-12, atol=1e-11 * (k > 1e-4))
    assert np.isfinite(funcgrad.grad(stats.exponnorm.logpdf, argnums=(0, 1))(z, 1e-160)).all()


@settings(deadline=None)
@given(b=st.floats(0.0, 60.0).map(lambda v: round(v, 3)))
def test_the_variance_of_rices_distribution(b: float) -> None:
    mpmath = pytest.importorskip("mpmath")

    def exact(b: Any) -> Any:
        return 2 + b * b - mpmath.pi / 2 * mpmath.hyp1f1(-0.5, 1, -b * b / 2) ** 2

    with mpmath.workdps(60):
        value, slope = float(exact(mpmath.mpf(b))), float(mpmath.diff(exact, mpmath.mpf(b)))
    np.testing.assert_allclose(stats.rice.var(b), value, rtol=1e-12)
    np.testing.assert_allclose(funcgrad.grad(stats.rice.var)(b), slope, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(
        stats.rice.var([1e4, 1e8, 1e160]), [1.0 - 5e-9, 1.0, 1.0], rtol=1e-15
    )


@settings(deadline=None)
@given(
    k=st.sampled_from([-690.0, 3.0, 30.0, 400.0, -2000.0]),
    low=st.sampled_from([1e-200, 1e-9, 0.4, 6.0]),
    share=st.floats(1e-3, 1.5).map(lambda v: round(v, 3)),
)
def test_skellams_probabilities_of_large_differences(k: float, low: float, share: float) -> None:
    """Bessel's function underflows, the probability need not."""
    mpmath = pytest.importorskip("mpmath")
    high = share * abs(k)
    with mpmath.workdps(60):
        mp_low, mp_high, order = mpmath.mpf(low), mpmath.mpf(high), abs(k)
        root = mpmath.sqrt(mp_low * mp_high)
        bessel = mpmath.besseli(order, 2 * root)
        # I_v' = I_v+1 + v / x I_v; by a mean m that is 2 root / (2 m) times as much
        ratio = root * mpmath.besseli(order + 1, 2 * root) / bessel
        value = order / 2 * mpmath.log(mp_high / mp_low) + mpmath.log(bessel) - mp_low - mp_high
        slopes = [float(ratio / mp_low - 1), float((ratio + order) / mp_high - 1)]
        value, chance = float(value), float(mpmath.exp(value))
    flipped = k < 0
    args = [np.float64(v) for v in ((low, high) if flipped else (high, low))]
    np.testing.assert_allclose(stats.skellam.logpmf(k, *args), value, rtol=1e-12, atol=1e-9)
    np.testing.assert_allclose(stats.skellam.pmf(k, *args), chance, rtol=1e-9, atol=1e-300)
    found = funcgrad.grad(stats.skellam.logpmf, argnums=(1, 2))(k, *args)
    off = np.abs(np.array(found if flipped else found[::-1]) - slopes)
    cancelled = 1e-13 * order / np.array([low, high])
    assert (off <= 1e-9 * np.abs(slopes) + cancelled + 1e-12).all()


@pytest.mark.parametrize("c", [1e-3, 0.01, 0.5])
@pytest.mark.parametrize("z", [-99.0, -101.0, -900.0, -3000.0])
def test_loggamma_where_the_gamma_variable_underflows(z: float, c: float) -> None:
    """There the probability below is ``exp(c z) / gamma(c + 1)``, which is not small for small c."""
    below = np.exp(c * z - special.gammaln(c + 1.0))
    by_c = z - special.digamma(c + 1.0)
    np.testing.assert_allclose(stats.loggamma.sf(z, c), 1.0 - below, rtol=1e-12)
    slopes = np.array([c, by_c]) * below
    bends = np.array([[c * c, 1.0 + c * by_c], [0.0, by_c**2 - special.polygamma(1, c + 1.0)]])
    bends = below * (np.triu(bends) + np.triu(bends, 1).T)
    for name, sign in (("cdf", 1.0), ("sf", -1.0)):
        _, first, second = jet(getattr(stats.loggamma, name), z, c)
        np.testing.assert_allclose(first, sign * slopes, rtol=1e-9, atol=1e-300)
        np.testing.assert_allclose(second, sign * bends, rtol=1e-7, atol=1e-300)
    share = -slopes / (1.0 - below)
    _, first, second = jet(stats.loggamma.logsf, z, c)
    np.testing.assert_allclose(first, share, rtol=1e-9, atol=1e-300)
    expected = -bends / (1.0 - below) - np.outer(share, share)
    np.testing.assert_allclose(second, expected, rtol=1e-7, atol=1e-300)


@pytest.mark.parametrize("below", [1e-3, 0.4])
def test_quantiles_of_loggamma_where_the_gamma_variable_underflows(below: float) -> None:
    c = 1e-3
    z = (np.log(below) + special.gammaln(c + 1.0)) / c
    by_c = (special.digamma(c + 1.0) - z) / c
    for method, q, sign in (("ppf", below, 1.0), ("isf", 1.0 - below, -1.0)):
        value, first, _ = jet(getattr(stats.loggamma, method), q, c)
        np.testing.assert_allclose(value, z, rtol=1e-12)
        np.testing.assert_allclose(first, [sign / (c * below), by_c], rtol=1e-12)


@pytest.mark.parametrize("z", [-1500.0, -720.0, -30.0, -8.1, -7.9, -1.0, 0.5, 30.0, 300.0])
def test_logarithms_of_the_tails_of_hypsecant_and_moyal(z: float) -> None:
    """``2 arctan(e**z) / pi``, and ``erf(e**(z / 2) / sqrt(2))`` from above."""
    mpmath = pytest.importorskip("mpmath")
    with mpmath.workdps(700):
        exact = [
            [float(mpmath.diff(f, mpmath.mpf(z), k)) for k in range(3)]
            for f in (
                lambda x: mpmath.log(2 * mpmath.atan(mpmath.exp(x)) / mpmath.pi),
                lambda x: mpmath.log(mpmath.erf(mpmath.exp(x) / mpmath.sqrt(2))),
            )
        ]
    found = [
        jet(stats.hypsecant.logcdf, z),
        jet(lambda x: stats.moyal.logsf(-2.0 * x), z) if z < 2.0 else None,
    ]
    mirrored = jet(lambda x: stats.hypsecant.logsf(-x), z)
    for truth, jets in ((exact[0], found[0]), (exact[0], mirrored), (exact[1], found[1])):
        if jets is not None:
            np.testing.assert_allclose(
                [np.ravel(v)[0] for v in jets], truth, rtol=1e-8, atol=1e-300
            )
    for dtype in (np.float32, np.float64):  # where nothing is left of the other side
        assert funcgrad.grad(stats.hypsecant.logcdf)(dtype(1e4)) == 0.0
        assert funcgrad.grad(stats.moyal.logsf)(dtype(1e4)) == -0.5


@pytest.mark.parametrize("c", [0.5, 1.0, 2.0])
@pytest.mark.parametrize("q", [1e-14, 1e-6, 0.3])
def test_quantiles_near_the_end_of_bounded_extremes(c: float, q: float) -> None:
    """``(1 - q**c) / c`` and ``(1 - (-log(1 - q))**c) / c``, whose slopes cancelled far up."""
    rate = -np.log1p(-q)
    expected = {
        "genpareto": (-(q ** (c - 1)), -(c - 1) * q ** (c - 2)),
        "genextreme": (
            -(rate ** (c - 1)) / (1 - q),
            (-(c - 1) * rate ** (c - 2) - rate ** (c - 1)) / (1 - q) ** 2,
        ),
    }
    for name, exact in expected.items():
        shape = -c if name == "genpareto" else c
        f = getattr(stats, name).isf
        slope = funcgrad.grad(f)
        np.testing.assert_allclose(slope(q, shape), exact[0], rtol=1e-12)
        atol = 1e-13 * rate ** (c - 2)  # c = 1: there two terms are one another's opposite
        np.testing.assert_allclose(funcgrad.grad(slope)(q, shape), exact[1], rtol=1e-12, atol=atol)


@pytest.mark.parametrize("name", ["betaprime", "f"])
@pytest.mark.parametrize("shapes", [(0.3, 0.5), (1.0, 0.5), (2.0, 30.0)], ids=str)
@pytest.mark.parametrize("q", [1e-12, 0.4, 1.0 - 1e-9])
def test_second_derivatives_of_quantiles_next_to_an_end(
    name: str, shapes: tuple[float, float], q: float
) -> None:
    """The quantile of the odds, from the beta quantile that is not 1 but for rounding."""
    ours = getattr(stats, name)
    for method, sign in (("ppf", 1.0), ("isf", -1.0)):
        x, first, second = jet(getattr(ours, method), q, *shapes)
        density, slopes = ours.pdf(x, *shapes), funcgrad.grad(ours.pdf)(x, *shapes)
        np.testing.assert_allclose(first[0], sign / density, rtol=1e-9)
        curvature, scale = -slopes / density**3, np.abs(x) / min(q, 1.0 - q) ** 2
        np.testing.assert_allclose(second[0, 0], curvature, rtol=1e-8, atol=1e-12 * scale)
        assert np.isfinite(second).all()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("u", [-60.0, -30.0, -8.1, -7.9, -2.0, 1.0])
def test_logcdf_of_weibull_by_its_exponent(u: float, dtype: Any) -> None:
    """At ``z = e**u`` and a >= 1 that is ``a log(1 - exp(-e**(c u)))``, with c = 1 here."""
    mpmath = pytest.importorskip("mpmath")
    z = np.exp(dtype(u))

    def logcdf(c: Any) -> Any:
        return 2 * mpmath.log(-mpmath.expm1(-(mpmath.mpf(float(z)) ** c)))

    with mpmath.workdps(80):
        exact = [float(mpmath.diff(logcdf, 1, k)) for k in (1, 2)]
    _, first, second = jet(lambda c: stats.exponweib.logcdf(z, dtype(2.0), c), dtype(1.0))
    found = np.ravel(first)[0], np.ravel(second)[0]
    np.testing.assert_allclose(found, exact, rtol=1e-10 if dtype is np.float64 else 2e-3)


@pytest.mark.parametrize(
    ("dtype", "k", "q"), [(np.float64, 3, 1e-6), (np.float64, 24, 1e-10), (np.float32, 43, 1e-4)]
)
def test_curvatures_of_logarithms_of_tiny_probabilities(dtype: Any, k: int, q: float) -> None:
    """The squares of the probabilities vanish; they are ``choose(50, k) q**(50 - k)``, almost."""
    found = funcgrad.grad(funcgrad.grad(stats.binom.logcdf, argnums=2), argnums=2)
    q = dtype(q)
    expected = -(50 - k) / q / q
    rtol = 5e-3 if dtype is np.float32 else 1e-4
    curvature = funcgrad.hessian(lambda q: stats.binom.logcdf(dtype(k), dtype(50), 1 - q))(q)
    np.testing.assert_allclose(curvature, expected, rtol=rtol)
    assert np.isfinite(found(dtype(k), dtype(50), 1 - q))


@pytest.mark.parametrize("n", [1e-12, 1e-8, 0.01, 3.0, 1e8])
def test_derivatives_of_nbinom_by_few_and_many_successes(n: float) -> None:
    """Ways to fail k times are ``n (n + 1) ... (n + k - 1) / k!``, one if k = 0."""
    p = 0.3
    for k in range(4):
        parts = n + np.arange(k)
        exact = np.sum(1.0 / parts) + np.log(p), -np.sum(1.0 / parts**2)
        slope = funcgrad.grad(stats.nbinom.logpmf, argnums=1)
        found = slope(k, n, p), funcgrad.grad(slope, argnums=1)(k, n, p)
        np.testing.assert_allclose(found, exact, rtol=1e-11)
        ways = np.sum(np.log(parts)) - special.gammaln(k + 1.0)
        value = ways + n * np.log(p) + k * np.log1p(-p)
        np.testing.assert_allclose(stats.nbinom.logpmf(k, n, p), value, rtol=1e-11)


@pytest.mark.parametrize("family", CONTINUOUS, ids=lambda f: f.name)
@pytest.mark.parametrize("share", [0.05, 0.5, 0.95])
@np.errstate(all="ignore")
def test_probabilities_slope_by_the_density_wherever_there_is_one(
    family: Family, share: float
) -> None:
    """Beside probabilities that are 1 to the last digit, too."""
    ours, shapes = getattr(stats, family.name), shapes_of(family, share)
    sizes = [1e-8, 1e-3, 0.1, 0.5, 0.9, 1.5, 2, 3, 4, 5, 7, 10, 15, 20, 36, 100, 1e4]
    x = np.array([sign * size for size in sizes for sign in (1.0, -1.0)])
    density = ours.pdf(x, *shapes)
    for method in ("cdf", "sf", "logcdf", "logsf"):
        if method in family.without.split():
            continue
        probability = getattr(ours, method)
        slope = funcgrad.grad(lambda v, f=probability: f(v, *shapes).sum())(x)
        whole = getattr(ours, method[3:])(x, *shapes) if method.startswith("log") else 1.0
        expected = (density if method.endswith("cdf") else -density) / whole
        known = (density > 1e-290) & np.isfinite(expected)
        np.testing.assert_allclose(slope[known], expected[known], rtol=1e-8, err_msg=method)


def test_logarithms_of_probabilities_next_to_one() -> None:
    """They are minus the other probability: no difference of numbers near log 2."""
    x = np.array([1e-30, 1e-10, 1e-5])
    for family in ("halfnorm", "halflogistic"):
        ours = getattr(stats, family)
        np.testing.assert_allclose(ours.logsf(x), np.log1p(-ours.cdf(x)), rtol=1e-14)
    x = np.array([20.0, 60.0, 500.0])
    np.testing.assert_allclose(stats.moyal.logcdf(x), np.log1p(-stats.moyal.sf(x)), rtol=1e-13)


@pytest.mark.parametrize("name", ["dgamma", "dweibull"])
@pytest.mark.parametrize("shape", [0.5, 1.0, 2.0])
@np.errstate(all="ignore")
def test_slopes_in_the_middle_of_doubled_variables(name: str, shape: float) -> None:
    """They are the density, and one over it, also where that is 0 or infinite."""
    ours, z, q = getattr(stats, name), np.float64(0.0), np.float64(0.5)
    density = ours.pdf(z, shape)
    for sign, forth, back in ((1.0, ours.cdf, ours.ppf), (-1.0, ours.sf, ours.isf)):
        assert funcgrad.grad(forth)(z, shape) == sign * density
        assert funcgrad.grad(back)(q, shape) == sign / density


@pytest.mark.parametrize("beta", [40.0, 675.0, 3000.0])
@pytest.mark.parametrize("q", [1e-10, 0.01, 0.3])
def test_quantiles_of_nearly_uniform_variables(beta: float, q: float) -> None:
    """They are roots of quantiles of gamma variables, which underflow."""
    r = np.float64(1.0 / beta)
    size = special.gamma(1.0 + r)
    by_beta = -q * size * special.digamma(1.0 + r) * r * r
    for f, at, steep in ((stats.halfgennorm.ppf, q, 1.0), (stats.gennorm.ppf, 0.5 + 0.5 * q, 2.0)):
        x, slopes, seconds = jet(f, at, beta)
        np.testing.assert_allclose([x, slopes[1]], [q * size, by_beta], rtol=1e-6)
        np.testing.assert_allclose(slopes[0], steep * size, rtol=1e-9)
        assert np.isfinite(seconds).all()
