"""Densities and probabilities of large shapes, beside their formulas in many digits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

import funcgrad
from funcgrad.ops.gamma import fallen_from
from funcgrad.scipy import special, stats

pytest.importorskip("scipy")
mpmath = pytest.importorskip("mpmath")

SIZES = [1e3, 1e8, 1e13]


def log_gamma(mp: Any, z: Any, a: Any) -> Any:
    return (a - 1) * mp.log(z) - z - mp.loggamma(a)


def log_beta(mp: Any, z: Any, a: Any, b: Any) -> Any:
    ends = (a - 1) * mp.log(z) + (b - 1) * mp.log1p(-z)
    return ends + mp.loggamma(a + b) - mp.loggamma(a) - mp.loggamma(b)


def log_choices(mp: Any, n: Any, k: Any) -> Any:
    return mp.loggamma(n + 1) - mp.loggamma(k + 1) - mp.loggamma(n - k + 1)


def log_beta_function(mp: Any, a: Any, b: Any) -> Any:
    return mp.loggamma(a) + mp.loggamma(b) - mp.loggamma(a + b)


def log_betabinom(mp: Any, k: Any, n: Any, a: Any, b: Any) -> Any:
    ways = log_choices(mp, n, k) - log_beta_function(mp, a, b)
    return ways + log_beta_function(mp, k + a, n - k + b)


def log_hypergeom(mp: Any, k: Any, m: Any, n: Any, drawn: Any) -> Any:
    ways = log_choices(mp, n, k) + log_choices(mp, m - n, drawn - k)
    return ways - log_choices(mp, m, drawn)


class Case(NamedTuple):
    """A distribution, the logarithm of its density, and its place and shapes by size and spread."""

    name: str
    exact: Callable[..., Any]
    place: Callable[[float, float], tuple[float, ...]]


CASES = [
    Case("gamma", log_gamma, lambda a, s: (a - 2.0 * s, a)),
    Case("chi2", lambda mp, z, d: log_gamma(mp, z / 2, d / 2) - mp.log(2), lambda a, s: (a + s, a)),
    Case(
        "chi",
        lambda mp, z, d: log_gamma(mp, z * z / 2, d / 2) + mp.log(z),
        lambda a, s: (s + 1.0, a),
    ),
    Case(
        "invgamma",
        lambda mp, z, a: log_gamma(mp, 1 / z, a) - 2 * mp.log(z),
        lambda a, s: (1.0 / (a + s), a),
    ),
    Case(
        "loggamma",
        lambda mp, z, c: log_gamma(mp, mp.exp(z), c) + z,
        lambda a, s: (float(np.log(a)) + 1.0 / s, a),
    ),
    Case("beta", log_beta, lambda a, s: (0.3 - 1.0 / s, 0.3 * a, 0.7 * a)),
    Case("beta", log_beta, lambda a, s: (30.0 / a, 20.0, a)),
    Case(
        "betaprime",
        lambda mp, z, a, b: log_beta(mp, z / (1 + z), a, b) - 2 * mp.log1p(z),
        lambda a, s: (0.5 + 1.0 / s, a, 2.0 * a),
    ),
    Case(
        "poisson",
        lambda mp, k, mu: log_gamma(mp, mu, k + 1),
        lambda a, s: (float(round(a - s)), a),
    ),
    Case(
        "binom",
        lambda mp, k, n, p: log_beta(mp, p, k + 1, n - k + 1) - mp.log1p(n),
        lambda a, s: (float(round(0.3 * a + s)), a, 0.3),
    ),
    Case(
        "nbinom",
        lambda mp, k, n, p: log_beta(mp, p, n, k + 1) + mp.log(p) - mp.log(n + k),
        lambda a, s: (float(round(a - s)), a, 0.5),
    ),
    Case("betabinom", log_betabinom, lambda a, s: (float(round(0.5 * a + s)), a, a, a)),
    Case("hypergeom", log_hypergeom, lambda a, s: (float(round(a / 4 + s)), a * 2, a, a / 2)),
]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("case", CASES, ids=lambda c: c.name)
def test_densities(case: Case, size: float) -> None:
    """What the last digits of the place make: the slope there is the root of the size."""
    args = [np.float64(v) for v in case.place(size, size**0.5)]
    family = getattr(stats, case.name)
    log_f = family.logpdf if hasattr(family, "logpdf") else family.logpmf
    with mpmath.workdps(60):
        exact = float(case.exact(mpmath, *map(mpmath.mpf, args)))
    scale = 1e-13 * (1.0 + abs(exact)) + 4e-15 * size**0.5
    np.testing.assert_allclose(log_f(*args), exact, rtol=0.0, atol=scale)
    np.testing.assert_allclose(funcgrad.jit(log_f)(*args), exact, rtol=0.0, atol=scale)


def gamma_slope(mp: Any, a: Any, x: Any) -> Any:
    """The derivative by `a` of ``P(a, x)``: the integral of the density's, from the nearer end."""
    width, middle = mp.sqrt(a), mp.digamma(a)

    def slope(t: Any) -> Any:
        return mp.exp(log_gamma(mp, t, a)) * (mp.log(t) - middle)

    steps = [k * width for k in (0, 1, 2, 4, 8, 20)]
    if x < a:
        return mp.quad(slope, [x - step for step in steps[::-1]])
    return -mp.quad(slope, [x + step for step in steps])


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("k", [-2.0, 0.5, 3.0])
def test_slopes_of_the_incomplete_gamma_function(size: float, k: float) -> None:
    x = size + k * size**0.5
    with mpmath.workdps(40):
        exact = float(gamma_slope(mpmath, mpmath.mpf(size), mpmath.mpf(x)))
    tolerance = 1e-12 + 2e-16 * size**0.5
    for f in (special.gammainc, lambda a, x: -special.gammaincc(a, x), stats_gamma):
        np.testing.assert_allclose(funcgrad.grad(f)(size, x), exact, rtol=tolerance)


