"""Recursive filters by their edges, ripples and attenuations."""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np

from ... import numpy as fnp
from ...errors import ArgumentError, ShapeError, where
from ...indexing import known
from ...ops.from_scipy import scipy_function
from .._arrays import floating, host_only
from ..special import ellipj, ellipk, ellipkinc, ellipkm1
from .bands import bilinear_zpk, lp2bp_zpk, lp2bs_zpk, lp2hp_zpk, lp2lp_zpk
from .forms import scalar, zpk2sos, zpk2tf

_BANDS = {
    **dict.fromkeys(("band", "bandpass", "pass", "bp"), "bandpass"),
    **dict.fromkeys(("bs", "bandstop", "bands", "stop"), "bandstop"),
    **dict.fromkeys(("l", "low", "lowpass", "lp"), "lowpass"),
    **dict.fromkeys(("high", "highpass", "h", "hp"), "highpass"),
}
_KINDS = {
    **dict.fromkeys(("butter", "butterworth"), "butter"),
    **dict.fromkeys(("cheby1", "chebyshev1", "chebyshevi", "c1"), "cheby1"),
    **dict.fromkeys(("cheby2", "chebyshev2", "chebyshevii", "c2"), "cheby2"),
    **dict.fromkeys(("ellip", "elliptic", "cauer", "cauerelliptic", "e"), "ellip"),
    **dict.fromkeys(("bessel", "bessel_phase"), "phase"),
    **{f"bessel_{norm}": norm for norm in ("delay", "mag")},
}

# ---------------------------------------------------------------- analog low-pass filters


def _order(name: str, N: Any) -> int:
    n = int(N) if isinstance(N, float) and N.is_integer() else operator.index(N)
    if n < 0:
        raise ArgumentError(f"{name}: N={N!r}; need an order of 0 or more{where()}")
    return n


def _circle(n: int) -> np.ndarray:
    """The angles from the negative axis of the poles on the circle."""
    return np.pi * np.arange(-n + 1, n, 2) / (2 * n) if n else np.zeros(0)


def _excess(db: Any) -> Any:
    """``10**(db / 10) - 1``."""
    return fnp.expm1(0.1 * math.log(10.0) * db)


@host_only
def buttap(N: int) -> tuple[Any, Any, Any]:
    """The analog Butterworth filter of order N with the edge 1: its poles are evenly on a half circle.

    Shapes: ``-> (0), (N), ()``.   Dtypes: gives complex poles.
    Derivative: constants.
    Raises: ArgumentError: a negative N.
    Source: SciPy reference, ``scipy.signal.buttap``.

    >>> [np.round(x, 4).tolist() for x in buttap(2)]
    [[], [(-0.7071+0.7071j), (-0.7071-0.7071j)], 1.0]
    """
    return np.zeros(0), -np.exp(1j * _circle(_order("buttap", N))), np.float64(1.0)


@host_only
def cheb1ap(N: int, rp: Any) -> tuple[Any, Any, Any]:
    """The analog Chebyshev filter of order N, which ripples by `rp` decibels up to the edge 1.

    Shapes: ``rp: () -> (0), (N), ()``.   Dtypes: gives complex poles.
    Derivative: by `rp`.
    Raises: ArgumentError: a negative N.
    Source: SciPy reference, ``scipy.signal.cheb1ap``.

    >>> [np.round(x, 4).tolist() for x in cheb1ap(1, 3.0)]
    [[], [(-1.0024-0j)], 1.0024]
    """
    n, rp = _order("cheb1ap", N), scalar("cheb1ap", "rp", rp)
    if not n:
        return np.zeros(0), np.zeros(0, complex), 10.0 ** (-rp / 20.0)
    mu = fnp.arcsinh(1.0 / fnp.sqrt(_excess(rp))) / n
    p = -fnp.sinh(mu + 1j * _circle(n))
    k = fnp.prod(-p).real
    return np.zeros(0), p, k if n % 2 else k / fnp.sqrt(1.0 + _excess(rp))


