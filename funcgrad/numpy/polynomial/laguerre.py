"""Series of Laguerre's polynomials: ``numpy.polynomial.laguerre``."""

from __future__ import annotations

from typing import Any

from numpy.polynomial import laguerre as _theirs

from ...ops.exponential import exp
from .._arguments import array_of
from ._families import Family

_family = Family("lag", _theirs, lambda k: (-1.0 / (k + 1), (2 * k + 1) / (k + 1), k / (k + 1)))
lagadd = _family.add
lagcompanion = _family.companion
lagder = _family.der
lagdiv = _family.div
lagfit = _family.fit
lagfromroots = _family.fromroots
laggauss = _theirs.laggauss
laggrid2d = _family.grid2d
laggrid3d = _family.grid3d
lagint = _family.int
lagline = _family.line
lagmul = _family.mul
lagmulx = _family.mulx
lagpow = _family.pow
lagroots = _family.roots
lagsub = _family.sub
lagval = _family.val
lagval2d = _family.val2d
lagval3d = _family.val3d
lagvander = _family.vander
lagvander2d = _family.vander2d
lagvander3d = _family.vander3d
lag2poly = _family.to_poly
poly2lag = _family.from_poly


def lagweight(x: Any) -> Any:
    """The weight with which these polynomials are orthogonal: ``exp(-x)``.

    Shapes: ``(*a) -> (*a)``.   Dtypes: numbers; integers give floats.
    Derivative: smooth.   Raises: nothing of its own.
    Source: NumPy reference, ``numpy.polynomial.laguerre.lagweight``.

    >>> lagweight([0.0, 0.5]).round(4).tolist()
    [1.0, 0.6065]
    """
    x = array_of(x)
    return exp(-x)


__all__ = [
    "lag2poly",
    "lagadd",
    "lagcompanion",
    "lagder",
    "lagdiv",
    "lagfit",
    "lagfromroots",
    "laggauss",
    "laggrid2d",
    "laggrid3d",
    "lagint",
    "lagline",
    "lagmul",
    "lagmulx",
    "lagpow",
    "lagroots",
    "lagsub",
    "lagval",
    "lagval2d",
    "lagval3d",
    "lagvander",
    "lagvander2d",
    "lagvander3d",
    "lagweight",
    "poly2lag",
]
