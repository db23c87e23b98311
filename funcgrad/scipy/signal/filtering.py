"""Linear filters: recursive ones, forth and back, by sections; their frequencies."""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np

from ...algebra import concrete_namespace
from ...core import Tracer, aval_of
from ...errors import ArgumentError, ShapeError, where
from ...numpy._arguments import array_of, concrete
from ...numpy.polynomial.polynomial import polyvalfromroots
from ...numpy.polynomials import polyval
from ...ops import linalg as _linalg
from ...ops.complex import conjugate
from ...ops.conv import conv
from ...ops.exponential import exp
from ...ops.implicit import all_pole
from ...ops.join import concatenate, stack, unstack
from ...ops.logic import equal
from ...ops.select import where as select
from ...ops.structural import broadcast_to, flip, reshape
from .._arrays import floating
from ..linalg.structured import companion
from ._vectors import (
    axis_back,
    axis_last,
    coefficients,
    padded,
    require_leading,
    stretch,
)

# ---------------------------------------------------------------- lfilter


def _full_rows(b: Any, x: Any) -> Any:
    """The full convolution of `b` with every row of `x`."""
    m, n = b.shape[0], x.shape[-1]
    if not n:
        return padded(x, 0, m - 1)
    rows = math.prod(x.shape[:-1])
    out = conv(
        reshape(x, shape=(rows, 1, n)),
        reshape(flip(b, axis=(0,)), shape=(1, 1, m)),
        strides=(1,),
        padding=((m - 1, m - 1),),
        lhs_dilation=(1,),
        rhs_dilation=(1,),
        groups=1,
    )
    return reshape(out, shape=(*x.shape[:-1], n + m - 1))


def _normal(name: str, b: Any, a: Any) -> tuple[Any, Any]:
    """The coefficients, equally many, divided by the first of `a`."""
    b, a = coefficients(name, "b", b), coefficients(name, "a", a)
    require_leading(name, a)
    count = max(b.shape[0], a.shape[0])
    first = stretch(a, 0, 1)
    return padded(b / first, 0, count - b.shape[0]), padded(a / first, 0, count - a.shape[0])


def _filtered(b: Any, a: Any, x: Any, zi: Any) -> tuple[Any, Any]:
    """The filter's output along the last axis, and its state afterwards."""
    delay, n = b.shape[0] - 1, x.shape[-1]
    driven = _full_rows(b, x)
    if zi is not None:
        driven = driven + padded(zi, 0, n)
    y = all_pole(stretch(a, 1, delay + 1), stretch(driven, 0, n), reverse=False)
    if zi is None:
        return y, None
    return y, stretch(driven, n, n + delay) - stretch(_full_rows(a, y), n, n + delay)


def lfilter(b: Any, a: Any, x: Any, axis: int = -1, zi: Any = None) -> Any:
    """``a_0 y_n = sum_k b_k x_(n-k) - sum_(k>0) a_k y_(n-k)`` along the axis.

    With the state `zi` that the filter starts with, of length ``max(len(a), len(b)) - 1`` along the
    axis, also the state that it ends with.

    Shapes: ``b: (m,), a: (k,), x: (*a, n, *b) -> (*a, n, *b)``.
    Dtypes: floating, complex; integers give float64.
    Derivative: by all four; infinite or NaN where ``a_0`` is 0.
    Raises: ShapeError: `b` or `a` is no vector, or `zi` does not fit. ArgumentError: ``a_0`` is 0.
    Source: SciPy reference, ``scipy.signal.lfilter``.

    >>> lfilter([1.0], [1.0, -0.5], [1.0, 0.0, 0.0]).tolist()
    [1.0, 0.5, 0.25]
    """
    b, a = _normal("lfilter", b, a)
    x, place = axis_last("lfilter", floating(x), axis)
    if zi is None:
        return axis_back(_filtered(b, a, x, None)[0], place)
    zi, _ = axis_last("lfilter", floating(zi), axis)
    goal = (*x.shape[:-1], b.shape[0] - 1)
    fits = zi.ndim == x.ndim and zi.shape[-1] == goal[-1]
    if not fits or any(k not in (1, n) for k, n in zip(zi.shape, goal, strict=True)):
        raise ShapeError(
            f"lfilter: zi is {aval_of(zi)}, with the axis last; need the shape {list(goal)}{where()}"
        )
    y, end = _filtered(b, a, x, broadcast_to(zi, shape=goal))
    return axis_back(y, place), axis_back(end, place)


