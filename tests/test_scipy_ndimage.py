"""`funcgrad.scipy.ndimage` against SciPy, and its derivatives."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import funcgrad
from funcgrad.errors import ArgumentError, ConcretizationError, FuncgradError
from funcgrad.scipy import ndimage
from funcgrad.testing import check_all

sn = pytest.importorskip("scipy.ndimage")

MODES = ["reflect", "mirror", "nearest", "wrap", "constant", "grid-mirror", "grid-wrap"]
PLACES = [*MODES, "grid-constant"]
ONLY = ["types", "transpose", "linear", "numerical", "vmap", "jit"]


def picture(shape: tuple[int, ...], seed: int) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=shape)


# What a filter is called with: name, and arguments made from an image and random choices.
FILTERS: dict[str, Callable[..., tuple[tuple[Any, ...], dict[str, Any]]]] = {
    "correlate1d": lambda x, w, axis, o: ((w, axis), {"origin": o}),
    "convolve1d": lambda x, w, axis, o: ((w, axis), {"origin": o}),
    "correlate": lambda x, w, axis, o: ((w.reshape((-1,) + (1,) * (x.ndim - 1)),), {}),
    "convolve": lambda x, w, axis, o: ((np.multiply.outer(w, w[:3]),), {"origin": (o, 0)}),
    "uniform_filter1d": lambda x, w, axis, o: ((len(w), axis), {"origin": o}),
    "uniform_filter": lambda x, w, axis, o: (((len(w),) + (2,) * (x.ndim - 1),), {}),
    "gaussian_filter1d": lambda x, w, axis, o: (
        (0.3 * len(w), axis, int(abs(9 * x.flat[0])) % 4),
        {},
    ),
    "gaussian_filter": lambda x, w, axis, o: (([0.4 * len(w), *(0.7,) * (x.ndim - 1)],), {}),
    "gaussian_laplace": lambda x, w, axis, o: ((0.4 * len(w),), {"truncate": 3.0}),
    "gaussian_gradient_magnitude": lambda x, w, axis, o: ((0.4 * len(w),), {}),
    "sobel": lambda x, w, axis, o: ((axis,), {}),
    "prewitt": lambda x, w, axis, o: ((axis,), {}),
    "laplace": lambda x, w, axis, o: ((), {}),
}


@pytest.mark.parametrize("name", FILTERS)
@settings(max_examples=15)
@given(
    shape=st.lists(st.integers(1, 6), min_size=1, max_size=4).map(tuple),
    size=st.integers(1, 6),
    shift=st.integers(-3, 3),
    mode=st.sampled_from(MODES),
    seed=st.integers(0, 99),
    kind=st.sampled_from("df"),
)
def test_filters_are_scipys(
    name: str, shape: tuple[int, ...], size: int, shift: int, mode: str, seed: int, kind: str
) -> None:
    shape = (*shape, 3)[:2] if name == "convolve" else shape
    x = picture(shape, seed).astype(kind)
    weights = picture((size,), seed + 1)
    origin = max(-(size // 2) + (name.startswith("convolve") and size % 2 == 0), min(shift, 0))
    args, options = FILTERS[name](x, weights, seed % len(shape), origin)
    options = {"mode": mode, **options}
    if mode == "constant":
        options["cval"] = 0.7
    a, b = (getattr(m, name)(x, *args, **options) for m in (ndimage, sn))
    assert a.dtype == b.dtype and a.shape == b.shape
    np.testing.assert_allclose(
        a, b, rtol=1e-10 if kind == "d" else 1e-3, atol=1e-5 * (kind == "f") + 1e-11
    )


@pytest.mark.parametrize("mode", MODES)
def test_derivatives_of_filters(mode: str) -> None:
    x, w = picture((4, 5), 0), picture((3, 2), 1)

    def f(x: Any, w: Any, sigma: Any) -> Any:
        a = ndimage.correlate(x, w, mode=mode, cval=0.3)
        b = ndimage.convolve1d(x, w[0], 0, mode=mode, cval=0.3)
        return a + b * ndimage.gaussian_filter(x, sigma, (0, 1), mode=mode, radius=2)

    check_all(f, (x, w, np.array(0.8)), only=ONLY).raise_if_failed()


@settings(max_examples=60)
@given(
    shape=st.lists(st.integers(1, 5), min_size=2, max_size=3).map(tuple),
    size=st.integers(1, 4),
    origin=st.integers(-2, 1),
    mode=st.sampled_from(MODES),
    seed=st.integers(0, 99),
)
def test_chosen_elements_are_scipys(
    shape: tuple[int, ...], size: int, origin: int, mode: str, seed: int
) -> None:
    x = picture(shape, seed)
    options = {"mode": mode, "cval": 0.2, "origin": origin if 0 <= size // 2 + origin < size else 0}
    printed = np.random.default_rng(seed).random((size,) * len(shape)) < 0.6
    printed.flat[0] = True
    for name, args in (
        ("maximum_filter1d", (size, 0)),
        ("minimum_filter1d", (size, -1)),
        ("maximum_filter", (size,)),
        ("minimum_filter", (None, printed)),
        ("median_filter", (size,)),
        ("median_filter", (None, printed)),
        ("rank_filter", (-1, size)),
        ("rank_filter", (0, None, printed)),
        ("percentile_filter", (30, size)),
        ("percentile_filter", (-20, None, printed)),
    ):
        a, b = (getattr(m, name)(x, *args, **options) for m in (ndimage, sn))
        np.testing.assert_array_equal(a, b)


def test_derivatives_of_chosen_elements() -> None:
    x = picture((4, 5), 8)

    def f(x: Any) -> Any:
        a = ndimage.maximum_filter(x, 3) + ndimage.minimum_filter(x, 2, mode="wrap", axes=(1,))
        return a * ndimage.median_filter(x, 3, mode="nearest") + ndimage.percentile_filter(x, 25, 2)

    check_all(f, (x,), only=ONLY).raise_if_failed()
    for f, says in (
        (lambda: ndimage.median_filter(x), "size= or footprint="),
        (lambda: ndimage.maximum_filter(x, 0), "positive"),
        (lambda: ndimage.maximum_filter1d(x, 0), "positive"),
        (lambda: ndimage.rank_filter(x, 9, 3), "rank=9"),
        (lambda: ndimage.percentile_filter(x, 101, 3), "101"),
        (lambda: ndimage.median_filter(x, footprint=[1]), "2 axes"),
    ):
        with pytest.raises(FuncgradError, match=says):
            f()


def test_axes_of_filters() -> None:
    x = picture((3, 4, 5), 2)
    for name, args in (("gaussian_filter", (0.8,)), ("uniform_filter", ((2, 3),)), ("laplace", ())):
        a, b = (getattr(m, name)(x, *args, axes=(2, 0)) for m in (ndimage, sn))
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-12)
    w = picture((2, 3), 3)
    a, b = (m.correlate(x, w, axes=(0, 2)) for m in (ndimage, sn))
    np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-12)
    z = x + 1j * x[::-1]
    a, b = (m.convolve1d(z, w[0] * (1 + 2j)) for m in (ndimage, sn))
    np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-12)
    assert ndimage.gaussian_filter(np.zeros((0, 3)), 1.0).shape == (0, 3)
    assert ndimage.uniform_filter1d([1, 2, 4], 2).tolist() == [1.0, 1.5, 3.0]


@given(
    st.integers(0, 10**6),
    st.sampled_from([(1, 0), (2, 0), (0, 2), (-1, -2), (2, 0, 1)]),
    st.sampled_from([0, -1, "each"]),
)
def test_axes_of_windows_in_any_order(seed: int, axes: tuple[int, ...], origin: Any) -> None:
    """SciPy does not transpose windows; its options belong to the axes as they are given."""
    rng = np.random.default_rng(seed)
    x, shape = rng.normal(size=(4, 5, 6)), (3, 4, 5)[: len(axes)]
    weights, footprint = rng.normal(size=shape), rng.random(shape) > 0.5
    footprint.flat[0], footprint.flat[-1] = True, False
    origin = (0, -1, 1)[: len(axes)] if origin == "each" else origin
    calls: list[tuple[str, dict[str, Any]]] = [
        *((name, {"weights": weights}) for name in ("correlate", "convolve")),
        *((name, {"footprint": footprint}) for name in ("minimum_filter", "median_filter")),
        ("rank_filter", {"rank": 1, "footprint": footprint}),
        ("grey_erosion", {"structure": weights}),
    ]
    for name, options in calls:
        options |= {"axes": axes, "origin": origin}
        found, wanted = (getattr(m, name)(x, **options) for m in (ndimage, sn))
        np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-12, err_msg=name)
        again = getattr(ndimage, name)(x, **options | {"axes": np.array(axes)})
        np.testing.assert_array_equal(again, found)


def test_axes_without_a_blur() -> None:
    x = np.random.default_rng(0).normal(size=(4, 5, 6))
    options = {"radius": [4, 2, 3], "order": [0, 1, 2]}
    for sigma in ([np.int64(1), np.int64(0), 0.0], np.array([1.0, 0.0, 0.0])):
        found, wanted = (m.gaussian_filter(x, sigma, **options) for m in (ndimage, sn))
        np.testing.assert_allclose(found, wanted, atol=1e-12)


def test_no_slope_no_gradient() -> None:
    flat = np.ones((4, 4))
    f = lambda x: ndimage.gaussian_gradient_magnitude(x, 1.0).sum()  # noqa: E731
    assert np.isfinite(funcgrad.grad(f)(flat)).all()


# ---------------------------------------------------------------- places


def exactly(x: np.ndarray, mode: str, order: int) -> tuple[np.ndarray, str]:
    """What SciPy continues in the same way: its reflected splines of short axes miss the elements."""
    if mode not in ("reflect", "grid-mirror") or order < 2:
        return x, mode
    return np.pad(x, [(0, n) for n in x.shape], "symmetric"), "grid-wrap"


@pytest.mark.parametrize("order", range(6))
@settings(max_examples=40)
@given(
    shape=st.lists(st.integers(1, 4), min_size=1, max_size=3).map(tuple),
    mode=st.sampled_from(PLACES),
    seed=st.integers(0, 99),
    per_gap=st.sampled_from([None, 1, 2]),
)
def test_places_are_scipys(
    order: int, shape: tuple[int, ...], mode: str, seed: int, per_gap: int | None
) -> None:
    x = picture(shape, seed)
    v = np.random.default_rng(seed).uniform(-5, 7, (len(shape), 2, 6))
    v = v if per_gap is None else np.round(v * per_gap) / per_gap
    for prefilter in (True, False):
        options: dict[str, Any] = {"order": order, "cval": 0.7, "prefilter": prefilter}
        a = ndimage.map_coordinates(x, v, mode=mode, **options)
        whole_x, way = exactly(x, mode, order)
        b = sn.map_coordinates(whole_x, v, mode=way, **options)
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-9)
    every = np.indices(shape).astype(float)
    at = ndimage.map_coordinates(x, every, order=order, mode=mode)
    np.testing.assert_allclose(at, x, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("mode", PLACES)
@settings(max_examples=15)
@given(
    shape=st.lists(st.integers(1, 7), min_size=1, max_size=3).map(tuple),
    order=st.integers(2, 5),
    seed=st.integers(0, 99),
)
def test_coefficients_and_zooms_are_scipys(
    mode: str, shape: tuple[int, ...], order: int, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    x = picture(shape, seed) + 1j * picture(shape, seed + 1) * (seed % 3 == 0)
    x = x if seed % 3 == 0 else x.real
    factors = rng.uniform(0.6, 2.5, len(shape))
    calls: list[tuple[str, Any, dict[str, Any]]] = [
        ("shift", (factors,), {"mode": mode, "order": order, "cval": 0.7}),
        ("zoom", (factors,), {"mode": mode, "order": order, "cval": 0.7}),
    ]
    period, way = exactly(x, mode.replace("nearest", "reflect"), order)
    inside = tuple(map(slice, shape))
    a, b = ndimage.spline_filter(x, order, mode=mode), sn.spline_filter(period, order, x.dtype, way)
    np.testing.assert_allclose(a, b[inside], rtol=1e-9, atol=1e-9)
    for name, args, options in calls if exactly(x, mode, order)[1] == mode else []:
        a, b = (getattr(m, name)(x, *args, **options) for m in (ndimage, sn))
        assert a.shape == b.shape
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-9)


def test_zoomed_pixels_are_scipys() -> None:
    x = picture((14, 15), 3)
    for mode in ("grid-constant", "grid-wrap", "nearest", "reflect", "mirror"):
        a, b = (m.zoom(x, (2, 0.6), mode=mode, grid_mode=True, cval=0.3) for m in (ndimage, sn))
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-9)
    assert ndimage.zoom(x, 1) is not x
    np.testing.assert_array_equal(ndimage.zoom(x, 1), x)
    a, b = (m.zoom(x, 1, prefilter=False) for m in (ndimage, sn))
    np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-9)


@settings(max_examples=40)
@given(
    shape=st.lists(st.integers(1, 6), min_size=2, max_size=3).map(tuple),
    angle=st.sampled_from([0.0, 90.0, 180.0, 270.0, -90.0, 33.3, -121.7]),
    mode=st.sampled_from([m for m in PLACES if exactly(np.ones(1), m, 3)[1] == m]),
    order=st.integers(0, 5),
    reshape=st.booleans(),
    seed=st.integers(0, 99),
)
def test_turned_images_are_scipys(
    shape: tuple[int, ...], angle: float, mode: str, order: int, reshape: bool, seed: int
) -> None:
    x = picture(shape, seed)
    axes = (-1, 0) if seed % 2 else (0, 1)
    options = {"axes": axes, "reshape": reshape, "order": order, "mode": mode, "cval": 0.7}
    a, b = (m.rotate(x, angle, **options) for m in (ndimage, sn))
    assert a.shape == b.shape
    np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("order", [1, 2, 3])
@pytest.mark.parametrize("mode", PLACES)
def test_derivatives_by_places(mode: str, order: int) -> None:
    x, v = picture((4, 5), 0), np.array([[0.3, 1.6, -2.3, 7.4], [2.2, 3.7, 1.4, 0.6]])

    def f(x: Any, v: Any) -> Any:
        return ndimage.map_coordinates(x, v, order=order, mode=mode, cval=0.4)

    check_all(f, (x, v), only=ONLY).raise_if_failed()


def test_derivatives_of_splines() -> None:
    x = picture((4, 5), 1)

    def f(x: Any, angle: Any, by: Any) -> Any:
        y = ndimage.shift(ndimage.zoom(x, 1.6, mode="grid-wrap"), by, mode="nearest", order=2)
        return ndimage.rotate(y, angle, reshape=False, mode="reflect")

    check_all(f, (x, np.array(23.0), np.array(0.3)), only=ONLY).raise_if_failed()
    grown = funcgrad.grad(lambda a: ndimage.rotate(x, a, mode="mirror").sum())(30.0)
    near = [ndimage.rotate(x, 30.0 + d, mode="mirror").sum() for d in (1e-5, -1e-5)]
    np.testing.assert_allclose(grown, (near[0] - near[1]) / 2e-5, rtol=1e-5)


def test_moved_images() -> None:
    x, turn = picture((4, 5), 1), np.array([[0.9, -0.3], [0.2, 1.1]])
    offset = np.array([0.3, -0.21])
    for order in range(6):
        for mode in ("constant", "nearest", "mirror"):
            options = {"order": order, "mode": mode, "cval": 0.2}
            a, b = (m.shift(x, (0.4, -1.3), **options) for m in (ndimage, sn))
            np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-12)
            for matrix in (turn, np.diag(turn), np.column_stack([turn, offset])):
                a, b = (
                    m.affine_transform(x, matrix, offset, (3, 6), **options) for m in (ndimage, sn)
                )
                np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-12)

    def f(x: Any, matrix: Any, offset: Any, by: Any) -> Any:
        moved = ndimage.shift(x, [by[0], by[1]], order=1, mode="reflect")
        return ndimage.affine_transform(moved, matrix, offset, order=1, mode="mirror")

    check_all(f, (x, turn, offset, np.array([0.4, -0.3])), only=ONLY).raise_if_failed()


@pytest.mark.parametrize(
    ("call", "error", "says"),
    [
        (lambda: ndimage.map_coordinates(np.ones(3), [[0.5]], order=6), ArgumentError, "order=6"),
        (lambda: ndimage.spline_filter(np.ones(3), 1), ArgumentError, "order=1"),
        (lambda: ndimage.spline_filter1d(np.ones(3), mode="odd"), ArgumentError, "odd"),
        (lambda: ndimage.rotate(np.ones((3, 3)), 1.0, (0, 0)), FuncgradError, "twice"),
        (lambda: ndimage.rotate(np.ones(3), 1.0), FuncgradError, "axis"),
        (lambda: ndimage.zoom(1.0, 2), FuncgradError, "an axis"),
        (lambda: funcgrad.jit(lambda a: ndimage.rotate(np.ones((3, 3)), a))(1.0),
         ConcretizationError, "reshape|angle"),
        (lambda: funcgrad.jit(lambda z: ndimage.zoom(np.ones(3), z))(2.0), ConcretizationError,
         "zoom"),
        (lambda: ndimage.map_coordinates(np.ones(3), [[0.5]], order=1, mode="odd"), ArgumentError,
         "odd"),
        (lambda: ndimage.map_coordinates(np.ones((3, 3)), [[0.5]], order=1), FuncgradError, "2 rows"),
        (lambda: ndimage.shift(np.ones(3), 1, output=np.ones(3)), ArgumentError, "output="),
        (lambda: ndimage.correlate(np.ones(3), np.ones((2, 2))), FuncgradError, "1 axes"),
        (lambda: ndimage.correlate1d(np.ones(3), np.ones(3), mode="odd"), ArgumentError, "odd"),
        (lambda: ndimage.correlate1d(np.ones(3), np.ones(3), origin=2), ArgumentError, "origin=2"),
        (lambda: ndimage.uniform_filter1d(np.ones(3), 0), ArgumentError, "size=0"),
        (lambda: ndimage.gaussian_filter(np.ones((3, 3)), [1.0]), FuncgradError, "1 entries"),
        (lambda: funcgrad.jit(lambda s: ndimage.gaussian_filter1d(np.ones(3), s))(1.0),
         ConcretizationError, "radius"),
        (lambda: ndimage.affine_transform(np.ones((3, 3)), np.diag([1.0, 1.0, 2.0])), ArgumentError,
         "projections are not affine"),
        (lambda: ndimage.affine_transform(np.ones((3, 3)), np.ones((3, 3, 3))), FuncgradError,
         "matrix"),
    ],
)  # fmt: skip
def test_errors(call: Any, error: type, says: str) -> None:
    with pytest.raises(error, match=says):
        call()


@pytest.mark.parametrize(
    ("order", "mode"), [*itertools.product((0, 1), PLACES), (3, "mirror"), (3, "grid-constant")]
)
@settings(max_examples=3)
@given(seed=st.integers(0, 99), start=st.sampled_from([0.0, 0.2, 4096.25]))
def test_places_keep_their_precision(order: int, mode: str, seed: int, start: float) -> None:
    """An image of single precision is looked up at the places that were asked for."""
    rng = np.random.default_rng(seed)
    step, start = 1 + np.sqrt(2) / 14, start + np.sqrt(3) / 100  # no place is between two elements
    x = rng.normal(size=(2, 8192)).astype(np.float32)
    places = np.stack([rng.uniform(0, 1, 9), start + np.linspace(0, 2048, 9) * step])
    arguments: dict[str, Any] = {"order": order, "mode": mode}
    for name, given_ in {
        "map_coordinates": (places,),
        "affine_transform": (np.array([[1.0, 0.0], [np.sqrt(5) / 40, step]]), [0.0, start]),
        "shift": (-(start % 5) - 1e-3,),
    }.items():
        ours = getattr(ndimage, name)(x, *given_, **arguments)
        theirs = getattr(sn, name)(x, *given_, **arguments)
        assert ours.dtype == np.float32
        np.testing.assert_allclose(ours, theirs, atol=2e-6 * (1 + order))
