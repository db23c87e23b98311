"""`funcgrad.scipy.interpolate` against SciPy, and its derivatives by places, points and values."""

from __future__ import annotations

from collections.abc import Callable
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

# Curves: name of the class, options, least number of points; with each end once.
CURVES: dict[str, tuple[str, dict[str, Any], int]] = {
    "not-a-knot": ("CubicSpline", {}, 2),
    "natural": ("CubicSpline", {"bc_type": "natural"}, 2),
    "clamped": ("CubicSpline", {"bc_type": "clamped"}, 2),
    "periodic": ("CubicSpline", {"bc_type": "periodic"}, 3),
    "two ends": ("CubicSpline", {"bc_type": ((1, 0.7), (2, -0.4))}, 2),
    "mixed ends": ("CubicSpline", {"bc_type": ("not-a-knot", "natural")}, 3),
    "pchip": ("PchipInterpolator", {}, 2),
    "akima": ("Akima1DInterpolator", {"extrapolate": True}, 2),
    "makima": ("Akima1DInterpolator", {"method": "makima", "extrapolate": True}, 2),
}


def table(n: int, seed: int, shape: tuple[int, ...] = ()) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return np.cumsum(rng.uniform(0.4, 1.5, n)) - 2.0, rng.normal(size=(n, *shape))


def closed(name: str, y: Any) -> Any:
    """The values, the last one as the first if they must meet."""
    return np.concatenate([y[:-1], y[:1]]) if name == "periodic" else y


@pytest.mark.parametrize("name", CURVES)
@settings(max_examples=8)
@given(n=st.integers(2, 8), seed=st.integers(0, 99), kind=st.sampled_from("dD"))
def test_curves_are_scipys(name: str, n: int, seed: int, kind: str) -> None:
    made, options, least = CURVES[name]
    n = max(n, least)
    x, y = table(n, seed, () if name == "two ends" else (2,))
    y = closed(name, y * (1 + 0.5j) if kind == "D" and made == "CubicSpline" else y)
    ours, theirs = getattr(interpolate, made)(x, y, **options), getattr(si, made)(x, y, **options)
    v = np.concatenate([np.linspace(x[0] - 0.7, x[-1] + 0.7, 12), x, [np.nan]])
    for nu in range(5):
        np.testing.assert_allclose(ours(v, nu), theirs(v, nu), rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(ours.derivative(2)(v), theirs.derivative(2)(v), rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(
        ours.antiderivative(2)(x), theirs.antiderivative(2)(x), rtol=1e-9, atol=1e-9
    )
    for a, b in ((x[0], x[-1]), (x[0] + 0.1, x[-1] + 0.3), (x[1], x[0] - 9.1)):
        np.testing.assert_allclose(
            ours.integrate(a, b), theirs.integrate(a, b), rtol=1e-8, atol=1e-8
        )


@pytest.mark.parametrize("name", CURVES)
def test_derivatives_of_curves(name: str) -> None:
    made, options, _ = CURVES[name]
    x, y = table(6, 3)

    def f(x: Any, y: Any, v: Any) -> Any:
        curve = getattr(interpolate, made)(x, closed(name, y), **options)
        return curve(v), curve.integrate(v[0], v[1])

    v = np.array([x[0] + 0.15, x[2] + 0.2, x[-1] - 0.1])
    only = ["types", "finite", "transpose", "numerical", "vmap", "jit", "second order"]
    check_all(f, (x, y, v), only=only).raise_if_failed()


@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize(
    "made", ["CubicSpline", "PchipInterpolator", "Akima1DInterpolator", "interp1d"]
)
def test_axes(made: str, axis: int) -> None:
    x, y = table(5, 1, (3, 2))
    y = np.moveaxis(y, 0, axis)
    v = np.linspace(x[0], x[-1], 4).reshape(2, 2)
    ours, theirs = getattr(interpolate, made)(x, y, axis=axis), getattr(si, made)(x, y, axis=axis)
    assert ours(v).shape == theirs(v).shape
    np.testing.assert_allclose(ours(v), theirs(v), rtol=1e-12)


def test_precision_and_slopes_given() -> None:
    x, y = table(5, 4)
    single = interpolate.CubicSpline(x.astype("f"), y.astype("f"))(np.float32(0.3))
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, si.CubicSpline(x, y)(0.3), rtol=1e-4)
    a, b = (m.CubicHermiteSpline(x, y, np.cos(y))(0.3) for m in (interpolate, si))
    np.testing.assert_allclose(a, b)
    a, b = (m.Akima1DInterpolator(x, y)(x * 1.3) for m in (interpolate, si))
    np.testing.assert_allclose(a, b)
    c = np.arange(12.0).reshape(3, 4)
    for way in (True, False, "periodic"):
        p, q = (m.PPoly(c, x, way) for m in (interpolate, si))
        np.testing.assert_allclose(p(x * 1.3), q(x * 1.3))
        np.testing.assert_allclose(p.integrate(x[0], x[-1]), q.integrate(x[0], x[-1]))


# ---------------------------------------------------------------- tables

KINDS = ["linear", "nearest", "nearest-up", "previous", "next", "cubic"]
OUTSIDE: list[Any] = [np.nan, 7.0, (1.0, 2.0), "extrapolate"]


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=8)
@given(
    n=st.integers(4, 7), seed=st.integers(0, 99), fill=st.sampled_from(OUTSIDE), turn=st.booleans()
)
def test_rows_are_scipys(kind: str, n: int, seed: int, fill: Any, turn: bool) -> None:
    x, y = table(n, seed, (2,))
    x, y = (x[::-1], y[::-1]) if turn else (x, y)
    low, high = min(x), max(x)
    v = np.concatenate([np.linspace(low - 1, high + 1, 11), x, (x[1:] + x[:-1]) / 2])
    options = {"kind": kind, "axis": 0, "fill_value": fill, "bounds_error": False}
    a, b = (m.interp1d(x, y, **options)(v) for m in (interpolate, si))
    np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("kind", ["linear", "cubic", "nearest"])