@host_only
def cheb2ap(N: int, rs: Any) -> tuple[Any, Any, Any]:
    """The analog inverse Chebyshev filter of order N, at least `rs` decibels down from the edge 1.

    Shapes: ``rs: () -> (N or N - 1), (N), ()``.   Dtypes: gives complex poles.
    Derivative: by `rs`.
    Raises: ArgumentError: a negative N.
    Source: SciPy reference, ``scipy.signal.cheb2ap``.

    >>> [np.round(x, 4).tolist() for x in cheb2ap(1, 3.0)]
    [[], [(-1.0024+0j)], 1.0024]
    """
    n, rs = _order("cheb2ap", N), scalar("cheb2ap", "rs", rs)
    if not n:
        return np.zeros(0, complex), np.zeros(0, complex), np.float64(1.0)
    angles = _circle(n)
    z = 1j / np.sin(angles[np.arange(-n + 1, n, 2) != 0])
    p = -1.0 / fnp.sinh(fnp.arcsinh(fnp.sqrt(_excess(rs))) / n + 1j * angles)
    return z, p, (fnp.prod(-p) / np.prod(-z)).real


@host_only
def ellipap(N: int, rp: Any, rs: Any) -> tuple[Any, Any, Any]:
    """The analog elliptic filter of order N: `rp` decibels of ripple up to 1, `rs` down beyond.

    Shapes: ``rp, rs: () -> (N or N - 1), (N), ()``.   Dtypes: gives complex zeros and poles.
    Derivative: by both.
    Raises: ArgumentError: a negative N.
    Source: Orfanidis, "Lecture Notes on Elliptic Filter Design" (2006); SciPy reference,
    ``scipy.signal.ellipap``.

    >>> z, p, k = ellipap(2, 1.0, 40.0)
    >>> z.imag.round(4).tolist(), p.real.round(4).tolist(), float(k.round(4))
    ([9.9376, -9.9376], [-0.5458, -0.5458], 0.01)
    """
    n = _order("ellipap", N)
    rp, rs = scalar("ellipap", "rp", rp), scalar("ellipap", "rs", rs)
    ripple = _excess(rp)
    if not n:
        return np.zeros(0, complex), np.zeros(0, complex), 10.0 ** (-rp / 20.0)
    if n == 1:
        k = fnp.sqrt(1.0 / ripple)
        return np.zeros(0, complex), fnp.reshape(-k + 0j, (1,)), k
    m1 = ripple / _excess(rs)
    m = _degree_equation(n, m1)
    quarter = ellipk(m)
    j = np.arange(1 - n % 2, n, 2)
    s, c, d, _ = ellipj(quarter * (j / n), m * np.ones(j.size))
    above = 1j / (fnp.sqrt(m) * (s if j[0] else s[1:]))
    z = fnp.concatenate([above, -above])
    v = quarter * ellipkinc(fnp.arctan(1.0 / fnp.sqrt(ripple)), 1.0 - m1) / (n * ellipk(m1))
    sv, cv, dv, _ = ellipj(v, 1.0 - m)
    p = -(c * d * sv * cv + 1j * s * dv) / (1.0 - (d * sv) ** 2)
    p = fnp.concatenate([p, fnp.conj(p if j[0] else p[1:])])
    k = (fnp.prod(-p) / fnp.prod(-z)).real
    return z, p, k if n % 2 else k / fnp.sqrt(1.0 + ripple)


def _degree_equation(n: int, m1: Any) -> Any:
    """The parameter whose ratio of quarter periods is that of `m1` divided by n, by the nome."""
    q = fnp.exp(-math.pi * ellipkm1(m1) / ellipk(m1) / n)
    k = np.arange(8)
    ratio = fnp.sum(q ** (k * (k + 1))) / (1.0 + 2.0 * fnp.sum(q ** ((k + 1) ** 2)))
    return 16.0 * q * ratio**4


