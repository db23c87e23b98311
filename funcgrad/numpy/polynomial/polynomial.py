"""Series of powers of x: ``numpy.polynomial.polynomial``."""

from __future__ import annotations

from typing import Any

from numpy.polynomial import polynomial as _theirs

from .._arguments import array_of
from ..reductions import prod
from ..shaping import atleast_1d
from ._families import Family

_family = Family("poly", _theirs, lambda k: (1.0, 0.0, 0.0))
polyadd = _family.add
polycompanion = _family.companion
polyder = _family.der
polydiv = _family.div
polyfit = _family.fit
polyfromroots = _family.fromroots
polygrid2d = _family.grid2d
polygrid3d = _family.grid3d
polyint = _family.int
polyline = _family.line
polymul = _family.mul
polymulx = _family.mulx
polypow = _family.pow
polyroots = _family.roots
polysub = _family.sub
polyval = _family.val
polyval2d = _family.val2d
polyval3d = _family.val3d
polyvander = _family.vander
polyvander2d = _family.vander2d
polyvander3d = _family.vander3d


def polyvalfromroots(x: Any, r: Any, tensor: bool = True) -> Any:
    """``(x - r_1) (x - r_2) ...``.

    Shapes: ``x: (*a), r: (n, *b) -> (*b, *a)``; ``broadcast(a, b)`` if not `tensor`.
    Dtypes: numbers; integers give floats.
    Derivative: smooth everywhere.   Raises: ShapeError: the shapes do not broadcast.
    Source: NumPy reference, ``numpy.polynomial.polynomial.polyvalfromroots``.

    >>> polyvalfromroots([0.0, 3.0], [1.0, 2.0]).tolist()
    [2.0, 2.0]
    """
    x, r = array_of(x), atleast_1d(array_of(r)) * 1.0
    if tensor:
        r = r.reshape(r.shape + (1,) * x.ndim)
    return prod(x - r, axis=0)


__all__ = [
    "polyadd",
    "polycompanion",
    "polyder",
    "polydiv",
    "polyfit",
    "polyfromroots",
    "polygrid2d",
    "polygrid3d",
    "polyint",
    "polyline",
    "polymul",
    "polymulx",
    "polypow",
    "polyroots",
    "polysub",
    "polyval",
    "polyval2d",
    "polyval3d",
    "polyvalfromroots",
    "polyvander",
    "polyvander2d",
    "polyvander3d",
]
