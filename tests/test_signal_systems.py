"""Linear systems, sampled ones, and what they answer, beside SciPy's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import funcgrad
from funcgrad.errors import FuncgradError
from funcgrad.scipy import signal
from funcgrad.testing import check_all

ss = pytest.importorskip("scipy.signal")

pytestmark = pytest.mark.filterwarnings("ignore:Badly conditioned")  # SciPy's, of zeros in front
CHECKS = ["types", "finite", "transpose", "numerical", "vmap", "jit", "second order"]
METHODS = ["zoh", "foh", "impulse", "euler", "forward_diff", "bilinear", "tustin", "backward_diff"]
KINDS = ["tf", "zpk", "ss"]


def matrices(n: int, p: int, q: int, seed: int) -> tuple[np.ndarray, ...]:
    rng = np.random.default_rng(seed)
    a = rng.normal(size=(n, n)) - 1.5 * np.sqrt(n) * np.eye(n)
    return a, rng.normal(size=(n, p)), rng.normal(size=(q, n)), rng.normal(size=(q, p))


def system(kind: str, n: int, seed: int) -> tuple[Any, ...]:
    """A system with one input and one output, whose poles differ."""
    rng = np.random.default_rng(seed)
    poles, zeros = -np.cumsum(rng.uniform(0.3, 1.0, n)), rng.normal(size=n - 1)
    if kind == "zpk":
        return zeros, poles, 2.0
    if kind == "tf":
        return 2.0 * np.poly(zeros), np.poly(poles)
    turn = np.linalg.qr(rng.normal(size=(n, n)))[0]
    a = turn @ (np.diag(poles) + np.triu(rng.normal(size=(n, n)), 1)) @ turn.T
    return a, rng.normal(size=(n, 1)), rng.normal(size=(1, n)), np.zeros((1, 1))


def same(found: Any, expected: Any, tolerance: float = 1e-8) -> None:
    assert len(found) == len(expected)
    for x, y in zip(found, expected, strict=True):
        assert np.shape(x) == np.shape(y)
        np.testing.assert_allclose(x, y, rtol=tolerance, atol=tolerance)


# ---------------------------------------------------------------- forms


@given(n=st.integers(1, 6), p=st.integers(1, 3), q=st.integers(1, 3), seed=st.integers(0, 99))
def test_forms_are_scipys(n: int, p: int, q: int, seed: int) -> None:
    parts = matrices(n, p, q, seed)
    for which in range(p):
        same(signal.ss2tf(*parts, which), ss.ss2tf(*parts, which))
    num, den = ss.ss2tf(*parts)
    same(signal.tf2ss(num, den), ss.tf2ss(num, den))
    same(signal.tf2ss(num[0], den), ss.tf2ss(num[0], den))
    same(signal.tf2ss([0.0, 1.0], [0.0, *den]), ss.tf2ss([0.0, 1.0], [0.0, *den]))
    zeros = np.zeros((q, n + 2))
    zeros[:, 2:] = num[:, 1:]
    same(signal.tf2ss(zeros, den), ss.tf2ss(num[:, 1:], den))
    back = signal.ss2tf(*signal.tf2ss(num, den))
    same(back, (num, den))
    for missing in range(1, 4):
        some = [None if i == missing else x for i, x in enumerate(parts)]
        same(signal.abcd_normalize(*some), ss.abcd_normalize(*some))


@given(n=st.integers(1, 5), seed=st.integers(0, 99))
def test_zeros_and_poles_are_scipys(n: int, seed: int) -> None:
    same(signal.zpk2ss(*system("zpk", n, seed)), ss.zpk2ss(*system("zpk", n, seed)))
    z, p, k = signal.ss2zpk(*system("ss", n, seed))
    theirs = ss.ss2zpk(*system("ss", n, seed))
    same((np.sort_complex(p), k), (np.sort_complex(theirs[1]), theirs[2]), 1e-6)
    same((np.sort_complex(z),), (np.sort_complex(theirs[0]),), 1e-5)


def test_a_gain_is_a_system() -> None:
    same(signal.tf2ss([3.0], [2.0]), ss.tf2ss([3.0], [2.0]))
    num, den = signal.ss2tf(np.zeros((0, 0)), None, None, [[3.0]])
    assert (num.tolist(), den.tolist()) == ([[3.0]], [1.0])


@pytest.mark.parametrize("a", [np.zeros((2, 2)), np.array([[0.0, 1.0], [0.0, 0.0]]), np.eye(3)])
def test_equal_poles_have_derivatives(a: np.ndarray) -> None:
    _, b, c, d = matrices(len(a), 1, 1, 3)
    check_all(signal.ss2tf, (a, b, c, d), only=CHECKS).raise_if_failed()


def test_derivatives_of_forms() -> None:
    parts = matrices(3, 1, 2, 0)
    num, den = ss.ss2tf(*parts)
    check_all(signal.ss2tf, parts, only=CHECKS).raise_if_failed()
    check_all(signal.tf2ss, (num, den), only=CHECKS).raise_if_failed()
    check_all(signal.zpk2ss, system("zpk", 3, 0), only=CHECKS).raise_if_failed()
    check_all(
        lambda *s: signal.ss2zpk(*s)[1].real.sum(), system("ss", 3, 0), only=["numerical"]
    ).raise_if_failed()


# ---------------------------------------------------------------- sampled


@settings(max_examples=20)
@given(n=st.integers(1, 4), seed=st.integers(0, 99), dt=st.floats(0.05, 0.8))
def test_sampled_systems_are_scipys(n: int, seed: int, dt: float) -> None:
    for kind in KINDS:
        for method, alpha in [*((m, None) for m in METHODS), ("gbt", 0.3)]:
            given_ = system(kind, n, seed)
            ours, theirs = (m.cont2discrete(given_, dt, method, alpha) for m in (signal, ss))
            if kind == "zpk":
                ours, theirs = ([np.sort_complex(x[1]), x[2], x[3]] for x in (ours, theirs))
            same(ours, theirs, 1e-5 if kind == "zpk" else 1e-8)


@pytest.mark.parametrize("method", ["zoh", "foh", "impulse", "gbt"])
def test_derivatives_of_sampled_systems(method: str) -> None:
    alpha = 0.3 if method == "gbt" else None

    def f(a: Any, b: Any, c: Any, dt: Any) -> Any:
        return signal.cont2discrete((a, b, c, np.zeros((1, 1))), dt, method, alpha)[:4]

    check_all(f, (*system("ss", 3, 1)[:3], np.array(0.3)), only=CHECKS).raise_if_failed()


# ---------------------------------------------------------------- answers


@settings(max_examples=20)
@given(
    n=st.integers(1, 4), p=st.integers(1, 2), q=st.integers(1, 2), seed=st.integers(0, 99),
    t=st.integers(1, 7), interp=st.booleans(), late=st.booleans(),
)  # fmt: skip
def test_answers_over_time_are_scipys(
    n: int, p: int, q: int, seed: int, t: int, interp: bool, late: bool
) -> None:
    rng = np.random.default_rng(seed)
    parts, times = matrices(n, p, q, seed), np.arange(t) * 0.3 + 0.2 * late
    for inputs in (rng.normal(size=(t, p)), None, 0.0):
        for start in (None, rng.normal(size=n)):
            if t == 1 and inputs is not None and np.ndim(inputs) and p * q > 1:
                continue  # SciPy adds up what it has squeezed in another way
            found, expected = (m.lsim(parts, inputs, times, start, interp) for m in (signal, ss))
            same(found, expected)
    u = rng.normal(size=(t, p))
    same(signal.dlsim((*parts, 0.3), u), ss.dlsim((*parts, 0.3), u))
    if t > 1:
        early = np.arange(t) * 0.3
        found, expected = (m.dlsim((*parts, 0.1), u, early, np.ones(n)) for m in (signal, ss))
        same(found, expected)
    for name in ("dimpulse", "dstep"):
        found, expected = (getattr(m, name)((*parts, 0.1), n=4) for m in (signal, ss))
        np.testing.assert_allclose(found[0], expected[0])
        same(found[1], expected[1])


@pytest.mark.parametrize("kind", KINDS)
@given(n=st.integers(1, 4), seed=st.integers(0, 99))
def test_other_answers_are_scipys(kind: str, n: int, seed: int) -> None:
    given_, w = system(kind, n, seed), np.linspace(0.1, 2.0, 7)
    for name in ("impulse", "step"):
        start = np.ones((n, 1) if name == "impulse" else n)
        for options in ({}, {"N": 5}, {"T": np.arange(4) * 0.2, "X0": start}):
            same(*(getattr(m, name)(given_, **options) for m in (signal, ss)), 1e-6)
    same(*(m.freqresp(given_, w) for m in (signal, ss)), 1e-6)
    same(*(m.bode(given_, w) for m in (signal, ss)), 1e-5)
    same(*(m.dfreqresp((*given_, 0.2), w) for m in (signal, ss)), 1e-6)
    same(*(m.dfreqresp((*given_, 0.2), n=5, whole=True) for m in (signal, ss)), 1e-6)
    same(*(m.dbode((*given_, 0.2), w) for m in (signal, ss)), 1e-5)


def test_objects_of_scipy_are_systems() -> None:
    for parts in (system("tf", 3, 0), system("zpk", 3, 0), system("ss", 3, 0)):
        times = np.arange(4) * 0.2
        same(signal.step(ss.lti(*parts), T=times), ss.step(parts, T=times))
        same(signal.dfreqresp(ss.dlti(*parts, dt=0.1)), ss.dfreqresp((*parts, 0.1)), 1e-6)


@pytest.mark.parametrize("interp", [True, False])
def test_derivatives_of_answers(interp: bool) -> None:
    rng = np.random.default_rng(0)
    a, b, c, d = matrices(2, 2, 1, 0)

    def f(a: Any, b: Any, c: Any, d: Any, u: Any, start: Any, dt: Any) -> Any:
        return signal.lsim((a, b, c, d), u, 0.1 + dt * np.arange(4.0), start, interp)[1:]

    args = (a, b, c, d, rng.normal(size=(4, 2)), rng.normal(size=2), np.array(0.3))
    check_all(f, args, only=CHECKS).raise_if_failed()
    check_all(
        lambda a, b, c, d, u: signal.dlsim((a, b, c, d, 0.1), u)[1:], args[:5], only=CHECKS
    ).raise_if_failed()


@pytest.mark.parametrize("kind", KINDS)
def test_derivatives_of_responses(kind: str) -> None:
    parts, w = system(kind, 3, 1), np.array([0.3, 1.0])
    times = np.arange(3) * 0.3
    check_all(lambda *x: signal.bode(x[:-1], x[-1])[1:], (*parts, w), only=CHECKS).raise_if_failed()
    for call in (signal.impulse, signal.step):
        check_all(lambda *x, f=call: f(x, T=times)[1], parts, only=CHECKS).raise_if_failed()
    slope = funcgrad.grad(lambda k: signal.step(([k], [1.0, k]))[1][-1])(2.0)
    assert np.isfinite(slope)  # times that are chosen are constants


A, B, C, D = matrices(2, 1, 1, 0)
T = np.arange(3.0)
MISTAKES = [
    (lambda: signal.abcd_normalize(A), "nothing says the size p"),
    (lambda: signal.abcd_normalize(A, B, C, D[[0, 0]]), "D is"),
    (lambda: signal.tf2ss([1.0, 0.0, 0.0], [1.0, 1.0]), "num has 3"),
    (lambda: signal.ss2tf(A, B, C, D, 1), "input=1 of 1"),
    (lambda: signal.ss2zpk(A, B, A, B), "2 outputs"),
    (lambda: signal.cont2discrete((A,), 0.1), "has 1 parts"),
    (lambda: signal.cont2discrete((A, B, C, D), 0.1, "zho"), "method='zho'"),
    (lambda: signal.cont2discrete((A, B, C, D), 0.1, "gbt"), "alpha=None"),
    (lambda: signal.cont2discrete((A, B, C, D), 0.1, "gbt", 2.0), "alpha=2.0"),
    (lambda: signal.cont2discrete((A, B, C, D), 0.1, "impulse"), "D of zeros"),
    (lambda: signal.lsim((A, B, C, D), T, [0.0, 1.0, 3.0]), "equally spaced"),
    (lambda: signal.lsim((A, B, C, D), T, T - 1.0), "from 0"),
    (lambda: signal.lsim((A, B, C, D), T[:2], T), "U has shape"),
    (lambda: signal.lsim((A, B, C, D), T, T, T), "2 states"),
    (lambda: signal.lsim((A, B, C, D), T, np.ones((2, 2))), "row of times"),
    (lambda: signal.lsim(ss.dlti([1.0], [1.0, 0.5], dt=0.1), T, T), "without a time of samples"),
    (lambda: signal.dlsim(ss.lti([1.0], [1.0, 0.5]), T), "time of a sample"),
    (lambda: signal.dlsim((A, B, C, D, 0.1), np.ones((3, 2))), "1 inputs"),
    (lambda: signal.dlsim((A, B, C, D, 0.1), T, T[:2]), "at 2 times"),
    (lambda: signal.impulse((A, A, C, C)), "2 inputs"),
    (lambda: signal.freqresp((A, B, C, D)), "need the frequencies"),
    (lambda: signal.freqresp((A, B, A, B), T), "several inputs or outputs"),
]


@pytest.mark.parametrize(("call", "words"), MISTAKES, ids=[words for _, words in MISTAKES])
def test_mistakes_with_systems(call: Any, words: str) -> None:
    with pytest.raises(FuncgradError, match=words):
        call()