@host_only
def besselap(N: int, norm: str = "phase") -> tuple[Any, Any, Any]:
    """The analog Bessel filter of order N, by SciPy: `norm` says what is 1, "phase", "delay" or "mag".

    Shapes: ``-> (0), (N), ()``.   Dtypes: gives complex poles.
    Derivative: constants.
    Raises: ArgumentError: a negative N.
    Source: SciPy reference, ``scipy.signal.besselap``.

    >>> [np.round(x, 4).tolist() for x in besselap(1)]
    [[], [(-1-0j)], 1.0]
    """
    n = _order("besselap", N)
    z, p, k = scipy_function(np, "besselap", "signal")(n, norm)
    return np.asarray(z, float), np.asarray(p, complex), np.float64(k)


# ---------------------------------------------------------------- designs


@host_only
def iirfilter(
    N: int,
    Wn: Any,
    rp: Any = None,
    rs: Any = None,
    btype: str = "band",
    analog: bool = False,
    ftype: str = "butter",
    output: str = "ba",
    fs: Any = None,
) -> Any:
    """A recursive filter of order N with the edges `Wn`, as parts of ``fs / 2`` unless `analog`.

    `btype`: "lowpass", "highpass" (one edge), "bandpass", "bandstop" (two edges, order 2 N). `ftype`:
    "butter", "cheby1" (with `rp`), "cheby2" (with `rs`), "ellip" (with both), "bessel". `output`: "ba"
    coefficients, "zpk" zeros, poles and gain, "sos" sections.

    Shapes: ``Wn: () or (2), rp, rs, fs: ()``; of an order n ``(n + 1), (n + 1)``, ``(n), (n), ()``, or
    ``((n + 1) // 2, 6)``.   Dtypes: real; gives float64 and complex128.
    Derivative: by `Wn`, `rp`, `rs` and `fs`.
    Raises: ArgumentError: an unknown name, an option that is missing, a negative ripple, edges that are
    not inside of ``0..fs/2`` or do not rise. ShapeError: not as many edges as the band has.
    Source: SciPy reference, ``scipy.signal.iirfilter``.

    >>> b, a = iirfilter(1, 0.5, btype="lowpass")
    >>> b.round(4).tolist(), abs(a).round(4).tolist()
    ([0.5, 0.5], [1.0, 0.0])
    """
    return _design("iirfilter", N, Wn, rp, rs, btype, analog, ftype, output, fs)


@host_only
def butter(
    N: int, Wn: Any, btype: str = "low", analog: bool = False, output: str = "ba", fs: Any = None
) -> Any:
    """`iirfilter` of Butterworth: as flat as can be, 3 decibels down at the edges.

    Shapes, Dtypes, Raises: as `iirfilter`.   Derivative: by `Wn` and `fs`.
    Source: SciPy reference, ``scipy.signal.butter``.

    >>> import funcgrad
    >>> float(funcgrad.grad(lambda w: butter(1, w)[0][0])(0.5).round(4))
    0.7854
    """
    return _design("butter", N, Wn, None, None, btype, analog, "butter", output, fs)


@host_only
def cheby1(
    N: int,
    rp: Any,
    Wn: Any,
    btype: str = "low",
    analog: bool = False,
    output: str = "ba",
    fs: Any = None,
) -> Any:
    """`iirfilter` of Chebyshev, which ripples by `rp` decibels in the band that passes.

    Shapes, Dtypes, Raises: as `iirfilter`.   Derivative: by `rp`, `Wn` and `fs`.
    Source: SciPy reference, ``scipy.signal.cheby1``.

    >>> [x.round(4).tolist() for x in cheby1(1, 3.0, 0.5)]
    [[0.5006, 0.5006], [1.0, 0.0012]]
    """
    return _design("cheby1", N, Wn, rp, None, btype, analog, "cheby1", output, fs)


@host_only
def cheby2(
    N: int,
    rs: Any,
    Wn: Any,
    btype: str = "low",
    analog: bool = False,
    output: str = "ba",
    fs: Any = None,
) -> Any:
    """`iirfilter` of Chebyshev, which is at least `rs` decibels down in the band that is stopped.

    Shapes, Dtypes, Raises: as `iirfilter`.   Derivative: by `rs`, `Wn` and `fs`.
    Source: SciPy reference, ``scipy.signal.cheby2``.

    >>> [x.round(4).tolist() for x in cheby2(1, 40.0, 0.5)]
    [[0.0099, 0.0099], [1.0, -0.9802]]
    """
    return _design("cheby2", N, Wn, None, rs, btype, analog, "cheby2", output, fs)