def test_derivatives_of_rows(kind: str) -> None:
    x, y = table(6, 5)

    def f(x: Any, y: Any, v: Any) -> Any:
        return interpolate.interp1d(x, y, kind, bounds_error=False, fill_value=0.0)(v)

    v = np.array([x[0] + 0.1, x[3] + 0.1, x[-1] + 3.0])
    only = ["types", "finite", "transpose", "numerical", "vmap", "jit"]
    check_all(f, (x, y, v), only=only).raise_if_failed()


@pytest.mark.parametrize("method", ["linear", "nearest"])
@settings(max_examples=8)
@given(
    shape=st.lists(st.integers(2, 4), min_size=1, max_size=3),
    rest=st.sampled_from([(), (2,)]),
    fill=st.sampled_from([None, np.nan, 3.0]),
    seed=st.integers(0, 99),
)
def test_grids_are_scipys(method: str, shape: list[int], rest: Any, fill: Any, seed: int) -> None:
    rng = np.random.default_rng(seed)
    grid = [np.cumsum(rng.uniform(0.5, 1.0, n)) for n in shape]
    values = rng.normal(size=(*shape, *rest))
    places = np.stack([rng.uniform(p[0] - 0.4, p[-1] + 0.4, (2, 4)) for p in grid], -1)
    places[0, 0] = [p[1] for p in grid]
    places[1, 1, 0] = np.nan
    options = {"bounds_error": False, "fill_value": fill, "method": method}
    a, b = (m.RegularGridInterpolator(grid, values, **options) for m in (interpolate, si))
    np.testing.assert_allclose(a(places), b(places), rtol=1e-10, atol=1e-12)
    if len(shape) > 1:
        split = tuple(np.moveaxis(places, -1, 0))
        np.testing.assert_allclose(a(split), b(split), rtol=1e-10, atol=1e-12)
    c, d = (m.interpn(grid, values, places, **options) for m in (interpolate, si))
    np.testing.assert_allclose(c, d, rtol=1e-10, atol=1e-12)


