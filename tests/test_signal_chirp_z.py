"""Polynomials along spirals, and what filters do to frequencies: SciPy's, with derivatives."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from funcgrad.errors import ShapeError
from funcgrad.scipy import signal
from funcgrad.testing import check_all

theirs = pytest.importorskip("scipy.signal")
CHECKS = ["types", "transpose", "numerical", "jit", "vmap", "second order"]
W, A = 0.9 * np.exp(0.3j), 1.1 - 0.2j


@given(
    st.integers(0, 10**6),
    st.sampled_from([None, 1, 4, 11]),
    st.sampled_from([{}, {"w": W, "a": A}, {"w": np.exp(-0.4j)}, {"axis": 0}]),
    st.sampled_from([np.float32, np.float64, np.complex128]),
)
def test_chirps_are_scipys(seed: int, m: Any, options: dict[str, Any], dtype: Any) -> None:
    rng = np.random.default_rng(seed)
    x = (rng.normal(size=(3, 7)) + (1j if dtype is np.complex128 else 0)).astype(dtype)
    for name, first, given_ in (
        ("czt", (m,), options),
        ("zoom_fft", ([0.2, 0.7], m), {k: v for k, v in options.items() if k == "axis"}),
        ("zoom_fft", (0.4, m), {"endpoint": True, "fs": 3.0}),
    ):
        if name == "zoom_fft" and m == 1:
            continue
        found, wanted = (getattr(s, name)(x, *first, **given_) for s in (signal, theirs))
        assert found.shape == wanted.shape and found.dtype == wanted.dtype
        np.testing.assert_allclose(found, wanted, atol=1e-9 * np.abs(wanted).max())
    if m is not None:
        for way in ({}, {"w": W, "a": A}):
            points = (s.czt_points(m, **way) for s in (signal, theirs))
            np.testing.assert_allclose(*points, rtol=1e-12, atol=1e-12)


def test_derivatives_along_spirals() -> None:
    x = np.random.default_rng(0).normal(size=(2, 5))
    for f, at in (
        (lambda x, w, a: signal.czt(x, 4, w, a), (x, np.array(W), np.array(A))),
        (lambda x, low, high: signal.zoom_fft(x, [low, high], 3), (x, 0.2, 0.8)),
        (lambda w, a: signal.czt_points(4, w, a), (np.array(W), np.array(A))),
        (lambda b, a, w: signal.group_delay((b, a), w)[1], (x[0], x[1], np.array([0.3, 0.9]))),
        (lambda z, p, k: signal.freqz_zpk(z, p, k, [0.3, 0.9])[1], (x[0], x[1], 0.7)),
    ):
        report = check_all(f, at, only=CHECKS)
        assert not report.failures, str(report)


@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize("w", [8, np.array(7), [0.2, 0.5], 0.3], ids=["8", "array", "two", "one"])
def test_frequencies(w: Any, whole: bool) -> None:
    ba, zpk = theirs.butter(3, 0.3), theirs.butter(3, 0.3, output="zpk")
    for name, system in (("freqz", ba), ("group_delay", (ba,)), ("freqz_zpk", zpk)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # SciPy's, where the filter lets nothing pass
            found, wanted = (getattr(s, name)(*system, w, whole, fs=3.0) for s in (signal, theirs))
        passes = np.abs(signal.freqz(*ba, w, whole, fs=3.0)[1]) > 1e-9
        np.testing.assert_allclose(found[0], wanted[0])
        np.testing.assert_allclose(found[1][passes], wanted[1][passes], rtol=1e-9, atol=1e-12)
    delays = signal.group_delay(([1.0, 1.0], [1.0]), [np.pi, 1.0])[1]
    np.testing.assert_allclose(delays[1], 0.5)


@pytest.mark.parametrize(
    "call, says",
    [
        (lambda: signal.czt([1.0, 2.0], 0), "m=0; need one point"),
        (lambda: signal.czt(np.ones((0,)), 3), "need an element"),
        (lambda: signal.czt([1.0, 2.0], 2, axis=3), "axis"),
        (lambda: signal.zoom_fft([1.0, 2.0], [0.1, 0.2, 0.3]), "need 1 or 2"),
        (lambda: signal.freqz_zpk([[1.0]], [1.0], 1.0), "need vectors"),
    ],
    ids=["points", "empty", "axis", "range", "zeros"],
)
def test_what_has_no_chirp(call: Any, says: str) -> None:
    with pytest.raises(ShapeError, match=says):
        call()
