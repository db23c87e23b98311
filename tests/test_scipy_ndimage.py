"""`funcgrad.scipy.ndimage` against SciPy, and its derivatives."""

from __future__ import annotations

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


def test_no_slope_no_gradient() -> None:
    flat = np.ones((4, 4))
    f = lambda x: ndimage.gaussian_gradient_magnitude(x, 1.0).sum()  # noqa: E731
    assert np.isfinite(funcgrad.grad(f)(flat)).all()


# ---------------------------------------------------------------- places


@pytest.mark.parametrize("order", [0, 1])
@settings(max_examples=40)
@given(
    shape=st.lists(st.integers(1, 4), min_size=1, max_size=3).map(tuple),
    mode=st.sampled_from(PLACES),
    seed=st.integers(0, 99),
    whole=st.booleans(),
)
def test_places_are_scipys(
    order: int, shape: tuple[int, ...], mode: str, seed: int, whole: bool
) -> None:
    x = picture(shape, seed)
    v = np.random.default_rng(seed).uniform(-5, 7, (len(shape), 2, 6))
    v = np.round(v) if whole else v
    a, b = (m.map_coordinates(x, v, order=order, mode=mode, cval=0.7) for m in (ndimage, sn))
    np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("mode", PLACES)
def test_derivatives_by_places(mode: str) -> None:
    x, v = picture((4, 5), 0), np.array([[0.3, 1.6, -2.3, 7.4], [2.2, 3.7, 1.4, 0.6]])

    def f(x: Any, v: Any) -> Any:
        return ndimage.map_coordinates(x, v, order=1, mode=mode, cval=0.4)

    check_all(f, (x, v), only=ONLY).raise_if_failed()


def test_moved_images() -> None:
    x, turn = picture((4, 5), 1), np.array([[0.9, -0.3], [0.2, 1.1]])
    offset = np.array([0.3, -0.21])
    for order in (0, 1):
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
        (lambda: ndimage.map_coordinates(np.ones(3), [[0.5]]), ArgumentError, "order=3"),
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
        (lambda: ndimage.affine_transform(np.ones((3, 3)), np.ones((3, 3, 3))), FuncgradError,
         "matrix"),
    ],
)  # fmt: skip
def test_errors(call: Any, error: type, says: str) -> None:
    with pytest.raises(error, match=says):
        call()


@pytest.mark.parametrize("order", [0, 1])
@pytest.mark.parametrize("mode", PLACES)
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
        np.testing.assert_allclose(ours, theirs, atol=2e-6)
