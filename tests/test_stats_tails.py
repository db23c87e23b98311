"""Tails of `funcgrad.scipy.stats` beyond underflow, and their derivatives, beside mpmath."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

import funcgrad
from funcgrad.scipy import stats
from funcgrad.scipy.stats.continuous import ContinuousDistribution

pytest.importorskip("scipy.stats")


class Tail(NamedTuple):
    """A logarithm of a probability, and the same by mpmath, whose first argument it is."""

    name: str
    method: str
    x: float
    shapes: tuple[float, ...]
    exact: Callable[..., Any]
    shape_moves: bool = True  # mpmath can be differentiated by the first shape


def gamma_above(m: Any, a: Any, x: Any) -> Any:
    return m.log(m.gammainc(a, x, m.inf, regularized=True))


def gamma_below(m: Any, a: Any, x: Any) -> Any:
    return m.log(m.gammainc(a, 0, x, regularized=True))


def beta_below(m: Any, a: Any, b: Any, x: Any) -> Any:
    return m.log(m.betainc(a, b, 0, x, regularized=True))


def student_below(m: Any, x: Any, df: Any) -> Any:
    return beta_below(m, df / 2, m.mpf(0.5), df / (df + x * x)) - m.log(2)


def rice_between(m: Any, low: Any, high: Any, b: Any, parts: int) -> Any:
    steps = [low + (high - low) * k / parts for k in range(parts + 1)]
    return m.log(
        m.quad(lambda t: t * m.exp(-((t - b) ** 2) / 2 - b * t) * m.besseli(0, b * t), steps)
    )


def skewed_below(m: Any, x: Any, a: Any) -> Any:
    steps = [x - far for far in (9, 3, 1, 0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 0)]
    return m.log(m.quad(lambda z: 2 * m.npdf(z) * m.ncdf(a * z), steps))


def pearson(x: Any, skew: Any) -> Any:
    return 4 / skew**2 + 2 * x / skew


def noncentral(m: Any, nc: Any, f: Callable[[int], Any]) -> Any:
    """The mean of `f` of a Poisson variable."""
    return m.exp(-nc / 2) * m.fsum((nc / 2) ** j / m.factorial(j) * f(j) for j in range(350))


def skellam_from(m: Any, k: Any, a: Any, b: Any) -> Any:
    """The probability of k or more, for k above the mean."""
    scale, root = m.exp(-a - b), m.sqrt(a * b)
    terms = ((a / b) ** (j / 2) * m.besseli(j, 2 * root) for j in (k + i for i in range(200)))
    return scale * m.fsum(terms)


def beta_binomial_below(m: Any, k: Any, n: Any, a: Any, b: Any) -> Any:
    counts = range(int(k) + 1)
    return m.fsum(m.binomial(n, j) * m.beta(j + a, n - j + b) for j in counts) / m.beta(a, b)


TAILS = [
    Tail("norm", "logcdf", -40.0, (), lambda m, x: m.log(m.ncdf(x))),
    Tail("norm", "logsf", 1e3, (), lambda m, x: m.log(m.ncdf(-x))),
    Tail("halfnorm", "logsf", 60.0, (), lambda m, x: m.log(2 * m.ncdf(-x))),
    Tail("lognorm", "logsf", 1e3, (0.1,), lambda m, x, s: m.log(m.ncdf(-m.log(x) / s))),
    Tail("gamma", "logsf", 2e3, (3.0,), lambda m, x, a: gamma_above(m, a, x)),
    Tail("gamma", "logcdf", 1e-4, (300.0,), lambda m, x, a: gamma_below(m, a, x)),
    Tail("chi2", "logsf", 5e3, (5.0,), lambda m, x, df: gamma_above(m, df / 2, x / 2)),
    Tail("invgamma", "logcdf", 1e-4, (2.0,), lambda m, x, a: gamma_above(m, a, 1 / x)),
    Tail("loggamma", "logcdf", -900.0, (2.0,), lambda m, x, c: gamma_below(m, c, m.exp(x))),
    Tail("gennorm", "logsf", 60.0, (1.8,),
         lambda m, x, b: gamma_above(m, 1 / b, x**b) - m.log(2)),
    Tail("beta", "logcdf", 0.01, (300.0, 2.0), lambda m, x, a, b: beta_below(m, a, b, x)),
    Tail("beta", "logsf", 0.99, (2.0, 300.0), lambda m, x, a, b: beta_below(m, b, a, 1 - x)),
    Tail("f", "logcdf", 1e-3, (300.0, 9.0),
         lambda m, x, a, b: beta_below(m, a / 2, b / 2, a * x / (b + a * x))),
    Tail("t", "logcdf", -1e200, (3.0,), student_below),
    Tail("t", "logcdf", -90.0, (500.0,), student_below),
    Tail("logistic", "logcdf", -800.0, (), lambda m, x: -m.log1p(m.exp(-x))),
    Tail("gumbel_r", "logsf", 800.0, (), lambda m, x: m.log(-m.expm1(-m.exp(-x)))),
    Tail("weibull_min", "logcdf", 1e-200, (3.0,), lambda m, x, c: m.log(-m.expm1(-(x**c)))),
    Tail("cauchy", "logcdf", -1e100, (), lambda m, x: m.log(m.atan(-1 / x) / m.pi)),
    Tail("invgauss", "logsf", 900.0, (1.5,), lambda m, x, mu: m.log(
        m.ncdf(-(x / mu - 1) / m.sqrt(x)) - m.exp(2 / mu) * m.ncdf(-(x / mu + 1) / m.sqrt(x)))),
    Tail("exponnorm", "logcdf", -40.0, (2.0,), lambda m, x, k: m.log(
        m.ncdf(x) - m.exp(1 / (2 * k * k) - x / k) * m.ncdf(x - 1 / k))),
    Tail("truncnorm", "logcdf", 50.5, (50.0, 60.0), lambda m, x, a, b: m.log(
        (m.ncdf(-a) - m.ncdf(-x)) / (m.ncdf(-a) - m.ncdf(-b)))),
    Tail("skewnorm", "logcdf", -20.0, (3.0,), skewed_below),
    Tail("rice", "logsf", 8.0, (2.0,), lambda m, x, b: rice_between(m, x, x + 5, b, 12)),
    Tail("rice", "logcdf", 1e-5, (3.0,), lambda m, x, b: rice_between(m, m.mpf(0), x, b, 1)),
    Tail("genlogistic", "logsf", 800.0, (2.5,), lambda m, x, c: m.log(
        -m.expm1(-c * m.log1p(m.exp(-x))))),
    Tail("moyal", "logcdf", -6.0, (), lambda m, x: m.log(m.erfc(m.exp(-x / 2) / m.sqrt(2)))),
    Tail("moyal", "logsf", 60.0, (), lambda m, x: m.log(m.erf(m.exp(-x / 2) / m.sqrt(2)))),
    Tail("hypsecant", "logcdf", -800.0, (), lambda m, x: m.log(2 / m.pi * m.atan(m.exp(x)))),
    Tail("hypsecant", "logsf", -30.0, (), lambda m, x: m.log1p(-2 / m.pi * m.atan(m.exp(x)))),
    Tail("invweibull", "logsf", 1e8, (3.0,), lambda m, x, c: m.log(-m.expm1(-(x**-c)))),
    Tail("johnsonsu", "logcdf", -1e9, (0.5, 2.0),
         lambda m, x, a, b: m.log(m.ncdf(a + b * m.asinh(x)))),
    Tail("powerlaw", "logsf", 1e-9, (3.0,), lambda m, x, a: m.log1p(-(x**a))),
    Tail("genextreme", "logsf", 1e8, (-0.3,),
         lambda m, x, c: m.log(-m.expm1(-((1 - c * x) ** (1 / c))))),
    Tail("genextreme", "logcdf", -8.0, (1e-9,), lambda m, x, c: -((1 - c * x) ** (1 / c))),
    Tail("genextreme", "logpdf", 3.0, (-1e-4,), lambda m, x, c: (
        (1 / c - 1) * m.log(1 - c * x) - (1 - c * x) ** (1 / c))),
    Tail("genpareto", "logsf", 900.0, (1e-10,), lambda m, x, c: -m.log(1 + c * x) / c),
    Tail("genpareto", "logcdf", 1e-9, (-0.3,),
         lambda m, x, c: m.log(1 - (1 + c * x) ** (-1 / c))),
    Tail("genpareto", "logpdf", 2.0, (-0.4999999,), lambda m, x, c: -(1 + 1 / c) * m.log(1 + c * x)),
    Tail("gengamma", "logcdf", 1e-90, (3.0, 2.5), lambda m, x, a, c: gamma_below(m, a, x**c)),
    Tail("gengamma", "logsf", 1e90, (3.0, -2.5), lambda m, x, a, c: gamma_below(m, a, x**c)),
    Tail("gengamma", "logcdf", 0.01, (3.0, -2.0), lambda m, x, a, c: gamma_above(m, a, x**c)),
    Tail("maxwell", "logsf", 60.0, (), lambda m, x: gamma_above(m, m.mpf(1.5), x * x / 2)),
    Tail("nakagami", "logsf", 60.0, (2.0,), lambda m, x, nu: gamma_above(m, nu, nu * x * x)),
    Tail("fisk", "logcdf", 1e-200, (3.0,), lambda m, x, c: m.log(x**c / (1 + x**c))),
    Tail("fisk", "logsf", 1e200, (3.0,), lambda m, x, c: -m.log(1 + x**c)),
    Tail("gompertz", "logcdf", 1e-200, (3.0,), lambda m, x, c: m.log(-m.expm1(-c * m.expm1(x)))),
    Tail("halflogistic", "logsf", 800.0, (), lambda m, x: m.log(2 / (1 + m.exp(x)))),
    Tail("rice", "logpdf", 90.0, (30.0,), lambda m, x, b: (
        m.log(x * m.besseli(0, b * x)) - (x * x + b * b) / 2)),
    Tail("pearson3", "logsf", 60.0, (0.3,), lambda m, x, s: gamma_above(m, 4 / s**2, pearson(x, s))),
    Tail("pearson3", "logcdf", -19.0, (0.1,), lambda m, x, s: gamma_below(m, 4 / s**2, pearson(x, s))),
    Tail("pearson3", "logcdf", -5.0, (-3.0,), lambda m, x, s: gamma_above(m, 4 / s**2, pearson(x, s))),
    Tail("pearson3", "logpdf", 2.0, (1e-3,), lambda m, x, s: (
        (4 / s**2 - 1) * m.log(pearson(x, s)) - pearson(x, s) - m.loggamma(4 / s**2) + m.log(2 / s))),
    Tail("ncx2", "logsf", 900.0, (4.0, 1.0), lambda m, x, df, nc: m.log(
        noncentral(m, nc, lambda j: m.gammainc(df / 2 + j, x / 2, m.inf, regularized=True)))),
    Tail("ncx2", "logcdf", 2.0, (3.0, 90.0), lambda m, x, df, nc: m.log(
        noncentral(m, nc, lambda j: m.gammainc(df / 2 + j, 0, x / 2, regularized=True)))),
    Tail("ncx2", "logpdf", 9.0, (0.7, 250.0), lambda m, x, df, nc: m.log(noncentral(
        m, nc, lambda j: (x / 2) ** (df / 2 + j - 1) * m.exp(-x / 2) / 2 / m.gamma(df / 2 + j)))),
    Tail("poisson", "logsf", 400.0, (2.0,), lambda m, k, mu: gamma_below(m, k + 1, mu)),
    Tail("poisson", "logcdf", 3.0, (2e3,), lambda m, k, mu: gamma_above(m, k + 1, mu)),
    Tail("binom", "logsf", 400.0, (1e3, 0.01),
         lambda m, k, n, p: beta_below(m, k + 1, n - k, p), False),
    Tail("powernorm", "logcdf", -40.0, (3.0,),
         lambda m, x, c: m.log(-m.expm1(c * m.log1p(-m.ncdf(x))))),
    Tail("powernorm", "logsf", 40.0, (0.3,), lambda m, x, c: c * m.log(m.ncdf(-x))),
    Tail("fatiguelife", "logsf", 1e5, (2.0,),
         lambda m, x, c: m.log(m.ncdf((1 / m.sqrt(x) - m.sqrt(x)) / c))),
    Tail("fatiguelife", "logcdf", 1e-5, (2.0,),
         lambda m, x, c: m.log(m.ncdf((m.sqrt(x) - 1 / m.sqrt(x)) / c))),
    Tail("johnsonsb", "logcdf", 1e-90, (0.5, 2.0),
         lambda m, x, a, b: m.log(m.ncdf(a + b * m.log(x / (1 - x))))),
    Tail("levy", "logsf", 1e90, (), lambda m, x: m.log(m.erf(m.sqrt(1 / (2 * x))))),
    Tail("levy", "logcdf", 1e-3, (), lambda m, x: m.log(m.erfc(m.sqrt(1 / (2 * x))))),
    Tail("dweibull", "logsf", 9.0, (3.0,), lambda m, x, c: -(x**c) - m.log(2)),
    Tail("dgamma", "logcdf", -2e3, (3.0,), lambda m, x, a: gamma_above(m, a, -x) - m.log(2)),
    Tail("loglaplace", "logsf", 1e90, (3.0,), lambda m, x, c: -c * m.log(x) - m.log(2)),
    Tail("skewcauchy", "logcdf", -1e90, (0.5,),
         lambda m, x, a: m.log((1 - a) / m.pi * m.atan(-(1 - a) / x))),
    Tail("truncexpon", "logsf", 4.999999999, (5.0,),
         lambda m, x, b: m.log((m.exp(-x) - m.exp(-b)) / (1 - m.exp(-b)))),
    Tail("bradford", "logcdf", 1e-90, (3.0,), lambda m, x, c: m.log(m.log1p(c * x) / m.log1p(c))),
    Tail("planck", "logcdf", 2.0, (1e-9,), lambda m, k, v: m.log(-m.expm1(-v * (k + 1)))),
    Tail("dlaplace", "logcdf", -900.0, (2.0,), lambda m, k, a: a * (k + 1) - m.log1p(m.exp(a))),
    Tail("yulesimon", "logsf", 300.0, (3.0,), lambda m, k, a: m.log(k * m.beta(k, a + 1))),
    Tail("skellam", "logsf", 300.0, (9.0, 0.4),
         lambda m, k, a, b: m.log(skellam_from(m, k + 1, a, b))),
    Tail("skellam", "logcdf", -60.0, (0.01, 8.0),
         lambda m, k, a, b: m.log(skellam_from(m, -k, b, a))),
    Tail("skellam", "logsf", 40.0, (30.0, 1e-9),
         lambda m, k, a, b: m.log(skellam_from(m, k + 1, a, b))),
    Tail("betabinom", "logsf", 880.0, (900.0, 50.0, 40.0),
         lambda m, k, n, a, b: m.log(beta_binomial_below(m, n - k - 1, n, b, a)), False),
    Tail("betabinom", "logcdf", 2.0, (900.0, 80.0, 0.4),
         lambda m, k, n, a, b: m.log(beta_binomial_below(m, k, n, a, b)), False),
    Tail("betanbinom", "logsf", 4000.0, (3.0, 30.0, 0.4),  # fewer than 3 successes in 4003 trials
         lambda m, k, n, a, b: m.log(beta_binomial_below(m, n - 1, n + k, a, b)), False),
    Tail("nbinom", "logcdf", 2.0, (900.0, 0.1), lambda m, k, n, p: beta_below(m, n, k + 1, p)),
]  # fmt: skip


@pytest.mark.parametrize("tail", TAILS, ids=lambda t: f"{t.name}-{t.method}")
def test_far_tails(tail: Tail) -> None:
    """The value, and the derivatives by the place and by the first shape."""
    mpmath = pytest.importorskip("mpmath")
    f = getattr(getattr(stats, tail.name), tail.method)
    args = [np.float64(v) for v in (tail.x, *tail.shapes)]
    moving = [0] if isinstance(getattr(stats, tail.name), ContinuousDistribution) else []
    moving += [1] if tail.shapes and tail.shape_moves else []
    with mpmath.workdps(50):
        exact = [mpmath.mpf(float(v)) for v in args]
        value = tail.exact(mpmath, *exact)
        np.testing.assert_allclose(f(*args), float(value), rtol=1e-12)
        for i in moving:

            def along(v: Any, i: int = i) -> Any:
                return tail.exact(mpmath, *exact[:i], v, *exact[i + 1 :])

            step = abs(exact[i]) * mpmath.mpf(10) ** -18
            slope = float((along(exact[i] + step) - along(exact[i] - step)) / (2 * step))
            np.testing.assert_allclose(funcgrad.grad(f, argnums=i)(*args), slope, rtol=2e-11)


SUMS = [tail for tail in TAILS if tail.name in ("betabinom", "betanbinom", "skellam", "ncx2")]


@pytest.mark.parametrize("tail", SUMS, ids=lambda t: f"{t.name}-{t.method}")
def test_slopes_of_sums_by_their_last_shapes(tail: Tail) -> None:
    """Of first and second order; by the number of trials, which says how long the sum is, nan."""
    mpmath = pytest.importorskip("mpmath")
    f = getattr(getattr(stats, tail.name), tail.method)
    args = [np.float64(v) for v in (tail.x, *tail.shapes)]
    last = len(args) - 1
    with mpmath.workdps(60):
        exact = [mpmath.mpf(float(v)) for v in args]
        step = exact[-1] * mpmath.mpf(10) ** -15
        low, middle, high = (
            tail.exact(mpmath, *exact[:-1], exact[-1] + k * step) for k in (-1, 0, 1)
        )
        slope, bend = float((high - low) / (2 * step)), float((high - 2 * middle + low) / step**2)
    np.testing.assert_allclose(funcgrad.grad(f, argnums=last)(*args), slope, rtol=1e-12)
    np.testing.assert_allclose(funcgrad.hessian(f, argnums=last)(*args), bend, rtol=1e-9)
    if not tail.shape_moves:
        assert np.isnan(funcgrad.grad(f, argnums=1)(*args))
