"""Derivatives of maxima of windows in C: every window and layout, odd numbers, threads, loops."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import funcgrad
from funcgrad import lax
from funcgrad.compile import c_compiler, c_pool, parallel
from funcgrad.compile.steps import CALL, Step, Value
from funcgrad.ops.pool import max_pool, put_windows, window_argmax

pytestmark = pytest.mark.skipif(c_compiler.compiler() is None, reason="no C compiler")

RNG = np.random.default_rng(0)
ODD = [np.nan, np.inf, -np.inf, 0.0, -0.0]


def in_c(prim: Any, given: tuple[Any, ...], out: Any, params: Any) -> Any:
    *values, last = [Value(v.shape, v.dtype) for v in (*given, out)]
    step = Step(CALL, prim, values, [last], params)
    assert c_pool.fits(step)
    pooling = c_pool.Pooling(step)
    loops = c_compiler.load([c_pool.PoolingKernel(pooling, "kernel")])
    assert loops is not None
    return pooling.shared(loops[0])(*given)


@st.composite
def pools(draw: Any) -> tuple[Any, dict[str, Any], bool]:
    """Images with equal elements and odd ones, windows that lie apart or not, and a layout."""
    axes = draw(st.integers(1, 3))
    window, strides, padding, spatial = [], [], [], []
    for _ in range(axes):
        k = draw(st.sampled_from([1, 2, 3, 5]))
        pads = draw(st.sampled_from([(0, 0), (0, 0), (k // 2, (k - 1) // 2)]))
        window.append(k)
        strides.append(draw(st.integers(1, 3)))
        padding.append(pads)
        spatial.append(draw(st.integers(k, 14)))
    if max(window) == 1:
        window[0], spatial[0] = 2, spatial[0] + 1
    lead = draw(st.sampled_from([(), (2,), (3, 2)]))
    kinds = draw(st.sampled_from([3, 1000]))
    seed = draw(st.integers(0, 100))
    rng = np.random.default_rng(seed)
    x = rng.integers(0, kinds, (*lead, *spatial)).astype(draw(st.sampled_from(["f4", "f8"])))
    if draw(st.booleans()):
        x[rng.random(x.shape) < 0.2] = draw(st.sampled_from(ODD))
    params = {"window": tuple(window), "strides": tuple(strides), "padding": tuple(padding)}
    return x, params, draw(st.booleans())


@settings(max_examples=2 * settings().max_examples)
@given(pools())
def test_every_window_and_layout(sample: Any) -> None:
    x, params, is_odd = sample
    most = max_pool(x, **params)
    place = window_argmax(x, most, **params)
    ct = RNG.normal(size=most.shape).astype(x.dtype)
    axes = len(params["window"])
    spatial = x.shape[x.ndim - axes :]
    expected = put_windows(ct, place, spatial=spatial, **params)
    if is_odd:
        x, most, place, ct = (np.repeat(a, 2, -1)[..., ::2] for a in (x, most, place, ct))
    with np.errstate(all="raise"):
        np.testing.assert_array_equal(in_c(max_pool, (x,), most, params), most)
        found = in_c(window_argmax, (x, most), place, params)
        assert found.dtype == place.dtype
        np.testing.assert_array_equal(found, place)
        put = in_c(put_windows, (ct, place), expected, params | {"spatial": spatial})
    np.testing.assert_allclose(put, expected, rtol=1e-5, atol=1e-5 if x.dtype == "f4" else 1e-12)


def test_large_images_go_row_by_row() -> None:
    params = {"window": (2, 3), "strides": (2, 3), "padding": ((0, 0), (0, 0))}
    x = RNG.normal(size=(2, 120, 150))
    most = max_pool(x, **params)
    assert most[0].size * 6 > c_pool.TOGETHER
    place = window_argmax(x, most, **params)
    np.testing.assert_array_equal(in_c(window_argmax, (x, most), place, params), place)


def test_long_rows_are_not_on_the_stack() -> None:
    for padding in ((0, 0), (1, 1)):
        params = {"window": (3,), "strides": (2,), "padding": (padding,)}
        x = RNG.normal(size=(2, 3_000_001))
        gradient = funcgrad.grad(lambda x, p=params: (max_pool(x, **p) ** 2).sum())
        with funcgrad.config("c"):
            compiled = funcgrad.jit(gradient)
            found = compiled(x)
            assert ("max_pool(" in compiled.code) == any(padding)
        np.testing.assert_array_equal(found, gradient(x))


def test_long_windows() -> None:
    """Whose places are integers of 64 bits, or that NumPy is left with."""
    for k in (200, 300):
        params = {"window": (k,), "strides": (k,), "padding": ((0, 0),)}
        x = RNG.normal(size=(2, 3 * k))
        most = max_pool(x, **params)
        values = [Value(v.shape, v.dtype) for v in (x, most)]
        place = window_argmax(x, most, **params)
        step = Step(CALL, window_argmax, values, [Value(place.shape, place.dtype)], params)
        assert c_pool.fits(step) is (k <= c_pool.MOST)
        if k <= c_pool.MOST:
            np.testing.assert_array_equal(in_c(window_argmax, (x, most), place, params), place)


def test_threads_share_the_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(c_pool, "threads", lambda: 3)
    monkeypatch.setattr(c_pool, "LARGE", 0)
    monkeypatch.setattr(parallel, "threads", lambda: 3)
    monkeypatch.setattr(parallel, "LARGE", 0)
    parallel._pool.cache_clear()
    params = {"window": (2, 2), "strides": (2, 2), "padding": ((0, 0), (0, 0))}
    x = RNG.normal(size=(7, 3, 8, 6))
    most = max_pool(x, **params)
    place = window_argmax(x, most, **params)
    found = in_c(window_argmax, (x, most), place, params)
    parallel._pool.cache_clear()
    np.testing.assert_array_equal(found, place)


def loss(x: Any) -> Any:
    params = {"window": (3, 2), "strides": (2, 2), "padding": ((1, 1), (0, 0))}
    return (np.tanh(max_pool(np.sin(x), **params)) ** 2).sum()


def test_gradients_in_jit_and_in_loops() -> None:
    x = RNG.normal(size=(3, 4, 11, 12))

    def many(x: Any) -> Any:
        return lax.scan(lambda c, row: (c + loss(row), None), 0.0, x)[0]

    for f in (loss, many):
        gradient = funcgrad.grad(f)
        compiled = funcgrad.jit(gradient)
        with funcgrad.config("c"):
            found = compiled(x)
            assert "kernel" in compiled.code and "window" not in compiled.code
        np.testing.assert_allclose(found, gradient(x), rtol=1e-11, atol=1e-12)
