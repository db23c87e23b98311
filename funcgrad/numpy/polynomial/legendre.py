"""Series of Legendre's polynomials: ``numpy.polynomial.legendre``."""

from __future__ import annotations

from typing import Any

from numpy.polynomial import legendre as _theirs

from .._arguments import array_of
from ._families import Family

_family = Family("leg", _theirs, lambda k: ((2 * k + 1) / (k + 1), 0.0, k / (k + 1)))
legadd = _family.add
legcompanion = _family.companion
legder = _family.der
legdiv = _family.div
legfit = _family.fit
legfromroots = _family.fromroots
leggauss = _theirs.leggauss
leggrid2d = _family.grid2d
leggrid3d = _family.grid3d
legint = _family.int
legline = _family.line
legmul = _family.mul
legmulx = _family.mulx
legpow = _family.pow
legroots = _family.roots
legsub = _family.sub
legval = _family.val
legval2d = _family.val2d
legval3d = _family.val3d
legvander = _family.vander
legvander2d = _family.vander2d
legvander3d = _family.vander3d
leg2poly = _family.to_poly
poly2leg = _family.from_poly


def legweight(x: Any) -> Any:
    """The weight with which these polynomials are orthogonal: ``1``.

    Shapes: ``(*a) -> (*a)``.   Dtypes: numbers; integers give floats.
    Derivative: zero.   Raises: nothing of its own.
    Source: NumPy reference, ``numpy.polynomial.legendre.legweight``.

    >>> legweight([0.0, 0.5]).round(4).tolist()
    [1.0, 1.0]
    """
    x = array_of(x)
    return x * 0.0 + 1.0


__all__ = [
    "leg2poly",
    "legadd",
    "legcompanion",
    "legder",
    "legdiv",
    "legfit",
    "legfromroots",
    "leggauss",
    "leggrid2d",
    "leggrid3d",
    "legint",
    "legline",
    "legmul",
    "legmulx",
    "legpow",
    "legroots",
    "legsub",
    "legval",
    "legval2d",
    "legval3d",
    "legvander",
    "legvander2d",
    "legvander3d",
    "legweight",
    "poly2leg",
]
