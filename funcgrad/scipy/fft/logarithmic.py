"""Hankel's transform of samples that are equally spaced on a logarithmic scale: FFTLog."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np

from ... import numpy as fnp
from ...core import aval_of
from ...errors import ArgumentError, where
from ...indexing import known
from ...numpy._arguments import beside, module_of
from ...ops.beta import poch
from ...ops.gamma import loggamma
from ...ops.select import stop_gradient
from .._arrays import floating
from .fourier import irfft, rfft

_LOG_2 = math.log(2.0)


def _factors(xp: Any, n: int, dln: Any, mu: Any, offset: Any, bias: Any) -> Any:
    """``(k r)^(-2 i y) U(q + 2 i y)`` for ``U(x) = 2^x gamma((mu+1+x) / 2) / gamma((mu+1-x) / 2)`` at
    the frequencies ``y = pi m / (n dln)``.
    """
    high, low = 0.5 * (mu + 1.0 + bias), 0.5 * (mu + 1.0 - bias)
    y = xp.asarray(np.arange(1, n // 2 + 1) * (math.pi / n)) / dln
    ratio = loggamma(high + 1j * y) - loggamma(low - 1j * y)
    found = fnp.exp(ratio + bias * _LOG_2 + 2j * y * (_LOG_2 - offset))
    if n % 2 == 0:  # the last frequency is its own opposite
        found = fnp.concatenate([found[:-1], found[-1:].real])
    first = fnp.exp(bias * _LOG_2) * poch(floating(low, xp), bias)
    return fnp.concatenate([fnp.reshape(first, (1,)), found])


def _transformed(name: str, a: Any, mu: Any, dln: Any, offset: Any, bias: Any, back: bool) -> Any:
    a = floating(a)
    if aval_of(a).dtype.kind == "c" or not a.ndim or not a.shape[-1]:
        raise ArgumentError(f"{name}: needs a row of real numbers, found {aval_of(a)}{where()}")
    n = a.shape[-1]
    steps = beside(a, np.arange(n) - 0.5 * (n - 1)) * dln
    tilt = fnp.exp(bias * (steps + offset)) if back else fnp.exp(-bias * steps)
    factors = _factors(module_of(a), n, dln, mu, offset, bias)
    size = fnp.absolute(factors)
    lost = (size == 0) if back else fnp.isinf(size)
    value = known(lost)
    if value is not None and bool(value.any()):
        warnings.warn(f"{name}: the transform is singular; another bias may help", stacklevel=3)
    factors = fnp.where(lost, 1.0, factors)
    factors = fnp.where(lost, 0.0, fnp.conj(1.0 / factors) if back else factors)
    found = fnp.flip(irfft(rfft(a * tilt) * factors, n), -1)
    tilt = fnp.exp(bias * steps) if back else fnp.exp(-bias * (steps + offset))
    return found * tilt


def fht(a: Any, dln: Any, mu: Any, offset: Any = 0.0, bias: Any = 0.0) -> Any:
    """``A(k) = integral of a(r) J_mu(k r) k dr``, of samples whose logarithms of r are `dln` apart.

    ``k r`` in the middle is ``exp(offset)``. With `bias` q the transform is of ``a(r) (k r)^-q``, and
    its kernel has ``(k r)^q``; `a` is taken to go on periodically.

    Shapes: ``a: (*a, n) -> (*a, n)``, the others numbers.   Dtypes: real; integers give float64.
    Derivative: linear in `a`; by the others once.
    Raises: ArgumentError: `a` is complex or a number.
    Source: Hamilton, Mon. Not. R. Astron. Soc. 312 (2000) 257; SciPy reference, ``scipy.fft.fht``.

    >>> r = np.exp(np.arange(-8.0, 8.0))
    >>> fht(r * np.exp(-(r**2) / 2), 1.0, 0.0)[7:9].round(3).tolist()
    [0.619, 0.119]
    """
    return _transformed("fht", a, mu, dln, offset, bias, False)


def ifht(A: Any, dln: Any, mu: Any, offset: Any = 0.0, bias: Any = 0.0) -> Any:
    """The inverse of `fht`.

    Shapes: ``A: (*a, n) -> (*a, n)``, the others numbers.   Dtypes: real; integers give float64.
    Derivative: linear in `A`; by the others once.
    Raises: as `fht`.
    Source: Hamilton, Mon. Not. R. Astron. Soc. 312 (2000) 257; SciPy reference, ``scipy.fft.ifht``.

    >>> ifht(fht([1.0, 2.0, 4.0], 0.5, 1.0), 0.5, 1.0).round(9).tolist()
    [1.0, 2.0, 4.0]
    """
    return _transformed("ifht", A, mu, dln, offset, bias, True)


def fhtoffset(dln: Any, mu: Any, initial: Any = 0.0, bias: Any = 0.0) -> Any:
    """The offset for `fht` that is nearest to `initial` and with which the last factor is real.

    Shapes: numbers.   Dtypes: real; gives float64.
    Derivative: by `dln`, `mu` and `bias` once, with the choice held; none by `initial`.
    Raises: nothing of its own.
    Source: Hamilton, Mon. Not. R. Astron. Soc. 312 (2000) 257; SciPy reference,
    ``scipy.fft.fhtoffset``.

    >>> float(fhtoffset(0.1, 2.0, 0.5).round(4))
    0.5455
    """
    y = 0.5 * math.pi / dln
    ends = [loggamma(0.5 * (mu + 1.0 + sign * bias) + 1j * y).imag for sign in (1.0, -1.0)]
    whole = (ends[0] + ends[1]) / math.pi + _LOG_2 / dln
    return (whole - fnp.round(stop_gradient(whole - initial / dln))) * dln