def stats_gamma(a: Any, x: Any) -> Any:
    return stats.gamma.cdf(x, a)


def beta_slopes(mp: Any, a: Any, b: Any, x: Any) -> list[Any]:
    """The derivatives by the shapes of ``I(a, b, x)``."""
    total = a + b
    width = mp.sqrt(a * b / total) / total
    by_a, by_b = (mp.digamma(v) - mp.digamma(total) for v in (a, b))
    places = [x - k * width for k in (20, 8, 4, 2, 1, 0) if x > k * width]
    places = places if len(places) == 6 else [x / 10**9, *places]

    def by(score: Callable[[Any], Any]) -> Any:
        return mp.quad(lambda t: mp.exp(log_beta(mp, t, a, b)) * score(t), places)

    return [by(lambda t: mp.log(t) - by_a), by(lambda t: mp.log1p(-t) - by_b)]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("share", [0.5, 0.01, None])
@pytest.mark.parametrize("k", [-1.0, 0.5])
def test_slopes_of_the_incomplete_beta_function(size: float, share: float | None, k: float) -> None:
    a = 12.0 if share is None else share * size
    b = size - a
    x = a / size + k * (a * b / size**3) ** 0.5
    with mpmath.workdps(40):
        exact = [float(v) for v in beta_slopes(mpmath, *map(mpmath.mpf, (a, b, x)))]
    tolerance = 1e-11 + 1e-14 * min(a, b) ** 0.5
    for f in (special.betainc, lambda a, b, x: -special.betaincc(a, b, x)):
        found = funcgrad.grad(f, argnums=(0, 1))(a, b, x)
        np.testing.assert_allclose(found, exact, rtol=tolerance)


@pytest.mark.parametrize("df", [1e4, 1.1e6, 1e9, 1e15])
@pytest.mark.parametrize("t", [-9.0, -2.0, 0.1, 1.5])
def test_student_of_many_degrees_of_freedom(df: float, t: float) -> None:
    """The difference to the normal probability, of order 1 / df, and its slope, of order 1 / df**2."""
    with mpmath.workdps(60):
        mp, place = mpmath.mp, mpmath.mpf(t)

        def probability(v: Any) -> Any:
            peak = mp.exp(mp.loggamma((v + 1) / 2) - mp.loggamma(v / 2)) / mp.sqrt(v * mp.pi)
            f = mp.quad(
                lambda z: mp.exp(-(v + 1) / 2 * mp.log1p(z * z / v)), mp.linspace(0, place, 5)
            )
            return 0.5 + peak * f

        exact = float(probability(mp.mpf(df)))
        slope = float(mp.diff(probability, mp.mpf(df), h=mp.mpf(df) * mp.mpf(10) ** -12))
    np.testing.assert_allclose(special.stdtr(df, t), exact, rtol=1e-13)
    rtol = 1e-8 if df < 1e6 else 1e-11  # a difference of tails, or a series of its own
    np.testing.assert_allclose(funcgrad.grad(special.stdtr)(df, t), slope, rtol=rtol)
    assert funcgrad.grad(special.stdtr)(np.inf, t) == 0.0


