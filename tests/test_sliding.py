"""Sliding products are sums of products, however many places, taps and blocks there are."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.lib.stride_tricks import sliding_window_view

import funcgrad
from funcgrad import sliding
from funcgrad.sliding import slid


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Everything that is done for large arrays, for small ones."""
    monkeypatch.setattr(sliding, "_WORK", 100)
    monkeypatch.setattr(sliding, "_PIECE", 40)
    monkeypatch.setattr(sliding, "_MANY", 30)
    monkeypatch.setattr(sliding, "_BLOCK", {False: 4, True: 16})
    monkeypatch.setattr(sliding, "_BUFFER", 200)


def numbers(dtype: Any, *shape: int) -> Any:
    rng = np.random.default_rng(shape)
    x = rng.standard_normal(shape)
    return (x + 1j * x[::-1] if np.dtype(dtype).kind == "c" else 9 * x).astype(dtype)


@settings(max_examples=150)
@given(
    st.integers(1, 300), st.integers(1, 130), st.sampled_from(["f8", "f4", "c16", "c8", "i4", "f2"])
)
def test_sums_of_products(places: int, taps: int, dtype: str) -> None:
    x, w = numbers(dtype, places + taps - 1), numbers(dtype, taps)
    out = slid(x, w)
    exact = np.result_type(dtype, "f8")
    expected = (sliding_window_view(x.astype(exact), taps) * w).sum(1)
    assert out.dtype == x.dtype and out.shape == (places,)
    precision = np.finfo(dtype).eps if np.dtype(dtype).kind in "fc" else 0.0
    bound = precision * taps * 400 + 1e-30
    np.testing.assert_allclose(out, expected, rtol=0, atol=bound)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_what_is_not_finite_stays_in_its_windows(bad: float) -> None:
    x, w = numbers("f8", 200), numbers("f8", 20)
    x[50] = bad
    out = slid(x, w)
    reached = (np.arange(181) <= 50) & (np.arange(181) > 30)
    np.testing.assert_array_equal(np.isfinite(out), ~reached)


@given(st.sampled_from([(1, 1, 60, 20), (3, 1, 80, 30), (1, 4, 80, 20), (2, 3, 90, 40)]))
@settings(max_examples=8)
def test_convolutions_of_signals(sizes: tuple[int, ...]) -> None:
    """Values and both cotangents of rows of signals, each with its own kernel, against loops."""
    n, groups, length, taps = sizes
    x, w = numbers("f8", n, groups, length), numbers("f8", groups, 1, taps)

    def conv(x: Any, w: Any) -> Any:
        out: Any = funcgrad.lax.conv_general_dilated(
            x, w, (1,), [(3, 2)], feature_group_count=groups
        )
        return out

    def loops(x: Any, w: Any) -> Any:
        x = np.pad(x, ((0, 0), (0, 0), (3, 2)))
        return sum(w[:, 0, k, None] * x[:, :, k : k + length + 6 - taps] for k in range(taps))

    out, pull = funcgrad.vjp(conv, x, w)
    expected, expected_pull = funcgrad.vjp(loops, x, w)
    ct = numbers("f8", *out.shape)
    for a, b in zip((out, *pull(ct)), (expected, *expected_pull(ct)), strict=True):
        np.testing.assert_allclose(a, b, 1e-11, 1e-9)


@given(st.integers(1, 90), st.integers(1, 90), st.sampled_from(["full", "same", "valid"]))
def test_convolve_is_numpys(m: int, n: int, mode: Any) -> None:
    x, w = numbers("f8", m), numbers("f8", n)
    found = funcgrad.numpy.convolve(x, w, mode)
    np.testing.assert_allclose(found, np.convolve(x, w, mode), 1e-11, 1e-9)
    found = funcgrad.numpy.correlate(x, w, mode)
    np.testing.assert_allclose(found, np.correlate(x, w, mode), 1e-11, 1e-9)