@host_only
def ellip(
    N: int,
    rp: Any,
    rs: Any,
    Wn: Any,
    btype: str = "low",
    analog: bool = False,
    output: str = "ba",
    fs: Any = None,
) -> Any:
    """`iirfilter` of Cauer, which ripples by `rp` decibels where it passes, and is `rs` down elsewhere.

    Shapes, Dtypes, Raises: as `iirfilter`.   Derivative: by `rp`, `rs`, `Wn` and `fs`.
    Source: SciPy reference, ``scipy.signal.ellip``.

    >>> [x.round(4).tolist() for x in ellip(2, 1.0, 40.0, 0.5)]
    [[0.3118, 0.6111, 0.3118], [1.0, 0.0675, 0.3177]]
    """
    return _design("ellip", N, Wn, rp, rs, btype, analog, "ellip", output, fs)


@host_only
def bessel(
    N: int,
    Wn: Any,
    btype: str = "low",
    analog: bool = False,
    output: str = "ba",
    norm: str = "phase",
    fs: Any = None,
) -> Any:
    """`iirfilter` of Bessel: an analog one delays all that passes alike. `norm` is that of `besselap`.

    Shapes, Dtypes, Raises: as `iirfilter`.   Derivative: by `Wn` and `fs`.
    Source: SciPy reference, ``scipy.signal.bessel``.

    >>> [x.round(4).tolist() for x in bessel(2, 100.0, analog=True)]
    [[10000.0], [1.0, 173.2051, 10000.0]]
    """
    return _design("bessel", N, Wn, None, None, btype, analog, f"bessel_{norm}", output, fs)


def _design(
    name: str,
    N: int,
    Wn: Any,
    rp: Any,
    rs: Any,
    btype: str,
    analog: bool,
    ftype: str,
    output: str,
    fs: Any,
) -> Any:
    band, kind = _named(name, "btype", btype, _BANDS), _named(name, "ftype", ftype, _KINDS)
    output = _named(name, "output", output, {x: x for x in ("ba", "zpk", "sos")})
    edges = _edges(name, Wn, band, analog, fs)
    z, p, k = _prototype(name, kind, N, rp, rs)
    if not analog:
        edges = 4.0 * fnp.tan(0.5 * math.pi * edges)
    if edges.shape[0] == 1:
        moved = {"lowpass": lp2lp_zpk, "highpass": lp2hp_zpk}[band](z, p, k, edges[0])
    else:
        middle, width = fnp.sqrt(edges[0] * edges[1]), edges[1] - edges[0]
        moved = {"bandpass": lp2bp_zpk, "bandstop": lp2bs_zpk}[band](z, p, k, middle, width)
    z, p, k = moved if analog else bilinear_zpk(*moved, 2.0)
    if output == "zpk":
        return z, p, k
    return zpk2tf(z, p, k) if output == "ba" else zpk2sos(z, p, k, analog=analog)


def _named(name: str, what: str, value: Any, names: dict[str, str]) -> str:
    found = names.get(value.lower()) if isinstance(value, str) else None
    if found is None:
        raise ArgumentError(f"{name}: {what}={value!r}; need one of {', '.join(names)}{where()}")
    return found


