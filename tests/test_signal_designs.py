"""Designs of filters of `funcgrad.scipy.signal`, against SciPy, and their derivatives."""

from __future__ import annotations

import warnings
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

KINDS: dict[str, tuple[float, ...]] = {
    "butter": (),
    "cheby1": (1.3,),
    "cheby2": (35.0,),
    "ellip": (0.7, 40.0),
    "bessel": (),
}
BANDS = ["low", "high", "bandpass", "stop"]


def together(z: Any, w: Any, atol: float = 1e-9) -> None:
    """The same numbers in any order."""
    z, w = np.asarray(z, complex), list(np.asarray(w, complex))
    assert len(z) == len(w)
    for x in z:
        i = int(np.argmin(np.abs(np.array(w) - x)))
        np.testing.assert_allclose(x, w.pop(i), rtol=1e-9, atol=atol)


def edges(band: str, low: float, high: float) -> Any:
    return low if band in ("low", "high") else np.array([low, high])


@pytest.mark.parametrize("band", BANDS)
@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=settings().max_examples // 4)
@given(
    n=st.integers(1, 7),
    low=st.floats(0.05, 0.4),
    wide=st.floats(0.1, 0.5),
    analog=st.booleans(),
    jit=st.booleans(),
)
def test_designs_are_scipys(
    kind: str, band: str, n: int, low: float, wide: float, analog: bool, jit: bool
) -> None:
    args, options = KINDS[kind], {"btype": band, "analog": analog}
    at = edges(band, low, low + wide)
    theirs = {o: getattr(ss, kind)(n, *args, at, output=o, **options) for o in ("ba", "zpk", "sos")}
    run = funcgrad.jit if jit else lambda f: f
    ours = {
        o: run(lambda at, *args, o=o: getattr(signal, kind)(n, *args, at, output=o, **options))(
            at, *args
        )
        for o in theirs
    }
    together(ours["zpk"][0], theirs["zpk"][0], 1e-7)
    together(ours["zpk"][1], theirs["zpk"][1], 1e-7)
    np.testing.assert_allclose(ours["zpk"][2], theirs["zpk"][2], rtol=1e-9)
    for x, y in zip(ours["ba"], theirs["ba"], strict=True):
        assert x.dtype == np.float64
        np.testing.assert_allclose(x, y, rtol=1e-7, atol=1e-9 * np.abs(y).max())
    assert ours["sos"].shape == theirs["sos"].shape
    for column in (slice(0, 3), slice(3, 6)):
        x, y = (
            np.prod([np.polyval(row, 1.3 + 0.4j) for row in sos[:, column]])
            for sos in (ours["sos"], theirs["sos"])
        )
        np.testing.assert_allclose(x, y, rtol=1e-7)


@pytest.mark.parametrize("pairing", ["nearest", "keep_odd", "minimal"])
@given(
    pairs=st.integers(0, 3),
    singles=st.integers(0, 3),
    less=st.integers(0, 2),
    seed=st.integers(0, 999),
)
def test_sections_are_scipys(pairing: str, pairs: int, singles: int, less: int, seed: int) -> None:
    rng = np.random.default_rng(seed)

    def roots(pairs: int, singles: int) -> np.ndarray:
        z = rng.uniform(0, 1, pairs) * np.exp(1j * rng.uniform(0.1, 3.0, pairs))
        return rng.permutation(np.concatenate([z, z.conj(), rng.uniform(-1, 1, singles)]))

    p, z = roots(pairs, singles), roots(max(pairs - less, 0), singles)
    try:
        wanted = ss.zpk2sos(z, p, 1.5, pairing=pairing)
    except (IndexError, AssertionError):
        return
    found = signal.zpk2sos(z, p, 1.5, pairing=pairing)
    np.testing.assert_allclose(found, wanted, atol=1e-12)
    again = funcgrad.jit(lambda z, p: signal.zpk2sos(z, p, 1.5, pairing=pairing))(z, p)
    np.testing.assert_allclose(again, wanted, atol=1e-12)
    b, a = signal.sos2tf(found)
    for x, y in zip((b, a), ss.sos2tf(wanted), strict=True):
        np.testing.assert_allclose(x, y, atol=1e-12)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of sections of first order
        ours, theirs = signal.sos2zpk(found), ss.sos2zpk(wanted)
    np.testing.assert_allclose(ours[2], theirs[2])
    assert ours[0].shape == theirs[0].shape


