"""Spherical harmonics: their derivatives are their neighbours of the same degree."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np  # noqa: F401  (doctests)

from ..algebra import elementwise
from ..errors import ArgumentError
from ..errors import where as user_line
from .exponential import exp, sqrt
from .from_scipy import by_nothing, scipy_function, together
from .logic import less
from .select import maximum, where
from .trigonometric import sin


def _integers(xp: ModuleType, what: str, n: Any) -> Any:
    """Raises: ArgumentError: they are none."""
    if hasattr(n, "dtype") and n.dtype.kind in "biu":
        return n.astype(xp.int64)
    if isinstance(n, int):
        return n
    raise ArgumentError(f"sph_harm_y: {what} must be integers, found {n!r}{user_line()}")


def _scipys(xp: ModuleType) -> Any:
    """Raises: ImportError: SciPy is not installed, or older than 1.15."""
    try:
        return scipy_function(xp, "sph_harm_y")
    except ImportError:
        raise ImportError(
            "sph_harm_y needs SciPy 1.15 or newer; install it with 'pip install -U scipy'"
        ) from None


def _by_theta(_y: Any, n: Any, m: Any, theta: Any, phi: Any) -> Any:
    """Half of what raises the order less what lowers it; beyond the poles SciPy goes back."""
    n, m = n * 1, m * 1  # booleans have no difference
    turn = exp(phi * 1j)
    raised = sqrt(maximum((n - m) * (n + m + 1), 0.0)) * sph_harm_y(n, m + 1, theta, phi) / turn
    lowered = sqrt(maximum((n + m) * (n - m + 1), 0.0)) * sph_harm_y(n, m - 1, theta, phi) * turn
    return (raised - lowered) * where(less(sin(theta), 0), -0.5, 0.5)


@elementwise(
    by_nothing("sph_harm_y", "n"),
    by_nothing("sph_harm_y", "m"),
    _by_theta,
    lambda y, _n, m, _theta, _phi: y * m * 1j,
)
def sph_harm_y(xp, n, m, theta, phi, /):
    """The spherical harmonic of degree `n` and order `m`, for `theta` from 0 (the pole) to pi.

    ``sqrt((2n + 1) / (4 pi) (n - m)! / (n + m)!) P_n^m(cos(theta)) exp(i m phi)`` with Legendre's
    functions, which have the sign ``(-1)^m``; 0 where ``|m| > n``.

    Shapes: broadcast.   Dtypes: `n` and `m` integers, the others real; gives complex numbers.
    Derivative: by `phi` ``i m Y_n^m``; by `theta`, with ``a_m = sqrt((n - m) (n + m + 1))``,
    ``(a_m exp(-i phi) Y_n^(m+1) - a_-m exp(i phi) Y_n^(m-1)) / 2``, at the poles from inside;
    smooth inside its domain.
    Raises: ArgumentError: `n` or `m` is no integer, or an angle is complex. MissingRuleError: the
    derivative by `n` or `m`. ImportError: SciPy is not installed, or older than 1.15.
    Source: DLMF 14.30; Edmonds, "Angular momentum in quantum mechanics" (1957), 2.3; SciPy reference,
    ``scipy.special.sph_harm_y``.

    >>> complex(sph_harm_y(1, 1, 1.0, 0.0).round(4))
    (-0.2907+0j)
    """
    n, m = _integers(xp, "n", n), _integers(xp, "m", m)
    theta, phi = together(xp, "sph_harm_y", theta, phi)
    y = _scipys(xp)(n, m, theta, phi)
    return y.astype(xp.result_type(theta.dtype, xp.complex64))