def _edges(name: str, Wn: Any, band: str, analog: bool, fs: Any) -> Any:
    edges = fnp.atleast_1d(floating(Wn))
    count = 1 if band in ("lowpass", "highpass") else 2
    if edges.shape != (count,) or edges.dtype.kind == "c":
        raise ShapeError(
            f"{name}: Wn has shape {list(edges.shape)} for btype={band!r}; need {count} real "
            f"number{'s' * (count - 1)}{where()}"
        )
    if fs is not None and analog:
        raise ArgumentError(f"{name}: fs={fs!r} with analog=True, which has no samples{where()}")
    edges = edges if fs is None else 2.0 * edges / scalar(name, "fs", fs)
    value = known(edges)
    if value is not None:
        rises = bool(value[0] > 0) and bool(value[0] < value[-1] if count == 2 else True)
        if not rises or (not analog and not value[-1] < 1):
            limit = "" if analog else " and below fs / 2, which is 1 without fs="
            raise ArgumentError(
                f"{name}: Wn={Wn}; need frequencies that rise, above 0{limit}{where()}"
            )
    return edges


def _prototype(name: str, kind: str, N: int, rp: Any, rs: Any) -> tuple[Any, Any, Any]:
    given = {"rp": rp, "rs": rs}
    for option, value in given.items():
        number = None if value is None else known(scalar(name, option, value))
        if number is not None and number < 0:
            raise ArgumentError(f"{name}: {option}={value}; need 0 or more decibels{where()}")
    if kind == "butter":
        return buttap(N)
    if kind in ("phase", "delay", "mag"):
        return besselap(N, kind)
    needed = {"cheby1": ["rp"], "cheby2": ["rs"], "ellip": ["rp", "rs"]}[kind]
    missing = [option for option in needed if given[option] is None]
    if missing:
        raise ArgumentError(f"{name}: ftype={kind!r} needs {' and '.join(missing)}{where()}")
    if kind == "ellip":
        return ellipap(N, rp, rs)
    return cheb1ap(N, rp) if kind == "cheby1" else cheb2ap(N, rs)


# ---------------------------------------------------------------- one frequency


@host_only
def iirnotch(w0: Any, Q: Any, fs: Any = 2.0) -> tuple[Any, Any]:
    """The filter of second order that stops the frequency `w0`, on a width of ``w0 / Q``.

    Shapes: ``w0, Q, fs: () -> (3), (3)``.   Dtypes: real.
    Derivative: by all of them.
    Raises: ArgumentError: `w0` is not from 0 to ``fs / 2``. ShapeError: no numbers.
    Source: SciPy reference, ``scipy.signal.iirnotch``.

    >>> [x.round(4).tolist() for x in iirnotch(0.5, 1.0)]
    [[0.5, -0.0, 0.5], [1.0, -0.0, 0.0]]
    """
    angle, gain = _angle_and_gain("iirnotch", w0, Q, fs)
    return gain * fnp.array([1.0, -2.0 * fnp.cos(angle), 1.0]), _resonant(angle, gain)


@host_only
def iirpeak(w0: Any, Q: Any, fs: Any = 2.0) -> tuple[Any, Any]:
    """The filter of second order that lets the frequency `w0` pass, and a width of ``w0 / Q``.

    Shapes, Dtypes, Derivative, Raises: as `iirnotch`.
    Source: SciPy reference, ``scipy.signal.iirpeak``.

    >>> [x.round(4).tolist() for x in iirpeak(0.5, 1.0)]
    [[0.5, 0.0, -0.5], [1.0, -0.0, 0.0]]
    """
    angle, gain = _angle_and_gain("iirpeak", w0, Q, fs)
    return (1.0 - gain) * np.array([1.0, 0.0, -1.0]), _resonant(angle, gain)


def _angle_and_gain(name: str, w0: Any, Q: Any, fs: Any) -> tuple[Any, Any]:
    w0, Q, fs = (scalar(name, what, x) for what, x in (("w0", w0), ("Q", Q), ("fs", fs)))
    angle = 2.0 * math.pi * w0 / fs
    value = known(angle)
    if value is not None and not 0.0 <= value <= math.pi:
        raise ArgumentError(f"{name}: w0={w0}; need a frequency from 0 to fs / 2{where()}")
    return angle, 1.0 / (1.0 + fnp.tan(0.5 * angle / Q))


def _resonant(angle: Any, gain: Any) -> Any:
    return fnp.array([1.0, -2.0 * gain * fnp.cos(angle), 2.0 * gain - 1.0])
