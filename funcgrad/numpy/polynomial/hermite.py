"""Series of Hermite's polynomials of the physicists: ``numpy.polynomial.hermite``."""

from __future__ import annotations

from typing import Any

from numpy.polynomial import hermite as _theirs

from ...ops.exponential import exp
from .._arguments import array_of
from ._families import Family

_family = Family("herm", _theirs, lambda k: (2.0, 0.0, 2.0 * k))
hermadd = _family.add
hermcompanion = _family.companion
hermder = _family.der
hermdiv = _family.div
hermfit = _family.fit
hermfromroots = _family.fromroots
hermgauss = _theirs.hermgauss
hermgrid2d = _family.grid2d
hermgrid3d = _family.grid3d
hermint = _family.int
hermline = _family.line
hermmul = _family.mul
hermmulx = _family.mulx
hermpow = _family.pow
hermroots = _family.roots
hermsub = _family.sub
hermval = _family.val
hermval2d = _family.val2d
hermval3d = _family.val3d
hermvander = _family.vander
hermvander2d = _family.vander2d
hermvander3d = _family.vander3d
herm2poly = _family.to_poly
poly2herm = _family.from_poly


def hermweight(x: Any) -> Any:
    """The weight with which these polynomials are orthogonal: ``exp(-x**2)``.

    Shapes: ``(*a) -> (*a)``.   Dtypes: numbers; integers give floats.
    Derivative: smooth.   Raises: nothing of its own.
    Source: NumPy reference, ``numpy.polynomial.hermite.hermweight``.

    >>> hermweight([0.0, 0.5]).round(4).tolist()
    [1.0, 0.7788]
    """
    x = array_of(x)
    return exp(-(x**2))


__all__ = [
    "herm2poly",
    "hermadd",
    "hermcompanion",
    "hermder",
    "hermdiv",
    "hermfit",
    "hermfromroots",
    "hermgauss",
    "hermgrid2d",
    "hermgrid3d",
    "hermint",
    "hermline",
    "hermmul",
    "hermmulx",
    "hermpow",
    "hermroots",
    "hermsub",
    "hermval",
    "hermval2d",
    "hermval3d",
    "hermvander",
    "hermvander2d",
    "hermvander3d",
    "hermweight",
    "poly2herm",
]