def lfilter_zi(b: Any, a: Any) -> Any:
    """The state of `lfilter` in which an input of ones gives an output that does not change.

    Shapes: ``b: (m,), a: (k,) -> (max(m, k) - 1,)``.
    Dtypes: floating, complex; integers give float64.
    Derivative: by both; smooth where ``sum_k a_k`` is not 0.
    Raises: LinAlgError: that sum is 0. ArgumentError: ``a_0`` is 0.
    Source: SciPy reference, ``scipy.signal.lfilter_zi``.

    >>> lfilter_zi([1.0], [1.0, -0.5]).tolist()
    [1.0]
    """
    b, a = _normal("lfilter_zi", b, a)
    delay = b.shape[0] - 1
    if not delay:
        return concrete_namespace(b).zeros(0, b.dtype)
    one = concrete_namespace(a).eye(delay, dtype=a.dtype)
    system = one - companion(a).mT
    return _linalg.solve(system, stretch(b, 1, delay + 1) - stretch(a, 1, delay + 1) * b[0])


def lfiltic(b: Any, a: Any, y: Any, x: Any = None) -> Any:
    """The state of `lfilter` after the outputs `y` and inputs `x`, the last one first.

    Shapes: ``b: (m,), a: (k,), y: (i,), x: (j,) -> (max(m, k) - 1,)``.
    Dtypes: floating, complex; integers give float64.
    Derivative: by all four.
    Raises: ShapeError: an argument is no vector. ArgumentError: ``a_0`` is 0.
    Source: SciPy reference, ``scipy.signal.lfiltic``.

    >>> lfiltic([1.0], [1.0, -0.5], [2.0]).tolist()
    [1.0]
    """
    b, a = _normal("lfiltic", b, a)
    delay = b.shape[0] - 1

    def echo(c: Any, before: Any) -> Any:
        """What the last elements still add to the next ones."""
        before = coefficients("lfiltic", "what came before", before)
        last_first = padded(before, 0, delay - before.shape[0])
        full = _full_rows(c, flip(last_first, axis=(0,)))
        return stretch(full, delay, 2 * delay)

    state = -echo(a, y) if delay else a[:0]
    return state if x is None or not delay else state + echo(b, x)


# ---------------------------------------------------------------- forth and back


def extended(name: str, x: Any, padtype: Any, edge: int) -> Any:
    """`x` with `edge` more elements at either end of the last axis."""
    if padtype not in ("odd", "even", "constant", None):
        raise ArgumentError(
            f"{name}: padtype={padtype!r}; need 'odd', 'even', 'constant' or None{where()}"
        )
    n = x.shape[-1]
    if padtype is None or not edge:
        return x
    if n <= edge:
        raise ShapeError(
            f"{name}: {n} elements along the axis; need more than padlen, which is {edge}{where()}"
        )
    first, last = stretch(x, 0, 1), stretch(x, n - 1, n)
    if padtype == "constant":
        shape = (*x.shape[:-1], edge)
        before, after = broadcast_to(first, shape=shape), broadcast_to(last, shape=shape)
    else:
        mirror = (x.ndim - 1,)
        before = flip(stretch(x, 1, edge + 1), axis=mirror)
        after = flip(stretch(x, n - 1 - edge, n - 1), axis=mirror)
        if padtype == "odd":
            before, after = 2.0 * first - before, 2.0 * last - after
    return concatenate(before, x, after, axis=x.ndim - 1)


