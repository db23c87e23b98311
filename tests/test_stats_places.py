"""`funcgrad.scipy.stats` at single places: ends, middles, shapes near 0, and far beyond underflow."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import funcgrad
from funcgrad.scipy import stats

EDGES = [  # name, method, the end, the shapes, the slope from inside
    ("expon", "pdf", 0.0, (), -1.0),
    ("gamma", "pdf", 0.0, (2.0,), 1.0),
    ("gamma", "pdf", 0.0, (1.0,), -1.0),
    ("gamma", "pdf", 0.0, (300.0,), 0.0),
    ("chi2", "pdf", 0.0, (4.0,), 0.25),
    ("beta", "pdf", 0.0, (2.0, 3.0), 12.0),
    ("beta", "pdf", 1.0, (2.0, 2.0), -6.0),
    ("beta", "pdf", 0.0, (900.0, 900.0), 0.0),
    ("f", "pdf", 0.0, (2.0, 2.0), -2.0),
    ("weibull_min", "pdf", 0.0, (2.0,), 2.0),
    ("rayleigh", "pdf", 0.0, (), 1.0),
    ("pareto", "logpdf", 1.0, (3.0,), -4.0),
    ("halfcauchy", "cdf", 0.0, (), 2.0 / math.pi),
    ("uniform", "cdf", 1.0, (), 1.0),
    ("uniform", "ppf", 0.0, (), 1.0),
    ("expon", "logsf", 0.0, (), -1.0),
    ("gamma", "sf", 0.0, (1.0,), -1.0),
    ("laplace", "logpdf", 0.0, (), 0.0),
    ("genpareto", "pdf", 1.0, (-1.0,), 0.0),
    ("genpareto", "pdf", 2.0, (-0.5,), -0.5),
    ("truncweibull_min", "pdf", 0.0, (2.0, 0.0, 1.0), 2.0 / -math.expm1(-1.0)),
    ("halfgennorm", "pdf", 0.0, (1.0,), -1.0),
    ("halfgennorm", "logpdf", 0.0, (1.0,), -1.0),
    ("genpareto", "pdf", 0.0, (0.0,), -1.0),
    ("genpareto", "sf", 2.0, (-0.5,), 0.0),
    ("lomax", "pdf", 0.0, (3.0,), -12.0),
    ("gompertz", "pdf", 0.0, (3.0,), -6.0),
    ("weibull_max", "pdf", 0.0, (2.0,), -2.0),
    ("maxwell", "pdf", 0.0, (), 0.0),
    ("chi", "pdf", 0.0, (2.0,), 1.0),
    ("fisk", "pdf", 0.0, (2.0,), 2.0),
    ("fisk", "sf", 0.0, (1.0,), -1.0),
    ("rice", "pdf", 0.0, (0.0,), 1.0),
    ("gengamma", "pdf", 0.0, (2.0, -1.0), 0.0),
    ("gengamma", "logsf", 0.0, (2.0, -1.0), 0.0),
    ("halflogistic", "cdf", 0.0, (), 0.5),
    ("triang", "pdf", 0.0, (0.25,), 8.0),
    ("triang", "pdf", 1.0, (1.0,), 2.0),
    ("triang", "sf", 0.0, (0.0,), -2.0),
    ("gengamma", "cdf", 0.0, (0.5, 2.0), 2.0 / math.sqrt(math.pi)),
    ("gengamma", "logsf", 0.0, (2.0, 0.5), -0.5),
    ("chi", "cdf", 0.0, (1.0,), math.sqrt(2.0 / math.pi)),
    ("chi", "logsf", 0.0, (2.0,), 0.0),
    ("nakagami", "sf", 0.0, (0.5,), -math.sqrt(2.0 / math.pi)),
    ("nakagami", "cdf", 0.0, (3.0,), 0.0),
    ("burr", "cdf", 0.0, (0.5, 2.0), 1.0),
    ("burr", "logsf", 0.0, (2.0, 0.5), -1.0),
    ("exponweib", "cdf", 0.0, (2.0, 0.5), 1.0),
    ("exponweib", "sf", 0.0, (1.0, 1.0), -1.0),
    ("exponweib", "logsf", 0.0, (3.0, 2.0), 0.0),
]


@pytest.mark.parametrize(("name", "method", "x", "shapes", "slope"), EDGES)
def test_slopes_at_the_ends_are_those_from_inside(
    name: str, method: str, x: float, shapes: Any, slope: float
) -> None:
    f = getattr(getattr(stats, name), method)
    np.testing.assert_allclose(funcgrad.grad(f)(x, *shapes), slope, atol=1e-15)
    for i in range(len(shapes)):
        by_shape = funcgrad.grad(f, argnums=i + 1)(x, *map(np.float64, shapes))
        assert np.isfinite(by_shape) or shapes[i] == 1.0


STEEP = [  # name, shapes, the density at 0: its slope there is infinite
    ("gamma", (1.5,), 0.0),
    ("chi2", (3.0,), 0.0),
    ("chi", (1.5,), 0.0),
    ("nakagami", (0.75,), 0.0),
    ("beta", (1.3, 2.0), 0.0),
    ("f", (3.0, 4.0), 0.0),
    ("weibull_min", (1.5,), 0.0),
    ("weibull_max", (1.5,), 0.0),
    ("fisk", (1.2,), 0.0),
    ("gengamma", (2.0, 0.5), 0.5),
    ("burr", (0.5, 2.0), 1.0),
    ("burr12", (1.5, 2.0), 0.0),
    ("exponweib", (2.0, 0.5), 1.0),
    ("gamma", (0.5,), math.inf),
    ("nakagami", (0.3,), math.inf),
    ("fisk", (0.5,), math.inf),
    ("weibull_min", (0.7,), math.inf),
]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(("name", "shapes", "peak"), STEEP)
def test_scales_at_ends_with_an_infinite_slope(name: str, shapes: Any, peak: float) -> None:
    """No scale moves 0, so 0 times the slope is 0; the density is over the scale."""
    d = getattr(stats, name)
    scale = funcgrad.grad(lambda s: d.pdf(0.0, *shapes, scale=s))(np.float64(2.0))
    np.testing.assert_allclose(scale, -peak / 4.0)
    assert np.isinf(funcgrad.grad(d.pdf)(0.0, *shapes)) or peak == math.inf
    for method in ("cdf", "sf"):
        f = getattr(d, method)
        assert funcgrad.grad(lambda s, f=f: f(0.0, *shapes, scale=s))(np.float64(2.0)) == 0.0
        for i in range(len(shapes)):
            by_shape = funcgrad.grad(f, argnums=1 + i)(0.0, *map(np.float64, shapes))
            assert by_shape == 0.0


@pytest.mark.parametrize(
    ("name", "shapes"), [("gengamma", (0.5, 2.0)), ("chi", (2.0,)), ("burr", (1.0, 1.0))]
)
def test_second_derivatives_at_an_end(name: str, shapes: Any) -> None:
    d = getattr(stats, name)
    by_all = tuple(range(len(shapes) + 3))
    args = [np.float64(v) for v in (0.0, *shapes, 0.0, 2.0)]
    of_cdf = funcgrad.grad(funcgrad.grad(d.cdf), argnums=by_all)(*args)
    np.testing.assert_allclose(of_cdf, funcgrad.grad(d.pdf, argnums=by_all)(*args), atol=1e-14)


@pytest.mark.parametrize("df", [0.5, 3.0, 200.0])
def test_quantiles_of_student_around_the_median(df: float) -> None:
    off = np.array([-0.0089, -0.002, 0.0, 1e-5, 0.01, 0.013])
    t = stats.t.ppf(0.5 + off, df)
    np.testing.assert_allclose(stats.t.cdf(t, df) - 0.5, off, rtol=1e-11)
    slopes = funcgrad.elementwise_grad(lambda q: stats.t.ppf(q, df))(0.5 + off)
    np.testing.assert_allclose(slopes, 1.0 / stats.t.pdf(t, df), rtol=1e-11)


@pytest.mark.parametrize(
    ("log_tail", "z", "shape", "value", "slopes"),
    [
        (
            stats.exponnorm.logcdf,
            -1e5,
            0.3,
            -5000000022.74085,
            (100000.00001999967, -3.333222225925836),
        ),
        (stats.exponnorm.logcdf, -1e10, 1.0, -5e19, (1e10, -1.0)),
        (stats.invgauss.logsf, 1e10, 0.3, -55555555589.394745, (-5.5555555557, None)),
        (stats.loggamma.logsf, 1e3, 2.0, -math.inf, (-math.inf, None)),
    ],
    ids=repr,
)
def test_logarithms_far_beyond_underflow(
    log_tail: Any, z: float, shape: float, value: float, slopes: tuple[Any, Any]
) -> None:
    with np.errstate(over="ignore"):
        np.testing.assert_allclose(log_tail(z, shape), value, rtol=1e-12)
        for i, slope in enumerate(slopes):
            if slope is not None:
                found = funcgrad.grad(log_tail, argnums=i)(z, shape)
                np.testing.assert_allclose(found, slope, rtol=1e-5)


@given(beta=st.floats(0.6, 4.0))
def test_the_middle_of_an_even_distribution(beta: float) -> None:
    """There the power that leads to a quantile of `gennorm` has no slope, the quantile has one."""
    by_q, by_beta = funcgrad.grad(stats.gennorm.ppf, argnums=(0, 1))(0.5, beta)
    np.testing.assert_allclose(by_q, 1 / stats.gennorm.pdf(0.0, beta))
    assert by_beta == 0.0


@pytest.mark.parametrize("c", [-0.0999, -1e-3, -1e-9, 0.0, 1e-12, 1e-4, 0.099, 0.101, -0.3])
def test_shapes_near_zero(c: float) -> None:
    """Where the formulas of extremes are 0 / 0: their moments, and all slopes by the shape."""
    mpmath = pytest.importorskip("mpmath")
    with mpmath.workdps(90):

        def mean(c: Any) -> Any:
            return (1 - mpmath.gamma(1 + c)) / c

        def var(c: Any) -> Any:
            return (mpmath.gamma(1 + 2 * c) - mpmath.gamma(1 + c) ** 2) / c**2

        def logpdf(c: Any) -> Any:
            w = 1 - c * mpmath.mpf(1.5)
            return (1 / c - 1) * mpmath.log(w) - w ** (1 / c)

        def isf(c: Any) -> Any:
            return (1 - (-mpmath.log1p(-mpmath.mpf(0.001))) ** c) / c

        for method, args, exact in (
            ("mean", (), mean), ("var", (), var), ("logpdf", (1.5,), logpdf), ("isf", (0.001,), isf)
        ):  # fmt: skip
            f = getattr(stats.genextreme, method)
            at, step = mpmath.mpf(c) + mpmath.mpf(10) ** -25, mpmath.mpf(10) ** -15
            values = [exact(at + k * step) for k in (-1, 0, 1)]
            first = (values[2] - values[0]) / (2 * step)
            second = (values[2] - 2 * values[1] + values[0]) / step**2
            slope = funcgrad.grad(f, argnums=len(args))
            found = f(*args, c), slope(*args, c), funcgrad.grad(slope, argnums=len(args))(*args, c)
            for y, expected, rtol in zip(
                found, (values[1], first, second), (1e-12, 1e-10, 1e-7), strict=True
            ):
                np.testing.assert_allclose(y, float(expected), rtol=rtol, err_msg=method)


@pytest.mark.parametrize("c", [1e-300, 1e-12, 1e-8, 1e-3, 0.5, 1e3])
def test_bradfords_distribution_is_smooth_for_small_shapes(c: float) -> None:
    """It nears the uniform one, where its formulas are 0 / 0."""
    mpmath = pytest.importorskip("mpmath")
    z = mpmath.mpf(0.375)
    with mpmath.workdps(800):
        for method, exact in (
            ("logpdf", lambda c: mpmath.log(c / mpmath.log1p(c)) - mpmath.log1p(c * z)),
            ("cdf", lambda c: mpmath.log1p(c * z) / mpmath.log1p(c)),
            ("sf", lambda c: 1 - mpmath.log1p(c * z) / mpmath.log1p(c)),
            ("ppf", lambda c: mpmath.expm1(z * mpmath.log1p(c)) / c),
            ("isf", lambda c: mpmath.expm1((1 - z) * mpmath.log1p(c)) / c),
        ):
            step = mpmath.mpf(c) / 10**20
            low, here, high = (exact(c + k * step) for k in (-1, 0, 1))
            first, second = (high - low) / (2 * step), (high - 2 * here + low) / step**2
            f = getattr(stats.bradford, method)
            slope = funcgrad.grad(f, argnums=1)
            found = slope(0.375, c), funcgrad.grad(slope, argnums=1)(0.375, c)
            np.testing.assert_allclose(found, [float(first), float(second)], rtol=1e-10)


@pytest.mark.parametrize("z", [1e-300, 0.3, 1.0])
def test_a_loglaplace_variable_of_shape_one_has_a_slope_by_it(z: float) -> None:
    """There its density is constant up to 1, and ``(c - 1) log(z)`` is 0."""
    found = funcgrad.grad(stats.loglaplace.logpdf, argnums=(0, 1))(z, 1.0)
    np.testing.assert_allclose(found, (0.0, 1.0 + math.log(z)), rtol=1e-15)


@pytest.mark.parametrize(
    ("name", "shape"),
    [("skewcauchy", -0.6), ("skewcauchy", 0.3), ("vonmises", 0.0), ("vonmises", 3.0),
     ("gennorm", 1.5), ("t", 3.0), ("skewnorm", 2.0)],
)  # fmt: skip
def test_probabilities_move_by_the_density_at_the_middle(name: str, shape: float) -> None:
    """Of formulas for either side the one that counts at 0 has its slope there."""
    family = getattr(stats, name)
    density = family.pdf(0.0, shape)
    for f, sign in ((family.cdf, 1.0), (family.sf, -1.0)):
        for turn in (0.0, 2.0 * math.pi if name == "vonmises" else 0.0):
            np.testing.assert_allclose(funcgrad.grad(f)(turn, shape), sign * density, rtol=1e-12)
            bend = funcgrad.hessian(f)(turn, shape)
            slope = funcgrad.grad(family.pdf)(turn, shape)
            np.testing.assert_allclose(bend, sign * slope, rtol=1e-12, atol=1e-12)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_shapes_move_densities_at_ends_with_an_infinite_slope() -> None:
    found = funcgrad.grad(stats.kappa3.logpdf, 1)(0.0, 0.5)  # of -log(a) / a
    np.testing.assert_allclose(found, (math.log(0.5) - 1.0) / 0.25, rtol=1e-14)
    by_all = funcgrad.grad(stats.truncweibull_min.pdf, argnums=(1, 2, 3, 5))
    assert by_all(0.0, 1.5, 0.0, 1.0, 0.0, 1.0) == (0.0, 0.0, 0.0, 0.0)
