"""Functions of ``scipy.special`` that give several results or take options: SciPy's signatures."""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np

from ..errors import ArgumentError, where
from ..numpy._arguments import array_of, beside, concrete, fresh, operand
from ..ops import airy as _airy
from ..ops import bessel as _bessel
from ..ops import integrals as _integrals
from ..ops import inverses as _inverses
from ..ops.hypergeometric import jacobi_am, jacobi_cn, jacobi_dn, jacobi_sn
from ..ops.integrals import (
    cosine_integral,
    fresnel_cosine,
    fresnel_sine,
    hyperbolic_cosine_integral,
    hyperbolic_sine_integral,
    sine_integral,
)
from .probabilities import in_double

# ---------------------------------------------------------------- pairs of integrals


def sici(x: Any, /) -> tuple[Any, Any]:
    """The sine integral and the cosine integral of `x`.

    Shapes: ``x: (*a) -> (*a), (*a)``.   Dtypes: floating, complex; integers give floats.
    Derivative: ``sin(x) / x`` and ``cos(x) / x``.   Raises: ArgumentError: `x` is no array.
    Source: DLMF 6.2; SciPy reference, ``scipy.special.sici``.

    >>> [float(y.round(4)) for y in sici(1.0)]
    [0.9461, 0.3374]
    """
    x = operand(x)
    return sine_integral(x), cosine_integral(x)


def shichi(x: Any, /) -> tuple[Any, Any]:
    """The hyperbolic sine integral and the hyperbolic cosine integral of `x`.

    Shapes: ``x: (*a) -> (*a), (*a)``.   Dtypes: floating, complex; integers give floats.
    Derivative: ``sinh(x) / x`` and ``cosh(x) / x``.   Raises: ArgumentError: `x` is no array.
    Source: DLMF 6.2; SciPy reference, ``scipy.special.shichi``.

    >>> [float(y.round(4)) for y in shichi(1.0)]
    [1.0573, 0.8379]
    """
    x = operand(x)
    return hyperbolic_sine_integral(x), hyperbolic_cosine_integral(x)


def fresnel(z: Any, /) -> tuple[Any, Any]:
    """Fresnel's integrals S and C of `z`.

    Shapes: ``z: (*a) -> (*a), (*a)``.   Dtypes: floating, complex; integers give floats.
    Derivative: ``sin(pi / 2 z^2)`` and ``cos(pi / 2 z^2)``.   Raises: ArgumentError: `z` is no array.
    Source: DLMF 7.2; SciPy reference, ``scipy.special.fresnel``.

    >>> [float(y.round(4)) for y in fresnel(1.0)]
    [0.4383, 0.7799]
    """
    z = operand(z)
    return fresnel_sine(z), fresnel_cosine(z)


@in_double
def voigt_profile(x: Any, sigma: Any, gamma: Any, /) -> Any:
    """The density of the sum of a normal variable of deviation `sigma` and a Cauchy variable of
    half-width `gamma`, at `x`.

    Shapes: broadcast.   Dtypes: real; integers give floats.
    Derivative: by all three, accurate for small `sigma` too; by `sigma` it is 0 at sigma = 0.
    Raises: ShapeError: the shapes do not broadcast.
    Source: SciPy reference, ``scipy.special.voigt_profile``.

    >>> float(voigt_profile(0.0, 1.0, 0.0).round(4))
    0.3989
    """
    return _integrals.voigt_profile(x, sigma, gamma)


def lambertw(z: Any, k: Any = 0, tol: float = 1e-8) -> Any:
    """The branch `k`, one integer, of the inverse of ``w exp(w)``: Lambert's W, complex.

    Shapes: ``z: (*a) -> (*a)``.   Dtypes: numbers; gives complex128.
    Derivative: ``1 / (exp(w) (1 + w))``; infinite at -1/e; none by `k`.
    Raises: ArgumentError: `k` is no integer.
    Source: SciPy reference, ``scipy.special.lambertw``.

    >>> complex(lambertw(1.0).round(4))
    (0.5671+0j)
    """
    try:
        branch = operator.index(concrete("lambertw", "k", k))
    except TypeError:
        raise ArgumentError(f"lambertw: k={k!r}; need one integer{where()}") from None
    return _inverses.lambertw(array_of(z), k=branch, tol=float(tol))


# ---------------------------------------------------------------- Bessel functions


def airy(z: Any, /) -> tuple[Any, Any, Any, Any]:
    """The Airy functions and their derivatives: Ai, Ai', Bi, Bi'.

    Shapes: ``z: (*a) -> (*a)``, four times.   Dtypes: floating, complex; integers give floats.
    Derivative: ``Ai'``, ``z Ai``, ``Bi'``, ``z Bi``; smooth everywhere.
    Raises: ArgumentError: `z` is no array.
    Source: DLMF 9.2; SciPy reference, ``scipy.special.airy``.

    >>> [round(float(y), 4) for y in airy(1.0)]
    [0.1353, -0.1591, 1.2074, 0.9324]
    """
    z = operand(z)
    return _airy.airy_ai(z), _airy.airy_aip(z), _airy.airy_bi(z), _airy.airy_bip(z)


