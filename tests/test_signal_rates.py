"""Sampling rates, filters by windows and chirps of `funcgrad.scipy.signal`, against SciPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import funcgrad
import funcgrad.numpy as fnp
from funcgrad.errors import FuncgradError
from funcgrad.scipy import signal
from funcgrad.testing import check_all

ss = pytest.importorskip("scipy.signal")

CHECKS = ["types", "transpose", "numerical", "jit", "vmap", "second order"]


@settings(max_examples=40)
@given(
    n=st.integers(1, 12),
    k=st.integers(1, 9),
    up=st.integers(1, 4),
    down=st.integers(1, 4),
    seed=st.integers(0, 99),
)
def test_rates_are_scipys(n: int, k: int, up: int, down: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    x, h = rng.normal(size=(2, n, 3)), rng.normal(size=k)
    z = x + 1j * x[::-1]
    for y, axis in ((x, 1), (x, 0), (z, 1), (x.astype("f"), 1)):
        a, b = (m.upfirdn(h.astype(y.real.dtype), y, up, down, axis) for m in (signal, ss))
        assert a.dtype == b.dtype
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-5 if y.dtype == np.float32 else 1e-12)
    for options in (
        {},
        {"padtype": "mean"},
        {"padtype": "median", "axis": 1},
        {"window": h, "axis": 2},
    ):
        a, b = (m.resample_poly(x, up, down, **options) for m in (signal, ss))
        assert a.shape == b.shape
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(
    ("cutoff", "options"),
    [
        (0.3, {}),
        (0.3, {"pass_zero": False}),
        (0.3, {"pass_zero": "highpass", "scale": False}),
        ([0.2, 0.5], {}),
        ([0.2, 0.5], {"pass_zero": "bandpass", "window": ("kaiser", 5.0)}),
        ([0.2, 0.5, 0.7], {"pass_zero": False, "fs": 4.0}),
        ([0.2, 0.5, 0.7], {"window": "hann"}),
    ],
)
def test_filters_are_scipys(cutoff: Any, options: dict[str, Any]) -> None:
    for taps in (3, 9, 12):
        try:
            expected = ss.firwin(taps, cutoff, **options)
        except ValueError:
            with pytest.raises(FuncgradError):
                signal.firwin(taps, cutoff, **options)
            continue
        np.testing.assert_allclose(
            signal.firwin(taps, cutoff, **options), expected, rtol=1e-11, atol=1e-15
        )
    report = check_all(lambda c: signal.firwin(9, c, **options), (np.array(cutoff),), only=CHECKS)
    assert all(o.status == "passed" for o in report.outcomes), str(report)


@pytest.mark.parametrize("method", ["linear", "quad", "log", "hyp"])
@pytest.mark.parametrize("options", [{}, {"vertex_zero": False}, {"complex": True, "phi": 30.0}])
def test_chirps_are_scipys(method: str, options: dict[str, Any]) -> None:
    t = np.linspace(0.0, 2.0, 9)
    for ends in ((2.0, 1.5, 5.0), (3.0, 2.0, 3.0)):
        a, b = (m.chirp(t, *ends, method, **options) for m in (signal, ss))
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-12)

    def f(t: Any, f0: Any, t1: Any, f1: Any) -> Any:
        return fnp.real(signal.chirp(t, f0, t1, f1, method, **options))

    arguments = (t[1:4], np.array(2.0), np.array(1.5), np.array(2.6))
    check_all(f, arguments, only=CHECKS).raise_if_failed()


def test_quotients_are_scipys() -> None:
    rng = np.random.default_rng(0)
    for n, k in ((9, 3), (4, 4), (3, 5)):
        x, h = rng.normal(size=n), rng.normal(size=k)
        for a, b in zip(signal.deconvolve(x, h), ss.deconvolve(x, h), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-12)


def test_derivatives() -> None:
    rng = np.random.default_rng(1)
    x, h = rng.normal(size=(7, 2)), np.array([1.5, 0.4, -0.2])

    def f(x: Any, h: Any) -> Any:
        a = signal.resample_poly(x, 3, 2, padtype="mean")
        b = signal.upfirdn(h, x, 2, 3, axis=0)
        quotient, rest = signal.deconvolve(x[:, 0], h)
        return fnp.concatenate([fnp.ravel(a), fnp.ravel(b), quotient, rest])

    check_all(f, (x, h), only=CHECKS).raise_if_failed()


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: signal.upfirdn([1.0], [1.0], 0), "up=0"),
        (lambda: signal.upfirdn([1.0], [1.0], mode="wrap"), "'wrap'"),
        (lambda: signal.upfirdn([1.0], []), "an element"),
        (lambda: signal.resample_poly([1.0], 2, 0), "down=0"),
        (lambda: signal.resample_poly([1.0], 2, 1, padtype="line"), "'line'"),
        (lambda: signal.firwin(3, 1.0), "below fs/2"),
        (lambda: signal.firwin(3, 0.5, width=0.1), "width"),
        (lambda: signal.firwin(3, 0.5, pass_zero="bandpass"), "bandpass"),
        (lambda: signal.firwin(4, 0.5, pass_zero=False), "odd"),
        (lambda: signal.chirp(1.0, 1.0, 1.0, 2.0, "odd"), "'odd'"),
        (lambda: signal.chirp(1.0, -1.0, 1.0, 2.0, "log"), "of one sign"),
        (lambda: signal.deconvolve([[1.0]], [1.0]), "vector"),
    ],
)
def test_errors(call: Any, says: str) -> None:
    with pytest.raises(FuncgradError, match=says):
        call()


def test_filters_that_are_learned() -> None:
    """The edge of a band can be fitted: the slope of the power that passes is that of differences."""
    x = np.random.default_rng(2).normal(size=64)

    def power(edge: Any) -> Any:
        return fnp.sum(signal.upfirdn(signal.firwin(15, edge), x) ** 2)

    slope = funcgrad.grad(power)(0.4)
    np.testing.assert_allclose(slope, (power(0.4 + 1e-6) - power(0.4 - 1e-6)) / 2e-6, rtol=1e-6)
