"""Filters as coefficients, as zeros, poles and a gain, and as sections of second order."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ... import numpy as fnp
from ...core import Aval, aval_of
from ...errors import ArgumentError, ShapeError, where
from ...indexing import known
from ...ops.select import stop_gradient
from .._arrays import floating, host_only
from .._programs import on_host
from ._vectors import coefficients, padded, require_leading

_ROUNDED = 100 * np.finfo(float).eps


def vector(name: str, what: str, x: Any) -> Any:
    """Zeros or poles: a vector, which may be empty."""
    x = fnp.atleast_1d(floating(x))
    if x.ndim != 1:
        raise ShapeError(f"{name}: {what} is {aval_of(x)}; need a vector{where()}")
    return x


def scalar(name: str, what: str, x: Any) -> Any:
    """A real number, also one in a vector of its own."""
    x = floating(x)
    if aval_of(x).size != 1 or aval_of(x).dtype.kind == "c":
        raise ShapeError(f"{name}: {what} is {aval_of(x)}; need a real number{where()}")
    return fnp.reshape(x, ())


def normalized(name: str, b: Any, a: Any) -> tuple[Any, Any]:
    """Without leading zeros, as far as these are known, and divided by the first of `a`.

    Of rows of `b` those that all have.
    """
    b = floating(b)
    b = b if b.ndim == 2 and b.size else coefficients(name, "b", b)
    a = coefficients(name, "a", a)
    a = a[_leading_zeros(a, 0.0) :]
    require_leading(name, a)
    b, a = b / a[0], a / a[0]
    return b[..., _leading_zeros(b, 1e-14) :], a


def _leading_zeros(x: Any, tolerance: float) -> int:
    value = known(x)
    if value is None:
        return 0
    found = abs(value) > tolerance
    found = found.any(axis=0) if found.ndim == 2 else found
    return int(found.argmax()) if bool(found.any()) else x.shape[-1] - 1


@host_only
def normalize(b: Any, a: Any) -> tuple[Any, Any]:
    """The coefficients of ``b / a`` without leading zeros, divided by the first of `a`.

    Of `b` numbers up to 1e-14 count as 0. Zeros that are not known stay.

    Shapes: ``b: (m) or (q, m), a: (k) -> (<= m) or (q, <= m), (<= k)``.
    Dtypes: floating, complex; integers give float64.
    Derivative: by both.
    Raises: ShapeError: `a` is no vector, or `b` neither that nor rows. ArgumentError: `a` is 0.
    Source: SciPy reference, ``scipy.signal.normalize``.

    >>> [x.tolist() for x in normalize([0.0, 2.0], [0.0, 4.0, 1.0])]
    [[0.5], [1.0, 0.25]]
    """
    return normalized("normalize", b, a)


def _polynomial(roots: Any) -> Any:
    """With real coefficients if those of complex roots are real to rounding, as those of pairs are."""
    p = fnp.poly(roots)
    if aval_of(p).dtype.kind != "c":
        return p
    sizes = stop_gradient(fnp.absolute(p.imag)), stop_gradient(fnp.absolute(p))
    real = fnp.max(sizes[0]) <= 1e-12 * fnp.sum(sizes[1])
    value = known(real)
    if value is None:
        return fnp.where(real, p.real, math.nan)
    return p.real if value else p


@host_only
def zpk2tf(z: Any, p: Any, k: Any) -> tuple[Any, Any]:
    """The coefficients of ``k prod(x - z) / prod(x - p)``, the highest power first.

    They are real if complex zeros and poles come in conjugate pairs; where the values are not known,
    as in a program, they have to: else nan.

    Shapes: ``z: (m), p: (l), k: () -> (m + 1), (l + 1)``.   Dtypes: real, complex.
    Derivative: by all of them.
    Raises: ShapeError: `z` or `p` is no vector, `k` no number.
    Source: SciPy reference, ``scipy.signal.zpk2tf``.

    >>> [x.tolist() for x in zpk2tf([1j, -1j], [0.5], 2.0)]
    [[2.0, 0.0, 2.0], [1.0, -0.5]]
    """
    z, p = vector("zpk2tf", "z", z), vector("zpk2tf", "p", p)
    return scalar("zpk2tf", "k", k) * _polynomial(z), _polynomial(p)


@host_only
def tf2zpk(b: Any, a: Any) -> tuple[Any, Any, Any]:
    """The zeros, poles and gain of the filter ``b / a``.

    Shapes: ``b: (m), a: (k) -> (m - 1), (k - 1), ()``, less leading zeros.
    Dtypes: gives complex ones.
    Derivative: smooth where zeros and poles are simple.
    Raises: ShapeError: `b` or `a` is no vector. ArgumentError: `a` is 0. LinAlgError: a first
    coefficient, which was not known, is 0.
    Source: SciPy reference, ``scipy.signal.tf2zpk``.

    >>> z, p, k = tf2zpk([2.0, -1.0], [1.0, 0.5])
    >>> z.real.tolist(), p.real.tolist(), float(k)
    ([0.5], [-0.5], 2.0)
    """
    b, a = normalized("tf2zpk", b, a)
    z, p = (fnp.roots(x, strip_zeros=False) for x in (b, a))
    return z, p, b[0]


@host_only
def tf2sos(b: Any, a: Any, pairing: Any = None, *, analog: bool = False) -> Any:
    """Sections of second order of the filter ``b / a``.

    Shapes: ``b: (m), a: (k) -> (n, 6)``.   Dtypes: real.
    Derivative: smooth where zeros and poles are simple.
    Raises: as `tf2zpk` and `zpk2sos`.
    Source: SciPy reference, ``scipy.signal.tf2sos``.

    >>> tf2sos([1.0, 0.5], [1.0, -0.5]).tolist()
    [[1.0, 0.5, 0.0, 1.0, -0.5, 0.0]]
    """
    return zpk2sos(*tf2zpk(b, a), pairing=pairing, analog=analog)


@host_only
def sos2tf(sos: Any) -> tuple[Any, Any]:
    """The coefficients of a filter given by sections: the products of theirs, without leading zeros.

    Shapes: ``(n, 6) -> (2 n + 1), (2 n + 1)``, less leading zeros, as far as they are known.
      Dtypes: floating, complex; integers give float64.
    Derivative: of products.
    Raises: ShapeError: another shape.
    Source: SciPy reference, ``scipy.signal.sos2tf``.

    >>> [x.tolist() for x in sos2tf([[1.0, 2.0, 0.0, 1.0, 0.5, 0.0]])]
    [[1.0, 2.0, 0.0], [1.0, 0.5, 0.0]]
    """
    sos = _sections_of("sos2tf", sos)
    b = a = fnp.ones(1, dtype=sos.dtype)
    for k in range(sos.shape[0]):
        b, a = fnp.convolve(b, sos[k, :3]), fnp.convolve(a, sos[k, 3:])
    return b[_leading_zeros(b, 0.0) :], a[_leading_zeros(a, 0.0) :]


@host_only
def sos2zpk(sos: Any) -> tuple[Any, Any, Any]:
    """The zeros, poles and gain of a filter given by sections; 0 where a section has less than two.

    Shapes: ``(n, 6) -> (2 n), (2 n), ()``.   Dtypes: gives complex ones.
    Derivative: smooth where those of a section are simple.
    Raises: ShapeError: another shape.
    Source: SciPy reference, ``scipy.signal.sos2zpk``.

    >>> z, p, k = sos2zpk([[2.0, -1.0, 0.0, 1.0, 0.5, 0.0]])
    >>> sorted(z.real.tolist()), sorted(p.real.tolist()), float(k)
    ([0.0, 0.5], [-0.5, 0.0], 2.0)
    """
    sos = _sections_of("sos2zpk", sos)
    z, p, k = [], [], fnp.ones(())
    for row in sos:
        zeros, poles, gain = tf2zpk(row[:3], row[3:])
        z.append(padded(zeros, 0, 2 - zeros.shape[0]))
        p.append(padded(poles, 0, 2 - poles.shape[0]))
        k = k * gain
    return fnp.concatenate(z), fnp.concatenate(p), k


def _sections_of(name: str, sos: Any) -> Any:
    sos = floating(sos)
    if sos.ndim != 2 or sos.shape[1] != 6 or not sos.shape[0]:
        raise ShapeError(f"{name}: sos is {aval_of(sos)}; need the shape [n, 6]{where()}")
    return sos


# ---------------------------------------------------------------- sections


@host_only
def zpk2sos(z: Any, p: Any, k: Any, pairing: Any = None, *, analog: bool = False) -> Any:
    """Sections of second order ``(b_0, b_1, b_2, 1, a_1, a_2)`` of a filter given by zeros and poles.

    The poles that are nearest to the unit circle come last, each with the zeros that are nearest to it.
    `pairing`: "nearest" (zeros and poles at 0 are added), "keep_odd" or "minimal" (none are).

    Shapes: ``z: (m), p: (l), k: () -> (n, 6)``.   Dtypes: gives real ones.
    Derivative: by all of them; which zero goes with which pole is a constant.
    Raises: ArgumentError: no such `pairing`, one that does not go with `analog`, more zeros than poles,
    or complex ones that come in no conjugate pairs. ShapeError: `z` or `p` is no vector.
    Source: SciPy reference, ``scipy.signal.zpk2sos``.

    >>> zpk2sos([-1.0, -1.0], [0.5 + 0.5j, 0.5 - 0.5j], 2.0).tolist()
    [[2.0, 4.0, 2.0, 1.0, -1.0, 0.5]]
    """
    z, p, k = vector("zpk2sos", "z", z), vector("zpk2sos", "p", p), scalar("zpk2sos", "k", k)
    pairing = ("minimal" if analog else "nearest") if pairing is None else pairing
    if pairing not in ("nearest", "keep_odd", "minimal") or (analog and pairing != "minimal"):
        raise ArgumentError(
            f"zpk2sos: pairing={pairing!r}; need 'nearest', 'keep_odd' or 'minimal', and 'minimal' for "
            f"an analog filter{where()}"
        )
    m, n = z.shape[0], p.shape[0]
    size = n if pairing == "minimal" else max(m, n)
    if size < m:
        raise ArgumentError(f"zpk2sos: {m} zeros and {n} poles; need as many poles{where()}")
    if not size:
        row = [0.0, 0.0, k, 0.0, 0.0, 1.0] if analog else [k, 0.0, 0.0, 1.0, 0.0, 0.0]
        return fnp.array([row])
    count, odd = (size + 1) // 2, size % 2
    if pairing != "minimal":
        z, p = padded(z, 0, size + odd - m), padded(p, 0, size + odd - n)
    spare = size if odd and pairing == "keep_odd" else None

    def placed(z: Any, p: Any) -> list[Any]:
        return list(_paired(np.asarray(z), np.asarray(p), count, analog, spare))

    types = [Aval((count, 2), np.dtype(np.int64))] * 2
    rows = zip((z, p), on_host("zpk2sos", placed, (z, p), types), strict=True)
    b, a = (_quadratics(x, places) for x, places in rows)
    gain = fnp.where(np.arange(count) == 0, k, 1.0)
    return fnp.concatenate([gain[:, None] * b, a], axis=1)


def _quadratics(roots: Any, places: Any) -> Any:
    """The real coefficients of polynomials with the roots at two places; at -1 there is none."""
    missing = places < 0
    if not roots.shape[0]:
        return fnp.broadcast_to(np.array([0.0, 0.0, 1.0]), (places.shape[0], 3))
    r = fnp.take(roots, fnp.where(missing, 0, places), axis=0)
    one, two = r[:, 0], r[:, 1]
    rows = fnp.stack([fnp.ones_like(one), -(one + two), one * two], axis=1).real
    single = fnp.stack([fnp.zeros_like(one), fnp.ones_like(one), -one], axis=1).real
    rows = fnp.where(missing[:, 1:], single, rows)
    return fnp.where(missing[:, :1], np.array([0.0, 0.0, 1.0]), rows)


class _Roots:
    """What is left of zeros or poles: one place of each conjugate pair, and those of real ones."""

    def __init__(self, values: np.ndarray) -> None:
        self.values = values = values.astype(complex)
        order = np.lexsort((np.abs(values.imag), values.real))
        flat = np.abs(values.imag) <= _ROUNDED * np.abs(values)
        self.real = [int(i) for i in order if flat[i]]
        self.pairs: dict[int, int] = {}
        below = [int(i) for i in order if not flat[i] and values[i].imag < 0]
        for i in (int(i) for i in order if not flat[i] and values[i].imag > 0):
            gaps = [abs(values[j] - values[i].conjugate()) for j in below]
            best = int(np.argmin(gaps)) if gaps else 0
            if not gaps or gaps[best] > 1e-6 * abs(values[i]):
                below = [-1]
                break
            self.pairs[i] = below.pop(best)
        if below:
            raise ArgumentError(
                f"zpk2sos: complex zeros and poles must come in conjugate pairs{where()}"
            )

    @property
    def kinds(self) -> int:
        """How many are left, conjugate pairs counted once."""
        return len(self.real) + len(self.pairs)

    def nearest(self, to: complex, among: list[int]) -> int:
        return among[int(np.argmin(np.abs(self.values[among] - to)))]

    def take(self, i: int) -> list[int]:
        if i in self.pairs:
            return [i, self.pairs.pop(i)]
        self.real.remove(i)
        return [i]


def _paired(
    z: np.ndarray, p: np.ndarray, count: int, analog: bool, spare: int | None
) -> tuple[np.ndarray, np.ndarray]:
    """The places of the zeros and of the poles of each section, -1 where there is none.

    A section of first order has a zero and a pole at 0 more, at the place `spare`, unless that is None.
    """
    zeros, poles = _Roots(z[:spare]), _Roots(p[:spare])
    found = np.full((2, count, 2), -1, np.int64)

    def worst(among: list[int]) -> int:
        v = poles.values[among]
        return among[int(np.argmin(np.abs(v.real) if analog else np.abs(1.0 - np.abs(v))))]

    for row in range(count - 1, -1, -1):
        first = worst([*poles.pairs, *poles.real])
        at = complex(poles.values[first])
        taken = poles.take(first)
        is_pair, chosen = len(taken) == 2, list[int]()
        if not is_pair and not poles.real:
            chosen = zeros.take(zeros.nearest(at, zeros.real)) if zeros.real else []
            if spare is not None:
                chosen, taken = [*chosen, spare], [*taken, spare]
        elif is_pair and len(poles.real) == len(zeros.real) == 1 and poles.kinds + 1 == zeros.kinds:
            chosen = zeros.take(zeros.nearest(at, list(zeros.pairs)))
        else:
            taken = taken if is_pair else taken + poles.take(worst(poles.real))
            if zeros.kinds:
                chosen = zeros.take(zeros.nearest(at, [*zeros.pairs, *zeros.real]))
            if len(chosen) == 1 and zeros.real:
                chosen += zeros.take(zeros.nearest(at, zeros.real))
        found[0, row, : len(chosen)], found[1, row, : len(taken)] = chosen, taken
    if zeros.kinds:
        raise ArgumentError(f"zpk2sos: the zeros cannot be paired with the poles{where()}")
    return found[0], found[1]