def spherical_jn(n: Any, z: Any, derivative: bool = False) -> Any:
    """The spherical Bessel function of the first kind of integer order, or its derivative.

    Shapes: broadcast.   Dtypes: `n` integer, `z` floating, complex; integers give floats.
    Derivative: ``(n f_{n-1} - (n + 1) f_{n+1}) / (2n + 1)`` by `z`; smooth everywhere.
    Raises: ArgumentError: `n` is no integer. ShapeError: the shapes do not broadcast.
    Source: DLMF 10.51.1; SciPy reference, ``scipy.special.spherical_jn``.

    >>> float(spherical_jn(1, 0.0, derivative=True).round(4))
    0.3333
    """
    n, z = operand(n), operand(z)
    return _bessel.spherical_jn_slope(n, z) if derivative else _bessel.spherical_jn(n, z)


def spherical_yn(n: Any, z: Any, derivative: bool = False) -> Any:
    """The spherical Bessel function of the second kind of integer order, or its derivative.

    Shapes: broadcast.   Dtypes: `n` integer, `z` floating, complex; integers give floats.
    Derivative: ``(n f_{n-1} - (n + 1) f_{n+1}) / (2n + 1)`` by `z`; infinite at the pole 0.
    Raises: ArgumentError: `n` is no integer. ShapeError: the shapes do not broadcast.
    Source: DLMF 10.51.1; SciPy reference, ``scipy.special.spherical_yn``.

    >>> float(spherical_yn(0, 1.0).round(4))
    -0.5403
    """
    n, z = operand(n), operand(z)
    return _bessel.spherical_yn_slope(n, z) if derivative else _bessel.spherical_yn(n, z)


def bessel_jn(z: Any, *, v: int, n_iter: int = 50) -> Any:
    """The Bessel functions of the first kind of orders 0, 1, ..., `v`, in front.

    `n_iter` changes nothing.

    Shapes: ``z: (*a) -> (v + 1, *a)``.   Dtypes: floating, complex; integers give float64.
    Derivative: ``(J_(n-1) - J_(n+1)) / 2``; smooth everywhere.
    Raises: ArgumentError: `v` is no integer, or negative.
    Source: DLMF 10.6.1; JAX reference, ``jax.scipy.special.bessel_jn``.

    >>> bessel_jn(1.0, v=1).round(4).tolist()
    [0.7652, 0.4401]
    """
    z = array_of(z)
    orders = np.arange(count_of("bessel_jn", "v", v) + 1)
    return _bessel.jv(beside(z, orders.reshape(-1, *(1,) * z.ndim)), z)


# ---------------------------------------------------------------- Bernoulli's numbers


def count_of(name: str, what: str, n: Any) -> int:
    try:
        found = operator.index(concrete(name, what, n))
    except TypeError:
        raise ArgumentError(f"{name}: {what}={n!r}; need an integer{where()}") from None
    if found < 0:
        raise ArgumentError(f"{name}: {what}={found} is negative{where()}")
    return found


def bernoulli(n: int) -> Any:
    """Bernoulli's numbers ``B_0, ..., B_n`` with ``B_1 = -1/2``.

    They are correctly rounded; from ``B_260`` on they are too large, so infinite.

    Shapes: ``-> (n + 1,)``.   Dtypes: float64.   Derivative: none, it has no operands.
    Raises: ArgumentError: `n` is no integer, or negative.
    Source: Brent & Harvey, "Fast computation of Bernoulli, tangent and secant numbers" (2011); SciPy
    reference, ``scipy.special.bernoulli``.

    >>> bernoulli(4).round(4).tolist()
    [1.0, -0.5, 0.1667, 0.0, -0.0333]
    """
    n = count_of("bernoulli", "n", n)
    half = min(n, _LARGEST) // 2
    tangents = [math.factorial(k) for k in range(half)]
    for k in range(1, half):
        for j in range(k, half):
            tangents[j] = (j - k) * tangents[j - 1] + (j - k + 2) * tangents[j]
    numbers = np.zeros(max(n + 1, 2))
    numbers[:2] = 1.0, -0.5
    for k, tangent in enumerate(tangents, 1):
        numbers[2 * k] = (-1) ** (k + 1) * (2 * k * tangent) / (4**k * (4**k - 1))
    large = np.arange(_LARGEST + 2, n + 1, 2)
    numbers[large] = np.where(large % 4, np.inf, -np.inf)
    return fresh(numbers[: n + 1])


_LARGEST = 258  # the last number that is not infinite


# ---------------------------------------------------------------- elliptic functions


def ellipj(u: Any, m: Any, /) -> tuple[Any, Any, Any, Any]:
    """Jacobi's elliptic functions ``sn``, ``cn`` and ``dn``, and the amplitude; 0 <= m <= 1.

    Shapes: broadcast.   Dtypes: floating; integers give floats.
    Derivative: ``cn dn``, ``-sn dn``, ``-m sn cn`` and ``dn`` by `u`; by `m` from that of `ellipkinc`.
    Raises: ShapeError: the shapes do not broadcast.
    Source: DLMF 22.13; SciPy reference, ``scipy.special.ellipj``.

    >>> [round(float(y), 4) for y in ellipj(1.0, 0.5)]
    [0.803, 0.596, 0.8232, 0.9323]
    """
    u, m = operand(u), operand(m)
    return jacobi_sn(u, m), jacobi_cn(u, m), jacobi_dn(u, m), jacobi_am(u, m)