def _forth_and_back(x: Any, once: Any, edge: int) -> Any:
    """`once`, a filter that is given the rows and their first elements, from either end."""
    for _ in range(2):
        x = flip(once(x, stretch(x, 0, 1)), axis=(x.ndim - 1,))
    return stretch(x, edge, x.shape[-1] - edge)


def filtfilt(
    b: Any,
    a: Any,
    x: Any,
    axis: int = -1,
    padtype: Any = "odd",
    padlen: Any = None,
    method: str = "pad",
    irlen: Any = None,
) -> Any:
    """`lfilter` forth and back, without a delay, after both ends were continued.

    `padtype`: mirrored at the end points ("odd") or just mirrored ("even"), the last element again
    ("constant"), or nothing (None). `padlen`: by how many, ``3 max(len(a), len(b))`` by default.

    Shapes: ``b: (m,), a: (k,), x: (*a, n, *b) -> (*a, n, *b)``.
    Dtypes: floating, complex; integers give float64.
    Derivative: by all three; smooth where ``sum_k a_k`` is not 0.
    Raises: ShapeError: the axis is no longer than `padlen`. ArgumentError: an unknown `padtype`, or
    `method` is not "pad".
    Source: SciPy reference, ``scipy.signal.filtfilt``.

    >>> filtfilt([0.5, 0.5], [1.0], [1.0, 2.0, 3.0], padlen=1).tolist()
    [1.0, 2.0, 3.0]
    """
    if method != "pad" or irlen is not None:
        raise ArgumentError(
            f"filtfilt: method={method!r}, irlen={irlen!r}; only method='pad' is supported{where()}"
        )
    b, a = coefficients("filtfilt", "b", b), coefficients("filtfilt", "a", a)
    x, place = axis_last("filtfilt", floating(x), axis)
    edge = 3 * max(a.shape[0], b.shape[0]) if padlen is None else int(padlen)
    edge = edge if padtype is not None else 0
    zi = lfilter_zi(b, a)

    def once(rows: Any, first: Any) -> Any:
        return lfilter(b, a, rows, zi=zi * first)[0]

    return axis_back(_forth_and_back(extended("filtfilt", x, padtype, edge), once, edge), place)


# ---------------------------------------------------------------- sections


def _sections(name: str, sos: Any) -> list[tuple[Any, Any]]:
    sos = floating(sos)
    if sos.ndim != 2 or sos.shape[1] != 6:
        raise ShapeError(f"{name}: sos is {aval_of(sos)}; need the shape [n, 6]{where()}")
    return [(stretch(row, 0, 3), stretch(row, 3, 6)) for row in unstack(sos, axis=0)]


def sosfilt(sos: Any, x: Any, axis: int = -1, zi: Any = None) -> Any:
    """Filters of second order, one after the other; each row has three of b and three of a.

    With the states `zi` that they start with also those that they end with.

    Shapes: ``sos: (k, 6), x: (*a, n, *b) -> (*a, n, *b)``; ``zi: (k, *a, 2, *b)``.
    Dtypes: floating, complex; integers give float64.
    Derivative: by all three.
    Raises: ShapeError: the shapes do not fit. ArgumentError: an ``a_0`` is 0.
    Source: SciPy reference, ``scipy.signal.sosfilt``.

    >>> sosfilt([[1.0, 0.0, 0.0, 1.0, -0.5, 0.0]], [1.0, 0.0, 0.0]).tolist()
    [1.0, 0.5, 0.25]
    """
    sections = _sections("sosfilt", sos)
    x = floating(x)
    if zi is None:
        for b, a in sections:
            x = lfilter(b, a, x, axis)
        return x
    zi = floating(zi)
    if not zi.ndim or zi.shape[0] != len(sections):
        raise ShapeError(
            f"sosfilt: zi is {aval_of(zi)}; need {len(sections)} along its first axis{where()}"
        )
    ends = []
    for (b, a), state in zip(sections, unstack(zi, axis=0), strict=True):
        x, end = lfilter(b, a, x, axis, state)
        ends.append(end)
    return x, stack(ends, axis=0)


