"""Filters for other bands of frequencies, and analog ones as digital ones."""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import numpy as fnp
from ...core import aval_of
from ...errors import ArgumentError, where
from .._arrays import host_only
from ._vectors import coefficients
from .forms import normalized, scalar, vector


def _zeros_and_poles(name: str, z: Any, p: Any) -> tuple[Any, Any, int]:
    """Both, and how many more poles there are."""
    z, p = vector(name, "z", z), vector(name, "p", p)
    more = p.shape[0] - z.shape[0]
    if more < 0:
        raise ArgumentError(
            f"{name}: {z.shape[0]} zeros and {p.shape[0]} poles; need as many poles{where()}"
        )
    return z, p, more


def _ratio(above: Any, below: Any) -> Any:
    """The real part of ``prod(above) / prod(below)``, without the overflow of one of them."""
    n = min(above.shape[0], below.shape[0])
    parts = [fnp.prod(above[:n] / below[:n]), fnp.prod(above[n:]) / fnp.prod(below[n:])]
    return (parts[0] * parts[1]).real


def _followed(x: Any, count: int, value: Any) -> Any:
    """`x` and `count` times a value more."""
    return fnp.concatenate([x, fnp.broadcast_to(fnp.asarray(value), (count,))]) if count else x


@host_only
def lp2lp_zpk(z: Any, p: Any, k: Any, wo: Any = 1.0) -> tuple[Any, Any, Any]:
    """The analog low-pass filter with the edge 1 as one with the edge `wo`: ``s -> s / wo``.

    Shapes: ``z: (m), p: (l), k, wo: () -> (m), (l), ()``.   Dtypes: real, complex.
    Derivative: by all of them.
    Raises: ArgumentError: more zeros than poles. ShapeError: no vectors.
    Source: SciPy reference, ``scipy.signal.lp2lp_zpk``.

    >>> [x.tolist() for x in lp2lp_zpk([], [-1.0], 1.0, 3.0)]
    [[], [-3.0], 3.0]
    """
    z, p, more = _zeros_and_poles("lp2lp_zpk", z, p)
    wo = scalar("lp2lp_zpk", "wo", wo)
    return wo * z, wo * p, k * wo**more


@host_only
def lp2hp_zpk(z: Any, p: Any, k: Any, wo: Any = 1.0) -> tuple[Any, Any, Any]:
    """The analog low-pass filter with the edge 1 as a high-pass one from `wo`: ``s -> wo / s``.

    Shapes: ``z: (m), p: (l), k, wo: () -> (l), (l), ()``.   Dtypes, Derivative, Raises: as `lp2lp_zpk`.
    Source: SciPy reference, ``scipy.signal.lp2hp_zpk``.

    >>> [x.tolist() for x in lp2hp_zpk([], [-1.0], 1.0, 3.0)]
    [[0.0], [-3.0], 1.0]
    """
    z, p, more = _zeros_and_poles("lp2hp_zpk", z, p)
    wo = scalar("lp2hp_zpk", "wo", wo)
    return _followed(wo / z, more, 0.0), wo / p, k * _ratio(-z, -p)


def _split(x: Any, wo: Any) -> Any:
    """The two places that the change to a band makes of each."""
    x = fnp.astype(x, np.complex128) if aval_of(x).dtype.kind != "c" else x
    root = fnp.sqrt(x * x - wo * wo)
    return fnp.concatenate([x + root, x - root])