@given(seed=st.integers(0, 999), m=st.integers(1, 5), k=st.integers(1, 5), wo=st.floats(0.3, 3.0))
def test_bands_are_scipys(seed: int, m: int, k: int, wo: float) -> None:
    rng = np.random.default_rng(seed)
    b, a = rng.normal(size=m), rng.normal(size=k) + 0.1
    for name, args in (
        ("lp2lp", (wo,)),
        ("lp2hp", (wo,)),
        ("lp2bp", (wo, 0.7)),
        ("lp2bs", (wo, 0.7)),
        ("bilinear", (wo,)),
        ("normalize", ()),
    ):
        ours, theirs = getattr(signal, name)(b, a, *args), getattr(ss, name)(b, a, *args)
        for x, y in zip(ours, theirs, strict=True):
            np.testing.assert_allclose(x, y, rtol=1e-8, atol=1e-9 * np.abs(y).max())
    z, p, gain = ss.tf2zpk(b, a)
    ours = signal.tf2zpk(b, a)
    together(ours[0], z, 1e-6)
    together(ours[1], p, 1e-6)
    if len(z) > len(p):
        return
    for name, args in (
        ("lp2lp_zpk", (wo,)),
        ("lp2hp_zpk", (wo,)),
        ("lp2bp_zpk", (wo, 0.7)),
        ("lp2bs_zpk", (wo, 0.7)),
        ("bilinear_zpk", (wo,)),
    ):
        ours, theirs = (
            getattr(signal, name)(z, p, gain, *args),
            getattr(ss, name)(z, p, gain, *args),
        )
        together(ours[0], theirs[0], 1e-6)
        together(ours[1], theirs[1], 1e-6)
        np.testing.assert_allclose(ours[2], theirs[2], rtol=1e-8)
    for x, y in zip(signal.zpk2tf(z, p, gain), ss.zpk2tf(z, p, gain), strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-9, atol=1e-9)


def passes(f: Any, args: Any) -> None:
    report = check_all(f, args)
    assert all(o.status != "failed" for o in report.outcomes), str(report)


@pytest.mark.parametrize("output", ["ba", "sos"])
@pytest.mark.parametrize("band", BANDS)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", [3, 4])
def test_derivatives(kind: str, band: str, output: str, n: int) -> None:
    def f(at: Any, fs: Any, *args: Any) -> Any:
        found = getattr(signal, kind)(n, *args, at, btype=band, output=output, fs=fs)
        return found if output == "sos" else fnp.stack(found)

    args = tuple(np.array(x) for x in KINDS[kind])
    passes(f, (np.asarray(edges(band, 0.35, 0.6)), np.array(2.3), *args))


def test_the_others_have_derivatives() -> None:
    half = np.array(0.4)
    b, a = np.array([1.0, 0.3, -0.2]), np.array([1.0, -0.4, 0.2, 0.1])
    for f, args in (
        (
            lambda w, q, fs: fnp.stack(signal.iirnotch(w, q, fs)),
            (half, np.array(5.0), np.array(2.2)),
        ),
        (
            lambda w, q, fs: fnp.stack(signal.iirpeak(w, q, fs)),
            (half, np.array(5.0), np.array(2.2)),
        ),
        (lambda b, a, w: fnp.concatenate(signal.lp2bp(b, a, w, 0.3)), (b, a, half)),
        (lambda b, a, w: fnp.concatenate(signal.bilinear(b, a, w)), (b, a, half)),
        (lambda b, a: fnp.concatenate(signal.zpk2tf(*signal.tf2zpk(b, a))), (b, a)),
        (lambda b, a: signal.tf2sos(b, a), (b, a)),
        (lambda w: signal.butter(3, w, analog=True)[1], (half,)),
    ):
        passes(f, args)


def test_peaks_and_notches_are_scipys() -> None:
    for name in ("iirnotch", "iirpeak"):
        for args in ((0.3, 20.0), (50.0, 5.0, 300.0)):
            for x, y in zip(getattr(signal, name)(*args), getattr(ss, name)(*args), strict=True):
                np.testing.assert_allclose(x, y, rtol=1e-13, atol=1e-15)


@pytest.mark.parametrize("antisymmetric", [False, True])
@pytest.mark.parametrize("numtaps", [20, 21])
def test_filters_by_gains(numtaps: int, antisymmetric: bool) -> None:
    freq, gain = np.array([0.0, 0.3, 0.5, 0.5, 1.0]), np.array([0.0, 0.4, 1.0, 0.2, 0.0])
    options = {"antisymmetric": antisymmetric, "window": ("kaiser", 4.0)}
    for fs in (None, 300.0):
        at = freq * (1.0 if fs is None else 150.0)
        found, wanted = (m.firwin2(numtaps, at, gain, fs=fs, **options) for m in (signal, ss))
        np.testing.assert_allclose(found, wanted, atol=1e-14)
    freq = np.delete(freq, 3) + np.array([0.0, 0.01, 0.003, 0.0])
    passes(
        lambda g: signal.firwin2(numtaps, freq, fnp.pad(g, 1), **options), (np.array([0.4, 1.0]),)
    )
    inner = funcgrad.jacfwd(
        lambda f: signal.firwin2(numtaps, fnp.append(np.zeros(1), f), gain[[0, 1, 2, 4]], **options)
    )(freq[1:])
    step = 1e-7 * np.eye(3)[0]
    up, down = (ss.firwin2(numtaps, np.append(0.0, freq[1:] + d), gain[[0, 1, 2, 4]], **options)
                for d in (step, -step))  # fmt: skip
    np.testing.assert_allclose(inner[:, 0], (up - down) / 2e-7, atol=1e-6)