def sosfilt_zi(sos: Any) -> Any:
    """The states of `sosfilt` in which an input of ones gives an output that does not change.

    Shapes: ``sos: (k, 6) -> (k, 2)``.   Dtypes: floating, complex; integers give float64.
    Derivative: smooth where no section's ``sum_k a_k`` is 0.
    Raises: ShapeError: `sos` has another shape. LinAlgError: such a sum is 0.
    Source: SciPy reference, ``scipy.signal.sosfilt_zi``.

    >>> sosfilt_zi([[1.0, 0.0, 0.0, 1.0, -0.5, 0.0]]).tolist()
    [[1.0, 0.0]]
    """
    scale: Any = 1.0
    states = []
    for b, a in _sections("sosfilt_zi", sos):
        states.append(lfilter_zi(b, a) * scale)
        scale = scale * b.sum() / a.sum()
    return stack(states, axis=0)


def sosfiltfilt(sos: Any, x: Any, axis: int = -1, padtype: Any = "odd", padlen: Any = None) -> Any:
    """`sosfilt` forth and back, without a delay; `padtype` and `padlen` as of `filtfilt`.

    Shapes: ``sos: (k, 6), x: (*a, n, *b) -> (*a, n, *b)``.
    Dtypes: floating, complex; integers give float64.
    Derivative: by both; smooth where no section's ``sum_k a_k`` is 0.
    Raises: ShapeError: the shapes do not fit. ConcretizationError: without `padlen`, of sections
    whose numbers are not known.
    Source: SciPy reference, ``scipy.signal.sosfiltfilt``.

    >>> sosfiltfilt([[0.5, 0.5, 0.0, 1.0, 0.0, 0.0]], [1.0, 2.0, 3.0], padlen=1).tolist()
    [1.0, 2.0, 3.0]
    """
    sections = _sections("sosfiltfilt", sos)
    if padlen is None:
        last = concrete("signal.sosfiltfilt", "sos, without padlen,", array_of(sos))[:, [2, 5]]
        zeros = int((last == 0).sum(axis=0).min())
        padlen = 3 * (2 * len(sections) + 1 - zeros)
    x, place = axis_last("sosfiltfilt", floating(x), axis)
    edge = int(padlen) if padtype is not None else 0
    zi = sosfilt_zi(sos)
    shape = (len(sections), *[1] * (x.ndim - 1), 2)

    def once(rows: Any, first: Any) -> Any:
        return sosfilt(sos, rows, zi=reshape(zi, shape=shape) * first)[0]

    return axis_back(_forth_and_back(extended("sosfiltfilt", x, padtype, edge), once, edge), place)


# ---------------------------------------------------------------- frequencies


def _polynomial(c: Any, z: Any) -> Any:
    """``sum_k c_k z^k``, by Horner's rule."""
    terms = unstack(c, axis=0)
    total = terms[-1] + z * 0.0
    for term in reversed(terms[:-1]):
        total = total * z + term
    return total