@host_only
def lp2bp_zpk(z: Any, p: Any, k: Any, wo: Any = 1.0, bw: Any = 1.0) -> tuple[Any, Any, Any]:
    """The analog low-pass filter with the edge 1 as one that a band passes, of width `bw` around `wo`.

    It is ``s -> (s**2 + wo**2) / (bw s)``.

    Shapes: ``z: (m), p: (l), k, wo, bw: () -> (m + l), (2 l), ()``.   Dtypes, Raises: as `lp2lp_zpk`.
    Derivative: by all of them, where the two places that a zero or a pole becomes differ.
    Source: SciPy reference, ``scipy.signal.lp2bp_zpk``.

    >>> [x.tolist() for x in lp2bp_zpk([], [-1.0], 1.0, 1.0, 2.5)]
    [[0j], [(-0.5+0j), (-2+0j)], 2.5]
    """
    z, p, more = _zeros_and_poles("lp2bp_zpk", z, p)
    wo, bw = scalar("lp2bp_zpk", "wo", wo), scalar("lp2bp_zpk", "bw", bw)
    zeros, poles = (_split(0.5 * bw * x, wo) for x in (z, p))
    return _followed(zeros, more, 0.0), poles, k * bw**more


@host_only
def lp2bs_zpk(z: Any, p: Any, k: Any, wo: Any = 1.0, bw: Any = 1.0) -> tuple[Any, Any, Any]:
    """The analog low-pass filter with the edge 1 as one that stops a band, of width `bw` around `wo`.

    It is ``s -> bw s / (s**2 + wo**2)``.

    Shapes: ``z: (m), p: (l), k, wo, bw: () -> (2 l), (2 l), ()``.
    Dtypes, Derivative, Raises: as `lp2bp_zpk`.
    Source: SciPy reference, ``scipy.signal.lp2bs_zpk``.

    >>> [x.tolist() for x in lp2bs_zpk([], [-1.0], 1.0, 1.0, 2.5)]
    [[1j, -1j], [(-0.5+0j), (-2+0j)], 1.0]
    """
    z, p, more = _zeros_and_poles("lp2bs_zpk", z, p)
    wo, bw = scalar("lp2bs_zpk", "wo", wo), scalar("lp2bs_zpk", "bw", bw)
    zeros, poles = (_split(0.5 * bw / x, wo) for x in (z, p))
    zeros = _followed(_followed(zeros, more, 1j * wo), more, -1j * wo)
    return zeros, poles, k * _ratio(-z, -p)


@host_only
def bilinear_zpk(z: Any, p: Any, k: Any, fs: Any) -> tuple[Any, Any, Any]:
    """An analog filter as a digital one: ``s -> 2 fs (x - 1) / (x + 1)``.

    Shapes: ``z: (m), p: (l), k, fs: () -> (l), (l), ()``.   Dtypes, Derivative, Raises: as `lp2lp_zpk`.
    Source: SciPy reference, ``scipy.signal.bilinear_zpk``.

    >>> [x.tolist() for x in bilinear_zpk([], [-2.0], 2.0, 1.0)]
    [[-1.0], [0.0], 0.5]
    """
    z, p, more = _zeros_and_poles("bilinear_zpk", z, p)
    twice = 2.0 * scalar("bilinear_zpk", "fs", fs)
    zeros, poles = ((twice + x) / (twice - x) for x in (z, p))
    return _followed(zeros, more, -1.0), poles, k * _ratio(twice - z, twice - p)


# ---------------------------------------------------------------- coefficients


def _replaced(name: str, b: Any, a: Any, above: Any, below: Any) -> tuple[Any, Any]:
    """``b / a`` at the quotient of two polynomials instead of the variable."""
    b, a = coefficients(name, "b", b), coefficients(name, "a", a)
    most = max(b.shape[0], a.shape[0]) - 1
    powers = [_powers(x, most) for x in (above, below)]

    def of(c: Any) -> Any:
        found: Any = 0.0
        degree = c.shape[0] - 1
        for i in range(degree + 1):
            term = fnp.convolve(powers[0][degree - i], powers[1][most - degree + i])
            found = fnp.polyadd(found, c[i] * term) if i else c[i] * term
        return found

    return normalized(name, of(b), of(a))


def _powers(x: Any, most: int) -> list[Any]:
    found = [fnp.ones(1)]
    for _ in range(most):
        found.append(fnp.convolve(found[-1], x))
    return found


