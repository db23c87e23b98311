"""`funcgrad.image` against JAX, against PyTorch's interpolation, and in every transform."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import funcgrad
from funcgrad import image, nn
from funcgrad.errors import ArgumentError, FuncgradError, ShapeError
from funcgrad.image import ResizeMethod
from funcgrad.testing import check_all

METHODS = ["nearest", "linear", "cubic", "cubic-pytorch", "lanczos3", "lanczos5", "area"]
every_method = pytest.mark.parametrize("method", METHODS)
every_weighing = pytest.mark.parametrize("method", METHODS[1:])
lengths = st.integers(1, 9)


@pytest.fixture(params=["float32", "float64"])
def jax(request: pytest.FixtureRequest) -> Any:
    jax = pytest.importorskip("jax")
    with jax.enable_x64(request.param == "float64"):
        yield jax


def pixels(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=shape)


# ---------------------------------------------------------------- values


@every_method
def test_values_are_those_of_jax(method: str, jax: Any) -> None:
    dtype = np.float64 if jax.config.jax_enable_x64 else np.float32
    tolerance = 1e-12 if dtype == np.float64 else 1e-5
    x = pixels(7, 3).astype(dtype)
    # JAX compiles each of these calls, so not all methods come with all options.
    ways = (True, False) if method in ("cubic-pytorch", "lanczos3") else (True,)
    for antialias in ways[: 2 if dtype == np.float64 else 1]:
        ours = image.resize(x, (3, 8), method, antialias)
        theirs = jax.image.resize(x, (3, 8), method, antialias)
        assert ours.dtype == theirs.dtype
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=tolerance)
    if method == "nearest" or dtype == np.float32:
        return
    for antialias in ways:
        args = (5, 4), (0, 1), np.array([0.6, 1.7], dtype), np.array([0.7, -1.1], dtype), method
        ours = image.scale_and_translate(x, *args, antialias)
        theirs = jax.image.scale_and_translate(x, *args, antialias)
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=tolerance)


@pytest.mark.parametrize("method", ["cubic", "area"])
def test_derivatives_by_scale_are_those_of_jax(method: str) -> None:
    jax = pytest.importorskip("jax")
    x, move = pixels(6), np.array([0.83, 0.37])

    def moved(module: Any, x: Any, move: Any) -> Any:
        return module.image.scale_and_translate(x, (4,), (0,), move[:1], move[1:], method)

    with jax.enable_x64(True):
        theirs = jax.jacobian(moved, (1, 2))(jax, x, move)
    for transform in (funcgrad.jacfwd, funcgrad.jacrev):
        for mine, wanted in zip(transform(moved, (1, 2))(funcgrad, x, move), theirs, strict=True):
            np.testing.assert_allclose(mine, wanted, rtol=1e-10, atol=1e-10)


# Method, antialias, and the mode of `nn.resample` that is the same.
SAME = [
    ("nearest", True, "nearest-exact"),
    ("linear", False, "linear"),
    ("linear", True, "linear"),
    ("cubic-pytorch", False, "cubic"),
    ("cubic-pytorch", True, "cubic"),
    ("cubic", True, "cubic"),
]


@pytest.mark.parametrize(("method", "antialias", "mode"), SAME)
@given(n=lengths, m=lengths, k=lengths, dtype=st.sampled_from("fdFD"))
def test_values_are_those_of_pytorchs_interpolation(
    method: str, antialias: bool, mode: str, n: int, m: int, k: int, dtype: str
) -> None:
    x = (pixels(n, 3) * (1 + 0.5j if dtype.isupper() else 1)).astype(dtype)
    y = image.resize(x, (m, k), method, antialias)
    assert y.dtype == x.dtype
    if mode == "cubic" and antialias and max(m - n, k - 3) > 0 and (m != n or k != 3):
        return  # there PyTorch's antialias changes the kernel of what gets longer, too
    expected = nn.resample(x, (m, k), mode, antialias=antialias and mode != "nearest-exact")
    tolerance = 3e-6 if x.real.dtype == np.float32 else 1e-13
    np.testing.assert_allclose(y, expected, rtol=0, atol=tolerance)


@every_method
@given(n=lengths, m=lengths, antialias=st.booleans())
def test_what_does_not_change(method: str, n: int, m: int, antialias: bool) -> None:
    x = pixels(n, 2)
    np.testing.assert_array_equal(image.resize(x, (n, 2), method, antialias), x)
    np.testing.assert_allclose(
        image.resize(np.full((n, 2), 3.0), (m, 2), method, antialias), 3.0, rtol=1e-14
    )
    y = image.resize(x, (m, 2), method, antialias)
    if method != "nearest":  # which takes the later one of two that are as near
        tolerance = {"rtol": 1e-12, "atol": 1e-12}
        turned = image.resize(x[::-1], (m, 2), method, antialias)[::-1]
        np.testing.assert_allclose(turned, y, **tolerance)
        args = (m, 2), (-2,), np.array([m / n]), np.zeros(1), method, antialias
        np.testing.assert_allclose(image.scale_and_translate(x, *args), y, **tolerance)


def test_integers_and_names() -> None:
    x = np.array([[1, 5], [7, 2]])
    assert image.resize(x, (4, 2), "nearest").dtype == x.dtype
    assert image.resize(x, (4, 2), "area").dtype == np.float64
    for names, method in (
        (["linear", "bilinear", "trilinear", "triangle"], ResizeMethod.LINEAR),
        (["cubic", "bicubic", "tricubic"], ResizeMethod.CUBIC),
        (["cubic-pytorch", "bicubic-pytorch"], ResizeMethod.CUBIC_PYTORCH),
    ):
        for name in names:
            assert ResizeMethod.from_string(name) is method
            np.testing.assert_array_equal(
                image.resize(x, (3, 3), name), image.resize(x, (3, 3), method)
            )


# ---------------------------------------------------------------- transforms


@every_method
@settings(max_examples=2)
@given(n=lengths, m=lengths, antialias=st.booleans())
def test_derivatives_by_the_image(method: str, n: int, m: int, antialias: bool) -> None:
    check_all(
        lambda x: image.resize(x, (m, 2), method, antialias), (pixels(n, 3),)
    ).raise_if_failed()


@every_weighing
def test_derivatives_by_scale_and_translation(method: str) -> None:
    def moved(x: Any, scale: Any, shift: Any) -> Any:
        return image.scale_and_translate(x, (5, 2), (0,), scale, shift, method)

    check_all(moved, (pixels(4, 2), np.array([0.83]), np.array([0.37]))).raise_if_failed()


@every_weighing
def test_programs_know_no_scale(method: str) -> None:
    x, scales, shifts = pixels(6), np.array([[0.5], [1.3]]), np.array([[0.2], [-0.4]])

    def moved(scale: Any, shift: Any) -> Any:
        return image.scale_and_translate(x, (5,), (0,), scale, shift, method)

    expected = [moved(a, b) for a, b in zip(scales, shifts, strict=True)]
    for f in (funcgrad.vmap(moved), funcgrad.jit(funcgrad.vmap(moved))):
        np.testing.assert_allclose(f(scales, shifts), expected, rtol=1e-13, atol=1e-13)


@every_method
def test_arrays_of_another_module(method: str, cupy: Any) -> None:
    x = pixels(5, 3)
    for antialias in (True, False):
        y = image.resize(cupy.asarray(x), (7, 2), method, antialias)
        assert isinstance(y, cupy.ndarray)
        np.testing.assert_allclose(y.get(), image.resize(x, (7, 2), method, antialias), rtol=1e-14)
    if method != "nearest":
        args = (7, 3), (0,), cupy.asarray(np.array([1.3])), cupy.asarray(np.array([0.2])), method
        assert isinstance(image.scale_and_translate(cupy.asarray(x), *args), cupy.ndarray)


# ---------------------------------------------------------------- mistakes

X = np.ones((2, 3))
ONE = np.ones(1)
MISTAKES = [
    (lambda: image.resize(X, (4,), "linear"), ShapeError, "a length for each axis"),
    (lambda: image.resize(X, (4, -1), "linear"), ShapeError, "a length for each axis"),
    (lambda: image.resize(np.ones((0, 2)), (4, 2), "nearest"), ShapeError, "axis 0 .* is empty"),
    (lambda: image.resize(X, (4, 2), "bell"), ArgumentError, "method='bell'"),
    (lambda: image.resize(X, (4, 2), None), ArgumentError, "method=None"),
    (lambda: image.resize(X, (4, 2.5), "area"), ArgumentError, "shape must be integers"),
    (lambda: image.resize("x", (), "area"), FuncgradError, "str"),
    (
        lambda: image.scale_and_translate(X, (4, 3), (0,), ONE, ONE, "nearest"),
        ArgumentError,
        "nearest",
    ),
    (
        lambda: image.scale_and_translate(X, (4, 4), (0,), ONE, ONE, "area"),
        ShapeError,
        "axis 1 of 3 elements is not one of spatial_dims",
    ),
    (
        lambda: image.scale_and_translate(X, (4, 3), (0,), np.ones(2), ONE, "area"),
        ShapeError,
        r"scale is f64\[2\]",
    ),
    (
        lambda: image.scale_and_translate(X, (2, 3), (0, -2), X[:, 0], X[:, 0], "area"),
        ShapeError,
        "",
    ),
    (lambda: image.scale_and_translate(X, (2, 3), 1.5, ONE, ONE, "area"), ArgumentError, "integer"),
    (lambda: image.scale_and_translate(X, (2, 3), (2,), ONE, ONE, "area"), ShapeError, "axis 2"),
]


@pytest.mark.parametrize(("mistake", "error", "text"), MISTAKES)
def test_mistakes_are_named(mistake: Any, error: type, text: str) -> None:
    with pytest.raises(error, match=text or None):
        mistake()