def freqz(
    b: Any,
    a: Any = 1,
    worN: Any = 512,
    whole: bool = False,
    plot: Any = None,
    fs: Any = 2 * math.pi,
    include_nyquist: bool = False,
) -> tuple[Any, Any]:
    """Frequencies, and ``sum_k b_k z^-k / sum_k a_k z^-k`` there, ``z = exp(2 pi i w / fs)``.

    `worN`: the frequencies, or how many between 0 and ``fs / 2`` (`fs` if `whole`).

    Shapes: ``b: (m,), a: (k,) -> (n,), (n,)``.
    Dtypes: floating, complex; integers give float64; responses are complex.
    Derivative: by `b`, `a` and the frequencies.
    Raises: ShapeError: `b` or `a` is no vector. ArgumentError: `plot` is given.
    Source: SciPy reference, ``scipy.signal.freqz``.

    >>> w, h = freqz([1.0, 1.0], worN=2)
    >>> w.round(4).tolist(), h.round(4).tolist()
    ([0.0, 1.5708], [(2+0j), (1-1j)])
    """
    if plot is not None:
        raise ArgumentError(f"freqz: plot= is not supported; plot what it returns{where()}")
    b, a = coefficients("freqz", "b", b), coefficients("freqz", "a", a)
    w, back = _frequencies(b, worN, whole, fs, include_nyquist)
    return w, _polynomial(b, back) / _polynomial(a, back)


def _frequencies(b: Any, worN: Any, whole: bool, fs: Any, last: bool = False) -> tuple[Any, Any]:
    """Frequencies, given or so many of them, and ``z^-1`` there; on the device of `b`."""
    count = 512 if worN is None else _whole_number(worN)
    if count is None:
        w = floating(worN)
        w = w.reshape((1,)) if not w.ndim else w
        turn = w * (2 * math.pi / fs)
    else:
        end = 2 * math.pi if whole else math.pi
        turn = concrete_namespace(b).asarray(
            np.linspace(0, end, count, endpoint=last and not whole)
        )
        w = turn * (fs / (2 * math.pi))
    return w, exp(turn * -1j)


def _whole_number(n: Any) -> int | None:
    """`n` as a count, if it is an integer or an array of one."""
    if isinstance(n, Tracer):
        return None
    try:
        return operator.index(n)
    except TypeError:
        return None


def freqz_zpk(
    z: Any, p: Any, k: Any, worN: Any = 512, whole: bool = False, fs: Any = 2 * math.pi
) -> tuple[Any, Any]:
    """`freqz` of a filter given by zeros and poles: ``k prod(x - z) / prod(x - p)``.

    Shapes: ``z: (m,), p: (l,), k: () -> (n,), (n,)``.   Dtypes: gives complex.
    Derivative: by all of them, and the frequencies.
    Raises: ShapeError: `z` or `p` is no vector.
    Source: SciPy reference, ``scipy.signal.freqz_zpk``.

    >>> freqz_zpk([-1.0], [0.0], 1.0, worN=2)[1].round(4).tolist()
    [(2+0j), (1-1j)]
    """
    z, p, k = floating(z), floating(p), floating(k)
    if z.ndim != 1 or p.ndim != 1:
        raise ShapeError(
            f"freqz_zpk: z is {aval_of(z)} and p is {aval_of(p)}; need vectors{where()}"
        )
    w, back = _frequencies(k, worN, whole, fs)
    x = 1.0 / back
    return w, polyvalfromroots(x, z) * k / polyvalfromroots(x, p)


def freqs(b: Any, a: Any, worN: Any = 200, plot: Any = None) -> tuple[Any, Any]:
    """Angular frequencies, and the response ``B(i w) / A(i w)`` of an analog filter there.

    `worN` are the frequencies: how many SciPy would choose is not supported.

    Shapes: ``b: (m,), a: (k,), worN: (n,) -> (n,), (n,)``.   Dtypes: gives complex responses.
    Derivative: by all of them.
    Raises: ArgumentError: `worN` is a number or None, or `plot` is given. ShapeError: no vectors.
    Source: SciPy reference, ``scipy.signal.freqs``.

    >>> freqs([1.0], [1.0, 1.0], [0.0, 1.0])[1].tolist()
    [(1+0j), (0.5-0.5j)]
    """
    if plot is not None:
        raise ArgumentError(f"freqs: plot= is not supported; plot what it returns{where()}")
    w = _angular("freqs", worN)
    b, a = coefficients("freqs", "b", b), coefficients("freqs", "a", a)
    return w, polyval(b, 1j * w) / polyval(a, 1j * w)


