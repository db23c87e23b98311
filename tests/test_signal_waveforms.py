"""Ranks in windows, waves, uneven samples and decimation of `funcgrad.scipy.signal`, against SciPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import funcgrad
import funcgrad.numpy as fnp
from funcgrad.errors import ArgumentError, ShapeError
from funcgrad.scipy import signal
from funcgrad.testing import check_all

ss = pytest.importorskip("scipy.signal")
CHECKS = ["types", "transpose", "numerical", "jit", "vmap", "second order"]
seeds = st.integers(0, 10**6)


@pytest.mark.filterwarnings("ignore:kernel_size exceeds volume extent")
@settings(max_examples=30)
@given(seeds, st.sampled_from([1, 3, 5]), st.sampled_from([1, 3]))
def test_windows(seed: int, n: int, m: int) -> None:
    rng = np.random.default_rng(seed)
    x, domain = rng.normal(size=(6, 5)), rng.uniform(size=(n, m)) < 0.7
    domain[0, 0] = True
    for size in (None, n, (n, m)):
        np.testing.assert_allclose(signal.medfilt(x, size), ss.medfilt(x, size))
    np.testing.assert_allclose(signal.medfilt(x[0], n), ss.medfilt(x[0], n))
    np.testing.assert_allclose(signal.medfilt2d(x, (n, m)), ss.medfilt2d(x, (n, m)))
    rank = int(domain.sum()) // 3
    found, expected = (f.order_filter(x, domain, rank) for f in (signal, ss))
    np.testing.assert_allclose(found, expected)
    for size, noise in ((None, None), (3, 0.4), ((2, 3), None)):
        found, expected = (f.wiener(x, size, noise) for f in (signal, ss))
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)


def test_bad_windows() -> None:
    x = np.ones((4, 4))
    for f, cause in (
        (lambda: signal.medfilt(x, 2), "need odd numbers"),
        (lambda: signal.medfilt(x, (3, 3, 3)), "3 sizes for 2 axes"),
        (lambda: signal.medfilt2d(x[0]), "need 2"),
        (lambda: signal.order_filter(x, np.ones((3, 3)), 9), "rank=9"),
        (lambda: signal.order_filter(x, np.ones(3), 1), "domain has 1 axes"),
    ):
        with pytest.raises((ArgumentError, ShapeError), match=cause):
            f()


def test_derivatives() -> None:
    rng = np.random.default_rng(1)
    x, t = rng.normal(size=(4, 5)), np.array([0.1, 0.9, 2.2, 4.1, 5.9])
    for f, args in (
        (lambda x: signal.medfilt(x, (1, 3)), (x,)),
        (lambda x, n: signal.wiener(x, 3, n), (x, np.float64(0.4))),
        (lambda x: signal.wiener(x), (x,)),
        (signal.sawtooth, (t, np.float64(0.6))),
        (lambda t, f, b: fnp.stack(signal.gausspulse(t, f, b, retquad=True, retenv=True)),
         (t / 9, np.float64(2.0), np.float64(0.5))),
        (lambda f: signal.gausspulse("cutoff", f), (np.float64(2.0),)),
        (lambda t, y, f, w: signal.lombscargle(t, y, f, weights=w, floating_mean=True),
         (t, x[0], np.array([0.7, 1.9]), np.abs(x[1]))),
        (lambda y: signal.lombscargle(t, y, [0.7, 1.9], normalize="amplitude"), (x[0],)),
        (lambda x: signal.decimate(x, 2, 3, "fir"), (x,)),
        (lambda x: signal.decimate(x, 2, 1), (rng.normal(size=(2, 14)),)),
    ):  # fmt: skip
        report = check_all(f, args, only=CHECKS)
        assert not report.failures, str(report)
    assert not np.any(funcgrad.grad(lambda t: signal.square(t).sum())(t))


@given(st.lists(st.floats(-20.0, 20.0), min_size=1, max_size=5), st.floats(-0.1, 1.1))
def test_waves(t: Any, width: float) -> None:
    t = np.array(t)
    for name in ("sawtooth", "square"):
        found, expected = (getattr(f, name)(t, width) for f in (signal, ss))
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)
    for options in ({}, {"retquad": True}, {"retenv": True}, {"retquad": True, "retenv": True}):
        found, expected = (f.gausspulse(t * 1e-4, 900, 0.4, -5, **options) for f in (signal, ss))
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)


def test_ends_of_waves() -> None:
    t = np.pi * np.array([0.0, 0.5, 2.0, 1.0])
    for width in (0, 1, 0.25):
        np.testing.assert_allclose(signal.sawtooth(t, width), ss.sawtooth(t, width), atol=1e-12)
        np.testing.assert_allclose(signal.square(t, width), ss.square(t, width))
    for f in (signal.sawtooth, signal.square, signal.gausspulse):
        assert f(t.astype(np.float32)).dtype == np.float32
    assert signal.gausspulse("cutoff", tpr=-40) == pytest.approx(ss.gausspulse("cutoff", tpr=-40))
    for options in ({"fc": -1}, {"bw": 0}, {"bwr": 1}, {"tpr": 1}):
        with pytest.raises(ArgumentError, match="out of its range"):
            signal.gausspulse(t, **options)
    with pytest.raises(ArgumentError, match="'cutoff'"):
        signal.gausspulse("end")


@settings(max_examples=30)
@given(seeds, st.integers(3, 20), st.booleans(), st.booleans())
def test_uneven_samples(seed: int, n: int, weighted: bool, floating_mean: bool) -> None:
    rng = np.random.default_rng(seed)
    x, y, freqs = np.sort(rng.uniform(0, 9, n)), rng.normal(size=n), rng.uniform(0.1, 9, 5)
    options = {"weights": rng.uniform(size=n) if weighted else None, "floating_mean": floating_mean}
    for normalize in (False, True, "amplitude"):
        found, expected = (
            f.lombscargle(x, y, freqs, normalize=normalize, **options) for f in (signal, ss)
        )
        np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-8)


def test_bad_uneven_samples() -> None:
    x = np.ones(3)
    for f, cause in (
        (lambda: signal.lombscargle(x, x[:2], x), "rows of one length"),
        (lambda: signal.lombscargle(x, x, 1.0), "need a row"),
        (lambda: signal.lombscargle(x, x, x, normalize="no"), "normalize='no'"),
        (lambda: signal.lombscargle(x, x, x, weights=-x), "must not be negative"),
        (lambda: signal.decimate(x, 0), "need 1 or more"),
        (lambda: signal.decimate(x, 2, ftype="no"), "ftype='no'"),
    ):
        with pytest.raises((ArgumentError, ShapeError), match=cause):
            f()


@pytest.mark.parametrize("ftype", ["iir", "fir"])
@pytest.mark.parametrize("zero_phase", [True, False])
@pytest.mark.parametrize("q", [2, 3, 5])
def test_decimation(ftype: str, zero_phase: bool, q: int) -> None:
    x = np.random.default_rng(q).normal(size=(2, 61, 3))
    for n in (None, 4):
        for y in (x, x + 1j * x[::-1], x.astype(np.float32)):
            found, expected = (f.decimate(y, q, n, ftype, 1, zero_phase) for f in (signal, ss))
            assert found.dtype == expected.dtype and found.shape == expected.shape
            loose = 1e-3 if y.dtype == np.float32 else 1e-8
            np.testing.assert_allclose(found, expected, rtol=loose, atol=loose)
