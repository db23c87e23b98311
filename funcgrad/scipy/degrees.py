"""Functions of angles in degrees, exact at their multiples of 90."""

from __future__ import annotations

import math
from typing import Any

import numpy as np  # noqa: F401  (doctests)

from ..ops.arithmetic import fmod
from ..ops.logic import equal, less
from ..ops.rounding import rint
from ..ops.select import where
from ..ops.trigonometric import cos, sin, tan
from .probabilities import in_one_dtype

_RADIANS = math.pi / 180.0


def _quarters(x: Any) -> tuple[Any, Any, Any]:
    """The nearest multiple of 90 degrees, as a number from 0 to 3; radians from there, and to there."""
    (x,) = in_one_dtype(x)
    x = fmod(x, 360.0)
    k = rint(x * (1.0 / 90.0))
    past, to = x - k * 90.0, k * 90.0 - x  # both exact; apart for the sign of 0
    k = where(less(k, 0), k + 4.0, k)
    return where(equal(k, 4), 0.0, k), past * _RADIANS, to * _RADIANS


def sindg(x: Any, /) -> Any:
    """``sin(x pi / 180)``, exact at multiples of 90.

    Shapes: ``x: (*a) -> (*a)``.   Dtypes: real; integers give floats.
    Derivative: ``cosdg(x) pi / 180``; smooth everywhere.
    Raises: ArgumentError: complex numbers.
    Source: SciPy reference, ``scipy.special.sindg``.

    >>> sindg(np.array([30.0, 90.0, 180.0])).round(12).tolist()
    [0.5, 1.0, -0.0]
    """
    k, past, _ = _quarters(x)
    size = where(equal(k % 2, 0), sin(past), cos(past))
    return where(less(k, 2), size, -size)


def cosdg(x: Any, /) -> Any:
    """``cos(x pi / 180)``, exact at multiples of 90.

    Shapes: ``x: (*a) -> (*a)``.   Dtypes: real; integers give floats.
    Derivative: ``-sindg(x) pi / 180``; smooth everywhere.
    Raises: ArgumentError: complex numbers.
    Source: SciPy reference, ``scipy.special.cosdg``.

    >>> cosdg(np.array([60.0, 90.0, 180.0])).round(12).tolist()
    [0.5, -0.0, -1.0]
    """
    k, past, _ = _quarters(x)
    size = where(equal(k % 2, 0), cos(past), sin(past))
    return where(equal(k, 0) | equal(k, 3), size, -size)


def tandg(x: Any, /) -> Any:
    """``tan(x pi / 180)``: 0 at multiples of 180, infinite at 90 beside them.

    Shapes: ``x: (*a) -> (*a)``.   Dtypes: real; integers give floats.
    Derivative: ``(1 + tandg(x)^2) pi / 180``; infinite at the poles.
    Raises: ArgumentError: complex numbers.
    Source: SciPy reference, ``scipy.special.tandg``.

    >>> tandg(np.array([0.0, 45.0, 180.0])).round(12).tolist()
    [0.0, 1.0, 0.0]
    """
    k, past, to = _quarters(x)
    even = equal(k % 2, 0)
    return where(even, tan(past), 1.0 / where(even, 1.0, tan(to)))


def cotdg(x: Any, /) -> Any:
    """``cot(x pi / 180)``: infinite at multiples of 180, 0 at 90 beside them.

    Shapes: ``x: (*a) -> (*a)``.   Dtypes: real; integers give floats.
    Derivative: ``-(1 + cotdg(x)^2) pi / 180``; infinite at the poles.
    Raises: ArgumentError: complex numbers.
    Source: SciPy reference, ``scipy.special.cotdg``.

    >>> cotdg(np.array([45.0, 90.0])).round(12).tolist()
    [1.0, 0.0]
    """
    k, past, to = _quarters(x)
    odd = equal(k % 2, 1)
    return where(odd, tan(to), 1.0 / where(odd, 1.0, tan(past)))


def radian(d: Any, m: Any, s: Any, /) -> Any:
    """``(d + m / 60 + s / 3600) pi / 180``: radians of degrees, minutes and seconds.

    Shapes: broadcast.   Dtypes: real; integers give floats.
    Derivative: linear.
    Raises: ArgumentError: complex numbers. ShapeError: the shapes do not broadcast.
    Source: SciPy reference, ``scipy.special.radian``.

    >>> float(radian(180.0, 0.0, 0.0).round(6))
    3.141593
    """
    d, m, s = in_one_dtype(d, m, s)
    return ((d * 60.0 + m) * 60.0 + s) * (_RADIANS / 3600.0)
