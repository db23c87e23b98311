"""What linear systems answer to inputs over time and to frequencies."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ... import numpy as fnp
from ...core import aval_of
from ...errors import ArgumentError, ShapeError, where
from ...indexing import known
from ...numpy._arguments import concrete
from ...numpy.polynomial.polynomial import polyvalfromroots
from ...ops.select import stop_gradient
from ...transforms.loops import scan
from .._arrays import floating, host_only
from ..linalg import expm, solve
from .systems import matrices_of, parts_of

# ---------------------------------------------------------------- over time


def _states(step: Any, start: Any, drives: Any, count: int) -> Any:
    """``x[i + 1] = x[i] step + drives[i]`` from ``x[0] = start``, as rows."""
    kinds = [aval_of(x).dtype for x in (step, start, *([] if drives is None else [drives]))]
    start = start.astype(np.result_type(*kinds))

    def to_next(x: Any, drive: Any) -> tuple[Any, Any]:
        x = x @ step if drive is None else x @ step + drive
        return x, x

    if count == 1:
        return start[None]
    _, later = scan(to_next, start, drives, length=count - 1)
    return fnp.concatenate([start[None], later])


@host_only
def lsim(system: Any, U: Any, T: Any, X0: Any = None, interp: bool = True) -> tuple[Any, Any, Any]:
    """Times, outputs and states of ``x' = A x + B u, y = C x + D u`` from `X0` at time 0.

    `system`: ``(num, den)``, ``(z, p, k)`` or ``(A, B, C, D)``. `U`: the inputs at the times `T`, which
    are equally spaced, as their first two say; straight lines lie between them, or with `interp` False
    each lasts until the next; None or 0: none. Before the first time there is no input.

    Shapes: ``U: (t) or (t, p), T: (t) -> (t), (t, q), (t, n)``, less axes of one element.
    Dtypes: floating, complex; integers give float64.
    Derivative: linear in `U` and `X0`; by the system and the times.
    Raises: ArgumentError: times that are negative or not equally spaced, another kind of system.
    ShapeError: the shapes do not fit.
    Source: SciPy reference, ``scipy.signal.lsim``.

    >>> t, y, x = lsim(([1.0], [1.0, 1.0]), np.ones(3), [0.0, 1.0, 2.0])
    >>> y.round(4).tolist()
    [0.0, 0.6321, 0.8647]
    """
    A, B, C, D = matrices_of(parts_of("lsim", system)[0])
    (n, p), T = B.shape, fnp.atleast_1d(floating(T))
    if T.ndim != 1 or not T.shape[0]:
        raise ShapeError(f"lsim: T is {aval_of(T)}; need a row of times{where()}")
    count, value = T.shape[0], known(T)
    if value is not None:
        gaps = np.diff(np.asarray(value))
        if value[0] < 0 or (count > 1 and not np.allclose(gaps, gaps[0])):
            raise ArgumentError(f"lsim: T must be equally spaced from 0 or later on{where()}")
    start = np.zeros(n) if X0 is None else floating(X0)
    if start.shape != (n,):
        raise ShapeError(f"lsim: X0 is {aval_of(start)}; the system has {n} states{where()}")
    start = start @ expm(A.T * T[0])
    dt = T[1] - T[0] if count > 1 else 0.0
    if U is None or (isinstance(U, int | float) and U == 0):
        x = _states(expm(A.T * dt), start, None, count)
        return T, fnp.squeeze(x @ C.T), fnp.squeeze(x)
    U = fnp.atleast_1d(floating(U))
    U = U[:, None] if U.ndim == 1 else U
    if U.shape != (count, p):
        raise ShapeError(
            f"lsim: U has shape {list(U.shape)}; need {[count, p]} for the times and inputs{where()}"
        )
    lines = p if interp else 0
    top = fnp.pad(fnp.concatenate([A * dt, B * dt], axis=1), ((0, 0), (0, lines)))
    rest = np.pad(np.eye(lines), ((0, p), (n + p, 0)))
    grown = expm(fnp.concatenate([top, rest]).T)
    step, last = grown[:n, :n], grown[n + lines :, :n]
    drives = U[:-1] @ last
    if interp:
        drives = U[:-1] @ (grown[n : n + p, :n] - last) + U[1:] @ last
    x = _states(step, start, drives, count)
    return T, fnp.squeeze(x @ C.T) + fnp.squeeze(U @ D.T), fnp.squeeze(x)


def _times(A: Any, T: Any, N: int | None) -> Any:
    """`T`, or times up to seven of the slowest decay, which are constants to derivatives."""
    if T is not None:
        return floating(T)
    slowest = fnp.min(fnp.absolute(fnp.linalg.eigvals(stop_gradient(A)).real))
    slowest = fnp.where(slowest == 0, 1.0, slowest)
    return np.linspace(0.0, 7.0, 100 if N is None else N) / slowest


@host_only
def impulse(system: Any, X0: Any = None, T: Any = None, N: int | None = None) -> tuple[Any, Any]:
    """Times, and the answer of a system with one input to an impulse at time 0.

    `T`: the times; if it is not given, `N` (100) up to seven of the slowest decay, as constants.

    Shapes: ``T: (t) -> (t), (t, q)``, less axes of one element.   Dtypes: as `lsim`.
    Derivative: by the system, `X0` and `T`.
    Raises: as `lsim`. ShapeError: there are several inputs.
    Source: SciPy reference, ``scipy.signal.impulse``.

    >>> impulse(([1.0], [1.0, 1.0]), T=[0.0, 1.0])[1].round(4).tolist()
    [1.0, 0.3679]
    """
    A, B, C, D = matrices_of(parts_of("impulse", system)[0])
    if B.shape[1] != 1:
        raise ShapeError(f"impulse: the system has {B.shape[1]} inputs; need one{where()}")
    start = B[:, 0] if X0 is None else B[:, 0] + fnp.ravel(floating(X0))
    return lsim((A, B, C, D), None, _times(A, T, N), start)[:2]


@host_only
def step(system: Any, X0: Any = None, T: Any = None, N: int | None = None) -> tuple[Any, Any]:
    """Times, and the answer of a system with one input to an input that is 1 from time 0 on.

    `T`: the times; if it is not given, `N` (100) up to seven of the slowest decay, as constants.

    Shapes: ``T: (t) -> (t), (t, q)``, less axes of one element.   Dtypes: as `lsim`.
    Derivative: by the system, `X0` and `T`.
    Raises: as `lsim`. ShapeError: there are several inputs.
    Source: SciPy reference, ``scipy.signal.step``.

    >>> step(([1.0], [1.0, 1.0]), T=[0.0, 1.0])[1].round(4).tolist()
    [0.0, 0.6321]
    """
    parts = matrices_of(parts_of("step", system)[0])
    T = _times(parts[0], T, N)
    return lsim(parts, np.ones(T.shape), T, X0, interp=False)[:2]


@host_only
def dlsim(system: Any, u: Any, t: Any = None, x0: Any = None) -> tuple[Any, ...]:
    """Times, outputs and, of ``(A, B, C, D, dt)``, states of ``x[i + 1] = A x[i] + B u[i]``.

    `system`: ``(num, den, dt)``, ``(z, p, k, dt)`` or ``(A, B, C, D, dt)``. `t`: the times of `u`,
    between which straight lines lie; if they are not given, those of the samples.

    Shapes: ``u: (t) or (t, p) -> (s), (s, q), (s, n)``.   Dtypes: floating, complex; integers give
    float64.
    Derivative: linear in `u` and `x0`; by the system; none by `t` and `dt`.
    Raises: ConcretizationError: `t` or `dt` is not known. ArgumentError: another kind of system.
    ShapeError: the shapes do not fit.
    Source: SciPy reference, ``scipy.signal.dlsim``.

    >>> dlsim(([[0.5]], [[1.0]], [[1.0]], [[0.0]], 1.0), np.ones(3))[1].ravel().tolist()
    [0.0, 1.0, 1.5]
    """
    parts, dt = parts_of("dlsim", system, discrete=True)
    A, B, C, D = matrices_of(parts)
    u, dt = fnp.atleast_1d(floating(u)), float(concrete("signal.dlsim", "dt", dt))
    u = u[:, None] if u.ndim == 1 else u
    if t is None:
        count = u.shape[0]
        times = np.linspace(0.0, (count - 1) * dt, count)
    else:
        t = np.asarray(concrete("signal.dlsim", "t", t), float)
        times = np.linspace(0.0, t[-1], int(np.floor(t[-1] / dt)) + 1)
        if u.shape[:1] != t.shape:
            raise ShapeError(f"dlsim: u is {aval_of(u)} at {t.size} times{where()}")
        u = fnp.stack([fnp.interp(times, t, column) for column in u.T], axis=1)
    if u.ndim != 2 or u.shape[1] != B.shape[1]:
        raise ShapeError(f"dlsim: u is {aval_of(u)}; the system has {B.shape[1]} inputs{where()}")
    start = fnp.broadcast_to(0.0 if x0 is None else floating(x0), A.shape[:1])
    x = _states(A.T, start, u[:-1] @ B.T, times.size)
    y = x @ C.T + u @ D.T
    return (times, y, x) if len(parts) == 4 else (times, y)


def _each_input(name: str, system: Any, x0: Any, t: Any, n: int | None, lasts: bool) -> Any:
    parts, dt = parts_of(name, system, discrete=True)
    system = (*matrices_of(parts), dt)
    if t is None:
        count = 100 if n is None else n
        t = np.arange(count) * float(concrete(f"signal.{name}", "dt", dt))
    t = np.asarray(concrete(f"signal.{name}", "t", t), float)
    outputs = []
    for i in range(system[1].shape[1]):
        u = np.zeros((t.size, system[1].shape[1]))
        u[: t.size if lasts else 1, i] = 1.0
        times, y, _ = dlsim(system, u, t, x0)
        outputs.append(y)
    return times, tuple(outputs)


@host_only
def dimpulse(
    system: Any, x0: Any = None, t: Any = None, n: int | None = None
) -> tuple[Any, tuple[Any, ...]]:
    """Times, and for each input the outputs after it was 1 at time 0.

    `t`: the times; if they are not given, `n` (100) samples.

    Shapes: ``-> (s), p times (s, q)``.   Dtypes: as `dlsim`.
    Derivative: by the system and `x0`.
    Raises: as `dlsim`.
    Source: SciPy reference, ``scipy.signal.dimpulse``.

    >>> dimpulse(([1.0], [1.0, -0.5], 1.0), n=3)[1][0].ravel().tolist()
    [0.0, 1.0, 0.5]
    """
    return _each_input("dimpulse", system, x0, t, n, lasts=False)


@host_only
def dstep(
    system: Any, x0: Any = None, t: Any = None, n: int | None = None
) -> tuple[Any, tuple[Any, ...]]:
    """Times, and for each input the outputs while it is 1 from time 0 on.

    `t`: the times; if they are not given, `n` (100) samples.

    Shapes: ``-> (s), p times (s, q)``.   Dtypes: as `dlsim`.
    Derivative: by the system and `x0`.
    Raises: as `dlsim`.
    Source: SciPy reference, ``scipy.signal.dstep``.

    >>> dstep(([1.0], [1.0, -0.5], 1.0), n=3)[1][0].ravel().tolist()
    [0.0, 1.0, 1.5]
    """
    return _each_input("dstep", system, x0, t, n, lasts=True)


# ---------------------------------------------------------------- over frequencies


def _at(name: str, parts: tuple[Any, ...], s: Any) -> Any:
    """The transfer function of a system with one input and one output, at complex numbers."""
    if len(parts) == 2:
        num, den = (fnp.ravel(floating(x)) for x in parts)
        return fnp.polyval(num, s) / fnp.polyval(den, s)
    if len(parts) == 3:
        z, p, k = parts
        values = [polyvalfromroots(s, floating(x)) for x in (z, p)]
        return k * values[0] / values[1]
    A, B, C, D = matrices_of(parts)
    if D.shape != (1, 1):
        raise ShapeError(f"{name}: the system has several inputs or outputs; need one{where()}")
    inside = s[:, None, None] * np.eye(A.shape[0]) - A
    states = solve(inside, fnp.broadcast_to(B, (s.shape[0], *B.shape)))
    return (C @ states)[:, 0, 0] + D[0, 0]


@host_only
def freqresp(system: Any, w: Any = None, n: int = 10000) -> tuple[Any, Any]:
    """Angular frequencies, and the transfer function of a system at ``i w``.

    `system`: ``(num, den)``, ``(z, p, k)`` or ``(A, B, C, D)``, with one input and one output. How many
    frequencies SciPy would choose is not supported: `w` is needed.

    Shapes: ``w: (t) -> (t), (t)``.   Dtypes: gives complex responses.
    Derivative: by the system and `w`.
    Raises: ArgumentError: `w` is not given, another kind of system. ShapeError: several inputs, ...
    Source: SciPy reference, ``scipy.signal.freqresp``.

    >>> freqresp(([1.0], [1.0, 1.0]), [0.0, 1.0])[1].tolist()
    [(1+0j), (0.5-0.5j)]
    """
    parts, _ = parts_of("freqresp", system)
    if w is None:
        raise ArgumentError(f"freqresp: w=None; need the frequencies, as an array{where()}")
    w = fnp.atleast_1d(floating(w))
    return w, _at("freqresp", parts, 1j * w)


def _decibels(h: Any) -> tuple[Any, Any]:
    return 20.0 * fnp.log10(fnp.absolute(h)), fnp.unwrap(fnp.angle(h)) * (180.0 / math.pi)


@host_only
def bode(system: Any, w: Any = None, n: int = 100) -> tuple[Any, Any, Any]:
    """Angular frequencies, and of `freqresp` there the size in decibels and the phase in degrees.

    Shapes: ``w: (t) -> (t), (t), (t)``.   Dtypes: real.
    Derivative: by the system and `w`, where the response is not 0.
    Raises: as `freqresp`.
    Source: SciPy reference, ``scipy.signal.bode``.

    >>> [x.round(4).tolist() for x in bode(([1.0], [1.0, 1.0]), [1.0])]
    [[1.0], [-3.0103], [-45.0]]
    """
    w, h = freqresp(system, w, n)
    return (w, *_decibels(h))


@host_only
def dfreqresp(system: Any, w: Any = None, n: int = 10000, whole: bool = False) -> tuple[Any, Any]:
    """Frequencies in radians a sample, and the transfer function of a discrete system at ``exp(i w)``.

    `system`: ``(num, den, dt)``, ``(z, p, k, dt)`` or ``(A, B, C, D, dt)``, with one input and one
    output. If `w` is not given, `n` frequencies from 0 to before pi, or 2 pi if `whole`.

    Shapes: ``w: (t) -> (t), (t)``.   Dtypes: gives complex responses.
    Derivative: by the system and `w`.
    Raises: ArgumentError: another kind of system. ShapeError: several inputs or outputs.
    Source: SciPy reference, ``scipy.signal.dfreqresp``.

    >>> dfreqresp(([1.0], [1.0, -0.5], 1.0), [0.0])[1].tolist()
    [(2+0j)]
    """
    parts, _ = parts_of("dfreqresp", system, discrete=True)
    if w is None:
        w = np.linspace(0.0, 2 * math.pi if whole else math.pi, n, endpoint=False)
    w = fnp.atleast_1d(floating(w))
    return w, _at("dfreqresp", parts, fnp.exp(1j * w))


@host_only
def dbode(system: Any, w: Any = None, n: int = 100) -> tuple[Any, Any, Any]:
    """Angular frequencies, and of `dfreqresp` there the size in decibels and the phase in degrees.

    `w` is in radians a sample, what is returned in radians a unit of time.

    Shapes: ``w: (t) -> (t), (t), (t)``.   Dtypes: real.
    Derivative: by the system and `w`, where the response is not 0.
    Raises: as `dfreqresp`.
    Source: SciPy reference, ``scipy.signal.dbode``.

    >>> [x.round(4).tolist() for x in dbode(([1.0], [1.0, -0.5], 1.0), [0.0])]
    [[0.0], [6.0206], [0.0]]
    """
    dt = parts_of("dbode", system, discrete=True)[1]
    w, h = dfreqresp(system, w, n)
    return (w / dt, *_decibels(h))
