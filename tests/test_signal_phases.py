"""Least squares filters, filters of least phase, signals of two axes and periods beside SciPy's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from funcgrad.errors import FuncgradError
from funcgrad.scipy import signal
from funcgrad.testing import check_all

ss = pytest.importorskip("scipy.signal")

CHECKS = ["types", "finite", "transpose", "numerical", "vmap", "jit", "second order"]
BANDS = np.array([0.0, 0.3, 0.4, 0.7, 0.8, 1.0])
GAINS = np.array([1.0, 0.8, 0.2, 0.1, 0.5, 0.5])


@given(half=st.integers(0, 12), fs=st.sampled_from([None, 6.0]), weighted=st.booleans())
def test_least_squares_filters_are_scipys(half: int, fs: float | None, weighted: bool) -> None:
    bands = BANDS if fs is None else BANDS * 0.5 * fs
    weight = np.array([1.0, 3.0, 0.5]) if weighted else None
    found, expected = (
        m.firls(2 * half + 1, bands, GAINS, weight=weight, fs=fs) for m in (signal, ss)
    )
    np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-10)
    pairs = signal.firls(2 * half + 1, bands.reshape(-1, 2), GAINS.reshape(-1, 2), fs=fs)
    np.testing.assert_allclose(pairs, ss.firls(2 * half + 1, bands, GAINS, fs=fs), atol=1e-10)


def test_derivatives_of_least_squares_filters() -> None:
    def f(bands: Any, gains: Any, weight: Any, fs: Any) -> Any:
        return signal.firls(5, bands, gains, weight=weight, fs=fs)

    args = (BANDS * 2.0 + 0.1, GAINS, np.array([1.0, 3.0, 0.5]), np.array(4.5))
    check_all(f, args, only=CHECKS).raise_if_failed()


@settings(max_examples=15)
@given(n=st.integers(3, 20), n_fft=st.sampled_from([None, 64, 65]), half=st.booleans())
def test_least_phases_are_scipys(n: int, n_fft: int | None, half: bool) -> None:
    h = ss.firwin(n, 0.4)
    found, expected = (m.minimum_phase(h, n_fft=n_fft, half=half) for m in (signal, ss))
    assert found.shape == expected.shape
    np.testing.assert_allclose(found, expected, atol=1e-9)


def test_derivatives_of_least_phases() -> None:
    def f(h: Any) -> Any:
        return signal.minimum_phase(np.concatenate([h[::-1], h[1:]]), n_fft=32)

    check_all(f, (np.array([2.0, 0.6, 0.3]),), only=CHECKS).raise_if_failed()
    with pytest.warns(RuntimeWarning, match="not symmetric"):
        signal.minimum_phase([3.0, 1.0, 0.5])


@given(m=st.integers(1, 6), n=st.integers(1, 6), N=st.sampled_from([None, 5, (4, 7)]))
def test_signals_of_two_axes_are_scipys(m: int, n: int, N: Any) -> None:
    x = np.random.default_rng(m * n).normal(size=(m, 2, n))
    for axes in ((0, 2), (-1, 0), (2, 1)):
        found, expected = (s.hilbert2(x, N, axes) for s in (signal, ss))
        np.testing.assert_allclose(found, expected, atol=1e-12)
    check_all(signal.hilbert2, (x[:, 0],), only=CHECKS).raise_if_failed()


@given(seed=st.integers(0, 99), n=st.integers(1, 8))
def test_strengths_are_scipys(seed: int, n: int) -> None:
    rng = np.random.default_rng(seed)
    events = rng.uniform(0.0, 9.0, n)
    for period in (1.3, rng.uniform(0.5, 2.0, 3)):
        for found, expected in zip(
            signal.vectorstrength(events, period), ss.vectorstrength(events, period), strict=True
        ):
            assert np.shape(found) == np.shape(expected)
            np.testing.assert_allclose(found, expected, atol=1e-9)


def test_derivatives_of_strengths() -> None:
    args = np.array([0.3, 1.1, 2.0]), np.array([1.2, 0.7])
    check_all(signal.vectorstrength, args, only=CHECKS).raise_if_failed()


X = np.ones((3, 3))
MISTAKES = [
    (lambda: signal.firls(4, BANDS, GAINS), "odd number"),
    (lambda: signal.firls(3, BANDS[::-1], GAINS), "must rise"),
    (lambda: signal.firls(3, BANDS, GAINS[:4]), "4 gains"),
    (lambda: signal.firls(3, BANDS, -GAINS), "desired must not"),
    (lambda: signal.firls(3, BANDS, GAINS, weight=[1.0, -1.0, 1.0]), "weight must not"),
    (lambda: signal.minimum_phase(X), "vector of 3"),
    (lambda: signal.minimum_phase(X[0], "hilbert"), "homomorphic"),
    (lambda: signal.minimum_phase(X[0], n_fft=2), "n_fft=2"),
    (lambda: signal.minimum_phase(1j * X[0]), "real numbers"),
    (lambda: signal.hilbert2(1j * X), "real numbers"),
    (lambda: signal.hilbert2(X, axes=(0, -2)), "that differ"),
    (lambda: signal.hilbert2(X, N=0), "N=0"),
    (lambda: signal.vectorstrength([1.0], -1.0), "positive"),
    (lambda: signal.vectorstrength(X, 1.0), "rows"),
]


@pytest.mark.parametrize(("call", "words"), MISTAKES, ids=[f"{i}" for i in range(len(MISTAKES))])
def test_mistakes_with_phases(call: Any, words: str) -> None:
    with pytest.raises(FuncgradError, match=words):
        call()