def test_responses_of_analog_filters() -> None:
    w = np.linspace(0.1, 9.0, 7)
    z, p, k = ss.cheby2(3, 30.0, 2.0, analog=True, output="zpk")
    np.testing.assert_allclose(
        signal.freqs_zpk(z, p, k, w)[1], ss.freqs_zpk(z, p, k, w)[1], rtol=1e-12
    )
    b, a = ss.zpk2tf(z, p, k)
    np.testing.assert_allclose(signal.freqs(b, a, w)[1], ss.freqs(b, a, w)[1], rtol=1e-12)
    passes(lambda b, a, w: fnp.absolute(signal.freqs(b, a, w)[1]), (b, a, w))


def test_a_filter_is_tuned_by_its_edge() -> None:
    """The gain at the edge is 3 decibels, whatever it is: its derivative along the edge is 0."""

    def gain(w: Any, at: Any) -> Any:
        sos = signal.butter(5, w, output="sos", fs=100.0)
        return fnp.absolute(signal.sosfreqz(sos, fnp.reshape(at, (1,)), fs=100.0)[1][0])

    np.testing.assert_allclose(gain(12.0, 12.0), np.sqrt(0.5), rtol=1e-12)
    both = sum(funcgrad.grad(gain, argnums=(0, 1))(12.0, 12.0))
    np.testing.assert_allclose(both, 0.0, atol=1e-12)
    many = funcgrad.vmap(lambda w: signal.butter(4, w, output="sos"))(np.array([0.2, 0.3]))
    np.testing.assert_allclose(many[1], ss.butter(4, 0.3, output="sos"), rtol=1e-9)


def test_mistakes_are_named() -> None:
    z = np.array([0.5 + 0.1j])
    for f, error, text in (
        (lambda: signal.butter(2, 1.2), ArgumentError, "below fs / 2"),
        (lambda: signal.butter(2, [0.5, 0.2], "band"), ArgumentError, "that rise"),
        (lambda: signal.butter(2, [0.2, 0.5]), ShapeError, "need 1 real"),
        (lambda: signal.butter(2, 0.2, "band"), ShapeError, "need 2 real numbers"),
        (lambda: signal.butter(2, 0.2, "wide"), ArgumentError, "btype='wide'"),
        (lambda: signal.butter(2, 0.2, output="tf"), ArgumentError, "output='tf'"),
        (lambda: signal.butter(2, 0.2, analog=True, fs=3.0), ArgumentError, "no samples"),
        (lambda: signal.butter(-1, 0.2), ArgumentError, "order of 0 or more"),
        (lambda: signal.iirfilter(2, 0.2, btype="low", ftype="ellip"), ArgumentError, "rp and rs"),
        (lambda: signal.cheby1(2, -1.0, 0.2), ArgumentError, "decibels"),
        (lambda: signal.iirnotch(1.2, 3.0), ArgumentError, "from 0 to fs / 2"),
        (lambda: signal.zpk2sos(z, z, 1.0), ArgumentError, "conjugate pairs"),
        (lambda: signal.zpk2sos([1.0], [], 1.0, "minimal"), ArgumentError, "1 zeros and 0 poles"),
        (lambda: signal.zpk2sos([1.0], [0.5], 1.0, "far"), ArgumentError, "pairing='far'"),
        (lambda: signal.lp2lp_zpk([1.0], [], 1.0), ArgumentError, "as many poles"),
        (lambda: signal.lp2lp_zpk(np.eye(2), [], 1.0), ShapeError, "need a vector"),
        (lambda: signal.lp2lp([1.0], [0.0]), ArgumentError, "is 0"),
        (lambda: signal.freqs([1.0], [1.0, 1.0]), ArgumentError, "worN=200"),
        (lambda: signal.firwin2(8, [0.0, 1.0], [1.0, 1.0]), ArgumentError, "0 at fs/2"),
        (lambda: signal.firwin2(9, [0.0, 0.9], [1.0, 1.0]), ArgumentError, "from 0 to fs/2"),
        (lambda: signal.firwin2(9, [0.0, 1.0], [1.0]), ShapeError, "one length"),
        (lambda: signal.firwin2(9, [0, 1], [1, 1], nfreqs=9), ArgumentError, "need more"),
        (lambda: signal.sos2tf(np.ones(6)), ShapeError, r"\[n, 6\]"),
    ):
        with pytest.raises(error, match=text):
            f()
    b, _ = funcgrad.jit(signal.zpk2tf)(z, z, 1.0)
    assert np.isnan(b).all()
    assert signal.zpk2tf(z, z, 1.0)[0].dtype == np.complex128
    assert signal.zpk2sos([], [], 2.0).tolist() == [[2.0, 0.0, 0.0, 1.0, 0.0, 0.0]]
