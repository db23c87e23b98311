"""Convolutions in C are convolutions: every step and layout, infinities, several threads, loops."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from samples.conv import sizes

import funcgrad
from funcgrad import lax
from funcgrad.compile import c_compiler, c_conv, c_conv_features, parallel
from funcgrad.compile.steps import CALL, Step, Value
from funcgrad.ops.conv import conv

pytestmark = pytest.mark.skipif(c_compiler.compiler() is None, reason="no C compiler")

RNG = np.random.default_rng(0)


def step_of(x: Any, w: Any, params: Any) -> Step:
    with np.errstate(all="ignore"):
        out = conv(x, w, **params)
    values = [Value(v.shape, v.dtype) for v in (x, w, out)]
    return Step(CALL, conv, values[:2], values[2:], params)


def in_c(x: Any, w: Any, params: Any, along: str | None = None) -> tuple[c_conv.Convolution, Any]:
    """What the printer knows of a convolution, and what its C gives; `along`: not in its own form."""
    found = c_conv.Convolution(step_of(x, w, params))
    found.along = along or found.along
    loops = c_compiler.load([c_conv.ConvolutionKernel(found, "kernel")])
    assert loops is not None
    return found, found.shared(loops[0])(x, w)


def plain(axes: int, **changes: Any) -> dict[str, Any]:
    ones = (1,) * axes
    usual = {"strides": ones, "lhs_dilation": ones, "rhs_dilation": ones}
    return {**usual, "padding": ((0, 0),) * axes, "groups": 1, **changes}


@st.composite
def convolutions(draw: Any) -> tuple[Any, Any, dict[str, Any]]:
    """Arrays in any layout and parameters that fit; rows and kernels of more than a vector."""
    n = draw(st.integers(1, 3))
    strides, right = (draw(sizes(n, 1, 3)) for _ in range(2))
    left = draw(st.sampled_from([(1,) * n, draw(sizes(n, 1, 3))]))
    kernel, spatial = (list(draw(sizes(n, 1, 4))) for _ in range(2))
    kernel[-1], spatial[-1] = draw(st.integers(1, 40)), draw(st.integers(1, 60))
    padding = []
    for s, gap, k, d in zip(spatial, left, kernel, right, strict=True):
        low = draw(st.integers(-2, 3))
        least = (k - 1) * d - (s - 1) * gap - low
        padding.append((low, max(least, draw(st.integers(-2, 3)))))
    groups, channels, batch = (draw(st.integers(1, 3)) for _ in range(3))
    features = draw(st.integers(1, 40))
    dtype = draw(st.sampled_from(["float32", "float64"]))
    shapes = (batch, groups * channels, *spatial), (groups * features, channels, *kernel)
    x, w = (RNG.normal(size=s).astype(dtype) for s in shapes)
    if draw(st.booleans()):
        x, w = np.asfortranarray(x), np.asfortranarray(w)
    if draw(st.booleans()):
        x, w = x[..., ::-1], w[:, :, ::-1]
    params = {"strides": strides, "padding": tuple(padding), "groups": groups}
    return x, w, params | {"lhs_dilation": left, "rhs_dilation": right}


def require_same(found: Any, expected: Any) -> None:
    eps = np.finfo(expected.dtype).eps
    scale = np.abs(expected[np.isfinite(expected)]).max(initial=1.0)
    assert found.dtype == expected.dtype
    np.testing.assert_allclose(found, expected, 1000 * eps, 1000 * eps * scale)


@given(sample=convolutions(), chunk=st.sampled_from([1, 1 << 16]))
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_every_step_and_layout(monkeypatch: pytest.MonkeyPatch, sample: Any, chunk: int) -> None:
    """In every form that there is; and in parts, of channels and of images, as large ones are."""
    x, w, params = sample
    monkeypatch.setattr(c_conv_features, "CHUNK", chunk)
    monkeypatch.setattr(c_conv_features, "IN_CACHE", chunk)
    expected = conv(x, w, **params)
    for along in c_conv.Convolution(step_of(x, w, params)).cycles():
        require_same(in_c(x, w, params, along)[1], expected)


@pytest.mark.parametrize("kernel", [(2, 3), (5, 21)])
def test_what_is_not_finite_stays_where_it_belongs(kernel: tuple[int, int]) -> None:
    """Vectors that reach over the end of a row or of the kernel meet numbers of others there."""
    clean = RNG.normal(size=(2, 2, 7, 24))
    w = RNG.normal(size=(3, 2, *kernel))
    for where in itertools.product((0, 1), (0, 1), (0, 3, 6), (0, 5, 20, 23)):
        x = clean.copy()
        x[where] = RNG.choice([np.inf, -np.inf, np.nan])
        windows = np.lib.stride_tricks.sliding_window_view(x, kernel, (2, 3))
        with np.errstate(invalid="ignore"):
            expected = np.einsum("ncpqij,ocij->nopq", windows, w)
            for along in (c_conv.FEATURES, c_conv.PLACES if kernel[1] < 20 else c_conv.TAPS):
                require_same(in_c(x, w, plain(2), along)[1], expected)


@pytest.mark.parametrize("kernel", [(3, 3), (5, 12)])
def test_infinite_weights_and_inputs_say_nothing_new(kernel: tuple[int, int]) -> None:
    """Zeros that are only there for the vectors meet no infinity; warnings are errors here."""
    x, w = abs(RNG.normal(size=(2, 2, 9, 33))), abs(RNG.normal(size=(5, 2, *kernel)))
    x[0, 0, 0, 0] = np.inf
    with np.errstate(invalid="ignore"):  # BLAS has zeros of its own
        expected = conv(x, w, **plain(2))
    forms = [*c_conv.Convolution(step_of(x, w, plain(2))).cycles()]
    for along in forms:
        require_same(in_c(x, w, plain(2), along)[1], expected)
    x[0, 0, 0, 0], w[1, 1, 0, 0] = 1, np.inf
    with np.errstate(invalid="ignore"):
        expected = conv(x, w, **plain(2))
    for along in forms:
        require_same(in_c(x, w, plain(2), along)[1], expected)

    def total(x: Any, w: Any) -> Any:
        return conv(x, w, **plain(2, strides=(1, 2))).sum()

    gradient = funcgrad.grad(total)
    with funcgrad.config("c"), np.errstate(invalid="ignore"):
        require_same(funcgrad.jit(gradient)(x, w), gradient(x, w))


@pytest.mark.parametrize("along", [c_conv.PLACES, c_conv.TAPS, c_conv.FEATURES])
def test_threads_share_the_images(monkeypatch: pytest.MonkeyPatch, along: str) -> None:
    monkeypatch.setattr(c_conv, "threads", lambda: 3)
    monkeypatch.setattr(c_conv, "LARGE", 0)
    monkeypatch.setattr(parallel, "threads", lambda: 3)
    monkeypatch.setattr(parallel, "LARGE", 0)
    parallel._pool.cache_clear()
    x = RNG.normal(size=(7, 5, 9, 11))
    w = RNG.normal(size=(4, 5, 8, 9) if along == c_conv.TAPS else (4, 5, 2, 3))
    found = in_c(x, w, plain(2), along)[1]
    parallel._pool.cache_clear()
    require_same(found, conv(x, w, **plain(2)))


def loss(x: Any, w: Any, v: Any) -> Any:
    y = np.tanh(conv(x, w, **plain(2, padding=((2, 2), (1, 1)), strides=(2, 1))))
    return (conv(y, v, **plain(2, groups=2)) ** 2).sum()


def test_values_and_gradients_in_jit() -> None:
    args = (
        RNG.normal(size=(4, 3, 12, 16)),
        RNG.normal(size=(6, 3, 3, 3)),
        RNG.normal(size=(4, 3, 2, 2)),
    )
    both = funcgrad.value_and_grad(loss, argnums=(0, 1, 2))
    compiled = funcgrad.jit(both)
    expected, found_in_numpy = both(*args), compiled(*args)
    with funcgrad.config("c"):
        found = compiled(*args)
        assert "conv" not in compiled.code
    for a, b, c in zip(*map(funcgrad.tree.leaves, (expected, found, found_in_numpy)), strict=True):
        np.testing.assert_allclose(b, a, rtol=1e-11, atol=1e-11)
        np.testing.assert_allclose(c, a, rtol=1e-11, atol=1e-11)


def test_inside_a_loop() -> None:
    w = RNG.normal(size=(2, 2, 3, 3)) / 3

    def f(x: Any, w: Any) -> Any:
        def step(x: Any, _: Any) -> Any:
            x = np.tanh(conv(x, w, **plain(2, padding=((1, 1), (1, 1)))))
            return x, x.sum()

        return lax.scan(step, x, None, length=5)

    x = RNG.normal(size=(2, 2, 9, 16))
    expected = f(x, w)
    with funcgrad.config("c"):
        compiled = funcgrad.jit(f)
        found = compiled(x, w)
        assert "kernel" in compiled.code and "conv" not in compiled.code
    for a, b in zip(expected, found, strict=True):
        np.testing.assert_allclose(b, a, rtol=1e-11, atol=1e-11)
