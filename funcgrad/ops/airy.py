"""Airy functions, element by element."""

from __future__ import annotations

import numpy as np  # noqa: F401  (doctests)

from ..algebra import elementwise
from .from_scipy import floating, scipy_function


@elementwise(lambda _y, z: airy_aip(z))
def airy_ai(xp, z, /):
    """The Airy function Ai, the solution of ``w'' = z w`` that vanishes for large `z`.

    Shapes: ``z: (*a) -> (*a)``.   Dtypes: floating, complex; integers give floats.
    Derivative: ``airy_aip(z)``; smooth everywhere.
    Raises: ImportError: SciPy is not installed.
    Source: DLMF 9.2; SciPy reference, ``scipy.special.airy``.

    >>> airy_ai(np.array([0.0, 1.0])).round(4).tolist()
    [0.355, 0.1353]
    """
    return scipy_function(xp, "airy")(floating(xp, z))[0]


@elementwise(lambda _y, z: z * airy_ai(z))
def airy_aip(xp, z, /):
    """The derivative of the Airy function Ai.

    Shapes: ``z: (*a) -> (*a)``.   Dtypes: floating, complex; integers give floats.
    Derivative: ``z airy_ai(z)``; smooth everywhere.
    Raises: ImportError: SciPy is not installed.
    Source: DLMF 9.2; SciPy reference, ``scipy.special.airy``.

    >>> airy_aip(np.array([0.0, 1.0])).round(4).tolist()
    [-0.2588, -0.1591]
    """
    return scipy_function(xp, "airy")(floating(xp, z))[1]


@elementwise(lambda _y, z: airy_bip(z))
def airy_bi(xp, z, /):
    """The Airy function Bi, a solution of ``w'' = z w`` that grows for large `z`.

    Shapes: ``z: (*a) -> (*a)``.   Dtypes: floating, complex; integers give floats.
    Derivative: ``airy_bip(z)``; smooth everywhere.
    Raises: ImportError: SciPy is not installed.
    Source: DLMF 9.2; SciPy reference, ``scipy.special.airy``.

    >>> airy_bi(np.array([0.0, 1.0])).round(4).tolist()
    [0.6149, 1.2074]
    """
    return scipy_function(xp, "airy")(floating(xp, z))[2]


@elementwise(lambda _y, z: z * airy_bi(z))
def airy_bip(xp, z, /):
    """The derivative of the Airy function Bi.

    Shapes: ``z: (*a) -> (*a)``.   Dtypes: floating, complex; integers give floats.
    Derivative: ``z airy_bi(z)``; smooth everywhere.
    Raises: ImportError: SciPy is not installed.
    Source: DLMF 9.2; SciPy reference, ``scipy.special.airy``.

    >>> airy_bip(np.array([0.0, 1.0])).round(4).tolist()
    [0.4483, 0.9324]
    """
    return scipy_function(xp, "airy")(floating(xp, z))[3]