@host_only
def lp2lp(b: Any, a: Any, wo: Any = 1.0) -> tuple[Any, Any]:
    """`lp2lp_zpk` of coefficients.

    Shapes: ``b: (m), a: (k), wo: () -> (m), (k)``.   Dtypes: real, complex.
    Derivative: by all of them.
    Raises: ShapeError: `b` or `a` is no vector. ArgumentError: `a` is 0.
    Source: SciPy reference, ``scipy.signal.lp2lp``.

    >>> [x.tolist() for x in lp2lp([1.0], [1.0, 1.0], 3.0)]
    [[3.0], [1.0, 3.0]]
    """
    wo = scalar("lp2lp", "wo", wo)
    return _replaced("lp2lp", b, a, fnp.array([1.0, 0.0]), fnp.reshape(wo, (1,)))


@host_only
def lp2hp(b: Any, a: Any, wo: Any = 1.0) -> tuple[Any, Any]:
    """`lp2hp_zpk` of coefficients.

    Shapes, Dtypes, Derivative, Raises: as `lp2lp`.
    Source: SciPy reference, ``scipy.signal.lp2hp``.

    >>> [x.tolist() for x in lp2hp([1.0], [1.0, 1.0], 3.0)]
    [[1.0, 0.0], [1.0, 3.0]]
    """
    wo = scalar("lp2hp", "wo", wo)
    return _replaced("lp2hp", b, a, fnp.reshape(wo, (1,)), fnp.array([1.0, 0.0]))


@host_only
def lp2bp(b: Any, a: Any, wo: Any = 1.0, bw: Any = 1.0) -> tuple[Any, Any]:
    """`lp2bp_zpk` of coefficients.

    Shapes: ``b: (m), a: (k), wo, bw: () -> (m + max(m, k) - 1), (k + max(m, k) - 1)`` or less.
    Dtypes, Derivative, Raises: as `lp2lp`.
    Source: SciPy reference, ``scipy.signal.lp2bp``.

    >>> [x.tolist() for x in lp2bp([1.0], [1.0, 1.0], 1.0, 2.0)]
    [[2.0, 0.0], [1.0, 2.0, 1.0]]
    """
    wo, bw = scalar("lp2bp", "wo", wo), scalar("lp2bp", "bw", bw)
    return _replaced("lp2bp", b, a, fnp.array([1.0, 0.0, wo * wo]), fnp.array([bw, 0.0]))


@host_only
def lp2bs(b: Any, a: Any, wo: Any = 1.0, bw: Any = 1.0) -> tuple[Any, Any]:
    """`lp2bs_zpk` of coefficients.

    Shapes, Dtypes, Derivative, Raises: as `lp2bp`.
    Source: SciPy reference, ``scipy.signal.lp2bs``.

    >>> [x.tolist() for x in lp2bs([1.0], [1.0, 1.0], 1.0, 2.0)]
    [[1.0, 0.0, 1.0], [1.0, 2.0, 1.0]]
    """
    wo, bw = scalar("lp2bs", "wo", wo), scalar("lp2bs", "bw", bw)
    return _replaced("lp2bs", b, a, fnp.array([bw, 0.0]), fnp.array([1.0, 0.0, wo * wo]))


@host_only
def bilinear(b: Any, a: Any, fs: Any = 1.0) -> tuple[Any, Any]:
    """`bilinear_zpk` of coefficients.

    Shapes: ``b: (m), a: (k), fs: () -> (max(m, k)), (max(m, k))``.
    Dtypes, Derivative, Raises: as `lp2lp`.
    Source: SciPy reference, ``scipy.signal.bilinear``.

    >>> [x.tolist() for x in bilinear([2.0], [1.0, 2.0], 1.0)]
    [[0.5, 0.5], [1.0, 0.0]]
    """
    root = fnp.sqrt(2.0 * scalar("bilinear", "fs", fs))
    above, below = fnp.array([1.0, -1.0]) * root, fnp.array([1.0, 1.0]) / root
    return _replaced("bilinear", b, a, above, below)
