"""`funcgrad.scipy.fft` and `funcgrad.scipy.signal` against SciPy: values, derivatives, errors."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import funcgrad
import funcgrad.scipy.fft as fsf
import funcgrad.scipy.signal as fss
from funcgrad.errors import ArgumentError, ConcretizationError, ShapeError
from funcgrad.testing import check_all

sf = pytest.importorskip("scipy.fft")
ss = pytest.importorskip("scipy.signal")

MODULES = {"fft": (fsf, sf), "signal": (fss, ss)}
B = np.array([0.2, 0.3, -0.1])
A = np.array([1.5, -0.6, 0.25, 0.1])
SECTIONS = np.array([[0.3, 0.2, 0.1, 1.0, -0.4, 0.2], [1.0, 0.5, 0.0, 1.0, 0.3, 0.15]])


class Row(NamedTuple):
    """A function of operands of these shapes, with options to choose from."""

    package: str
    name: str
    shapes: tuple[tuple[int, ...], ...]
    options: dict[str, list[Any]] = {}  # noqa: RUF012  (never written)
    before: tuple[Any, ...] = ()  # arguments in front of the operands, to differentiate by too
    dtypes: str = "dfD"

    @property
    def label(self) -> str:
        return f"{self.name}-{self.shapes}"

    def call(self, module: int, args: Any, options: dict[str, Any]) -> list[Any]:
        found = getattr(MODULES[self.package][module], self.name)(*args, **options)
        return list(found) if isinstance(found, tuple) else [found]


NORM = {"norm": [None, "ortho", "forward"]}
ONE = {
    **NORM,
    "n": [None, 3, 9],
    "axis": [-1, 0],
    "overwrite_x": [False, True],
    "workers": [None, 2],
}
SEVERAL = {**NORM, "s": [None, (3, 6)]}
COSINE = {**NORM, "type": [1, 2, 3, 4], "n": [None, 2, 7], "axis": [-1, 0],
          "orthogonalize": [None, True, False]}  # fmt: skip
MODE = {"mode": ["full", "same", "valid"]}
METHOD = {**MODE, "method": ["auto", "direct", "fft"]}
IMAGE = {**MODE, "boundary": ["fill", "wrap", "symm"], "fillvalue": [0, 1.5]}
SPECTRUM = {"fs": [1.0, 3.0], "window": ["hann", "hamming", ("kaiser", 3.0), np.arange(1.0, 9.0)],
            "nfft": [None, 12, 13], "detrend": [False, "constant", "linear"],
            "return_onesided": [True, False], "scaling": ["density", "spectrum"]}  # fmt: skip
WINDOWED = {**SPECTRUM, "nperseg": [8], "noverlap": [None, 3]}
ENDS = {"padtype": ["odd", "even", "constant", None], "padlen": [None, 5], "axis": [-1]}

R = Row
ROWS = [
    *(R("fft", name, ((4, 5),), ONE) for name in ("fft", "ifft", "irfft", "hfft")),
    *(R("fft", name, ((4, 5),), ONE, dtypes="df") for name in ("rfft", "ihfft")),
    *(R("fft", name, ((4, 5),), SEVERAL) for name in ("fft2", "ifftn", "irfftn", "hfftn", "hfft2")),
    *(R("fft", name, ((4, 5),), SEVERAL, dtypes="df") for name in ("rfft2", "rfftn", "ihfftn")),
    *(R("fft", name, ((4, 5),), COSINE) for name in ("dct", "idct", "dst", "idst")),
    *(R("fft", name, ((4, 5),), {**SEVERAL, "type": [1, 2, 3, 4]})
      for name in ("dctn", "idctn", "dstn", "idstn")),
    *(R("fft", name, ((4, 5),), {"axes": [None, 0, (1, 0)]}) for name in ("fftshift", "ifftshift")),
    *(R("signal", name, shapes, METHOD)
      for name in ("convolve", "correlate")
      for shapes in (((6,), (3,)), ((3,), (4,)), ((4, 5), (2, 3)), ((2, 3, 4), (2, 2, 2)))),
    *(R("signal", name, ((2, 5), (2, 4)), {**MODE, "axes": [None, 1, (0, 1)]})
      for name in ("fftconvolve", "oaconvolve")),
    R("signal", "fftconvolve", ((3, 5), (1, 4)), {**MODE, "axes": [1]}),
    R("signal", "fftconvolve", ((1, 5), (3, 4)), {"mode": ["full", "valid"], "axes": [1]}),
    *(R("signal", name, shapes, IMAGE)
      for name in ("convolve2d", "correlate2d") for shapes in (((4, 5), (2, 3)), ((2, 3), (3, 4)))),
    R("signal", "lfilter", ((2, 6),), {"axis": [-1, 0]}, (B, A)),
    R("signal", "lfilter", ((2, 6),), {}, (A, B)),
    R("signal", "lfilter", ((6,),), {}, (A, np.array([2.0]))),
    R("signal", "lfilter", ((2, 6),), {"zi": [np.ones((2, 3)), np.ones((1, 3))]}, (B, A)),
    R("signal", "lfilter_zi", (), {}, (B, A)),
    R("signal", "lfiltic", ((2,), (5,)), {}, (B, A)),
    R("signal", "filtfilt", ((2, 14),), ENDS, (B, A)),
    R("signal", "sosfilt", ((2, 6),), {"zi": [None, np.ones((2, 2, 2))]}, (SECTIONS,)),
    R("signal", "sosfilt_zi", (), {}, (SECTIONS,)),
    R("signal", "sosfiltfilt", ((2, 16),), {**ENDS, "padlen": [5]}, (SECTIONS,)),
    R("signal", "freqz", (), {"worN": [4, [0.1, 0.7]], "whole": [False, True],
                              "fs": [2.0], "include_nyquist": [False, True]}, (B, A)),
    R("signal", "detrend", ((3, 8),), {"type": ["linear", "constant"], "bp": [0, [3, 5]]}),
    R("signal", "detrend", ((3, 8),), {"type": ["constant", "linear"], "axis": [-1, 0]}),
    R("signal", "hilbert", ((3, 6),), {"N": [None, 4, 9], "axis": [-1, 0]}, dtypes="df"),
    R("signal", "savgol_filter", ((2, 9),),
      {"window_length": [5, 7], "polyorder": [2, 4], "deriv": [0, 1, 2], "delta": [0.5],
       "mode": ["interp", "mirror", "nearest", "wrap", "constant"], "cval": [0.0, 1.2]},
      dtypes="df"),
    R("signal", "resample", ((2, 9), ), {"num": [4, 5, 9, 12, 13], "axis": [1]}),
    R("signal", "resample", ((2, 8), ), {"num": [4, 5, 8, 12, 13], "axis": [1]}),
    R("signal", "resample", ((2, 8), ),
      {"num": [5, 12], "axis": [1], "window": ["hann", ("kaiser", 3.0), np.arange(8.0), np.cos]}),
    R("signal", "resample", ((2, 9), ),
      {"num": [4, 9], "axis": [1], "window": ["hann", np.arange(9.0)]}),
    R("signal", "welch", ((2, 30),), {**WINDOWED, "average": ["mean", "median"]}, dtypes="dD"),
    R("signal", "csd", ((2, 30), (2, 25)), {**WINDOWED, "average": ["mean", "median"]}),
    R("signal", "periodogram", ((2, 15),), {**SPECTRUM, "window": ["boxcar", "hann"]}),
    R("signal", "coherence", ((2, 30), (2, 30)), {"nperseg": [8], "detrend": ["constant", False]},
      dtypes="d"),
    R("signal", "spectrogram", ((2, 20),),
      {**WINDOWED, "mode": ["psd", "magnitude", "complex"]}, dtypes="d"),
    R("signal", "spectrogram", ((20,),), {"nperseg": [8], "mode": ["angle", "phase"]}, dtypes="d"),
    R("signal", "stft", ((2, 21),),
      {**{k: v for k, v in WINDOWED.items() if k != "scaling"}, "padded": [True, False],
       "boundary": ["zeros", "even", "odd", "constant", None], "scaling": ["spectrum", "psd"]}),
    R("signal", "istft", ((5, 4),),
      {"nperseg": [8], "noverlap": [None, 5], "window": ["hann", "hamming"], "boundary": [True],
       "scaling": ["spectrum", "psd"], "fs": [1.0, 3.0]}),
]  # fmt: skip
every_row = pytest.mark.parametrize("row", ROWS, ids=lambda row: row.label)


def numbers(rng: np.random.Generator, shape: tuple[int, ...], dtype: str) -> np.ndarray:
    x = rng.uniform(-1, 1, shape)
    return (x + 1j * rng.uniform(-1, 1, shape) if dtype == "D" else x).astype(dtype)


def drawn(row: Row, dtype: str, seed: int) -> list[Any]:
    rng = np.random.default_rng(seed)
    return [*row.before, *(numbers(rng, shape, dtype) for shape in row.shapes)]


# ---------------------------------------------------------------- values


@every_row
@given(data=st.data())
def test_values_are_those_of_scipy(row: Row, data: Any) -> None:
    dtype = data.draw(st.sampled_from(row.dtypes))
    options = {k: data.draw(st.sampled_from(v), label=k) for k, v in row.options.items()}
    if dtype == "D" and "orthogonalize" in options:
        options["orthogonalize"] = None  # SciPy forgets it of complex numbers
    args = drawn(row, dtype, data.draw(st.integers(0, 99)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # SciPy's about complex numbers that have two sides
        expected = row.call(1, [x.copy() for x in args], options)  # it may overwrite them
    found = row.call(0, args, options)
    assert len(found) == len(expected)
    tol = 1e-4 if dtype == "f" else 1e-10
    for a, b in zip(found, expected, strict=True):
        b = np.asarray(b)
        assert (np.shape(a), a.dtype) == (b.shape, b.dtype)
        scale = max(1.0, float(abs(b).max(initial=0)))
        np.testing.assert_allclose(a, b, rtol=0, atol=tol * scale)


@given(n=st.integers(0, 3000), real=st.booleans())
def test_lengths(n: int, real: bool) -> None:
    assert fsf.next_fast_len(n + 1, real) == sf.next_fast_len(n + 1, real)
    assert fsf.prev_fast_len(n + 1, real) == sf.prev_fast_len(n + 1, real)
    np.testing.assert_array_equal(fsf.fftfreq(n % 9 + 1, 0.5), sf.fftfreq(n % 9 + 1, 0.5))
    np.testing.assert_array_equal(fsf.rfftfreq(n % 9 + 1, 0.5), sf.rfftfreq(n % 9 + 1, 0.5))


@given(
    sizes=st.tuples(st.integers(1, 7), st.integers(1, 7)),
    mode=st.sampled_from(["full", "same", "valid"]),
)
def test_lags(sizes: tuple[int, int], mode: str) -> None:
    lags = fss.correlation_lags(*sizes, mode)
    np.testing.assert_array_equal(lags, ss.correlation_lags(*sizes, mode))


WINDOWS = [
    "boxcar", "triang", "blackman", "hamming", "hann", "bartlett", "flattop", "parzen", "bohman",
    "blackmanharris", "nuttall", "barthann", "cosine", "exponential", "tukey", "lanczos",
    ("kaiser", 3.0), ("gaussian", 2.0), ("tukey", 0.3), ("tukey", 0.0), ("tukey", 1.0),
    ("general_cosine", [0.6, 0.4]), ("general_hamming", 0.7), ("exponential", None, 2.0),
    ("general_gaussian", 1.5, 2.0), 3.5,
]  # fmt: skip


@pytest.mark.parametrize("window", WINDOWS, ids=str)
@given(n=st.integers(1, 12), periodic=st.booleans())
def test_windows(window: Any, n: int, periodic: bool) -> None:
    found = fss.get_window(window, n, periodic)
    np.testing.assert_allclose(found, ss.get_window(window, n, periodic), atol=1e-12)


@pytest.mark.parametrize("name", ["convolve", "correlate", "convolve2d", "correlate2d"])
def test_precision_is_an_option_of_jax(name: str) -> None:
    f, x = getattr(fss, name), np.outer(A, A)
    np.testing.assert_array_equal(f(x, x[:2], precision="highest"), f(x, x[:2]))


def test_windows_by_their_parameters() -> None:
    for name in ("kaiser", "gaussian", "tukey", "general_hamming"):
        report = check_all(lambda p, name=name: fss.get_window((name, p), 8), (np.array(0.7),))
        assert report.ok, str(report)


@given(degree=st.integers(0, 4), deriv=st.integers(0, 5), use=st.sampled_from(["conv", "dot"]))
def test_weights_of_windows(degree: int, deriv: int, use: str) -> None:
    for pos in (None, 0, 3):
        found = fss.savgol_coeffs(6, degree, deriv, 2.0, pos, use)
        expected = ss.savgol_coeffs(6, degree, deriv, 2.0, pos, use)
        np.testing.assert_allclose(found, expected, atol=1e-11)


def test_integers_stay_where_they_can() -> None:
    assert fss.convolve([1, 2, 3], [1, 1]).dtype == int
    assert fss.convolve([1, 2, 3], [1, 1]).tolist() == [1, 3, 5, 3]
    assert fss.lfilter([1], [1], [1, 2]).dtype == np.float64
    assert fsf.dct([1, 2]).dtype == np.float64
    assert fss.convolve(2.0, 3.0) == 6.0
    assert fss.convolve(np.ones(0), np.ones(3)).shape == (0,)
    for none in (np.ones(0), np.ones((2, 0)), np.ones((0, 4))):
        assert fss.lfilter(B, A, none).shape == fss.detrend(none).shape == none.shape
        assert fss.lfilter([2.0], [1.0], none).shape == none.shape
    y, end = fss.lfilter(B, A, np.ones(0), zi=np.arange(3.0))
    assert y.shape == (0,) and end.tolist() == [0.0, 1.0, 2.0]


def test_complex_cosines_are_those_of_the_parts() -> None:
    z = numbers(np.random.default_rng(8), (7,), "D")
    for kind in (1, 2, 3, 4):
        for flag in (True, False):
            f = functools.partial(fsf.dct, type=kind, norm="ortho", orthogonalize=flag)
            np.testing.assert_allclose(f(z), f(z.real) + 1j * f(z.imag), atol=1e-14)


def test_a_number_of_steps_decides() -> None:
    few, many = np.ones(1000), np.ones(100_000)
    assert fss.choose_conv_method(few, np.ones(5)) == "direct"
    assert fss.choose_conv_method(many, few) == "fft"
    assert fss.choose_conv_method(many.astype(int), few.astype(int)) == "direct"
    np.testing.assert_allclose(fss.convolve(many, few), ss.convolve(many, few), atol=1e-7)


# ---------------------------------------------------------------- derivatives

ONLY = ["types", "transpose", "numerical", "second order", "vmap", "jit"]
FIRST = ["types", "transpose", "numerical"]


@every_row
def test_derivatives(row: Row) -> None:
    """By everything: the coefficients of filters, the signals, the states they start with."""
    for dtype in sorted(set(row.dtypes) - {"f"}):
        args = drawn(row, dtype, 11)
        options = {k: v[-1] for k, v in row.options.items()}
        if isinstance(options.get("zi"), np.ndarray):
            args.append(options.pop("zi"))
        count = len(args)
        fixed = {k: v for k, v in options.items() if not isinstance(v, np.ndarray)}
        arrays = {k: v for k, v in options.items() if isinstance(v, np.ndarray)}

        def f(*xs: Any, fixed: Any = fixed, names: Any = tuple(arrays), count: Any = count) -> Any:
            named = dict(zip(names, xs[count:], strict=True))
            given = list(xs[:count])
            if row.name in ("lfilter", "sosfilt") and "zi" in row.options:
                named["zi"] = given.pop()
            return row.call(0, given, {**fixed, **named})

        only = FIRST if dtype == "D" else ONLY
        report = check_all(f, (*args, *arrays.values()), only=only)
        assert report.ok, str(report)


def test_spectra_by_the_window_and_the_rate() -> None:
    x, window = numbers(np.random.default_rng(2), (20,), "d"), np.hanning(10)[1:-1].copy()
    for f in (fss.welch, fss.stft):
        report = check_all(
            lambda x, fs, w, f=f: f(x, fs, w, 8), (x, np.array(2.0), window), only=ONLY
        )
        assert report.ok, str(report)


def test_a_recursion_has_the_gradient_of_its_loop() -> None:
    rng = np.random.default_rng(4)
    x, target = rng.normal(size=50), rng.normal(size=50)

    def by_hand(b: Any, a: Any) -> Any:
        y: list[Any] = []
        for n in range(50):
            total = sum(b[k] * x[n - k] for k in range(3) if n >= k)
            total = total - sum(a[k] * y[n - k] for k in range(1, 4) if n >= k)
            y.append(total / a[0])
        return sum((y[n] - target[n]) ** 2 for n in range(50))

    def loss(b: Any, a: Any) -> Any:
        return np.sum((fss.lfilter(b, a, x) - target) ** 2)

    found = funcgrad.grad(loss, argnums=(0, 1))(B, A)
    expected = funcgrad.grad(by_hand, argnums=(0, 1))(B, A)
    for g, e in zip(found, expected, strict=True):
        np.testing.assert_allclose(g, e, rtol=1e-11)


def test_one_filter_for_each_example() -> None:
    rng = np.random.default_rng(5)
    a, x = A + 0.1 * rng.normal(size=(3, 4)), rng.normal(size=(3, 20))
    found = funcgrad.vmap(lambda a, x: fss.lfilter(B, a, x))(a, x)
    np.testing.assert_allclose(found, [ss.lfilter(B, p, q) for p, q in zip(a, x, strict=True)])


def test_a_transform_and_back() -> None:
    x = numbers(np.random.default_rng(6), (40,), "d")

    def round_trip(x: Any) -> Any:
        return fss.istft(fss.stft(x, nperseg=8)[2], nperseg=8)[1]

    np.testing.assert_allclose(round_trip(x), x, atol=1e-13)
    np.testing.assert_allclose(funcgrad.jacrev(round_trip)(x), np.eye(40), atol=1e-12)


# ---------------------------------------------------------------- errors

X = np.ones(12)
ERRORS: list[tuple[Callable[[], Any], type, str]] = [
    (lambda: fsf.fft(X, plan=1), ArgumentError, "fft: plan=1 is not supported"),
    (lambda: fsf.fft(X, norm="unit"), ArgumentError, "norm must be 'backward'"),
    (lambda: fsf.rfft(X + 1j), ArgumentError, "of real numbers"),
    (lambda: fsf.hfftn(X, norm="unit"), ArgumentError, "hfftn: norm must be"),
    (lambda: fsf.dct(X, 5), ArgumentError, "dct: type=5"),
    (lambda: fsf.dct(X[:1], 1), ShapeError, "too few points for type 1"),
    (lambda: fsf.dct(X, axis=1), ShapeError, "dct: axis 1 of an array with 1 axes"),
    (lambda: fsf.dctn(X, s=(1, 2), axes=(0,)), ShapeError, "dctn: s="),
    (lambda: fsf.next_fast_len(-1), ShapeError, "target is -1"),
    (lambda: fss.convolve(X, X[None]), ShapeError, "convolve: in1 is .* need as many axes"),
    (lambda: fss.convolve(X, X, "all"), ArgumentError, "mode='all'; need 'full'"),
    (lambda: fss.convolve(X, X, method="slow"), ArgumentError, "method='slow'"),
    (lambda: fss.convolve([1], [2], method="fft"), ArgumentError, "would round"),
    (lambda: fss.convolve(np.ones((2, 3)), np.ones((3, 2)), "valid"), ShapeError, "neither covers"),
    (lambda: fss.fftconvolve(X[None], np.ones((2, 3)), "same", 1), ShapeError, "repeat in1 along"),
    (lambda: fss.convolve2d(X, X), ShapeError, "need two matrices"),
    (lambda: fss.convolve2d(X[None], X[None], boundary="pad"), ArgumentError, "boundary='pad'"),
    (lambda: fss.lfilter(B, [0.0, 1.0], X), ArgumentError, "first coefficient of a is 0"),
    (lambda: fss.lfilter(B, A[None], X), ShapeError, "a is .*; need a vector"),
    (lambda: fss.lfilter(B, A, X, zi=np.ones(1)), ShapeError, r"zi is .*need the shape \[3\]"),
    (lambda: fss.lfilter(B, A, X, zi=np.ones(2)), ShapeError, r"zi is .*need the shape \[3\]"),
    (lambda: fss.filtfilt(B, A, X), ShapeError, "need more than padlen, which is 12"),
    (lambda: fss.filtfilt(B, A, X, padtype="up"), ArgumentError, "padtype='up'"),
    (lambda: fss.filtfilt(B, A, X, method="gust"), ArgumentError, "only method='pad'"),
    (lambda: fss.sosfilt(B, X), ShapeError, r"need the shape \[n, 6\]"),
    (lambda: funcgrad.jit(lambda s: fss.sosfiltfilt(s, X))(SECTIONS), ConcretizationError, "padlen"),
    (lambda: fss.freqz(B, plot=print), ArgumentError, "plot= is not supported"),
    (lambda: fss.detrend(X, type="cubic"), ArgumentError, "type='cubic'"),
    (lambda: fss.detrend(X, bp=20), ShapeError, "bp=20 of 12 elements"),
    (lambda: fss.hilbert(X + 1j), ArgumentError, "needs real numbers"),
    (lambda: fss.savgol_filter(X, 4, 2), ArgumentError, "an odd length"),
    (lambda: fss.savgol_filter(X, 3, 3), ArgumentError, "a degree below"),
    (lambda: fss.savgol_filter(X + 1j, 3, 2), ArgumentError, "needs real numbers"),
    (lambda: fss.savgol_filter(X, 13, 2), ShapeError, "12 elements along the axis; need 13"),
    (lambda: fss.resample(X, 3, window=np.ones(5)), ShapeError, "need 12 numbers"),
    (lambda: fss.welch(X, nperseg=8, noverlap=8), ShapeError, "noverlap=8; need 0 or more, below 8"),
    (lambda: fss.welch(X[:0]), ShapeError, "welch: the signal has no elements"),
    (lambda: fss.welch(X, nperseg=8, nfft=4), ShapeError, "nfft=4; need 8"),
    (lambda: fss.welch(X, nperseg=8, scaling="log"), ArgumentError, "scaling='log'"),
    (lambda: fss.welch(X, nperseg=8, average="mode"), ArgumentError, "average='mode'"),
    (lambda: fss.welch(X, window=np.ones(13)), ShapeError, "a window of 13 elements"),
    (lambda: fss.stft(X, nperseg=8, boundary="up"), ArgumentError, "boundary='up'"),
    (lambda: fss.spectrogram(X, nperseg=8, mode="up"), ArgumentError, "mode='up'"),
    (lambda: fss.istft(np.ones((5, 3)), time_axis=0, freq_axis=0), ShapeError, "are both 0"),
    (lambda: fss.get_window("house", 4), ArgumentError, "no window 'house'; need one of barthann"),
    (lambda: fss.get_window("kaiser", 4), ArgumentError, "'kaiser' does not take 0 parameters"),
    (lambda: fss.get_window("hann", 0), ShapeError, "Nx=0"),
]  # fmt: skip


@pytest.mark.parametrize("index", range(len(ERRORS)))
def test_error(index: int) -> None:
    f, error, words = ERRORS[index]
    with pytest.raises(error, match=words):
        f()


def test_what_is_doubtful_warns() -> None:
    with pytest.warns(UserWarning, match="nperseg=256 is more than the 12 elements"):
        fss.welch(X)
    with pytest.warns(UserWarning, match="places without weight"):
        fss.istft(np.ones((5, 3)), noverlap=0, boundary=False)
