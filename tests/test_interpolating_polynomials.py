"""One polynomial through all points, quotients, products of B-splines, beside SciPy's."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import funcgrad
from funcgrad.errors import FuncgradError
from funcgrad.scipy import interpolate
from funcgrad.testing import check_all

si = pytest.importorskip("scipy.interpolate")

CHECKS = ["types", "finite", "transpose", "numerical", "vmap", "jit", "second order"]
CLASSES = ["KroghInterpolator", "BarycentricInterpolator"]


def table(n: int, seed: int, shape: tuple[int, ...] = ()) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    x = np.cumsum(rng.uniform(0.4, 1.5, n)) - 2.0
    return rng.permutation(x), rng.normal(size=(n, *shape))


@pytest.mark.parametrize("name", CLASSES)
@settings(max_examples=25)
@given(
    n=st.integers(1, 8), seed=st.integers(0, 99), axis=st.integers(-1, 1), complex_=st.booleans()
)
def test_polynomials_are_scipys(name: str, n: int, seed: int, axis: int, complex_: bool) -> None:
    n = max(n, 1 + (name == "BarycentricInterpolator"))  # of one point SciPy divides by 0
    x, y = table(n, seed, (2,))
    y = np.moveaxis(y * (1 + 0.5j) if complex_ else y, 0, axis)
    ours, theirs = (getattr(m, name)(x, y, axis) for m in (interpolate, si))
    places = np.concatenate([np.linspace(x.min() - 0.5, x.max() + 0.5, 5), x])
    for v in (places, places[:4].reshape(2, 2), places[1]):
        for found, expected in (
            (ours(v), theirs(v)),
            (ours.derivatives(v), theirs.derivatives(v)),
            (ours.derivatives(v, n + 2), theirs.derivatives(v, n + 2)),
            *((ours.derivative(v, d), theirs.derivative(v, d)) for d in range(n + 1)),
        ):
            assert (found.shape, found.dtype) == (expected.shape, expected.dtype)
            np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-7)


@given(seed=st.integers(0, 99), repeats=st.lists(st.integers(1, 3), min_size=1, max_size=4))
def test_equal_points_of_krogh_give_derivatives(seed: int, repeats: list[int]) -> None:
    points = np.repeat(np.arange(len(repeats)) * 0.7 - 1.0, repeats)
    y = np.random.default_rng(seed).normal(size=len(points))
    p, q = (m.KroghInterpolator(points, y) for m in (interpolate, si))
    v = np.linspace(-1.5, 2.0, 5)
    np.testing.assert_allclose(p.derivatives(v), q.derivatives(v), rtol=1e-8, atol=1e-8)
    place = 0
    for point, count in zip(np.unique(points), repeats, strict=True):
        np.testing.assert_allclose(
            p.derivatives(point, count), y[place : place + count], rtol=1e-8, atol=1e-8
        )
        place += count


@pytest.mark.parametrize("name", CLASSES)
def test_derivatives_of_polynomials(name: str) -> None:
    x, y = table(5, 3)

    def f(x: Any, y: Any, v: Any) -> Any:
        p = getattr(interpolate, name)(x, y)
        return p(v), p.derivative(v, 2)

    check_all(f, (x, y, np.array([0.3, x[0] + 0.1, 9.0])), only=CHECKS).raise_if_failed()
    # places that are points: the slope is that of the polynomial, there too
    p = getattr(interpolate, name)(x, y)
    for order in range(4):
        at = [float(v) for v in x]
        expected = p.derivative(x, order + 1)
        found = [float(funcgrad.grad(lambda v, d=order: p.derivative(v, d))(v)) for v in at]
        np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-8)
    twice = funcgrad.vmap(funcgrad.grad(funcgrad.grad(p)))(x)
    np.testing.assert_allclose(twice, p.derivative(x, 2), rtol=1e-8, atol=1e-8)


def test_equal_points_move_together() -> None:
    def f(a: Any, y: Any) -> Any:
        return interpolate.KroghInterpolator(np.stack([a[0], a[0], a[1]]), y)(0.4)

    a, y = np.array([0.0, 1.0]), np.array([1.0, 2.0, -1.0])
    check_all(f, (a, y), only=["types", "transpose", "numerical"]).raise_if_failed()


@pytest.mark.parametrize("n", [50, 400])
def test_many_points(n: int) -> None:
    x = np.cos(np.arange(n) * math.pi / (n - 1))
    w = (-1.0) ** np.arange(n)
    w[[0, -1]] /= 2
    v = np.array([-0.99, 0.123, x[7], 0.9])
    for options in ({}, {"wi": w}):
        p = interpolate.BarycentricInterpolator(x, np.sin(3 * x), **options)
        np.testing.assert_allclose(p(v), np.sin(3 * v), atol=1e-13)
        slopes = funcgrad.vmap(funcgrad.grad(p))(v)
        np.testing.assert_allclose(slopes, 3 * np.cos(3 * v), atol=1e-8)
    far = interpolate.BarycentricInterpolator([0.0, 1.0, 2.0], [0.0, 1.0, 4.0])(1e150)
    assert float(far) == pytest.approx(1e300)


def test_values_and_points_are_added() -> None:
    x, y = table(6, 1, (2,))
    p = interpolate.BarycentricInterpolator(x[:4], y[:4])
    p.add_xi(x[4:], y[4:])
    np.testing.assert_allclose(p(0.3), si.barycentric_interpolate(x, y, 0.3), rtol=1e-10)
    p.set_yi(2 * y)
    np.testing.assert_allclose(p(0.3), 2 * si.barycentric_interpolate(x, y, 0.3), rtol=1e-10)


@pytest.mark.parametrize("name", ["krogh", "barycentric", "pchip"])
def test_calls_are_scipys(name: str) -> None:
    x, y = table(5, 2, (2,))
    x = np.sort(x)
    v = np.array([0.2, 0.5])
    for der in (0, 1, [0, 2]):
        for axis, values in ((0, y), (1, y.T)):
            found, expected = (
                getattr(m, f"{name}_interpolate")(x, values, v, der=der, axis=axis)
                for m in (interpolate, si)
            )
            np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-10)


@given(n=st.integers(1, 7), seed=st.integers(0, 99))
def test_coefficients_are_scipys(n: int, seed: int) -> None:
    x, y = table(n, seed)
    np.testing.assert_allclose(
        interpolate.lagrange(x, y).coef, si.lagrange(x, y).coef, rtol=1e-6, atol=1e-8
    )
    for m in range(n):
        for top in (None, *range(n - m)):
            for found, expected in zip(
                interpolate.pade(y, m, top), si.pade(y, m, top), strict=True
            ):
                np.testing.assert_allclose(found.coef, expected.coef, rtol=1e-6, atol=1e-8)


def test_derivatives_of_coefficients() -> None:
    x, y = table(5, 4)
    only = ["types", "finite", "transpose", "numerical"]
    check_all(lambda x, y: interpolate.lagrange(x, y)(0.3), (x, y), only=only).raise_if_failed()

    def quotient(y: Any) -> Any:
        p, q = interpolate.pade(y, 2)
        return p(0.1) / q(0.1)

    check_all(quotient, (y,), only=only).raise_if_failed()


# ---------------------------------------------------------------- products of B-splines


@settings(max_examples=25)
@given(
    degrees=st.lists(st.integers(0, 3), min_size=1, max_size=3),
    seed=st.integers(0, 99),
    rest=st.sampled_from([(), (2,)]),
    extrapolate=st.booleans(),
)
def test_products_of_splines_are_scipys(
    degrees: list[int], seed: int, rest: tuple[int, ...], extrapolate: bool
) -> None:
    rng = np.random.default_rng(seed)
    t = tuple(np.cumsum(rng.uniform(0.3, 1.0, 2 * k + 4)) for k in degrees)
    c = rng.normal(size=(*(k + 3 for k in degrees), *rest))
    ours, theirs = (m.NdBSpline(t, c, tuple(degrees)) for m in (interpolate, si))
    low, high = (np.array([x[i] for x in t]) for i in (0, -1))
    v = low + (high - low) * rng.uniform(size=(2, 5, len(t)))
    for nu in (None, [1] * len(t), [2] + [0] * (len(t) - 1)):
        if nu is not None and np.any(np.array(nu) > degrees):
            continue
        found, expected = (s(v, nu=nu, extrapolate=extrapolate) for s in (ours, theirs))
        np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-8)
        if nu is not None:
            np.testing.assert_allclose(ours.derivative(nu)(v), ours(v, nu=nu), rtol=1e-8, atol=1e-8)


def test_derivatives_of_products_of_splines() -> None:
    rng = np.random.default_rng(0)
    t = np.cumsum(rng.uniform(0.3, 1.0, 8)), np.cumsum(rng.uniform(0.3, 1.0, 9))
    c = rng.normal(size=(4, 6))
    v = np.stack([rng.uniform(t[0][3], t[0][4], 3), rng.uniform(t[1][3], t[1][5], 3)], axis=1)

    def f(a: Any, b: Any, c: Any, v: Any) -> Any:
        return interpolate.NdBSpline((a, b), c, (3, 2))(v)

    check_all(f, (*t, c, v), only=CHECKS).raise_if_failed()


X = np.array([0.0, 1.0, 2.0])
MISTAKES = [
    (lambda: interpolate.KroghInterpolator([0.0, 1.0, 0.0], X), "beside each other"),
    (lambda: interpolate.KroghInterpolator(X, X[:2]), "3 points, yi has 2"),
    (lambda: interpolate.KroghInterpolator(X, X).derivative(0.0, -1), "der=-1"),
    (lambda: interpolate.BarycentricInterpolator([0.0, 1.0, 0.0], X), "points are equal"),
    (lambda: interpolate.BarycentricInterpolator(X)(1.0), "no yi"),
    (lambda: interpolate.BarycentricInterpolator(X, X, wi=X + 1).derivative(1.0), "wi= given"),
    (lambda: interpolate.BarycentricInterpolator(X, X, wi=X[:2]), "wi has"),
    (lambda: interpolate.BarycentricInterpolator(X, X).add_xi([3.0]), "more points"),
    (lambda: interpolate.lagrange([0.0, 0.0], [1.0, 2.0]), "points are equal"),
    (lambda: interpolate.lagrange(X, X[:2]), "one shape"),
    (lambda: interpolate.pade(X, 3), "degrees"),
    (lambda: interpolate.pade(X, 2, 1), "need a vector of 4"),
    (lambda: interpolate.NdBSpline((X, X), np.ones((2, 3)), 0), "c has shape"),
    (lambda: interpolate.NdBSpline((X,), X[:2], (0, 0)), "2 degrees"),
    (lambda: interpolate.NdBSpline((X,), X[:2], 0)([0.5, 0.5]), "need"),
    (lambda: interpolate.NdBSpline((X,), X[:2], 0)([0.5], nu=[-1]), "nu="),
]


@pytest.mark.parametrize(("call", "words"), MISTAKES, ids=[words for _, words in MISTAKES])
def test_mistakes_of_polynomials(call: Any, words: str) -> None:
    with pytest.raises(FuncgradError, match=words):
        call()


def test_many_points_of_krogh_warn() -> None:
    with pytest.warns(UserWarning, match="rounding grows with 31 points"):
        interpolate.KroghInterpolator(np.arange(31.0), np.arange(31.0))
