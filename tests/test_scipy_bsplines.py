"""`BSpline` and `make_interp_spline` against SciPy, and their derivatives by all that they take."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import funcgrad
import funcgrad.numpy as fnp
from funcgrad.errors import ArgumentError, FuncgradError, ShapeError
from funcgrad.scipy import interpolate
from funcgrad.testing import check_all

si = pytest.importorskip("scipy.interpolate")

ONLY = ["types", "finite", "transpose", "numerical", "vmap", "jit", "second order"]


def knots(rng: np.random.Generator, k: int, n: int) -> np.ndarray:
    """Ends of several kinds, and now and then a knot that is there twice."""
    t = np.cumsum(rng.uniform(0.4, 1.5, n + k + 1))
    if rng.integers(2):
        t[: k + 1], t[n:] = t[k], t[n]
    if rng.integers(2) and n > k + 3 and k > 1:
        t[k + 2] = t[k + 1]
    return t


@settings(max_examples=25)
@given(
    seed=st.integers(0, 10**6),
    k=st.integers(0, 5),
    more=st.integers(1, 6),
    way=st.sampled_from([True, False, "periodic"]),
    kind=st.sampled_from("dD"),
)
def test_splines_are_scipys(seed: int, k: int, more: int, way: Any, kind: str) -> None:
    rng = np.random.default_rng(seed)
    n = k + more
    t = knots(rng, k, n)
    c = rng.normal(size=(n + int(rng.integers(2)), 2)) * (1.0 if kind == "d" else 1 - 0.4j)
    ours, theirs = (m.BSpline(t, c, k, way) for m in (interpolate, si))
    v = np.concatenate([np.linspace(t[k] - 0.7, t[n] + 0.7, 12), np.unique(t[k : n + 1]), [np.nan]])
    if way == "periodic":
        v = v[v != t[n]]
    for nu in range(k + 2):
        scale = 1e-10 * max(1.0, np.nanmax(abs(theirs(v, nu))))
        np.testing.assert_allclose(ours(v, nu), theirs(v, nu), rtol=1e-9, atol=scale)
        if nu <= k:
            made = ours.derivative(nu)(v)
            np.testing.assert_allclose(made, theirs(v, nu), rtol=1e-9, atol=scale)
    inside = np.linspace(t[k], t[n], 7)[1:-1]
    np.testing.assert_allclose(
        ours.antiderivative(2)(inside), theirs.antiderivative(2)(inside), rtol=1e-9, atol=1e-9
    )
    if kind == "D":  # SciPy integrates real splines only
        theirs = si.BSpline(t, c.real, k, way)
    for a, b in ((t[k], t[n]), (t[k] - 0.3, t[n] + 0.2), (inside[3], inside[0])):
        np.testing.assert_allclose(
            ours.integrate(a, b).real, theirs.integrate(a, b), rtol=1e-8, atol=1e-8
        )


@pytest.mark.parametrize("k", [1, 2, 3])
def test_derivatives_of_splines(k: int) -> None:
    rng = np.random.default_rng(k)
    t, c = knots(rng, k, k + 4), rng.normal(size=k + 4)
    v = t[k] + (t[k + 4] - t[k]) * np.array([0.13, 0.55, 0.91])

    def f(t: Any, c: Any, v: Any) -> Any:
        s = interpolate.BSpline(t, c, k)
        return s(v), s.integrate(v[0], v[1])

    t = np.sort(t + np.arange(t.size) * 0.05)
    check_all(f, (t, c, v), only=ONLY).raise_if_failed()
    slopes = funcgrad.vmap(funcgrad.grad(interpolate.BSpline(t, c, k)))(v)
    np.testing.assert_allclose(slopes, si.BSpline(t, c, k)(v, 1), rtol=1e-10)


ENDS: list[Any] = [
    None,
    "not-a-knot",
    "natural",
    "clamped",
    ("clamped", "natural"),
    ([(1, 0.7)], [(2, -0.3)]),
    ([(1, 0.7), (2, 0.2)], None),
]


@pytest.mark.parametrize("ends", ENDS, ids=repr)
@settings(max_examples=10)
@given(n=st.integers(4, 9), seed=st.integers(0, 99))
def test_interpolation_is_scipys(ends: Any, n: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    x, y = np.cumsum(rng.uniform(0.4, 1.5, n)), rng.normal(size=(n, 2))
    if isinstance(ends, tuple) and not isinstance(ends[0], str):
        pairs = [end and [(order, np.full(2, v)) for order, v in end] for end in ends]
    else:
        pairs = ends
    for k in (3,) if ends not in (None, "not-a-knot") else range(min(n, 6)):
        ours = interpolate.make_interp_spline(x, y, k, bc_type=ends)
        theirs = si.make_interp_spline(x, y, k, bc_type=pairs)
        np.testing.assert_allclose(ours.t, theirs.t)
        np.testing.assert_allclose(ours.c, theirs.c, rtol=1e-7, atol=1e-7)
        np.testing.assert_allclose(ours(x), y, rtol=1e-9, atol=1e-9)
    t = interpolate.make_interp_spline(x, y, 2).t + np.eye(n + 3)[3] * 0.05
    a, b = (m.make_interp_spline(x, y, 2, t) for m in (interpolate, si))
    np.testing.assert_allclose(a.c, b.c, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize(
    ("k", "ends"), [(1, None), (2, None), (3, None), (3, "natural"), (5, None)]
)
def test_derivatives_of_interpolation(k: int, ends: Any) -> None:
    rng = np.random.default_rng(1)
    x, y = np.cumsum(rng.uniform(0.4, 1.5, 7)), rng.normal(size=7)
    v = np.array([x[0] + 0.15, x[2] + 0.2, x[-1] - 0.1])

    def f(x: Any, y: Any, v: Any) -> Any:
        s = interpolate.make_interp_spline(x, y, k, bc_type=ends)
        return s(v), s(v, 1)

    check_all(f, (x, y, v), only=ONLY).raise_if_failed()


@pytest.mark.parametrize("k", range(6))
@settings(max_examples=10)
@given(n=st.integers(3, 9), seed=st.integers(0, 99))
def test_closed_curves_are_scipys(k: int, n: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    x, y = np.cumsum(rng.uniform(0.5, 1.5, n)), rng.normal(size=(2, n, 2))
    y[:, -1] = y[:, 0]
    try:
        theirs = si.make_interp_spline(x, y, k, bc_type="periodic", axis=1)
    except (np.linalg.LinAlgError, ValueError):  # few points for an even degree
        return
    ours = interpolate.make_interp_spline(x, y, k, bc_type="periodic", axis=1)
    np.testing.assert_allclose(ours.t, theirs.t, rtol=1e-13)
    places = np.concatenate([np.linspace(x[0] - 2, x[-1] + 3, 30) if k > 1 else [], x[1:-1]])
    bound = 1e-9 * (1 + np.abs(theirs.c).max())
    np.testing.assert_allclose(ours(places), theirs(places), rtol=1e-9, atol=bound)
    np.testing.assert_allclose(ours(x), y, rtol=1e-9, atol=bound)


@pytest.mark.parametrize("k", [2, 3])
def test_derivatives_of_closed_curves(k: int) -> None:
    x, y = np.array([0.0, 0.9, 2.1, 2.8, 4.0, 5.2]), np.array([0.4, -1.0, 0.7, 1.3, -0.2])

    def f(x: Any, y: Any) -> Any:
        y = fnp.concatenate([y, y[:1]])
        s = interpolate.make_interp_spline(x, y, k, bc_type="periodic")
        return s(np.array([-0.7, 0.3, 2.5, 4.4, 6.1]))

    check_all(f, (x, y), only=ONLY).raise_if_failed()


def test_the_value_of_a_derivative_has_a_derivative() -> None:
    x, y = np.arange(5.0), np.array([0.0, 1.0, 0.5, 2.0, 1.0])

    def f(slope: Any, bend: Any) -> Any:
        return interpolate.make_interp_spline(x, y, bc_type=([(1, slope)], [(2, bend)]))(0.6)

    check_all(f, (np.array(0.7), np.array(-0.2)), only=ONLY).raise_if_failed()


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_axes_of_splines(axis: int) -> None:
    rng = np.random.default_rng(0)
    x, y = np.arange(6.0), np.moveaxis(rng.normal(size=(6, 3, 2)), 0, axis)
    ours, theirs = (m.make_interp_spline(x, y, axis=axis) for m in (interpolate, si))
    v = np.linspace(0.0, 5.0, 4).reshape(2, 2)
    for p, q in ((ours, theirs), (ours.derivative(), theirs.derivative()),
                 (ours.antiderivative(), theirs.antiderivative())):  # fmt: skip
        assert p(v).shape == q(v).shape
        np.testing.assert_allclose(p(v), q(v), rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(ours.c, theirs.c, rtol=1e-10, atol=1e-10)
    assert ours.tck[2] == 3


def test_one_element_of_the_basis() -> None:
    t = np.array([0.0, 1.0, 2.5, 3.0])
    v = np.linspace(-0.5, 3.5, 9)
    for way in (True, False):
        a, b = (m.BSpline.basis_element(t, way)(v) for m in (interpolate, si))
        np.testing.assert_allclose(a, b, atol=1e-14)
    single = interpolate.BSpline(t.astype("f"), np.ones(2, "f"), 1)(np.float32(1.2))
    assert single.dtype == np.float32


T, C = np.arange(6.0), np.ones(3)
MISTAKES: list[tuple[Callable[[], Any], type[FuncgradError], str]] = [
    (lambda: interpolate.BSpline(T[::-1], C, 2), ArgumentError, "t must not fall"),
    (lambda: interpolate.BSpline(T * 0, C, 2), ArgumentError, r"must rise between t\[2\]"),
    (lambda: interpolate.BSpline(T, C, -1), ArgumentError, "k=-1"),
    (lambda: interpolate.BSpline(T, C[:2], 2), ShapeError, "need 3 for 6 knots"),
    (lambda: interpolate.BSpline(T, C, 3), ShapeError, "a row of 8"),
    (lambda: interpolate.make_interp_spline(T, C), ShapeError, "y has 3 along"),
    (lambda: interpolate.make_interp_spline(T, T, bc_type="periodic"), ArgumentError, "the same"),
    (lambda: interpolate.make_interp_spline(T, 0 * T, t=T, bc_type="periodic"), ArgumentError, "t="),
    (lambda: interpolate.make_interp_spline(T, T, bc_type="odd"), ArgumentError, "'odd'"),
    (lambda: interpolate.make_interp_spline(T[::-1], T), ArgumentError, "rise"),
    (lambda: interpolate.make_interp_spline(T, T, 2, bc_type="natural"), ShapeError, "conditions"),
    (lambda: interpolate.make_interp_spline(T, T, bc_type=([(1, [1.0, 2.0])], [(1, 0.0)])),
     ShapeError, "the derivative of order 1"),
]  # fmt: skip


@pytest.mark.parametrize("index", range(len(MISTAKES)))
def test_mistakes_with_splines(index: int) -> None:
    f, error, words = MISTAKES[index]
    with pytest.raises(error, match=words):
        f()