@pytest.mark.parametrize("a", [0.5, 3.0, 1e3, 1e10])
@pytest.mark.parametrize("b", [0.2, 40.0, 1e9])
def test_entropies_of_beta_variables(a: float, b: float) -> None:
    with mpmath.workdps(60):
        mp, p, q = mpmath.mp, mpmath.mpf(a), mpmath.mpf(b)
        whole = log_beta_function(mp, p, q) + (p + q) * mp.digamma(p + q)
        whole -= p * mp.digamma(p) + q * mp.digamma(q)
        bounded = whole + mp.digamma(p) + mp.digamma(q) - 2 * mp.digamma(p + q)
        odds = whole + mp.digamma(p) - mp.digamma(q)
        exact = float(bounded), float(odds)
    found = stats.beta.entropy(a, b), stats.betaprime.entropy(a, b)
    np.testing.assert_allclose(found, exact, rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_what_a_logarithm_has_fallen_by(dtype: Any) -> None:
    x = np.array([0.01, 0.7, 0.76, 1.0, 1.0009765625, 1.24, 1.26, 4.0], dtype)
    a = dtype(1.0)
    with mpmath.workdps(60):
        exact = [float(mpmath.mpf(float(v)) - 1 - mpmath.log(mpmath.mpf(float(v)))) for v in x]
    np.testing.assert_allclose(fallen_from(a, x), exact, rtol=8.0 * np.finfo(dtype).eps)


def log_poisson(mp: Any, k: Any, mu: Any) -> Any:
    return k * mp.log(mu) - mu - mp.loggamma(k + 1)


def log_binom(mp: Any, k: Any, n: Any, p: Any) -> Any:
    return log_choices(mp, n, k) + k * mp.log(p) + (n - k) * mp.log1p(-p)


def log_skellam(mp: Any, k: Any, a: Any, b: Any) -> Any:
    return (mp.log(a / b) * k / 2) - a - b + mp.log(mp.besseli(abs(k), 2 * mp.sqrt(a * b)))


ENTROPIES = [
    ("poisson", log_poisson, (1e-10,), range(9)),
    ("poisson", log_poisson, (3.0,), range(90)),
    ("poisson", log_poisson, (900.0,), range(500, 1400)),
    ("binom", log_binom, (900.0, 0.3), range(901)),
    ("binom", log_binom, (2000.0, 0.999), range(1500, 2001)),
    ("skellam", log_skellam, (1e-8, 3.0), range(-60, 20)),
    ("skellam", log_skellam, (300.0, 200.0), range(-250, 450)),
    ("betabinom", log_betabinom, (300.0, 0.3, 0.2), range(301)),
    ("betabinom", log_betabinom, (700.0, 300.0, 200.0), range(701)),
]


@pytest.mark.parametrize(("name", "log_f", "shapes", "counts"), ENTROPIES)
def test_entropies_of_counts(name: str, log_f: Any, shapes: Any, counts: Any) -> None:
    """The value, and the first and second derivatives by the last shape."""
    f = getattr(stats, name).entropy
    with mpmath.workdps(45):
        exact = [mpmath.mpf(v) for v in shapes]
        step = exact[-1] * mpmath.mpf(10) ** -12

        def entropy(last: Any) -> Any:
            logs = [log_f(mpmath, mpmath.mpf(k), *exact[:-1], last) for k in counts]
            return -mpmath.fsum(mpmath.exp(v) * v for v in logs)

        low, middle, high = (entropy(exact[-1] + k * step) for k in (-1, 0, 1))
        slope, bend = float((high - low) / (2 * step)), float((high - 2 * middle + low) / step**2)
    last = len(shapes) - 1
    np.testing.assert_allclose(f(*shapes), float(middle), rtol=1e-13)
    np.testing.assert_allclose(funcgrad.grad(f, last)(*shapes), slope, rtol=1e-11)
    np.testing.assert_allclose(funcgrad.hessian(f, last)(*shapes), bend, rtol=1e-10)


def test_entropies_of_sure_and_of_many_counts() -> None:
    assert stats.poisson.entropy(0.0) == 0.0
    assert stats.binom.entropy(5.0, np.array([0.0, 1.0])).tolist() == [0.0, 0.0]
    bell = 0.5 * np.log(2.0 * np.pi * np.e * 1e12)
    for found in (stats.poisson.entropy(1e12), stats.binom.entropy(4e12, 0.5)):
        np.testing.assert_allclose(found, bell, rtol=1e-10)
    with mpmath.workdps(40):
        a = mpmath.mpf("2.5")
        exact = mpmath.log(mpmath.zeta(a)) - a * mpmath.zeta(a, 1, 1) / mpmath.zeta(a)
    np.testing.assert_allclose(stats.zipf.entropy(2.5), float(exact), rtol=1e-14)