def test_lone_places() -> None:
    grid, values = ([0.0, 1.0], [0.0, 1.0, 2.0]), np.arange(6.0).reshape(2, 3)
    for place in ((0.5, 0.5), [0.5, 0.5], [[0.5, 0.5]]):
        for f in (lambda m, p: m.RegularGridInterpolator(grid, values)(p),
                  lambda m, p: m.interpn(grid, values, p)):  # fmt: skip
            a, b = f(interpolate, place), f(si, place)
            assert np.shape(a) == np.shape(b)
            np.testing.assert_allclose(a, b)


def test_derivatives_of_grids() -> None:
    grid = (np.array([0.0, 0.6, 1.5]), np.array([-1.0, 0.2, 1.1]))
    values = np.random.default_rng(0).normal(size=(3, 3))

    def f(p: Any, q: Any, values: Any, places: Any) -> Any:
        return interpolate.RegularGridInterpolator((p, q), values)(places)

    places = np.array([[0.3, 0.1], [1.2, 0.9]])
    only = ["types", "finite", "transpose", "numerical", "vmap", "jit", "second order"]
    check_all(f, (*grid, values, places), only=only).raise_if_failed()


def test_outside_of_a_table_under_jit() -> None:
    """Where an error cannot be raised, it is not a number."""
    f = funcgrad.jit(lambda v: interpolate.interp1d([0.0, 1.0], [0.0, 1.0])(v))
    np.testing.assert_allclose(f(np.array([0.5, 2.0])), [0.5, np.nan])
    g = funcgrad.jit(lambda v: interpolate.interpn(([0.0, 1.0],), [0.0, 1.0], v))
    np.testing.assert_allclose(g(np.array([0.5, 2.0])), [0.5, np.nan])


def constructed(name: str, *args: Any, **options: Any) -> Callable[[], Any]:
    return lambda: getattr(interpolate, name)(*args, **options)


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (constructed("CubicSpline", [0.0, 0.0], [1.0, 2.0]), "rise"),
        (constructed("CubicSpline", [0.0, 1.0], [1.0, 2.0, 3.0]), "3 along"),
        (constructed("CubicSpline", [0.0], [1.0]), "at least 2"),
        (constructed("CubicSpline", [0.0, 1.0], [1.0, 2.0], bc_type="odd"), "odd"),
        (constructed("CubicSpline", [0.0, 1.0], [1.0, 2.0], bc_type="periodic"), "equal"),
        (
            constructed("CubicSpline", [0.0, 1.0], [1.0, 2.0], bc_type=("periodic", "natural")),
            "both",
        ),
        (
            constructed("CubicSpline", [0.0, 1.0], [1.0, 2.0], bc_type=((3, 0.0), "natural")),
            "order",
        ),
        (constructed("PchipInterpolator", [0.0, 1.0], [1.0, 2j]), "real"),
        (constructed("Akima1DInterpolator", [0.0, 1.0], [1.0, 2.0], method="odd"), "odd"),
        (constructed("interp1d", [0.0, 1.0], [1.0, 2.0], "quintic"), "quintic"),
        (constructed("interp1d", 0.0, [1.0, 2.0]), r"x has shape \[\]"),
        (constructed("interp1d", [0.0, 1.0], [1.0, 2.0, 3.0]), "y has 3 along"),
        (lambda: interpolate.interp1d([0.0, 1.0], [1.0, 2.0])(1.1), "outside"),
        (lambda: interpolate.RegularGridInterpolator(([0.0, 1.0],), [1.0, 2.0])([1.1]), "outside"),
        (constructed("RegularGridInterpolator", ([0.0, 1.0],), [1.0, 2.0], "akima"), "akima"),
        (constructed("RegularGridInterpolator", ([0.0, 1.0],), [1.0, 2.0], "pchip"), "at least 4"),
        (constructed("RegularGridInterpolator", ([0.0, 1.0],), [1.0, 2.0, 3.0]), "grid has shape"),
    ],
)
def test_errors(call: Any, says: str) -> None:
    with pytest.raises(FuncgradError, match=says):
        call()