def freqs_zpk(z: Any, p: Any, k: Any, worN: Any = 200) -> tuple[Any, Any]:
    """`freqs` of a filter given by zeros and poles.

    Shapes: ``z: (m,), p: (l,), k: (), worN: (n,) -> (n,), (n,)``.   Dtypes, Derivative: as `freqs`.
    Raises: ArgumentError: `worN` is a number or None. ShapeError: no vectors.
    Source: SciPy reference, ``scipy.signal.freqs_zpk``.

    >>> freqs_zpk([], [-1.0], 1.0, [0.0, 1.0])[1].tolist()
    [(1+0j), (0.5-0.5j)]
    """
    z, p = floating(z), floating(p)
    w = _angular("freqs_zpk", worN)
    if z.ndim != 1 or p.ndim != 1:
        raise ShapeError(
            f"freqs_zpk: z is {aval_of(z)} and p is {aval_of(p)}; need vectors{where()}"
        )
    return w, k * polyvalfromroots(1j * w, z) / polyvalfromroots(1j * w, p)


def _angular(name: str, worN: Any) -> Any:
    if worN is None or isinstance(worN, int):
        raise ArgumentError(f"{name}: worN={worN!r}; need the frequencies, as an array{where()}")
    w = floating(worN)
    return reshape(w, shape=(1,)) if not w.ndim else w


def group_delay(
    system: tuple[Any, Any], w: Any = 512, whole: bool = False, fs: Any = 2 * math.pi
) -> tuple[Any, Any]:
    """Frequencies, and by how many samples a filter delays them; 0 where it lets nothing pass.

    It is minus the slope of the phase of ``B(z) / A(z)``; `system` is ``(b, a)``, `w` as for `freqz`.

    Shapes: ``b: (m,), a: (k,) -> (n,), (n,)``.   Dtypes: floating; integers give float64.
    Derivative: by `b`, `a` and the frequencies; none where it is said to be 0.
    Raises: ShapeError: `b` or `a` is no vector.
    Source: Smith, "Introduction to Digital Filters", section "Numerical Computation of Group Delay".

    >>> group_delay(([1.0, 2.0, 1.0], [1.0]), 2)[1].round(4).tolist()
    [1.0, 1.0]
    """
    b, a = (coefficients("group_delay", name, c) for name, c in zip("ba", system, strict=True))
    frequencies, back = _frequencies(b, w, whole, fs)
    both = _full_rows(b, flip(conjugate(a), axis=(0,)))
    ramp = concrete_namespace(both).asarray(np.arange(both.shape[0], dtype=float))
    above, below = _polynomial(both * ramp, back), _polynomial(both, back)
    nothing = equal(below, 0.0)
    delay = (above / select(nothing, 1.0, below)).real - (a.shape[0] - 1)
    return frequencies, select(nothing, 0.0, delay)


def sosfreqz(
    sos: Any,
    worN: Any = 512,
    whole: bool = False,
    fs: Any = 2 * math.pi,
) -> tuple[Any, Any]:
    """`freqz` of sections: the product of their responses.

    Shapes: ``sos: (k, 6) -> (n,), (n,)``.
    Dtypes: floating, complex; integers give float64; responses are complex.
    Derivative: by `sos` and the frequencies.
    Raises: ShapeError: `sos` has another shape.
    Source: SciPy reference, ``scipy.signal.sosfreqz``.

    >>> sosfreqz([[1.0, 1.0, 0.0, 1.0, 0.0, 0.0]], worN=2)[1].round(4).tolist()
    [(2+0j), (1-1j)]
    """
    w, h = None, None
    for b, a in _sections("sosfreqz", sos):
        w, response = freqz(b, a, worN, whole, None, fs)
        h = response if h is None else h * response
    if h is None:
        raise ShapeError(f"sosfreqz: there are no sections{where()}")
    return w, h


freqz_sos = sosfreqz
